/* test_pixfmt.c - the samples of all pixel formats, read in place or converted */

#include <libavutil/pixdesc.h>
#include <math.h>
#include <string.h>

#include "test.h"
#include "media/ffmpeg/libav.h"

static const struct film film = {.path = (char *)(uintptr_t) "a film",
                                 .matrix = MATRIX_BT709,
                                 .range = RANGE_LIMITED,
                                 .orientation = {3, true}};

static uint32_t noise = 1;

static uint8_t next_byte(void)
{
    noise = noise * 1664525 + 1013904223;
    return (uint8_t)(noise >> 24);
}

/* Clears what is no part of a sample: libswscale takes it for one that is too large. */
static void clear_unused_bits(AVFrame *f)
{
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(f->format);
    int depth = d->comp[0].depth;
    bool nibbles = strstr(d->name, "4_byte") != NULL;
    bool words = depth > 8 && d->comp[0].shift == 0 && d->flags & AV_PIX_FMT_FLAG_BE;
    for (int i = 0; i < AV_NUM_DATA_POINTERS && (nibbles || words); i++)
        for (size_t j = 0; f->buf[i] && j < (size_t)f->buf[i]->size; j++)
            if (nibbles)
                f->buf[i]->data[j] &= 15;
            else if ((f->buf[i]->data + j - f->data[i]) % 2 == 0)
                f->buf[i]->data[j] &= (uint8_t)((1u << (depth - 8)) - 1);
}

/* Every byte of every plane and of the palette is noise. */
static AVFrame *make_frame(enum AVPixelFormat format, int width, int height)
{
    AVFrame *f = av_frame_alloc();
    assert_non_null(f);
    f->format = format;
    f->width = width;
    f->height = height;
    assert_int_equal(av_frame_get_buffer(f, 0), 0);
    for (int i = 0; i < AV_NUM_DATA_POINTERS; i++)
        for (size_t j = 0; f->buf[i] && j < (size_t)f->buf[i]->size; j++)
            f->buf[i]->data[j] = next_byte();
    clear_unused_bits(f);
    return f;
}

/* Sample (x, y) of a component, read as frame.h says, without the noise beyond its bits. */
static unsigned sample(const struct frame_view *v, int component, int x, int y)
{
    const struct plane *p = &v->plane[component];
    const uint8_t *at = p->data + (ptrdiff_t)y * p->pitch + (ptrdiff_t)x * p->step;
    uint16_t word = *at;
    if (v->bits > 8)
        memcpy(&word, at, sizeof word);
    return (unsigned)(word >> v->shift) & ((1u << v->bits) - 1);
}

/* The same through libavutil's own reader of pictures, and its rule for what a component of few
 * bits means in 8. */
static unsigned right(const AVFrame *f, const AVPixFmtDescriptor *d, int component, int x, int y)
{
    uint16_t value;
    if (f->format == AV_PIX_FMT_UYYVYY411) { /* the descriptor counts luma as if it lay evenly */
        const uint8_t *six =
            f->data[0] + (ptrdiff_t)y * f->linesize[0] + (component ? x : x / 4) * 6;
        return component ? six[component == 1 ? 0 : 3] : six[x % 4 / 2 * 3 + 1 + x % 2];
    }
    if (f->format == AV_PIX_FMT_RGB8) { /* the descriptor is that of BGR8 */
        unsigned byte = f->data[0][(ptrdiff_t)y * f->linesize[0] + x],
                 three = component ? byte >> 2 & 7 : byte >> 5;
        return component == 2 ? (byte & 3) * 85 : three * 36;
    }
    bool palette = d->flags & AV_PIX_FMT_FLAG_PAL; /* whose entries are B, G, R, A in memory here */
    av_read_image_line2(&value, (const uint8_t **)(uintptr_t)f->data, f->linesize, d, x, y,
                        palette ? 0 : component, 1, 0, sizeof value);
    if (palette)
        return f->data[1][value * 4 + 2 - component];
    if (f->format == AV_PIX_FMT_MONOWHITE)
        return value ? 0 : 255;
    int depth = d->comp[component].depth;
    unsigned repeated = 0;
    for (int i = 0; i < 8; i++)
        repeated = repeated << 1 | (value >> (depth - 1 - i % depth) & 1);
    return depth == 3 ? value * 36u : depth < 8 ? repeated : value;
}

