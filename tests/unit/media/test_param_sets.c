/* test_param_sets.c - which changes of parameter sets are noticed, and which key frames lack one.
 */

#include "test.h"
#include "nal_bytes.h"
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

/* ---- H.264 ---- */

/* Bits under construction. */
struct bits {
    uint8_t at[256];
    size_t n;
};

static void bit(struct bits *b, int value)
{
    if (value)
        b->at[b->n / 8] |= (uint8_t)(0x80 >> b->n % 8);
    b->n++;
}

static void bits(struct bits *b, int n, unsigned value)
{
    while (n-- > 0)
        bit(b, value >> n & 1);
}

static void ue(struct bits *b, unsigned value)
{
    int n = 0;
    while ((value + 1) >> (n + 1))
        n++;
    bits(b, n, 0);
    bits(b, n + 1, value + 1);
}

/* With the stop bit, behind a length of 4 bytes. */
static void unit(struct bytes *to, struct bits *b)
{
    bit(b, 1);
    nal(to, 4, b->at, (b->n + 7) / 8);
}

/* An SPS of the main profile, number `id`. */
static void sps(struct bytes *to, unsigned id, unsigned order_bits, unsigned references,
                bool frames)
{
    struct bits b = {.n = 0};
    bits(&b, 32, 0x674d001e);
    ue(&b, id);
    ue(&b, 0); /* frame_num of 4 bits */
    ue(&b, 0);
    ue(&b, order_bits - 4);
    ue(&b, references);
    bit(&b, 0);
    ue(&b, 9);
    ue(&b, 5);
    bit(&b, frames);
    if (!frames)
        bit(&b, 0);
    bits(&b, 3, 0);
    unit(to, &b);
}

/* Of four bytes or fewer, as they are. */
static void pps(struct bytes *to, unsigned id, unsigned of)
{
    struct bits b = {.n = 0};
    bits(&b, 8, 0x68);
    ue(&b, id);
    ue(&b, of);
    bits(&b, 6, 0);
    unit(to, &b);
}

enum { FRAME, TOP, BOTTOM };

static void slice(struct bytes *to, int type, unsigned set, bool frames, int field,
                  unsigned order_bits, unsigned order)
{
    struct bits b = {.n = 0};
    bits(&b, 8, 0x60 | (unsigned)type);
    ue(&b, 0);
    ue(&b, 7);
    ue(&b, set);
    bits(&b, 4, 0);
    if (!frames)
        bit(&b, field != FRAME);
    if (field != FRAME)
        bit(&b, field == BOTTOM);
    if (type == 5)
        ue(&b, 0);
    bits(&b, (int)order_bits, order);
    bits(&b, 16, 0xabcd);
    unit(to, &b);
}

static struct nal_sets sets_of(const struct bytes *b)
{
    struct nal_sets s = {0};
    nal_sets_scan(4, b->at, b->n, &s);
    return s;
}

TEST(state_follows_the_bytes)
{
    struct bytes a = {.n = 0}, other = {.n = 0}, b = {.n = 0};
    sps(&a, 0, 6, 4, true);
    pps(&a, 0, 0);
    pps(&other, 0, 1);
    pps(&b, 0, 0);
    struct nal_sets s = sets_of(&a);
    uint64_t first = s.state;
    assert_true(s.sps[0].known && s.sps[0].frames);
    assert_int_equal(s.sps[0].order_bits, 6);
    assert_int_equal(s.sps[0].references, 4);
    assert_int_equal(s.set_of[0], 1);
    nal_sets_scan(4, a.at, a.n, &s);
    assert_true(s.state == first);
    nal_sets_scan(4, other.at, other.n, &s);
    assert_true(s.state != first);
    nal_sets_scan(4, b.at, b.n, &s);
    assert_true(s.state == first);
}

static bool may(const struct bytes *sets, const struct bytes *picture)
{
    struct nal_sets s = sets_of(sets);
    int of = -1;
    bool yes = nal_may_separate(&s, 4, picture->at, picture->n, &of);
    assert_true(!yes || of == 0);
    return yes;
}

TEST(which_pictures)
{
    struct bytes none = {.n = 0}, frames = {.n = 0}, narrow = {.n = 0}, fields = {.n = 0};
    sps(&frames, 0, 6, 4, true);
    pps(&frames, 0, 0);
    sps(&narrow, 0, 6, 15, true);
    pps(&narrow, 0, 0);
    sps(&fields, 0, 6, 4, false);
    pps(&fields, 0, 0);
    struct bytes idr = {.n = 0}, inter = {.n = 0}, mixed = {.n = 0}, foreign = {.n = 0};
    slice(&idr, 5, 0, true, FRAME, 6, 0);
    slice(&idr, 5, 0, true, FRAME, 6, 0);
    slice(&inter, 1, 0, true, FRAME, 6, 0);
    slice(&mixed, 5, 0, true, FRAME, 6, 0);
    slice(&mixed, 1, 0, true, FRAME, 6, 0);
    slice(&foreign, 5, 3, true, FRAME, 6, 0);
    assert_true(may(&frames, &idr));
    assert_false(may(&none, &idr));
    assert_false(may(&narrow, &idr));
    assert_false(may(&frames, &inter));
    assert_false(may(&frames, &mixed));
    assert_false(may(&frames, &foreign));
    struct bytes both = {.n = 0}, half = {.n = 0};
    slice(&half, 5, 0, false, TOP, 6, 0);
    slice(&both, 5, 0, false, TOP, 6, 0);
    slice(&both, 1, 0, false, BOTTOM, 6, 1);
    assert_true(may(&fields, &both));
    assert_false(may(&fields, &half));
}

