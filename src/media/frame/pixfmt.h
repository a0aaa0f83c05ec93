/* pixfmt.h - pixel formats: which ones frame.h can describe, and conversion of the others. */
#ifndef BARCODE_FRAME_PIXFMT_H
#define BARCODE_FRAME_PIXFMT_H

#include <libavutil/frame.h>
#include <libavutil/pixfmt.h>
#include <stdbool.h>

#include "barcode/base/err.h"

/* Returns true if frame.h can describe the format's samples in place. */
bool view_format_direct(enum AVPixelFormat format);

/*
 * Returns true if libswscale can convert the format's samples to a format that view_format_direct
 * accepts.
 */
bool unpack_knows(enum AVPixelFormat format);

/*
 * Converts a frame of a format that unpack_knows accepts into *planes, whose memory is reused while
 * format and size stay the same.
 */
bool unpack_frame(AVFrame **planes, const AVFrame *frame, struct err *e);

#endif
