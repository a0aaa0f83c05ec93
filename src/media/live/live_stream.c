/*
 * live_stream.c - a source that libavformat reads: a stream of the network, a device, a pipe.
 *
 *   reader thread: av_read_frame -> packets -> run's thread: decode -> sink
 *
 * Reading goes on while a frame is decoded and analysed, so nothing is lost in the network's
 * buffers. If the decoder falls behind, the waiting packets are dropped up to a key frame.
 */

#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <libavformat/avformat.h>
#include <libavutil/avstring.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "live_decode.h"
#include "media/container/open.h"
#include "barcode/base/clock.h"
#include "base/watch.h"
#include "media/ffmpeg/stream_name.h"

/* ---- what a name may open ---- */

struct scheme {
    const char *name; /* before "://" */
    struct live_url url;
};

/* HLS may name other hosts and encrypted segments, but only for a playlist that came by HTTP. */
#define WEB "http,https,tcp,tls,crypto"

static const struct scheme schemes[] = {
    {"rtsp", {.protocols = "tcp,udp,rtp", .demuxers = "rtsp", .demuxer = "rtsp"}},
    {"rtsps", {.protocols = "tcp,tls", .demuxers = "rtsp", .demuxer = "rtsp"}},
    {"rtmp", {.protocols = "rtmp,tcp", .demuxers = ""}},
    {"rtmps", {.protocols = "rtmps,tls,tcp", .demuxers = ""}},
    {"srt", {.protocols = "srt", .demuxers = ""}},
    {"udp", {.protocols = "udp", .demuxers = ""}},
    {"rtp", {.protocols = "rtp,udp", .demuxers = "rtp", .demuxer = "rtp"}},
    {"tcp", {.protocols = "tcp", .demuxers = ""}},
    {"http", {.protocols = WEB, .demuxers = "hls,mpjpeg"}},
    {"https", {.protocols = WEB, .demuxers = "hls,mpjpeg"}},
};

/* Returns true if this FFmpeg has what a scheme needs: its demuxer, or the protocol of its name. */
static bool is_built(const char *scheme, const struct live_url *url)
{
    void *next = NULL;
    const char *found;
    if (url->demuxer)
        return av_find_input_format(url->demuxer) != NULL;
    do
        found = avio_enum_protocols(&next, 0);
    while (found && strcmp(found, scheme) != 0);
    return found != NULL;
}

static bool parse_scheme(const char *name, size_t length, struct live_url *url, struct err *e)
{
    char shown[STREAM_NAME], fault = stream_name_fault(name);
    stream_name_show(name, shown);
    if (fault)
        return err_set(e, ERR_USAGE, "--live: '%s': a %c in its password is written %%%02X", shown,
                       fault, (unsigned)fault);
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        const char *known = schemes[i].name;
        if (strlen(known) != length || av_strncasecmp(known, name, length) != 0)
            continue;
        *url = schemes[i].url;
        url->path = name;
        if (!is_built(known, url))
            return err_set(e, ERR_USAGE, "--live: the FFmpeg of this build cannot read %s", known);
        return true;
    }
    return err_set(e, ERR_USAGE,
                   "--live: '%s': its scheme is not read; rtsp, rtsps, rtmp, rtmps, srt, udp, rtp, "
                   "tcp, http and https are",
                   shown);
}

/*
 * Loads libavdevice, which registers its demuxers in libavformat. It is not linked: it needs a
 * hundred libraries, of displays and sound, which would be loaded for every film. Its version is
 * that of libavformat.
 */
static void load_devices(void)
{
    char name[40];
    void (*register_all)(void) = NULL;
    snprintf(name, sizeof name, "libavdevice.so.%d", LIBAVFORMAT_VERSION_MAJOR);
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    void *found = library ? dlsym(library, "avdevice_register_all") : NULL;
    memcpy(&register_all, &found, sizeof found);
    if (register_all)
        register_all();
}

