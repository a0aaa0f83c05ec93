#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <sched.h>
#include <seccomp.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "log.h"

/* ---- Landlock, by system calls ---- */

/*
 * The kernel's interface (Documentation/userspace-api/landlock.rst). It is repeated here because
 * the headers of the build machine may be older than the kernel of the run. The numbers of the
 * calls are the same on all processors.
 */
enum { CREATE_RULESET = 444, ADD_RULE = 445, RESTRICT_SELF = 446 };
enum { RULESET_VERSION = 1, RULE_PATH_BENEATH = 1 };
enum {
    FS_WRITE_FILE = 1 << 1,
    FS_READ_FILE = 1 << 2,
    FS_READ_DIR = 1 << 3,
    FS_REMOVE_DIR = 1 << 4,
    FS_REMOVE_FILE = 1 << 5,
    FS_MAKE_DIR = 1 << 7,
    FS_MAKE_REG = 1 << 8,
    FS_TRUNCATE = 1 << 14,
    FS_IOCTL_DEV = 1 << 15,
    FS_OF_FILES = FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE | FS_IOCTL_DEV
};
enum { NET_BIND_AND_CONNECT_TCP = 3, SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS = 3 };

struct ruleset {
    uint64_t fs, net, scoped;
};

struct path_beneath {
    uint64_t access;
    int32_t parent;
} __attribute__((packed));

/* Returns the rights of the file system that a version knows: the lowest bits. */
static uint64_t known(int version)
{
    static const int known_bits[] = {13, 13, 14, 15, 15, 16}; /* of versions 0 to 5 */
    int bits = known_bits[version < 5 ? version : 5];
    return (UINT64_C(1) << bits) - 1;
}

/* Returns the version of the kernel's Landlock. Returns 0 with errno if there is none. */
static int landlock_version(void)
{
    long version = syscall(CREATE_RULESET, NULL, (size_t)0, RULESET_VERSION);
    return version > 0 ? (int)version : 0;
}

/* Returns rules that refuse all that `version` knows, but TCP if `network`; -1 with errno. */
static int landlock_rules(int version, bool network)
{
    struct ruleset r = {.fs = known(version),
                        .net = version < 4 || network ? 0 : NET_BIND_AND_CONNECT_TCP,
                        .scoped = version < 6 ? 0 : SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS};
    size_t size = sizeof r;
    if (version < 4)
        size = offsetof(struct ruleset, net);
    else if (version < 6)
        size = offsetof(struct ruleset, scoped);
    return (int)syscall(CREATE_RULESET, &r, size, 0);
}

/* Adds a rule; `access` as for sandbox_allow. Does nothing if the path cannot be opened. */
static void landlock_allow(int rules, int version, const char *path, unsigned access)
{
    struct stat s;
    struct path_beneath rule = {.parent = open(path, O_PATH | O_CLOEXEC)};
    if (rule.parent < 0)
        return;
    if (access & SANDBOX_READ)
        rule.access |= FS_READ_FILE | FS_READ_DIR;
    if (access & SANDBOX_WRITE)
        rule.access |=
            FS_WRITE_FILE | FS_TRUNCATE | FS_READ_DIR | FS_REMOVE_FILE | FS_MAKE_REG | FS_MAKE_DIR;
    if (access & SANDBOX_DEVICE)
        rule.access |= FS_IOCTL_DEV;
    if (access & SANDBOX_FOLDERS)
        rule.access |= FS_REMOVE_DIR;
    rule.access &= known(version);
    if (fstat(rule.parent, &s) == 0 && !S_ISDIR(s.st_mode))
        rule.access &= FS_OF_FILES;
    /* EBADFD: a pipe or socket, named through /proc. Opening those needs no right. */
    (void)syscall(ADD_RULE, rules, RULE_PATH_BENEATH, &rule, 0);
    close(rule.parent);
}

/* Applies the rules to the calling thread, and closes them. Returns false with errno. */
static bool landlock_enter(int rules)
{
    bool ok = syscall(RESTRICT_SELF, rules, 0) == 0;
    int error = errno;
    close(rules);
    errno = error;
    return ok;
}

