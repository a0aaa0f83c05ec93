#include "live_picture.h"

#include <fcntl.h>
#include <libavformat/avformat.h>
#include <libavutil/avstring.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "live_decode.h"
#include "media/bitstream/exif.h"
#include "media/container/allowed.h"
#include "media/container/refusal.h"
#include "media/ffmpeg/libav.h"
#include "media/ffmpeg/av_log.h"
#include "barcode/base/clock.h"
#include "base/file.h"
#include "base/log.h"

enum { HEAD_BYTES = 128 << 10 }; /* the largest EXIF is 64 KiB */

bool live_picture_is_name(const char *name)
{
    return name[0] != '.' && av_match_ext(name, "jpg,jpeg,jpe,png,webp,bmp,tif,tiff,avif,jxl,jp2,"
                                                "pgm,ppm,pnm,fits,fit");
}

/* Converts a camera's clock, as if it were UTC, by the time zone of the process. */
static int64_t utc_of_local(int64_t local_us)
{
    time_t seconds = (time_t)(local_us / 1000000);
    struct tm tm;
    gmtime_r(&seconds, &tm);
    tm.tm_isdst = -1;
    return (int64_t)mktime(&tm) * 1000000 + local_us % 1000000;
}

/* Clocks that differ by less may both be right. */
static const int64_t future_us = INT64_C(86400000000);

/* Returns when a picture was taken. A date that is still to come is a wrong clock's. */
static int64_t time_of(const char *path, const struct exif *x, int64_t modified_us)
{
    const int64_t now_us = clock_wall_us();
    int64_t us = !x->has_time    ? INT64_MAX
                 : x->has_offset ? x->time_us - x->offset_us
                                 : utc_of_local(x->time_us);
    if (us > now_us + future_us)
        us = modified_us;
    if (us > now_us + future_us)
        log_msg(LOG_VERBOSE, "'%s' has a time that is still to come: it counts as of now", path);
    return us <= now_us + future_us ? us : now_us;
}

bool live_picture_read(const char *path, struct live_picture *p)
{
    struct stat s;
    uint8_t *head = malloc(HEAD_BYTES);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    bool ok = head && fd >= 0 && fstat(fd, &s) == 0 && S_ISREG(s.st_mode);
    ssize_t size = ok ? pread(fd, head, HEAD_BYTES, 0) : -1;
    if (fd >= 0)
        close(fd);
    if (size >= 0) {
        struct exif x = exif_read(head, (size_t)size);
        *p = (struct live_picture){.modified_ns = clock_in_ns(s.st_mtim),
                                   .orientation = x.orientation};
        p->time_us = time_of(path, &x, p->modified_ns / 1000);
    }
    free(head);
    return size >= 0;
}

/* ------------------------------------------------------------------ decoding */

/* Adds to a decoded frame what the file says of it. */
struct turned {
    const struct live_picture *picture;
    struct film *film;
    const struct live_sink *sink;
    bool given, refused;
};

static bool give_turned(void *user, const struct live_frame *decoded, struct err *e)
{
    struct turned *t = user;
    struct film *film = t->film;
    char *path = film->path;
    struct frame_view view = *decoded->view;
    struct live_frame frame = *decoded;
    *film = *decoded->film;
    film->path = path;
    film->orientation = view.orientation = t->picture->orientation;
    if (film->orientation.quarter_turns % 2 == 1) {
        film->width = decoded->film->height;
        film->height = decoded->film->width;
        film->sample_num = decoded->film->sample_den;
        film->sample_den = decoded->film->sample_num;
    }
    frame.film = film;
    frame.view = &view;
    frame.time_us = t->picture->time_us;
    t->given = true;
    t->refused = !t->sink->frame(t->sink->user, &frame, e);
    return !t->refused;
}

/*
 * Opens a file as one of the containers of films, which those of images are, too. It is recognized
 * by its bytes alone: a name makes libavformat choose image2, which opens files by patterns.
 */
static int open_container(const char *path, AVFormatContext **format, AVIOContext **file)
{
    AVDictionary *options = NULL;
    char *url = av_asprintf("file:%s", path);
    AVFormatContext *opened = url ? avformat_alloc_context() : NULL;
    int code = opened ? avio_open2(file, url, AVIO_FLAG_READ, NULL, NULL) : AVERROR(ENOMEM);
    if (code >= 0)
        code = allowed_demuxers(opened, "");
    if (code >= 0) {
        opened->pb = *file;
        opened->io_open = allowed_open;
        opened->max_streams = STREAMS_MOST;
        av_dict_set(&options, "protocol_whitelist", "file", 0);
        code = avformat_open_input(&opened, "", NULL, &options);
    } else {
        avformat_free_context(opened);
    }
    av_dict_free(&options);
    av_free(url);
    *format = code >= 0 ? opened : NULL;
    return code;
}

static const AVStream *find_video(const AVFormatContext *format)
{
    for (unsigned i = 0; i < format->nb_streams; i++)
        if (format->streams[i]->codecpar->codec_type == AVMEDIA_TYPE_VIDEO)
            return format->streams[i];
    return NULL;
}

/* Decodes the first coded picture of the stream. Returns false with *e. */
static bool decode_first(AVFormatContext *format, const AVStream *stream, const char *path,
                         const struct live_options *o, const struct live_sink *sink, struct err *e)
{
    struct live_decode *decode = live_decode_open(stream, path, o, e);
    AVPacket *packet = av_packet_alloc();
    bool ok = decode && (packet || err_memory(e, sizeof *packet)), found = false;
    while (ok && packet && !found && av_read_frame(format, packet) >= 0) {
        found = packet->stream_index == stream->index;
        if (found)
            ok = live_decode_packet(decode, packet, clock_ns(), 0, sink, e);
        av_packet_unref(packet);
    }
    ok = ok && live_decode_end(decode, sink, e);
    av_packet_free(&packet);
    live_decode_close(&decode);
    return ok;
}

bool live_picture_give(const char *path, const struct live_picture *p, const struct live_options *o,
                       struct film *film, const struct live_sink *sink, struct err *e)
{
    struct turned turned = {.picture = p, .film = film, .sink = sink};
    const struct live_sink inner = {.frame = give_turned, .user = &turned};
    AVFormatContext *format = NULL;
    AVIOContext *file = NULL;
    struct err own = ERR_INIT;
    char text[128];
    av_log_install();
    int code = open_container(path, &format, &file);
    const AVStream *stream = format ? find_video(format) : NULL;
    if (code < 0)
        err_set(&own, ERR_INPUT, "%s", av_error_text(code, text));
    if (stream)
        decode_first(format, stream, path, o, &inner, &own);
    avformat_close_input(&format);
    avio_closep(&file);
    if (turned.refused || own.code == ERR_MEMORY) {
        *e = own;
        return false;
    }
    if (!turned.given)
        log_msg(LOG_WARNING, "'%s' is passed over: %s", path,
                own.code != ERR_NONE ? own.text : "it has no picture");
    return true;
}
