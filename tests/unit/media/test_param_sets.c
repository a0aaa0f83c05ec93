/* test_param_sets.c - which changes of parameter sets are noticed, and which key frames lack one.
 */

#include "test.h"
#include "nal_bytes.h"
#include "media/bitstream/packet_scan.h"
#include "media/bitstream/param_sets.h"

#define START 0, 0, 1
#define SPS START, 0x67, 66, 0, 30, 0xda, 0x55 /* id 0 */
#define SPS_OTHER START, 0x67, 66, 0, 31, 0xda, 0x55
#define PPS START, 0x68, 0xce, 0x38 /* id 0 */
#define PPS_OTHER START, 0x68, 0xce, 0x3c
#define PPS_ONE START, 0x68, 0x5f, 0x80 /* id 1 */
#define SLICE START, 0x65, 0x88, 0x84, 0x21
#define VPS_HEVC START, 0x40, 0x01, 0x0c, 0x01, 0xff
#define SPS_HEVC START, 0x42, 0x01, 0x01, 0x21
#define PPS_HEVC START, 0x44, 0x01, 0xc1, 0x72
#define PPS_HEVC_OTHER START, 0x44, 0x01, 0xc1, 0x73
#define LAYER_HEVC START, 0x45, 0x09, 0xc1, 0x73 /* a PPS of another layer */
#define SEQUENCE START, 0xb3, 0x0a, 0x00, 0x60, 0x13, 0xff, 0xff, 0xe0, 0x18
#define WIDE START, 0xb3, 0x0a, 0x00, 0x60, 0x33, 0xff, 0xff, 0xe0, 0x18
#define SLOW START, 0xb3, 0x0a, 0x00, 0x60, 0x13, 0x11, 0xff, 0xe0, 0x18
#define EXTENSION START, 0xb5, 0x14, 0x8a, 0x00, 0x01, 0x00, 0x00
#define TAGS START, 0xb5, 0x25, 0x01, 0x01, 0x01, 0x0a, 0x02, 0x01, 0x80
#define GROUP START, 0xb8, 0x00, 0x08, 0x00, 0x40

struct part {
    uint8_t at[64];
    size_t n;
};
#define PART(...) \
    { \
        {__VA_ARGS__}, sizeof(uint8_t[]) { __VA_ARGS__ } \
    }

