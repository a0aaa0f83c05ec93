/*
 * test_film_process.c - what the parent of a batch makes of the messages of a worker process: of
 * single ones, of a million random ones, and of workers that attack it, one for each film of a run.
 */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <sys/resource.h>

#include "test.h"
#include "../fuzz/film_chaos.h"
#include "barcode/batch/films.h"
#include "batch/film_workers.h"

static struct chaos c;
static uint64_t untouched;
static int descriptors;

static int enter(void **state)
{
    (void)state;
    chaos_folder();
    untouched = chaos_untouched();
    descriptors = chaos_descriptors();
    return 0;
}

static int leave(void **state)
{
    (void)state;
    bool same = chaos_untouched() == untouched, closed = chaos_descriptors() == descriptors;
    chaos_remove();
    if (!same)
        print_error("something was touched\n");
    if (!closed)
        print_error("descriptors are left\n");
    return same && closed ? 0 : -1;
}

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
    assert_true(answer.found == 1 && answer.film == film && answer.turn == c.batch.turns);
}

static struct film_end end_of(uint32_t slot, enum err_code code)
{
    struct film_end m = {.kind = FILM_ENDED, .slot = slot, .code = code, .text = "it failed"};
    m.result = film_no_result;
    m.result.written = code == ERR_NONE;
    return m;
}

static bool end(uint32_t slot, enum err_code code)
{
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

TEST_WITH(films, enter, leave)
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

TEST_WITH(sizes, enter, leave)
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

TEST_WITH(results, enter, leave)
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
        {ERR_NONE, 2, 0, 0, 0, false},
        {ERR_FAILED, 255, 0, 0, 0, false},
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
        memcpy(&m.result.written, &table[i].written, 1);
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

TEST_WITH(what_may_be_opened, enter, leave)
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
            assert_int_equal(request_only(slot, FILE_FOLDER, files[i].path, -1), EACCES);
        }
        assert_int_equal(request_only(0, FILE_DISCARD + 1, "films/a.mkv", 0), EINVAL);
        assert_int_equal(request_only(0, UINT32_MAX, "films/a.mkv", 0), EINVAL);
        chaos_close(&c);
    }
}

/* Standard output is not a file "-". */
TEST_WITH(standard_output, enter, leave)
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

TEST_WITH(outputs, enter, leave)
{
    static const char sheets[] = "films/a.trickplay/320 - 10x10";
    chaos_open(&c, line_of_all);
    take(0, 0);
    take(1, 1);
    int32_t first = write_output(0, "out/a-average.png", "x"), folder = -1;
    int fd;
    for (int32_t i = -2; i < GRANTS_MOST + 2; i++) /* of another film, or none */
        assert_int_equal(request_only(1, FILE_PUBLISH, "", i), EBADF);
    assert_int_equal(request_only(0, FILE_ADD, "0.jpg", first), EINVAL);
    assert_int_equal(request(0, FILE_FOLDER, sheets, &folder, &fd), 0);
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
    assert_int_equal(request_only(1, FILE_FOLDER, "films/b.trickplay/320 - 10x10", -1), ENOTEMPTY);
    chaos_close(&c);
}

/* There is an end to outputs, descriptors and files of a worker, and it costs other films none. */
TEST_WITH(many_outputs, enter, leave)
{
    chaos_open(&c, line_of_all);
    take(0, 0);
    for (int i = 0; i < GRANTS_MOST; i++)
        assert_int_equal(request_only(0, FILE_WRITE, "out/a-average.png", -1), 0);
    assert_int_equal(request_only(0, FILE_WRITE, "out/a-average.png", -1), EMFILE);
    assert_int_equal(request_only(0, FILE_FOLDER, "films/a.trickplay/320 - 10x10", -1), EMFILE);
    assert_true(end(0, ERR_FAILED));
    take(0, 1);
    int32_t file = write_output(0, "out/b-average.png", "x");
    assert_int_equal(request_only(0, FILE_PUBLISH, "", file), 0);
    chaos_close(&c);
}

/* Rows end in a line feed, come once a film, and are limited. */
TEST_WITH(rows_of_a_table, enter, leave)
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