static bool parse_device(const char *name, struct live_url *url, struct err *e)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_devices);
    *url = (struct live_url){
        .protocols = "", .demuxers = "video4linux2,v4l2", .demuxer = "video4linux2", .path = name};
    if (!av_find_input_format(url->demuxer))
        return err_set(e, ERR_USAGE,
                       "--live: '%s' is a device; reading it needs FFmpeg's libavdevice", name);
    return true;
}

bool live_url_parse(const char *name, struct live_url *url, struct err *e)
{
    struct stat s;
    const char *scheme = strstr(name, "://");
    *url = (struct live_url){.protocols = "", .demuxers = "", .pipe = true, .path = name};
    if (strcmp(name, "-") == 0)
        return true;
    if (scheme)
        return parse_scheme(name, (size_t)(scheme - name), url, e);
    const char *at = strrchr(name, '@'); /* what is before it may be the password of a URL */
    if (stat(name, &s) != 0)
        return err_set(e, ERR_USAGE,
                       "--live: there is no '%s'; a stream begins with its scheme, "
                       "such as rtsp://",
                       at ? at + 1 : name);
    if (S_ISFIFO(s.st_mode))
        return true;
    if (S_ISCHR(s.st_mode))
        return parse_device(name, url, e);
    return err_set(e, ERR_USAGE,
                   "--live: '%s' is a file; a stream, a device, a folder or - goes on", name);
}

int live_url_options(const struct live_url *url, AVDictionary **options)
{
    char *all = av_asprintf("%s%s%s", allowed_names(), *url->demuxers ? "," : "", url->demuxers);
    int bad = all ? 0 : AVERROR(ENOMEM);
    if (all)
        bad |= av_dict_set(options, "format_whitelist", all, AV_DICT_DONT_STRDUP_VAL);
    bad |= av_dict_set(options, "protocol_whitelist", *url->protocols ? url->protocols : "none", 0);
    bad |= av_dict_set(options, "rtsp_transport", "tcp", 0);
    /* Lost datagrams damage frames, but the reader goes on. */
    bad |= av_dict_set(options, "overrun_nonfatal", "1", 0);
    bad |= av_dict_set(options, "buffer_size", "4194304", 0);
    /* the first second shows which streams there are; sizes come with the first frame */
    bad |= av_dict_set(options, "analyzeduration", "1000000", 0);
    bad |= av_dict_set(options, "probesize", "1000000", 0);
    /* of pictures one after another: their demuxer would ask for the size of the whole stream */
    bad |= av_dict_set(options, "frame_size", "1024", 0);
    return bad < 0 ? bad : 0;
}

enum {
    /* more than a decoder can be behind and still catch up */
    PACKETS_MOST = 512,
    BYTES_MOST = 64 << 20,
    PIPE_BUFFER = 64 << 10
};

struct packet {
    AVPacket *packet; /* allocated once */
    int64_t arrived_ns;
};

/* The packets between the threads: a ring. */
struct packets {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct packet ring[PACKETS_MOST];
    int first, count;
    int64_t bytes;
    bool skipping; /* up to the next key frame */
    bool ended;    /* no packet follows */
    uint64_t dropped;
};

struct stream {
    struct live_source base;
    struct live_options o;
    struct live_url url;
    atomic_bool stop;
    /* of the current run */
    /* when the run began, the last frame was decoded, or before the first one a packet came */
    atomic_int_fast64_t moved_ns;
    atomic_int_fast64_t packet_ns; /* when the last packet of any stream came, or the run began */
    atomic_bool decoding;          /* the decoder's thread has a packet */
    atomic_bool decoded;           /* a frame has come */
    atomic_bool leaving;           /* the decoder has failed */
    int pipe;                      /* stdin or a FIFO; -1: libavformat opens the name */
    bool pipe_ended;
    AVIOContext *pipe_io;
    AVFormatContext *format;
    struct followed_stream video;
    const struct live_sink *sink;
    int64_t first_ns, first_us; /* paced: when the first packet came, and its time */
    struct packets *packets;
    struct live_decode *decode;
    struct err error; /* of the reader; read after it has ended */
};

