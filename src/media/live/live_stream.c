/*
 * live_stream.c - a source that libavformat reads: a stream of the network, a device, a pipe.
 *
 *   reader thread: av_read_frame -> packets -> run's thread: decode -> sink
 */
#include <assert.h>
#include <libavformat/avformat.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "live_decode.h"
#include "live_input.h"
#include "live_packets.h"
#include "live_split.h"
#include "live_url.h"
#include "media/container/refusal.h"
#include "media/container/stream_select.h"
#include "media/ffmpeg/libav.h"
#include "media/ffmpeg/av_log.h"
#include "barcode/base/clock.h"
#include "base/watch.h"
#include "media/ffmpeg/stream_name.h"

struct stream {
    struct live_source base;
    struct live_options o;
    struct live_url url;
    atomic_bool stop;
    /* of the current run */
    atomic_int_fast64_t moved_ns; /* when the last packet came, or the run began */
    atomic_bool leaving;          /* the decoder has failed */
    AVFormatContext *format;
    struct live_input *input; /* NULL: libavformat opens it */
    struct live_split *split; /* NULL: libavformat's packets are pictures */
    int video;
    int64_t first_ns, first_us; /* paced: when the first packet came, and its time */
    struct live_packets *packets;
    struct live_decode *decode;
    struct err error; /* of the reader; read after it has ended */
};

static bool fits(const char *name)
{
    (void)name;
    return true;
}

static struct live_source *open_stream(const struct live_options *o, struct err *e)
{
    struct stream *s = err_calloc(1, sizeof *s, e);
    if (!s)
        return NULL;
    s->base.kind = &live_stream;
    s->o = *o;
    s->o.label = o->label ? o->label : o->name;
    if (live_url_parse(o->name, &s->url, e) && stream_name_remember(o->name, e))
        return &s->base;
    free(s);
    return NULL;
}

static bool is_silent(const struct stream *s)
{
    return clock_ns() - atomic_load(&s->moved_ns) > s->o.timeout_us * 1000;
}

/* Implements AVIOInterruptCB. */
static int must_end(void *user)
{
    const struct stream *s = user;
    watch_moved(); /* of run's thread, while it connects */
    return atomic_load(&s->stop) || atomic_load(&s->leaving) || is_silent(s);
}

static bool refuse(const struct stream *s, int code, struct err *e)
{
    char text[128];
    if (code == AVERROR(ENOMEM))
        return av_out_of_memory(s->o.label, e);
    if (is_silent(s))
        return err_set(e, ERR_FAILED, "no packet for %g s", (double)s->o.timeout_us / 1e6);
    return err_set(e, ERR_FAILED, "%s",
                   code == AVERROR_EOF ? "it ended" : av_error_text(code, text));
}

/* Returns true if stdin was read to its end, which no other run can go on with. */
static bool is_over(const struct stream *s)
{
    return s->input && strcmp(s->o.name, "-") == 0 && live_input_ended(s->input);
}

/* ------------------------------------------------------------------ connecting */

/* Opens the input if the program reads it. */
static bool open_input(struct stream *s, AVDictionary **options, struct err *e)
{
    const AVIOInterruptCB stop = {must_end, s};
    AVDictionary *own = NULL;
    int code = 0;
    if (!s->url.bytes)
        return true;
    av_dict_copy(&own, *options, 0);
    s->input = live_input_open(s->url.path, stop, &own, &code, e);
    av_dict_free(&own);
    return s->input || e->code != ERR_NONE ? s->input != NULL : refuse(s, code, e);
}

/* Opens the container; `options` are used up. */
static int open_container(struct stream *s, AVDictionary **options)
{
    AVFormatContext *format = avformat_alloc_context();
    if (!format)
        return AVERROR(ENOMEM);
    format->interrupt_callback = (AVIOInterruptCB){must_end, s};
    format->max_streams = STREAMS_MOST;
    if (s->input) {
        format->pb = live_input_context(s->input);
        format->flags |= AVFMT_FLAG_CUSTOM_IO;
    }
    const AVInputFormat *demuxer = s->url.demuxer ? av_find_input_format(s->url.demuxer) : NULL;
    int code = avformat_open_input(&format, s->input ? "" : s->url.path, demuxer, options);
    s->format = code >= 0 ? format : NULL;
    return code;
}

