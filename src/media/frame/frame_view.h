/*
 * frame_view.h - decoded frames as frame.h describes them.
 */
#ifndef BARCODE_FRAME_FRAME_VIEW_H
#define BARCODE_FRAME_FRAME_VIEW_H

#include <libavcodec/avcodec.h>
#include <stdbool.h>

#include "barcode/base/err.h"
#include "barcode/engine/frame.h"
#include "barcode/media/film.h"

/*
 * Describes a decoded frame, or its copy in *planes where its own samples cannot be described
 * (pixfmt.c). *planes begins as NULL and is the caller's to free with av_frame_free; one a thread.
 * False for a pixel format that we cannot read (ERR_INPUT) and without memory (ERR_FAILED).
 */
bool view_of_frame(const AVFrame *frame, const struct film *film, AVFrame **planes,
                   struct frame_view *view, struct err *e);

/* The check alone, before any decoding. */
bool view_format_known(enum AVPixelFormat format);

#endif
