#include "sound_frames.h"

#include <libavutil/mathematics.h>
#include <pthread.h>
#include <stdlib.h>

#include "samples.h"
#include "barcode/base/interrupt.h"
#include "barcode/base/queue.h"
#include "barcode/base/watch.h"

enum {
    RATE_MOST = 768000,
    SAMPLES_MOST = 1 << 23, /* of all channels in a frame */
    BATCH = 16,             /* frames: waking the thread costs as much as a frame */
    BATCH_SAMPLES = 1 << 18,
    BATCHES_MOST = 3 /* in the queue */
};

struct batch {
    AVFrame *frame[BATCH];
    size_t count, samples;
};

struct sound_frames {
    struct sound_maker *maker;
    int64_t end_us, most_us; /* end_us: of the sound so far */
    int16_t *samples;        /* of a frame */
    size_t room;             /* in `samples` */
    struct batch *batch;     /* that is being filled, or NULL */
    struct queue *batches;
    pthread_t thread;
    bool running;
    struct err error; /* of the thread */
};

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
    return channels > 0 && channels <= SOUND_CHANNELS_MOST && f->nb_samples > 0 &&
           f->nb_samples <= SAMPLES_MOST / channels && f->sample_rate > 0 &&
           f->sample_rate <= RATE_MOST && samples_known((enum AVSampleFormat)f->format);
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
    if (!err_reserve(&s->samples, count, &s->room, sizeof *s->samples, e))
        return false;
    samples_convert(f, channels, s->samples);
    block.sample = s->samples;
    return push_parts(s, block, e);
}

/* Passes batches on until the queue is closed and empty, or aborted. */
static void *frames_main(void *argument)
{
    struct sound_frames *s = argument;
    void *item;
    bool ok = true;
    while (ok && !interrupted() && queue_pop(s->batches, &item)) {
        struct batch *b = item;
        for (size_t i = 0; ok && i < b->count; i++)
            ok = push_frame(s, b->frame[i], &s->error);
        drop_batch(b);
    }
    queue_abort(s->batches); /* nobody waits for this thread any more */
    return NULL;
}

struct sound_frames *sound_frames_open(struct sound_maker *maker, int64_t most_us, struct err *e)
{
    struct sound_frames *s = err_calloc(1, sizeof *s, e);
    if (!s)
        return NULL;
    s->maker = maker;
    s->most_us = most_us;
    s->batches = queue_open(BATCHES_MOST, drop_batch, e);
    s->running = s->batches && watch_thread(&s->thread, frames_main, s) == 0;
    if (!s->running) {
        err_set(e, ERR_MEMORY, "cannot start a decoding thread");
        sound_frames_close(&s, false, NULL);
    }
    return s;
}

/* Waits for the thread. Returns false on its error. */
static bool join_thread(struct sound_frames *s, struct err *e)
{
    if (s->running)
        pthread_join(s->thread, NULL);
    s->running = false;
    if (s->error.code != ERR_NONE && e && e->code == ERR_NONE)
        *e = s->error;
    return s->error.code == ERR_NONE;
}

/* Queues the frames so far. A thread that was interrupted takes none, which is no error. */
static bool queue_batch(struct sound_frames *s, struct err *e)
{
    struct batch *b = s->batch;
    s->batch = NULL;
    if (!b || queue_push(s->batches, b))
        return true;
    drop_batch(b);
    return join_thread(s, e);
}

bool sound_frames_put(struct sound_frames *s, AVFrame *frame, struct err *e)
{
    if (!s->batch && !(s->batch = err_calloc(1, sizeof *s->batch, e)))
        return false;
    struct batch *b = s->batch;
    AVFrame *own = av_frame_alloc();
    if (!own)
        return err_memory(e, sizeof *own);
    av_frame_move_ref(own, frame);
    b->frame[b->count++] = own;
    b->samples += (size_t)own->nb_samples * (size_t)own->ch_layout.nb_channels;
    return (b->count < BATCH && b->samples < BATCH_SAMPLES) || queue_batch(s, e);
}

bool sound_frames_close(struct sound_frames **frames, bool whole, struct err *e)
{
    struct sound_frames *s = *frames;
    if (!s)
        return true;
    bool ok = !whole || queue_batch(s, e);
    if (s->batches)
        (whole ? queue_close : queue_abort)(s->batches);
    ok = join_thread(s, e) && ok;
    drop_batch(s->batch);
    queue_free(&s->batches);
    free(s->samples);
    free(s);
    *frames = NULL;
    return ok;
}
