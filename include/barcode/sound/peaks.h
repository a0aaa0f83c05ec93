/*
 * peaks.h - the peaks of a spectrogram (spectrogram.h), found while its frames arrive.
 *
 * v(t, f) is a peak if f >= PEAK_BIN_LEAST, v >= floor, and over |dt| + |df| <= PEAK_RADIUS no
 * value is larger and none before it is equal. `Before` is by time, then by frequency. It is a wide
 * peak if that is true with PEAK_RADIUS_WIDE too. Values outside of the spectrogram do not count;
 * bins below PEAK_BIN_LEAST do.
 *
 * So a plateau has a peak at its first point, not at each: a constant tone gives one peak where it
 * begins, and silence, a plateau of 0, gives none because of the floor. Two peaks are never within
 * PEAK_RADIUS of each other, which bounds their number: about one for 61 values, 8 a frame.
 *
 * With SciPy: v == maximum_filter(v, footprint=diamond), and v > the maximum over the half of the
 * diamond before the centre, mode="constant", cval=-32768.
 */
#ifndef BARCODE_PEAKS_H
#define BARCODE_PEAKS_H

#include "barcode/base/err.h"
#include "barcode/sound/sound_device.h"

enum {
    PEAK_RADIUS = 10,
    PEAK_RADIUS_WIDE = 20,
    PEAK_BIN_LEAST = 4,
    PEAK_FLOOR = 7168 /* a sine of -90 dB of full scale; noise of one bit is below it */
};

struct peak {
    uint32_t frame;
    uint16_t bin;
    uint16_t wide; /* 1 for a wide peak, else 0 */
};

struct peaks;

/* Creates a list of peaks of `floor` or more. `device` (borrowed, or NULL) filters. One thread. */
struct peaks *peaks_open(int16_t floor, struct sound_device *device, struct err *e);
void peaks_free(struct peaks **p);

/* Adds the next values[frames][SPECTROGRAM_BINS]. After a failure the list must be freed. */
bool peaks_push(struct peaks *p, const int16_t *values, size_t frames, struct err *e);

/* Ends the spectrogram: the peaks of the last frames are found. Nothing may be pushed after it. */
bool peaks_finish(struct peaks *p, struct err *e);

/* Returns the *n peaks that are known so far, by time, then frequency; p's, until its next call. */
const struct peak *peaks_list(const struct peaks *p, size_t *n);

#endif
