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

SHARED_BEGIN

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

/*
 * A device that computes sound in place of the processor, with the same bytes. engine_sound opens
 * one. One thread at a time an object. The functions wait for their results. They return false with
 * ERR_ENGINE if the device fails.
 */
struct sound_device {
    /* Does what spectrogram_run does. */
    bool (*spectrogram)(struct sound_device *d, const int16_t *sound, size_t samples, size_t frames,
                        int16_t *out, struct err *e);
    /* Does what max_filter_run does. */
    bool (*max_filter)(struct sound_device *d, const int16_t *in, size_t rows, size_t columns,
                       int radius, int16_t *out, struct err *e);
    /* Frees *d and sets it to NULL. */
    void (*close)(struct sound_device **d);
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

/*
 * ---- The maximum over a diamond around each point of an array of 16-bit values: max_filter.c ----
 *
 *   out(y, x) = max of in(y + dy, x + dx) over |dy| + |dx| <= r, with points inside the array only
 *
 * This is SciPy's maximum_filter with iterate_structure(generate_binary_structure(2, 1), r) and its
 * border `reflect`: a mirrored point lies nearer to the centre than its mirror image, so the
 * diamond contains it anyway. It holds for every size. SciPy itself reads outside of an array that
 * has an axis much shorter than the diamond.
 *
 * The diamond D(r) is decomposed exactly (r >= 1):
 *
 *   D(r) = D(1) + {i (1, 1): 0 <= i < r} + {j (1, -1): 0 <= j < r} + (-(r - 1), 0)
 *
 * So a maximum of five points is followed by running maxima of r points along both diagonals
 * (Soille, Breen and Jones, PAMI 1996).
 */

enum { MAX_FILTER_RADIUS_MOST = 1024 };

/*
 * Computes out[rows][columns] from in[rows][columns], which do not overlap and may be empty, with a
 * radius of 1..MAX_FILTER_RADIUS_MOST. Returns false if out of memory. Any thread.
 */
bool max_filter_run(const int16_t *in, size_t rows, size_t columns, int radius, int16_t *out,
                    struct err *e);

SHARED_END
#endif
