/*
 * font.h - the bitmap font of the comparison picture's labels: printable ASCII, five pixels
 * wide, seven high and two below the line, in a cell of 6 x 10. Pure; any thread.
 */
#ifndef BARCODE_FONT_H
#define BARCODE_FONT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    FONT_WIDTH = 6,    /* from one character to the next      */
    FONT_HEIGHT = 10   /* from one line to the next           */
};

/*
 * What can be shown of `text`: Latin letters lose their accents, anything else that the font
 * lacks (a broken UTF-8 sequence too) becomes one '?'. At most size - 1 characters and a zero
 * (size >= 1). Returns the length.
 */
size_t font_ascii(const char *text, char *out, size_t size);

/*
 * Paints row `row` (0..FONT_HEIGHT * scale) of a line of `ascii` into rgb[width][3] from pixel x >= 0 on,
 * in the colour `ink`; other pixels stay. A character that does not fit as a whole is not begun.
 * scale >= 1; at even scales the stairs of slanted strokes are filled half-way. Returns the x after the text.
 */
int font_row(const char *ascii, int row, int scale, const uint8_t ink[3], uint8_t *rgb, int x, int width);

#ifdef __cplusplus
}
#endif
#endif
