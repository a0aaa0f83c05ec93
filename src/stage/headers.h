/*
 * headers.h - the parameter sets and sequence headers that are in force in a film, given again to pictures that decoding may start with.
 *
 * A decoder that starts in mid-film knows the headers that the container keeps (extradata) and those in the packets it gets. Two
 * recordings of one encoder, joined byte by byte, have other headers from the joint on, and may say so once: a decoder that starts
 * later shows wrong colours then without a word. So a key that lacks what is in force gets it here, before anything else sees the
 * packet. Nearly all films never change their headers: they are left as they are.
 *
 * H.264 and HEVC: VPS, SPS and PPS by their numbers (ITU-T H.264 7.3.2.1.1, 7.3.2.2; H.265 7.3.2.1 to 7.3.2.3), of HEVC those of the
 * base layer. MPEG-2: the sequence header and what extends it (H.262 6.2.2). VP8, VP9 and AV1 keys say everything themselves.
 */
#ifndef BARCODE_SRC_HEADERS_H
#define BARCODE_SRC_HEADERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "barcode/err.h"
#include "nal.h"

#ifdef __cplusplus
extern "C" {
#endif

struct AVPacket;

/* The reading thread's. Zero it first, with `stream`. */
struct headers {
    enum bitstream stream;
    int length_size;          /* of a NAL's prefix in packets, as nal_scan's                           */
    struct header {
        unsigned key;         /* kind and number: in the order in which they are written               */
        uint8_t *data;        /* owned; without zeros at its end                                       */
        size_t size;
    } *one;                   /* [count] by `key`, ascending; owned                                     */
    size_t count, room;
    bool changed;             /* since the extradata a packet brought one that was not there, or was another */
    uint64_t needed;          /* so many packets got what they lacked and what their own slices name */
};

/* Begins anew with those of the extradata, avcC, hvcC or as in packets. False: memory. */
bool headers_begin(struct headers *h, const uint8_t *extradata, size_t size, struct err *e);

/* Keeps those of the packet. False: memory. */
bool headers_note(struct headers *h, const uint8_t *data, size_t size, struct err *e);

/*
 * Gives the packet those in force if it lacks one and there was a change: all of them, in their order and before its own, for a header
 * may throw away those that go by it. False: memory; the packet is as it was.
 */
bool headers_give(struct headers *h, struct AVPacket *packet, struct err *e);

/* ---- looking at keys that are not read ---- */

enum headers_seen {
    HEADERS_MORE,      /* the picture's first slice is not there yet: more bytes would tell */
    HEADERS_OWN,       /* it brings all that its first slice goes by                         */
    HEADERS_LACKING    /* it goes by some that it does not bring                             */
};

/* True for the codecs whose headers are kept here. */
bool headers_are_kept(enum bitstream stream);

/*
 * Looks at the first `size` bytes of a key's packet, and keeps its headers as headers_note does. Slices behind the first one are not
 * asked. MORE also on `e`, memory.
 */
enum headers_seen headers_look(struct headers *h, const uint8_t *data, size_t size, struct err *e);

/* True if all of `of` are in force in `h` too, in the same words. */
bool headers_hold(const struct headers *h, const struct headers *of);

void headers_free(struct headers *h);

#ifdef __cplusplus
}
#endif
#endif
