/*
 * stream.h - a stream on both sides of a link: a thread of the confined worker process, which sends
 * the column of each frame, and its receiver in the parent, which believes none of it.
 *
 *     for each stream:  LIVE_CURRENT, LIVE_BREAK
 *                       LIVE_SHAPE   once, before the first LIVE_FRAME
 *                       LIVE_FRAME   a frame, in pieces
 *                       LIVE_END     the last message
 *
 * Numbers are in the machine's byte order.
 */
#ifndef BARCODE_LIVE_STREAM_STREAM_H
#define BARCODE_LIVE_STREAM_STREAM_H

#include <stdint.h>

#include "barcode/base/err.h"
#include "base/sandbox.h"
#include "base/worker.h"
#include "engine/engines.h"
#include "media/film_options.h"
#include "media/live/live_source.h"
#include "live/day/day.h"

/* ---- Messages ---- */

enum live_kind {
    LIVE_CURRENT = WORKER_KINDS, /* live_sink.current was called */
    LIVE_BREAK,                  /* the source broke, and will be opened again */
    LIVE_SHAPE,                  /* struct live_shape_message */
    LIVE_FRAME,                  /* struct live_frame_message */
    LIVE_END,                    /* the source ended: struct live_end_message */
    LIVE_STOP                    /* from the parent, without a stream: the process must end */
};

/* The first member of each message, and all of some. */
struct live_message {
    uint32_t kind;
    int32_t stream; /* index in the inputs */
};

struct live_shape_message {
    struct live_message head;
    int32_t width, height;  /* of analysis frames */
    int32_t transfer, peak; /* as in struct film */
};

/* A frame: this, then its column as in day.h, with the number 0. */
struct live_frame_head {
    int64_t arrived_ns, time_us; /* as in struct live_frame */
    struct live_average sum;
};

enum { LIVE_PIECE = LINK_BYTES - 16 };
struct live_frame_message {
    struct live_message head;
    uint32_t offset;
    uint8_t data[LIVE_PIECE]; /* the frame's bytes from `offset`, as many as the message has */
};

struct live_end_message {
    struct live_message head;
    int32_t code, unused;   /* enum err_code */
    uint64_t late, dropped; /* as in struct live_counts */
    char text[480];         /* of struct err */
};

/*
 * Returns the seconds to wait before attempt `failed` (from 1) after as many failures in a row: 1,
 * 2, 4, 8, 16, then 30. 0 failures: 0.
 */
int live_retry_seconds(int failed);

/* ---- In the parent: receiver.c. Main thread. ---- */

struct live_counts {
    uint64_t frames;  /* analysed */
    uint64_t late;    /* skipped, because a newer one was waiting */
    uint64_t dropped; /* as live_source.dropped, once the source has ended */
    uint64_t refused; /* of a column that was closed already, or not of now */
    uint64_t columns; /* closed with a frame */
    uint64_t breaks;  /* times the source broke */
};

struct live_receiver;

/* Opens the columns of a stream. Returns NULL on failure. */
struct live_receiver *live_receiver_open(const struct live_columns_setup *s,
                                         const struct live_clock *clock, struct err *e);

struct live_columns *live_receiver_columns(struct live_receiver *r);

/* Checks and handles a message of the stream. If it returns false, the worker must be killed. */
bool live_receiver_handle(struct live_receiver *r, const void *message, size_t size);

/* The worker process has ended. What it had not sent completely is dropped. */
void live_receiver_reset(struct live_receiver *r);

/*
 * As live_columns_tick, from when the source is current. Waits for frames that came in
 * time: twice as long as the last one took to be analysed, 0.25 s to 10 s.
 */
int64_t live_receiver_tick(struct live_receiver *r, int64_t now_us);

/* Returns true if the source has ended in order, or failed for good. */
bool live_receiver_ended(const struct live_receiver *r);

/* Returns the error for which the stream ended; ERR_NONE: none. */
const struct err *live_receiver_error(const struct live_receiver *r);

const struct live_counts *live_receiver_counts(struct live_receiver *r);

void live_receiver_free(struct live_receiver **r);

/* ---- In the worker process: channel.c, worker.c ---- */

/* The engines of the process: streams whose analysis frames have one size share an engine. */
struct live_engines;

/* `r` (live_plan.report), `list` and `light` are borrowed. */
struct live_engines *live_engines_open(const struct report *r, struct engines *list,
                                       struct light *light, int streams, struct err *e);

/* All channels must be closed. */
void live_engines_close(struct live_engines **g);

/* All but the first five may differ between streams. All are borrowed. */
struct live_channel_setup {
    const struct report *report; /* live_plan.report */
    const struct crop_rule *crop;
    const struct size_rule *size;
    const struct live_clock *clock;
    struct live_engines *engines;
    int link, stream; /* where messages go (worker.h), and whose they are */
    struct watch *watch;
    struct live_source *source;
    const char *label;
    int width, height; /* of analysis frames; 0: by `size` and the first frame */
};

struct live_channel;

/*
 * Starts the thread that runs the source, and runs it again when it breaks. Its last message is
 * LIVE_END. Returns NULL on failure.
 */
struct live_channel *live_channel_start(const struct live_channel_setup *setup, struct err *e);

void live_channel_request_stop(struct live_channel *c);

/*
 * Waits for the thread, which was asked to end. Returns false, and leaves the thread alone, if it
 * did not end within two seconds; the channel must then stay open.
 */
bool live_channel_join(struct live_channel *c);

/* The thread has ended. */
void live_channel_close(struct live_channel **c);

/* What the process gets from its parent by fork. */
struct live_worker {
    const struct report *report; /* live_plan.report */
    enum sandbox_choice sandbox;
    struct engines *engines;
    struct light *light;
    char *const *input; /* [count]: the names of the streams */
    size_t count;
    /* [count]; link, watch and engines are set here. Those without a source have ended */
    struct live_channel_setup *stream;
};

/* Makes what the sandbox needs. Fails if --sandbox=require and the kernel lacks a part. Parent. */
bool live_worker_prepare(const struct engines *g, enum sandbox_choice sandbox, struct err *e);

/* Closes all descriptors that are close-on-exec, except `keep`. In a forked process. */
void live_worker_close_others(int keep);

/*
 * Gives up the rights of this process, and reads all streams until the parent sends LIVE_STOP. It
 * may read devices and folders among the inputs, and reach the network if an input is a URL, but
 * has no right in the folder of the outputs. Announces the exit status to the parent: 0, or that of
 * a failure before the streams were started, which it reports. Ends the process.
 */
_Noreturn void live_worker_run(const struct live_worker *l, struct worker *w);

#endif
