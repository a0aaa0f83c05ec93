/*
 * machine.h - how many cores and how much memory this process may use, within the limits of its
 * control group (container, Slurm, systemd).
 *
 * Sources: Linux's Documentation/admin-guide/cgroup-v2.rst (memory.max, cpu.max) and cgroup-v1
 * (memory.limit_in_bytes, cpu.cfs_quota_us); cgroups(7) and proc_pid_cgroup(5) for the paths.
 */
#ifndef BARCODE_MACHINE_H
#define BARCODE_MACHINE_H

#include <stdint.h>

/*
 * Returns the number of usable cores, 1 or more: the process's CPU affinity, limited by the group's
 * quota rounded up. Any thread.
 */
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
 * Reads the limits of a process. `group` is its /proc/PID/cgroup file, and `root` is the mount
 * point of the control groups, /sys/fs/cgroup. A file that is missing or invalid imposes no limit.
 * All levels of the group's path that exist count: a container may see its own group as the root,
 * under a path that does not exist there.
 */
struct machine_limits machine_limits_of(const char *group, const char *root);

#endif
