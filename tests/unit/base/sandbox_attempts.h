/*
 * sandbox_attempts.h - what a sandboxed process must be refused: for test_sandbox.c, and for
 * tried-calls.c, which tries it in the program's own workers.
 *
 * An attempt returns 0, or an errno value. None has an effect that lasts. They use the files of
 * `attempts_folder`: in/film, in/other, out/old and the empty folder sub/.
 */
#ifndef BARCODE_TESTS_SANDBOX_ATTEMPTS_H
#define BARCODE_TESTS_SANDBOX_ATTEMPTS_H

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/sched.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

typedef int attempt(void);

static struct {
    const char *name;
    attempt *what;
    bool fails_outside;
} attempts[100];
static int attempt_count;

/* Defines the attempt NAME, whose body follows. The second kind fails outside a sandbox, too. */
#define ATTEMPT(name) ATTEMPT_OF(name, false)
#define ATTEMPT_THAT_FAILS(name) ATTEMPT_OF(name, true)
#define ATTEMPT_OF(function, fails) \
    static int function(void); \
    __attribute__((constructor)) static void add_##function(void) \
    { \
        attempts[attempt_count].name = #function; \
        attempts[attempt_count].fails_outside = fails; \
        attempts[attempt_count++].what = function; \
    } \
    static int function(void)

static const char *attempts_folder;

static const char *below(const char *name)
{
    static char path[2][200];
    static int turn;
    turn ^= 1;
    snprintf(path[turn], sizeof path[turn], "%s/%s", attempts_folder, name);
    return path[turn];
}

static int result(long n) { return n < 0 ? errno : 0; }

static int make_file(const char *name)
{
    int fd = open(below(name), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    int status = result(fd < 0 ? -1 : write(fd, "film", 4));
    close(fd);
    return status;
}

/* ---- Files ---- */

ATTEMPT(read_other) { return result(open(below("in/other"), O_RDONLY)); }
ATTEMPT(read_folder) { return result(open(below("in"), O_RDONLY | O_DIRECTORY)); }
ATTEMPT(read_old) { return result(open(below("out/old"), O_RDONLY)); }
ATTEMPT(read_passwords) { return result(open("/etc/passwd", O_RDONLY)); }
ATTEMPT(write_film) { return result(open(below("in/film"), O_WRONLY)); }
ATTEMPT(write_outside) { return make_file("in/new"); }
ATTEMPT(open_and_truncate) { return result(open(below("in/film"), O_RDONLY | O_TRUNC)); }
ATTEMPT(truncate_other) { return result(truncate(below("in/other"), 4)); }
ATTEMPT(remove_outside)
{
    int made = make_file("sub/x");
    return made ? made : result(unlink(below("sub/x")));
}
static int move_other(const char *to)
{
    int status = result(rename(below("in/other"), below(to)));
    rename(below(to), below("in/other"));
    return status;
}
ATTEMPT(move_away) { return move_other("in/moved"); }
ATTEMPT(move_in) { return move_other("out/stolen"); }

/* Removes what was made, and returns as result. */
static int removed_again(const char *name, int n)
{
    int status = result(n);
    unlink(below(name));
    return status;
}
ATTEMPT(link_in)
{
    return removed_again("out/linked", link(below("in/other"), below("out/linked")));
}
ATTEMPT(link_by_name)
{
    return removed_again("out/named", symlink("/etc/passwd", below("out/named")));
}
ATTEMPT(make_pipe_file) { return removed_again("out/fifo", mkfifo(below("out/fifo"), 0600)); }

/* ---- Sockets ---- */

ATTEMPT(connect_tcp)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof a;
    int server = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
    if (server < 0 || client < 0 || bind(server, (struct sockaddr *)&a, size) != 0 ||
        listen(server, 1) != 0 || getsockname(server, (struct sockaddr *)&a, &size) != 0)
        return errno;
    return result(connect(client, (struct sockaddr *)&a, size));
}
ATTEMPT(send_udp) { return result(socket(AF_INET, SOCK_DGRAM, 0)); }

