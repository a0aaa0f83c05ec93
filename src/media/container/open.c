#include "open.h"

#include <assert.h>
#include <errno.h>
#include <libavutil/pixdesc.h>
#include <string.h>

#include "allowed.h"
#include "container_quirks.h"
#include "declared_length.h"
#include "hdr_metadata.h"
#include "image_pipe.h"
#include "orientation.h"
#include "parts_input.h"
#include "pipe_input.h"
#include "playlist.h"
#include "read_ahead.h"
#include "refusal.h"
#include "stream_select.h"
#include "media/ffmpeg/libav.h"
#include "media/ffmpeg/av_log.h"
#include "media/ffmpeg/colour_tags.h"
#include "media/select/timeline.h"
#include "base/interrupt.h"
#include "base/limits.h"
#include "base/log.h"
#include "media/source.h"

#include "base/watch.h"

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
    return got == AVERROR_EOF ? 0 : got < 0 ? -1 : got;
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

static void read_title(const AVFormatContext *format, struct film *f)
{
    const AVDictionaryEntry *title = av_dict_get(format->metadata, "title", NULL, 0);
    snprintf(f->title, sizeof f->title, "%s", title ? title->value : "");
}

/* Returns the bytes of a pixel in memory, rounded up; 0 if the pixel format is unknown. */
static int pixel_bytes(int format)
{
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get((enum AVPixelFormat)format);
    return d ? (av_get_padded_bits_per_pixel(d) + 7) / 8 : 0;
}

static bool is_video(const AVStream *s) { return s->codecpar->codec_type == AVMEDIA_TYPE_VIDEO; }

/* Fills what is known of the pictures of `f`, which has its orientation already. */
static void read_picture_facts(AVFormatContext *format, AVStream *s, struct colour_tags tags,
                               struct film *f)
{
    const AVCodecParameters *par = s->codecpar;
    f->coded_width = par->width;
    f->coded_height = par->height;
    f->pixel_bytes = pixel_bytes(par->format);
    bool turned = f->orientation.quarter_turns % 2 == 1;
    f->width = turned ? par->height : par->width;
    f->height = turned ? par->width : par->height;
    AVRational sample = av_guess_sample_aspect_ratio(format, s, NULL);
    bool has_sample_aspect = sample.num > 0 && sample.den > 0;
    f->sample_num = !has_sample_aspect ? 1 : turned ? sample.den : sample.num;
    f->sample_den = !has_sample_aspect ? 1 : turned ? sample.num : sample.den;
    film_colour_decide(par, tags, f);
    film_light_of_stream(s, f);
}

/* Fills `f`, which has its path and orientation already. */
static void read_facts(AVFormatContext *format, AVStream *s, struct colour_tags tags,
                       struct film *f)
{
    const struct container_quirks *quirks = container_quirks(format);
    snprintf(f->container, sizeof f->container, "%s", format->iformat->name);
    f->frames_have_times = quirks->frames_have_times;
    f->lists_key_frames = quirks->index != KEY_INDEX_NONE;
    read_title(format, f);
    snprintf(f->codec, sizeof f->codec, "%s", avcodec_get_name(s->codecpar->codec_id));
    unsigned codec = avcodec_version(), container = avformat_version();
    snprintf(f->library, sizeof f->library, "libavcodec %u.%u.%u, libavformat %u.%u.%u",
             AV_VERSION_MAJOR(codec), AV_VERSION_MINOR(codec), AV_VERSION_MICRO(codec),
             AV_VERSION_MAJOR(container), AV_VERSION_MINOR(container), AV_VERSION_MICRO(container));
    f->stream = s->index;
    if (is_video(s))
        read_picture_facts(format, s, tags, f);
    AVRational rate = av_guess_frame_rate(format, s, NULL);
    f->rate_num = rate.num > 0 && rate.den > 0 ? rate.num : 0;
    f->rate_den = rate.num > 0 && rate.den > 0 ? rate.den : 1;
    f->length = declared_length(format, s, rate);
}

/* The colour tags of the first streams in the container's header, and messages of the probing. */
struct head {
    struct av_log_counts logged;
    unsigned streams;
    struct colour_tags tags[64];
};

