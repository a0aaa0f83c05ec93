#include "time_queue.h"

#include <stdlib.h>
#include <string.h>

#include "timeline.h"

bool time_queue_push(struct time_queue *q, int64_t us, struct err *e)
{
    if (q->end == q->room && q->first > q->room / 2) {
        memmove(q->us, q->us + q->first, (q->end - q->first) * sizeof *q->us);
        q->end -= q->first;
        q->first = 0;
    }
    if (!err_reserve(&q->us, q->end + 1, &q->room, sizeof *q->us, e))
        return false;
    q->us[q->end++] = us;
    return true;
}

bool time_queue_waits(const struct time_queue *q) { return q->end > q->first; }

int64_t time_queue_early(int64_t first_us, int64_t late_us, int delay, int64_t frame_us)
{
    int64_t usual = delay * frame_us, gap = late_us - first_us;
    return gap <= 2 * usual ? gap : usual - frame_us;
}

int64_t time_queue_next(struct time_queue *q, int64_t frame_us, bool take)
{
    size_t waiting = q->end - q->first, delay = (size_t)q->delay;
    if (waiting == 0)
        return TIME_NONE;
    size_t late = delay < waiting ? delay : waiting - 1;
    int64_t us = q->us[q->first + late] + (int64_t)(delay - late) * frame_us;
    if (!q->begun && q->moves)
        q->early_us = time_queue_early(q->us[q->first], us, q->delay, frame_us);
    q->begun = true;
    q->first += take;
    return us - q->early_us;
}

void time_queue_free(struct time_queue *q)
{
    free(q->us);
    *q = (struct time_queue){.us = NULL};
}
