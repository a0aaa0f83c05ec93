#include <libavutil/hwcontext.h>
#include <stdlib.h>

#include "test.h"
#include "media/nvdec/nvdec.h"

/* A picture as NVDEC gives it: planes in one block, a layout that only the frames context tells. */
struct made {
    AVBufferRef *frames;
    AVFrame *picture;
    AVCodecContext *decoder;
    uint8_t bytes[8192];
};

static void make(struct made *m, enum AVPixelFormat layout, enum AVPixelFormat coded)
{
    m->frames = av_buffer_allocz(sizeof(AVHWFramesContext));
    m->picture = av_frame_alloc();
    m->decoder = avcodec_alloc_context3(NULL);
    assert_true(m->frames && m->picture && m->decoder);
    ((AVHWFramesContext *)m->frames->data)->sw_format = layout;
    m->picture->format = AV_PIX_FMT_CUDA;
    m->picture->hw_frames_ctx = m->frames;
    m->picture->width = 100; /* cropped at the right and bottom by libavcodec */
    m->picture->height = 50;
    m->picture->data[0] = m->bytes;
    m->picture->data[1] = m->bytes + 1;
    m->picture->data[2] = m->bytes + 2;
    m->picture->linesize[0] = 512;
    m->picture->linesize[1] = 256;
    m->picture->linesize[2] = 256;
    m->decoder->sw_pix_fmt = coded;
}

static void unmake(struct made *m)
{
    m->picture->hw_frames_ctx = NULL;
    av_buffer_unref(&m->frames);
    av_frame_free(&m->picture);
    avcodec_free_context(&m->decoder);
}

static const struct film film = {.matrix = MATRIX_BT709, .range = RANGE_LIMITED};

static struct frame_view view_of(struct made *m)
{
    struct frame_view v;
    struct err e = ERR_INIT;
    assert_true(nvdec_view(m->decoder, m->picture, m->picture, &film, &v, &e));
    return v;
}

TEST(layouts)
{
    static const struct {
        enum AVPixelFormat layout, coded;
        int bits, shift, step;
    } kinds[] = {
        {AV_PIX_FMT_NV12, AV_PIX_FMT_YUV420P, 8, 0, 1},
        {AV_PIX_FMT_P010LE, AV_PIX_FMT_YUV420P10LE, 10, 6, 2},
        {AV_PIX_FMT_P016LE, AV_PIX_FMT_YUV420P12LE, 12, 4, 2},
        {AV_PIX_FMT_YUV444P, AV_PIX_FMT_YUV444P, 8, 0, 1},
        {AV_PIX_FMT_YUV444P16LE, AV_PIX_FMT_YUV444P10LE, 10, 6, 2},
        {AV_PIX_FMT_YUV444P16LE, AV_PIX_FMT_YUV444P12LE, 12, 4, 2},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct made m;
        make(&m, kinds[i].layout, kinds[i].coded);
        struct frame_view v = view_of(&m);
        bool half = i < 3;
        assert_true(v.on_device);
        assert_int_equal(v.model, MODEL_YCBCR);
        assert_int_equal(v.range, RANGE_LIMITED);
        assert_int_equal(v.bits, kinds[i].bits);
        assert_int_equal(v.shift, kinds[i].shift);
        assert_int_equal(v.plane[0].step, kinds[i].step);
        assert_int_equal(v.plane[1].step, half ? 2 * kinds[i].step : kinds[i].step);
        assert_int_equal(v.plane[1].width, half ? 50 : 100);
        assert_int_equal(v.plane[2].height, half ? 25 : 50);
        assert_ptr_equal(v.plane[2].data, half ? m.bytes + 1 + kinds[i].step : m.bytes + 2);
        unmake(&m);
    }
}

/* libavcodec leaves the crop at the left and top to us. */
TEST(crop)
{
    struct made m;
    make(&m, AV_PIX_FMT_NV12, AV_PIX_FMT_YUV420P);
    m.picture->crop_left = 6;
    m.picture->crop_top = 3;
    struct frame_view v = view_of(&m);
    assert_int_equal(v.width, 94);
    assert_int_equal(v.height, 47);
    assert_int_equal(v.plane[1].width, 47);
    assert_int_equal(v.plane[1].height, 24);
    assert_ptr_equal(v.plane[0].data, m.bytes + 3 * 512 + 6);
    assert_ptr_equal(v.plane[2].data, m.bytes + 1 + 1 * 256 + 3 * 2 + 1);
    unmake(&m);
}

