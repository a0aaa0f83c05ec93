#include <errno.h>
#include <jansson.h>
#include <math.h>

#include "test.h"
#include "base/limits.h"
#include "../fuzz/film_chaos.h"

static struct chaos c;

static const char line_of_all[] =
    "--no-cache -m average -o out/ --csv all.csv --thumbnails out/ --dump out/ --report report "
    "--trickplay jellyfin films/a.mkv films/b.mkv films/c.mkv hls/list.m3u8";

/* ---- Single messages ---- */

static bool handle(const void *message, size_t size)
{
    static _Alignas(max_align_t) char bytes[LINK_BYTES];
    memcpy(bytes, message, size);
    return film_process_message(&c.process, &c.batch, bytes, size, -1);
}

static bool ask(uint32_t slot, uint32_t alone)
{
    const struct film_ask m = {FILM_ASK, slot, alone};
    return handle(&m, sizeof m);
}

/* Receives the answer to `ask`. */
static struct film_answer film_answer(void)
{
    struct film_answer answer = {.film = 99};
    int fd;
    assert_int_equal(link_receive(c.end, &answer, sizeof answer, &fd), sizeof answer);
    assert_int_equal(fd, -1);
    return answer;
}

/* Gives film `film` to a slot. */
static void take(uint32_t slot, uint64_t film)
{
    assert_true(ask(slot, 0));
    struct film_answer answer = film_answer();
    assert_true(answer.found == 1 && answer.film == film && answer.serial == c.batch.serials);
}

static struct film_end end_of(uint32_t slot, enum err_code code)
{
    struct film_end m = {.kind = FILM_ENDED, .slot = slot, .code = code, .text = "it failed"};
    m.result = job_no_result;
    return m;
}

/* As if the worker had written the outputs of its film. */
static void write_outputs(uint32_t slot)
{
    for (size_t k = 0; k < c.process.slot[slot].outputs->count; k++)
        c.process.slot[slot].state[k] = OUTPUT_WRITTEN;
}

static bool end(uint32_t slot, enum err_code code)
{
    if (code == ERR_NONE && slot < WATCHES && c.process.slot[slot].busy)
        write_outputs(slot);
    const struct film_end m = end_of(slot, code);
    return handle(&m, sizeof m);
}

static bool again(uint32_t slot)
{
    const uint32_t m[] = {FILM_AGAIN, slot};
    return handle(m, sizeof m);
}

/* Handles a file request. Returns 0 or the error; sets `*fd` to a descriptor, or to -1. */
static int request(uint32_t slot, enum file_request what, const char *path, int32_t *file, int *fd)
{
    struct file_ask m = {FILM_ASK_FILE, slot, what, *file, ""};
    struct file_answer answer = {0};
    snprintf(m.path, sizeof m.path, "%s", path);
    assert_true(handle(&m, offsetof(struct file_ask, path) + strlen(path) + 1));
    assert_int_equal(link_receive(c.end, &answer, sizeof answer, fd), sizeof answer);
    *file = answer.file;
    assert_true(answer.error >= 0);
    return answer.error;
}

static int request_only(uint32_t slot, enum file_request what, const char *path, int32_t file)
{
    int fd, error = request(slot, what, path, &file, &fd);
    if (fd >= 0)
        close(fd);
    return error;
}

TEST_WITH(films, chaos_enter, chaos_leave)
{
    chaos_open(&c, line_of_all);
    assert_true(ask(5, 1)); /* none was put back */
    assert_int_equal(film_answer().found, 0);
    assert_false(ask(WATCHES, 0) || ask(UINT32_MAX, 0) || ask(0, 2) || end(0, ERR_FAILED) ||
                 again(0) || again(WATCHES) || end(WATCHES, ERR_FAILED));
    take(0, 0);
    assert_false(ask(0, 0) || ask(0, 1) || ask(1, 1) || end(1, ERR_FAILED));
    take(WATCHES - 1, 1);
    take(3, 2);
    assert_true(again(WATCHES - 1) && end(3, ERR_NONE) && again(0));
    assert_false(again(0) || end(3, ERR_NONE));
    assert_true(ask(2, 1));
    assert_int_equal(film_answer().film, 0);
    assert_false(ask(3, 0)); /* it must be rendered alone */
    assert_false(again(2));  /* or it would never end */
    assert_true(end(2, ERR_INPUT));
    struct film_tally t = film_queue_tally(c.batch.queue);
    assert_true(t.done == 1 && t.failed == 1 && t.under_way == 0);
    assert_int_equal(film_queue_status(c.batch.queue), ERR_INPUT);
    chaos_close(&c);
}

