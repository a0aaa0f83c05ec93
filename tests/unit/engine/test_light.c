/* light.h's tables against their definitions in floating point, and what must hold of every curve.
 */
#include <math.h>
#include <stdlib.h>

#include "test.h"
#include "barcode/engine/light.h"
#include "chance.h"
#include "engine/shrink_sum.h"

static const double WHITE = 203;

static struct light *opened(enum tone_map map, int peak, bool linear)
{
    struct err e = ERR_INIT;
    struct light_rule rule = {map, peak, linear};
    struct light *l = light_open(&rule, 0, &e);
    assert_non_null(l);
    return l;
}

static const struct light_table *table_of(struct light *l, enum transfer transfer)
{
    struct err e = ERR_INIT;
    const struct light_table *t = light_table(l, transfer, &e);
    assert_non_null(t);
    return t;
}

/* SMPTE ST 2084 in cd/m2. */
static const double m1 = 2610.0 / 16384, m2 = 2523.0 / 4096 * 128, c1 = 3424.0 / 4096,
                    c2 = 2413.0 / 4096 * 32, c3 = 2392.0 / 4096 * 32;

static double pq(double e)
{
    double p = pow(e, 1 / m2);
    return 10000 * pow(fmax(p - c1, 0) / (c2 - c3 * p), 1 / m1);
}

static double pq_inverse(double nits)
{
    double p = pow(nits / 10000, m1);
    return pow((c1 + c2 * p) / (1 + c3 * p), m2);
}

static double hlg(double e)
{
    const double a = 0.17883277, b = 1 - 4 * a, c = 0.5 - a * log(4 * a);
    return e <= 0.5 ? e * e / 3 : (exp((e - c) / a) + b) / 12;
}

TEST(transfers_are_the_standards)
{
    struct light *l = opened(TONE_BT2390, 1000, false);
    for (int i = 0; i < LIGHT_CODES; i++) {
        double e = i / (LIGHT_CODES - 1.0);
        assert_true(fabs(table_of(l, TRANSFER_PQ)->light[i] - pq(e) / WHITE * LIGHT_WHITE) <=
                    0.6 + 1e-9 * pq(e) * LIGHT_WHITE);
        assert_true(fabs(table_of(l, TRANSFER_HLG)->light[i] - hlg(e) * LIGHT_WHITE) <= 0.6);
        assert_true(fabs(table_of(l, TRANSFER_SDR)->light[i] - pow(e, 2.4) * LIGHT_WHITE) <= 0.6);
    }
    assert_int_equal(table_of(l, TRANSFER_HLG)->light[LIGHT_CODES - 1], LIGHT_WHITE);
    light_close(&l);
}

/* BT.2390's EETF and the others, of x times white; peak in whites. */
static double curve(enum tone_map map, double x, double peak)
{
    x = fmin(x, peak);
    if (peak <= 1 || map == TONE_CLIP)
        return fmin(x, 1);
    if (map == TONE_REINHARD)
        return fmin(x * (1 + x / peak / peak) / (1 + x), 1);
    if (map == TONE_HABLE) {
        double of[2] = {x, peak};
        for (int i = 0; i < 2; i++)
            of[i] =
                (of[i] * (0.15 * of[i] + 0.05) + 0.004) / (of[i] * (0.15 * of[i] + 0.5) + 0.06) -
                0.02 / 0.3;
        return fmin(of[0] / of[1], 1);
    }
    double top = pq_inverse(peak * WHITE), most = pq_inverse(WHITE) / top,
           e = pq_inverse(x * WHITE) / top, knee = 1.5 * most - 0.5;
    double t = (e - knee) / (1 - knee);
    if (e > knee)
        e = (2 * t * t * t - 3 * t * t + 1) * knee + (t * t * t - 2 * t * t + t) * (1 - knee) +
            (3 * t * t - 2 * t * t * t) * most;
    return fmin(pq(e * top) / WHITE, 1);
}

static uint32_t grey_through(struct light *l, const struct light_table *t, uint32_t code)
{
    const struct light_gamut gamut = light_gamut(l, t->transfer, PRIMARIES_BT2020);
    uint32_t in[3] = {code, code, code}, out[3];
    light_apply(t, t->transfer, t->linear, &gamut, in, out);
    assert_true(out[0] == out[1] && out[1] == out[2]);
    return out[0];
}

/* Every grey stays grey, never gets darker as the code rises, and is the definition's to a tenth of
 * a level. */
