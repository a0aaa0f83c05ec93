#include "open.h"

#include <assert.h>
#include <libavutil/display.h>
#include <libavutil/parseutils.h>
#include <libavutil/pixdesc.h>
#include <string.h>
#include <sys/stat.h>
#include <math.h>

#include "container_quirks.h"
#include "hdr_metadata.h"
#include "image_pipe.h"
#include "parts_input.h"
#include "pipe_input.h"
#include "stream_select.h"
#include "media/bitstream/mp4_box.h"
#include "media/ffmpeg/av_compat.h"
#include "media/ffmpeg/av_error.h"
#include "media/ffmpeg/av_log.h"
#include "media/frame/colour_tags.h"
#include "media/frame/frame_view.h"
#include "barcode/base/file.h"
#include "barcode/base/interrupt.h"

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

int64_t container_frame_us(const struct film *f)
{
    if (f->rate_num <= 0)
        return 40000;
    int64_t us = av_rescale(1000000, f->rate_den, f->rate_num);
    return us > 0 ? us : 1;
}

/*
 * Reads the display matrix, which maps (x, y) to (ax + cy, bx + dy). A negative determinant means a
 * mirrored picture.
 */
static struct orientation read_orientation(AVStream *s)
{
    struct orientation o = {0, false};
    size_t size = 0;
    const uint8_t *data = av_compat_side_data(s, AV_PKT_DATA_DISPLAYMATRIX, &size);
    if (!data || size < 9 * sizeof(int32_t))
        return o;
    int32_t m[9];
    memcpy(m, data, sizeof m);
    o.mirror = (double)m[0] * m[4] - (double)m[1] * m[3] < 0;
    if (o.mirror) {
        m[0] = -m[0];
        m[1] = -m[1];
    }
    double degrees = av_display_rotation_get(m); /* counter-clockwise */
    if (!isnan(degrees))
        o.quarter_turns = ((int)lround(-degrees / 90) % 4 + 4) % 4;
    return o;
}

/* Returns true if the declared length is a placeholder that its writer never replaced. */
static bool is_placeholder(const AVFormatContext *format, const AVStream *s)
{
    const struct container_quirks *q = container_quirks(format);
    return (q->unset_duration > 0 && s->duration == q->unset_duration) ||
           (q->duration_max > 0 && s->duration > q->duration_max) ||
           (q->unset_frames > 0 && s->nb_frames == q->unset_frames);
}

int64_t container_shortened_us(const AVFormatContext *format, const AVStream *stream)
{
    int64_t frames = stream->nb_frames;
    bool shortened = container_quirks(format)->shortens_duration &&
                     !is_placeholder(format, stream) && stream->duration > 0 &&
                     frames > stream->duration;
    return shortened ? av_rescale_q(frames, stream->time_base, AV_TIME_BASE_Q) : 0;
}

/*
 * Returns the duration of the video, or -1 if the file has none. Matroska declares one duration for
 * all streams, from 0 even if the first picture comes later. FFmpeg's muxer adds a tag DURATION for
 * each stream.
 */
static int64_t read_duration(const AVFormatContext *format, const AVStream *s)
{
    if (is_placeholder(format, s))
        return -1;
    int64_t shortened_us = container_shortened_us(format, s);
    if (shortened_us > 0)
        return shortened_us;
    if (s->duration != AV_NOPTS_VALUE && s->duration > 0)
        return av_rescale_q(s->duration, s->time_base, AV_TIME_BASE_Q);
    int64_t us = format->duration != AV_NOPTS_VALUE && format->duration > 0 ? format->duration : -1;
    if (!container_quirks(format)->duration_from_0)
        return us;
    const AVDictionaryEntry *tag = av_dict_get(s->metadata, "DURATION", NULL, 0);
    int64_t tagged;
    if (tag && av_parse_time(&tagged, tag->value, 1) >= 0 && tagged > 0)
        us = tagged;
    if (us > 0 && s->start_time != AV_NOPTS_VALUE)
        us -= av_rescale_q(s->start_time, s->time_base, AV_TIME_BASE_Q);
    return us > 0 ? us : -1;
}