TEST_WITH(sizes, chaos_enter, chaos_leave)
{
    struct film_end last;
    struct film_ask first[2] = {{FILM_ASK, 0, 0}};
    struct file_ask file = {FILM_ASK_FILE, 0, FILE_READ, -1, "films/a.mkv"};
    const size_t path = offsetof(struct file_ask, path);
    static char long_ask[LINK_BYTES];
    chaos_open(&c, line_of_all);
    for (size_t n = 4; n < sizeof first; n++)
        if (n != sizeof *first)
            assert_false(handle(first, n));
    take(0, 0);
    last = end_of(0, ERR_FAILED);
    for (size_t n = 4; n < sizeof last; n += 1 + n / 50)
        assert_false(handle(&last, n));
    memcpy(long_ask, &last, sizeof last);
    assert_false(handle(long_ask, sizeof last + 1) || handle(long_ask, LINK_BYTES));
    for (size_t n = 4; n < path + strlen(file.path) + 1; n++)
        assert_false(handle(&file, n)); /* no zero at the end */
    memset(long_ask, 'x', sizeof long_ask);
    memcpy(long_ask, &file, path);
    assert_false(handle(long_ask, sizeof file) || handle(long_ask, LINK_BYTES));
    long_ask[sizeof file - 1] = 0;
    assert_true(handle(long_ask, sizeof file));
    file.slot = 1;
    assert_false(handle(&file, sizeof file));
    file.slot = UINT32_MAX;
    assert_false(handle(&file, sizeof file));
    file.kind = FILM_AGAIN + 1;
    assert_false(handle(&file, sizeof file));
    int fd = dup(0);
    assert_false(film_process_message(&c.process, &c.batch, &last, sizeof last, fd));
    assert_int_equal(fcntl(fd, F_GETFD), -1); /* it was closed */
    chaos_close(&c);
}

TEST_WITH(results, chaos_enter, chaos_leave)
{
    static const struct {
        uint32_t code;
        unsigned char written;
        int warnings;
        int64_t columns;
        double seconds;
        bool ok;
    } table[] = {
        {ERR_NONE, 1, 0, -1, -1, true},
        {ERR_NONE, 1, REPORT_WARNINGS, INT64_MAX, 1e8, true},
        {ERR_FAILED, 1, 0, 0, 0, true},
        {ERR_NONE, 0, 0, 0, 0, false},
        {ERR_INTERRUPTED, 0, 0, 0, 0, false}, /* it was not */
        {99, 0, 0, 0, 0, false},
        {UINT32_MAX, 0, 0, 0, 0, false},
        {ERR_FAILED, 0, -1, 0, 0, false},
        {ERR_FAILED, 0, REPORT_WARNINGS + 1, 0, 0, false},
        {ERR_FAILED, 0, 0, -2, 0, false},
        {ERR_FAILED, 0, 0, 0, -2, false},
        {ERR_FAILED, 0, 0, 0, 1e9, false},
        {ERR_FAILED, 0, 0, 0, (double)NAN, false},
        {ERR_FAILED, 0, 0, 0, (double)INFINITY, false},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        chaos_open(&c, line_of_all);
        take(0, 0);
        struct film_end m = end_of(0, ERR_FAILED);
        m.code = table[i].code;
        m.result.warnings = table[i].warnings;
        m.result.columns = table[i].columns;
        m.result.seconds = table[i].seconds;
        memset(m.text, '\x9b', sizeof m.text); /* no zero */
        memset(m.result.warning, '\n', sizeof m.result.warning);
        if (table[i].written == 1)
            write_outputs(0);
        assert_int_equal(handle(&m, sizeof m), table[i].ok);
        chaos_close(&c);
    }
    /* the report has a line of each, and no character that is not plain */
    char text[1 << 16];
    FILE *f = fopen("report", "r");
    int lines = 0;
    for (; fgets(text, sizeof text, f); lines++) {
        json_t *value = json_loads(text, 0, NULL);
        assert_non_null(value);
        assert_null(strstr(text, "\\n"));
        json_decref(value);
    }
    fclose(f);
    assert_int_equal(lines, 3);
}

/* ---- Files ---- */

