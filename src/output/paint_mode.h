/*
 * paint_mode.h - one mode's strip of pixels, row by row. Inside of paint only. One thread.
 */
#ifndef BARCODE_PAINT_MODE_H
#define BARCODE_PAINT_MODE_H

#include "barcode/report.h"
#include "barcode/strip.h"

struct strip;

/* A strip of width x height pixels (1 or more each). Fails when no column has what the mode needs. */
struct strip *strip_open(const struct report *r, enum mode mode, int width, int height, struct err *e);

/* Row y (0..height) into rgb[width][3]. Quickest in ascending order; any order gives the same bytes. */
void strip_row(struct strip *s, int y, uint8_t *rgb);

/* Frees; sets *s to NULL. NULL is fine. */
void strip_free(struct strip **s);

#endif