/* ------------------------------------------------------------------ packets */

static void free_packets(struct packets **p)
{
    if (!*p)
        return;
    for (int i = 0; i < PACKETS_MOST; i++)
        av_packet_free(&(*p)->ring[i].packet);
    pthread_cond_destroy(&(*p)->changed);
    pthread_mutex_destroy(&(*p)->lock);
    free(*p);
    *p = NULL;
}

static struct packets *open_packets(struct err *e)
{
    struct packets *p = err_calloc(1, sizeof *p, e);
    if (!p)
        return NULL;
    pthread_mutex_init(&p->lock, NULL);
    clock_steady_cond(&p->changed);
    for (int i = 0; i < PACKETS_MOST; i++) {
        p->ring[i].packet = av_packet_alloc();
        if (!p->ring[i].packet) {
            free_packets(&p);
            err_memory(e, sizeof(AVPacket));
            return NULL;
        }
    }
    return p;
}

static void drop_packets(struct packets *p)
{
    p->dropped += (uint64_t)p->count;
    for (; p->count > 0; p->count--, p->first = (p->first + 1) % PACKETS_MOST)
        av_packet_unref(p->ring[p->first].packet);
    p->bytes = 0;
    p->skipping = true;
}

/* Moves a packet into the ring, without waiting. Returns 0 or AVERROR(ENOMEM). */
static int push_packet(struct packets *p, AVPacket *packet, int64_t arrived_ns)
{
    int code = 0;
    pthread_mutex_lock(&p->lock);
    if (p->count == PACKETS_MOST || p->bytes + packet->size > BYTES_MOST)
        drop_packets(p);
    if (packet->flags & AV_PKT_FLAG_KEY)
        p->skipping = false;
    if (!p->skipping)
        code = av_packet_make_refcounted(packet);
    if (p->skipping || code < 0) {
        p->dropped++;
        av_packet_unref(packet);
    } else {
        struct packet *to = &p->ring[(p->first + p->count++) % PACKETS_MOST];
        p->bytes += packet->size;
        av_packet_move_ref(to->packet, packet);
        to->arrived_ns = arrived_ns;
        pthread_cond_signal(&p->changed);
    }
    pthread_mutex_unlock(&p->lock);
    return code;
}

/* Waits up to a second for a packet. `*waiting`: how many are behind it. Returns false if none. */
static bool pop_packet(struct packets *p, AVPacket *to, int64_t *arrived_ns, int *waiting)
{
    const int64_t moment_ns = 1000000000;
    struct timespec until = clock_steady_deadline(moment_ns);
    int code = 0;
    pthread_mutex_lock(&p->lock);
    while (p->count == 0 && !p->ended && code != ETIMEDOUT)
        code = pthread_cond_timedwait(&p->changed, &p->lock, &until);
    const bool any = p->count > 0;
    if (any) {
        struct packet *from = &p->ring[p->first];
        p->first = (p->first + 1) % PACKETS_MOST;
        p->count--;
        p->bytes -= from->packet->size;
        av_packet_move_ref(to, from->packet);
        *arrived_ns = from->arrived_ns;
    }
    *waiting = p->count;
    pthread_mutex_unlock(&p->lock);
    return any;
}

static void end_packets(struct packets *p)
{
    pthread_mutex_lock(&p->lock);
    p->ended = true;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
}

static bool have_ended(struct packets *p)
{
    pthread_mutex_lock(&p->lock);
    bool ended = p->ended && p->count == 0;
    pthread_mutex_unlock(&p->lock);
    return ended;
}

/* ------------------------------------------------------------------ the source */

static struct live_source *open_stream(const struct live_options *o, struct err *e)
{
    struct stream *s = err_calloc(1, sizeof *s, e);
    if (!s)
        return NULL;
    s->base.kind = &live_stream;
    s->pipe = -1;
    s->o = *o;
    s->o.label = o->label ? o->label : o->name;
    if (!live_url_parse(o->name, &s->url, e) || !stream_name_remember(o->name, e)) {
        free(s);
        return NULL;
    }
    return &s->base;
}

