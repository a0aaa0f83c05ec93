#include "nal_rps.h"

#include "barcode/hash.h"
#include "nal.h"
#include "nal_read.h"

/* Bytes of a unit that hold what is read of it. */
enum { SET_HEAD = 2048, SLICE_HEAD = 256 };
enum { ORDER_MOST = 1 << 15 };     /* no two pictures of a set are further apart: 7.4.8 */

struct reader {
    const uint8_t *data;
    size_t size, bit;
};

static uint32_t ue(struct reader *r)
{
    return read_ue(r->data, r->size, &r->bit);
}

static uint32_t bits(struct reader *r, int n)
{
    return read_bits(r->data, r->size, &r->bit, n);
}

static bool flag(struct reader *r)
{
    return read_bit(r->data, r->size, &r->bit);
}

static bool broke_off(const struct reader *r)
{
    return r->bit >= r->size * 8;
}

/* Bits of a number below n: Ceil(Log2(n)). */
static int bits_below(uint32_t n)
{
    int count = 0;
    while (n > UINT32_C(1) << count)
        count++;
    return count;
}

size_t nal_profile_bits(const uint8_t *sps, size_t size, size_t bit, uint32_t above)
{
    size_t from = bit;
    bit += 96;
    if (above == 0)
        return bit - from;
    size_t more = 0;
    for (uint32_t i = 0; i < above; i++) {
        more += read_bit(sps, size, &bit) ? 88 : 0;
        more += read_bit(sps, size, &bit) ? 8 : 0;
    }
    return bit - from + (size_t)(8 - above) * 2 + more;
}

/* ------------------------------------------------------------------ short-term sets */

static bool add(struct nal_rps *set, int32_t delta, bool used)
{
    if (set->count == RPS_SHORT || delta < -ORDER_MOST || delta > ORDER_MOST)
        return false;
    set->before += delta < 0;
    set->used[set->count] = used;
    set->delta[set->count++] = delta;
    return true;
}

/* 7.4.8, (7-61) and (7-62): a set that is another one, `of`, moved by `shift`, as its flags let each picture of it in. */
static bool derive(struct reader *r, const struct nal_rps *of, int32_t shift, struct nal_rps *set)
{
    bool used[RPS_SHORT + 1] = {false}, in[RPS_SHORT + 1] = {false};
    int count = of->count, before = of->before;
    for (int i = 0; i <= count; i++) {
        used[i] = flag(r);
        in[i] = used[i] || flag(r);
    }
    bool fine = true;
    for (int i = count - 1; i >= before; i--)
        if (of->delta[i] + shift < 0 && in[i])
            fine = fine && add(set, of->delta[i] + shift, used[i]);
    if (shift < 0 && in[count])
        fine = fine && add(set, shift, used[count]);
    for (int i = 0; i < before; i++)
        if (of->delta[i] + shift < 0 && in[i])
            fine = fine && add(set, of->delta[i] + shift, used[i]);
    for (int i = before - 1; i >= 0; i--)
        if (of->delta[i] + shift > 0 && in[i])
            fine = fine && add(set, of->delta[i] + shift, used[i]);
    if (shift > 0 && in[count])
        fine = fine && add(set, shift, used[count]);
    for (int i = before; i < count; i++)
        if (of->delta[i] + shift > 0 && in[i])
            fine = fine && add(set, of->delta[i] + shift, used[i]);
    return fine;
}

/* 7.3.7: set number `index`; in a slice that is the number of those in the SPS. */
static bool read_set(struct reader *r, const struct nal_rps_sps *sps, uint32_t index, struct nal_rps *set)
{
    *set = (struct nal_rps){.count = 0};
    if (index > 0 && flag(r)) {
        uint32_t back = index == sps->sets ? ue(r) + 1 : 1;
        bool less = flag(r);
        uint32_t distance = ue(r);
        if (back > index || distance >= ORDER_MOST)
            return false;
        int32_t shift = (int32_t)distance + 1;
        return derive(r, &sps->set[index - back], less ? -shift : shift, set);
    }
    uint32_t before = ue(r), after = ue(r);
    if (before > RPS_SHORT || after > RPS_SHORT)
        return false;
    int32_t at = 0;
    for (uint32_t i = 0; i < before + after; i++) {
        uint32_t distance = ue(r);
        if (distance >= ORDER_MOST)
            return false;
        at = (i == before ? 0 : at) + (i < before ? -1 : 1) * ((int32_t)distance + 1);
        if (!add(set, at, flag(r)))
            return false;
    }
    return true;
}

