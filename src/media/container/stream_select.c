#include "stream_select.h"

#include <libavcodec/avcodec.h>
#include <limits.h>

#include "base/log.h"
#include "media/source.h"

static bool is_video(const AVStream *s) { return s->codecpar->codec_type == AVMEDIA_TYPE_VIDEO; }

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

static int by_number(const AVFormatContext *format, int requested, const char *path, struct err *e)
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
        sound |= format->streams[i]->codecpar->codec_type == AVMEDIA_TYPE_AUDIO;
    }
    err_set(e, ERR_INPUT, "'%s' has no video stream%s", path,
            cover   ? ", only a cover picture"
            : sound ? ", only sound"
                    : "");
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
    return a.shows != b.shows ? a.shows : a.marked != b.marked ? a.marked : a.pixels > b.pixels;
}

int film_stream_choose(const AVFormatContext *format, int requested, const char *path,
                       struct err *e)
{
    if (requested >= 0 && count_numbers(format) > 0)
        return by_number(format, requested, path, e);
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

/* ------------------------------------------------------------------ sound */

static bool is_sound(const AVStream *s) { return s->codecpar->codec_type == AVMEDIA_TYPE_AUDIO; }

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

/* Returns how well a stream suits as the film's sound; the greater the better. */
static int rank_sound(const AVFormatContext *format, int video, int i)
{
    const AVStream *s = format->streams[i];
    const int special =
        AV_DISPOSITION_VISUAL_IMPAIRED | AV_DISPOSITION_HEARING_IMPAIRED | AV_DISPOSITION_COMMENT;
    int channels = s->codecpar->ch_layout.nb_channels;
    channels = channels < 0 ? 0 : channels > 255 ? 255 : channels;
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

void film_stream_count(const AVFormatContext *format, struct film *film)
{
    film->videos = count_numbers(format);
    film->video = 0;
    for (int i = 0; i < film->stream; i++)
        film->video += has_number(format, format->streams[i]);
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
