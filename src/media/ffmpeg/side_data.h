/*
 * side_data.h - what a packet says for those after it, given to key frames that are decoded apart
 * from it.
 *
 * An MP4 with several sample descriptions says with one packet that another one's headers hold from
 * there on, and a palette comes with the first picture that it holds for. A decoder that gets some
 * of the packets only would miss both.
 */
#ifndef BARCODE_FFMPEG_SIDE_DATA_H
#define BARCODE_FFMPEG_SIDE_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "barcode/base/err.h"

#ifdef __cplusplus
extern "C" {
#endif

struct AVPacket;

enum { SIDE_DATA = 2 }; /* kinds */

/* Of one reader, on its thread. Zero it first. */
struct side_data {
    struct side_data_kept {
        uint8_t *data; /* NULL: none came yet; owned */
        size_t size;
    } kept[SIDE_DATA];
};

/* Keeps what `packet` says; a key frame that lacks it gets it. False: memory. */
bool side_data_keep(struct side_data *s, struct AVPacket *packet, bool key, struct err *e);

void side_data_free(struct side_data *s);

#ifdef __cplusplus
}
#endif
#endif
