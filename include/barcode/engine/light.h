/*
 * light.h - frames that are converted to linear light before they are averaged: HDR (PQ, HLG),
 * which is tone-mapped to SDR; SDR with wide primaries, which become BT.709; and all frames with
 * --light linear.
 *
 * The mean of PQ samples is not the mean of the visible light. So each luma sample is converted
 * individually, with the chroma sample at (floor(x * cw / w), floor(y * ch / h)). shrink.h then
 * computes the exact area mean of the results. All in integers:
 *
 *   1. Codes. R'G'B' by colour.h's matrix with COLOUR_FRACTION - 4 bits, in sixteenths of an 8-bit
 *      level: 0..LIGHT_CODES - 1, clamped.
 *   2. Light, in units of 1 / LIGHT_WHITE of SDR white, which is 203 cd/m2 in HDR (ITU-R
 *      BT.2408-7, 2.2):
 *      PQ   SMPTE ST 2084 (ITU-R BT.2100-2, table 4); 1.0 is 10,000 cd/m2.
 *      HLG  BT.2100-2, table 5: the inverse OETF, then the OOTF of a display of 1,000 cd/m2,
 *           gamma 1.2.
 *      SDR  ITU-R BT.1886 with a black of 0: the power of 2.4.
 *   3. Tone mapping of PQ and HLG. The largest of R, G and B is mapped and the others are scaled by
 *      the same factor, which preserves hue. Light above the peak is clamped to the peak.
 *      bt2390    the EETF of ITU-R BT.2390-10, 5.4.1, from the film's peak to SDR white; black is 0
 *      hable     Hable's curve ("Uncharted 2", GDC 2010) of x, divided by the curve of the peak
 *      reinhard  x (1 + x / peak^2) / (1 + x) (Reinhard et al., SIGGRAPH 2002, equation 4)
 *      clip      min(x, 1)
 *   4. Primaries. Linear light of BT.2020, P3-D65 or DCI-P3 is converted to BT.709 and clamped to
 *      0..LIGHT_WHITE. A matrix is XYZ(BT.709)^-1 * A * XYZ(primaries), from H.273's chromaticities
 *      (table 2), in 14 bits with rows that sum to 1, so that grey stays grey. A adapts DCI-P3's
 *      white (0.314, 0.351) to D65 by the Bradford transform of ICC.1:2010, annex E; elsewhere it
 *      is 1.
 *   5. The result is that light (`linear`), or its code by the inverse of BT.1886 in fix16 (white
 *      is 65280).
 *
 * SDR of BT.709, or of primaries near it, does not need step 4: without --light linear it is not
 * converted at all. Neither are HDR frames with TONE_OFF.
 *
 * Step 5 also converts the mean of light to a code. Functions of light (tone curve, OOTF, code) are
 * tables indexed by light_cell, computed at the middle of each cell. A cell is 1/512 of its value
 * wide, at most a tenth of an 8-bit level.
 */
#ifndef BARCODE_LIGHT_H
#define BARCODE_LIGHT_H

#include "barcode/base/err.h"
#include "barcode/base/isa.h"
#include "barcode/engine/colour.h"
#include "barcode/engine/frame.h"

SHARED_BEGIN

enum tone_map { TONE_BT2390, TONE_HABLE, TONE_REINHARD, TONE_CLIP, TONE_OFF, TONE_MAPS };

/* The values of --tone-map, --hdr-peak and --light. */
struct light_rule {
    enum tone_map map;
    /* cd/m2, LIGHT_PEAK_LEAST..LIGHT_PEAK_MOST; 0: from metadata, else LIGHT_PEAK_USUAL */
    int peak;
    bool linear; /* compute means of linear light */
};

enum { LIGHT_PEAK_LEAST = 100, LIGHT_PEAK_USUAL = 1000, LIGHT_PEAK_MOST = 10000 };

