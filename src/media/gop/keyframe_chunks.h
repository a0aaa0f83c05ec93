/*
 * keyframe_chunks.h - which key frame fills which columns (--keyframes), and chunks of one picture
 * for the workers.
 *
 *     reader -> keys_hold (a key frame, in display order)
 *            -> keys_serve (until when it is the latest key frame) -> a chunk of one picture
 *
 * A key frame is held until it is known how many columns it fills, and emitted when the next one is
 * held. A key frame that fills none is dropped. No libav header is included here; keyframe_reader.c
 * finds the key frames. One thread, except for bad_key_list.
 */
#ifndef BARCODE_GOP_KEYFRAME_CHUNKS_H
#define BARCODE_GOP_KEYFRAME_CHUNKS_H

#include "chunker.h"
#include "media/bitstream/coded_picture.h"
#include "media/select/selection.h"
#include "decode_counts.h"

struct keys_config {
    struct selection selection; /* its `keyframes` is true */
    struct columns *columns;    /* columns are announced here; NULL: not at all */
    /*
     * Returns whether a frame exists already; then its key frame is not emitted. NULL: none exists
     */
    frame_have *have;
    void *have_user;
    chunker_emit *emit; /* receives the chunks */
    void *user;
};

struct keys {
    struct keys_config config;
    struct selection_cursor cursor;
    bool holds;
    struct picture held;   /* its tag has number, time and its columns so far */
    struct picture second; /* its second field, if that has its own packet */
    uint64_t sent;         /* chunks so far */
};

/* Begins. Cannot fail. keys_end or keys_drop frees what is held. */
void keys_begin(struct keys *k, const struct keys_config *config);

/*
 * Holds the key frame `p`, which is displayed after all earlier ones; its tag has frame and
 * time_us. `second` is its second field if that has its own packet, else NULL or without a packet.
 * Emits the one that was held. Owns both packets from then on, also after a failure. Returns false
 * if out of memory, or if `emit` fails.
 */
bool keys_hold(struct keys *k, struct picture *p, struct picture *second, struct err *e);

/*
 * Gives the held key frame all open columns before `until`, a player's time.
 * INT64_MAX: all columns that are left (an interval without an end: those that are due). Does
 * nothing if no key frame is held.
 */
void keys_serve(struct keys *k, int64_t until);

/* Emits the held key frame. Returns false if out of memory, or if `emit` fails. */
bool keys_end(struct keys *k, struct err *e);

/* Drops the held key frame. */
void keys_drop(struct keys *k);

/* ---- key frames that must not be used ---- */

/*
 * Key frames of one film that turned out damaged, by their serials, which are the same each time
 * the film is read. The caller locks.
 */
struct bad_key_list {
    uint64_t *serial; /* [count], ascending */
    size_t count, room;
};

bool bad_key_list_has(const struct bad_key_list *f, uint64_t serial);

/* Adds a serial, once. Returns false if out of memory. */
bool bad_key_list_add(struct bad_key_list *f, uint64_t serial, struct err *e);

/* Frees the list and empties *f. */
void bad_key_list_clear(struct bad_key_list *f);

#endif
