#include "barcode/engine/colour.h"

#include <string.h>

/* fix16 values of limited range. All scale by 2^(bits - 8), so they are the same at every depth. */
enum {
    LIMITED_BLACK = 16 * 256,
    NEUTRAL = 128 * 256,
    /* white in the matrix's output, before the last 8 bits are rounded off */
    WHITE_8 = 255 * 256
};

/* Kr and Kb are n / KR_UNIT. */
enum { KR_UNIT = 10000 };

/* A positive fraction, small enough that the products below stay below about 2^59. */
struct fraction {
    int64_t num, den;
};

/* Returns num/den in COLOUR_FRACTION bits, rounded half up; den > 0. */
static int32_t fixed(int64_t num, int64_t den)
{
    int64_t n = num * 2 * ((int64_t)1 << COLOUR_FRACTION) + den;
    int64_t d = den * 2;
    int64_t q = n / d;
    if (n % d < 0)
        q--;
    return (int32_t)q;
}

static const struct {
    int64_t r, b;
} luma_weight[] = {[MATRIX_BT601] = {2990, 1140},
                   [MATRIX_BT709] = {2126, 722},
                   [MATRIX_BT2020] = {2627, 593},
                   [MATRIX_SMPTE240M] = {2120, 870},
                   [MATRIX_FCC] = {3000, 1100}};

/* Computes R' = Y' + 2(1-Kr)Cr, B' = Y' + 2(1-Kb)Cb; G' follows from Y' = KrR' + KgG' + KbB'. */
static void chroma_from_weights(struct colour_transform *t, enum matrix matrix, struct fraction c)
{
    int64_t kr = luma_weight[matrix].r, kb = luma_weight[matrix].b, kg = KR_UNIT - kr - kb;
    t->m[0][2] = fixed(2 * (KR_UNIT - kr) * c.num, KR_UNIT * c.den);
    t->m[2][1] = fixed(2 * (KR_UNIT - kb) * c.num, KR_UNIT * c.den);
    t->m[1][1] = fixed(-2 * kb * (KR_UNIT - kb) * c.num, KR_UNIT * kg * c.den);
    t->m[1][2] = fixed(-2 * kr * (KR_UNIT - kr) * c.num, KR_UNIT * kg * c.den);
}

/* Plane 1 is Cg, plane 2 Co: R' = Y' - Cg + Co, G' = Y' + Cg, B' = Y' - Cg - Co. */
static void chroma_ycgco(struct colour_transform *t, struct fraction c)
{
    int32_t one = fixed(c.num, c.den), minus = fixed(-c.num, c.den);
    t->m[0][1] = minus;
    t->m[0][2] = one;
    t->m[1][1] = one;
    t->m[2][1] = minus;
    t->m[2][2] = minus;
}

void colour_transform_init(struct colour_transform *t, enum colour_model model, enum matrix matrix,
                           enum range range, int bits)
{
    memset(t, 0, sizeof *t);
    /* Full-range white is all ones; its fix16 value depends on the depth. */
    int64_t white = (((int64_t)1 << bits) - 1) << (16 - bits);
    struct fraction luma = {WHITE_8, white}, chroma = luma;
    int32_t black = 0;
    if (range != RANGE_FULL) {
        luma = (struct fraction){255, 219};
        chroma = (struct fraction){255, 224};
        black = LIMITED_BLACK;
    }
    int32_t gain = fixed(luma.num, luma.den);
    t->offset[0] = black;
    if (model == MODEL_RGB || (model == MODEL_YCBCR && matrix == MATRIX_RGB)) {
        t->offset[1] = t->offset[2] = black;
        for (int i = 0; i < 3; i++)
            t->m[i][i] = gain;
        return;
    }
    for (int i = 0; i < 3; i++)
        t->m[i][0] = gain;
    if (model == MODEL_GREY)
        return;
    t->offset[1] = t->offset[2] = NEUTRAL;
    if (matrix == MATRIX_YCGCO)
        chroma_ycgco(t, chroma);
    else
        chroma_from_weights(t, matrix, chroma);
}

/*
 * Computes the same sum from 32-bit sums of 16-bit products, which compilers vectorize. Inputs
 * become signed: x = in - 2^15. Each m is split into high * 2^LOW + low with low >= 0. The constant
 * terms go into `rest`, which is split likewise. Then exactly:
 *
 *   sum + half = 2^LOW * A + B,  A = high . x + rest_high,  B = low . x + rest_low
 *   floor((sum + half) / 2^24) = floor((A + floor(B / 2^LOW)) / 2^(24 - LOW))
 *
 * |m| < 2^18 keeps A and B below 2^29.
 */
enum { LOW = 10, FINAL = COLOUR_FRACTION + 8 };

struct split_row {
    int16_t high[3], low[3];
    int32_t rest_high, rest_low;
};

static struct split_row split(const struct colour_transform *t, int row)
{
    struct split_row s;
    int64_t rest = (int64_t)1 << (FINAL - 1);
    for (int j = 0; j < 3; j++) {
        int32_t m = t->m[row][j];
        s.low[j] = (int16_t)(m & ((1 << LOW) - 1));
        s.high[j] = (int16_t)((m - s.low[j]) / (1 << LOW));
        rest += (int64_t)m * (32768 - t->offset[j]);
    }
    s.rest_low = (int32_t)(rest & ((1 << LOW) - 1));
    s.rest_high = (int32_t)((rest - s.rest_low) / (1 << LOW));
    return s;
}

