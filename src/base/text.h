/* text.h - text from outside: names of files, metadata, keys of cache entries. Any thread. */
#ifndef BARCODE_TEXT_H
#define BARCODE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Returns the number of bytes of the well-formed UTF-8 sequence at `text` (Unicode 15, table 3-7),
 * or 0 if there is none. A zero byte is a sequence of one.
 */
size_t text_sequence(const char *text);

/*
 * Makes a text plain, so that it cannot affect a terminal: control characters (C0, DEL, C1),
 * bidirectional controls, line and paragraph separators, and each byte that is not well-formed
 * UTF-8 become '?'. Works in place; the text never grows.
 */
void text_make_plain(char *text);

enum { TEXT_UTC = 32 };

/* Writes ISO 8601 in UTC, "2026-11-26T12:00:00Z"; with `ms` "...00.000Z". Rounds down. */
void text_utc(int64_t time_us, bool ms, char text[TEXT_UTC]);

enum { TEXT_CLOCK = 24, TEXT_HOURS = 0, TEXT_HOURS_IF_ANY = 3600, TEXT_MINUTES = INT32_MAX };

/*
 * Writes a time, rounded to seconds or `tenths`: "2:03", "-0:01.5"; from `hours` seconds on
 * "1:02:03".
 */
void text_clock(int64_t us, int hours, bool tenths, char text[TEXT_CLOCK]);

/* Returns how XML and HTML write a character of a text or an attribute, or NULL: as it is. */
const char *text_markup(char c);

#endif