TEST(greys)
{
    static const int peaks[] = {100, 203, 400, 1000, 4000, 10000};
    for (int map = 0; map < TONE_OFF; map++)
        for (size_t p = 0; p < sizeof peaks / sizeof *peaks; p++) {
            struct light *l = opened((enum tone_map)map, peaks[p], false);
            const struct light_table *t = table_of(l, TRANSFER_PQ), *h = table_of(l, TRANSFER_HLG);
            uint32_t last = 0, last_hlg = 0;
            for (uint32_t i = 0; i < LIGHT_CODES; i++) {
                uint32_t now = grey_through(l, t, i), now_hlg = grey_through(l, h, i);
                double e = i / (LIGHT_CODES - 1.0), scene = hlg(e),
                       shown = 1000 * pow(scene, 1.2) / WHITE;
                double right =
                    255 * pow(curve((enum tone_map)map, pq(e) / WHITE, peaks[p] / WHITE), 1 / 2.4);
                double right_hlg =
                    255 * pow(curve((enum tone_map)map, shown, peaks[p] / WHITE), 1 / 2.4);
                assert_true(now + 30 >= last && now_hlg + 60 >= last_hlg);
                assert_true(fabs(now / 256.0 - right) < 0.3);
                assert_true(fabs(now_hlg / 256.0 - right_hlg) < 0.5);
                last = now;
                last_hlg = now_hlg;
            }
            /* the last cell below white, at least: 255 */
            assert_true(peaks[p] < WHITE || last >= 65250);
            light_close(&l);
        }
}

/* Primaries: what BT.709 calls red is light of all three in BT.2020, and comes back. */
TEST(primaries_come_back)
{
    static const double to_2020[3][3] = {{0.627404, 0.329283, 0.043313},
                                         {0.069097, 0.919540, 0.011362},
                                         {0.016391, 0.088013, 0.895595}};
    struct light *l = opened(TONE_BT2390, 1000, false);
    struct light_gamut g = light_gamut(l, TRANSFER_PQ, PRIMARIES_BT2020),
                       p3 = light_gamut(l, TRANSFER_PQ, PRIMARIES_P3_D65),
                       same = light_gamut(l, TRANSFER_PQ, PRIMARIES_BT709);
    light_close(&l);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(g.m[i][0] + g.m[i][1] + g.m[i][2], 1 << LIGHT_GAMUT_BITS);
        assert_int_equal(p3.m[i][0] + p3.m[i][1] + p3.m[i][2], 1 << LIGHT_GAMUT_BITS);
        assert_int_equal(same.m[i][i], 1 << LIGHT_GAMUT_BITS);
        for (int j = 0; j < 3; j++) {
            double sum = 0;
            for (int k = 0; k < 3; k++)
                sum += g.m[i][k] * to_2020[k][j];
            assert_true(fabs(sum / (1 << LIGHT_GAMUT_BITS) - (i == j)) < 2e-4);
        }
    }
}

/* ---- SDR of other primaries, by the way of XYZ ---- */

struct xy {
    double x, y;
};

static void xyz_of(struct xy c, double to[3])
{
    to[0] = c.x / c.y;
    to[1] = 1;
    to[2] = (1 - c.x - c.y) / c.y;
}

/* Solves m v = to by Cramer's rule. */
static void solve(double m[3][3], const double to[3], double v[3])
{
    double det[4];
    for (int k = 0; k < 4; k++) {
        double a[3][3];
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                a[i][j] = j == k - 1 ? to[i] : m[i][j];
        det[k] = a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1]) -
                 a[0][1] * (a[1][0] * a[2][2] - a[1][2] * a[2][0]) +
                 a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0]);
    }
    for (int k = 0; k < 3; k++)
        v[k] = det[k + 1] / det[0];
}

static void times(double m[3][3], const double v[3], double to[3])
{
    for (int i = 0; i < 3; i++)
        to[i] = m[i][0] * v[0] + m[i][1] * v[1] + m[i][2] * v[2];
}

/* Red, green, blue and white to the matrix that gives XYZ. */
static void to_xyz(const struct xy c[4], double m[3][3])
{
    double white[3], scale[3];
    for (int j = 0; j < 3; j++) {
        double column[3];
        xyz_of(c[j], column);
        for (int i = 0; i < 3; i++)
            m[i][j] = column[i];
    }
    xyz_of(c[3], white);
    solve(m, white, scale);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            m[i][j] *= scale[j];
}

/* Bradford's adaptation of `v` from one white to another. */
static void adapt(struct xy from, struct xy to, double v[3])
{
    double cone[3][3] = {
        {0.8951, 0.2664, -0.1614}, {-0.7502, 1.7135, 0.0367}, {0.0389, -0.0685, 1.0296}};
    double a[3], b[3], white[3], seen[3];
    xyz_of(from, white);
    times(cone, white, a);
    xyz_of(to, white);
    times(cone, white, b);
    times(cone, v, seen);
    for (int i = 0; i < 3; i++)
        seen[i] *= b[i] / a[i];
    solve(cone, seen, v);
}