/* What is opened: r and w by a film, a.mkv, R and W by a playlist. */
static const struct {
    const char *path, *opened;
} files[] = {
    {"films/a.mkv", "r"},
    {"hls/list.m3u8", "R"},
    {"hls/part.ts", "R"},
    {"hls/deep/part.ts", "R"},
    {"file:hls/part.ts", "R"},
    {"hls/none.ts", ""},
    {"hls/secret.ts", ""},
    {"hls/zero.ts", ""},
    {"hls/fifo.ts", ""},
    {"hls/up/secret", ""},
    {"hls/../outside/secret", ""},
    {"hls", ""},
    {"films/b.mkv", ""}, /* another film */
    {"films/a.srt", ""}, /* a neighbour */
    {"./films/a.mkv", ""},
    {"films/../films/a.mkv", ""},
    {"films", ""},
    {"", ""},
    {"/", ""},
    {"-", ""},
    {"/etc/passwd", ""},
    {"/proc/self/mem", ""},
    {"/dev/zero", ""},
    {"/dev/stdin", ""},
    {"/dev/stdout", ""},
    {"/dev/fd/0", ""},
    {"report", ""},
    {"all.csv", "wW"}, /* its rows go to the table */
    {"out/a-average.png", "w"},
    {"out/list-average.png", "W"},
    {"out/b-average.png", ""},
    {"out/./a-average.png", ""},
    {"out/a-average.png/", ""},
    {"out/a-001.jpg", "w"},
    {"out/a-01.jpg", ""},
    {"out/a-003.jpg", "r"},
    {"out/a-004.jpg", ""}, /* a link that leads to no file */
    {"out/others.png", ""},
    {"out/new.png", ""},
    {"outside/new", ""},
    {"films/a.trickplay/320 - 10x10/0.jpg", "w"},
    {"films/a.trickplay/320 - 10x10/../0.jpg", ""},
};

TEST_WITH(what_may_be_opened, chaos_enter, chaos_leave)
{
    for (int playlist = 0; playlist < 2; playlist++) {
        chaos_open(&c, line_of_all);
        for (uint32_t i = 0; i < 4; i++)
            take(i, i);
        for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
            const uint32_t slot = playlist ? 3 : 0;
            for (int write = 0; write < 2; write++) {
                int error = request_only(slot, write ? FILE_WRITE : FILE_READ, files[i].path, -1);
                bool opened = strchr(files[i].opened, "rRwW"[2 * write + playlist]);
                if (opened ? error != 0 : error != EACCES && error != EPERM && error != ENOENT)
                    fail_msg("%s: %s", files[i].path, strerror(error));
            }
            const bool sheets = !playlist && strstr(files[i].path, "10x10/0.jpg");
            assert_int_equal(request_only(slot, FILE_FOLDER, files[i].path, -1),
                             sheets ? 0 : EACCES);
        }
        assert_int_equal(request_only(0, FILE_DISCARD + 1, "films/a.mkv", 0), EINVAL);
        assert_int_equal(request_only(0, UINT32_MAX, "films/a.mkv", 0), EINVAL);
        chaos_close(&c);
    }
}

/* Standard output is not a file "-". */
TEST_WITH(standard_output, chaos_enter, chaos_leave)
{
    chaos_open(&c, "--no-cache -m average -o - films/a.mkv");
    take(0, 0);
    assert_int_equal(request_only(0, FILE_WRITE, "-", -1), EACCES);
    assert_int_equal(request_only(0, FILE_READ, "-", -1), EACCES);
    assert_int_equal(request_only(0, FILE_WRITE, "/dev/stdout", -1), 0);
    assert_int_equal(request_only(0, FILE_WRITE, "/dev/stderr", -1), EACCES);
    chaos_close(&c);
}

