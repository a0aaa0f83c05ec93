/*
 * test_machine.c - the limits of control groups, by files as the kernel shows them.
 */
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"
#include "base/limits.h"

static char root[64];

FIXTURE(begin)
{
    snprintf(root, sizeof root, "/tmp/barcode-machine-XXXXXX");
    return mkdtemp(root) ? 0 : 1;
}

FIXTURE(end)
{
    char line[128];
    snprintf(line, sizeof line, "rm -rf %s", root);
    return system(line);
}

/* A file below the root, its folders made. */
static void put(const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", root, name);
    for (char *at = path + strlen(root) + 1; (at = strchr(at, '/')); *at++ = '/') {
        *at = '\0';
        mkdir(path, 0777);
    }
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void are(const char *groups, uint64_t memory, int cores)
{
    char group[512];
    snprintf(group, sizeof group, "%s/cgroup", root);
    put("cgroup", groups);
    struct machine_limits limits = machine_limits_of(group, root);
    assert_true(limits.memory == memory);
    assert_int_equal(limits.cores, cores);
}

/* Version 2: the group's own limit or that of one around it, whichever is less. */
TEST(one_tree)
{
    put("job/step/memory.max", "8589934592\n");
    put("job/step/cpu.max", "250000 100000\n");
    put("job/memory.max", "max\n");
    put("job/cpu.max", "max 100000\n");
    are("0::/job/step\n", UINT64_C(8) << 30, 3);
    are("0::/job\n", UINT64_MAX, INT_MAX);
    put("job/memory.max", "1073741824\n");
    put("job/cpu.max", "50000 100000\n");
    are("0::/job/step\n", UINT64_C(1) << 30, 1);
    are("0::/jo\n", UINT64_MAX, INT_MAX);
    /* A container's own group is its root, whatever the path says. */
    put("memory.max", "4096\n");
    put("cpu.max", "1600000 100000\n");
    are("0::/\n", 4096, 16);
    are("0::/docker/0123\n", 4096, 16);
    put("memory.max", "max\n");
    put("cpu.max", "max 100000\n");
}

/* Version 1: a tree for each controller. Without a limit it shows a large number, or -1. */
TEST(a_tree_each)
{
    put("memory/slurm/job_7/memory.limit_in_bytes", "2147483648\n");
    put("memory/slurm/memory.limit_in_bytes", "9223372036854771712\n");
    put("cpu/slurm/job_7/cpu.cfs_quota_us", "400000\n");
    put("cpu/slurm/job_7/cpu.cfs_period_us", "100000\n");
    put("cpu/slurm/cpu.cfs_quota_us", "-1\n");
    put("cpu/slurm/cpu.cfs_period_us", "100000\n");
    are("11:memory:/slurm/job_7\n4:cpu,cpuacct:/slurm/job_7\n1:name=systemd:/x\n0::/\n",
        UINT64_C(2) << 30, 4);
    are("4:cpuacct,cpu:/slurm/job_7\n", UINT64_MAX, 4);
    are("4:cpuacct:/slurm/job_7\n3:cpuset:/slurm/job_7\n", UINT64_MAX, INT_MAX);
    are("4:cpu:/slurm\n", UINT64_MAX, INT_MAX);
    assert_true(machine_limits_of("/nowhere", root).memory == UINT64_MAX);
}

TEST(nonsense)
{
    put("odd/memory.max", "lots\n");
    put("odd/cpu.max", "0 0\n");
    are("0::/odd\n", UINT64_MAX, INT_MAX);
    put("odd/memory.max", "");
    put("odd/cpu.max", "100000\n");
    are("0::/odd\n0::\n::\n\nodd", UINT64_MAX, INT_MAX);
    put("odd/memory.max", "-5\n");
    put("odd/cpu.max", "1e300 1\n");
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

TEST_FIXTURE(begin, end)
