#include "resample.h"

#include <stdlib.h>
#include <string.h>

#include "barcode/sound/spectrogram.h"

/* ---- The filter ---- */

/*
 * The filter's impulse response h(s), s in samples of the lower rate, in Q22 and STEPS a sample:
 * sinc(0.9 s) I0(6.5 sqrt(1 - (s / ZEROS)^2)). What lies between is interpolated.
 */
enum { STEPS = 256, SPAN = RESAMPLE_ZEROS * STEPS, RESPONSE = SPAN + 2, PHASES_MOST = 1024 };
enum { CUT = 9, BETA_HALF_SQUARED = 177209344 /* 3.25^2, Q24 */ };
static const int64_t HALF_TURN = INT64_C(10) * STEPS, PI_Q28 = 843314857;

/* Returns sin(x), x in Q28 and 0..pi / 2, by its series: x (1 - x^2 / 6 (1 - x^2 / 20 (...))). */
static int64_t sine(int64_t x)
{
    int64_t square = x * x >> 28, sum = 1 << 28;
    for (int64_t k = 13; k >= 3; k -= 2)
        sum = (1 << 28) - (square * sum >> 28) / (k * (k - 1));
    return x * sum >> 28;
}

/* Returns sin(pi u) / (pi u) for u = 0.9 i / STEPS in Q22. */
static int64_t sinc(int64_t i)
{
    if (i == 0)
        return 1 << 22;
    int64_t angle = i * CUT % (2 * HALF_TURN);
    bool negative = angle >= HALF_TURN;
    angle %= HALF_TURN;
    angle = 2 * angle > HALF_TURN ? HALF_TURN - angle : angle;
    int64_t value = (sine(PI_Q28 * angle / HALF_TURN) << 22) * HALF_TURN / (PI_Q28 * i * CUT);
    return negative ? -value : value;
}

/* Returns I0(6.5 sqrt(1 - (i / STEPS / ZEROS)^2)) in Q22, by its series. */
static int64_t window(int64_t i)
{
    const int64_t all = (int64_t)SPAN * SPAN;
    int64_t argument = BETA_HALF_SQUARED * (all - i * i) / all; /* Q24 */
    int64_t term = 1 << 22, sum = term;
    for (int64_t k = 1; k < 32; k++) {
        term = (term * argument >> 24) / (k * k);
        sum += term;
    }
    return sum;
}

static void make_response(int32_t response[RESPONSE])
{
    for (int i = 0; i < SPAN; i++)
        response[i] = (int32_t)(sinc(i) * window(i) >> 22);
    response[SPAN] = response[SPAN + 1] = 0;
}

/* Returns h at `s`, which has 16 bits below a step. */
static int64_t response_at(const int32_t response[RESPONSE], int64_t s)
{
    int64_t i = s >> 16, part = s & 65535;
    if (i >= SPAN)
        return 0;
    return response[i] + ((response[i + 1] - (int64_t)response[i]) * part >> 16);
}

/* Returns a / b, rounded to nearest. */
static int64_t divide(int64_t a, int64_t b) { return (2 * a + (a < 0 ? -b : b)) / (2 * b); }

/* Fills a row, of which the sum is 2^FIR_BITS: taps in the middle take what rounding leaves. */
static void make_row(const struct resample_filter *f, const int32_t response[RESPONSE],
                     uint32_t phase, int64_t *value)
{
    const int64_t middle = (int64_t)f->taps / 2 - 1;
    const int64_t lower = f->rate < SPECTROGRAM_RATE ? f->rate : SPECTROGRAM_RATE;
    int16_t *coef = f->coef + phase * f->taps;
    int64_t sum = 0, left = 1 << FIR_BITS;
    for (size_t k = 0; k < f->taps; k++) {
        int64_t distance = llabs(((int64_t)k - middle) * f->phases - phase); /* 1 / phases */
        value[k] = response_at(response, distance * (STEPS << 16) / f->phases * lower / f->rate);
        sum += value[k];
    }
    for (size_t k = 0; k < f->taps && sum > 0; k++) {
        coef[k] = (int16_t)divide(value[k] * (1 << FIR_BITS), sum);
        left -= coef[k];
    }
    for (int64_t k = middle - llabs(left) / 2; left != 0; k++) {
        int step = left > 0 ? 1 : -1;
        coef[k] = (int16_t)(coef[k] + step);
        left -= step;
    }
}

