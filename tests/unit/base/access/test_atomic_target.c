#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"
#include "folder.h"
#include "base/atomic_file.h"

/* See access.c. */
static bool has_all(void) { return test_round == 0; }

static void put(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

/* Compares what `ls -A` prints of the folder, in one line, with `text`. */
static void expect_names(const char *path, const char *text)
{
    char command[256], got[1024] = "";
    snprintf(command, sizeof command, "LC_ALL=C ls -Am %s | tr -d '\n'", path);
    FILE *p = popen(command, "r");
    assert_non_null(p);
    got[fread(got, 1, sizeof got - 1, p)] = 0;
    pclose(p);
    assert_string_equal(got, text);
}

static void expect_text(const char *path, const char *text)
{
    char got[64] = "";
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    got[fread(got, 1, sizeof got - 1, f)] = 0;
    fclose(f);
    assert_string_equal(got, text);
}

/* Implements atomic_is_own. */
static bool is_own(const char *path) { return !strstr(path, "/666.jpg"); }

/* Begins a folder with the sheets 0.jpg to COUNT - 1. */
static struct atomic_target *begin_sheets(const char *path, int count)
{
    struct atomic_target *t = atomic_target_open_folder(path, is_own);
    assert_non_null(t);
    for (int i = 0; i < count; i++) {
        char name[16];
        snprintf(name, sizeof name, "%d.jpg", i);
        int fd = atomic_target_add(t, name);
        assert_true(fd >= 0 && write(fd, "new", 3) == 3 && close(fd) == 0);
    }
    return t;
}

/* ---- Files ---- */

/* Nothing is seen of it until it is published, and after a crash nothing is left without a name. */
TEST_WITH(a_file, enter, leave)
{
    for (int old = 0; old < 2; old++) {
        struct atomic_target *t = atomic_target_open("a");
        assert_non_null(t);
        assert_int_equal(write(atomic_target_descriptor(t), "new", 3), 3);
        if (has_all())
            expect_names(".", old ? "a" : "");
        if (old)
            expect_text("a", "old");
        assert_true(atomic_target_publish(&t));
        assert_null(t);
        expect_names(".", "a");
        expect_text("a", "new");
        t = atomic_target_open("a");
        atomic_target_discard(&t);
        assert_null(t);
        atomic_target_discard(&t);
        expect_names(".", "a");
        put("a", "old");
    }
}

TEST_WITH(refusals, enter, leave)
{
    static const struct {
        const char *path;
        int error;
    } table[] = {{"", ENOENT},        {".", EISDIR},   {"no/file", ENOENT},    {"new/", EISDIR},
                 {"file/x", ENOTDIR}, {"fifo", ENXIO}, {"/dev/fd/999", EBADF}, {"loop", ELOOP}};
    put("file", "");
    assert_true(mkfifo("fifo", 0600) == 0 && symlink("loop", "loop") == 0);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        assert_null(atomic_target_open(table[i].path));
        assert_int_equal(errno, table[i].error);
    }
    expect_names(".", "fifo, file, loop");
}

/* What is no regular file is written to at once. */
TEST_WITH(devices_and_pipes, enter, leave)
{
    char byte;
    assert_int_equal(mkfifo("fifo", 0600), 0);
    int reader = open("fifo", O_RDONLY | O_NONBLOCK);
    static const char *const path[] = {"/dev/null", "/dev/stdout", "fifo"};
    for (int i = 0; i < 3; i++) {
        struct atomic_target *t = atomic_target_open(path[i]);
        assert_non_null(t);
        if (i == 2)
            assert_int_equal(write(atomic_target_descriptor(t), "x", 1), 1);
        if (i == 1)
            atomic_target_discard(&t);
        else
            assert_true(atomic_target_publish(&t));
    }
    assert_int_equal(read(reader, &byte, 1), 1);
    close(reader);
    assert_int_equal(access("/dev/null", F_OK), 0);
    expect_names(".", "fifo");
}

TEST_WITH(what_links_lead_to, enter, leave)
{
    static const struct {
        const char *path, *target;
    } table[] = {{"to/file", "to/file"}, {"to/none", "to/none"},  {"link", "to/file"},
                 {"twice", "to/file"},   {"dangling", "to/none"}, {"root", "/dev/null"},
                 {"loop", NULL},         {"to/up", "to/../none"}};
    assert_true(mkdir("to", 0700) == 0 && symlink("to/file", "link") == 0 &&
                symlink("link", "twice") == 0 && symlink("to/none", "dangling") == 0 &&
                symlink("/dev/null", "root") == 0 && symlink("loop", "loop") == 0 &&
                symlink("../none", "to/up") == 0);
    put("to/file", "");
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char *target = atomic_target_path(table[i].path);
        assert_true(!target == !table[i].target);
        if (target)
            assert_string_equal(target, table[i].target);
        free(target);
    }
}

