#include "packet.h"

#include <libavcodec/packet.h>

struct AVPacket *packet_clone(const struct AVPacket *p) { return p ? av_packet_clone(p) : NULL; }

void packet_free(struct AVPacket **p) { av_packet_free(p); }

size_t packet_size(const struct AVPacket *p) { return p ? (size_t)p->size : 0; }