/* The extradata, the first picture, one in mid-film, and a key frame behind it. */
static const struct {
    const char *what;
    enum bitstream stream;
    struct part extradata, first, change, key;
    bool sequence, lacking;
} is[] = {
    {"the same sets again", STREAM_H264, PART(SPS, PPS), PART(SPS, PPS, SLICE),
     PART(SPS, PPS, SLICE), PART(SLICE), false, false},
    {"sets in the extradata alone", STREAM_H264, PART(SPS, PPS), PART(SLICE), PART(SLICE),
     PART(SLICE), false, false},
    {"the first picture has others", STREAM_H264, PART(SPS, PPS), PART(SPS, PPS_OTHER, SLICE),
     PART(SLICE), PART(SLICE), false, false},
    {"another PPS", STREAM_H264, PART(SPS, PPS), PART(SLICE), PART(PPS_OTHER, SLICE),
     PART(SPS, SLICE), false, true},
    {"another PPS that the key brings", STREAM_H264, PART(SPS, PPS), PART(SLICE),
     PART(PPS_OTHER, SLICE), PART(PPS_OTHER, SLICE), false, false},
    {"the first PPS again", STREAM_H264, PART(SPS, PPS_OTHER), PART(SPS, PPS, SLICE),
     PART(PPS_OTHER, SLICE), PART(PPS, SLICE), false, false},
    {"one PPS more", STREAM_H264, PART(SPS, PPS), PART(SLICE), PART(PPS_ONE, SLICE),
     PART(PPS, SLICE), false, true},
    {"another SPS", STREAM_H264, PART(SPS, PPS), PART(SLICE), PART(SPS_OTHER, PPS, SLICE),
     PART(SPS_OTHER, PPS, SLICE), true, false},
    {"HEVC: the same", STREAM_HEVC, PART(VPS_HEVC, SPS_HEVC, PPS_HEVC), PART(PPS_HEVC),
     PART(VPS_HEVC, SPS_HEVC, PPS_HEVC, 0, 0), PART(START, 0x26, 0x01, 0xaf), false, false},
    {"HEVC: another PPS", STREAM_HEVC, PART(VPS_HEVC, SPS_HEVC, PPS_HEVC), PART(PPS_HEVC),
     PART(PPS_HEVC_OTHER), PART(SPS_HEVC), false, true},
    {"HEVC: another layer's", STREAM_HEVC, PART(VPS_HEVC, SPS_HEVC, PPS_HEVC), PART(PPS_HEVC),
     PART(LAYER_HEVC), PART(SPS_HEVC), false, false},
    {"MPEG-2: the same", STREAM_MPEG2, PART(SEQUENCE, EXTENSION), PART(SEQUENCE, EXTENSION, GROUP),
     PART(SEQUENCE, EXTENSION, GROUP), PART(GROUP), false, false},
    {"MPEG-2: extradata without an extension", STREAM_MPEG2, PART(SEQUENCE),
     PART(SEQUENCE, EXTENSION, GROUP), PART(SEQUENCE, EXTENSION, GROUP), PART(GROUP), false, false},
    {"MPEG-2: another aspect", STREAM_MPEG2, PART(SEQUENCE, EXTENSION),
     PART(SEQUENCE, EXTENSION, GROUP), PART(WIDE, EXTENSION, GROUP), PART(WIDE, EXTENSION, GROUP),
     true, false},
    {"MPEG-2: colour tags", STREAM_MPEG2, PART(SEQUENCE, EXTENSION, TAGS),
     PART(SEQUENCE, EXTENSION, TAGS, GROUP), PART(SEQUENCE, EXTENSION, GROUP),
     PART(SEQUENCE, EXTENSION, GROUP), true, false},
    {"MPEG-2: another rate of bits", STREAM_MPEG2, PART(SEQUENCE, EXTENSION), PART(GROUP),
     PART(SLOW, EXTENSION, GROUP), PART(GROUP), false, true},
    {"VP9 has none", STREAM_VP9, PART(SPS), PART(SPS), PART(SPS_OTHER), PART(SLICE), false, false},
};

TEST(changes)
{
    for (size_t i = 0; i < sizeof is / sizeof *is; i++) {
        struct param_sets s;
        param_sets_begin(&s, is[i].stream, is[i].extradata.at, is[i].extradata.n);
        param_sets_note(&s, 0, is[i].first.at, is[i].first.n, 1);
        assert_false(s.changed || s.sequence_changed || param_sets_lacking(&s, 1));
        param_sets_note(&s, 0, is[i].change.at, is[i].change.n, 2);
        param_sets_note(&s, 0, is[i].key.at, is[i].key.n, 3);
        if (s.sequence_changed != is[i].sequence || param_sets_lacking(&s, 3) != is[i].lacking)
            fail_msg("%s: %d, %d", is[i].what, s.sequence_changed, param_sets_lacking(&s, 3));
    }
}

/* A length prefix in place of start codes, and units that break off. */
TEST(by_length)
{
    struct param_sets s;
    const struct part first = PART(SPS, PPS);
    const uint8_t other[] = {0, 0, 0, 3, 0x68, 0xce, 0x3c, 0, 0, 0, 9, 0x68};
    param_sets_begin(&s, STREAM_H264, first.at, first.n);
    param_sets_note(&s, 4, other, sizeof other, 2);
    assert_true(s.changed);
    assert_true(param_sets_lacking(&s, 3));
    assert_false(param_sets_lacking(&s, 2));
}
