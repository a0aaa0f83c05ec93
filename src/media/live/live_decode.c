#include "live_decode.h"

#include <stdlib.h>
#include <string.h>

#include "media/ffmpeg/libav.h"
#include "base/limits.h"

/* A decoder holds fewer pictures than that. */
enum { IN_DECODER = 64 };

/* With so many packets waiting, pictures that no other needs are not decoded. */
enum { BEHIND = 4 };

struct live_decode {
    AVCodecContext *codec;
    AVCodecParameters *par;
    struct colour_tags tags; /* of the container */
    bool keyframes;
    AVFrame *frame, *planes;
    struct film film;
    uint64_t serial;
    struct {
        int64_t arrived_ns;
        bool late;
    } sent[IN_DECODER]; /* of the packet with that serial, which travels in pts */
};

static void set_up_codec(struct live_decode *d, const struct live_options *o)
{
    AVCodecContext *c = d->codec;
    c->max_pixels = (int64_t)limits_pixels();
    av_choose_transform(c);
    c->flags |= AV_CODEC_FLAG_LOW_DELAY | AV_CODEC_FLAG_UNALIGNED;
    c->export_side_data |= AV_CODEC_EXPORT_DATA_FILM_GRAIN;
    c->thread_count = o->threads;
    c->thread_type = o->threads > 1 ? FF_THREAD_SLICE : 0;
    c->skip_frame = o->keyframes ? AVDISCARD_NONKEY : AVDISCARD_DEFAULT;
}

static bool open_codec(struct live_decode *d, const AVStream *stream, const char *name,
                       const struct live_options *o, struct err *e)
{
    char text[128];
    const AVCodec *codec = avcodec_find_decoder(stream->codecpar->codec_id);
    if (!codec)
        return err_set(e, ERR_INPUT, "'%s': FFmpeg has no decoder for %s", name,
                       avcodec_get_name(stream->codecpar->codec_id));
    d->codec = avcodec_alloc_context3(codec);
    d->par = avcodec_parameters_alloc();
    d->frame = av_frame_alloc();
    if (!d->codec || !d->par || !d->frame ||
        avcodec_parameters_to_context(d->codec, stream->codecpar) < 0 ||
        avcodec_parameters_copy(d->par, stream->codecpar) < 0)
        return err_memory(e, sizeof *d->codec);
    set_up_codec(d, o);
    int code = avcodec_open2(d->codec, codec, NULL);
    if (code < 0)
        return err_set(e, ERR_INPUT, "'%s': cannot open the %s decoder: %s", name, codec->name,
                       av_error_text(code, text));
    return true;
}

struct live_decode *live_decode_open(const AVStream *stream, const char *name,
                                     const struct live_options *o, struct err *e)
{
    struct live_decode *d = err_calloc(1, sizeof *d, e);
    if (!d)
        return NULL;
    d->keyframes = o->keyframes;
    d->tags = film_colour_tags(stream->codecpar);
    d->film.path = strdup(name);
    snprintf(d->film.codec, sizeof d->film.codec, "%s",
             avcodec_get_name(stream->codecpar->codec_id));
    AVRational rate = stream->avg_frame_rate;
    d->film.rate_num = rate.num > 0 && rate.den > 0 ? rate.num : 0;
    d->film.rate_den = d->film.rate_num > 0 ? rate.den : 1;
    if (!d->film.path)
        err_memory(e, strlen(name) + 1);
    if (!d->film.path || !open_codec(d, stream, name, o, e))
        live_decode_close(&d);
    return d;
}

/* Describes the stream by a frame: the first one, or one of another size or format. */
static void describe_film(struct live_decode *d, const AVFrame *f)
{
    struct film *film = &d->film;
    if (film->coded_width == f->width && film->coded_height == f->height &&
        d->par->format == f->format)
        return;
    d->par->width = film->coded_width = film->width = f->width;
    d->par->height = film->coded_height = film->height = f->height;
    d->par->format = f->format;
    bool shaped = f->sample_aspect_ratio.num > 0 && f->sample_aspect_ratio.den > 0;
    film->sample_num = shaped ? f->sample_aspect_ratio.num : 1;
    film->sample_den = shaped ? f->sample_aspect_ratio.den : 1;
    film_colour_decide(d->par, d->tags, film);
}

static bool deliver_frame(struct live_decode *d, const struct live_sink *sink, struct err *e)
{
    struct frame_view view;
    const AVFrame *f = d->frame;
    describe_film(d, f);
    if (!view_of_frame(f, &d->film, &d->planes, &view, e))
        return false;
    uint64_t at = (uint64_t)f->pts % IN_DECODER;
    struct live_frame frame = {.film = &d->film,
                               .view = &view,
                               .arrived_ns = d->sent[at].arrived_ns,
                               .damaged =
                                   f->flags & AV_FRAME_FLAG_CORRUPT || f->decode_error_flags != 0,
                               .late = d->sent[at].late};
    return sink->frame(sink->user, &frame, e);
}

/* Calls the sink for all frames that the decoder has. */
static bool receive_frames(struct live_decode *d, const struct live_sink *sink, struct err *e)
{
    int code;
    while ((code = avcodec_receive_frame(d->codec, d->frame)) >= 0) {
        bool ok = deliver_frame(d, sink, e);
        av_frame_unref(d->frame);
        if (!ok)
            return false;
    }
    return code != AVERROR(ENOMEM) || av_out_of_memory(d->film.path, e);
}

bool live_decode_packet(struct live_decode *d, AVPacket *packet, int64_t arrived_ns, int waiting,
                        const struct live_sink *sink, struct err *e)
{
    uint64_t at = d->serial % IN_DECODER;
    d->sent[at].arrived_ns = arrived_ns;
    d->sent[at].late = waiting > 0;
    packet->pts = (int64_t)d->serial++;
    packet->dts = AV_NOPTS_VALUE;
    if (!d->keyframes)
        d->codec->skip_frame = waiting >= BEHIND ? AVDISCARD_NONREF : AVDISCARD_DEFAULT;
    int code = avcodec_send_packet(d->codec, packet);
    if (code == AVERROR(ENOMEM))
        return av_out_of_memory(d->film.path, e);
    return receive_frames(d, sink, e);
}

bool live_decode_end(struct live_decode *d, const struct live_sink *sink, struct err *e)
{
    int code = avcodec_send_packet(d->codec, NULL);
    if (code == AVERROR(ENOMEM))
        return av_out_of_memory(d->film.path, e);
    return receive_frames(d, sink, e);
}

void live_decode_close(struct live_decode **d)
{
    if (!*d)
        return;
    avcodec_free_context(&(*d)->codec);
    avcodec_parameters_free(&(*d)->par);
    av_frame_free(&(*d)->frame);
    av_frame_free(&(*d)->planes);
    free((*d)->film.path);
    free(*d);
    *d = NULL;
}
