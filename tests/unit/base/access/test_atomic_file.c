#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"
#include "base/atomic_file.h"
#include "nobody.h"

static char folder[] = "/tmp/barcode-atomic.XXXXXX";

static const char *in_folder(const char *name)
{
    static char path[2][1024];
    static int turn;
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

static void spill(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void assert_holds(const char *path, const char *text)
{
    char buffer[256] = {0};
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_true(fread(buffer, 1, sizeof buffer - 1, f) < sizeof buffer - 1);
    fclose(f);
    assert_string_equal(buffer, text);
}

/* Names in the folder; the names themselves when `contains` is part of them. */
static int entries(const char *contains)
{
    int count = 0;
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (struct dirent *entry; (entry = readdir(d));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            strstr(entry->d_name, contains))
            count++;
    closedir(d);
    return count;
}

FIXTURE(make_folder)
{
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

FIXTURE(remove_folder)
{
    DIR *d = opendir(folder);
    for (struct dirent *entry; (entry = readdir(d));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            remove(in_folder(entry->d_name));
    closedir(d);
    return rmdir(folder);
}

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

TEST_WITH(test_replaces_and_keeps_mode, make_folder, remove_folder)
{
    const char *path = in_folder("a.png");
    spill(path, "old and longer");
    chmod(path, 0640);
    commit(begin(path, "new"));
    assert_holds(path, "new");
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0640);
}

TEST_WITH(test_umask, make_folder, remove_folder)
{
    mode_t before = umask(027);
    const char *path = in_folder("a.png");
    commit(begin(path, "new"));
    umask(before);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0640);
}

TEST_WITH(test_failed_write, make_folder, remove_folder)
{
    const char *path = in_folder("a.png");
    spill(path, "old");
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
    assert_holds(path, "old");
    assert_int_equal(entries(""), 1);
}

TEST_WITH(test_device, make_folder, remove_folder)
{
    struct err e = ERR_INIT;
    commit(begin("/dev/null", "gone"));
    struct atomic_file *f = begin("/dev/full", "too much");
    assert_false(atomic_file_commit(&f, &e));
    assert_string_equal(e.text, "cannot write '/dev/full': No space left on device");
}

TEST_WITH(test_link, make_folder, remove_folder)
{
    char link[1024], target[1024], dangling[1024];
    snprintf(link, sizeof link, "%s", in_folder("link.png"));
    snprintf(target, sizeof target, "%s", in_folder("target.png"));
    snprintf(dangling, sizeof dangling, "%s", in_folder("dangling.png"));
    spill(target, "old");
    assert_int_equal(symlink("target.png", link), 0);
    assert_int_equal(symlink(in_folder("nothing yet"), dangling), 0);
    commit(begin(link, "new"));
    commit(begin(dangling, "made"));
    assert_holds(target, "new");
    assert_holds(in_folder("nothing yet"), "made");
    struct stat st;
    assert_int_equal(lstat(link, &st), 0);
    assert_true(S_ISLNK(st.st_mode));

    assert_int_equal(unlink(link), 0);
    assert_int_equal(symlink("link.png", link), 0);
    struct err e = ERR_INIT;
    assert_null(atomic_file_open(link, true, &e));
    assert_non_null(strstr(e.text, strerror(ELOOP)));
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
TEST_WITH(test_links_of_others, make_folder, remove_folder)
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
    char target[1024], links[2][1024];
    snprintf(target, sizeof target, "%s", in_folder("target.png"));
    snprintf(links[0], sizeof links[0], "%s", in_folder("link.png"));
    snprintf(links[1], sizeof links[1], "%s", in_folder("dangling.png"));
    spill(target, "old");
    assert_int_equal(symlink(target, links[0]), 0);
    assert_int_equal(symlink(in_folder("nothing"), links[1]), 0);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        assert_int_equal(chown(folder, table[i].owner, 0), 0);
        assert_int_equal(chmod(folder, table[i].mode), 0);
        for (int k = 0; k < 2; k++) {
            assert_int_equal(lchown(links[k], table[i].link, 0), 0);
            assert_int_equal(follow(links[k]), table[i].error);
        }
    }
    assert_int_equal(entries(""), 3);
}

TEST_WITH(test_long_names, make_folder, remove_folder)
{
    char name[NAME_MAX + 2];
    for (size_t length = NAME_MAX - 14; length <= NAME_MAX; length++) {
        /* two-byte characters, so that some cut falls into one */
        for (size_t i = 0; i < length; i++)
            name[i] = i % 2 ? '\xa9' : '\xc3';
        name[0] = 'a';
        name[length] = 0;
        const char *path = in_folder(name);
        commit(begin(path, "long"));
        assert_holds(path, "long");
    }
    memset(name, 'x', NAME_MAX + 1);
    name[NAME_MAX + 1] = 0;
    struct err e = ERR_INIT;
    assert_null(atomic_file_open(in_folder(name), true, &e));
    assert_int_equal(e.code, ERR_FAILED);
    assert_int_equal(entries(".tmp"), 0);
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

TEST_WITH(test_refusals, make_folder, remove_folder)
{
    refused(folder, EISDIR);
    refused(in_folder("new/"), EISDIR);
    refused(in_folder("no/such/folder.png"), ENOENT);
    refused("", ENOENT);
    spill(in_folder("file"), "");
    refused(in_folder("file/x.png"), ENOTDIR);
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

TEST_WITH(test_not_permitted, make_folder, remove_folder)
{
    const char *path = in_folder("fixed.png");
    spill(path, "old");
    chmod(path, 0444);
    chmod(folder, 0777);
    assert_true(nobody_holds(no_access, path));
    assert_true(nobody_holds(access_given, in_folder("new.png")));
    chmod(folder, 0555);
    assert_true(nobody_holds(no_access, in_folder("newer.png")));
    chmod(folder, 0755);
    assert_holds(in_folder("fixed.png"), "old");
    assert_int_equal(entries(""), 2);
}

/* stdout is neither closed nor synced, and what is written to it comes out at commit. */
TEST_WITH(test_stdout, make_folder, remove_folder)
{
    fflush(stdout);
    int saved = dup(STDOUT_FILENO), fd = open(in_folder("out"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
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
    assert_holds(in_folder("out"), "one two");
}

TEST_WITH(test_names_of_stdout, make_folder, remove_folder)
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
