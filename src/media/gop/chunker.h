/*
 * chunker.h - collects pictures in decoding order into chunks, and applies the selection before
 * anything is decoded.
 *
 *     push K0 p p p | K1 b b p p | K2 ...       (decoding order; | = a random access point,
 *                                                b = leading)
 *     GOP 0 is complete when K1's first non-leading picture comes (or the next random access
 *     point). Its display order is [its pictures but the leading ones] + [K1's leading ones].
 *
 * The GOP's pictures are given frame numbers and times. The selection picks some of them, and each
 * is announced in the columns, so that a picture that never decodes is known. A GOP without a
 * selected picture is dropped. Other GOPs are merged into chunks of about CHUNK_PICTURES while they
 * are consecutive.
 *
 * A lost picture (packet_scan.h) gets its place by its time. Frames that are missing in a gap
 * between two pictures are numbered, timed and announced too, though they are never decoded.
 *
 * One thread. The order inside a GOP is by picture order count, as in decoders, if the counts are
 * valid. Otherwise it is by time if each picture has a distinct time, and by arrival for codecs
 * that do not reorder. A chunk in which the first two contradict each other is marked `unsure`.
 */
#ifndef BARCODE_GOP_CHUNKER_H
#define BARCODE_GOP_CHUNKER_H

#include "decode_counts.h"
#include "media/bitstream/packet_scan.h"
#include "media/select/selection.h"
#include "media/select/timeline.h"

/*
 * A chunk is what one worker decodes at a time: one or more complete GOPs, beginning at a random
 * access point. If needed, the next GOP's key frame and leading pictures follow ("next_leading"):
 * they are displayed before that key frame and refer to this chunk. Serials inside a chunk are
 * consecutive, so serial - first serial is an index. Packets are opaque (packet.h).
 */
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

/* ---- chunk.c: chunks, one thread each ---- */

/* Appends *p to the chunk, which owns its packet unless the result is false: out of memory. */
bool chunk_append(struct chunk *r, const struct picture *p, struct err *e);

/*
 * Decides the action of each picture. `everything` decodes all pictures (a second attempt).
 * Otherwise only what selected pictures need is decoded. That excludes, in each segment (from one
 * RAP_CLOSED to the next), all pictures after the last selected one, droppable pictures that are
 * not selected, and RASL pictures of the chunk's first key frame. HEVC pictures are droppable only
 * in the chunk's highest temporal layer.
 */
void chunk_plan(struct chunk *r, const struct codec_traits *t, bool everything);

/* Returns by how many pictures display lags decoding: the delay that a decoder needs. */
int chunk_reorder_depth(const struct chunk *r);

/*
 * Checks that a decoder outputs a chunk's frames in the display order that the chunker expected.
 * Begins as {0}; set `last` to 0 before a chunk is decoded again.
 */
struct chunk_order {
    uint64_t last; /* highest frame number output so far */
    bool wrong;    /* a frame was output after one that should have followed it */
};

/* Records that the frame of `p` was output. Ignores hidden and done pictures. */
void chunk_order_check(struct chunk_order *o, const struct codec_traits *t,
                       const struct picture *p);

/* Returns true if frame threads gain, the order is certain, and no picture is missing. */
bool chunk_may_use_threads(const struct chunk *r);

/* Returns true if each selected picture is done. */
bool chunk_is_complete(const struct chunk *r);

/* Frees the chunk and its packets, and sets *r to NULL. Does nothing if *r is NULL. */
void chunk_free(struct chunk **r);

enum {
    CHUNK_PICTURES = 64,     /* GOPs are merged until a chunk has this many pictures */
    GOP_PICTURES_MAX = 1500, /* a longer GOP is decoded while it is read */
};
#define GOP_BYTES_MAX ((size_t)192 << 20)

struct chunker_counts {
    uint64_t displayed;        /* frames numbered so far */
    uint64_t chunks, skipped;  /* chunks emitted; GOPs that were not needed */
    uint64_t held;             /* pictures that wait for the first random access point */
    uint64_t lead_in;          /* pictures before the first random access point */
    uint64_t dropped;          /* displayed frames that are missing, in gaps */
    uint64_t dropped_selected; /* missing frames that are selected */
    int64_t first_us;          /* time of the first numbered frame; -1: none */
    int64_t end_us;            /* when the film's last frame leaves the screen; -1: not known yet */
};

/* Receives a chunk and owns it, also after a failure. */
typedef bool chunker_emit(void *user, struct chunk *chunk, struct err *e);