/* ---- System calls that a sandbox refuses, by seccomp ---- */

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

/* Refuses a call, if an argument compares so; NULL: always. Returns 0 on success. */
static int refuse(scmp_filter_ctx c, const char *name, const struct scmp_arg_cmp *compared)
{
    int number = seccomp_syscall_resolve_name(name);
    if (number == __NR_SCMP_ERROR)
        return 0;
    return seccomp_rule_add_array(c, SCMP_ACT_ERRNO(EPERM), number, compared ? 1 : 0, compared);
}

/* Refuses sockets of other families than those that the process uses. */
static int refuse_families(scmp_filter_ctx c, bool gpu, bool network)
{
    int bad = 0;
    for (unsigned family = 0; family < AF_MAX; family++) {
        bool used = family == AF_UNIX ? gpu : network && (family == AF_INET || family == AF_INET6);
        const struct scmp_arg_cmp same = {.arg = 0, .op = SCMP_CMP_EQ, .datum_a = family};
        bad |= used ? 0 : refuse(c, "socket", &same);
    }
    const struct scmp_arg_cmp newer = {.arg = 0, .op = SCMP_CMP_GE, .datum_a = AF_MAX};
    return bad | refuse(c, "socket", &newer);
}

/* Refuses calls by their arguments. */
static int refuse_arguments(scmp_filter_ctx c)
{
    const scmp_datum_t this_process = (scmp_datum_t)getpid();
    int bad = 0;
    for (size_t i = 0; i < sizeof refused_unless / sizeof *refused_unless; i++)
        bad |=
            refuse(c, refused_unless[i].name,
                   &(struct scmp_arg_cmp){.arg = refused_unless[i].argument,
                                          .op = SCMP_CMP_NE,
                                          .datum_a = refused_unless[i].process ? this_process : 0});
    for (size_t i = 0; i < sizeof refused_if / sizeof *refused_if; i++)
        bad |= refuse(c, refused_if[i].name,
                      &(struct scmp_arg_cmp){.arg = refused_if[i].argument,
                                             .op = SCMP_CMP_MASKED_EQ,
                                             .datum_a = refused_if[i].mask,
                                             .datum_b = refused_if[i].value});
    return bad;
}

/*
 * Refuses calls that decoding and writing never need, for the calling thread and its later ones.
 * With `gpu`, local sockets may be made and may listen; with `network`, those of TCP and UDP may do
 * all. Returns 0 or an errno value.
 */
static int refuse_calls(bool gpu, bool network)
{
    scmp_filter_ctx c = seccomp_init(SCMP_ACT_ALLOW);
    if (!c)
        return ENOMEM;
    int bad = refuse_arguments(c) | refuse_families(c, gpu, network);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        bad |= refuse(c, refused[i], NULL);
    for (size_t i = 0; i < sizeof refused_number / sizeof *refused_number; i++)
        bad |= seccomp_rule_add(c, SCMP_ACT_ERRNO(refused_number[i].error),
                                refused_number[i].number, 0);
    for (size_t i = 0; i < sizeof sockets / sizeof *sockets; i++)
        if (!(gpu && sockets[i].gpu) && !(network && sockets[i].network))
            bad |= refuse(c, sockets[i].name, NULL);
    /* Both fail with an old libseccomp. Neither changes what is refused. */
    (void)seccomp_attr_set(c, SCMP_FLTATR_CTL_SSB, 1);      /* keep the speed of the processor */
    (void)seccomp_attr_set(c, SCMP_FLTATR_CTL_OPTIMIZE, 2); /* a binary tree */
    int status = bad != 0 ? EINVAL : -seccomp_load(c);
    seccomp_release(c);
    return status;
}

/* Returns true if the kernel filters system calls. */
static bool filters_calls(void)
{
    /* EFAULT: the kernel looks for the filter at NULL, so it has filters. */
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL) != 0 && errno == EFAULT;
}

/* ---- The sandbox ---- */

