#include "sound_reading.h"

#include <libavutil/channel_layout.h>
#include <math.h>
#include <stdlib.h>

#include "media/container/open.h"
#include "base/interrupt.h"

/* ---- The clock ---- */

/* Jumps, as in timeline.c. */
#define BACK_US INT64_C(1000000)
#define AHEAD_US INT64_C(3600000000)

/* Shifts of sound and pictures that differ by less come from the same jump. */
#define SAME_US INT64_C(2000000)

struct sound_clock sound_clock_begin(int64_t origin_us, int64_t pictures_us, bool wraps,
                                     int64_t frame_us)
{
    bool far = origin_us != TIME_NONE && pictures_us != TIME_NONE &&
               (pictures_us - origin_us > AHEAD_US || origin_us - pictures_us > BACK_US);
    return (struct sound_clock){.origin_us =
                                    origin_us == TIME_NONE || far ? pictures_us : origin_us,
                                .wraps = wraps,
                                .most_us = INT64_MAX,
                                .frame_us = frame_us};
}

/* Returns the time of a track's next packet, and lets it end `lasts_us` later. */
static int64_t advance(const struct sound_clock *c, struct sound_track *t, int64_t stored_us,
                       int64_t lasts_us)
{
    int64_t time = stored_us - c->origin_us + t->shift_us;
    bool ahead = c->wraps && time > t->end_us + AHEAD_US;
    if (t->begun && (time < t->end_us - BACK_US || ahead)) {
        t->shift_us += t->end_us - time;
        time = t->end_us;
    }
    if (time > c->most_us)
        return TIME_NONE;
    t->end_us = time + lasts_us;
    t->begun = true;
    return time;
}

/* Returns true for a time with which sums do not overflow. */
static bool is_usable(const struct sound_clock *c, int64_t stored_us)
{
    return c->origin_us != TIME_NONE && stored_us >= -TIME_MOST && stored_us <= TIME_MOST;
}

void sound_clock_picture(struct sound_clock *c, int64_t stored_us)
{
    if (is_usable(c, stored_us))
        advance(c, &c->pictures, stored_us, c->frame_us);
}

int64_t sound_clock_at(struct sound_clock *c, int64_t stored_us, int64_t lasts_us)
{
    lasts_us = lasts_us > 0 && lasts_us < AHEAD_US ? lasts_us : 0;
    if (!is_usable(c, stored_us)) {
        c->sound.end_us += lasts_us;
        return TIME_NONE;
    }
    int64_t off = c->pictures.shift_us - c->sound.shift_us;
    if (off > -SAME_US && off < SAME_US)
        c->sound.shift_us = c->pictures.shift_us;
    return advance(c, &c->sound, stored_us, lasts_us);
}

/* ---- Reading ---- */

struct sound_reading {
    struct demux *demux;
    const AVStream *stream; /* NULL: there is nothing to decode */
    struct sound_clock clock;
    struct sound_decoder *decoder;
    int64_t place_us; /* the stored time of the last packet that has a place in the file */
    int64_t lasts_us; /* of a packet before that one; 0 or less: unknown */
    int64_t packets;  /* from that one on; 0: none had a place */
    struct err error; /* of memory: no more packets are passed on */
};

/*
 * Returns the stored time of a packet of sound, or TIME_NONE, and sets *lasts_us. In MPEG-TS and
 * MPEG-PS, packets within a PES packet have neither a place nor a time. libavformat gives them one
 * by the duration of the stream's first packets, which is wrong where the rate of AAC has changed.
 * They last at most as long as those of the PES packet before.
 */
static int64_t stored_us(struct sound_reading *s, const AVPacket *packet, int64_t *lasts_us)
{
    int64_t stored = packet->pts != AV_NOPTS_VALUE ? packet->pts : packet->dts;
    int64_t us = stored == AV_NOPTS_VALUE ? TIME_NONE : container_us(s->stream, stored);
    *lasts_us = container_us(s->stream, packet->duration);
    if (packet->pos < 0 && s->packets > 0) {
        s->packets++;
        if (s->lasts_us > 0 && s->lasts_us < *lasts_us)
            *lasts_us = s->lasts_us;
        return TIME_NONE;
    }
    if (packet->pos >= 0) {
        s->lasts_us = s->packets > 0 ? av_sat_sub64(us, s->place_us) / s->packets : 0;
        s->place_us = us;
        s->packets = 1;
    }
    return us;
}

