#include "open.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <libavutil/avstring.h>
#include <libavutil/mem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/watch.h"
#include "container_quirks.h"
#include "film_input.h"
#include "media/select/timeline.h"
#include "media/source.h"

bool container_is_seekable(const AVFormatContext *format)
{
    return format->pb && format->pb->seekable & AVIO_SEEKABLE_NORMAL;
}

int container_peek(const AVFormatContext *format, int64_t at, uint8_t *to, int bytes)
{
    AVIOContext *file = format->pb;
    if (!container_is_seekable(format))
        return -1;
    int64_t now = avio_tell(file);
    int got = avio_seek(file, at, SEEK_SET) < 0 ? -1 : avio_read(file, to, bytes);
    avio_seek(file, now, SEEK_SET);
    if (got == AVERROR_EOF)
        return 0;
    return got < 0 ? -1 : got;
}

int64_t container_us(const AVStream *s, int64_t time)
{
    return av_clip64(av_rescale_q(time, s->time_base, AV_TIME_BASE_Q), -TIME_MOST, TIME_MOST);
}

int64_t container_start_us(const AVFormatContext *format)
{
    if (container_quirks(format)->clock_from_0)
        return 0;
    int64_t us = format->start_time;
    return us == AV_NOPTS_VALUE || us > TIME_MOST || us < -TIME_MOST ? TIME_NONE : us;
}

/* ------------------------------------------------------------------ reading ahead */

/* The result of a call of av_read_frame. */
struct result {
    AVPacket *packet; /* NULL if `code` is an error */
    int code;
    struct av_log_counts logged;
};

/* The opaque pointer of an AVFormatContext; NULL: nothing was read ahead. */
struct read_ahead {
    struct result *result;
    size_t count, taken;
};

static void drop_ahead(AVFormatContext *format)
{
    struct read_ahead *a = format->opaque;
    for (size_t i = 0; a && i < a->count; i++)
        av_packet_free(&a->result[i].packet);
    if (a)
        av_freep(&a->result);
    av_freep(&format->opaque);
}

/* Returns a new result, or NULL if out of memory. */
static struct result *add_result(AVFormatContext *format)
{
    struct read_ahead *a = format->opaque;
    if (!a)
        format->opaque = a = av_mallocz(sizeof *a);
    struct result *more = a ? av_realloc_array(a->result, a->count + 1, sizeof *a->result) : NULL;
    if (!more)
        return NULL;
    a->result = more;
    a->result[a->count] = (struct result){.packet = av_packet_alloc()};
    return a->result[a->count].packet ? &a->result[a->count++] : NULL;
}

bool container_read_ahead(AVFormatContext *format, const AVPacket **packet)
{
    struct result *r = add_result(format);
    *packet = NULL;
    if (!r)
        return false;
    struct av_log_counts *before = av_log_listen(&r->logged);
    r->code = av_read_frame(format, r->packet);
    av_log_listen(before);
    if (r->code < 0)
        av_packet_free(&r->packet);
    *packet = r->packet;
    return r->code != AVERROR(ENOMEM);
}

int container_read(AVFormatContext *format, AVPacket *packet)
{
    struct read_ahead *a = format->opaque;
    if (!a)
        return av_read_frame(format, packet);
    struct result *r = &a->result[a->taken++];
    int code = r->code;
    av_log_add(&r->logged);
    if (r->packet)
        av_packet_move_ref(packet, r->packet);
    if (a->taken == a->count)
        drop_ahead(format);
    return code;
}

int container_seek(AVFormatContext *format, int stream, int64_t time, int flags)
{
    drop_ahead(format);
    return av_seek_frame(format, stream, time, flags);
}

/* ------------------------------------------------------------------ films in several files */

/* The demuxer that reads parts that are images, beside those of films. */
#define IMAGES "image2"

enum { URL_BYTES = 4096 };

/* What is known of the parts so far. */
struct parts_scan {
    struct read_faults *faults;
    struct film first; /* of the first part, without its path */
    const char *first_path;
    const char *substitute;     /* the first image that can be opened, or NULL */
    AVCodecParameters *headers; /* of the first part's video */
    bool bytes;                 /* join bytes */
    int64_t begin_us;           /* where the next part begins; -1: unknown */
    int64_t end_us;             /* where the video of the last part ends; -1: unknown */
    FILE *text;                 /* the list */
};

