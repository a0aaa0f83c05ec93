#include "nal.h"

#include "nal_read.h"

/* True when an H.264 SEI NAL holds a recovery point with recovery_frame_cnt 0. */
static bool sei_recovers_at_once(const struct nal *nal)
{
    uint8_t sei[1024];
    size_t size = unescape(nal, sei, sizeof sei), at = 1, bit = 0;
    while (at + 2 < size) {
        unsigned type = 0, length = 0;
        while (at < size && sei[at] == 0xff)
            type += sei[at++];
        if (at < size)
            type += sei[at++];
        while (at < size && sei[at] == 0xff)
            length += sei[at++];
        if (at < size)
            length += sei[at++];
        if (length > size - at)
            return false;
        if (type == 6 && length > 0)
            return read_ue(sei + at, length, &bit) == 0;
        at += length;
    }
    return false;
}

static void scan_h264(int length_size, const uint8_t *data, size_t size, struct nal_info *info)
{
    bool idr = false, recovery = false, referenced = false, sets = false;
    struct nal nal;
    for (size_t at = 0; next_nal(length_size, data, size, &at, &nal);) {
        if (nal.size == 0)
            continue;
        int type = nal.data[0] & 31, ref_idc = nal.data[0] >> 5 & 3;
        if (type >= 1 && type <= 5) {
            info->picture = true;
            idr |= type == 5;
            referenced |= ref_idc != 0;
        } else if (type == 6) {
            recovery |= sei_recovers_at_once(&nal);
        } else {
            sets |= type == 7 || type == 8;
        }
    }
    info->cut = !info->picture ? CUT_NONE : idr ? CUT_CLEAN : recovery ? CUT_OPEN : CUT_NONE;
    info->closed = idr;
    info->droppable = info->picture && !referenced && !sets;
}

/* True when an HEVC PPS lets pictures say that they are not to be displayed (7.3.2.3.1: output_flag_present_flag). */
static bool pps_hides(const struct nal *nal)
{
    uint8_t pps[64];
    size_t size = unescape(nal, pps, sizeof pps), bit = 16;
    read_ue(pps, size, &bit);                 /* its id, the SPS's id, dependent_slice_segments_enabled_flag */
    read_ue(pps, size, &bit);
    read_bit(pps, size, &bit);
    return read_bit(pps, size, &bit);
}

/* What makes an HEVC decoder put out fewer pictures than there are. */
static void note_hidden(int type, const struct nal *nal, struct nal_info *info)
{
    info->hides |= type == 34 && pps_hides(nal);
    if (type == 36 || type == 37)             /* end of sequence, of bitstream */
        *(info->picture ? &info->ends : &info->after_end) = true;
    info->broken_link |= type >= 16 && type <= 18;
    /* no_output_of_prior_pics_flag, behind first_slice_segment_in_pic_flag */
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
        int layer = (nal.data[0] & 1) << 5 | nal.data[1] >> 3;
        sets |= type >= 32 && type <= 34;
        if (layer != 0)
            continue;
        note_hidden(type, &nal, info);
        if (type > 31)
            continue;
        info->picture = true;
        info->temporal_id = (nal.data[1] & 7) > 0 ? (nal.data[1] & 7) - 1 : 0;
        referenced |= type >= 16 || type % 2 == 1;
        info->leading |= type >= 6 && type <= 9;
        info->needs_before |= type == 8 || type == 9;
        if (type == 20)                       /* IDR_N_LP */
            info->cut = CUT_CLEAN;
        else if (type >= 16 && type <= 21)    /* BLA, IDR_W_RADL, CRA */
            info->cut = CUT_OPEN;
        info->closed |= type == 19 || type == 20;
    }
    info->droppable = info->picture && !referenced && !sets;
}

static void scan_mpeg2(const uint8_t *data, size_t size, struct nal_info *info)
{
    bool gop = false;
    for (size_t at = find_start(data, 0, size); at + 4 <= size; at = find_start(data, at + 3, size)) {
        const uint8_t *p = data + at + 3;
        size_t left = size - at - 3;
        if (p[0] == 0xb8 && left >= 5) {
            gop = true;
            info->closed = p[4] >> 6 & 1;
        } else if (p[0] == 0x00 && left >= 3 && !info->picture) {
            int type = p[2] >> 3 & 7;
            info->picture = true;
            info->order = p[1] << 2 | p[2] >> 6;
            info->droppable = type == 3;
            info->cut = type == 1 && gop ? CUT_OPEN : CUT_NONE;
        } else if (p[0] == 0xb5 && left >= 4 && p[1] >> 4 == 8) {
            info->field = (p[3] & 3) != 3;
        } else if (p[0] >= 0x01 && p[0] <= 0xaf) {
            return;                           /* slices: nothing more of interest */
        }
    }
}

