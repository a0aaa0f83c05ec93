/*
 * film_facts.c - what is known of a film before it is decoded: its streams, length, orientation,
 * colours and light.
 */
#include "open.h"

#include <libavutil/display.h>
#include <libavutil/dovi_meta.h>
#include <libavutil/parseutils.h>
#include <libavutil/pixdesc.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "barcode/engine/light.h"
#include "base/interrupt.h"
#include "base/limits.h"
#include "base/log.h"
#include "container_quirks.h"
#include "media/bitstream/matroska.h"
#include "media/bitstream/packet_scan.h"
#include "media/select/timeline.h"
#include "media/source.h"

/* ------------------------------------------------------------------ streams */

static bool is_video(const AVStream *s) { return s->codecpar->codec_type == AVMEDIA_TYPE_VIDEO; }

static bool is_sound(const AVStream *s) { return s->codecpar->codec_type == AVMEDIA_TYPE_AUDIO; }

static bool is_cover(const AVStream *s)
{
    return s->disposition & (AV_DISPOSITION_ATTACHED_PIC | AV_DISPOSITION_TIMED_THUMBNAILS);
}

bool film_has_no_video(const AVFormatContext *format)
{
    for (unsigned i = 0; i < format->nb_streams; i++)
        if (is_video(format->streams[i]) && !is_cover(format->streams[i]))
            return false;
    return true;
}

static bool has_number(const AVFormatContext *format, const AVStream *s)
{
    return is_video(s) && (!is_cover(s) || film_has_no_video(format));
}

static int count_numbers(const AVFormatContext *format)
{
    int count = 0;
    for (unsigned i = 0; i < format->nb_streams; i++)
        count += has_number(format, format->streams[i]);
    return count;
}

static int choose_by_number(const AVFormatContext *format, int requested, const char *path,
                            struct err *e)
{
    int number = 0, count = count_numbers(format);
    for (unsigned i = 0; i < format->nb_streams; i++)
        if (has_number(format, format->streams[i]) && number++ == requested)
            return (int)i;
    if (count == 1)
        err_set(e, ERR_USAGE, "'%s' has one video stream, number 0: there is no --stream %d", path,
                requested);
    else
        err_set(e, ERR_USAGE, "'%s' has %d video streams, numbered from 0: there is no --stream %d",
                path, count, requested);
    return -1;
}

static int explain_none(const AVFormatContext *format, const char *path, struct err *e)
{
    bool cover = false, sound = false;
    for (unsigned i = 0; i < format->nb_streams; i++) {
        cover |= is_video(format->streams[i]);
        sound |= is_sound(format->streams[i]);
    }
    const char *instead = "";
    if (cover)
        instead = ", only a cover picture";
    else if (sound)
        instead = ", only sound";
    err_set(e, ERR_INPUT, "'%s' has no video stream%s", path, instead);
    return -1;
}

/* What ranks streams, the most important first. A stream that cannot be decoded has 0 pixels. */
struct rank {
    bool shows, marked;
    int64_t pixels;
};

static struct rank rank_of(const AVStream *s)
{
    const AVCodecParameters *p = s->codecpar;
    int64_t pixels = p->width > 0 && p->height > 0 && avcodec_find_decoder(p->codec_id)
                         ? (int64_t)p->width * p->height
                         : 0;
    return (struct rank){
        .shows = pixels > 0, .marked = s->disposition & AV_DISPOSITION_DEFAULT, .pixels = pixels};
}

static bool is_higher_rank(struct rank a, struct rank b)
{
    if (a.shows != b.shows)
        return a.shows;
    if (a.marked != b.marked)
        return a.marked;
    return a.pixels > b.pixels;
}

int film_stream_choose(const AVFormatContext *format, int requested, const char *path,
                       struct err *e)
{
    if (requested >= 0 && count_numbers(format) > 0)
        return choose_by_number(format, requested, path, e);
    if (film_has_no_video(format))
        return explain_none(format, path, e);
    int best = -1;
    for (unsigned i = 0; i < format->nb_streams; i++) {
        const AVStream *s = format->streams[i];
        if (has_number(format, s) &&
            (best < 0 || is_higher_rank(rank_of(s), rank_of(format->streams[best]))))
            best = (int)i;
    }
    return best;
}

