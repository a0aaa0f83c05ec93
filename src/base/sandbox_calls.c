#include "sandbox_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Refused whatever the arguments are. Names that this libseccomp or processor lacks are skipped. */
static const char *const refused[] = {
    /* programs and other processes */
    "execve", "execveat", "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise",
    "process_mrelease", "pidfd_getfd", "pidfd_send_signal", "kcmp", "tkill",
    /* sockets; socket() itself is below */
    "connect", "accept", "accept4",
    /* kernel interfaces with a long list of holes */
    "io_uring_setup", "io_uring_enter", "io_uring_register", "bpf", "perf_event_open",
    "userfaultfd", "keyctl", "add_key", "request_key", "fanotify_init", "lookup_dcookie",
    "modify_ldt", "personality", "syslog", "vhangup", "quotactl", "quotactl_fd", "nfsservctl",
    /* file systems and namespaces */
    "mount", "umount", "umount2", "pivot_root", "chroot", "move_mount", "open_tree", "fsopen",
    "fsconfig", "fsmount", "fspick", "mount_setattr", "unshare", "setns", "open_by_handle_at",
    "name_to_handle_at", "swapon", "swapoff", "acct",
    /* what Landlock does not restrict: names, modes, owners and attributes of any file */
    "symlink", "symlinkat", "link", "linkat", "mknod", "mknodat", "chmod", "fchmodat", "chown",
    "lchown", "fchownat", "chown32", "lchown32", "setxattr", "lsetxattr", "removexattr",
    "lremovexattr", "truncate", "truncate64", "utime", "utimes", "futimesat",
    /* System V objects of other processes */
    "shmget", "shmat", "shmctl", "msgget", "msgsnd", "msgrcv", "msgctl", "semget", "semop",
    "semtimedop", "semctl", "mq_open", "mq_unlink",
    /* the machine */
    "init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "reboot",
    "settimeofday", "clock_settime", "adjtimex", "clock_adjtime", "sethostname", "setdomainname",
    "iopl", "ioperm", "setuid", "setgid", "setreuid", "setregid", "setresuid", "setresgid",
    "setgroups", "setfsuid", "setfsgid", "setsid", "setpgid"};

/* The newest calls of these kinds, which have the same numbers on all processors. */
static const int refused_number[] = {
    452 /* fchmodat2 */, 463 /* setxattrat */, 466 /* removexattrat */, 467 /* open_tree_attr */,
    469 /* file_setattr */
};

/* Refused to a process that uses no GPU: its driver listens on a local socket. */
static const char *const refused_without_gpu[] = {"bind", "listen", "socketpair"};

/* Not SCMP_A0 and its like: they leave a field out, of which clang warns. */
static struct scmp_arg_cmp other_than(unsigned i, scmp_datum_t value)
{
    return (struct scmp_arg_cmp){.arg = i, .op = SCMP_CMP_NE, .datum_a = value};
}

static struct scmp_arg_cmp masked(unsigned i, scmp_datum_t mask, scmp_datum_t value)
{
    return (struct scmp_arg_cmp){
        .arg = i, .op = SCMP_CMP_MASKED_EQ, .datum_a = mask, .datum_b = value};
}

static int add(scmp_filter_ctx c, const char *name, unsigned count, struct scmp_arg_cmp compared)
{
    int number = seccomp_syscall_resolve_name(name);
    return number == __NR_SCMP_ERROR
               ? 0
               : seccomp_rule_add_array(c, SCMP_ACT_ERRNO(EPERM), number, count, &compared);
}

static int refuse(scmp_filter_ctx c, const char *name)
{
    return add(c, name, 0, (struct scmp_arg_cmp){.arg = 0});
}

/* Refuses calls by their arguments: those that would reach other processes or namespaces. */
static int refuse_arguments(scmp_filter_ctx c, bool gpu)
{
    static const unsigned space[] = {CLONE_NEWNS,  CLONE_NEWUTS, CLONE_NEWIPC,   CLONE_NEWUSER,
                                     CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWCGROUP};
    const scmp_datum_t own = (scmp_datum_t)getpid(), low = 0xffffffff;
    int bad = 0;
    bad |= add(c, "kill", 1, other_than(0, own));
    bad |= add(c, "tgkill", 1, other_than(0, own));
    bad |= add(c, "rt_sigqueueinfo", 1, other_than(0, own));
    bad |= add(c, "rt_tgsigqueueinfo", 1, other_than(0, own));
    bad |= add(c, "prlimit64", 1, other_than(0, 0));
    bad |= add(c, "socket", gpu, other_than(0, AF_UNIX));
    bad |= add(c, "utimensat", 1, other_than(1, 0)); /* futimens passes no name */
    /* typing into the terminal that started the program */
    bad |= add(c, "ioctl", 1, masked(1, low, TIOCSTI));
    bad |= add(c, "ioctl", 1, masked(1, low, TIOCLINUX));
    /* Landlock before Linux 6.2 lets a file be truncated that may only be read. */
    for (int i = 0; i < 2; i++) {
        const scmp_datum_t mask = O_ACCMODE | O_TRUNC, flags = O_RDONLY | O_TRUNC;
        bad |= add(c, i ? "openat" : "open", 1, masked(i ? 2 : 1, mask, flags));
    }
    for (size_t i = 0; i < sizeof space / sizeof *space; i++)
        bad |= add(c, "clone", 1, masked(0, space[i], space[i]));
    /* Their flags are in memory, where no filter sees them. glibc then calls clone and openat. */
    bad |= seccomp_rule_add(c, SCMP_ACT_ERRNO(ENOSYS), 435 /* clone3 */, 0);
    bad |= seccomp_rule_add(c, SCMP_ACT_ERRNO(ENOSYS), 437 /* openat2 */, 0);
    return bad;
}

int sandbox_refuse_calls(bool gpu)
{
    scmp_filter_ctx c = seccomp_init(SCMP_ACT_ALLOW);
    if (!c)
        return ENOMEM;
    int bad = refuse_arguments(c, gpu);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        bad |= refuse(c, refused[i]);
    for (size_t i = 0; i < sizeof refused_number / sizeof *refused_number; i++)
        bad |= seccomp_rule_add(c, SCMP_ACT_ERRNO(EPERM), refused_number[i], 0);
    for (size_t i = 0; i < sizeof refused_without_gpu / sizeof *refused_without_gpu && !gpu; i++)
        bad |= refuse(c, refused_without_gpu[i]);
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
