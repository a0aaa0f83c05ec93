/* test_frame_view.c - the colours of films and frames; test_pixfmt.c: their pixel formats */

#include <string.h>

#include "test.h"
#include "media/ffmpeg/libav.h"
#include "base/hash.h"
#include "barcode/engine/colour.h"
#include "clip.h"

static const struct colour_tags silence = {AVCOL_SPC_UNSPECIFIED, AVCOL_PRI_UNSPECIFIED,
                                           AVCOL_RANGE_UNSPECIFIED, AVCOL_TRC_UNSPECIFIED};

static struct colour_tags tags(enum AVColorSpace space, enum AVColorRange range)
{
    struct colour_tags t = silence;
    t.space = space;
    t.range = range;
    return t;
}

static struct film decided(enum AVCodecID codec, enum AVPixelFormat format, int width, int height,
                           struct colour_tags stream, struct colour_tags container)
{
    struct film f = {
        .path = (char *)(uintptr_t) "a film", .coded_width = width, .coded_height = height};
    AVCodecParameters *par = avcodec_parameters_alloc();
    assert_non_null(par);
    par->codec_type = AVMEDIA_TYPE_VIDEO;
    par->codec_id = codec;
    par->format = format;
    par->width = width;
    par->height = height;
    par->color_space = stream.space;
    par->color_primaries = stream.primaries;
    par->color_range = stream.range;
    par->color_trc = stream.transfer;
    film_colour_decide(par, container, &f);
    avcodec_parameters_free(&par);
    return f;
}

static void expect(const struct film *f, enum matrix matrix, bool matrix_guessed, enum range range,
                   bool range_guessed)
{
    if (f->matrix != matrix || f->matrix_guessed != matrix_guessed || f->range != range ||
        f->range_guessed != range_guessed)
        fail_msg("%s: matrix %s%s, range %s%s", f->pixel_format, colour_matrix_name(f->matrix),
                 f->matrix_guessed ? " guessed" : "", colour_range_name(f->range),
                 f->range_guessed ? " guessed" : "");
}

/* ------------------------------------------------------------------ before decoding */

/* The stream's word goes before the container's, that before the codec's own, and that before the
 * size. */
TEST(order_of_authority)
{
    const struct colour_tags is709 = tags(AVCOL_SPC_BT709, AVCOL_RANGE_MPEG),
                             is601 = tags(AVCOL_SPC_SMPTE170M, AVCOL_RANGE_JPEG);
    struct film f = decided(AV_CODEC_ID_H264, AV_PIX_FMT_YUV420P, 640, 480, is709, is601);
    expect(&f, MATRIX_BT709, false, RANGE_LIMITED, false);
    f = decided(AV_CODEC_ID_VP9, AV_PIX_FMT_YUV420P, 640, 480, silence, is709);
    expect(&f, MATRIX_BT709, false, RANGE_LIMITED, false);
    f = decided(AV_CODEC_ID_HEVC, AV_PIX_FMT_YUV420P, 1920, 1080,
                tags(AVCOL_SPC_UNSPECIFIED, AVCOL_RANGE_MPEG), is601);
    expect(&f, MATRIX_BT601, false, RANGE_LIMITED, false);
    f = decided(AV_CODEC_ID_VP8, AV_PIX_FMT_YUV420P, 1920, 1080, silence, is709);
    expect(&f, MATRIX_BT709, false, RANGE_LIMITED, false);
    f = decided(AV_CODEC_ID_VP8, AV_PIX_FMT_YUV420P, 1920, 1080, silence, silence);
    expect(&f, MATRIX_BT601, false, RANGE_LIMITED, true);
    f = decided(AV_CODEC_ID_MPEG4, AV_PIX_FMT_YUV420P, 1920, 1080, silence, silence);
    expect(&f, MATRIX_BT709, true, RANGE_LIMITED, true);
    f = decided(AV_CODEC_ID_MPEG4, AV_PIX_FMT_YUV420P, 720, 576, silence, silence);
    expect(&f, MATRIX_BT601, true, RANGE_LIMITED, true);
    struct colour_tags hdr = silence;
    hdr.transfer = AVCOL_TRC_SMPTE2084;
    assert_int_equal(
        decided(AV_CODEC_ID_HEVC, AV_PIX_FMT_YUV420P10, 1920, 1080, silence, hdr).transfer,
        TRANSFER_PQ);
    struct colour_tags sdr = is709;
    sdr.transfer = AVCOL_TRC_BT709;
    assert_int_equal(decided(AV_CODEC_ID_HEVC, AV_PIX_FMT_YUV420P10, 1920, 1080, sdr, hdr).transfer,
                     TRANSFER_SDR);
}

