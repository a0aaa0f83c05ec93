/* frame_view.h - describes decoded frames by frame.h. */
#ifndef BARCODE_FFMPEG_FRAME_VIEW_H
#define BARCODE_FFMPEG_FRAME_VIEW_H

#include <libavcodec/avcodec.h>
#include <stdbool.h>

#include "barcode/base/err.h"
#include "barcode/engine/frame.h"
#include "media/film.h"

/*
 * Describes a decoded frame, or its copy in *planes if frame.h cannot describe its samples
 * in place. *planes begins as NULL, one for each thread; the caller frees it with av_frame_free.
 * Returns false with ERR_INPUT for an unsupported pixel format, with ERR_MEMORY.
 */
bool view_of_frame(const AVFrame *frame, const struct film *film, AVFrame **planes,
                   struct frame_view *view, struct err *e);

/* Returns true if frame.h can describe the format's samples in place. */
bool view_format_direct(enum AVPixelFormat format);

/* Returns true if the pixel format is supported. */
bool view_format_known(enum AVPixelFormat format);

#endif
