#include "headers.h"

#include <stdlib.h>
#include <string.h>

#include <libavcodec/packet.h>

#include "nal_read.h"
#include "nal_rps.h"
#include "nal_sets.h"

enum { SIZE_MOST = 1 << 12 };     /* of one; none is near that, and a damaged film may have hundreds */
enum { NUMBERS = 256 };           /* of a kind                                                       */
#define NONE UINT32_MAX

/*
 * What a slice turns into when a bit of its type falls over must not be taken for a header, or it would be given to each key that
 * follows: so some of what a header has to say is looked at.
 */
static uint32_t number_of_sps(const uint8_t *sps, size_t size)
{
    static const uint8_t profiles[] = {66, 77, 88, 100, 110, 122, 244, 44, 118, 128, 134, 135, 138, 139, 83, 86};
    struct bit_reader r = {.data = sps, .size = size, .bit = 32};
    struct nal_sps front;
    uint32_t number = read_ue(&r);
    if (size < 6 || !memchr(profiles, sps[1], sizeof profiles) || number > 31)
        return NONE;
    nal_sets_read_sps(&r, &front);
    return front.known ? number : NONE;
}

static uint32_t number_of_hevc_sps(const uint8_t *sps, size_t size)
{
    struct bit_reader r = {.data = sps, .size = size, .bit = 16};
    uint32_t above, number = nal_rps_sps_number(&r, &above);
    return number < RPS_SPS_MOST && read_ue(&r) <= 3 ? number : NONE;                /* chroma_format_idc */
}

/* 7.3.2.1: after the number two flags, the layers, and 16 bits that are set. */
static uint32_t number_of_vps(const uint8_t *vps, size_t size)
{
    struct bit_reader r = {.data = vps, .size = size, .bit = 16};
    uint32_t number = read_bits(&r, 4);
    r.bit = 32;
    return read_bits(&r, 16) == 0xffff ? number : NONE;
}

static size_t place_of(const struct headers *h, unsigned key)
{
    size_t i = 0;
    while (i < h->count && h->one[i].key < key)
        i++;
    return i;
}

/* NULL: there is none. */
static struct header *find(const struct headers *h, unsigned key)
{
    size_t i = place_of(h, key);
    return i < h->count && h->one[i].key == key ? &h->one[i] : NULL;
}

/* NONE: there are no such numbers. */
static unsigned make_key(unsigned kind, uint32_t number)
{
    return number < NUMBERS ? kind * NUMBERS + number : NONE;
}

/* A PPS names its SPS, which must be there; SPSs are the kind before. */
static uint32_t number_of_pps(const struct headers *h, const uint8_t *pps, size_t size, size_t bit, unsigned kind, uint32_t most)
{
    struct bit_reader r = {.data = pps, .size = size, .bit = bit};
    uint32_t number = read_ue(&r), sps = read_ue(&r);
    return number < most && find(h, make_key(kind - 1, sps)) ? number : NONE;
}

/* Kind and number of a unit, NONE if it is no header; *slice: it is a picture's. */
static unsigned key_of(const struct headers *h, const struct nal *nal, bool *slice)
{
    uint8_t bytes[1024];
    size_t n = unescape(nal, bytes, sizeof bytes);
    bool h264 = h->stream == STREAM_H264;
    int type = n < 3 ? -1 : h264 ? bytes[0] & 31 : bytes[0] >> 1 & 63;
    *slice = h264 ? type >= 1 && type <= 5 : type >= 0 && type < 32;
    bool base = h264 || (n >= 3 && (bytes[0] & 1) == 0 && bytes[1] >> 3 == 0);
    uint32_t kind = (uint32_t)(type - (h264 ? 7 : 32)), number = NONE;
    if (type < (h264 ? 7 : 32) || kind > (h264 ? 1 : 2) || !base)
        return NONE;
    if (h264)
        number = kind == 0 ? number_of_sps(bytes, n) : number_of_pps(h, bytes, n, 8, kind, NUMBERS);
    else
        number = kind == 0 ? number_of_vps(bytes, n) : kind == 1 ? number_of_hevc_sps(bytes, n) : number_of_pps(h, bytes, n, 16, kind, 64);
    return make_key(kind, number);
}

