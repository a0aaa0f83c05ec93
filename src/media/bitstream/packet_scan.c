#include "packet_scan.h"

#include <string.h>

/* ---- NAL units and their bits ---- */

size_t nal_find_start(const uint8_t *data, size_t at, size_t size)
{
    while (at + 3 <= size) {
        const uint8_t *one = memchr(data + at + 2, 1, size - at - 2);
        if (!one)
            return size;
        size_t p = (size_t)(one - data) - 2;
        if (data[p] == 0 && data[p + 1] == 0)
            return p;
        at = p + 1;
    }
    return size;
}

bool nal_next(int length_size, const uint8_t *data, size_t size, size_t *at, struct nal *nal)
{
    if (length_size == 0) {
        size_t start = nal_find_start(data, *at, size);
        if (start >= size)
            return false;
        start += 3;
        size_t end = nal_find_start(data, start, size);
        *nal = (struct nal){data + start, end - start};
        *at = end;
        return true;
    }
    if (size - *at < (size_t)length_size)
        return false;
    size_t length = 0;
    for (int i = 0; i < length_size; i++)
        length = length << 8 | data[*at + (size_t)i];
    *at += (size_t)length_size;
    if (length > size - *at)
        return false;
    *nal = (struct nal){data + *at, length};
    *at += length;
    return true;
}

size_t nal_unescape(const struct nal *nal, uint8_t *out, size_t room)
{
    size_t used = 0, zeros = 0;
    for (size_t i = 0; i < nal->size && used < room; i++) {
        if (zeros >= 2 && nal->data[i] == 3) {
            zeros = 0;
            continue;
        }
        zeros = nal->data[i] == 0 ? zeros + 1 : 0;
        out[used++] = nal->data[i];
    }
    return used;
}

/* Returns true if more bits were read than there were: the last value was truncated. */
static bool is_overrun(const struct bit_reader *r) { return r->bit > r->size * 8; }

int nal_read_bit(struct bit_reader *r)
{
    size_t bit = r->bit++;
    return bit / 8 < r->size ? r->data[bit / 8] >> (7 - bit % 8) & 1 : 0;
}

uint32_t nal_read_bits(struct bit_reader *r, int n)
{
    uint32_t value = 0;
    for (int i = 0; i < n; i++)
        value = value << 1 | (uint32_t)nal_read_bit(r);
    return value;
}

uint32_t nal_read_ue(struct bit_reader *r)
{
    int zeros = 0;
    while (!is_overrun(r) && nal_read_bit(r) == 0)
        zeros++;
    uint32_t rest = zeros <= 30 ? nal_read_bits(r, zeros) : 0;
    if (zeros > 30 || is_overrun(r))
        return UINT32_C(1) << 31;
    return (UINT32_C(1) << zeros | rest) - 1;
}

void nal_skip_ue(struct bit_reader *r, int numbers)
{
    while (numbers-- > 0)
        nal_read_ue(r);
}

/* ---- packets ---- */

struct codec_traits codec_traits(enum bitstream stream)
{
    struct codec_traits t = {.stream = stream, .parallel = stream != STREAM_OTHER};
    bool reordered = stream == STREAM_H264 || stream == STREAM_HEVC || stream == STREAM_MPEG2;
    t.flush = t.discard = t.drop = t.reorder = reordered;
    return t;
}

/* Reads a type or size of an SEI message, 255 a byte (H.264 7.3.2.3.1, H.265 7.3.5), behind *at. */
static size_t read_sei_number(const uint8_t *sei, size_t size, size_t *at)
{
    size_t value = 0;
    while (*at < size && sei[*at] == 255) {
        value += 255;
        ++*at;
    }
    if (*at < size) {
        value += sei[*at];
        ++*at;
    }
    return value;
}

/* Finds the first message of a type in an unescaped SEI unit, whose header has `head` bytes. */
static bool find_sei(const uint8_t *sei, size_t size, size_t head, size_t type, struct nal *message)
{
    size_t at = head;
    while (at + 2 < size) {
        size_t found = read_sei_number(sei, size, &at), length = read_sei_number(sei, size, &at);
        if (length > size - at)
            return false;
        *message = (struct nal){sei + at, length};
        if (found == type)
            return true;
        at += length;
    }
    return false;
}

