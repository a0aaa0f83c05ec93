/*
 * chunk.h - pictures in decoding order, collected into chunks for decoding.
 *
 * A chunk is what one worker decodes at a time: one or more complete GOPs, beginning at a random
 * access point. If needed, the next GOP's key frame and leading pictures follow ("next_leading"):
 * they are displayed before that key frame and refer to this chunk. Serials inside a chunk are
 * consecutive, so serial - first serial is an index.
 *
 * No libav header is included here: a packet is an opaque pointer for the three functions of
 * packet.h. Pure otherwise; one thread a chunk.
 */
#ifndef BARCODE_GOP_CHUNK_H
#define BARCODE_GOP_CHUNK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "media/bitstream/packet_scan.h"
#include "media/bitstream/coded_picture.h"
#include "barcode/base/err.h"

struct decoder_backend;

struct chunk {
    struct picture *picture; /* [count] in decoding order */
    size_t count, room;
    size_t own;           /* pictures [own, count) are next_leading */
    size_t selected;      /* selected pictures, next_leading included */
    size_t bytes;         /* of all packets */
    uint64_t frames;      /* frames of the film that are covered once the chunk is done */
    bool unsure;          /* its display order is a guess: decode everything and check */
    size_t bytes_pending; /* of packets not yet sent to a decoder */
    size_t work;          /* of decoding bytes_pending, in bytes (scheduler_estimate_work) */
    size_t passed;    /* pictures that a software worker has finished (decode_pass_pictures_done) */
    int64_t cpu_ns;   /* the worker's processor time when it was last counted */
    int64_t taken_ns; /* when a worker took it (scheduler_next_chunk), by clock_ns */
    const struct decoder_backend *backend; /* the worker's; NULL: not taken */
    int threads;                           /* of its decoder */
};

/*
 * Appends *p to the chunk, which owns the packet from then on. Returns false if out of memory, with
 * *p unchanged.
 */
bool chunk_append(struct chunk *r, const struct picture *p, struct err *e);

/*
 * Decides the action of each picture. `everything` decodes all pictures (a second attempt).
 * Otherwise only what selected pictures need is decoded. That excludes, in each segment (from one
 * RAP_CLOSED to the next), all pictures after the last selected one, droppable pictures that are
 * not selected, and RASL pictures of the chunk's first key frame. HEVC pictures are droppable only
 * in the chunk's highest temporal layer.
 */
void chunk_plan(struct chunk *r, const struct codec_traits *t, bool everything);

/*
 * Returns the largest number of pictures that precede one in decoding order and follow it in
 * display order: the delay that a decoder needs.
 */
int chunk_reorder_depth(const struct chunk *r);

/*
 * Checks that a decoder outputs a chunk's frames in the display order that the chunker expected.
 * Begins as {0}; set `last` to 0 before a chunk is decoded again.
 */
struct chunk_order {
    uint64_t last; /* highest frame number output so far */
    bool wrong;    /* a frame was output after one that should have followed it */
};

/*
 * Records that the frame of `p` was output. Hidden pictures, those that are done, and codecs that
 * do not reorder are ignored.
 */
void chunk_order_check(struct chunk_order *o, const struct codec_traits *t,
                       const struct picture *p);

/*
 * Returns true if a decoder with frame threads may decode the chunk: it is long enough to gain, its
 * display order is certain, and no picture is known to be missing or truncated.
 */
bool chunk_may_use_threads(const struct chunk *r);

/* Returns true if each selected picture is done. */
bool chunk_is_complete(const struct chunk *r);

/*
 * Frees the chunk with its pictures and packets, and sets *r to NULL. Does nothing if *r is NULL.
 */
void chunk_free(struct chunk **r);

#endif
