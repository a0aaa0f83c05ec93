/*
 * unpack.c - pictures whose samples no plane of frame.h describes, copied into a pixel format whose samples are:
 *
 *   a palette                                       planes of 8-bit R'G'B'
 *   fields of a byte or word (5:6:5, 10:10:10:2)    planes of 8-bit R'G'B', or of words of as many bits
 *   black and white, a bit a pixel                  8-bit grey
 *   big-endian words                                the same layout in this machine's order
 *   4:1:1 of uneven distances (uyyvyy411)           three planes
 *   X'Y'Z' of digital cinema                        planes of 12-bit R'G'B'
 *
 * A field of less than 8 bits becomes 8 by repeating its bits, so that 0 is black and all ones is white. swscale does the same,
 * but for two: 3 bits step by 36 there, which every player shows and so do we (252 is their white), and 4 bits by 16, whose
 * white would be 240.
 */
#include <assert.h>
#include <libavutil/bswap.h>
#include <libavutil/imgutils.h>
#include <libavutil/intreadwrite.h>
#include <libavutil/pixdesc.h>
#include <string.h>

#include "av.h"

typedef void unpack_rows(const AVFrame *from, const AVPixFmtDescriptor *d, AVFrame *to);

static uint8_t *row_of(AVFrame *f, int plane, int y)
{
    return f->data[plane] + (ptrdiff_t)y * f->linesize[plane];
}

static const uint8_t *row_from(const AVFrame *f, int plane, int y)
{
    return f->data[plane] + (ptrdiff_t)y * f->linesize[plane];
}

/* GBR planes: where R', G' and B' go. */
static int plane_of(int colour)
{
    return (colour + 2) % 3;
}

static void store(uint8_t *row, int x, bool wide, uint32_t value)
{
    if (wide)
        AV_WN16(row + 2 * (ptrdiff_t)x, (uint16_t)value);
    else
        row[x] = (uint8_t)value;
}

/* ------------------------------------------------------------------ palettes, bits */

/* Entries are words, 0xAARRGGBB. */
static void palette_rows(const AVFrame *from, const AVPixFmtDescriptor *d, AVFrame *to)
{
    (void)d;
    uint32_t palette[256];
    memcpy(palette, from->data[1], sizeof palette);
    for (int y = 0; y < from->height; y++) {
        const uint8_t *index = row_from(from, 0, y);
        uint8_t *red = row_of(to, plane_of(0), y), *green = row_of(to, plane_of(1), y), *blue = row_of(to, plane_of(2), y);
        for (int x = 0; x < from->width; x++) {
            uint32_t colour = palette[index[x]];
            red[x] = (uint8_t)(colour >> 16);
            green[x] = (uint8_t)(colour >> 8);
            blue[x] = (uint8_t)colour;
        }
    }
}

static void two_tone_rows(const AVFrame *from, const AVPixFmtDescriptor *d, AVFrame *to)
{
    (void)d;
    int invert = from->format == AV_PIX_FMT_MONOWHITE ? 0xff : 0;
    for (int y = 0; y < from->height; y++) {
        const uint8_t *bits = row_from(from, 0, y);
        uint8_t *grey = row_of(to, 0, y);
        for (int x = 0; x < from->width; x++)
            grey[x] = (bits[x >> 3] ^ invert) >> (7 - (x & 7)) & 1 ? 255 : 0;
    }
}

/* ------------------------------------------------------------------ fields */

/* Of `depth` bits to 8: (value * times) >> down. */
struct widening {
    uint32_t times;
    int down;
};

static struct widening widening_of(int depth)
{
    static const struct widening to_8[8] = {{0, 0}, {255, 0}, {85, 0}, {36, 0}, {17, 0}, {33, 2}, {65, 4}, {129, 6}};
    return depth < 8 ? to_8[depth] : (struct widening){1, 0};
}

/* A component lies in the byte, in the 2 or the 4 bytes at its offset: as few as hold its highest bit (pixdesc.h). */
static uint32_t load(const uint8_t *at, int bytes, bool big)
{
    if (bytes == 1)
        return *at;
    if (bytes == 2)
        return big ? AV_RB16(at) : AV_RL16(at);
    return big ? AV_RB32(at) : AV_RL32(at);
}

