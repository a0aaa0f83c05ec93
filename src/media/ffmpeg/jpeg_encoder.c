#include <libavcodec/avcodec.h>
#include <stdlib.h>
#include <string.h>

#include "barcode/media/jpeg.h"

enum { MARKER_SOI = 0xd8, MARKER_APP0 = 0xe0, MARKER_COM = 0xfe, MARKER_SOS = 0xda };

static uint8_t luma_of(const uint8_t *p)
{
    return (uint8_t)((19595 * p[0] + 38470 * p[1] + 7471 * p[2] + 32768) >> 16);
}

/* Returns a chroma value from sums of four pixels. The offset keeps the shifted value above 0. */
static uint8_t chroma_of(int r, int g, int b, int of_r, int of_g, int of_b)
{
    int value = (of_r * r + of_g * g + of_b * b + (128 << 18) + (1 << 17)) >> 18;
    return (uint8_t)(value > 255 ? 255 : value);
}

static void convert_rgb(const uint8_t *rgb, int width, int height, AVFrame *to)
{
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            to->data[0][y * to->linesize[0] + x] =
                luma_of(rgb + ((size_t)y * (size_t)width + (size_t)x) * 3);
    for (int y = 0; y < height; y += 2) {
        const uint8_t *upper = rgb + (size_t)y * (size_t)width * 3,
                      *lower = y + 1 < height ? upper + (size_t)width * 3 : upper;
        for (int x = 0; x < width; x += 2) {
            int sum[3], left = x * 3, right = x + 1 < width ? left + 3 : left;
            for (int c = 0; c < 3; c++)
                sum[c] = upper[left + c] + upper[right + c] + lower[left + c] + lower[right + c];
            to->data[1][y / 2 * to->linesize[1] + x / 2] =
                chroma_of(sum[0], sum[1], sum[2], -11059, -21709, 32768);
            to->data[2][y / 2 * to->linesize[2] + x / 2] =
                chroma_of(sum[0], sum[1], sum[2], 32768, -27439, -5329);
        }
    }
}

static AVFrame *frame_of(const uint8_t *rgb, int width, int height, int quantiser, struct err *e)
{
    AVFrame *f = av_frame_alloc();
    if (f) {
        f->format = AV_PIX_FMT_YUVJ420P;
        f->color_range = AVCOL_RANGE_JPEG;
        f->width = width;
        f->height = height;
        f->quality = FF_QP2LAMBDA * quantiser;
    }
    if (!f || av_frame_get_buffer(f, 0) < 0) {
        av_frame_free(&f);
        err_memory(e, (size_t)width * (size_t)height * 3 / 2);
        return NULL;
    }
    convert_rgb(rgb, width, height, f);
    return f;
}

static AVCodecContext *open_encoder(int width, int height, int quantiser, struct err *e)
{
    const AVCodec *codec = avcodec_find_encoder(AV_CODEC_ID_MJPEG);
    AVCodecContext *c = codec ? avcodec_alloc_context3(codec) : NULL;
    if (!codec) {
        err_set(e, ERR_FAILED, "this libavcodec was built without its JPEG encoder");
        return NULL;
    }
    if (c) {
        c->width = width;
        c->height = height;
        c->pix_fmt = AV_PIX_FMT_YUVJ420P;
        c->color_range = AVCOL_RANGE_JPEG;
        c->time_base = (AVRational){1, 1};
        c->sample_aspect_ratio = (AVRational){1, 1};
        c->thread_count = 1;
        c->dct_algo = FF_DCT_INT;
        c->flags |= AV_CODEC_FLAG_QSCALE | AV_CODEC_FLAG_BITEXACT;
        c->global_quality = FF_QP2LAMBDA * quantiser;
        c->qmin = c->qmax = quantiser;
    }
    if (!c || avcodec_open2(c, codec, NULL) < 0) {
        avcodec_free_context(&c);
        err_set(e, ERR_FAILED, "libavcodec's JPEG encoder could not be opened");
    }
    return c;
}

/* Returns the position of the comment: after JFIF's segment, which must be the first. */
static size_t behind_jfif(const uint8_t *data, size_t size)
{
    bool has = size > 6 && data[2] == 0xff && data[3] == MARKER_APP0;
    size_t end = has ? 4 + ((size_t)data[4] << 8 | data[5]) : 2;
    return end <= size ? end : 2;
}

static void make_comment_head(uint8_t head[4], size_t length)
{
    head[0] = 0xff;
    head[1] = MARKER_COM;
    head[2] = (uint8_t)((length + 2) >> 8);
    head[3] = (uint8_t)(length + 2);
}

bool jpeg_write(const struct jpeg *j, const char *comment, FILE *f)
{
    size_t at = behind_jfif(j->data, j->size), length = comment ? strlen(comment) : 0;
    uint8_t head[4];
    make_comment_head(head, length);
    return fwrite(j->data, 1, at, f) == at &&
           (!comment || (fwrite(head, 1, 4, f) == 4 && fwrite(comment, 1, length, f) == length)) &&
           fwrite(j->data + at, 1, j->size - at, f) == j->size - at;
}

static bool copy_jpeg(const AVPacket *p, const char *comment, struct jpeg *to, struct err *e)
{
    size_t at = behind_jfif(p->data, (size_t)p->size), length = comment ? strlen(comment) : 0,
           extra = comment ? length + 4 : 0;
    to->size = (size_t)p->size + extra;
    to->data = malloc(to->size);
    if (!to->data)
        return err_memory(e, to->size);
    memcpy(to->data, p->data, at);
    if (comment) {
        uint8_t head[4];
        make_comment_head(head, length);
        memcpy(to->data + at, head, 4);
        memcpy(to->data + at + 4, comment, length);
    }
    memcpy(to->data + at + extra, p->data + at, (size_t)p->size - at);
    return true;
}

bool jpeg_encode(const uint8_t *rgb, int width, int height, int quantiser, const char *comment,
                 struct jpeg *to, struct err *e)
{
    *to = (struct jpeg){.width = width, .height = height};
    AVCodecContext *c = open_encoder(width, height, quantiser, e);
    AVFrame *f = c ? frame_of(rgb, width, height, quantiser, e) : NULL;
    AVPacket *p = f ? av_packet_alloc() : NULL;
    bool ok =
        p && avcodec_send_frame(c, f) >= 0 && avcodec_receive_packet(c, p) >= 0 && p->size > 2;
    if (f && !ok)
        err_set(e, ERR_FAILED, "libavcodec could not encode a JPEG of %dx%d", width, height);
    ok = ok && copy_jpeg(p, comment, to, e);
    av_packet_free(&p);
    av_frame_free(&f);
    avcodec_free_context(&c);
    if (!ok)
        jpeg_free(to);
    return ok;
}

bool jpeg_comment(const uint8_t *head, size_t size, char *text, size_t room)
{
    if (size < 4 || head[0] != 0xff || head[1] != MARKER_SOI || room == 0)
        return false;
    for (size_t at = 2; at + 4 <= size && head[at] == 0xff && head[at + 1] != MARKER_SOS;) {
        size_t length = (size_t)head[at + 2] << 8 | head[at + 3];
        if (length < 2 || at + 2 + length > size)
            return false;
        if (head[at + 1] == MARKER_COM) {
            size_t fits = length - 2 < room - 1 ? length - 2 : room - 1;
            memcpy(text, head + at + 4, fits);
            text[fits] = 0;
            return true;
        }
        at += 2 + length;
    }
    return false;
}

void jpeg_free(struct jpeg *to)
{
    free(to->data);
    *to = (struct jpeg){.size = 0};
}
