#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test.h"
#include "folder.h"
#include "base/path.h"

/* Takes the string over. */
static void assert_path(char *path, const char *right)
{
    assert_non_null(path);
    assert_string_equal(path, right);
    free(path);
}

TEST(joins)
{
    struct err e = ERR_INIT;
    assert_path(path_join("films", "a.mkv", "", &e), "films/a.mkv");
    assert_path(path_join("films/", "a", "-palette.png", &e), "films/a-palette.png");
    assert_path(path_join("/", "a", ".png", &e), "/a.png");
    assert_path(path_join("", "a", ".png", &e), "a.png");
    assert_path(path_join("films", "", "", &e), "films");
    assert_path(path_join("", "", "", &e), "");
    assert_path(path_join("", "/dev/null", "", &e), "/dev/null");
    assert_int_equal(e.code, ERR_NONE);
}

TEST(fills_what_is_there)
{
    char path[8];
    assert_true(path_fill(path, sizeof path, "ab", "cdef"));
    assert_string_equal(path, "ab/cdef");
    assert_false(path_fill(path, sizeof path, "ab", "cdefg")); /* the zero has no room */
    assert_string_equal(path, "ab/cdef");
    assert_true(path_fill(path, sizeof path, "ab/", "cdef"));
    assert_string_equal(path, "ab/cdef");
    assert_true(path_fill(path, sizeof path, "ab/", ""));
    assert_string_equal(path, "ab/");
    assert_true(path_fill(path, sizeof path, "", "cd"));
    assert_string_equal(path, "cd");
}

TEST(beside)
{
    assert_path(path_beside("a/b.mkv", "c", NULL), "a/c");
    assert_path(path_beside("b.mkv", "c", NULL), "c");
    assert_path(path_beside("/b.mkv", ".", NULL), "/.");
    assert_path(path_beside("a/b/", "c", NULL), "a/b/c");
    assert_path(path_beside("a//b", "../c", NULL), "a//../c");
}

static void assert_last(const char *path, const char *right)
{
    size_t length;
    const char *last = path_last(path, &length);
    assert_int_equal(length, strlen(right));
    assert_memory_equal(last, right, length);
    assert_in_range((uintptr_t)last, (uintptr_t)path, (uintptr_t)(path + strlen(path)));
}

TEST(last_parts)
{
    assert_last("a/b.mkv", "b.mkv");
    assert_last("b.mkv", "b.mkv");
    assert_last("a/b/", "b");
    assert_last("a/b///", "b");
    assert_last("/b", "b");
    assert_last("/", "");
    assert_last("", "");
}

/* Each name comes before all that follow it. */
TEST(natural_order)
{
    static const char *const name[] = {"",
                                       "-x",
                                       "9",
                                       "010",
                                       "10",
                                       "11",
                                       "99999999999999999999998",
                                       "99999999999999999999999",
                                       "C",
                                       "a",
                                       "a2b",
                                       "a10",
                                       "a10b2",
                                       "a10b10",
                                       "ab",
                                       "e00",
                                       "e01",
                                       "e1",
                                       "e2",
                                       "e009",
                                       "e10",
                                       "e10a",
                                       "ea",
                                       "\xc3\xa9"};
    size_t count = sizeof name / sizeof *name;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < count; j++) {
            int order = path_order(name[i], name[j]);
            if ((order > 0) - (order < 0) != (i > j) - (i < j))
                fail_msg("'%s' against '%s': %d", name[i], name[j], order);
        }
    }
}

TEST(as_a_url)
{
    static const char path[] = "a-Z/0._~ #?%:\\\xc3\x01";
    char url[64] = "", text[4];
    for (size_t i = 0; i < sizeof path; i++) {
        size_t size = path_url_byte(path[i], text);
        assert_int_equal(size, strlen(text));
        strcat(url, text);
    }
    assert_string_equal(url, "a-Z/0._~%20%23%3F%25%3A%5C%C3%01%00");
}

TEST_WITH(folders_are_made_with_their_parents, enter, leave)
{
    char path[] = "a//b/c/", device[] = "/dev/null/a/b", empty[] = "";
    assert_int_equal(path_make_folders(path, 0700), 3);
    assert_int_equal(errno, 0);
    assert_int_equal(path_make_folders(path, 0700), 0);
    assert_int_equal(errno, 0);
    assert_int_equal(path_make_folders(empty, 0700), 0);
    assert_int_equal(path_make_folders(device, 0700), 0);
    assert_int_equal(errno, ENOTDIR);
    assert_string_equal(device, "/dev/null/a/b");
    assert_int_equal(system("rmdir -p a/b/c"), 0);
}
