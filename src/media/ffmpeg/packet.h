/*
 * packet.h - packets for those who do not know libav.
 */
#ifndef BARCODE_FFMPEG_PACKET_H
#define BARCODE_FFMPEG_PACKET_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct AVPacket;

/* Another reference to the same bytes; NULL on no memory. Free one. Its size in bytes. NULL is
 * fine. */
struct AVPacket *packet_clone(const struct AVPacket *p);
void packet_free(struct AVPacket **p);
size_t packet_size(const struct AVPacket *p);

#ifdef __cplusplus
}
#endif

#endif
