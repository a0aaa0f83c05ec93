#include "param_sets.h"

#include "nal_reader.h"
#include "base/hash.h"

/* Records one set. Returns true if its content has changed since the first picture. */
static bool note_set(struct param_sets *s, size_t index, struct nal unit, uint64_t picture)
{
    struct param_set *set = &s->set[index];
    uint64_t hash = hash_64(unit.data, unit.size - nal_zeros_at_end(unit.data, unit.size));
    bool changed = hash != set->hash && picture > 1;
    *set = (struct param_set){hash, picture, set->changed || changed};
    s->changed |= changed;
    s->last = picture;
    return changed;
}

/*
 * Records a NAL unit if it is a parameter set. All HEVC SPS count as one set: their IDs come after
 * profiles and levels.
 */
static void note_nal(struct param_sets *s, const struct nal *nal, uint64_t picture)
{
    uint8_t bytes[64];
    struct nal head = {nal->data, nal->size < sizeof bytes ? nal->size : sizeof bytes};
    struct bit_reader r = {.data = bytes, .size = unescape_unit(&head, bytes, sizeof bytes)};
    bool h264 = s->stream == STREAM_H264;
    if (r.size < 3 || (!h264 && (bytes[0] & 1 || bytes[1] >> 3))) /* only those of the base layer */
        return;
    int kind = h264 ? (bytes[0] & 31) - 7 : (bytes[0] >> 1 & 63) - 32;
    if (kind < 0 || kind > (h264 ? 1 : 2))
        return;
    if (h264)
        r.bit = kind == 0 ? 32 : 8;
    else
        r.bit = 16;
    uint32_t id = 0;
    if (h264 || kind == 2)
        id = read_ue(&r);
    else if (kind == 0)
        id = read_bits(&r, 4);
    if (id >= PARAM_SET_IDS)
        return;
    bool changed = note_set(s, (size_t)kind * PARAM_SET_IDS + id, *nal, picture);
    s->sequence_changed |= h264 && kind == 0 && changed;
}

/*
 * Records an MPEG-2 sequence header with its extensions. A decoder keeps, or restarts for, the
 * size, pixel aspect, chroma format and colour tags. The rest of the header replaces the earlier
 * one.
 */
static void note_mpeg2(struct param_sets *s, const uint8_t *data, size_t size, uint64_t picture)
{
    enum { HEADER = 0xb3, EXTENSION = 0xb5, FRONT = 8 };
    size_t at = find_start(data, 0, size), from = at;
    while (at + FRONT <= size && data[at + 3] != HEADER)
        from = at = find_start(data, at + 3, size);
    if (at + FRONT > size)
        return;
    uint64_t shape = hash_64(data + at, FRONT);
    for (at = find_start(data, at + 3, size); at + 4 <= size && data[at + 3] == EXTENSION;) {
        size_t end = find_start(data, at + 3, size);
        shape = shape * 31 + hash_64(data + at, end - at - nal_zeros_at_end(data + at, end - at));
        at = end;
    }
    note_set(s, 0, (struct nal){data + from, at - from}, picture);
    s->sequence_changed |= picture > 1 && s->shape != shape;
    s->shape = shape;
}

void param_sets_begin(struct param_sets *s, enum bitstream stream, const uint8_t *extradata,
                      size_t size)
{
    struct extradata_walk walk = {0};
    struct nal nal;
    *s = (struct param_sets){.stream = stream};
    if (stream == STREAM_MPEG2)
        note_mpeg2(s, extradata, size, 0);
    else if (stream == STREAM_H264 || stream == STREAM_HEVC)
        while (nal_next_of_extradata(stream, extradata, size, &walk, &nal))
            note_nal(s, &nal, 0);
}

void param_sets_note(struct param_sets *s, int length_size, const uint8_t *data, size_t size,
                     uint64_t picture)
{
    struct nal nal;
    if (s->stream == STREAM_MPEG2)
        note_mpeg2(s, data, size, picture);
    else if (s->stream == STREAM_H264 || s->stream == STREAM_HEVC)
        for (size_t at = 0; next_nal(length_size, data, size, &at, &nal);)
            note_nal(s, &nal, picture);
}

bool param_sets_lacking(const struct param_sets *s, uint64_t picture)
{
    for (size_t i = 0; s->changed && i < PARAM_SETS; i++)
        if (s->set[i].changed && s->set[i].picture != picture)
            return true;
    return false;
}
