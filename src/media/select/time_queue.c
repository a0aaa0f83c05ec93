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
    if (q->end == q->room) {
        size_t room = q->room ? q->room * 2 : 64;
        int64_t *grown = realloc(q->us, room * sizeof *grown);
        if (!grown)
            return err_memory(e, room * sizeof *grown);
        q->us = grown;
        q->room = room;
    }
    q->us[q->end++] = us;
    return true;
}

int64_t time_queue_at(const struct time_queue *q, size_t i)
{
    return i < q->end - q->first ? q->us[q->first + i] : TIME_NONE;
}

int64_t time_queue_pop(struct time_queue *q)
{
    int64_t us = time_queue_at(q, 0);
    q->first += us != TIME_NONE;
    return us;
}

void time_queue_free(struct time_queue *q)
{
    free(q->us);
    *q = (struct time_queue){.us = NULL};
}
