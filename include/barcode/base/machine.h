/*
 * machine.h - how much of the machine this process may have: its cores and its memory, within the
 * limits of the control group that a container, Slurm or systemd puts it into.
 *
 * Sources: Linux's Documentation/admin-guide/cgroup-v2.rst (memory.max, cpu.max) and cgroup-v1
 * (memory.limit_in_bytes, cpu.cfs_quota_us); cgroups(7) and proc_pid_cgroup(5) for where they lie.
 */
#ifndef BARCODE_MACHINE_H
#define BARCODE_MACHINE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Cores, 1 or more: those that the scheduler may run it on, and no more than its group's quota is
 * worth, rounded up. Any thread. */
int machine_cores(void);

/*
 * Memory in bytes, whatever is in use of it: the machine's, or the least that its group and those
 * around that are limited to. UINT64_MAX where the system does not say. Any thread.
 */
uint64_t machine_memory(void);

/* What groups limit a process to; exposed for its test. */
struct machine_limits {
    uint64_t memory; /* bytes; UINT64_MAX: no limit */
    int cores;       /* 1 or more, rounded up; INT_MAX: no limit */
};

/*
 * As the files say: `group` is what the kernel shows as /proc/self/cgroup, `root` where control
 * groups are mounted, /sys/fs/cgroup. Of a file that is not there, or makes no sense, there is no
 * limit. A container may see its own group as the root, under a path that it does not see: all
 * levels that are there count.
 */
struct machine_limits machine_limits_of(const char *group, const char *root);

#ifdef __cplusplus
}
#endif
#endif
