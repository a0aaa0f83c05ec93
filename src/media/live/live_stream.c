/*
 * live_stream.c - a source that libavformat reads: a stream of the network, a device, a pipe.
 *
 *   reader thread: av_read_frame -> packets -> run's thread: decode -> sink
 */
#include <libavformat/avformat.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "live_decode.h"
#include "live_packets.h"
#include "live_pipe.h"
#include "live_url.h"
#include "media/container/refusal.h"
#include "media/container/stream_select.h"
#include "media/ffmpeg/av_error.h"
#include "media/ffmpeg/av_log.h"
#include "barcode/base/clock.h"

struct stream {
    struct live_source base;
    struct live_options o;
    struct live_url url;
    atomic_bool stop;
    /* of the current run */
    atomic_int_fast64_t moved_ns; /* when the last packet came, or the run began */
    atomic_bool leaving;          /* the decoder has failed */
    AVFormatContext *format;
    AVIOContext *own; /* of a pipe */
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
    if (live_url_parse(o->name, &s->url, e))
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
    return atomic_load(&s->stop) || atomic_load(&s->leaving) || is_silent(s);
}

static bool refuse(const struct stream *s, int code, struct err *e)
{
    char text[128];
    if (code == AVERROR(ENOMEM))
        return av_out_of_memory(s->o.name, e);
    if (is_silent(s))
        return err_set(e, ERR_FAILED, "no packet for %g s", (double)s->o.timeout_us / 1e6);
    return err_set(e, ERR_FAILED, "%s",
                   code == AVERROR_EOF ? "it ended" : av_error_text(code, text));
}

/* ------------------------------------------------------------------ connecting */

static bool open_format(struct stream *s, struct err *e)
{
    const AVIOInterruptCB stop = {must_end, s};
    AVDictionary *options = NULL;
    if (s->url.pipe && !(s->own = live_pipe_open(s->url.path, stop, e)))
        return false;
    AVFormatContext *format = avformat_alloc_context();
    if (!format)
        return err_memory(e, sizeof *format);
    format->interrupt_callback = stop;
    format->max_streams = STREAMS_MOST;
    format->pb = s->own;
    format->flags |= s->own ? AVFMT_FLAG_CUSTOM_IO : 0;
    const AVInputFormat *demuxer = s->url.demuxer ? av_find_input_format(s->url.demuxer) : NULL;
    int code = live_url_options(&s->url, &options);
    if (code >= 0)
        code = avformat_open_input(&format, s->own ? "" : s->url.path, demuxer, &options);
    else
        avformat_free_context(format);
    av_dict_free(&options);
    s->format = code >= 0 ? format : NULL;
    return code >= 0 || refuse(s, code, e);
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
    s->video = film_stream_choose(s->format, s->o.stream, s->o.name, e);
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
    if (!open_format(s, e) || !choose_stream(s, e))
        return false;
    s->url.paced = strcmp(s->format->iformat->name, "hls") == 0;
    s->packets = live_packets_open(e);
    s->decode =
        s->packets ? live_decode_open(s->format->streams[s->video], s->o.name, &s->o, e) : NULL;
    return s->decode != NULL;
}

static void disconnect(struct stream *s)
{
    live_decode_close(&s->decode);
    live_packets_free(&s->packets);
    avformat_close_input(&s->format);
    live_pipe_close(&s->own);
}

/* ------------------------------------------------------------------ reading */

/*
 * Waits until a packet of a playlist is due: its segments arrive as a whole, and a player shows
 * their pictures in the course of time. Returns when it was due.
 */
static int64_t wait_until_due(struct stream *s, const AVPacket *packet)
{
    const int64_t leap_ns = 60000000000, moment_ns = 20000000;
    int64_t time = packet->dts != AV_NOPTS_VALUE ? packet->dts : packet->pts, now = clock_ns();
    int64_t us = av_rescale_q(time, s->format->streams[s->video]->time_base, AV_TIME_BASE_Q);
    if (time == AV_NOPTS_VALUE)
        return now;
    int64_t due = s->first_ns + (us - s->first_us) * 1000;
    if (s->first_ns == 0 || due > now + leap_ns || due < now - leap_ns) {
        s->first_ns = due = now;
        s->first_us = us;
    }
    while ((now = clock_ns()) < due && !must_end(s)) {
        int64_t left = due - now < moment_ns ? due - now : moment_ns;
        nanosleep(&(struct timespec){.tv_nsec = (long)left}, NULL);
        atomic_store(&s->moved_ns, clock_ns());
    }
    return due;
}

static void *read_packets(void *argument)
{
    struct stream *s = argument;
    AVPacket *packet = av_packet_alloc();
    int code = packet ? 0 : AVERROR(ENOMEM);
    bool ok = true;
    while (ok && !must_end(s) && (code = av_read_frame(s->format, packet)) >= 0) {
        bool wanted = packet->stream_index == s->video &&
                      (!s->o.keyframes || packet->flags & AV_PKT_FLAG_KEY);
        int64_t arrived = clock_ns();
        atomic_store(&s->moved_ns, arrived);
        if (wanted && s->url.paced)
            arrived = wait_until_due(s, packet);
        if (wanted)
            ok = live_packets_put(s->packets, packet, arrived, &s->error);
        else
            av_packet_unref(packet);
    }
    if (ok && !atomic_load(&s->stop) && !atomic_load(&s->leaving))
        refuse(s, code < 0 ? code : AVERROR_EXIT, &s->error);
    /* what a stream of key frames leaves out is no silence, but its end is the end of the pipe */
    if (s->url.pipe && code == AVERROR_EOF)
        err_clear(&s->error);
    av_packet_free(&packet);
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
        if (ok && s->error.code != ERR_NONE) {
            *e = s->error;
            ok = false;
        }
    }
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
