/*
 * frame_probe.c - facts that take decoding some frames: black bars, and the peak brightness.
 *
 * CROP_SAMPLES key frames show the shape of a film: a shape that fewer than CROP_QUORUM of them
 * have is not cropped. A key frame counts once, even if several seeks lead to it. A short film may
 * have one or two key frames: then some of the frames after the first one are sampled as well.
 */
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/mastering_display_metadata.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/interrupt.h"
#include "base/watch.h"
#include "media/container/open.h"
#include "media/decode/decoder.h"
#include "media/ffmpeg/packet.h"
#include "reader.h"

enum { CROP_SAMPLES = 24 };    /* places, spread evenly over the film */
enum { CROP_SAMPLES_FEW = 4 }; /* fewer different frames do not show the shape of a film */

/* Frames after a key frame: the maximum number, and the number of conclusive ones that suffices. */
enum { CROP_SAMPLES_MORE = 10, CROP_SAMPLES_ENOUGH = CROP_SAMPLES_FEW };

/* How to seek to a place. */
enum way { BY_TIME, BY_BYTE, NO_WAY };

/* The result at one place. */
struct sample {
    bool done; /* a frame was decoded, and is in `seen` */
    bool claimed;
    int64_t key; /* position of the key frame, once it is claimed */
    struct crop_seen seen;
};

/* Shared by all workers of a film. */
struct samples {
    const struct film *film;
    int requested;                 /* the video stream, as for container_open_parts */
    const AVFormatContext *opened; /* the film as the caller has it open, borrowed; or NULL */
    atomic_int next;               /* place */
    pthread_mutex_t lock;          /* guards each sample's `key` and `claimed` */
    /* By place; then the frames that follow the first key frame. */
    struct sample sample[CROP_SAMPLES + CROP_SAMPLES_MORE];
};

struct worker {
    struct samples *samples; /* borrowed */
    bool alone;              /* a key frame decodes without the packets after it */
    bool corrupt;            /* a packet of this sample was damaged */
    bool fresh;              /* the decoder is new */
    enum way way;
    AVFormatContext *format; /* NULL: not open */
    AVStream *stream;
    AVCodecContext *decoder;
    struct corruption_watch watch;
    struct av_log_counts logged; /* of demuxers */
    struct side_data side;
    AVPacket *packet;
    AVFrame *frame, *planes;
    uint32_t *room;
    struct err error; /* the first one */
};

/* packets: up to a key frame; from there to the first frame */
enum { KEY_WITHIN = 2000, OUT_WITHIN = 20 };
enum { APART = 12 }; /* packets from one sampled frame after it to the next */

/* Returns how to seek to a place. Most demuxers without an index read everything up to the time. */
static enum way choose_way(const struct worker *w)
{
    const struct container_quirks *quirks = container_quirks(w->format);
    const int64_t small = 64 << 20;
    if (!container_is_seekable(w->format))
        return NO_WAY;
    if (quirks->seeks_to_any_byte)
        return BY_BYTE;
    if (key_index_kind(w->format, w->samples->film) != KEY_INDEX_NONE)
        return BY_TIME;
    return quirks->seeks_by_bisection || avio_size(w->format->pb) <= small ? BY_TIME : NO_WAY;
}

/* Returns the first picture's stored time in microseconds. */
static int64_t start_us(const AVStream *s)
{
    return s->start_time != AV_NOPTS_VALUE
               ? av_rescale_q(s->start_time, s->time_base, AV_TIME_BASE_Q)
               : 0;
}

/* Seeks to `place` of CROP_SAMPLES. FFmpeg's concat crashes after a part that cannot be opened. */
static bool seek_place(struct worker *w, int place)
{
    if (w->samples->film->unopened[0] || w->logged.unopened[0])
        return false;
    const int64_t part = (int64_t)place * 2 + 1, parts = (int64_t)CROP_SAMPLES * 2;
    int64_t duration_us = w->samples->film->length.duration_us;
    if (w->way == BY_BYTE) {
        int64_t at = av_rescale(avio_size(w->format->pb), part, parts);
        return av_seek_frame(w->format, -1, at, AVSEEK_FLAG_BYTE) >= 0;
    }
    if (duration_us <= 0)
        return false;
    int64_t time = av_sat_add64(start_us(w->stream), av_rescale(duration_us, part, parts));
    int64_t stamp = av_rescale_q(time, AV_TIME_BASE_Q, w->stream->time_base);
    return av_seek_frame(w->format, w->stream->index, stamp, AVSEEK_FLAG_BACKWARD) >= 0;
}

