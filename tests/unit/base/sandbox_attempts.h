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

static int read_other(void) { return result(open(below("in/other"), O_RDONLY)); }
static int read_folder(void) { return result(open(below("in"), O_RDONLY | O_DIRECTORY)); }
static int read_old(void) { return result(open(below("out/old"), O_RDONLY)); }
static int read_passwords(void) { return result(open("/etc/passwd", O_RDONLY)); }
static int write_film(void) { return result(open(below("in/film"), O_WRONLY)); }
static int write_outside(void) { return make_file("in/new"); }
static int open_and_truncate(void) { return result(open(below("in/film"), O_RDONLY | O_TRUNC)); }
static int truncate_other(void) { return result(truncate(below("in/other"), 4)); }
static int remove_outside(void)
{
    int made = make_file("sub/x");
    return made ? made : result(unlink(below("sub/x")));
}
static int move_away(void)
{
    int status = result(rename(below("in/other"), below("in/moved")));
    rename(below("in/moved"), below("in/other"));
    return status;
}
static int move_in(void)
{
    int status = result(rename(below("in/other"), below("out/stolen")));
    rename(below("out/stolen"), below("in/other"));
    return status;
}
static int link_in(void)
{
    int status = result(link(below("in/other"), below("out/linked")));
    unlink(below("out/linked"));
    return status;
}
static int link_by_name(void)
{
    int status = result(symlink("/etc/passwd", below("out/named")));
    unlink(below("out/named"));
    return status;
}
static int make_pipe_file(void)
{
    int status = result(mkfifo(below("out/fifo"), 0600));
    unlink(below("out/fifo"));
    return status;
}

/* ---- Sockets ---- */

static int connect_tcp(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof a;
    int server = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
    if (server < 0 || client < 0 || bind(server, (struct sockaddr *)&a, size) != 0 ||
        listen(server, 1) != 0 || getsockname(server, (struct sockaddr *)&a, &size) != 0)
        return errno;
    return result(connect(client, (struct sockaddr *)&a, size));
}
static int send_udp(void) { return result(socket(AF_INET, SOCK_DGRAM, 0)); }

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
static int connect_unix(void) { return connect_to(false); }
static int connect_abstract(void) { return connect_to(true); }
static int pair_sockets(void)
{
    int pair[2];
    return result(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair));
}

/* ---- Modes, owners, times and attributes ---- */

/* Returns a descriptor of a film, or -1. A refused call fails with EPERM before that matters. */
static int film(void) { return open(below("in/film"), O_RDONLY | O_CLOEXEC); }

