/* csv_fields.h - fields of CSV that several tables have. Any thread. */
#ifndef BARCODE_CSV_FIELDS_H
#define BARCODE_CSV_FIELDS_H

#include <stdio.h>

#include "base/film_id.h"
#include "barcode/engine/column.h"

/*
 * Writes plain text (text.h). A spreadsheet would compute text that begins like a formula, and a
 * film's name may come from anybody. So an apostrophe goes before it, which spreadsheets take for
 * "text".
 */
void csv_put_text(FILE *f, const char *text);

/* Writes a time in seconds with six digits. */
void csv_put_time(FILE *f, int64_t us);

/* Writes the share of a cluster (from 1); nothing if the column has no such cluster. */
void csv_put_share(FILE *f, const struct column *c, int cluster);

/* Copies field `number` of the line at `text` to `film`, if it is there. Returns false if it is no
 * film's id. */
bool csv_read_film(const char *text, const char *end, size_t number, char film[FILM_ID_TEXT]);

#endif
