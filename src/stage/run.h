/*
 * run.h - pictures in decoding order, gathered into runs before they are decoded.
 *
 * A run is what one session decodes in one go: one or more whole GOPs, starting where a
 * decoder that knows nothing may start, and after them, where it needs them, the next GOP's
 * key and leading pictures ("extras": they are displayed before that key and refer to this run).
 * Serials inside a run are consecutive, so serial - first serial is an index.
 *
 * Nothing here knows libav: a packet is an opaque pointer that the three packet_
 * functions (packet.c) handle. Pure otherwise, one thread a run.
 */
#ifndef BARCODE_RUN_H
#define BARCODE_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "barcode/err.h"
#include "barcode/frame.h"
#include "nal.h"
#include "timeline.h"

#ifdef __cplusplus
extern "C" {
#endif

struct AVPacket;

enum action {
    ACTION_SKIP,      /* the decoder never sees it                              */
    ACTION_DECODE,    /* decode, the picture itself is not wanted (DISCARD)     */
    ACTION_OUTPUT     /* decode and hand out                                    */
};

struct picture {
    struct AVPacket *packet;  /* owned by the run or gather that holds the picture; NULL: lost */
    uint64_t serial;          /* number of the video packet in the file, from 0       */
    int64_t pts_us;           /* presentation time as stored, TIME_NONE when missing  */
    int64_t duration_us;      /* as stored, 0 when missing                             */
    int64_t order;            /* picture order count inside its GOP, TIME_NONE if unknown */
    enum cut cut;
    int temporal_id;
    bool hidden;              /* never displayed: no picture inside, edit list, VP8/VP9 not shown */
    bool lost;                /* the file has no picture where one must be: displayed, never decoded; what
                                 refers to it is damaged, and `order` is not known               */
    bool empty;               /* by its own account the packet holds no picture: an error means nothing */
    bool field;               /* one field of a picture whose other one has a packet of its own  */
    bool second;              /* the second field of the picture before it                       */
    bool suspect;             /* what follows it in the file is damaged, so that its end may be  */
    bool after_hole;          /* something of the film vanished right before it: so for what refers back */
    bool intra;               /* nal_info's                                            */
    bool droppable;           /* nal_info's                                            */
    bool needs_before;        /* HEVC RASL                                             */
    bool closed;              /* a key whose leading pictures need nothing before it    */
    uint64_t sets;            /* H.264: the state of the parameter sets in force (nal_sets.h)   */
    bool marked_leading;      /* the bitstream says that it leads its key (HEVC)       */
    bool leading;             /* displayed before its GOP's key; found by gather       */
    bool wanted;              /* the selection wants it: `tag` is filled               */
    bool done;                /* session: it is staged                                 */
    enum action action;       /* run_plan's verdict                                    */
    uint64_t frame;           /* number in display order (not for hidden ones)         */
    struct frame_tag tag;
};

struct run {
    struct picture *picture;  /* [count] in decoding order                              */
    size_t count, room;
    size_t own;               /* pictures [own, count) are extras                       */
    size_t wanted;            /* how many are wanted, extras included                   */
    size_t bytes;             /* of all packets                                         */
    uint64_t frames;          /* displayed frames that are covered once the run is done */
    bool unsure;              /* its display order is a guess: decode everything and see */
    size_t unfed;             /* bytes of its packets that no decoder has got yet        */
    size_t work;              /* what decoding what is unfed takes, in bytes (staging.c) */
    size_t passed;            /* pictures that a software session is done with (staging_passed) */
    int64_t cpu_ns;           /* the session's processor time when it was last counted   */
    int64_t taken_ns;         /* when a session took it (clock_ns)                       */
    int threads;              /* on so many it is decoded in software; 0: not taken, or by NVDEC */
};

/* What a codec allows. */
struct run_traits {
    enum bitstream stream;
    bool parallel;      /* cut into runs; else everything goes through one sequential decoder     */
    bool flush;         /* a decoder must be drained and flushed before a run that does not follow
                           on (H.264, HEVC, MPEG-2); VP8/VP9/AV1 keys reset by themselves         */
    bool discard;       /* AV_PKT_FLAG_DISCARD is safe (not with show-existing-frame)             */
    bool drop;          /* `droppable` pictures may be left out                                   */
    bool reorder;       /* display order differs from decoding order                              */
};

struct run_traits run_traits(enum bitstream stream);

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
 * Pictures of a run come out of a decoder in display order, or the order that gather foresaw is wrong. Begin with zeros; a
 * run that is decoded anew begins with `last` 0.
 */
struct run_order {
    uint64_t last;     /* highest frame number that came out so far                       */
    bool wrong;        /* a picture came out after one that should have followed it       */
};

/* `p` came out. Hidden pictures and those that are staged already say nothing, nor do codecs that do not reorder. */
void run_order_watch(struct run_order *o, const struct run_traits *t, const struct picture *p);

/*
 * Returns true if a decoder with frame threads may decode it: it is long enough to gain, its order
 * is no guess, and nothing is known to be missing or torn.
 */
bool run_may_have_threads(const struct run *r);

/* True if every picture that is wanted is done. */
bool run_is_whole(const struct run *r);

/* Frees pictures and packets and the run itself; *r becomes NULL. NULL is fine. */
void run_free(struct run **r);

/* packet.c (libav): another reference to the same bytes; NULL on no memory. Free one. Its size in bytes. NULL is fine. */
struct AVPacket *packet_clone(const struct AVPacket *p);
void packet_free(struct AVPacket **p);
size_t packet_size(const struct AVPacket *p);

#ifdef __cplusplus
}
#endif
#endif
