#include "declared_length.h"

#include <libavutil/parseutils.h>

#include "container_quirks.h"
#include "open.h"
#include "media/select/timeline.h"

/* Returns true if the declared length is a placeholder that its writer never replaced. */
static bool is_placeholder(const AVFormatContext *format, const AVStream *s)
{
    const struct container_quirks *q = container_quirks(format);
    return (q->unset_duration > 0 && s->duration == q->unset_duration) ||
           (q->duration_max > 0 && s->duration > q->duration_max) ||
           (q->unset_frames > 0 && s->nb_frames == q->unset_frames);
}

int64_t declared_length_cut(const AVFormatContext *format, const AVStream *s)
{
    bool shortened = container_quirks(format)->shortens_duration && !is_placeholder(format, s) &&
                     s->duration > 0 && s->nb_frames > s->duration;
    return shortened ? container_us(s, s->nb_frames) : 0;
}

/*
 * Returns true if the film is a fragmented MP4 in a pipe: of such a film, libavformat knows the
 * first fragments.
 */
static bool is_partly_known(const AVFormatContext *format, AVStream *s)
{
    return container_quirks(format)->index_is_mp4 && !container_is_seekable(format) &&
           (s->nb_frames == 0 || avformat_index_get_entries_count(s) > s->nb_frames);
}

/*
 * Returns the time from the first to the last frame in the table of all frames, in the time base of
 * the stream; 0 without such a table.
 */
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
    return span_us <= 0 || fragmented ? -1
           : span_us <= declared_us   ? declared_us
                                      : span_us + frame_us;
}

/*
 * Returns what a tag DURATION declares, or -1: FFmpeg writes the end of the stream, mkvmerge, which
 * adds statistics, its length.
 */
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
static void whole_container(const AVFormatContext *format, int64_t from_us, struct film_length *l)
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
    int64_t start_us = s->start_time == AV_NOPTS_VALUE ? 0 : container_us(s, s->start_time), us;
    if (is_placeholder(format, s) || is_partly_known(format, s))
        return;
    if ((us = declared_length_cut(format, s)) > 0) {
        l->duration_us = us;
        l->source = LENGTH_TRACK;
    } else if ((us = table_duration(format, s, rate)) > 0) {
        l->duration_us = us;
        l->source = LENGTH_INDEX;
    } else if (!from_0 && s->duration != AV_NOPTS_VALUE && s->duration > 0) {
        l->duration_us = container_us(s, s->duration);
        l->source = LENGTH_TRACK;
    } else if ((us = tagged_duration(s, start_us)) > 0) {
        l->duration_us = us;
        l->source = LENGTH_TAG;
    } else {
        whole_container(format, from_0 ? start_us : 0, l);
    }
    if (l->duration_us <= 0 || l->duration_us > TIME_MOST)
        *l = (struct film_length){.start_us = l->start_us, .duration_us = -1, .frames = -1};
}

struct film_length declared_length(const AVFormatContext *format, AVStream *s, AVRational rate)
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
    if (l.source != LENGTH_UNKNOWN &&
        (rated || format->iformat->flags & AVFMT_TS_DISCONT ||
         (quirks->longest_duration && (format->nb_streams > 1 || quirks->duration_from_0))))
        l.source = LENGTH_ESTIMATE;
    if (s->nb_frames > 0 && !is_placeholder(format, s) && !is_partly_known(format, s))
        l.frames = s->nb_frames;
    /*
     * A duration that is estimated from the bit rate may be wrong by any factor, so it is not used
     * to estimate the frame count.
     */
    if (l.frames < 0 && l.duration_us > 0 && !rated && rate.num > 0 && rate.den > 0)
        l.frames = av_rescale(l.duration_us, rate.num, (int64_t)rate.den * 1000000);
    l.frames = l.frames < 0 ? -1 : l.frames;
    return l;
}
