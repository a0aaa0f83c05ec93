#include <fcntl.h>
#include <jansson.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"
#include "output/run_files.h"

static char folder[] = "/tmp/test_report_log.XXXXXX";
static char path[64];

FIXTURE(setup)
{
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/report", folder);
    return 0;
}

FIXTURE(teardown)
{
    unlink(path);
    return rmdir(folder);
}

/* The file's lines; the caller frees them. */
static size_t lines(char *line[], size_t most)
{
    FILE *f = fopen(path, "rb");
    size_t count = 0, room = 0;
    char *text = NULL;
    for (; count < most && getline(&text, &room, f) >= 0; text = NULL, room = 0) {
        line[count++] = text;
        assert_int_equal(text[strlen(text) - 1], '\n');
    }
    free(text); /* at the file's end there is one, too */
    fclose(f);
    return count;
}

static void put(const char *text)
{
    FILE *f = fopen(path, "wb");
    fputs(text, f);
    fclose(f);
}

static struct report_log *opened(void)
{
    struct err e = ERR_INIT;
    struct report_log *l = report_log_open(path, &e);
    assert_ok(l, &e);
    return l;
}

static const struct report_entry plain = {.film = "a.mkv", .seconds = -1, .columns = -1};

TEST_WITH(what_a_line_says, setup, teardown)
{
    static const char warning[2][REPORT_WARNING] = {"one", "two \xff"};
    static const char *const output[] = {"a.png", "-"};
    struct report_entry entry = {.film = "dir/Am\xc3\xa9lie \xff\n\"x\".mkv",
                                 .status = REPORT_DONE,
                                 .seconds = 1.25,
                                 .columns = 720,
                                 .warning = warning,
                                 .warnings = 2,
                                 .output = output,
                                 .outputs = 2};
    char *line[4];
    struct err e = ERR_INIT;
    struct report_log *l = opened();
    assert_true(report_log_add(l, &entry, &e));
    entry = (struct report_entry){.film = "b",
                                  .status = REPORT_FAILED,
                                  .reason = "no film",
                                  .exit = 3,
                                  .seconds = -1,
                                  .columns = -1};
    assert_true(report_log_add(l, &entry, &e));
    assert_true(report_log_close(&l, NULL));
    assert_null(l);
    assert_int_equal(lines(line, 4), 2);
    static const char first[] = "{\"film\":\"dir/Am\xc3\xa9lie "
                                "\xef\xbf\xbd\\n\\\"x\\\".mkv\",\"status\":\"done\",\"reason\":"
                                "null,\"exit\":0,\"seconds\":1.25,"
                                "\"columns\":720,\"warnings\":[\"one\",\"two "
                                "\xef\xbf\xbd\"],\"outputs\":[\"a.png\",\"-\"],\"finished\":\"2";
    static const char second[] =
        "{\"film\":\"b\",\"status\":\"failed\",\"reason\":\"no "
        "film\",\"exit\":3,\"seconds\":null,\"columns\":null,\"warnings\":[],"
        "\"outputs\":[],\"finished\":\"2";
    assert_memory_equal(line[0], first, strlen(first));
    assert_memory_equal(line[1], second, strlen(second));
    for (int i = 0; i < 2; i++) {
        json_error_t error;
        json_t *value = json_loads(line[i], 0, &error);
        assert_non_null(value);
        const char *time = json_string_value(json_object_get(value, "finished"));
        assert_int_equal(strlen(time), strlen("2026-11-22T14:55:13Z"));
        json_decref(value);
        free(line[i]);
    }
    assert_true(report_log_add(NULL, &plain, &e));
}

/* Existing lines stay, and a truncated one gets its line feed. */
TEST_WITH(lines_are_appended, setup, teardown)
{
    char *line[8];
    put("{\"film\":\"old\"}\n{\"film\":\"truncated");
    for (int i = 0; i < 2; i++) {
        struct report_log *l = opened();
        assert_true(report_log_add(l, &plain, NULL));
        assert_true(report_log_close(&l, NULL));
    }
    assert_int_equal(lines(line, 8), 4);
    assert_string_equal(line[0], "{\"film\":\"old\"}\n");
    assert_string_equal(line[1], "{\"film\":\"truncated\n");
    for (int i = 0; i < 4; i++)
        free(line[i]);
}

/*
 * A line that another process is writing does not count as truncated: its end is waited for before
 * the end of the file is checked.
 */
