/*
 * mp4_box.h - the header of an MP4 box: 32 bits of size and a name, and 64 bits of size if the
 * first size is 1 (ISO/IEC 14496-12, 4.2). Over untrusted bytes.
 */
#ifndef BARCODE_BITSTREAM_MP4_BOX_H
#define BARCODE_BITSTREAM_MP4_BOX_H

#include <stdbool.h>
#include <stdint.h>

enum { MP4_BOX_HEAD = 8, MP4_BOX_HEAD_LONG = 16 }; /* bytes; the second one with 64 bits of size */

/*
 * Returns true if head[0..count) is the header of a box of this name, four letters. `count` may be
 * any result of a read.
 */
bool mp4_box_is(const uint8_t *head, int count, const char *name);

/*
 * Returns where the box at file position `at` (>= 0), with header head[0..count), ends and the next
 * one begins. Returns -1 if the box extends to the end of the file, is invalid, or head[] lacks a
 * part of its size.
 */
int64_t mp4_box_next(const uint8_t *head, int count, int64_t at);

#endif