/* Receives a displayed key frame, its tag filled. May take the packet, and then sets it to NULL. */
typedef bool chunker_key(void *user, struct picture *key, struct err *e);

struct chunker_config {
    struct selection selection;
    struct codec_traits traits;
    struct film_clock clock;
    struct columns *columns;         /* selected frames are announced here; NULL: not at all */
    struct frame_times *frame_times; /* every numbered frame is added here; NULL: not at all */
    /*
     * Returns whether a selected frame exists already. A GOP whose selected frames all exist is not
     * decoded; any other GOP is decoded completely. NULL: no frame exists
     */
    frame_have *have;
    void *have_user;
    chunker_emit *emit; /* NULL: nothing is emitted (only counting) */
    /*
     * Called for each GOP's first picture, instead of the selection. Then the other pictures need
     * no packets, and a GOP may have any length. NULL: the selection picks.
     */
    chunker_key *key;
    void *user; /* of both */
};

struct chunker;

struct chunker *chunker_open(const struct chunker_config *config, struct err *e);

/* Pushes the next picture, and owns its packet from then on, also after a failure. */
bool chunker_push(struct chunker *g, struct picture *p, struct err *e);

/*
 * Ends the input with the selection. Pictures that were not pushed may belong between those that
 * are held, so a jump in time is not a gap from now on. Call chunker_end next.
 */
void chunker_stop(struct chunker *g);

/* Ends the film, or the part before chunker_stop: emits what is held. */
bool chunker_end(struct chunker *g, struct err *e);

/* Records that the file is truncated before picture `serial`. Call it before chunker_end. */
void chunker_break_off(struct chunker *g, uint64_t serial);

/*
 * Returns true if the held pictures cannot become a chunk: a GOP is too long, or no random access
 * point came for as long (`at_end`: at all). The caller then calls chunker_release and decodes
 * sequentially from there.
 */
bool chunker_stuck(const struct chunker *g, bool at_end);

/* Returns true once the film's first picture is known, and which leading ones can be decoded. */
bool chunker_begun(const struct chunker *g);

/* Returns true if the selection can pick nothing more. */
bool chunker_done(const struct chunker *g);

/*
 * What a sequential decoder needs to go on from here. chunker_release emits everything before the
 * GOP that is being collected. It moves that GOP's pictures (the caller frees them by chunk_free),
 * the cursor, the next frame number and the times to *s.
 */
struct chunker_state {
    struct chunk *held; /* may be empty, never NULL */
    struct selection_cursor cursor;
    uint64_t next_frame;
    struct timeline timeline;
    struct time_queue places; /* the caller frees it */
    int64_t first_us;         /* as in chunker_counts */
};
bool chunker_release(struct chunker *g, struct chunker_state *s, struct err *e);

struct chunker_counts chunker_counts_now(const struct chunker *g);

/* Returns the time of the last numbered frame; -1 before the first. */
int64_t chunker_last_us(const struct chunker *g);

void chunker_free(struct chunker **g);

/*
 * ---- chunk.c: which key frame fills which columns (--keyframes) ----
 *
 *     reader -> keys_hold (a key frame, in display order)
 *            -> keys_serve (until when it is the latest key frame) -> a chunk of one picture
 *
 * A key frame is held until it is known how many columns it fills, and emitted when the next one is
 * held. A key frame that fills none is dropped. One thread, except for bad_key_list.
 */
struct keys_config {
    struct selection selection; /* its `keyframes` is true */
    struct columns *columns;    /* columns are announced here; NULL: not at all */
    /* Returns whether a frame exists: its key frame is not emitted. NULL: none exists */
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
 * Holds the key frame `p`, displayed after all earlier ones; its tag has frame and time_us. `second`
 * is its second field if that has its own packet. Emits the one that was held. Owns both packets
 * from then on, also after a failure. Returns false if out of memory, or if `emit` fails.
 */
bool keys_hold(struct keys *k, struct picture *p, struct picture *second, struct err *e);

/*
 * Gives the held key frame, if there is one, all open columns before `until`, a player's time;
 * INT64_MAX: all that are left, of an interval without an end those that are due.
 */
void keys_serve(struct keys *k, int64_t until);

/* Emits the held key frame. Returns false if out of memory, or if `emit` fails. */
bool keys_end(struct keys *k, struct err *e);

/* Drops the held key frame. */
void keys_drop(struct keys *k);

/* Damaged key frames of a film, by serials that are the same in each reading. The caller locks. */
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
