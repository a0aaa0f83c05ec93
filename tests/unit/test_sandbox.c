#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"
#include "barcode/base/sandbox.h"

/*
 * Each attempt runs in a child of its own, first without the sandbox, where it must succeed, so
 * that a refusal is the sandbox's. It returns 0, or an errno value.
 */
typedef int attempt(void);

static char folder[] = "/tmp/test-sandbox-XXXXXX"; /* has the folders in/ and out/ */

static const char *below(const char *name)
{
    static char path[2][200];
    static int turn;
    turn ^= 1;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
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

static int begin(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    static const char *const made[] = {"in", "out", "sub"};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        assert_int_equal(mkdir(below(made[i]), 0700), 0);
    assert_int_equal(make_file("in/film"), 0);
    assert_int_equal(make_file("in/other"), 0);
    assert_int_equal(make_file("out/old"), 0);
    return 0;
}

static int end(void **state)
{
    (void)state;
    char command[sizeof folder + 20];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static int read_other(void) { return result(open(below("in/other"), O_RDONLY)); }
static int read_folder(void) { return result(open(below("in"), O_RDONLY | O_DIRECTORY)); }
static int read_old(void) { return result(open(below("out/old"), O_RDONLY)); }
static int read_passwords(void) { return result(open("/etc/passwd", O_RDONLY)); }
static int read_environment(void)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/environ", (int)getppid());
    return result(open(path, O_RDONLY));
}
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
static int change_mode(void) { return result(chmod(below("in/other"), 0600)); }
static int change_owner(void) { return result(chown(below("in/other"), geteuid(), getegid())); }
static int make_pipe_file(void)
{
    int status = result(mkfifo(below("out/fifo"), 0600));
    unlink(below("out/fifo"));
    return status;
}

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

/* A server of the test process, at a path and at an abstract name. */
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

static int execute(void)
{
    char *const call[] = {"true", NULL};
    execv("/bin/true", call);
    return errno; /* without a sandbox, the program's status is 0 */
}
static int trace_parent(void)
{
    int status = result(ptrace(PTRACE_SEIZE, getppid(), 0, 0));
    ptrace(PTRACE_DETACH, getppid(), 0, 0);
    return status;
}
static int signal_parent(void) { return result(kill(getppid(), 0)); }
static int signal_by_thread(void) { return result(syscall(SYS_tgkill, getppid(), getppid(), 0)); }
static int limit_parent(void)
{
    struct rlimit old;
    return prlimit(getppid(), RLIMIT_NOFILE, NULL, &old) != 0
               ? errno
               : result(prlimit(getppid(), RLIMIT_NOFILE, &old, NULL));
}
static int change_space(void) { return result(unshare(CLONE_FS)); }
static int add_key(void) { return result(syscall(SYS_add_key, "user", "x", "y", 1, -1)); }
static int change_personality(void) { return result(syscall(SYS_personality, 0xffffffff)); }

/* Calls that may be refused without a sandbox, too, by a container or for lack of privileges. */
static int by_handle(void) { return result(syscall(SYS_open_by_handle_at, -1, NULL, 0)); }
static int ring(void) { return result(syscall(SYS_io_uring_setup, 1, NULL)); }
static int load_bpf(void) { return result(syscall(SYS_bpf, 0, NULL, 0)); }
static int watch_faults(void) { return result(syscall(SYS_userfaultfd, -1)); }
static int count_events(void) { return result(syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0)); }
static int mount_nothing(void) { return result(mount("", "", "", 0, "")); }
static int change_root(void) { return result(chroot("")); }
static int new_space(void) { return result(unshare(CLONE_NEWUSER)); }
static int join_space(void) { return result(setns(-1, 0)); }
static int clone_space(void)
{
    long child = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
    if (child == 0)
        _exit(0);
    return result(child);
}
static int type_ahead(void) { return result(ioctl(-1, TIOCSTI, "x")); }
static int load_module(void) { return result(syscall(SYS_init_module, NULL, 0, "")); }

/* Returns what the attempt comes to in a child. `inside` is the sandbox, or NULL. */
static int try(attempt *what, const struct sandbox *inside)
{
    pid_t child = fork();
    if (child == 0) {
        struct err e = ERR_INIT;
        if (inside && !sandbox_enter(inside, &e))
            _exit(255);
        _exit(what());
    }
    int how;
    assert_int_equal(waitpid(child, &how, 0), child);
    return WIFEXITED(how) ? WEXITSTATUS(how) : 254;
}

/* A sandbox that reads in/film and writes to out/. */
static struct sandbox *usual(void)
{
    struct err e = ERR_INIT;
    struct sandbox *s = sandbox_new(&e);
    assert_non_null(s);
    assert_true(sandbox_allow(s, below("in/film"), SANDBOX_READ, &e));
    assert_true(sandbox_allow(s, below("out"), SANDBOX_WRITE, &e));
    assert_true(sandbox_allow(s, below("missing"), SANDBOX_READ, &e));
    return s;
}

