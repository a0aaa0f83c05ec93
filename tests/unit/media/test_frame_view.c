#include <libavutil/pixdesc.h>
#include <string.h>

#include "test.h"
#include "media/ffmpeg/libav.h"

enum { W = 19, H = 7 }; /* odd: chroma planes are rounded up */

static AVFrame *planes; /* view_of_frame's */

static AVFrame *make_frame(enum AVPixelFormat format)
{
    AVFrame *f = av_frame_alloc();
    assert_non_null(f);
    f->format = format;
    f->width = W;
    f->height = H;
    assert_int_equal(av_frame_get_buffer(f, 0), 0);
    for (int i = 0; i < AV_NUM_DATA_POINTERS; i++)
        if (f->buf[i])
            memset(f->buf[i]->data, 0, f->buf[i]->size);
    return f;
}

static const struct film film = {.path = (char *)(uintptr_t) "a film",
                                 .matrix = MATRIX_BT709,
                                 .range = RANGE_LIMITED,
                                 .orientation = {3, true}};

/* Sample (x, y) of a component, read as frame.h says. */
static unsigned sample(const struct frame_view *v, int component, int x, int y)
{
    const struct plane *p = &v->plane[component];
    const uint8_t *at = p->data + (ptrdiff_t)y * p->pitch + (ptrdiff_t)x * p->step;
    unsigned value = at[0];
    if (v->bits > 8) {
        uint16_t word;
        memcpy(&word, at, sizeof word);
        value = word;
    }
    return value >> v->shift;
}

/* Writes numbers through libav's own component writer and reads them through the view.
 * test_pixfmt.c has the other formats. */
static void check_format(enum AVPixelFormat format, const AVPixFmtDescriptor *d)
{
    struct err e = ERR_INIT;
    struct frame_view v;
    AVFrame *f = make_frame(format);
    if (!view_of_frame(f, &film, &planes, &v, &e))
        fail_msg("%s: %s", d->name, e.text);
    bool rgb = d->flags & AV_PIX_FMT_FLAG_RGB;
    assert_int_equal(v.width, W);
    assert_int_equal(v.height, H);
    assert_int_equal(v.bits, d->comp[0].depth);
    assert_int_equal(v.model, rgb ? MODEL_RGB : d->nb_components < 3 ? MODEL_GREY : MODEL_YCBCR);
    assert_int_equal(v.range,
                     rgb || strstr(d->name, "yuvj") == d->name ? RANGE_FULL : RANGE_LIMITED);
    assert_int_equal(v.matrix, rgb ? MATRIX_RGB : MATRIX_BT709);
    assert_int_equal(v.orientation.quarter_turns, 3);
    assert_true(v.orientation.mirror);
    if (d->flags & AV_PIX_FMT_FLAG_ALPHA) {
        uint16_t value = 201;
        struct frame_view alpha = v;
        alpha.plane[0] = v.alpha;
        av_write_image_line(&value, f->data, f->linesize, d, W - 1, H - 1, d->nb_components - 1, 1);
        assert_int_equal(sample(&alpha, 0, W - 1, H - 1), value);
        assert_int_equal(sample(&alpha, 0, W - 2, H - 1), 0);
        assert_true(v.alpha.width == W && v.alpha.height == H);
    } else {
        assert_null(v.alpha.data);
    }
    unsigned mask = (1u << v.bits) - 1, n = 1;
    for (int pass = 0; pass < 2; pass++) {
        for (int c = 0; c < (v.model == MODEL_GREY ? 1 : 3); c++) {
            for (int y = 0; y < v.plane[c].height; y++) {
                for (int x = 0; x < v.plane[c].width; x++) {
                    uint16_t value = (uint16_t)((n = n * 75 + 74) >> 3 & mask);
                    if (pass == 0)
                        av_write_image_line(&value, f->data, f->linesize, d, x, y, c, 1);
                    else if (sample(&v, c, x, y) != value)
                        fail_msg("%s: component %d at %d,%d is %u, not %u", d->name, c, x, y,
                                 sample(&v, c, x, y), value);
                }
            }
        }
        n = 1;
    }
    av_frame_free(&f);
}

TEST(every_known_format)
{
    int known = 0;
    for (const AVPixFmtDescriptor *d = NULL; (d = av_pix_fmt_desc_next(d)) != NULL;) {
        enum AVPixelFormat format = av_pix_fmt_desc_get_id(d);
        if (!view_format_direct(format))
            continue;
        known++;
        assert_true(view_format_known(format));
        check_format(format, d);
    }
    assert_true(known > 60);
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
    AVFrame *f = make_frame(AV_PIX_FMT_BAYER_RGGB8);
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

/* Pictures stored upside down have a negative pitch. */
TEST(upside_down)
{
    struct err e = ERR_INIT;
    struct frame_view v;
    AVFrame *f = make_frame(AV_PIX_FMT_GRAY8);
    f->data[0] += (ptrdiff_t)(H - 1) * f->linesize[0];
    f->linesize[0] = -f->linesize[0];
    f->data[0][2 * (ptrdiff_t)f->linesize[0] + 5] = 99;
    assert_true(view_of_frame(f, &film, &planes, &v, &e));
    assert_int_equal(sample(&v, 0, 5, 2), 99);
    av_frame_free(&f);
}
