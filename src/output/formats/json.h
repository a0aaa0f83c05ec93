/*
 * json.h - what the two writers of JSON share. The only header with jansson inside.
 */
#ifndef BARCODE_FORMATS_JSON_H
#define BARCODE_FORMATS_JSON_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "barcode/output/report.h"

/* Microseconds or seconds as a JSON number that prints with at most six decimals; null when < 0 or
 * not finite. */
json_t *writer_json_us(int64_t us);
json_t *writer_json_seconds(double seconds);

/* Any bytes as a JSON string: bytes that are not UTF-8 become U+FFFD. null for NULL. */
json_t *writer_json_bytes(const char *bytes);

/* The stage times as one object. */
json_t *writer_json_stages(const struct decode_times *t);

/* Writes `value` on one line and releases it. False with errno set when it is NULL or the file
 * takes no more. */
bool writer_json_put(FILE *f, json_t *value);

#endif
