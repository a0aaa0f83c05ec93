/* base64.h - encodes base64 (RFC 4648) for pages and SVG. Pure; any thread. */
#ifndef BARCODE_BASE64_H
#define BARCODE_BASE64_H

#include <stddef.h>

/* Writes (size + 2) / 3 * 4 characters without a terminating 0 and returns their number. A piece
 * that is not the last of its text must have a multiple of 3 bytes. */
size_t base64_encode(const void *data, size_t size, char *out);

#endif