/* Returns true if the streams belong to the same program, as in a broadcast of several channels. */
static bool share_program(const AVFormatContext *format, int a, int b)
{
    bool any = false;
    for (unsigned i = 0; i < format->nb_programs; i++) {
        const AVProgram *p = format->programs[i];
        bool has_a = false, has_b = false;
        for (unsigned k = 0; k < p->nb_stream_indexes; k++) {
            has_a |= p->stream_index[k] == (unsigned)a;
            has_b |= p->stream_index[k] == (unsigned)b;
        }
        if (has_a && has_b)
            return true;
        any |= has_a;
    }
    return !any;
}

/*
 * Returns true if the stream may take the place of the chosen one in a later map of its program. A
 * playlist's programs are choices, and stay.
 */
static bool may_follow(AVFormatContext *format, int chosen, int stream)
{
    return format->nb_programs > 0 && !container_quirks(format)->is_playlist &&
           format->streams[stream]->codecpar->codec_type ==
               format->streams[chosen]->codecpar->codec_type &&
           (share_program(format, chosen, stream) ||
            !av_find_program_from_stream(format, NULL, stream));
}

struct followed_stream film_stream_begin(AVFormatContext *format, int chosen)
{
    const AVProgram *program = av_find_program_from_stream(format, NULL, chosen);
    if (!program && format->nb_programs == 1) /* probing has read its next map already */
        program = format->programs[0];
    for (int i = 0; i < (int)format->nb_streams; i++)
        if (i == chosen || may_follow(format, chosen, i))
            format->streams[i]->discard = AVDISCARD_DEFAULT;
    return (struct followed_stream){
        .chosen = chosen, .now = chosen, .program = program ? program->id : -1, .pos = -1};
}

/* Returns true if `stream` is in the program that the followed stream has left. */
static bool takes_place(AVFormatContext *format, const struct followed_stream *f, int stream)
{
    AVProgram *program = NULL;
    while ((program = av_find_program_from_stream(format, program, f->now)))
        if (program->id == f->program)
            return false;
    program = av_find_program_from_stream(format, NULL, stream);
    return program && program->id == f->program &&
           format->streams[stream]->codecpar->codec_type ==
               format->streams[f->now]->codecpar->codec_type;
}

bool film_stream_follow(AVFormatContext *format, struct followed_stream *f, const AVPacket *packet)
{
    const int stream = packet->stream_index;
    if (stream != f->now) {
        const bool is_late = packet->pos >= 0 && packet->pos < f->pos;
        if (f->program < 0 || is_late || !takes_place(format, f, stream))
            return false;
        if (format->streams[stream]->codecpar->codec_id !=
            format->streams[f->now]->codecpar->codec_id) {
            f->lost = format->streams[stream]->codecpar->codec_id;
            return false;
        }
        f->now = stream;
    }
    if (f->program < 0) {
        const AVProgram *program = av_find_program_from_stream(format, NULL, stream);
        f->program = program ? program->id : -1;
    }
    f->pos = packet->pos;
    return true;
}

/* Returns how well a stream suits as the film's sound; the greater the better. */
static int rank_sound(const AVFormatContext *format, int video, int i)
{
    const AVStream *s = format->streams[i];
    const int special =
        AV_DISPOSITION_VISUAL_IMPAIRED | AV_DISPOSITION_HEARING_IMPAIRED | AV_DISPOSITION_COMMENT;
    int channels = s->codecpar->ch_layout.nb_channels;
    channels = av_clip(channels, 0, 255);
    return share_program(format, video, i) << 11 |
           (avcodec_find_decoder(s->codecpar->codec_id) != NULL) << 10 |
           !(s->disposition & special) << 9 | !!(s->disposition & AV_DISPOSITION_DEFAULT) << 8 |
           channels;
}

