#include "shot_marks.h"

#include <stdlib.h>

#include "time_axis.h"

/* Returns half the duration of the transition at the beginning of a shot, at its frame rate. */
static int64_t half_transition(const struct shot *s)
{
    const int64_t span = s->end_us > s->start_us ? s->end_us - s->start_us : 0;
    return (int64_t)((double)span / (double)s->frames * s->transition_frames / 2);
}

struct shot_mark *shot_marks(const struct report *r, struct err *e)
{
    const struct shots *shots = r->media.shots;
    const uint64_t parts = axis_parts(r);
    int64_t *edge = axis_pixel_edges(r, parts, e);
    struct shot_mark *mark = edge ? err_calloc(shots->count + 1, sizeof *mark, e) : NULL;
    for (size_t i = 0; mark && i < shots->count; i++) {
        const struct shot *s = &shots->shot[i];
        const int64_t least = i > 0 ? s[-1].start_us : s->start_us, half = half_transition(s),
                      from = s->start_us - half, to = s->start_us + half;
        mark[i] = (struct shot_mark){
            .at = axis_place(edge, parts, s->start_us),
            .from = axis_place(edge, parts, from > least ? from : least),
            .to = axis_place(edge, parts, to < s->end_us ? to : s->end_us),
        };
        mark[i + 1].at = axis_place(edge, parts, s->end_us);
    }
    free(edge);
    return mark;
}