/* ---- A million random messages ---- */

TEST_WITH(chaos, enter, leave)
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

/* ---- A run of films, each with a worker that attacks ---- */

static int hostile_link;
static struct watch *hostile_watch;
static const struct render *hostile_render;
static bool hostile_alone; /* its film is rendered again, alone */

/* Asks the parent by a message of any kind; exits if there is no answer. */
static int exchange(const void *question, size_t length, void *answer, size_t size)
{
    int fd;
    if (!link_send(hostile_link, question, length, -1) ||
        link_wait(hostile_link, answer, size, &fd) != (ssize_t)size)
        _exit(9);
    return fd;
}

static bool next_film(uint32_t slot, uint32_t alone, size_t *film)
{
    const struct film_ask m = {FILM_ASK, slot, alone};
    struct film_answer answer;
    (void)exchange(&m, sizeof m, &answer, sizeof answer);
    *film = (size_t)answer.film;
    return answer.found;
}

static int hostile_request(enum file_request what, const char *path, int32_t *file, int *fd)
{
    struct file_ask m = {FILM_ASK_FILE, 0, what, *file, ""};
    struct file_answer answer;
    snprintf(m.path, sizeof m.path, "%s", path);
    *fd = exchange(&m, offsetof(struct file_ask, path) + strlen(path) + 1, &answer, sizeof answer);
    *file = answer.file;
    return answer.error;
}

static void tell(const void *bytes, size_t size) { (void)link_send(hostile_link, bytes, size, -1); }

static void tell_kind(uint32_t kind, size_t size)
{
    static char bytes[LINK_BYTES + 1];
    memcpy(bytes, &kind, sizeof kind);
    tell(bytes, size);
}

static void tell_end(enum err_code code, const char *text)
{
    struct film_end m = end_of(0, code);
    snprintf(m.text, sizeof m.text, "%s", text);
    tell(&m, sizeof m);
}

static const char *output_of(size_t film)
{
    static struct outputs list;
    struct err e = ERR_INIT;
    (void)outputs_of(hostile_render->options, hostile_render->inputs, film, &list, &e);
    return list.output[0].path;
}

static void work_well(size_t film)
{
    int32_t file = -1;
    int fd;
    if (hostile_request(FILE_WRITE, output_of(film), &file, &fd) != 0 || write(fd, "x", 1) != 1 ||
        hostile_request(FILE_PUBLISH, "", &file, &fd) != 0)
        tell_end(ERR_FAILED, "cannot write");
    else
        tell_end(ERR_NONE, "");
}

static void exit_early(size_t film) { _exit((int)(film % 2)); }

static void kill_itself(size_t film)
{
    static const int number[] = {SIGKILL, SIGABRT};
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    signal(number[film % 2], SIG_DFL);
    syscall(SYS_kill, getpid(), number[film % 2]);
}

static void send_unknown_kind(size_t film) { tell_kind(film % 2 ? FILM_AGAIN + 1 : 7, 16); }
static void send_short(size_t film) { tell_kind(FILM_ASK, 1 + film % 2 * 4); }
static void send_too_long(size_t film) { tell_kind(FILM_ENDED, LINK_BYTES + film % 2); }
static void send_descriptor(size_t film) { chaos_send(&c, &film, 8, 1 + film % 2); }
static void send_nothing(size_t film) { chaos_send(&c, &film, 0, 0); }
static void close_link(size_t film) { close(hostile_link + 0 * (int)film); }
static void do_nothing(size_t film) { (void)film; }

static void move_for_ever(size_t film)
{
    watch_begin(watch_at(hostile_watch, 0), film);
    for (;;) {
        watch_moved();
        usleep(10000);
    }
}

static void log_for_ever(size_t film)
{
    static const struct {
        uint32_t kind, level;
        char text[16];
    } m = {WORKER_LINE, LOG_INFO, "as film 7 says"};
    while (film < 1000)
        tell(&m, sizeof m);
}