/* Reads the next packet, with `key` of a key frame. Returns false if none is near. */
static bool next_packet(struct worker *w, bool key)
{
    for (int i = 0; i < KEY_WITHIN && !interrupted(); i++) {
        if (av_read_frame(w->format, w->packet) < 0)
            return false;
        bool video = w->packet->stream_index == w->stream->index && w->packet->size > 0;
        bool fits = !key || w->packet->flags & AV_PKT_FLAG_KEY;
        bool kept = !video || side_data_keep(&w->side, w->packet, key && fits, &w->error);
        if (video && fits && kept)
            return true;
        av_packet_unref(w->packet);
        if (!kept)
            return false;
    }
    return false;
}

static void sample_frame(struct worker *w, size_t index)
{
    struct frame_view view;
    bool whole = w->frame->width == w->samples->film->coded_width &&
                 w->frame->height == w->samples->film->coded_height;
    if (!whole || corruption_is_flagged(w->frame) ||
        !view_of_frame(w->frame, w->samples->film, &w->planes, &view, &w->error))
        return;
    w->samples->sample[index].seen = crop_sample_frame(&view, w->room);
    w->samples->sample[index].done = true;
}

/*
 * Sends a packet, or NULL to drain. Returns true if a frame was output. The frame is sampled if it
 * is intact. The missing parts of a damaged frame show earlier memory, which depends on this
 * thread's samples.
 */
static bool decode_packet(struct worker *w, const AVPacket *packet, size_t index)
{
    int code = decoder_send(w->decoder, packet);
    w->corrupt |= damage_found(&w->watch, code);
    if (code >= 0)
        code = decoder_receive(w->decoder, w->frame);
    if (code == AVERROR(ENOMEM))
        av_out_of_memory(w->samples->film->path, &w->error);
    if (code < 0)
        return false;
    if (!w->corrupt)
        sample_frame(w, index);
    av_frame_unref(w->frame);
    return true;
}

/* Samples a key frame and drains. Returns false without a frame, or if it may lack a field. */
static bool sample_key_alone(struct worker *w, size_t index)
{
    int code = decoder_send(w->decoder, w->packet);
    w->corrupt = damage_found(&w->watch, code);
    if (code >= 0)
        code = decoder_send(w->decoder, NULL);
    if (code >= 0)
        code = decoder_receive(w->decoder, w->frame);
    if (code == AVERROR(ENOMEM))
        av_out_of_memory(w->samples->film->path, &w->error);
    bool whole = code >= 0 && !w->corrupt && !av_compat_is_interlaced(w->frame);
    if (whole)
        sample_frame(w, index);
    if (w->error.code == ERR_NONE)
        avcodec_flush_buffers(w->decoder); /* the next packets follow if the frame is incomplete */
    av_frame_unref(w->frame);
    return whole || w->error.code != ERR_NONE;
}

/* Opens a new decoder for each sample: a flush would keep the headers of earlier ones. */
static bool open_decoder(struct worker *w)
{
    w->fresh = true;
    avcodec_free_context(&w->decoder);
    w->watch = (struct corruption_watch){0};
    w->decoder = decoder_open(w->stream, w->samples->film->path, 1, &w->error);
    if (w->decoder)
        corruption_watch_open(&w->watch, w->decoder);
    return w->decoder != NULL;
}

/* Claims the key frame at `at` for a sample. Returns false if another sample has it. */
static bool claim_key(struct worker *w, size_t index, int64_t at)
{
    bool first = true;
    pthread_mutex_lock(&w->samples->lock);
    for (int i = 0; i < CROP_SAMPLES; i++)
        first &= !w->samples->sample[i].claimed || w->samples->sample[i].key != at;
    w->samples->sample[index].claimed = true;
    w->samples->sample[index].key = at;
    pthread_mutex_unlock(&w->samples->lock);
    return first;
}

