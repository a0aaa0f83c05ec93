/*
 * live_source.h - frames of something that goes on: a stream, a device, a pipe, or a folder in
 * which pictures appear. Unlike source.h it has no end, no selection and no length: frames come
 * when they come.
 *
 *   live_source_open -> (live_source_run -> live_sink calls)* -> live_source_close
 *
 * `run` blocks on the caller's thread until the source breaks or live_source_stop is called. The
 * caller waits and runs it again: each run connects anew.
 */
#ifndef BARCODE_LIVE_SOURCE_H
#define BARCODE_LIVE_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "barcode/base/err.h"
#include "barcode/engine/frame.h"
#include "media/film.h"

struct live_frame {
    const struct film *film;       /* what is known of the source; borrowed, until the next run */
    const struct frame_view *view; /* borrowed during the call */
    int64_t arrived_ns;            /* clock_ns() when its packet had been read */
    int64_t time_us; /* when it was taken: microseconds of UTC since 1970; 0: when it arrived */
    bool damaged;    /* the decoder reported corruption in the frame */
    /* a newer frame is already waiting: it is passed over, unless its column has none yet */
    bool late;
};

/* What a source calls while it runs, from the thread of `run` only. */
struct live_sink {
    /* A decoded frame. If false, the run ends with *e. What comes meanwhile is late. */
    bool (*frame)(void *user, const struct live_frame *frame, struct err *e);
    /*
     * Called once a run, when all frames of before the run are delivered (a folder's pictures).
     * Until then no column is closed because its time is over.
     */
    void (*current)(void *user);
    void *user;
};

struct live_options {
    const char *name;   /* URL, device, "-" or folder, as the user gave it; borrowed */
    const char *label;  /* what messages call it: without secrets; NULL: its name; borrowed */
    int64_t timeout_us; /* nothing for so long: the source is broken */
    bool keyframes;     /* decode key frames only */
    bool recursive;     /* a folder: also the pictures in folders below it */
    int stream;         /* a number from 0, or SOURCE_STREAM_CHOICE (source.h) */
    int threads;        /* of the decoder (slices), 1 or more */
};

struct live_source;

/* A kind of source. */
struct live_source_kind {
    const char *name; /* "stream", "folder" */
    /*
     * Its frames have times of their own, and come long after them: exposure, upload. So no column
     * ends by the clock, but when a later frame comes.
     */
    bool dated;
    struct live_source *(*open)(const struct live_options *o, struct err *e);
    bool (*run)(struct live_source *s, const struct live_sink *sink, struct err *e);
    void (*stop)(struct live_source *s);
    void (*close)(struct live_source **s);
};

/* The first member of a kind's private data. */
struct live_source {
    const struct live_source_kind *kind;
    bool over;        /* after a run: no other can follow, because stdin has ended */
    uint64_t dropped; /* after a run: packets of all runs for which the decoder was too slow */
    /*
     * Set before a run: pictures of a folder that were taken earlier are passed over. Microseconds
     * of UTC; 0: none are
     */
    int64_t since_us;
};

extern const struct live_source_kind live_folder; /* live_folder.c */
extern const struct live_source_kind live_stream; /* live_stream.c */

/* Returns true if live_folder opens `name`, and not live_stream. Opens nothing. */
bool live_folder_fits(const char *name);

/*
 * Returns a source, not connected yet. Fails with ERR_USAGE if the name's protocol or device is not
 * in this build; with ERR_MEMORY.
 */
struct live_source *live_source_open(const struct live_options *o, struct err *e);

/*
 * Connects and calls `sink` for each frame. Returns false with the reason if the source broke; true
 * if it ended in order: the pipe was closed, or live_source_stop was called.
 */
bool live_source_run(struct live_source *s, const struct live_sink *sink, struct err *e);

/* Makes live_source_run return within 0.5 s, and later ones at once. Any thread. */
void live_source_stop(struct live_source *s);

/* Frees *s, which is not running, and sets it to NULL. Does nothing if *s is NULL. */
void live_source_close(struct live_source **s);

#endif
