/*
 * mp4_box.h - the head of an MP4's box: 32 bits of size and a name, and 64 bits of size where the
 * first say 1 (ISO/IEC 14496-12, 4.2). Over untrusted bytes.
 */
#ifndef BARCODE_BITSTREAM_MP4_BOX_H
#define BARCODE_BITSTREAM_MP4_BOX_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { MP4_BOX_HEAD = 8, MP4_BOX_HEAD_LONG = 16 }; /* bytes; the second with 64 bits of size */

/* True if head[0..count) is the head of a box of this name, four letters. `count` may be anything,
 * what a read gave. */
bool mp4_box_is(const uint8_t *head, int count, const char *name);

/*
 * Where in the file the box ends that begins at `at`, >= 0, with head[0..count), and the next one
 * begins. -1: it goes on to the file's end, is none, or head[] lacks a part of its size.
 */
int64_t mp4_box_next(const uint8_t *head, int count, int64_t at);

#ifdef __cplusplus
}
#endif
#endif
