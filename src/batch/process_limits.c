#include "process_limits.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

/* Returns how many bytes of writable memory this process has mapped. */
static uint64_t mapped_bytes(void)
{
    uint64_t kib = 0;
    char line[256];
    FILE *f = fopen("/proc/self/status", "re");
    while (f && kib == 0 && fgets(line, sizeof line, f))
        (void)sscanf(line, "VmData: %" SCNu64, &kib);
    if (f)
        fclose(f);
    return kib * 1024;
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
    uint64_t most = memory / 5 * 6;
    shrink_stacks();
    /* A sanitizer has mapped more already. */
    if (memory >= UINT64_MAX / 2 || mapped_bytes() >= memory / 2 ||
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
    char path[48];
    uint64_t resident = 0, shared = 0;
    snprintf(path, sizeof path, "/proc/%d/statm", (int)process);
    FILE *f = fopen(path, "re");
    bool ok = f && fscanf(f, "%*u %" SCNu64 " %" SCNu64, &resident, &shared) == 2;
    if (f)
        fclose(f);
    return ok && resident > shared ? (resident - shared) * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}
