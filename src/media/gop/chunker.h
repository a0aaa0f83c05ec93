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
 * A lost picture (coded_picture.h) gets its place by its time. Frames that are missing in a gap
 * between two pictures are numbered, timed and announced too, though they are never decoded.
 *
 * One thread. The order inside a GOP is by picture order count, as in decoders, if the counts are
 * valid. Otherwise it is by time if each picture has a distinct time, and by arrival for codecs
 * that do not reorder. A chunk in which the first two contradict each other is marked `unsure`.
 */
#ifndef BARCODE_GOP_CHUNKER_H
#define BARCODE_GOP_CHUNKER_H

#include "chunk.h"
#include "media/bitstream/packet_scan.h"
#include "media/bitstream/coded_picture.h"
#include "media/select/timeline.h"
#include "media/select/selection.h"
#include "decode_counts.h"

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

/*
 * Receives a displayed key frame, with its number and time in its tag. It may take the packet, and
 * then sets it to NULL.
 */
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
 * Ends the input before the end of the film, because the selection ended. Pictures that were not
 * pushed may belong between those that are held, so a jump in time is not a gap from now on. Call
 * chunker_end next.
 */
void chunker_stop(struct chunker *g);

/* Ends the film, or the part before chunker_stop: emits what is held. */
bool chunker_end(struct chunker *g, struct err *e);

/*
 * Records that the file is truncated before picture `serial`, which does not come. Call it before
 * chunker_end.
 */
void chunker_break_off(struct chunker *g, uint64_t serial);

/*
 * Returns true if the held pictures cannot become a chunk: a GOP is too long, or no random access
 * point came for as long (`at_end`: at all). The caller then calls chunker_release and decodes
 * sequentially from there.
 */
bool chunker_stuck(const struct chunker *g, bool at_end);

/*
 * Returns true once it is known with which picture the film begins, and which of its leading
 * pictures can be decoded.
 */
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

#endif