/* ------------------------------------------------------------------ parameter sets */

/* 7.3.4 */
static void skip_scaling_lists(struct reader *r)
{
    for (int size = 0; size < 4; size++)
        for (int matrix = 0; matrix < 6; matrix += size == 3 ? 3 : 1) {
            if (!flag(r)) {
                ue(r);
                continue;
            }
            int count = size == 0 ? 16 : 64;
            for (int i = 0; i < count + (size > 1); i++)
                ue(r);
        }
}

/* Behind the number: up to the short-term sets. */
static void read_front(struct reader *r, uint32_t above, struct nal_rps_sps *sps)
{
    sps->planes = ue(r) == 3 && flag(r);
    ue(r);                                    /* width, height */
    ue(r);
    if (flag(r))                              /* the crop */
        for (int i = 0; i < 4; i++)
            ue(r);
    ue(r);                                    /* depths */
    ue(r);
    uint32_t order = ue(r);
    sps->order_bits = (uint8_t)(order <= 12 ? order + 4 : 0);
    uint32_t layers = flag(r) ? above + 1 : 1;
    for (uint32_t i = 0; i < layers * 3 + 6; i++)      /* what each layer needs; sizes of blocks */
        ue(r);
    bool scaled = flag(r);
    if (scaled && flag(r))
        skip_scaling_lists(r);
    bits(r, 2);                               /* amp_enabled_flag, sample_adaptive_offset_enabled_flag */
    if (flag(r)) {                            /* pcm_enabled_flag */
        bits(r, 8);
        ue(r);
        ue(r);
        flag(r);
    }
}

static bool read_sps(struct reader *r, uint32_t above, struct nal_rps_sps *sps)
{
    read_front(r, above, sps);
    uint32_t sets = ue(r);
    if (sps->order_bits == 0 || sets > 64)
        return false;
    sps->sets = (uint8_t)sets;
    for (uint32_t i = 0; i < sets; i++)
        if (!read_set(r, sps, i, &sps->set[i]) || broke_off(r))
            return false;
    sps->longs = flag(r);
    uint32_t longs = sps->longs ? ue(r) : 0;
    if (longs > 32)
        return false;
    sps->long_sets = (uint8_t)longs;
    for (uint32_t i = 0; i < longs; i++) {
        sps->long_order[i] = bits(r, sps->order_bits);
        sps->long_used[i] = flag(r);
    }
    return !broke_off(r);
}

static bool is_new(const struct nal *nal, uint64_t *before)
{
    uint64_t hash = hash_64(nal->data, nal->size), was = *before;
    *before = hash ? hash : 1;
    return was != *before;
}

static void note_set(struct nal_rps_sets *s, const struct nal *nal)
{
    uint8_t plain[SET_HEAD];
    struct reader r = {.data = plain, .size = unescape(nal, plain, sizeof plain), .bit = 16};
    if (nal->data[0] >> 1 == 34) {
        uint32_t number = ue(&r), sps = ue(&r);
        if (number > 63 || sps > 15 || !is_new(nal, &s->pps_hash[number]))
            return;
        flag(&r);                             /* dependent_slice_segments_enabled_flag */
        s->pps[number].sps = (uint8_t)(sps + 1);
        s->pps[number].hides = flag(&r);
        s->pps[number].extra_bits = (uint8_t)bits(&r, 3);
        return;
    }
    bits(&r, 4);
    uint32_t above = bits(&r, 3);
    flag(&r);
    if (above > 6)
        return;
    r.bit += nal_profile_bits(plain, r.size, r.bit, above);
    uint32_t number = ue(&r);
    if (number > 15 || !is_new(nal, &s->sps_hash[number]))
        return;
    s->sps[number] = (struct nal_rps_sps){.known = false};
    s->sps[number].known = read_sps(&r, above, &s->sps[number]);
}

/* ------------------------------------------------------------------ slices */

