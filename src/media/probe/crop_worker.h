/*
 * crop_worker.h - one thread's look for bars (crop_detect.c): at the key frames of some places of a film, or
 * at the pictures that follow its first key frame.
 *
 * A looker reads a file that it has opened for itself, so that nothing that reads the film is
 * disturbed.
 */
#ifndef BARCODE_PROBE_CROP_WORKER_H
#define BARCODE_PROBE_CROP_WORKER_H

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <pthread.h>
#include <stdatomic.h>

#include "media/decode/corruption.h"
#include "media/ffmpeg/side_data.h"
#include "barcode/engine/trim.h"
#include "barcode/media/film.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { LOOKS = 24 };          /* places, spread evenly over the film                         */
enum { LOOKS_FEW = 4 };       /* fewer different pictures do not tell what shape a film has  */
enum { LOOKS_MORE = 10, LOOKS_ENOUGH = LOOKS_FEW };     /* pictures behind a key frame: up to so
                                                           many, until so many tell something */

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
    const AVFormatContext *opened;        /* the film, lent, as whoever asked has it; or NULL */
    atomic_int next;                      /* place                                         */
    pthread_mutex_t lock;                 /* guards each look's `key` while others look    */
    struct look look[LOOKS + LOOKS_MORE]; /* by place; then what follows the first key frame */
};

struct looker {
    struct looks *looks;                  /* lent                                          */
    bool alone;                           /* a packet is a picture, and a key frame can be had without what follows it */
    bool hurt;                            /* a packet of this look was damaged             */
    bool fresh;                           /* the decoder is new                            */
    enum way way;
    AVFormatContext *format;              /* NULL: not open                                */
    AVStream *stream;
    AVCodecContext *decoder;
    struct damage_watch watch;
    struct side_data side;
    AVPacket *packet;
    AVFrame *frame, *planes;
    uint32_t *room;
    struct err error;                     /* the first one                                 */
};

/*
 * A thread's: opens the film for the looker (a struct looker) and looks at the places that are left.
 * What it saw is in its `looks`, what went wrong in its `error`. Returns NULL.
 */
void *looker_main(void *looker);

/*
 * Looks at some of the pictures that follow the film's first key frame, if fewer than LOOKS_ENOUGH
 * pictures have told something and these may make a rectangle. After looker_main.
 */
void looker_look_on(struct looker *l);

/* Frees what it holds; its `looks` keep what it saw. Also after an error. */
void looker_close(struct looker *l);

/* Returns true if the picture tells something of one axis at least. */
bool looker_tells(const struct trim_seen *seen);

#ifdef __cplusplus
}
#endif
#endif