static void read_title(const AVFormatContext *format, struct film *f)
{
    const AVDictionaryEntry *title = av_dict_get(format->metadata, "title", NULL, 0);
    snprintf(f->title, sizeof f->title, "%s", title ? title->value : "");
}

static void read_facts(AVFormatContext *format, AVStream *s, struct colour_tags tags,
                       struct film *f)
{
    const AVCodecParameters *par = s->codecpar;
    const struct container_quirks *quirks = container_quirks(format);
    snprintf(f->container, sizeof f->container, "%s", format->iformat->name);
    f->frames_have_times = quirks->frames_have_times;
    f->lists_key_frames = quirks->index != KEY_INDEX_NONE;
    read_title(format, f);
    snprintf(f->codec, sizeof f->codec, "%s", avcodec_get_name(par->codec_id));
    unsigned codec = avcodec_version(), container = avformat_version();
    snprintf(f->library, sizeof f->library, "libavcodec %u.%u.%u, libavformat %u.%u.%u",
             AV_VERSION_MAJOR(codec), AV_VERSION_MINOR(codec), AV_VERSION_MICRO(codec),
             AV_VERSION_MAJOR(container), AV_VERSION_MINOR(container), AV_VERSION_MICRO(container));
    f->stream = s->index;
    f->coded_width = par->width;
    f->coded_height = par->height;
    f->orientation = read_orientation(s);
    bool turned = f->orientation.quarter_turns % 2 == 1;
    f->width = turned ? par->height : par->width;
    f->height = turned ? par->width : par->height;
    AVRational sample = av_guess_sample_aspect_ratio(format, s, NULL);
    bool has_sample_aspect = sample.num > 0 && sample.den > 0;
    f->sample_num = !has_sample_aspect ? 1 : turned ? sample.den : sample.num;
    f->sample_den = !has_sample_aspect ? 1 : turned ? sample.num : sample.den;
    film_colour_decide(par, tags, f);
    film_light_of_stream(s, f);

    AVRational rate = av_guess_frame_rate(format, s, NULL);
    f->rate_num = rate.num > 0 && rate.den > 0 ? rate.num : 0;
    f->rate_den = rate.num > 0 && rate.den > 0 ? rate.den : 1;
    f->duration_us = read_duration(format, s);
    /* If timestamps may jump, their difference is not a duration either. */
    bool rated = format->duration_estimation_method == AVFMT_DURATION_FROM_BITRATE;
    f->duration_guessed = rated || format->iformat->flags & AVFMT_TS_DISCONT ||
                          (quirks->longest_duration && format->nb_streams > 1);
    f->frames = s->nb_frames > 0 && !is_placeholder(format, s) ? s->nb_frames : -1;
    /*
     * A duration that is estimated from the bit rate may be wrong by any factor, so it is not used
     * to estimate the frame count.
     */
    bool length = f->duration_us > 0 && !rated;
    if (f->frames < 0 && length && f->rate_num > 0)
        f->frames = av_rescale(f->duration_us, f->rate_num, f->rate_den * 1000000);
}

/*
 * Returns true for MP4's sample entries of Common Encryption and FairPlay, and its initialisation
 * data; for a Matroska track with a key ID; for ASF's two objects for rights management.
 */
static bool is_encrypted(const AVFormatContext *format, const AVStream *s)
{
    uint32_t tag = s->codecpar->codec_tag;
    const AVDictionaryEntry *extended = av_dict_get(format->metadata, "encryption", NULL, 0);
    return tag == MKTAG('e', 'n', 'c', 'v') || tag == MKTAG('d', 'r', 'm', 'i') ||
           av_compat_side_data(s, AV_PKT_DATA_ENCRYPTION_INIT_INFO, NULL) ||
           av_dict_get(s->metadata, "enc_key_id", NULL, 0) ||
           av_dict_get(format->metadata, "ASF_Protection_Type", NULL, 0) ||
           (extended && strcmp(extended->value, "ASF Extended Content Encryption") == 0);
}