static void scan_vp8(const uint8_t *data, size_t size, struct nal_info *info)
{
    if (size < 3)
        return;
    info->picture = true;
    info->cut = (data[0] & 1) == 0 ? CUT_CLEAN : CUT_NONE;
    info->shown = data[0] >> 4 & 1;
}

/* A superframe (its index is behind a marker in the last byte) always shows one frame; else the frame's own header says. */
static void scan_vp9(const uint8_t *data, size_t size, struct nal_info *info)
{
    if (size < 1 || data[0] >> 6 != 2)
        return;
    info->picture = true;
    size_t bit = 2;
    int profile = read_bit(data, size, &bit);
    profile |= read_bit(data, size, &bit) << 1;
    if (profile == 3)
        read_bit(data, size, &bit);
    if (read_bit(data, size, &bit))           /* show_existing_frame */
        return;
    bool inter = read_bit(data, size, &bit);
    bool shown = read_bit(data, size, &bit);
    info->cut = inter ? CUT_NONE : CUT_CLEAN;
    bool superframe = (data[size - 1] & 0xe0) == 0xc0 && (data[size - 1] & 7) > 0;
    info->shown = shown || superframe;
}

void nal_scan(enum bitstream kind, int length_size, const uint8_t *data, size_t size, struct nal_info *info)
{
    *info = (struct nal_info){.shown = true, .order = -1};
    switch (kind) {
    case STREAM_H264:
        scan_h264(length_size, data, size, info);
        break;
    case STREAM_HEVC:
        scan_hevc(length_size, data, size, info);
        break;
    case STREAM_MPEG2:
        scan_mpeg2(data, size, info);
        break;
    case STREAM_VP8:
        scan_vp8(data, size, info);
        break;
    case STREAM_VP9:
        scan_vp9(data, size, info);
        break;
    case STREAM_AV1:
    case STREAM_OTHER:
        info->picture = true;
        break;
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

bool nal_has_hole(enum bitstream kind, int length_size, const uint8_t *data, size_t size)
{
    struct nal nal;
    if (kind != STREAM_H264 && kind != STREAM_HEVC)
        return false;
    for (size_t at = 0; next_nal(length_size, data, size, &at, &nal);) {
        /* Between start codes they are allowed, and muxers that replace the codes by lengths keep them. */
        while (nal.size > 0 && nal.data[nal.size - 1] == 0)
            nal.size--;
        if (nal.size == 0)
            continue;
        int type = kind == STREAM_H264 ? nal.data[0] & 31 : nal.data[0] >> 1 & 63;
        bool slice = kind == STREAM_H264 ? type >= 1 && type <= 5 : type < 32;
        if (slice && unescaped_zeros(nal.data, nal.size))
            return true;
    }
    return false;
}

int nal_length_size(enum bitstream kind, const uint8_t *extradata, size_t size)
{
    if (kind == STREAM_H264 && size >= 7 && extradata[0] == 1)
        return (extradata[4] & 3) + 1;
    /* hvcC starts with a version byte; some writers leave it 0, so FFmpeg's own test is used: not a start code. */
    if (kind == STREAM_HEVC && size >= 23 && (extradata[0] || extradata[1] || extradata[2] > 1))
        return (extradata[21] & 3) + 1;
    return 0;
}

bool nal_extradata_hides(const uint8_t *extradata, size_t size)
{
    struct nal_info info = {.shown = true};
    if (nal_length_size(STREAM_HEVC, extradata, size) == 0) {
        scan_hevc(0, extradata, size, &info);
        return info.hides;
    }
    /* hvcC: 22 bytes, the number of arrays; each has a byte of type, a number of NALs, and each of these two bytes of length. */
    size_t at = 23;
    for (int arrays = extradata[22]; arrays > 0 && at + 3 <= size; arrays--) {
        int count = extradata[at + 1] << 8 | extradata[at + 2];
        at += 3;
        for (struct nal nal; count > 0 && next_nal(2, extradata, size, &at, &nal); count--)
            info.hides |= nal.size > 2 && (nal.data[0] >> 1 & 63) == 34 && pps_hides(&nal);
    }
    return info.hides;
}