enum {
    LIGHT_BITS = 24,
    LIGHT_WHITE = 1 << LIGHT_BITS,
    LIGHT_CODES = 255 * 16 + 1,
    /* below this each value is one cell; above, each octave has this many cells */
    LIGHT_FINE = 512,
    LIGHT_CELLS = (LIGHT_BITS - 9 + 1) * LIGHT_FINE + 1, /* up to white */
    /* up to eight times white, as HLG displays need */
    LIGHT_CELLS_HDR = LIGHT_CELLS + 3 * LIGHT_FINE,
    LIGHT_GAIN_BITS = 28,
    LIGHT_GAMUT_BITS = 14
};

/* The tables of one transfer function. Plain data, which a GPU can copy. */
struct light_table {
    enum transfer transfer;
    bool linear;                 /* the output is light; otherwise codes */
    uint32_t light[LIGHT_CODES]; /* HLG: scene light, LIGHT_WHITE for 1.0 */
    /* HLG: factor for the scene light, LIGHT_BITS bits, indexed by the cell of its luminance */
    uint32_t ootf[LIGHT_CELLS];
    /* LIGHT_GAIN_BITS bits; by the largest code (PQ) or the cell of the largest light (HLG) */
    uint32_t gain[LIGHT_CELLS_HDR];
    uint16_t code[LIGHT_CELLS]; /* fix16, 0..65280 */
};

struct light;

/*
 * Creates the converter of one film whose metadata give a peak of `film_peak` cd/m2 (0: none). Each
 * table is computed on first use, with light_peak of its transfer: a PQ film's metadata do not
 * apply to HLG frames in it. Main thread.
 */
struct light *light_open(const struct light_rule *rule, int film_peak, struct err *e);
void light_close(struct light **l);

enum isa light_isa(const struct light *l);

/*
 * Returns true if the frame needs conversion: HDR unless TONE_OFF, colours of wide primaries in
 * SDR, and all frames with --light linear. False without `l`. Any thread.
 */
bool light_wanted(const struct light *l, const struct frame_view *view);

/*
 * Returns the tables for frames of this transfer, owned by `l`. With TONE_OFF, PQ and HLG are
 * treated as SDR. Returns NULL, with *e filled, only if out of memory. Any thread.
 */
const struct light_table *light_table(struct light *l, enum transfer transfer, struct err *e);

/* The matrix of step 4, LIGHT_GAMUT_BITS bits. */
struct light_gamut {
    int32_t m[3][3];
    bool same; /* m is 1: the primaries are not converted */
};

/* Returns the matrix for frames of light_wanted; with TONE_OFF, HDR keeps its own. Any thread. */
struct light_gamut light_gamut(const struct light *l, enum transfer transfer,
                               enum primaries primaries);

/* Computes the matrix of step 1. Any thread. */
void light_matrix(struct colour_transform *t, const struct frame_view *view);

/* Returns "bt2390" ..., the values of --tone-map. Any thread. */
const char *light_map_name(enum tone_map map);

/* Returns FFmpeg's name: "bt709", "bt2020", "smpte432" or "smpte431". Any thread. */
const char *light_primaries_name(enum primaries primaries);

/*
 * Returns the peak in cd/m2 that a rule implies for a film of this transfer whose metadata give
 * `film_peak` cd/m2 (0: none). HLG ignores the metadata: without a rule's peak it has 1,000.
 */
int light_peak(const struct light_rule *rule, enum transfer transfer, int film_peak);

/* ---- arithmetic shared by both engines ---- */

SHARED_INLINE uint32_t light_cell(uint32_t light)
{
    if (light < 2 * LIGHT_FINE)
        return light;
#ifdef __CUDA_ARCH__
    int octave = 31 - __clz((int)light) - 9;
#else
    int octave = 31 - __builtin_clz(light) - 9;
#endif
    return (uint32_t)octave * LIGHT_FINE + (light >> octave);
}

