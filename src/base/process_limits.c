#include "process_limits.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

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

/*
 * Gives each new thread a stack that is large enough for libav and pango. By default each takes
 * 8 MiB of the limit, used or not.
 */
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