static void convert(const struct split_row *row, const uint16_t *restrict a,
                    const uint16_t *restrict b, const uint16_t *restrict c, uint8_t *restrict to,
                    int n)
{
    const struct split_row s = *row;
    for (int i = 0; i < n; i++) {
        int16_t x = (int16_t)(a[i] - 32768), y = (int16_t)(b[i] - 32768),
                z = (int16_t)(c[i] - 32768);
        int32_t high = x * s.high[0] + y * s.high[1] + z * s.high[2] + s.rest_high;
        int32_t low = x * s.low[0] + y * s.low[1] + z * s.low[2] + s.rest_low;
        /* gcc and clang define right shifts of negative numbers as floor. */
        int32_t v = (high + (low >> LOW)) >> (FINAL - LOW);
        v = v < 0 ? 0 : v;
        to[i] = (uint8_t)(v > 255 ? 255 : v);
    }
}

void colour_apply_row(const struct colour_transform *t, const uint16_t *const in[3], int n,
                      uint8_t *rgb, ptrdiff_t step)
{
    enum { BLOCK = 256 };
    uint8_t plane[3][BLOCK];
    struct split_row row[3] = {split(t, 0), split(t, 1), split(t, 2)};
    for (int done = 0; done < n; done += BLOCK) {
        int now = n - done < BLOCK ? n - done : BLOCK;
        for (int i = 0; i < 3; i++)
            convert(&row[i], in[0] + done, in[1] + done, in[2] + done, plane[i], now);
        for (int i = 0; i < now; i++, rgb += step) {
            rgb[0] = plane[0][i];
            rgb[1] = plane[1][i];
            rgb[2] = plane[2][i];
        }
    }
}

enum matrix colour_guess_matrix(int width, int height)
{
    return width >= 1280 || height > 576 ? MATRIX_BT709 : MATRIX_BT601;
}

const char *colour_matrix_name(enum matrix m)
{
    static const char *const name[] = {"unknown",   "bt601", "bt709", "bt2020nc",
                                       "smpte240m", "fcc",   "ycgco", "rgb"};
    return name[m];
}

const char *colour_range_name(enum range r)
{
    static const char *const name[] = {"unknown", "limited", "full"};
    return name[r];
}

/* ---- Linear light ---- */

const uint16_t srgb_linear[256] = {
    0,     20,    40,    60,    80,    99,    119,   139,   159,   179,   199,   219,   241,
    264,   288,   313,   340,   367,   396,   427,   458,   491,   526,   562,   599,   637,
    677,   718,   761,   805,   851,   898,   947,   997,   1048,  1101,  1156,  1212,  1270,
    1330,  1391,  1453,  1517,  1583,  1651,  1720,  1790,  1863,  1937,  2013,  2090,  2170,
    2250,  2333,  2418,  2504,  2592,  2681,  2773,  2866,  2961,  3058,  3157,  3258,  3360,
    3464,  3570,  3678,  3788,  3900,  4014,  4129,  4247,  4366,  4488,  4611,  4736,  4864,
    4993,  5124,  5257,  5392,  5530,  5669,  5810,  5953,  6099,  6246,  6395,  6547,  6700,
    6856,  7014,  7174,  7335,  7500,  7666,  7834,  8004,  8177,  8352,  8528,  8708,  8889,
    9072,  9258,  9445,  9635,  9828,  10022, 10219, 10417, 10619, 10822, 11028, 11235, 11446,
    11658, 11873, 12090, 12309, 12530, 12754, 12980, 13209, 13440, 13673, 13909, 14146, 14387,
    14629, 14874, 15122, 15371, 15623, 15878, 16135, 16394, 16656, 16920, 17187, 17456, 17727,
    18001, 18277, 18556, 18837, 19121, 19407, 19696, 19987, 20281, 20577, 20876, 21177, 21481,
    21787, 22096, 22407, 22721, 23038, 23357, 23678, 24002, 24329, 24658, 24990, 25325, 25662,
    26001, 26344, 26688, 27036, 27386, 27739, 28094, 28452, 28813, 29176, 29542, 29911, 30282,
    30656, 31033, 31412, 31794, 32179, 32567, 32957, 33350, 33745, 34143, 34544, 34948, 35355,
    35764, 36176, 36591, 37008, 37429, 37852, 38278, 38706, 39138, 39572, 40009, 40449, 40891,
    41337, 41785, 42236, 42690, 43147, 43606, 44069, 44534, 45002, 45473, 45947, 46423, 46903,
    47385, 47871, 48359, 48850, 49344, 49841, 50341, 50844, 51349, 51858, 52369, 52884, 53401,
    53921, 54445, 54971, 55500, 56032, 56567, 57105, 57646, 58190, 58737, 59287, 59840, 60396,
    60955, 61517, 62082, 62650, 63221, 63795, 64372, 64952, 65535};

uint32_t srgb_luminance(const uint8_t rgb[3])
{
    return 2126u * srgb_linear[rgb[0]] + 7152u * srgb_linear[rgb[1]] + 722u * srgb_linear[rgb[2]];
}

uint8_t srgb_level(uint16_t light)
{
    /* linear(low) <= light, and the result before rounding is in low..high */
    int low = 0, high = 255;
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (srgb_linear[middle] <= light)
            low = middle;
        else
            high = middle - 1;
    }
    return (uint8_t)(low < 255 && srgb_linear[low + 1] - light < light - srgb_linear[low] ? low + 1
                                                                                          : low);
}
