/*
 * libav.h - calls of libav that several rooms need: errors as sentences, alpha of VP8 and VP9, and
 * what depends on FFmpeg's version, 5.1 to 9. No other file tests for a version.
 */
#ifndef BARCODE_FFMPEG_LIBAV_H
#define BARCODE_FFMPEG_LIBAV_H

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <stdbool.h>

#include "barcode/base/err.h"

/* Fills `e` (ERR_MEMORY): libavcodec was out of memory for the film `path`. Returns false. */
bool av_out_of_memory(const char *path, struct err *e);

/* Returns the text of a libav error, such as "Invalid data found", in text[]. */
const char *av_error_text(int code, char text[128]);

/*
 * ---- VP8 and VP9 with alpha in Matroska and WebM ----
 *
 * Alpha is a second stream in each packet's BlockAdditional. libavcodec's own decoders ignore it,
 * libvpx decodes it.
 */

/*
 * Sets the pixel format of a stream that has such alpha to YUVA420P, if there is a decoder for it.
 * Leaves other streams as they are.
 */
void alpha_note(AVStream *s);

/* Returns true for a stream that alpha_note changed, or a copy of its parameters. */
bool alpha_is_extra(const AVCodecParameters *par);

/* Returns libavcodec's decoder for a stream, which must decode its alpha; NULL if it has none. */
const AVCodec *alpha_find_decoder(const AVCodecParameters *par);

/* ---- versions ---- */

/* FFmpeg 6.1: a stream's side data moved to its parameters, and a frame's booleans became flags. */
#define AV_COMPAT_6_1 (LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(58, 29, 100))

/* FFmpeg 7.1: a function returns a codec's lists of formats. */
#define AV_COMPAT_7_1 (LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(61, 13, 100))

/* FFmpeg 6.1 renamed profiles, 8 dropped their old names. */
#ifndef AV_PROFILE_AAC_LOW
#define AV_PROFILE_AAC_LOW FF_PROFILE_AAC_LOW
#endif

/*
 * Returns the stream's side data of type `type`, which belongs to the stream, or NULL if the stream
 * has none. Sets *size to its bytes if `size` is not NULL.
 */
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

/* Lets frame threads of FFmpeg before 6.0 call get_buffer2 themselves, as later versions always do.
 */
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

#endif
