#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"
#include "base/interrupt.h"

enum { PAUSE = -1, SIGNALS_MOST = 5 };

/* A process of its own, as the first signal cannot be taken back. If all is right, it exits with
 * 42. */
struct child {
    const char *name;
    int (*body)(void);      /* NULL: the process sends itself signals, which are a request */
    int sent[SIGNALS_MOST]; /* ends with 0; PAUSE: none for a while */
    int signal;             /* that ends the process; 0: it exits */
};

static int send_signals(const int *sent)
{
    interrupt_install();
    if (interrupted())
        return 1;
    for (; *sent != 0; sent++)
        if (*sent == PAUSE)
            usleep(400000);
        else
            raise(*sent);
    return interrupted() ? 42 : 2;
}

static int in_child(const struct child *c)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(c->body ? c->body() : send_signals(c->sent));
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static int ignored_by_the_parent(void)
{
    signal(SIGINT, SIG_IGN);
    interrupt_install();
    raise(SIGINT);
    return interrupted() ? 1 : 42;
}

static int broken_pipe(void)
{
    int end[2];
    interrupt_install();
    if (pipe(end) != 0)
        return 1;
    close(end[0]);
    return write(end[1], "x", 1) == -1 ? 42 : 2;
}

static int file_too_large(void)
{
    struct rlimit none = {0, 0};
    FILE *f = tmpfile();
    interrupt_install();
    if (!f || setrlimit(RLIMIT_FSIZE, &none) != 0)
        return 1;
    return write(fileno(f), "x", 1) == -1 && errno == EFBIG ? 42 : 2;
}

/* The descriptor is readable from the first signal on, and is none after that. */
static int descriptor(void)
{
    if (interrupt_descriptor() != -1)
        return 1;
    interrupt_install();
    struct pollfd p = {.fd = interrupt_descriptor(), .events = POLLIN};
    if (p.fd < 0 || interrupt_descriptor() != p.fd || poll(&p, 1, 0) != 0)
        return 2;
    raise(SIGTERM);
    return poll(&p, 1, 0) == 1 && interrupt_descriptor() == -1 && interrupt_signal() == SIGTERM ? 42
                                                                                                : 3;
}

/* Waits for the end of workers that got the first signal, and returns how they ended. */
static bool workers_ended(const pid_t worker[2], int number)
{
    bool ok = true;
    for (int i = 0; i < 2; i++) {
        int how;
        ok &=
            waitpid(worker[i], &how, 0) == worker[i] && WIFSIGNALED(how) && WTERMSIG(how) == number;
    }
    return ok;
}

/* Starts two workers that ignore all requests, and waits until they do. */
static bool start_workers(pid_t worker[2])
{
    int end[2];
    char byte;
    if (pipe(end) != 0)
        return false;
    for (int i = 0; i < 2; i++) {
        worker[i] = interrupt_fork();
        if (worker[i] != 0)
            continue;
        bool alone = interrupt_descriptor() == -1;
        (void)!write(end[1], alone ? "x" : "", alone);
        for (;;)
            pause();
    }
    return worker[0] > 0 && worker[1] > 0 && read(end[0], &byte, 1) == 1 &&
           read(end[0], &byte, 1) == 1;
}

/* The second signal kills the workers, so that the parent can end in order; the third one kills. */
static int second_kills_workers(void)
{
    pid_t worker[2];
    interrupt_install();
    if (!start_workers(worker))
        return 1;
    raise(SIGINT);
    usleep(50000);
    if (waitpid(-1, NULL, WNOHANG) != 0) /* the first one asked them */
        return 2;
    raise(SIGTERM);
    if (!workers_ended(worker, SIGKILL))
        return 3;
    raise(SIGTERM);
    return 4;
}

/* A forgotten worker gets no signal: its pid may belong to another process. */
static int forgotten_worker(void)
{
    pid_t worker[2];
    interrupt_install();
    if (!start_workers(worker))
        return 1;
    interrupt_forget_worker(worker[0]);
    raise(SIGTERM);
    raise(SIGINT);
    int how;
    if (waitpid(worker[1], &how, 0) != worker[1] || waitpid(worker[0], NULL, WNOHANG) != 0)
        return 2;
    kill(worker[0], SIGKILL);
    return 42;
}

static int too_many_workers(void)
{
    pid_t worker[INTERRUPT_WORKERS_MOST + 1];
    interrupt_install();
    for (int i = 0; i <= INTERRUPT_WORKERS_MOST; i++)
        if ((worker[i] = interrupt_fork()) == 0)
            for (;;)
                pause();
    bool ok = worker[INTERRUPT_WORKERS_MOST] == -1 && errno == EAGAIN;
    interrupt_forget_worker(worker[0]);
    kill(worker[0], SIGKILL);
    if ((worker[0] = interrupt_fork()) == 0)
        for (;;)
            pause();
    return ok && worker[0] > 0 ? 42 : 2; /* they die with their parent */
}

TEST(signals)
{
    static const struct child table[] = {
        {"the first one asks", NULL, {SIGINT}, 0},
        {"an echo does not kill", NULL, {SIGTERM, SIGTERM}, 0}, /* as timeout(1) does it */
        {"the second one kills", NULL, {SIGINT, PAUSE, SIGINT}, SIGINT},
        {"one of each", NULL, {SIGTERM, SIGINT}, SIGINT},
        {"a closed terminal asks", NULL, {SIGHUP, SIGHUP}, 0}, /* the shell says it again */
        {"and does not kill", NULL, {SIGTERM, SIGHUP, PAUSE, SIGTERM}, SIGTERM},
        {"what nohup ignores stays ignored", ignored_by_the_parent, {0}, 0},
        {"a closed pipe is an error of write", broken_pipe, {0}, 0},
        {"a file that is too large is an error of write", file_too_large, {0}, 0},
        {"descriptor", descriptor, {0}, 0},
        {"the second one kills the workers", second_kills_workers, {0}, SIGTERM},
        {"a worker that was forgotten", forgotten_worker, {0}, 0},
        {"too many workers", too_many_workers, {0}, 0}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        int status = in_child(&table[i]);
        bool ok = table[i].signal == 0 ? WIFEXITED(status) && WEXITSTATUS(status) == 42
                                       : WIFSIGNALED(status) && WTERMSIG(status) == table[i].signal;
        if (!ok)
            fail_msg("%s: wait status %#x", table[i].name, (unsigned)status);
    }
}

TEST(the_sentence)
{
    struct err e = ERR_INIT;
    assert_false(interrupt_error(&e));
    assert_int_equal(err_exit_status(&e), 130);
    assert_int_not_equal(e.text[0], '\0');
}