int film_sound_choose(const AVFormatContext *format, int video, int requested, int *number,
                      const char *path, struct err *e)
{
    int best = -1, best_rank = -1, count = 0;
    *number = -1;
    for (int i = 0; i < (int)format->nb_streams; i++) {
        if (!is_sound(format->streams[i]))
            continue;
        int rank = requested == count ? INT_MAX : rank_sound(format, video, i);
        if (rank > best_rank) {
            best = i;
            best_rank = rank;
            *number = count;
        }
        count++;
    }
    if (count == 0 || requested < count)
        return best;
    *number = -1;
    err_set(e, ERR_USAGE,
            "'%s' has %d stream%s of sound, numbered from 0: there is no --sound-stream %d", path,
            count, count == 1 ? "" : "s", requested);
    return -1;
}

void film_stream_log(AVFormatContext *format, const struct film *film)
{
    if (film->videos < 2 || !log_enabled(LOG_VERBOSE))
        return;
    int number = 0;
    for (unsigned i = 0; i < format->nb_streams; i++) {
        const AVStream *s = format->streams[i];
        if (!has_number(format, s))
            continue;
        char program[40] = "";
        const AVProgram *of =
            format->nb_programs > 1 ? av_find_program_from_stream(format, NULL, (int)i) : NULL;
        if (of)
            snprintf(program, sizeof program, ", program %d", of->id);
        log_msg(LOG_VERBOSE, "'%s': video stream %d: %s, %dx%d%s%s%s", film->path, number++,
                avcodec_get_name(s->codecpar->codec_id), s->codecpar->width, s->codecpar->height,
                program, s->disposition & AV_DISPOSITION_DEFAULT ? ", default" : "",
                (int)i == film->stream ? ": this is the film" : "");
    }
}

/* ------------------------------------------------------------------ length */

/* Returns true if the declared length is a placeholder that its writer never replaced. */
static bool is_placeholder(const AVFormatContext *format, const AVStream *s)
{
    const struct container_quirks *q = container_quirks(format);
    if (q->unset_duration > 0 && s->duration == q->unset_duration)
        return true;
    if (q->duration_max > 0 && s->duration > q->duration_max)
        return true;
    return q->unset_frames > 0 && s->nb_frames == q->unset_frames;
}

int64_t film_declared_uncut(const AVFormatContext *format, const AVStream *s)
{
    bool shortened = container_quirks(format)->shortens_duration && !is_placeholder(format, s) &&
                     s->duration > 0 && s->nb_frames > s->duration;
    return shortened ? container_us(s, s->nb_frames) : 0;
}

/* Returns true for a fragmented MP4 in a pipe, of which the first fragments are known. */
static bool is_partly_known(const AVFormatContext *format, AVStream *s)
{
    return container_quirks(format)->index_is_mp4 && !container_is_seekable(format) &&
           (s->nb_frames == 0 || avformat_index_get_entries_count(s) > s->nb_frames);
}

/* Returns the table's time from the first to the last frame, in the stream's base; 0: no table. */
static int64_t table_span(const AVFormatContext *format, AVStream *s)
{
    int64_t first = INT64_MAX, last = INT64_MIN;
    int entries = container_quirks(format)->index_is_mp4 ? avformat_index_get_entries_count(s) : 0;
    for (int i = 0; i < entries; i++) {
        const AVIndexEntry *entry = avformat_index_get_entry(s, i);
        if (entry->flags & AVINDEX_DISCARD_FRAME)
            continue;
        first = entry->timestamp < first ? entry->timestamp : first;
        last = entry->timestamp > last ? entry->timestamp : last;
    }
    return last > first ? av_sat_sub64(last, first) : 0;
}

/*
 * Returns the duration by the table of all frames, or -1 without one; in a fragmented MP4 a part of
 * its entries may have an offset. The table does not have the duration of the last frame, so the
 * declared duration counts if the table fits into it.
 */
static int64_t table_duration(const AVFormatContext *format, AVStream *s, AVRational rate)
{
    int64_t span_us = container_us(s, table_span(format, s));
    int64_t declared_us = s->duration > 0 ? container_us(s, s->duration) : 0;
    int64_t frame_us = rate.num > 0 ? av_rescale(1000000, rate.den, rate.num) : 0;
    bool fragmented = avformat_index_get_entries_count(s) > s->nb_frames;
    if (span_us <= 0 || fragmented)
        return -1;
    return span_us <= declared_us ? declared_us : span_us + frame_us;
}