/* Implements demux_tap: notes the times of pictures, and takes over packets of sound. */
static void on_packet(void *user, AVPacket *packet)
{
    struct sound_reading *s = user;
    const AVStream *video = s->demux->stream;
    if (packet->stream_index == video->index && video != s->stream && packet->dts != AV_NOPTS_VALUE)
        sound_clock_picture(&s->clock, container_us(video, packet->dts));
    if (packet->stream_index != s->stream->index || s->error.code != ERR_NONE)
        return;
    int64_t lasts_us, stored = stored_us(s, packet, &lasts_us);
    int64_t time_us = sound_clock_at(&s->clock, stored, lasts_us);
    packet->pts = time_us == TIME_NONE ? AV_NOPTS_VALUE : time_us;
    packet->dts = AV_NOPTS_VALUE;
    packet->duration = lasts_us;
    sound_decoder_put(s->decoder, packet, &s->error);
}

/*
 * Returns from when on sound is dropped: an hour after the declared end of the film. Without one,
 * and if that is wrong, after SOUND_HOURS_MOST: silence up to a wrong time would be analysed, too.
 */
static int64_t most_us(const AVFormatContext *format, const struct film *film)
{
    const int64_t hour_us = INT64_C(3600000000), longest_us = SOUND_HOURS_MOST * hour_us;
    bool declared =
        format->duration > 0 && format->duration_estimation_method != AVFMT_DURATION_FROM_BITRATE;
    int64_t end_us = film_length_end(&film->length);
    if (film->length.source <= LENGTH_ESTIMATE || end_us > longest_us - hour_us || !declared ||
        format->duration > longest_us - hour_us)
        return longest_us;
    return (end_us > format->duration ? end_us : format->duration) + hour_us;
}

/* Opens the decoder. s->stream is set if it can decode. */
static bool open_decoder(struct sound_reading *s, const struct film *film, struct sound_job *job,
                         struct err *e)
{
    const AVFormatContext *format = s->demux->format;
    int64_t most = s->clock.most_us;
    int i = film->sound_stream;
    bool same = i >= 0 && i < (int)format->nb_streams &&
                format->streams[i]->codecpar->codec_type == AVMEDIA_TYPE_AUDIO;
    const AVStream *stream = same ? format->streams[i] : NULL;
    s->decoder = sound_decoder_open(stream, film->sound, film->path, most, job, e);
    if (s->decoder && sound_decoder_works(s->decoder))
        s->stream = stream;
    return s->decoder != NULL;
}

/* Lets the reader pass the packets on. */
static void select_packets(struct sound_reading *s)
{
    struct demux *r = s->demux;
    if (!s->stream)
        return;
    if (s->stream != r->stream)
        demux_select(r, s->stream->index);
    r->tap = on_packet;
    r->tap_user = s;
}

struct sound_reading *sound_reading_open(struct demux *r, const struct film *film,
                                         struct sound_job *job, struct err *e)
{
    struct sound_reading *s = err_calloc(1, sizeof *s, e);
    if (!s)
        return NULL;
    struct film_clock clock = demux_clock(r, film);
    int64_t first = r->stream->start_time;
    s->demux = r;
    s->clock = sound_clock_begin(
        clock.origin_us, first == AV_NOPTS_VALUE ? TIME_NONE : container_us(r->stream, first),
        clock.wraps, clock.frame_us);
    s->clock.most_us = most_us(r->format, film);
    if (open_decoder(s, film, job, e))
        select_packets(s);
    else
        sound_reading_close(&s, false, NULL);
    return s;
}

bool sound_reading_rest(struct sound_reading *s, struct err *e)
{
    struct demux *r = s->demux;
    const struct demux before = *r;
    AVPacket *packet = s->stream ? av_packet_alloc() : NULL;
    if (!s->stream)
        return true;
    if (!packet)
        return err_memory(e, sizeof *packet);
    /* In other containers the times of pictures are needed (struct sound_clock). */
    if (r->quirks->index_is_mp4 && r->stream != s->stream)
        r->stream->discard = AVDISCARD_ALL;
    while (!interrupted() && demux_read(r, packet, e)) {
        on_packet(s, packet);
        av_packet_unref(packet);
    }
    av_packet_free(&packet);
    /* No picture is needed there. */
    r->gap = before.gap;
    r->failed = before.failed;
    return e->code == ERR_NONE && !interrupted();
}

