/*
 * sound_decoder.c - decodes a stream of sound on threads of its own.
 *
 *   sound_decoder_put --segments--> [queue] --> decoder --frames--> [queue] --> sound_maker
 *                               +-> [queue] --> decoder --frames--> [queue] -+
 *
 * The packets are cut into segments. Where the codec allows it (is_apart), each segment has a
 * decoder of its own, which gets the packets before it first, and some are decoded at the same
 * time: NVDEC decodes pictures faster than a thread sound. So what is decoded depends on no thread.
 */
#include "sound_reading.h"

#include <libavutil/channel_layout.h>
#include <libavutil/mathematics.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "barcode/base/queue.h"
#include "base/watch.h"
#include "barcode/engine/engine.h"
#include "barcode/sound/peaks.h"

enum {
    LANES_MOST = 4,
    RATE_MOST = 768000,
    FRAME_SAMPLES_MOST = 1 << 23, /* of all channels in a frame */
    BATCH = 16,                   /* frames: waking a thread costs as much as a frame */
    BATCH_SAMPLES = 1 << 18
};

struct batch {
    AVFrame *frame[BATCH];
    size_t count, samples;
    bool last; /* of its segment */
};

struct sound_codec {
    const char *path; /* of the film */
    const AVCodecParameters *par;
    const AVCodec *codec; /* NULL: the stream cannot be decoded */
    /*
     * A new decoder gives the same samples after some packets, except for the noise that it makes
     * up. So segments of the stream can be decoded at the same time.
     */
    bool apart;
};

enum {
    APART = 256, /* packets of a segment that has a decoder of its own */
    LEAD = 8,    /* packets before it, of up to SEGMENT_BYTES, which that decoder gets first */
    /* Waking a thread for each packet would slow down the pictures' decoders. */
    TOGETHER = 32,
    SEGMENT_BYTES = 1 << 20,
    SEGMENTS_MOST = 16,  /* in a queue */
    BYTES_MOST = 8 << 20 /* of all segments; one always may be under way */
};

struct segment {
    AVPacket *packet[1 + LEAD + APART];
    size_t lead, count; /* count: with those of the lead */
    size_t bytes;       /* without them */
};

struct decode_lane {
    struct sound_decoder *decoder;
    struct queue *segments, *batches; /* to its thread, and from it */
    struct batch *batch;              /* that is being filled, or NULL */
    pthread_t thread;
    bool running;
    AVCodecContext *context; /* NULL: none is open */
    AVFrame *frame;
    uint64_t errors; /* packets that cannot be decoded */
    struct err error;
};

struct sound_decoder {
    struct sound_job *job;
    struct sound_codec codec;
    struct film_sound about;     /* the fields of the stream */
    struct sound_device *device; /* NULL: the processor analyses the sound */
    struct sound_maker *maker;
    int lanes; /* 0: the stream cannot be decoded */
    struct decode_lane lane[LANES_MOST];
    /* Of the thread that passes frames on to the maker: analysing takes as long as decoding. */
    pthread_t thread;
    bool running, begun;     /* begun: `about` has rate, channels and layout of the first frame */
    int64_t end_us, most_us; /* end_us: of the sound so far */
    int16_t *samples;        /* of a frame */
    size_t room;             /* in `samples` */
    struct err error;
    AVPacket *header;        /* the last one (is_header), or NULL */
    struct segment *segment; /* that is being filled, or NULL */
    int next;                /* the lane that gets it */
    pthread_mutex_t lock;    /* guards the next two */
    pthread_cond_t changed;
    size_t bytes; /* of the segments that are queued or being decoded */
    bool ended;   /* a thread takes no more */
};

/* ---- Frames: batches of segment i come from lane i % lanes ---- */

static void drop_batch(void *item)
{
    struct batch *b = item;
    for (size_t i = 0; b && i < b->count; i++)
        av_frame_free(&b->frame[i]);
    free(b);
}

