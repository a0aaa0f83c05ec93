/*
 * chunker.h - from single pictures in decoding order to runs, with the selection applied
 * before anything is decoded.
 *
 *     push K0 p p p | K1 b b p p | K2 ...          (decoding order; | = a cut, b = leading)
 *     GOP 0 is known whole when K1's first non-leading picture (or the next cut) comes:
 *     its display order is [its own pictures but its leading ones] + [K1's leading ones].
 *
 * The GOP's pictures get their frame numbers and times, the selection says which are wanted,
 * and each wanted one is announced in the columns, so that one which never decodes is known.
 * A GOP without a wanted picture is thrown away unread; others are merged into runs of about
 * CHUNK_PICTURES as long as they follow one another.
 *
 * A lost picture (chunk.h) takes its place by its time. The frames that must have been in a gap
 * between two pictures are numbered, timed and announced too, though they are never decoded.
 *
 * One thread. Order inside a GOP is by picture order count, as decoders do it, where the counts
 * make sense; else by time where every picture has a distinct one; else (codecs that do not
 * reorder) by arrival. A chunk in which the first two disagree is marked `unsure`.
 */
#ifndef BARCODE_GOP_CHUNKER_H
#define BARCODE_GOP_CHUNKER_H

#include "chunk.h"
#include "media/bitstream/codec_traits.h"
#include "media/bitstream/coded_picture.h"
#include "media/select/timeline.h"
#include "barcode/media/selection.h"
#include "barcode/media/decode_counts.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    CHUNK_PICTURES = 64,     /* GOPs are merged until a chunk has this many */
    GOP_PICTURES_MAX = 1500, /* a GOP that grows beyond is decoded as it is read */
};
#define GOP_BYTES_MAX ((size_t)192 << 20)

struct chunker_counts {
    uint64_t displayed;        /* frames numbered so far */
    uint64_t chunks, skipped;  /* runs emitted, GOPs not needed */
    uint64_t lead_in;          /* pictures before the first cut */
    uint64_t dropped;          /* of the displayed ones: in a gap */
    uint64_t dropped_selected; /* of them: selected */
};

/* Takes a chunk (and owns it, on failure too). */
typedef bool chunker_emit(void *user, struct chunk *chunk, struct err *e);

/* A key frame that is displayed: numbered, with its time in its tag. Its packet may be taken, and
 * is then to be set to NULL. */
typedef bool chunker_key(void *user, struct picture *key, struct err *e);

struct chunker_config {
    struct selection selection;
    struct codec_traits traits;
    int64_t frame_us;                /* nominal time of a frame, for those that have none (> 0) */
    struct columns *columns;         /* wanted frames are announced here; NULL: not at all */
    struct frame_times *frame_times; /* every numbered frame is noted here; NULL: not at all */
    /*
     * asked of every selected frame; a GOP that has them all is not decoded; other GOPs are. NULL:
     * none is there
     */
    frame_have *have;
    void *have_user;
    chunker_emit *emit; /* NULL: nothing is emitted (only counting) */
    /*
     * Called for each GOP's first picture instead of any selection: the other pictures need no
     * packets, and a GOP may be of any length. NULL: the selection picks.
     */
    chunker_key *key;
    void *user; /* of both */
};

struct chunker;

struct chunker *chunker_open(const struct chunker_config *config, struct err *e);

/* Takes *p's packet, on failure too. */
bool chunker_push(struct chunker *g, struct picture *p, struct err *e);

/*
 * Ends the input before the end of the film, because the selection ended. Pictures that were not
 * pushed may belong between those that are held, so a jump in time is no gap from now on. Call
 * chunker_end next.
 */
void chunker_stop(struct chunker *g);

/* The film has ended, or chunker_stop was called: emits what is held. */
bool chunker_end(struct chunker *g, struct err *e);

/*
 * The file broke off before picture `serial`, which does not come: to be called before the film's
 * end.
 */
void chunker_break_off(struct chunker *g, uint64_t serial);

/*
 * True when what is held cannot become a chunk: a GOP is too long to hold, or no cut was seen for
 * as long (or, `at_end`, at all). The caller then asks chunker_release and decodes sequentially
 * from there.
 */
bool chunker_stuck(const struct chunker *g, bool at_end);

/* True once the film's first picture that can be decoded is known, and which of its leading
 * pictures. */
bool chunker_begun(const struct chunker *g);

/* True when the selection can want nothing more. */
bool chunker_done(const struct chunker *g);

/*
 * What a sequential decoder needs to go on from here: emits everything before the GOP being
 * collected and hands out that GOP's pictures (the caller's, chunk_free), the cursor, the next
 * frame number and the timeline.
 */
struct chunker_state {
    struct chunk *held; /* may be empty, never NULL */
    struct selection_cursor cursor;
    uint64_t next_frame;
    struct timeline timeline;
};
bool chunker_release(struct chunker *g, struct chunker_state *s, struct err *e);

struct chunker_counts chunker_counts_now(const struct chunker *g);

/* Time of the last numbered frame; -1 before the first. */
int64_t chunker_last_us(const struct chunker *g);

void chunker_free(struct chunker **g);

#ifdef __cplusplus
}
#endif
#endif
