#include <errno.h>
#include <fcntl.h>
#include <limits.h>
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
#include "nobody.h"

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

/* ---- Targets ---- */

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

/* ---- Files with an error's sentence ---- */

static struct atomic_file *begin(const char *path, const char *text)
{
    struct err e = ERR_INIT;
    struct atomic_file *f = atomic_file_open(path, true, &e);
    assert_string_equal(e.text, "");
    assert_non_null(f);
    fputs(text, atomic_file_stream(f));
    return f;
}

static void commit(struct atomic_file *f)
{
    struct err e = ERR_INIT;
    assert_true(atomic_file_commit(&f, &e));
    assert_null(f);
    assert_int_equal(e.code, ERR_NONE);
}

TEST_WITH(test_replaces_and_keeps_mode, enter, leave)
{
    const char *path = "a.png";
    put(path, "old and longer");
    chmod(path, 0640);
    commit(begin(path, "new"));
    expect_text(path, "new");
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0640);
}

TEST_WITH(test_umask, enter, leave)
{
    mode_t before = umask(027);
    const char *path = "a.png";
    commit(begin(path, "new"));
    umask(before);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0640);
}

TEST_WITH(test_failed_write, enter, leave)
{
    const char *path = "a.png";
    put(path, "old");
    struct atomic_file *f = begin(path, "new");
    fflush(atomic_file_stream(f));
    int full = open("/dev/full", O_WRONLY);
    assert_int_equal(dup2(full, fileno(atomic_file_stream(f))), fileno(atomic_file_stream(f)));
    close(full);
    fputs("more", atomic_file_stream(f));
    struct err e = ERR_INIT;
    assert_false(atomic_file_commit(&f, &e));
    assert_null(f);
    assert_non_null(strstr(e.text, "cannot write '"));
    assert_non_null(strstr(e.text, strerror(ENOSPC)));
    expect_text(path, "old");
    expect_names(".", "a.png");
}

TEST_WITH(test_device, enter, leave)
{
    struct err e = ERR_INIT;
    commit(begin("/dev/null", "gone"));
    struct atomic_file *f = begin("/dev/full", "too much");
    assert_false(atomic_file_commit(&f, &e));
    assert_string_equal(e.text, "cannot write '/dev/full': No space left on device");
}

TEST_WITH(test_link, enter, leave)
{
    put("target.png", "old");
    assert_true(symlink("target.png", "link.png") == 0 &&
                symlink("nothing yet", "dangling.png") == 0);
    commit(begin("link.png", "new"));
    commit(begin("dangling.png", "made"));
    expect_text("target.png", "new");
    expect_text("nothing yet", "made");
    struct stat st;
    assert_int_equal(lstat("link.png", &st), 0);
    assert_true(S_ISLNK(st.st_mode));
}

/* Opens the link and returns 0 or the error. */
static int follow(const char *link)
{
    struct err e = ERR_INIT;
    struct atomic_file *f = atomic_file_open(link, true, &e);
    int error = f ? 0 : strstr(e.text, strerror(EACCES)) ? EACCES : -1;
    atomic_file_discard(&f);
    return error;
}

/* In a folder such as /tmp, links of others are not followed, whatever fs.protected_symlinks is. */
TEST_WITH(test_links_of_others, enter, leave)
{
    enum { STRANGER = 12345, OWNER = 23456 };
    if (geteuid() != 0)
        skip();
    static const struct {
        uid_t owner, link;
        mode_t mode;
        int error;
    } table[] = {{0, 0, 01777, 0},        {0, STRANGER, 01777, EACCES}, {0, STRANGER, 00777, 0},
                 {0, STRANGER, 01775, 0}, {OWNER, OWNER, 01777, 0},     {OWNER, 0, 01777, 0}};
    static const char *const links[] = {"link.png", "dangling.png"};
    put("target.png", "old");
    assert_true(symlink("target.png", links[0]) == 0 && symlink("nothing", links[1]) == 0);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        assert_int_equal(chown(folder, table[i].owner, 0), 0);
        assert_int_equal(chmod(folder, table[i].mode), 0);
        for (int k = 0; k < 2; k++) {
            assert_int_equal(lchown(links[k], table[i].link, 0), 0);
            assert_int_equal(follow(links[k]), table[i].error);
        }
    }
    expect_names(".", "dangling.png, link.png, target.png");
}

