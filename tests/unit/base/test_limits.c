/*
 * test_limits.c - the limits of control groups, by files as the kernel shows them; what --memory
 * and --max-pixels leave for the films; and what a worker process may allocate, in a child each.
 */
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "test.h"
#include "base/limits.h"
#include "files.h"
#include "under_tsan.h"

static const uint64_t mib = (uint64_t)1 << 20, gib = (uint64_t)1 << 30;

/* ---- The machine ---- */

static int begin(void **state)
{
    return enter(state) ? -1 : system("mkdir -p job/step memory/slurm/job_7 cpu/slurm/job_7 odd");
}

static void write_text(const char *path, const char *text) { put(path, text, strlen(text)); }

static void are(const char *groups, uint64_t memory, int cores)
{
    write_text("cgroup", groups);
    struct machine_limits limits = machine_limits_of("cgroup", ".");
    assert_true(limits.memory == memory);
    assert_int_equal(limits.cores, cores);
}

/* Version 2: the group's own limit or that of one around it, whichever is less. */
TEST(one_tree)
{
    write_text("job/step/memory.max", "8589934592\n");
    write_text("job/step/cpu.max", "250000 100000\n");
    write_text("job/memory.max", "max\n");
    write_text("job/cpu.max", "max 100000\n");
    are("0::/job/step\n", UINT64_C(8) << 30, 3);
    are("0::/job\n", UINT64_MAX, INT_MAX);
    write_text("job/memory.max", "1073741824\n");
    write_text("job/cpu.max", "50000 100000\n");
    are("0::/job/step\n", UINT64_C(1) << 30, 1);
    are("0::/jo\n", UINT64_MAX, INT_MAX);
    /* A container's own group is its root, whatever the path says. */
    write_text("memory.max", "4096\n");
    write_text("cpu.max", "1600000 100000\n");
    are("0::/\n", 4096, 16);
    are("0::/docker/0123\n", 4096, 16);
    write_text("memory.max", "max\n");
    write_text("cpu.max", "max 100000\n");
}

/* Version 1: a tree for each controller. Without a limit it shows a large number, or -1. */
TEST(a_tree_each)
{
    write_text("memory/slurm/job_7/memory.limit_in_bytes", "2147483648\n");
    write_text("memory/slurm/memory.limit_in_bytes", "9223372036854771712\n");
    write_text("cpu/slurm/job_7/cpu.cfs_quota_us", "400000\n");
    write_text("cpu/slurm/job_7/cpu.cfs_period_us", "100000\n");
    write_text("cpu/slurm/cpu.cfs_quota_us", "-1\n");
    write_text("cpu/slurm/cpu.cfs_period_us", "100000\n");
    are("11:memory:/slurm/job_7\n4:cpu,cpuacct:/slurm/job_7\n1:name=systemd:/x\n0::/\n",
        UINT64_C(2) << 30, 4);
    are("4:cpuacct,cpu:/slurm/job_7\n", UINT64_MAX, 4);
    are("4:cpuacct:/slurm/job_7\n3:cpuset:/slurm/job_7\n", UINT64_MAX, INT_MAX);
    are("4:cpu:/slurm\n", UINT64_MAX, INT_MAX);
    assert_true(machine_limits_of("/nowhere", ".").memory == UINT64_MAX);
}

TEST(nonsense)
{
    write_text("odd/memory.max", "lots\n");
    write_text("odd/cpu.max", "0 0\n");
    are("0::/odd\n", UINT64_MAX, INT_MAX);
    write_text("odd/memory.max", "");
    write_text("odd/cpu.max", "100000\n");
    are("0::/odd\n0::\n::\n\nodd", UINT64_MAX, INT_MAX);
    write_text("odd/memory.max", "-5\n");
    write_text("odd/cpu.max", "1e300 1\n");
    are("0::/odd\n", UINT64_MAX, INT_MAX);
    char *line = malloc(20000);
    assert_non_null(line);
    memset(line, 'x', 19999);
    line[19999] = '\0';
    memcpy(line, "0::/", 4);
    are(line, UINT64_MAX, INT_MAX);
    free(line);
}

/* No more than the machine has, and no more cores than the scheduler lets this process have. */
TEST(this_machine)
{
    cpu_set_t all, one;
    assert_true(machine_memory() >= 1 << 20 &&
                machine_memory() <=
                    (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE));
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    assert_in_range(machine_cores(), 1, CPU_COUNT(&all));
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &all) && CPU_COUNT(&one) == 0)
            CPU_SET(i, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_int_equal(machine_cores(), 1);
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
}

/* ---- The films ---- */

/* The machine keeps a sixteenth, which the user may take; nobody gets more than there is. */
TEST(memory)
{
    assert_true(limits_memory_of(16 * gib, 0) == 15 * gib);
    assert_true(limits_memory_of(16 * gib, gib) == gib);
    assert_true(limits_memory_of(16 * gib, 16 * gib - 1) == 16 * gib - 1);
    assert_true(limits_memory_of(16 * gib, 16 * gib) == 15 * gib);
    assert_true(limits_memory_of(16 * gib, 64 * gib) == 15 * gib);
    assert_true(limits_memory_of(UINT64_MAX, 0) == UINT64_MAX);
    assert_true(limits_memory_of(UINT64_MAX, gib) == gib);
    assert_true(limits_memory_of(0, 0) == 0);
}

TEST(the_user_sets_them)
{
    assert_true(limits_memory() == limits_memory_of(machine_memory(), 0));
    assert_true(limits_pixels() == (uint64_t)1 << 27);
    limits_set(12345678, 640);
    assert_true(limits_memory() == 12345678);
    assert_true(limits_pixels() == 640);
    limits_set(0, 0);
    assert_true(limits_pixels() == (uint64_t)1 << 27);
}

/* ---- A process ---- */

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
    if (getrlimit(RLIMIT_DATA, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return 77; /* qemu-user ignores limits of memory */
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
    assert_true(status == 0 || status == 77);
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

TEST_FIXTURE(begin, leave)
