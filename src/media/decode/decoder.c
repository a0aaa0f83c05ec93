#include "decoder.h"

#include "corruption.h"
#include "media/bitstream/packet_scan.h"
#include "media/ffmpeg/libav.h"
#include "base/limits.h"

/*
 * Returns AVERROR(ENOMEM) if a frame buffer could not be allocated, else `code`: libavcodec may
 * return any other error, or none, in that case.
 */
static int unless_out_of_memory(const AVCodecContext *c, int code)
{
    const struct corruption_watch *w = c->opaque;
    return atomic_load(&w->out_of_memory) ? AVERROR(ENOMEM) : code;
}

int decoder_send(AVCodecContext *c, const AVPacket *packet)
{
    int code = avcodec_send_packet(c, packet);
    return unless_out_of_memory(c, code);
}

int decoder_receive(AVCodecContext *c, AVFrame *frame)
{
    int code = avcodec_receive_frame(c, frame);
    return unless_out_of_memory(c, code);
}

void decoder_close(AVCodecContext **c) { avcodec_free_context(c); }

AVCodecContext *decoder_alloc(const AVStream *stream, const char *name, struct err *e)
{
    const AVCodec *codec =
        name ? avcodec_find_decoder_by_name(name) : alpha_find_decoder(stream->codecpar);
    if (!codec) {
        err_set(e, ERR_INPUT, "FFmpeg has no decoder '%s'",
                name ? name : avcodec_get_name(stream->codecpar->codec_id));
        return NULL;
    }
    AVCodecContext *c = avcodec_alloc_context3(codec);
    if (!c || avcodec_parameters_to_context(c, stream->codecpar) < 0) {
        avcodec_free_context(&c);
        err_set(e, ERR_MEMORY, "out of memory for a decoder");
        return NULL;
    }
    c->pkt_timebase = stream->time_base;
    c->max_pixels = (int64_t)limits_pixels();
    /* Damaged frames are counted here. Without the flag, draining drops some intact frames. */
    c->flags |= AV_CODEC_FLAG_OUTPUT_CORRUPT;
    /* Crop to the pixel, not to the next aligned address. */
    c->flags |= AV_CODEC_FLAG_UNALIGNED;
    /* Film grain is noise that is added after decoding. No decoder adds it, as devices do not. */
    c->export_side_data |= AV_CODEC_EXPORT_DATA_FILM_GRAIN;
    return c;
}

int decoder_max_threads(const AVStream *stream, const struct codec_traits *traits)
{
    enum { MOST = 16 }; /* libavcodec warns about more */
    if (traits->stream == STREAM_OTHER || traits->stream == STREAM_VP8)
        return 1;
    const AVCodec *codec = alpha_find_decoder(stream->codecpar);
    bool dav1d = codec && traits->stream == STREAM_AV1 && strcmp(codec->name, "libdav1d") == 0;
    return codec && (dav1d || codec->capabilities & AV_CODEC_CAP_FRAME_THREADS) ? MOST : 1;
}

/*
 * The largest delay of the standard. A larger one comes from wrong timestamps, and libavcodec
 * aborts.
 */
enum { DELAY_MAX = 15 };

void decoder_widen_delay(AVCodecContext *c)
{
    if (c->codec_id == AV_CODEC_ID_H264)
        c->has_b_frames = DELAY_MAX;
}

AVCodecContext *decoder_open(const AVStream *stream, const char *path, int threads, struct err *e)
{
    char text[128];
    AVCodecContext *c = decoder_alloc(stream, NULL, e);
    if (!c)
        return NULL;
    /*
     * With frame threads, the Theora decoder does not report damage, and outputs different frames.
     */
    if (c->codec_id == AV_CODEC_ID_THEORA)
        threads = 1;
    c->thread_count = threads;
    c->thread_type = threads > 1 ? FF_THREAD_FRAME | FF_THREAD_SLICE : 0;
    /* Frame threads copy the context here: a delay that is set later does not reach them. */
    if (threads > 1)
        decoder_widen_delay(c);
    const AVCodec *codec = c->codec; /* avcodec_open2 clears it on failure */
    int code = avcodec_open2(c, codec, NULL);
    if (code == AVERROR(ENOMEM)) {
        av_out_of_memory(path, e);
        avcodec_free_context(&c);
    } else if (code < 0) {
        bool no_thread = code == AVERROR(EAGAIN);
        err_set(e, no_thread ? ERR_MEMORY : ERR_INPUT, "cannot open the %s decoder for '%s': %s",
                codec->name, path, av_error_text(code, text));
        avcodec_free_context(&c);
    }
    return c;
}

bool decoder_packet(AVPacket *to, const struct picture *p, struct err *e)
{
    if (av_packet_ref(to, p->packet) < 0)
        return err_set(e, ERR_MEMORY, "out of memory for a packet");
    to->pts = (int64_t)p->serial;
    to->dts = AV_NOPTS_VALUE;
    to->duration = 0;
    if (p->action == ACTION_DECODE)
        to->flags |= AV_PKT_FLAG_DISCARD;
    return true;
}

void decoder_fit_delay(AVCodecContext *c, const struct codec_traits *traits,
                       const struct chunk *chunk)
{
    if (traits->stream != STREAM_H264)
        return;
    int reorder = chunk_reorder_depth(chunk);
    reorder = reorder < DELAY_MAX ? reorder : DELAY_MAX;
    if (c->has_b_frames < reorder)
        c->has_b_frames = reorder;
}