/* Returns a tag DURATION's, or -1: FFmpeg writes the stream's end, mkvmerge its length. */
static int64_t tagged_duration(const AVStream *s, int64_t start_us)
{
    const AVDictionaryEntry *tag = av_dict_get(s->metadata, "DURATION", NULL, 0);
    bool is_length = av_dict_get(s->metadata, "_STATISTICS_TAGS", NULL, AV_DICT_IGNORE_SUFFIX);
    int64_t us;
    if (!tag || av_parse_time(&us, tag->value, 1) < 0 || us <= 0)
        return -1;
    return is_length ? us : av_sat_sub64(us, start_us);
}

/* Fills duration and source from the container's duration, which counts from `from_us` before the
 * first frame. */
static void use_container_duration(const AVFormatContext *format, int64_t from_us,
                                   struct film_length *l)
{
    if (format->duration == AV_NOPTS_VALUE || format->duration <= 0)
        return;
    l->duration_us = av_sat_sub64(format->duration, from_us);
    l->source = format->nb_streams > 1 ? LENGTH_CONTAINER : LENGTH_TRACK;
}

static void find_duration(const AVFormatContext *format, AVStream *s, AVRational rate,
                          struct film_length *l)
{
    bool from_0 = container_quirks(format)->duration_from_0;
    int64_t start_us = s->start_time == AV_NOPTS_VALUE ? 0 : container_us(s, s->start_time);
    if (is_placeholder(format, s) || is_partly_known(format, s))
        return;
    int64_t uncut_us = film_declared_uncut(format, s), table_us = table_duration(format, s, rate),
            tagged_us = tagged_duration(s, start_us);
    if (uncut_us > 0) {
        l->duration_us = uncut_us;
        l->source = LENGTH_TRACK;
    } else if (table_us > 0) {
        l->duration_us = table_us;
        l->source = LENGTH_INDEX;
    } else if (!from_0 && s->duration != AV_NOPTS_VALUE && s->duration > 0) {
        l->duration_us = container_us(s, s->duration);
        l->source = LENGTH_TRACK;
    } else if (tagged_us > 0) {
        l->duration_us = tagged_us;
        l->source = LENGTH_TAG;
    } else {
        use_container_duration(format, from_0 ? start_us : 0, l);
    }
    if (l->duration_us <= 0 || l->duration_us > TIME_MOST)
        *l = (struct film_length){.start_us = l->start_us, .duration_us = -1, .frames = -1};
}

/*
 * Returns the length of video stream `s`, by the best evidence: the table of all frames, the
 * stream's own duration, a tag of the stream, the container's duration. `rate` is its frame rate,
 * 0/1 if unknown.
 */
static struct film_length declared_length(const AVFormatContext *format, AVStream *s,
                                          AVRational rate)
{
    const struct container_quirks *quirks = container_quirks(format);
    struct film_length l = {.duration_us = -1, .frames = -1};
    int64_t origin_us = container_start_us(format);
    if (s->start_time != AV_NOPTS_VALUE && origin_us != TIME_NONE)
        l.start_us = av_sat_sub64(container_us(s, s->start_time), origin_us);
    l.start_us = l.start_us > 0 ? l.start_us : 0;
    find_duration(format, s, rate, &l);
    /* If timestamps may jump, their difference is not a duration either. */
    bool rated = format->duration_estimation_method == AVFMT_DURATION_FROM_BITRATE;
    bool longest = quirks->longest_duration && (format->nb_streams > 1 || quirks->duration_from_0);
    bool jumps = format->iformat->flags & AVFMT_TS_DISCONT;
    if (l.source != LENGTH_UNKNOWN && (rated || jumps || longest))
        l.source = LENGTH_ESTIMATE;
    if (s->nb_frames > 0 && !is_placeholder(format, s) && !is_partly_known(format, s))
        l.frames = s->nb_frames;
    /* A duration that is estimated from the bit rate may be wrong by any factor. */
    if (l.frames < 0 && l.duration_us > 0 && !rated && rate.num > 0 && rate.den > 0)
        l.frames = av_rescale(l.duration_us, rate.num, (int64_t)rate.den * 1000000);
    l.frames = l.frames < 0 ? -1 : l.frames;
    return l;
}

