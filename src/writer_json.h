/*
 * writer_json.h - what the two writers of JSON share. The only header with jansson inside.
 */
#ifndef BARCODE_WRITER_JSON_H
#define BARCODE_WRITER_JSON_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "barcode/report.h"

/* Microseconds or seconds as a JSON number that prints with at most six decimals; null when < 0 or not finite. */
json_t *value_us(int64_t us);
json_t *value_seconds(double seconds);

/* Any bytes as a JSON string: what is no UTF-8 becomes U+FFFD. null for NULL. */
json_t *value_bytes(const char *bytes);

/* The stage times as one object. */
json_t *value_stages(const struct stage_times *t);

/* Writes `value` on one line and releases it. False with errno set when it is NULL or the file takes no more. */
bool value_put(FILE *f, json_t *value);

#endif
