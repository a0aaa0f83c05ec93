#include "sound_reading.h"

#include <libavutil/channel_layout.h>
#include <libavutil/mathematics.h>
#include <libavutil/samplefmt.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "barcode/base/queue.h"
#include "base/watch.h"

/* ---- Samples of any format as interleaved 16-bit ones ---- */

/* `count` samples, of which every `stride`th of `out` is written. */
typedef void convert(const uint8_t *in, int16_t *out, size_t stride, size_t count);

static int16_t limited(int64_t v)
{
    if (v > INT16_MAX)
        return INT16_MAX;
    return v < INT16_MIN ? INT16_MIN : (int16_t)v;
}

/* A sample that is no number is silence. */
static int16_t rounded(double v)
{
    v *= 32768;
    if (v >= INT16_MAX)
        return INT16_MAX;
    if (v <= INT16_MIN)
        return INT16_MIN;
    return v == v ? (int16_t)lrint(v) : 0;
}

static void from_u8(const uint8_t *in, int16_t *out, size_t stride, size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i * stride] = (int16_t)((in[i] - 128) * 256);
}

static void from_s16(const uint8_t *in, int16_t *out, size_t stride, size_t count)
{
    const int16_t *from = (const int16_t *)(const void *)in;
    for (size_t i = 0; i < count; i++)
        out[i * stride] = from[i];
}

static void from_s32(const uint8_t *in, int16_t *out, size_t stride, size_t count)
{
    const int32_t *from = (const int32_t *)(const void *)in;
    for (size_t i = 0; i < count; i++)
        out[i * stride] = limited(((int64_t)from[i] + (1 << 15)) >> 16);
}

static void from_s64(const uint8_t *in, int16_t *out, size_t stride, size_t count)
{
    const int64_t *from = (const int64_t *)(const void *)in;
    for (size_t i = 0; i < count; i++)
        out[i * stride] = limited(((from[i] >> 32) + (1 << 15)) >> 16);
}

static void from_float(const uint8_t *in, int16_t *out, size_t stride, size_t count)
{
    const float *from = (const float *)(const void *)in;
    for (size_t i = 0; i < count; i++)
        out[i * stride] = rounded((double)from[i]);
}

static void from_double(const uint8_t *in, int16_t *out, size_t stride, size_t count)
{
    const double *from = (const double *)(const void *)in;
    for (size_t i = 0; i < count; i++)
        out[i * stride] = rounded(from[i]);
}

static convert *converter(enum AVSampleFormat format)
{
    switch (av_get_packed_sample_fmt(format)) {
    case AV_SAMPLE_FMT_U8: return from_u8;
    case AV_SAMPLE_FMT_S16: return from_s16;
    case AV_SAMPLE_FMT_S32: return from_s32;
    case AV_SAMPLE_FMT_S64: return from_s64;
    case AV_SAMPLE_FMT_FLT: return from_float;
    case AV_SAMPLE_FMT_DBL: return from_double;
    default: return NULL;
    }
}

bool samples_known(enum AVSampleFormat format) { return converter(format) != NULL; }

void samples_convert(const AVFrame *frame, int channels, int16_t *out)
{
    convert *to = converter((enum AVSampleFormat)frame->format);
    size_t count = (size_t)frame->nb_samples, all = (size_t)channels;
    if (!av_sample_fmt_is_planar((enum AVSampleFormat)frame->format)) {
        to(frame->extended_data[0], out, 1, count * all);
        return;
    }
    for (size_t c = 0; c < all; c++)
        to(frame->extended_data[c], out + c, all, count);
}

uint64_t samples_mask(const AVChannelLayout *layout)
{
    AVChannelLayout usual = {.nb_channels = 0};
    if (layout->order == AV_CHANNEL_ORDER_UNSPEC)
        av_channel_layout_default(&usual, layout->nb_channels);
    const AVChannelLayout *known = usual.nb_channels > 0 ? &usual : layout;
    return known->order == AV_CHANNEL_ORDER_NATIVE ? known->u.mask : 0;
}

