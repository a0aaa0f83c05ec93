/*
 * libav.h - calls of libav that several rooms need: errors as sentences, alpha of VP8 and VP9, and
 * what depends on FFmpeg's version, 5.1 to 9. No other file tests for a version.
 */
#ifndef BARCODE_FFMPEG_LIBAV_H
#define BARCODE_FFMPEG_LIBAV_H

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <stdbool.h>
#include <stdint.h>

#include "barcode/base/err.h"
#include "barcode/engine/frame.h"
#include "media/film.h"

/* Fills `e` (ERR_MEMORY): libavcodec was out of memory for the film `path`. Returns false. */
bool av_out_of_memory(const char *path, struct err *e);

/* Returns the text of a libav error, such as "Invalid data found", in text[]. */
const char *av_error_text(int code, char text[128]);

/*
 * ---- VP8 and VP9 with alpha in Matroska and WebM: a second stream in each packet's
 * BlockAdditional. libavcodec's own decoders ignore it, libvpx decodes it ----
 */

/* Sets the pixel format of a stream with such alpha to YUVA420P, if a decoder can decode it. */
void alpha_note(AVStream *s);

/* Returns true for a stream that alpha_note changed, or a copy of its parameters. */
bool alpha_is_extra(const AVCodecParameters *par);

/* Returns libavcodec's decoder for a stream, which must decode its alpha; NULL if it has none. */
const AVCodec *alpha_find_decoder(const AVCodecParameters *par);

/*
 * ---- The same frames on every processor: NEON's inverse transform of MPEG-1, MPEG-2 and JPEG rounds
 * otherwise than that of C and of x86-64 ----
 */

/*
 * Chooses the inverse transform of an unopened decoder. MPEG-4 keeps the default, from which alone
 * libavcodec goes over to Xvid's.
 */
static inline void av_choose_transform(AVCodecContext *c)
{
#ifdef __aarch64__
    if (c->codec_id != AV_CODEC_ID_MPEG4)
        c->idct_algo = FF_IDCT_SIMPLE;
#else
    (void)c;
#endif
}

/* ---- versions ---- */

/* FFmpeg 6.1: a stream's side data moved to its parameters, and a frame's booleans became flags. */
#define AV_COMPAT_6_1 (LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(58, 29, 100))

/* FFmpeg 7.1: a function returns a codec's lists of formats. */
#define AV_COMPAT_7_1 (LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(61, 13, 100))

/* FFmpeg 6.1 renamed profiles, 8 dropped their old names. */
#ifndef AV_PROFILE_AAC_LOW
#define AV_PROFILE_AAC_LOW FF_PROFILE_AAC_LOW
#endif

/* Returns the stream's own side data of the type, or NULL, and its bytes in *size if not NULL. */
static inline const uint8_t *av_compat_side_data(const AVStream *s, enum AVPacketSideDataType type,
                                                 size_t *size)
{
#if AV_COMPAT_6_1
    const AVCodecParameters *c = s->codecpar;
    const AVPacketSideData *found =
        av_packet_side_data_get(c->coded_side_data, c->nb_coded_side_data, type);
    if (size)
        *size = found ? found->size : 0;
    return found ? found->data : NULL;
#else
    return av_stream_get_side_data(s, type, size);
#endif
}

/* Returns whether the frame's lines belong to two fields of different times. */
static inline bool av_compat_is_interlaced(const AVFrame *frame)
{
#if AV_COMPAT_6_1
    return frame->flags & AV_FRAME_FLAG_INTERLACED;
#else
    return frame->interlaced_frame;
#endif
}

/* Lets frame threads of FFmpeg before 6.0 call get_buffer2 themselves, as later versions do. */
static inline void av_compat_thread_safe_callbacks(AVCodecContext *c)
{
#if LIBAVCODEC_VERSION_MAJOR < 60
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    c->thread_safe_callbacks = 1;
#pragma GCC diagnostic pop
#else
    (void)c;
#endif
}

/* ---- av_log.c: messages of libav ---- */

/* Installs the callback that receives libav's messages. Any thread, any number of times. */
void av_log_install(void);

/* What demuxers log while they read. They skip damage without an error code. */
struct av_log_counts {
    uint64_t errors; /* messages of level error */
    uint64_t jumps;  /* MPEG-TS: a continuity counter jumped: packets of some stream are missing */
    uint64_t searches; /* MPEG-TS: the demuxer had to search for the next packet */
    uint64_t openings; /* files that were opened and whose format was found */
    int read_error;    /* errno of a file that libavformat closed and could not read; 0: none */
    /* the first file of a list (ffconcat) that could not be opened; "": none */
    char unopened[256];
    /* what a file is in, if that is not on the context's format_whitelist; NULL: no such file */
    const AVInputFormat *unlisted;
    bool many_streams;  /* the file has more than max_streams */
    int64_t wide, high; /* a size of frames with more than max_pixels; 0: none */
};

/*
 * Counts each message of any demuxer on this thread in *logged, which the caller keeps; NULL: in
 * none. Returns the thread's counts that were set before, for the caller to restore.
 */
struct av_log_counts *av_log_listen(struct av_log_counts *logged);

/* Adds `more` to the counts of this thread, if there are any. */
void av_log_add(const struct av_log_counts *more);

/* Receives a decoder's message, on the thread that logs it. */
typedef void av_log_codec_hook(const AVCodecContext *c, int level, const char *format);

/* Sets the function for each message of a decoder or parser. Any thread, any number of times. */
void av_log_set_codec_hook(av_log_codec_hook *hook);

/* ---- frame_view.c ---- */

/* The colour tags of a stream or of a frame. */
struct colour_tags {
    enum AVColorSpace space;
    enum AVColorPrimaries primaries;
    enum AVColorRange range;
    enum AVColorTransferCharacteristic transfer;
};

struct colour_tags film_colour_tags(const AVCodecParameters *par);

/*
 * Decides pixel format, matrix, range and transfer of `f` before decoding. `container` has the
 * stream's tags from before libavformat decoded the first frames: decoders overwrite them with
 * "unspecified".
 */
void film_colour_decide(const AVCodecParameters *par, struct colour_tags container, struct film *f);

/* Fills the colour of a view that has width and height. `format` is the frame's coded format. */
void film_colour_of_frame(const AVFrame *frame, enum AVPixelFormat format, const struct film *film,
                          struct frame_view *view);

/*
 * Stores the colour tags of a frame whose decoding begins in its `opaque`. From 6.1 on libavcodec
 * replaces missing tags of a frame by those of the sequence in which it is output.
 */
void film_colour_keep_tags(enum AVCodecID codec, AVFrame *f);

enum transfer film_colour_transfer(const AVFrame *frame, const struct film *film);

/*
 * Describes a decoded frame, or its copy in *planes if frame.h cannot describe its samples
 * in place. *planes begins as NULL, one for each thread; the caller frees it with av_frame_free.
 * Returns false with ERR_INPUT for an unsupported pixel format, with ERR_MEMORY.
 */
bool view_of_frame(const AVFrame *frame, const struct film *film, AVFrame **planes,
                   struct frame_view *view, struct err *e);

/* Crops a view of a decoded frame as the film's container says. */
void view_crop(struct frame_view *view, const struct film *film);

/* Returns true if frame.h can describe the format's samples in place. */
bool view_format_direct(enum AVPixelFormat format);

/* Returns true if the pixel format is supported. */
bool view_format_known(enum AVPixelFormat format);

#endif
