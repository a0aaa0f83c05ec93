#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"
#include "base/interrupt.h"
#include "base/worker.h"
#include "base/log.h"
#include "send_descriptors.h"

static struct worker w;
static struct err e;
static _Alignas(max_align_t) char message[LINK_BYTES];
static size_t size;
static int fd;

FIXTURE(begin)
{
    err_clear(&e);
    interrupt_install();
    return 0;
}

static bool is_worker(int number) { return worker_start(&w, number, &e) == 0; }

/* Waits for what a worker sends. Returns true if its link is quiet after `ms` milliseconds. */
static bool is_quiet(const struct worker *from, int ms)
{
    struct pollfd p = {.fd = from->link, .events = POLLIN};
    return poll(&p, 1, ms) == 0;
}

/* Returns the next event that is not WORKER_QUIET. */
static enum worker_event next_event(struct worker *from)
{
    enum worker_event event;
    while ((event = worker_receive(from, message, &size, &fd)) == WORKER_QUIET)
        (void)is_quiet(from, 100);
    return event;
}

/* Receives until the worker is gone. Returns as worker_end. */
static bool ended(struct worker *from)
{
    enum worker_event event;
    while ((event = next_event(from)) != WORKER_GONE)
        if (event == WORKER_MESSAGE && fd >= 0)
            close(fd);
    return worker_end(from, &e);
}

/* ---- How a worker ends ---- */

/* Signals that no sanitizer takes for its own. */
static const struct ending {
    int leaves; /* the status that it announces; -1: none */
    int signal; /* its end; 0: exit with `status`; -1: it stays until it is killed */
    int status; /* expected, too */
    bool in_order;
    const char *text;
} endings[] = {
    {7, 0, 7, true, ""},
    {0, 0, 66, true, ""}, /* a sanitizer */
    {9, -1, 9, true, ""},
    {5, SIGKILL, 5, true, ""}, /* greedy at its end */
    {0, SIGABRT, -1, false, "the worker process crashed: "},
    {-1, SIGABRT, -1, false, "the worker process crashed: "},
    {-1, SIGALRM, -1, false, "the worker process crashed: "},
    {-1, SIGKILL, -1, false, "the worker process was killed (by the kernel when memory runs out"},
    {-1, SIGXCPU, -1, false, "reached its limit of processor time (ulimit -t)"},
    {-1, 0, 0, false, "the worker process exited early with status 0"},
    {-1, 0, 66, false, "the worker process exited early with status 66"},
};

TEST_WITH(the_end_and_its_cause, begin, NULL)
{
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const struct ending *n = &endings[i];
        err_clear(&e);
        if (is_worker(0)) {
            if (n->leaves >= 0)
                worker_leaves(&w, n->leaves, false);
            while (n->signal < 0)
                pause();
            if (n->signal > 0) {
                setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
                signal(n->signal, SIG_DFL);
                raise(n->signal);
            }
            _exit(n->status);
        }
        assert_int_equal(ended(&w), n->in_order);
        assert_int_equal(w.status, n->status);
        assert_int_equal(e.code, n->in_order ? ERR_NONE : ERR_FAILED);
        assert_non_null(strstr(e.text, n->text));
        assert_true(w.link == -1 && w.pid == 0 && !w.watch);
    }
}

/* If children are not waited for, as a parent may pass on, their end would look orderly. */
TEST_WITH(children_that_nobody_waits_for, begin, NULL)
{
    signal(SIGCHLD, SIG_IGN);
    interrupt_install();
    if (is_worker(0))
        _exit(7);
    assert_false(ended(&w));
    assert_int_equal(w.status, 7);
}

/* Nobody waits for one that lingers, neither its parent nor a reader of the program's output. */
TEST_WITH(one_that_lingers, begin, NULL)
{
    int end[2];
    char byte;
    assert_int_equal(pipe(end), 0);
    if (is_worker(0)) {
        dup2(end[1], STDOUT_FILENO);
        dup2(end[1], STDERR_FILENO);
        close(end[0]);
        close(end[1]);
        worker_leaves(&w, 42, true);
        for (;;)
            pause();
    }
    pid_t pid = w.pid;
    close(end[1]);
    assert_true(ended(&w));
    assert_int_equal(w.status, 42);
    assert_int_equal(read(end[0], &byte, 1), 0); /* no writer is left, but the process exists */
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    close(end[0]);
}

TEST_WITH(no_worker_can_be_had, begin, NULL)
{
    struct rlimit before, none;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    pid_t pid = worker_start(&w, 0, &e);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(pid, -1);
    assert_int_equal(e.code, ERR_FAILED);
    assert_true(w.pid == -1 && w.link == -1);
}