static void to_bt709(const struct xy c[4], const double in[3], double out[3])
{
    static const struct xy bt709[4] = {{0.64, 0.33}, {0.3, 0.6}, {0.15, 0.06}, {0.3127, 0.329}};
    double from[3][3], to[3][3], light[3], xyz[3];
    to_xyz(c, from);
    to_xyz(bt709, to);
    for (int i = 0; i < 3; i++)
        light[i] = pow(in[i], 2.4);
    times(from, light, xyz);
    adapt(c[3], bt709[3], xyz);
    solve(to, xyz, light);
    for (int i = 0; i < 3; i++)
        out[i] = pow(fmin(fmax(light[i], 0), 1), 1 / 2.4);
}

/*
 * All of a grid of colours, within half a level of 8 bits; its greys are as they were. BT.1886 is
 * steepest at 0, where 14 bits of a matrix are up to three levels of what nearly cancels out.
 */
TEST(sdr_of_wide_primaries)
{
    static const struct xy of[PRIMARIES][4] = {
        [PRIMARIES_BT2020] = {{0.708, 0.292}, {0.17, 0.797}, {0.131, 0.046}, {0.3127, 0.329}},
        [PRIMARIES_P3_D65] = {{0.68, 0.32}, {0.265, 0.69}, {0.15, 0.06}, {0.3127, 0.329}},
        [PRIMARIES_P3_DCI] = {{0.68, 0.32}, {0.265, 0.69}, {0.15, 0.06}, {0.314, 0.351}}};
    struct light *l = opened(TONE_BT2390, 1000, false);
    const struct light_table *t = table_of(l, TRANSFER_SDR);
    for (int p = PRIMARIES_BT2020; p < PRIMARIES; p++) {
        struct light_gamut g = light_gamut(l, TRANSFER_SDR, (enum primaries)p);
        for (int i = 0; i < 18 * 18 * 18; i++) {
            int byte[3] = {i % 18 * 15, i / 18 % 18 * 15, i / 324 * 15};
            uint32_t in[3], out[3];
            double signal[3], right[3];
            for (int c = 0; c < 3; c++) {
                in[c] = (uint32_t)byte[c] * 16;
                signal[c] = byte[c] / 255.0;
            }
            light_apply(t, TRANSFER_SDR, false, &g, in, out);
            to_bt709(of[p], signal, right);
            for (int c = 0; c < 3; c++)
                assert_true(fabs(out[c] / 256.0 - 255 * right[c]) < (255 * right[c] < 8 ? 3 : 0.5));
            if (byte[0] == byte[1] && byte[1] == byte[2])
                for (int c = 0; c < 3; c++)
                    assert_int_equal((out[c] + 128) >> 8, byte[c]);
        }
    }
    light_close(&l);
}

/* Means of bytes: a byte's light is that byte again, a mean of black and white is what BT.1886
 * says. */
TEST(bytes_come_back)
{
    struct light *l = opened(TONE_OFF, 1000, true);
    const struct light_table *t = table_of(l, TRANSFER_SDR);
    for (int v = 0; v < 256; v++) {
        assert_int_equal(light_to_byte(t, light_of_byte(t, (uint8_t)v)), v);
        assert_int_equal(light_mean(t, true, (uint64_t)light_of_byte(t, (uint8_t)v) * 1000, 1000),
                         v);
    }
    assert_int_equal(light_mean(t, true, LIGHT_WHITE, 2), (int)(255 * pow(0.5, 1 / 2.4) + 0.5));
    assert_int_equal(light_mean(t, false, 65280, 2), 128);
    assert_int_equal(light_mean(t, false, UINT64_C(65280) << 28, UINT64_C(1) << 28), 255);
    /* Without tone mapping HDR is read as SDR is. */
    assert_ptr_equal(table_of(l, TRANSFER_PQ), t);
    light_close(&l);
    assert_null(l);
}

TEST(cells_cover_all)
{
    uint32_t last = 0;
    for (uint32_t v = 1; v < 8 * LIGHT_WHITE; v += 1 + v / 5000) {
        uint32_t cell = light_cell(v);
        assert_true(cell >= last && cell <= last + 1);
        last = cell;
    }
    assert_int_equal(light_cell(LIGHT_WHITE), LIGHT_CELLS - 1);
    assert_true(light_cell(8 * LIGHT_WHITE - 1) < LIGHT_CELLS_HDR);
}

enum { ROW = 301 };