struct allowed {
    char *path;
    unsigned access;
};

struct sandbox {
    struct allowed *allowed;
    size_t count, room;
    int *kept;
    size_t keeps, keep_room;
    bool gpu, network;
};

struct sandbox *sandbox_new(struct err *e) { return err_calloc(1, sizeof(struct sandbox), e); }

/* Returns true for an entry that one of the latest equals: films share the folders of outputs. */
static bool is_repeated(const struct sandbox *s, const char *path, unsigned access)
{
    enum { LATEST = 8 };
    for (size_t i = s->count; i > 0 && s->count - i < LATEST; i--)
        if (s->allowed[i - 1].access == access && strcmp(s->allowed[i - 1].path, path) == 0)
            return true;
    return false;
}

bool sandbox_allow(struct sandbox *s, const char *path, unsigned access, struct err *e)
{
    if (is_repeated(s, path, access))
        return true;
    if (!err_reserve(&s->allowed, s->count + 1, &s->room, sizeof *s->allowed, e))
        return false;
    struct allowed *new = &s->allowed[s->count];
    *new = (struct allowed){.path = strdup(path), .access = access};
    if (!new->path)
        return err_memory(e, strlen(path) + 1);
    s->count++;
    return true;
}

bool sandbox_keep(struct sandbox *s, int fd, struct err *e)
{
    if (!err_reserve(&s->kept, s->keeps + 1, &s->keep_room, sizeof *s->kept, e))
        return false;
    s->kept[s->keeps++] = fd;
    return true;
}

void sandbox_allow_gpu(struct sandbox *s) { s->gpu = true; }

void sandbox_allow_network(struct sandbox *s) { s->network = true; }

void sandbox_free(struct sandbox **s)
{
    if (!*s)
        return;
    for (size_t i = 0; i < (*s)->count; i++)
        free((*s)->allowed[i].path);
    free((*s)->allowed);
    free((*s)->kept);
    free(*s);
    *s = NULL;
}

const char *sandbox_missing(void)
{
    if (landlock_version() == 0)
        return errno == ENOSYS ? "Landlock, which needs Linux 5.13"
                               : "Landlock, which is disabled here";
    return filters_calls() ? NULL : "a filter of system calls (seccomp)";
}

/* Closes the descriptors from `first` to `last`. */
static void close_range_of(unsigned first, unsigned last)
{
    enum { CLOSE_RANGE = 436 }; /* Linux 5.9; the same number on all processors */
    if (syscall(CLOSE_RANGE, first, last, 0) == 0)
        return;
    const long most = sysconf(_SC_OPEN_MAX);
    for (long fd = first; fd <= (long)last && fd < most; fd++)
        close((int)fd);
}

/* Closes all descriptors but the standard streams and those of sandbox_keep. */
static void close_others(const struct sandbox *s)
{
    unsigned first = STDERR_FILENO + 1;
    for (unsigned kept = 0; kept < UINT_MAX; first = kept + 1) {
        kept = UINT_MAX;
        for (size_t i = 0; i < s->keeps; i++)
            if (s->kept[i] >= (int)first && (unsigned)s->kept[i] < kept)
                kept = (unsigned)s->kept[i];
        if (kept > first)
            close_range_of(first, kept - 1);
    }
}

/* Drops all capabilities but those for files of other users. Only root has any. */
static bool drop_capabilities(void)
{
    const unsigned kept = 1U << CAP_DAC_OVERRIDE | 1U << CAP_FOWNER;
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
    if (syscall(SYS_capget, &header, data) != 0)
        return false;
    for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
        data[i].permitted &= i == 0 ? kept : 0;
        data[i].effective &= data[i].permitted;
        data[i].inheritable = 0;
    }
    return syscall(SYS_capset, &header, data) == 0;
}

/* Applies the rules for files, TCP, sockets and signals. */
static bool restrict_files(const struct sandbox *s)
{
    int version = landlock_version();
    int rules = version > 0 ? landlock_rules(version, s->network) : -1;
    for (size_t i = 0; i < s->count && rules >= 0; i++)
        landlock_allow(rules, version, s->allowed[i].path, s->allowed[i].access);
    return rules >= 0 && landlock_enter(rules);
}

