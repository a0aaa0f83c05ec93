/* colour_tags.h - which of the tags decide matrix, range and transfer. */
#ifndef BARCODE_FFMPEG_COLOUR_TAGS_H
#define BARCODE_FFMPEG_COLOUR_TAGS_H

#include <libavcodec/avcodec.h>

#include "barcode/engine/frame.h"
#include "media/film.h"

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

/*
 * Fills matrix, range, transfer and primaries of a view that has its width and height. `format` is
 * the frame's coded format.
 */
void film_colour_of_frame(const AVFrame *frame, enum AVPixelFormat format, const struct film *film,
                          struct frame_view *view);

/*
 * Stores the colour tags of a frame whose decoding begins in its `opaque`. From 6.1 on libavcodec
 * replaces missing tags of a frame by those of the sequence in which it is output.
 */
void film_colour_keep_tags(enum AVCodecID codec, AVFrame *f);

enum transfer film_colour_transfer(const AVFrame *frame, const struct film *film);

#endif
