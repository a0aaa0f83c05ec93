/*
 * live_text.h - columns as JSON and as binary records, for the server and for stdout. Any thread.
 */
#ifndef BARCODE_LIVE_TEXT_H
#define BARCODE_LIVE_TEXT_H

#include "barcode/live/live_feed.h"

enum { LIVE_JSON = 256 }; /* room for live_text_json's result without pixels */

/* Returns the room that live_text_json needs with the pixels of `height` rows. */
size_t live_text_json_room(int height);

/*
 * Writes a column as a JSON object on one line: number, time, missing, "open":true if it is open,
 * average and dominant as "#rrggbb" (null if missing); with `rgb`, its pixels from the top as
 * "rgb", in base64, unless it is missing. Returns the length.
 */
size_t live_text_json(const struct live_column *c, const uint8_t *rgb, int height, char *text,
                      size_t room);

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

/* Writes text as the content of a JSON string, shortened if there is no room. */
void live_text_quote(const char *text, char *to, size_t room);

#endif