static void set_failure(const char *what, int error, struct err *e)
{
    err_set(e, ERR_FAILED, "cannot %s: %s", what, strerror(error));
}

bool sandbox_enter(const struct sandbox *s, struct err *e)
{
    const struct rlimit none = {0, 0};
    close_others(s);
    if (setrlimit(RLIMIT_CORE, &none) != 0 || prctl(PR_SET_DUMPABLE, 0) != 0)
        set_failure("turn core dumps off", errno, e);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        set_failure("set no_new_privs", errno, e);
    if (!restrict_files(s))
        set_failure("restrict files by Landlock", errno, e);
    if (!drop_capabilities())
        set_failure("drop capabilities", errno, e);
    int error = refuse_calls(s->gpu, s->network);
    if (error != 0)
        set_failure("refuse system calls by seccomp", error, e);
    return e->code == ERR_NONE;
}

enum sandbox_choice sandbox_choice_of(enum sandbox_choice choice)
{
#ifdef SANITIZED
    if (choice == SANDBOX_AUTO)
        return SANDBOX_OFF;
#endif
    return choice;
}

bool sandbox_prepare(enum sandbox_choice choice, struct err *e)
{
    const char *missing = choice == SANDBOX_OFF ? NULL : sandbox_missing();
    if (missing && choice == SANDBOX_REQUIRE)
        return err_set(e, ERR_FAILED, "--sandbox=require: the kernel lacks %s", missing);
    if (missing)
        log_msg(LOG_VERBOSE, "the sandbox is incomplete: the kernel lacks %s", missing);
    return true;
}

bool sandbox_enter_by(enum sandbox_choice choice, const struct sandbox *s, struct err *e)
{
    if (e->code == ERR_NONE && sandbox_enter(s, e))
        return true;
    if (choice == SANDBOX_REQUIRE)
        return err_prefix(e, "--sandbox=require");
    if (!sandbox_missing()) /* sandbox_prepare has logged that */
        log_msg(LOG_VERBOSE, "the sandbox is incomplete: %s", e->text);
    err_clear(e);
    return true;
}

/* ---- What libraries and the GPU need ---- */

struct place {
    const char *pattern; /* as for glob(3); "~" is $HOME */
    unsigned access;
};

enum { READ = SANDBOX_READ, WRITE = SANDBOX_WRITE, DEVICE = SANDBOX_DEVICE };

/* What the libraries and limits.c open. */
static const struct place library_places[] = {
    {"/usr", READ},
    {"/lib", READ},
    {"/lib64", READ},
    {"/etc/ld.so.cache", READ},
    {"/etc/localtime", READ},
    {"/proc/self", READ},
    {"/proc/meminfo", READ},
    {"/proc/stat", READ},
    {"/proc/sys/vm/overcommit_memory", READ}, /* malloc */
    {"/sys/devices/system/cpu", READ},
    {"/sys/fs/cgroup", READ},
    {"/dev/null", READ | WRITE},
    {"/dev/urandom", READ},
};

/* What resolving a host's name and checking its certificate open. */
static const struct place name_places[] = {
    {"/etc/hosts", READ},           {"/etc/resolv.conf", READ}, {"/etc/nsswitch.conf", READ},
    {"/etc/host.conf", READ},       {"/etc/gai.conf", READ},    {"/etc/services", READ},
    {"/etc/protocols", READ},       {"/etc/ssl", READ},         {"/etc/pki", READ},
    {"/etc/ca-certificates", READ}, {"/etc/gnutls", READ},      {"/run/systemd/resolve", READ},
};

