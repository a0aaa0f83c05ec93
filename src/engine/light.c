#include "barcode/engine/light.h"

#include <pthread.h>
#include <stdlib.h>

#include "fixed.h"

/* cd/m2 of SDR white, of PQ 1.0 and of the HLG display. */
enum { WHITE_NITS = 203, PQ_NITS = 10000, HLG_NITS = 1000 };

struct light {
    struct light_rule rule;
    int film_peak;
    enum isa isa;
    pthread_mutex_t lock; /* guards the fields below */
    struct light_table *table[TRANSFERS];
};

/* ------------------------------------------------------------------ transfers */

/*
 * SMPTE ST 2084: m1 = 1305/8192, m2 = 2523/32, c1 = 3424/4096, c2 = 2413/128, c3 = 2392/128.
 * Convert between a fraction of PQ_NITS and its signal.
 */
#define PQ_C1 (FIXED_ONE / 4096 * 3424)
#define PQ_C2 (FIXED_ONE / 128 * 2413)
#define PQ_C3 (FIXED_ONE / 128 * 2392)

static uint64_t pq_light(uint64_t signal)
{
    uint64_t p = fixed_pow(signal, 32, 2523);
    return p <= PQ_C1 ? 0
                      : fixed_pow(fixed_over(p - PQ_C1, PQ_C2 - fixed_times(PQ_C3, p)), 8192, 1305);
}

static uint64_t pq_signal(uint64_t light)
{
    uint64_t p = fixed_pow(light, 1305, 8192);
    return fixed_pow(fixed_over(PQ_C1 + fixed_times(PQ_C2, p), FIXED_ONE + fixed_times(PQ_C3, p)),
                     2523, 32);
}

/*
 * BT.2100-2, table 5: E'^2 / 3 up to 1/2, then (exp((E' - c) / a) + b) / 12, with a = 0.17883277, b
 * = 1 - 4a, c = 0.5 - a ln(4a).
 */
static uint64_t hlg_light(uint64_t signal)
{
    const uint64_t b = UINT64_C(80127177627248), c = UINT64_C(157600859554380),
                   log2e_over_a = UINT64_C(2270739043156351);
    if (signal <= FIXED_ONE / 2)
        return fixed_times(signal, signal) / 3;
    int64_t beyond = (int64_t)signal - (int64_t)c;
    uint64_t size = fixed_times((uint64_t)(beyond < 0 ? -beyond : beyond), log2e_over_a);
    return (fixed_exp2(beyond < 0 ? -(int64_t)size : (int64_t)size) + b) / 12;
}

/* Returns `light` in the tables' unit, rounded; 1.0 is `white` units. */
static uint32_t units(uint64_t light, uint64_t white)
{
    return (uint32_t)(((__extension__(unsigned __int128) light * white) + FIXED_ONE / 2) >>
                      FIXED_BITS);
}

static uint32_t light_of_code(enum transfer transfer, uint32_t code)
{
    uint64_t signal = (code * FIXED_ONE + (LIGHT_CODES - 1) / 2) / (LIGHT_CODES - 1);
    switch (transfer) {
    case TRANSFER_PQ: return units(pq_light(signal), (uint64_t)LIGHT_WHITE * PQ_NITS / WHITE_NITS);
    case TRANSFER_HLG: return units(hlg_light(signal), LIGHT_WHITE);
    default: return units(fixed_pow(signal, 12, 5), LIGHT_WHITE);
    }
}

/* -------------------- tone curves: light in fixed.h's numbers, 1.0 is white */

/* BT.2390-10, 5.4.1: identity up to the knee, then a Hermite spline up to `most`. */
static uint64_t spline(uint64_t e, uint64_t most)
{
    uint64_t knee = most * 3 / 2 - FIXED_ONE / 2;
    if (e <= knee)
        return e;
    uint64_t t = fixed_over(e - knee, FIXED_ONE - knee), t2 = fixed_times(t, t),
             t3 = fixed_times(t2, t);
    uint64_t slope = t + t3 - 2 * t2, rise = 3 * t2 - 2 * t3;
    return fixed_times(FIXED_ONE - rise, knee) + fixed_times(slope, FIXED_ONE - knee) +
           fixed_times(rise, most);
}

