#include "barcode/base/interrupt.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { DOOMED_MAX = 256 };
enum { FREE, CLAIMED, DOOMED, REMOVED };

/* In memory that a worker shares with its parent, for a worker may be killed at any moment. The
 * paths are from the same folder. */
static struct doomed {
    _Atomic int state;
    pid_t owner; /* the process that writes the file */
    char path[PATH_MAX];
} * doomed;

static const int caught[] = {SIGINT, SIGTERM, SIGHUP};
static atomic_bool asked;
static volatile sig_atomic_t is_worker;
static volatile pid_t worker[INTERRUPT_WORKERS_MOST]; /* in their parent; 0: none */
static volatile sig_atomic_t first_signal;
static struct timespec first_time;

static void remove_doomed(void)
{
    for (size_t i = 0; doomed && i < DOOMED_MAX; i++) {
        int state = DOOMED;
        if (atomic_compare_exchange_strong(&doomed[i].state, &state, REMOVED))
            unlink(doomed[i].path);
    }
}

void interrupt_remove_doomed(pid_t owner)
{
    for (size_t i = 0; doomed && i < DOOMED_MAX; i++) {
        int state = atomic_load(&doomed[i].state);
        if (state != DOOMED || doomed[i].owner != owner ||
            !atomic_compare_exchange_strong(&doomed[i].state, &state, REMOVED))
            continue;
        unlink(doomed[i].path);
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

/* The same signal once more within a moment: timeout(1) sends one to its child and to the child's
 * group. */
static bool is_echo(int number)
{
    const int64_t moment_ns = 300000000;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t since =
        (int64_t)(now.tv_sec - first_time.tv_sec) * 1000000000 + (now.tv_nsec - first_time.tv_nsec);
    return number == first_signal && since < moment_ns;
}

/*
 * The second signal kills, unless it is SIGHUP or an echo of the first. A closing terminal sends
 * SIGHUP more than once (from the kernel and from the shell), and a service manager sends one
 * directly after SIGTERM: neither is a second request.
 *
 * A terminal's Ctrl-C comes to all processes, and once more from the parent to the workers: only
 * the parent counts. It ends the workers before it removes what they were writing.
 */
static void on_signal(int number)
{
    int saved = errno;
    bool first = !atomic_exchange(&asked, true);
    if (first) {
        first_signal = number;
        clock_gettime(CLOCK_MONOTONIC, &first_time);
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
    /* SA_RESTART: reads and writes of files go on, so that Ctrl-C is not taken for a broken disk.
     */
    /* one at a time */
    struct sigaction action = {
        .sa_handler = on_signal, .sa_mask = caught_set(), .sa_flags = SA_RESTART};
    void *shared = doomed ? doomed
                          : mmap(NULL, DOOMED_MAX * sizeof *doomed, PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    /* without memory nothing is noted, and the run will soon say why */
    doomed = shared == MAP_FAILED ? NULL : shared;
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++) {
        struct sigaction old;
        /* What the parent ignores (nohup, a script's background job) stays ignored. */
        if (sigaction(caught[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(caught[i], &action, NULL);
    }
    /* A closed pipe and a file over the user's limit are errors of the write that meets them. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    /* A parent that ignored its children handed that down: then none could be waited for. */
    signal(SIGCHLD, SIG_DFL);
}

void interrupt_open_standard(void)
{
    /* For the other direction: who reads or writes there fails, as if it were closed. */
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
    /* A signal waits until either process knows which of the two it is. */
    sigprocmask(SIG_BLOCK, &these, &before);
    pid_t pid = fork();
    if (pid == 0) {
        is_worker = 1;
        for (int i = 0; i < INTERRUPT_WORKERS_MOST; i++) /* the others are its parent's */
            worker[i] = 0;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) /* which died before it could be watched */
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

bool interrupted(void) { return atomic_load(&asked); }

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
        /* by the second signal's handler, which ends the process in a moment */
        while (state == REMOVED)
            pause();
}

bool interrupt_error(struct err *e)
{
    return err_set(e, ERR_INTERRUPTED, "interrupted; nothing of it was written");
}

bool interrupt_output(const char *path, struct err *e)
{
    return err_set(e, ERR_INTERRUPTED, "interrupted while '%s' was being written", path);
}