static void need_kernel(void)
{
    const char *missing = sandbox_missing();
    if (missing) {
        print_message("SKIP: the kernel lacks %s\n", missing);
        skip();
    }
}

static bool is_refused(int status) { return status == EPERM || status == EACCES; }

/* Attempts that succeed outside. */
static const struct {
    const char *name;
    attempt *what;
} attempts[] = {
    {"read another film", read_other},
    {"list a folder", read_folder},
    {"read an output", read_old},
    {"read /etc/passwd", read_passwords},
    {"read the parent's environment", read_environment},
    {"write a film", write_film},
    {"write outside", write_outside},
    {"open and truncate", open_and_truncate},
    {"truncate by name", truncate_other},
    {"remove outside", remove_outside},
    {"rename outside", move_away},
    {"rename from outside", move_in},
    {"link", link_in},
    {"link by name", link_by_name},
    {"change a mode", change_mode},
    {"change an owner", change_owner},
    {"make a FIFO", make_pipe_file},
    {"connect by TCP", connect_tcp},
    {"open a UDP socket", send_udp},
    {"connect to a path", connect_unix},
    {"connect to an abstract name", connect_abstract},
    {"make a pair of sockets", pair_sockets},
    {"execute", execute},
    {"trace the parent", trace_parent},
    {"signal the parent", signal_parent},
    {"signal the parent's thread", signal_by_thread},
    {"limit the parent", limit_parent},
    {"unshare", change_space},
    {"add a key", add_key},
    {"change the personality", change_personality},
};

/* Waits at a path and at an abstract name. */
static void serve(int server[2])
{
    for (int i = 0; i < 2; i++) {
        struct sockaddr_un a = {.sun_family = AF_UNIX};
        snprintf(a.sun_path, sizeof a.sun_path, "%s", below("socket"));
        if (i == 1)
            a.sun_path[0] = 0;
        server[i] = socket(AF_UNIX, SOCK_STREAM, 0);
        assert_true(server[i] >= 0);
        assert_int_equal(bind(server[i], (struct sockaddr *)&a, sizeof a), 0);
        assert_int_equal(listen(server[i], 9), 0);
    }
}

TEST(attempts_are_refused)
{
    need_kernel();
    int server[2], bad = 0;
    serve(server);
    for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++) {
        struct sandbox *s = usual();
        int outside = try(attempts[i].what, NULL), inside = try(attempts[i].what, s);
        sandbox_free(&s);
        /* A container may refuse these, too; then this machine proves nothing. */
        bool proven = outside == 0 || !is_refused(outside);
        if (!is_refused(inside) || (outside != 0 && proven)) {
            print_error("%s: outside %s, inside %s\n", attempts[i].name, strerror(outside),
                        strerror(inside));
            bad++;
        }
        assert_int_equal(make_file("in/film"), 0);
    }
    close(server[0]);
    close(server[1]);
    unlink(below("socket"));
    assert_int_equal(bad, 0);
}

/* Their arguments are wrong, so outside they fail for that or for lack of privileges. */
TEST(calls_are_refused)
{
    static attempt *const what[] = {by_handle,    ring,          load_bpf,    watch_faults,
                                    count_events, mount_nothing, change_root, new_space,
                                    join_space,   clone_space,   type_ahead,  load_module};
    need_kernel();
    for (size_t i = 0; i < sizeof what / sizeof *what; i++) {
        struct sandbox *s = usual();
        int status = try(what[i], s);
        sandbox_free(&s);
        if (status != EPERM)
            print_error("call %zu: %s\n", i, strerror(status));
        assert_int_equal(status, EPERM);
    }
}

static void *nothing(void *argument) { return argument; }

/* What a worker does. */
static int work(void)
{
    pthread_t thread;
    struct stat st;
    int fd = open(below("in/film"), O_RDONLY);
    char text[4];
    if (fd < 0 || read(fd, text, 4) != 4 || stat(below("in/other"), &st) != 0)
        return 1;
    if (make_file("out/new") != 0 || rename(below("out/new"), below("out/old")) != 0)
        return 2;
    fd = open(below("out"), O_RDONLY | O_DIRECTORY);
    if (fd < 0 || fsync(fd) != 0)
        return 3;
    if (mkdir(below("out/sub"), 0700) != 0 || make_file("out/sub/x") != 0 ||
        unlink(below("out/sub/x")) != 0)
        return 4;
    if (pthread_create(&thread, NULL, nothing, NULL) != 0 || pthread_join(thread, NULL) != 0)
        return 5;
    if (kill(getpid(), 0) != 0 || futimens(open(below("out/old"), O_WRONLY), NULL) != 0)
        return 6;
    return 0;
}

