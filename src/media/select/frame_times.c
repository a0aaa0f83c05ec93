#include <stdlib.h>

#include "frame_times.h"

/* Times beyond 4,500 years are broken. Second differences of others fit in the file format. */
#define SANE_US ((int64_t)1 << 57)

struct row {
    int64_t time_us, next_us;
    bool check;
};

struct frame_times {
    struct row *row;
    size_t count, room;
    int64_t frame_us;
    bool stopped, whole, unsound;
};

struct frame_times *frame_times_open(struct err *e)
{
    struct frame_times *t = calloc(1, sizeof *t);
    if (t)
        t->frame_us = 1;
    else
        err_memory(e, sizeof *t);
    return t;
}

void frame_times_free(struct frame_times **t)
{
    if (!*t)
        return;
    free((*t)->row);
    free(*t);
    *t = NULL;
}

void frame_times_begin(struct frame_times *t, int64_t frame_us)
{
    if (!t)
        return;
    t->count = 0;
    t->frame_us = frame_us;
    t->stopped = t->whole = false;
    t->unsound = frame_us < 1;
}

/* Returns true if the next row's times are valid: they do not run backwards, and can be written. */
static bool in_order(const struct frame_times *t, int64_t time_us, int64_t next_us)
{
    int64_t last = t->count > 0 ? t->row[t->count - 1].time_us : 0;
    bool next_sane = next_us == FRAME_TIMES_OPEN || (next_us >= 0 && next_us < SANE_US);
    return time_us >= last && time_us < SANE_US && next_sane;
}

void frame_times_add(struct frame_times *t, int64_t time_us, int64_t next_us)
{
    if (!t || t->stopped || t->unsound)
        return;
    if (!err_reserve(&t->row, t->count + 1, &t->room, sizeof *t->row, NULL) ||
        !in_order(t, time_us, next_us)) {
        t->unsound = true;
        return;
    }
    t->row[t->count++] = (struct row){time_us, next_us, false};
}

void frame_times_check(struct frame_times *t)
{
    if (t && !t->stopped && t->count > 0)
        t->row[t->count - 1].check = true;
}

void frame_times_stop(struct frame_times *t)
{
    if (t)
        t->stopped = true;
}

void frame_times_end(struct frame_times *t)
{
    if (t && !t->stopped)
        t->whole = true;
}

bool frame_times_walk(const struct frame_times *t, const struct selection *rule,
                      frame_times_pick *pick, void *user, struct frame_times_walked *w)
{
    *w = (struct frame_times_walked){0, -1, -1, -1};
    if (!t || t->unsound)
        return false;
    struct selection_cursor cursor = selection_begin(rule);
    if (t->count > 0)
        selection_first(&cursor, t->row[0].time_us);
    for (size_t i = 0; i < t->count; i++) {
        const struct row *r = &t->row[i];
        int64_t next = r->next_us == FRAME_TIMES_OPEN
                           ? selection_last_until(&cursor.rule, r->time_us, t->frame_us)
                           : r->next_us;
        struct frame_tag tag = {.frame = i, .time_us = r->time_us};
        if (selection_pick(&cursor, r->time_us, next, &tag) && !pick(user, &tag))
            return false;
        w->displayed = i + 1;
        w->first_us = t->row[0].time_us;
        w->last_us = r->time_us;
        if (r->check && selection_done(&cursor, r->time_us))
            return true;
    }
    if (!t->whole)
        return false;
    const struct row *last = t->count > 0 ? &t->row[t->count - 1] : NULL;
    if (last)
        w->end_us = last->next_us == FRAME_TIMES_OPEN ? last->time_us + t->frame_us : last->next_us;
    return true;
}

/* ------------------------------------------------------------------ bytes */

/*
 * Each frame is a number: the difference between its time step and the previous frame's, shifted
 * left by STEP_SHIFT. Bit 0: `next_us` is not the next frame's time, and follows as 0 (open) or as
 * one more than its distance. Bit 1: check.
 */
enum { ODD_NEXT = 1, CHECK = 2, STEP_SHIFT = 2 };

void frame_times_encode(const struct frame_times *t, struct wire_out *o)
{
    bool usable = t && !t->unsound;
    size_t count = usable ? t->count : 0;
    wire_put_number(o, usable ? (uint64_t)t->frame_us : 1);
    wire_put_number(o, usable && t->whole);
    wire_put_number(o, count);
    int64_t last = 0, step = 0;
    for (size_t i = 0; i < count; i++) {
        const struct row *r = &t->row[i];
        bool odd = i + 1 == count || r->next_us != t->row[i + 1].time_us;
        uint64_t flags = (odd ? ODD_NEXT : 0) | (r->check ? CHECK : 0);
        wire_put_number(o, wire_fold(r->time_us - last - step) << STEP_SHIFT | flags);
        if (odd)
            wire_put_number(
                o, r->next_us == FRAME_TIMES_OPEN ? 0 : 1 + wire_fold(r->next_us - r->time_us));
        step = r->time_us - last;
        last = r->time_us;
    }
}

/* Reads one row's time, and its next_us if that is written. */
static bool read_row(struct frame_times *t, struct wire_in *in, int64_t *step, bool *odd)
{
    int64_t last = t->count > 0 ? t->row[t->count - 1].time_us : 0;
    uint64_t word = wire_number(in);
    int64_t change = wire_unfold(word >> STEP_SHIFT);
    if (in->failed || change > 2 * SANE_US || change < -2 * SANE_US)
        return false;
    *step += change;
    struct row r = {.time_us = last + *step, .next_us = FRAME_TIMES_OPEN, .check = word & CHECK};
    *odd = word & ODD_NEXT;
    if (*odd) {
        uint64_t far = wire_number(in);
        int64_t distance = far ? wire_unfold(far - 1) : 0;
        if (in->failed || distance > 2 * SANE_US || distance < -2 * SANE_US)
            return false;
        r.next_us = far ? r.time_us + distance : FRAME_TIMES_OPEN;
    }
    if (!in_order(t, r.time_us, r.next_us))
        return false;
    t->row[t->count++] = r;
    return true;
}

struct frame_times *frame_times_decode(struct wire_in *in)
{
    struct frame_times *t = frame_times_open(NULL);
    if (!t)
        return NULL;
    uint64_t frame_us = wire_number(in), whole = wire_number(in), count = wire_number(in);
    /* A row has at least one byte, so the memory is proportional to the input. */
    bool ok = !in->failed && frame_us >= 1 && frame_us < (uint64_t)SANE_US && whole <= 1 &&
              count <= wire_left(in);
    t->frame_us = (int64_t)frame_us;
    t->whole = whole == 1;
    t->room = ok ? (size_t)count : 0;
    if (t->room > 0) {
        t->row = malloc(t->room * sizeof *t->row);
        ok = t->row != NULL;
    }
    int64_t step = 0;
    bool odd = true;
    for (uint64_t i = 0; i < count && ok; i++) {
        bool before = odd;
        ok = read_row(t, in, &step, &odd);
        if (ok && !before)
            t->row[i - 1].next_us = t->row[i].time_us;
    }
    if (!ok || !odd) /* the last row must have its next_us */
        frame_times_free(&t);
    return t;
}
