#include "sound_decoder.h"

#include <libavutil/channel_layout.h>
#include <stdlib.h>
#include <string.h>

#include "samples.h"
#include "media/ffmpeg/av_error.h"
#include "barcode/base/interrupt.h"

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

enum {
    RATE_MOST = 768000,
    SAMPLES_MOST = 1 << 22 /* of a channel in a frame */
};

struct sound_decoder {
    const char *path;
    struct sound_job *job;
    AVCodecContext *context; /* NULL: the stream cannot be decoded */
    AVFrame *frame;
    int16_t *samples; /* of a frame */
    size_t room;      /* in `samples` */
    struct sound_maker *maker;
    struct film_sound about; /* the fields of the stream */
    bool begun;              /* a frame was decoded */
    int64_t end_us, most_us; /* end_us: of the sound so far */
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
    d->most_us = most_us;
    d->about.stream = s ? number : -1;
    d->frame = av_frame_alloc();
    d->maker = sound_maker_open(job->isa, job->tap, job->tap_user, e);
    if (d->frame && d->maker && (!s || open_decoder(d, s, e)))
        return d;
    err_set(e, ERR_MEMORY, "out of memory for the sound of '%s'", path);
    sound_decoder_free(&d);
    return NULL;
}

bool sound_decoder_works(const struct sound_decoder *d) { return d->context != NULL; }

static bool is_usable(const AVFrame *f)
{
    int channels = f->ch_layout.nb_channels;
    return f->nb_samples > 0 && f->nb_samples <= SAMPLES_MOST && channels > 0 &&
           channels <= SOUND_CHANNELS_MOST && f->sample_rate > 0 && f->sample_rate <= RATE_MOST &&
           samples_known((enum AVSampleFormat)f->format);
}

/*
 * Passes the block on, without what is behind the film's end, in parts of a few seconds: at a rate
 * of 1 Hz a frame may last for days. Stops if interrupted.
 */
static bool push_parts(struct sound_decoder *d, struct sound_block b, struct err *e)
{
    enum { SECONDS = 8 };
    size_t frames = b.frames;
    int64_t from_us = b.time_us == INT64_MIN ? d->end_us : b.time_us;
    int64_t most = from_us < d->most_us ? av_rescale(d->most_us - from_us, b.rate, 1000000) : 0;
    frames = (uint64_t)most < frames ? (size_t)most : frames;
    while (frames > 0 && !interrupted()) {
        b.frames = frames < (size_t)b.rate * SECONDS ? frames : (size_t)b.rate * SECONDS;
        if (!sound_maker_push(d->maker, &b, e))
            return false;
        from_us += av_rescale((int64_t)b.frames, 1000000, b.rate);
        d->end_us = from_us > d->end_us ? from_us : d->end_us;
        b.sample += b.frames * (size_t)b.channels;
        b.time_us = b.time_us == INT64_MIN ? INT64_MIN : from_us;
        frames -= b.frames;
    }
    return true;
}

/* Passes the decoded frame on. */
static bool push_frame(struct sound_decoder *d, struct err *e)
{
    const AVFrame *f = d->frame;
    int channels = f->ch_layout.nb_channels;
    struct sound_block block = {.frames = (size_t)f->nb_samples,
                                .channels = channels,
                                .rate = f->sample_rate,
                                .mask = samples_mask(&f->ch_layout),
                                .time_us = f->pts == AV_NOPTS_VALUE ? INT64_MIN : f->pts};
    if (!d->begun) {
        d->begun = true;
        d->about.rate = f->sample_rate;
        describe_layout(d, &f->ch_layout);
    }
    size_t count = block.frames * (size_t)channels;
    if (!err_reserve(&d->samples, count, &d->room, sizeof *d->samples, e))
        return false;
    samples_convert(f, channels, d->samples);
    block.sample = d->samples;
    return push_parts(d, block, e);
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
        bool ok = code >= 0 && is_usable(d->frame);
        errors += code < 0;
        *damaged |= !ok;
        ok = !ok || push_frame(d, e);
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
    if (!sound_decoder_put(d, NULL, e) || !sound_maker_finish(d->maker, &sound, e))
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
    free((*d)->samples);
    sound_maker_free(&(*d)->maker);
    free(*d);
    *d = NULL;
}
