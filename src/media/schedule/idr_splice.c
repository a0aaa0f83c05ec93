/*
 * idr_splice.c - a complete IDR picture of the film, sent between two H.264 chunks in place of a
 * flush.
 *
 * libavcodec's H.264 destroys its hardware decoder when it is flushed, and creating another takes
 * 0.2 to 0.85 s. An IDR picture does all that a flush does, inside the bitstream: frame numbers,
 * display order and references begin again, and the decoder outputs delayed frames as others
 * follow. The decoder stays open. The picture is marked DISCARD: its frame is never output and
 * never counted.
 *
 * It may be sent between two chunks only if the same parameter sets are active for both and for it
 * (param_sets.h): its slices name them by their numbers. A film without IDR pictures has none, nor
 * does a film whose packets hold fields.
 */
#include "decode_pass.h"

#include "media/bitstream/packet_scan.h"

/*
 * The film's first IDR picture may be a still of many megabytes, and one is decoded for each chunk.
 */
enum { BYTES_MOST = 4 << 20 };

/* The serial of no picture: they begin with 0. */
#define IDR_SPLICE_PTS ((int64_t)-1)

/*
 * Returns true if `p` replaces the one that is kept. Of pictures of about the same size the first
 * one stays, because each worker has to fetch a new one.
 */
static bool is_better(const struct idr_splice *kept, const struct picture *p)
{
    size_t size = (size_t)p->packet->size;
    if (size > BYTES_MOST)
        return false;
    return !kept->packet || kept->sets.state != p->sets ||
           size < (size_t)kept->packet->size / 4 * 3;
}

void idr_splice_offer(struct decode_pass *s, const struct picture *p, const struct nal_sets *sets,
                      int length_size)
{
    const struct decoder_backend *device = s->backend[ON_DEVICE];
    if (!device || !device->flush_is_slow || s->traits.stream != STREAM_H264 ||
        p->rap != RAP_CLOSED || !p->packet || p->suspect || p->field || p->sets != sets->state)
        return;
    struct idr_splice *kept = &s->idr_splice;
    const uint8_t *data = p->packet->data;
    size_t size = (size_t)p->packet->size;
    int sps;
    pthread_mutex_lock(&s->lock);
    bool better = !s->idr_splice_refused && is_better(kept, p);
    pthread_mutex_unlock(&s->lock);
    if (!better || p->illegal_zeros || !nal_may_separate(sets, length_size, data, size, &sps))
        return;
    AVPacket *packet = av_packet_clone(p->packet);
    if (!packet)
        return;
    pthread_mutex_lock(&s->lock);
    av_packet_free(&kept->packet);
    *kept = (struct idr_splice){.packet = packet,
                                .sets = *sets,
                                .sps = sps,
                                .length_size = length_size,
                                .made = kept->made + 1};
    atomic_store(&s->idr_splices, kept->made);
    pthread_mutex_unlock(&s->lock);
}

void idr_splice_fetch(struct decode_pass *s, struct idr_splice *copy)
{
    if (atomic_load(&s->idr_splices) == copy->made)
        return;
    pthread_mutex_lock(&s->lock);
    av_packet_free(&copy->packet);
    *copy = s->idr_splice;
    copy->packet = copy->packet ? av_packet_clone(copy->packet) : NULL;
    pthread_mutex_unlock(&s->lock);
}

void idr_splice_refuse(struct decode_pass *s, const struct idr_splice *copy)
{
    pthread_mutex_lock(&s->lock);
    if (s->idr_splice.made == copy->made) {
        av_packet_free(&s->idr_splice.packet);
        atomic_store(&s->idr_splices, ++s->idr_splice.made);
        s->idr_splice_refused = true;
    }
    pthread_mutex_unlock(&s->lock);
}

bool idr_splice_fits(const struct idr_splice *copy, uint64_t before, uint64_t after)
{
    return copy->packet && copy->sets.state == before && copy->sets.state == after;
}

bool idr_splice_packet(const struct idr_splice *copy, const struct picture *next, AVPacket *to)
{
    struct nal_slice slice;
    if (next &&
        (!next->packet || !nal_sets_first_slice(&copy->sets, copy->length_size, next->packet->data,
                                                (size_t)next->packet->size, &slice)))
        return false;
    if (next && slice.sps != copy->sps)
        return false;
    size_t size = (size_t)copy->packet->size, room = nal_separate_room(size);
    if (room > INT_MAX || av_new_packet(to, (int)room) < 0)
        return false;
    size_t used = nal_separate(&copy->sets, copy->length_size, copy->packet->data, size,
                               next ? &slice : NULL, to->data);
    av_shrink_packet(to, (int)used);
    to->pts = IDR_SPLICE_PTS;
    to->flags = AV_PKT_FLAG_KEY | AV_PKT_FLAG_DISCARD;
    if (used == 0)
        av_packet_unref(to);
    return used > 0;
}

void idr_splice_drop(struct idr_splice *copy) { av_packet_free(&copy->packet); }
