#include "sound_reading.h"

#include <pthread.h>
#include <stdlib.h>

#include "sound_clock.h"
#include "sound_decoder.h"
#include "media/container/container_quirks.h"
#include "media/container/open.h"
#include "media/select/timeline.h"
#include "barcode/base/interrupt.h"
#include "barcode/base/queue.h"
#include "barcode/base/watch.h"

enum {
    BATCH = 32, /* packets: waking the thread for each would slow down the pictures' decoders */
    BATCH_BYTES = 256 << 10,
    BATCHES_MOST = 16,   /* in the queue */
    BYTES_MOST = 8 << 20 /* of them; one batch always may be in it */
};

struct batch {
    AVPacket *packet[BATCH];
    size_t count, bytes;
};

struct sound_reading {
    struct demux *demux;
    const AVStream *stream; /* NULL: there is nothing to decode, and no thread */
    struct sound_clock clock;
    struct sound_decoder *decoder;
    pthread_t thread;
    struct batch *batch; /* that is being filled, or NULL */
    struct queue *batches;
    pthread_mutex_t lock; /* guards the next two */
    pthread_cond_t changed;
    size_t bytes;          /* in the queue or being decoded */
    bool ended;            /* the thread takes no more packets */
    struct err error;      /* of the thread */
    struct err read_error; /* of the reader */
};

static void drop_batch(void *item)
{
    struct batch *b = item;
    for (size_t i = 0; b && i < b->count; i++)
        av_packet_free(&b->packet[i]);
    free(b);
}