static int field_bytes(const AVComponentDescriptor *c)
{
    int bits = c->shift + c->depth;
    return bits <= 8 ? 1 : bits <= 16 ? 2 : 4;
}

static void field_row(const uint8_t *at, const AVComponentDescriptor *c, bool big, uint8_t *to, int width)
{
    const struct widening w = widening_of(c->depth);
    const uint32_t mask = (UINT32_C(1) << c->depth) - 1;
    const int bytes = field_bytes(c), shift = c->shift, step = c->step;
    const bool wide = c->depth > 8;
    for (int x = 0; x < width; x++, at += step)
        store(to, x, wide, (load(at, bytes, big) >> shift & mask) * w.times >> w.down);
}

/* 3 bits of R', 3 of G', 2 of B', from the highest down (pixfmt.h, swscale); its descriptor has them as in BGR8. */
static const AVComponentDescriptor rgb8[3] = {
    {.step = 1, .shift = 5, .depth = 3}, {.step = 1, .shift = 2, .depth = 3}, {.step = 1, .shift = 0, .depth = 2},
};

static void field_rows(const AVFrame *from, const AVPixFmtDescriptor *d, AVFrame *to)
{
    bool big = d->flags & AV_PIX_FMT_FLAG_BE, rgb = d->flags & AV_PIX_FMT_FLAG_RGB;
    for (int i = 0; i < 3; i++) {
        const AVComponentDescriptor *c = from->format == AV_PIX_FMT_RGB8 ? &rgb8[i] : &d->comp[i];
        /* Of big-endian words the descriptor names the second byte for the first: its offset is one too small. */
        int offset = c->offset + (big && field_bytes(c) == 1 ? 1 : 0);
        for (int y = 0; y < from->height; y++)
            field_row(row_from(from, c->plane, y) + offset, c, big, row_of(to, rgb ? plane_of(i) : i, y), from->width);
    }
}

/* ------------------------------------------------------------------ words, uneven distances */

/* Such formats are words and nothing else, whatever lies among them. */
static void swapped_rows(const AVFrame *from, const AVPixFmtDescriptor *d, AVFrame *to)
{
    for (int plane = 0; plane < av_pix_fmt_count_planes(from->format); plane++) {
        bool chroma = !(d->flags & AV_PIX_FMT_FLAG_RGB) && (plane == 1 || plane == 2);
        int height = chroma ? AV_CEIL_RSHIFT(from->height, d->log2_chroma_h) : from->height;
        int words = av_image_get_linesize(from->format, from->width, plane) / 2;
        for (int y = 0; y < height; y++) {
            const uint8_t *in = row_from(from, plane, y);
            uint8_t *out = row_of(to, plane, y);
            for (int i = 0; i < words; i++)
                AV_WN16(out + 2 * (ptrdiff_t)i, av_bswap16(AV_RN16(in + 2 * (ptrdiff_t)i)));
        }
    }
}

/* Cb Y Y Cr Y Y: four pixels in six bytes. */
static void uyyvyy411_rows(const AVFrame *from, const AVPixFmtDescriptor *d, AVFrame *to)
{
    (void)d;
    static const int place[4] = {1, 2, 4, 5};
    for (int y = 0; y < from->height; y++) {
        const uint8_t *in = row_from(from, 0, y);
        uint8_t *luma = row_of(to, 0, y), *cb = row_of(to, 1, y), *cr = row_of(to, 2, y);
        for (int x = 0; x < from->width; x++)
            luma[x] = in[x / 4 * 6 + place[x % 4]];
        for (int x = 0; x < (from->width + 3) / 4; x++, in += 6) {
            cb[x] = in[0];
            cr[x] = in[3];
        }
    }
}

/* ------------------------------------------------------------------ X'Y'Z' */