/* Samples the first frame from a place's key frame on, unless another sample has claimed it. */
static void sample_place(struct worker *w, int place)
{
    size_t index = (size_t)place;
    if (!seek_place(w, place) || !next_packet(w, true))
        return;
    int64_t key = w->packet->pos >= 0 ? w->packet->pos : w->packet->pts;
    bool claimed = claim_key(w, index, key) && (w->fresh || open_decoder(w));
    w->fresh = w->fresh && !claimed;
    if (!claimed || (w->alone && sample_key_alone(w, index))) {
        av_packet_unref(w->packet);
        return;
    }
    bool sampled = false, more = true;
    w->corrupt = false;
    for (int i = 0; i < OUT_WITHIN && more && !sampled && w->error.code == ERR_NONE; i++) {
        sampled = decode_packet(w, w->packet, index);
        av_packet_unref(w->packet);
        more = !sampled && next_packet(w, false);
    }
    av_packet_unref(w->packet);
    /* A decoder that ran out of memory is not used again: libavcodec 59 crashes. */
    if (!sampled && w->error.code == ERR_NONE)
        decode_packet(w, NULL, index);
}

/* Returns true if the frame shows the edges of one axis at least. */
static bool is_conclusive(const struct crop_seen *seen)
{
    return seen->across.known || seen->down.known;
}

/* Returns true if too few frames are conclusive, and more could make a rectangle. */
static bool needs_more(const struct worker *w)
{
    int conclusive = 0, suggested = 0, done = 0;
    for (int i = 0; i < CROP_SAMPLES + CROP_SAMPLES_MORE; i++) {
        const struct sample *sample = &w->samples->sample[i];
        conclusive += sample->done && is_conclusive(&sample->seen);
        suggested += sample->done && crop_suggests(&sample->seen);
        done += i >= CROP_SAMPLES && sample->done;
    }
    int left = CROP_SAMPLES_MORE - done, needed = CROP_SAMPLES_ENOUGH - conclusive;
    int more = left < needed ? left : needed;
    return more > 0 && suggested + more >= CROP_QUORUM;
}

/* Samples one of APART frames that are ready. Returns false if no more are needed or left. */
static bool sample_ready(struct worker *w, int64_t *due, size_t *index)
{
    int code;
    while ((code = decoder_receive(w->decoder, w->frame)) >= 0) {
        if (w->frame->pts >= *due && *index < CROP_SAMPLES + CROP_SAMPLES_MORE) {
            *due = w->frame->pts + APART;
            sample_frame(w, (*index)++);
        }
        av_frame_unref(w->frame);
        if (w->error.code != ERR_NONE || !needs_more(w))
            return false;
    }
    if (code == AVERROR(ENOMEM))
        av_out_of_memory(w->samples->film->path, &w->error);
    return code == AVERROR(EAGAIN);
}

/* Returns true if hvcC declares that the film has one temporal layer. */
static bool has_one_layer(const AVCodecParameters *par)
{
    enum { LAYERS = 21, HVCC = 23 };
    const uint8_t *hvcc = par->extradata;
    return hvcc && par->extradata_size >= HVCC && hvcc[0] == 1 && (hvcc[LAYERS] >> 3 & 7) == 1;
}

/* Returns which frames may be skipped. In HEVC, a higher layer may refer to non-references. */
static enum AVDiscard skippable_frames(const AVCodecParameters *par)
{
    if (par->codec_id == AV_CODEC_ID_HEVC && !has_one_layer(par))
        return AVDISCARD_DEFAULT;
    return AVDISCARD_NONREF;
}

