/* decoder.h - one libavcodec context. */
#ifndef BARCODE_DECODE_DECODER_H
#define BARCODE_DECODE_DECODER_H

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <stdbool.h>

#include "media/bitstream/packet_scan.h"
#include "media/bitstream/coded_picture.h"
#include "media/gop/chunk.h"
#include "barcode/base/err.h"

/*
 * Opens a decoder for the stream of the film `path`. `threads` 1: single-threaded; more: frame
 * threads. Returns NULL on failure.
 */
AVCodecContext *decoder_open(const AVStream *stream, const char *path, int threads, struct err *e);

/*
 * avcodec_send_packet and avcodec_receive_frame of a decoder with a corruption watch. They return
 * AVERROR(ENOMEM) once a frame buffer could not be allocated.
 */
int decoder_send(AVCodecContext *c, const AVPacket *packet);
int decoder_receive(AVCodecContext *c, AVFrame *frame);

/* Frees the decoder, before its corruption watch is freed. Does nothing if *c is NULL. */
void decoder_close(AVCodecContext **c);

/*
 * Returns the most threads that a decoder of one chunk may have: 1 if more are of no use or not
 * safe. H.264, HEVC and VP9 have frame threads of libavcodec's own, and so has dav1d; MPEG-2 has
 * none. With threads, VP8 and Theora show another frame for damage that they do not report.
 */
int decoder_max_threads(const AVStream *stream, const struct codec_traits *traits);

/*
 * Allocates a context for the stream, which is not opened yet. `name` is a decoder's, or NULL for
 * libavcodec's choice. Returns NULL on failure.
 */
AVCodecContext *decoder_alloc(const AVStream *stream, const char *name, struct err *e);

/*
 * Makes `to`, an empty packet, the one that a decoder of a chunk gets for `p`: with the serial in
 * pts, and DISCARD if the frame is not to be output. The caller unrefs it. Returns false if out of
 * memory.
 */
bool decoder_packet(AVPacket *to, const struct picture *p, struct err *e);

/*
 * Sets the delay of an H.264 decoder to the standard's largest, for pictures in any order. Call it
 * before the first packet. Leaves other decoders as they are. decoder_fit_delay has the reason.
 */
void decoder_widen_delay(AVCodecContext *c);

/*
 * Sets the delay that `chunk` needs in an H.264 decoder, before its first packet: a decoder that
 * increases its delay on the fly drops a frame. Leaves other decoders as they are.
 */
void decoder_fit_delay(AVCodecContext *c, const struct codec_traits *traits,
                       const struct chunk *chunk);

/*
 * Errors of avcodec_receive_frame that are skipped in a row. Each should use up a packet, of which
 * a decoder holds a few dozen. A decoder that always fails must not hang the worker.
 */
enum { RECEIVE_ERRORS_MAX = 1000 };

#endif
