#include "sandbox_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <sched.h>
#include <seccomp.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The kernel takes these arguments as 32 bits. */
#define INT_BITS 0xffffffffU

/* Refused whatever the arguments are. Names that this libseccomp or processor lacks are skipped. */
static const char *const refused[] = {
    /* programs and other processes */
    "fork", "vfork", "execve", "execveat", "ptrace", "process_vm_readv", "process_vm_writev",
    "process_madvise", "process_mrelease", "pidfd_getfd", "pidfd_send_signal", "kcmp", "tkill",
    "ioprio_set",
    /* kernel interfaces with a long list of holes */
    "io_uring_setup", "io_uring_enter", "io_uring_register", "bpf", "perf_event_open",
    "userfaultfd", "keyctl", "add_key", "request_key", "fanotify_init", "lookup_dcookie",
    "modify_ldt", "personality", "syslog", "vhangup", "quotactl", "quotactl_fd", "nfsservctl",
    /* file systems and namespaces */
    "mount", "umount", "umount2", "pivot_root", "chroot", "move_mount", "open_tree", "fsopen",
    "fsconfig", "fsmount", "fspick", "mount_setattr", "unshare", "setns", "open_by_handle_at",
    "name_to_handle_at", "swapon", "swapoff", "acct",
    /* what Landlock does not restrict: names, modes, owners, times and attributes of any file */
    "symlink", "symlinkat", "link", "linkat", "mknod", "mknodat", "chmod", "fchmod", "fchmodat",
    "chown", "lchown", "fchown", "fchownat", "chown32", "lchown32", "fchown32", "setxattr",
    "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr", "truncate",
    "truncate64", "utime", "utimes", "futimesat", "utimensat", "utimensat_time64",
    /* System V objects of other processes */
    "shmget", "shmat", "shmctl", "msgget", "msgsnd", "msgrcv", "msgctl", "semget", "semop",
    "semtimedop", "semctl", "mq_open", "mq_unlink",
    /* the machine */
    "init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "reboot",
    "settimeofday", "clock_settime", "adjtimex", "clock_adjtime", "sethostname", "setdomainname",
    "iopl", "ioperm", "setuid", "setgid", "setreuid", "setregid", "setresuid", "setresgid",
    "setgroups", "setfsuid", "setfsgid", "setsid", "setpgid"};

/* Calls that have the same numbers on all processors. */
static const struct {
    int number, error;
} refused_number[] = {
    /* the newest of these kinds */
    {452 /* fchmodat2 */, EPERM},
    {463 /* setxattrat */, EPERM},
    {466 /* removexattrat */, EPERM},
    {467 /* open_tree_attr */, EPERM},
    {469 /* file_setattr */, EPERM},
    /* Their flags are in memory, where no filter sees them. glibc then calls clone and openat. */
    {435 /* clone3 */, ENOSYS},
    {437 /* openat2 */, ENOSYS},
};

/* Refused unless the argument is the number of this process, or 0. */
static const struct {
    const char *name;
    unsigned argument;
    bool process;
} refused_unless[] = {
    {"kill", 0, true},
    {"tgkill", 0, true},
    {"rt_sigqueueinfo", 0, true},
    {"rt_tgsigqueueinfo", 0, true},
    {"prlimit64", 0, false},
    {"setpriority", 0, false}, /* PRIO_PROCESS */
    {"setpriority", 1, false},
    {"sched_setaffinity", 0, false},
    {"sched_setscheduler", 0, false},
    {"sched_setparam", 0, false},
    {"sched_setattr", 0, false},
};

/* Refused if the bits of `mask` in the argument are those of `value`. */
static const struct {
    const char *name;
    unsigned argument;
    scmp_datum_t mask, value;
} refused_if[] = {
    /* A process would outlive its parent, and would not count for --memory. */
    {"clone", 0, CLONE_THREAD, 0},
    {"clone", 0, CLONE_NEWNS, CLONE_NEWNS},
    {"clone", 0, CLONE_NEWUTS, CLONE_NEWUTS},
    {"clone", 0, CLONE_NEWIPC, CLONE_NEWIPC},
    {"clone", 0, CLONE_NEWUSER, CLONE_NEWUSER},
    {"clone", 0, CLONE_NEWPID, CLONE_NEWPID},
    {"clone", 0, CLONE_NEWNET, CLONE_NEWNET},
    {"clone", 0, CLONE_NEWCGROUP, CLONE_NEWCGROUP},
    /* what sandbox_enter and the parent have set */
    {"prctl", 0, INT_BITS, PR_SET_PDEATHSIG},
    {"prctl", 0, INT_BITS, PR_SET_DUMPABLE},
    /* typing into the terminal that started the program */
    {"ioctl", 1, INT_BITS, TIOCSTI},
    {"ioctl", 1, INT_BITS, TIOCLINUX},
    /* attributes of any open file */
    {"ioctl", 1, INT_BITS, FS_IOC_SETFLAGS},
    {"ioctl", 1, INT_BITS, FS_IOC_FSSETXATTR},
    /* a descriptor that signals another process */
    {"ioctl", 1, INT_BITS, FIOSETOWN},
    {"ioctl", 1, INT_BITS, SIOCSPGRP},
    {"fcntl", 1, INT_BITS, F_SETOWN},
    {"fcntl", 1, INT_BITS, F_SETOWN_EX},
    {"fcntl64", 1, INT_BITS, F_SETOWN},
    {"fcntl64", 1, INT_BITS, F_SETOWN_EX},
    /* Landlock before Linux 6.2 lets a file be truncated that may only be read. */
    {"open", 1, O_ACCMODE | O_TRUNC, O_RDONLY | O_TRUNC},
    {"openat", 2, O_ACCMODE | O_TRUNC, O_RDONLY | O_TRUNC},
};

