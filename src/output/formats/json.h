/* json.h - shared by all writers of JSON. The only header that includes jansson. */
#ifndef BARCODE_OUTPUT_JSON_H
#define BARCODE_OUTPUT_JSON_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "output/report.h"
#include "shots/shots.h"

/* Returns a time as a JSON number of seconds with at most six decimals; null if it is < 0 or not
 * finite. */
json_t *writer_json_us(int64_t us);
json_t *writer_json_seconds(double seconds);

/* Returns any bytes as a JSON string. Bytes that are not UTF-8 become U+FFFD. Returns null for
 * NULL. */
json_t *writer_json_bytes(const char *bytes);

/* Appends a value to a list and returns the list. Releases both and returns NULL if either is NULL,
 * or if out of memory. */
json_t *writer_json_append(json_t *list, json_t *value);

/* Returns the stream and the values of the film's sound; null if the film has none. */
json_t *json_sound_value(const struct report *r);

/* Returns a shot; `number` is from 1. */
json_t *json_shot_value(const struct shot *shot, size_t number);

/* Writes `value` on one line and releases it. Returns false with errno set if `value` is NULL or
 * writing fails. */
bool writer_json_put(FILE *f, json_t *value);

#endif