/* Returns true if an H.264 SEI NAL unit contains a recovery point with recovery_frame_cnt 0. */
static bool sei_recovers_at_once(const struct nal *nal)
{
    enum { RECOVERY_POINT = 6 };
    uint8_t sei[1024];
    struct nal message;
    size_t size = nal_unescape(nal, sei, sizeof sei);
    return find_sei(sei, size, 1, RECOVERY_POINT, &message) &&
           nal_read_ue(&(struct bit_reader){.data = message.data, .size = message.size}) == 0;
}

/* As many zeros may follow a packet's last unit, for alignment. More replace missing data. */
enum { PADDING_MAX = 64 };

size_t nal_zeros_at_end(const uint8_t *data, size_t size)
{
    size_t zeros = 0;
    while (zeros < size && data[size - 1 - zeros] == 0)
        zeros++;
    return zeros;
}

/* Returns true if 0, 1 or 2 follows two zeros: encoders avoid that (H.264 7.4.1, H.265 7.4.2.1). */
static bool has_unescaped_zeros(const uint8_t *data, size_t size)
{
    for (size_t at = 0; at + 3 <= size;) {
        const uint8_t *zero = memchr(data + at, 0, size - at - 2);
        if (!zero)
            return false;
        if (zero[1] == 0 && zero[2] < 3)
            return true;
        at = (size_t)(zero - data) + (zero[1] ? 2 : 3);
    }
    return false;
}

/* Returns true if ZEROED_BYTES zeros in a row are in the data. */
static bool has_zeroed_bytes(const uint8_t *data, size_t size)
{
    for (size_t at = ZEROED_BYTES / 2; at < size; at += ZEROED_BYTES / 2) {
        size_t first = at, end = at;
        while (data[at] == 0 && first > 0 && data[first - 1] == 0 && at - first < ZEROED_BYTES)
            first--;
        while (end < size && data[end] == 0 && end - first < ZEROED_BYTES)
            end++;
        if (end - first >= ZEROED_BYTES)
            return true;
    }
    return false;
}

/* Returns true for H.264's slice_type 2 and 7: I. */
static bool slice_is_intra(const struct nal *nal)
{
    uint8_t head[32];
    struct bit_reader r = {.data = head, .size = nal_unescape(nal, head, sizeof head), .bit = 8};
    nal_read_ue(&r); /* first_mb_in_slice */
    uint32_t type = nal_read_ue(&r);
    return type == 2 || type == 7;
}

/* The state of a scan over the NAL units of a packet. */
struct units {
    bool idr, recovery, referenced, inter; /* H.264: some slice is; HEVC: `referenced` alone */
    bool malformed;                        /* an empty or invalid NAL unit */
};

static void scan_h264_unit(const struct nal *nal, struct units *u, struct packet_info *info)
{
    int type = nal->data[0] & 31;
    if (type >= 1 && type <= 5) {
        info->picture = true;
        u->idr |= type == 5;
        u->referenced |= (nal->data[0] >> 5 & 3) != 0;
        u->inter |= type != 5 && !slice_is_intra(nal);
    } else if (type == 6) {
        u->recovery |= sei_recovers_at_once(nal);
    }
}

/* Returns output_flag_present_flag of an HEVC PPS (7.3.2.3.1): slices may have pic_output_flag. */
static bool pps_has_output_flag(const struct nal *nal)
{
    uint8_t pps[64];
    struct bit_reader r = {.data = pps, .size = nal_unescape(nal, pps, sizeof pps), .bit = 16};
    nal_skip_ue(&r, 2); /* its id, the SPS's id, dependent_slice_segments_enabled_flag */
    nal_read_bit(&r);
    return nal_read_bit(&r);
}

/* Returns nuh_layer_id of a unit of at least two bytes. */
static int hevc_layer(const struct nal *nal) { return (nal->data[0] & 1) << 5 | nal->data[1] >> 3; }

