/* base64.h - bytes as base64 (RFC 4648), for what is put into pages and SVG. Pure; any thread. */
#ifndef BARCODE_FORMATS_BASE64_H
#define BARCODE_FORMATS_BASE64_H

#include <stddef.h>

/*
 * Writes (size + 2) / 3 * 4 characters, without a 0 behind them, and returns how many. A piece that
 * is not the last of its text has a multiple of 3 bytes.
 */
size_t base64_encode(const void *data, size_t size, char *out);

#endif
