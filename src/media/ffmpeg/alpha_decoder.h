/*
 * alpha_decoder.h - VP8 and VP9 with alpha in Matroska and WebM. Alpha is a second stream in each
 * packet's BlockAdditional. libavcodec's own decoders ignore it, libvpx decodes it.
 */
#ifndef BARCODE_FFMPEG_ALPHA_DECODER_H
#define BARCODE_FFMPEG_ALPHA_DECODER_H

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <stdbool.h>

/*
 * Sets the pixel format of a stream that has such alpha to YUVA420P, if there is a decoder for it.
 * Leaves other streams as they are.
 */
void alpha_note(AVStream *s);

/* Returns true for a stream that alpha_note changed, or a copy of its parameters. */
bool alpha_is_extra(const AVCodecParameters *par);

/* Returns libavcodec's decoder for a stream, which must decode its alpha; NULL if it has none. */
const AVCodec *alpha_find_decoder(const AVCodecParameters *par);

#endif
