#include "worker_process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "process_limits.h"
#include "barcode/base/clock.h"
#include "barcode/base/interrupt.h"
#include "barcode/base/limits.h"
#include "barcode/base/log.h"

/* A worker's last message. One write of up to PIPE_BUF bytes is atomic (POSIX). */
struct message {
    int status;  /* the coming exit status */
    int lingers; /* the parent need not wait for the exit; no bool: every byte is written */
};

bool worker_start(struct worker *w, int number)
{
    int end[2];
    *w = (struct worker){.pid = -1, .pipe = -1, .number = number};
    if (pipe2(end, O_CLOEXEC) != 0) {
        log_msg(LOG_VERBOSE, "cannot start a worker process: %s", strerror(errno));
        return false;
    }
    fflush(NULL); /* buffered output would be written twice */
    w->pid = interrupt_fork();
    if (w->pid < 0)
        log_msg(LOG_VERBOSE, "cannot start a worker process: %s", strerror(errno));
    if (w->pid == 0)
        process_limits_kill_first();
    w->pipe = w->pid > 0 ? end[0] : w->pid == 0 ? end[1] : -1;
    for (int i = 0; i < 2; i++)
        if (end[i] != w->pipe)
            close(end[i]);
    return w->pid > 0;
}

/* Replaces the standard streams. A reader of this program's pipe waits for its last writer. */
static void let_go_of_streams(void)
{
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    fflush(NULL);
    for (int i = 0; i < 3 && nothing >= 0; i++)
        dup2(nothing, i);
    if (nothing > 2)
        close(nothing);
}

void worker_leaves(struct worker *w, int status, bool lingers)
{
    if (w->pipe < 0)
        return;
    if (lingers)
        let_go_of_streams();
    struct message m = {.status = status, .lingers = lingers};
    /* Without a parent the write fails, and the kernel ends this process anyway. */
    ssize_t n = write(w->pipe, &m, sizeof m);
    (void)n;
    close(w->pipe);
    w->pipe = -1;
}

/*
 * Returns the status from waitpid. A killed worker that hangs in the kernel runs no code any more,
 * so the parent does not wait for it long.
 */
static int wait_for(const struct worker *w)
{
    const double most = 3;
    int64_t began = clock_ns();
    int how = 0;
    pid_t gone;
    while ((gone = waitpid(w->pid, &how, w->killed ? WNOHANG : 0)) <= 0) {
        if (gone < 0 ? errno != EINTR : clock_since(began) > most)
            return SIGKILL; /* other code reaped the process, or it hangs: treated as killed */
        if (gone == 0)
            nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    return how;
}

int worker_wait(const struct worker *w, int count, int ms)
{
    struct pollfd end[WORKERS_MOST];
    for (int i = 0; i < count; i++)
        end[i] = (struct pollfd){.fd = w[i].pipe, .events = POLLIN};
    poll(end, (nfds_t)count, ms);
    int i = 0;
    while (i < count && end[i].revents == 0 && !(w[i].pid > 0 && w[i].killed))
        i++;
    return i < count ? i : -1;
}

void worker_limit_memory(struct worker *w, int count, uint64_t memory)
{
    uint64_t parts = 0;
    for (int i = 0; i < count; i++)
        parts += w[i].pid > 0;
    for (int i = 0; i < count; i++) {
        if (w[i].pid <= 0 || process_limits_used(w[i].pid) <= memory / parts)
            continue;
        w[i].greedy = true;
        kill(w[i].pid, SIGKILL);
    }
}

/* Sets the cause of the end of a worker that did not end by itself. */
static void explain_end(const struct worker *w, int how, struct err *e)
{
    if (w->killed)
        err_set(e, ERR_FAILED, "the worker process did not answer and was killed");
    else if (w->greedy)
        err_set(e, ERR_MEMORY, "memory ran out (the limit of --memory is %" PRIu64 " MiB)",
                limits_memory() >> 20);
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

enum worker_end worker_watch(struct worker *w, struct film_queue *queue, struct film_list *films,
                             struct err *e)
{
    struct message m = {.status = 0};
    bool leaves = !w->killed && read(w->pipe, &m, sizeof m) == (ssize_t)sizeof m;
    pid_t pid = w->pid;
    int how = m.lingers ? 0 : wait_for(w);
    interrupt_forget_worker(pid);
    close(w->pipe);
    w->pid = w->pipe = -1;
    bool killed_late = leaves && w->greedy && !WIFEXITED(how);
    w->status = m.lingers || killed_late ? m.status : WIFEXITED(how) ? WEXITSTATUS(how) : -1;
    w->announced = m.status;
    films->count = 0;
    if (leaves && (WIFEXITED(how) || killed_late))
        return WORKER_DONE;
    if (!leaves)
        film_queue_under_way(queue, w->number, films);
    interrupt_remove_doomed(pid);
    log_status(NULL);
    explain_end(w, how, e);
    return films->count > 0 ? WORKER_CRASHED : WORKER_BROKE;
}