TEST(full_range_and_strange_layouts)
{
    struct made m;
    make(&m, AV_PIX_FMT_NV12, AV_PIX_FMT_YUVJ420P);
    assert_int_equal(view_of(&m).range, RANGE_FULL);
    unmake(&m);
    make(&m, AV_PIX_FMT_BGR0, AV_PIX_FMT_NONE);
    struct frame_view v;
    struct err e = ERR_INIT;
    assert_false(nvdec_view(m.decoder, m.picture, m.picture, &film, &v, &e));
    assert_int_equal(e.code, ERR_ENGINE);
    unmake(&m);
}

/* A picture's own tags go before the film's, as in software. */
TEST(tags)
{
    struct made m;
    make(&m, AV_PIX_FMT_NV12, AV_PIX_FMT_YUV420P);
    m.picture->colorspace = AVCOL_SPC_UNSPECIFIED;
    assert_int_equal(view_of(&m).matrix, MATRIX_BT709);
    m.picture->colorspace = AVCOL_SPC_SMPTE170M;
    m.picture->color_range = AVCOL_RANGE_JPEG;
    assert_int_equal(view_of(&m).matrix, MATRIX_BT601);
    assert_int_equal(view_of(&m).range, RANGE_FULL);
    m.decoder->sw_pix_fmt = AV_PIX_FMT_YUVJ420P;
    m.picture->colorspace = AVCOL_SPC_BT2020_CL;
    m.picture->color_range = AVCOL_RANGE_MPEG;
    assert_int_equal(view_of(&m).matrix, MATRIX_BT2020);
    assert_int_equal(view_of(&m).range, RANGE_LIMITED);
    unmake(&m);
}

/* libavcodec has the second plane begin right after an odd number of rows; NVDEC leaves an even
 * one. */
TEST(odd_heights)
{
    struct made m;
    make(&m, AV_PIX_FMT_NV12, AV_PIX_FMT_YUV420P);
    m.picture->height = 7;
    m.picture->data[1] = m.bytes + 7 * 512;
    nvdec_fix_chroma(m.picture);
    assert_ptr_equal(m.picture->data[1], m.bytes + 8 * 512);
    m.picture->height = 8;
    nvdec_fix_chroma(m.picture);
    assert_ptr_equal(m.picture->data[1], m.bytes + 8 * 512);
    unmake(&m);
}

/* Without a driver there is one sentence, and nothing to close. */
TEST(no_gpu)
{
    AVCodecParameters *par = avcodec_parameters_alloc();
    AVStream stream = {.codecpar = par};
    par->codec_id = AV_CODEC_ID_H264;
    par->format = AV_PIX_FMT_YUV420P;
    par->width = 1920;
    par->height = 1080;
    struct nvdec n;
    struct err e = ERR_INIT;
    unsetenv("BARCODE_NVDEC");
    if (nvdec_open(&n, (struct engine_device){.context = NULL}, NULL, &stream, &e)) {
        assert_in_range(n.engines, 1, 64);
        nvdec_close(&n);
        avcodec_parameters_free(&par);
        skip();
    }
    assert_int_equal(e.code, ERR_ENGINE);
    assert_null(n.film_device);
    avcodec_parameters_free(&par);
}

/*
 * A frame of another size counts for the codecs that NVDEC decodes wrongly then, also when the size
 * has changed back.
 */
TEST(another_size)
{
    static const struct {
        enum AVCodecID codec;
        bool exact, one_size;
    } cases[] = {
        {AV_CODEC_ID_H264, true, false},        {AV_CODEC_ID_HEVC, true, false},
        {AV_CODEC_ID_VP8, true, true},          {AV_CODEC_ID_VP9, true, true},
        {AV_CODEC_ID_AV1, false, true},         {AV_CODEC_ID_MPEG4, false, false},
        {AV_CODEC_ID_MPEG2VIDEO, false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AVCodecParameters par = {.codec_id = cases[i].codec, .width = 320, .height = 180};
        struct corruption_watch w = {.resized = true};
        AVCodecContext c = {.opaque = &w, .width = 320, .height = 180};
        nvdec_expect_size(&w, &par);
        assert_int_equal(nvdec_is_exact(par.codec_id), cases[i].exact);
        assert_false(nvdec_is_resized(&c));
        c.height = 178;
        assert_int_equal(nvdec_is_resized(&c), cases[i].one_size);
        c.height = 180;
        w.resized = true;
        assert_int_equal(nvdec_is_resized(&c), cases[i].one_size);
    }
}

TEST(software_stands_in)
{
    AVStream stream = {0};
    struct nvdec n;
    struct err e = ERR_INIT;
    setenv("BARCODE_NVDEC", "software", 1);
    assert_true(nvdec_open(&n, (struct engine_device){.context = NULL}, NULL, &stream, &e));
    assert_null(n.context);
    assert_true(n.engines > 0);
    nvdec_close(&n);
    unsetenv("BARCODE_NVDEC");
}
