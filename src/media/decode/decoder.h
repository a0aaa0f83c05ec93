/*
 * decoder.h - one libavcodec context.
 */
#ifndef BARCODE_DECODE_DECODER_H
#define BARCODE_DECODE_DECODER_H

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <stdbool.h>

#include "media/bitstream/codec_traits.h"
#include "media/bitstream/coded_picture.h"
#include "media/gop/chunk.h"
#include "barcode/base/err.h"

/* A context for the stream of the film `path`; `threads` 1: single-threaded, more: frame threads.
 */
AVCodecContext *decoder_open(const AVStream *stream, const char *path, int threads, struct err *e);

/*
 * avcodec_send_packet and avcodec_receive_frame of a watched decoder. Return AVERROR(ENOMEM) once a
 * frame buffer could not be allocated.
 */
int decoder_send(AVCodecContext *c, const AVPacket *packet);
int decoder_receive(AVCodecContext *c, AVFrame *frame);

/* Frees the decoder before its watch goes; NULL is fine. */
void decoder_close(AVCodecContext **c);

/*
 * On how many threads, at most, one decoder of the film's chunks may work; 1 where more are no use
 * or not safe. Those with frame threads of libavcodec's own (H.264, HEVC, VP9), and dav1d. MPEG-2's
 * has none. VP8's, with threads, makes another picture of damage of which it says nothing (seen:
 * one flipped bit), as Theora's does.
 */
int decoder_max_threads(const AVStream *stream, const struct codec_traits *traits);

/* A context for the film's stream, not opened yet; `name`: a certain decoder, NULL: libavcodec's
 * choice. */
AVCodecContext *decoder_alloc(const AVStream *stream, const char *name, struct err *e);

/*
 * Makes `to`, empty, the packet that a decoder of a chunk gets for `p`: its serial for a time, and
 * DISCARD where the picture itself is not wanted. The caller unrefs it once it is sent.
 */
bool decoder_packet(AVPacket *to, const struct picture *p, struct err *e);

/*
 * Gives an H.264 decoder, before its first packet, as much delay as the standard allows, for
 * pictures of any order. Others are left as they are. decoder_fit_delay says why.
 */
void decoder_widen_delay(AVCodecContext *c);

/*
 * Gives an H.264 decoder the delay that `chunk` needs, before its first packet: decoders learn it
 * on the fly, and the picture at which it grows is lost. Others are left as they are.
 */
void decoder_fit_delay(AVCodecContext *c, const struct codec_traits *traits,
                       const struct chunk *chunk);

/*
 * Errors of avcodec_receive_frame that are stepped over at a time: each should use up a packet, of
 * which a decoder holds a few dozen. A decoder that fails without end must not hang the worker.
 */
enum { RECEIVE_ERRORS_MAX = 1000 };

#endif