/* ------------------------------------------------------------------ light */

int film_light_peak(const AVContentLightMetadata *content,
                    const AVMasteringDisplayMetadata *display)
{
    bool is_known = display && display->has_luminance && display->max_luminance.num > 0 &&
                    display->max_luminance.den > 0;
    unsigned nits = content ? content->MaxCLL : 0;
    if (nits == 0 && is_known)
        nits = (unsigned)(display->max_luminance.num / display->max_luminance.den);
    return nits < LIGHT_PEAK_MOST ? (int)nits : LIGHT_PEAK_MOST;
}

/* Returns the profile of Dolby Vision whose base layer has no standard colours, or 0. */
static int dolby_profile_alone(const AVDOVIDecoderConfigurationRecord *dolby)
{
    bool alone = dolby && (dolby->dv_profile == 5 ||
                           (dolby->dv_profile == 10 && dolby->dv_bl_signal_compatibility_id == 0));
    return alone ? dolby->dv_profile : 0;
}

void film_light_of_stream(const AVStream *s, struct film *f)
{
    const uint8_t *content = av_compat_side_data(s, AV_PKT_DATA_CONTENT_LIGHT_LEVEL, NULL);
    const uint8_t *display = av_compat_side_data(s, AV_PKT_DATA_MASTERING_DISPLAY_METADATA, NULL);
    const uint8_t *dolby = av_compat_side_data(s, AV_PKT_DATA_DOVI_CONF, NULL);
    f->peak = film_light_peak((const void *)content, (const void *)display);
    f->dolby_vision = dolby_profile_alone((const void *)dolby);
}

/* ------------------------------------------------------------------ orientation */

/* A display matrix, which maps (x, y) to (ax + cy, bx + dy); not `found`: there is none. */
struct display_matrix {
    bool found;
    int32_t m[9];
};

/* Reads the matrix of side data; `data` may be NULL. */
static struct display_matrix matrix_of(const uint8_t *data, size_t size)
{
    struct display_matrix x = {.found = data && size >= sizeof x.m};
    if (x.found)
        memcpy(x.m, data, sizeof x.m);
    return x;
}

/* Where a codec's key frames may have an orientation. */
struct carrier {
    enum AVCodecID codec;
    enum bitstream stream; /* H.264, HEVC: in an SEI message */
    const char *exif;      /* images: in EXIF, which begins with these four letters */
};

static const struct carrier *find_carrier(enum AVCodecID codec)
{
    static const struct carrier carriers[] = {{AV_CODEC_ID_H264, STREAM_H264, NULL},
                                              {AV_CODEC_ID_HEVC, STREAM_HEVC, NULL},
                                              {AV_CODEC_ID_MJPEG, STREAM_OTHER, "Exif"},
                                              {AV_CODEC_ID_PNG, STREAM_OTHER, "eXIf"},
                                              {AV_CODEC_ID_WEBP, STREAM_OTHER, "EXIF"}};
    for (size_t i = 0; i < sizeof carriers / sizeof *carriers; i++)
        if (carriers[i].codec == codec)
            return &carriers[i];
    return NULL;
}

/* Returns true if a key frame may have an orientation. Only then is it worth decoding. */
static bool may_have_orientation(const struct carrier *carrier, const AVCodecParameters *par,
                                 const AVPacket *packet)
{
    if (carrier->exif)
        return memmem(packet->data, (size_t)packet->size, carrier->exif, strlen(carrier->exif));
    return nal_has_orientation(carrier->stream, par->extradata, (size_t)par->extradata_size,
                               packet->data, (size_t)packet->size);
}

