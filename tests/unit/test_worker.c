#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"
#include "barcode/base/interrupt.h"
#include "batch/worker_process.h"

enum { FILMS = 4 };

static struct err problem[FILMS];
static enum input_duty duty[FILMS];
static struct input_file file[FILMS];
static const struct inputs four = {.problem = problem, .duty = duty, .file = file, .count = FILMS};

static struct film_queue *queue;
static struct worker w;
static struct err e;
static struct film_list films;

/* What a worker does with the films from the next one on: film 1 kills it, film 2 cannot be read.
 */
static void work(int signal)
{
    struct err bad = ERR_INIT;
    err_set(&bad, ERR_INPUT, "no film");
    for (size_t film; film_queue_next(queue, 0, &film);) {
        if (film == 1)
            kill(getpid(), signal);
        film_queue_done(queue, film, film == 2 ? &bad : NULL);
    }
}

static int begin(void **state)
{
    (void)state;
    err_clear(&e);
    queue = film_queue_open(&four, &e);
    interrupt_install();
    return queue ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    film_queue_free(&queue);
    return 0;
}

static void take(size_t film)
{
    size_t got;
    if (!film_queue_next(queue, 0, &got) || got != film)
        _exit(3);
}

/* Signals that no sanitizer takes for its own. */
TEST_WITH(a_crash_has_a_culprit, begin, end)
{
    static const int kind[] = {SIGKILL, SIGABRT, SIGALRM};
    for (size_t i = 0; i < sizeof kind / sizeof *kind; i++) {
        end(NULL);
        begin(NULL);
        size_t film;
        if (!worker_start(&w, 0)) {
            work(kind[i]);
            _exit(3);
        }
        assert_int_equal(worker_watch(&w, queue, &films, &e), WORKER_CRASHED);
        assert_int_equal(films.count, 1);
        assert_int_equal(films.film[0], 1);
        assert_int_equal(w.status, -1);
        assert_non_null(strstr(e.text, kind[i] == SIGKILL ? "was killed" : "crashed: "));
        film_queue_done(queue, films.film[0], &e);

        /* The next one goes on behind it. */
        err_clear(&e);
        if (!worker_start(&w, 0)) {
            work(0);
            worker_leaves(&w, film_queue_status(queue), false);
            _exit(film_queue_status(queue));
        }
        assert_int_equal(worker_watch(&w, queue, &films, &e), WORKER_DONE);
        assert_int_equal(w.status, ERR_FAILED); /* of film 1, which comes before film 2 */
        assert_int_equal(film_queue_status(queue), ERR_FAILED);
        assert_false(film_queue_next(queue, 0, &film));
    }
}

/* What one leaves half written its parent removes, and what it made stays. */
TEST_WITH(temporaries_go, begin, end)
{
    static const char *const name[] = {"/tmp/.test_worker.doomed.tmp",
                                       "/tmp/.test_worker.spared.tmp"};
    if (!worker_start(&w, 0)) {
        take(0);
        for (int i = 0; i < 2; i++) {
            int number = interrupt_doom(name[i]), fd = open(name[i], O_CREAT | O_WRONLY, 0600);
            if (number < 0 || fd < 0)
                _exit(3);
            if (i == 1)
                interrupt_spare(number);
        }
        kill(getpid(), SIGKILL);
    }
    assert_int_equal(worker_watch(&w, queue, &films, &e), WORKER_CRASHED);
    assert_int_not_equal(access(name[0], F_OK), 0);
    assert_int_equal(unlink(name[1]), 0);
}

/* The parent does not wait for a killed worker that hangs in the kernel; this one hangs in a stop.
 */