/* Codecs that were BT.601 before there was another, at a size that says BT.709. */
TEST(what_codecs_define)
{
    static const enum AVCodecID bt601[] = {
        AV_CODEC_ID_VP3,        AV_CODEC_ID_THEORA, AV_CODEC_ID_VP6F,   AV_CODEC_ID_VP7,
        AV_CODEC_ID_VP8,        AV_CODEC_ID_H261,   AV_CODEC_ID_H263,   AV_CODEC_ID_FLV1,
        AV_CODEC_ID_MPEG1VIDEO, AV_CODEC_ID_SVQ1,   AV_CODEC_ID_INDEO3,
    };
    static const enum AVCodecID full[] = {AV_CODEC_ID_MJPEG, AV_CODEC_ID_AMV, AV_CODEC_ID_MDEC,
                                          AV_CODEC_ID_SVQ3};
    static const enum AVCodecID by_size[] = {
        AV_CODEC_ID_H264, AV_CODEC_ID_MPEG2VIDEO, AV_CODEC_ID_MPEG4, AV_CODEC_ID_VC1,
        AV_CODEC_ID_VP9,  AV_CODEC_ID_DVVIDEO,    AV_CODEC_ID_FFV1,
    };
    for (size_t i = 0; i < sizeof bt601 / sizeof *bt601; i++) {
        struct film f = decided(bt601[i], AV_PIX_FMT_YUV420P, 1920, 1080, silence, silence);
        expect(&f, MATRIX_BT601, false, RANGE_LIMITED, true);
    }
    for (size_t i = 0; i < sizeof full / sizeof *full; i++) {
        struct film f = decided(full[i], AV_PIX_FMT_YUV420P, 1920, 1080, silence, silence);
        expect(&f, MATRIX_BT601, false, RANGE_FULL, false);
    }
    for (size_t i = 0; i < sizeof by_size / sizeof *by_size; i++) {
        struct film f = decided(by_size[i], AV_PIX_FMT_YUV420P, 1920, 1080, silence, silence);
        expect(&f, MATRIX_BT709, true, RANGE_LIMITED, true);
    }
}

