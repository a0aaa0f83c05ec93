#include "worker.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "watch.h"
#include "barcode/base/clock.h"
#include "limits.h"
#include "log.h"

/* ---- Messages between two processes ---- */

enum { WAIT_MS = 100 };

/* The ancillary data of one descriptor, aligned as cmsg(3) requires. */
union control {
    char bytes[CMSG_SPACE(sizeof(int))];
    struct cmsghdr header;
};

bool link_open(int end[2], struct err *e)
{
    const int room = 4 * LINK_BYTES;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, end) != 0)
        return err_set(e, ERR_FAILED, "cannot open a link between processes: %s", strerror(errno));
    for (int i = 0; i < 2; i++) /* the default may be too small for LINK_BYTES */
        (void)setsockopt(end[i], SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    return true;
}

bool link_try_send(int link, const void *message, size_t size, int fd)
{
    union control control;
    struct iovec part = {.iov_base = (void *)message, .iov_len = size};
    struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};
    ssize_t n;
    if (fd >= 0) {
        memset(&control, 0, sizeof control);
        m.msg_control = control.bytes;
        m.msg_controllen = sizeof control.bytes;
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(c), &fd, sizeof fd);
    }
    do
        n = sendmsg(link, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)size;
}

/* Waits a moment for `events`. */
static void poll_link(int link, short events)
{
    struct pollfd p = {.fd = link, .events = events};
    (void)poll(&p, 1, WAIT_MS);
    watch_moved();
}

bool link_send(int link, const void *message, size_t size, int fd)
{
    while (!link_try_send(link, message, size, fd)) {
        /* The user's processes have too many descriptors on their way, or the kernel no memory. */
        bool refused = errno == ETOOMANYREFS || errno == ENOBUFS || errno == ENOMEM;
        if (errno != EAGAIN && !refused)
            return false;
        poll_link(link, refused ? 0 : POLLOUT);
    }
    return true;
}

/* Returns the descriptor of a message, or -1. The kernel has closed those beyond the first. */
static int passed_descriptor(struct msghdr *m)
{
    int fd = -1;
    struct cmsghdr *c = CMSG_FIRSTHDR(m);
    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
        c->cmsg_len == CMSG_LEN(sizeof fd))
        memcpy(&fd, CMSG_DATA(c), sizeof fd);
    return fd;
}