static void describe_sound(struct film_sound *s, int rate, const AVChannelLayout *layout)
{
    s->rate = rate > 0 ? rate : 0;
    s->channels = layout->nb_channels;
    if (av_channel_layout_describe(layout, s->layout, sizeof s->layout) < 0)
        s->layout[0] = 0;
    s->layout[sizeof s->layout - 1] = 0;
}

/* Returns true for a frame of a format, rate and number of channels that can be passed on. */
static bool is_usable(const AVFrame *f)
{
    int channels = f->ch_layout.nb_channels;
    if (channels <= 0 || channels > SOUND_CHANNELS_MOST)
        return false;
    if (f->nb_samples <= 0 || f->nb_samples > FRAME_SAMPLES_MOST / channels)
        return false;
    bool rate_ok = f->sample_rate > 0 && f->sample_rate <= RATE_MOST;
    return rate_ok && samples_known((enum AVSampleFormat)f->format);
}

/* Passes the block on up to the film's end, in parts: a frame of 1 Hz may last for days. */
static bool push_parts(struct sound_decoder *s, struct sound_block b, struct err *e)
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

static bool push_frame(struct sound_decoder *s, const AVFrame *f, struct err *e)
{
    int channels = f->ch_layout.nb_channels;
    struct sound_block block = {.frames = (size_t)f->nb_samples,
                                .channels = channels,
                                .rate = f->sample_rate,
                                .mask = samples_mask(&f->ch_layout),
                                .time_us = f->pts == AV_NOPTS_VALUE ? INT64_MIN : f->pts};
    size_t count = block.frames * (size_t)channels;
    if (!s->begun)
        describe_sound(&s->about, f->sample_rate, &f->ch_layout);
    s->begun = true;
    if (!err_reserve(&s->samples, count, &s->room, sizeof *s->samples, e))
        return false;
    samples_convert(f, channels, s->samples);
    block.sample = s->samples;
    return push_parts(s, block, e);
}

static void abort_frames(struct sound_decoder *d)
{
    for (int i = 0; i < d->lanes; i++)
        if (d->lane[i].batches)
            queue_abort(d->lane[i].batches);
}

/* Passes batches on until the queue of the next one is closed and empty, or aborted. */
static void *frames_main(void *argument)
{
    struct sound_decoder *d = argument;
    void *item;
    int lane = 0;
    bool ok = true;
    while (ok && !interrupted() && queue_pop(d->lane[lane].batches, &item)) {
        struct batch *b = item;
        for (size_t i = 0; ok && i < b->count; i++)
            ok = push_frame(d, b->frame[i], &d->error);
        lane = b->last ? (lane + 1) % d->lanes : lane;
        drop_batch(b);
    }
    abort_frames(d); /* nobody waits for this thread any more */
    return NULL;
}

/* Returns the lane's batch, or NULL if out of memory. */
static struct batch *fill_batch(struct decode_lane *l)
{
    if (!l->batch)
        l->batch = err_calloc(1, sizeof *l->batch, &l->error);
    return l->batch;
}

/* Queues the frames so far. */
static bool queue_batch(struct decode_lane *l)
{
    struct batch *b = l->batch;
    l->batch = NULL;
    if (b && !queue_push(l->batches, b)) {
        drop_batch(b);
        return false;
    }
    return true;
}

/*
 * Queues l->frame, which is usable; its pts is the player's time in microseconds or AV_NOPTS_VALUE.
 * Returns false on l->error; and without one after an error of the thread.
 */
static bool queue_frame(struct decode_lane *l)
{
    struct batch *b = fill_batch(l);
    AVFrame *moved = b ? av_frame_alloc() : NULL;
    if (!moved)
        return err_memory(&l->error, sizeof *moved);
    av_frame_move_ref(moved, l->frame);
    b->frame[b->count++] = moved;
    b->samples += (size_t)moved->nb_samples * (size_t)moved->ch_layout.nb_channels;
    return (b->count < BATCH && b->samples < BATCH_SAMPLES) || queue_batch(l);
}

/* ---- Which decoder a stream gets ---- */

enum { SAMPLES_MOST = 1 << 22 }; /* of a channel in a frame */

/* HE-AAC, which may be declared as AAC-LC of up to half of 48 kHz, takes longer to begin. */
enum { AAC_RATE_LEAST = 32000 };

