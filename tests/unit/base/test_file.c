#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>

#include "test.h"
#include "base/interrupt.h"
#include "base/file.h"
#include "files.h"

TEST_WITH(reads_or_says_no, enter, leave)
{
    char text[8] = "";
    put("ten", "0123456789", 10);
    int fd = open("ten", O_RDONLY);
    assert_true(fd >= 0);
    assert_true(file_read_at(fd, text, 4, 3));
    assert_string_equal(text, "3456");
    assert_true(file_read_at(fd, text, 4, 6)); /* up to the last byte, and back */
    assert_string_equal(text, "6789");
    assert_true(file_read_at(fd, text, 1, 0));
    assert_int_equal(text[0], '0');
    assert_false(file_read_at(fd, text, 4, 7));
    assert_false(file_read_at(fd, text, 1, 10));
    assert_false(file_read_at(fd, text, 1, UINT64_C(1) << 40));
    assert_true(file_read_at(fd, text, 0, 10));
    close(fd);
    assert_false(file_read_at(fd, text, 1, 0));
}

TEST(numbers_of_open_files)
{
    static const struct {
        const char *path;
        int number;
    } t[] = {
        {"/dev/stdin", 0},  {"/dev/stdout", 1},     {"/dev/stderr", 2}, {"/dev/fd/0", 0},
        {"/dev/fd/63", 63}, {"/proc/self/fd/7", 7}, {"", -1},           {"-", -1},
        {"/dev/fd/", -1},   {"/dev/fd/1x", -1},     {"/dev/fd/-1", -1}, {"/dev/fd/99999999999", -1},
        {"stdin", -1},
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++)
        assert_int_equal(file_descriptor(t[i].path), t[i].number);
}

TEST_WITH(regular_files, enter, leave)
{
    touch("plain");
    assert_int_equal(symlink("plain", "to-plain"), 0);
    assert_int_equal(mkfifo("fifo", 0600), 0);
    assert_int_equal(symlink("fifo", "to-fifo"), 0);
    assert_true(file_is_regular("plain") && file_is_regular("to-plain"));
    assert_false(file_is_regular("fifo") || file_is_regular("to-fifo") || file_is_regular(".") ||
                 file_is_regular("/dev/null") || file_is_regular("gone"));
}

/* What a pipe holds comes in pieces, and has no offsets. */
TEST(no_pipes)
{
    int end[2];
    char byte;
    assert_int_equal(pipe(end), 0);
    assert_int_equal(write(end[1], "x", 1), 1);
    assert_false(file_read_at(end[0], &byte, 1, 0));
    close(end[0]);
    close(end[1]);
}

TEST_WITH(the_same_by_any_name, enter, leave)
{
    touch("a");
    touch("b");
    assert_int_equal(link("a", "hard"), 0);
    assert_int_equal(symlink("a", "soft"), 0);
    assert_int_equal(mkdir("sub", 0777), 0);
    assert_true(file_same("a", "a"));
    assert_true(file_same("a", "./sub/../a"));
    assert_true(file_same("a", "hard"));
    assert_true(file_same("soft", "hard"));
    assert_false(file_same("a", "b"));
    assert_false(file_same("a", "gone"));
    assert_false(file_same("sub", "sub")); /* no files */
    assert_false(file_same("/dev/null", "/dev/null"));
}

TEST_WITH(the_same_once_written, enter, leave)
{
    char path[sizeof folder + 8];
    snprintf(path, sizeof path, "%s/new", folder);
    assert_int_equal(mkdir("sub", 0777), 0);
    assert_true(file_same("new", "new"));
    assert_true(file_same("new", "./new"));
    assert_true(file_same("gone/new", "gone/new")); /* in a folder that is to be made */
    assert_false(file_same("gone/new", "gone/other"));
    assert_false(file_same("gone/new", "new"));
    assert_true(file_same(path, "new"));
    assert_false(file_same("new", "newer"));
    assert_false(file_same("new", "sub/new"));
    assert_true(file_same("sub/new", "./sub//new"));
}

/* ---- Files that may take long ---- */

static void rest(long ms) { nanosleep(&(struct timespec){.tv_nsec = ms * 1000000L}, NULL); }

/* Opens the FIFO for writing a while later, and writes a word. */
static void *late_writer(void *word)
{
    rest(150);
    int fd = open("fifo", O_WRONLY);
    rest(50);
    if (write(fd, word, strlen(word)) < 0)
        perror("late writer");
    close(fd);
    return NULL;
}