/* SMPTE ST 428-1's exponent of 2.6, and 2.2 of the display, between 12 bits and 12 bits, as swscale has them. */
enum { XYZ_TOP = 4095, LIMBS = 6 };

static uint16_t xyz_to_linear[XYZ_TOP + 1], xyz_to_gamma[XYZ_TOP + 1];

/* A number of LIMBS 32-bit limbs, lowest first. */
struct big {
    uint32_t limb[LIMBS];
};

static void multiply(struct big *b, uint32_t by, int times)
{
    for (; times > 0; times--) {
        uint64_t carry = 0;
        for (int i = 0; i < LIMBS; i++) {
            carry += (uint64_t)b->limb[i] * by;
            b->limb[i] = (uint32_t)carry;
            carry >>= 32;
        }
    }
}

static bool at_most(const struct big *a, const struct big *b)
{
    for (int i = LIMBS - 1; i >= 0; i--)
        if (a->limb[i] != b->limb[i])
            return a->limb[i] < b->limb[i];
    return true;
}

/*
 * table[x] = round(TOP * (x / TOP)^(p / q)), without floating point: the largest y with y - 1/2 <= TOP * (x / TOP)^(p / q),
 * that is (2y - 1)^q * TOP^p <= (2 TOP)^q * x^p. Both sides stay below 2^(13 * (p + q)), and p + q is at most 18 here: with
 * TOP^(p - q) or TOP^(q - p) cancelled, below 2^(13 * 13 + 13).
 */
static void fill_power(uint16_t *table, int p, int q)
{
    uint32_t y = 0;
    for (uint32_t x = 0; x <= XYZ_TOP; x++) {
        struct big right = {{1}};
        multiply(&right, 2, q);
        multiply(&right, x, p);
        multiply(&right, XYZ_TOP, q > p ? q - p : 0);
        for (; y < XYZ_TOP; y++) {
            struct big left = {{1}};
            multiply(&left, 2 * y + 1, q);
            multiply(&left, XYZ_TOP, p > q ? p - q : 0);
            if (!at_most(&left, &right))
                break;
        }
        table[x] = (uint16_t)y;
    }
}

static void fill_xyz(void)
{
    fill_power(xyz_to_linear, 13, 5);
    fill_power(xyz_to_gamma, 5, 11);
}

static void xyz_rows(const AVFrame *from, const AVPixFmtDescriptor *d, AVFrame *to)
{
    /* X Y Z of D65 to linear R G B of BT.709, times 4096. */
    static const int32_t m[3][3] = {{13270, -6295, -2041}, {-3969, 7682, 170}, {228, -835, 4329}};
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, fill_xyz);
    bool big = d->flags & AV_PIX_FMT_FLAG_BE;
    for (int y = 0; y < from->height; y++) {
        const uint8_t *in = row_from(from, 0, y);
        for (int x = 0; x < from->width; x++, in += 6) {
            int32_t v[3];
            for (int i = 0; i < 3; i++)
                v[i] = xyz_to_linear[load(in + 2 * (ptrdiff_t)i, 2, big) >> 4];
            for (int i = 0; i < 3; i++) {
                int32_t linear = (m[i][0] * v[0] + m[i][1] * v[1] + m[i][2] * v[2]) >> 12;
                linear = linear < 0 ? 0 : linear > XYZ_TOP ? XYZ_TOP : linear;
                store(row_of(to, plane_of(i), y), x, true, xyz_to_gamma[linear]);
            }
        }
    }
}

/* ------------------------------------------------------------------ which, into what */

struct plan {
    enum AVPixelFormat format;      /* NONE: cannot be unpacked */
    unpack_rows *rows;
};

/* Planar R'G'B' or 4:4:4 of a depth, in this machine's order. */
static enum AVPixelFormat planar(bool rgb, int depth)
{
    switch (depth) {
    case 8:  return rgb ? AV_PIX_FMT_GBRP : AV_PIX_FMT_YUV444P;
    case 10: return rgb ? AV_PIX_FMT_GBRP10 : AV_PIX_FMT_YUV444P10;
    case 12: return rgb ? AV_PIX_FMT_GBRP12 : AV_PIX_FMT_YUV444P12;
    case 14: return rgb ? AV_PIX_FMT_GBRP14 : AV_PIX_FMT_YUV444P14;
    case 16: return rgb ? AV_PIX_FMT_GBRP16 : AV_PIX_FMT_YUV444P16;
    default: return AV_PIX_FMT_NONE;
    }
}