/* In levels of 8 bits. */
static double level_of(unsigned value, int bits) { return value * 255.0 / ((1u << bits) - 1); }

/* Alpha is converted without any loss, that of a palette too. */
static void check_alpha(const AVFrame *f, const AVPixFmtDescriptor *d, const struct frame_view *v)
{
    const bool palette = d->flags & AV_PIX_FMT_FLAG_PAL;
    struct frame_view alpha = *v;
    alpha.plane[0] = v->alpha;
    assert_int_equal(v->alpha.data != NULL, (d->flags & AV_PIX_FMT_FLAG_ALPHA) != 0);
    for (int i = 0; v->alpha.data && i < v->width * v->height; i++) {
        int x = i % v->width, y = i / v->width;
        unsigned value = palette ? right(f, d, -1, x, y) : right(f, d, d->nb_components - 1, x, y);
        if (sample(&alpha, 0, x, y) != value)
            fail_msg("%s: alpha is %u, not %u", d->name, sample(&alpha, 0, x, y), value);
    }
}

/* Returns the largest error of a sample, in levels of 8 bits. */
static double check_format(enum AVPixelFormat format, const AVPixFmtDescriptor *d, int width,
                           int height)
{
    struct err e = ERR_INIT;
    struct frame_view v;
    double worst = 0;
    AVFrame *planes = NULL, *f = make_frame(format, width, height);
    for (int turn = 0; turn < 2; turn++) {
        AVFrame *before = planes;
        if (!view_of_frame(f, &film, &planes, &v, &e))
            fail_msg("%s: %s", d->name, e.text);
        assert_true(turn == 0 || planes == before); /* NULL if the view is of the frame itself */
        bool rgb = d->flags & (AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL);
        assert_int_equal(v.model, rgb                    ? MODEL_RGB
                                  : d->nb_components < 3 ? MODEL_GREY
                                                         : MODEL_YCBCR);
        assert_int_equal(v.width, width);
        assert_int_equal(v.height, height);
        bool full = rgb || strncmp(d->name, "mono", 4) == 0 || strncmp(d->name, "yuvj", 4) == 0;
        assert_int_equal(v.range, full ? RANGE_FULL : RANGE_LIMITED);
        assert_int_equal(v.matrix, rgb ? MATRIX_RGB : MATRIX_BT709);
        assert_true(v.orientation.quarter_turns == 3 && v.orientation.mirror);
        assert_true(!view_format_direct(format) || v.bits == d->comp[0].depth);
        int bits = d->comp[0].depth < 8 ? 8 : d->comp[0].depth;
        check_alpha(f, d, &v);
        for (int c = 0; c < (v.model == MODEL_GREY ? 1 : 3); c++) {
            bool chroma = !rgb && c > 0;
            assert_int_equal(v.plane[c].width,
                             chroma ? AV_CEIL_RSHIFT(width, d->log2_chroma_w) : width);
            assert_int_equal(v.plane[c].height,
                             chroma ? AV_CEIL_RSHIFT(height, d->log2_chroma_h) : height);
            for (int y = 0; y < v.plane[c].height; y++)
                for (int x = 0; x < v.plane[c].width; x++)
                    worst = fmax(worst, fabs(level_of(sample(&v, c, x, y), v.bits) -
                                             level_of(right(f, d, c, x, y), bits)));
        }
    }
    av_frame_free(&f);
    av_frame_free(&planes);
    return worst;
}

TEST(every_format)
{
    static const int sizes[][2] = {{19, 7}, {1, 1}, {64, 33}, {4, 2}, {131, 3}};
    int known = 0;
    for (const AVPixFmtDescriptor *d = NULL; (d = av_pix_fmt_desc_next(d)) != NULL;) {
        enum AVPixelFormat format = av_pix_fmt_desc_get_id(d);
        if (!view_format_known(format) || strncmp(d->name, "xyz", 3) == 0)
            continue;
        known++;
        double worst = 0;
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            worst = fmax(worst, check_format(format, d, sizes[i][0], sizes[i][1]));
        /* Those go through Y'CbCr; all others are exact. */
        double most = strncmp(d->name, "x2", 2) == 0 ? 0.5 : 0;
        if (worst > most)
            fail_msg("%s: off by %.2f levels", d->name, worst);
    }
    assert_true(known > 130);
}