/* Codes of all kinds, many near the ends; the samples from n on must stay. */
static void check_row(const struct light_row *how, const struct light_table *t,
                      const struct light_gamut *g, size_t n)
{
    uint32_t row[3][ROW], code[ROW][3], out[3];
    for (size_t x = 0; x < ROW; x++)
        for (size_t i = 0; i < 3; i++) {
            int edge = between(0, 1) * (LIGHT_CODES - 1 - between(0, 40));
            code[x][i] = (uint32_t)(x % 4 ? between(0, LIGHT_CODES - 1) : edge);
            row[i][x] = code[x][i];
        }
    how->apply(t, g, row[0], n, ROW);
    for (size_t x = 0; x < ROW; x++) {
        light_apply(t, t->transfer, t->linear, g, code[x], out);
        for (size_t i = 0; i < 3; i++)
            assert_int_equal(row[i][x], x < n ? out[i] : code[x][i]);
    }
}

TEST(rows_are_by_the_definition)
{
    for (int map = 0; map < TONE_MAPS * 2; map++)
        for (int peak = 100; peak <= 10000; peak *= 10) {
            struct light *l = opened((enum tone_map)(map / 2), peak, map % 2);
            for (int of = 0; of < TRANSFERS * PRIMARIES; of++) {
                enum transfer transfer = (enum transfer)(of / PRIMARIES);
                struct light_gamut g = light_gamut(l, transfer, (enum primaries)(of % PRIMARIES));
                for (enum isa isa = ISA_BASE; isa <= ISA_VNNI && isa_supported(isa); isa++)
                    check_row(ISA_PICK(light_row, isa), table_of(l, transfer), &g,
                              (size_t)between(1, ROW - 1));
            }
            light_close(&l);
        }
}

static bool goes(const struct light *l, enum transfer transfer, enum primaries primaries)
{
    struct frame_view v = {.transfer = transfer, .primaries = primaries};
    return light_wanted(l, &v);
}

TEST(who_goes_through)
{
    struct light *mapped = opened(TONE_BT2390, 1000, false), *linear = opened(TONE_OFF, 1000, true),
                 *off = opened(TONE_OFF, 1000, false);
    const enum primaries wide = PRIMARIES_BT2020, usual = PRIMARIES_BT709;
    assert_false(goes(NULL, TRANSFER_PQ, wide));
    assert_false(goes(mapped, TRANSFER_SDR, usual));
    assert_true(goes(mapped, TRANSFER_SDR, wide) && goes(mapped, TRANSFER_SDR, PRIMARIES_P3_D65));
    assert_true(goes(mapped, TRANSFER_PQ, wide) && goes(mapped, TRANSFER_HLG, usual));
    assert_true(goes(linear, TRANSFER_SDR, usual) && goes(linear, TRANSFER_PQ, wide));
    assert_true(goes(off, TRANSFER_SDR, wide));
    assert_false(goes(off, TRANSFER_PQ, wide) || goes(off, TRANSFER_SDR, usual));
    /* without tone mapping, HDR keeps its primaries */
    assert_true(light_gamut(off, TRANSFER_PQ, wide).same);
    assert_false(light_gamut(off, TRANSFER_SDR, wide).same);
    assert_string_equal(light_primaries_name(PRIMARIES_P3_D65), "smpte432");
    light_close(&mapped);
    light_close(&linear);
    light_close(&off);
    const struct light_rule own = {TONE_BT2390, 0, false}, asked = {TONE_BT2390, 600, false};
    assert_int_equal(light_peak(&own, TRANSFER_PQ, 4000), 4000);
    assert_int_equal(light_peak(&own, TRANSFER_PQ, 0), 1000);
    assert_int_equal(light_peak(&own, TRANSFER_HLG, 4000), 1000);
    assert_int_equal(light_peak(&own, TRANSFER_PQ, 5), 100);
    assert_int_equal(light_peak(&asked, TRANSFER_PQ, 4000), 600);
    assert_string_equal(light_map_name(TONE_REINHARD), "reinhard");
}

/* A film of PQ that says how bright it gets, in which HLG comes: that one's display is its own,
 * unless --hdr-peak names a peak for all. */
TEST(a_peak_is_for_its_transfer)
{
    struct err e = ERR_INIT;
    static const struct light_rule own = {TONE_BT2390, 0, false},
                                   asked = {TONE_BT2390, 4000, false};
    struct light *film = light_open(&own, 4000, &e), *all = light_open(&asked, 600, &e),
                 *usual = opened(TONE_BT2390, 1000, false);
    assert_true(film && all);
    assert_memory_equal(table_of(film, TRANSFER_HLG), table_of(usual, TRANSFER_HLG),
                        sizeof(struct light_table));
    assert_memory_equal(table_of(film, TRANSFER_PQ), table_of(all, TRANSFER_PQ),
                        sizeof(struct light_table));
    assert_memory_not_equal(table_of(film, TRANSFER_PQ), table_of(usual, TRANSFER_PQ),
                            sizeof(struct light_table));
    assert_memory_not_equal(table_of(all, TRANSFER_HLG), table_of(usual, TRANSFER_HLG),
                            sizeof(struct light_table));
    light_close(&film);
    light_close(&all);
    light_close(&usual);
}