static uint64_t bt2390(uint64_t x, uint64_t peak)
{
    uint64_t top = pq_signal(peak * WHITE_NITS / PQ_NITS),
             most = fixed_over(pq_signal(FIXED_ONE / PQ_NITS * WHITE_NITS), top);
    uint64_t e = fixed_over(pq_signal(x * WHITE_NITS / PQ_NITS), top), mapped = spline(e, most);
    return mapped == e ? x : pq_light(fixed_times(mapped, top)) / WHITE_NITS * PQ_NITS;
}

/*
 * The curve is (x (A x + C B) + D E) / (x (A x + B) + D F) - E / F. A is .15, B .5, C .1, D .2, E
 * .02, F .3. Numerator and denominator are multiplied by 100.
 */
static uint64_t hable_curve(uint64_t x)
{
    uint64_t x2 = fixed_times(x, x);
    uint64_t curve =
        fixed_over(15 * x2 + 5 * x + FIXED_ONE * 2 / 5, 15 * x2 + 50 * x + FIXED_ONE * 6);
    return curve > FIXED_ONE / 15 ? curve - FIXED_ONE / 15 : 0;
}

static uint64_t reinhard(uint64_t x, uint64_t peak)
{
    uint64_t share = fixed_over(x, peak);
    return fixed_over(x + fixed_times(share, share), FIXED_ONE + x);
}

static uint64_t tone(enum tone_map map, uint64_t x, uint64_t peak)
{
    x = x > peak ? peak : x;
    uint64_t y = x;
    if (peak > FIXED_ONE && map == TONE_BT2390)
        y = bt2390(x, peak);
    else if (peak > FIXED_ONE && map == TONE_HABLE)
        y = fixed_over(hable_curve(x), hable_curve(peak));
    else if (peak > FIXED_ONE && map == TONE_REINHARD)
        y = reinhard(x, peak);
    return y > FIXED_ONE ? FIXED_ONE : y;
}

/* ------------------------------------------------------------------ tables */

/* Returns the middle of a cell. */
static uint64_t light_in_cell(uint32_t cell)
{
    uint32_t octave = cell < 2 * LIGHT_FINE ? 0 : cell / LIGHT_FINE - 1;
    uint64_t low = (uint64_t)(cell - octave * LIGHT_FINE) << octave, width = UINT64_C(1) << octave;
    return (low << (FIXED_BITS - LIGHT_BITS)) + ((width - 1) << (FIXED_BITS - LIGHT_BITS)) / 2;
}

static uint32_t gain_at(enum tone_map map, int nits, uint64_t x)
{
    uint64_t peak = (FIXED_ONE * (uint64_t)nits + WHITE_NITS / 2) / WHITE_NITS;
    uint64_t y = tone(map, x, peak);
    return x == 0 ? UINT32_C(1) << LIGHT_GAIN_BITS
                  : (uint32_t)(fixed_over(y, x) >> (FIXED_BITS - LIGHT_GAIN_BITS));
}

static void fill_gains(struct light_table *t, enum tone_map map, int peak)
{
    if (t->transfer == TRANSFER_PQ)
        for (uint32_t code = 0; code < LIGHT_CODES; code++)
            t->gain[code] =
                gain_at(map, peak, (uint64_t)t->light[code] << (FIXED_BITS - LIGHT_BITS));
    if (t->transfer != TRANSFER_HLG)
        return;
    for (uint32_t cell = 0; cell < LIGHT_CELLS_HDR; cell++)
        t->gain[cell] = gain_at(map, peak, light_in_cell(cell));
    /* BT.2100-2, table 5: the display shows 1,000 cd/m2 * Y^(gamma - 1) * scene light. */
    for (uint32_t cell = 0; cell < LIGHT_CELLS; cell++)
        t->ootf[cell] = units(fixed_pow(light_in_cell(cell), 1, 5),
                              (uint64_t)LIGHT_WHITE * HLG_NITS / WHITE_NITS);
}