/* ---- Frames ---- */

enum {
    RATE_MOST = 768000,
    SAMPLES_MOST = 1 << 23, /* of all channels in a frame */
    BATCH = 16,             /* frames: waking the thread costs as much as a frame */
    BATCH_SAMPLES = 1 << 18
};

struct batch {
    AVFrame *frame[BATCH];
    size_t count, samples;
    bool last; /* of its segment */
};

struct lane {
    struct batch *batch; /* that is being filled, or NULL */
    struct queue *batches;
};

struct sound_frames {
    struct sound_maker *maker;
    int64_t end_us, most_us; /* end_us: of the sound so far */
    int16_t *samples;        /* of a frame */
    size_t room;             /* in `samples` */
    int lanes;
    struct lane lane[SOUND_LANES_MOST];
    pthread_t thread;
    bool running;
    struct film_sound about; /* rate, channels and layout of the first frame, if `begun` */
    bool begun;
    struct err error; /* of the thread */
};

void sound_frames_describe(struct film_sound *s, int rate, const AVChannelLayout *layout)
{
    s->rate = rate > 0 ? rate : 0;
    s->channels = layout->nb_channels;
    if (av_channel_layout_describe(layout, s->layout, sizeof s->layout) < 0)
        s->layout[0] = 0;
    s->layout[sizeof s->layout - 1] = 0;
}

static void drop_batch(void *item)
{
    struct batch *b = item;
    for (size_t i = 0; b && i < b->count; i++)
        av_frame_free(&b->frame[i]);
    free(b);
}

bool sound_frames_usable(const AVFrame *f)
{
    int channels = f->ch_layout.nb_channels;
    if (channels <= 0 || channels > SOUND_CHANNELS_MOST)
        return false;
    if (f->nb_samples <= 0 || f->nb_samples > SAMPLES_MOST / channels)
        return false;
    bool rate_ok = f->sample_rate > 0 && f->sample_rate <= RATE_MOST;
    return rate_ok && samples_known((enum AVSampleFormat)f->format);
}

/*
 * Passes the block on, without what is behind the film's end, in parts of a few seconds: at a rate
 * of 1 Hz a frame may last for days. Stops if interrupted.
 */
static bool push_parts(struct sound_frames *s, struct sound_block b, struct err *e)
{
    enum { SECONDS = 8 };
    size_t frames = b.frames;
    int64_t from_us = b.time_us == INT64_MIN ? s->end_us : b.time_us;
    int64_t most = from_us < s->most_us ? av_rescale(s->most_us - from_us, b.rate, 1000000) : 0;
    frames = (uint64_t)most < frames ? (size_t)most : frames;
    while (frames > 0 && !interrupted()) {
        b.frames = frames < (size_t)b.rate * SECONDS ? frames : (size_t)b.rate * SECONDS;
        if (!sound_maker_push(s->maker, &b, e))
            return false;
        from_us += av_rescale((int64_t)b.frames, 1000000, b.rate);
        s->end_us = from_us > s->end_us ? from_us : s->end_us;
        b.sample += b.frames * (size_t)b.channels;
        b.time_us = b.time_us == INT64_MIN ? INT64_MIN : from_us;
        frames -= b.frames;
    }
    return true;
}

static bool push_frame(struct sound_frames *s, const AVFrame *f, struct err *e)
{
    int channels = f->ch_layout.nb_channels;
    struct sound_block block = {.frames = (size_t)f->nb_samples,
                                .channels = channels,
                                .rate = f->sample_rate,
                                .mask = samples_mask(&f->ch_layout),
                                .time_us = f->pts == AV_NOPTS_VALUE ? INT64_MIN : f->pts};
    size_t count = block.frames * (size_t)channels;
    if (!s->begun)
        sound_frames_describe(&s->about, f->sample_rate, &f->ch_layout);
    s->begun = true;
    if (!err_reserve(&s->samples, count, &s->room, sizeof *s->samples, e))
        return false;
    samples_convert(f, channels, s->samples);
    block.sample = s->samples;
    return push_parts(s, block, e);
}

