/*
 * sound_line.h - what the modes `sound` and `spectrum` have in common: levels of the film's sound
 * for each pixel of a strip.
 *
 * Pixel x of `width` shows the film's sound from t(x) to t(x + 1), in whatever column that is: t is
 * axis_at (time_axis.h). So a picture's sound is where its frames are, at every width. Levels are
 * integers of film_sound_span, 0..SOUND_LINE_FULL:
 *
 *     sound      Loudness and peak: 0 at -50 LUFS and -50 dB of full scale, SOUND_LINE_FULL at 0.
 *                The same for all films, so that they compare.
 *     spectrum   A band of sound_row: 0 at -105 dB of full scale, SOUND_LINE_FULL at -8 dB.
 *
 * --smooth S smooths levels along time with the triangle of smooth.h.
 *
 * The waveform is mirrored at the middle of the strip: a level L covers the middle L /
 * SOUND_LINE_FULL of the height. A row that it covers in part is blended. Loudness has the colour
 * that `average` paints in the pixel, brightened so that it is visible on the dark ground. Peaks
 * have the same colour, dimmed.
 *
 * In the spectrum, the middle of band b of n is at (b + 1/2) / n of the height. A row has the mean
 * of the levels around it, weighted by a triangle that reaches as far as the next band, or as the
 * next row if that is farther. So bands are interpolated, or averaged if there are fewer rows. The
 * colour is interpolated in the table of colour_map.h.
 */
#ifndef BARCODE_MODES_SOUND_LINE_H
#define BARCODE_MODES_SOUND_LINE_H

#include "render_line.h"

enum { SOUND_LINE_FULL = 65535 };

/* Writes the levels of a pixel's sound. */
typedef void sound_line_levels(const struct sound_row *row, uint16_t *level);

/*
 * Fills level[s->width][levels]. All are silent if the film has no sound. Returns false if out of
 * memory, or with ERR_INTERRUPTED if interrupted() became true.
 */
bool sound_line_fill(const struct strip *s, size_t levels, sound_line_levels *take, uint16_t *level,
                     struct err *e);

#endif
