/*
 * labels.h - the text on an image and in its metadata. Each function fills out[size] and truncates
 * at a character boundary if necessary. Pure; any thread.
 */
#ifndef BARCODE_TEXT_LABELS_H
#define BARCODE_TEXT_LABELS_H

#include "output/report.h"
#include "output/modes/strip.h"

/* Returns the part of a path after the last '/', as a pointer into it. Returns "" for NULL. */
const char *paint_text_file_name(const char *path);

/* Converts any bytes to valid UTF-8: invalid bytes become U+FFFD. With `line`, control characters
 * and noncharacters become '?'. */
void paint_text_utf8(const char *bytes, bool line, char *out, size_t size);

enum { PAINT_HEX = 8 };

/* Writes a colour as "#1a2b3c". */
void paint_text_hex(const uint8_t rgb[3], char text[PAINT_HEX]);

/* Writes seconds without trailing zeros: "12.5". */
void paint_text_seconds(int64_t us, char *out, size_t size);

/* Writes a selection: "every 24th frame", "a frame every 0.5 s", "720 frames, evenly spaced", with
 * ", from 5 s to 60 s" if it is limited. */
void paint_text_selection(const struct selection *s, char *out, size_t size);

/* Writes the crop rectangles in the syntax of --crop, in the displayed frame. "" if none. */
void paint_text_crop(const struct report *r, char *out, size_t size);

/* Writes the titles of the modes: "k-means, palette, average and squeeze". */
void paint_text_titles(struct strips strips, char *out, size_t size);

#endif