static bool is_old(const struct stream *s, int64_t since_ns)
{
    return clock_ns() - since_ns > s->o.timeout_us * 1000;
}

static bool is_silent(const struct stream *s)
{
    return !atomic_load(&s->decoding) && is_old(s, atomic_load(&s->moved_ns));
}

/* Implements AVIOInterruptCB. */
static int must_end(void *user)
{
    const struct stream *s = user;
    watch_moved(); /* of run's thread, while it connects */
    return atomic_load(&s->stop) || atomic_load(&s->leaving) || is_silent(s);
}

/* Sets the reason why the stream broke. Returns false. */
static bool set_reason(const struct stream *s, int code, struct err *e)
{
    char text[128];
    if (code == AVERROR(ENOMEM))
        return av_out_of_memory(s->o.label, e);
    if (is_silent(s))
        return err_set(e, ERR_FAILED, "no %s for %g s",
                       is_old(s, atomic_load(&s->packet_ns)) ? "packet" : "frame",
                       (double)s->o.timeout_us / 1e6);
    return err_set(e, ERR_FAILED, "%s",
                   code == AVERROR_EOF ? "it ended" : av_error_text(code, text));
}

/* Returns true if stdin was read to its end, which no other run can go on with. */
static bool is_over(const struct stream *s) { return s->pipe == STDIN_FILENO && s->pipe_ended; }

/* ------------------------------------------------------------------ connecting */

/* Implements AVIOContext.read_packet. */
static int read_pipe(void *opaque, uint8_t *to, int bytes)
{
    enum { WAIT_MS = 400 };
    struct stream *s = opaque;
    struct pollfd ready = {.fd = s->pipe, .events = POLLIN};
    for (;;) {
        if (must_end(s))
            return AVERROR_EXIT;
        if (poll(&ready, 1, WAIT_MS) <= 0)
            continue;
        ssize_t n = read(s->pipe, to, (size_t)bytes);
        if (n > 0)
            return (int)n;
        if (n == 0) {
            s->pipe_ended = true;
            return AVERROR_EOF;
        }
        if (errno != EINTR && errno != EAGAIN)
            return AVERROR(errno);
    }
}