/* Writes an output, and returns its number. */
static int32_t write_output(uint32_t slot, const char *path, const char *text)
{
    int fd;
    int32_t file = -1;
    assert_int_equal(request(slot, FILE_WRITE, path, &file, &fd), 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    return file;
}

static bool exists(const char *path) { return faccessat(AT_FDCWD, path, F_OK, 0) == 0; }

static const char first_sheet[] = "films/a.trickplay/320 - 10x10/0.jpg";

TEST_WITH(outputs, chaos_enter, chaos_leave)
{
    chaos_open(&c, line_of_all);
    take(0, 0);
    take(1, 1);
    int32_t first = write_output(0, "out/a-average.png", "x"), folder = -1;
    int fd;
    for (int32_t i = -2; i < GRANTS_MOST + 2; i++) /* of another film, or none */
        assert_int_equal(request_only(1, FILE_PUBLISH, "", i), EBADF);
    assert_int_equal(request_only(0, FILE_ADD, "0.jpg", first), EINVAL);
    assert_int_equal(request(0, FILE_FOLDER, first_sheet, &folder, &fd), 0);
    assert_int_equal(fd, -1);
    assert_int_equal(request_only(0, FILE_ADD, "../0.jpg", folder), EINVAL);
    assert_int_equal(request_only(0, FILE_ADD, "0.jpg", folder), 0);
    assert_int_equal(request_only(0, FILE_ADD, "0.jpg", folder), EEXIST);
    assert_false(exists("out/a-average.png") || exists("films/a.trickplay/320 - 10x10/0.jpg"));
    assert_int_equal(request_only(0, FILE_PUBLISH, "", first), 0);
    assert_int_equal(request_only(0, FILE_PUBLISH, "", folder), 0);
    assert_true(exists("out/a-average.png") && exists("films/a.trickplay/320 - 10x10/0.jpg"));
    assert_int_equal(request_only(0, FILE_PUBLISH, "", first), EBADF);
    assert_int_equal(request_only(0, FILE_ADD, "1.jpg", folder), EBADF);
    int32_t third = write_output(0, "out/a.rgb", "x");
    assert_int_equal(request_only(0, FILE_DISCARD, "", third), 0);
    assert_int_equal(request_only(0, FILE_DISCARD, "", third), EBADF);
    third = write_output(0, "out/a.rgb", "x");
    assert_true(end(0, ERR_NONE)); /* what is unfinished is removed */
    assert_false(exists("out/a.rgb"));
    /* what was made by no barcode stays, whatever its name */
    chaos_put("out/b-average.png", "precious");
    assert_int_equal(request_only(1, FILE_WRITE, "out/b-average.png", -1), EACCES);
    assert_int_equal(unlink("out/b-average.png"), 0); /* the parent does not look again */
    assert_int_equal(request_only(1, FILE_WRITE, "out/b-average.png", -1), EACCES);
    assert_int_equal(mkdir("films/b.trickplay", 0700), 0);
    assert_int_equal(mkdir("films/b.trickplay/320 - 10x10", 0700), 0);
    chaos_put("films/b.trickplay/320 - 10x10/7.jpg", "precious");
    assert_int_equal(request_only(1, FILE_FOLDER, "films/b.trickplay/320 - 10x10/0.jpg", -1),
                     ENOTEMPTY);
    chaos_close(&c);
}

/* There is an end to outputs, descriptors and files of a worker, and it costs other films none. */
TEST_WITH(many_outputs, chaos_enter, chaos_leave)
{
    chaos_open(&c, line_of_all);
    take(0, 0);
    for (int i = 0; i < GRANTS_MOST; i++)
        assert_int_equal(request_only(0, FILE_WRITE, "out/a-average.png", -1), 0);
    assert_int_equal(request_only(0, FILE_WRITE, "out/a-average.png", -1), EMFILE);
    assert_int_equal(request_only(0, FILE_FOLDER, first_sheet, -1), EMFILE);
    assert_true(end(0, ERR_FAILED));
    take(0, 1);
    int32_t file = write_output(0, "out/b-average.png", "x");
    assert_int_equal(request_only(0, FILE_PUBLISH, "", file), 0);
    chaos_close(&c);
}

/* Rows end in a line feed, come once a film, and are limited. */
TEST_WITH(rows_of_a_table, chaos_enter, chaos_leave)
{
    char text[64] = "";
    chaos_open(&c, line_of_all);
    take(0, 0);
    take(1, 1);
    take(2, 2);
    assert_int_equal(request_only(0, FILE_PUBLISH, "", write_output(0, "all.csv", "")), EINVAL);
    assert_int_equal(request_only(0, FILE_PUBLISH, "", write_output(0, "all.csv", "h\n1")), EINVAL);
    int32_t file = -1;
    int fd;
    assert_int_equal(request(0, FILE_WRITE, "all.csv", &file, &fd), 0);
    assert_int_equal(ftruncate(fd, ((off_t)4 << 30) + 1), 0);
    close(fd);
    assert_int_equal(request_only(0, FILE_PUBLISH, "", file), EFBIG);
    assert_int_equal(request_only(0, FILE_PUBLISH, "", write_output(0, "all.csv", "h\n1\n")), 0);
    assert_int_equal(request_only(0, FILE_PUBLISH, "", write_output(0, "all.csv", "h\n2\n")),
                     EEXIST);
    assert_int_equal(request_only(1, FILE_PUBLISH, "", write_output(1, "all.csv", "h\n3\n")), 0);
    assert_int_equal(request_only(2, FILE_PUBLISH, "", write_output(2, "all.csv", "h\n4\n")), 0);
    assert_true(end(0, ERR_NONE) && end(1, ERR_FAILED)); /* the rows of a failed film are removed */
    assert_true(again(2));                               /* and those of one that comes again */
    chaos_end_process(&c);
    struct err e = ERR_INIT;
    size_t count;
    assert_true(table_write(c.batch.table, &count, &e));
    assert_int_equal(count, 1);
    FILE *f = fopen("all.csv", "r");
    assert_int_equal(fread(text, 1, sizeof text - 1, f), 4);
    fclose(f);
    assert_string_equal(text, "h\n1\n");
    chaos_close(&c);
}

static bool take_text(void *user, size_t film, const struct writer *writer, uint8_t *bytes,
                      size_t size)
{
    char *to = user;
    sprintf(to + strlen(to), "%zu %s %.*s,", film, writer ? writer->name : "dump", (int)size,
            bytes);
    free(bytes);
    return true;
}

/* What a command takes in memory is no file, and is limited. */
TEST_WITH(outputs_in_memory, chaos_enter, chaos_leave)
{
    char text[128] = "";
    const struct batch_sink sink = {take_text, text};
    chaos_open(&c, "--no-cache films/a.mkv films/b.mkv");
    chaos_close_run(&c);
    c.options.plan.outputs.in_memory = true;
    c.options.plan.outputs.extra[c.options.plan.outputs.extras++] =
        (struct options_extra){writer_find("png"), "strip"};
    c.options.plan.outputs.dump = "frames";
    chaos_open_run(&c);
    c.batch.sink = &sink;
    take(0, 0);
    take(1, 1);
    int32_t file = -1;
    int fd;
    assert_int_equal(request(0, FILE_WRITE, "strip", &file, &fd), 0);
    assert_int_equal(ftruncate(fd, 1 << 28), 0);
    close(fd);
    assert_int_equal(request_only(0, FILE_PUBLISH, "", file), EFBIG);
    assert_int_not_equal(request_only(0, FILE_WRITE, "a.png", -1), 0);
    assert_int_not_equal(request_only(0, FILE_FOLDER, "strip", -1), 0);
    chaos_put("strip", "x"); /* a file of this name is not the output */
    assert_int_not_equal(request_only(0, FILE_READ, "strip", -1), 0);
    assert_int_equal(unlink("strip"), 0);
    assert_int_equal(request_only(1, FILE_PUBLISH, "", write_output(1, "frames", "f")), 0);
    assert_int_equal(request_only(0, FILE_PUBLISH, "", write_output(0, "strip", "s")), 0);
    const struct film_end m = end_of(0, ERR_NONE); /* its dump is missing */
    assert_false(handle(&m, sizeof m));
    assert_string_equal(text, "1 dump f,0 png s,");
    assert_true(access("strip", F_OK) != 0 && access("frames", F_OK) != 0);
    chaos_close(&c);
}

/* ---- Films that failed before ---- */

static bool is_known_failure(size_t film)
{
    const struct failed_film f = outputs_failed_film(&c.outputs, &c.inputs, film);
    return failed_films_have(&c.options.plan.cache, &f);
}

/* A film that was still being copied when it could not be read is another one when it is whole. */
TEST_WITH(changed_failure, chaos_enter, chaos_leave)
{
    chaos_open(&c, "--update --cache cache -o out/ films/a.mkv films/b.mkv");
    take(0, 0);
    take(1, 1);
    c.process.slot[1].stamp--; /* it was another */
    assert_true(end(0, ERR_INPUT) && end(1, ERR_INPUT));
    assert_true(is_known_failure(0));
    assert_false(is_known_failure(1));
    limits_set(0, 100);
    assert_false(is_known_failure(0));
    limits_set(0, 0);
    c.options.plan.film.decode = DECODE_CPU;
    assert_false(is_known_failure(0));
    assert_int_equal(unlink("cache/" CACHE_FAILED_FILMS), 0);
    assert_int_equal(unlink("cache/CACHEDIR.TAG"), 0);
    assert_int_equal(rmdir("cache"), 0);
    chaos_close(&c);
}

/* ---- A million random messages ---- */

TEST_WITH(chaos, chaos_enter, chaos_leave)
{
    const char *more = getenv("BARCODE_HOSTILE_MESSAGES");
    const long count = more ? atol(more) : 1000000;
    struct dice d = {.state = 20261128};
    chaos_open(&c, line_of_all);
    while (c.messages < count) {
        chaos_step(&c, &d);
        chaos_serve(&c, &d);
    }
    chaos_close(&c);
    assert_true(c.kills > count / 200 && c.opened > count / 100 && c.runs > count / 1000);
}
