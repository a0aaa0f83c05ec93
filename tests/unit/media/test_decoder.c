
#include "test.h"
#include "media/container/open.h"
#include "media/decode/decoder.h"
#include "film_pass.h"

static AVFormatContext *open_clip(const char *name, struct film *film)
{
    struct err e = ERR_INIT;
    AVFormatContext *f = NULL;
    assert_ok(container_open(name, SOURCE_STREAM_CHOICE, &f, film, &e), &e);
    return f;
}

static void close_clip(AVFormatContext **f, struct film *film)
{
    container_close(f);
    free(film->path);
}

/* The crop is exact to the pixel, not to the next address that suits a processor. */
TEST(crop_to_the_pixel)
{
    clip_need("-c:v libx264 -preset veryfast -bsf:v "
              "h264_metadata=crop_left=6:crop_right=10:crop_top=2:crop_bottom=4 crop.mp4");
    struct film film;
    struct err e = ERR_INIT;
    AVFormatContext *f = open_clip("crop.mp4", &film);
    AVCodecContext *c = decoder_open(f->streams[film.stream], film.path, 1, &e);
    AVPacket *p = av_packet_alloc();
    AVFrame *frame = av_frame_alloc();
    assert_true(c && p && frame);
    for (int code = AVERROR(EAGAIN); code < 0; code = avcodec_receive_frame(c, frame)) {
        assert_true(container_read(f, p) >= 0 && avcodec_send_packet(c, p) >= 0);
        av_packet_unref(p);
    }
    assert_int_equal(frame->width, CLIP_W - 16);
    assert_int_equal(frame->height, CLIP_H - 6);
    av_frame_free(&frame);
    av_packet_free(&p);
    assert_true(c->flags & AV_CODEC_FLAG_UNALIGNED);
    assert_true(c->flags & AV_CODEC_FLAG_OUTPUT_CORRUPT);
    assert_true(c->export_side_data & AV_CODEC_EXPORT_DATA_FILM_GRAIN);
    assert_int_equal(c->active_thread_type, 0);
    avcodec_free_context(&c);
    c = decoder_open(f->streams[film.stream], film.path, 3, &e);
    assert_int_equal(c->active_thread_type, FF_THREAD_FRAME);
    avcodec_free_context(&c);
    close_clip(&f, &film);
}

TEST(a_stream_that_no_decoder_can_begin)
{
    struct err e = ERR_INIT;
    AVFormatContext *f = avformat_alloc_context();
    AVStream *s = avformat_new_stream(f, NULL);
    s->codecpar->codec_type = AVMEDIA_TYPE_VIDEO;
    s->codecpar->codec_id = AV_CODEC_ID_HUFFYUV; /* without its tables */
    s->codecpar->width = s->codecpar->height = 64;
    assert_null(decoder_open(s, "a film", 1, &e));
    assert_int_equal(e.code, ERR_INPUT);
    assert_non_null(strstr(e.text, "cannot open the huffyuv decoder for 'a film': "));
    avformat_free_context(f);
}

/* Returns the first answer but EAGAIN. `out_of_memory`: no frame buffer could be allocated before.
 */
static int first_answer(const char *name, bool out_of_memory)
{
    struct err e = ERR_INIT;
    struct film film;
    AVFormatContext *f = open_clip(name, &film);
    AVCodecContext *c = decoder_open(f->streams[film.stream], film.path, 1, &e);
    AVPacket *p = av_packet_alloc();
    AVFrame *frame = av_frame_alloc();
    struct corruption_watch w = {0};
    assert_true(c && p && frame);
    corruption_watch_open(&w, c);
    atomic_store(&w.out_of_memory, out_of_memory);
    int code = AVERROR(EAGAIN);
    while (code == AVERROR(EAGAIN)) {
        code = container_read(f, p) < 0 ? AVERROR_EOF : decoder_send(c, p);
        av_packet_unref(p);
        if (code >= 0)
            code = decoder_receive(c, frame);
    }
    av_frame_free(&frame);
    av_packet_free(&p);
    avcodec_free_context(&c);
    assert_null(c);
    close_clip(&f, &film);
    return code;
}

TEST(failed_frame_buffers_are_reported)
{
    clip_need("-c:v mpeg4 -q:v 4 a.avi");
    assert_int_equal(first_answer("a.avi", false), 0);
    assert_int_equal(first_answer("a.avi", true), AVERROR(ENOMEM));
}

TEST_FIXTURE(clip_begin, clip_end)