/* Records what makes an HEVC decoder output fewer frames than there are coded pictures. */
static void note_hidden(int type, const struct nal *nal, struct packet_info *info)
{
    info->output_flag_present |= type == 34 && pps_has_output_flag(nal);
    if (type == 36 || type == 37) /* end of sequence, of bitstream */
        *(info->picture ? &info->ends : &info->after_end) = true;
    info->broken_link |= type >= 16 && type <= 18;
    /* no_output_of_prior_pics_flag, after first_slice_segment_in_pic_flag */
    info->discards |= type >= 16 && type <= 20 && nal->size > 2 && nal->data[2] >> 6 & 1;
}

static void scan_hevc_unit(const struct nal *nal, struct units *u, struct packet_info *info)
{
    if (nal->size < 2 || hevc_layer(nal) != 0)
        return;
    int type = nal->data[0] >> 1 & 63;
    note_hidden(type, nal, info);
    if (type > 31)
        return;
    info->picture = true;
    info->temporal_id = (nal->data[1] & 7) > 0 ? (nal->data[1] & 7) - 1 : 0;
    u->referenced |= type >= 16 || type % 2 == 1;
    info->leading |= type >= 6 && type <= 9;
    info->needs_before |= type == 8 || type == 9;
    if (type == 20) /* IDR_N_LP */
        info->rap = RAP_CLOSED;
    else if (type >= 16 && type <= 21) /* BLA, IDR_W_RADL, CRA */
        info->rap = RAP_OPEN;
    info->closed |= type == 19 || type == 20;
}

/* Records the content of a NAL unit. `data` begins with its start code or length. */
static void scan_unit(enum bitstream kind, const uint8_t *data, struct nal nal, struct units *u,
                      struct packet_info *info)
{
    bool h264 = kind == STREAM_H264;
    int type = h264 ? nal.data[0] & 31 : nal.data[0] >> 1 & 63;
    bool set = h264 ? type == 7 || type == 8 : nal.size > 1 && type >= 32 && type <= 34;
    bool slice = h264 ? type >= 1 && type <= 5 : type < 32;
    if (h264)
        scan_h264_unit(&nal, u, info);
    else
        scan_hevc_unit(&nal, u, info);
    if (set && !info->sets)
        info->sets = data;
    if (set)
        info->sets_size = (size_t)(nal.data + nal.size - info->sets);
    /* Between start codes zeros are allowed, and muxers that replace these by lengths keep them. */
    size_t size = nal.size - nal_zeros_at_end(nal.data, nal.size);
    info->illegal_zeros |= slice && !info->illegal_zeros && has_unescaped_zeros(nal.data, size);
    info->zeroed |= has_zeroed_bytes(nal.data, size);
}

/* A packet without a picture must be complete units, with at most PADDING_MAX zeros behind. */
static void scan_units(enum bitstream kind, int length_size, const uint8_t *data, size_t size,
                       struct packet_info *info)
{
    size_t at = 0, head = length_size > 0 ? (size_t)length_size : 3;
    struct nal nal = {0};
    struct units u = {0};
    while (nal_next(length_size, data, size, &at, &nal)) {
        u.malformed |= nal.size == 0 || nal.data[0] & 0x80; /* forbidden_zero_bit */
        if (nal.size > 0)
            scan_unit(kind, nal.data - head, nal, &u, info);
    }
    bool complete =
        length_size > 0 ? at == size : nal_zeros_at_end(nal.data, nal.size) <= PADDING_MAX;
    info->unreadable = !info->picture && (u.malformed || !nal.data || !complete);
    info->droppable = info->picture && !u.referenced && !info->sets;
    if (kind != STREAM_H264)
        return;
    info->closed = u.idr;
    info->intra = info->picture && !u.inter;
    if (info->picture && u.idr)
        info->rap = RAP_CLOSED;
    else if (info->picture && u.recovery)
        info->rap = RAP_OPEN;
}

/*
 * Returns the row of macroblocks, from 1, of the last slice from `at` on, or -1 if a row before it
 * has none (H.262 6.1.2.2).
 */
