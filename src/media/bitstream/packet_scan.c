#include "packet_scan.h"

#include "nal_reader.h"

/* True when an H.264 SEI NAL holds a recovery point with recovery_frame_cnt 0. */
static bool sei_recovers_at_once(const struct nal *nal)
{
    uint8_t sei[1024];
    size_t size = unescape(nal, sei, sizeof sei), at = 1;
    while (at + 2 < size) {
        size_t type = read_sei_number(sei, size, &at), length = read_sei_number(sei, size, &at);
        if (length > size - at)
            return false;
        if (type == 6 && length > 0)
            return read_ue(&(struct bit_reader){.data = sei + at, .size = length}) == 0;
        at += length;
    }
    return false;
}

/* So many zeros may follow a packet's last unit, for alignment; more are missing data. */
enum { PADDING_MOST = 64 };

size_t nal_zeros_at_end(const uint8_t *data, size_t size)
{
    size_t zeros = 0;
    while (zeros < size && data[size - 1 - zeros] == 0)
        zeros++;
    return zeros;
}

/*
 * Returns true if the whole packet consists of NAL units, none of them empty. Zeros in the place of
 * missing data are no NAL units. After the last unit, up to PADDING_MOST zeros are allowed.
 */
static bool well_formed(int length_size, const uint8_t *data, size_t size)
{
    size_t at = 0, nals = 0;
    struct nal nal = {0};
    while (next_nal(length_size, data, size, &at, &nal)) {
        if (nal.size == 0 || nal.data[0] & 0x80) /* forbidden_zero_bit */
            return false;
        nals++;
    }
    if (length_size > 0)
        return nals > 0 && at == size;
    return nals > 0 && nal_zeros_at_end(nal.data, nal.size) <= PADDING_MOST;
}

/* H.264 slice_type 2 and 7: I. */
static bool slice_is_intra(const struct nal *nal)
{
    uint8_t head[32];
    struct bit_reader r = {.data = head, .size = unescape(nal, head, sizeof head), .bit = 8};
    read_ue(&r); /* first_mb_in_slice */
    uint32_t type = read_ue(&r);
    return type == 2 || type == 7;
}

static void scan_h264(int length_size, const uint8_t *data, size_t size, struct nal_info *info)
{
    bool idr = false, recovery = false, referenced = false, sets = false, intra = true;
    struct nal nal;
    for (size_t at = 0; next_nal(length_size, data, size, &at, &nal);) {
        if (nal.size == 0)
            continue;
        int type = nal.data[0] & 31, ref_idc = nal.data[0] >> 5 & 3;
        if (type >= 1 && type <= 5) {
            info->picture = true;
            idr |= type == 5;
            referenced |= ref_idc != 0;
            intra &= type == 5 || slice_is_intra(&nal);
        } else if (type == 6) {
            recovery |= sei_recovers_at_once(&nal);
        } else {
            sets |= type == 7 || type == 8;
        }
    }
    info->rap = !info->picture ? RAP_NONE : idr ? RAP_CLOSED : recovery ? RAP_OPEN : RAP_NONE;
    info->closed = idr;
    info->intra = info->picture && intra;
    info->droppable = info->picture && !referenced && !sets;
    info->headers = sets;
    info->unreadable = !info->picture && !well_formed(length_size, data, size);
}

/* Returns output_flag_present_flag of an HEVC PPS (7.3.2.3.1): slices may have pic_output_flag. */
static bool pps_has_output_flag(const struct nal *nal)
{
    uint8_t pps[64];
    struct bit_reader r = {.data = pps, .size = unescape(nal, pps, sizeof pps), .bit = 16};
    skip_ue(&r, 2); /* its id, the SPS's id, dependent_slice_segments_enabled_flag */
    read_bit(&r);
    return read_bit(&r);
}

/* nuh_layer_id, of a unit of two bytes at least. */
static int hevc_layer(const struct nal *nal) { return (nal->data[0] & 1) << 5 | nal->data[1] >> 3; }

/* What makes an HEVC decoder put out fewer pictures than there are. */
static void note_hidden(int type, const struct nal *nal, struct nal_info *info)
{
    info->output_flag_present |= type == 34 && pps_has_output_flag(nal);
    if (type == 36 || type == 37) /* end of sequence, of bitstream */
        *(info->picture ? &info->ends : &info->after_end) = true;
    info->broken_link |= type >= 16 && type <= 18;
    /* no_output_of_prior_pics_flag, after first_slice_segment_in_pic_flag */
    info->discards |= type >= 16 && type <= 20 && nal->size > 2 && nal->data[2] >> 6 & 1;
}

