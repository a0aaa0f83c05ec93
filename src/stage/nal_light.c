/*
 * nal_light.c - HEVC's SEI messages on light (nal.h).
 */
#include "nal.h"
#include "nal_read.h"

enum { PREFIX_SEI = 39, MASTERING_DISPLAY = 137, CONTENT_LIGHT = 144 };

/* D.2.28: eight chromaticities of two bytes, then the most and the least light in 1 / 10,000 cd/m2. D.2.35: the most in cd/m2. */
static void note_sei(const struct nal *nal, struct nal_light *light)
{
    uint8_t sei[256];
    size_t size = unescape(nal, sei, sizeof sei), at = 2;
    while (at + 2 < size) {
        size_t type = read_sei_number(sei, size, &at), length = read_sei_number(sei, size, &at);
        if (length > size - at)
            return;
        const uint8_t *p = sei + at;
        if (type == CONTENT_LIGHT && length >= 4)
            light->content = p[0] << 8 | p[1];
        else if (type == MASTERING_DISPLAY && length >= 24)
            light->display = (int)(((uint32_t)p[16] << 24 | (uint32_t)p[17] << 16 | (uint32_t)p[18] << 8 | p[19]) / 10000);
        at += length;
    }
}

struct nal_light nal_extradata_light(const uint8_t *extradata, size_t size)
{
    struct nal_light light = {0};
    struct extradata_walk walk = {0};
    for (struct nal nal; nal_next_of_extradata(STREAM_HEVC, extradata, size, &walk, &nal);)
        if (nal.size > 2 && (nal.data[0] >> 1 & 63) == PREFIX_SEI)
            note_sei(&nal, &light);
    return light;
}
