/* film_scan.c - a film's facts as bytes, for the cache. */
#include <stdlib.h>
#include <string.h>

#include "base/wire.h"
#include "shots.h"

enum { FRAME_LEAST = 2 + 3 + 2 + SCAN_LAGS + SCAN_LAGS + SCAN_FAR /* bytes */ };
static const int64_t TIME_MOST = INT64_MAX / 4; /* so that differences do not overflow */

void film_scan_free(struct film_scan *s)
{
    free(s->frame);
    *s = (struct film_scan){0};
}

/* Each number is the difference from the one before it. */
static void put_numbers(struct wire_out *o, const uint16_t *number, int n)
{
    for (int i = 0; i < n; i++)
        wire_put_signed(o, number[i] - (i > 0 ? number[i - 1] : 0));
}

/* Numbers of frames and times are differences from the frame before. */
bool film_scan_write(const struct film_scan *s, uint8_t **bytes, size_t *count, struct err *e)
{
    struct wire_out o = {0};
    uint64_t frame = 0, time_us = 0;
    wire_put_number(&o, SCAN_VERSION);
    wire_put_number(&o, s->count);
    wire_put_signed(&o, s->end_us);
    for (size_t i = 0; i < s->count; i++) {
        const struct scan_frame *f = &s->frame[i];
        wire_put_number(&o, f->frame - frame);
        wire_put_signed(&o, (int64_t)((uint64_t)f->time_us - time_us));
        frame = f->frame;
        time_us = (uint64_t)f->time_us;
        wire_put(&o, f->mean, sizeof f->mean);
        wire_put(&o, &f->luma, 1);
        wire_put(&o, &f->contrast, 1);
        wire_put(&o, f->likeness, sizeof f->likeness);
        put_numbers(&o, f->distance, SCAN_LAGS);
        put_numbers(&o, f->residue, SCAN_FAR);
    }
    if (o.failed) {
        wire_free(&o);
        return err_memory(e, s->count * sizeof *s->frame);
    }
    *bytes = o.data;
    *count = o.count;
    return true;
}

static void get_bytes(struct wire_in *in, uint8_t *to, size_t n)
{
    memcpy(to, in->at, n);
    in->at += n;
}

static bool get_numbers(struct wire_in *in, uint16_t *number, int n)
{
    int64_t value = 0;
    for (int i = 0; i < n; i++) {
        value += wire_signed(in) % (UINT16_MAX + 1);
        if (in->failed || value < 0 || value > UINT16_MAX)
            return false;
        number[i] = (uint16_t)value;
    }
    return true;
}

/* Reads a frame that follows frame number `frame` at `time_us`. */
static bool get_frame(struct wire_in *in, uint64_t frame, int64_t time_us, struct scan_frame *f)
{
    f->frame = frame + wire_number(in);
    f->time_us = (int64_t)((uint64_t)time_us + (uint64_t)wire_signed(in));
    if (in->failed || f->frame < frame || f->frame > INT64_MAX || f->time_us < -TIME_MOST ||
        f->time_us > TIME_MOST || wire_left(in) < FRAME_LEAST - 2)
        return false;
    get_bytes(in, f->mean, sizeof f->mean);
    get_bytes(in, &f->luma, 1);
    get_bytes(in, &f->contrast, 1);
    get_bytes(in, f->likeness, sizeof f->likeness);
    return get_numbers(in, f->distance, SCAN_LAGS) && get_numbers(in, f->residue, SCAN_FAR);
}

bool film_scan_read(struct film_scan *out, const uint8_t *bytes, size_t count, struct err *e)
{
    struct wire_in in = wire_read(bytes, count);
    *out = (struct film_scan){0};
    bool ok = wire_number(&in) == SCAN_VERSION;
    uint64_t frames = wire_number(&in);
    out->end_us = wire_signed(&in);
    ok = ok && !in.failed && frames > 0 && frames <= wire_left(&in) / FRAME_LEAST &&
         out->end_us <= TIME_MOST;
    if (ok) {
        out->frame = err_calloc((size_t)frames + 1, sizeof *out->frame, e);
        ok = out->frame != NULL;
    }
    for (; ok && out->count < frames; out->count++) {
        struct scan_frame *f = &out->frame[out->count];
        bool is_first = out->count == 0;
        ok = get_frame(&in, is_first ? 0 : f[-1].frame, is_first ? 0 : f[-1].time_us, f) &&
             (is_first || (f->frame > f[-1].frame && f->time_us >= f[-1].time_us));
    }
    if (!ok || wire_left(&in) > 0) {
        film_scan_free(out);
        return err_set(e, ERR_INPUT, "the stored shots are invalid");
    }
    return true;
}
