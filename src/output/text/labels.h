/*
 * labels.h - the words on and about a picture: its labels, and the text that writers put
 * beside it. Each fills out[size], cut at a whole character when it is too long. Pure; any thread.
 */
#ifndef BARCODE_TEXT_LABELS_H
#define BARCODE_TEXT_LABELS_H

#include "barcode/output/report.h"
#include "barcode/output/strip.h"

/* What comes after the last '/' of a path. Points into it; "" for NULL. */
const char *paint_text_file_name(const char *path);

/* Any bytes as valid UTF-8: invalid ones become U+FFFD. With `line`, control characters and
 * noncharacters become '?' too. */
void paint_text_utf8(const char *bytes, bool line, char *out, size_t size);

/* "12.5" seconds, without trailing zeros. */
void paint_text_seconds(int64_t us, char *out, size_t size);

/* "every 24th frame", "a frame every 0.5 s", "720 frames, evenly spaced", and ", from 5 s to 60 s"
 * if limited. */
void paint_text_selection(const struct selection *s, char *out, size_t size);

/* The strips' titles: "k-means, palette, average and downsample". */
void paint_text_titles(struct strips strips, char *out, size_t size);

#endif
