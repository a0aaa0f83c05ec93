/*
 * worker.h - a worker process and its link to the parent: for a batch of films, and for --live. A
 * crash of a decoder, or a kill when memory runs out, ends the worker. The parent survives.
 *
 * The two share counters (watch.h) and nothing else. All else is messages of a link, which begin
 * with their kind. Those of this file are lines of the log and the announced end. The parent
 * handles these, and takes a worker that sends nonsense for a crashed one.
 */
#ifndef BARCODE_WORKER_H
#define BARCODE_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "barcode/base/err.h"
#include "interrupt.h"
#include "watch.h"

/*
 * ---- a link: a pair of sockets that keep the bounds of messages (SOCK_SEQPACKET) ----
 *
 * A message is plain bytes and at most one descriptor. Neither end believes the other: the receiver
 * checks the size and every field of a message.
 */

enum { LINK_BYTES = 64 << 10 }; /* the longest message */

/* Opens both ends of a link. Any thread. */
bool link_open(int end[2], struct err *e);

/*
 * Sends a message of up to LINK_BYTES, and a duplicate of descriptor `fd` unless it is -1. Waits
 * while the link is full or the kernel takes no more, as progress of the film (watch.h). Returns
 * false with errno if the other end is closed. Any thread.
 */
bool link_send(int link, const void *message, size_t size, int fd);

/* As link_send, but does not wait. Returns false with EAGAIN if the link is full. */
bool link_try_send(int link, const void *message, size_t size, int fd);

enum { LINK_CLOSED = 0, LINK_EMPTY = -1, LINK_BROKEN = -2 };

/*
 * Receives a message without waiting. Returns its size, 1 or more, and sets `*fd` to the descriptor
 * that came with it, which the caller closes, or to -1, also if this process can open no more.
 * Returns LINK_CLOSED if the other end is closed or sent an empty message, LINK_EMPTY if no message
 * is there, and LINK_BROKEN if the message is longer than `room` or has several descriptors. Any
 * thread.
 */
ssize_t link_receive(int link, void *message, size_t room, int *fd);

/* As link_receive, but waits for a message, which counts as progress of the film. */
ssize_t link_wait(int link, void *message, size_t room, int *fd);

/* ---- a worker ---- */

enum { WORKERS_MOST = INTERRUPT_WORKERS_MOST };

/* The first member of each message. Kinds of other messages start at WORKER_KINDS. */
enum worker_kind { WORKER_LINE = 1, WORKER_LEAVES, WORKER_GREW, WORKER_KINDS = 16 };

/* Reasons for worker_kill. */
#define WORKER_NONSENSE "the worker process sent nonsense and was killed"
#define WORKER_SILENT "the worker process did not answer and was killed"
#define WORKER_GREEDY "memory ran out"

struct worker {
    int number;          /* index among the worker processes, from 0 */
    pid_t pid;           /* in the parent: > 0 while there is a process; in the worker: 0 */
    int link;            /* this process's end; -1: none */
    struct watch *watch; /* WATCHES of them */
    /* in the parent */
    const char *killed; /* why worker_kill was called, as in worker_end's error; NULL: it was not */
    bool leaves, lingers; /* it has announced its end; it need not be waited for */
    int announced;        /* the exit status that it announced */
    int status;           /* after worker_end: the exit status; -1: killed by a signal */
    unsigned messages;    /* since worker_tick */
    uint64_t memory;      /* bytes that it may use; at first limits_memory() */
};

/*
 * Forks a worker process. Returns its pid in the parent, 0 in the worker, and -1 with an error. In
 * the worker, log_msg sends to the parent from then on. Signals reach the worker through the parent
 * (interrupt_fork). Main thread only, and no other thread may run.
 */
pid_t worker_start(struct worker *w, int number, struct err *e);

/* ---- in the worker ---- */

/*
 * Replaces the standard streams by /dev/null, but for those whose bit is set in `keep` (1: stdin).
 * A worker that is confined writes to no terminal, and a reader of this program's pipe waits for
 * the last process that has it open.
 */
void worker_leave_streams(unsigned keep);

/*
 * Announces that the process will only exit, with `status`. `lingers` is true if that takes long,
 * because the driver frees the GPU's decoders. The parent then does not wait. The CPU time of the
 * worker is missing from the times of the parent's children (`time`).
 */
void worker_leaves(struct worker *w, int status, bool lingers);

/*
 * Starts a thread that reports to the parent when this process uses more than `memory` bytes. The
 * parent looks itself, but not as often as a film can grow.
 */
void worker_watch_memory(const struct worker *w, uint64_t memory);

/* ---- in the parent ---- */

enum worker_event {
    WORKER_QUIET,   /* no message is there */
    WORKER_LOGGED,  /* it was a line of the log, or a report of growth */
    WORKER_MESSAGE, /* one of another room: `message`, `*size`, `*fd` */
    WORKER_GONE     /* the worker has announced its end, died, or sent nonsense: worker_end */
};

/*
 * Receives the next message, and handles those of this file. `message` has room for LINK_BYTES and
 * is aligned for any struct; `*size` is at least that of its kind. `*fd` is the caller's to close;
 * -1: none. Does not wait.
 */
enum worker_event worker_receive(struct worker *w, void *message, size_t *size, int *fd);

/* Sends a message, or kills a worker that does not receive what it asked for. False with errno. */
bool worker_send(struct worker *w, const void *message, size_t size, int fd);

/* Kills the worker. `why` is one of the reasons above. */
void worker_kill(struct worker *w, const char *why);

/* Once a second: kills a worker that uses more than `memory` bytes or sends too many messages. */
void worker_tick(struct worker *w, uint64_t memory);

/*
 * Waits until the worker has exited, unless it lingers, and kills it after a few seconds. Closes
 * the link. Returns true if the worker ended in order. Otherwise sets `e` to the cause,
 * without the name of a film: ERR_MEMORY if it used too much, else ERR_FAILED.
 */
bool worker_end(struct worker *w, struct err *e);

#endif