TEST(what_formats_define)
{
    static const enum AVPixelFormat grey[] = {
        AV_PIX_FMT_GRAY8,    AV_PIX_FMT_YA8,      AV_PIX_FMT_GRAY10LE, AV_PIX_FMT_GRAY12BE,
        AV_PIX_FMT_GRAY16LE, AV_PIX_FMT_GRAY16BE, AV_PIX_FMT_YA16BE};
    static const enum AVPixelFormat rgb[] = {
        AV_PIX_FMT_RGB24,   AV_PIX_FMT_PAL8,      AV_PIX_FMT_RGB555LE, AV_PIX_FMT_GBRP10LE,
        AV_PIX_FMT_XYZ12LE, AV_PIX_FMT_BGR4_BYTE, AV_PIX_FMT_RGB48BE};
    for (size_t i = 0; i < sizeof grey / sizeof *grey; i++) {
        struct film f = decided(AV_CODEC_ID_RAWVIDEO, grey[i], 320, 240, silence, silence);
        expect(&f, MATRIX_BT601, true, RANGE_FULL, true);
        f = decided(AV_CODEC_ID_RAWVIDEO, grey[i], 320, 240,
                    tags(AVCOL_SPC_UNSPECIFIED, AVCOL_RANGE_MPEG), silence);
        expect(&f, MATRIX_BT601, true, RANGE_LIMITED, false);
        f = decided(AV_CODEC_ID_RAWVIDEO, grey[i], 320, 240, silence,
                    tags(AVCOL_SPC_UNSPECIFIED, AVCOL_RANGE_MPEG));
        expect(&f, MATRIX_BT601, true, RANGE_LIMITED, false);
    }
    for (size_t i = 0; i < sizeof rgb / sizeof *rgb; i++) {
        struct film f = decided(AV_CODEC_ID_RAWVIDEO, rgb[i], 320, 240,
                                tags(AVCOL_SPC_BT709, AVCOL_RANGE_MPEG), silence);
        expect(&f, MATRIX_RGB, false, RANGE_FULL, false);
    }
    for (int i = 0; i < 2; i++) {
        struct film f =
            decided(AV_CODEC_ID_RAWVIDEO, i ? AV_PIX_FMT_MONOWHITE : AV_PIX_FMT_MONOBLACK, 320, 240,
                    tags(AVCOL_SPC_UNSPECIFIED, AVCOL_RANGE_MPEG), silence);
        expect(&f, MATRIX_BT601, true, RANGE_FULL, false);
    }
    struct film f = decided(AV_CODEC_ID_H264, AV_PIX_FMT_YUVJ420P, 320, 240, silence, silence);
    expect(&f, MATRIX_BT601, true, RANGE_FULL, false);
    f = decided(AV_CODEC_ID_H264, AV_PIX_FMT_YUVJ420P, 320, 240,
                tags(AVCOL_SPC_BT709, AVCOL_RANGE_MPEG), silence);
    expect(&f, MATRIX_BT709, false, RANGE_LIMITED, false);
}

/* BI_RGB (codec tag 0) of 32 bits has no alpha. */
TEST(alpha_that_counts)
{
    static const struct {
        enum AVCodecID codec;
        enum AVPixelFormat format;
        bool alpha, unused;
    } films[] = {{AV_CODEC_ID_RAWVIDEO, AV_PIX_FMT_BGRA, false, true},
                 {AV_CODEC_ID_PNG, AV_PIX_FMT_RGBA, true, false},
                 {AV_CODEC_ID_PRORES, AV_PIX_FMT_YUVA444P12, true, false},
                 {AV_CODEC_ID_PRORES, AV_PIX_FMT_YUV444P12, false, false},
                 {AV_CODEC_ID_QTRLE, AV_PIX_FMT_NONE, false, false}};
    for (size_t i = 0; i < sizeof films / sizeof *films; i++) {
        struct film f = decided(films[i].codec, films[i].format, 64, 48, silence, silence);
        assert_int_equal(f.alpha, films[i].alpha);
        assert_int_equal(f.alpha_unused, films[i].unused);
    }
}