/* Returns the formats that the codec lists, AV_PIX_FMT_NONE last; NULL if it lists none or encodes.
 */
static const enum AVPixelFormat *decoder_formats(const AVCodec *c)
{
    if (!av_codec_is_decoder(c) || c->type != AVMEDIA_TYPE_VIDEO)
        return NULL;
#if AV_COMPAT_7_1
    const void *list = NULL;
    assert_int_equal(
        avcodec_get_supported_config(NULL, c, AV_CODEC_CONFIG_PIX_FORMAT, 0, &list, NULL), 0);
    return list;
#else
    return c->pix_fmts;
#endif
}

/* Every format that a decoder of this libavcodec lists is taken, except those without integers. */
TEST(every_format_that_decoders_give)
{
    void *at = NULL;
    for (const AVCodec *c; (c = av_codec_iterate(&at));)
        for (const enum AVPixelFormat *f = decoder_formats(c); f && *f != AV_PIX_FMT_NONE; f++) {
            const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(*f);
            if (!(d->flags &
                  (AV_PIX_FMT_FLAG_HWACCEL | AV_PIX_FMT_FLAG_FLOAT | AV_PIX_FMT_FLAG_BAYER)) &&
                !view_format_known(*f))
                fail_msg("%s of %s is refused", d->name, c->name);
        }
}

TEST(what_films_have)
{
    static const char *const yes[] = {
        "yuv420p",  "yuvj420p",    "yuv422p",     "yuv444p",     "yuv410p",     "yuv411p",
        "yuv440p",  "yuv420p10le", "yuv422p10le", "yuv444p12le", "yuv420p16le", "nv12",
        "nv21",     "nv16",        "p010le",      "p016le",      "gray",        "gray10le",
        "gray16le", "gbrp",        "gbrp10le",    "gbrap",       "rgb24",       "bgr24",
        "bgra",     "rgb0",        "rgb48le",     "yuva420p",    "yuyv422",     "uyvy422",
        "ya8",      "pal8",        "monow",       "rgb565le",    "rgb444le",    "yuv420p10be",
        "gray16be", "xyz12le",     "gray9be",     "rgb48be",     "bgr8",        "x2rgb10le",
    };
    static const char *const no[] = {
        "gbrpf32le", "grayf32be", "bayer_rggb8", "bayer_gbrg16be", "cuda", "vaapi", "rgb4", "bgr4",
    };
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        if (!view_format_known(av_get_pix_fmt(yes[i])))
            fail_msg("%s is refused", yes[i]);
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        if (av_get_pix_fmt(no[i]) != AV_PIX_FMT_NONE && view_format_known(av_get_pix_fmt(no[i])))
            fail_msg("%s is taken", no[i]);
    assert_false(view_format_known(AV_PIX_FMT_NONE));
}

TEST(refusals)
{
    struct err e = ERR_INIT;
    struct frame_view v;
    AVFrame *planes = NULL;
    AVFrame *f = make_frame(AV_PIX_FMT_BAYER_RGGB8, 8, 8);
    assert_false(view_of_frame(f, &film, &planes, &v, &e));
    assert_int_equal(e.code, ERR_INPUT);
    assert_string_equal(e.text,
                        "cannot decode 'a film': pixel format 'bayer_rggb8' is not supported");
    f->format = AV_PIX_FMT_NONE;
    err_clear(&e);
    assert_false(view_of_frame(f, &film, &planes, &v, &e));
    assert_string_equal(e.text, "cannot decode 'a film': pixel format 'unknown' is not supported");
    av_frame_free(&f);
}

/* Black and white stay so, whatever the number of bits, unless it is 3: swscale's white. */
TEST(white_is_white)
{
    static const char *const formats[] = {"rgb444le",  "bgr444be", "rgb555le", "bgr555be",
                                          "rgb565le",  "bgr565be", "rgb8",     "bgr8",
                                          "rgb4_byte", "bgr4_byte"};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        AVFrame *planes = NULL, *f = make_frame(av_get_pix_fmt(formats[i]), 8, 1);
        struct frame_view v;
        for (int value = 0; value < 256; value += 255) {
            memset(f->data[0], strstr(formats[i], "4_byte") ? value & 15 : value, 16);
            assert_true(view_of_frame(f, &film, &planes, &v, NULL));
            for (int c = 0; c < 3; c++)
                assert_int_equal(sample(&v, c, 3, 0),
                                 value && c < 2 && strchr(formats[i], '8') ? 252 : value);
        }
        av_frame_free(&f);
        av_frame_free(&planes);
    }
}

