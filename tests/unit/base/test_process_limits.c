/* test_process_limits.c - what a worker process may allocate, in a child each. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"
#include "under_tsan.h"
#include "base/limits.h"

static const uint64_t mib = (uint64_t)1 << 20;

/* Returns the exit status of a child that runs `body`. */
static int in_child(int (*body)(void))
{
    int status;
    pid_t child = fork();
    if (child == 0)
        _exit(body());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static bool allocates(uint64_t bytes)
{
    char *volatile block = malloc((size_t)bytes); /* gcc 16 leaves out the call otherwise */
    bool ok = block != NULL;
    free(block);
    return ok;
}

static void *nothing(void *argument) { return argument; }

/* A fifth more than the limit; address space that is not writable, and 64 threads, do not count. */
static int limited(void)
{
    pthread_t thread[64];
    process_limits_set(512 * mib);
    struct rlimit limit;
    if (getrlimit(RLIMIT_DATA, &limit) != 0 || limit.rlim_cur > 616 * mib)
        return 77; /* a sanitizer has mapped more already */
    if (!allocates(500 * mib) || allocates(620 * mib))
        return 1;
    if (mmap(NULL, (size_t)(8192 * mib), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
        MAP_FAILED)
        return 2;
    for (int i = 0; i < 64; i++)
        if (pthread_create(&thread[i], NULL, nothing, NULL) != 0)
            return 3;
    for (int i = 0; i < 64; i++)
        pthread_join(thread[i], NULL);
    return 0;
}

/* A lower limit of the user stays, and no limit is set where none is known. */
static int unlimited(void)
{
    struct rlimit limit;
    process_limits_set(UINT64_MAX);
    if (getrlimit(RLIMIT_DATA, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY)
        return 1;
    limit.rlim_cur = (rlim_t)(300 * mib);
    setrlimit(RLIMIT_DATA, &limit);
    process_limits_set(512 * mib);
    return getrlimit(RLIMIT_DATA, &limit) != 0 || limit.rlim_cur != (rlim_t)(300 * mib);
}

static int killed_first(void)
{
    int score = 0;
    process_limits_kill_first();
    FILE *f = fopen("/proc/self/oom_score_adj", "re");
    if (!f || fscanf(f, "%d", &score) != 1)
        return 77; /* no such file */
    return score < 500;
}

TEST(a_process_is_limited)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_DATA, &limit), 0);
    int status = in_child(limited);
    assert_true(status == 0 || status == 77);
    status = limit.rlim_cur == RLIM_INFINITY ? in_child(unlimited) : 0;
    assert_int_equal(status, 0);
    status = in_child(killed_first);
    assert_true(status == 0 || status == 77);
}

/* What was allocated and used counts, and no more. */
TEST(used_memory)
{
    uint64_t before = process_limits_used(getpid());
    assert_true(before > 0 && before < 4096 * mib);
    char *block =
        mmap(NULL, (size_t)(64 * mib), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(block != MAP_FAILED);
    assert_true(process_limits_used(getpid()) < before + 16 * mib);
    memset(block, 1, (size_t)(32 * mib));
    uint64_t after = process_limits_used(getpid());
    assert_true(after > before + 24 * mib && (UNDER_TSAN || after < before + 48 * mib));
    munmap(block, (size_t)(64 * mib));
    assert_int_equal(process_limits_used(-1), 0);
}