/* The sequence header at or after *at, up to the group's or picture's; *at moves past it. */
static bool next_sequence(const uint8_t *data, size_t size, size_t *at, struct nal *unit)
{
    size_t from = size;
    for (size_t p = find_start(data, *at, size); p + 4 <= size; p = find_start(data, p + 3, size)) {
        uint8_t code = data[p + 3];
        if (code == 0xb3 && from == size)
            from = p;
        bool extends = code == 0xb3 || code == 0xb5 || code == 0xb2;
        if (from < size && !extends) {
            *unit = (struct nal){data + from, p - from};
            *at = p;
            return true;
        }
        if (code >= 0x01 && code <= 0xaf)           /* slices */
            return false;
    }
    *at = size;
    *unit = (struct nal){data + from, size - from};
    return from < size;
}

/* The next header before the packet's first slice, *at moving past it, with its key: those behind it would not be in their place. */
static bool next_header(const struct headers *h, const uint8_t *data, size_t size, size_t *at, struct nal *unit, unsigned *key)
{
    if (h->stream == STREAM_MPEG2) {
        *key = 0;
        return next_sequence(data, size, at, unit);
    }
    bool slice = false;
    while (!slice && next_nal(h->length_size, data, size, at, unit)) {
        *key = key_of(h, unit, &slice);
        if (*key != NONE)
            return true;
    }
    return false;
}

static bool make_room(struct headers *h, struct err *e)
{
    if (h->count < h->room)
        return true;
    size_t room = h->room ? h->room * 2 : 8;
    struct header *grown = realloc(h->one, room * sizeof *grown);
    if (!grown)
        return err_memory(e, room * sizeof *grown);
    h->one = grown;
    h->room = room;
    return true;
}

static bool keep(struct headers *h, unsigned key, struct nal unit, struct err *e)
{
    unit.size -= nal_zeros_at_end(unit.data, unit.size);
    struct header *there = find(h, key);
    if (unit.size == 0 || unit.size > SIZE_MOST || (there && there->size == unit.size && memcmp(there->data, unit.data, unit.size) == 0))
        return true;
    uint8_t *data = malloc(unit.size);
    if (!data)
        return err_memory(e, unit.size);
    memcpy(data, unit.data, unit.size);
    size_t i = place_of(h, key);
    if (there) {
        free(there->data);
    } else if (make_room(h, e)) {
        memmove(&h->one[i + 1], &h->one[i], (h->count - i) * sizeof *h->one);
        h->count++;
    } else {
        free(data);
        return false;
    }
    h->one[i] = (struct header){key, data, unit.size};
    h->changed = true;
    return true;
}

bool headers_are_kept(enum bitstream stream)
{
    return stream == STREAM_H264 || stream == STREAM_HEVC || stream == STREAM_MPEG2;
}

/* Those of H.264's or HEVC's extradata. */
static bool keep_first(struct headers *h, const uint8_t *extradata, size_t size, struct err *e)
{
    struct extradata_walk walk = {0};
    struct nal nal;
    bool fine = true;
    while (fine && nal_next_of_extradata(h->stream, extradata, size, &walk, &nal)) {
        bool slice;
        unsigned key = key_of(h, &nal, &slice);
        fine = key == NONE || keep(h, key, nal, e);
    }
    return fine;
}

static void empty(struct headers *h)
{
    for (size_t i = 0; i < h->count; i++)
        free(h->one[i].data);
    h->count = 0;
}

bool headers_begin(struct headers *h, const uint8_t *extradata, size_t size, struct err *e)
{
    empty(h);
    if (!headers_are_kept(h->stream))
        return true;
    h->length_size = nal_length_size(h->stream, extradata, size);
    bool fine = h->stream == STREAM_MPEG2 ? headers_note(h, extradata, size, e) : keep_first(h, extradata, size, e);
    h->changed = false;
    return fine;
}

