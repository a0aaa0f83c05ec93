/*
 * light.h - pictures whose samples must become light before they are averaged: HDR (PQ, HLG), which
 * is tone-mapped to what SDR shows, and everything with --light linear.
 *
 * A mean of PQ samples is not the mean of what is seen, so each sample of the luma plane goes
 * through this by itself, with the chroma sample at (floor(x * cw / w), floor(y * ch / h));
 * shrink.h then takes the exact area mean of what comes out. All in integers:
 *
 *   1. Codes. R'G'B' by colour.h's matrix with COLOUR_FRACTION - 4 bits, in sixteenths of an 8-bit
 * level: 0..LIGHT_CODES - 1, clamped.
 *   2. Light, in units of 1 / LIGHT_WHITE of SDR's white, which is 203 cd/m2 of HDR (ITU-R
 * BT.2408-7, 2.2): PQ   SMPTE ST 2084 (ITU-R BT.2100-2, table 4), 10,000 cd/m2 for 1.0. HLG
 * BT.2100-2, table 5: the inverse OETF, then the OOTF of a display of 1,000 cd/m2, gamma 1.2. SDR
 * ITU-R BT.1886 with a black of 0: the power of 2.4.
 *   3. Tone mapping of PQ and HLG: the largest of R, G and B is mapped, the others are scaled
 * alike, so that hue stays. bt2390    the EETF of ITU-R BT.2390-10, 5.4.1, from the film's peak to
 * SDR's white, black 0 on both sides hable     Hable's curve ("Uncharted 2", GDC 2010) of x over
 * the curve of the peak reinhard  x (1 + x / peak^2) / (1 + x) (Reinhard et al., SIGGRAPH 2002,
 * equation 4) clip      min(x, 1) What is beyond the peak is taken for the peak.
 *   4. Primaries: linear light of BT.2020 or P3-D65 to BT.709 (matrices from H.273's
 * chromaticities, 14 bits, rows that sum to 1), clamped to 0..LIGHT_WHITE.
 *   5. Either that light (`linear`), or its code by the inverse of BT.1886 in fix16 (white is
 * 65280).
 *
 * The mean of light becomes a code by 5. Functions of light (tone curve, OOTF, code) are tables of
 * light_cell's cells, taken at the middle of a cell: a cell is 1/512 of its value wide, which is a
 * tenth of an 8-bit level at most.
 */
#ifndef BARCODE_LIGHT_H
#define BARCODE_LIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include "barcode/base/err.h"
#include "barcode/base/isa.h"
#include "barcode/engine/colour.h"
#include "barcode/engine/frame.h"