static bool open_format(struct stream *s, struct err *e)
{
    AVDictionary *options = NULL;
    int code = live_url_options(&s->url, &options);
    watch_untimed(true); /* the resolver of host names may need longer than s->o.timeout_us */
    bool ok = code >= 0 && open_input(s, &options, e);
    if (ok)
        code = open_container(s, &options);
    watch_untimed(false);
    av_dict_free(&options);
    return code >= 0 ? ok : refuse(s, code, e);
}

/*
 * Returns true if the container's header told the only video stream: the rest comes with the first
 * frame. Probing would hold back a second of it.
 */
static bool is_known(const AVFormatContext *format)
{
    unsigned video = 0, known = 0;
    for (unsigned i = 0; i < format->nb_streams; i++) {
        const AVCodecParameters *par = format->streams[i]->codecpar;
        video += par->codec_type == AVMEDIA_TYPE_VIDEO;
        known += par->codec_type == AVMEDIA_TYPE_VIDEO && par->codec_id != AV_CODEC_ID_NONE;
    }
    return video == 1 && known == 1;
}

static bool choose_stream(struct stream *s, struct err *e)
{
    int code = is_known(s->format) ? 0 : avformat_find_stream_info(s->format, NULL);
    if (code < 0 || must_end(s))
        return refuse(s, code < 0 ? code : AVERROR_EXIT, e);
    s->video = film_stream_choose(s->format, s->o.stream, s->o.label, e);
    if (s->video < 0)
        return false;
    for (unsigned i = 0; i < s->format->nb_streams; i++)
        s->format->streams[i]->discard = (int)i == s->video ? AVDISCARD_DEFAULT : AVDISCARD_ALL;
    return true;
}

static bool connect_stream(struct stream *s, struct err *e)
{
    av_log_install();
    atomic_store(&s->moved_ns, clock_ns());
    atomic_store(&s->leaving, false);
    s->first_ns = 0;
    err_clear(&s->error);
    if (!open_format(s, e))
        return false;
    assert(s->format);
    bool ts = s->input && strcmp(s->format->iformat->name, "mpegts") == 0;
    if (ts) /* live_split.h is the parser */
        s->format->flags |= AVFMT_FLAG_NOPARSE | AVFMT_FLAG_NOFILLIN;
    if (!choose_stream(s, e))
        return false;
    const AVStream *video = s->format->streams[s->video];
    s->url.paced = strcmp(s->format->iformat->name, "hls") == 0;
    if (ts) {
        live_input_pause_after(s->input, video->id);
        s->split = live_split_open(video, e);
        if (!s->split)
            return false;
    }
    s->packets = live_packets_open(e);
    s->decode =
        s->packets ? live_decode_open(s->format->streams[s->video], s->o.label, &s->o, e) : NULL;
    return s->decode != NULL;
}

static void disconnect(struct stream *s)
{
    live_decode_close(&s->decode);
    live_packets_free(&s->packets);
    live_split_close(&s->split);
    avformat_close_input(&s->format);
    live_input_close(&s->input);
}

/* ------------------------------------------------------------------ reading */

/*
 * Waits until a packet of a playlist is due: its segments arrive as a whole, and a player shows
 * their pictures in the course of time. Returns when it was due.
 */
static int64_t wait_until_due(struct stream *s, const AVPacket *packet)
{
    const int64_t leap_us = 60000000, moment_ns = 20000000;
    int64_t time = packet->dts != AV_NOPTS_VALUE ? packet->dts : packet->pts, now = clock_ns();
    int64_t us = av_rescale_q(time, s->format->streams[s->video]->time_base, AV_TIME_BASE_Q);
    if (time == AV_NOPTS_VALUE)
        return now;
    int64_t wait_us = av_sat_sub64(av_sat_sub64(us, s->first_us), (now - s->first_ns) / 1000);
    if (s->first_ns == 0 || wait_us > leap_us || wait_us < -leap_us) {
        s->first_ns = now;
        s->first_us = us;
        wait_us = 0;
    }
    const int64_t due = now + wait_us * 1000;
    while ((now = clock_ns()) < due && !must_end(s)) {
        int64_t left = due - now < moment_ns ? due - now : moment_ns;
        nanosleep(&(struct timespec){.tv_nsec = (long)left}, NULL);
        atomic_store(&s->moved_ns, clock_ns());
    }
    return due;
}