static int count_slice_rows(const uint8_t *data, size_t at, size_t size)
{
    int rows = 0;
    for (; at + 4 <= size; at = nal_find_start(data, at + 3, size)) {
        int row = data[at + 3];
        if (row < 0x01 || row > 0xaf)
            break;
        if (row != rows && row != rows + 1)
            return -1;
        rows = row;
    }
    return rows;
}

static void scan_mpeg2(const uint8_t *data, size_t size, struct packet_info *info)
{
    bool gop = false, sequence = false, coded = false;
    size_t first = nal_find_start(data, 0, size);
    /* bytes before the first start code are the rest of another picture */
    bool astray = nal_zeros_at_end(data, first) < first;
    for (size_t at = first; at + 4 <= size; at = nal_find_start(data, at + 3, size)) {
        const uint8_t *p = data + at + 3;
        size_t left = size - at - 3;
        coded = true;
        if (info->sets && info->sets_size == 0 && p[0] != 0xb5) /* after the extensions */
            info->sets_size = (size_t)(data + at - info->sets);
        if (p[0] == 0xb8 && left >= 5) {
            gop = true;
            info->closed = p[4] >> 6 & 1;
            info->broken_link = p[4] >> 5 & 1;
        } else if (p[0] == 0xb3) {
            sequence = true;
            info->sets = info->sets ? info->sets : data + at;
        } else if (p[0] == 0x00 && left >= 3 && !info->picture) {
            int type = p[2] >> 3 & 7;
            info->picture = true;
            info->order = p[1] << 2 | p[2] >> 6;
            info->droppable = type == 3;
            info->rap = type == 1 && gop ? RAP_OPEN : RAP_NONE;
            info->intra = type == 1 && (gop || sequence);
        } else if (p[0] == 0xb5 && left >= 4 && p[1] >> 4 == 8) {
            info->field = (p[3] & 3) != 3;
        } else if (p[0] >= 0x01 && p[0] <= 0xaf) {
            info->unreadable = !info->picture || astray;
            info->slice_rows = count_slice_rows(data, at, size);
            return;
        }
    }
    if (info->sets && info->sets_size == 0)
        info->sets_size = (size_t)(data + size - info->sets);
    info->unreadable = info->picture || !coded || nal_zeros_at_end(data, size) > PADDING_MAX;
    if (info->picture) /* a picture must have a slice */
        *info = (struct packet_info){.shown = true, .order = -1, .unreadable = true};
}

/* The first partition must fit into the packet, and a key frame must have its start code. */
static void scan_vp8(const uint8_t *data, size_t size, struct packet_info *info)
{
    enum { KEY_HEAD = 10, HEAD = 3 };
    bool key = size >= HEAD && (data[0] & 1) == 0;
    size_t head = key ? KEY_HEAD : HEAD;
    size_t part = size >= HEAD ? (size_t)(data[0] | data[1] << 8 | data[2] << 16) >> 5 : 0;
    static const uint8_t start_code[] = {0x9d, 0x01, 0x2a};
    info->unreadable = size < head || part == 0 || part > size - head ||
                       (key && memcmp(data + HEAD, start_code, sizeof start_code) != 0);
    if (info->unreadable)
        return;
    info->picture = true;
    info->rap = key ? RAP_CLOSED : RAP_NONE;
    info->shown = data[0] >> 4 & 1;
}

/*
 * Scans a VP9 packet. A superframe (its last byte is a marker, after its index) always shows a
 * frame; otherwise the frame's header has show_frame. A hidden frame that ends in zeros is a
 * superframe whose index is missing, since hidden frames come in superframes.
 */
