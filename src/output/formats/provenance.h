/*
 * provenance.h - what a text file that barcode made says of itself, in a comment of its format, on
 * one line:
 *
 *     barcode:film=ID partial=yes|no columns=N size=WxH parts=N recipe=RECIPE
 *
 * ID (film_id.h) is empty for a film from a pipe. The recipe (options_fingerprint.h) reaches to the
 * end of the line or to a quote. Pure, but for provenance_read; any thread.
 */
#ifndef BARCODE_FORMATS_PROVENANCE_H
#define BARCODE_FORMATS_PROVENANCE_H

#include "barcode/output/writer.h"

enum { PROVENANCE_TEXT = REPORT_FINGERPRINT + 256 };

/* The line, without its end. `parts`: how many other files belong to this one. */
void provenance_text(const struct report *r, uint64_t parts, char text[PROVENANCE_TEXT]);

/* Finds the first mark in text[size], but none in a line that begins with "Name: ", and what it
 * says. False: there is none. */
bool provenance_find(const char *text, size_t size, struct writer_metadata *metadata);

/* As writer.recognizes, for files that begin with `begin` and have a mark. */
bool provenance_recognizes(const uint8_t *head, size_t size, const char *begin,
                           char film[FILM_ID_TEXT]);

/* As writer.read_metadata, for files that begin with `begin`, have a mark, and end with `end` when
 * they are whole. */
bool provenance_read(FILE *f, const char *begin, const char *end, struct writer_metadata *metadata);

#endif
