/* samples.h - decoded samples of any format as interleaved 16-bit ones. */
#ifndef BARCODE_SOUND_SAMPLES_H
#define BARCODE_SOUND_SAMPLES_H

#include <libavutil/frame.h>
#include <stdbool.h>
#include <stdint.h>

/* Returns true if samples_convert knows the format. */
bool samples_known(enum AVSampleFormat format);

/*
 * Writes the samples of `frame` to out[nb_samples][channels]: rounded to the nearest value, and
 * limited to 16 bits. The format must be known.
 */
void samples_convert(const AVFrame *frame, int channels, int16_t *out);

/* Returns FFmpeg's mask of the frame's channels, or 0 if it does not know their places. */
uint64_t samples_mask(const AVChannelLayout *layout);

#endif