/* What libcuda and libnvcuvid open besides. The driver is loaded when a film needs it. */
static const struct place gpu_places[] = {
    {"/dev/nvidia[0-9]*", READ | WRITE | DEVICE},
    {"/dev/nvidiactl", READ | WRITE | DEVICE},
    {"/dev/nvidia-uvm*", READ | WRITE | DEVICE},
    {"/dev/nvidia-modeset", READ | WRITE | DEVICE},
    {"/dev/nvidia-caps", READ | WRITE | DEVICE},
    {"/dev/nvidia-caps-imex-channels", READ | WRITE | DEVICE},
    {"/dev/dxg", READ | WRITE | DEVICE}, /* Windows Subsystem for Linux */
    {"/dev/shm", READ | WRITE},
    {"/proc/self", READ | WRITE}, /* names of threads */
    {"/proc/driver", READ},
    {"/proc/devices", READ},
    {"/proc/modules", READ},
    {"/proc/cpuinfo", READ},
    {"/proc/filesystems", READ},
    {"/proc/version", READ},
    {"/proc/sys/vm", READ},
    {"/proc/sys/kernel", READ},
    {"/sys/devices", READ},
    {"/sys/bus", READ},
    {"/sys/class", READ},
    {"/sys/module", READ},
    {"/sys/kernel/mm", READ},
    {"/etc/nvidia*", READ},
    {"/opt/nvidia", READ},
    {"/opt/cuda", READ},
    {"/run/nvidia-persistenced", READ},
    {"/run/opengl-driver", READ},
};

static bool allow_places(struct sandbox *s, const struct place *place, size_t places, struct err *e)
{
    bool ok = true;
    for (size_t i = 0; i < places; i++) {
        glob_t found = {.gl_pathc = 0};
        if (glob(place[i].pattern, GLOB_TILDE | GLOB_NOSORT, NULL, &found) == 0)
            for (size_t k = 0; k < found.gl_pathc && ok; k++)
                ok = sandbox_allow(s, found.gl_pathv[k], place[i].access, e);
        globfree(&found);
    }
    return ok;
}

bool sandbox_allow_libraries(struct sandbox *s, struct err *e)
{
    return allow_places(s, library_places, sizeof library_places / sizeof *library_places, e);
}

bool sandbox_allow_names(struct sandbox *s, struct err *e)
{
    return allow_places(s, name_places, sizeof name_places / sizeof *name_places, e);
}

bool sandbox_gpu_exists(void)
{
    return access("/dev/nvidiactl", F_OK) == 0 || access("/dev/dxg", F_OK) == 0 ||
           access("/proc/driver/nvidia", F_OK) == 0;
}

void sandbox_make_devices(void)
{
    char *const call[] = {"nvidia-modprobe", "-c", "0", "-u", NULL};
    char *const environment[] = {NULL};
    pid_t child;
    if (access("/dev/nvidia-uvm", F_OK) != 0 &&
        posix_spawn(&child, "/usr/bin/nvidia-modprobe", NULL, NULL, call, environment) == 0)
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
            continue;
}

bool sandbox_compiled_kernels(char *path, size_t room)
{
    const char *named = secure_getenv("CUDA_CACHE_PATH"), *home = secure_getenv("HOME");
    if (named && *named)
        return (size_t)snprintf(path, room, "%s", named) < room;
    return home && *home && (size_t)snprintf(path, room, "%s/.nv/ComputeCache", home) < room;
}

/* Allows what the driver needs, which the loader also looks for in the folders of a variable. */
bool sandbox_allow_nvidia(struct sandbox *s, struct err *e)
{
    const char *folders = secure_getenv("LD_LIBRARY_PATH");
    char *list = strdup(folders ? folders : ""), *rest = NULL;
    char kernels[PATH_MAX];
    bool ok = list && allow_places(s, gpu_places, sizeof gpu_places / sizeof *gpu_places, e);
    if (sandbox_compiled_kernels(kernels, sizeof kernels))
        ok = ok && sandbox_allow(s, kernels, READ | WRITE, e);
    for (char *at = list ? strtok_r(list, ":;", &rest) : NULL; at && ok;
         at = strtok_r(NULL, ":;", &rest))
        ok = sandbox_allow(s, at, READ, e);
    sandbox_allow_gpu(s);
    free(list);
    return ok;
}
