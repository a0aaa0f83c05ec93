/* colour_name.h - colours by name, from the table of libavutil. */
#ifndef BARCODE_COLOUR_NAME_H
#define BARCODE_COLOUR_NAME_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Parses "#1c2b3a" or "#fff" (also without #), or a colour of CSS by its name in any case ("navy",
 * "DarkSlateGrey") as R'G'B' of sRGB. Returns false if the text is none of these. Any thread.
 */
bool colour_name_parse(const char *text, uint8_t rgb[3]);

#endif