/* Decoders that compute with integers: the same samples everywhere. DTS does by BITEXACT. */
static const struct {
    enum AVCodecID codec;
    const char *decoder;
} exact[] = {{AV_CODEC_ID_AAC, "aac_fixed"},
             {AV_CODEC_ID_AC3, "ac3_fixed"},
             {AV_CODEC_ID_MP1, "mp1"},
             {AV_CODEC_ID_MP2, "mp2"},
             {AV_CODEC_ID_MP3, "mp3"}};

static const AVCodec *exact_decoder(enum AVCodecID codec)
{
    for (size_t i = 0; i < sizeof exact / sizeof *exact; i++)
        if (exact[i].codec == codec)
            return avcodec_find_decoder_by_name(exact[i].decoder);
    return NULL;
}

/*
 * Returns a decoder; NULL on failure, with `e` if out of memory. The caller frees it. `first`: it
 * gets the stream's first packets, and skips what the container declares as padding.
 */
static AVCodecContext *open_codec(const struct sound_codec *codec, bool first, struct err *e)
{
    AVCodecContext *c = codec->codec ? avcodec_alloc_context3(codec->codec) : NULL;
    int code = AVERROR_DECODER_NOT_FOUND;
    if (codec->codec)
        code = c ? avcodec_parameters_to_context(c, codec->par) : AVERROR(ENOMEM);
    if (code >= 0) {
        c->pkt_timebase = AV_TIME_BASE_Q;
        c->flags |= AV_CODEC_FLAG_BITEXACT;
        c->thread_count = 1;
        c->max_samples = SAMPLES_MOST;
        if (!first) /* from FFmpeg 8 on decoders skip this */
            c->initial_padding = c->delay = 0;
        code = avcodec_open2(c, codec->codec, NULL);
    }
    if (code == AVERROR(ENOMEM))
        av_out_of_memory(codec->path, e);
    if (code < 0)
        avcodec_free_context(&c);
    return c;
}

static bool can_open(const struct sound_codec *codec, struct err *e)
{
    AVCodecContext *c = open_codec(codec, true, e);
    bool opened = c != NULL;
    avcodec_free_context(&c);
    return opened;
}

static bool is_apart(const AVCodecParameters *par)
{
    return par->codec_id == AV_CODEC_ID_AC3 ||
           (par->codec_id == AV_CODEC_ID_AAC && par->profile == AV_PROFILE_AAC_LOW &&
            par->sample_rate >= AAC_RATE_LEAST);
}

/* Returns true if the packet, with a header of ADTS or not, begins with a layout of channels. */
static bool has_layout(const AVPacket *p)
{
    enum { ID_PCE = 5, ADTS = 7, CRC = 2 };
    bool adts = p->size > ADTS + CRC && p->data[0] == 0xff && (p->data[1] & 0xf6) == 0xf0;
    bool has_crc = adts && !(p->data[1] & 1);
    int at = (adts ? ADTS : 0) + (has_crc ? CRC : 0);
    return p->size > at && p->data[at] >> 5 == ID_PCE;
}

/* Returns true for a header that later packets need, or AAC's layout, which FFmpeg writes once. */
static bool is_header(const struct sound_codec *c, const AVPacket *packet)
{
    return av_packet_get_side_data(packet, AV_PKT_DATA_NEW_EXTRADATA, NULL) ||
           (c->par->codec_id == AV_CODEC_ID_AAC && has_layout(packet));
}

/* Sets *c to the exact decoder, else libavcodec's choice, or none. Returns false without memory. */
static bool choose_codec(const AVCodecParameters *par, const char *path, struct sound_codec *c,
                         struct err *e)
{
    *c = (struct sound_codec){
        .path = path, .par = par, .codec = exact_decoder(par->codec_id), .apart = is_apart(par)};
    if (can_open(c, e) || e->code != ERR_NONE)
        return e->code == ERR_NONE;
    c->codec = avcodec_find_decoder(par->codec_id);
    if (!can_open(c, e))
        c->codec = NULL;
    return e->code == ERR_NONE;
}

