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

/* Refused by what the process does not use; socket() itself is below. */
static const struct {
    const char *name;
    bool gpu, network; /* who needs it: a GPU's driver listens on a local socket */
} sockets[] = {{"connect", false, true}, {"accept", false, true}, {"accept4", false, true},
               {"bind", true, true},     {"listen", true, true},  {"socketpair", true, false}};

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

/* Refuses sockets of other families than those that the process uses. */
static int refuse_families(scmp_filter_ctx c, bool gpu, bool network)
{
    int bad = 0;
    for (unsigned family = 0; family < AF_MAX; family++) {
        bool used = family == AF_UNIX ? gpu : network && (family == AF_INET || family == AF_INET6);
        const struct scmp_arg_cmp same = {.arg = 0, .op = SCMP_CMP_EQ, .datum_a = family};
        bad |= used ? 0 : add(c, "socket", 1, same);
    }
    const struct scmp_arg_cmp newer = {.arg = 0, .op = SCMP_CMP_GE, .datum_a = AF_MAX};
    return bad | add(c, "socket", 1, newer);
}

/* Refuses calls by their arguments: those that would reach other processes or namespaces. */
static int refuse_arguments(scmp_filter_ctx c)
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

int sandbox_refuse_calls(bool gpu, bool network)
{
    scmp_filter_ctx c = seccomp_init(SCMP_ACT_ALLOW);
    if (!c)
        return ENOMEM;
    int bad = refuse_arguments(c) | refuse_families(c, gpu, network);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        bad |= refuse(c, refused[i]);
    for (size_t i = 0; i < sizeof refused_number / sizeof *refused_number; i++)
        bad |= seccomp_rule_add(c, SCMP_ACT_ERRNO(EPERM), refused_number[i], 0);
    for (size_t i = 0; i < sizeof sockets / sizeof *sockets; i++)
        if (!(gpu && sockets[i].gpu) && !(network && sockets[i].network))
            bad |= refuse(c, sockets[i].name);
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