bool headers_note(struct headers *h, const uint8_t *data, size_t size, struct err *e)
{
    struct nal unit;
    unsigned key;
    if (!headers_are_kept(h->stream))
        return true;
    for (size_t at = 0; next_header(h, data, size, &at, &unit, &key);)
        if (!keep(h, key, unit, e))
            return false;
    return true;
}

/* ------------------------------------------------------------------ giving */

enum { SLICE_HEAD = 32 };         /* the bytes of a slice in which it names its PPS */

/* The number of the PPS that a slice names, NONE if it is no slice: H.264 7.3.3, H.265 7.3.6.1. */
static uint32_t number_in_slice(const struct headers *h, const struct nal *nal)
{
    struct nal head = {nal->data, nal->size < SLICE_HEAD ? nal->size : SLICE_HEAD};
    uint8_t bytes[SLICE_HEAD];
    struct bit_reader r = {.data = bytes, .size = unescape(&head, bytes, sizeof bytes), .bit = 8};
    int type = r.size < 3 ? -1 : h->stream == STREAM_H264 ? bytes[0] & 31 : bytes[0] >> 1 & 63;
    if (h->stream == STREAM_H264) {
        skip_ue(&r, 2);                       /* the first macroblock, the type of slice */
        return type >= 1 && type <= 5 ? read_ue(&r) : NONE;
    }
    r.bit = type >= 16 && type <= 23 ? 18 : 17;        /* the first one of its picture; no_output_of_prior_pics_flag */
    return type >= 0 && type < 32 ? read_ue(&r) : NONE;
}

enum { SPS_OF_H264, PPS_OF_H264, SPS_OF_HEVC = 1, PPS_OF_HEVC };     /* kinds, as key_of counts them */

/* The PPS that a slice goes by, NULL if that is not there. */
static const struct header *pps_of(const struct headers *h, const struct nal *slice)
{
    return find(h, make_key(h->stream == STREAM_H264 ? PPS_OF_H264 : PPS_OF_HEVC, number_in_slice(h, slice)));
}

/* The SPS that a PPS goes by, likewise. */
static const struct header *sps_of(const struct headers *h, const struct header *pps)
{
    struct nal nal = {pps->data, pps->size};
    uint8_t bytes[16];
    struct bit_reader r = {.data = bytes, .size = unescape(&nal, bytes, sizeof bytes), .bit = h->stream == STREAM_H264 ? 8 : 16};
    read_ue(&r);                              /* its own number */
    return find(h, make_key(h->stream == STREAM_H264 ? SPS_OF_H264 : SPS_OF_HEVC, read_ue(&r)));
}

/* True if the packet's slices name a header that it lacks. */
static bool names_lacking(const struct headers *h, const AVPacket *packet, const bool *lacks)
{
    struct nal nal;
    if (h->stream == STREAM_MPEG2)
        return true;
    for (size_t at = 0; next_nal(h->length_size, packet->data, (size_t)packet->size, &at, &nal);) {
        const struct header *pps = pps_of(h, &nal), *sps = pps ? sps_of(h, pps) : NULL;
        if ((pps && lacks[pps - h->one]) || (sps && lacks[sps - h->one]))
            return true;
    }
    return false;
}

/* Marks in lacks[count] those that the packet does not bring. Returns the bytes that all take in it; 0: nothing is lacking. */
static size_t find_lacking(const struct headers *h, const AVPacket *packet, bool *lacks)
{
    struct nal unit;
    unsigned key;
    memset(lacks, true, h->count * sizeof *lacks);
    for (size_t at = 0; next_header(h, packet->data, (size_t)packet->size, &at, &unit, &key);) {
        const struct header *one = find(h, key);
        if (one)
            lacks[one - h->one] = false;
    }
    size_t prefix = h->stream == STREAM_MPEG2 ? 0 : h->length_size > 0 ? (size_t)h->length_size : 3, bytes = 0;
    bool any = false;
    for (size_t i = 0; i < h->count; i++) {
        any |= lacks[i];
        bytes += prefix + h->one[i].size;
        /* A prefix of one byte may be too short for a header that came from the extradata. */
        if (h->length_size > 0 && h->length_size < 4 && h->one[i].size >> (8 * h->length_size) > 0)
            return 0;
    }
    return any ? bytes : 0;
}

