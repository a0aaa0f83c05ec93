/*
 * h26x_bits.h - for tests: headers of H.264 and HEVC written bit by bit. Behind nal_bytes.h.
 */
#ifndef BARCODE_TESTS_H26X_BITS_H
#define BARCODE_TESTS_H26X_BITS_H

#include "nal_bytes.h"

/* Bits under construction. */
struct bits {
    uint8_t at[256];
    size_t n;
};

static inline void bit(struct bits *b, int value)
{
    if (value)
        b->at[b->n / 8] |= (uint8_t)(0x80 >> b->n % 8);
    b->n++;
}

static inline void bits(struct bits *b, int n, unsigned value)
{
    while (n-- > 0)
        bit(b, value >> n & 1);
}

static inline void ue(struct bits *b, unsigned value)
{
    int n = 0;
    while ((value + 1) >> (n + 1))
        n++;
    bits(b, n, 0);
    bits(b, n + 1, value + 1);
}

/* With the stop bit, behind a length of 4 bytes. */
static inline void unit(struct bytes *to, struct bits *b)
{
    bit(b, 1);
    nal(to, 4, b->at, (b->n + 7) / 8);
}

/* ---- H.264: frame_num of 4 bits, order type 2 ---- */

static inline void h264_sets(struct bytes *to, bool gaps)
{
    struct bits s = {.n = 0}, p = {.n = 0};
    bits(&s, 32, 0x674d001e);
    ue(&s, 0);
    ue(&s, 0);
    ue(&s, 2); /* pic_order_cnt_type */
    ue(&s, 4);
    bit(&s, gaps);
    ue(&s, 9);
    ue(&s, 5);
    bits(&s, 4, 8); /* frames alone */
    unit(to, &s);
    bits(&p, 8, 0x68);
    ue(&p, 0);
    ue(&p, 0);
    bits(&p, 2, 0);
    ue(&p, 0);
    ue(&p, 1); /* two references */
    ue(&p, 0);
    bits(&p, 3, 4); /* weighted_pred_flag */
    for (int i = 0; i < 3; i++)
        ue(&p, 0);
    bits(&p, 3, 0);
    unit(to, &p);
}

/* A P slice; `type` 5: IDR, of I. `reset`: memory_management_control_operation 5. */
static inline void h264_slice(struct bytes *to, int type, bool reference, unsigned frame_num,
                              bool reset)
{
    struct bits b = {.n = 0};
    bits(&b, 8, (reference ? 0x60 : 0) | (unsigned)type);
    ue(&b, 0);
    ue(&b, type == 5 ? 7 : 5);
    ue(&b, 0);
    bits(&b, 4, frame_num);
    if (type == 5) {
        ue(&b, 0);
        bits(&b, 2, 0);
    } else {
        bit(&b, 0); /* num_ref_idx_active_override_flag */
        bit(&b, 1); /* a change of the list, and its end */
        ue(&b, 0);
        ue(&b, 3);
        ue(&b, 3);
        ue(&b, 2); /* weights: of the first reference luma, of the second chroma */
        ue(&b, 2);
        bits(&b, 1, 1);
        ue(&b, 8);
        ue(&b, 1);
        bits(&b, 3, 1);
        for (int i = 0; i < 4; i++)
            ue(&b, 5);
        bit(&b, reset);
        if (reset) {
            ue(&b, 1);
            ue(&b, 0);
            ue(&b, 5);
            ue(&b, 0);
        }
    }
    bits(&b, 16, 0xabcd);
    unit(to, &b);
}

/* ---- HEVC: order counts of 8 bits ---- */

/*
 * Two short-term sets in the SPS: the picture before, used; and, made of that one, the two before,
 * of which the second one is not used. Long-term references are allowed.
 */
static inline void hevc_sets(struct bytes *to)
{
    struct bits s = {.n = 0}, p = {.n = 0};
    bits(&s, 16, 0x4201);
    bits(&s, 8, 0x01); /* one layer */
    bits(&s, 32, 0x01600000);
    bits(&s, 32, 0);
    bits(&s, 32, 30);
    ue(&s, 0);
    ue(&s, 1);
    ue(&s, 160);
    ue(&s, 96);
    bit(&s, 0);
    ue(&s, 0);
    ue(&s, 0);
    ue(&s, 4); /* log2_max_pic_order_cnt_lsb */
    bit(&s, 1);
    for (int i = 0; i < 9; i++)
        ue(&s, 1);
    bits(&s, 4, 0); /* scaling lists, amp, sao, pcm */
    ue(&s, 2);
    ue(&s, 1); /* set 0: one before */
    ue(&s, 0);
    ue(&s, 0);
    bit(&s, 1);
    bit(&s, 1); /* set 1: derived, moved by -1 */
    bit(&s, 1);
    ue(&s, 0);
    bits(&s, 2, 1); /* -1 - 1: not used, and kept */
    bits(&s, 1, 1); /* -1 itself */
    bit(&s, 1);     /* long_term_ref_pics_present_flag */
    ue(&s, 0);
    bits(&s, 2, 0);
    bits(&s, 16, 0xabcd);
    unit(to, &s);
    bits(&p, 16, 0x4401);
    ue(&p, 0);
    ue(&p, 0);
    bits(&p, 5, 0);
    bits(&p, 16, 0xabcd);
    unit(to, &p);
}

static inline void hevc_begin(struct bits *b, int type)
{
    bits(b, 16, (unsigned)type << 9 | 1);
    bit(b, 1);
    if (type >= 16)
        bit(b, 0);
    ue(b, 0);
    ue(b, 1);
}

/* A slice that names set `set` of the SPS, and a long-term reference of these low bits unless that
 * is -1. */
static inline void hevc_slice(struct bytes *to, int type, unsigned order, unsigned set, int far)
{
    struct bits b = {.n = 0};
    hevc_begin(&b, type);
    if (type != 19 && type != 20) {
        bits(&b, 8, order & 255);
        bit(&b, 1);
        bit(&b, (int)set);
        ue(&b, far >= 0);
        if (far >= 0) {
            bits(&b, 8, (unsigned)far);
            bits(&b, 2, 2); /* used; the low bits are enough */
        }
    }
    bits(&b, 16, 0xabcd);
    unit(to, &b);
}

/* A slice with a set of its own: one picture so far before it. */
static inline void hevc_own(struct bytes *to, int type, unsigned order, unsigned back)
{
    struct bits b = {.n = 0};
    hevc_begin(&b, type);
    bits(&b, 8, order & 255);
    bit(&b, 0);
    bit(&b, 0); /* not derived */
    ue(&b, back > 0);
    ue(&b, 0);
    if (back > 0) {
        ue(&b, back - 1);
        bit(&b, 1);
    }
    ue(&b, 0);
    bits(&b, 16, 0xabcd);
    unit(to, &b);
}

#endif