/* Refused by what the process does not use; socket() itself is below. */
static const struct {
    const char *name;
    bool gpu, network; /* who needs it: a GPU's driver listens on a local socket */
} sockets[] = {{"connect", false, true}, {"accept", false, true}, {"accept4", false, true},
               {"bind", true, true},     {"listen", true, true},  {"socketpair", true, false}};

/* Refuses a call if an argument compares so. SCMP_A0 and its like leave out a field. */
static int add(scmp_filter_ctx c, const char *name, struct scmp_arg_cmp compared)
{
    int number = seccomp_syscall_resolve_name(name);
    return number == __NR_SCMP_ERROR
               ? 0
               : seccomp_rule_add_array(c, SCMP_ACT_ERRNO(EPERM), number, 1, &compared);
}

static int refuse_always(scmp_filter_ctx c, const char *name)
{
    int number = seccomp_syscall_resolve_name(name);
    return number == __NR_SCMP_ERROR ? 0 : seccomp_rule_add(c, SCMP_ACT_ERRNO(EPERM), number, 0);
}

/* Refuses sockets of other families than those that the process uses. */
static int refuse_families(scmp_filter_ctx c, bool gpu, bool network)
{
    int bad = 0;
    for (unsigned family = 0; family < AF_MAX; family++) {
        bool used = family == AF_UNIX ? gpu : network && (family == AF_INET || family == AF_INET6);
        const struct scmp_arg_cmp same = {.arg = 0, .op = SCMP_CMP_EQ, .datum_a = family};
        bad |= used ? 0 : add(c, "socket", same);
    }
    const struct scmp_arg_cmp newer = {.arg = 0, .op = SCMP_CMP_GE, .datum_a = AF_MAX};
    return bad | add(c, "socket", newer);
}

/* Refuses calls by their arguments. */
static int refuse_arguments(scmp_filter_ctx c)
{
    const scmp_datum_t own = (scmp_datum_t)getpid();
    int bad = 0;
    for (size_t i = 0; i < sizeof refused_unless / sizeof *refused_unless; i++)
        bad |= add(c, refused_unless[i].name,
                   (struct scmp_arg_cmp){.arg = refused_unless[i].argument,
                                         .op = SCMP_CMP_NE,
                                         .datum_a = refused_unless[i].process ? own : 0});
    for (size_t i = 0; i < sizeof refused_if / sizeof *refused_if; i++)
        bad |= add(c, refused_if[i].name,
                   (struct scmp_arg_cmp){.arg = refused_if[i].argument,
                                         .op = SCMP_CMP_MASKED_EQ,
                                         .datum_a = refused_if[i].mask,
                                         .datum_b = refused_if[i].value});
    return bad;
}

int sandbox_refuse_calls(bool gpu, bool network)
{
    scmp_filter_ctx c = seccomp_init(SCMP_ACT_ALLOW);
    if (!c)
        return ENOMEM;
    int bad = refuse_arguments(c) | refuse_families(c, gpu, network);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        bad |= refuse_always(c, refused[i]);
    for (size_t i = 0; i < sizeof refused_number / sizeof *refused_number; i++)
        bad |= seccomp_rule_add(c, SCMP_ACT_ERRNO(refused_number[i].error),
                                refused_number[i].number, 0);
    for (size_t i = 0; i < sizeof sockets / sizeof *sockets; i++)
        if (!(gpu && sockets[i].gpu) && !(network && sockets[i].network))
            bad |= refuse_always(c, sockets[i].name);
    /* Both fail with an old libseccomp. Neither changes what is refused. */
    (void)seccomp_attr_set(c, SCMP_FLTATR_CTL_SSB, 1);      /* keep the speed of the processor */
    (void)seccomp_attr_set(c, SCMP_FLTATR_CTL_OPTIMIZE, 2); /* a binary tree */
    int status = bad != 0 ? EINVAL : -seccomp_load(c);
    seccomp_release(c);
    return status;
}

bool sandbox_filters_calls(void)
{
    /* EFAULT: the kernel looks for the filter at NULL, so it has filters. */
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL) != 0 && errno == EFAULT;
}
