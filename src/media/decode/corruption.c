/* corruption.c - libavcodec's signs of damage. */
#include "corruption.h"

#include <libavutil/avstring.h>

#include "media/ffmpeg/libav.h"
#include "media/ffmpeg/av_log.h"
#include "media/ffmpeg/colour_tags.h"

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

static void watch_buffers(AVCodecContext *c)
{
    c->get_buffer2 = watched_buffer;
    av_compat_thread_safe_callbacks(c);
}

void corruption_watch_open(struct corruption_watch *w, AVCodecContext *c)
{
    corruption_watch_messages(w, c);
    watch_buffers(c);
}

bool corruption_reported(const struct corruption_watch *w)
{
    return atomic_load(&w->complaints) > w->heard;
}

void corruption_watch_messages(struct corruption_watch *w, AVCodecContext *c)
{
    av_log_set_codec_hook(corruption_message);
    c->opaque = w;
}

bool damage_found(struct corruption_watch *w, int code)
{
    uint_fast64_t before = w->heard;
    w->heard = atomic_load(&w->complaints);
    return code < 0 || w->heard > before;
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
    w->heard = atomic_load(&w->complaints);
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
static const char *const about_blocks[] = {
    "ac-tex damaged",
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
    "IEND without all image",
};

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
static const char *const about_slices[] = {
    "CABAC_MAX_BIN",
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
    "PPS id out of range",
};

/* The beginnings of HEVC's and H.264's messages about missing references. */
static const char *const about_references[] = {
    "Could not find ref with POC",
    "Missing reference picture",
    "reference picture missing",
};

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
    if (!w)
        return;
    if (level > AV_LOG_INFO)
        return;
    static const char *const concealing[] = {"concealing "};
    bool heard = begins_with_any(format, concealing, 1);
    if (level <= AV_LOG_ERROR && error_means_corruption(c->codec_id))
        heard = true;
    else if (level <= AV_LOG_ERROR)
        heard |=
            c->codec_id == AV_CODEC_ID_HEVC
                ? begins_with_any(format, about_slices, sizeof about_slices / sizeof *about_slices)
                : begins_with_any(format, about_blocks, sizeof about_blocks / sizeof *about_blocks);
    if (heard)
        atomic_fetch_add(&w->complaints, 1);
    if (begins_with_any(format, about_references,
                        sizeof about_references / sizeof *about_references))
        atomic_fetch_add(&w->substitutes, 1);
}
