/*
 * chunk.h - pictures in decoding order, collected into runs before they are decoded.
 *
 * A run is what one session decodes in one go: one or more whole GOPs, starting where a
 * decoder that knows nothing may start, and after them, where it needs them, the next GOP's
 * key and leading pictures ("extras": they are displayed before that key and refer to this run).
 * Serials inside a run are consecutive, so serial - first serial is an index.
 *
 * Nothing here knows libav: a packet is an opaque pointer that the three packet_
 * functions (packet.c) handle. Pure otherwise, one thread a run.
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

struct run {
    struct picture *picture;  /* [count] in decoding order                              */
    size_t count, room;
    size_t own;               /* pictures [own, count) are extras                       */
    size_t wanted;            /* how many are wanted, extras included                   */
    size_t bytes;             /* of all packets                                         */
    uint64_t frames;          /* displayed frames that are covered once the run is done */
    bool unsure;              /* its display order is a guess: decode everything and see */
    size_t bytes_pending;     /* of packets that no decoder has got yet                 */
    size_t work;              /* of decoding bytes_pending, in bytes (decode_pass.c)     */
    size_t passed;            /* pictures that a software session is done with (staging_passed) */
    int64_t cpu_ns;           /* the session's processor time when it was last counted   */
    int64_t taken_ns;         /* when a session took it (clock_ns)                       */
    int threads;              /* on so many it is decoded in software; 0: not taken, or by NVDEC */
};

/* Moves *p to the end of the run; its packet's owner is the run from then on. False: memory, *p untouched. */
bool run_append(struct run *r, const struct picture *p, struct err *e);

/*
 * Decides every picture's action. `everything` decodes all pictures (a second try), else only what wanted
 * pictures need: per segment (from one CUT_CLEAN to the next) nothing after the last wanted picture, no unwanted
 * droppable ones, no RASL of the run's first key. HEVC droppable counts only at the run's highest temporal layer.
 */
void run_plan(struct run *r, const struct run_traits *t, bool everything);

/* The most pictures that precede one in decoding order and follow it in display order: a decoder's needed delay. */
int run_reorder(const struct run *r);

/*
 * Pictures of a run come out of a decoder in display order, or the chunker expected a wrong order.
 * Begin with zeros; a run that is decoded anew begins with `last` 0.
 */
struct run_order {
    uint64_t last;     /* highest frame number that came out so far                       */
    bool wrong;        /* a picture came out after one that should have followed it       */
};

/* `p` came out. Hidden pictures and those that are staged already say nothing, nor do codecs that do not reorder. */
void run_order_watch(struct run_order *o, const struct run_traits *t, const struct picture *p);

/*
 * Returns true if a decoder with frame threads may decode it: it is long enough to gain, its order
 * is no guess, and no picture is known to be missing or truncated.
 */
bool run_may_have_threads(const struct run *r);

/* True if every picture that is wanted is done. */
bool run_is_whole(const struct run *r);

/* Frees pictures and packets and the run itself; *r becomes NULL. NULL is fine. */
void run_free(struct run **r);

#ifdef __cplusplus
}
#endif
#endif