/* A matrix that we have not is read as the one that is nearest, and named. */
TEST(matrices_that_are_read_as_others)
{
    static const struct {
        enum AVColorSpace space;
        enum AVColorPrimaries primaries;
        enum matrix sd, hd;
        const char *name;
    } odd[] = {
        {AVCOL_SPC_BT2020_CL, AVCOL_PRI_BT2020, MATRIX_BT2020, MATRIX_BT2020, "bt2020c"},
        {AVCOL_SPC_BT2020_CL, AVCOL_PRI_UNSPECIFIED, MATRIX_BT2020, MATRIX_BT2020, "bt2020c"},
        {AVCOL_SPC_ICTCP, AVCOL_PRI_BT2020, MATRIX_BT2020, MATRIX_BT2020, "ictcp"},
        {AVCOL_SPC_CHROMA_DERIVED_NCL, AVCOL_PRI_BT2020, MATRIX_BT2020, MATRIX_BT2020,
         "chroma-derived-nc"},
        {AVCOL_SPC_CHROMA_DERIVED_CL, AVCOL_PRI_BT2020, MATRIX_BT2020, MATRIX_BT2020,
         "chroma-derived-c"},
        {AVCOL_SPC_CHROMA_DERIVED_NCL, AVCOL_PRI_BT709, MATRIX_BT709, MATRIX_BT709,
         "chroma-derived-nc"},
        {AVCOL_SPC_CHROMA_DERIVED_NCL, AVCOL_PRI_SMPTE170M, MATRIX_SMPTE240M, MATRIX_SMPTE240M,
         "chroma-derived-nc"},
        {AVCOL_SPC_CHROMA_DERIVED_NCL, AVCOL_PRI_BT470M, MATRIX_BT601, MATRIX_BT601,
         "chroma-derived-nc"},
        {AVCOL_SPC_CHROMA_DERIVED_NCL, AVCOL_PRI_UNSPECIFIED, MATRIX_BT601, MATRIX_BT709,
         "chroma-derived-nc"},
        {AVCOL_SPC_RESERVED, AVCOL_PRI_UNSPECIFIED, MATRIX_BT601, MATRIX_BT709, "reserved"},
        {AVCOL_SPC_RGB, AVCOL_PRI_UNSPECIFIED, MATRIX_BT601, MATRIX_BT709, "gbr"},
        {(enum AVColorSpace)99, AVCOL_PRI_UNSPECIFIED, MATRIX_BT601, MATRIX_BT709, "unknown"},
    };
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        struct colour_tags t = tags(odd[i].space, AVCOL_RANGE_MPEG);
        t.primaries = odd[i].primaries;
        for (int hd = 0; hd < 2; hd++) {
            struct film f = decided(AV_CODEC_ID_HEVC, AV_PIX_FMT_YUV420P, hd ? 1920 : 320,
                                    hd ? 1080 : 240, t, silence);
            expect(&f, hd ? odd[i].hd : odd[i].sd, true, RANGE_LIMITED, false);
            assert_string_equal(f.unknown_matrix, odd[i].name);
            f = decided(AV_CODEC_ID_HEVC, AV_PIX_FMT_YUV420P, hd ? 1920 : 320, hd ? 1080 : 240,
                        silence, t);
            assert_int_equal(f.matrix, hd ? odd[i].hd : odd[i].sd);
            assert_string_equal(f.unknown_matrix, odd[i].name);
        }
    }
    struct film f = decided(AV_CODEC_ID_HEVC, AV_PIX_FMT_YUV420P, 320, 240, silence, silence);
    assert_string_equal(f.unknown_matrix, "");
    f = decided(AV_CODEC_ID_PRORES, AV_PIX_FMT_YUV422P10, 1920, 1080,
                tags(AVCOL_SPC_RGB, AVCOL_RANGE_MPEG), silence);
    assert_string_equal(f.unknown_matrix, "");
    expect(&f, MATRIX_BT709, true, RANGE_LIMITED, false);
    f = decided(AV_CODEC_ID_PRORES, AV_PIX_FMT_YUV422P10, 1920, 1080,
                tags(AVCOL_SPC_RGB, AVCOL_RANGE_MPEG), tags(AVCOL_SPC_BT470BG, 0));
    expect(&f, MATRIX_BT601, false, RANGE_LIMITED, false);
    /* From 6.1 on libavcodec's PNG decoder calls grey R'G'B', too. */
    const struct colour_tags rgb = tags(AVCOL_SPC_RGB, 0);
    f = decided(AV_CODEC_ID_PNG, AV_PIX_FMT_GRAY16BE, 320, 240, rgb, silence);
    assert_string_equal(f.unknown_matrix, "");
    f = decided(AV_CODEC_ID_PNG, AV_PIX_FMT_GRAY16BE, 320, 240, silence, rgb);
    assert_string_equal(f.unknown_matrix, "");
}

/* H.273's own arithmetic from primaries to Kr and Kb: the pair that is taken is the nearest of
 * those that we have. */