/* Samples some frames after the first key frame, unless enough are conclusive or none helps. */
static void sample_more(struct worker *w)
{
    enum { SENT_MOST = CROP_SAMPLES_MORE * APART + 32 };
    int64_t sent = 0, due = APART - 1;
    size_t index = CROP_SAMPLES;
    side_data_free(&w->side);
    if (!needs_more(w) || !open_decoder(w) || !seek_place(w, 0) || !next_packet(w, true))
        return;
    decoder_widen_delay(w->decoder);
    w->decoder->skip_frame = skippable_frames(w->stream->codecpar);
    for (bool more = true; more;) {
        w->packet->pts = sent++;
        if (decoder_send(w->decoder, w->packet) == AVERROR(ENOMEM))
            av_out_of_memory(w->samples->film->path, &w->error);
        av_packet_unref(w->packet);
        if (w->error.code == ERR_MEMORY || !sample_ready(w, &due, &index))
            return;
        more = sent < SENT_MOST && next_packet(w, false);
    }
    if (decoder_send(w->decoder, NULL) == AVERROR(ENOMEM))
        av_out_of_memory(w->samples->film->path, &w->error);
    else
        sample_ready(w, &due, &index);
}

static bool open_film(struct worker *w)
{
    const AVFormatContext *opened = w->samples->opened;
    w->alone = opened && container_is_seekable(opened) &&
               container_quirks(opened)->has_complete_header &&
               container_open_again(w->samples->film, opened, &w->format, &w->error);
    if (w->alone)
        return true;
    container_close(&w->format); /* the header does not describe the stream: probe the file again */
    err_clear(&w->error);
    return container_reopen(w->samples->film, w->samples->requested, &w->format, &w->error);
}

static bool open_worker(struct worker *w)
{
    const struct film *film = w->samples->film;
    if (!open_film(w))
        return false;
    w->stream = w->format->streams[film->stream];
    w->way = choose_way(w);
    w->packet = av_packet_alloc();
    w->frame = av_frame_alloc();
    w->room = malloc(((size_t)film->coded_width + (size_t)film->coded_height) * sizeof *w->room);
    if (!w->packet || !w->frame || !w->room)
        return err_set(&w->error, ERR_MEMORY, "out of memory for crop detection");
    return open_decoder(w);
}

static void close_worker(struct worker *w)
{
    avcodec_free_context(&w->decoder);
    av_frame_free(&w->frame);
    av_frame_free(&w->planes);
    av_packet_free(&w->packet);
    side_data_free(&w->side);
    container_close(&w->format);
    free(w->room);
    w->room = NULL;
}

/* The main function of a thread: samples places until none is left. */
static void *worker_main(void *argument)
{
    struct worker *w = argument;
    int place;
    struct av_log_counts *before = av_log_listen(&w->logged);
    bool opened = open_worker(w) && w->way != NO_WAY;
    while (opened && w->error.code == ERR_NONE && !interrupted() &&
           (place = atomic_fetch_add(&w->samples->next, 1)) < CROP_SAMPLES)
        sample_place(w, place);
    av_log_listen(before);
    return NULL;
}

/* ------------------------------------------------------------------ all workers */

/* Returns the first error but of the film, which fails with a better message when decoded. */
static bool check_errors(const struct worker *worker, int count, struct err *e)
{
    if (interrupted())
        return interrupt_error(e);
    for (int i = 0; i < count; i++)
        if (worker[i].error.code == ERR_FAILED || worker[i].error.code == ERR_MEMORY) {
            *e = worker[i].error;
            return false;
        }
    return true;
}

