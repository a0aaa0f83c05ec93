#include "display_orientation.h"

#include "nal_reader.h"

static bool parse_message(const uint8_t *message, size_t size, struct display_orientation *o)
{
    struct bit_reader r = {.data = message, .size = size};
    if (size < 3 || read_bit(&r)) /* display_orientation_cancel_flag */
        return false;
    o->hor_flip = read_bit(&r);
    o->ver_flip = read_bit(&r);
    o->anticlockwise = (uint16_t)read_bits(&r, 16);
    return true;
}

/* Reads the message from an SEI unit whose header has `head` bytes. */
static bool parse_sei(const struct nal *nal, size_t head, struct display_orientation *o)
{
    enum { DISPLAY_ORIENTATION = 47 };
    uint8_t sei[4096];
    size_t size = unescape_unit(nal, sei, sizeof sei), at = head;
    while (at + 2 < size) {
        size_t type = read_sei_number(sei, size, &at), length = read_sei_number(sei, size, &at);
        if (length > size - at)
            return false;
        if (type == DISPLAY_ORIENTATION)
            return parse_message(sei + at, length, o);
        at += length;
    }
    return false;
}

/* Returns true for a unit of HEVC's base layer. */
static bool is_base_layer(const struct nal *nal)
{
    return nal->size > 2 && ((nal->data[0] & 1) << 5 | nal->data[1] >> 3) == 0;
}

static bool parse_unit(enum bitstream kind, const struct nal *nal, struct display_orientation *o)
{
    enum { H264_SEI = 6, HEVC_PREFIX_SEI = 39 };
    if (kind == STREAM_H264)
        return (nal->data[0] & 31) == H264_SEI && parse_sei(nal, 1, o);
    return (nal->data[0] >> 1 & 63) == HEVC_PREFIX_SEI && is_base_layer(nal) &&
           parse_sei(nal, 2, o);
}

static bool is_slice(enum bitstream kind, const struct nal *nal)
{
    int type = kind == STREAM_H264 ? nal->data[0] & 31 : nal->data[0] >> 1 & 63;
    return kind == STREAM_H264 ? type >= 1 && type <= 5 : type < 32;
}

bool nal_display_orientation(enum bitstream kind, int length_size, const uint8_t *data, size_t size,
                             struct display_orientation *o)
{
    size_t at = 0;
    struct nal nal;
    while (next_nal(length_size, data, size, &at, &nal)) {
        if (nal.size == 0)
            continue;
        if (is_slice(kind, &nal))
            return false;
        if (parse_unit(kind, &nal, o))
            return true;
    }
    return false;
}

bool nal_extradata_display_orientation(const uint8_t *extradata, size_t size,
                                       struct display_orientation *o)
{
    struct extradata_walk walk = {0};
    for (struct nal nal; nal_next_of_extradata(STREAM_HEVC, extradata, size, &walk, &nal);)
        if (nal.size > 0 && parse_unit(STREAM_HEVC, &nal, o))
            return true;
    return false;
}
