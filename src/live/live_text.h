/* live_text.h - columns as JSON and as binary records, for the server and for stdout. Any thread.
 */
#ifndef BARCODE_LIVE_TEXT_H
#define BARCODE_LIVE_TEXT_H

#include "live_feed.h"

enum { LIVE_JSON = 256 }; /* room for live_text_json's result */

/*
 * Writes a column as a JSON object on one line: number, time, missing, average and dominant as
 * "#rrggbb" (null if missing). Returns the length.
 */
size_t live_text_json(const struct live_column *c, char text[LIVE_JSON]);

/*
 * A record of /columns. All numbers are little-endian.
 *
 *     offset  bytes
 *     0       8        number
 *     8       8        its start, in microseconds of UTC since 1970
 *     16      1        flags: 1 missing, 2 open
 *     17      3        average: red, green, blue
 *     20      3        dominant: red, green, blue
 *     23      1        0
 *     24      3 h      the pixels from the top; zeros if missing
 */
enum { LIVE_RECORD = 24 };
void live_text_record(const struct live_column *c, const uint8_t *rgb, int height, uint8_t *to);

/*
 * What stands before the records: "barcode\0", then 4 bytes each of LIVE_RECORD + 3 h, h and the
 * version (1), 4 zeros, 8 bytes of T in microseconds.
 */
enum { LIVE_RECORDS_HEAD = 32 };
void live_text_records_head(const struct live_feed *f, uint8_t to[LIVE_RECORDS_HEAD]);

#endif