/* ---- Folders of sheets ---- */

TEST_WITH(a_folder, enter, leave)
{
    assert_int_equal(mkdir("to", 0700), 0);
    assert_int_equal(symlink("to/sheets", "link"), 0);
    for (int old = 0; old < 3; old++) {
        struct atomic_target *t = begin_sheets(old == 2 ? "link" : "to/sheets", 2);
        if (old) {
            expect_names("to/sheets", "0.jpg, 1.jpg, 7.jpg");
            expect_text("to/sheets/0.jpg", "old");
        }
        assert_true(atomic_target_publish(&t));
        expect_names("to", "sheets");
        expect_names("to/sheets", "0.jpg, 1.jpg");
        expect_text("to/sheets/0.jpg", "new");
        put("to/sheets/0.jpg", "old");
        put("to/sheets/7.jpg", "old");
        t = begin_sheets("to/sheets", 3);
        atomic_target_discard(&t);
        expect_names("to", "sheets");
        expect_names("to/sheets", "0.jpg, 1.jpg, 7.jpg");
    }
    expect_names(".", "link, to"); /* the link is still one */
    assert_true(readlink("link", (char[8]){0}, 8) > 0);
}

/* Only sheets are made in it, once each, and only sheets are replaced. */
TEST_WITH(names_of_sheets, enter, leave)
{
    static const char *const bad[] = {"",          ".jpg",    "0",          "0.png",    "a.jpg",
                                      "../0.jpg",  "0.jpg/x", "/0.jpg",     "-1.jpg",   " 1.jpg",
                                      "0.jpg.jpg", ".",       "0/../1.jpg", "10000.jpg"};
    struct atomic_target *t = begin_sheets("sheets", 1);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(atomic_target_add(t, bad[i]), -1);
        assert_int_equal(errno, EINVAL);
    }
    assert_int_equal(atomic_target_add(t, "0.jpg"), -1);
    assert_int_equal(errno, EEXIST);
    assert_true(atomic_target_publish(&t));
    expect_names("sheets", "0.jpg");
    static const char *const others[] = {"0", "0.png", "a.jpg", ".jpg", "10000.jpg", "666.jpg"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        char path[64];
        snprintf(path, sizeof path, "sheets/%s", others[i]);
        put(path, "precious");
        assert_null(atomic_target_open_folder("sheets", is_own));
        assert_int_equal(errno, ENOTEMPTY);
        assert_int_equal(unlink(path), 0);
    }
    put("file", "");
    assert_null(atomic_target_open_folder("file", is_own));
    assert_int_equal(errno, ENOTDIR);
    assert_null(atomic_target_open_folder("no/sheets", is_own));
    assert_int_equal(errno, ENOENT);
    t = atomic_target_open("file");
    assert_int_equal(atomic_target_add(t, "0.jpg"), -1);
    atomic_target_discard(&t);
    expect_names(".", "file, sheets");
}

/* Something that appears in the older folder meanwhile stays. */
TEST_WITH(a_guest, enter, leave)
{
    struct atomic_target *t = begin_sheets("sheets", 1);
    assert_true(atomic_target_publish(&t));
    t = begin_sheets("sheets", 1);
    put("sheets/notes.txt", "precious");
    assert_true(atomic_target_publish(&t));
    expect_names("sheets", "0.jpg");
    assert_int_equal(system("test \"$(cat .sheets.*/notes.txt)\" = precious"), 0);
}

/* ---- A crash ---- */

static void write_both(void)
{
    struct atomic_target *file = atomic_target_open("a"), *sheets = begin_sheets("sheets", 2);
    if (file && sheets && write(atomic_target_descriptor(file), "new", 3) == 3)
        kill(getpid(), SIGKILL);
    _exit(1);
}

/* The older output is unchanged, and a file leaves nothing behind; only a folder needs a name. */
TEST_WITH(a_crash, enter, leave)
{
    put("a", "old");
    struct atomic_target *t = begin_sheets("sheets", 1);
    assert_true(atomic_target_publish(&t));
    pid_t child = fork();
    int how;
    if (child == 0)
        write_both();
    assert_true(waitpid(child, &how, 0) == child && WIFSIGNALED(how));
    expect_text("a", "old");
    expect_names("sheets", "0.jpg");
    assert_int_equal(system("rm -r .sheets.*.tmp"), 0);
    if (has_all())
        expect_names(".", "a, sheets");
}

TEST_FIXTURE_ROUNDS(NULL, NULL, 2)
