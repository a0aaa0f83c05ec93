#include "parts_input.h"

#include <inttypes.h>
#include <libavutil/avstring.h>
#include <libavutil/mem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "allowed.h"
#include "container_quirks.h"
#include "open.h"
#include "read_faults.h"
#include "media/select/timeline.h"
#include "media/source.h"

/* The demuxer that reads parts that are images, beside those of films. */
#define IMAGES "image2"

/* What is known of the parts so far. */
struct parts_scan {
    struct read_faults *faults;
    struct film first; /* of the first part, without its path */
    const char *first_path;
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
    return !strpbrk(path, "\r\n") ||
           err_set(e, ERR_INPUT, "cannot join '%s' to other files: its name has a line break",
                   path);
}

/* Image `i` has a time that is rounded once, so that errors do not add up. */
static void put_image(struct parts_scan *s, const struct film_parts *parts, size_t i)
{
    int64_t end_us =
        av_rescale((int64_t)i + 1, parts->rate_den * INT64_C(1000000), parts->rate_num);
    int64_t stays_us = end_us - s->begin_us;
    put_name(s->text, parts->part[i].path);
    fprintf(s->text, "option framerate %" PRId64 "/%" PRId64 "\n", parts->rate_num,
            parts->rate_den);
    /* libavformat opens the first part with the list's own demuxers: see parts_input_open */
    if (i == 0)
        fprintf(s->text, "option format_whitelist %s," IMAGES "\n", allowed_names());
    if (strchr(parts->part[i].path, '%'))
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

/*
 * Returns true if a decoder can go on with another part: its headers are the same, or are repeated
 * in its pictures (H.264: by the demuxer "concat").
 */
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
    return container_quirks(format)->unframed || has_same_headers(s->headers, par) ||
           err_set(e, ERR_INPUT,
                   "cannot join '%s' to '%s': their %s was encoded with other settings", path,
                   s->first_path, s->first.codec);
}

/*
 * Writes the section of the part that is shown, unless the part begins or ends there anyway. To
 * begin at a time the demuxer may have to skip frames up to the next key frame.
 */
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

/* Opens part `i` and adds it to the list. */
static bool scan_film(struct parts_scan *s, const struct film_parts *parts, size_t i, int requested,
                      struct err *e)
{
    const struct film_part *part = &parts->part[i];
    AVFormatContext *format = NULL;
    struct film film = {.faults = s->faults, .sound = SOURCE_SOUND_NONE};
    bool ok = container_open_parts(part->path, NULL, requested, &format, &film, e) &&
              read_faults_check(s->faults, part->path, e);
    if (ok && container_quirks(format)->is_playlist)
        ok = err_set(e, ERR_INPUT, "cannot join '%s' to other files: it is a playlist", part->path);
    if (ok && i == 0) {
        s->bytes = container_quirks(format)->joins_bytes;
        s->first = film;
        s->first_path = part->path;
        s->headers = avcodec_parameters_alloc();
        ok = (s->headers &&
              avcodec_parameters_copy(s->headers, format->streams[film.stream]->codecpar) >= 0) ||
             err_memory(e, sizeof *s->headers);
    }
    ok = ok && (s->bytes || check_name(part->path, e)) && check_continues(s, format, part->path, e);
    if (ok && !s->bytes)
        put_film(s, part, format, &film);
    if (ok && film.length.source < s->first.length.source)
        s->first.length.source = film.length.source;
    container_close(&format);
    free(film.path);
    return ok;
}

/* Adds part `i` to the list. Images, and files whose bytes are joined, need not be opened. */
static bool add_part(struct parts_scan *s, const struct film_parts *parts, size_t i, int requested,
                     struct err *e)
{
    const char *path = parts->part[i].path;
    bool image = parts->rate_num > 0;
    if (interrupted())
        return interrupt_error(e);
    if (s->bytes)
        return true;
    if (image ? !check_name(path, e) : !scan_film(s, parts, i, requested, e))
        return false;
    if (image)
        put_image(s, parts, i);
    return true;
}

bool parts_input_describe(struct film *film, int requested, struct err *e)
{
    const struct film_parts *parts = film->parts;
    struct parts_scan s = {.faults = film->faults};
    char *text = NULL;
    size_t size = 0;
    bool ok = film_parts_check(film->path, parts, e);
    s.text = ok ? open_memstream(&text, &size) : NULL;
    if (!s.text)
        return ok ? err_memory(e, 1) : false;
    for (size_t i = 0; i < parts->count && ok; i++)
        ok = add_part(&s, parts, i, requested, e);
    avcodec_parameters_free(&s.headers);
    bool written = fclose(s.text) == 0;
    if (ok && written)
        film->list = text;
    else
        free(text);
    film->length =
        (struct film_length){.duration_us = s.bytes ? -1 : s.end_us,
                             .source = parts->rate_num > 0 ? LENGTH_TRACK : s.first.length.source};
    return film->list ? true : ok ? err_memory(e, size) : false;
}

bool parts_input_is_bytes(const struct film *film) { return film->list[0] == 0; }

int parts_input_open(const struct film *film, AVFormatContext **format)
{
    AVDictionary *options = NULL;
    bool list = !parts_input_is_bytes(film);
    char *url = av_asprintf("file:%s", film->path);
    av_dict_set(&options, "protocol_whitelist", "file", 0);
    av_dict_set(&options, "safe", "0", 0); /* a part may have any name */
    int code = url ? allowed_demuxers(*format, list ? "concat," IMAGES : "") : AVERROR(ENOMEM);
    if (code >= 0)
        code = avformat_open_input(format, url, list ? av_find_input_format("concat") : NULL,
                                   &options);
    else
        avformat_close_input(format);
    av_free(url);
    av_dict_free(&options);
    if (code >= 0 && list)
        code = allowed_demuxers(*format, IMAGES); /* no part may be a list */
    return code;
}