static int change_mode(void) { return result(chmod(below("in/other"), 0600)); }
static int change_mode_at(void) { return result(fchmodat(AT_FDCWD, below("in/other"), 0600, 0)); }
static int change_mode_of_film(void) { return result(fchmod(film(), 04600)); }
static int change_mode_by_empty_path(void)
{
    return result(syscall(452 /* fchmodat2 */, film(), "", 0600, AT_EMPTY_PATH));
}
static int change_owner(void) { return result(chown(below("in/other"), geteuid(), getegid())); }
static int change_owner_of_film(void) { return result(fchown(film(), geteuid(), getegid())); }
static int change_owner_by_empty_path(void)
{
    return result(fchownat(film(), "", geteuid(), getegid(), AT_EMPTY_PATH));
}
static int change_time(void) { return result(utime(below("in/other"), NULL)); }
static int change_time_in_us(void) { return result(utimes(below("in/other"), NULL)); }
static int change_time_at(void)
{
    return result(utimensat(AT_FDCWD, below("in/other"), NULL, AT_SYMLINK_NOFOLLOW));
}
static int change_time_of_film(void)
{
    const struct timespec past[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    return result(syscall(SYS_utimensat, film(), NULL, past, 0)); /* what futimens calls */
}
static int touch_film(void) { return result(syscall(SYS_utimensat, film(), NULL, NULL, 0)); }
static int set_attribute(void) { return result(setxattr(below("in/other"), "user.x", "y", 1, 0)); }
static int set_attribute_of_film(void) { return result(fsetxattr(film(), "user.x", "y", 1, 0)); }
static int remove_attribute(void)
{
    lsetxattr(below("in/other"), "user.x", "y", 1, 0);
    return result(removexattr(below("in/other"), "user.x"));
}
static int remove_attribute_of_film(void)
{
    fsetxattr(film(), "user.x", "y", 1, 0);
    return result(fremovexattr(film(), "user.x"));
}
static int change_flags_of_film(void)
{
    int flags = 0;
    ioctl(film(), FS_IOC_GETFLAGS, &flags);
    return result(ioctl(film(), FS_IOC_SETFLAGS, &flags));
}
static int change_project_of_film(void)
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
static int start_process(void) { return started(fork()); }
static int start_by_vfork(void) { return started(vfork()); } /* NOLINT: of this very call */
static int start_by_clone(void) { return started(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)); }
static int start_sibling(void)
{
    return started(syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0));
}
static int start_by_clone3(void)
{
    uint64_t arguments[8] = {[4] = SIGCHLD};
    int status = started(syscall(435, arguments, sizeof arguments));
    return status == ENOSYS ? EPERM : status; /* so that glibc calls clone */
}
#ifdef SYS_fork
static int start_by_number(void) { return started(syscall(SYS_fork)); }
#endif
static int clone_space(void)
{
    return started(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0));
}
static int outlive_parent(void) { return result(prctl(PR_SET_PDEATHSIG, 0)); }
static int be_dumpable(void) { return result(prctl(PR_SET_DUMPABLE, 1)); }

static int execute(void)
{
    char *const call[] = {"true", NULL};
    execv("/bin/true", call);
    return errno; /* without a sandbox, the program's status is 0 */
}
static int execute_memory(void)
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

static int trace_parent(void)
{
    int status = result(ptrace(PTRACE_SEIZE, getppid(), 0, 0));
    ptrace(PTRACE_DETACH, getppid(), 0, 0);
    return status;
}
static int read_parent(void)
{
    char copy[sizeof word];
    struct iovec here = {copy, sizeof copy}, there = {word, sizeof word};
    return result(process_vm_readv(getppid(), &here, 1, &there, 1, 0));
}
static int write_parent(void)
{
    char copy[sizeof word] = "";
    struct iovec here = {copy, sizeof copy}, there = {word, sizeof word};
    return result(process_vm_writev(getppid(), &here, 1, &there, 1, 0));
}
/* Where there is no /proc, nothing of it can be opened. */
static int open_of_parent(const char *name, int flags)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)getppid(), name);
    return access("/proc/self", F_OK) != 0 ? EACCES : result(open(path, flags | O_CLOEXEC));
}
static int open_memory(void) { return open_of_parent("mem", O_RDWR); }
static int read_environment(void) { return open_of_parent("environ", O_RDONLY); }
static int list_descriptors(void) { return open_of_parent("fd", O_RDONLY | O_DIRECTORY); }
static int be_killed_last(void) { return open_of_parent("oom_score_adj", O_WRONLY); }

static int signal_parent(void) { return result(kill(getppid(), 0)); }
static int signal_all(void) { return result(kill(-getpgrp(), 0)); }
static int signal_by_thread(void) { return result(syscall(SYS_tgkill, getppid(), getppid(), 0)); }
static int signal_by_tkill(void) { return result(syscall(SYS_tkill, getppid(), 0)); }
static int signal_by_queue(void)
{
    return result(sigqueue(getppid(), 0, (union sigval){.sival_int = 0}));
}
static int signal_by_pidfd(void)
{
    long fd = syscall(SYS_pidfd_open, getppid(), 0);
    return result(syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0));
}
static int signal_by_owner(void)
{
    int end[2];
    return pipe(end) != 0 ? EBADF : result(fcntl(end[0], F_SETOWN, getppid()));
}
static int signal_by_owner_thread(void)
{
    struct f_owner_ex owner = {.type = F_OWNER_PID, .pid = getppid()};
    int end[2];
    return pipe(end) != 0 ? EBADF : result(fcntl(end[0], F_SETOWN_EX, &owner));
}

