/*
 * pixfmt.h - pixel formats: which ones frame.h can describe, and conversion of the others.
 */
#ifndef BARCODE_FRAME_PIXFMT_H
#define BARCODE_FRAME_PIXFMT_H

#include <libavutil/frame.h>
#include <libavutil/pixfmt.h>
#include <stdbool.h>

#include "barcode/base/err.h"

/* True if frame.h describes the format's samples as they lie. */
bool view_format_direct(enum AVPixelFormat format);

/* True if libswscale can convert the format's samples to a format that view_format_direct knows. */
bool unpack_knows(enum AVPixelFormat format);

/* Converts a frame of a format that unpack_knows into *planes, whose memory is kept while the
 * format and size stay. */
bool unpack_frame(AVFrame **planes, const AVFrame *frame, struct err *e);

#endif
