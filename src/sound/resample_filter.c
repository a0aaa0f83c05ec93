#include <stdlib.h>

#include "barcode/sound/spectrogram.h"
#include "fir.h"
#include "resample.h"

/*
 * The filter's impulse response h(s), s in samples of the lower rate, in Q22 and STEPS a sample:
 * sinc(0.9 s) I0(6.5 sqrt(1 - (s / ZEROS)^2)). What lies between is interpolated.
 */
enum { ZEROS = RESAMPLE_ZEROS, STEPS = 256, RESPONSE = ZEROS * STEPS + 2, PHASES_MOST = 1024 };
enum { CUT = 9, CUT_OF = 10, BETA_HALF_SQUARED = 177209344 /* 3.25^2, Q24 */ };
static const int64_t PI_Q28 = 843314857;

/* Returns sin(x), x in Q28 and 0..pi / 2, by its series: x (1 - x^2 / 6 (1 - x^2 / 20 (...))). */
static int64_t sine(int64_t x)
{
    int64_t square = x * x >> 28, sum = 1 << 28;
    for (int k = 13; k >= 3; k -= 2)
        sum = (1 << 28) - (square * sum >> 28) / (k * (k - 1));
    return x * sum >> 28;
}

/* Returns sin(pi u) / (pi u) for u = 0.9 i / STEPS in Q22. */
static int64_t sinc(int64_t i)
{
    const int64_t half_turn = CUT_OF * STEPS;
    if (i == 0)
        return 1 << 22;
    int64_t angle = i * CUT % (2 * half_turn);
    bool negative = angle >= half_turn;
    angle %= half_turn;
    angle = 2 * angle > half_turn ? half_turn - angle : angle;
    int64_t value = (sine(PI_Q28 * angle / half_turn) << 22) * half_turn / (PI_Q28 * i * CUT);
    return negative ? -value : value;
}

/* Returns I0(6.5 sqrt(1 - (i / STEPS / ZEROS)^2)) in Q22, by its series. */
static int64_t window(int64_t i)
{
    const int64_t all = (int64_t)ZEROS * ZEROS * STEPS * STEPS;
    int64_t argument = BETA_HALF_SQUARED * (all - i * i) / all; /* Q24 */
    int64_t term = 1 << 22, sum = term;
    for (int k = 1; k < 32; k++) {
        term = (term * argument >> 24) / (k * k);
        sum += term;
    }
    return sum;
}

static void make_response(int32_t response[RESPONSE])
{
    for (int i = 0; i < ZEROS * STEPS; i++)
        response[i] = (int32_t)(sinc(i) * window(i) >> 22);
    response[ZEROS * STEPS] = response[ZEROS * STEPS + 1] = 0;
}

/* Returns h at `s`, which has 16 bits below a step. */
static int64_t response_at(const int32_t response[RESPONSE], int64_t s)
{
    int64_t i = s >> 16, part = s & 65535;
    if (i >= ZEROS * STEPS)
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
    for (size_t k = 0; k < f->taps; k++) {
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
    return rate <= SPECTROGRAM_RATE
               ? PHASES_MOST
               : (uint32_t)((int64_t)PHASES_MOST * SPECTROGRAM_RATE / rate) + 1;
}

bool resample_filter_set(struct resample_filter *f, int rate, struct err *e)
{
    uint32_t common = common_divisor((uint32_t)rate, SPECTROGRAM_RATE);
    resample_filter_free(f);
    f->rate = rate;
    f->up = SPECTROGRAM_RATE / common;
    f->down = (uint32_t)rate / common;
    f->phases = f->up < phases_most(rate) ? f->up : phases_most(rate);
    size_t lower = rate < SPECTROGRAM_RATE ? (size_t)rate : SPECTROGRAM_RATE;
    size_t reach = 2 * ZEROS * (size_t)rate / lower + 2;
    f->taps = (reach + FIR_STEP - 1) / FIR_STEP * FIR_STEP;
    f->coef = err_calloc((f->phases + 1) * f->taps, sizeof *f->coef, e);
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