static void read_head(const AVFormatContext *format, struct head *head)
{
    const unsigned room = sizeof head->tags / sizeof *head->tags;
    head->streams = format->nb_streams < room ? format->nb_streams : room;
    for (unsigned i = 0; i < head->streams; i++)
        head->tags[i] = film_colour_tags(format->streams[i]->codecpar);
}

/*
 * Implements AVIOInterruptCB, which libavformat calls before it reads and while it waits. Bytes
 * read since the last call are progress.
 */
static int stop_waiting(void *format)
{
    static _Thread_local int64_t last;
    const AVIOContext *io = ((const AVFormatContext *)format)->pb;
    if (io && io->bytes_read != last)
        watch_moved();
    last = io ? io->bytes_read : last;
    return interrupt_pending();
}

static bool check_pipe(AVIOContext *io, const char *path, struct err *e)
{
    return !film_input_index_last(io) ||
           err_set(e, ERR_INPUT,
                   "cannot read '%s' from a pipe: this MP4 has its index (moov) at the end; give a "
                   "file, or put the index in front with ffmpeg -movflags +faststart",
                   path);
}

/*
 * Makes the context for avformat_open_input to read from `own`, which it owns from then on; NULL:
 * from the film's file. Returns NULL if out of memory.
 */
static AVFormatContext *prepare_container(AVIOContext *own, struct err *e)
{
    AVFormatContext *format = avformat_alloc_context();
    if (!format) {
        film_input_close(&own);
        err_memory(e, sizeof *format);
        return NULL;
    }
    format->interrupt_callback = (AVIOInterruptCB){stop_waiting, format};
    format->io_open = allowed_open;
    format->io_close2 = allowed_close;
    format->max_streams = STREAMS_MOST;
    format->flags |= own ? AVFMT_FLAG_CUSTOM_IO : 0;
    format->pb = own;
    return format;
}

/* Opens the film with a prepared context, by a demuxer of films or that of a playlist. */
static int open_input(const char *url, const AVInputFormat *playlist, AVFormatContext **format)
{
    AVDictionary *options = NULL;
    AVIOContext *io = (*format)->pb;
    av_dict_set(&options, "protocol_whitelist", "file", 0);
    int code = allowed_demuxers(*format, playlist ? playlist->name : "");
    if (code >= 0)
        code = avformat_open_input(format, url, playlist, &options);
    else
        avformat_close_input(format);
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
    AVIOContext *own;
    if (!container_quirks_of(demuxer)->is_playlist)
        return refusal_of_demuxer(path, demuxer, e);
    if (!playlist_check(path, demuxer, e) || !film_input_open(path, faults, &own, e))
        return false;
    *format = prepare_container(own, e);
    if (!*format)
        return false;
    struct av_log_counts *before = av_log_listen(&logged);
    int code = open_input(url, demuxer, format);
    av_log_listen(before);
    if (code < 0)
        read_faults_fail(faults, NULL, logged.read_error, -1);
    /* from now on no file that the playlist names may be a playlist */
    if (code >= 0)
        code = allowed_demuxers(*format, "");
    return code >= 0 || refusal_of_container(path, code, false, &logged, e);
}

/* Opens the film with a prepared context; if that is NULL, `e` has the reason already. */
static bool open_prepared(const char *path, struct read_faults *faults, AVFormatContext **format,
                          struct err *e)
{
    char url[4096];
    if (!*format)
        return false;
    if (snprintf(url, sizeof url, "file:%s", path) >= (int)sizeof url) {
        container_close(format);
        return err_set(e, ERR_INPUT, "'%.60s...': the name is too long", path);
    }
    bool piped = (*format)->pb && !container_is_seekable(*format);
    struct av_log_counts logged = {0};
    struct av_log_counts *before = av_log_listen(&logged);
    int code = open_input(url, NULL, format);
    av_log_listen(before);
    const AVInputFormat *other = logged.unlisted;
    if (code == AVERROR_INVALIDDATA && !interrupted())
        other = playlist_demuxer(path);
    if (code < 0 && other)
        return open_playlist(path, url, other, faults, format, e);
    return code >= 0 || refusal_of_container(path, code, piped, &logged, e);
}

static bool open_head(const char *path, struct read_faults *faults, AVFormatContext **format,
                      struct err *e)
{
    AVIOContext *own;
    if (!film_input_open(path, faults, &own, e))
        return false;
    if (own && !check_pipe(own, path, e)) {
        film_input_close(&own);
        return false;
    }
    *format = prepare_container(own, e);
    return open_prepared(path, faults, format, e);
}