static struct light_table *make_table(const struct light *l, enum transfer transfer, struct err *e)
{
    struct light_table *t = err_calloc(1, sizeof *t, e);
    if (!t)
        return NULL;
    t->transfer = transfer;
    t->linear = l->rule.linear;
    for (uint32_t code = 0; code < LIGHT_CODES; code++)
        t->light[code] = light_of_code(transfer, code);
    for (uint32_t cell = 0; cell < LIGHT_CELLS; cell++) {
        uint64_t light = light_in_cell(cell);
        t->code[cell] =
            (uint16_t)units(fixed_pow(light < FIXED_ONE ? light : FIXED_ONE, 5, 12), 65280);
    }
    fill_gains(t, l->rule.map, light_peak(&l->rule, transfer, l->film_peak));
    return t;
}

struct light *light_open(const struct light_rule *rule, int film_peak, struct err *e)
{
    struct light *l = err_calloc(1, sizeof *l, e);
    if (!l)
        return NULL;
    pthread_mutex_init(&l->lock, NULL);
    l->rule = *rule;
    l->film_peak = film_peak;
    if (!isa_choose(&l->isa, e))
        light_close(&l);
    return l;
}

void light_close(struct light **l)
{
    if (!*l)
        return;
    for (int i = 0; i < TRANSFERS; i++)
        free((*l)->table[i]);
    pthread_mutex_destroy(&(*l)->lock);
    free(*l);
    *l = NULL;
}

enum isa light_isa(const struct light *l) { return l->isa; }

bool light_wanted(const struct light *l, const struct frame_view *view)
{
    bool wide = view->primaries != PRIMARIES_BT709 && view->model != MODEL_GREY;
    return l &&
           (l->rule.linear || (view->transfer == TRANSFER_SDR ? wide : l->rule.map != TONE_OFF));
}

const struct light_table *light_table(struct light *l, enum transfer transfer, struct err *e)
{
    enum transfer read_as = l->rule.map == TONE_OFF ? TRANSFER_SDR : transfer;
    pthread_mutex_lock(&l->lock);
    if (!l->table[read_as])
        l->table[read_as] = make_table(l, read_as, e);
    const struct light_table *t = l->table[read_as];
    pthread_mutex_unlock(&l->lock);
    return t;
}

struct light_gamut light_gamut(const struct light *l, enum transfer transfer,
                               enum primaries primaries)
{
    const int32_t one = 1 << LIGHT_GAMUT_BITS;
    bool as_stored = transfer != TRANSFER_SDR && l->rule.map == TONE_OFF;
    switch (as_stored ? PRIMARIES_BT709 : primaries) {
    case PRIMARIES_BT2020:
        return (struct light_gamut){
            {{27206, -9628, -1194}, {-2041, 18562, -137}, {-297, -1648, 18329}}, false};
    case PRIMARIES_P3_D65:
        return (struct light_gamut){{{20069, -3685, 0}, {-689, 17073, 0}, {-322, -1288, 17994}},
                                    false};
    case PRIMARIES_P3_DCI:
        return (struct light_gamut){{{18965, -2539, -42}, {-680, 17131, -67}, {-296, -1287, 17967}},
                                    false};
    default: return (struct light_gamut){{{one, 0, 0}, {0, one, 0}, {0, 0, one}}, true};
    }
}

void light_matrix(struct colour_transform *t, const struct frame_view *view)
{
    colour_transform_init(t, view->model, view->matrix, view->range, view->bits);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            t->m[i][j] = (t->m[i][j] + 8) >> 4;
}

const char *light_map_name(enum tone_map map)
{
    static const char *const name[TONE_MAPS] = {"bt2390", "hable", "reinhard", "clip", "off"};
    return name[map];
}

const char *light_primaries_name(enum primaries primaries)
{
    static const char *const name[PRIMARIES] = {"bt709", "bt2020", "smpte432", "smpte431"};
    return name[primaries];
}

int light_peak(const struct light_rule *rule, enum transfer transfer, int film_peak)
{
    int peak = LIGHT_PEAK_USUAL;
    if (rule->peak > 0)
        peak = rule->peak;
    else if (transfer == TRANSFER_PQ && film_peak > 0)
        peak = film_peak;
    return peak < LIGHT_PEAK_LEAST  ? LIGHT_PEAK_LEAST
           : peak > LIGHT_PEAK_MOST ? LIGHT_PEAK_MOST
                                    : peak;
}