/* ---- The decoder ---- */

static void drop_segment(void *item)
{
    struct segment *s = item;
    for (size_t i = 0; s && i < s->count; i++)
        av_packet_free(&s->packet[i]);
    free(s);
}

/* ------------------------------------------------------------------ a lane's thread */

/* Passes on what the decoder has, or drops it. Sets *damaged if it reports an error. */
static bool receive_frames(struct decode_lane *l, bool drop, bool *damaged)
{
    enum { ERRORS_MAX = 1000 }; /* a decoder that always fails must not hang */
    for (int errors = 0; errors < ERRORS_MAX;) {
        int code = avcodec_receive_frame(l->context, l->frame);
        if (code == AVERROR(ENOMEM))
            return av_out_of_memory(l->decoder->codec.path, &l->error);
        if (code == AVERROR(EAGAIN) || code == AVERROR_EOF)
            return true;
        bool usable = code >= 0 && is_usable(l->frame);
        errors += code < 0;
        *damaged |= !usable;
        bool ok = !usable || drop || queue_frame(l);
        av_frame_unref(l->frame);
        if (!ok)
            return false;
    }
    return true;
}

/* Decodes a packet, or with NULL what the decoder still has. Those of a lead are not counted. */
static bool decode_packet(struct decode_lane *l, const AVPacket *packet, bool lead)
{
    if (packet && av_packet_get_side_data(packet, AV_PKT_DATA_ENCRYPTION_INFO, NULL)) {
        l->errors += !lead;
        return true;
    }
    int code = avcodec_send_packet(l->context, packet);
    if (code == AVERROR(ENOMEM))
        return av_out_of_memory(l->decoder->codec.path, &l->error);
    bool damaged = packet && code < 0;
    bool ok = receive_frames(l, lead, &damaged);
    l->errors += damaged && !lead;
    return ok;
}

static bool decode_segment(struct decode_lane *l, const struct segment *s)
{
    struct sound_decoder *d = l->decoder;
    if (!l->context)
        l->context = open_codec(&d->codec, s->lead == 0, &l->error);
    if (!l->context)
        return err_set(&l->error, ERR_FAILED, "cannot open the decoder of the sound again");
    for (size_t i = 0; i < s->count; i++)
        if (interrupted() || !decode_packet(l, s->packet[i], i < s->lead))
            return false;
    if (!d->codec.apart)
        return true;
    /* the next segment is in the next lane */
    bool ok = decode_packet(l, NULL, false) && fill_batch(l);
    avcodec_free_context(&l->context);
    if (ok)
        l->batch->last = true;
    return ok && queue_batch(l);
}

/* Records that `bytes` bytes are decoded, or that no more segments are taken. */
static void signal_reader(struct sound_decoder *d, size_t bytes, bool ended)
{
    pthread_mutex_lock(&d->lock);
    d->bytes -= bytes;
    d->ended |= ended;
    pthread_cond_signal(&d->changed);
    pthread_mutex_unlock(&d->lock);
}

/* Decodes segments until the queue is closed and empty, or aborted. */
static void *lane_main(void *argument)
{
    struct decode_lane *l = argument;
    void *item;
    bool ok = true;
    while (ok && queue_pop(l->segments, &item)) {
        struct segment *s = item;
        size_t bytes = s->bytes;
        ok = decode_segment(l, s);
        drop_segment(s);
        signal_reader(l->decoder, bytes, false);
    }
    if (ok && l->context)
        decode_packet(l, NULL, false);
    queue_batch(l);
    queue_close(l->batches);
    queue_abort(l->segments); /* drops what is left */
    signal_reader(l->decoder, 0, true);
    return NULL;
}

/* ------------------------------------------------------------------ opening */

