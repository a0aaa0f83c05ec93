/* film_scan.c - a film's facts as bytes, for the cache. */
#include <stdlib.h>
#include <string.h>

#include "base/wire.h"
#include "shots.h"

/* The facts of 8 bits, and those of 16. */
enum { BYTES = 5 + SCAN_NEAR + SCAN_FAR, NUMBERS = SCAN_NEAR + 2 * SCAN_FAR };
enum { FRAME_LEAST = 2 + BYTES + NUMBERS /* bytes */ };

void film_scan_free(struct film_scan *s)
{
    free(s->frame);
    *s = (struct film_scan){0};
}

static void list_facts(struct scan_frame *f, uint8_t **byte, uint16_t **number)
{
    for (int c = 0; c < 3; c++)
        *byte++ = &f->mean[c];
    *byte++ = &f->luma;
    *byte++ = &f->contrast;
    for (int i = 0; i < SCAN_NEAR; i++) {
        *byte++ = &f->likeness[i];
        *number++ = &f->near[i];
    }
    for (int i = 0; i < SCAN_FAR; i++) {
        *byte++ = &f->far[i].likeness;
        *number++ = &f->far[i].distance;
        *number++ = &f->far[i].residue;
    }
}

/* Numbers and times are differences from the frame before. */
bool film_scan_write(const struct film_scan *s, uint8_t **bytes, size_t *count, struct err *e)
{
    struct wire_out o = {0};
    struct scan_frame last = {0};
    wire_put_number(&o, SCAN_VERSION);
    wire_put_number(&o, s->count);
    wire_put_signed(&o, s->end_us);
    for (size_t i = 0; i < s->count; i++) {
        struct scan_frame f = s->frame[i];
        uint8_t *byte[BYTES];
        uint16_t *number[NUMBERS];
        list_facts(&f, byte, number);
        wire_put_number(&o, f.frame - last.frame);
        wire_put_signed(&o, (int64_t)((uint64_t)f.time_us - (uint64_t)last.time_us));
        for (int b = 0; b < BYTES; b++)
            wire_put(&o, byte[b], 1);
        for (int b = 0; b < NUMBERS; b++)
            wire_put_number(&o, *number[b]);
        last = f;
    }
    if (o.failed) {
        wire_free(&o);
        return err_memory(e, s->count * sizeof *s->frame);
    }
    *bytes = o.data;
    *count = o.count;
    return true;
}

static bool read_frame(struct wire_in *in, const struct scan_frame *last, struct scan_frame *f)
{
    uint8_t *byte[BYTES];
    uint16_t *number[NUMBERS];
    list_facts(f, byte, number);
    uint64_t step = wire_number(in);
    uint64_t time_us = (uint64_t)wire_signed(in) + (uint64_t)(last ? last->time_us : 0);
    if (in->failed || wire_left(in) < BYTES || (last && step == 0))
        return false;
    f->frame = step + (last ? last->frame : 0);
    f->time_us = (int64_t)time_us;
    for (int b = 0; b < BYTES; b++)
        *byte[b] = *in->at++;
    for (int b = 0; b < NUMBERS; b++) {
        uint64_t value = wire_number(in);
        if (in->failed || value > UINT16_MAX)
            return false;
        *number[b] = (uint16_t)value;
    }
    return !last || (f->frame > last->frame && f->time_us >= last->time_us);
}

bool film_scan_read(struct film_scan *out, const uint8_t *bytes, size_t count, struct err *e)
{
    struct wire_in in = wire_read(bytes, count);
    *out = (struct film_scan){0};
    bool ok = wire_number(&in) == SCAN_VERSION;
    uint64_t frames = wire_number(&in);
    out->end_us = wire_signed(&in);
    ok = ok && !in.failed && frames <= wire_left(&in) / FRAME_LEAST;
    if (ok) {
        out->frame = err_calloc((size_t)frames + 1, sizeof *out->frame, e);
        ok = out->frame != NULL;
    }
    for (; ok && out->count < frames; out->count++) {
        struct scan_frame *f = &out->frame[out->count];
        ok = read_frame(&in, out->count > 0 ? f - 1 : NULL, f);
    }
    if (!ok || wire_left(&in) > 0) {
        film_scan_free(out);
        return err_set(e, ERR_INPUT, "the stored shots are invalid");
    }
    return true;
}