TEST_WITH(test_long_names, enter, leave)
{
    char name[NAME_MAX + 2];
    for (size_t length = NAME_MAX - 14; length <= NAME_MAX; length++) {
        /* two-byte characters, so that some cut falls into one */
        for (size_t i = 0; i < length; i++)
            name[i] = i % 2 ? '\xa9' : '\xc3';
        name[0] = 'a';
        name[length] = 0;
        commit(begin(name, "long"));
        expect_text(name, "long");
    }
    memset(name, 'x', NAME_MAX + 1);
    name[NAME_MAX + 1] = 0;
    struct err e = ERR_INIT;
    assert_null(atomic_file_open(name, true, &e));
    assert_int_equal(e.code, ERR_FAILED);
    assert_int_equal(system("! ls -A | grep -q tmp"), 0);
}

/* The sentence of a path that cannot be written. */
static const char *sentence(const char *path, int error)
{
    static char text[2048];
    snprintf(text, sizeof text, "cannot write '%s': %s", path, strerror(error));
    return text;
}

static void refused(const char *path, int error)
{
    struct err e = ERR_INIT;
    assert_null(atomic_file_open(path, true, &e));
    assert_string_equal(e.text, sentence(path, error));
    assert_int_equal(e.code, ERR_FAILED);
}

TEST_WITH(test_refusals, enter, leave)
{
    refused(folder, EISDIR);
    refused("new/", EISDIR);
    refused("no/such/folder.png", ENOENT);
    refused("", ENOENT);
    put("file", "");
    refused("file/x.png", ENOTDIR);
    refused("/dev/fd/999", EBADF);
}

static bool no_access(const void *path)
{
    struct err e = ERR_INIT;
    return !atomic_file_open(path, true, &e) && strcmp(e.text, sentence(path, EACCES)) == 0 &&
           e.code == ERR_FAILED;
}

static bool access_given(const void *path)
{
    struct err e = ERR_INIT;
    struct atomic_file *f = atomic_file_open(path, true, &e);
    return f && atomic_file_commit(&f, &e);
}

TEST_WITH(test_not_permitted, enter, leave)
{
    const char *path = "fixed.png";
    put(path, "old");
    chmod(path, 0444);
    chmod(folder, 0777);
    assert_true(nobody_holds(no_access, path));
    assert_true(nobody_holds(access_given, "new.png"));
    chmod(folder, 0555);
    assert_true(nobody_holds(no_access, "newer.png"));
    chmod(folder, 0755);
    expect_text("fixed.png", "old");
    expect_names(".", "fixed.png, new.png");
}

/* stdout is neither closed nor synced, and what is written to it comes out at commit. */
TEST_WITH(test_stdout, enter, leave)
{
    fflush(stdout);
    int saved = dup(STDOUT_FILENO), fd = open("out", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(fd, STDOUT_FILENO);
    struct err e = ERR_INIT;
    struct atomic_file *f = atomic_file_open("-", true, &e);
    bool opened = f != NULL;
    fputs("one ", atomic_file_stream(f));
    bool done = atomic_file_commit(&f, &e);
    f = atomic_file_open("/dev/stdout", true, &e);
    fputs("two", atomic_file_stream(f));
    done = atomic_file_commit(&f, &e) && done;
    int full = open("/dev/full", O_WRONLY);
    dup2(full, STDOUT_FILENO);
    f = atomic_file_open("-", true, &e);
    fputs("three", atomic_file_stream(f));
    bool failed = !atomic_file_commit(&f, &e);
    clearerr(stdout);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    close(full);
    close(fd);
    assert_true(opened && done && failed);
    assert_string_equal(e.text, "cannot write 'standard output': No space left on device");
    expect_text("out", "one two");
}

TEST_WITH(test_names_of_stdout, enter, leave)
{
    static const char *const yes[] = {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"};
    static const char *const no[] = {"",         "stdout",    "./-",        "/dev/stderr",
                                     "/dev/fd/", "/dev/fd/2", "/dev/fd/1x", "/dev/fd/11"};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        assert_true(atomic_file_is_stdout(yes[i]));
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        assert_false(atomic_file_is_stdout(no[i]));
}

/* All tests with files that have no name until they are complete, and with temporary names. */
TEST_FIXTURE_ROUNDS(NULL, NULL, 2)