static int limit_parent(void)
{
    struct rlimit old;
    return prlimit(getppid(), RLIMIT_NOFILE, NULL, &old) != 0
               ? errno
               : result(prlimit(getppid(), RLIMIT_NOFILE, &old, NULL));
}
static int slow_parent(void)
{
    return result(
        setpriority(PRIO_PROCESS, (id_t)getppid(), getpriority(PRIO_PROCESS, (id_t)getppid())));
}
static int slow_group(void) { return result(setpriority(PRIO_PGRP, 0, getpriority(PRIO_PGRP, 0))); }
static int move_parent(void)
{
    cpu_set_t set;
    sched_getaffinity(getppid(), sizeof set, &set);
    return result(sched_setaffinity(getppid(), sizeof set, &set));
}
static int schedule_parent(void)
{
    const struct sched_param none = {.sched_priority = 0};
    return result(sched_setscheduler(getppid(), SCHED_OTHER, &none));
}
static int schedule_parent_by_parameter(void)
{
    const struct sched_param none = {.sched_priority = 0};
    return result(sched_setparam(getppid(), &none));
}
static int schedule_parent_by_attribute(void)
{
    uint32_t attributes[12] = {sizeof attributes};
    syscall(SYS_sched_getattr, getppid(), attributes, sizeof attributes, 0);
    return result(syscall(SYS_sched_setattr, getppid(), attributes, 0));
}
static int slow_disk_of_parent(void)
{
    enum { WHO_PROCESS = 1 };
    long old = syscall(SYS_ioprio_get, WHO_PROCESS, getppid());
    return result(syscall(SYS_ioprio_set, WHO_PROCESS, getppid(), old));
}

/* ---- Others ---- */

static int change_space(void) { return result(unshare(CLONE_FS)); }
static int add_key(void) { return result(syscall(SYS_add_key, "user", "x", "y", 1, -1)); }
static int use_keyring(void) { return result(syscall(SYS_keyctl, 0, -1 /* of the thread */, 1)); }
static int change_personality(void) { return result(syscall(SYS_personality, 0xffffffff)); }
static int ring(void)
{
    uint32_t parameters[30] = {0};
    return result(syscall(SYS_io_uring_setup, 1, parameters));
}
static int watch_faults(void) { return result(syscall(SYS_userfaultfd, 1 /* of this process */)); }

/* These fail outside, too: for wrong arguments or for lack of privileges. */
static int by_handle(void) { return result(syscall(SYS_open_by_handle_at, -1, NULL, 0)); }
static int load_bpf(void) { return result(syscall(SYS_bpf, 0, NULL, 0)); }
static int count_events(void) { return result(syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0)); }
static int mount_nothing(void) { return result(mount("", "", "", 0, "")); }
static int change_root(void) { return result(chroot("")); }
static int join_space(void) { return result(setns(-1, 0)); }
static int type_ahead(void) { return result(ioctl(-1, TIOCSTI, "x")); }
static int own_socket(void) { return result(ioctl(-1, FIOSETOWN, NULL)); }
static int load_module(void) { return result(syscall(SYS_init_module, NULL, 0, "")); }
static int new_space(void) { return result(unshare(CLONE_NEWUSER)); }