/* Opens the film again from its first byte; the first bytes of a pipe are buffered. */
static bool open_head_again(const char *path, struct read_faults *faults, AVFormatContext **format,
                            struct err *e)
{
    AVIOContext *own = (*format)->flags & AVFMT_FLAG_CUSTOM_IO ? (*format)->pb : NULL;
    avformat_close_input(format);
    if (!own)
        return open_head(path, faults, format, e);
    if (!film_input_again(&own, e)) {
        film_input_close(&own);
        return e->code != ERR_NONE ? false
                                   : err_set(e, ERR_FAILED,
                                             "cannot read '%s' from a pipe: its first two pictures "
                                             "are larger than 64 MiB",
                                             path);
    }
    *format = prepare_container(own, e);
    return open_prepared(path, faults, format, e);
}

/*
 * Refuses text ("tty") and single images, which libavformat's probing accepts. Images one after
 * another are a film.
 */
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
        return follow ? open_head_again(path, faults, format, e) : refusal_of_picture(path, e);
    }
    if ((*format)->flags & AVFMT_FLAG_CUSTOM_IO)
        film_input_go_on((*format)->pb);
    return true;
}

static bool open_parts(const struct film *film, AVFormatContext **format, struct head *head,
                       struct err *e)
{
    AVIOContext *own;
    if (parts_input_is_bytes(film) ? !film_input_open_parts(film->parts, film->faults, &own, e)
                                   : !film_input_open_text(film->list, &own, e))
        return false;
    *format = prepare_container(own, e);
    if (!*format)
        return false;
    struct av_log_counts *before = av_log_listen(&head->logged);
    int code = parts_input_open(film, format);
    av_log_listen(before);
    if (code < 0)
        film_input_close(&own); /* avformat_open_input has freed the context */
    return code >= 0 || refusal_of_container(film->path, code, false, &head->logged, e);
}

