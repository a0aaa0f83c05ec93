#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"
#include "folder.h"
#include "sandbox_attempts.h"
#include "base/sandbox.h"

/*
 * Each attempt runs in a child of its own, first without the sandbox, where it must succeed, so
 * that a refusal is the sandbox's.
 */

static int begin(void **state)
{
    assert_int_equal(enter(state), 0);
    attempts_folder = folder;
    assert_int_equal(system("mkdir -m 0700 in out sub"), 0);
    assert_int_equal(make_file("in/film"), 0);
    assert_int_equal(make_file("in/other"), 0);
    assert_int_equal(make_file("out/old"), 0);
    return 0;
}

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

/* Returns true if an attempt shows nothing, because this machine or file system refuses it, too. */
static bool is_unproven(int status)
{
    return is_refused(status) || status == ENOSYS || status == EOPNOTSUPP || status == ENOTTY;
}

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
    for (int i = 0; i < attempt_count; i++) {
        struct sandbox *s = usual();
        int outside = try(attempts[i].what, NULL), inside = try(attempts[i].what, s);
        sandbox_free(&s);
        bool works = outside == 0 || attempts[i].fails_outside || is_unproven(outside);
        if (!is_refused(inside) || !works) {
            print_error("%s: outside %s, inside %s\n", attempts[i].name, strerror(outside),
                        strerror(inside));
            bad++;
        }
        assert_int_equal(chmod(below("in/film"), 0600), 0);
        assert_int_equal(make_file("in/film"), 0);
    }
    close(server[0]);
    close(server[1]);
    unlink(below("socket"));
    assert_int_equal(bad, 0);
}

/* What a worker does. */
static int work(void)
{
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
    fd = open(below("out/old"), O_WRONLY);
    if (fd < 0 || ftruncate(fd, 4) != 0)
        return 5;
    if (!threads_work())
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
    unsigned long long kept = 1U << CAP_DAC_OVERRIDE | 1U << CAP_FOWNER;
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

static int before[4]; /* kept; not kept; the program's own, kept and not kept */

static int check_descriptors(void)
{
    for (int i = 0; i < 4; i++)
        if ((fcntl(before[i], F_GETFD) >= 0) != (i % 2 == 0))
            return 1 + i;
    return fcntl(STDERR_FILENO, F_GETFD) >= 0 ? 0 : 9;
}

TEST(other_descriptors_are_closed)
{
    need_kernel();
    struct err e = ERR_INIT;
    struct sandbox *s = usual();
    for (int i = 0; i < 4; i++) {
        before[i] = open("/dev/null", O_RDONLY | (i >= 2 ? O_CLOEXEC : 0));
        assert_true(before[i] > 2);
    }
    assert_true(sandbox_keep(s, before[2], &e));
    assert_true(sandbox_keep(s, -1, &e));
    assert_true(sandbox_keep(s, before[0], &e));
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

static int open_packet_socket(void) { return result(socket(AF_PACKET, SOCK_DGRAM, 0)); }
static int open_netlink(void) { return result(socket(AF_NETLINK, SOCK_RAW, 0)); }

/* With a GPU, local sockets may listen; with the network, TCP and UDP work. All else is refused. */
TEST(what_is_allowed_alone)
{
    static const struct {
        void (*allow)(struct sandbox *);
        attempt *allowed[3], *refused[8]; /* up to NULL */
    } kinds[] = {{sandbox_allow_gpu,
                  {listen_locally},
                  {connect_unix, connect_abstract, connect_tcp, execute}},
                 {sandbox_allow_network,
                  {connect_tcp, send_udp},
                  {connect_unix, connect_abstract, pair_sockets, execute, open_netlink,
                   listen_locally, open_packet_socket}}};
    need_kernel();
    int server[2];
    serve(server);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        struct sandbox *s = usual();
        kinds[k].allow(s);
        for (attempt *const *what = kinds[k].allowed; *what; what++)
            assert_int_equal(try(*what, s), 0);
        for (attempt *const *what = kinds[k].refused; *what; what++)
            assert_true(is_refused(try(*what, s)));
        sandbox_free(&s);
    }
    close(server[0]);
    close(server[1]);
    unlink(below("socket"));
}

TEST_FIXTURE(begin, leave)
