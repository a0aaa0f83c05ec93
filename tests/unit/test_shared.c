#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"
#include "barcode/base/shared.h"

struct counter {
    pthread_mutex_t lock;
    int count;
};

static struct counter *open_counter(void)
{
    struct err e = ERR_INIT;
    struct counter *c = shared_alloc(sizeof *c, &e);
    assert_non_null(c);
    assert_int_equal(c->count, 0);
    shared_lock_init(&c->lock);
    return c;
}

TEST(processes_count_together)
{
    enum { PROCESSES = 4, TIMES = 20000 };
    struct counter *c = open_counter();
    for (int i = 0; i < PROCESSES; i++) {
        if (fork() != 0)
            continue;
        for (int k = 0; k < TIMES; k++) {
            shared_lock(&c->lock);
            c->count++;
            pthread_mutex_unlock(&c->lock);
        }
        _exit(0);
    }
    for (int i = 0; i < PROCESSES; i++)
        assert_true(wait(NULL) > 0);
    assert_int_equal(c->count, PROCESSES * TIMES);
    shared_free(c, sizeof *c);
}

/* The lock of a process that was killed goes to the next one, again and again. */
TEST(a_dead_process_holds_nothing)
{
    struct counter *c = open_counter();
    for (int i = 0; i < 3; i++) {
        pid_t child = fork();
        if (child == 0) {
            shared_lock(&c->lock);
            c->count++;
            kill(getpid(), SIGKILL);
        }
        assert_int_equal(waitpid(child, NULL, 0), child);
        alarm(60);
        shared_lock(&c->lock);
        alarm(0);
        assert_int_equal(c->count, i + 1);
        pthread_mutex_unlock(&c->lock);
    }
    shared_free(c, sizeof *c);
    shared_free(NULL, 1);
}

TEST(too_much)
{
    struct err e = ERR_INIT;
    assert_null(shared_alloc(SIZE_MAX / 2, &e));
    assert_int_equal(e.code, ERR_MEMORY);
}

TEST_MAIN(NULL, NULL)