static void scan_vp9(const uint8_t *data, size_t size, struct packet_info *info)
{
    enum { INDEX_LEAST = 3, SYNC_CODE = 0x498342 };
    struct bit_reader r = {.data = data, .size = size, .bit = 2};
    info->unreadable = true;
    info->zeroed = has_zeroed_bytes(data, size);
    if (size < 1 || data[0] >> 6 != 2)
        return;
    if (nal_read_bits(&r, 2) == 3 && nal_read_bit(&r)) /* the profile, reserved_zero */
        return;
    if (nal_read_bit(&r)) { /* show_existing_frame */
        info->picture = true;
        info->unreadable = false;
        return;
    }
    bool inter = nal_read_bit(&r), shown = nal_read_bit(&r);
    nal_read_bit(&r); /* error_resilient_mode */
    if (!inter && nal_read_bits(&r, 24) != SYNC_CODE)
        return;
    bool superframe = (data[size - 1] & 0xe0) == 0xc0 && (data[size - 1] & 7) > 0;
    if (!shown && !superframe && nal_zeros_at_end(data, size) >= INDEX_LEAST)
        return;
    info->picture = true;
    info->unreadable = false;
    info->rap = inter ? RAP_NONE : RAP_CLOSED;
    info->shown = shown || superframe;
}

/* Reads the OBU at *at, and moves *at past it. Returns false at the end or if it is invalid. */
static bool next_obu(const uint8_t *data, size_t size, size_t *at, int *type, struct nal *payload)
{
    if (*at >= size || data[*at] & 0x81) /* obu_forbidden_bit, obu_reserved_1bit */
        return false;
    bool extended = data[*at] & 4, sized = data[*at] & 2;
    *type = data[*at] >> 3 & 15;
    size_t begin = *at + 1 + extended, length = 0;
    if (sized) {
        int shift = 0;
        bool more = true;
        for (; more && shift < 56 && begin < size; shift += 7, begin++) {
            length |= (size_t)(data[begin] & 127) << shift;
            more = data[begin] & 128;
        }
        if (more)
            return false;
    } else {
        length = begin <= size ? size - begin : 0;
    }
    if (begin > size || length > size - begin)
        return false;
    *payload = (struct nal){data + begin, length};
    *at = begin + length;
    return true;
}

/* Scans a temporal unit for frames that are shown. libavcodec's parser finds the key frames. */
static void scan_av1(const uint8_t *data, size_t size, struct packet_info *info)
{
    enum { SEQUENCE = 1, FRAME_HEADER = 3, TILES = 4, FRAME = 6, TILE_LIST = 8, PADDING = 15 };
    bool frames = false, shows = false, still = false, sense = size > 0;
    size_t at = 0;
    while (at < size && sense) {
        int type = 0;
        struct nal obu;
        sense = next_obu(data, size, &at, &type, &obu) && type > 0 &&
                (type <= TILE_LIST || type == PADDING);
        if (!sense)
            break;
        if (type == SEQUENCE && obu.size > 0)
            /* reduced_still_picture_header: there is no such flag, and the frame is shown */
            still |= (obu.data[0] & 0x08) != 0;
        if ((type == FRAME_HEADER || type == FRAME) && obu.size > 0) {
            frames = true;
            shows |= still || (obu.data[0] & 0x80) || (obu.data[0] & 0x10);
        }
        if (type == FRAME || type == TILES)
            info->zeroed |= has_zeroed_bytes(obu.data, obu.size);
    }
    info->picture = frames && (sense || shows);
    info->unreadable = !info->picture && !sense;
    info->shown = shows;
}

void packet_scan(enum bitstream kind, int length_size, const uint8_t *data, size_t size,
                 struct packet_info *info)
{
    *info = (struct packet_info){.shown = true, .order = -1};
    switch (kind) {
    case STREAM_H264:
    case STREAM_HEVC: scan_units(kind, length_size, data, size, info); break;
    case STREAM_MPEG2: scan_mpeg2(data, size, info); break;
    case STREAM_VP8: scan_vp8(data, size, info); break;
    case STREAM_VP9: scan_vp9(data, size, info); break;
    case STREAM_AV1: scan_av1(data, size, info); break;
    case STREAM_OTHER: info->picture = true; break;
    }
}

