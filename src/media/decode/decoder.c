#include "decoder.h"

#include <libavutil/avstring.h>
#include <string.h>

#include "media/ffmpeg/libav.h"
#include "base/limits.h"

/* ---- Signs of damage ---- */

/* Implements get_buffer2. With frame threads, any of them may call it. */
static int watched_buffer(AVCodecContext *c, AVFrame *frame, int flags)
{
    struct corruption_watch *w = c->opaque;
    int code = avcodec_default_get_buffer2(c, frame, flags);
    if (code == AVERROR(ENOMEM))
        atomic_store(&w->out_of_memory, true);
    film_colour_keep_tags(c->codec_id, frame);
    return code;
}

void corruption_watch_open(struct corruption_watch *w, AVCodecContext *c)
{
    corruption_watch_messages(w, c);
    c->get_buffer2 = watched_buffer;
    av_compat_thread_safe_callbacks(c);
}

bool corruption_reported(const struct corruption_watch *w)
{
    return atomic_load(&w->reports) > w->reports_before;
}

void corruption_watch_messages(struct corruption_watch *w, AVCodecContext *c)
{
    av_log_set_codec_hook(corruption_message);
    c->opaque = w;
}

bool damage_found(struct corruption_watch *w, int code)
{
    uint_fast64_t before = w->reports_before;
    w->reports_before = atomic_load(&w->reports);
    return code < 0 || w->reports_before > before;
}

bool corruption_has_substitutes(struct corruption_watch *w)
{
    uint_fast64_t before = w->substitutes_before;
    w->substitutes_before = atomic_load(&w->substitutes);
    return w->substitutes_before > before;
}

bool corruption_spreads(struct corruption_watch *w, const struct picture *p, bool corrupt)
{
    bool leads = p->leading || p->marked_leading || p->needs_before;
    if (p->packet->flags & AV_PKT_FLAG_KEY) {
        w->tainted_before = w->tainted;
        w->tainted = false;
    }
    bool spoilt = corrupt || w->tainted || (leads && w->tainted_before);
    /* Pictures after an HEVC key in display order do not refer to its leading pictures: H.265
     * 7.4.2.2. */
    *(p->marked_leading ? &w->tainted_before : &w->tainted) |= corrupt && !p->droppable;
    return spoilt;
}

void corruption_reset(struct corruption_watch *w)
{
    w->tainted = w->tainted_before = false;
    w->reports_before = atomic_load(&w->reports);
    w->substitutes_before = atomic_load(&w->substitutes);
}

void corruption_is_everywhere(struct corruption_watch *w) { w->tainted = true; }

bool corruption_is_flagged(const AVFrame *frame)
{
    return corruption_concealed(frame) || frame->flags & AV_FRAME_FLAG_CORRUPT;
}

bool corruption_concealed(const AVFrame *frame) { return frame->decode_error_flags != 0; }

/*
 * The beginnings of messages about invalid blocks: of the MPEG family and related codecs, MJPEG and
 * ProRes. Then those of Theora, Dirac, Indeo 4 and 5, Flash Screen Video, GoToMeeting, JPEG 2000,
 * TIFF, GIF, Road Pizza and PNG about parts of a picture that they skip.
 */
static const char *const about_blocks[] = {"ac-tex damaged",
                                           "ac tex damaged",
                                           "dc overflow-",
                                           "ignoring overflow at",
                                           "Error at MB",
                                           "error y=",
                                           "More blocks ended than coded",
                                           "Data unit with size",
                                           "Corrupted tile data",
                                           "error in decompression of block",
                                           "Zlib resync occurred",
                                           "Error decoding tile",
                                           "Segmentation symbol value incorrect",
                                           "Read went out of bounds",
                                           "Copy went out of bounds",
                                           "Run went out of bounds",
                                           "LZW decode failed",
                                           "First chunk byte is",
                                           "IEND without all image"};

/*
 * Codecs whose decoders log an error only if the data is corrupt, and output the frame or a part of
 * it all the same. Read in the sources of FFmpeg 5.1, decoder by decoder. Other decoders also log
 * errors for intact films: MPEG-4 with junk after its pictures, MJPEG of cameras, JPEG 2000 and PNG
 * without their last marker, animations whose chunks have odd lengths. For those, the lists above
 * have the messages that do mean damage.
 */
static const enum AVCodecID errors_mean_corruption[] = {
    AV_CODEC_ID_FFV1,     AV_CODEC_ID_DVVIDEO, AV_CODEC_ID_QTRLE,   AV_CODEC_ID_SNOW,
    AV_CODEC_ID_ZMBV,     AV_CODEC_ID_CINEPAK, AV_CODEC_ID_UTVIDEO, AV_CODEC_ID_MAGICYUV,
    AV_CODEC_ID_LAGARITH, AV_CODEC_ID_HAP,     AV_CODEC_ID_HQ_HQA,  AV_CODEC_ID_CLLC,
};

static bool error_means_corruption(enum AVCodecID codec)
{
    for (size_t i = 0; i < sizeof errors_mean_corruption / sizeof *errors_mean_corruption; i++)
        if (errors_mean_corruption[i] == codec)
            return true;
    return false;
}

/*
 * The beginnings of HEVC's messages about slices that are missing, in whole or in part. "Could not
 * find ref with POC" is not among them: the standard allows a picture to name references that it
 * does not use.
 */
static const char *const about_slices[] = {"CABAC_MAX_BIN",
                                           "The cu_qp_delta",
                                           "The slice_qp",
                                           "Invalid slice segment address",
                                           "Previous slice segment missing",
                                           "Two slices reporting",
                                           "Independent slice segment missing",
                                           "First slice in a frame missing",
                                           "Zero refs",
                                           "Overread slice header",
                                           "Invalid collocated_ref_idx",
                                           "Invalid number of merging MVP",
                                           "entry_point_offset table",
                                           "WPP ctb",
                                           "Error constructing the",
                                           "Impossible slice segment",
                                           "Impossible initial tile",
                                           "Invalid reference index",
                                           "Duplicate POC",
                                           "PPS id out of range"};

/* The beginnings of HEVC's and H.264's messages about missing references. */
static const char *const about_references[] = {
    "Could not find ref with POC", "Missing reference picture", "reference picture missing"};

static bool begins_with_any(const char *text, const char *const *start, size_t starts)
{
    for (size_t i = 0; i < starts; i++)
        if (av_strstart(text, start[i], NULL))
            return true;
    return false;
}

void corruption_message(const AVCodecContext *c, int level, const char *format)
{
    struct corruption_watch *w = c->opaque;
    if (!w || level > AV_LOG_INFO)
        return;
    bool error = level <= AV_LOG_ERROR;
    bool damage = av_strstart(format, "concealing ", NULL);
    if (error && error_means_corruption(c->codec_id))
        damage = true;
    else if (error && c->codec_id == AV_CODEC_ID_HEVC)
        damage |= begins_with_any(format, about_slices, sizeof about_slices / sizeof *about_slices);
    else if (error)
        damage |= begins_with_any(format, about_blocks, sizeof about_blocks / sizeof *about_blocks);
    if (damage)
        atomic_fetch_add(&w->reports, 1);
    if (begins_with_any(format, about_references,
                        sizeof about_references / sizeof *about_references))
        atomic_fetch_add(&w->substitutes, 1);
}

/* ---- A decoder ---- */

/* Returns `code`, or AVERROR(ENOMEM) if a frame buffer could not be allocated. */
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
    av_choose_transform(c);
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

/* The standard's largest delay. A larger one is due to wrong times, and libavcodec aborts. */
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
    /* With frame threads, the Theora decoder does not report damage. */
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