/* Queues a picture, and lets go of its packet. */
static int queue_picture(struct stream *s, AVPacket *picture, int64_t arrived)
{
    if (!s->o.keyframes || picture->flags & AV_PKT_FLAG_KEY)
        return live_packets_put(s->packets, picture, arrived, &s->error) ? 0 : AVERROR(ENOMEM);
    av_packet_unref(picture);
    return 0;
}

/* Queues the pictures of a packet, and lets go of it. */
static int queue_packet(struct stream *s, AVPacket *packet, AVPacket *picture)
{
    int64_t arrived = s->input ? live_input_arrived(s->input) : clock_ns();
    int code = 0;
    if (s->url.paced)
        arrived = wait_until_due(s, packet);
    if (!s->split)
        return queue_picture(s, packet, arrived);
    live_split_begin(s->split, packet);
    while (code >= 0 && (code = live_split_next(s->split, picture)) >= 0)
        code = queue_picture(s, picture, arrived);
    av_packet_unref(packet);
    return code == AVERROR_EOF ? 0 : code;
}

/* Reads the next packet of any stream. */
static int read_packet(struct stream *s, AVPacket *packet)
{
    int code;
    do
        code = av_read_frame(s->format, packet);
    while (code < 0 && s->input && live_input_resume(s->input) && !must_end(s));
    return code;
}

static void *read_packets(void *argument)
{
    struct stream *s = argument;
    AVPacket *packet = av_packet_alloc(), *picture = av_packet_alloc();
    int code = packet && picture ? 0 : AVERROR(ENOMEM);
    while (code >= 0 && !must_end(s) && (code = read_packet(s, packet)) >= 0) {
        bool video = packet->stream_index == s->video;
        atomic_store(&s->moved_ns, clock_ns());
        if (video)
            code = queue_packet(s, packet, picture);
        else
            av_packet_unref(packet);
    }
    bool asked = atomic_load(&s->stop) || atomic_load(&s->leaving);
    /* the end of a pipe is the end of the stream */
    if (!asked && !is_over(s))
        refuse(s, code < 0 ? code : AVERROR_EXIT, &s->error);
    av_packet_free(&packet);
    av_packet_free(&picture);
    live_packets_end(s->packets);
    return NULL;
}

static bool decode_packets(struct stream *s, const struct live_sink *sink, struct err *e)
{
    AVPacket *packet = av_packet_alloc();
    bool ok = packet || err_memory(e, sizeof *packet);
    int64_t arrived;
    int waiting;
    while (ok && !atomic_load(&s->stop) && !live_packets_over(s->packets)) {
        if (!is_silent(s)) /* else the reader hangs */
            watch_moved();
        if (!live_packets_take(s->packets, packet, &arrived, &waiting))
            continue;
        ok = live_decode_packet(s->decode, packet, arrived, waiting, sink, e);
        av_packet_unref(packet);
    }
    av_packet_free(&packet);
    return ok;
}

static bool run(struct live_source *source, const struct live_sink *sink, struct err *e)
{
    struct stream *s = (struct stream *)source;
    pthread_t reader;
    bool ok = !atomic_load(&s->stop) && connect_stream(s, e);
    if (ok && pthread_create(&reader, NULL, read_packets, s) != 0) {
        ok = err_set(e, ERR_MEMORY, "cannot start a thread");
    } else if (ok) {
        sink->current(sink->user);
        ok = decode_packets(s, sink, e);
        atomic_store(&s->leaving, true);
        pthread_join(reader, NULL);
        source->dropped += live_packets_dropped(s->packets);
        if (ok && s->error.code != ERR_NONE) {
            *e = s->error;
            ok = false;
        }
    }
    source->over = is_over(s);
    disconnect(s);
    if (!ok && atomic_load(&s->stop)) {
        err_clear(e);
        ok = true;
    }
    return ok;
}

static void stop(struct live_source *source)
{
    atomic_store(&((struct stream *)source)->stop, true);
}

static void close_stream(struct live_source **source)
{
    free(*source);
    *source = NULL;
}

const struct live_source_kind live_stream = {.name = "stream",
                                             .fits = fits,
                                             .open = open_stream,
                                             .run = run,
                                             .stop = stop,
                                             .close = close_stream};
