#include "live_child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "barcode/base/clock.h"
#include "base/interrupt.h"

static pid_t child; /* 0: none */
static double used; /* seconds of the last one */

void live_child_close_all(int keep)
{
    enum { DESCRIPTORS = 4096 }; /* more than the server, the logs and the log of messages have */
    for (int fd = STDERR_FILENO + 1; fd < DESCRIPTORS; fd++) {
        int flags = fd == keep ? -1 : fcntl(fd, F_GETFD);
        if (flags >= 0 && (flags & FD_CLOEXEC))
            close(fd);
    }
}

pid_t live_child_start(void)
{
    enum { NICE = 10 };
    const pid_t parent = getpid();
    live_child_wait();
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        /* the parent forwards the signals, and ends when this process has ended */
        signal(SIGINT, SIG_IGN);
        signal(SIGTERM, SIG_IGN);
        signal(SIGHUP, SIG_IGN);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) /* the parent died before prctl took effect */
            _exit(1);
        live_child_close_all(-1);
        (void)setpriority(PRIO_PROCESS, 0, NICE);
    }
    child = pid > 0 ? pid : 0;
    return pid;
}

/* Reaps the child if it has ended. Returns true if it runs. */
static bool reap(void)
{
    struct rusage usage = {.ru_maxrss = 0};
    pid_t gone = 0;
    if (child == 0)
        return false;
    do
        gone = wait4(child, NULL, WNOHANG, &usage);
    while (gone < 0 && errno == EINTR);
    if (gone == 0)
        return true;
    used = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
    child = 0;
    return false;
}

bool live_child_runs(double *seconds)
{
    bool runs = reap();
    *seconds = used;
    return runs;
}

void live_child_wait(void)
{
    const double most = 30, most_at_end = 3;
    const int64_t began = clock_ns();
    const struct timespec pause = {.tv_nsec = 10000000};
    double waited = 0;
    while (reap() && waited < (interrupt_signal() != 0 ? most_at_end : most)) {
        nanosleep(&pause, NULL);
        waited = clock_since(began);
    }
    if (child != 0) /* it hangs in the kernel, perhaps for ever: it is not reaped */
        kill(child, SIGKILL);
    child = 0;
}