static const struct {
    const char *name;
    attempt *what;
    bool fails_outside;
} attempts[] = {
    {"read another film", read_other, false},
    {"list a folder", read_folder, false},
    {"read an output", read_old, false},
    {"read /etc/passwd", read_passwords, false},
    {"write a film", write_film, false},
    {"write outside", write_outside, false},
    {"open and truncate", open_and_truncate, false},
    {"truncate by name", truncate_other, false},
    {"remove outside", remove_outside, false},
    {"rename outside", move_away, false},
    {"rename from outside", move_in, false},
    {"link", link_in, false},
    {"link by name", link_by_name, false},
    {"make a FIFO", make_pipe_file, false},
    {"chmod", change_mode, false},
    {"fchmodat", change_mode_at, false},
    {"fchmod", change_mode_of_film, false},
    {"fchmodat2 of a descriptor", change_mode_by_empty_path, false},
    {"chown", change_owner, false},
    {"fchown", change_owner_of_film, false},
    {"fchownat of a descriptor", change_owner_by_empty_path, false},
    {"utime", change_time, false},
    {"utimes", change_time_in_us, false},
    {"utimensat", change_time_at, false},
    {"futimens", change_time_of_film, false},
    {"futimens to now", touch_film, false},
    {"setxattr", set_attribute, false},
    {"fsetxattr", set_attribute_of_film, false},
    {"removexattr", remove_attribute, false},
    {"fremovexattr", remove_attribute_of_film, false},
    {"FS_IOC_SETFLAGS", change_flags_of_film, false},
    {"FS_IOC_FSSETXATTR", change_project_of_film, false},
    {"connect by TCP", connect_tcp, false},
    {"open a UDP socket", send_udp, false},
    {"connect to a path", connect_unix, false},
    {"connect to an abstract name", connect_abstract, false},
    {"make a pair of sockets", pair_sockets, false},
    {"fork", start_process, false},
    {"vfork", start_by_vfork, false},
    {"clone", start_by_clone, false},
    {"clone a sibling", start_sibling, false},
    {"clone3", start_by_clone3, false},
#ifdef SYS_fork
    {"fork by its number", start_by_number, false},
#endif
    {"PR_SET_PDEATHSIG", outlive_parent, false},
    {"PR_SET_DUMPABLE", be_dumpable, false},
    {"execute", execute, false},
    {"execute a memfd", execute_memory, false},
    {"trace the parent", trace_parent, false},
    {"process_vm_readv", read_parent, false},
    {"process_vm_writev", write_parent, false},
    {"open the parent's memory", open_memory, false},
    {"read the parent's environment", read_environment, false},
    {"list the parent's descriptors", list_descriptors, false},
    {"write the parent's oom_score_adj", be_killed_last, false},
    {"signal the parent", signal_parent, false},
    {"signal the group", signal_all, false},
    {"tgkill", signal_by_thread, false},
    {"tkill", signal_by_tkill, false},
    {"sigqueue", signal_by_queue, false},
    {"pidfd_send_signal", signal_by_pidfd, false},
    {"F_SETOWN", signal_by_owner, false},
    {"F_SETOWN_EX", signal_by_owner_thread, false},
    {"prlimit", limit_parent, false},
    {"setpriority", slow_parent, false},
    {"setpriority of the group", slow_group, false},
    {"sched_setaffinity", move_parent, false},
    {"sched_setscheduler", schedule_parent, false},
    {"sched_setparam", schedule_parent_by_parameter, false},
    {"sched_setattr", schedule_parent_by_attribute, false},
    {"ioprio_set", slow_disk_of_parent, false},
    {"unshare", change_space, false},
    {"add_key", add_key, false},
    {"keyctl", use_keyring, false},
    {"personality", change_personality, false},
    {"io_uring_setup", ring, false},
    {"userfaultfd", watch_faults, false},
    {"clone a namespace", clone_space, true},
    {"unshare a namespace", new_space, true},
    {"open_by_handle_at", by_handle, true},
    {"bpf", load_bpf, true},
    {"perf_event_open", count_events, true},
    {"mount", mount_nothing, true},
    {"chroot", change_root, true},
    {"setns", join_space, true},
    {"TIOCSTI", type_ahead, true},
    {"FIOSETOWN", own_socket, true},
    {"init_module", load_module, true},
};

enum { ATTEMPTS = sizeof attempts / sizeof *attempts };

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
