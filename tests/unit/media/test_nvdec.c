#include <libavutil/hwcontext.h>
#include <stdlib.h>

#include "test.h"
#include "media/nvdec/nvdec.h"

/* A picture as NVDEC gives it: planes in one block, a layout that only the frames context tells. */
static AVHWFramesContext frames;
static AVBufferRef frames_buffer = {.data = (uint8_t *)&frames, .size = sizeof frames};
static AVFrame *picture;
static AVCodecContext *decoder;
static uint8_t bytes[8192];

FIXTURE(make)
{
    picture = av_frame_alloc();
    decoder = avcodec_alloc_context3(NULL);
    if (!picture || !decoder)
        return -1;
    picture->format = AV_PIX_FMT_CUDA;
    picture->hw_frames_ctx = &frames_buffer;
    picture->width = 100; /* cropped at the right and bottom by libavcodec */
    picture->height = 50;
    for (int i = 0; i < 3; i++) {
        picture->data[i] = bytes + i;
        picture->linesize[i] = i == 0 ? 512 : 256;
    }
    frames.sw_format = AV_PIX_FMT_NV12;
    decoder->sw_pix_fmt = AV_PIX_FMT_YUV420P;
    return 0;
}

FIXTURE(unmake)
{
    picture->hw_frames_ctx = NULL;
    av_frame_free(&picture);
    avcodec_free_context(&decoder);
    return 0;
}

static const struct film film = {.matrix = MATRIX_BT709, .range = RANGE_LIMITED};

static struct frame_view view(void)
{
    struct frame_view v;
    struct err e = ERR_INIT;
    assert_true(nvdec_view(decoder, picture, picture, &film, &v, &e));
    return v;
}

TEST_WITH(layouts, make, unmake)
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
        frames.sw_format = kinds[i].layout;
        decoder->sw_pix_fmt = kinds[i].coded;
        struct frame_view v = view();
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
        assert_ptr_equal(v.plane[2].data, half ? bytes + 1 + kinds[i].step : bytes + 2);
    }
}

/* libavcodec leaves the crop at the left and top to us. */
TEST_WITH(crop, make, unmake)
{
    picture->crop_left = 6;
    picture->crop_top = 3;
    struct frame_view v = view();
    assert_int_equal(v.width, 94);
    assert_int_equal(v.height, 47);
    assert_int_equal(v.plane[1].width, 47);
    assert_int_equal(v.plane[1].height, 24);
    assert_ptr_equal(v.plane[0].data, bytes + 3 * 512 + 6);
    assert_ptr_equal(v.plane[2].data, bytes + 1 + 1 * 256 + 3 * 2 + 1);
}

TEST_WITH(full_range_and_strange_layouts, make, unmake)
{
    decoder->sw_pix_fmt = AV_PIX_FMT_YUVJ420P;
    assert_int_equal(view().range, RANGE_FULL);
    frames.sw_format = AV_PIX_FMT_BGR0;
    decoder->sw_pix_fmt = AV_PIX_FMT_NONE;
    struct frame_view v;
    struct err e = ERR_INIT;
    assert_false(nvdec_view(decoder, picture, picture, &film, &v, &e));
    assert_int_equal(e.code, ERR_ENGINE);
}

/* A picture's own tags go before the film's, as in software. */
TEST_WITH(tags, make, unmake)
{
    picture->colorspace = AVCOL_SPC_UNSPECIFIED;
    assert_int_equal(view().matrix, MATRIX_BT709);
    picture->colorspace = AVCOL_SPC_SMPTE170M;
    picture->color_range = AVCOL_RANGE_JPEG;
    assert_int_equal(view().matrix, MATRIX_BT601);
    assert_int_equal(view().range, RANGE_FULL);
    decoder->sw_pix_fmt = AV_PIX_FMT_YUVJ420P;
    picture->colorspace = AVCOL_SPC_BT2020_CL;
    picture->color_range = AVCOL_RANGE_MPEG;
    assert_int_equal(view().matrix, MATRIX_BT2020);
    assert_int_equal(view().range, RANGE_LIMITED);
}

/* libavcodec has the second plane begin right after an odd number of rows; NVDEC leaves an even
 * one. */
TEST_WITH(odd_heights, make, unmake)
{
    picture->height = 7;
    picture->data[1] = bytes + 7 * 512;
    nvdec_fix_chroma(picture);
    assert_ptr_equal(picture->data[1], bytes + 8 * 512);
    picture->height = 8;
    nvdec_fix_chroma(picture);
    assert_ptr_equal(picture->data[1], bytes + 8 * 512);
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