/* Opens stdin or a FIFO, without waiting for its writer. Returns 0 or an AVERROR. */
static int open_pipe(struct stream *s)
{
    s->pipe = strcmp(s->url.path, "-") == 0 ? STDIN_FILENO
                                            : open(s->url.path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (s->pipe < 0)
        return AVERROR(errno);
    uint8_t *buffer = av_malloc(PIPE_BUFFER);
    if (buffer)
        s->pipe_io = avio_alloc_context(buffer, PIPE_BUFFER, 0, s, read_pipe, NULL, NULL);
    if (!s->pipe_io)
        av_free(buffer);
    return s->pipe_io ? 0 : AVERROR(ENOMEM);
}

/* Opens the container by `demuxer` (NULL: by its first bytes); `options` are used up. */
static int open_container(struct stream *s, const char *demuxer, AVDictionary **options)
{
    if (s->url.pipe) {
        int code = open_pipe(s);
        if (code < 0)
            return code;
    }
    AVFormatContext *format = avformat_alloc_context();
    if (!format)
        return AVERROR(ENOMEM);
    format->interrupt_callback = (AVIOInterruptCB){must_end, s};
    format->max_streams = STREAMS_MOST;
    if (s->pipe_io) {
        format->pb = s->pipe_io;
        format->flags |= AVFMT_FLAG_CUSTOM_IO;
    }
    const AVInputFormat *input = demuxer ? av_find_input_format(demuxer) : NULL;
    int code = avformat_open_input(&format, s->pipe_io ? "" : s->url.path, input, options);
    s->format = code >= 0 ? format : NULL;
    return code;
}

/* Returns true if the next bytes begin a JPEG image. */
static bool begins_in_jpeg(AVIOContext *io)
{
    const bool begins = avio_rb16(io) == 0xffd8;
    return avio_seek(io, -2, SEEK_CUR) >= 0 && begins;
}

/*
 * Opens MJPEG that comes as parts of HTTP, if the first part has no boundary: libavformat takes its
 * demuxer by the type of the content, and that refuses it. Returns 0 or an AVERROR.
 */
static int open_parts(struct stream *s)
{
    AVDictionary *options = NULL;
    int code = live_url_options(&s->url, &options);
    if (code >= 0)
        code = open_container(s, "mjpeg", &options);
    av_dict_free(&options);
    if (code >= 0 && !begins_in_jpeg(s->format->pb)) {
        avformat_close_input(&s->format);
        code = AVERROR_INVALIDDATA;
    }
    return code;
}

static bool open_format(struct stream *s, struct err *e)
{
    AVDictionary *options = NULL;
    watch_untimed(true); /* the resolver of host names may need longer than s->o.timeout_us */
    int code = live_url_options(&s->url, &options);
    if (code >= 0)
        code = open_container(s, s->url.demuxer, &options);
    if (code == AVERROR_INVALIDDATA && strstr(s->url.demuxers, "mpjpeg"))
        code = open_parts(s);
    watch_untimed(false);
    av_dict_free(&options);
    return code >= 0 || set_reason(s, code, e);
}

/* Returns true if the header declares the only video stream. Probing would take a second. */
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
        return set_reason(s, code < 0 ? code : AVERROR_EXIT, e);
    const int chosen = film_stream_choose(s->format, s->o.stream, s->o.label, e);
    if (chosen < 0)
        return false;
    for (unsigned i = 0; i < s->format->nb_streams; i++)
        s->format->streams[i]->discard = AVDISCARD_ALL;
    s->video = film_stream_begin(s->format, chosen);
    return true;
}

static bool connect_stream(struct stream *s, struct err *e)
{
    av_log_install();
    atomic_store(&s->moved_ns, clock_ns());
    atomic_store(&s->packet_ns, clock_ns());
    atomic_store(&s->decoded, false);
    atomic_store(&s->leaving, false);
    s->first_ns = 0;
    s->pipe_ended = false;
    err_clear(&s->error);
    if (!open_format(s, e))
        return false;
    assert(s->format);
    if (!choose_stream(s, e))
        return false;
    s->url.paced = strcmp(s->format->iformat->name, "hls") == 0;
    s->packets = open_packets(e);
    if (!s->packets)
        return false;
    s->decode = live_decode_open(s->format->streams[s->video.chosen], s->o.label, &s->o, e);
    return s->decode != NULL;
}

static void disconnect(struct stream *s)
{
    live_decode_close(&s->decode);
    free_packets(&s->packets);
    avformat_close_input(&s->format);
    if (s->pipe_io)
        av_freep(&s->pipe_io->buffer);
    avio_context_free(&s->pipe_io);
    if (s->pipe > STDIN_FILENO)
        close(s->pipe);
    s->pipe = -1;
}

/* ------------------------------------------------------------------ reading */