/* `next`: the order count of what follows. Returns the order count that the idr splice got. */
static unsigned separated(unsigned own, unsigned next_order)
{
    static uint8_t out[4096];
    struct bytes sets = {.n = 0}, idr = {.n = 0}, next = {.n = 0};
    sps(&sets, 0, 6, 4, true);
    pps(&sets, 0, 0);
    NAL(&idr, 4, 6, 5, 1, 0, 0x80); /* an SEI, which is left out */
    slice(&idr, 5, 0, true, FRAME, 6, own);
    slice(&idr, 5, 0, true, FRAME, 6, own);
    slice(&next, 1, 0, true, FRAME, 6, next_order);
    struct nal_sets s = sets_of(&sets);
    struct nal_slice of_next = {0}, first = {0};
    assert_true(nal_sets_first_slice(&s, 4, next.at, next.n, &of_next));
    assert_int_equal(of_next.order, next_order);
    assert_true(nal_separate_room(idr.n) <= sizeof out);
    size_t n = nal_separate(&s, 4, idr.at, idr.n, &of_next, out);
    assert_true(n > 0 && nal_sets_first_slice(&s, 4, out, n, &first));
    assert_true(first.idr);
    /* Both slices, and nothing else; what follows the header is as it was. */
    struct bytes want = {.n = 0};
    slice(&want, 5, 0, true, FRAME, 6, first.order);
    slice(&want, 5, 0, true, FRAME, 6, first.order);
    assert_int_equal(n, want.n);
    assert_memory_equal(out, want.at, n);
    return first.order;
}

/* 31 below what follows, modulo 64, whatever its own. */
TEST(order)
{
    assert_int_equal(separated(0, 48), 17);
    assert_int_equal(separated(0, 0), 33);
    assert_int_equal(separated(5, 31), 0);
    assert_int_equal(separated(63, 63), 32);
}

/* Emulation prevention is undone before, and done again. */
TEST(escaped)
{
    static uint8_t out[4096];
    struct bytes sets = {.n = 0}, idr = {.n = 0};
    sps(&sets, 0, 6, 4, true);
    pps(&sets, 0, 0);
    slice(&idr, 5, 0, true, FRAME, 6, 0);
    const uint8_t tail[] = {0, 0, 3, 1, 7, 0, 0, 3, 0, 0, 3, 2, 9, 0, 0, 3};
    memcpy(idr.at + idr.n, tail, sizeof tail);
    idr.n += sizeof tail;
    idr.at[3] = (uint8_t)(idr.at[3] + sizeof tail);
    struct nal_sets s = sets_of(&sets);
    size_t n = nal_separate(&s, 4, idr.at, idr.n, NULL, out);
    assert_int_equal(n, idr.n - 3); /* zeros at the end are padding */
    assert_memory_equal(out + 4, idr.at + 4, n - 4);
    assert_int_equal(out[3], n - 4);
}

/* The sets of a film with order counts of 16 bits, and its packet, which ends within one. */
static const uint8_t truncated[] = {3, 0x65, 0x88, 0x94};

static struct nal_sets sets_of_16_bits(void)
{
    struct bytes sets = {.n = 0};
    sps(&sets, 0, 16, 1, true);
    pps(&sets, 0, 0);
    return sets_of(&sets);
}

TEST(truncated_order_count)
{
    struct nal_sets s = sets_of_16_bits();
    struct nal_slice first;
    int of;
    assert_true(s.sps[0].known && s.sps[0].order_bits == 16);
    assert_false(nal_sets_first_slice(&s, 1, truncated, sizeof truncated, &first));
    assert_false(nal_may_separate(&s, 1, truncated, sizeof truncated, &of));
}

TEST(writes_within_its_room)
{
    enum { GUARD = 16 };
    struct nal_sets s = sets_of_16_bits();
    size_t room = nal_separate_room(sizeof truncated);
    for (int fill = 0; fill <= 255; fill += 255) {
        uint8_t out[64], guard[GUARD];
        memset(out, fill, sizeof out);
        memset(guard, fill, sizeof guard);
        assert_true(room + GUARD <= sizeof out);
        nal_separate(&s, 1, truncated, sizeof truncated, &(struct nal_slice){.order = 0x5555}, out);
        assert_memory_equal(out + room, guard, GUARD);
    }
    uint8_t *exact = malloc(room); /* the address sanitizer guards its end */
    assert_non_null(exact);
    assert_int_equal(nal_separate(&s, 1, truncated, sizeof truncated, NULL, exact), 0);
    free(exact);
}

/* The smallest slice that goes on after its order count is one. */
TEST(complete_order_count)
{
    static const uint8_t idr[] = {5, 0x65, 0x88, 0x94, 0, 0x20};
    struct nal_sets s = sets_of_16_bits();
    struct nal_slice first;
    assert_true(nal_sets_first_slice(&s, 1, idr, sizeof idr, &first));
    assert_int_equal(first.order_bit, 22);
    assert_int_equal(first.order, 8);
}

/* A truncated number is never a small one. */
TEST(truncated_ue)
{
#define INVALID (UINT32_C(1) << 31)
    static const struct {
        uint8_t bytes[8];
        size_t size;
        uint32_t value;
    } cases[] = {{{0x80}, 1, 0},
                 {{0x80}, 0, INVALID},
                 {{0x00}, 1, INVALID},
                 {{0x01}, 1, INVALID},
                 {{0x01, 0x00}, 2, 127},
                 {{0, 0, 0, 2, 0, 0, 0, 0}, 8, (1U << 30) - 1},
                 {{0, 0, 0, 2, 0, 0, 0, 0}, 7, INVALID},
                 {{0, 0, 0, 1, 0, 0, 0, 0}, 8, INVALID}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bit_reader r = {.data = cases[i].bytes, .size = cases[i].size};
        assert_int_equal(nal_read_ue(&r), cases[i].value);
    }
}
