/*
 * limits.h - how many cores and how much memory the machine has for this process, and what films
 * may take of it: memory (--memory), and pixels of a frame (--max-pixels).
 *
 * A worker process cannot allocate much more than its part: an allocation is refused, and its film
 * fails. But a refused allocation may also be that of another film in the process. So the parent
 * kills a process that uses its whole part, and renders its films again, one by one.
 *
 * Sources: Linux's Documentation/admin-guide/cgroup-v2.rst (memory.max, cpu.max) and cgroup-v1
 * (memory.limit_in_bytes, cpu.cfs_quota_us); cgroups(7) and proc_pid_cgroup(5) for the paths.
 */
#ifndef BARCODE_LIMITS_H
#define BARCODE_LIMITS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- the machine, within the limits of its control group (container, Slurm, systemd) ---- */

/* Returns the usable cores, 1 or more: affinity, and the group's quota rounded up. Any thread. */
int machine_cores(void);

/*
 * Returns the usable memory in bytes, used or not: the machine's memory, or the lowest limit of the
 * process's group and its parents. Returns UINT64_MAX if unknown. Any thread.
 */
uint64_t machine_memory(void);

/* The limits of a control group; exposed for its test. */
struct machine_limits {
    uint64_t memory; /* bytes; UINT64_MAX: no limit */
    int cores;       /* 1 or more, rounded up; INT_MAX: no limit */
};

/*
 * Reads the limits of a process. `group` is its /proc/PID/cgroup file, `root` the mount point of
 * the control groups. A file that is missing or invalid imposes no limit. All levels of the path
 * that exist count: a container may see its own group as the root, under a path that does not exist
 * there.
 */
struct machine_limits machine_limits_of(const char *group, const char *root);

/* ---- all films together ---- */

/* The most pixels of a frame without --max-pixels: 2^27, as of 16384x8192. */
#define LIMITS_PIXELS ((uint64_t)1 << 27)

/* Sets the limits of the user; 0: not given. Main thread, before any other thread exists. */
void limits_set(uint64_t memory, uint64_t pixels);

/*
 * Returns how many bytes all worker processes together may use: --memory, or machine_memory less a
 * reserve of 1/16. Returns UINT64_MAX if unknown. Any thread.
 */
uint64_t limits_memory(void);

/* Returns limits_memory for a machine of `machine` bytes (UINT64_MAX: unknown); for its test. */
uint64_t limits_memory_of(uint64_t machine, uint64_t wanted);

uint64_t limits_pixels(void);

/* ---- a worker process ---- */

/*
 * Limits this process to `memory` bytes, and by a fifth more that it allocates and does not use.
 * What is not writable does not count, so CUDA may reserve address space. Call it before the
 * process has threads, whose stacks get smaller.
 */
void process_limits_set(uint64_t memory);

/* Makes the kernel kill this process before others when the machine runs out of memory. */
void process_limits_kill_first(void);

/* Returns how many bytes a process has allocated and used; 0 without /proc. Any thread. */
uint64_t process_limits_used(pid_t process);

/*
 * Makes malloc keep freed memory for reuse, for a process that opens and closes decoders on many
 * threads. All arenas together keep at most about an eighth of limits_memory. By default most of a
 * decoder's memory returns to the kernel, and getting zeroed pages back slows all threads down.
 *
 * Call it once, before other threads use malloc. Returns false and changes nothing if malloc is not
 * glibc's or memory is low. Sources: mallopt(3); heap_trim in glibc's malloc/arena.c.
 */
bool process_limits_keep_heap(void);

#endif
