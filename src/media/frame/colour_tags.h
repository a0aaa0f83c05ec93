/*
 * colour_tags.h - whose word counts on matrix, range and transfer.
 */
#ifndef BARCODE_FRAME_COLOUR_TAGS_H
#define BARCODE_FRAME_COLOUR_TAGS_H

#include <libavcodec/avcodec.h>

#include "barcode/engine/frame.h"
#include "barcode/media/film.h"

/* What a stream, or a frame of it, says of its colours. */
struct colour_tags {
    enum AVColorSpace space;
    enum AVColorPrimaries primaries;
    enum AVColorRange range;
    enum AVColorTransferCharacteristic transfer;
};

struct colour_tags film_colour_tags(const AVCodecParameters *par);

/*
 * Decides pixel format, matrix, range and transfer of `f` before decoding. `container`: what the
 * stream's tags were before libavformat decoded the first pictures, for decoders write
 * "unspecified" over them.
 */
void film_colour_decide(const AVCodecParameters *par, struct colour_tags container, struct film *f);

/* Fills matrix, range, transfer and primaries of a view whose width and height are there. `format`:
 * what the frame was coded in. */
void film_colour_of_frame(const AVFrame *frame, enum AVPixelFormat format, const struct film *film,
                          struct frame_view *view);

/*
 * Keeps the colour tags of a frame whose decoding begins, in its `opaque`. From 6.1 on libavcodec
 * replaces the missing tags of a frame by those of the sequence in which the frame is output.
 */
void film_colour_keep_tags(enum AVCodecID codec, AVFrame *f);

enum transfer film_colour_transfer(const AVFrame *frame, const struct film *film);

#endif
