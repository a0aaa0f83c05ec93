#include "display_order.h"

#include <stdlib.h>

#include "media/bitstream/packet_scan.h"
#include "media/select/timeline.h"

static int by_time(const void *a, const void *b)
{
    const struct picture *p = *(struct picture *const *)a, *q = *(struct picture *const *)b;
    if (p->pts_us != q->pts_us)
        return p->pts_us < q->pts_us ? -1 : 1;
    return (p->serial > q->serial) - (p->serial < q->serial);
}

static int by_order(const void *a, const void *b)
{
    const struct picture *p = *(struct picture *const *)a, *q = *(struct picture *const *)b;
    if (p->order != q->order)
        return p->order < q->order ? -1 : 1;
    return (p->serial > q->serial) - (p->serial < q->serial);
}

static bool all_timed(struct picture *const *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i]->pts_us == TIME_NONE || (i > 0 && p[i]->pts_us == p[i - 1]->pts_us))
            return false;
    return true;
}

static bool all_ordered(struct picture *const *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i]->order == TIME_NONE)
            return false;
    return true;
}

/*
 * Returns true if the order counts, by which the pictures are sorted, are valid: distinct, and no
 * picture waits for more pictures than a decoder keeps. Invalid counts restart within a GOP, or
 * come from damage.
 */
static bool order_is_sane(enum bitstream stream, struct picture *const *p, size_t n)
{
    size_t most = stream == STREAM_MPEG2 ? 1 : 16;
    for (size_t i = 0; i < n; i++) {
        size_t waits_for = 0;
        if (i + 1 < n && p[i]->order == p[i + 1]->order)
            return false;
        for (size_t j = i + 1; j < n && waits_for <= most; j++)
            waits_for += p[j]->serial < p[i]->serial;
        if (waits_for > most)
            return false;
    }
    return true;
}

static bool times_rise(struct picture *const *p, size_t n)
{
    int64_t last = TIME_NONE;
    for (size_t i = 0; i < n; i++) {
        if (p[i]->pts_us == TIME_NONE)
            continue;
        if (last != TIME_NONE && p[i]->pts_us <= last)
            return false;
        last = p[i]->pts_us;
    }
    return true;
}

/* Returns true if a picture is missing between p[i] and p[j], which are in decoding order. */
static bool are_apart(struct picture *const *p, size_t i, size_t j)
{
    size_t first = i < j ? i : j, last = i < j ? j : i;
    for (size_t k = first + 1; k <= last; k++)
        if (p[k]->lost || p[k]->after_gap)
            return true;
    return p[first]->lost;
}

/*
 * Returns the time of picture `i` of MPEG-2, which has none: from a picture nearby, since the order
 * counts frames.
 */
static int64_t time_by_order(struct picture *const *p, size_t n, size_t i, int64_t frame_us)
{
    enum { NEAR = 3 };
    size_t from = i > NEAR ? i - NEAR : 0;
    for (size_t j = from; j < n && j <= i + NEAR && p[i]->order != TIME_NONE; j++)
        if (p[j]->pts_us != TIME_NONE && p[j]->order != TIME_NONE && !are_apart(p, i, j))
            return p[j]->pts_us + (p[i]->order - p[j]->order) * frame_us;
    return i > 0 ? p[i - 1]->pts_us + frame_us : TIME_NONE;
}

/*
 * Sorts by time; a picture without a time goes right after the picture that came before it. Without
 * any times, lost pictures do so by order.
 */
static void sort_across_gaps(enum bitstream stream, struct picture **p, size_t n, int64_t frame_us)
{
    bool mpeg2 = stream == STREAM_MPEG2;
    if (mpeg2 && p[0]->pts_us == TIME_NONE)
        p[0]->pts_us = time_by_order(p, n, 0, frame_us);
    bool timed = p[0]->pts_us != TIME_NONE;
    for (size_t i = 1; i < n; i++) {
        if (timed && p[i]->pts_us == TIME_NONE)
            p[i]->pts_us = mpeg2 ? time_by_order(p, n, i, frame_us) : p[i - 1]->pts_us + frame_us;
        if (!timed && p[i]->lost)
            p[i]->order = p[i - 1]->order;
    }
    qsort(p, n, sizeof *p, timed ? by_time : by_order);
}

/* Decoders use the bitstream's order and ignore times. */
bool sort_display_order(const struct codec_traits *traits, bool gaps, int64_t frame_us,
                        struct picture **p, size_t n)
{
    if (!traits->reorder || n < 2)
        return true;
    if (gaps) {
        sort_across_gaps(traits->stream, p, n, frame_us);
        return true;
    }
    bool ordered = all_ordered(p, n);
    if (ordered) {
        qsort(p, n, sizeof *p, by_order);
        if (order_is_sane(traits->stream, p, n))
            return times_rise(p, n);
    }
    qsort(p, n, sizeof *p, by_time);
    if (!all_timed(p, n) && ordered)
        qsort(p, n, sizeof *p, by_order);
    return false;
}

bool order_queue_places(struct time_queue *places, struct picture *p, size_t n, struct err *e)
{
    for (size_t i = 0; i < n; i++) {
        if (p[i].placed && !p[i].hidden && !time_queue_push(places, p[i].place_us, e))
            return false;
        p[i].placed = false;
    }
    return true;
}

void order_apply_places(struct time_queue *places, int64_t frame_us, struct picture **shown,
                        size_t n, struct picture *after)
{
    for (size_t i = 0; i < n && time_queue_waits(places); i++)
        shown[i]->pts_us = time_queue_next(places, frame_us, true);
    if (after && time_queue_waits(places))
        after->pts_us = time_queue_next(places, frame_us, false);
}

void order_date_first(struct picture **shown, size_t n, int64_t frame_us)
{
    size_t i = 0;
    while (i < n && shown[i]->pts_us == TIME_NONE)
        i++;
    bool sane = i < n && shown[i]->pts_us < TIME_MOST && shown[i]->pts_us > -TIME_MOST;
    if (i > 0 && sane)
        shown[0]->pts_us = shown[i]->pts_us - (int64_t)i * frame_us;
}
