#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"
#include "folder.h"
#include "output/sinks.h"

enum { FRAME = 6 };

static size_t read_back(const char *path, char *to, size_t room)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t n = fread(to, 1, room, f);
    fclose(f);
    return n;
}

/* Four columns, out of order, one repeated, one missing, and one behind the end. */
static struct dump *filled(const char *path)
{
    struct err e = ERR_INIT;
    struct dump *d = dump_open(path, FRAME, &e);
    assert_ok(d, &e);
    assert_true(dump_put(d, 5, 1, (const uint8_t *)"xxxxxx", &e));
    assert_true(dump_put(d, 2, 2, (const uint8_t *)"cccccc", &e));
    assert_true(dump_put(d, 0, 1, (const uint8_t *)"aaaaaa", &e));
    return d;
}

static const char right[] = "aaaaaa\0\0\0\0\0\0cccccccccccc";

/* A film cut short may end in columns that nobody put: black. */
TEST(made_longer)
{
    struct err e = ERR_INIT;
    char got[64];
    struct dump *d = dump_open("long.rgb", FRAME, &e);
    assert_true(dump_put(d, 0, 1, (const uint8_t *)"aaaaaa", &e));
    assert_true(dump_commit(&d, 3, &e));
    assert_int_equal(read_back("long.rgb", got, sizeof got), 18);
    assert_memory_equal(got, "aaaaaa\0\0\0\0\0\0\0\0\0\0\0\0", 18);
}

TEST(to_a_pipe)
{
    struct err e = ERR_INIT;
    char got[64];
    assert_int_equal(mkfifo("pipe", 0600), 0);
    int reader = open("pipe", O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    struct dump *d = filled("pipe");
    /* a pipe gets its bytes in order, at the end */
    assert_true(read(reader, got, sizeof got) <= 0);
    assert_true(dump_commit(&d, 4, &e));
    assert_int_equal(read(reader, got, sizeof got), 24);
    assert_memory_equal(got, right, 24);
    close(reader);
}

/* Frames on their way to a pipe wait where the user says there is room. */
TEST(waits_in_tmpdir)
{
    struct err e = ERR_INIT;
    char link[64], place[256] = {0};
    assert_int_equal(mkdir("room", 0700), 0);
    assert_int_equal(mkfifo("narrow", 0600), 0);
    int reader = open("narrow", O_RDONLY | O_NONBLOCK), next = dup(reader);
    assert_true(next >= 0);
    close(next);
    setenv("TMPDIR", "room", 1);
    struct dump *d = filled("narrow");
    bool found = false;
    for (int fd = 3; fd < next + 4 && !found; fd++) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        ssize_t n = readlink(link, place, sizeof place - 1);
        found = n > 0 && strstr(place, "/room/.barcode.") && strstr(place, "(deleted)");
        memset(place, 0, sizeof place);
    }
    assert_true(found);
    dump_discard(&d);
    setenv("TMPDIR", "gone", 1);
    assert_null(dump_open("narrow", FRAME, &e));
    assert_non_null(strstr(e.text, "cannot create a temporary file in 'gone'"));
    unsetenv("TMPDIR");
    close(reader);
}

/* `>> file` and --dump /dev/stdout: what the file held stays in front. */
TEST(to_a_descriptor_of_the_users)
{
    struct err e = ERR_INIT;
    char path[32], got[3 + 2 * FRAME + 8];
    uint8_t rgb[FRAME];
    memset(rgb, 'x', FRAME);
    int fd = open("kept.rgb", O_CREAT | O_RDWR | O_APPEND, 0600);
    assert_int_equal(write(fd, "abc", 3), 3);
    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    struct dump *d = dump_open(path, FRAME, &e);
    assert_non_null(d);
    assert_true(dump_put(d, 1, 1, rgb, &e));
    assert_true(dump_put(d, 0, 1, rgb, &e));
    assert_true(dump_commit(&d, 2, &e));
    close(fd);
    assert_int_equal(read_back("kept.rgb", got, sizeof got), 3 + 2 * FRAME);
    assert_memory_equal(got, "abcx", 4);
}

TEST_FIXTURE(enter, leave)
