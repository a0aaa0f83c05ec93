/*
 * tried-calls.c - a library for LD_PRELOAD that tries in each sandboxed process what a sandbox must
 * refuse (sandbox_attempts.h), as soon as its filter of system calls is loaded. At its end the
 * program names on stderr what was not refused in processes that it forked, and how many they were.
 *
 *   TRIED_CALLS=FOLDER   the attempts' folder
 *
 * The caller may open descriptor 200, which such a process must not have.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "../unit/base/sandbox_attempts.h"

enum { INHERITED = 200 };

/* Shared by the program and the processes that it forks. */
static struct {
    atomic_int processes, attempt[sizeof attempts / sizeof *attempts], inherited, threads;
} * failed;
static pid_t loaded;

__attribute__((constructor)) static void begin(void)
{
    loaded = getpid();
    failed = mmap(NULL, sizeof *failed, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

__attribute__((destructor)) static void end(void)
{
    if (getpid() != loaded || failed == MAP_FAILED)
        return;
    for (int i = 0; i < attempt_count; i++)
        if (failed->attempt[i] > 0)
            fprintf(stderr, "not refused: %s\n", attempts[i].name);
    if (failed->inherited > 0)
        fprintf(stderr, "not closed: a descriptor from before the program\n");
    if (failed->threads > 0)
        fprintf(stderr, "not possible: threads\n");
    fprintf(stderr, "tried in %d processes\n", failed->processes);
}

/* Replaces libseccomp's, which sandbox_enter calls last. */
int seccomp_load(const void *filter);
int seccomp_load(const void *filter)
{
    int (*next)(const void *);
    void *found = dlsym(RTLD_NEXT, "seccomp_load");
    memcpy(&next, &found, sizeof next); /* ISO C has no conversion for it */
    int status = next(filter);
    attempts_folder = getenv("TRIED_CALLS");
    if (status != 0 || !attempts_folder || failed == MAP_FAILED)
        return status;
    for (int i = 0; i < attempt_count; i++)
        failed->attempt[i] += !is_refused(attempts[i].what());
    failed->inherited += fcntl(INHERITED, F_GETFD) >= 0;
    failed->threads += !threads_work();
    failed->processes++;
    return status;
}
