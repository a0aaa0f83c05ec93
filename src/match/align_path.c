#include "align_path.h"

#include <stdlib.h>

enum {
    POINTS_MOST = 16, /* of a window */
    SLACK = 2 * ALIGN_WINDOW,
    NOWHERE = INT32_MIN / 2
};

/* What a path needs to know of its past. */
struct state {
    int64_t points;
    int32_t left; /* the frame of A after the last window that was in A, or NOWHERE */
};

/* There are 2 n + 1 states: at each offset; not in A any more after each; not yet in A. */
struct finder {
    const struct align_peaks *a, *b;
    const struct align_offset *offset;
    size_t n;
    uint32_t windows;
    struct state *now, *next;
    uint16_t *came; /* [windows][states] the state before */
};

/* Lets `to` come from `from` if that is better. Of equal ones the first stays. */
static void come_from(struct state *to, uint16_t *came, const struct state *from, size_t number,
                      int64_t price)
{
    if (from->points - price > to->points) {
        *to = (struct state){from->points - price, from->left};
        *came = (uint16_t)number;
    }
}

/* Returns what a window wins at an offset. */
static int64_t count_shared(const struct finder *f, uint32_t frame, int32_t offset)
{
    size_t to = align_peaks_first(f->b, (int64_t)frame + ALIGN_WINDOW), shared = 0;
    int64_t a = (int64_t)frame + offset;
    if (a + ALIGN_WINDOW <= 0 || a >= f->a->frames)
        return -ALIGN_POINT;
    for (size_t i = align_peaks_first(f->b, frame); i < to && shared < POINTS_MOST; i++)
        shared += align_peaks_shared(f->a, f->b, i, offset);
    return (int64_t)shared * ALIGN_POINT;
}

/* Computes the state in which the window at `frame` is at offset c. */
static void enter_offset(struct finder *f, size_t c, uint32_t frame, uint16_t *came)
{
    const size_t n = f->n;
    const int32_t offset = f->offset[c].frames, a = (int32_t)frame + offset;
    const int64_t change = (int64_t)ALIGN_CHANGE * ALIGN_POINT;
    struct state *to = &f->next[c];
    *to = f->now[c];
    came[c] = (uint16_t)c;
    for (size_t k = 0; k < n; k++) {
        int32_t step = offset - f->offset[k].frames;
        if (abs(step) <= ALIGN_DRIFT)
            come_from(to, &came[c], &f->now[k], k, (int64_t)ALIGN_DRIFT_PRICE * ALIGN_POINT);
        else if (step > 0)
            come_from(to, &came[c], &f->now[k], k, change);
        if (f->now[n + k].left <= a + SLACK)
            come_from(to, &came[c], &f->now[n + k], n + k, change);
    }
    come_from(to, &came[c], &f->now[2 * n], 2 * n, change);
    to->points += count_shared(f, frame, offset);
    to->left = a + ALIGN_WINDOW;
}

static void next_window(struct finder *f, uint32_t window)
{
    const size_t n = f->n;
    const uint32_t frame = window * ALIGN_WINDOW;
    uint16_t *came = f->came + (size_t)window * (2 * n + 1);
    size_t peaks =
        align_peaks_first(f->b, (int64_t)frame + ALIGN_WINDOW) - align_peaks_first(f->b, frame);
    int64_t absent = (int64_t)peaks * ALIGN_POINT / ALIGN_ABSENT_SHARE;
    for (size_t c = 0; c < n; c++) {
        enter_offset(f, c, frame, came);
        f->next[n + c] = f->now[n + c];
        came[n + c] = (uint16_t)(n + c);
        come_from(&f->next[n + c], &came[n + c], &f->now[c], c, 0);
        f->next[n + c].points += absent;
    }
    f->next[2 * n] = f->now[2 * n];
    f->next[2 * n].points += absent;
    came[2 * n] = (uint16_t)(2 * n);
    struct state *swap = f->now;
    f->now = f->next;
    f->next = swap;
}

/* Follows the best path back and makes runs of it. */
static bool trace_back(const struct finder *f, struct align_path *out, struct err *e)
{
    const size_t n = f->n, states = 2 * n + 1;
    size_t best = 2 * n, room = 0;
    for (size_t s = 0; s < states; s++)
        if (f->now[s].points > f->now[best].points)
            best = s;
    out->points = f->now[best].points;
    size_t later = 2 * n; /* a run goes on while its offset stays the same */
    for (uint32_t w = f->windows; w-- > 0; later = best, best = f->came[w * states + best]) {
        if (best >= n)
            continue;
        if (best != later) {
            if (!err_reserve(&out->run, out->runs + 1, &room, sizeof *out->run, e))
                return false;
            out->run[out->runs++] =
                (struct align_run){f->offset[best].frames, 0, (w + 1) * ALIGN_WINDOW};
        }
        out->run[out->runs - 1].from = w * ALIGN_WINDOW;
    }
    for (size_t i = 0; i < out->runs / 2; i++) {
        struct align_run swap = out->run[i];
        out->run[i] = out->run[out->runs - 1 - i];
        out->run[out->runs - 1 - i] = swap;
    }
    return true;
}

bool align_path_find(const struct align_peaks *a, const struct align_peaks *b,
                     const struct align_offset *offset, size_t n, struct align_path *out,
                     struct err *e)
{
    struct finder f = {.a = a, .b = b, .offset = offset, .n = n};
    size_t states = 2 * n + 1;
    *out = (struct align_path){0};
    f.windows = (b->frames + ALIGN_WINDOW - 1) / ALIGN_WINDOW;
    f.now = err_calloc(states, sizeof *f.now, e);
    f.next = f.now ? err_calloc(states, sizeof *f.next, e) : NULL;
    f.came = f.next ? err_calloc(states * f.windows + 1, sizeof *f.came, e) : NULL;
    bool ok = f.came;
    for (size_t s = 0; ok && s < states; s++)
        f.now[s] = (struct state){s < 2 * n ? INT64_MIN / 2 : 0, s < 2 * n ? INT32_MAX : NOWHERE};
    for (uint32_t w = 0; ok && w < f.windows; w++)
        next_window(&f, w);
    ok = ok && trace_back(&f, out, e);
    free(f.now);
    free(f.next);
    free(f.came);
    return ok;
}
