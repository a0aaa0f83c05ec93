/*
 * chunk.h - pictures in decoding order, collected into runs before they are decoded.
 *
 * A chunk is what one worker decodes in one go: one or more whole GOPs, starting where a
 * decoder that knows nothing may start, and after them, where it needs them, the next GOP's
 * key and leading pictures ("extras": they are displayed before that key and refer to this chunk).
 * Serials inside a chunk are consecutive, so serial - first serial is an index.
 *
 * Nothing here knows libav: a packet is an opaque pointer that the three packet_
 * functions (packet.c) handle. Pure otherwise, one thread a chunk.
 */
#ifndef BARCODE_GOP_CHUNK_H
#define BARCODE_GOP_CHUNK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "media/bitstream/codec_traits.h"
#include "media/bitstream/coded_picture.h"
#include "barcode/base/err.h"

#ifdef __cplusplus
extern "C" {
#endif

struct decoder_backend;

struct chunk {
    struct picture *picture; /* [count] in decoding order */
    size_t count, room;
    size_t own;           /* pictures [own, count) are extras */
    size_t selected;      /* how many are wanted, extras included */
    size_t bytes;         /* of all packets */
    uint64_t frames;      /* displayed frames that are covered once the chunk is done */
    bool unsure;          /* its display order is a guess: decode everything and see */
    size_t bytes_pending; /* of packets that no decoder has got yet */
    size_t work;          /* of decoding bytes_pending, in bytes (decode_pass.c) */
    size_t passed;  /* pictures that a software worker is done with (decode_pass_pictures_done) */
    int64_t cpu_ns; /* the worker's processor time when it was last counted */
    /* when a worker took it (scheduler_next_chunk) */
    int64_t taken_ns; /* clock_ns */
    const struct decoder_backend *backend;
    int threads; /* of its decoder */
};

/* Moves *p to the end of the chunk; its packet's owner is the chunk from then on. False: memory, *p
 * untouched. */
bool chunk_append(struct chunk *r, const struct picture *p, struct err *e);

/*
 * Decides every picture's action. `everything` decodes all pictures (a second try), else only what
 * wanted pictures need: per segment (from one RAP_CLOSED to the next) nothing after the last wanted
 * picture, no unwanted droppable ones, no RASL of the chunk's first key. HEVC droppable counts only
 * at the chunk's highest temporal layer.
 */
void chunk_plan(struct chunk *r, const struct codec_traits *t, bool everything);

/* The most pictures that precede one in decoding order and follow it in display order: a decoder's
 * needed delay. */
int chunk_reorder_depth(const struct chunk *r);

/*
 * Pictures of a chunk come out of a decoder in display order, or the chunker expected a wrong
 * order. Begin with zeros; a chunk that is decoded anew begins with `last` 0.
 */
struct chunk_order {
    uint64_t last; /* highest frame number that came out so far */
    bool wrong;    /* a picture came out after one that should have followed it */
};

/* `p` came out. Hidden pictures and those that are staged already say nothing, nor do codecs that
 * do not reorder. */
void chunk_order_check(struct chunk_order *o, const struct codec_traits *t,
                       const struct picture *p);

/*
 * Returns true if a decoder with frame threads may decode it: it is long enough to gain, its order
 * is no guess, and no picture is known to be missing or truncated.
 */
bool chunk_may_use_threads(const struct chunk *r);

/* True if every picture that is wanted is done. */
bool chunk_is_complete(const struct chunk *r);

/* Frees pictures and packets and the chunk itself; *r becomes NULL. NULL is fine. */
void chunk_free(struct chunk **r);

#ifdef __cplusplus
}
#endif
#endif