/* Performs step 1 for one component: `sum` is m . (in - offset) in COLOUR_FRACTION - 4 bits. */
SHARED_INLINE uint32_t light_code_of(int32_t sum)
{
    int32_t code = (sum + (1 << 15)) >> 16;
    return code < 0 ? 0 : code > LIGHT_CODES - 1 ? LIGHT_CODES - 1 : (uint32_t)code;
}

SHARED_INLINE uint32_t light_most(uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t most = a > b ? a : b;
    return most > c ? most : c;
}

/* Returns a pixel's factor in LIGHT_GAIN_BITS bits: steps 2 (OOTF) and 3, for t->transfer. */
SHARED_INLINE uint64_t light_gain(const struct light_table *t, enum transfer transfer,
                                  const uint32_t code[3], const uint32_t light[3])
{
    if (transfer == TRANSFER_PQ)
        return t->gain[light_most(code[0], code[1], code[2])];
    /* 0.2627, 0.6780 and 0.0593 in 14 bits. They sum to 1. */
    uint32_t luminance = (uint32_t)(((uint64_t)light[0] * 4304 + (uint64_t)light[1] * 11108 +
                                     (uint64_t)light[2] * 972) >>
                                    14);
    uint64_t factor = t->ootf[light_cell(luminance)];
    uint32_t shown = (uint32_t)(light_most(light[0], light[1], light[2]) * factor >> LIGHT_BITS);
    return factor * t->gain[light_cell(shown)] >> LIGHT_BITS;
}

/* Applies steps 2 to 5. `transfer` and `linear` equal those of t; constants make this faster. */
SHARED_INLINE void light_apply(const struct light_table *t, enum transfer transfer, bool linear,
                               const struct light_gamut *g, const uint32_t code[3], uint32_t out[3])
{
    uint32_t light[3] = {t->light[code[0]], t->light[code[1]], t->light[code[2]]};
    if (transfer != TRANSFER_SDR || !g->same) {
        uint64_t gain = transfer == TRANSFER_SDR ? UINT64_C(1) << LIGHT_GAIN_BITS
                                                 : light_gain(t, transfer, code, light);
        int64_t v[3];
        for (int i = 0; i < 3; i++)
            v[i] = (int64_t)(light[i] * gain >> LIGHT_GAIN_BITS);
        for (int i = 0; i < 3; i++) {
            int64_t sum = (g->m[i][0] * v[0] + g->m[i][1] * v[1] + g->m[i][2] * v[2] +
                           (1 << (LIGHT_GAMUT_BITS - 1))) >>
                          LIGHT_GAMUT_BITS;
            light[i] = sum < 0 ? 0u : (uint32_t)(sum > LIGHT_WHITE ? (int64_t)LIGHT_WHITE : sum);
        }
    }
    for (int i = 0; i < 3; i++)
        out[i] = linear ? light[i] : t->code[light_cell(light[i])];
}

/*
 * Returns the mean of light_apply's results, `sum` over `total` (1..2^28), as 8 bits. A mean of
 * codes is rounded once, half up. A mean of light is rounded to its unit and then converted by its
 * cell's code.
 */
SHARED_INLINE uint8_t light_mean(const struct light_table *t, bool linear, uint64_t sum,
                                 uint64_t total)
{
    if (linear)
        return (uint8_t)((t->code[light_cell((uint32_t)((sum + total / 2) / total))] + 128) >> 8);
    return (uint8_t)((sum + 128 * total) / (256 * total));
}

/* Convert a byte to light (0..LIGHT_WHITE) and back by SDR's table, for means of 8-bit colours. */
SHARED_INLINE uint32_t light_of_byte(const struct light_table *sdr, uint8_t byte)
{
    return sdr->light[16 * byte];
}

SHARED_INLINE uint8_t light_to_byte(const struct light_table *sdr, uint32_t light)
{
    return (uint8_t)((sdr->code[light_cell(light)] + 128) >> 8);
}

SHARED_END
#endif