static void ask_for_ever(size_t film)
{
    int32_t file = -1;
    int fd;
    while (film < 1000)
        (void)hostile_request(FILE_READ, "/etc/passwd", &file, &fd);
}

static void never_listen(size_t film)
{
    const struct file_ask m = {FILM_ASK_FILE, 0, FILE_READ, -1, ""};
    while (film < 1000)
        tell(&m, offsetof(struct file_ask, path) + 1);
}

static void pretend_interruption(size_t film)
{
    (void)film;
    tell_end(ERR_INTERRUPTED, "interrupted");
}

static void pretend_success(size_t film)
{
    struct film_end m = end_of(0, ERR_NONE);
    m.result.written = film > 1000;
    tell(&m, sizeof m);
}

static void come_again(size_t film)
{
    const uint32_t m[] = {FILM_AGAIN, 0};
    (void)film;
    tell(m, sizeof m);
}

static void leave_with_film(size_t film)
{
    const int32_t m[] = {WORKER_LEAVES, 0, (int32_t)(film % 2)};
    tell(m, sizeof m);
}

static void exhaust(size_t film)
{
    int32_t file = -1;
    int fd;
    for (int i = 0; i < 2 * GRANTS_MOST; i++) {
        (void)hostile_request(FILE_WRITE, output_of(film), &file, &fd);
        if (fd >= 0)
            close(fd);
    }
    _exit(0);
}

static void open_all(size_t film)
{
    char text[200] = "refused";
    int32_t file = -1;
    int fd;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        for (int what = FILE_READ; what <= FILE_FOLDER; what++)
            if (what != FILE_SCRATCH && hostile_request(what, files[i].path, &file, &fd) == 0)
                snprintf(text, sizeof text, "opened %s", files[i].path);
    if (hostile_request(FILE_WRITE, output_of(film - 1), &file, &fd) == 0)
        snprintf(text, sizeof text, "opened the output of another film");
    tell_end(ERR_FAILED, text);
}

/* Takes a second film, and crashes: the next film is not to blame. */
static void take_two(size_t film)
{
    size_t other;
    (void)film;
    if (!hostile_alone)
        (void)next_film(1, 0, &other);
    _exit(0);
}

/* Dies between two films, again and again. */
static void work_and_die(size_t film)
{
    work_well(film);
    _exit(0);
}

static const struct attack {
    void (*attack)(size_t film);
    int films;
    const char *reason; /* a part of it; NULL: the film is done */
} attacks[] = {
    {work_well, 2, NULL},
    {exit_early, 2, "the worker process exited early with status "},
    {kill_itself, 2, "the worker process "},
    {send_unknown_kind, 2, WORKER_NONSENSE},
    {send_short, 2, WORKER_NONSENSE},
    {send_too_long, 2, WORKER_NONSENSE},
    {send_descriptor, 2, WORKER_NONSENSE},
    {send_nothing, 1, "the worker process was killed"},
    {close_link, 1, "the worker process was killed"},
    {do_nothing, 1, "nothing was read, decoded or written for 1 s"},
    {move_for_ever, 1, "stopped after 2 s (--film-timeout)"},
    {log_for_ever, 1, WORKER_NONSENSE},
    {ask_for_ever, 1, ""},
    {never_listen, 1, WORKER_SILENT},
    {pretend_interruption, 1, WORKER_NONSENSE},
    {pretend_success, 1, WORKER_NONSENSE},
    {come_again, 1, WORKER_NONSENSE},
    {leave_with_film, 2, WORKER_NONSENSE},
    {exhaust, 1, "exited early with status 0"},
    {open_all, 1, "refused"},
    {work_and_die, 4, NULL},
    {take_two, 1, "exited early with status 0"},
    {work_well, 2, NULL},
};

/* Returns what the worker of a film does. */
static const struct attack *attack_on(size_t film)
{
    size_t i = 0;
    for (; film >= (size_t)attacks[i].films; i++)
        film -= (size_t)attacks[i].films;
    return &attacks[i];
}

static bool random_attacks;

