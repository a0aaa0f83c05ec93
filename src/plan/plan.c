#include "plan.h"

#include <stdlib.h>

#include "outputs.h"
#include "update.h"

/* ---- --shard ---- */

/* An entry of the list, for sorting by size. */
struct piece {
    uint64_t bytes;
    size_t entry;
};

static int by_size(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return x->entry < y->entry ? -1 : x->entry > y->entry;
}

static size_t lightest(const uint64_t *load, size_t shards)
{
    size_t best = 0;
    for (size_t i = 1; i < shards; i++)
        if (load[i] < load[best])
            best = i;
    return best;
}

/*
 * Returns true for an entry that every process reports: other processes may see what this one does
 * not.
 */
static bool is_everybodys(const struct inputs *in, size_t i)
{
    return in->problem[i].code != ERR_NONE || in->file[i].absent;
}

bool shard_split(const struct inputs_options *o, struct inputs *in, struct err *e)
{
    size_t shards = (size_t)o->shards;
    if (shards == 0)
        return true;
    struct piece *piece = calloc(in->count + 1, sizeof *piece);
    uint64_t *load = calloc(shards, sizeof *load);
    bool ok = piece && load;
    if (!ok)
        err_memory(e, in->count * sizeof *piece + shards * sizeof *load);
    size_t count = 0;
    for (size_t i = 0; ok && i < in->count; i++)
        if (!is_everybodys(in, i))
            piece[count++] =
                (struct piece){.bytes = in->file[i].bytes > 0 ? in->file[i].bytes : 1, .entry = i};
    if (ok)
        qsort(piece, count, sizeof *piece, by_size);
    for (size_t i = 0; i < count; i++) {
        size_t to = lightest(load, shards);
        load[to] += piece[i].bytes;
        if (to + 1 != (size_t)o->shard)
            in->duty[piece[i].entry] = INPUT_OTHERS;
    }
    free(piece);
    free(load);
    return ok;
}

/* ---- The plan ---- */

bool plan_films(const struct plan *plan, struct inputs *in, struct output_plan *o, struct err *e)
{
    return inputs_expand(&plan->inputs, &plan->outputs, in, e) &&
           shard_split(&plan->inputs, in, e) && outputs_plan(plan, in, o, e) &&
           update_leave_out(o, in, e) && outputs_check(o, in, e);
}
