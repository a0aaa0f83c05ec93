/*
 * test_machine.c - the limits of control groups, by files as the kernel shows them.
 */
#include <limits.h>
#include <sched.h>

#include "test.h"
#include "base/limits.h"
#include "files.h"

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

TEST_FIXTURE(begin, leave)
