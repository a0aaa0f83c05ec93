/*
 * damage.c - what libavcodec knows and tells of damage, and what it does not.
 */
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
#include <string.h>

#include "av.h"

/* A mark stands in the middle of every square of this size: as large as HEVC's blocks get. */
enum { SQUARE = 64 };

static bool may_be_marked(const AVFrame *frame, const AVPixFmtDescriptor **d)
{
    *d = av_pix_fmt_desc_get(frame->format);
    return *d && (*d)->nb_components == 3 && (*d)->comp[1].plane == 1 && (*d)->comp[2].plane == 2 &&
           !((*d)->flags & AV_PIX_FMT_FLAG_RGB);
}

static uint8_t *sample_at(const AVFrame *frame, const AVPixFmtDescriptor *d, int plane, int x, int y)
{
    if (plane > 0) {
        x >>= d->log2_chroma_w;
        y >>= d->log2_chroma_h;
    }
    return frame->data[plane] + (ptrdiff_t)y * frame->linesize[plane] + (ptrdiff_t)x * d->comp[plane].step;
}

/* The brightest luma with the lowest chroma is no colour, so that no film shows it. */
static int mark_of(const AVPixFmtDescriptor *d, int plane)
{
    return plane == 0 ? (1 << d->comp[0].depth) - 1 : 0;
}

static void put(uint8_t *sample, int step, int value)
{
    uint16_t wide = (uint16_t)value;
    if (step == 2)
        memcpy(sample, &wide, 2);
    else
        *sample = (uint8_t)value;
}

static int get(const uint8_t *sample, int step)
{
    uint16_t wide = *sample;
    if (step == 2)
        memcpy(&wide, sample, 2);
    return wide;
}

static void mark(const AVFrame *frame)
{
    const AVPixFmtDescriptor *d;
    if (!may_be_marked(frame, &d))
        return;
    for (int y = SQUARE / 2; y < frame->height; y += SQUARE)
        for (int x = SQUARE / 2; x < frame->width; x += SQUARE)
            for (int c = 0; c < 3; c++)
                put(sample_at(frame, d, c, x, y), d->comp[c].step, mark_of(d, c));
}

/* How many marks are left, which turn black. */
static int take_marks(const AVFrame *frame)
{
    const AVPixFmtDescriptor *d;
    int left = 0;
    if (!may_be_marked(frame, &d))
        return 0;
    for (int y = SQUARE / 2; y < frame->height; y += SQUARE)
        for (int x = SQUARE / 2; x < frame->width; x += SQUARE) {
            bool is = true;
            for (int c = 0; c < 3; c++)
                is &= get(sample_at(frame, d, c, x, y), d->comp[c].step) == mark_of(d, c);
            for (int c = 0; is && c < 3; c++)
                put(sample_at(frame, d, c, x, y), d->comp[c].step, c ? 1 << (d->comp[c].depth - 1) : 0);
            left += is;
        }
    return left;
}

/* Everything black; the margins, which av_image_fill_black leaves alone, zero. */
static void blacken(const AVCodecContext *c, AVFrame *frame)
{
    ptrdiff_t stride[4];
    for (int i = 0; i < AV_NUM_DATA_POINTERS && frame->buf[i]; i++)
        memset(frame->buf[i]->data, 0, (size_t)frame->buf[i]->size);
    for (int i = 0; i < 4; i++)
        stride[i] = frame->linesize[i];
    av_image_fill_black(frame->data, stride, frame->format, c->color_range, frame->width, frame->height);
}

static int watched_buffer(AVCodecContext *c, AVFrame *frame, int flags)
{
    struct damage_watch *w = c->opaque;
    int code = avcodec_default_get_buffer2(c, frame, flags);
    if (code < 0)
        return code;
    if (w->careful)
        blacken(c, frame);
    /* A packet's first: what comes behind it are made-up pictures in the place of missing ones. */
    if (w->picture && !w->picture->buf[0]) {
        mark(frame);
        code = av_frame_ref(w->picture, frame);
    }
    return code;
}

bool damage_watch_open(struct damage_watch *w, AVCodecContext *c, bool careful, struct err *e)
{
    bool alone = c->active_thread_type == 0;
    damage_watch_messages(w, c);
    w->careful = careful && alone;
    if (alone && c->codec_id == AV_CODEC_ID_HEVC && !w->picture && !(w->picture = av_frame_alloc()))
        return err_set(e, ERR_FAILED, "out of memory for a decoder");
    if (w->careful || w->picture)
        c->get_buffer2 = watched_buffer;
    return true;
}

void damage_watch_messages(struct damage_watch *w, AVCodecContext *c)
{
    c->opaque = w;
}

bool damage_found(struct damage_watch *w, int code)
{
    uint_fast64_t before = w->heard;
    bool unfinished = w->picture && w->picture->buf[0] && take_marks(w->picture) > 0;
    if (w->picture)
        av_frame_unref(w->picture);
    w->heard = atomic_load(&w->complaints);
    return code < 0 || w->heard > before || unfinished;
}

bool damage_spreads(struct damage_watch *w, const struct picture *p, bool hurt)
{
    if (p->packet->flags & AV_PKT_FLAG_KEY)
        w->tainted = false;
    bool spoilt = hurt || w->tainted;
    w->tainted |= hurt && !p->droppable;
    return spoilt;
}

void damage_forget(struct damage_watch *w)
{
    w->tainted = false;
}

void damage_everywhere(struct damage_watch *w)
{
    w->tainted = true;
}

bool damage_flagged(const AVFrame *frame)
{
    return frame->decode_error_flags != 0 || frame->flags & AV_FRAME_FLAG_CORRUPT;
}

void damage_watch_close(struct damage_watch *w)
{
    av_frame_free(&w->picture);
}

static bool begins(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

void damage_message(const AVCodecContext *c, int level, const char *format)
{
    struct damage_watch *w = c->opaque;
    bool error = level <= AV_LOG_ERROR && c->codec_id != AV_CODEC_ID_H264 &&
                 !begins(format, "Invalid setup for format");      /* of the hardware, not of the film */
    if (w && (error || begins(format, "concealing ")))
        atomic_fetch_add(&w->complaints, 1);
}
