#include "interrupt.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "barcode/base/clock.h"
#include "log.h"
#include "watch.h"

static const int caught[] = {SIGINT, SIGTERM, SIGHUP};
static atomic_bool asked, finishing;
static volatile sig_atomic_t is_worker;
static volatile pid_t worker[INTERRUPT_WORKERS_MOST]; /* in the parent; 0: none */
static volatile sig_atomic_t first_signal;
static volatile int64_t first_ns;
static volatile sig_atomic_t killed; /* a second signal has killed the workers */
static int wake = -1;                /* an eventfd */

/* Sends a signal to each worker. Returns false if there is none. */
static bool kill_workers(int number)
{
    bool any = false;
    for (int i = 0; i < INTERRUPT_WORKERS_MOST; i++)
        if (worker[i] > 0) {
            kill(worker[i], number);
            any = true;
        }
    return any;
}

/* Returns true for the same signal within 0.3 s: timeout(1) sends it to the child and its group. */
static bool is_echo(int number)
{
    const int64_t moment_ns = 300000000;
    return number == first_signal && clock_ns() - first_ns < moment_ns;
}

/*
 * Handles the caught signals. The second signal kills, unless it is SIGHUP or an echo of the first.
 * A closing terminal sends SIGHUP more than once (from the kernel and from the shell), and a
 * service manager sends one directly after SIGTERM. Neither is a second request.
 *
 * A terminal's Ctrl-C reaches all processes, and the parent forwards it to the workers once more.
 * Only the parent counts the signals.
 */
static void on_signal(int number)
{
    const uint64_t one = 1;
    int saved = errno;
    bool first = !atomic_exchange(&asked, true);
    if (first) {
        first_signal = number;
        first_ns = clock_ns();
        (void)kill_workers(number);
        ssize_t n = write(wake, &one, sizeof one);
        (void)n;
    }
    errno = saved;
    if (first || is_worker || number == SIGHUP || is_echo(number))
        return;
    if (!killed && kill_workers(SIGKILL)) {
        killed = true;
        return;
    }
    signal(number, SIG_DFL);
    raise(number); /* takes effect when this handler returns */
}

static sigset_t caught_set(void)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++)
        sigaddset(&set, caught[i]);
    return set;
}

void interrupt_install(void)
{
    /* SA_RESTART: file I/O continues, so that Ctrl-C does not look like a disk error. */
    /* sa_mask: handle one signal at a time. */
    struct sigaction action = {
        .sa_handler = on_signal, .sa_mask = caught_set(), .sa_flags = SA_RESTART};
    log_set_end(interrupt_pending);
    if (wake < 0)
        wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++) {
        struct sigaction old;
        /* Signals that the parent ignores (nohup, a background job) stay ignored. */
        if (sigaction(caught[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(caught[i], &action, NULL);
    }
    /* Let the write itself report a closed pipe or an exceeded file size limit. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    /* A parent that ignores SIGCHLD passes that on, and then waitpid would not work. */
    signal(SIGCHLD, SIG_DFL);
}

void interrupt_end_by_pipe(void)
{
    signal(SIGPIPE, SIG_DFL);
    raise(SIGPIPE);
}

void interrupt_open_standard(void)
{
    for (int fd = 0; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF)
            continue;
        /* In the wrong direction: reading or writing fails as if the descriptor were closed. */
        if (open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
            return;
    }
}

pid_t interrupt_fork(void)
{
    sigset_t these = caught_set(), before;
    pid_t parent = getpid();
    int place = 0;
    while (place < INTERRUPT_WORKERS_MOST && worker[place] != 0)
        place++;
    if (place == INTERRUPT_WORKERS_MOST) {
        errno = EAGAIN;
        return -1;
    }
    /* Block signals until each process knows whether it is the parent or the worker. */
    sigprocmask(SIG_BLOCK, &these, &before);
    pid_t pid = fork();
    if (pid == 0) {
        is_worker = 1;
        if (wake >= 0)
            close(wake); /* the parent's */
        wake = -1;
        for (int i = 0; i < INTERRUPT_WORKERS_MOST; i++) /* the others belong to the parent */
            worker[i] = 0;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) /* the parent died before prctl took effect */
            _exit(1);
    } else if (pid > 0) {
        worker[place] = pid;
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    return pid;
}

void interrupt_forget_worker(pid_t gone)
{
    for (int i = 0; i < INTERRUPT_WORKERS_MOST; i++)
        if (worker[i] == gone)
            worker[i] = 0;
}

bool interrupted(void)
{
    watch_moved();
    return interrupt_pending();
}

int interrupt_signal(void) { return atomic_load(&asked) ? first_signal : 0; }

bool interrupt_pending(void)
{
    return (atomic_load(&asked) && !atomic_load(&finishing)) || watch_stopped();
}

void interrupt_finish(void) { atomic_store(&finishing, true); }

int interrupt_descriptor(void) { return atomic_load(&asked) ? -1 : wake; }

bool interrupt_error(struct err *e)
{
    return err_set(e, ERR_INTERRUPTED, "interrupted; no output of it was written");
}

bool interrupt_output(const char *path, struct err *e)
{
    return err_set(e, ERR_INTERRUPTED, "interrupted while '%s' was being written", path);
}