static uint32_t common_divisor(uint32_t a, uint32_t b) { return b ? common_divisor(b, a % b) : a; }

/* Returns the most rows for a rate: an error of time of 1 / 2 row is 60 dB below the sound. */
static uint32_t phases_most(int rate)
{
    uint32_t most = PHASES_MOST;
    if (rate > SPECTROGRAM_RATE)
        most = most * SPECTROGRAM_RATE / (uint32_t)rate;
    return most + 1;
}

bool resample_filter_set(struct resample_filter *f, int rate, struct err *e)
{
    if (rate < 1 || rate > RESAMPLE_RATE_MOST)
        return err_set(e, ERR_FAILED, "sound at %d Hz", rate);
    uint32_t common = common_divisor((uint32_t)rate, SPECTROGRAM_RATE);
    resample_filter_free(f);
    f->rate = rate;
    f->up = SPECTROGRAM_RATE / common;
    f->down = (uint32_t)rate / common;
    f->phases = f->up < phases_most(rate) ? f->up : phases_most(rate);
    size_t lower = rate < SPECTROGRAM_RATE ? (size_t)rate : SPECTROGRAM_RATE;
    size_t reach = (size_t)2 * RESAMPLE_ZEROS * (size_t)rate / lower + 2;
    f->taps = (reach + FIR_STEP - 1) / FIR_STEP * FIR_STEP;
    f->coef = err_calloc(((size_t)f->phases + 1) * f->taps, sizeof *f->coef, e);
    int32_t *response = err_calloc(RESPONSE, sizeof *response, e);
    int64_t *value = err_calloc(f->taps, sizeof *value, e);
    bool ok = f->coef && response && value;
    if (ok)
        make_response(response);
    for (uint32_t phase = 0; ok && phase <= f->phases; phase++)
        make_row(f, response, phase, value);
    free(response);
    free(value);
    return ok;
}

void resample_filter_free(struct resample_filter *f)
{
    free(f->coef);
    *f = (struct resample_filter){0};
}

/* ---- The resampler ---- */

enum { ROOM = 16384, OUTPUTS = 1024 };

struct resampler {
    const struct fir *code;
    struct resample_filter filter;
    resample_out *out;
    void *user;
    uint64_t pushed, passed; /* samples of the sound */
    size_t filled;           /* of `sample` */
    size_t at;               /* in `sample`: the first tap of the next output */
    uint32_t rest;           /* of the next output's time, in 1 / up samples */
    int16_t sample[ROOM];
    int16_t output[OUTPUTS + FIR_BATCH];
};

struct resampler *resampler_open(enum isa isa, resample_out *out, void *user, struct err *e)
{
    struct resampler *r = err_calloc(1, sizeof *r, e);
    if (!r)
        return NULL;
    r->code = ISA_PICK(fir, isa);
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
    r->pushed = r->passed = r->at = r->rest = 0;
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
static bool pass_outputs(struct resampler *r, uint64_t most, struct err *e)
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
        r->passed += count;
    }
    size_t done = r->at < r->filled ? r->at : r->filled;
    memmove(r->sample, r->sample + done, (r->filled - done) * sizeof *r->sample);
    r->filled -= done;
    r->at -= done;
    return true;
}

/* Adds samples, or zeros if `samples` is NULL. */
static bool add_samples(struct resampler *r, const int16_t *samples, size_t count, uint64_t most,
                        struct err *e)
{
    while (count > 0) {
        size_t n = ROOM - r->filled < count ? ROOM - r->filled : count;
        if (samples)
            memcpy(r->sample + r->filled, samples, n * sizeof *samples);
        else
            memset(r->sample + r->filled, 0, n * sizeof *r->sample);
        r->filled += n;
        uint64_t before = r->passed;
        if (!pass_outputs(r, most, e))
            return false;
        most -= r->passed - before;
        samples = samples ? samples + n : NULL;
        count -= n;
    }
    return true;
}

bool resampler_push(struct resampler *r, const int16_t *samples, size_t count, struct err *e)
{
    r->pushed += count;
    return add_samples(r, samples, count, UINT64_MAX, e);
}

bool resampler_end(struct resampler *r, struct err *e)
{
    const struct resample_filter *f = &r->filter;
    uint64_t all = (r->pushed * f->up + f->down - 1) / f->down;
    uint64_t left = all > r->passed ? all - r->passed : 0;
    return add_samples(r, NULL, f->taps, left, e);
}
