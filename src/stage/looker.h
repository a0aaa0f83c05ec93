/*
 * looker.h - one thread's look for bars (film_bars.c): at the key frames of some places of a film, or at what follows its first one.
 *
 * A looker reads a file that it has opened for itself, so that nothing that reads the film is disturbed.
 */
#ifndef BARCODE_STAGE_LOOKER_H
#define BARCODE_STAGE_LOOKER_H

#include "film_looks.h"
#include "side_data.h"
#include "barcode/trim.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { LOOKS_MORE = 10, LOOKS_ENOUGH = LOOKS_FEW };     /* at what follows a key frame: up to so many, until so many tell */

/* How a place is sought. */
enum way { BY_TIME, BY_BYTE, NO_WAY };

/* What became of one place. */
struct look {
    bool looked;
    bool claimed;
    int64_t key;                          /* where its key frame lies, once it is claimed  */
    struct trim_seen seen;
};

/* What all lookers of a film share. */
struct looks {
    const struct film *film;
    int wanted;                           /* the video stream: film_av_open_stream's       */
    const AVFormatContext *opened;        /* the film, as whoever asked has it; NULL: not at all, or no longer lent */
    const struct probe_request *request;  /* lent: lets_go is called once no looker opens the film any more */
    atomic_int to_open;                   /* lookers that have yet to open it; 0: it is not to be let go */
    struct film_looks plan;
    int until;                            /* in plan.at, for now                           */
    atomic_int next;
    pthread_mutex_t lock;                 /* guards each look's `key` while others look    */
    struct look look[LOOKS + LOOKS_MORE]; /* by place; then what follows the first key frame */
};

/* Pictures that told something, and of them those that suggest bars. */
struct looks_tally {
    int told, suggested;
};

struct looker {
    struct looks *looks;                  /* lent                                          */
    int threads;                          /* of the decoder's                              */
    struct looks_tally tally;             /* while it looks on: with those of other lookers */
    bool on;                              /* at what follows the first key frame           */
    bool alone;                           /* a packet is a picture, and a key frame can be had without what follows it */
    bool hurt;                            /* a packet of this look was damaged             */
    bool doubted;                         /* a decoder with threads may have met damage    */
    bool fresh;                           /* the decoder is new                            */
    enum way way;
    enum key_index_kind index;
    AVFormatContext *format;              /* NULL: not open yet                            */
    AVStream *stream;
    AVCodecContext *decoder;
    struct damage_watch watch;
    struct side_data side;
    AVPacket *packet;
    AVFrame *frame, *planes;
    uint32_t *room;
    struct err error;                     /* the first one                                 */
};

/* As looker_main finds it: opens the film for the looker alone. False, on its `error`, where the film or memory cannot be had. */
bool looker_open(struct looker *l);

/* Frees what it holds; its `looks` keep what it saw. Also after looker_open failed. */
void looker_close(struct looker *l);

/* A looker has the film open, or will not open it. */
void looker_is_open(struct looks *looks);

/*
 * A thread's: opens the looker (a struct looker) if it is not open, and looks at the places that are left, or on from the film's first key frame. What it saw is
 * in its `looks`, what went wrong in its `error`. Returns NULL.
 */
void *looker_main(void *looker);

/* The first picture's time as the film's file has it, in microseconds. */
int64_t looker_start_us(const AVStream *s);

/* True if the picture says something of one axis at least. */
bool looker_tells(const struct trim_seen *seen);

/* Counts the picture in. */
void looker_count(struct looks_tally *tally, const struct trim_seen *seen);

/* True if no rectangle can come of what was seen, of which so many pictures suggest one, and of `more` other pictures. */
bool looker_is_hopeless(int suggested, int more);

#ifdef __cplusplus
}
#endif
#endif
