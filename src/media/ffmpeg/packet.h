/* packet.h - packets and their side data, for code without libav headers. */
#ifndef BARCODE_FFMPEG_PACKET_H
#define BARCODE_FFMPEG_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "barcode/base/err.h"

struct AVPacket;

/*
 * packet_clone returns another reference to the same bytes, or NULL if out of memory. packet_free
 * releases one. packet_size returns its bytes. All allow NULL.
 */
struct AVPacket *packet_clone(const struct AVPacket *p);
void packet_free(struct AVPacket **p);
size_t packet_size(const struct AVPacket *p);

/*
 * ---- side data that is valid from its packet on ----
 *
 * An MP4 with several sample descriptions has new headers in the side data of one packet, and a
 * palette comes with the first picture that uses it. A decoder that gets only some of the packets,
 * such as key frames, would miss both.
 */

enum { SIDE_DATA = 2 }; /* kinds */

/* The side data of one reader, on its thread. Begins as {0}. */
struct side_data {
    struct side_data_kept {
        uint8_t *data; /* NULL: none yet; owned */
        size_t size;
    } kept[SIDE_DATA];
};

/* Keeps the packet's side data; a key frame without it gets it. Returns false if out of memory. */
bool side_data_keep(struct side_data *s, struct AVPacket *packet, bool key, struct err *e);

void side_data_free(struct side_data *s);

#endif