/* Decodes one key frame. Returns false if no frame is output. */
static bool decode_key(AVCodecContext *c, const AVCodec *codec, const AVPacket *packet,
                       AVFrame *frame)
{
    c->thread_count = 1;
    c->max_pixels = (int64_t)limits_pixels();
    if (avcodec_open2(c, codec, NULL) < 0 || avcodec_send_packet(c, packet) < 0)
        return false;
    avcodec_send_packet(c, NULL);
    return avcodec_receive_frame(c, frame) >= 0;
}

/* Returns the matrix of a key frame, which libavcodec makes of SEI and EXIF. */
static struct display_matrix matrix_of_key(const AVCodecParameters *par, const AVPacket *packet)
{
    struct display_matrix x = {.found = false};
    const AVCodec *codec = avcodec_find_decoder(par->codec_id);
    AVCodecContext *c = codec ? avcodec_alloc_context3(codec) : NULL;
    AVFrame *frame = av_frame_alloc();
    if (c && frame && avcodec_parameters_to_context(c, par) >= 0 &&
        decode_key(c, codec, packet, frame)) {
        const AVFrameSideData *side = av_frame_get_side_data(frame, AV_FRAME_DATA_DISPLAYMATRIX);
        if (side)
            x = matrix_of(side->data, side->size);
    }
    av_frame_free(&frame);
    avcodec_free_context(&c);
    return x;
}

static struct display_matrix matrix_of_container(const AVStream *s)
{
    size_t size = 0;
    const uint8_t *data = av_compat_side_data(s, AV_PKT_DATA_DISPLAYMATRIX, &size);
    return matrix_of(data, size);
}

/* Returns -value; INT32_MIN, which a broken file may have, has none. */
static int32_t negated(int32_t value) { return value == INT32_MIN ? INT32_MAX : -value; }

/* Returns the orientation. A negative determinant means a mirrored picture. */
static struct orientation orientation_of(struct display_matrix x)
{
    struct orientation o = {0, false};
    if (!x.found)
        return o;
    o.mirror = (double)x.m[0] * x.m[4] - (double)x.m[1] * x.m[3] < 0;
    if (o.mirror) {
        x.m[0] = negated(x.m[0]);
        x.m[1] = negated(x.m[1]);
    }
    double degrees = av_display_rotation_get(x.m); /* counter-clockwise */
    if (!isnan(degrees))
        o.quarter_turns = ((int)lround(-degrees / 90) % 4 + 4) % 4;
    return o;
}

/* Sets *key to the stream's first key frame; NULL: none is near. Returns false if out of memory. */
static bool read_to_key(AVFormatContext *format, const AVStream *s, const AVPacket **key)
{
    enum { PACKETS = 1000, BYTES = 32 << 20 };
    struct followed_stream f = film_stream_begin(format, s->index);
    const AVPacket *packet;
    int64_t bytes = 0;
    *key = NULL;
    for (int i = 0; i < PACKETS && bytes < BYTES && !*key && !interrupted(); i++) {
        if (!container_read_ahead(format, &packet))
            return false;
        if (!packet)
            return true;
        bytes += packet->size;
        if (film_stream_follow(format, &f, packet) && packet->size > 0 &&
            packet->flags & AV_PKT_FLAG_KEY)
            *key = packet;
    }
    return true;
}

/* Returns true if the pictures of HEVC are fields (H.265, pic_struct in D.3.3). */
static bool holds_field(const AVCodecParameters *par, const AVPacket *key)
{
    bool hevc = par->codec_id == AV_CODEC_ID_HEVC, field = false;
    AVCodecParserContext *parser = hevc ? av_parser_init((int)par->codec_id) : NULL;
    AVCodecContext *c = parser ? avcodec_alloc_context3(NULL) : NULL;
    if (c && avcodec_parameters_to_context(c, par) >= 0) {
        uint8_t *out = NULL;
        int bytes = 0;
        parser->flags |= PARSER_FLAG_COMPLETE_FRAMES;
        av_parser_parse2(parser, c, &out, &bytes, key->data, key->size, AV_NOPTS_VALUE,
                         AV_NOPTS_VALUE, 0);
        field = parser->picture_structure == AV_PICTURE_STRUCTURE_TOP_FIELD ||
                parser->picture_structure == AV_PICTURE_STRUCTURE_BOTTOM_FIELD;
    }
    avcodec_free_context(&c);
    av_parser_close(parser);
    return field;
}

