/*
 * live_message.h - what the worker process of --live sends to its parent (worker.h).
 *
 *     for each stream:  LIVE_CURRENT, LIVE_BREAK
 *                       LIVE_SHAPE   once, before the first LIVE_FRAME
 *                       LIVE_FRAME   a frame, in pieces
 *                       LIVE_END     the last message
 *
 * The parent believes none of it: live_receiver.h has the checks. Numbers are in the machine's byte
 * order.
 */
#ifndef BARCODE_LIVE_LIVE_MESSAGE_H
#define BARCODE_LIVE_LIVE_MESSAGE_H

#include <stdint.h>

#include "barcode/base/err.h"
#include "base/worker.h"
#include "live_record.h"

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
    int32_t stream; /* index in options.input */
};

struct live_shape_message {
    struct live_message head;
    int32_t width, height;  /* of analysis frames */
    int32_t transfer, peak; /* as in struct film */
};

/* A frame: this, then its column as in live_record.h, with the number 0. */
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

#endif