TEST_WITH(one_that_does_not_die, begin, end)
{
    if (!worker_start(&w, 0)) {
        take(0);
        raise(SIGSTOP);
        _exit(3);
    }
    pid_t pid = w.pid;
    assert_int_equal(waitpid(pid, NULL, WUNTRACED), pid);
    w.killed = true;
    alarm(60);
    assert_int_equal(worker_wait(&w, 1, 0), 0);
    assert_int_equal(worker_watch(&w, queue, &films, &e), WORKER_CRASHED);
    alarm(0);
    assert_int_equal(films.count, 1);
    assert_string_equal(e.text, "the worker process did not answer and was killed");
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* A library or a sanitizer may end it: the film that was under way is the culprit, too. Between two
 * films there is none. */
TEST_WITH(others_end_it, begin, end)
{
    static const int status[] = {-1, 0, 66};
    for (size_t i = 0; i < sizeof status / sizeof *status; i++) {
        end(NULL);
        begin(NULL);
        if (!worker_start(&w, 0)) {
            if (status[i] < 0)
                kill(getpid(), SIGKILL);
            take(0);
            _exit(status[i]);
        }
        assert_int_equal(worker_watch(&w, queue, &films, &e),
                         status[i] < 0 ? WORKER_BROKE : WORKER_CRASHED);
        assert_int_equal(films.count, status[i] < 0 ? 0 : 1);
        assert_true(status[i] < 0 || films.film[0] == 0);
        assert_int_equal(w.status, status[i]);
        assert_int_equal(e.code, ERR_FAILED);
    }
}

/* Of several films that were under way any may be to blame: all are told, but for those that ended.
 */
TEST_WITH(several_under_way, begin, end)
{
    size_t film;
    if (!worker_start(&w, 0)) {
        for (size_t i = 0; i < 4; i++)
            take(i);
        film_queue_done(queue, 0, NULL);
        kill(getpid(), SIGKILL);
    }
    assert_int_equal(worker_watch(&w, queue, &films, &e), WORKER_CRASHED);
    assert_int_equal(films.count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(films.film[i], i + 1);
    assert_false(film_queue_next(queue, 0, &film)); /* they were taken */
    assert_int_equal(film_queue_tally(queue).done, 1);
}

/* Where children are not waited for, as a parent may hand down, their end would pass for a good
 * one. */
TEST_WITH(children_that_nobody_waits_for, begin, end)
{
    signal(SIGCHLD, SIG_IGN);
    interrupt_install();
    if (!worker_start(&w, 0)) {
        work(0);
        worker_leaves(&w, 7, false);
        _exit(7);
    }
    assert_int_equal(worker_watch(&w, queue, &films, &e), WORKER_DONE);
    assert_int_equal(w.status, 7);
}

/* One that crashes behind its last film is told, too. */
TEST_WITH(a_crash_at_the_end, begin, end)
{
    if (!worker_start(&w, 0)) {
        work(0);
        worker_leaves(&w, 0, false);
        kill(getpid(), SIGKILL);
    }
    assert_int_equal(worker_watch(&w, queue, &films, &e), WORKER_BROKE);
    assert_int_equal(film_queue_status(queue), ERR_INPUT);
}

/* Nobody waits for one that lingers, neither its parent nor who reads what the program writes. */
TEST_WITH(one_that_lingers, begin, end)
{
    int end[2];
    char byte;
    assert_int_equal(pipe(end), 0);
    alarm(60); /* who waited after all ends here */
    if (!worker_start(&w, 0)) {
        dup2(end[1], STDOUT_FILENO);
        dup2(end[1], STDERR_FILENO);
        close(end[0]);
        close(end[1]);
        work(0);
        worker_leaves(&w, 42, true);
        for (;;)
            pause();
    }
    pid_t pid = w.pid;
    close(end[1]);
    assert_int_equal(worker_watch(&w, queue, &films, &e), WORKER_DONE);
    assert_int_equal(w.status, 42);
    assert_int_equal(films.count, 0);
    assert_int_equal(film_queue_status(queue), ERR_INPUT);
    assert_int_equal(read(end[0], &byte, 1), 0); /* no writer is left, while the process is */
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    alarm(0);
    close(end[0]);
}

/* Then the first process does the work, and what it would say to a parent goes nowhere. */
TEST_WITH(no_worker_can_be_had, begin, end)
{
    struct rlimit before, none;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    bool parent = worker_start(&w, 0);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_false(parent);
    assert_int_equal(w.pid, -1);
    work(0);
    worker_leaves(&w, 0, false);
    assert_int_equal(film_queue_status(queue), ERR_INPUT);
}

/* Two at once: the crash of one costs one film, and its temporaries alone; the other one goes on.
 */
TEST_WITH(one_of_two_crashes, begin, end)
{
    static const char *const name[] = {"/tmp/.test_worker.first.tmp",
                                       "/tmp/.test_worker.second.tmp"};
    struct worker two[2];
    int started[2], go_on[2];
    char byte = 0;
    assert_true(pipe(started) == 0 && pipe(go_on) == 0);
    for (int i = 0; i < 2; i++) {
        if (worker_start(&two[i], i))
            continue;
        size_t film;
        int fd = film_queue_next(queue, i, &film) && interrupt_doom(name[i]) >= 0
                     ? open(name[i], O_CREAT | O_WRONLY, 0600)
                     : -1;
        if (fd < 0 || write(started[1], &byte, 1) != 1 || (i == 1 && read(go_on[0], &byte, 1) != 1))
            _exit(3);
        if (i == 0)
            pause();
        film_queue_done(queue, film, NULL);
        worker_leaves(&two[i], 0, false);
        _exit(0);
    }
    alarm(60);
    for (int i = 0; i < 2; i++)
        assert_int_equal(read(started[0], &byte, 1), 1);
    assert_int_equal(worker_wait(two, 2, 0), -1);
    kill(two[0].pid, SIGKILL);
    int ended;
    while ((ended = worker_wait(two, 2, 100)) < 0)
        continue;
    assert_int_equal(ended, 0);
    assert_int_equal(worker_watch(&two[0], queue, &films, &e), WORKER_CRASHED);
    assert_int_equal(films.count, 1);
    assert_int_not_equal(access(name[0], F_OK), 0);
    assert_int_equal(access(name[1], F_OK), 0);
    assert_int_equal(worker_wait(two, 2, 0), -1);
    assert_int_equal(write(go_on[1], &byte, 1), 1);
    while ((ended = worker_wait(two, 2, 100)) < 0)
        continue;
    assert_int_equal(ended, 1);
    assert_int_equal(worker_watch(&two[1], queue, &films, &e), WORKER_DONE);
    assert_int_equal(film_queue_tally(queue).done, 1);
    alarm(0);
    for (int i = 0; i < 2; i++) {
        close(started[i]);
        close(go_on[i]);
    }
    unlink(name[1]);
}

/* Of two workers, the one that uses more than its half of the memory is killed. */
TEST_WITH(a_greedy_worker, begin, end)
{
    const uint64_t mib = (uint64_t)1 << 20, memory = 512 * mib;
    struct worker two[2];
    int started[2];
    char byte = 0;
    assert_int_equal(pipe(started), 0);
    for (int i = 0; i < 2; i++) {
        if (worker_start(&two[i], i))
            continue;
        size_t film, bytes = (size_t)(i == 1 ? 320 * mib : 16 * mib);
        char *block = malloc(bytes);
        if (!film_queue_next(queue, i, &film) || !block || !memset(block, 1, bytes) ||
            write(started[1], &byte, 1) != 1)
            _exit(3);
        pause();
    }
    alarm(60);
    for (int i = 0; i < 2; i++)
        assert_int_equal(read(started[0], &byte, 1), 1);
    worker_limit_memory(two, 2, 4096 * memory);
    assert_int_equal(worker_wait(two, 2, 50), -1);
    worker_limit_memory(two, 2, memory);
    int ended;
    while ((ended = worker_wait(two, 2, 100)) < 0)
        continue;
    assert_int_equal(ended, 1);
    assert_int_equal(worker_watch(&two[1], queue, &films, &e), WORKER_CRASHED);
    assert_int_equal(films.count, 1);
    assert_int_equal(e.code, ERR_MEMORY);
    assert_non_null(strstr(e.text, "--memory"));
    err_clear(&e);
    worker_limit_memory(two, 2, memory); /* the other one has all of it now */
    assert_int_equal(worker_wait(two, 2, 50), -1);
    kill(two[0].pid, SIGKILL);
    assert_int_equal(worker_watch(&two[0], queue, &films, &e), WORKER_CRASHED);
    assert_null(strstr(e.text, "--memory"));
    alarm(0);
    close(started[0]);
    close(started[1]);
}

/* One that is killed when it has announced its end has done its work. */
TEST_WITH(a_greedy_worker_at_its_end, begin, end)
{
    if (!worker_start(&w, 0)) {
        work(0);
        worker_leaves(&w, ERR_INPUT, false);
        for (;;)
            pause();
    }
    alarm(60);
    assert_int_equal(worker_wait(&w, 1, 50000), 0);
    worker_limit_memory(&w, 1, 1);
    assert_true(w.greedy);
    assert_int_equal(worker_watch(&w, queue, &films, &e), WORKER_DONE);
    alarm(0);
    assert_int_equal(w.status, ERR_INPUT);
    assert_int_equal(w.announced, ERR_INPUT);
    assert_int_equal(films.count, 0);
    assert_int_equal(e.code, ERR_NONE);
}

TEST_MAIN(NULL, NULL)
