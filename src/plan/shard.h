/*
 * shard.h - --shard I/N: splits the films among N processes that have the same command line, on one
 * or more machines.
 *
 * The processes do not communicate: each lists all films, names all outputs and computes the same
 * split. The split depends only on the list and the file sizes. So films must not appear, vanish or
 * grow while the processes start.
 */
#ifndef BARCODE_SHARD_H
#define BARCODE_SHARD_H

#include "inputs.h"

/*
 * With --shard, sets the duty of every entry of another shard to INPUT_OTHERS. Does nothing without
 * it.
 *
 * The largest remaining file goes to the shard with the fewest bytes (longest processing time
 * first: Graham, "Bounds on multiprocessing timing anomalies", 1969). The largest shard is then at
 * most 4/3 of the best possible one. Of equal files the earlier in the list goes first, and of
 * equal shards the lower number is used. An input that is not a file counts as one byte, so that
 * such inputs are spread, too.
 *
 * Entries with a problem and missing paths belong to every shard, so that a machine that cannot see
 * the films reports that.
 *
 * Call it before any other duty changes. Returns false if out of memory. Main thread only.
 */
bool shard_split(const struct inputs_options *o, struct inputs *in, struct err *e);

#endif