TEST(a_worker_can_work)
{
    need_kernel();
    struct sandbox *s = usual();
    assert_int_equal(try(work, s), 0);
    assert_int_equal(make_file("out/old"), 0);
    sandbox_free(&s);
}

/* Returns true if a line of /proc/self/status is this one. */
static bool has_line(const char *line)
{
    char text[256];
    bool found = false;
    FILE *f = fopen("/proc/self/status", "re");
    while (f && !found && fgets(text, sizeof text, f))
        found = strcmp(text, line) == 0;
    if (f)
        fclose(f);
    return found;
}

static int process_state(void)
{
    struct rlimit core;
    unsigned long long kept = 1U << CAP_DAC_OVERRIDE | 1U << CAP_CHOWN | 1U << CAP_FOWNER;
    char root[64], user[] = "CapPrm:\t0000000000000000\n";
    snprintf(root, sizeof root, "CapPrm:\t%016llx\n", kept);
    if (!has_line("NoNewPrivs:\t1\n") || !has_line("Seccomp:\t2\n"))
        return 1;
    if (geteuid() == 0 ? !has_line(root) && !has_line(user) : !has_line(user))
        return 2;
    if (getrlimit(RLIMIT_CORE, &core) != 0 || core.rlim_max != 0)
        return 3;
    return prctl(PR_GET_DUMPABLE) == 0 ? 0 : 4;
}

TEST(privileges_are_gone)
{
    need_kernel();
    struct err e = ERR_INIT;
    struct sandbox *s = usual();
    assert_true(sandbox_allow(s, "/proc/self", SANDBOX_READ, &e));
    assert_int_equal(try(process_state, s), 0);
    sandbox_free(&s);
}

static bool alone;
static int inherited[3]; /* kept; not kept; the program's own */

static int check_descriptors(void)
{
    for (int i = 0; i < 3; i++)
        if ((fcntl(inherited[i], F_GETFD) >= 0) != (i == 0 || (i == 2 && !alone)))
            return 1 + i;
    return fcntl(STDERR_FILENO, F_GETFD) >= 0 ? 0 : 9;
}

TEST(inherited_descriptors_are_closed)
{
    need_kernel();
    struct err e = ERR_INIT;
    struct sandbox *s = usual();
    for (int i = 0; i < 3; i++) {
        inherited[i] = open("/dev/null", O_RDONLY | (i == 2 ? O_CLOEXEC : 0));
        assert_true(inherited[i] > 2);
    }
    assert_true(sandbox_keep(s, inherited[0], &e));
    assert_int_equal(try(check_descriptors, s), 0);
    alone = true;
    sandbox_keep_no_other(s);
    assert_int_equal(try(check_descriptors, s), 0);
    sandbox_free(&s);
}

static int listen_locally(void)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX, .sun_path = "\0test-sandbox-gpu"};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    return fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof a) != 0 || listen(fd, 1) != 0 ? errno
                                                                                          : 0;
}

/* With a GPU: local sockets may listen, and everything else stays refused. */
TEST(a_gpu_listens)
{
    need_kernel();
    int server[2];
    serve(server);
    static attempt *const refused[] = {connect_unix, connect_abstract, connect_tcp, execute};
    for (size_t i = 0; i <= sizeof refused / sizeof *refused; i++) {
        struct sandbox *s = usual();
        sandbox_allow_gpu(s);
        int status = try(i == 0 ? listen_locally : refused[i - 1], s);
        assert_true(i == 0 ? status == 0 : is_refused(status));
        sandbox_free(&s);
    }
    close(server[0]);
    close(server[1]);
    unlink(below("socket"));
}

static int open_packet_socket(void) { return result(socket(AF_PACKET, SOCK_DGRAM, 0)); }
static int open_netlink(void) { return result(socket(AF_NETLINK, SOCK_RAW, 0)); }

/* With the network: TCP and UDP, and everything else stays refused. */
TEST(the_network_alone)
{
    need_kernel();
    int server[2];
    serve(server);
    static attempt *const allowed[] = {connect_tcp, send_udp};
    static attempt *const refused[] = {connect_unix, connect_abstract, pair_sockets,      execute,
                                       open_netlink, listen_locally,   open_packet_socket};
    enum { ALLOWED = sizeof allowed / sizeof *allowed, REFUSED = sizeof refused / sizeof *refused };
    for (size_t i = 0; i < ALLOWED + REFUSED; i++) {
        struct sandbox *s = usual();
        sandbox_allow_network(s);
        int status = try(i < ALLOWED ? allowed[i] : refused[i - ALLOWED], s);
        assert_true(i < ALLOWED ? status == 0 : is_refused(status));
        sandbox_free(&s);
    }
    close(server[0]);
    close(server[1]);
    unlink(below("socket"));
}

TEST_MAIN(begin, end)