TEST(primaries_to_matrix)
{
    static const struct {
        enum AVColorPrimaries primaries;
        double red[2], green[2], blue[2], white[2];
    } sets[] = {
        {AVCOL_PRI_BT709, {.64, .33}, {.30, .60}, {.15, .06}, {.3127, .3290}},
        {AVCOL_PRI_BT2020, {.708, .292}, {.170, .797}, {.131, .046}, {.3127, .3290}},
        {AVCOL_PRI_SMPTE170M, {.630, .340}, {.310, .595}, {.155, .070}, {.3127, .3290}},
        {AVCOL_PRI_SMPTE240M, {.630, .340}, {.310, .595}, {.155, .070}, {.3127, .3290}},
        {AVCOL_PRI_BT470M, {.67, .33}, {.21, .71}, {.14, .08}, {.310, .316}},
        {AVCOL_PRI_BT470BG, {.64, .33}, {.29, .60}, {.15, .06}, {.3127, .3290}},
    };
    static const struct {
        enum matrix matrix;
        double kr, kb;
    } known[] = {{MATRIX_BT601, .299, .114},
                 {MATRIX_BT709, .2126, .0722},
                 {MATRIX_BT2020, .2627, .0593},
                 {MATRIX_SMPTE240M, .212, .087}};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        const double *r = sets[i].red, *g = sets[i].green, *b = sets[i].blue, *w = sets[i].white;
        double zr = 1 - r[0] - r[1], zg = 1 - g[0] - g[1], zb = 1 - b[0] - b[1],
               zw = 1 - w[0] - w[1];
        double below = w[1] * (r[0] * (g[1] * zb - b[1] * zg) + g[0] * (b[1] * zr - r[1] * zb) +
                               b[0] * (r[1] * zg - g[1] * zr));
        double kr = r[1] *
                    (w[0] * (g[1] * zb - b[1] * zg) + w[1] * (b[0] * zg - g[0] * zb) +
                     zw * (g[0] * b[1] - b[0] * g[1])) /
                    below;
        double kb = b[1] *
                    (w[0] * (r[1] * zg - g[1] * zr) + w[1] * (g[0] * zr - r[0] * zg) +
                     zw * (r[0] * g[1] - g[0] * r[1])) /
                    below;
        enum matrix best = MATRIX_UNSPECIFIED;
        double least = 1;
        for (size_t j = 0; j < sizeof known / sizeof *known; j++) {
            double off =
                (kr - known[j].kr) * (kr - known[j].kr) + (kb - known[j].kb) * (kb - known[j].kb);
            best = off < least ? known[j].matrix : best;
            least = off < least ? off : least;
        }
        assert_true(least < 0.0002);
        struct colour_tags t = tags(AVCOL_SPC_CHROMA_DERIVED_NCL, AVCOL_RANGE_MPEG);
        t.primaries = sets[i].primaries;
        assert_int_equal(decided(AV_CODEC_ID_HEVC, AV_PIX_FMT_YUV420P, 320, 240, t, silence).matrix,
                         best);
    }
}

/* ------------------------------------------------------------------ frames */

static struct frame_view view_of(const struct film *f, enum AVPixelFormat format, int width,
                                 int height, struct colour_tags t)
{
    AVFrame *frame = av_frame_alloc();
    assert_non_null(frame);
    frame->colorspace = t.space;
    frame->color_primaries = t.primaries;
    frame->color_range = t.range;
    frame->color_trc = t.transfer;
    struct frame_view v = {.width = width, .height = height};
    film_colour_of_frame(frame, format, f, &v);
    av_frame_free(&frame);
    return v;
}