/* 7.3.6.1 and (7-52). */
static bool read_longs(struct reader *r, const struct nal_rps_sps *sps, struct nal_rps_slice *slice)
{
    uint32_t from_sps = sps->long_sets > 0 ? ue(r) : 0, own = ue(r);
    if (from_sps > RPS_LONG || own > RPS_LONG || from_sps + own > RPS_LONG)
        return false;
    for (uint32_t i = 0; i < from_sps + own; i++) {
        uint32_t which = i < from_sps ? bits(r, bits_below(sps->long_sets)) : 0;
        if (i < from_sps && which >= sps->long_sets)
            return false;
        slice->far[i].order = i < from_sps ? sps->long_order[which] : bits(r, sps->order_bits);
        slice->far[i].used = i < from_sps ? sps->long_used[which] : flag(r);
        slice->far[i].whole = flag(r);
        uint32_t more = slice->far[i].whole ? ue(r) : 0;
        bool counts_on = i > 0 && i != from_sps;
        slice->far[i].cycles = more + (counts_on ? slice->far[i - 1].cycles : 0);
    }
    slice->longs = (int)(from_sps + own);
    return true;
}

static bool read_slice(const struct nal_rps_sets *s, const struct nal *nal, struct nal_rps_slice *slice)
{
    uint8_t head[SLICE_HEAD];
    struct reader r = {.data = head, .size = unescape(nal, head, sizeof head), .bit = 17};
    *slice = (struct nal_rps_slice){.type = nal->data[0] >> 1 & 63, .temporal_id = (nal->data[1] & 7) - 1};
    if (slice->type >= 16 && slice->type <= 23)
        flag(&r);                             /* no_output_of_prior_pics_flag */
    uint32_t pps = ue(&r);
    if (pps > 63 || s->pps[pps].sps == 0 || !s->sps[s->pps[pps].sps - 1].known)
        return false;
    const struct nal_rps_sps *sps = &s->sps[s->pps[pps].sps - 1];
    slice->range = UINT32_C(1) << sps->order_bits;
    bits(&r, s->pps[pps].extra_bits);
    ue(&r);                                   /* slice_type */
    bits(&r, s->pps[pps].hides + 2 * sps->planes);
    if (slice->type == 19 || slice->type == 20)        /* IDR */
        return !broke_off(&r);
    slice->order = bits(&r, sps->order_bits);
    if (!flag(&r)) {
        if (!read_set(&r, sps, sps->sets, &slice->near))
            return false;
    } else {
        uint32_t index = bits(&r, bits_below(sps->sets));
        if (index >= sps->sets)
            return false;
        slice->near = sps->set[index];
    }
    return (!sps->longs || read_longs(&r, sps, slice)) && !broke_off(&r);
}

bool nal_rps_scan(struct nal_rps_sets *s, int length_size, const uint8_t *data, size_t size, struct nal_rps_slice *slice)
{
    struct nal nal;
    for (size_t at = 0, from = 0; next_head(length_size, data, size, &at, &nal); from = at) {
        int type = nal.size > 2 ? nal.data[0] >> 1 & 63 : 63;
        bool base = nal.size > 2 && (nal.data[0] & 1) == 0 && nal.data[1] >> 3 == 0;
        if (base && (type == 33 || type == 34) && next_nal(length_size, data, size, &from, &nal) && nal.size > 2)
            note_set(s, &nal);
        else if (base && type < 32 && slice)
            return nal.data[2] & 0x80 && read_slice(s, &nal, slice);      /* first_slice_segment_in_pic_flag */
    }
    return false;
}

void nal_rps_scan_extradata(struct nal_rps_sets *s, const uint8_t *extradata, size_t size)
{
    if (nal_length_size(STREAM_HEVC, extradata, size) == 0) {
        nal_rps_scan(s, 0, extradata, size, NULL);
        return;
    }
    struct hvcc_walk walk = {0};
    for (struct nal nal; next_hvcc_nal(extradata, size, &walk, &nal);)
        if (nal.size > 2 && (nal.data[0] >> 1 == 33 || nal.data[0] >> 1 == 34) && nal.data[1] >> 3 == 0)
            note_set(s, &nal);
}