static bool check_stream(const AVFormatContext *format, const AVStream *s, const char *path,
                         struct err *e)
{
    const AVCodecParameters *par = s->codecpar;
    if (is_encrypted(format, s))
        return err_set(e, ERR_INPUT, "'%s' is encrypted", path);
    if (!avcodec_find_decoder(par->codec_id))
        return err_set(e, ERR_INPUT, "cannot decode '%s': no decoder for its codec '%s'", path,
                       avcodec_get_name(par->codec_id));
    if (par->width <= 0 || par->height <= 0)
        return err_set(e, ERR_INPUT, "cannot decode '%s': its frame size is unknown", path);
    if (par->format != AV_PIX_FMT_NONE && !view_format_known(par->format))
        return err_set(e, ERR_INPUT, "cannot decode '%s': pixel format '%s' is not supported", path,
                       av_get_pix_fmt_name(par->format));
    return true;
}

/*
 * Opens a regular file. Returns NULL for a pipe: opening that again would wait for another writer.
 */
static FILE *open_regular(const char *path)
{
    return file_is_regular(path) ? fopen(path, "rb") : NULL;
}

/*
 * Returns true for an animated WebP, by the flag in its header. FFmpeg reads every WebP as a single
 * image.
 */
static bool is_animated_webp(const char *path)
{
    uint8_t head[21] = {0};
    FILE *f = open_regular(path);
    bool is = f && fread(head, sizeof head, 1, f) == 1 && memcmp(head, "RIFF", 4) == 0 &&
              memcmp(head + 8, "WEBPVP8X", 8) == 0 && head[20] & 2;
    if (f)
        fclose(f);
    return is;
}

static bool refuse_picture(const char *path, struct err *e)
{
    if (is_animated_webp(path))
        return err_set(e, ERR_INPUT, "'%s' is an animated WebP, which this FFmpeg does not decode",
                       path);
    return err_set(e, ERR_INPUT, "'%s' is an image, not a film", path);
}

/*
 * Returns true for a file that begins as a film in MP4 and has no index, the box `moov`. The index
 * is at the end unless it was moved, so a download that stopped early lacks it.
 */
static bool lacks_index(const char *path)
{
    enum { HEAD = MP4_BOX_HEAD_LONG };
    uint8_t head[HEAD] = {0};
    FILE *f = open_regular(path);
    bool is = f && fread(head, 12, 1, f) == 1 && mp4_box_is(head, 12, "ftyp") &&
              memcmp(head + 8, "hei", 3) != 0 && memcmp(head + 8, "mif1", 4) != 0 &&
              memcmp(head + 8, "avif", 4) != 0;
    for (int64_t at = 0;
         is && at >= 0 && fseeko(f, at, SEEK_SET) == 0 && fread(head, HEAD, 1, f) == 1;
         at = mp4_box_next(head, HEAD, at))
        is = !mp4_box_is(head, HEAD, "moov");
    if (f)
        fclose(f);
    return is;
}