TEST(frames_that_say)
{
    struct film f = decided(AV_CODEC_ID_H264, AV_PIX_FMT_YUV420P, 1920, 1080,
                            tags(AVCOL_SPC_BT709, AVCOL_RANGE_MPEG), silence);
    static const struct {
        enum AVColorSpace space;
        enum matrix matrix;
    } spaces[] = {
        {AVCOL_SPC_BT709, MATRIX_BT709},       {AVCOL_SPC_BT470BG, MATRIX_BT601},
        {AVCOL_SPC_SMPTE170M, MATRIX_BT601},   {AVCOL_SPC_SMPTE240M, MATRIX_SMPTE240M},
        {AVCOL_SPC_FCC, MATRIX_FCC},           {AVCOL_SPC_YCGCO, MATRIX_YCGCO},
        {AVCOL_SPC_BT2020_NCL, MATRIX_BT2020}, {AVCOL_SPC_BT2020_CL, MATRIX_BT2020},
        {AVCOL_SPC_ICTCP, MATRIX_BT2020},      {AVCOL_SPC_UNSPECIFIED, MATRIX_BT709},
        {AVCOL_SPC_RESERVED, MATRIX_BT709},    {AVCOL_SPC_RGB, MATRIX_BT709},
    };
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        for (int range = AVCOL_RANGE_UNSPECIFIED; range <= AVCOL_RANGE_JPEG; range++) {
            struct frame_view v = view_of(&f, AV_PIX_FMT_YUV420P, 1920, 1080,
                                          tags(spaces[i].space, (enum AVColorRange)range));
            assert_int_equal(v.matrix, spaces[i].matrix);
            assert_int_equal(v.range, range == AVCOL_RANGE_JPEG ? RANGE_FULL : RANGE_LIMITED);
            v = view_of(&f, AV_PIX_FMT_YUVJ420P, 1920, 1080,
                        tags(spaces[i].space, (enum AVColorRange)range));
            assert_int_equal(v.range, range == AVCOL_RANGE_MPEG ? RANGE_LIMITED : RANGE_FULL);
            v = view_of(&f, AV_PIX_FMT_GBRP, 1920, 1080,
                        tags(spaces[i].space, (enum AVColorRange)range));
            assert_int_equal(v.matrix, MATRIX_RGB);
            assert_int_equal(v.range, RANGE_FULL);
            v = view_of(&f, AV_PIX_FMT_MONOBLACK, 1920, 1080,
                        tags(spaces[i].space, (enum AVColorRange)range));
            assert_int_equal(v.range, RANGE_FULL);
        }
}

/* Where nobody says anything, the film's size does, and a picture's own format. */
TEST(frames_that_do_not)
{
    struct film f = decided(AV_CODEC_ID_MPEG4, AV_PIX_FMT_YUV420P, 1920, 1080, silence, silence);
    assert_int_equal(view_of(&f, AV_PIX_FMT_YUV420P, 1920, 1080, silence).matrix, MATRIX_BT709);
    assert_int_equal(view_of(&f, AV_PIX_FMT_YUV420P, 352, 288, silence).matrix, MATRIX_BT709);
    assert_int_equal(view_of(&f, AV_PIX_FMT_YUV420P, 720, 576, silence).range, RANGE_LIMITED);
    assert_int_equal(view_of(&f, AV_PIX_FMT_GRAY8, 720, 576, silence).range, RANGE_FULL);
    f = decided(AV_CODEC_ID_VP8, AV_PIX_FMT_YUV420P, 1920, 1080, silence, silence);
    assert_int_equal(view_of(&f, AV_PIX_FMT_YUV420P, 1920, 1080, silence).matrix, MATRIX_BT601);
    f = decided(AV_CODEC_ID_RAWVIDEO, AV_PIX_FMT_RGB24, 1920, 1080, silence, silence);
    assert_int_equal(view_of(&f, AV_PIX_FMT_YUV420P, 352, 288, silence).matrix, MATRIX_BT709);
    assert_int_equal(view_of(&f, AV_PIX_FMT_YUV420P, 352, 288, silence).range, RANGE_LIMITED);
    f = decided(AV_CODEC_ID_RAWVIDEO, AV_PIX_FMT_GRAY8, 320, 240, silence, silence);
    assert_int_equal(view_of(&f, AV_PIX_FMT_GRAY8, 320, 240, silence).range, RANGE_FULL);
    assert_int_equal(
        view_of(&f, AV_PIX_FMT_GRAY8, 320, 240, tags(AVCOL_SPC_BT709, AVCOL_RANGE_MPEG)).range,
        RANGE_LIMITED);
    assert_int_equal(view_of(&f, AV_PIX_FMT_YUV420P, 320, 240, silence).range, RANGE_LIMITED);
    f = decided(AV_CODEC_ID_AV1, AV_PIX_FMT_YUV420P, 352, 288, silence, silence);
    assert_int_equal(view_of(&f, AV_PIX_FMT_YUV420P, 1280, 720, silence).matrix, MATRIX_BT601);
}