/* To a server of the test process, if there is one. */
static int connect_to(bool abstract)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    snprintf(a.sun_path, sizeof a.sun_path, "%s", below("socket"));
    if (abstract)
        a.sun_path[0] = 0;
    int client = socket(AF_UNIX, SOCK_STREAM, 0);
    return result(client < 0 ? -1 : connect(client, (struct sockaddr *)&a, sizeof a));
}
ATTEMPT(connect_unix) { return connect_to(false); }
ATTEMPT(connect_abstract) { return connect_to(true); }
ATTEMPT(pair_sockets)
{
    int pair[2];
    return result(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair));
}

/* ---- Modes, owners, times and attributes ---- */

/* Returns a descriptor of a film, or -1. A refused call fails with EPERM before that matters. */
static int film(void) { return open(below("in/film"), O_RDONLY | O_CLOEXEC); }

ATTEMPT(change_mode) { return result(chmod(below("in/other"), 0600)); }
ATTEMPT(change_mode_at) { return result(fchmodat(AT_FDCWD, below("in/other"), 0600, 0)); }
ATTEMPT(change_mode_of_film) { return result(fchmod(film(), 04600)); }
ATTEMPT(change_mode_by_empty_path)
{
    return result(syscall(452 /* fchmodat2 */, film(), "", 0600, AT_EMPTY_PATH));
}
ATTEMPT(change_owner) { return result(chown(below("in/other"), geteuid(), getegid())); }
ATTEMPT(change_owner_of_film) { return result(fchown(film(), geteuid(), getegid())); }
ATTEMPT(change_owner_by_empty_path)
{
    return result(fchownat(film(), "", geteuid(), getegid(), AT_EMPTY_PATH));
}
ATTEMPT(change_time) { return result(utime(below("in/other"), NULL)); }
ATTEMPT(change_time_in_us) { return result(utimes(below("in/other"), NULL)); }
ATTEMPT(change_time_at)
{
    return result(utimensat(AT_FDCWD, below("in/other"), NULL, AT_SYMLINK_NOFOLLOW));
}
ATTEMPT(change_time_of_film)
{
    const struct timespec past[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    return result(syscall(SYS_utimensat, film(), NULL, past, 0)); /* what futimens calls */
}
ATTEMPT(touch_film) { return result(syscall(SYS_utimensat, film(), NULL, NULL, 0)); }
ATTEMPT(set_attribute) { return result(setxattr(below("in/other"), "user.x", "y", 1, 0)); }
ATTEMPT(set_attribute_of_film) { return result(fsetxattr(film(), "user.x", "y", 1, 0)); }
ATTEMPT(remove_attribute)
{
    lsetxattr(below("in/other"), "user.x", "y", 1, 0);
    return result(removexattr(below("in/other"), "user.x"));
}
ATTEMPT(remove_attribute_of_film)
{
    fsetxattr(film(), "user.x", "y", 1, 0);
    return result(fremovexattr(film(), "user.x"));
}
ATTEMPT(change_flags_of_film)
{
    int flags = 0;
    ioctl(film(), FS_IOC_GETFLAGS, &flags);
    return result(ioctl(film(), FS_IOC_SETFLAGS, &flags));
}
ATTEMPT(change_project_of_film)
{
    struct fsxattr attributes = {.fsx_xflags = 0};
    ioctl(film(), FS_IOC_FSGETXATTR, &attributes);
    return result(ioctl(film(), FS_IOC_FSSETXATTR, &attributes));
}

/* ---- Processes ---- */

/* Ends the child that was started, where there is one. */
static int started(long child)
{
    if (child == 0)
        _exit(0);
    if (child > 0)
        waitpid((pid_t)child, NULL, 0);
    return result(child);
}
ATTEMPT(start_process) { return started(fork()); }
ATTEMPT(start_by_vfork) { return started(vfork()); } /* NOLINT: of this very call */
ATTEMPT(start_by_clone) { return started(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)); }
ATTEMPT(start_sibling) { return started(syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0)); }
ATTEMPT(start_by_clone3)
{
    uint64_t arguments[8] = {[4] = SIGCHLD};
    int status = started(syscall(435, arguments, sizeof arguments));
    return status == ENOSYS ? EPERM : status; /* so that glibc calls clone */
}
#ifdef SYS_fork
ATTEMPT(start_by_number) { return started(syscall(SYS_fork)); }
#endif
ATTEMPT_THAT_FAILS(clone_space)
{
    return started(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0));
}
ATTEMPT(outlive_parent) { return result(prctl(PR_SET_PDEATHSIG, 0)); }
ATTEMPT(be_dumpable) { return result(prctl(PR_SET_DUMPABLE, 1)); }