/* Gamma of a linear value of 12 bits, times 4095. */
static double encode_gamma(double linear)
{
    return nearbyint(pow(fmin(fmax(linear, 0), 4095) / 4095, 1 / 2.2) * 4095);
}

/* swscale's conversion in floating point, to a level of 8 bits. Before FFmpeg 9 it drops what is
 * below 12 bits in linear light. */
TEST(digital_cinema)
{
    static const double m[3][3] = {{13270, -6295, -2041}, {-3969, 7682, 170}, {228, -835, 4329}};
    static const enum AVPixelFormat formats[] = {AV_PIX_FMT_XYZ12LE, AV_PIX_FMT_XYZ12BE};
    for (int k = 0; k < 2; k++) {
        enum { W = 300, H = 100 };
        AVFrame *planes = NULL, *f = make_frame(formats[k], W, H);
        struct frame_view v;
        assert_true(view_of_frame(f, &film, &planes, &v, NULL));
        assert_int_equal(v.model, MODEL_RGB);
        assert_int_equal(v.range, RANGE_FULL);
        assert_int_equal(v.bits, 16);
        for (int i = 0; i < W * H; i++) {
            double linear[3];
            for (int c = 0; c < 3; c++) {
                const uint8_t *at =
                    f->data[0] + (ptrdiff_t)(i / W) * f->linesize[0] + i % W * 6 + c * 2;
                int word = k ? at[0] << 8 | at[1] : at[1] << 8 | at[0];
                linear[c] = nearbyint(pow((word >> 4) / 4095.0, 2.6) * 4095);
            }
            for (int c = 0; c < 3; c++) {
                double sum =
                    floor((m[c][0] * linear[0] + m[c][1] * linear[1] + m[c][2] * linear[2]) / 4096);
                double low = encode_gamma(sum - 3), high = encode_gamma(sum + 3),
                       is = sample(&v, c, i % W, i / W) / 16.0;
                if (is < low - 16 || is > high + 16)
                    fail_msg("pixel %d, component %d: %g, not from %g to %g", i, c, is, low, high);
            }
        }
        av_frame_free(&f);
        av_frame_free(&planes);
    }
}

/* Pictures of other sizes and formats in between, upside down, and no memory for one that is too
 * large. */
TEST(from_picture_to_picture)
{
    static const struct {
        const char *format;
        int width, height;
    } pictures[] = {
        {"pal8", 16, 16}, {"pal8", 17, 16},       {"rgb555le", 17, 16}, {"pal8", 17, 16},
        {"monow", 3, 3},  {"yuv420p10be", 33, 9}, {"rgb48be", 33, 9},   {"gray", 19, 7},
    };
    AVFrame *planes = NULL;
    struct frame_view v;
    struct err e = ERR_INIT;
    for (size_t i = 0; i < sizeof pictures / sizeof *pictures; i++) {
        enum AVPixelFormat format = av_get_pix_fmt(pictures[i].format);
        const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(format);
        AVFrame *f = make_frame(format, pictures[i].width, pictures[i].height);
        for (int p = 0; p < 4 && f->data[p] && !(p == 1 && d->flags & AV_PIX_FMT_FLAG_PAL); p++) {
            int rows = p == 0 ? f->height : AV_CEIL_RSHIFT(f->height, d->log2_chroma_h);
            f->data[p] += (ptrdiff_t)(rows - 1) * f->linesize[p];
            f->linesize[p] = -f->linesize[p];
        }
        assert_true(view_of_frame(f, &film, &planes, &v, &e));
        assert_int_equal(sample(&v, 0, 2, 1), right(f, d, 0, 2, 1));
        av_frame_free(&f);
    }
    AVFrame *f = make_frame(AV_PIX_FMT_PAL8, 8, 8);
    f->width = f->height = 1 << 30;
    assert_false(view_of_frame(f, &film, &planes, &v, &e));
    assert_int_equal(e.code, ERR_MEMORY);
    assert_null(planes);
    f->width = f->height = 8;
    err_clear(&e);
    assert_true(view_of_frame(f, &film, &planes, &v, &e));
    av_frame_free(&f);
    av_frame_free(&planes);
}