/* Records that `bytes` bytes are decoded, or that no more packets are taken. */
static void signal_reader(struct sound_reading *s, size_t bytes, bool ended)
{
    pthread_mutex_lock(&s->lock);
    s->bytes -= bytes;
    s->ended |= ended;
    pthread_cond_signal(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

/* Decodes batches until the queue is closed and empty, or aborted. */
static void *decode_main(void *argument)
{
    struct sound_reading *s = argument;
    void *item;
    bool ok = true;
    while (ok && queue_pop(s->batches, &item)) {
        struct batch *b = item;
        size_t bytes = b->bytes;
        for (size_t i = 0; ok && i < b->count; i++)
            ok = !interrupted() && sound_decoder_put(s->decoder, b->packet[i], &s->error);
        drop_batch(b);
        signal_reader(s, bytes, false);
    }
    queue_abort(s->batches); /* drops what is left */
    signal_reader(s, 0, true);
    return NULL;
}

/* Waits for room, and queues the packets so far. Drops them if the thread takes no more. */
static void queue_batch(struct sound_reading *s)
{
    struct batch *b = s->batch;
    s->batch = NULL;
    if (!b)
        return;
    pthread_mutex_lock(&s->lock);
    while (!s->ended && s->bytes > 0 && s->bytes + b->bytes > BYTES_MOST)
        pthread_cond_wait(&s->changed, &s->lock);
    s->bytes += b->bytes;
    pthread_mutex_unlock(&s->lock);
    if (!queue_push(s->batches, b))
        drop_batch(b);
}

/* Adds the packet to those that will be queued. */
static void add_packet(struct sound_reading *s, AVPacket *packet)
{
    if (!s->batch && !(s->batch = err_calloc(1, sizeof *s->batch, &s->read_error))) {
        av_packet_free(&packet);
        return;
    }
    struct batch *b = s->batch;
    b->packet[b->count++] = packet;
    b->bytes += (size_t)packet->size;
    if (b->count == BATCH || b->bytes >= BATCH_BYTES)
        queue_batch(s);
}

/* Implements demux_tap: notes the times of pictures, and takes over packets of sound. */
static void on_packet(void *user, AVPacket *packet)
{
    struct sound_reading *s = user;
    const AVStream *video = s->demux->stream;
    if (packet->stream_index == video->index && video != s->stream && packet->dts != AV_NOPTS_VALUE)
        sound_clock_picture(&s->clock, container_us(video, packet->dts));
    if (packet->stream_index != s->stream->index || s->read_error.code != ERR_NONE)
        return;
    AVPacket *own = av_packet_alloc();
    if (!own) {
        err_memory(&s->read_error, sizeof *own);
        return;
    }
    av_packet_move_ref(own, packet);
    int64_t stored = own->pts != AV_NOPTS_VALUE ? own->pts : own->dts;
    int64_t lasts_us = container_us(s->stream, own->duration);
    int64_t time_us = sound_clock_at(
        &s->clock, stored == AV_NOPTS_VALUE ? TIME_NONE : container_us(s->stream, stored),
        lasts_us);
    own->pts = time_us == TIME_NONE ? AV_NOPTS_VALUE : time_us;
    own->dts = AV_NOPTS_VALUE;
    own->duration = lasts_us;
    add_packet(s, own);
}

/*
 * Returns from when on sound is dropped: an hour after the declared end of the film. Without one,
 * and if that is wrong, after SOUND_HOURS_MOST: silence up to a wrong time would be analysed, too.
 */
static int64_t most_us(const AVFormatContext *format, const struct film *film)
{
    const int64_t hour_us = INT64_C(3600000000), longest_us = SOUND_HOURS_MOST * hour_us;
    bool declared =
        format->duration > 0 && format->duration_estimation_method != AVFMT_DURATION_FROM_BITRATE;
    int64_t end_us = film_length_end(&film->length);
    if (film->length.source <= LENGTH_ESTIMATE || end_us > longest_us - hour_us || !declared ||
        format->duration > longest_us - hour_us)
        return longest_us;
    return (end_us > format->duration ? end_us : format->duration) + hour_us;
}

/* Opens the decoder. s->stream is set if it can decode. */
static bool open_decoder(struct sound_reading *s, const struct film *film, struct sound_job *job,
                         struct err *e)
{
    const AVFormatContext *format = s->demux->format;
    int64_t most = s->clock.most_us;
    int i = film->sound_stream;
    bool same = i >= 0 && i < (int)format->nb_streams &&
                format->streams[i]->codecpar->codec_type == AVMEDIA_TYPE_AUDIO;
    const AVStream *stream = same ? format->streams[i] : NULL;
    s->decoder = sound_decoder_open(stream, film->sound, film->path, most, job, e);
    if (s->decoder && sound_decoder_works(s->decoder))
        s->stream = stream;
    return s->decoder != NULL;
}

static bool start_thread(struct sound_reading *s, struct err *e)
{
    struct demux *r = s->demux;
    if (!s->stream)
        return true;
    s->batches = queue_open(BATCHES_MOST, drop_batch, e);
    if (!s->batches)
        return false;
    if (s->stream != r->stream)
        demux_select(r, s->stream->index);
    r->tap = on_packet;
    r->tap_user = s;
    if (watch_thread(&s->thread, decode_main, s) == 0)
        return true;
    queue_free(&s->batches);
    return err_set(e, ERR_MEMORY, "cannot start a decoding thread");
}

struct sound_reading *sound_reading_open(struct demux *r, const struct film *film,
                                         struct sound_job *job, struct err *e)
{
    struct sound_reading *s = err_calloc(1, sizeof *s, e);
    if (!s)
        return NULL;
    struct film_clock clock = demux_clock(r, film);
    int64_t first = r->stream->start_time;
    s->demux = r;
    s->clock = sound_clock_begin(
        clock.origin_us, first == AV_NOPTS_VALUE ? TIME_NONE : container_us(r->stream, first),
        clock.wraps, clock.frame_us);
    s->clock.most_us = most_us(r->format, film);
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    if (!open_decoder(s, film, job, e) || !start_thread(s, e))
        sound_reading_close(&s, false, NULL);
    return s;
}

bool sound_reading_rest(struct sound_reading *s, struct err *e)
{
    struct demux *r = s->demux;
    const struct demux before = *r;
    AVPacket *packet = s->stream ? av_packet_alloc() : NULL;
    if (!s->stream)
        return true;
    if (!packet)
        return err_memory(e, sizeof *packet);
    /* In other containers the times of pictures are needed (sound_clock.h). */
    if (r->quirks->index_is_mp4 && r->stream != s->stream)
        r->stream->discard = AVDISCARD_ALL;
    while (!interrupted() && demux_read(r, packet, e)) {
        on_packet(s, packet);
        av_packet_unref(packet);
    }
    av_packet_free(&packet);
    /* No picture is needed there. */
    r->gap = before.gap;
    r->failed = before.failed;
    return e->code == ERR_NONE && !interrupted();
}

bool sound_reading_close(struct sound_reading **reading, bool whole, struct err *e)
{
    struct sound_reading *s = *reading;
    if (!s)
        return true;
    if (s->batches) {
        s->demux->tap = NULL;
        if (whole)
            queue_batch(s);
        (whole ? queue_close : queue_abort)(s->batches);
        pthread_join(s->thread, NULL);
        drop_batch(s->batch);
        queue_free(&s->batches);
    }
    const struct err *error = s->error.code != ERR_NONE ? &s->error : &s->read_error;
    bool ok = error->code == ERR_NONE;
    if (!ok && e && e->code == ERR_NONE)
        *e = *error;
    if (ok && whole && !interrupted())
        ok = sound_decoder_finish(s->decoder, e);
    sound_decoder_free(&s->decoder);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    free(s);
    *reading = NULL;
    return ok;
}
