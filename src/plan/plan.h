/* plan.h - the plan of a run: which films are rendered, how, and to which outputs. */
#ifndef BARCODE_PLAN_H
#define BARCODE_PLAN_H

#include "barcode/kmeans/kmeans.h"
#include "cache/cache_options.h"
#include "media/film_options.h"
#include "output/formats/format_options.h"
#include "output/picture_options.h"
#include "output/poster/poster.h"
#include "inputs.h"

struct output_plan;

/*
 * How films are rendered, and to which outputs. The command line completes and checks it
 * (cli_complete); from then on it is constant.
 */
struct plan {
    struct inputs_options inputs;
    struct film_options film;
    struct kmeans_params kmeans; /* race: false if strips_forbid_race */
    struct picture_options picture;
    struct poster_options poster;
    struct format_options formats;
    struct outputs_options outputs;
    struct cache_options cache; /* of analysis frames */
};

/*
 * Lists the films of the plan, decides which of them this process renders (--shard, --update), and
 * names and checks their outputs. Returns false if nothing can be rendered. A problem of one film
 * is kept in `*in`. `*in` and `*o` are empty before the call; the caller calls outputs_free(o) and
 * inputs_free(in) in any case. Main thread only.
 */
bool plan_films(const struct plan *plan, struct inputs *in, struct output_plan *o, struct err *e);

/*
 * --shard I/N splits the films among N processes that have the same command line, on one or more
 * machines. Sets the duty of every entry of another shard to INPUT_OTHERS.
 *
 * The processes do not communicate: each lists all films, names all outputs and computes the same
 * split. The split depends only on the list and the file sizes. So films must not appear, vanish or
 * grow while the processes start.
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