void container_close(AVFormatContext **format)
{
    AVIOContext *own = *format && (*format)->flags & AVFMT_FLAG_CUSTOM_IO ? (*format)->pb : NULL;
    if (*format)
        container_drop_ahead(*format);
    avformat_close_input(format);
    film_input_close(&own);
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

/* Opens the container and probes its streams, up to `analyze_us` of them; 0: as libavformat does.
 */
static bool open_probed(const struct film *film, int64_t analyze_us, AVFormatContext **format,
                        struct head *head, struct err *e)
{
    const char *path = film->path;
    if (film->list ? !open_parts(film, format, head, e)
                   : !open_head(path, film->faults, format, e) ||
                         !check_container(path, film->faults, format, e))
        return false;
    read_head(*format, head);
    if (analyze_us > 0) {
        (*format)->max_analyze_duration = analyze_us;
        (*format)->probesize = INT64_C(1) << 28; /* libavformat keeps what it reads */
    }
    struct av_log_counts *before = av_log_listen(&head->logged);
    int code = find_stream_info(*format);
    av_log_listen(before);
    /* interrupted probing may return no error and leave the streams' parameters unknown */
    if (interrupted())
        return interrupt_error(e);
    return code >= 0 || refusal_of_container(path, code, false, &head->logged, e);
}

/* Opens the container, and returns the stream to read, or -1 on `e`. */
static int open_and_choose(const struct film *film, int requested, int64_t analyze_us,
                           AVFormatContext **format, struct head *head, struct err *e)
{
    int number, chosen = -1;
    if (!open_probed(film, analyze_us, format, head, e))
        return -1;
    if (requested == SOURCE_STREAM_OR_SOUND && film_has_no_video(*format))
        chosen = film_sound_choose(*format, -1, film->sound, &number, film->path, e);
    return chosen >= 0 || e->code != ERR_NONE
               ? chosen
               : film_stream_choose(*format, requested, film->path, e);
}

/* Returns true if the video may begin later than probing reads. The position in the file is lost.
 */
static bool may_begin_late(AVFormatContext *format, const AVStream *s)
{
    return is_video(s) && s->codecpar->width <= 0 && container_is_seekable(format) &&
           !refusal_is_scrambled(format, s);
}

/*
 * Opens the container and discards all streams except the chosen one. Returns that stream, or NULL
 * on `e`.
 */
static AVStream *open_chosen(const struct film *film, int requested, AVFormatContext **format,
                             struct head *head, struct err *e)
{
    const int64_t patient_us = 300000000;
    av_log_install();
    int chosen = open_and_choose(film, requested, 0, format, head, e);
    if (chosen >= 0 && may_begin_late(*format, (*format)->streams[chosen])) {
        container_close(format);
        chosen = open_and_choose(film, requested, patient_us, format, head, e);
    }
    if (chosen < 0)
        return NULL;
    assert(*format);
    for (unsigned i = 0; i < (*format)->nb_streams; i++)
        (*format)->streams[i]->discard = (int)i == chosen ? AVDISCARD_DEFAULT : AVDISCARD_ALL;
    AVStream *s = (*format)->streams[chosen];
    alpha_note(s);
    return refusal_check_stream(*format, s, film->path, &head->logged, e) ? s : NULL;
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

bool container_open(const char *path, int requested, AVFormatContext **format, struct film *film,
                    struct err *e)
{
    film->faults = NULL;
    film->sound = SOURCE_SOUND_NONE;
    return container_open_parts(path, NULL, requested, format, film, e);
}

bool container_open_parts(const char *path, const struct film_parts *parts, int requested,
                          AVFormatContext **format, struct film *film, struct err *e)
{
    *film = (struct film){.path = strdup(path),
                          .parts = parts,
                          .faults = film->faults,
                          .sound = film->sound,
                          .sound_stream = -1};
    if (!film->path)
        return err_memory(e, strlen(path) + 1);
    if (parts && !parts_input_describe(film, requested, e))
        return false;
    const struct film_length joined = film->length;
    struct head head = {0};
    AVStream *s = open_chosen(film, requested, format, &head, e);
    if (!s) {
        read_faults_fail(film->faults, NULL, head.logged.read_error, -1);
        return false;
    }
    read_faults_hear(film->faults, &head.logged);
    if (!choose_sound(*format, s->index, film, e) ||
        !container_find_orientation(*format, s, &film->orientation, e))
        return false;
    if (film->sound_stream >= 0 && film->sound_stream != s->index)
        (*format)->streams[film->sound_stream]->discard = AVDISCARD_ALL;
    const struct colour_tags silence = {AVCOL_SPC_UNSPECIFIED, AVCOL_PRI_UNSPECIFIED,
                                        AVCOL_RANGE_UNSPECIFIED, AVCOL_TRC_UNSPECIFIED};
    read_facts(*format, s, (unsigned)s->index < head.streams ? head.tags[s->index] : silence, film);
    if (head.logged.many_streams)
        log_msg(LOG_WARNING, "'%s' has more than %d streams: the others are ignored", path,
                STREAMS_MOST);
    memcpy(film->unopened, head.logged.unopened, sizeof film->unopened);
    if (joined.duration_us > film->length.start_us) {
        film->length.duration_us = joined.duration_us - film->length.start_us;
        film->length.source = joined.source < LENGTH_TRACK ? joined.source : LENGTH_TRACK;
        if (film->rate_num > 0)
            film->length.frames =
                av_rescale(film->length.duration_us, film->rate_num, film->rate_den * 1000000);
    }
    film_stream_count(*format, film);
    return true;
}

static bool refuse_changed(const char *path, struct err *e)
{
    return err_set(e, ERR_INPUT, "'%s' changed while it was being read", path);
}

bool container_reopen(const struct film *film, int requested, AVFormatContext **format,
                      struct err *e)
{
    struct head head = {0};
    const AVStream *s = open_chosen(film, requested, format, &head, e);
    read_faults_hear(film->faults, &head.logged);
    if (!s)
        return false;
    const AVCodecParameters *par = s->codecpar;
    bool same = s->index == film->stream &&
                strcmp(avcodec_get_name(par->codec_id), film->codec) == 0 &&
                par->width == film->coded_width && par->height == film->coded_height;
    return same || refuse_changed(film->path, e);
}

bool container_open_again(const struct film *film, const AVFormatContext *opened,
                          AVFormatContext **format, struct err *e)
{
    if (!open_head(film->path, film->faults, format, e))
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
    return same || refuse_changed(film->path, e);
}
