#include "barcode/sound/peaks.h"

#include <stdlib.h>
#include <string.h>

#include "barcode/sound/spectrogram.h"

/* A frame is tested when the HALO frames after it are known; the HALO frames before it are kept. */
enum { BINS = SPECTROGRAM_BINS, HALO = PEAK_RADIUS_WIDE, ROOM = 256, CHUNK = 32 };

struct peaks {
    int16_t floor;
    struct sound_device *device; /* runs the maximum filter; NULL: the CPU does */
    size_t filled;               /* number of rows of `value` */
    size_t next;                 /* the first row that is not tested yet */
    uint32_t first;              /* the frame of value[0] */
    struct peak *list;
    size_t n, room;
    int16_t value[ROOM][BINS];
    int16_t most[ROOM][BINS]; /* the maximum filter of `value` */
};

struct peaks *peaks_open(int16_t floor, struct sound_device *device, struct err *e)
{
    struct peaks *p = err_calloc(1, sizeof *p, e);
    if (!p)
        return NULL;
    p->floor = floor;
    p->device = device;
    return p;
}

void peaks_free(struct peaks **p)
{
    if (*p)
        free((*p)->list);
    free(*p);
    *p = NULL;
}

const struct peak *peaks_list(const struct peaks *p, size_t *n)
{
    *n = p->n;
    return p->list;
}

/* Returns true if no value of row[from..to) is above `most`. */
static bool none_above(const int16_t *row, int from, int to, int most)
{
    int above = 0;
    for (int f = from; f < to; f++)
        above |= row[f] > most;
    return !above;
}

/* Returns true if value[t][f] is the largest within `radius`, and the first of those as large. */
static bool is_largest(const struct peaks *p, int t, int f, int radius)
{
    int v = p->value[t][f], end = (int)p->filled;
    int from = t < radius ? 0 : t - radius, to = end - t > radius ? t + radius + 1 : end;
    for (int u = from; u < to; u++) {
        int reach = radius - abs(u - t);
        int left = f < reach ? 0 : f - reach, right = BINS - f > reach ? f + reach + 1 : BINS;
        int split = left; /* in row[left..split) are the points before (t, f) */
        if (u < t)
            split = right;
        else if (u == t)
            split = f;
        if (!none_above(p->value[u], left, split, v - 1) ||
            !none_above(p->value[u], split, right, v))
            return false;
    }
    return true;
}

static bool add_peak(struct peaks *p, int t, int f, struct err *e)
{
    if (!err_reserve(&p->list, p->n + 1, &p->room, sizeof *p->list, e))
        return false;
    p->list[p->n++] = (struct peak){.frame = p->first + (uint32_t)t,
                                    .bin = (uint16_t)f,
                                    .wide = is_largest(p, t, f, PEAK_RADIUS_WIDE)};
    return true;
}

/* Returns true if one of CHUNK values is as large as the filter's, and not below the floor. */
static bool has_candidate(const int16_t *value, const int16_t *most, int floor)
{
    int any = 0;
    for (int i = 0; i < CHUNK; i++)
        any |= (value[i] == most[i]) & (value[i] >= floor);
    return any;
}

static bool test_frame(struct peaks *p, int t, struct err *e)
{
    const int16_t *value = p->value[t], *most = p->most[t];
    for (int chunk = 0; chunk < BINS; chunk += CHUNK) {
        if (!has_candidate(value + chunk, most + chunk, p->floor))
            continue;
        int f = chunk < PEAK_BIN_LEAST ? PEAK_BIN_LEAST : chunk;
        for (; f < chunk + CHUNK; f++) {
            bool found =
                value[f] == most[f] && value[f] >= p->floor && is_largest(p, t, f, PEAK_RADIUS);
            if (found && !add_peak(p, t, f, e))
                return false;
        }
    }
    return true;
}

/* Tests the rows up to `end`, and drops those that no later one needs. */
static bool test_frames(struct peaks *p, size_t end, struct err *e)
{
    const int16_t *value = p->value[0];
    bool ok = p->device ? p->device->max_filter(p->device, value, p->filled, BINS, PEAK_RADIUS,
                                                p->most[0], e)
                        : max_filter_run(value, p->filled, BINS, PEAK_RADIUS, p->most[0], e);
    if (!ok)
        return false;
    for (; p->next < end; p->next++)
        if (!test_frame(p, (int)p->next, e))
            return false;
    size_t done = p->next < HALO ? 0 : p->next - HALO;
    p->filled -= done;
    p->next -= done;
    p->first += (uint32_t)done;
    memmove(p->value, p->value[done], p->filled * sizeof *p->value);
    return true;
}

bool peaks_push(struct peaks *p, const int16_t *values, size_t frames, struct err *e)
{
    while (frames > 0) {
        size_t n = ROOM - p->filled < frames ? ROOM - p->filled : frames;
        memcpy(p->value[p->filled], values, n * sizeof *p->value);
        p->filled += n;
        values += n * BINS;
        frames -= n;
        if (p->filled == ROOM && !test_frames(p, ROOM - HALO, e))
            return false;
    }
    return true;
}

bool peaks_finish(struct peaks *p, struct err *e) { return test_frames(p, p->filled, e); }
