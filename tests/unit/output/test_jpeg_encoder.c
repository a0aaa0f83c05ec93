#include <libavcodec/avcodec.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "output/formats/jpeg.h"

/* What libavcodec's decoder makes of it. */
static AVFrame *decode(const struct jpeg *j)
{
    AVCodecContext *c = avcodec_alloc_context3(avcodec_find_decoder(AV_CODEC_ID_MJPEG));
    AVPacket *p = av_packet_alloc();
    AVFrame *f = av_frame_alloc();
    assert_int_equal(avcodec_open2(c, NULL, NULL), 0);
    assert_int_equal(av_new_packet(p, (int)j->size), 0);
    memcpy(p->data, j->data, j->size);
    assert_int_equal(avcodec_send_packet(c, p), 0);
    assert_int_equal(avcodec_receive_frame(c, f), 0);
    av_packet_free(&p);
    avcodec_free_context(&c);
    assert_int_equal(f->width, j->width);
    assert_int_equal(f->height, j->height);
    assert_int_equal(f->format, AV_PIX_FMT_YUVJ420P);
    return f;
}

/* By the definition of JFIF, in floating point. */
static void expect_near(const AVFrame *f, int x, int y, const uint8_t rgb[3], double off)
{
    double luma = f->data[0][y * f->linesize[0] + x],
           cb = f->data[1][y / 2 * f->linesize[1] + x / 2] - 128.0,
           cr = f->data[2][y / 2 * f->linesize[2] + x / 2] - 128.0;
    double got[3] = {luma + 1.402 * cr, luma - 0.344136 * cb - 0.714136 * cr, luma + 1.772 * cb};
    for (int c = 0; c < 3; c++)
        if (fabs(got[c] - rgb[c]) > off)
            fail_msg("at %d, %d channel %d is %.1f and not %d", x, y, c, got[c], rgb[c]);
}

/* Flat pictures of any size come back as they were; what is left is rounding. */
TEST(flat_colours)
{
    static const uint8_t colour[][3] = {{0, 0, 0},   {255, 255, 255}, {255, 0, 0},  {0, 255, 0},
                                        {0, 0, 255}, {12, 200, 99},   {255, 0, 255}};
    static const int sizes[][2] = {{1, 1}, {2, 2}, {17, 9}, {160, 96}, {33, 1}};
    for (size_t i = 0; i < sizeof colour / sizeof *colour; i++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            int w = sizes[s][0], h = sizes[s][1];
            uint8_t *rgb = malloc((size_t)(w * h * 3));
            for (int n = 0; n < w * h; n++)
                memcpy(rgb + n * 3, colour[i], 3);
            struct jpeg j;
            struct err e = ERR_INIT;
            if (!jpeg_encode(rgb, w, h, 90, &j, &e))
                fail_msg("%s", e.text);
            AVFrame *f = decode(&j);
            expect_near(f, 0, 0, colour[i], 3);
            expect_near(f, w - 1, h - 1, colour[i], 3);
            av_frame_free(&f);
            jpeg_free(&j);
            free(rgb);
        }
}

enum { W = 64, H = 48 };

static void draw(uint8_t rgb[H][W][3])
{
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            for (int c = 0; c < 3; c++)
                rgb[y][x][c] = (uint8_t)(c == 0 ? x * 4 : c == 1 ? y * 5 : 255 - x * 2 - y * 2);
}

/* A slope stays where it is, and a lower quality makes fewer bytes. */
TEST(slopes)
{
    static uint8_t rgb[H][W][3];
    size_t size = SIZE_MAX;
    draw(rgb);
    for (int q = 90; q > 0; q -= 30) {
        struct jpeg j;
        struct err e = ERR_INIT;
        assert_true(jpeg_encode(rgb[0][0], W, H, q, &j, &e));
        assert_true(j.size < size);
        size = j.size;
        AVFrame *f = decode(&j);
        for (int y = 1; y < H && q == 90; y += 7)
            for (int x = 1; x < W; x += 7)
                expect_near(f, x, y, rgb[y][x], 12);
        av_frame_free(&f);
        jpeg_free(&j);
    }
}

TEST(comments)
{
    static uint8_t rgb[H][W][3];
    struct jpeg plain, told = {.width = W, .height = H};
    struct err e = ERR_INIT;
    draw(rgb);
    assert_true(jpeg_encode(rgb[0][0], W, H, 80, &plain, &e));
    FILE *f = open_memstream((char **)&told.data, &told.size);
    assert_true(jpeg_write(&plain, "made by hand", f));
    fclose(f);
    assert_int_equal(told.size, plain.size + strlen("made by hand\n") + 4);
    assert_memory_equal(told.data + 6, "JFIF", 5); /* still the first segment, as T.871 demands */
    assert_memory_equal(told.data + 20, "\xff\xfe\0\x0fmade by hand\n\xff", 18);
    AVFrame *frame = decode(&told);
    av_frame_free(&frame);
    jpeg_free(&plain);
    jpeg_free(&told);
    assert_null(told.data);
    jpeg_free(&told);
}