TEST(transfers)
{
    struct film f = {.transfer = TRANSFER_PQ};
    AVFrame *frame = av_frame_alloc();
    assert_non_null(frame);
    assert_int_equal(film_colour_transfer(frame, &f), TRANSFER_PQ);
    frame->color_trc = AVCOL_TRC_BT709;
    assert_int_equal(film_colour_transfer(frame, &f), TRANSFER_SDR);
    frame->color_trc = AVCOL_TRC_ARIB_STD_B67;
    assert_int_equal(film_colour_transfer(frame, &f), TRANSFER_HLG);
    av_frame_free(&frame);
}

/* Of HDR what is not said is BT.2020's; and a frame's own word counts. */
TEST(hdr_primaries)
{
    struct film f = {.transfer = TRANSFER_PQ,
                     .primaries = PRIMARIES_BT2020,
                     .matrix = MATRIX_BT2020,
                     .range = RANGE_LIMITED};
    AVFrame *frame = av_frame_alloc();
    assert_non_null(frame);
    static const struct {
        enum AVColorPrimaries said;
        enum AVColorTransferCharacteristic transfer;
        enum primaries right;
    } is[] = {
        {AVCOL_PRI_UNSPECIFIED, AVCOL_TRC_UNSPECIFIED, PRIMARIES_BT2020},
        {AVCOL_PRI_SMPTE432, AVCOL_TRC_SMPTE2084, PRIMARIES_P3_D65},
        {AVCOL_PRI_BT709, AVCOL_TRC_ARIB_STD_B67, PRIMARIES_BT709},
        {AVCOL_PRI_UNSPECIFIED, AVCOL_TRC_BT709, PRIMARIES_BT709},
        {AVCOL_PRI_BT2020, AVCOL_TRC_BT2020_10, PRIMARIES_BT2020},
        {AVCOL_PRI_SMPTE431, AVCOL_TRC_BT709, PRIMARIES_P3_DCI},
        {AVCOL_PRI_SMPTE170M, AVCOL_TRC_SMPTE170M, PRIMARIES_BT709},
    };
    for (size_t i = 0; i < sizeof is / sizeof *is; i++) {
        struct frame_view v = {.width = 64, .height = 64};
        frame->color_primaries = is[i].said;
        frame->color_trc = is[i].transfer;
        film_colour_of_frame(frame, AV_PIX_FMT_YUV420P10, &f, &v);
        assert_int_equal(v.primaries, is[i].right);
        /* libswscale converts X'Y'Z' to BT.709 */
        film_colour_of_frame(frame, AV_PIX_FMT_XYZ12LE, &(struct film){0}, &v);
        assert_int_equal(v.primaries, PRIMARIES_BT709);
    }
    av_frame_free(&frame);
}

/* ------------------------------------------------------------------ films whose tags change */

enum { PART = 60, PARTS = 5 };

struct hashes {
    uint64_t of[PARTS * PART];
};

static bool keep_hash(void *user, const struct frame_tag *tag, const uint8_t *rgb, struct err *e)
{
    (void)e;
    struct hashes *h = user;
    if (tag->frame < PARTS * PART)
        h->of[tag->frame] = hash_64(rgb, (size_t)CLIP_W * CLIP_H / 4 * 3);
    return true;
}

