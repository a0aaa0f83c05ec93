/*
 * matroska.h - what libavformat does not export of a Matroska's header, over untrusted bytes. Pure;
 * any thread. Sources: RFC 8794 (EBML), RFC 9559, 5.1.4 and 5.1.7.
 */
#ifndef BARCODE_BITSTREAM_MATROSKA_H
#define BARCODE_BITSTREAM_MATROSKA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "media/film.h"

enum { EBML_HEAD = 12 }; /* bytes of the largest header of an element */

enum matroska_id {
    MATROSKA_SEGMENT = 0x18538067,
    MATROSKA_CLUSTER = 0x1f43b675,
    MATROSKA_TRACKS = 0x1654ae6b,
    MATROSKA_CHAPTERS = 0x1043a770
};

struct ebml_element {
    uint32_t id;
    size_t head;  /* bytes of its header */
    int64_t size; /* of its body; -1: unknown */
};

/* Returns a size at `p` and sets *bytes to its own; -1: unknown. Damage is -1 with *bytes 0. */
int64_t ebml_size(const uint8_t *p, size_t room, size_t *bytes);

/* Reads the header of an element at `p`. Returns false if it is damaged, or not all there. */
bool ebml_read(const uint8_t *p, size_t room, struct ebml_element *x);

struct matroska_video {
    struct film_crop crop;             /* PixelCrop */
    int display_width, display_height; /* of the frame when it is cropped, in any unit; 0: unset */
};

/* Returns what is known of the video track `number`, from 0, by the body of Tracks; else zero. */
struct matroska_video matroska_video(const uint8_t *tracks, size_t size, int number);

/* Returns true if the default edition, else the first, plays its chapters: the body of Chapters. */
bool matroska_is_ordered(const uint8_t *chapters, size_t size);

#endif
