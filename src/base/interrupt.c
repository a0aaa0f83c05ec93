#include "barcode/base/interrupt.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "barcode/base/clock.h"
#include "barcode/base/shared.h"
#include "barcode/base/watch.h"

enum { DOOMED_MAX = 256 };
enum { FREE, CLAIMED, DOOMED, REMOVED };

/*
 * Shared between a worker and its parent, because a worker may be killed at any moment. Paths are
 * relative to the same folder.
 */
static struct doomed {
    _Atomic int state;
    pid_t owner; /* the process that writes the file */
    char path[PATH_MAX];
} * doomed;

static const int caught[] = {SIGINT, SIGTERM, SIGHUP};
static atomic_bool asked;
static volatile sig_atomic_t is_worker;
static volatile pid_t worker[INTERRUPT_WORKERS_MOST]; /* in the parent; 0: none */
static volatile sig_atomic_t first_signal;
static volatile int64_t first_ns;

/*
 * Removes the file if it has the name of a temporary one (atomic_file.c, cache_writer.c). A process
 * that decodes may have written anything there.
 */
static void remove_file(const struct doomed *d)
{
    static const char end[] = ".tmp";
    char path[PATH_MAX];
    memcpy(path, d->path, sizeof path - 1);
    path[sizeof path - 1] = 0;
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t length = strlen(name);
    if (strncmp(name, ".new-", 5) == 0 ||
        (name[0] == '.' && length > sizeof end && strcmp(name + length + 1 - sizeof end, end) == 0))
        unlink(path);
}

static void remove_doomed(void)
{
    for (size_t i = 0; doomed && i < DOOMED_MAX; i++) {
        int state = DOOMED;
        if (atomic_compare_exchange_strong(&doomed[i].state, &state, REMOVED))
            remove_file(&doomed[i]);
    }
}

void interrupt_remove_doomed(pid_t owner)
{
    for (size_t i = 0; doomed && i < DOOMED_MAX; i++) {
        int state = atomic_load(&doomed[i].state);
        if (state != DOOMED || doomed[i].owner != owner ||
            !atomic_compare_exchange_strong(&doomed[i].state, &state, REMOVED))
            continue;
        remove_file(&doomed[i]);
        atomic_store(&doomed[i].state, FREE);
    }
}

/* Sends a signal to each worker. */
static void kill_workers(int number)
{
    for (int i = 0; i < INTERRUPT_WORKERS_MOST; i++)
        if (worker[i] > 0)
            kill(worker[i], number);
}

/*
 * Returns true for a repetition of the first signal within 0.3 s: timeout(1) signals its child and
 * the child's group.
 */
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
 * Only the parent counts the signals. It kills the workers before it removes their files.
 */
static void on_signal(int number)
{
    int saved = errno;
    bool first = !atomic_exchange(&asked, true);
    if (first) {
        first_signal = number;
        first_ns = clock_ns();
        kill_workers(number);
    }
    errno = saved;
    if (first || is_worker || number == SIGHUP || is_echo(number))
        return;
    kill_workers(SIGKILL);
    for (int i = 0; i < INTERRUPT_WORKERS_MOST; i++)
        if (worker[i] > 0)
            waitpid(worker[i], NULL, 0);
    remove_doomed();
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
    /* If out of memory, nothing is registered; the run will report it soon. */
    if (!doomed)
        doomed = shared_alloc(DOOMED_MAX * sizeof *doomed, NULL);
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

void interrupt_open_standard(void)
{
    /*
     * Open in the wrong direction, so that reading or writing fails as if the descriptor were
     * closed.
     */
    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
            open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) < 0)
            return;
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

bool interrupt_pending(void) { return atomic_load(&asked) || watch_stopped(); }

int interrupt_doom(const char *path)
{
    size_t bytes = strlen(path) + 1;
    for (int i = 0; doomed && i < DOOMED_MAX && bytes <= sizeof doomed->path; i++) {
        int state = FREE;
        if (atomic_compare_exchange_strong(&doomed[i].state, &state, CLAIMED)) {
            memcpy(doomed[i].path, path, bytes);
            doomed[i].owner = getpid();
            atomic_store(&doomed[i].state, DOOMED);
            return i;
        }
    }
    return -1;
}

void interrupt_spare(int number)
{
    int state = DOOMED;
    if (number >= 0 && !atomic_compare_exchange_strong(&doomed[number].state, &state, FREE))
        /* removed by the second signal's handler, which ends the process soon */
        while (state == REMOVED)
            pause();
}

bool interrupt_error(struct err *e)
{
    return err_set(e, ERR_INTERRUPTED, "interrupted; no output of it was written");
}

bool interrupt_output(const char *path, struct err *e)
{
    return err_set(e, ERR_INTERRUPTED, "interrupted while '%s' was being written", path);
}