static struct hashes stage(const char *name, enum decode_plan plan, int threads, uint64_t n,
                           uint64_t frames)
{
    struct hashes h = {{0}};
    struct selection rule = every(n);
    struct source *s = clip_open(name);
    struct staged r =
        clip_stage_with(s, plan, threads, &rule, CLIP_W / 2, CLIP_H / 2, keep_hash, &h);
    if (!r.ok)
        fail_msg("%s: %s", name, r.error.text);
    assert_int_equal(r.counts.displayed, frames);
    assert_int_equal(r.counts.lost, 0);
    source_close(&s);
    staged_free(&r);
    return h;
}

/*
 * The same pictures with other tags, and without any, one part after another. A decoder keeps the
 * tags of an earlier part where a later one has none: every frame must come out as from one
 * decoder, by any number of threads, any selection and either plan.
 */
static void tags_come_and_go(const char *encoder, const char *const tag[3])
{
    char line[512], join[512] = "cat";
    struct hashes alone[3];
    static const int order[PARTS] = {0, 1, 0, 2, 0};
    for (int i = 0; i < 3; i++) {
        snprintf(line, sizeof line, "-frames:v %d %s %s part%d.ts", PART, encoder, tag[i], i);
        if (!clip_encode(line))
            skip();
        snprintf(line, sizeof line, "part%d.ts", i);
        alone[i] = stage(line, DECODE_PARALLEL, 2, 1, PART);
    }
    assert_memory_not_equal(&alone[0], &alone[1], sizeof alone[0]);
    assert_memory_not_equal(&alone[0], &alone[2], sizeof alone[0]);
    assert_memory_not_equal(&alone[1], &alone[2], sizeof alone[0]);
    for (int i = 0; i < PARTS; i++)
        snprintf(join + strlen(join), sizeof join - strlen(join), " part%d.ts", order[i]);
    strcat(join, " > joined.ts");
    assert_int_equal(system(join), 0);
    static const struct {
        enum decode_plan plan;
        int threads;
        uint64_t every;
    } ways[] = {
        {DECODE_PARALLEL, 1, 1},  {DECODE_PARALLEL, 3, 1},   {DECODE_PARALLEL, 1, 7},
        {DECODE_PARALLEL, 2, 50}, {DECODE_SEQUENTIAL, 3, 7},
    };
    struct hashes right = stage("joined.ts", DECODE_SEQUENTIAL, 1, 1, PARTS * PART);
    assert_memory_equal(right.of, alone[0].of, PART * sizeof right.of[0]);
    assert_memory_equal(right.of + PART, alone[1].of, PART * sizeof right.of[0]);
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        struct hashes all =
            stage("joined.ts", ways[w].plan, ways[w].threads, ways[w].every, PARTS * PART);
        for (uint64_t i = 0; i < PARTS * PART; i += ways[w].every)
            if (all.of[i] != right.of[i])
                fail_msg("%s, way %d: frame %d is not as from one decoder", encoder, (int)w,
                         (int)i);
    }
}

TEST(h264_tags)
{
    static const char *const tag[3] = {
        "", "-colorspace bt709 -color_primaries bt709 -color_trc bt709 -color_range tv",
        "-colorspace smpte170m -color_primaries smpte170m -color_trc smpte170m -color_range pc"};
    tags_come_and_go("-c:v libx264 -preset ultrafast -g 12 -keyint_min 12 -bf 2", tag);
}

TEST(mpeg2_tags)
{
    static const char *const tag[3] = {
        "", "-colorspace bt709 -color_primaries bt709 -color_trc bt709",
        "-colorspace fcc -color_primaries bt470m -color_trc gamma22"};
    tags_come_and_go("-c:v mpeg2video -q:v 4 -g 12 -bf 2 -flags +cgop -sc_threshold 1000000000",
                     tag);
}

TEST(hevc_tags)
{
    static const char *const tag[3] = {
        "", "-colorspace bt709 -color_primaries bt709 -color_trc bt709 -color_range tv",
        "-colorspace smpte240m -color_range pc"};
    tags_come_and_go("-c:v libx265 -preset ultrafast -x265-params "
                     "log-level=error:keyint=12:min-keyint=12:open-gop=0:bframes=2",
                     tag);
}

TEST_FIXTURE(clip_begin, clip_end)