/* Of two, the crash of one does not concern the other one. */
TEST_WITH(one_of_two_crashes, begin, NULL)
{
    struct worker two[2];
    char byte;
    int unused;
    for (int i = 0; i < 2; i++) {
        if (worker_start(&two[i], i, &e) != 0)
            continue;
        if (i == 1 && link_wait(two[i].link, &byte, 1, &unused) == 1)
            worker_leaves(&two[i], 3, false);
        while (i == 0)
            pause();
        _exit(3);
    }
    kill(two[0].pid, SIGKILL);
    assert_false(ended(&two[0]));
    assert_true(is_quiet(&two[1], 50));
    worker_send(&two[1], "", 1, -1);
    assert_true(ended(&two[1]));
    assert_int_equal(two[1].status, 3);
}

/* ---- What a worker sends ---- */

struct sent {
    uint32_t kind, level;
    char text[LOG_LINE + 1];
};

/* Starts a worker that sends a message, with `descriptors` of them, and stays. */
static void start_sender(const void *bytes, size_t length, int descriptors)
{
    if (!is_worker(0))
        return;
    if (send_descriptors(w.link, bytes, length, 0, descriptors, 0) != (ssize_t)length)
        _exit(3);
    for (;;)
        pause();
}

static int lowest_free(void)
{
    int lowest = dup(0);
    close(lowest);
    return lowest;
}

/* Nonsense ends the worker; a message of another room is the caller's, with its descriptor. */
TEST_WITH(nonsense, begin, NULL)
{
    static const struct {
        uint32_t kind, level;
        size_t size;
        int descriptors;
        enum worker_event event;
    } table[] = {
        {0, 0, 8, 0, WORKER_GONE},
        {3, 0, 8, 0, WORKER_GONE},
        {WORKER_KINDS - 1, 0, 8, 1, WORKER_GONE},
        {WORKER_KINDS, 0, 1, 0, WORKER_GONE},
        {WORKER_KINDS, 0, 3, 2, WORKER_GONE},
        {WORKER_KINDS, 0, 4, 2, WORKER_GONE},
        {WORKER_KINDS, 0, LINK_BYTES + 1, 1, WORKER_GONE},
        {WORKER_LINE, LOG_DEBUG + 1, 9, 0, WORKER_GONE},
        {WORKER_LINE, UINT32_MAX, 9, 0, WORKER_GONE},
        {WORKER_LINE, LOG_DEBUG, 7, 0, WORKER_GONE},
        {WORKER_LINE, LOG_DEBUG, 8 + LOG_LINE, 0, WORKER_GONE},
        {WORKER_LINE, LOG_DEBUG, 8 + LOG_LINE, 0, WORKER_GONE},
        {WORKER_LEAVES, 0, 8, 0, WORKER_GONE},
        {WORKER_LEAVES, 0, 16, 0, WORKER_GONE},
        {WORKER_LINE, LOG_DEBUG, 8 + LOG_LINE - 1, 1, WORKER_LOGGED},
        {WORKER_KINDS, 0, 4, 0, WORKER_MESSAGE},
        {WORKER_KINDS, 0, 4, 1, WORKER_MESSAGE},
        {UINT32_MAX, 0, LINK_BYTES, 0, WORKER_MESSAGE},
    };
    static struct sent bytes[LINK_BYTES / sizeof(struct sent) + 2];
    if (getenv("EMULATED")) /* qemu-user does not pass on MSG_CTRUNC */
        skip();
    memset(bytes, 'x', sizeof bytes);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        int first = lowest_free();
        err_clear(&e);
        bytes[0].kind = table[i].kind;
        bytes[0].level = table[i].level;
        start_sender(bytes, table[i].size, table[i].descriptors);
        assert_int_equal(next_event(&w), table[i].event);
        if (table[i].event == WORKER_MESSAGE) {
            assert_int_equal(size, table[i].size);
            assert_int_equal(fd >= 0, table[i].descriptors);
            if (fd >= 0)
                close(fd);
        }
        if (table[i].event != WORKER_GONE)
            worker_kill(&w, WORKER_NONSENSE);
        assert_false(ended(&w));
        assert_string_equal(e.text, WORKER_NONSENSE);
        assert_int_equal(lowest_free(), first);
    }
}