#ifdef __cplusplus
extern "C" {
#endif

enum tone_map { TONE_BT2390, TONE_HABLE, TONE_REINHARD, TONE_CLIP, TONE_OFF, TONE_MAPS };

/* What --tone-map, --hdr-peak and --light asked for. */
struct light_rule {
    enum tone_map map;
    /* cd/m2, LIGHT_PEAK_LEAST..LIGHT_PEAK_MOST; 0: the film's own, else LIGHT_PEAK_USUAL */
    int peak;
    bool linear; /* means are taken of light */
};

enum { LIGHT_PEAK_LEAST = 100, LIGHT_PEAK_USUAL = 1000, LIGHT_PEAK_MOST = 10000 };

enum {
    LIGHT_BITS = 24,
    LIGHT_WHITE = 1 << LIGHT_BITS,
    LIGHT_CODES = 255 * 16 + 1,
    LIGHT_FINE = 512, /* below this each light is a cell, then an octave has as many */
    LIGHT_CELLS = (LIGHT_BITS - 9 + 1) * LIGHT_FINE + 1, /* up to white */
    LIGHT_CELLS_HDR = LIGHT_CELLS + 3 * LIGHT_FINE, /* up to eight times that: HLG's displays */
    LIGHT_GAIN_BITS = 28,
    LIGHT_GAMUT_BITS = 14
};

/* One transfer's tables. Plain data: a GPU takes a copy. */
struct light_table {
    enum transfer transfer;
    bool linear;                 /* light comes out, else codes */
    uint32_t light[LIGHT_CODES]; /* HLG: of the scene, LIGHT_WHITE for 1.0 */
    /* HLG: what the scene's light is multiplied with, LIGHT_BITS bits, by its luminance's cell */
    uint32_t ootf[LIGHT_CELLS];
    /* LIGHT_GAIN_BITS bits; PQ: by the largest code, HLG: by the largest light's cell */
    uint32_t gain[LIGHT_CELLS_HDR];
    uint16_t code[LIGHT_CELLS + 1]; /* fix16, 0..65280; one more, for readers of pairs */
};

struct light;

/*
 * For one film, whose metadata give `film_peak` cd/m2 (0: none). Tables are made when they are
 * first asked for, each by light_peak of its transfer: what a film of PQ says does not hold for
 * pictures of HLG in it. The caller's, light_close. NULL: memory, or isa_choose's reason. Main
 * thread.
 */
struct light *light_open(const struct light_rule *rule, int film_peak, struct err *e);

/* Sets *l to NULL. NULL is fine. */
void light_close(struct light **l);

/* The instruction set for pixels. Any thread. */
enum isa light_isa(const struct light *l);

/* True if pictures of this transfer go through here; false: they are averaged as they are. NULL is
 * fine. Any thread. */
bool light_wanted(const struct light *l, enum transfer transfer);

/*
 * The tables for pictures of this transfer; with TONE_OFF, PQ and HLG are taken for SDR. The
 * light's. NULL only for memory, and then with *e. Any thread.
 */
const struct light_table *light_table(struct light *l, enum transfer transfer, struct err *e);

/* Linear light of these primaries to BT.709's, LIGHT_GAMUT_BITS bits. Any thread. */
struct light_gamut {
    int32_t m[3][3];
};
struct light_gamut light_gamut(enum primaries primaries);

/* colour_transform_init's matrix for point 1. Any thread. */
void light_matrix(struct colour_transform *t, const struct frame_view *view);

/* "bt2390" ...; what --tone-map takes. Any thread. */
const char *light_map_name(enum tone_map map);

/* The peak that a rule stands for in a film of this transfer, whose metadata give `film_peak` cd/m2
 * (0: none): HLG has 1,000. */
int light_peak(const struct light_rule *rule, enum transfer transfer, int film_peak);

/* ---- the arithmetic that both engines share ---- */

COLOUR_INLINE uint32_t light_cell(uint32_t light)
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

/* Point 1, a component: `sum` is m . (in - offset) in COLOUR_FRACTION - 4 bits. */
COLOUR_INLINE uint32_t light_code_of(int32_t sum)
{
    int32_t code = (sum + (1 << 15)) >> 16;
    return code < 0 ? 0 : code > LIGHT_CODES - 1 ? LIGHT_CODES - 1 : (uint32_t)code;
}

COLOUR_INLINE uint32_t light_most(uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t most = a > b ? a : b;
    return most > c ? most : c;
}

/* What the three lights of a pixel are multiplied with, in LIGHT_GAIN_BITS bits: points 2 (the
 * OOTF) and 3. `transfer` as t->transfer. */
COLOUR_INLINE uint64_t light_gain(const struct light_table *t, enum transfer transfer,
                                  const uint32_t code[3], const uint32_t light[3])
{
    if (transfer == TRANSFER_PQ)
        return t->gain[light_most(code[0], code[1], code[2])];
    /* 0.2627, 0.6780, 0.0593 in 14 bits: they sum to 1. */
    uint32_t luminance = (uint32_t)(((uint64_t)light[0] * 4304 + (uint64_t)light[1] * 11108 +
                                     (uint64_t)light[2] * 972) >>
                                    14);
    uint64_t factor = t->ootf[light_cell(luminance)];
    uint32_t shown = (uint32_t)(light_most(light[0], light[1], light[2]) * factor >> LIGHT_BITS);
    return factor * t->gain[light_cell(shown)] >> LIGHT_BITS;
}

/* Points 2 to 5. `transfer`, `linear`: as in t, constants where speed counts. */
COLOUR_INLINE void light_apply(const struct light_table *t, enum transfer transfer, bool linear,
                               const struct light_gamut *g, const uint32_t code[3], uint32_t out[3])
{
    uint32_t light[3] = {t->light[code[0]], t->light[code[1]], t->light[code[2]]};
    if (transfer != TRANSFER_SDR) {
        uint64_t gain = light_gain(t, transfer, code, light);
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
 * A mean of what light_apply gave, as 8 bits: `sum` over `total`, total 1..2^28, one rounding for
 * codes, half up; light is rounded to its unit, then goes by its cell's code.
 */
COLOUR_INLINE uint8_t light_mean(const struct light_table *t, bool linear, uint64_t sum,
                                 uint64_t total)
{
    if (linear)
        return (uint8_t)((t->code[light_cell((uint32_t)((sum + total / 2) / total))] + 128) >> 8);
    return (uint8_t)((sum + 128 * total) / (256 * total));
}

/* The light of a byte and the byte of a light, 0..LIGHT_WHITE, by SDR's table: for means of colours
 * that are bytes already. */
COLOUR_INLINE uint32_t light_of_byte(const struct light_table *sdr, uint8_t byte)
{
    return sdr->light[16 * byte];
}

COLOUR_INLINE uint8_t light_to_byte(const struct light_table *sdr, uint32_t light)
{
    return (uint8_t)((sdr->code[light_cell(light)] + 128) >> 8);
}

#ifdef __cplusplus
}
#endif
#endif