/* Opens the queues and starts the threads. A lane has room for a segment of frames. */
static bool open_lanes(struct sound_decoder *d, struct err *e)
{
    d->lanes = d->codec.apart ? LANES_MOST : 1;
    size_t ahead = d->codec.apart ? APART : 0;
    for (int i = 0; i < d->lanes; i++) {
        struct decode_lane *l = &d->lane[i];
        l->decoder = d;
        l->frame = av_frame_alloc();
        l->segments = queue_open(SEGMENTS_MOST, drop_segment, e);
        l->batches = queue_open(ahead / BATCH + 3, drop_batch, e);
        if (!l->frame || !l->segments || !l->batches)
            return err_memory(e, sizeof *l->frame);
    }
    d->running = watch_thread(&d->thread, frames_main, d) == 0;
    bool ok = d->running;
    for (int i = 0; ok && i < d->lanes; i++)
        ok = d->lane[i].running = watch_thread(&d->lane[i].thread, lane_main, &d->lane[i]) == 0;
    return ok || err_set(e, ERR_MEMORY, "cannot start a decoding thread");
}

static bool describe_stream(struct sound_decoder *d, const AVStream *s, const char *path,
                            struct err *e)
{
    const AVCodecParameters *par = s->codecpar;
    snprintf(d->about.codec, sizeof d->about.codec, "%s", avcodec_get_name(par->codec_id));
    describe_sound(&d->about, par->sample_rate, &par->ch_layout);
    if (!choose_codec(par, path, &d->codec, e))
        return false;
    if (d->codec.codec)
        snprintf(d->about.decoder, sizeof d->about.decoder, "%s", d->codec.codec->name);
    return true;
}

struct sound_decoder *sound_decoder_open(const AVStream *s, int number, const char *path,
                                         int64_t most_us, struct sound_job *job, struct err *e)
{
    struct sound_decoder *d = err_calloc(1, sizeof *d, e);
    if (!d)
        return NULL;
    d->job = job;
    d->about.stream = s ? number : -1;
    d->most_us = most_us;
    pthread_mutex_init(&d->lock, NULL);
    pthread_cond_init(&d->changed, NULL);
    if (job->engine)
        d->device = engine_sound(job->engine, e);
    if (e->code == ERR_NONE)
        d->maker = sound_maker_open(job->isa, d->device, job->tap, job->tap_user, e);
    bool ok = d->maker != NULL;
    if (ok && s)
        ok = describe_stream(d, s, path, e);
    if (ok && d->codec.codec)
        ok = open_lanes(d, e);
    if (!ok) {
        if (e->code == ERR_NONE)
            err_set(e, ERR_MEMORY, "out of memory for the sound of '%s'", path);
        sound_decoder_close(&d, false, NULL);
    }
    return d;
}

bool sound_decoder_works(const struct sound_decoder *d) { return d->codec.codec != NULL; }

/* ------------------------------------------------------------------ the reader's thread */

static bool add_lead(struct segment *s, const AVPacket *packet)
{
    AVPacket *copy = av_packet_clone(packet);
    if (copy)
        s->packet[s->lead++] = copy;
    s->count = s->lead;
    return copy != NULL;
}

/* Begins a segment with the last packets of the one before, or NULL. */
static bool begin_segment(struct sound_decoder *d, const struct segment *before, struct err *e)
{
    struct segment *s = d->segment = err_calloc(1, sizeof *s, e);
    size_t count = before && d->codec.apart ? before->count : 0, first = count, bytes = 0;
    while (first > 0 && count - first < LEAD) {
        bytes += (size_t)before->packet[first - 1]->size;
        if (bytes > SEGMENT_BYTES)
            break;
        first--;
    }
    bool ok = s != NULL;
    if (ok && count > 0 && d->header)
        ok = add_lead(s, d->header);
    for (size_t i = first; ok && i < count; i++)
        ok = add_lead(s, before->packet[i]);
    if (!ok)
        return err_memory(e, sizeof(AVPacket));
    return true;
}

/* Keeps the last packet that later decoders need. */
static bool keep_header(struct sound_decoder *d, const AVPacket *packet, struct err *e)
{
    if (!d->codec.apart || !is_header(&d->codec, packet))
        return true;
    av_packet_free(&d->header);
    d->header = av_packet_clone(packet);
    if (!d->header)
        return err_memory(e, sizeof *packet);
    /* What is cut off after it, such as a film's beginning, is not cut off again. */
    size_t size = 0;
    uint8_t *skip = av_packet_get_side_data(d->header, AV_PKT_DATA_SKIP_SAMPLES, &size);
    if (skip)
        memset(skip, 0, size);
    return true;
}