/* Samples all places, on up to `count` threads. Returns the number of workers. */
static int run_workers(struct worker *worker, int count)
{
    pthread_t thread[PROBE_THREADS];
    int started = 0;
    while (started + 1 < count &&
           watch_thread(&thread[started], worker_main, &worker[started + 1]) == 0)
        started++;
    worker_main(&worker[0]);
    for (int i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
    return started + 1;
}

/* Collects the results of all samples that are done. Returns their number. */
static int collect_samples(const struct samples *samples, struct crop_seen *seen)
{
    int count = 0;
    for (int i = 0; i < CROP_SAMPLES + CROP_SAMPLES_MORE; i++)
        if (samples->sample[i].done)
            seen[count++] = samples->sample[i].seen;
    return count;
}

bool film_bars_probe(const struct film *film, int requested, const AVFormatContext *opened,
                     const struct probe_request *request, struct probe_facts *facts, struct err *e)
{
    struct samples samples = {
        .film = film, .requested = requested, .opened = opened, .lock = PTHREAD_MUTEX_INITIALIZER};
    struct worker worker[PROBE_THREADS];
    struct crop_seen seen[CROP_SAMPLES + CROP_SAMPLES_MORE];
    for (int i = 0; i < PROBE_THREADS; i++)
        worker[i] = (struct worker){.samples = &samples, .error = ERR_INIT};
    int count = request->threads < PROBE_THREADS ? request->threads : PROBE_THREADS;
    count = run_workers(worker, count);
    bool ok = check_errors(worker, count, e);
    int done = collect_samples(&samples, seen);
    if (ok && done > 0 && done < CROP_SAMPLES_FEW) {
        sample_more(&worker[0]);
        ok = check_errors(worker, 1, e);
        done = collect_samples(&samples, seen);
    }
    for (int i = 0; i < count; i++)
        close_worker(&worker[i]);
    if (!ok)
        return false;
    for (int i = 0; i < done; i++)
        facts->conclusive += is_conclusive(&seen[i]);
    facts->sampled = done;
    facts->crop = crop_find(seen, (size_t)done, film_frame_width(film), film_frame_height(film));
    facts->found |= PROBE_BARS;
    return true;
}

/* ------------------------------------------------------------------ the peak brightness */

/* HDR10's metadata (CTA-861.3): libavformat does not read those in SEI messages, as in MPEG-TS. */
static int peak_of_frame(const AVFrame *frame)
{
    const AVFrameSideData *content =
        av_frame_get_side_data(frame, AV_FRAME_DATA_CONTENT_LIGHT_LEVEL);
    const AVFrameSideData *display =
        av_frame_get_side_data(frame, AV_FRAME_DATA_MASTERING_DISPLAY_METADATA);
    return film_light_peak(content ? (const void *)content->data : NULL,
                           display ? (const void *)display->data : NULL);
}

/*
 * Decodes the first frame from the first key frame on, among the first `PACKETS` packets. The
 * metadata come with key frames. What precedes the first one, seconds of a recording, may still
 * decode to something. Returns false if there is no frame.
 */
static bool decode_first_frame(AVFormatContext *format, int stream, AVCodecContext *decoder,
                               AVPacket *packet, AVFrame *frame)
{
    enum { PACKETS = 1000 };
    bool key = false;
    for (int i = 0; i < PACKETS && !interrupted() && av_read_frame(format, packet) >= 0; i++) {
        bool video = packet->stream_index == stream && packet->size > 0;
        key |= video && packet->flags & AV_PKT_FLAG_KEY;
        bool output = video && key && decoder_send(decoder, packet) >= 0 &&
                      decoder_receive(decoder, frame) >= 0;
        av_packet_unref(packet);
        if (output)
            return true;
    }
    return decoder_send(decoder, NULL) >= 0 && decoder_receive(decoder, frame) >= 0;
}

/* Clears an error that decoding the film reports better. Returns true if it is another one. */
static bool must_report(struct err *e)
{
    if (e->code == ERR_FAILED || e->code == ERR_MEMORY || e->code == ERR_INTERRUPTED)
        return true;
    err_clear(e);
    return false;
}

bool film_light_probe(const struct film *film, int requested, struct probe_facts *facts,
                      struct err *e)
{
    AVFormatContext *format = NULL;
    struct corruption_watch watch = {0};
    AVCodecContext *decoder = NULL;
    AVPacket *packet = av_packet_alloc();
    AVFrame *frame = av_frame_alloc();
    if (!packet || !frame)
        err_set(e, ERR_MEMORY, "out of memory to probe '%s'", film->path);
    else if (container_reopen(film, requested, &format, e))
        decoder = decoder_open(format->streams[film->stream], film->path, 1, e);
    bool ok = decoder != NULL;
    if (ok) {
        corruption_watch_open(&watch, decoder);
        if (decode_first_frame(format, film->stream, decoder, packet, frame))
            facts->peak = peak_of_frame(frame);
    }
    avcodec_free_context(&decoder);
    av_frame_free(&frame);
    av_packet_free(&packet);
    container_close(&format);
    if (ok && interrupted())
        ok = interrupt_error(e);
    facts->found |= ok ? PROBE_LIGHT : 0;
    return ok || !must_report(e);
}
