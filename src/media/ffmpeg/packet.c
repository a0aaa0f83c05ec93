#include "packet.h"

#include <libavcodec/packet.h>
#include <libavutil/mem.h>
#include <string.h>

struct AVPacket *packet_clone(const struct AVPacket *p) { return p ? av_packet_clone(p) : NULL; }

void packet_free(struct AVPacket **p) { av_packet_free(p); }

size_t packet_size(const struct AVPacket *p) { return p ? (size_t)p->size : 0; }

/* ---- Side data ---- */

bool side_data_keep(struct side_data *s, AVPacket *packet, bool key, struct err *e)
{
    static const enum AVPacketSideDataType kinds[SIDE_DATA] = {AV_PKT_DATA_NEW_EXTRADATA,
                                                               AV_PKT_DATA_PALETTE};
    for (int i = 0; i < SIDE_DATA; i++) {
        struct side_data_kept *kept = &s->kept[i];
        size_t size = 0;
        const uint8_t *data = av_packet_get_side_data(packet, kinds[i], &size);
        if (data) {
            av_freep(&kept->data);
            kept->data = av_memdup(data, size);
            kept->size = size;
            if (!kept->data)
                return err_memory(e, size);
        } else if (kept->data && key) {
            uint8_t *copy = av_packet_new_side_data(packet, kinds[i], kept->size);
            if (!copy)
                return err_memory(e, kept->size);
            memcpy(copy, kept->data, kept->size);
        }
    }
    return true;
}

void side_data_free(struct side_data *s)
{
    for (int i = 0; i < SIDE_DATA; i++)
        av_freep(&s->kept[i].data);
}