ATTEMPT(execute)
{
    char *const call[] = {"true", NULL};
    execv("/bin/true", call);
    return errno; /* without a sandbox, the program's status is 0 */
}
ATTEMPT(execute_memory)
{
    static const char script[] = "#!/bin/true\n";
    char *const call[] = {"true", NULL}, *const environment[] = {NULL};
    int fd = memfd_create("script", 0);
    if (write(fd, script, sizeof script - 1) < 0)
        return errno;
    fexecve(fd, call, environment);
    return errno;
}

/* ---- The parent ---- */

static char word[8]; /* at the same place in the parent, which has forked this process */

ATTEMPT(trace_parent)
{
    int status = result(ptrace(PTRACE_SEIZE, getppid(), 0, 0));
    ptrace(PTRACE_DETACH, getppid(), 0, 0);
    return status;
}
typedef ssize_t vm_call(pid_t, const struct iovec *, unsigned long, const struct iovec *,
                        unsigned long, unsigned long);
static int reach_parent(vm_call *call)
{
    char copy[sizeof word] = "";
    struct iovec here = {copy, sizeof copy}, there = {word, sizeof word};
    return result(call(getppid(), &here, 1, &there, 1, 0));
}
ATTEMPT(read_parent) { return reach_parent(process_vm_readv); }
ATTEMPT(write_parent) { return reach_parent(process_vm_writev); }

/* Where there is no /proc, nothing of it can be opened. */
static int open_of_parent(const char *name, int flags)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)getppid(), name);
    return access("/proc/self", F_OK) != 0 ? EACCES : result(open(path, flags | O_CLOEXEC));
}
ATTEMPT(open_memory) { return open_of_parent("mem", O_RDWR); }
ATTEMPT(read_environment) { return open_of_parent("environ", O_RDONLY); }
ATTEMPT(list_descriptors) { return open_of_parent("fd", O_RDONLY | O_DIRECTORY); }
ATTEMPT(be_killed_last) { return open_of_parent("oom_score_adj", O_WRONLY); }

ATTEMPT(signal_parent) { return result(kill(getppid(), 0)); }
ATTEMPT(signal_all) { return result(kill(-getpgrp(), 0)); }
ATTEMPT(signal_by_thread) { return result(syscall(SYS_tgkill, getppid(), getppid(), 0)); }
ATTEMPT(signal_by_tkill) { return result(syscall(SYS_tkill, getppid(), 0)); }
ATTEMPT(signal_by_queue) { return result(sigqueue(getppid(), 0, (union sigval){.sival_int = 0})); }
ATTEMPT(signal_by_pidfd)
{
    long fd = syscall(SYS_pidfd_open, getppid(), 0);
    return result(syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0));
}
ATTEMPT(signal_by_owner)
{
    int end[2];
    return pipe(end) != 0 ? EBADF : result(fcntl(end[0], F_SETOWN, getppid()));
}
ATTEMPT(signal_by_owner_thread)
{
    struct f_owner_ex owner = {.type = F_OWNER_PID, .pid = getppid()};
    int end[2];
    return pipe(end) != 0 ? EBADF : result(fcntl(end[0], F_SETOWN_EX, &owner));
}

