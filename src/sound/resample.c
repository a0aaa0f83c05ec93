#include "resample.h"

#include <stdlib.h>
#include <string.h>

#include "barcode/sound/spectrogram.h"
#include "fir.h"

enum { ROOM = 16384, OUTPUTS = 1024 };

struct resampler {
    const struct fir *code;
    struct resample_filter filter;
    resample_out *out;
    void *user;
    uint64_t pushed, given; /* samples of the sound */
    size_t filled;          /* of `sample` */
    size_t at;              /* in `sample`: the first tap of the next output */
    uint32_t rest;          /* of the next output's time, in 1 / up samples */
    int16_t sample[ROOM];
    int16_t output[OUTPUTS + FIR_BATCH];
};

struct resampler *resampler_open(enum isa isa, resample_out *out, void *user, struct err *e)
{
    struct resampler *r = err_calloc(1, sizeof *r, e);
    if (!r)
        return NULL;
    r->code = fir_for(isa);
    r->out = out;
    r->user = user;
    return r;
}

void resampler_free(struct resampler **r)
{
    if (*r)
        resample_filter_free(&(*r)->filter);
    free(*r);
    *r = NULL;
}

bool resampler_begin(struct resampler *r, int rate, struct err *e)
{
    if (r->filter.rate != rate && !resample_filter_set(&r->filter, rate, e))
        return false;
    r->pushed = r->given = r->at = r->rest = 0;
    r->filled = r->filter.taps / 2 - 1;
    memset(r->sample, 0, r->filled * sizeof *r->sample);
    return true;
}

/* Moves on to the next output. */
static void advance(struct resampler *r)
{
    const struct resample_filter *f = &r->filter;
    r->at += f->down / f->up;
    r->rest += f->down % f->up;
    if (r->rest >= f->up) {
        r->rest -= f->up;
        r->at++;
    }
}

static const int16_t *row_at(const struct resample_filter *f, uint32_t rest)
{
    uint32_t row = rest;
    if (f->phases != f->up)
        row = (uint32_t)(((uint64_t)rest * f->phases + f->up / 2) / f->up);
    return f->coef + row * f->taps;
}

/* Computes up to `most` outputs for which there are samples, and passes them on. */
static bool give(struct resampler *r, uint64_t most, struct err *e)
{
    const struct resample_filter *f = &r->filter;
    size_t count = 1;
    while (count > 0) {
        for (count = 0; count < OUTPUTS && count < most && r->at + f->taps <= r->filled;) {
            const int16_t *in[FIR_BATCH], *coef[FIR_BATCH];
            size_t n = 0;
            for (; n < FIR_BATCH && count + n < most && r->at + f->taps <= r->filled; n++) {
                in[n] = r->sample + r->at;
                coef[n] = row_at(f, r->rest);
                advance(r);
            }
            for (size_t i = n; i < FIR_BATCH; i++) {
                in[i] = in[0];
                coef[i] = coef[0];
            }
            r->code->run(in, coef, f->taps, r->output + count);
            count += n;
        }
        if (count > 0 && !r->out(r->user, r->output, count, e))
            return false;
        most -= count;
        r->given += count;
    }
    size_t done = r->at < r->filled ? r->at : r->filled;
    memmove(r->sample, r->sample + done, (r->filled - done) * sizeof *r->sample);
    r->filled -= done;
    r->at -= done;
    return true;
}

/* Adds samples, or zeros if `samples` is NULL. */
static bool add(struct resampler *r, const int16_t *samples, size_t count, uint64_t most,
                struct err *e)
{
    while (count > 0) {
        size_t n = ROOM - r->filled < count ? ROOM - r->filled : count;
        if (samples)
            memcpy(r->sample + r->filled, samples, n * sizeof *samples);
        else
            memset(r->sample + r->filled, 0, n * sizeof *r->sample);
        r->filled += n;
        uint64_t before = r->given;
        if (!give(r, most, e))
            return false;
        most -= r->given - before;
        samples = samples ? samples + n : NULL;
        count -= n;
    }
    return true;
}

bool resampler_push(struct resampler *r, const int16_t *samples, size_t count, struct err *e)
{
    r->pushed += count;
    return add(r, samples, count, UINT64_MAX, e);
}

bool resampler_end(struct resampler *r, struct err *e)
{
    const struct resample_filter *f = &r->filter;
    uint64_t all = (r->pushed * f->up + f->down - 1) / f->down;
    uint64_t left = all > r->given ? all - r->given : 0;
    return add(r, NULL, f->taps, left, e);
}
