#include <fcntl.h>
#include <unistd.h>

#include "test.h"
#include "files.h"
#include "base/file.h"

TEST(reads_or_says_no)
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

TEST(regular_files)
{
    touch("plain");
    assert_int_equal(symlink("plain", "to-plain"), 0);
    assert_int_equal(mkfifo("fifo", 0600), 0);
    assert_int_equal(symlink("fifo", "to-fifo"), 0);
    assert_true(file_is_regular("plain") && file_is_regular("to-plain"));
    assert_false(file_is_regular("fifo") || file_is_regular("to-fifo") || file_is_regular(".") ||
                 file_is_regular("/dev/null") || file_is_regular("gone"));
    unlink("plain");
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

TEST(the_same_by_any_name)
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

TEST(the_same_once_written)
{
    char path[sizeof folder + 8];
    snprintf(path, sizeof path, "%s/new", folder);
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

TEST_FIXTURE(enter, leave)
