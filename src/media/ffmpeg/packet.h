/* packet.h - packets for code without libav headers. */
#ifndef BARCODE_FFMPEG_PACKET_H
#define BARCODE_FFMPEG_PACKET_H

#include <stddef.h>

struct AVPacket;

/*
 * packet_clone returns another reference to the same bytes, or NULL if out of memory. packet_free
 * releases one. packet_size returns its bytes. All allow NULL.
 */
struct AVPacket *packet_clone(const struct AVPacket *p);
void packet_free(struct AVPacket **p);
size_t packet_size(const struct AVPacket *p);

#endif
