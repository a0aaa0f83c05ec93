#include "machine.h"

#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH = 4096, LINE = PATH + 256 };

/* Reads up to two numbers of a file, with -1 for "max". Returns how many it read. */
static int read_numbers(const char *folder, const char *name, double number[2])
{
    char path[PATH + 64], text[64] = "";
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "re");
    if (!f)
        return 0;
    bool there = fgets(text, sizeof text, f) != NULL;
    fclose(f);
    char *at = text, *end = text;
    int count = 0;
    if (there && strncmp(text, "max", 3) == 0) {
        number[count++] = -1;
        at = text + 3;
    }
    for (; there && count < 2; at = end) {
        double value = strtod(at, &end);
        if (end == at)
            break;
        number[count++] = value;
    }
    return count;
}

static void limit_memory(struct machine_limits *l, const char *folder, const char *name)
{
    double bytes[2];
    if (read_numbers(folder, name, bytes) >= 1 && bytes[0] > 0 && bytes[0] < (double)l->memory)
        l->memory = (uint64_t)bytes[0];
}

static void limit_cores(struct machine_limits *l, double quota, double period)
{
    if (quota <= 0 || period <= 0 || quota / period >= INT_MAX - 1)
        return;
    int whole = (int)(quota / period), cores = whole + (whole < quota / period);
    l->cores = cores < l->cores ? cores : l->cores;
}

/* Applies the limits in a group's folder, from the files of cgroup v1 or v2. */
static void limit_by(struct machine_limits *l, const char *folder)
{
    double first[2], second[2];
    limit_memory(l, folder, "memory.max");
    limit_memory(l, folder, "memory.limit_in_bytes");
    if (read_numbers(folder, "cpu.max", first) == 2)
        limit_cores(l, first[0], first[1]);
    if (read_numbers(folder, "cpu.cfs_quota_us", first) >= 1 &&
        read_numbers(folder, "cpu.cfs_period_us", second) >= 1)
        limit_cores(l, first[0], second[0]);
}

/* Applies the limits of a group and of its parents up to the mount point. */
static void limit_by_all(struct machine_limits *l, const char *mount, const char *group)
{
    char folder[PATH];
    int length = snprintf(folder, sizeof folder, "%s%s", mount, group);
    size_t least = strlen(mount);
    if (length < 0 || (size_t)length >= sizeof folder)
        return;
    for (size_t left = (size_t)length; left > least; folder[left] = '\0') {
        limit_by(l, folder);
        while (left > least && folder[--left] != '/')
            ;
    }
    limit_by(l, mount);
}

/* Returns true if a comma-separated list of controllers ("cpu,cpuacct") contains `name`. */
static bool has_controller(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (; list; list = strchr(list, ',') ? strchr(list, ',') + 1 : NULL)
        if (strncmp(list, name, length) == 0 && (list[length] == ',' || list[length] == '\0'))
            return true;
    return false;
}

/* Applies the limits of a line NUMBER:CONTROLLERS:PATH. In cgroup v2, CONTROLLERS is empty. */
static void limit_by_line(struct machine_limits *l, const char *root, char *line)
{
    static const char *const controllers[] = {"memory", "cpu"};
    char mount[PATH];
    line[strcspn(line, "\n")] = '\0';
    char *list = strchr(line, ':'), *group = list ? strchr(list + 1, ':') : NULL;
    if (!group)
        return;
    *group++ = '\0';
    list++;
    if (*list == '\0')
        limit_by_all(l, root, group);
    for (size_t i = 0; i < sizeof controllers / sizeof *controllers; i++)
        if (has_controller(list, controllers[i]) &&
            snprintf(mount, sizeof mount, "%s/%s", root, controllers[i]) < (int)sizeof mount)
            limit_by_all(l, mount, group);
}

struct machine_limits machine_limits_of(const char *group, const char *root)
{
    struct machine_limits limits = {UINT64_MAX, INT_MAX};
    char line[LINE];
    FILE *f = fopen(group, "re");
    while (f && fgets(line, sizeof line, f))
        limit_by_line(&limits, root, line);
    if (f)
        fclose(f);
    return limits;
}

static struct machine_limits own_limits(void)
{
    return machine_limits_of("/proc/self/cgroup", "/sys/fs/cgroup");
}

uint64_t machine_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
    uint64_t all = pages > 0 && bytes > 0 ? (uint64_t)pages * (uint64_t)bytes : UINT64_MAX,
             limit = own_limits().memory;
    return limit < all ? limit : all;
}

int machine_cores(void)
{
    cpu_set_t set;
    int cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set)
                                                            : (int)sysconf(_SC_NPROCESSORS_ONLN),
        limit = own_limits().cores;
    cores = limit < cores ? limit : cores;
    return cores < 1 ? 1 : cores;
}