ATTEMPT(limit_parent)
{
    struct rlimit old;
    return prlimit(getppid(), RLIMIT_NOFILE, NULL, &old) != 0
               ? errno
               : result(prlimit(getppid(), RLIMIT_NOFILE, &old, NULL));
}
ATTEMPT(slow_parent)
{
    return result(
        setpriority(PRIO_PROCESS, (id_t)getppid(), getpriority(PRIO_PROCESS, (id_t)getppid())));
}
ATTEMPT(slow_group) { return result(setpriority(PRIO_PGRP, 0, getpriority(PRIO_PGRP, 0))); }
ATTEMPT(move_parent)
{
    cpu_set_t set;
    sched_getaffinity(getppid(), sizeof set, &set);
    return result(sched_setaffinity(getppid(), sizeof set, &set));
}
static const struct sched_param no_priority;
ATTEMPT(schedule_parent)
{
    return result(sched_setscheduler(getppid(), SCHED_OTHER, &no_priority));
}
ATTEMPT(schedule_parent_by_parameter) { return result(sched_setparam(getppid(), &no_priority)); }
ATTEMPT(schedule_parent_by_attribute)
{
    uint32_t attributes[12] = {sizeof attributes};
    syscall(SYS_sched_getattr, getppid(), attributes, sizeof attributes, 0);
    return result(syscall(SYS_sched_setattr, getppid(), attributes, 0));
}
ATTEMPT(slow_disk_of_parent)
{
    enum { WHO_PROCESS = 1 };
    long old = syscall(SYS_ioprio_get, WHO_PROCESS, getppid());
    return result(syscall(SYS_ioprio_set, WHO_PROCESS, getppid(), old));
}

/* ---- Others ---- */

ATTEMPT(change_space) { return result(unshare(CLONE_FS)); }
ATTEMPT(add_key) { return result(syscall(SYS_add_key, "user", "x", "y", 1, -1)); }
ATTEMPT(use_keyring) { return result(syscall(SYS_keyctl, 0, -1 /* of the thread */, 1)); }
ATTEMPT(change_personality) { return result(syscall(SYS_personality, 0xffffffff)); }
ATTEMPT(ring)
{
    uint32_t parameters[30] = {0};
    return result(syscall(SYS_io_uring_setup, 1, parameters));
}
ATTEMPT(watch_faults) { return result(syscall(SYS_userfaultfd, 1 /* of this process */)); }

/* These fail outside, too: for wrong arguments or for lack of privileges. */
ATTEMPT_THAT_FAILS(by_handle) { return result(syscall(SYS_open_by_handle_at, -1, NULL, 0)); }
ATTEMPT_THAT_FAILS(load_bpf) { return result(syscall(SYS_bpf, 0, NULL, 0)); }
ATTEMPT_THAT_FAILS(count_events)
{
    return result(syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0));
}
ATTEMPT_THAT_FAILS(mount_nothing) { return result(mount("", "", "", 0, "")); }
ATTEMPT_THAT_FAILS(change_root) { return result(chroot("")); }
ATTEMPT_THAT_FAILS(join_space) { return result(setns(-1, 0)); }
ATTEMPT_THAT_FAILS(type_ahead) { return result(ioctl(-1, TIOCSTI, "x")); }
ATTEMPT_THAT_FAILS(own_socket) { return result(ioctl(-1, FIOSETOWN, NULL)); }
ATTEMPT_THAT_FAILS(load_module) { return result(syscall(SYS_init_module, NULL, 0, "")); }
ATTEMPT_THAT_FAILS(new_space) { return result(unshare(CLONE_NEWUSER)); }

static bool is_refused(int status) { return status == EPERM || status == EACCES; }

/* ---- What must work ---- */

static void *be_nice(void *argument)
{
    cpu_set_t set;
    bool ok = setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0)) == 0 &&
              sched_getaffinity(0, sizeof set, &set) == 0 &&
              sched_setaffinity(0, sizeof set, &set) == 0 && prctl(PR_SET_NAME, "nice") == 0;
    return ok ? argument : NULL;
}

/* Returns true if threads can be started and give up what is theirs. */
static bool threads_work(void)
{
    static int one;
    void *ended = NULL;
    pthread_t thread;
    return pthread_create(&thread, NULL, be_nice, &one) == 0 && pthread_join(thread, &ended) == 0 &&
           ended == &one && kill(getpid(), 0) == 0;
}

#endif
