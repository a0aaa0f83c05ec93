#include "limits.h"

#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* ---- The machine and the control group ---- */

enum { PATH = 4096, LINE = PATH + 256 };

/* Reads up to two numbers of a file, with -1 for "max". Returns how many it read. */
static int read_numbers(const char *folder, const char *name, double number[2])
{
    char path[PATH + 64], text[64] = "";
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "re");
    if (!f)
        return 0;
    bool ok = fgets(text, sizeof text, f) != NULL;
    fclose(f);
    char *at = text, *end = text;
    int count = 0;
    if (ok && strncmp(text, "max", 3) == 0) {
        number[count++] = -1;
        at = text + 3;
    }
    while (ok && count < 2) {
        double value = strtod(at, &end);
        if (end == at)
            break;
        number[count++] = value;
        at = end;
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
    int cores = (int)ceil(quota / period);
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
    while (strlen(folder) > least) {
        limit_by(l, folder);
        char *slash = strrchr(folder + least, '/');
        if (!slash)
            break;
        *slash = '\0';
    }
    limit_by(l, mount);
}

/* Returns true if a comma-separated list of controllers ("cpu,cpuacct") contains `name`. */
static bool has_controller(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (;;) {
        size_t here = strcspn(list, ",");
        if (here == length && strncmp(list, name, length) == 0)
            return true;
        if (list[here] == '\0')
            return false;
        list += here + 1;
    }
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

static struct machine_limits process_group_limits(void)
{
    return machine_limits_of("/proc/self/cgroup", "/sys/fs/cgroup");
}

uint64_t machine_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
    uint64_t all = UINT64_MAX, limit = process_group_limits().memory;
    if (pages > 0 && bytes > 0)
        all = (uint64_t)pages * (uint64_t)bytes;
    return limit < all ? limit : all;
}

int machine_cores(void)
{
    cpu_set_t set;
    int limit = process_group_limits().cores, cores;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        cores = CPU_COUNT(&set);
    else
        cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
    cores = limit < cores ? limit : cores;
    return cores < 1 ? 1 : cores;
}

/* ---- What the films may take ---- */

static uint64_t wanted_memory, wanted_pixels;

void limits_set(uint64_t memory, uint64_t pixels)
{
    wanted_memory = memory;
    wanted_pixels = pixels;
}

uint64_t limits_memory_of(uint64_t machine, uint64_t wanted)
{
    enum { RESERVE = 16 };
    uint64_t allowed = machine == UINT64_MAX ? machine : machine - machine / RESERVE;
    return wanted > 0 && wanted < machine ? wanted : allowed;
}

uint64_t limits_memory(void) { return limits_memory_of(machine_memory(), wanted_memory); }

uint64_t limits_pixels(void) { return wanted_pixels > 0 ? wanted_pixels : LIMITS_PIXELS; }

/* ---- A worker process ---- */

/* The columns of /proc/PID/statm: proc_pid_statm(5). */
enum { RESIDENT = 1, SHARED = 2, DATA = 5, COLUMNS };

/* Sets size[] to the sizes of a process in bytes; to 0 if they are unknown. */
static void read_sizes(pid_t process, uint64_t size[COLUMNS])
{
    char path[48], line[256] = "";
    snprintf(path, sizeof path, "/proc/%d/statm", (int)process);
    FILE *f = fopen(path, "re");
    char *at = f ? fgets(line, sizeof line, f) : NULL;
    for (int i = 0; i < COLUMNS; i++)
        size[i] = at ? strtoull(at, &at, 10) * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
    if (f)
        fclose(f);
}

/* Gives threads a stack large enough for libav and pango; 8 MiB each would count as used. */
static void shrink_stacks(void)
{
#ifdef __GLIBC__
    pthread_attr_t attributes;
    size_t most = (size_t)2 << 20, bytes = 0;
    if (pthread_getattr_default_np(&attributes) != 0)
        return;
    if (pthread_attr_getstacksize(&attributes, &bytes) == 0 && bytes > most &&
        pthread_attr_setstacksize(&attributes, most) == 0)
        (void)pthread_setattr_default_np(&attributes);
    pthread_attr_destroy(&attributes);
#endif
}

void process_limits_set(uint64_t memory)
{
    struct rlimit limit;
    uint64_t most = memory / 5 * 6, size[COLUMNS];
    shrink_stacks();
    read_sizes(getpid(), size);
    /* A sanitizer has mapped more already. Without /proc the sizes are 0. */
    if (memory >= UINT64_MAX / 2 || size[DATA] >= memory / 2 ||
        getrlimit(RLIMIT_DATA, &limit) != 0 || limit.rlim_cur <= most)
        return;
    limit.rlim_cur = most;
    (void)setrlimit(RLIMIT_DATA, &limit);
}

void process_limits_kill_first(void)
{
    static const char score[] = "500";
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    ssize_t n = write(fd, score, sizeof score - 1);
    (void)n; /* it may be higher already */
    close(fd);
}

uint64_t process_limits_used(pid_t process)
{
    uint64_t size[COLUMNS];
    read_sizes(process, size);
    return size[RESIDENT] > size[SHARED] ? size[RESIDENT] - size[SHARED] : 0;
}

/* ---- Freed memory ---- */

#ifdef __GLIBC__
/*
 * Returns how many bytes each arena may keep. glibc has up to eight arenas a core. By default each
 * keeps up to twice the largest freed block, at most 64 MiB.
 */
static uint64_t kept_by_each(void)
{
    const uint64_t arenas_a_core = 8, share = 8, most = 64 << 20;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t memory = limits_memory();
    if (cores < 1 || memory == UINT64_MAX)
        return 0;
    uint64_t each = memory / (share * arenas_a_core * (uint64_t)cores);
    return each < most ? each : most;
}
#endif

bool process_limits_keep_heap(void)
{
#ifdef __GLIBC__
    /* Below this, the 10-bit frames of a 1080p decoder would still be returned to the kernel. */
    const uint64_t least = 16 << 20;
    /* The maximum of mallopt and of glibc's dynamic threshold. Larger blocks are always mapped. */
    const int block_most = 32 << 20;
    uint64_t each = kept_by_each();
    bool ok = each >= least && mallopt(M_MMAP_THRESHOLD, block_most) &&
              mallopt(M_TRIM_THRESHOLD, (int)each);
    /* Grow each heap in larger steps, because each step is a system call. */
    if (ok)
        (void)mallopt(M_TOP_PAD, (int)(each / 16));
    return ok;
#else
    return false;
#endif
}
