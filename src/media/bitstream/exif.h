/*
 * exif.h - when a photograph was taken and how it is to be turned, by its EXIF. Reads untrusted
 * bytes. Pure; any thread.
 */
#ifndef BARCODE_BITSTREAM_EXIF_H
#define BARCODE_BITSTREAM_EXIF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "barcode/engine/frame.h"

struct exif {
    bool has_time;     /* DateTimeOriginal, with SubSecTimeOriginal */
    int64_t time_us;   /* the camera's clock as if it were UTC: microseconds since 1970 */
    bool has_offset;   /* OffsetTimeOriginal */
    int64_t offset_us; /* of the camera's clock from UTC, positive in the east */
    struct orientation orientation;
};

/* Finds the EXIF in the first bytes of a JPEG, PNG or WebP file. What is not valid is zero. */
struct exif exif_read(const uint8_t *data, size_t size);

#endif
