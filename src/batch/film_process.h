/*
 * film_process.h - what the parent knows of a worker process of a batch: which films it has in
 * progress, and which of their files it has opened for it. All that a worker sends is checked here:
 * what does not fit the state of the process is nonsense, and ends it.
 */
#ifndef BARCODE_BATCH_FILM_PROCESS_H
#define BARCODE_BATCH_FILM_PROCESS_H

#include "batch.h"
#include "film_queue.h"
#include "base/atomic_file.h"
#include "base/file.h"
#include "base/worker.h"
#include "plan/outputs.h"
#include "output/run_files.h"
#include "job/job.h"

/* What the films of a run have in common in the parent. */
struct batch {
    const struct job_context *context;
    const struct batch_options *options;
    enum sandbox_choice sandbox;
    struct film_queue *queue;
    struct report_log *report;     /* NULL: none */
    struct table *table;           /* NULL: none */
    const struct batch_sink *sink; /* NULL: outputs are files */
    uint64_t serials;              /* films given to workers so far */
};

/* A film worker of the process. */
struct slot {
    bool busy; /* with `film` */
    size_t film;
    uint64_t serial;               /* of this film in this slot, for watch.h */
    uint64_t stamp;                /* of its files before they were opened (film_id.h) */
    const struct outputs *outputs; /* of the film */
    bool again;                    /* it was rendered before, and outputs of it may exist */
    struct err refusal;            /* why an output may not be written; ERR_NONE: all may */
    /* of `outputs` */
    enum {
        OUTPUT_UNCHECKED,
        OUTPUT_REFUSED,
        OUTPUT_ALLOWED,
        OUTPUT_WRITTEN
    } state[STRIPS_MOST + WRITERS_MOST + 1];
    size_t next_file;                              /* the file of the film that is expected next */
    double total_s, untimed_s, silent_s, ending_s; /* film_watch.h */
    char reason[128]; /* why the film was asked to end; "": it was not */
};

enum { GRANTS_MOST = 256 }; /* a film has some ten, and each costs the parent a descriptor */

/* An output that is being written. */
struct grant {
    enum { GRANT_NONE, GRANT_OUTPUT, GRANT_TABLE, GRANT_MEMORY } kind;
    struct atomic_target *target; /* GRANT_OUTPUT */
    int part;                     /* GRANT_TABLE, GRANT_MEMORY: a descriptor */
    int slot;
    size_t output; /* in the slot's outputs */
};

struct film_process {
    struct worker worker;
    struct slot slot[WATCHES];
    struct grant grant[GRANTS_MOST];
    unsigned taken;            /* films, since the process has started */
    unsigned lines;            /* of the log, since a film has ended */
    double silent_s, ending_s; /* film_watch.h */
};

/*
 * Handles the messages that the process has sent, some of them if there are many. Returns false
 * once the process has ended, and worker_end is due.
 */
bool film_process_handle(struct film_process *p, struct batch *b);

/* Handles one message, of `size` bytes at an address aligned for any struct. Takes `fd`. For tests
 * and film_process_handle. Returns false if it is nonsense. */
bool film_process_message(struct film_process *p, struct batch *b, const void *message, size_t size,
                          int fd);

/* Gives a slot back. What is unfinished of its outputs is removed. */
void film_process_leave(struct film_process *p, int slot);

/*
 * Reports the problems that are known before the first film is opened, so that the user sees them
 * at once. Adds these films and the skipped ones to the report log. Returns false if the log cannot
 * be written.
 */
bool film_report_known(const struct batch *b, struct err *e);

/*
 * Adds a film to the report log, if there is one; `failure` is empty if it succeeded. `written` is
 * false if not all its outputs are. Returns false if the log cannot be written.
 */
bool film_report_add(const struct batch *b, size_t film, bool written,
                     const struct job_result *result, const struct err *failure, struct err *e);

/* Returns how many films are in progress. */
int film_process_busy(const struct film_process *p);

#endif
