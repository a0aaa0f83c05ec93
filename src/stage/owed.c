/*
 * owed.c - which packets must become a picture.
 *
 * Decoders may give nothing for a packet and say nothing. Of most that means that nothing was lost: the packet says that the picture stays
 * as it is, or holds half of one. So a picture that does not come counts as lost, where nothing else is wrong, only if its packet
 * is known to hold a whole one that is to be shown.
 */
#include "av.h"
#include "nal_read.h"

bool owed_is_rubbish(const struct demux *r, const struct picture *p, const struct nal_info *info)
{
    bool shows = info->picture && info->shown;
    bool must = r->traits.stream == STREAM_AV1 || (r->traits.stream == STREAM_VP9 && r->unreadable > 0);
    /* What stands before the film's first picture belongs to no picture. */
    bool begins = info->picture && p->serial == 0;
    return (info->unreadable && !begins) || (must && !shows);
}

/*
 * True if the packet's first VOP (ISO/IEC 14496-2 6.2.5) is longer than one that is not coded. Such a one stands in a film for a picture
 * that was dropped, or for a B picture that came packed together with the one before; with that the decoder pays. `begins`: the film does.
 */
static bool has_coded_vop(const AVPacket *packet, bool begins)
{
    enum { VOP = 0xb6, UNCODED_MOST = 19, BIDIRECTIONAL = 2 };      /* bytes: as libavcodec's mpeg4_unpack_bframes has it */
    size_t size = (size_t)packet->size;
    for (size_t at = find_start(packet->data, 0, size); at + 5 <= size; at = find_start(packet->data, at + 3, size))
        if (packet->data[at + 3] == VOP)
            return size - at - nal_zeros_at_end(packet->data + at, size - at) > UNCODED_MOST && !(begins && packet->data[at + 4] >> 6 == BIDIRECTIONAL);
    return false;
}

/* MPEG-1 and MPEG-2, picture_coding_type: ISO/IEC 11172-2 2.4.3.4. */
static bool is_bidirectional(const AVPacket *packet)
{
    enum { PICTURE = 0x00, BIDIRECTIONAL = 3 };
    size_t size = (size_t)packet->size;
    for (size_t at = find_start(packet->data, 0, size); at + 6 <= size; at = find_start(packet->data, at + 3, size))
        if (packet->data[at + 3] == PICTURE)
            return (packet->data[at + 5] >> 3 & 7) == BIDIRECTIONAL;
    return false;
}

enum { FIRST_GOP = 17 };      /* packets among which is what leads the first key, and may refer to what an editor left out */

bool owed_is(const struct demux *r, const AVPacket *packet, const struct picture *p)
{
    enum AVCodecID id = r->stream->codecpar->codec_id;
    const AVCodecDescriptor *codec = avcodec_descriptor_get(id);
    bool begins = p->serial < FIRST_GOP;
    if (p->hidden || p->empty || p->field || (begins && p->droppable))
        return false;
    switch (id) {
    case AV_CODEC_ID_MPEG1VIDEO:
    case AV_CODEC_ID_MPEG2VIDEO:
        return !(begins && is_bidirectional(packet));
    case AV_CODEC_ID_H264:
    case AV_CODEC_ID_HEVC:
    case AV_CODEC_ID_VP8:
    case AV_CODEC_ID_VP9:
    case AV_CODEC_ID_AV1:
        return true;
    case AV_CODEC_ID_MPEG4:
        return has_coded_vop(packet, begins);
    default:
        return codec && codec->props & AV_CODEC_PROP_INTRA_ONLY;
    }
}