/*
 * Finds the first key frame's orientation, else the container's, as ffmpeg does, and whether it is
 * a field. Reads ahead.
 */
static bool find_orientation(AVFormatContext *format, const AVStream *s, struct orientation *o,
                             bool *field, struct err *e)
{
    const struct carrier *carrier = find_carrier(s->codecpar->codec_id);
    struct display_matrix x = {.found = false};
    const AVPacket *key = NULL;
    if (carrier && !read_to_key(format, s, &key))
        return err_set(e, ERR_MEMORY, "out of memory to open '%s'", format->url);
    if (interrupted())
        return interrupt_error(e);
    if (key && may_have_orientation(carrier, s->codecpar, key))
        x = matrix_of_key(s->codecpar, key);
    *field = key && holds_field(s->codecpar, key);
    if (!x.found)
        x = matrix_of_container(s);
    *o = orientation_of(x);
    return true;
}

/* ------------------------------------------------------------------ Matroska */

/* Rounds `n` samples up to complete ones of chroma, which is 2^log2 as coarse. */
static int round_up(int n, int log2) { return (((n - 1) >> log2) + 1) << log2; }

/* Sets f->crop, unless it would leave nothing, and the shape of a sample. */
static void use_video(const struct matroska_video *v, struct film *f, int format,
                      AVRational *sample)
{
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get((enum AVPixelFormat)format);
    const int across = d ? d->log2_chroma_w : 0, down = d ? d->log2_chroma_h : 0;
    const int width = f->coded_width, height = f->coded_height;
    struct film_crop c = v->crop;
    if (c.left >= width || c.top >= height || c.right >= width || c.bottom >= height)
        return;
    c.left = round_up(c.left, across);
    c.top = round_up(c.top, down);
    c.right = c.right > 0 ? width - (((width - c.right) >> across) << across) : 0;
    c.bottom = c.bottom > 0 ? height - (((height - c.bottom) >> down) << down) : 0;
    if (c.left >= width - c.right || c.top >= height - c.bottom)
        return;
    bool cropped = c.left > 0 || c.top > 0 || c.right > 0 || c.bottom > 0;
    f->crop = c;
    if (cropped && v->display_width > 0 && v->display_height > 0)
        av_reduce(&sample->num, &sample->den,
                  (int64_t)(height - v->crop.top - v->crop.bottom) * v->display_width,
                  (int64_t)(width - v->crop.left - v->crop.right) * v->display_height, INT_MAX);
}

/* Uses the body of an element of the header. */
static void use_element(uint32_t id, const uint8_t *body, size_t size, int format, struct film *f,
                        AVRational *sample)
{
    if (id == MATROSKA_TRACKS) {
        const struct matroska_video v = matroska_video(body, size, f->video);
        use_video(&v, f, format, sample);
    } else if (matroska_is_ordered(body, size)) {
        log_msg(LOG_WARNING, "'%s' has ordered chapters: a player shows it in another order",
                f->path);
    }
}

/* Reads the elements of the header up to the first cluster. */
static void read_matroska(const AVFormatContext *format, struct film *f, AVRational *sample)
{
    enum { BODY_MOST = 16 << 20 };
    enum { ELEMENTS_MOST = 1000 };
    uint8_t head[EBML_HEAD];
    struct ebml_element x;
    int64_t at = 0;
    for (int i = 0; i < ELEMENTS_MOST; i++) {
        int bytes = container_peek(format, at, head, sizeof head);
        if (bytes <= 0 || !ebml_read(head, (size_t)bytes, &x))
            return;
        at += (int64_t)x.head;
        if (x.id == MATROSKA_SEGMENT)
            continue;
        if (x.id == MATROSKA_CLUSTER || x.size < 0)
            return;
        bool used = x.id == MATROSKA_TRACKS || x.id == MATROSKA_CHAPTERS;
        uint8_t *body = used && x.size <= BODY_MOST ? malloc((size_t)x.size + 1) : NULL;
        if (body && container_peek(format, at, body, (int)x.size) == x.size)
            use_element(x.id, body, (size_t)x.size, format->streams[f->stream]->codecpar->format, f,
                        sample);
        free(body);
        at += x.size;
    }
}

