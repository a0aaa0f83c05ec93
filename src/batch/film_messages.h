/*
 * film_messages.h - the messages between a worker process of a batch and its parent, beside those
 * of worker.h. README.md has a table of who checks what.
 */
#ifndef BARCODE_BATCH_FILM_MESSAGES_H
#define BARCODE_BATCH_FILM_MESSAGES_H

#include <limits.h>
#include <stdint.h>

#include "base/worker.h"
#include "job/job.h"

enum film_message {
    FILM_ASK = WORKER_KINDS, /* answered by film_answer */
    FILM_ASK_FILE,           /* answered by file_answer */
    FILM_ENDED,
    FILM_AGAIN /* film_end without its result: memory ran out, to be rendered again alone */
};

/* "Which film is next?" from film worker `slot`, which has none. */
struct film_ask {
    uint32_t kind, slot;
    uint32_t alone; /* only films that must be rendered alone: no other film is in progress */
};

struct film_answer {
    uint32_t found;  /* 0: no film is left */
    uint64_t film;   /* index in the inputs */
    uint64_t serial; /* of watch.h */
};

/* A file_request (file.h) for the film of film worker `slot`. */
struct file_ask {
    uint32_t kind, slot, request;
    int32_t file;
    char path[PATH_MAX]; /* the message ends with its zero */
};

/* With a descriptor, if the request has one. */
struct file_answer {
    int32_t error; /* an errno value; 0: done */
    int32_t file;
};

/* Film worker `slot` has rendered its film. */
struct film_end {
    uint32_t kind, slot;
    uint32_t code; /* enum err_code */
    char text[sizeof((struct err *)NULL)->text];
    struct job_result result; /* plain numbers and texts; missing in FILM_AGAIN */
};

#endif