/* Waits until a packet of a playlist is due: segments arrive as a whole. Returns when it was. */
static int64_t wait_until_due(struct stream *s, const AVPacket *packet)
{
    const int64_t leap_us = 60000000, moment_ns = 20000000;
    int64_t time = packet->dts != AV_NOPTS_VALUE ? packet->dts : packet->pts, now = clock_ns();
    int64_t us = av_rescale_q(time, s->format->streams[s->video.chosen]->time_base, AV_TIME_BASE_Q);
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

/* Moves a packet of the video stream to the decoder's thread. Returns 0 or an AVERROR. */
static int queue_packet(struct stream *s, AVPacket *packet)
{
    const int64_t arrived_ns = s->url.paced ? wait_until_due(s, packet) : clock_ns();
    const bool skipped = s->o.keyframes && !(packet->flags & AV_PKT_FLAG_KEY);
    if (skipped || !atomic_load(&s->decoded))
        atomic_store(&s->moved_ns, clock_ns());
    if (skipped) {
        av_packet_unref(packet);
        return 0;
    }
    return push_packet(s->packets, packet, arrived_ns);
}

static void *read_packets(void *argument)
{
    struct stream *s = argument;
    AVPacket *packet = av_packet_alloc();
    int code = packet ? 0 : AVERROR(ENOMEM);
    while (code >= 0 && !must_end(s)) {
        code = av_read_frame(s->format, packet);
        if (code < 0)
            break;
        atomic_store(&s->packet_ns, clock_ns());
        if (film_stream_follow(s->format, &s->video, packet))
            code = queue_packet(s, packet);
        else
            av_packet_unref(packet);
    }
    const bool asked = atomic_load(&s->stop) || atomic_load(&s->leaving);
    /* the end of a pipe is the end of the stream */
    if (!asked && !is_over(s))
        set_reason(s, code < 0 ? code : AVERROR_EXIT, &s->error);
    av_packet_free(&packet);
    end_packets(s->packets);
    return NULL;
}

/* Implements live_sink.frame. */
static bool pass_frame(void *user, const struct live_frame *frame, struct err *e)
{
    struct stream *s = user;
    atomic_store(&s->decoded, true);
    atomic_store(&s->moved_ns, clock_ns());
    return s->sink->frame(s->sink->user, frame, e);
}

static bool decode_packets(struct stream *s, struct err *e)
{
    const struct live_sink sink = {.frame = pass_frame, .user = s};
    AVPacket *packet = av_packet_alloc();
    bool ok = true;
    int64_t arrived_ns;
    int waiting;
    if (!packet)
        return err_memory(e, sizeof *packet);
    while (ok && !atomic_load(&s->stop) && !have_ended(s->packets)) {
        if (!is_silent(s)) /* else the reader hangs */
            watch_moved();
        if (!pop_packet(s->packets, packet, &arrived_ns, &waiting))
            continue;
        atomic_store(&s->decoding, true);
        ok = live_decode_packet(s->decode, packet, arrived_ns, waiting, &sink, e);
        atomic_store(&s->decoding, false);
        av_packet_unref(packet);
    }
    av_packet_free(&packet);
    return ok;
}

/* Reads and decodes the connected stream until it breaks or ends. */
static bool play_stream(struct stream *s, const struct live_sink *sink, struct err *e)
{
    pthread_t reader;
    if (pthread_create(&reader, NULL, read_packets, s) != 0)
        return err_set(e, ERR_MEMORY, "cannot start a thread");
    s->sink = sink;
    sink->current(sink->user);
    bool ok = decode_packets(s, e);
    atomic_store(&s->leaving, true);
    pthread_join(reader, NULL);
    s->base.dropped += s->packets->dropped;
    if (!ok || s->error.code == ERR_NONE)
        return ok;
    *e = s->error;
    return false;
}

static bool run(struct live_source *source, const struct live_sink *sink, struct err *e)
{
    struct stream *s = (struct stream *)source;
    bool ok = !atomic_load(&s->stop) && connect_stream(s, e) && play_stream(s, sink, e);
    source->over = is_over(s);
    disconnect(s);
    if (atomic_load(&s->stop)) {
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

const struct live_source_kind live_stream = {
    .name = "stream", .open = open_stream, .run = run, .stop = stop, .close = close_stream};

/* ------------------------------------------------------------------ any source */

struct live_source *live_source_open(const struct live_options *o, struct err *e)
{
    const struct live_source_kind *kind = live_folder_fits(o->name) ? &live_folder : &live_stream;
    return kind->open(o, e);
}

bool live_source_run(struct live_source *s, const struct live_sink *sink, struct err *e)
{
    return s->kind->run(s, sink, e);
}

void live_source_stop(struct live_source *s) { s->kind->stop(s); }

void live_source_close(struct live_source **s)
{
    if (*s)
        (*s)->kind->close(s);
}
