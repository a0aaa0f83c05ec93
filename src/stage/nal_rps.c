#include "nal_rps.h"

#include "barcode/hash.h"
#include "nal.h"
#include "nal_read.h"

/* Bytes of a unit that hold what is read of it. */
enum { SET_HEAD = 2048, SLICE_HEAD = 256 };
enum { ORDER_MOST = 1 << 15 };     /* no two pictures of a set are further apart: 7.4.8 */

/* Bits of a number below n: Ceil(Log2(n)). */
static int bits_below(uint32_t n)
{
    int count = 0;
    while (n > UINT32_C(1) << count)
        count++;
    return count;
}

/* Profile, tier and level, of so many temporal layers above the first: 7.3.3. */
static void skip_profile(struct bit_reader *r, uint32_t above)
{
    r->bit += 96;
    size_t layers = 0;
    for (uint32_t i = 0; i < above; i++) {
        layers += read_bit(r) ? 88 : 0;
        layers += read_bit(r) ? 8 : 0;
    }
    r->bit += layers + (above > 0 ? (size_t)(8 - above) * 2 : 0);
}

uint32_t nal_rps_sps_number(struct bit_reader *r, uint32_t *above)
{
    read_bits(r, 4);
    *above = read_bits(r, 3);
    read_bit(r);
    if (*above > 6)
        return RPS_SPS_MOST;
    skip_profile(r, *above);
    uint32_t number = read_ue(r);
    return number < RPS_SPS_MOST ? number : RPS_SPS_MOST;
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
static bool derive(struct bit_reader *r, const struct nal_rps *of, int32_t shift, struct nal_rps *set)
{
    bool used[RPS_SHORT + 1] = {false}, in[RPS_SHORT + 1] = {false};
    int count = of->count, before = of->before;
    for (int i = 0; i <= count; i++) {
        used[i] = read_bit(r);
        in[i] = used[i] || read_bit(r);
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
static bool read_set(struct bit_reader *r, const struct nal_rps_sps *sps, uint32_t index, struct nal_rps *set)
{
    *set = (struct nal_rps){.count = 0};
    if (index > 0 && read_bit(r)) {
        uint32_t back = index == sps->sets ? read_ue(r) + 1 : 1;
        bool less = read_bit(r);
        uint32_t distance = read_ue(r);
        if (back > index || distance >= ORDER_MOST)
            return false;
        int32_t shift = (int32_t)distance + 1;
        return derive(r, &sps->set[index - back], less ? -shift : shift, set);
    }
    uint32_t before = read_ue(r), after = read_ue(r);
    if (before > RPS_SHORT || after > RPS_SHORT)
        return false;
    int32_t at = 0;
    for (uint32_t i = 0; i < before + after; i++) {
        uint32_t distance = read_ue(r);
        if (distance >= ORDER_MOST)
            return false;
        at = (i == before ? 0 : at) + (i < before ? -1 : 1) * ((int32_t)distance + 1);
        if (!add(set, at, read_bit(r)))
            return false;
    }
    return true;
}

/* ------------------------------------------------------------------ parameter sets */

/* 7.3.4 */
static void skip_scaling_lists(struct bit_reader *r)
{
    for (int size = 0; size < 4; size++)
        for (int matrix = 0; matrix < 6; matrix += size == 3 ? 3 : 1) {
            if (!read_bit(r)) {
                read_ue(r);
                continue;
            }
            int count = size == 0 ? 16 : 64;
            skip_ue(r, count + (size > 1));
        }
}

/* Behind the number: up to the short-term sets. */
static void read_front(struct bit_reader *r, uint32_t above, struct nal_rps_sps *sps)
{
    sps->planes = read_ue(r) == 3 && read_bit(r);
    skip_ue(r, 2);                            /* width, height */
    skip_ue(r, read_bit(r) ? 4 : 0);          /* the crop */
    skip_ue(r, 2);                            /* depths */
    uint32_t order = read_ue(r);
    sps->order_bits = (uint8_t)(order <= 12 ? order + 4 : 0);
    uint32_t layers = read_bit(r) ? above + 1 : 1;
    skip_ue(r, (int)layers * 3 + 6);          /* what each layer needs; sizes of blocks */
    bool scaled = read_bit(r);
    if (scaled && read_bit(r))
        skip_scaling_lists(r);
    read_bits(r, 2);                          /* amp_enabled_flag, sample_adaptive_offset_enabled_flag */
    if (read_bit(r)) {                        /* pcm_enabled_flag */
        read_bits(r, 8);
        skip_ue(r, 2);
        read_bit(r);
    }
}

static bool read_sps(struct bit_reader *r, uint32_t above, struct nal_rps_sps *sps)
{
    read_front(r, above, sps);
    uint32_t sets = read_ue(r);
    if (sps->order_bits == 0 || sets > 64)
        return false;
    sps->sets = (uint8_t)sets;
    for (uint32_t i = 0; i < sets; i++)
        if (!read_set(r, sps, i, &sps->set[i]) || is_used_up(r))
            return false;
    sps->longs = read_bit(r);
    uint32_t longs = sps->longs ? read_ue(r) : 0;
    if (longs > 32)
        return false;
    sps->long_sets = (uint8_t)longs;
    for (uint32_t i = 0; i < longs; i++) {
        sps->long_order[i] = read_bits(r, sps->order_bits);
        sps->long_used[i] = read_bit(r);
    }
    return !is_used_up(r);
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
    struct bit_reader r = {.data = plain, .size = unescape(nal, plain, sizeof plain), .bit = 16};
    if (nal->data[0] >> 1 == 34) {
        uint32_t number = read_ue(&r), sps = read_ue(&r);
        if (number > 63 || sps > 15 || !is_new(nal, &s->pps_hash[number]))
            return;
        read_bit(&r);                         /* dependent_slice_segments_enabled_flag */
        s->pps[number].sps = (uint8_t)(sps + 1);
        s->pps[number].hides = read_bit(&r);
        s->pps[number].extra_bits = (uint8_t)read_bits(&r, 3);
        return;
    }
    uint32_t above, number = nal_rps_sps_number(&r, &above);
    if (number == RPS_SPS_MOST || !is_new(nal, &s->sps_hash[number]))
        return;
    s->sps[number] = (struct nal_rps_sps){.known = false};
    s->sps[number].known = read_sps(&r, above, &s->sps[number]);
}

/* ------------------------------------------------------------------ slices */

/* 7.3.6.1 and (7-52). */
static bool read_longs(struct bit_reader *r, const struct nal_rps_sps *sps, struct nal_rps_slice *slice)
{
    uint32_t from_sps = sps->long_sets > 0 ? read_ue(r) : 0, own = read_ue(r);
    if (from_sps > RPS_LONG || own > RPS_LONG || from_sps + own > RPS_LONG)
        return false;
    for (uint32_t i = 0; i < from_sps + own; i++) {
        uint32_t which = i < from_sps ? read_bits(r, bits_below(sps->long_sets)) : 0;
        if (i < from_sps && which >= sps->long_sets)
            return false;
        slice->far[i].order = i < from_sps ? sps->long_order[which] : read_bits(r, sps->order_bits);
        slice->far[i].used = i < from_sps ? sps->long_used[which] : read_bit(r);
        slice->far[i].whole = read_bit(r);
        uint32_t more = slice->far[i].whole ? read_ue(r) : 0;
        bool counts_on = i > 0 && i != from_sps;
        slice->far[i].cycles = more + (counts_on ? slice->far[i - 1].cycles : 0);
    }
    slice->longs = (int)(from_sps + own);
    return true;
}

static bool read_slice(const struct nal_rps_sets *s, const struct nal *nal, struct nal_rps_slice *slice)
{
    uint8_t head[SLICE_HEAD];
    struct bit_reader r = {.data = head, .size = unescape(nal, head, sizeof head), .bit = 17};
    *slice = (struct nal_rps_slice){.type = nal->data[0] >> 1 & 63, .temporal_id = (nal->data[1] & 7) - 1};
    if (slice->type >= 16 && slice->type <= 23)
        read_bit(&r);                         /* no_output_of_prior_pics_flag */
    uint32_t pps = read_ue(&r);
    if (pps > 63 || s->pps[pps].sps == 0 || !s->sps[s->pps[pps].sps - 1].known)
        return false;
    const struct nal_rps_sps *sps = &s->sps[s->pps[pps].sps - 1];
    slice->range = UINT32_C(1) << sps->order_bits;
    read_bits(&r, s->pps[pps].extra_bits);
    read_ue(&r);                              /* slice_type */
    read_bits(&r, s->pps[pps].hides + 2 * sps->planes);
    if (slice->type == 19 || slice->type == 20)        /* IDR */
        return !is_used_up(&r);
    slice->order = read_bits(&r, sps->order_bits);
    if (!read_bit(&r)) {
        if (!read_set(&r, sps, sps->sets, &slice->near))
            return false;
    } else {
        uint32_t index = read_bits(&r, bits_below(sps->sets));
        if (index >= sps->sets)
            return false;
        slice->near = sps->set[index];
    }
    return (!sps->longs || read_longs(&r, sps, slice)) && !is_used_up(&r);
}

/* nal_unit_type of a unit of the base layer, of three bytes at least; 63: it is of another layer, or forbidden_zero_bit is set. */
static int type_of_base(const struct nal *nal)
{
    bool base = (nal->data[0] & 0x81) == 0 && nal->data[1] >> 3 == 0;
    return base ? nal->data[0] >> 1 & 63 : 63;
}

bool nal_rps_scan(struct nal_rps_sets *s, int length_size, const uint8_t *data, size_t size, struct nal_rps_slice *slice)
{
    struct nal nal;
    for (size_t at = 0, from = 0; next_head(length_size, data, size, &at, &nal); from = at) {
        int type = nal.size > 2 ? type_of_base(&nal) : 63;
        if ((type == 33 || type == 34) && next_nal(length_size, data, size, &from, &nal) && nal.size > 2)
            note_set(s, &nal);
        else if (type < 32 && slice)
            return nal.data[2] & 0x80 && read_slice(s, &nal, slice);      /* first_slice_segment_in_pic_flag */
    }
    return false;
}

void nal_rps_scan_extradata(struct nal_rps_sets *s, const uint8_t *extradata, size_t size)
{
    struct extradata_walk walk = {0};
    for (struct nal nal; nal_next_of_extradata(STREAM_HEVC, extradata, size, &walk, &nal);)
        if (nal.size > 2 && (type_of_base(&nal) == 33 || type_of_base(&nal) == 34))
            note_set(s, &nal);
}