static void scan_hevc(int length_size, const uint8_t *data, size_t size, struct nal_info *info)
{
    bool referenced = false, sets = false;
    struct nal nal;
    for (size_t at = 0; next_nal(length_size, data, size, &at, &nal);) {
        if (nal.size < 2)
            continue;
        int type = nal.data[0] >> 1 & 63;
        sets |= type >= 32 && type <= 34;
        if (hevc_layer(&nal) != 0)
            continue;
        note_hidden(type, &nal, info);
        if (type > 31)
            continue;
        info->picture = true;
        info->temporal_id = (nal.data[1] & 7) > 0 ? (nal.data[1] & 7) - 1 : 0;
        referenced |= type >= 16 || type % 2 == 1;
        info->leading |= type >= 6 && type <= 9;
        info->needs_before |= type == 8 || type == 9;
        if (type == 20) /* IDR_N_LP */
            info->rap = RAP_CLOSED;
        else if (type >= 16 && type <= 21) /* BLA, IDR_W_RADL, CRA */
            info->rap = RAP_OPEN;
        info->closed |= type == 19 || type == 20;
    }
    info->droppable = info->picture && !referenced && !sets;
    info->headers = sets;
    info->unreadable = !info->picture && !well_formed(length_size, data, size);
}

static void scan_mpeg2(const uint8_t *data, size_t size, struct nal_info *info)
{
    bool gop = false, sequence = false, coded = false;
    size_t first = find_start(data, 0, size);
    /* Bytes before the first start code are the rest of another picture. */
    bool astray = nal_zeros_at_end(data, first) < first;
    for (size_t at = first; at + 4 <= size; at = find_start(data, at + 3, size)) {
        const uint8_t *p = data + at + 3;
        size_t left = size - at - 3;
        coded = true;
        if (p[0] == 0xb8 && left >= 5) {
            gop = true;
            info->closed = p[4] >> 6 & 1;
            info->broken_link = p[4] >> 5 & 1;
        } else if (p[0] == 0xb3) {
            sequence = info->headers = true;
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
            return; /* slices: nothing more of interest */
        }
    }
    info->unreadable = info->picture || !coded || nal_zeros_at_end(data, size) > PADDING_MOST;
    if (info->picture) /* without a slice there is none */
        *info = (struct nal_info){.shown = true, .order = -1, .unreadable = true};
}

/* The first partition fits into the packet, and a key says its start code. */
static void scan_vp8(const uint8_t *data, size_t size, struct nal_info *info)
{
    enum { KEY_HEAD = 10, HEAD = 3 };
    bool key = size >= HEAD && (data[0] & 1) == 0;
    size_t head = key ? KEY_HEAD : HEAD;
    size_t part = size >= HEAD ? (size_t)(data[0] | data[1] << 8 | data[2] << 16) >> 5 : 0;
    info->unreadable = size < head || part == 0 || part > size - head ||
                       (key && (data[3] != 0x9d || data[4] != 0x01 || data[5] != 0x2a));
    if (info->unreadable)
        return;
    info->picture = true;
    info->rap = key ? RAP_CLOSED : RAP_NONE;
    info->shown = data[0] >> 4 & 1;
}

/*
 * A superframe (the last byte is a marker, and its index lies before that) always shows one frame;
 * else the frame's own header says. One that is not shown and ends in zeros is a superframe whose
 * index is gone: frames of which nothing shows travel in these.
 */
static void scan_vp9(const uint8_t *data, size_t size, struct nal_info *info)
{
    enum { INDEX_LEAST = 3, SYNC_CODE = 0x498342 };
    struct bit_reader r = {.data = data, .size = size, .bit = 2};
    info->unreadable = true;
    if (size < 1 || data[0] >> 6 != 2)
        return;
    if (read_bits(&r, 2) == 3 && read_bit(&r)) /* the profile, reserved_zero */
        return;
    if (read_bit(&r)) { /* show_existing_frame */
        info->picture = true;
        info->unreadable = false;
        return;
    }
    bool inter = read_bit(&r), shown = read_bit(&r);
    read_bit(&r); /* error_resilient_mode */
    if (!inter && read_bits(&r, 24) != SYNC_CODE)
        return;
    bool superframe = (data[size - 1] & 0xe0) == 0xc0 && (data[size - 1] & 7) > 0;
    if (!shown && !superframe && nal_zeros_at_end(data, size) >= INDEX_LEAST)
        return;
    info->picture = true;
    info->unreadable = false;
    info->rap = inter ? RAP_NONE : RAP_CLOSED;
    info->shown = shown || superframe;
}

/* An OBU's payload at *at, which moves past it; `type` is obu_type. False at the end, or where it
 * makes no sense. */
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

/* A temporal unit: what its frame headers say of being shown. Its keys are libav's parser's to
 * find. */