static uint8_t *write_one(const struct headers *h, const struct header *one, uint8_t *to)
{
    static const uint8_t start[] = {0, 0, 1};
    if (h->stream != STREAM_MPEG2 && h->length_size == 0) {
        memcpy(to, start, sizeof start);
        to += sizeof start;
    }
    for (int i = h->length_size; i-- > 0;)
        *to++ = (uint8_t)(one->size >> (8 * i));
    memcpy(to, one->data, one->size);
    return to + one->size;
}

bool headers_give(struct headers *h, AVPacket *packet, struct err *e)
{
    bool lacks[3 * NUMBERS];
    if (!h->changed)
        return true;
    size_t had = (size_t)packet->size, bytes = find_lacking(h, packet, lacks);
    if (bytes == 0)
        return true;
    bool names = names_lacking(h, packet, lacks);
    if (bytes > INT32_MAX / 2 || av_grow_packet(packet, (int)bytes) < 0)
        return err_memory(e, bytes);
    h->needed += names;
    memmove(packet->data + bytes, packet->data, had);
    uint8_t *to = packet->data;
    for (size_t i = 0; i < h->count; i++)
        to = write_one(h, &h->one[i], to);
    return true;
}

/* ------------------------------------------------------------------ looking */

/* As next_nal, of a packet that may go on behind `size`; *whole: so does this unit not. */
static bool next_part(int length_size, const uint8_t *data, size_t size, size_t *at, struct nal *nal, bool *whole)
{
    size_t from = *at + (size_t)length_size;
    if (next_nal(length_size, data, size, at, nal)) {
        *whole = length_size > 0 || *at < size;
        return true;
    }
    if (length_size == 0 || from >= size)
        return false;
    *nal = (struct nal){data + from, size - from};
    *at = size;
    *whole = false;
    return true;
}

/* True if a slice goes by headers of own[] alone, by their keys. */
static bool goes_by(const struct headers *h, const struct nal *slice, const bool *own)
{
    const struct header *pps = pps_of(h, slice), *sps = pps ? sps_of(h, pps) : NULL;
    return sps && own[pps->key] && own[sps->key];
}

static enum headers_seen look_at_mpeg2(struct headers *h, const uint8_t *data, size_t size, struct err *e)
{
    struct nal unit;
    size_t at = 0;
    bool own = next_sequence(data, size, &at, &unit);
    if (own)
        return at < size && keep(h, 0, unit, e) ? HEADERS_OWN : HEADERS_MORE;
    for (at = find_start(data, 0, size); at + 4 <= size; at = find_start(data, at + 3, size))
        if (data[at + 3] == 0xb8 || data[at + 3] == 0x00)           /* a group, a picture */
            return HEADERS_LACKING;
    return HEADERS_MORE;
}

enum headers_seen headers_look(struct headers *h, const uint8_t *data, size_t size, struct err *e)
{
    bool own[3 * NUMBERS] = {false}, slice = false, whole;
    struct nal nal;
    if (h->stream == STREAM_MPEG2)
        return look_at_mpeg2(h, data, size, e);
    for (size_t at = 0; next_part(h->length_size, data, size, &at, &nal, &whole);) {
        unsigned key = key_of(h, &nal, &slice);
        if (!whole && (!slice || nal.size < SLICE_HEAD))
            return HEADERS_MORE;
        if (slice)
            return goes_by(h, &nal, own) ? HEADERS_OWN : HEADERS_LACKING;
        if (key != NONE && !keep(h, key, nal, e))
            return HEADERS_MORE;
        if (key != NONE)
            own[key] = true;
    }
    return HEADERS_MORE;
}

bool headers_hold(const struct headers *h, const struct headers *of)
{
    for (size_t i = 0; i < of->count; i++) {
        const struct header *one = &of->one[i], *mine = find(h, one->key);
        if (!mine || mine->size != one->size || memcmp(mine->data, one->data, one->size) != 0)
            return false;
    }
    return true;
}

void headers_free(struct headers *h)
{
    empty(h);
    free(h->one);
    h->one = NULL;
    h->room = 0;
}
