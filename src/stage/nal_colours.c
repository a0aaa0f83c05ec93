/*
 * nal_colours.c - which pictures' own headers tell matrix and range (nal.h).
 */
#include "nal.h"
#include "nal_read.h"

/* 7.3.2.1.1.1: lists are coded as differences, and one that brings 0 ends its list. */
static void skip_scaling_lists(const uint8_t *data, size_t size, size_t *bit, int lists)
{
    for (int i = 0; i < lists; i++) {
        if (!read_bit(data, size, bit))
            continue;
        int64_t last = 8, next = 8;
        for (int j = 0; j < (i < 6 ? 16 : 64) && next != 0; j++) {
            int64_t code = read_ue(data, size, bit);
            next = (last + (code & 1 ? (code + 1) / 2 : -code / 2)) & 255;
            last = next ? next : last;
        }
    }
}

bool nal_skip_high_profile(const uint8_t *sps, size_t size, size_t *bit, int profile)
{
    static const uint8_t high[] = {100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135};
    if (!memchr(high, profile, sizeof high))
        return false;
    uint32_t chroma = read_ue(sps, size, bit);
    bool planes = chroma == 3 && read_bit(sps, size, bit);
    read_ue(sps, size, bit);                  /* the two depths, lossless */
    read_ue(sps, size, bit);
    read_bit(sps, size, bit);
    if (read_bit(sps, size, bit))
        skip_scaling_lists(sps, size, bit, chroma == 3 ? 12 : 8);
    return planes;
}

/* From there to the VUI, 7.3.2.1.1. False: there is none. */
static bool find_vui(const uint8_t *sps, size_t size, size_t *bit)
{
    read_ue(sps, size, bit);                  /* log2_max_frame_num */
    uint32_t order = read_ue(sps, size, bit);
    if (order == 0) {
        read_ue(sps, size, bit);
    } else if (order == 1) {
        read_bit(sps, size, bit);
        read_ue(sps, size, bit);              /* se(v) is as long as ue(v) */
        read_ue(sps, size, bit);
        for (uint32_t n = read_ue(sps, size, bit); n > 0 && *bit < size * 8; n--)
            read_ue(sps, size, bit);
    }
    read_ue(sps, size, bit);                  /* references, gaps, width, height */
    read_bit(sps, size, bit);
    read_ue(sps, size, bit);
    read_ue(sps, size, bit);
    if (!read_bit(sps, size, bit))            /* frames alone, else also: adaptive */
        read_bit(sps, size, bit);
    read_bit(sps, size, bit);
    if (read_bit(sps, size, bit))             /* the crop */
        for (int i = 0; i < 4; i++)
            read_ue(sps, size, bit);
    return read_bit(sps, size, bit);
}

static void note_sps(const struct nal *nal, struct nal_colours *c)
{
    uint8_t sps[1024];
    size_t size = unescape(nal, sps, sizeof sps), bit = 32;
    if (size < 5)
        return;
    uint32_t id = read_ue(sps, size, &bit);
    if (id > 31)
        return;
    nal_skip_high_profile(sps, size, &bit, sps[1]);
    bool range = false, matrix = false;
    if (find_vui(sps, size, &bit)) {
        if (read_bit(sps, size, &bit) && read_bits(sps, size, &bit, 8) == 255)      /* the shape of a pixel */
            bit += 32;
        if (read_bit(sps, size, &bit))        /* overscan */
            read_bit(sps, size, &bit);
        range = read_bit(sps, size, &bit);    /* video_signal_type_present_flag */
        bit += range ? 4 : 0;
        matrix = range && read_bit(sps, size, &bit);
    }
    uint32_t mine = UINT32_C(1) << id;
    c->sets |= mine;
    c->no_range = range ? c->no_range & ~mine : c->no_range | mine;
    c->no_matrix = matrix ? c->no_matrix & ~mine : c->no_matrix | mine;
}

static void note_h264(const struct nal *nal, struct nal_colours *c)
{
    int type = nal->size > 0 ? nal->data[0] & 31 : 0;
    struct nal head = {nal->data, nal->size < 32 ? nal->size : 32};
    uint8_t bytes[32];
    size_t size = unescape(&head, bytes, sizeof bytes), bit = 8;
    if (type == 7) {
        note_sps(nal, c);
    } else if (type == 8) {
        uint32_t pps = read_ue(bytes, size, &bit), sps = read_ue(bytes, size, &bit);
        if (pps < 256 && sps < 32)
            c->set_of[pps] = (uint8_t)(sps + 1);
    } else if (type == 1 || type == 5) {
        read_ue(bytes, size, &bit);           /* the first macroblock, the type of slice */
        read_ue(bytes, size, &bit);
        uint32_t pps = read_ue(bytes, size, &bit);
        uint32_t mine = pps < 256 && c->set_of[pps] ? UINT32_C(1) << (c->set_of[pps] - 1) & c->sets : 0;
        c->unsaid.matrix = c->no_matrix & mine;
        c->unsaid.range = c->no_range & mine;
    }
}

/* MPEG-2's decoder takes every film for limited range: a sequence can only leave its matrix unsaid. */
static void note_mpeg2(const uint8_t *data, size_t size, struct nal_colours *c)
{
    for (size_t at = find_start(data, 0, size); at + 5 <= size; at = find_start(data, at + 3, size)) {
        const uint8_t *p = data + at + 3;
        if (p[0] == 0xb3)
            c->unsaid.matrix = true;
        else if (p[0] == 0xb5 && p[1] >> 4 == 2 && p[1] & 1)      /* sequence_display_extension, colour_description */
            c->unsaid.matrix = false;
        else if (p[0] >= 0x01 && p[0] <= 0xaf)
            return;
    }
}

void nal_scan_colours(enum bitstream kind, int length_size, const uint8_t *data, size_t size, struct nal_colours *c)
{
    struct nal nal;
    if (kind == STREAM_MPEG2)
        note_mpeg2(data, size, c);
    if (kind == STREAM_H264)
        for (size_t at = 0; next_nal(length_size, data, size, &at, &nal);)
            note_h264(&nal, c);
}

void nal_extradata_colours(enum bitstream kind, const uint8_t *extradata, size_t size, struct nal_colours *c)
{
    if (kind != STREAM_H264 || nal_length_size(kind, extradata, size) == 0) {
        nal_scan_colours(kind, 0, extradata, size, c);
        return;
    }
    struct avcc_walk walk = {0};
    for (struct nal nal; next_avcc_nal(extradata, size, &walk, &nal);)
        note_h264(&nal, c);
}