/* The colour tags of the first streams in the container's header. */
struct head {
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

static int stop_waiting(void *nothing)
{
    (void)nothing;
    return interrupted();
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
    format->interrupt_callback.callback = stop_waiting;
    format->flags |= own ? AVFMT_FLAG_CUSTOM_IO : 0;
    format->pb = own;
    return format;
}

/* Fills `e` with the reason why avformat_open_input failed. Returns false. */
static bool explain_no_container(const char *path, int code, bool piped, struct err *e)
{
    char text[128];
    if (interrupted())
        return interrupt_error(e);
    if (code == AVERROR_INVALIDDATA && lacks_index(path))
        return err_set(
            e, ERR_INPUT,
            "'%s' is an MP4 without its index (moov): it is truncated, or was never finished",
            path);
    struct stat s;
    if (stat(path, &s) == 0 && S_ISREG(s.st_mode) && s.st_size == 0)
        return err_set(e, ERR_INPUT, "'%s' is not a film: the file is empty", path);
    if (code == AVERROR_EOF && piped)
        return err_set(e, ERR_INPUT, "'%s' is not a film: it has no data, or too little", path);
    if (code == AVERROR_INVALIDDATA || code == AVERROR_EOF)
        return err_set(e, ERR_INPUT, "'%s' is not a film: %s", path, av_error_text(code, text));
    return err_set(e, ERR_INPUT, "cannot open '%s': %s", path, av_error_text(code, text));
}

static int open_input(const char *url, AVFormatContext **format)
{
    /* Only files: a playlist must not read from the network. */
    AVDictionary *options = NULL;
    AVIOContext *io = (*format)->pb;
    av_dict_set(&options, "protocol_whitelist", "file", 0);
    int code = avformat_open_input(format, url, NULL, &options);
    av_dict_free(&options);
    if (code < 0)
        film_input_close(&io); /* avformat_open_input has freed the context */
    return code;
}

/* Opens the film with a prepared context; if that is NULL, `e` has the reason already. */
static bool open_prepared(const char *path, AVFormatContext **format, struct err *e)
{
    char url[4096];
    if (!*format)
        return false;
    if (snprintf(url, sizeof url, "file:%s", path) >= (int)sizeof url) {
        container_close(format);
        return err_set(e, ERR_INPUT, "'%.60s...': the name is too long", path);
    }
    bool piped = (*format)->pb != NULL;
    int code = open_input(url, format);
    return code >= 0 || explain_no_container(path, code, piped, e);
}

static bool open_head(const char *path, AVFormatContext **format, struct err *e)
{
    AVIOContext *own;
    if (!film_input_open(path, &own, e))
        return false;
    if (own && !check_pipe(own, path, e)) {
        film_input_close(&own);
        return false;
    }
    *format = prepare_container(own, e);
    return open_prepared(path, format, e);
}

/* Opens the film again from its first byte; the first bytes of a pipe are buffered. */
static bool open_head_again(const char *path, AVFormatContext **format, struct err *e)
{
    AVIOContext *own = (*format)->flags & AVFMT_FLAG_CUSTOM_IO ? (*format)->pb : NULL;
    avformat_close_input(format);
    if (!own)
        return open_head(path, format, e);
    if (!film_input_again(&own, e)) {
        film_input_close(&own);
        return e->code != ERR_NONE ? false
                                   : err_set(e, ERR_FAILED,
                                             "cannot read '%s' from a pipe: its first two pictures "
                                             "are larger than 64 MiB",
                                             path);
    }
    *format = prepare_container(own, e);
    return open_prepared(path, format, e);
}

/*
 * Refuses text ("tty") and single images, which libavformat's probing accepts. Images one after
 * another are a film.
 */
static bool check_container(const char *path, AVFormatContext **format, struct err *e)
{
    const struct container_quirks *quirks = container_quirks(*format);
    if (quirks->is_text)
        return err_set(e, ERR_INPUT, "'%s' is text, not a film", path);
    if (quirks->is_image_pipe) {
        bool follow = film_pictures_follow(*format);
        if (interrupted())
            return interrupt_error(e);
        return follow ? open_head_again(path, format, e) : refuse_picture(path, e);
    }
    if ((*format)->flags & AVFMT_FLAG_CUSTOM_IO)
        film_input_go_on((*format)->pb);
    return !quirks->is_image || refuse_picture(path, e);
}

static bool open_parts(const struct film *film, AVFormatContext **format, struct err *e)
{
    *format = prepare_container(NULL, e);
    if (!*format)
        return false;
    int code = parts_input_open(film, format);
    return code >= 0 || explain_no_container(film->path, code, false, e);
}

static bool open_container(const struct film *film, AVFormatContext **format, struct head *head,
                           struct err *e)
{
    char text[128];
    const char *path = film->path;
    if (film->url ? !open_parts(film, format, e)
                  : !open_head(path, format, e) || !check_container(path, format, e))
        return false;
    read_head(*format, head);
    int code = avformat_find_stream_info(*format, NULL);
    /* interrupted probing may return no error and leave the streams' parameters unknown */
    if (interrupted())
        return interrupt_error(e);
    if (code < 0)
        return err_set(e, ERR_INPUT, "'%s' is not a film: %s", path, av_error_text(code, text));
    return true;
}

void container_close(AVFormatContext **format)
{
    AVIOContext *own = *format && (*format)->flags & AVFMT_FLAG_CUSTOM_IO ? (*format)->pb : NULL;
    avformat_close_input(format);
    film_input_close(&own);
}

/*
 * Opens the container and discards all streams except the chosen one. Returns that stream, or NULL
 * on `e`.
 */
static AVStream *open_chosen(const struct film *film, int requested, AVFormatContext **format,
                             struct head *head, struct err *e)
{
    const char *path = film->path;
    av_log_install();
    if (!open_container(film, format, head, e))
        return NULL;
    assert(*format);
    int chosen = film_stream_choose(*format, requested, path, e);
    if (chosen < 0)
        return NULL;
    for (unsigned i = 0; i < (*format)->nb_streams; i++)
        (*format)->streams[i]->discard = (int)i == chosen ? AVDISCARD_DEFAULT : AVDISCARD_ALL;
    AVStream *s = (*format)->streams[chosen];
    return check_stream(*format, s, path, e) ? s : NULL;
}

bool container_open(const char *path, int requested, AVFormatContext **format, struct film *film,
                    struct err *e)
{
    return container_open_parts(path, NULL, requested, format, film, e);
}

bool container_open_parts(const char *path, const struct film_parts *parts, int requested,
                          AVFormatContext **format, struct film *film, struct err *e)
{
    *film = (struct film){.path = strdup(path), .parts = parts};
    if (!film->path)
        return err_memory(e, strlen(path) + 1);
    if (parts && !parts_input_describe(film, requested, e))
        return false;
    int64_t joined_us = parts ? film->duration_us : -1;
    bool guessed = film->duration_guessed;
    struct head head = {0};
    AVStream *s = open_chosen(film, requested, format, &head, e);
    if (!s)
        return false;
    const struct colour_tags silence = {AVCOL_SPC_UNSPECIFIED, AVCOL_PRI_UNSPECIFIED,
                                        AVCOL_RANGE_UNSPECIFIED, AVCOL_TRC_UNSPECIFIED};
    read_facts(*format, s, (unsigned)s->index < head.streams ? head.tags[s->index] : silence, film);
    if (joined_us > 0) {
        film->duration_us = joined_us;
        film->duration_guessed = guessed;
        if (film->rate_num > 0)
            film->frames = av_rescale(joined_us, film->rate_num, film->rate_den * 1000000);
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
    if (!s)
        return false;
    const AVCodecParameters *par = s->codecpar;
    bool same = s->index == film->stream &&
                strcmp(avcodec_get_name(par->codec_id), film->codec) == 0 &&
                par->width == film->coded_width && par->height == film->coded_height;
    return same || refuse_changed(film->path, e);
}

bool container_open_again(const char *path, const AVFormatContext *opened, AVFormatContext **format,
                          struct err *e)
{
    if (!open_head(path, format, e))
        return false;
    bool same =
        (*format)->nb_streams == opened->nb_streams && (*format)->iformat == opened->iformat;
    for (unsigned i = 0; same && i < opened->nb_streams; i++) {
        AVStream *to = (*format)->streams[i];
        const AVStream *from = opened->streams[i];
        same = to->codecpar->codec_id == from->codecpar->codec_id &&
               av_cmp_q(to->time_base, from->time_base) == 0;
        if (same && avcodec_parameters_copy(to->codecpar, from->codecpar) < 0)
            return err_set(e, ERR_FAILED, "out of memory to open '%s'", path);
        to->start_time = from->start_time;
        to->discard = from->discard;
    }
    return same || refuse_changed(path, e);
}