static void abort_lanes(struct sound_frames *s)
{
    for (int i = 0; i < s->lanes; i++)
        if (s->lane[i].batches)
            queue_abort(s->lane[i].batches);
}

/* Passes batches on until the queue of the next one is closed and empty, or aborted. */
static void *frames_main(void *argument)
{
    struct sound_frames *s = argument;
    void *item;
    int lane = 0;
    bool ok = true;
    while (ok && !interrupted() && queue_pop(s->lane[lane].batches, &item)) {
        struct batch *b = item;
        for (size_t i = 0; ok && i < b->count; i++)
            ok = push_frame(s, b->frame[i], &s->error);
        lane = b->last ? (lane + 1) % s->lanes : lane;
        drop_batch(b);
    }
    abort_lanes(s); /* nobody waits for this thread any more */
    return NULL;
}

struct sound_frames *sound_frames_open(struct sound_maker *maker, int lanes, size_t ahead,
                                       int64_t most_us, struct err *e)
{
    struct sound_frames *s = err_calloc(1, sizeof *s, e);
    if (!s)
        return NULL;
    s->maker = maker;
    s->most_us = most_us;
    s->lanes = lanes;
    bool ok = true;
    for (int i = 0; i < lanes; i++) {
        s->lane[i].batches = queue_open(ahead / BATCH + 3, drop_batch, e);
        ok &= s->lane[i].batches != NULL;
    }
    s->running = ok && watch_thread(&s->thread, frames_main, s) == 0;
    if (!s->running) {
        err_set(e, ERR_MEMORY, "cannot start a decoding thread");
        sound_frames_close(&s, NULL, NULL);
    }
    return s;
}

/* Returns the lane's batch, or NULL if out of memory. */
static struct batch *fill_batch(struct lane *l, struct err *e)
{
    if (!l->batch)
        l->batch = err_calloc(1, sizeof *l->batch, e);
    return l->batch;
}

/* Queues the frames so far. */
static bool queue_batch(struct lane *l)
{
    struct batch *b = l->batch;
    l->batch = NULL;
    if (b && !queue_push(l->batches, b)) {
        drop_batch(b);
        return false;
    }
    return true;
}

bool sound_frames_put(struct sound_frames *s, int lane, AVFrame *frame, struct err *e)
{
    struct lane *l = &s->lane[lane];
    struct batch *b = fill_batch(l, e);
    AVFrame *moved = b ? av_frame_alloc() : NULL;
    if (!moved)
        return err_memory(e, sizeof *moved);
    av_frame_move_ref(moved, frame);
    b->frame[b->count++] = moved;
    b->samples += (size_t)moved->nb_samples * (size_t)moved->ch_layout.nb_channels;
    return (b->count < BATCH && b->samples < BATCH_SAMPLES) || queue_batch(l);
}

bool sound_frames_next(struct sound_frames *s, int lane, struct err *e)
{
    struct batch *b = fill_batch(&s->lane[lane], e);
    if (!b)
        return false;
    b->last = true;
    return queue_batch(&s->lane[lane]);
}

void sound_frames_end(struct sound_frames *s, int lane)
{
    queue_batch(&s->lane[lane]);
    queue_close(s->lane[lane].batches);
}

bool sound_frames_close(struct sound_frames **frames, struct film_sound *about, struct err *e)
{
    struct sound_frames *s = *frames;
    if (!s)
        return true;
    if (!about)
        abort_lanes(s);
    if (s->running)
        pthread_join(s->thread, NULL);
    if (about && s->begun) {
        about->rate = s->about.rate;
        about->channels = s->about.channels;
        memcpy(about->layout, s->about.layout, sizeof about->layout);
    }
    bool ok = s->error.code == ERR_NONE;
    if (!ok && e && e->code == ERR_NONE)
        *e = s->error;
    for (int i = 0; i < s->lanes; i++) {
        drop_batch(s->lane[i].batch);
        queue_free(&s->lane[i].batches);
    }
    free(s->samples);
    free(s);
    *frames = NULL;
    return ok;
}