/* What the worker logs, its parent writes: plain, and in order. */
TEST_WITH(lines_of_the_log, begin, NULL)
{
    static char text[4 * LOG_LINE], line[LOG_LINE - 20];
    FILE *caught = tmpfile();
    int real = dup(STDERR_FILENO);
    dup2(fileno(caught), STDERR_FILENO);
    if (is_worker(0)) {
        static const struct sent forged = {WORKER_LINE, LOG_WARNING, "1\033[2J\n\xc2\x9b"};
        log_msg(LOG_WARNING, "one %d", 1);
        log_msg(LOG_INFO, "two");
        log_msg(LOG_DEBUG, "not enabled");
        (void)!write(w.link, &forged, offsetof(struct sent, text) + 8);
        memset(line, 'x', sizeof line - 1);
        log_msg(LOG_ERROR, "%s", line);
        worker_leaves(&w, 0, false);
        _exit(0);
    }
    bool ok = ended(&w);
    dup2(real, STDERR_FILENO);
    close(real);
    assert_true(ok);
    assert_true(pread(fileno(caught), text, sizeof text - 1, 0) > 0);
    fclose(caught);
    static const char first[] = "barcode: warning: one 1\nbarcode: two\n"
                                "barcode: warning: 1?[2J??\nbarcode: xxx";
    assert_memory_equal(text, first, sizeof first - 1);
    assert_int_equal(text[strlen(text) - 1], '\n');
    assert_int_equal(strlen(strrchr(text, ' ')), sizeof line + 1);
}

/* ---- Limits ---- */

/* A worker that asks and does not read the answers. */
TEST_WITH(a_full_link, begin, NULL)
{
    static const char answer[1 << 12];
    if (is_worker(0))
        for (;;)
            pause();
    for (int i = 0; i < 1000 && !w.killed; i++)
        worker_send(&w, answer, sizeof answer, i % 7 ? -1 : 0);
    assert_false(ended(&w));
    assert_string_equal(e.text, WORKER_SILENT);
}

/* One that is gone is no reason to kill, and its messages still arrive. */
TEST_WITH(a_closed_link, begin, NULL)
{
    static const uint32_t kind = WORKER_KINDS;
    if (is_worker(0)) {
        (void)!write(w.link, &kind, sizeof kind);
        close(w.link);
        for (;;)
            pause();
    }
    assert_int_equal(next_event(&w), WORKER_MESSAGE);
    assert_int_equal(next_event(&w), WORKER_GONE);
    worker_send(&w, "", 1, -1);
    assert_null(w.killed);
    assert_false(ended(&w));
    assert_non_null(strstr(e.text, "the worker process was killed"));
}

TEST_WITH(a_flood, begin, NULL)
{
    static const uint32_t kind = WORKER_KINDS;
    if (is_worker(0))
        for (;;)
            (void)!write(w.link, &kind, sizeof kind);
    for (int i = 0; i < 50000; i++)
        assert_int_equal(next_event(&w), WORKER_MESSAGE);
    worker_tick(&w, UINT64_MAX);
    assert_null(w.killed);
    for (int i = 0; i < 50001; i++)
        assert_int_equal(next_event(&w), WORKER_MESSAGE);
    worker_tick(&w, UINT64_MAX);
    assert_int_equal(next_event(&w), WORKER_GONE);
    assert_false(ended(&w));
    assert_string_equal(e.text, WORKER_NONSENSE);
}

/* Of two workers, the one that uses more than its half of the memory is killed. */
TEST_WITH(a_greedy_worker, begin, NULL)
{
    const uint64_t mib = (uint64_t)1 << 20, memory = 64 * mib;
    struct worker two[2];
    for (int i = 0; i < 2; i++) {
        if (worker_start(&two[i], i, &e) != 0)
            continue;
        size_t bytes = (size_t)(i == 1 ? 96 * mib : 4 * mib);
        volatile char *block = calloc(bytes, 1); /* volatile: nobody reads it */
        if (!block || !link_send(two[i].link, "0123", 4, -1))
            _exit(3);
        for (;; usleep(10000)) /* none of it is swapped out for long */
            for (size_t at = 0; at < bytes; at += 4096)
                block[at]++;
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(next_event(&two[i]), WORKER_MESSAGE);
        worker_tick(&two[i], 4096 * memory);
        assert_null(two[i].killed);
    }
    while (!two[1].killed)
        worker_tick(&two[1], memory);
    worker_tick(&two[0], memory);
    assert_null(two[0].killed);
    assert_false(ended(&two[1]));
    assert_int_equal(e.code, ERR_MEMORY);
    assert_non_null(strstr(e.text, "--memory"));
    err_clear(&e);
    kill(two[0].pid, SIGKILL);
    assert_false(ended(&two[0]));
    assert_null(strstr(e.text, "--memory"));
}
