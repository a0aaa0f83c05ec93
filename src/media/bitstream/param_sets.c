#include "param_sets.h"

#include <string.h>

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

/* Records a parameter set. All HEVC SPS count as one: their IDs come after profiles and levels. */
static void note_nal(struct param_sets *s, const struct nal *nal, uint64_t picture)
{
    uint8_t bytes[64];
    struct nal head = {nal->data, nal->size < sizeof bytes ? nal->size : sizeof bytes};
    struct bit_reader r = {.data = bytes, .size = nal_unescape(&head, bytes, sizeof bytes)};
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
        id = nal_read_ue(&r);
    else if (kind == 0)
        id = nal_read_bits(&r, 4);
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
    size_t at = nal_find_start(data, 0, size), from = at;
    while (at + FRONT <= size && data[at + 3] != HEADER)
        from = at = nal_find_start(data, at + 3, size);
    if (at + FRONT > size)
        return;
    uint64_t shape = hash_64(data + at, FRONT);
    for (at = nal_find_start(data, at + 3, size); at + 4 <= size && data[at + 3] == EXTENSION;) {
        size_t end = nal_find_start(data, at + 3, size);
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
        for (size_t at = 0; nal_next(length_size, data, size, &at, &nal);)
            note_nal(s, &nal, picture);
}

bool param_sets_lacking(const struct param_sets *s, uint64_t picture)
{
    if (!s->changed)
        return false;
    for (size_t i = 0; i < PARAM_SETS; i++)
        if (s->set[i].changed && s->set[i].picture != picture)
            return true;
    return false;
}

/* ---- H.264 ---- */

enum { HEAD = 64 }; /* more bytes than a slice header needs up to its order count */

/* Returns true if all bits were read, or more than there were. */
static bool is_used_up(const struct bit_reader *r) { return r->bit >= r->size * 8; }

/* Skips scaling lists (7.3.2.1.1.1), coded as differences; a value of 0 ends a list. */
static void skip_scaling_lists(struct bit_reader *r, int lists)
{
    for (int i = 0; i < lists; i++) {
        if (!nal_read_bit(r))
            continue;
        int64_t last = 8, next = 8;
        for (int j = 0; j < (i < 6 ? 16 : 64) && next != 0; j++) {
            int64_t code = nal_read_ue(r);
            next = (last + (code & 1 ? (code + 1) / 2 : -code / 2)) & 255;
            last = next ? next : last;
        }
    }
}

/* Reads the fields that only some profiles have, from chroma_format_idc to the scaling lists. */
static void read_high_profile(struct bit_reader *r, struct nal_sps *sps)
{
    uint32_t chroma = nal_read_ue(r);
    sps->planes = chroma == 3 && nal_read_bit(r);
    sps->grey = sps->planes || chroma == 0;
    nal_skip_ue(r, 2); /* the two depths, lossless */
    nal_read_bit(r);
    if (nal_read_bit(r))
        skip_scaling_lists(r, chroma == 3 ? 12 : 8);
}

static void read_sps(struct bit_reader *r, struct nal_sps *sps)
{
    static const uint8_t high[] = {100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135};
    *sps = (struct nal_sps){.known = false};
    if (r->size > 1 && memchr(high, r->data[1], sizeof high))
        read_high_profile(r, sps);
    uint32_t frame_num = nal_read_ue(r), type = nal_read_ue(r), order = 0;
    if (type == 0) {
        order = nal_read_ue(r);
    } else if (type == 1) {
        sps->no_deltas = nal_read_bit(r);
        nal_skip_ue(r, 2);
        for (uint32_t n = nal_read_ue(r); n > 0 && !is_used_up(r); n--)
            nal_read_ue(r);
    }
    uint32_t references = nal_read_ue(r);
    nal_read_bit(r);   /* gaps_in_frame_num_value_allowed_flag */
    nal_skip_ue(r, 2); /* width, height */
    sps->known = !is_used_up(r) && frame_num <= 12 && type <= 2 && order <= 12 && references <= 16;
    sps->frames = nal_read_bit(r);
    sps->frame_num_bits = (uint8_t)((frame_num & 15) + 4);
    sps->order_type = (uint8_t)(type & 3);
    sps->order_bits = (uint8_t)((order & 15) + 4);
    sps->references = (uint8_t)(references & 31);
}

/* Reads a PPS (7.3.2.2); `r` is positioned after its IDs. */
static void read_pps(struct bit_reader *r, struct nal_pps *pps)
{
    nal_read_bit(r); /* entropy_coding_mode_flag */
    pps->bottom_order = nal_read_bit(r);
    uint32_t groups = nal_read_ue(r), first = nal_read_ue(r), second = nal_read_ue(r);
    pps->weighted = nal_read_bit(r);
    pps->weighted_both = (uint8_t)nal_read_bits(r, 2);
    nal_skip_ue(r, 3); /* quantisers */
    nal_read_bits(r, 2);
    pps->known = !is_used_up(r) && groups == 0 && first < 32 && second < 32;
    pps->redundant = nal_read_bit(r);
    pps->references[0] = (uint8_t)((first & 31) + 1);
    pps->references[1] = (uint8_t)((second & 31) + 1);
}

/* Returns a hash of a unit without its trailing zeros, which are not part of it. Never 0. */
static uint64_t hash_of(const struct nal *nal)
{
    uint64_t hash = hash_64(nal->data, nal->size - nal_zeros_at_end(nal->data, nal->size));
    return hash ? hash : 1;
}

static void note_h264_set(const struct nal *nal, struct nal_sets *s)
{
    int type = nal->size > 1 ? nal->data[0] & 31 : 0;
    if (type != 7 && type != 8)
        return;
    uint8_t bytes[1024];
    struct bit_reader r = {
        .data = bytes, .size = nal_unescape(nal, bytes, sizeof bytes), .bit = type == 7 ? 32 : 8};
    uint32_t id = nal_read_ue(&r);
    if (id > (type == 7 ? 31 : 255))
        return;
    uint64_t hash = hash_of(nal), *before = type == 7 ? &s->sps_hash[id] : &s->pps_hash[id];
    if (hash == *before)
        return;
    *before = hash;
    uint64_t both[2] = {hash_64(s->sps_hash, sizeof s->sps_hash),
                        hash_64(s->pps_hash, sizeof s->pps_hash)};
    s->state = hash_64(both, sizeof both);
    if (type == 7) {
        read_sps(&r, &s->sps[id]);
        return;
    }
    uint32_t sps = nal_read_ue(&r);
    if (sps < 32)
        s->set_of[id] = (uint8_t)(sps + 1);
    read_pps(&r, &s->pps[id]);
}

void nal_sets_scan(int length_size, const uint8_t *data, size_t size, struct nal_sets *s)
{
    struct nal nal;
    for (size_t at = 0; nal_next(length_size, data, size, &at, &nal);)
        note_h264_set(&nal, s);
}

void nal_sets_scan_extradata(const uint8_t *extradata, size_t size, struct nal_sets *s)
{
    struct extradata_walk walk = {0};
    for (struct nal nal; nal_next_of_extradata(STREAM_H264, extradata, size, &walk, &nal);)
        note_h264_set(&nal, s);
}

static bool is_slice(const struct nal *nal)
{
    int type = nal->size > 0 ? nal->data[0] & 31 : 0;
    return type == 1 || type == 5;
}

/*
 * Reads the header of the slice in `data`: at least HEAD bytes of a unit without emulation
 * prevention bytes, or all. Returns false if the header is truncated or its sets are unknown.
 */
static bool read_slice_header(const struct nal_sets *s, const uint8_t *data, size_t size,
                              struct nal_slice *slice)
{
    struct bit_reader r = {.data = data, .size = size, .bit = 8};
    *slice = (struct nal_slice){.idr = (data[0] & 31) == 5};
    nal_read_ue(&r); /* the first macroblock */
    slice->type = nal_read_ue(&r) % 5;
    uint32_t pps = nal_read_ue(&r);
    if (pps > 255 || s->set_of[pps] == 0 || !s->sps[s->set_of[pps] - 1].known)
        return false;
    slice->pps = (int)pps;
    slice->sps = s->set_of[pps] - 1;
    const struct nal_sps *sps = &s->sps[slice->sps];
    if (sps->planes)
        nal_read_bits(&r, 2);
    slice->frame_num = nal_read_bits(&r, sps->frame_num_bits);
    slice->field = !sps->frames && nal_read_bit(&r);
    slice->bottom = slice->field && nal_read_bit(&r);
    if (slice->idr)
        nal_read_ue(&r); /* idr_pic_id */
    slice->order_bit = r.bit;
    if (sps->order_type == 0)
        slice->order = nal_read_bits(&r, sps->order_bits);
    return !is_used_up(&r); /* the slice goes on after its order count */
}

static bool read_head(const struct nal_sets *s, const struct nal *nal, struct nal_slice *slice)
{
    uint8_t head[HEAD];
    size_t size = nal_unescape(nal, head, sizeof head);
    return read_slice_header(s, head, size, slice);
}

bool nal_sets_first_slice(const struct nal_sets *s, int length_size, const uint8_t *data,
                          size_t size, struct nal_slice *slice)
{
    struct nal nal;
    for (size_t at = 0; nal_next(length_size, data, size, &at, &nal);)
        if (is_slice(&nal))
            return read_head(s, &nal, slice);
    return false;
}

/* Returns half the range of the low bits of the order count, less one. */
static uint32_t order_distance(const struct nal_sps *sps)
{
    return (UINT32_C(1) << sps->order_bits) / 2 - 1;
}

/* Returns true if an inserted frame for each reference fits in between, two order counts each. */
static bool leaves_room(const struct nal_sps *sps)
{
    return sps->order_type == 2 ||
           (sps->order_type == 0 && order_distance(sps) > 2 * (sps->references + UINT32_C(1)));
}

bool nal_may_separate(const struct nal_sets *s, int length_size, const uint8_t *data, size_t size,
                      int *sps)
{
    struct nal_slice first = {0}, slice;
    bool top = false, bottom = false, any = false;
    struct nal nal;
    for (size_t at = 0; nal_next(length_size, data, size, &at, &nal);) {
        int type = nal.size > 0 ? nal.data[0] & 31 : 0;
        if (type >= 2 && type <= 4) /* partitions */
            return false;
        if (!is_slice(&nal))
            continue;
        if (!read_head(s, &nal, &slice) ||
            (any && (slice.sps != first.sps || slice.field != first.field)))
            return false;
        if (!any)
            first = slice;
        any = true;
        top |= !slice.bottom;
        bottom |= slice.bottom || !slice.field;
        /* Only the second field of an IDR picture may be of another type. */
        if (!slice.idr && (!slice.field || slice.bottom == first.bottom))
            return false;
    }
    *sps = first.sps;
    return any && first.idr && top && bottom && leaves_room(&s->sps[first.sps]);
}

/* ------------------------------------------------------------------ writing */

/* Returns the most bytes that escape_unit writes: three for each two, and the prefixes. */
static size_t most_written(size_t size) { return size / 2 * 3 + 4; }

size_t nal_separate_room(size_t size)
{
    return most_written(size) + size; /* and the unit without emulation prevention bytes */
}

static void write_bits(uint8_t *data, size_t bit, int n, uint32_t value)
{
    for (int i = 0; i < n; i++, bit++) {
        uint8_t mask = (uint8_t)(0x80 >> (bit % 8));
        bool one = value >> (n - 1 - i) & 1;
        data[bit / 8] = one ? data[bit / 8] | mask : data[bit / 8] & (uint8_t)~mask;
    }
}

/* Inserts emulation prevention bytes, the inverse of nal_unescape. The last byte is not zero. */
static size_t escape_unit(const uint8_t *data, size_t size, uint8_t *out)
{
    size_t used = 0, zeros = 0;
    for (size_t i = 0; i < size; i++) {
        if (zeros >= 2 && data[i] <= 3) {
            out[used++] = 3;
            zeros = 0;
        }
        zeros = data[i] == 0 ? zeros + 1 : 0;
        out[used++] = data[i];
    }
    return used;
}

/* Writes a unit's length or start code. Returns false if the length has too few bytes. */
static bool write_prefix(int length_size, uint8_t *out, size_t size)
{
    static const uint8_t start[] = {0, 0, 1};
    if (length_size == 0) {
        memcpy(out, start, sizeof start);
        return true;
    }
    for (int i = 0; i < length_size; i++)
        out[i] = (uint8_t)(size >> (8 * (length_size - 1 - i)));
    return length_size >= (int)sizeof size || size >> (8 * length_size) == 0;
}

size_t nal_separate(const struct nal_sets *s, int length_size, const uint8_t *data, size_t size,
                    const struct nal_slice *next, uint8_t *out)
{
    struct nal_slice slice;
    struct nal nal;
    size_t gap = length_size > 0 ? (size_t)length_size : 3, used = 0;
    uint32_t shift = 0;
    uint8_t *plain = out + most_written(size);
    for (size_t at = 0; nal_next(length_size, data, size, &at, &nal);) {
        if (!is_slice(&nal))
            continue;
        size_t n = nal_unescape(&nal, plain, nal.size);
        n -= nal_zeros_at_end(plain, n);
        if (n == 0 || !read_slice_header(s, plain, n, &slice))
            return 0;
        const struct nal_sps *sps = &s->sps[slice.sps];
        uint32_t mask = (UINT32_C(1) << sps->order_bits) - 1;
        if (used == 0 && next)
            shift = next->order - order_distance(sps) - slice.order;
        if (sps->order_type == 0)
            write_bits(plain, slice.order_bit, sps->order_bits, (slice.order + shift) & mask);
        size_t bytes = escape_unit(plain, n, out + used + gap);
        if (!write_prefix(length_size, out + used, bytes))
            return 0;
        used += gap + bytes;
    }
    return used;
}
