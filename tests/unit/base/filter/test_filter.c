/*
 * The filter of system calls, interpreted: that of this processor, also where no kernel takes it, as
 * under qemu-user.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"
#include "base/sandbox.h"

static FILE *file;
static struct sock_filter filter[4096];
static size_t length;

/* Replaces libseccomp's: it writes the filter to `file`, for the parent. */
int seccomp_load(const scmp_filter_ctx c) { return seccomp_export_bpf(c, fileno(file)); }

/* Reads the filter of a child. Returns the child's process number. */
static pid_t read_filter(void)
{
    int status;
    file = tmpfile();
    assert_non_null(file);
    pid_t child = fork();
    if (child == 0) {
        struct err e = ERR_INIT;
        struct sandbox *s = sandbox_new(&e);
        if (!s || !sandbox_keep(s, fileno(file), &e))
            _exit(1);
        (void)sandbox_enter(s, &e); /* without Landlock it makes a filter, too */
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    rewind(file);
    length = fread(filter, sizeof *filter, sizeof filter / sizeof *filter, file);
    fclose(file);
    return child;
}

/* Returns what the filter returns for a call. */
static uint32_t interpret(const struct seccomp_data *call)
{
    uint32_t a = 0;
    for (const struct sock_filter *f = filter; f < filter + length; f++) {
        bool jumps = false;
        switch (f->code) {
        case BPF_LD | BPF_W | BPF_ABS: memcpy(&a, (const char *)call + f->k, sizeof a); continue;
        case BPF_ALU | BPF_AND | BPF_K: a &= f->k; continue;
        case BPF_JMP | BPF_JA: f += f->k; continue;
        case BPF_RET | BPF_K: return f->k;
        case BPF_JMP | BPF_JEQ | BPF_K: jumps = a == f->k; break;
        case BPF_JMP | BPF_JGT | BPF_K: jumps = a > f->k; break;
        case BPF_JMP | BPF_JGE | BPF_K: jumps = a >= f->k; break;
        default: fail_msg("instruction 0x%x", f->code);
        }
        f += jumps ? f->jt : f->jf;
    }
    fail_msg("the filter has no end");
    return 0;
}

#define SELF UINT64_MAX /* stands for the process's number */

static const struct {
    int number, error; /* 0: allowed */
    uint64_t argument[3];
} calls[] = {
    {SYS_read, 0, {0}},
    {SYS_mmap, 0, {0}},
    {SYS_futex, 0, {0}},
    {SYS_ppoll, 0, {0}},
    {SYS_unlinkat, 0, {0}},
    {SYS_mkdirat, 0, {0}},
    {SYS_renameat2, 0, {0}},
    {SYS_exit_group, 0, {0}},
    {SYS_openat, 0, {0, 0, O_RDONLY | O_CLOEXEC}},
    {SYS_openat, 0, {0, 0, O_WRONLY | O_TRUNC}},
    {SYS_openat, EPERM, {0, 0, O_RDONLY | O_TRUNC}},
    {SYS_clone, 0, {CLONE_VM | CLONE_THREAD}},
    {SYS_clone, EPERM, {SIGCHLD}},
    {SYS_clone, EPERM, {CLONE_THREAD | CLONE_NEWUSER}},
    {435 /* clone3 */, ENOSYS, {0}},
    {437 /* openat2 */, ENOSYS, {0}},
    {SYS_execve, EPERM, {0}},
    {SYS_execveat, EPERM, {0}},
    {SYS_ptrace, EPERM, {0}},
    {SYS_bpf, EPERM, {0}},
    {SYS_unshare, EPERM, {0}},
    {SYS_mount, EPERM, {0}},
    {SYS_linkat, EPERM, {0}},
    {SYS_symlinkat, EPERM, {0}},
    {SYS_mknodat, EPERM, {0}},
    {SYS_fchmodat, EPERM, {0}},
    {SYS_fchownat, EPERM, {0}},
    {SYS_utimensat, EPERM, {0}},
    {SYS_kill, 0, {SELF}},
    {SYS_kill, EPERM, {1}},
    {SYS_tgkill, EPERM, {1}},
    {SYS_prlimit64, 0, {0}},
    {SYS_prlimit64, EPERM, {1}},
    {SYS_socket, EPERM, {AF_UNIX}},
    {SYS_socket, EPERM, {AF_INET6}},
    {SYS_ioctl, 0, {0, TIOCGWINSZ}},
    {SYS_ioctl, EPERM, {0, TIOCSTI}},
    {SYS_ioctl, EPERM, {0, UINT64_C(1) << 32 | TIOCSTI}}, /* the kernel takes 32 bits */
#ifdef SYS_open
    {SYS_open, 0, {0, O_RDONLY}},
    {SYS_open, EPERM, {0, O_RDONLY | O_TRUNC}},
    {SYS_fork, EPERM, {0}},
    {SYS_chmod, EPERM, {0}},
#endif
};

TEST(calls_of_this_processor)
{
    const uint64_t process = (uint64_t)read_filter();
    assert_true(length > 100);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        struct seccomp_data call = {.nr = calls[i].number, .arch = seccomp_arch_native()};
        for (int k = 0; k < 3; k++)
            call.args[k] = calls[i].argument[k] == SELF ? process : calls[i].argument[k];
        uint32_t want =
            calls[i].error ? SECCOMP_RET_ERRNO | (uint32_t)calls[i].error : SECCOMP_RET_ALLOW;
        if (interpret(&call) != want)
            fail_msg("call %d of row %zu: 0x%x", calls[i].number, i, interpret(&call));
    }
}

/* A call by the numbers of another processor, as of 32-bit programs, ends the process. */
TEST(calls_of_another_processor)
{
    read_filter();
    assert_int_equal(interpret(&(struct seccomp_data){.nr = 1, .arch = SCMP_ARCH_PPC}),
                     SECCOMP_RET_KILL_THREAD);
}
