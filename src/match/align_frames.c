#include "align_frames.h"

#include <stdlib.h>

enum {
    SHIFT_MOST = 4,                    /* frames that the sound's offset may be wrong by */
    CLEAR = 3 * 8 * ALIGN_FRAME_BYTES, /* three frames that differ by 8 levels */
    SAME = 24 * ALIGN_FRAME_BYTES,     /* frames that differ by less are the same */
    FRAMES_LEAST = 8
};

static size_t nearest(const struct align_frames *f, int64_t us)
{
    size_t low = 0, high = f->count - 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        /* The middle between two frames belongs to the earlier one. */
        if (f->time_us[middle] + (f->time_us[middle + 1] - f->time_us[middle]) / 2 < us)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int64_t difference(const struct align_frames *a, size_t i, const struct align_frames *b,
                          size_t k)
{
    const uint8_t *x = a->rgb + i * ALIGN_FRAME_BYTES, *y = b->rgb + k * ALIGN_FRAME_BYTES;
    int64_t sum = 0;
    for (size_t n = 0; n < ALIGN_FRAME_BYTES; n++)
        sum += abs(x[n] - y[n]);
    return sum;
}

/* Returns the frame of `other` that is shown with own's frame i, if `at` is shown with own_us. */
static size_t partner(const struct align_frames *own, size_t i, const struct align_frames *other,
                      const struct align_edit *edit, int64_t at)
{
    return nearest(other, at + (own->time_us[i] - edit->own_us) * edit->num / edit->den);
}

/*
 * Returns `at`, moved by the frames that make own's frames [from, to) most like those of `other`.
 * A longer move must be better by a quarter of a level: pictures that stand still fit anywhere.
 */
static int64_t best_shift(const struct align_frames *own, size_t from, size_t to,
                          const struct align_frames *other, const struct align_edit *edit,
                          int64_t at)
{
    int64_t step =
        (other->time_us[other->count - 1] - other->time_us[0]) / (int64_t)(other->count - 1);
    int64_t best = 0, shift = 0;
    for (int n = 0; n <= 2 * SHIFT_MOST; n++) {
        int64_t move = step * (n % 2 ? (n + 1) / 2 : -(n / 2)), sum = 0;
        for (size_t i = from; i < to; i++)
            sum += difference(own, i, other, partner(own, i, other, edit, at + move));
        if (n == 0 || sum + (int64_t)(to - from) * ALIGN_FRAME_BYTES / 4 < best) {
            best = sum;
            shift = move;
        }
    }
    return at + shift;
}

/*
 * Finds the frame x of own, 1..count - 1, at which the change from `before` to `after` costs least;
 * of equal ones that next to the edit. Returns 0 if it is not clear.
 */
static size_t find_change(const struct align_frames *own, const struct align_frames *before,
                          const struct align_frames *after, const struct align_edit *edit)
{
    int64_t cost = 0, first, best = INT64_MAX;
    size_t x = 0;
    for (size_t i = 0; i < own->count; i++)
        cost += difference(own, i, after, partner(own, i, after, edit, edit->to_us));
    first = cost;
    for (size_t i = 1; i < own->count; i++) {
        cost += difference(own, i - 1, before, partner(own, i - 1, before, edit, edit->from_us));
        cost -= difference(own, i - 1, after, partner(own, i - 1, after, edit, edit->to_us));
        bool nearer =
            x > 0 && llabs(own->time_us[i] - edit->own_us) < llabs(own->time_us[x] - edit->own_us);
        if (cost < best || (cost == best && nearer)) {
            best = cost;
            x = i;
        }
    }
    bool clear = first - best >= CLEAR && cost - best >= CLEAR && best < (int64_t)own->count * SAME;
    return clear ? x : 0;
}

bool align_frames_refine(const struct align_frames *own, const struct align_frames *before,
                         const struct align_frames *after, struct align_edit *edit)
{
    if (own->count < FRAMES_LEAST || before->count < FRAMES_LEAST || after->count < FRAMES_LEAST)
        return false;
    struct align_edit moved = *edit;
    size_t quarter = own->count / 4;
    moved.from_us = best_shift(own, 0, quarter, before, edit, edit->from_us);
    moved.to_us = best_shift(own, own->count - quarter, own->count, after, edit, edit->to_us);
    size_t x = find_change(own, before, after, &moved);
    if (x == 0)
        return false;
    int64_t from = before->time_us[partner(own, x, before, &moved, moved.from_us)];
    int64_t to = after->time_us[partner(own, x, after, &moved, moved.to_us)];
    edit->own_us = own->time_us[x];
    edit->from_us = from;
    edit->to_us = to;
    return from < to;
}