/* Waits for room, and queues a segment. Drops it if the threads take no more. */
static void queue_segment(struct sound_decoder *d, struct segment *s)
{
    pthread_mutex_lock(&d->lock);
    while (!d->ended && d->bytes > 0 && d->bytes + s->bytes > BYTES_MOST)
        pthread_cond_wait(&d->changed, &d->lock);
    d->bytes += s->bytes;
    pthread_mutex_unlock(&d->lock);
    if (!queue_push(d->lane[d->next].segments, s))
        drop_segment(s);
    d->next = (d->next + 1) % d->lanes;
}

bool sound_decoder_put(struct sound_decoder *d, AVPacket *packet, struct err *e)
{
    const size_t most = d->codec.apart ? APART : TOGETHER;
    if (!sound_decoder_works(d))
        return true;
    if (!keep_header(d, packet, e) || (!d->segment && !begin_segment(d, NULL, e)))
        return false;
    AVPacket *moved = av_packet_alloc();
    if (!moved)
        return err_memory(e, sizeof *moved);
    struct segment *s = d->segment;
    av_packet_move_ref(moved, packet);
    s->packet[s->count++] = moved;
    s->bytes += (size_t)moved->size;
    if (s->count - s->lead < most && s->bytes < SEGMENT_BYTES)
        return true;
    bool ok = begin_segment(d, s, e);
    queue_segment(d, s);
    return ok;
}

/* ------------------------------------------------------------------ closing */

/* Keeps the first error in `e`, which may be NULL. Returns false if there is one. */
static bool check_thread(const struct err *thread, struct err *e)
{
    if (thread->code != ERR_NONE && e && e->code == ERR_NONE)
        *e = *thread;
    return thread->code == ERR_NONE;
}

/* Waits for the threads. Returns false on an error of theirs. */
static bool end_lanes(struct sound_decoder *d, bool whole, struct err *e)
{
    bool ok = true;
    for (int i = 0; i < d->lanes; i++)
        if (d->lane[i].segments && whole)
            queue_close(d->lane[i].segments);
        else if (d->lane[i].segments)
            queue_abort(d->lane[i].segments);
    for (int i = 0; i < d->lanes; i++) {
        struct decode_lane *l = &d->lane[i];
        if (l->running)
            pthread_join(l->thread, NULL);
        d->about.errors += l->errors;
        ok &= check_thread(&l->error, e);
    }
    if (!whole)
        abort_frames(d);
    if (d->running)
        pthread_join(d->thread, NULL);
    return check_thread(&d->error, e) && ok;
}

static bool finish_sound(struct sound_decoder *d, struct err *e)
{
    struct film_sound sound = d->about;
    if (!sound_maker_finish(d->maker, &sound, e))
        return false;
    d->job->sound = sound;
    d->job->done = true;
    return true;
}

bool sound_decoder_close(struct sound_decoder **decoder, bool whole, struct err *e)
{
    struct sound_decoder *d = *decoder;
    if (!d)
        return true;
    if (whole && d->segment && d->segment->count > d->segment->lead) {
        queue_segment(d, d->segment);
        d->segment = NULL;
    }
    bool ok = end_lanes(d, whole, e);
    if (ok && whole && !interrupted())
        ok = finish_sound(d, e);
    for (int i = 0; i < d->lanes; i++) {
        avcodec_free_context(&d->lane[i].context);
        av_frame_free(&d->lane[i].frame);
        drop_batch(d->lane[i].batch);
        queue_free(&d->lane[i].segments);
        queue_free(&d->lane[i].batches);
    }
    free(d->samples);
    drop_segment(d->segment);
    av_packet_free(&d->header);
    sound_maker_free(&d->maker);
    if (d->device)
        d->device->close(&d->device);
    pthread_cond_destroy(&d->changed);
    pthread_mutex_destroy(&d->lock);
    free(d);
    *decoder = NULL;
    return ok;
}