TEST_WITH(a_line_under_way_is_waited_for, setup, teardown)
{
    static const char begun[] = "{\"film\":\"one\"", rest[] = "}\n";
    char *line[4], ready;
    int told[2], how;
    assert_int_equal(pipe(told), 0);
    if (fork() == 0) {
        struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        int fd = open(path, O_RDWR | O_APPEND | O_CREAT, 0666);
        bool ok = fd >= 0 && fcntl(fd, F_SETLK, &whole) == 0 &&
                  write(fd, begun, sizeof begun - 1) > 0 && write(told[1], "", 1) == 1;
        usleep(200000);
        ok = ok && write(fd, rest, sizeof rest - 1) > 0;
        _exit(!ok);
    }
    assert_int_equal(read(told[0], &ready, 1), 1);
    struct report_log *l = opened();
    assert_true(report_log_add(l, &plain, NULL));
    assert_true(report_log_close(&l, NULL));
    assert_true(wait(&how) > 0 && how == 0);
    assert_int_equal(lines(line, 4), 2);
    assert_string_equal(line[0], "{\"film\":\"one\"}\n");
    for (int i = 0; i < 2; i++)
        free(line[i]);
    close(told[0]);
    close(told[1]);
}

/* Copies what it reads from the pipe to the file. */
static void *read_pipe(void *from)
{
    static char block[4096];
    FILE *f = fopen(path, "wb");
    for (ssize_t n; f && (n = read(*(int *)from, block, sizeof block)) > 0;)
        fwrite(block, 1, (size_t)n, f);
    return f && fclose(f) == 0 ? NULL : from;
}

/* Opens the report as a pipe, adds lines, and returns it. Nothing reads meanwhile. */
static struct report_log *fill_pipe(int end[2], char name[3000], int count)
{
    struct err e = ERR_INIT;
    struct report_entry entry = plain;
    assert_int_equal(pipe(end), 0);
    snprintf(name, 3000, "/dev/fd/%d", end[1]);
    struct report_log *l = report_log_open(name, &e);
    assert_non_null(l);
    close(end[1]);
    memset(name, 'x', 2999);
    name[2999] = 0;
    entry.film = name;
    for (int i = 0; i < count; i++)
        assert_true(report_log_add(l, &entry, &e));
    return l;
}

/* A pipe that takes no more delays nothing, and loses no line. */
TEST_WITH(a_slow_pipe, setup, teardown)
{
    enum { LINES = 400 };
    static char name[3000];
    char *line[LINES + 1];
    int end[2];
    pthread_t reader;
    void *failed;
    struct err e = ERR_INIT;
    struct report_log *l = fill_pipe(end, name, LINES);
    assert_int_equal(pthread_create(&reader, NULL, read_pipe, &end[0]), 0);
    assert_true(report_log_close(&l, &e));
    assert_null(l);
    pthread_join(reader, &failed);
    assert_null(failed);
    close(end[0]);
    assert_int_equal(lines(line, LINES + 1), LINES);
    for (int i = 0; i < LINES; i++) {
        assert_int_equal(strspn(line[i] + strlen("{\"film\":\""), "x"), 2999);
        free(line[i]);
    }
}

/* Lines that find no reader at the end are an error. */
TEST_WITH(a_pipe_without_a_reader, setup, teardown)
{
    static char name[3000];
    int end[2];
    struct err e = ERR_INIT;
    struct report_log *l = fill_pipe(end, name, 400);
    signal(SIGPIPE, SIG_IGN);
    close(end[0]);
    assert_false(report_log_close(&l, &e));
    assert_non_null(strstr(e.text, "cannot write the report '"));
    put("");
}

/* Several processes at once, each by a descriptor of its own, and by one that they share. */
TEST_WITH(lines_are_whole, setup, teardown)
{
    enum { WRITERS = 4, LINES = 200 };
    static char name[3000];
    static char *line[WRITERS * LINES + 1];
    memset(name, 'x', sizeof name - 1);
    struct report_log *shared = opened();
    for (int i = 0; i < WRITERS; i++) {
        if (fork() != 0)
            continue;
        struct report_log *l = i % 2 ? shared : opened();
        bool ok = true;
        for (int k = 0; k < LINES; k++) {
            struct report_entry entry = plain;
            name[sizeof name - 1 - (size_t)k] = 0; /* all lengths */
            entry.film = name;
            ok &= report_log_add(l, &entry, NULL);
        }
        _exit(!ok);
    }
    for (int i = 0, how; i < WRITERS; i++)
        assert_true(wait(&how) > 0 && how == 0);
    assert_true(report_log_close(&shared, NULL));
    size_t count = lines(line, WRITERS * LINES + 1);
    assert_int_equal(count, WRITERS * LINES);
    for (size_t i = 0; i < count; i++) {
        json_t *value = json_loads(line[i], 0, NULL);
        assert_non_null(value);
        json_decref(value);
        free(line[i]);
    }
}