/* ------------------------------------------------------------------ everything */

/* Returns the bytes of a pixel in memory, rounded up; 0 if the pixel format is unknown. */
static int pixel_bytes(int format)
{
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get((enum AVPixelFormat)format);
    return d ? (av_get_padded_bits_per_pixel(d) + 7) / 8 : 0;
}

/*
 * Returns the shape of a sample. That of a bitstream of fields is a frame's, and a row of a field
 * is as high as two of them.
 */
static AVRational sample_shape(AVFormatContext *format, AVStream *s, bool field)
{
    AVRational own = s->sample_aspect_ratio, coded = s->codecpar->sample_aspect_ratio;
    AVRational sample = av_guess_sample_aspect_ratio(format, s, NULL);
    if (sample.num <= 0 || sample.den <= 0)
        sample = (AVRational){1, 1};
    bool of_container = own.num > 0 && av_cmp_q(own, coded) != 0;
    return field && !of_container ? av_mul_q(sample, (AVRational){1, 2}) : sample;
}

/* Fills what is known of the frames of `f`, which has its orientation already. */
static void read_picture_facts(AVFormatContext *format, AVStream *s, struct colour_tags tags,
                               bool field, struct film *f)
{
    const AVCodecParameters *par = s->codecpar;
    f->coded_width = par->width;
    f->coded_height = par->height;
    f->pixel_bytes = pixel_bytes(par->format);
    AVRational sample = sample_shape(format, s, field);
    if (container_quirks(format)->is_matroska)
        read_matroska(format, f, &sample);
    bool turned = f->orientation.quarter_turns % 2 == 1;
    f->width = turned ? film_frame_height(f) : film_frame_width(f);
    f->height = turned ? film_frame_width(f) : film_frame_height(f);
    f->sample_num = turned ? sample.den : sample.num;
    f->sample_den = turned ? sample.num : sample.den;
    film_colour_decide(par, tags, f);
    film_light_of_stream(s, f);
}

bool film_facts_read(AVFormatContext *format, AVStream *s, struct colour_tags tags, struct film *f,
                     struct err *e)
{
    const struct container_quirks *quirks = container_quirks(format);
    bool field = false;
    if (!find_orientation(format, s, &f->orientation, &field, e))
        return false;
    snprintf(f->container, sizeof f->container, "%s", format->iformat->name);
    f->frames_have_times = quirks->frames_have_times;
    f->lists_key_frames = quirks->index != KEY_INDEX_NONE;
    const AVDictionaryEntry *title = av_dict_get(format->metadata, "title", NULL, 0);
    snprintf(f->title, sizeof f->title, "%s", title ? title->value : "");
    snprintf(f->codec, sizeof f->codec, "%s", avcodec_get_name(s->codecpar->codec_id));
    unsigned codec = avcodec_version(), container = avformat_version();
    snprintf(f->library, sizeof f->library, "libavcodec %u.%u.%u, libavformat %u.%u.%u",
             AV_VERSION_MAJOR(codec), AV_VERSION_MINOR(codec), AV_VERSION_MICRO(codec),
             AV_VERSION_MAJOR(container), AV_VERSION_MINOR(container), AV_VERSION_MICRO(container));
    f->stream = s->index;
    f->video = 0;
    for (int i = 0; i < f->stream; i++)
        f->video += has_number(format, format->streams[i]);
    if (is_video(s))
        read_picture_facts(format, s, tags, field, f);
    AVRational rate = av_guess_frame_rate(format, s, NULL);
    f->rate_num = rate.num > 0 && rate.den > 0 ? rate.num : 0;
    f->rate_den = rate.num > 0 && rate.den > 0 ? rate.den : 1;
    f->length = declared_length(format, s, rate);
    f->videos = count_numbers(format);
    return true;
}