TEST_WITH(a_fifo_is_waited_for, enter, leave)
{
    char got[8] = "";
    static char word[] = "word";
    pthread_t writer;
    assert_int_equal(mkfifo("fifo", 0600), 0);
    int fd = slow_open("fifo", false);
    assert_true(fd >= 0);
    assert_int_equal(pthread_create(&writer, NULL, late_writer, word), 0);
    assert_int_equal(slow_read(fd, got, sizeof got, true), 4);
    assert_string_equal(got, word);
    assert_int_equal(slow_read(fd, got, sizeof got, true), 0); /* it is closed now */
    pthread_join(writer, NULL);
    close(fd);
}

static void *late_reader(void *got)
{
    rest(150);
    int fd = open("fifo", O_RDONLY);
    rest(50);
    char byte;
    uint64_t sum = 0;
    while (read(fd, &byte, 1) == 1)
        sum += (uint64_t)(uint8_t)byte;
    close(fd);
    *(uint64_t *)got = sum;
    return NULL;
}

/* More than a pipe holds, to a reader that comes late. */
TEST_WITH(a_reader_is_waited_for, enter, leave)
{
    static uint8_t bytes[200000];
    uint64_t sum = 0, got = 0;
    for (size_t i = 0; i < sizeof bytes; i++)
        sum += bytes[i] = (uint8_t)(i * 7);
    pthread_t reader;
    assert_int_equal(mkfifo("fifo", 0600), 0);
    assert_int_equal(pthread_create(&reader, NULL, late_reader, &got), 0);
    int fd = slow_open("fifo", true);
    assert_true(fd >= 0);
    assert_true(slow_write(fd, bytes, sizeof bytes));
    close(fd);
    pthread_join(reader, NULL);
    assert_int_equal(got, sum);
}

TEST_WITH(what_cannot_be_opened, enter, leave)
{
    assert_true(slow_open("gone", false) < 0 && errno == ENOENT);
    assert_true(slow_open("gone", true) < 0 && errno == ENOENT); /* nothing is created */
    assert_true(slow_open("/dev/fd/999", false) < 0 && errno == EBADF);
    struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "socket"};
    int s = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(s, (struct sockaddr *)&name, sizeof name), 0);
    assert_true(slow_open("socket", false) < 0 && errno == ENXIO);
    /* and nobody waits for a reader */
    assert_true(slow_open("socket", true) < 0 && errno == ENXIO);
    close(s);
}

/* An open file by its number: also what no name opens. */
TEST_WITH(an_open_file, enter, leave)
{
    int end[2];
    char path[32], got[8] = "";
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, end), 0);
    snprintf(path, sizeof path, "/dev/fd/%d", end[0]);
    int fd = slow_open(path, false);
    assert_true(fd >= 0 && fd != end[0]);
    assert_true(slow_write(end[1], "hello", 5));
    assert_int_equal(slow_read(fd, got, sizeof got, true), 5);
    assert_string_equal(got, "hello");
    close(fd);
    close(end[0]);
    assert_false(slow_write(end[1], "x", 1));
    assert_int_equal(errno, EPIPE);
    close(end[1]);
}

/* ---- After a signal, each in a process of its own ---- */

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static bool reads_for_ever(void)
{
    char byte;
    int fd = slow_open("fifo", false);
    return fd >= 0 && slow_read(fd, &byte, 1, true) < 0 && errno == EINTR;
}

static bool opens_for_ever(void) { return slow_open("fifo", true) < 0 && errno == EINTR; }

static bool writes_for_ever(void)
{
    static uint8_t bytes[1 << 20];
    int end[2];
    return pipe(end) == 0 && !slow_write(end[1], bytes, sizeof bytes) && errno == EINTR;
}

static void *send_signal(void *process)
{
    rest(200);
    kill(*(pid_t *)process, SIGTERM);
    return NULL;
}

/* The signal comes to a thread other than the one that waits, which therefore sees no EINTR. */
static int in_child(bool (*body)(void))
{
    pid_t child = fork();
    if (child == 0) {
        interrupt_install();
        pthread_t sender;
        pid_t self = getpid();
        pthread_create(&sender, NULL, send_signal, &self);
        sigset_t term;
        sigemptyset(&term);
        sigaddset(&term, SIGTERM);
        pthread_sigmask(SIG_BLOCK, &term, NULL);
        int64_t before = now_ms();
        bool ok = body();
        pthread_join(sender, NULL);
        _exit(ok && now_ms() - before < 1000 ? 42 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_WITH(a_signal_ends_each_wait, enter, leave)
{
    assert_int_equal(mkfifo("fifo", 0600), 0);
    assert_int_equal(in_child(reads_for_ever), 42);
    assert_int_equal(in_child(opens_for_ever), 42);
    assert_int_equal(in_child(writes_for_ever), 42);
}

/* A pipe without a reader is an error of the write, and no signal. */
static int ignore_sigpipe(void **state)
{
    (void)state;
    return signal(SIGPIPE, SIG_IGN) == SIG_ERR ? -1 : 0;
}

TEST_FIXTURE(ignore_sigpipe, NULL)