bool sound_reading_close(struct sound_reading **reading, bool whole, struct err *e)
{
    struct sound_reading *s = *reading;
    if (!s)
        return true;
    if (s->stream)
        s->demux->tap = NULL;
    bool ok = s->error.code == ERR_NONE;
    if (!ok && e && e->code == ERR_NONE)
        *e = s->error;
    ok = sound_decoder_close(&s->decoder, whole && ok, e) && ok;
    free(s);
    *reading = NULL;
    return ok;
}

/* ---- Samples of any format as interleaved 16-bit ones ---- */

/* `count` samples, of which every `stride`th of `out` is written. */
typedef void convert(const uint8_t *in, int16_t *out, size_t stride, size_t count);

static int16_t limited(int64_t v)
{
    if (v > INT16_MAX)
        return INT16_MAX;
    return v < INT16_MIN ? INT16_MIN : (int16_t)v;
}

/* A sample that is no number is silence. */
static int16_t rounded(double v)
{
    v *= 32768;
    if (v >= INT16_MAX)
        return INT16_MAX;
    if (v <= INT16_MIN)
        return INT16_MIN;
    return v == v ? (int16_t)lrint(v) : 0;
}

static void from_u8(const uint8_t *in, int16_t *out, size_t stride, size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i * stride] = (int16_t)((in[i] - 128) * 256);
}

static void from_s16(const uint8_t *in, int16_t *out, size_t stride, size_t count)
{
    const int16_t *from = (const int16_t *)(const void *)in;
    for (size_t i = 0; i < count; i++)
        out[i * stride] = from[i];
}

static void from_s32(const uint8_t *in, int16_t *out, size_t stride, size_t count)
{
    const int32_t *from = (const int32_t *)(const void *)in;
    for (size_t i = 0; i < count; i++)
        out[i * stride] = limited(((int64_t)from[i] + (1 << 15)) >> 16);
}

static void from_s64(const uint8_t *in, int16_t *out, size_t stride, size_t count)
{
    const int64_t *from = (const int64_t *)(const void *)in;
    for (size_t i = 0; i < count; i++)
        out[i * stride] = limited(((from[i] >> 32) + (1 << 15)) >> 16);
}

static void from_float(const uint8_t *in, int16_t *out, size_t stride, size_t count)
{
    const float *from = (const float *)(const void *)in;
    for (size_t i = 0; i < count; i++)
        out[i * stride] = rounded((double)from[i]);
}

static void from_double(const uint8_t *in, int16_t *out, size_t stride, size_t count)
{
    const double *from = (const double *)(const void *)in;
    for (size_t i = 0; i < count; i++)
        out[i * stride] = rounded(from[i]);
}

static convert *converter(enum AVSampleFormat format)
{
    switch (av_get_packed_sample_fmt(format)) {
    case AV_SAMPLE_FMT_U8: return from_u8;
    case AV_SAMPLE_FMT_S16: return from_s16;
    case AV_SAMPLE_FMT_S32: return from_s32;
    case AV_SAMPLE_FMT_S64: return from_s64;
    case AV_SAMPLE_FMT_FLT: return from_float;
    case AV_SAMPLE_FMT_DBL: return from_double;
    default: return NULL;
    }
}

bool samples_known(enum AVSampleFormat format) { return converter(format) != NULL; }

void samples_convert(const AVFrame *frame, int channels, int16_t *out)
{
    convert *to = converter((enum AVSampleFormat)frame->format);
    size_t count = (size_t)frame->nb_samples, all = (size_t)channels;
    if (!av_sample_fmt_is_planar((enum AVSampleFormat)frame->format)) {
        to(frame->extended_data[0], out, 1, count * all);
        return;
    }
    for (size_t c = 0; c < all; c++)
        to(frame->extended_data[c], out + c, all, count);
}

uint64_t samples_mask(const AVChannelLayout *layout)
{
    AVChannelLayout usual = {.nb_channels = 0};
    if (layout->order == AV_CHANNEL_ORDER_UNSPEC)
        av_channel_layout_default(&usual, layout->nb_channels);
    const AVChannelLayout *known = usual.nb_channels > 0 ? &usual : layout;
    return known->order == AV_CHANNEL_ORDER_NATIVE ? known->u.mask : 0;
}
