/*
 * live.c - the parent: starts the process that reads the streams, and another if it crashes.
 */
#include "barcode/live/live.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "live_confine.h"
#include "live_loop.h"
#include "live_show.h"
#include "live_time.h"
#include "barcode/base/clock.h"
#include "barcode/base/interrupt.h"
#include "barcode/base/limits.h"
#include "barcode/base/log.h"
#include "barcode/base/machine.h"

/* Of the parent; the worker has a copy, of which it uses the feed. */
static struct live_show show;

static const int caught[] = {SIGINT, SIGTERM, SIGHUP};

/* Makes this process the worker: it ends when the parent asks by the pipe, or dies. */
static int run_worker(const struct options *o, struct engines *engines, int stop, pid_t parent)
{
    struct err e = ERR_INIT;
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++)
        signal(caught[i], SIG_IGN);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* it died before prctl took effect */
        _exit(1);
    if (!live_confine_enter(o, show.feed, stop, &e))
        return err_report(&e);
    return live_loop(o, engines, show.feed, stop);
}

/*
 * Waits for the worker's end, and asks for it once after a signal, or when nobody reads stdout any
 * more. Returns waitpid's status.
 */
static int wait_for_worker(pid_t worker, int *stop)
{
    const struct timespec moment = {.tv_nsec = 20000000};
    int how = 0;
    while (waitpid(worker, &how, WNOHANG) == 0) {
        if ((interrupt_pending() || live_show_is_over(&show)) && *stop >= 0) {
            close(*stop);
            *stop = -1;
        }
        nanosleep(&moment, NULL);
    }
    if (*stop >= 0)
        close(*stop);
    return how;
}

static void pause_before_restart(int crashes)
{
    const struct timespec moment = {.tv_nsec = 20000000};
    int64_t began = clock_ns();
    while (!interrupt_pending() && clock_since(began) < live_retry_seconds(crashes))
        nanosleep(&moment, NULL);
}

/* Starts a worker. Returns its process, 0 in the worker, or -1 with an error. */
static pid_t start_worker(int end[2], struct err *e)
{
    sigset_t all, before;
    if (pipe2(end, O_CLOEXEC) != 0) {
        err_set(e, ERR_FAILED, "cannot make a pipe: %s", strerror(errno));
        return -1;
    }
    fflush(NULL);
    /* no signal is handled before each process knows which one it is */
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    pid_t pid = fork();
    if (pid == 0)
        for (size_t i = 0; i < sizeof caught / sizeof *caught; i++)
            signal(caught[i], SIG_IGN);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (pid < 0)
        err_set(e, ERR_FAILED, "cannot start a process: %s", strerror(errno));
    return pid;
}

static int run(const struct options *o, struct engines *engines, pid_t parent)
{
    struct err e = ERR_INIT;
    const double long_s = 60;
    int how = 0, crashes = 0;
    if (!live_confine_prepare(o, &e) || !live_show_open(&show, o, &e))
        return err_report(&e);
    do {
        int end[2];
        int64_t began = clock_ns();
        pid_t worker = start_worker(end, &e);
        if (worker < 0)
            return err_report(&e);
        if (worker == 0) {
            close(end[1]);
            return run_worker(o, engines, end[0], parent);
        }
        close(end[0]);
        how = wait_for_worker(worker, &end[1]);
        if (WIFEXITED(how))
            break;
        crashes = clock_since(began) > long_s ? 1 : crashes + 1;
        log_msg(LOG_WARNING, "the process that decodes crashed: %s; starting another in %d s",
                strsignal(WTERMSIG(how)), live_retry_seconds(crashes));
        pause_before_restart(crashes);
    } while (!interrupt_pending());
    int status = WIFEXITED(how) ? WEXITSTATUS(how) : 1;
    if (!live_show_close(&show, &e) && status == 0)
        status = err_report(&e);
    return status != 0 ? status : interrupt_signal() == SIGINT ? ERR_INTERRUPTED : 0;
}

int live_run(struct options *o)
{
    struct engines engines;
    limits_set(o->memory, o->pixels);
    engines_init(&engines, o->engine, &o->devices, o->threads > 0 ? o->threads : machine_cores());
    pid_t parent = getpid();
    int status = run(o, &engines, parent);
    if (getpid() == parent)
        live_confine_tidy(o);
    engines_close(&engines);
    return status;
}