/* Writes the name of a part as a string of ffconcat. */
static void put_name(FILE *f, const char *path)
{
    fputs("file 'file:", f);
    for (; *path; path++)
        fprintf(f, *path == '\'' ? "'\\''" : "%c", *path);
    fputs("'\n", f);
}

static void put_time(FILE *f, const char *word, int64_t us)
{
    fprintf(f, "%s %" PRId64 ".%06d\n", word, us / 1000000, (int)(us % 1000000));
}

/* Checks that the list can name the part. */
static bool check_name(const char *path, struct err *e)
{
    if (!strpbrk(path, "\r\n"))
        return true;
    return err_set(e, ERR_INPUT, "cannot join '%s' to other files: its name has a line break",
                   path);
}

/* Returns true unless the file is empty or may not be read. */
static bool can_open(const char *path)
{
    struct stat s;
    if (stat(path, &s) != 0 || s.st_size == 0)
        return false;
    if (access(path, R_OK) == 0)
        return true;
    int fd = file_open_read(path); /* the parent process may have more rights */
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static const char *find_substitute(const struct film_parts *parts)
{
    for (size_t i = 0; i < parts->count; i++)
        if (can_open(parts->part[i].path))
            return parts->part[i].path;
    return NULL;
}

/*
 * Image `i` has a time that is rounded once, so that errors do not add up. The demuxer would end at
 * one that cannot be opened: another one stands in for it, and its packet is marked.
 */
static void put_image(struct parts_scan *s, const struct film_parts *parts, size_t i)
{
    const char *path = parts->part[i].path;
    if (i == 0)
        s->substitute = find_substitute(parts);
    bool missing = s->substitute && !can_open(path);
    path = missing ? s->substitute : path;
    int64_t end_us =
        av_rescale((int64_t)i + 1, parts->rate_den * INT64_C(1000000), parts->rate_num);
    int64_t stays_us = end_us - s->begin_us;
    put_name(s->text, path);
    if (missing)
        fputs("file_packet_meta " CONTAINER_MISSING " 1\n", s->text);
    fprintf(s->text, "option framerate %" PRId64 "/%" PRId64 "\n", parts->rate_num,
            parts->rate_den);
    /* libavformat opens the first part with the list's own demuxers: see open_parts */
    if (i == 0)
        fprintf(s->text, "option format_whitelist %s," IMAGES "\n", allowed_names());
    if (strchr(path, '%'))
        fputs("option pattern_type none\n", s->text); /* image2 takes the name for a pattern */
    put_time(s->text, "outpoint", stays_us / 2);      /* a file may contain further images */
    put_time(s->text, "duration", stays_us);
    s->begin_us = s->end_us = end_us;
}

/* Returns how long an opened part is, with its sound; -1 if that is unknown. */
static int64_t part_length(const AVFormatContext *format, const struct film_part *part)
{
    if (part->end_us > part->start_us)
        return part->end_us - part->start_us;
    bool known = format->duration > 0 && format->duration <= TIME_MOST &&
                 format->duration_estimation_method != AVFMT_DURATION_FROM_BITRATE;
    return known ? format->duration : -1;
}

/* Returns true if a decoder can go on: the headers are the same, or repeated in the pictures. */
static bool has_same_headers(const AVCodecParameters *a, const AVCodecParameters *b)
{
    static const enum AVCodecID repeated[] = {AV_CODEC_ID_H264,       AV_CODEC_ID_MPEG1VIDEO,
                                              AV_CODEC_ID_MPEG2VIDEO, AV_CODEC_ID_VP8,
                                              AV_CODEC_ID_VP9,        AV_CODEC_ID_AV1};
    for (size_t i = 0; i < sizeof repeated / sizeof *repeated; i++)
        if (a->codec_id == repeated[i])
            return true;
    return a->codec_tag == b->codec_tag && a->extradata_size == b->extradata_size &&
           (a->extradata_size == 0 ||
            memcmp(a->extradata, b->extradata, (size_t)a->extradata_size) == 0);
}

/* Checks that the part has the stream of the first one, with a codec of the same kind. */
static bool check_continues(const struct parts_scan *s, const AVFormatContext *format,
                            const char *path, struct err *e)
{
    unsigned i = (unsigned)s->first.stream;
    const AVCodecParameters *par = i < format->nb_streams ? format->streams[i]->codecpar : NULL;
    if (!par || !s->headers || par->codec_id != s->headers->codec_id)
        return err_set(e, ERR_INPUT, "cannot join '%s' to '%s': its stream %u is not %s in %s",
                       path, s->first_path, i, s->first.width > 0 ? "video" : "sound",
                       s->first.codec);
    if (container_quirks(format)->unframed || has_same_headers(s->headers, par))
        return true;
    return err_set(e, ERR_INPUT,
                   "cannot join '%s' to '%s': their %s was encoded with other settings", path,
                   s->first_path, s->first.codec);
}

/* Writes the section that is shown, unless the part begins or ends there: seeking skips frames. */
static void put_section(struct parts_scan *s, const struct film_part *part,
                        const AVFormatContext *format)
{
    const int64_t slack_us = 1000000;
    int64_t first_us = format->start_time, length = format->duration;
    if (part->end_us <= part->start_us || first_us == AV_NOPTS_VALUE || length == AV_NOPTS_VALUE)
        return;
    if (part->start_us > av_sat_add64(first_us, slack_us))
        put_time(s->text, "inpoint", part->start_us);
    if (part->end_us < av_sat_add64(first_us, length) - slack_us)
        put_time(s->text, "outpoint", part->end_us);
}

static void put_film(struct parts_scan *s, const struct film_part *part,
                     const AVFormatContext *format, const struct film *film)
{
    int64_t length = part_length(format, part);
    put_name(s->text, part->path);
    put_section(s, part, format);
    if (length > 0)
        put_time(s->text, "duration", length);
    bool known = s->begin_us >= 0 && s->begin_us <= TIME_MOST && length > 0;
    int64_t video_us = film_length_end(&film->length);
    s->end_us = known ? s->begin_us + (video_us < length ? video_us : length) : -1;
    s->begin_us = known ? s->begin_us + length : -1;
}

/* Keeps what the other parts are compared with. */
static bool begin_parts(struct parts_scan *s, const AVFormatContext *format,
                        const struct film *film, const char *path, struct err *e)
{
    s->bytes = container_quirks(format)->joins_bytes;
    s->first = *film;
    s->first_path = path;
    s->headers = avcodec_parameters_alloc();
    if (!s->headers ||
        avcodec_parameters_copy(s->headers, format->streams[film->stream]->codecpar) < 0)
        return err_memory(e, sizeof *s->headers);
    return true;
}

/* Adds a part that was opened to the list. */
static bool add_film(struct parts_scan *s, const struct film_part *part,
                     const AVFormatContext *format, const struct film *film, bool first,
                     struct err *e)
{
    if (!read_faults_check(s->faults, part->path, e))
        return false;
    if (container_quirks(format)->is_playlist)
        return err_set(e, ERR_INPUT, "cannot join '%s' to other files: it is a playlist",
                       part->path);
    if (first && !begin_parts(s, format, film, part->path, e))
        return false;
    if (!s->bytes && !check_name(part->path, e))
        return false;
    if (!check_continues(s, format, part->path, e))
        return false;
    if (!s->bytes)
        put_film(s, part, format, film);
    if (film->length.source < s->first.length.source)
        s->first.length.source = film->length.source;
    return true;
}

static bool scan_film(struct parts_scan *s, const struct film_parts *parts, size_t i, int requested,
                      struct err *e)
{
    const struct film_part *part = &parts->part[i];
    AVFormatContext *format = NULL;
    struct film film = {.faults = s->faults, .sound = SOURCE_SOUND_NONE};
    bool ok = container_open_parts(part->path, NULL, requested, &format, &film, e) &&
              add_film(s, part, format, &film, i == 0, e);
    container_close(&format);
    free(film.path);
    return ok;
}

/* Adds part `i` to the list. Images, and files whose bytes are joined, need not be opened. */
static bool add_part(struct parts_scan *s, const struct film_parts *parts, size_t i, int requested,
                     struct err *e)
{
    const char *path = parts->part[i].path;
    if (interrupted())
        return interrupt_error(e);
    if (s->bytes)
        return true;
    if (parts->rate_num <= 0)
        return scan_film(s, parts, i, requested, e);
    if (!check_name(path, e))
        return false;
    put_image(s, parts, i);
    return true;
}

/*
 * Sets film->list, which the caller of container_open_parts frees, from film->path and film->parts:
 * images and films that have timestamps are read by the demuxer "concat", each part beginning where
 * the last one ends. The list is empty if the parts' bytes are joined: program streams of MPEG and
 * raw streams may be cut anywhere. Opens each part that is no image, to find its length, with its
 * video stream chosen by `requested`. Sets film->length.duration_us to the end of the last part, or
 * to -1 if that is unknown, and its source. Returns false with ERR_INPUT if a part cannot be
 * opened, or does not continue the first one.
 */
static bool describe_parts(struct film *film, int requested, struct err *e)
{
    const struct film_parts *parts = film->parts;
    struct parts_scan s = {.faults = film->faults};
    char *text = NULL;
    size_t size = 0;
    if (!film_parts_check(film->path, parts, e))
        return false;
    s.text = open_memstream(&text, &size);
    if (!s.text)
        return err_memory(e, 1);
    bool ok = true;
    for (size_t i = 0; i < parts->count && ok; i++)
        ok = add_part(&s, parts, i, requested, e);
    avcodec_parameters_free(&s.headers);
    if (fclose(s.text) != 0 && ok)
        ok = err_memory(e, size);
    if (!ok) {
        free(text);
        return false;
    }
    film->list = text;
    film->length =
        (struct film_length){.duration_us = s.bytes ? -1 : s.end_us,
                             .source = parts->rate_num > 0 ? LENGTH_TRACK : s.first.length.source};
    return true;
}

/* Returns true if the bytes of the parts are joined. */
static bool joins_bytes(const struct film *film) { return film->list[0] == 0; }

/* ------------------------------------------------------------------ opening */

/* The colour tags of the first streams in the container's header, and messages of the probing. */
struct probed {
    struct av_log_counts logged;
    unsigned streams;
    struct colour_tags tags[64];
};

static void keep_tags(const AVFormatContext *format, struct probed *probed)
{
    const unsigned room = sizeof probed->tags / sizeof *probed->tags;
    probed->streams = format->nb_streams < room ? format->nb_streams : room;
    for (unsigned i = 0; i < probed->streams; i++)
        probed->tags[i] = film_colour_tags(format->streams[i]->codecpar);
}

/* Implements AVIOInterruptCB. Bytes that were read since the last call are progress. */
static int stop_reading(void *format)
{
    static _Thread_local int64_t last;
    const AVIOContext *io = ((const AVFormatContext *)format)->pb;
    if (io && io->bytes_read != last)
        watch_moved();
    last = io ? io->bytes_read : last;
    return interrupt_pending();
}

/* Makes a context that reads from `io`, which it owns; NULL: from the film's file. */
static AVFormatContext *prepare_container(AVIOContext *io, struct err *e)
{
    AVFormatContext *format = avformat_alloc_context();
    if (!format) {
        film_input_close(&io);
        err_memory(e, sizeof *format);
        return NULL;
    }
    format->interrupt_callback = (AVIOInterruptCB){stop_reading, format};
    format->io_open = allowed_open;
    format->io_close2 = allowed_close;
    format->max_streams = STREAMS_MOST;
    format->flags |= io ? AVFMT_FLAG_CUSTOM_IO : 0;
    format->pb = io;
    return format;
}

/*
 * Opens the film with a prepared context by a demuxer of films, or by `demuxer`, that of a list of
 * files (NULL: none). The names of `more` demuxers may read those files. `any_name`: the files may
 * lie anywhere. What demuxers log is counted in *logged.
 */
static int open_input(const char *url, const AVInputFormat *demuxer, const char *more,
                      bool any_name, struct av_log_counts *logged, AVFormatContext **format)
{
    struct av_log_counts *before = av_log_listen(logged);
    AVDictionary *options = NULL;
    AVIOContext *io = (*format)->pb;
    av_dict_set(&options, "protocol_whitelist", "file", 0);
    if (any_name)
        av_dict_set(&options, "safe", "0", 0);
    int code = allowed_demuxers(*format, more);
    if (code >= 0)
        code = avformat_open_input(format, url, demuxer, &options);
    else
        avformat_close_input(format);
    av_log_listen(before);
    av_dict_free(&options);
    if (code < 0)
        film_input_close(&io); /* avformat_open_input has freed the context */
    return code;
}

/* Opens a file that is not a film by `demuxer`, if it is a playlist that may be read. */
static bool open_playlist(const char *path, const char *url, const AVInputFormat *demuxer,
                          struct read_faults *faults, AVFormatContext **format, struct err *e)
{
    struct av_log_counts logged = {0};
    AVIOContext *io;
    if (!container_quirks_of(demuxer)->is_playlist)
        return refusal_of_demuxer(path, demuxer, e);
    if (!playlist_check(path, demuxer, e) || !film_input_open(path, faults, &io, e))
        return false;
    *format = prepare_container(io, e);
    if (!*format)
        return false;
    int code = open_input(url, demuxer, demuxer->name, false, &logged, format);
    if (code < 0)
        read_faults_fail(faults, NULL, logged.read_error, -1);
    /* from now on no file that the playlist names may be a playlist */
    if (code >= 0)
        code = allowed_demuxers(*format, "");
    if (code < 0)
        return refusal_of_container(path, code, false, &logged, e);
    return true;
}

/* Makes the URL of a file. Closes the container if its name is too long. */
static bool make_url(const char *path, AVFormatContext **format, char url[URL_BYTES], struct err *e)
{
    if (snprintf(url, URL_BYTES, "file:%s", path) < URL_BYTES)
        return true;
    container_close(format);
    return err_set(e, ERR_INPUT, "'%.60s...': the name is too long", path);
}

/* Opens the film with a prepared context; if that is NULL, `e` has the reason already. */
static bool open_prepared(const char *path, struct read_faults *faults, AVFormatContext **format,
                          struct err *e)
{
    char url[URL_BYTES];
    if (!*format || !make_url(path, format, url, e))
        return false;
    bool piped = (*format)->pb && !container_is_seekable(*format);
    struct av_log_counts logged = {0};
    int code = open_input(url, NULL, "", false, &logged, format);
    const AVInputFormat *other = logged.unlisted;
    if (code == AVERROR_INVALIDDATA && !interrupted())
        other = playlist_demuxer(path);
    if (code < 0 && other)
        return open_playlist(path, url, other, faults, format, e);
    if (code < 0)
        return refusal_of_container(path, code, piped, &logged, e);
    return true;
}

static bool open_unprobed(const char *path, struct read_faults *faults, AVFormatContext **format,
                          struct err *e)
{
    AVIOContext *io;
    if (!film_input_open(path, faults, &io, e))
        return false;
    if (io && film_input_index_last(io)) {
        film_input_close(&io);
        return err_set(e, ERR_INPUT,
                       "cannot read '%s' from a pipe: this MP4 has its index (moov) at the end; "
                       "give a file, or put the index in front with ffmpeg -movflags +faststart",
                       path);
    }
    *format = prepare_container(io, e);
    return open_prepared(path, faults, format, e);
}

/* Opens the film again from its first byte; the first bytes of a pipe are buffered. */
static bool reopen_unprobed(const char *path, struct read_faults *faults, AVFormatContext **format,
                            struct err *e)
{
    AVIOContext *io = (*format)->flags & AVFMT_FLAG_CUSTOM_IO ? (*format)->pb : NULL;
    avformat_close_input(format);
    if (!io)
        return open_unprobed(path, faults, format, e);
    if (!film_input_again(&io, e)) {
        film_input_close(&io);
        if (e->code == ERR_NONE)
            err_set(e, ERR_FAILED,
                    "cannot read '%s' from a pipe: its first two pictures are larger than 64 MiB",
                    path);
        return false;
    }
    *format = prepare_container(io, e);
    return open_prepared(path, faults, format, e);
}

/* Refuses text and single images. Images one after another are a film. */
static bool check_container(const char *path, struct read_faults *faults, AVFormatContext **format,
                            struct err *e)
{
    const struct container_quirks *quirks = container_quirks(*format);
    if (quirks->is_text)
        return err_set(e, ERR_INPUT, "'%s' is text, not a film", path);
    if (quirks->is_image_pipe) {
        bool follow = film_pictures_follow(*format);
        if (interrupted())
            return interrupt_error(e);
        if (!follow)
            return refusal_of_picture(path, e);
        return reopen_unprobed(path, faults, format, e);
    }
    if ((*format)->flags & AVFMT_FLAG_CUSTOM_IO)
        film_input_go_on((*format)->pb);
    return true;
}

static bool open_parts(const struct film *film, AVFormatContext **format, struct probed *probed,
                       struct err *e)
{
    AVIOContext *io;
    bool list = !joins_bytes(film);
    bool ok = list ? film_input_open_text(film->list, &io, e)
                   : film_input_open_parts(film->parts, film->faults, &io, e);
    if (!ok)
        return false;
    *format = prepare_container(io, e);
    if (!*format)
        return false;
    char url[URL_BYTES];
    if (!make_url(film->path, format, url, e))
        return false;
    int code = open_input(url, list ? av_find_input_format("concat") : NULL,
                          list ? "concat," IMAGES : "", list, &probed->logged, format);
    if (code >= 0 && list)
        code = allowed_demuxers(*format, IMAGES); /* no part may be a list */
    if (code < 0)
        return refusal_of_container(film->path, code, false, &probed->logged, e);
    return true;
}

void container_close(AVFormatContext **format)
{
    AVIOContext *io = *format && (*format)->flags & AVFMT_FLAG_CUSTOM_IO ? (*format)->pb : NULL;
    if (*format)
        drop_ahead(*format);
    avformat_close_input(format);
    film_input_close(&io);
}

/* Probes the streams with decoders that refuse large frames. */
static int find_stream_info(AVFormatContext *format)
{
    unsigned count = format->nb_streams;
    AVDictionary **options = av_calloc(count + 1, sizeof(AVDictionary *));
    for (unsigned i = 0; options && i < count; i++)
        av_dict_set_int(&options[i], "max_pixels", (int64_t)limits_pixels(), 0);
    int code = options ? avformat_find_stream_info(format, options) : AVERROR(ENOMEM);
    for (unsigned i = 0; options && i < count; i++)
        av_dict_free(&options[i]);
    av_free(options);
    return code;
}

/* Opens the container and probes up to `analyze_us` of its streams; 0: libavformat decides. */
static bool open_probed(const struct film *film, int64_t analyze_us, AVFormatContext **format,
                        struct probed *probed, struct err *e)
{
    const char *path = film->path;
    bool ok = film->list ? open_parts(film, format, probed, e)
                         : open_unprobed(path, film->faults, format, e) &&
                               check_container(path, film->faults, format, e);
    if (!ok)
        return false;
    keep_tags(*format, probed);
    if (analyze_us > 0) {
        (*format)->max_analyze_duration = analyze_us;
        (*format)->probesize = INT64_C(1) << 28; /* libavformat keeps what it reads */
    }
    struct av_log_counts *before = av_log_listen(&probed->logged);
    int code = find_stream_info(*format);
    av_log_listen(before);
    /* interrupted probing may return no error and leave the streams' parameters unknown */
    if (interrupted())
        return interrupt_error(e);
    if (code < 0)
        return refusal_of_container(path, code, false, &probed->logged, e);
    return true;
}

/* Opens the container, and returns the stream to read, or -1 on `e`. */
static int open_and_choose(const struct film *film, int requested, int64_t analyze_us,
                           AVFormatContext **format, struct probed *probed, struct err *e)
{
    int number, chosen = -1;
    if (!open_probed(film, analyze_us, format, probed, e))
        return -1;
    if (requested == SOURCE_STREAM_OR_SOUND && film_has_no_video(*format))
        chosen = film_sound_choose(*format, -1, film->sound, &number, film->path, e);
    if (chosen >= 0 || e->code != ERR_NONE)
        return chosen;
    return film_stream_choose(*format, requested, film->path, e);
}

/* Returns true if the video may begin later than probing reads. */
static bool may_begin_late(AVFormatContext *format, const AVStream *s)
{
    bool unsized = s->codecpar->codec_type == AVMEDIA_TYPE_VIDEO && s->codecpar->width <= 0;
    return unsized && container_is_seekable(format);
}

/* Opens the container. Returns the chosen stream, the only one that is kept, or NULL on `e`. */
static AVStream *open_chosen(const struct film *film, int requested, AVFormatContext **format,
                             struct probed *probed, struct err *e)
{
    const int64_t patient_us = 300000000;
    av_log_install();
    int chosen = open_and_choose(film, requested, 0, format, probed, e);
    if (chosen >= 0 && may_begin_late(*format, (*format)->streams[chosen])) {
        container_close(format);
        chosen = open_and_choose(film, requested, patient_us, format, probed, e);
    }
    if (chosen < 0)
        return NULL;
    assert(*format);
    for (unsigned i = 0; i < (*format)->nb_streams; i++)
        (*format)->streams[i]->discard = (int)i == chosen ? AVDISCARD_DEFAULT : AVDISCARD_ALL;
    AVStream *s = (*format)->streams[chosen];
    alpha_note(s);
    if (!refusal_check_stream(*format, s, film->path, &probed->logged, e))
        return NULL;
    return s;
}

/* Fills film->sound_stream and film->sound, and lets the stream's packets be read ahead. */
static bool choose_sound(AVFormatContext *format, int video, struct film *film, struct err *e)
{
    int requested = film->sound;
    film->sound = -1;
    if (requested == SOURCE_SOUND_NONE)
        return true;
    film->sound_stream = film_sound_choose(format, video, requested, &film->sound, film->path, e);
    if (film->sound_stream >= 0)
        format->streams[film->sound_stream]->discard = AVDISCARD_DEFAULT;
    return e->code == ERR_NONE;
}

bool container_open_parts(const char *path, const struct film_parts *parts, int requested,
                          AVFormatContext **format, struct film *film, struct err *e)
{
    *film = (struct film){.path = strdup(path),
                          .parts = parts,
                          .faults = film->faults,
                          .sound = film->sound,
                          .sound_stream = -1};
    if (!film->path) {
        err_memory(e, strlen(path) + 1);
        return false;
    }
    if (parts && !describe_parts(film, requested, e))
        return false;
    const struct film_length joined = film->length;
    struct probed probed = {0};
    AVStream *s = open_chosen(film, requested, format, &probed, e);
    if (!s) {
        read_faults_fail(film->faults, NULL, probed.logged.read_error, -1);
        return false;
    }
    read_faults_add_logged(film->faults, &probed.logged);
    struct colour_tags tags = {AVCOL_SPC_UNSPECIFIED, AVCOL_PRI_UNSPECIFIED,
                               AVCOL_RANGE_UNSPECIFIED, AVCOL_TRC_UNSPECIFIED};
    if ((unsigned)s->index < probed.streams)
        tags = probed.tags[s->index];
    if (!choose_sound(*format, s->index, film, e) || !film_facts_read(*format, s, tags, film, e))
        return false;
    if (film->sound_stream >= 0 && film->sound_stream != s->index)
        (*format)->streams[film->sound_stream]->discard = AVDISCARD_ALL;
    if (probed.logged.many_streams)
        log_msg(LOG_WARNING, "'%s' has more than %d streams: the others are ignored", path,
                STREAMS_MOST);
    memcpy(film->unopened, probed.logged.unopened, sizeof film->unopened);
    if (joined.duration_us > film->length.start_us) {
        film->length.duration_us = joined.duration_us - film->length.start_us;
        film->length.source = joined.source < LENGTH_TRACK ? joined.source : LENGTH_TRACK;
        if (film->rate_num > 0)
            film->length.frames =
                av_rescale(film->length.duration_us, film->rate_num, film->rate_den * 1000000);
    }
    return true;
}

static bool refuse_changed(const char *path, struct err *e)
{
    return err_set(e, ERR_INPUT, "'%s' changed while it was being read", path);
}

bool container_reopen(const struct film *film, int requested, AVFormatContext **format,
                      struct err *e)
{
    struct probed probed = {0};
    const AVStream *s = open_chosen(film, requested, format, &probed, e);
    read_faults_add_logged(film->faults, &probed.logged);
    if (!s)
        return false;
    const AVCodecParameters *par = s->codecpar;
    bool same = s->index == film->stream &&
                strcmp(avcodec_get_name(par->codec_id), film->codec) == 0 &&
                par->width == film->coded_width && par->height == film->coded_height;
    if (!same)
        return refuse_changed(film->path, e);
    return true;
}

bool container_open_again(const struct film *film, const AVFormatContext *opened,
                          AVFormatContext **format, struct err *e)
{
    if (!open_unprobed(film->path, film->faults, format, e))
        return false;
    bool same =
        (*format)->nb_streams == opened->nb_streams && (*format)->iformat == opened->iformat;
    for (unsigned i = 0; same && i < opened->nb_streams; i++) {
        AVStream *to = (*format)->streams[i];
        const AVStream *from = opened->streams[i];
        same = to->codecpar->codec_id == from->codecpar->codec_id &&
               av_cmp_q(to->time_base, from->time_base) == 0;
        if (same && avcodec_parameters_copy(to->codecpar, from->codecpar) < 0)
            return err_set(e, ERR_MEMORY, "out of memory to open '%s'", film->path);
        to->start_time = from->start_time;
        to->discard = from->discard;
    }
    if (!same)
        return refuse_changed(film->path, e);
    return true;
}
