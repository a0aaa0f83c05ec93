/*
 * keyframe_chunks.h - which key frame serves which columns (--keyframes), and runs of one picture
 * for the workers.
 *
 *     reader -> keys_hold (a key frame, in display order) -> keys_serve (until when it is the
 * latest one) -> run of one
 *
 * A key frame is held until it is known how many columns it serves, and sent off when the next one
 * is held. Those that serve none are dropped. Nothing here knows libav; who finds the key frames is
 * keyframe_reader.c. One thread, but for bad_key_list.
 */
#ifndef BARCODE_GOP_KEYFRAME_CHUNKS_H
#define BARCODE_GOP_KEYFRAME_CHUNKS_H

#include "chunker.h"
#include "media/bitstream/coded_picture.h"
#include "barcode/media/selection.h"
#include "barcode/media/decode_counts.h"

#ifdef __cplusplus
extern "C" {
#endif

struct keys_config {
    struct selection selection; /* with `keyframes` */
    struct columns *columns;    /* served columns are announced here; NULL: not at all */
    /* asked of every key frame that serves; what is there is not sent off. NULL: none is there */
    frame_have *have;
    void *have_user;
    chunker_emit *emit; /* takes the runs */
    void *user;
};

struct keys {
    struct keys_config config;
    struct selection_cursor cursor;
    bool holds;
    struct picture held;     /* its tag has number, time and the columns so far */
    struct AVPacket *second; /* of it: its second field, NULL: none */
    uint64_t sent;           /* runs so far */
};

/* Cannot fail. What is held is freed by keys_end or keys_drop. */
void keys_begin(struct keys *k, const struct keys_config *config);

/*
 * The key frame `p`, displayed after all before it: its tag has frame and time_us. What was held is
 * sent off. Takes p's packet and `second` (may be NULL), on failure too. False: memory, or what
 * emit says.
 */
bool keys_hold(struct keys *k, struct picture *p, struct AVPacket *second, struct err *e);

/*
 * What is held serves all columns that are open and wanted before `until` (microseconds of film
 * time, INT64_MAX: all that are left; by an interval without an end those up to the one that is
 * due). Nothing happens when nothing is held.
 */
void keys_serve(struct keys *k, int64_t until);

/* Sends off what is held. False: memory, or what emit says. */
bool keys_end(struct keys *k, struct err *e);

/* Throws away what is held. */
void keys_drop(struct keys *k);

/* ---- key frames that are not to be used ---- */

/*
 * Key frames of one film that turned out damaged, by the serials that its reader gives them: the
 * same every time the film is read. The caller locks.
 */
struct bad_key_list {
    uint64_t *serial; /* [count], ascending */
    size_t count, room;
};

bool key_faults_has(const struct bad_key_list *f, uint64_t serial);

/* Notes one; true also when it was there. False: memory. */
bool key_faults_add(struct bad_key_list *f, uint64_t serial, struct err *e);

/* Frees and empties. */
void key_faults_clear(struct bad_key_list *f);

#ifdef __cplusplus
}
#endif
#endif