/*
 * Three fields of one pixel. Y'CbCr of less than 8 bits does not exist. Of RGB4 and BGR4, two pixels a byte, pixfmt.h,
 * descriptors and swscale say three different things; no decoder gives them.
 */
static struct plan plan_fields(const AVPixFmtDescriptor *d)
{
    const uint64_t never = AV_PIX_FMT_FLAG_FLOAT | AV_PIX_FMT_FLAG_BAYER | AV_PIX_FMT_FLAG_HWACCEL | AV_PIX_FMT_FLAG_PLANAR |
                           AV_PIX_FMT_FLAG_BITSTREAM;
    bool rgb = d->flags & AV_PIX_FMT_FLAG_RGB;
    int depth = d->comp[0].depth;
    if (d->flags & never || d->nb_components < 3 || d->log2_chroma_w || d->log2_chroma_h)
        return (struct plan){AV_PIX_FMT_NONE, NULL};
    for (int i = 0; i < 3; i++)
        if ((d->comp[i].depth < 8 ? !rgb : d->comp[i].depth != depth) || d->comp[i].depth + d->comp[i].shift > 32)
            return (struct plan){AV_PIX_FMT_NONE, NULL};
    return (struct plan){planar(rgb, depth < 8 ? 8 : depth), field_rows};
}

static struct plan plan_of(enum AVPixelFormat format)
{
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(format);
    switch (format) {
    case AV_PIX_FMT_PAL8:      return (struct plan){AV_PIX_FMT_GBRP, palette_rows};
    case AV_PIX_FMT_MONOWHITE:
    case AV_PIX_FMT_MONOBLACK: return (struct plan){AV_PIX_FMT_GRAY8, two_tone_rows};
    case AV_PIX_FMT_UYYVYY411: return (struct plan){AV_PIX_FMT_YUV411P, uyyvyy411_rows};
    case AV_PIX_FMT_XYZ12LE:
    case AV_PIX_FMT_XYZ12BE:   return (struct plan){AV_PIX_FMT_GBRP12, xyz_rows};
    default: break;
    }
    if (!d)
        return (struct plan){AV_PIX_FMT_NONE, NULL};
    enum AVPixelFormat swapped = d->flags & AV_PIX_FMT_FLAG_BE ? av_pix_fmt_swap_endianness(format) : AV_PIX_FMT_NONE;
    if (swapped != AV_PIX_FMT_NONE && view_format_direct(swapped))
        return (struct plan){swapped, swapped_rows};
    return plan_fields(d);
}

bool unpack_knows(enum AVPixelFormat format)
{
    return plan_of(format).format != AV_PIX_FMT_NONE;
}

/* Memory of the right kind and size is kept from picture to picture. */
static bool make_room(AVFrame **planes, const AVFrame *frame, enum AVPixelFormat format)
{
    AVFrame *p = *planes;
    if (p && p->format == format && p->width == frame->width && p->height == frame->height)
        return true;
    av_frame_free(planes);
    p = av_frame_alloc();
    if (!p)
        return false;
    p->format = format;
    p->width = frame->width;
    p->height = frame->height;
    if (av_frame_get_buffer(p, 0) < 0)
        av_frame_free(&p);
    *planes = p;
    return p != NULL;
}

bool unpack_frame(AVFrame **planes, const AVFrame *frame, struct err *e)
{
    struct plan plan = plan_of(frame->format);
    assert(plan.rows);
    if (!make_room(planes, frame, plan.format))
        return err_set(e, ERR_FAILED, "out of memory for a picture of %dx%d", frame->width, frame->height);
    plan.rows(frame, av_pix_fmt_desc_get(frame->format), *planes);
    return true;
}