int nal_length_size(enum bitstream kind, const uint8_t *extradata, size_t size)
{
    if (kind == STREAM_H264 && size >= 7 && extradata[0] == 1)
        return (extradata[4] & 3) + 1;
    /* FFmpeg's check of hvcC against a start code: some writers leave its version byte 0. */
    if (kind == STREAM_HEVC && size >= 23 && (extradata[0] || extradata[1] || extradata[2] > 1))
        return (extradata[21] & 3) + 1;
    return 0;
}

/*
 * Begins the next list of units, each with two bytes of length. avcC (ISO/IEC 14496-15, 5.3.3.1.2):
 * 5 bytes, the number of SPS in 5 bits, the SPS, the number of PPS, the PPS. hvcC (8.3.3.1.2): 22
 * bytes, the number of lists; each list has a byte of type and two of number.
 */
static bool next_list(enum bitstream kind, const uint8_t *extradata, size_t size,
                      struct extradata_walk *w)
{
    enum { AVCC_HEAD = 5, HVCC_LISTS = 22 };
    bool avcc = kind == STREAM_H264;
    size_t head = avcc ? 1 : 3;
    if (w->at == 0)
        w->at = avcc ? AVCC_HEAD : HVCC_LISTS + 1;
    if (w->lists == (avcc ? 2 : extradata[HVCC_LISTS]) || w->at + head > size)
        return false;
    const uint8_t *p = extradata + w->at;
    if (avcc)
        w->nals = w->lists == 0 ? p[0] & 31 : p[0];
    else
        w->nals = p[1] << 8 | p[2];
    w->lists++;
    w->at += head;
    return true;
}

bool nal_next_of_extradata(enum bitstream kind, const uint8_t *extradata, size_t size,
                           struct extradata_walk *w, struct nal *nal)
{
    if (!w->begun)
        *w = (struct extradata_walk){.begun = true,
                                     .boxed = nal_length_size(kind, extradata, size) > 0};
    if (!w->boxed)
        return nal_next(0, extradata, size, &w->at, nal);
    while (w->nals-- <= 0 || !nal_next(2, extradata, size, &w->at, nal))
        if (!next_list(kind, extradata, size, w))
            return false;
    return true;
}

bool nal_extradata_has_output_flag(const uint8_t *extradata, size_t size)
{
    bool present = false;
    struct extradata_walk walk = {0};
    for (struct nal nal; nal_next_of_extradata(STREAM_HEVC, extradata, size, &walk, &nal);)
        present |= nal.size > 2 && hevc_layer(&nal) == 0 && (nal.data[0] >> 1 & 63) == 34 &&
                   pps_has_output_flag(&nal);
    return present;
}

/* Returns true if an SEI unit, of HEVC's base layer or of H.264, has a display orientation. */
static bool sei_has_orientation(enum bitstream kind, const struct nal *nal)
{
    enum { DISPLAY_ORIENTATION = 47, H264_SEI = 6, HEVC_PREFIX_SEI = 39 };
    uint8_t sei[4096];
    struct nal message;
    size_t head = kind == STREAM_H264 ? 1 : 2;
    bool is_sei = kind == STREAM_H264
                      ? (nal->data[0] & 31) == H264_SEI
                      : nal->size > head && (nal->data[0] >> 1 & 63) == HEVC_PREFIX_SEI &&
                            hevc_layer(nal) == 0;
    if (!is_sei)
        return false;
    size_t size = nal_unescape(nal, sei, sizeof sei);
    return find_sei(sei, size, head, DISPLAY_ORIENTATION, &message);
}

bool nal_has_orientation(enum bitstream kind, const uint8_t *extradata, size_t extradata_size,
                         const uint8_t *data, size_t size)
{
    struct nal nal;
    struct extradata_walk walk = {0};
    while (kind == STREAM_HEVC &&
           nal_next_of_extradata(kind, extradata, extradata_size, &walk, &nal))
        if (nal.size > 0 && sei_has_orientation(kind, &nal))
            return true;
    int length_size = nal_length_size(kind, extradata, extradata_size);
    for (size_t at = 0; nal_next(length_size, data, size, &at, &nal);)
        if (nal.size > 0 && sei_has_orientation(kind, &nal))
            return true;
    return false;
}