static void scan_av1(const uint8_t *data, size_t size, struct nal_info *info)
{
    enum { SEQUENCE = 1, FRAME_HEADER = 3, FRAME = 6, REDUNDANT = 7, TILE_LIST = 8, PADDING = 15 };
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
            /* reduced_still_picture_header: no such flags, it is shown */
            still |= (obu.data[0] & 0x08) != 0;
        if ((type == FRAME_HEADER || type == FRAME) && obu.size > 0) {
            frames = true;
            shows |= still || (obu.data[0] & 0x80) || (obu.data[0] & 0x10);
        }
    }
    info->picture = frames && (sense || shows);
    info->unreadable = !info->picture && !sense;
    info->shown = shows;
}

void nal_scan(enum bitstream kind, int length_size, const uint8_t *data, size_t size,
              struct nal_info *info)
{
    *info = (struct nal_info){.shown = true, .order = -1};
    switch (kind) {
    case STREAM_H264: scan_h264(length_size, data, size, info); break;
    case STREAM_HEVC: scan_hevc(length_size, data, size, info); break;
    case STREAM_MPEG2: scan_mpeg2(data, size, info); break;
    case STREAM_VP8: scan_vp8(data, size, info); break;
    case STREAM_VP9: scan_vp9(data, size, info); break;
    case STREAM_AV1: scan_av1(data, size, info); break;
    case STREAM_OTHER: info->picture = true; break;
    }
}

static bool unescaped_zeros(const uint8_t *data, size_t size)
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

bool nal_has_illegal_zeros(enum bitstream kind, int length_size, const uint8_t *data, size_t size)
{
    struct nal nal;
    if (kind != STREAM_H264 && kind != STREAM_HEVC)
        return false;
    for (size_t at = 0; next_nal(length_size, data, size, &at, &nal);) {
        /* Between start codes they are allowed, and muxers that replace the codes by lengths keep
         * them. */
        nal.size -= nal_zeros_at_end(nal.data, nal.size);
        if (nal.size == 0)
            continue;
        int type = kind == STREAM_H264 ? nal.data[0] & 31 : nal.data[0] >> 1 & 63;
        bool slice = kind == STREAM_H264 ? type >= 1 && type <= 5 : type < 32;
        if (slice && unescaped_zeros(nal.data, nal.size))
            return true;
    }
    return false;
}

static bool zeros_in(const uint8_t *data, size_t size)
{
    for (size_t at = NAL_ZEROS / 2; at < size; at += NAL_ZEROS / 2) {
        size_t first = at, end = at;
        while (data[at] == 0 && first > 0 && data[first - 1] == 0 && at - first < NAL_ZEROS)
            first--;
        while (end < size && data[end] == 0 && end - first < NAL_ZEROS)
            end++;
        if (end - first >= NAL_ZEROS)
            return true;
    }
    return false;
}

bool nal_zeroed(enum bitstream kind, int length_size, const uint8_t *data, size_t size)
{
    enum { OBU_FRAME = 6, OBU_TILES = 4 };
    struct nal nal;
    int type = 0;
    size_t at = 0;
    if (kind == STREAM_VP9)
        return zeros_in(data, size);
    if (kind == STREAM_AV1) {
        while (next_obu(data, size, &at, &type, &nal))
            if ((type == OBU_FRAME || type == OBU_TILES) && zeros_in(nal.data, nal.size))
                return true;
        return false;
    }
    if (kind != STREAM_H264 && kind != STREAM_HEVC)
        return false;
    while (next_nal(length_size, data, size, &at, &nal)) {
        nal.size -= nal_zeros_at_end(nal.data, nal.size);
        if (zeros_in(nal.data, nal.size))
            return true;
    }
    return false;
}

int nal_length_size(enum bitstream kind, const uint8_t *extradata, size_t size)
{
    if (kind == STREAM_H264 && size >= 7 && extradata[0] == 1)
        return (extradata[4] & 3) + 1;
    /* hvcC starts with a version byte; some writers leave it 0, so FFmpeg's own test is used: not a
     * start code. */
    if (kind == STREAM_HEVC && size >= 23 && (extradata[0] || extradata[1] || extradata[2] > 1))
        return (extradata[21] & 3) + 1;
    return 0;
}

/*
 * The head of the next list of units, which each have two bytes of length. avcC (ISO/IEC
 * 14496-15, 5.3.3.1.2): 5 bytes, the number of SPS in 5 bits, these, the number of PPS, these. hvcC
 * (8.3.3.1.2): 22 bytes, the number of lists; each has a byte of type and two of number.
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
    w->nals = !avcc ? p[1] << 8 | p[2] : p[0] & (w->lists == 0 ? 31 : 255);
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
        return next_nal(0, extradata, size, &w->at, nal);
    while (w->nals-- <= 0 || !next_nal(2, extradata, size, &w->at, nal))
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
