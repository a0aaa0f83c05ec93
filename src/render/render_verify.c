#include <inttypes.h>
#include <stdio.h>

#include "render_job.h"

/*
 * Excludes damaged frames from the comparison: the two ways of decoding conceal damage with
 * different frames, and neither is right. A frame that is intact in one way and missing in the
 * other is compared, because that is not damage. Returns how many frames are excluded.
 */
static uint64_t leave_out_damage(struct render_job *j, struct columns *other)
{
    uint64_t here = columns_count(j->columns), there = columns_count(other), left_out = 0;
    for (uint64_t i = 0; i < here || i < there; i++) {
        const struct column *a = i < here ? columns_get(j->columns, i) : NULL,
                            *b = i < there ? columns_get(other, i) : NULL;
        bool damaged = (a && a->status == COLUMN_DAMAGED) || (b && b->status == COLUMN_DAMAGED);
        bool sound = (a && a->status == COLUMN_OK) || (b && b->status == COLUMN_OK);
        /* Columns that repeat the previous one are filled later. */
        bool frame = (a && a->repeat > 0) || (b && b->repeat > 0);
        bool transparent = (a && a->transparent) && (b && b->transparent);
        if (!frame || transparent || (sound && !damaged))
            continue;
        digest_drop(j->first, i);
        digest_drop(j->second, i);
        left_out++;
    }
    return left_out;
}

bool render_verify(struct render_job *j, struct err *e)
{
    struct decode_counts counts;
    struct decode_times times = {0};
    uint64_t left_out = 0;
    do {
        struct columns *columns = columns_open(0, 0, e);
        digest_free(&j->second);
        j->digest = j->second = digest_open(e);
        bool ok = columns && j->second &&
                  render_attempt(j, DECODE_SEQUENTIAL, columns, &counts, &times, e);
        left_out = ok && !counts.damage_found ? leave_out_damage(j, columns) : 0;
        columns_free(&columns);
        if (!ok)
            return false;
        j->exact_damage |= counts.damage_found;
    } while (counts.damage_found);
    struct digest_result d = digest_compare(j->first, j->second);
    if (d.different > 0 || d.alone > 0)
        return err_set(e, ERR_FAILED,
                       "'%s': --verify found %" PRIu64 " of %" PRIu64
                       " frames different (first: column %" PRIu64 ") and %" PRIu64
                       " that only one of the passes has",
                       j->source->film.path, d.different, d.both, d.first_difference, d.alone);
    if (d.both == 0) {
        log_msg(LOG_WARNING, "'%s': --verify compared nothing: no frame is without damage",
                j->source->film.path);
        return true;
    }
    char but[80] = "";
    if (left_out > 0)
        snprintf(but, sizeof but, ", except %" PRIu64 " damaged ones", left_out);
    log_msg(LOG_INFO, "'%s': --verify: all %" PRIu64 " frames are identical%s",
            j->source->film.path, d.both, but);
    return true;
}