ssize_t link_receive(int link, void *message, size_t room, int *fd)
{
    union control control;
    struct iovec part = {.iov_base = message, .iov_len = room};
    struct msghdr m = {.msg_iov = &part,
                       .msg_iovlen = 1,
                       .msg_control = control.bytes,
                       .msg_controllen = CMSG_LEN(sizeof *fd)}; /* no room for a second one */
    ssize_t n;
    *fd = -1;
    do
        n = recvmsg(link, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return errno == EAGAIN ? LINK_EMPTY : LINK_CLOSED;
    *fd = passed_descriptor(&m);
    /* without one of several: this process can open no more */
    bool broken = (m.msg_flags & MSG_TRUNC) || (*fd >= 0 && (m.msg_flags & MSG_CTRUNC));
    if (broken && *fd >= 0) {
        close(*fd);
        *fd = -1;
    }
    return broken ? LINK_BROKEN : n;
}

ssize_t link_wait(int link, void *message, size_t room, int *fd)
{
    ssize_t n;
    while ((n = link_receive(link, message, room, fd)) == LINK_EMPTY)
        poll_link(link, POLLIN);
    return n;
}

struct line_message {
    uint32_t kind, level;
    char text[LOG_LINE]; /* sent without its zero */
};

struct leave_message {
    uint32_t kind;
    int32_t status, lingers;
};

/* What a worker may send in a second: a film of many small files opens thousands. */
enum { MESSAGES_A_SECOND = 50000 };

/* ---- In the worker ---- */

static int link_of_log = -1;

/* Implements log_sink. */
static void send_line(enum log_level level, const char *line)
{
    struct line_message m = {.kind = WORKER_LINE, .level = level};
    size_t length = strnlen(line, sizeof m.text);
    memcpy(m.text, line, length);
    (void)link_send(link_of_log, &m, offsetof(struct line_message, text) + length, -1);
}

pid_t worker_start(struct worker *w, int number, struct err *e)
{
    int end[2];
    *w = (struct worker){.pid = -1, .link = -1, .number = number, .memory = limits_memory()};
    if (!link_open(end, e))
        return -1;
    w->watch = watch_open(e);
    fflush(NULL); /* buffered output would be written twice */
    if (w->watch)
        w->pid = interrupt_fork();
    if (w->pid < 0) { /* the first error counts */
        err_set(e, ERR_FAILED, "cannot start a worker process: %s", strerror(errno));
        close(end[0]);
        close(end[1]);
        watch_free(w->watch);
        w->watch = NULL;
        return -1;
    }
    if (w->pid > 0)
        watch_keep(w->watch);
    w->link = end[w->pid == 0];
    close(end[w->pid != 0]);
    if (w->pid == 0) {
        process_limits_kill_first();
        link_of_log = w->link;
        log_set_sink(send_line);
    }
    return w->pid;
}

void worker_leave_streams(unsigned keep)
{
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    fflush(NULL);
    for (int i = 0; i < 3 && nothing >= 0; i++)
        if (!(keep >> i & 1))
            dup2(nothing, i);
    if (nothing > 2)
        close(nothing);
}

void worker_leaves(struct worker *w, int status, bool lingers)
{
    struct leave_message m = {.kind = WORKER_LEAVES, .status = status, .lingers = lingers};
    if (lingers)
        worker_leave_streams(0);
    /* Without a parent the message is lost, and the kernel ends this process anyway. */
    (void)link_send(w->link, &m, sizeof m, -1);
}

struct growth {
    int link;
    uint64_t memory;
};

static void *report_growth(void *argument)
{
    static const uint32_t message = WORKER_GREW;
    const struct growth g = *(struct growth *)argument;
    const struct timespec moment = {.tv_nsec = 20000000}, pause = {.tv_sec = 1};
    free(argument);
    for (;;) {
        bool grew = process_limits_used(getpid()) > g.memory;
        if (grew)
            (void)link_send(g.link, &message, sizeof message, -1);
        nanosleep(grew ? &pause : &moment, NULL);
    }
    return NULL;
}

void worker_watch_memory(const struct worker *w, uint64_t memory)
{
    pthread_t thread;
    struct growth *g = malloc(sizeof *g);
    if (!g)
        return;
    *g = (struct growth){w->link, memory};
    if (pthread_create(&thread, NULL, report_growth, g) == 0)
        pthread_detach(thread);
    else
        free(g);
}

/* ---- In the parent ---- */

/* Kills the worker if it uses too much memory. */
static void check_memory(struct worker *w)
{
    if (process_limits_used(w->pid) > w->memory)
        worker_kill(w, WORKER_GREEDY);
}

/* Returns true if the bytes are a message of this file, which has been handled. */
static bool handle_line(const char *bytes, size_t size)
{
    struct line_message m = {.kind = 0};
    const size_t head = offsetof(struct line_message, text);
    if (size < head || size >= sizeof m) /* a zero stays behind the text */
        return false;
    memcpy(&m, bytes, size);
    int length = (int)(size - head);
    if (m.level > LOG_DEBUG)
        return false;
    log_msg((enum log_level)m.level, "%.*s", length, m.text);
    return true;
}

static bool handle_leave(struct worker *w, const char *bytes, size_t size)
{
    struct leave_message m;
    if (size != sizeof m)
        return false;
    memcpy(&m, bytes, size);
    w->announced = m.status & 0xff;
    w->lingers = m.lingers != 0;
    w->leaves = true;
    return true;
}

enum worker_event worker_receive(struct worker *w, void *message, size_t *size, int *fd)
{
    uint32_t kind = 0;
    ssize_t n = w->killed ? LINK_CLOSED : link_receive(w->link, message, LINK_BYTES, fd);
    if (n == LINK_CLOSED)
        return WORKER_GONE;
    if (n == LINK_EMPTY)
        return WORKER_QUIET;
    w->messages++;
    if (n >= (ssize_t)sizeof kind)
        memcpy(&kind, message, sizeof kind);
    if (kind >= WORKER_KINDS && !w->leaves) {
        *size = (size_t)n;
        return WORKER_MESSAGE;
    }
    if (*fd >= 0)
        close(*fd);
    if (kind == WORKER_LINE && handle_line(message, (size_t)n))
        return WORKER_LOGGED;
    if (kind == WORKER_GREW && n == sizeof kind) {
        check_memory(w);
        return WORKER_LOGGED;
    }
    if (kind == WORKER_LEAVES && handle_leave(w, message, (size_t)n))
        return WORKER_GONE;
    worker_kill(w, WORKER_NONSENSE);
    return WORKER_GONE;
}

bool worker_send(struct worker *w, const void *message, size_t size, int fd)
{
    bool sent = link_try_send(w->link, message, size, fd);
    /* a descriptor may find no room; a process that is gone may have sent something before */
    bool expected = fd >= 0 || errno == EPIPE || errno == ECONNRESET;
    if (!sent && (errno == EAGAIN || !expected))
        worker_kill(w, WORKER_SILENT);
    return sent;
}

void worker_kill(struct worker *w, const char *why)
{
    if (w->pid <= 0 || w->killed)
        return;
    w->killed = why;
    kill(w->pid, SIGKILL);
}

void worker_tick(struct worker *w, uint64_t memory)
{
    if (w->messages > MESSAGES_A_SECOND)
        worker_kill(w, WORKER_NONSENSE);
    w->messages = 0;
    w->memory = memory;
    check_memory(w);
}

/*
 * Returns the status from waitpid. A killed worker that hangs in the kernel runs no code any more,
 * so the parent does not wait for it long. One that has announced its end gets some seconds for it.
 */
static int wait_for_exit(const struct worker *w)
{
    const double most = w->killed ? 1 : 3;
    int64_t began = clock_ns();
    int how = 0;
    pid_t gone;
    if (!w->leaves) /* it may have closed its link and gone on */
        kill(w->pid, SIGKILL);
    while ((gone = waitpid(w->pid, &how, WNOHANG)) <= 0) {
        double waited = clock_since(began);
        if ((gone < 0 && errno != EINTR) || waited > 2 * most)
            return SIGKILL; /* other code reaped the process, or it hangs: treated as killed */
        if (waited > most)
            kill(w->pid, SIGKILL);
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    return how;
}

/* Sets the cause of the end of a worker that did not end by itself. */
static void explain_end(const struct worker *w, int how, struct err *e)
{
    if (w->killed && strcmp(w->killed, WORKER_GREEDY) == 0)
        err_set(e, ERR_MEMORY, "memory ran out (the limit of --memory is %" PRIu64 " MiB)",
                limits_memory() >> 20);
    else if (w->killed)
        err_set(e, ERR_FAILED, "%s", w->killed);
    else if (WIFEXITED(how)) /* a library or a sanitizer ended the process */
        err_set(e, ERR_FAILED, "the worker process exited early with status %d", WEXITSTATUS(how));
    else if (WTERMSIG(how) == SIGKILL)
        err_set(e, ERR_FAILED,
                "the worker process was killed (by the kernel when memory runs out, by a limit, or "
                "by somebody)");
    else if (WTERMSIG(how) == SIGXCPU)
        err_set(e, ERR_FAILED,
                "the worker process reached its limit of processor time (ulimit -t)");
    else
        err_set(e, ERR_FAILED, "the worker process crashed: %s", strsignal(WTERMSIG(how)));
}

bool worker_end(struct worker *w, struct err *e)
{
    int how = 0;
    if (w->lingers) /* the driver ends in the kernel, and nothing else goes on */
        kill(w->pid, SIGKILL);
    else
        how = wait_for_exit(w);
    interrupt_forget_worker(w->pid);
    close(w->link);
    watch_free(w->watch);
    w->watch = NULL;
    w->link = -1;
    w->pid = 0;
    /* SIGKILL: it was killed after it had announced its end */
    bool in_order = w->leaves && (w->lingers || WIFEXITED(how) || WTERMSIG(how) == SIGKILL);
    w->status = WIFEXITED(how) ? WEXITSTATUS(how) : -1;
    if (in_order && (w->lingers || !WIFEXITED(how)))
        w->status = w->announced;
    if (!in_order) {
        log_status(NULL);
        explain_end(w, how, e);
    }
    return in_order;
}
