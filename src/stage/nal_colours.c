/*
 * nal_colours.c - which pictures' own headers tell matrix and range (nal.h).
 */
#include "nal.h"
#include "nal_read.h"
#include "nal_sets.h"

/* From behind frame_mbs_only_flag to the VUI, 7.3.2.1.1. False: there is none. */
static bool find_vui(struct bit_reader *r, bool frames)
{
    if (!frames)                              /* mb_adaptive_frame_field_flag */
        read_bit(r);
    read_bit(r);                              /* direct_8x8_inference_flag */
    skip_ue(r, read_bit(r) ? 4 : 0);          /* the crop */
    return read_bit(r);
}

static void note_sps(struct bit_reader *r, struct nal_colours *c)
{
    struct nal_sps sps;
    uint32_t id = read_ue(r);
    if (r->size < 5 || id > 31)
        return;
    nal_sets_read_sps(r, &sps);
    bool range = false, matrix = false;
    if (find_vui(r, sps.frames)) {
        if (read_bit(r) && read_bits(r, 8) == 255)      /* the shape of a pixel */
            r->bit += 32;
        if (read_bit(r))                      /* overscan */
            read_bit(r);
        range = read_bit(r);                  /* video_signal_type_present_flag */
        r->bit += range ? 4 : 0;
        matrix = range && read_bit(r);
    }
    uint32_t mine = UINT32_C(1) << id;
    c->sets |= mine;
    c->no_range = range ? c->no_range & ~mine : c->no_range | mine;
    c->no_matrix = matrix ? c->no_matrix & ~mine : c->no_matrix | mine;
}

static void note_h264(const struct nal *nal, struct nal_colours *c)
{
    enum { SPS = 7, PPS = 8, HEAD = 32 };
    int type = nal->size > 0 ? nal->data[0] & 31 : 0;
    struct nal head = {nal->data, type != SPS && nal->size > HEAD ? HEAD : nal->size};
    uint8_t bytes[1024];
    struct bit_reader r = {.data = bytes, .size = unescape(&head, bytes, sizeof bytes), .bit = type == SPS ? 32 : 8};
    if (type == SPS) {
        note_sps(&r, c);
    } else if (type == PPS) {
        uint32_t pps = read_ue(&r), sps = read_ue(&r);
        if (pps < 256 && sps < 32)
            c->set_of[pps] = (uint8_t)(sps + 1);
    } else if (type == 1 || type == 5) {
        skip_ue(&r, 2);                       /* the first macroblock, the type of slice */
        uint32_t pps = read_ue(&r);
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
    struct extradata_walk walk = {0};
    struct nal nal;
    if (kind == STREAM_MPEG2)
        note_mpeg2(extradata, size, c);
    while (kind == STREAM_H264 && nal_next_of_extradata(kind, extradata, size, &walk, &nal))
        note_h264(&nal, c);
}
