#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"
#include "base/worker.h"
#include "send_descriptors.h"

static int end[2];
static char bytes[LINK_BYTES + 1];

FIXTURE(open_ends)
{
    struct err e = ERR_INIT;
    return link_open(end, &e) ? 0 : -1;
}

FIXTURE(close_ends)
{
    close(end[1]);
    return close(end[0]);
}

static int count_open(void)
{
    int count = 0;
    for (int i = 0; i < 256; i++)
        count += fcntl(i, F_GETFD) >= 0;
    return count;
}

/* Sends a message with a copy of stdin so many times. */
static void send_copies(size_t size, int count)
{
    ssize_t n;
    do /* other tests may have too many descriptors on their way */
        n = send_descriptors(end[0], bytes, size, 0, count, count == 0 ? MSG_EOR : 0);
    while (n < 0 && (errno == ETOOMANYREFS || errno == ENOBUFS));
    assert_int_equal(n, (ssize_t)size);
}

/* Messages keep their bounds, both ways. */
TEST_WITH(bounds, open_ends, close_ends)
{
    static const size_t size[] = {1, 2, 4096, LINK_BYTES};
    static char got[LINK_BYTES];
    int fd = 99;
    for (int way = 0; way < 2; way++) {
        assert_int_equal(link_receive(end[!way], got, sizeof got, &fd), LINK_EMPTY);
        for (size_t i = 0; i < 4; i++) {
            memset(bytes, (int)i + 1, size[i]);
            assert_true(link_send(end[way], bytes, size[i], -1));
        }
        for (size_t i = 0; i < 4; i++) {
            assert_int_equal(link_wait(end[!way], got, sizeof got, &fd), size[i]);
            assert_int_equal(got[size[i] - 1], i + 1);
            assert_int_equal(fd, -1);
        }
    }
}

/* A descriptor arrives as a new one of the same file, which no program that is executed gets. */
TEST_WITH(a_descriptor, open_ends, close_ends)
{
    int pipe_end[2], fd;
    char byte;
    assert_int_equal(pipe(pipe_end), 0);
    assert_true(link_send(end[0], "x", 1, pipe_end[1]));
    close(pipe_end[1]);
    assert_int_equal(link_wait(end[1], &byte, 1, &fd), 1);
    assert_true(fd >= 0);
    assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
    assert_int_equal(write(fd, "y", 1), 1);
    assert_int_equal(read(pipe_end[0], &byte, 1), 1);
    assert_int_equal(byte, 'y');
    close(fd);
    close(pipe_end[0]);
}

/* No descriptor of a broken message is left open. */
TEST_WITH(broken_messages, open_ends, close_ends)
{
    static const struct {
        size_t size, room;
        int descriptors;
        ssize_t result;
    } table[] = {
        {8, 8, 1, 8},           {8, 8, 2, LINK_BROKEN},
        {8, 8, 3, LINK_BROKEN}, {8, 8, 8, LINK_BROKEN},
        {8, 7, 1, LINK_BROKEN}, {LINK_BYTES + 1, LINK_BYTES, 0, LINK_BROKEN},
        {8, 7, 2, LINK_BROKEN},
    };
    static char got[LINK_BYTES];
    int before = count_open(), fd;
    if (getenv("EMULATED")) /* qemu-user does not pass on MSG_CTRUNC */
        skip();
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (table[i].descriptors > 0)
            send_copies(table[i].size, table[i].descriptors);
        else
            assert_true(link_send(end[0], bytes, table[i].size, -1));
        assert_int_equal(link_receive(end[1], got, table[i].room, &fd), table[i].result);
        assert_int_equal(fd >= 0, table[i].result > 0);
        if (fd >= 0)
            close(fd);
        assert_int_equal(count_open(), before);
    }
    assert_int_equal(link_receive(end[1], got, sizeof got, &fd), LINK_EMPTY);
}

/* A message whose descriptor finds no room here arrives without it. */
TEST_WITH(no_room_for_a_descriptor, open_ends, close_ends)
{
    struct rlimit before, full;
    char got[8];
    int fd = dup(0);
    close(fd);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    full = before;
    full.rlim_cur = (rlim_t)fd;
    send_copies(8, 1);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &full), 0);
    ssize_t size = link_receive(end[1], got, sizeof got, &fd);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(size, 8);
    assert_int_equal(fd, -1);
}

/*
 * unix(7), ETOOMANYREFS: without privileges, a user has as many descriptors on their way as a
 * process may have open. A sender waits until some have arrived.
 */
TEST_WITH(too_many_on_their_way, open_ends, close_ends)
{
    enum { MESSAGES = 100 };
    char got[8];
    int how, received;
    pid_t child = fork();
    if (child == 0) {
        bool sent = setrlimit(RLIMIT_NOFILE, &(struct rlimit){16, 16}) == 0 &&
                    (getuid() != 0 || setresuid(65534, 65534, 65534) == 0);
        for (int i = 0; i < MESSAGES && sent; i++)
            sent = link_send(end[0], "12345678", 8, 0);
        _exit(sent ? 0 : 1);
    }
    close(end[0]);
    usleep(100000); /* until the child can send no more */
    for (int i = 0; i < MESSAGES; i++) {
        assert_int_equal(link_wait(end[1], got, sizeof got, &received), 8);
        close(received);
    }
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_int_equal(how, 0);
    end[0] = dup(end[1]);
}

/* What was sent before the end arrives; sending there fails, without a signal. */
TEST_WITH(a_closed_end, open_ends, close_ends)
{
    char got[8];
    int fd;
    assert_true(link_send(end[0], "one", 3, -1));
    close(end[0]);
    assert_int_equal(link_wait(end[1], got, sizeof got, &fd), 3);
    assert_int_equal(link_wait(end[1], got, sizeof got, &fd), LINK_CLOSED);
    assert_false(link_send(end[1], "two", 3, -1));
    assert_int_equal(errno, EPIPE);
    end[0] = dup(end[1]);
    assert_int_equal(link_receive(-1, got, sizeof got, &fd), LINK_CLOSED);
}

/* An empty message is not one. */
TEST_WITH(an_empty_message, open_ends, close_ends)
{
    char got[8];
    int fd;
    send_copies(0, 0);
    assert_int_equal(link_receive(end[1], got, sizeof got, &fd), LINK_CLOSED);
}

static void *receive_all(void *argument)
{
    static char got[LINK_BYTES];
    int fd;
    for (unsigned i = 0; i < 100; i++)
        if (link_wait(end[1], got, sizeof got, &fd) != LINK_BYTES || got[0] != (char)i || fd >= 0)
            return argument;
    return NULL;
}

/* A full link makes the sender wait, and loses nothing. */
TEST_WITH(a_full_link, open_ends, close_ends)
{
    pthread_t thread;
    void *failed;
    unsigned sent = 0;
    bytes[0] = 0;
    for (; link_try_send(end[0], bytes, LINK_BYTES, -1); sent++)
        bytes[0] = (char)(sent + 1);
    assert_int_equal(errno, EAGAIN);
    assert_in_range(sent, 1, 50);
    assert_int_equal(pthread_create(&thread, NULL, receive_all, bytes), 0);
    for (; sent < 100; sent++) {
        bytes[0] = (char)sent;
        assert_true(link_send(end[0], bytes, LINK_BYTES, -1));
    }
    pthread_join(thread, &failed);
    assert_null(failed);
}
