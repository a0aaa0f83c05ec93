/*
 * shard.h - --shard I/N: the films of one of N processes that share a command line, on as many
 * machines.
 *
 * No process hears of another: each lists all films, names the outputs of all, and computes the
 * same split. It depends on nothing but the list and the sizes of the files, so films must not
 * come, go or grow while the processes start.
 */
#ifndef BARCODE_SHARD_H
#define BARCODE_SHARD_H

#include "barcode/cli/inputs.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * With --shard: turns the duty of every entry that is another shard's into INPUT_OTHERS. The
 * largest file first goes to the shard that has the fewest bytes so far (longest processing time
 * first: Graham, "Bounds on multiprocessing timing anomalies", 1969: the largest share is at most
 * 4/3 of the best possible one). Of equal files the earlier in the list goes first, of equal shards
 * to the lower one; what is no file counts as a byte, so that these are spread too. Entries with a
 * problem and paths that are not there are every shard's: a machine that cannot see the films must
 * not pass for one that had nothing to do. To be called before anything changes a duty. False:
 * memory. Main thread.
 */
bool shard_split(const struct options *o, struct inputs *in, struct err *e);

#ifdef __cplusplus
}
#endif
#endif