/* Sends random messages, as if its film workers 0 to 3 had films, until it is killed. */
static void attack_at_random(size_t film)
{
    struct dice d = {.state = film};
    for (int i = 0; i < 4; i++)
        c.process.seat[i].busy = true;
    for (int i = 0; i < 100000; i++) {
        chaos_step(&c, &d);
        if (chance(&d, 50))
            chaos_receive(&c, &d);
    }
    _exit(0);
}

/* In place of film_workers.c: a worker process that attacks its parent. */
int film_workers_run(const struct render *r, const struct film_tally *t, struct worker *w,
                     int workers)
{
    (void)t, (void)workers;
    hostile_link = c.end = w->link;
    hostile_watch = w->watch;
    hostile_render = r;
    for (uint32_t alone = 0; alone < 2; alone++)
        for (size_t film; next_film(0, alone, &film);) {
            hostile_alone = alone;
            if (random_attacks)
                attack_at_random(film);
            void (*attack)(size_t) = attack_on(film)->attack;
            attack(film);
            bool ends = attack == work_well || attack == open_all;
            while (!ends && !(attack == come_again && !hostile_alone))
                pause(); /* until it is killed */
        }
    worker_leaves(w, 0, false);
    return 0;
}

static int processes = 1;

int worker_process_count(const struct render *r, const struct film_tally *t)
{
    (void)r, (void)t;
    return processes;
}

/* Renders so many films, and returns the exit status. */
static int run(int films)
{
    char line[512] = "--no-cache --engine cpu --decode cpu -m average -o out/ --report report "
                     "--film-timeout 2";
    setenv("BARCODE_SILENCE", "1", 1);
    for (int i = 0; i < films; i++) {
        char path[32];
        snprintf(path, sizeof path, "films/x%02d.mkv", i);
        chaos_put(path, path);
        if (i == 0)
            strcat(line, " --any films");
    }
    (void)!system("rm films/[abc].*");
    untouched = chaos_untouched();
    chaos_open(&c, line);
    assert_int_equal(c.inputs.count, films);
    pid_t own = getpid();
    struct render r = {.options = &c.options, .inputs = &c.inputs, .threads = 1};
    int status = render_films(&r);
    if (getpid() != own)
        _exit(status);
    chaos_close(&c);
    return status;
}

/* Reads the report: each film has one line. Calls `check` for each. */
static void check_report(size_t films,
                         void (*check)(size_t film, const char *status, const char *reason))
{
    static char text[1 << 16];
    bool seen[100] = {false};
    size_t count = 0;
    FILE *f = fopen("report", "r");
    for (; fgets(text, sizeof text, f); count++) {
        json_t *value = json_loads(text, 0, NULL);
        size_t film = (size_t)atoi(json_string_value(json_object_get(value, "film")) + 7);
        assert_true(film < films && !seen[film]);
        seen[film] = true;
        const char *reason = json_string_value(json_object_get(value, "reason"));
        if (check)
            check(film, json_string_value(json_object_get(value, "status")), reason);
        json_decref(value);
    }
    fclose(f);
    assert_int_equal(count, films);
}

static void check_attack(size_t film, const char *status, const char *reason)
{
    char path[64];
    const char *expected = attack_on(film)->reason;
    if (strcmp(status, expected ? "failed" : "done") != 0 ||
        (expected && !strstr(reason, expected)))
        fail_msg("film %zu: %s (%s)", film, status, reason ? reason : "");
    snprintf(path, sizeof path, "out/x%02zu-average.png", film);
    assert_int_equal(exists(path), !expected);
}

/* One that attacks costs its film alone, and the run ends. */
TEST_WITH(hostile_workers, enter, leave)
{
    int films = 0;
    for (size_t i = 0; i < sizeof attacks / sizeof *attacks; i++)
        films += attacks[i].films;
    alarm(120);
    assert_int_equal(run(films), ERR_FAILED);
    alarm(0);
    check_report((size_t)films, check_attack);
}

TEST_WITH(random_workers, enter, leave)
{
    random_attacks = true;
    processes = 3;
    alarm(120);
    assert_int_not_equal(run(60), 0);
    alarm(0);
    check_report(60, NULL);
}

TEST_MAIN(NULL, NULL)
