#include "sound_decoder.h"

#include <libavutil/channel_layout.h>
#include <stdlib.h>
#include <string.h>

#include "sound_frames.h"
#include "media/ffmpeg/av_error.h"

/*
 * Decoders that compute with integers, and so give the same samples on every machine. Others get
 * AV_CODEC_FLAG_BITEXACT, with which DTS does so as well.
 */
static const struct {
    enum AVCodecID codec;
    const char *decoder;
} exact[] = {{AV_CODEC_ID_AAC, "aac_fixed"},
             {AV_CODEC_ID_AC3, "ac3_fixed"},
             {AV_CODEC_ID_MP1, "mp1"},
             {AV_CODEC_ID_MP2, "mp2"},
             {AV_CODEC_ID_MP3, "mp3"}};

enum { SAMPLES_MOST = 1 << 22 }; /* of a channel in a frame */

struct sound_decoder {
    const char *path;
    struct sound_job *job;
    AVCodecContext *context; /* NULL: the stream cannot be decoded */
    AVFrame *frame;
    struct sound_frames *frames; /* NULL: the stream cannot be decoded */
    struct sound_maker *maker;
    struct film_sound about; /* the fields of the stream */
    bool begun;              /* a frame was decoded */
};

static const AVCodec *exact_decoder(enum AVCodecID codec)
{
    for (size_t i = 0; i < sizeof exact / sizeof *exact; i++)
        if (exact[i].codec == codec)
            return avcodec_find_decoder_by_name(exact[i].decoder);
    return NULL;
}

/* Opens `codec` into d->context. Returns false on failure; on `e` if out of memory. */
static bool open_codec(struct sound_decoder *d, const AVStream *s, const AVCodec *codec,
                       struct err *e)
{
    AVCodecContext *c = d->context = codec ? avcodec_alloc_context3(codec) : NULL;
    int code = AVERROR_DECODER_NOT_FOUND;
    if (codec)
        code = c ? avcodec_parameters_to_context(c, s->codecpar) : AVERROR(ENOMEM);
    if (code >= 0) {
        c->pkt_timebase = AV_TIME_BASE_Q;
        c->flags |= AV_CODEC_FLAG_BITEXACT;
        c->thread_count = 1;
        c->max_samples = SAMPLES_MOST;
        code = avcodec_open2(c, codec, NULL);
    }
    if (code < 0)
        avcodec_free_context(&d->context);
    return code >= 0 || (code == AVERROR(ENOMEM) && av_out_of_memory(d->path, e));
}

static void describe_layout(struct sound_decoder *d, const AVChannelLayout *layout)
{
    struct film_sound *s = &d->about;
    s->channels = layout->nb_channels;
    if (av_channel_layout_describe(layout, s->layout, sizeof s->layout) < 0)
        s->layout[0] = 0;
    s->layout[sizeof s->layout - 1] = 0;
}

/* Opens the exact decoder if there is one, else libavcodec's choice. Returns false on `e`. */
static bool open_decoder(struct sound_decoder *d, const AVStream *s, struct err *e)
{
    const AVCodecParameters *par = s->codecpar;
    snprintf(d->about.codec, sizeof d->about.codec, "%s", avcodec_get_name(par->codec_id));
    d->about.rate = par->sample_rate;
    describe_layout(d, &par->ch_layout);
    if (!open_codec(d, s, exact_decoder(par->codec_id), e) && e->code == ERR_NONE)
        open_codec(d, s, avcodec_find_decoder(par->codec_id), e);
    if (d->context)
        snprintf(d->about.decoder, sizeof d->about.decoder, "%s", d->context->codec->name);
    return e->code == ERR_NONE;
}

struct sound_decoder *sound_decoder_open(const AVStream *s, int number, const char *path,
                                         int64_t most_us, struct sound_job *job, struct err *e)
{
    struct sound_decoder *d = err_calloc(1, sizeof *d, e);
    if (!d)
        return NULL;
    d->path = path;
    d->job = job;
    d->about.stream = s ? number : -1;
    d->frame = av_frame_alloc();
    d->maker = sound_maker_open(job->isa, job->tap, job->tap_user, e);
    bool ok = d->frame && d->maker && (!s || open_decoder(d, s, e));
    if (ok && d->context)
        d->frames = sound_frames_open(d->maker, most_us, e);
    if (ok && (d->frames || !d->context))
        return d;
    err_set(e, ERR_MEMORY, "out of memory for the sound of '%s'", path);
    sound_decoder_free(&d);
    return NULL;
}

bool sound_decoder_works(const struct sound_decoder *d) { return d->context != NULL; }

/* Queues the decoded frame. */
static bool put_frame(struct sound_decoder *d, struct err *e)
{
    if (!d->begun) {
        d->begun = true;
        d->about.rate = d->frame->sample_rate;
        describe_layout(d, &d->frame->ch_layout);
    }
    return sound_frames_put(d->frames, d->frame, e);
}

/* Returns false on `e`. Sets *damaged if the decoder reports an error. */
static bool receive_frames(struct sound_decoder *d, bool *damaged, struct err *e)
{
    enum { ERRORS_MAX = 1000 }; /* a decoder that always fails must not hang */
    for (int errors = 0; errors < ERRORS_MAX;) {
        int code = avcodec_receive_frame(d->context, d->frame);
        if (code == AVERROR(ENOMEM))
            return av_out_of_memory(d->path, e);
        if (code == AVERROR(EAGAIN) || code == AVERROR_EOF)
            return true;
        bool ok = code >= 0 && sound_frames_usable(d->frame);
        errors += code < 0;
        *damaged |= !ok;
        ok = !ok || put_frame(d, e);
        av_frame_unref(d->frame);
        if (!ok)
            return false;
    }
    return true;
}

bool sound_decoder_put(struct sound_decoder *d, AVPacket *packet, struct err *e)
{
    if (!d->context)
        return true;
    if (packet && av_packet_get_side_data(packet, AV_PKT_DATA_ENCRYPTION_INFO, NULL)) {
        d->about.errors++;
        return true;
    }
    int code = avcodec_send_packet(d->context, packet);
    if (code == AVERROR(ENOMEM))
        return av_out_of_memory(d->path, e);
    bool damaged = packet && code < 0;
    bool ok = receive_frames(d, &damaged, e);
    d->about.errors += damaged;
    return ok;
}

bool sound_decoder_finish(struct sound_decoder *d, struct err *e)
{
    struct sound_job *job = d->job;
    struct film_sound sound = d->about;
    if (!sound_decoder_put(d, NULL, e) || !sound_frames_close(&d->frames, true, e) ||
        !sound_maker_finish(d->maker, &sound, e))
        return false;
    job->sound = sound;
    job->done = true;
    return true;
}

void sound_decoder_free(struct sound_decoder **d)
{
    if (!*d)
        return;
    avcodec_free_context(&(*d)->context);
    av_frame_free(&(*d)->frame);
    sound_frames_close(&(*d)->frames, false, NULL);
    sound_maker_free(&(*d)->maker);
    free(*d);
    *d = NULL;
}
