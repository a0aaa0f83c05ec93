#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"
#include "live/day/day.h"
#include "base/log.h"
#include "files.h"

static const struct live_shape shape = {10000000, 32, 18, 2, 3, 0, {0, 0}, 0};

struct seen {
    int count;
    int64_t number[100];
    struct column column[100];
    struct cluster cluster[100][2];
    uint8_t row[100][9];
};

static bool note(void *user, int64_t number, const struct column *c, struct err *e)
{
    struct seen *s = user;
    (void)e;
    s->number[s->count] = number;
    s->column[s->count] = *c;
    memcpy(s->cluster[s->count], c->cluster, sizeof s->cluster[0]);
    memcpy(s->row[s->count], c->row, sizeof s->row[0]);
    s->count++;
    return true;
}

static struct live_log *open_log(struct seen *s, struct err *e)
{
    *s = (struct seen){.count = 0};
    return live_log_open("log", &shape, note, s, e);
}

static void append(struct live_log *l, int64_t number)
{
    struct err e = ERR_INIT;
    uint8_t n = (uint8_t)number;
    struct cluster cluster[2] = {{{n, 1, 2}, 500}, {{3, n, 4}, 76}};
    uint8_t row[9] = {n, 1, 2, 3, 4, 5, 6, 7, n};
    struct column c = {.status = n % 2 ? COLUMN_OK : COLUMN_DAMAGED,
                       .clusters = 2,
                       .average = {n, 2, 3},
                       .dominant = {4, n, 5},
                       .cluster = cluster,
                       .row = row};
    assert_true(live_log_append(l, number, &c, &e));
}

/* Makes a log of columns 5, 7, 8. Returns its bytes. */
static off_t make(void)
{
    struct err e = ERR_INIT;
    struct seen s;
    struct stat st;
    struct live_log *l = open_log(&s, &e);
    assert_non_null(l);
    assert_int_equal(s.count, 0);
    assert_true(live_log_last(l) == INT64_MIN);
    append(l, 5);
    append(l, 7);
    append(l, 8);
    live_log_close(&l);
    assert_int_equal(stat("log", &st), 0);
    return st.st_size;
}

/* Opens the log, checks its columns, but for number `gone`, and closes it. */
static void expect_without(int gone)
{
    static const int64_t numbers[] = {5, 7, 8};
    struct err e = ERR_INIT;
    struct seen s;
    log_set_level(LOG_ERROR);
    struct live_log *l = open_log(&s, &e);
    assert_non_null(l);
    assert_int_equal(s.count, gone ? 2 : 3);
    for (int i = 0, k = 0; i < s.count; i++, k++) {
        k += numbers[k] == gone;
        uint8_t n = (uint8_t)numbers[k];
        assert_int_equal(s.number[i], numbers[k]);
        assert_int_equal(s.column[i].status, n % 2 ? COLUMN_OK : COLUMN_DAMAGED);
        assert_int_equal(s.column[i].average[0], n);
        assert_int_equal(s.column[i].dominant[1], n);
        assert_int_equal(s.cluster[i][0].count, 500);
        assert_int_equal(s.cluster[i][1].rgb[1], n);
        assert_int_equal(s.row[i][8], n);
    }
    live_log_close(&l);
}

/* Whatever a kill or a full disk left at the end is cut, and what comes next is kept. */
TEST_WITH(cut_anywhere, enter, leave)
{
    off_t size = make();
    const off_t header = 64, each = (size - header) / 3;
    for (off_t cut = size; cut >= 0; cut--) {
        unlink("log");
        make();
        assert_int_equal(truncate("log", cut), 0);
        int left = cut < header ? 0 : (int)((cut - header) / each);
        struct err e = ERR_INIT;
        struct seen s;
        struct live_log *l = open_log(&s, &e);
        assert_non_null(l);
        assert_int_equal(s.count, left);
        append(l, 9);
        live_log_close(&l);
        l = open_log(&s, &e);
        assert_int_equal(s.count, left + 1);
        assert_int_equal(s.number[left], 9);
        live_log_close(&l);
    }
}

/* Appends a column, which takes the place of a record that was cut. */
static void append_and_see(int place)
{
    struct err e = ERR_INIT;
    struct seen s;
    struct stat st;
    struct live_log *l = open_log(&s, &e);
    append(l, 9);
    live_log_close(&l);
    l = open_log(&s, &e);
    assert_int_equal(s.count, 3);
    assert_int_equal(s.number[2], 9);
    live_log_close(&l);
    assert_int_equal(stat("log", &st), 0);
    assert_int_equal((st.st_size - 64) % (place + 1), 0);
}

/* Any changed byte costs its record and no other; one in the header is reported. */
TEST_WITH(changed_anywhere, enter, leave)
{
    off_t size = make();
    const off_t header = 64, each = (size - header) / 3;
    for (off_t at = 0; at < size; at++) {
        unlink("log");
        make();
        int fd = open("log", O_RDWR);
        uint8_t byte;
        assert_int_equal(pread(fd, &byte, 1, at), 1);
        byte ^= 0x10;
        assert_int_equal(pwrite(fd, &byte, 1, at), 1);
        close(fd);
        struct err e = ERR_INIT;
        struct seen s;
        if (at >= header) {
            int place = (int)((at - header) / each);
            expect_without(place == 0 ? 5 : 6 + place);
            append_and_see(place == 2 ? 2 : 3);
            continue;
        }
        assert_null(open_log(&s, &e));
        assert_int_equal(e.code, ERR_USAGE);
        struct stat st;
        assert_int_equal(stat("log", &st), 0);
        assert_int_equal(st.st_size, size); /* it is as it was */
    }
}

TEST_WITH(numbers_increase, enter, leave)
{
    struct err e = ERR_INIT;
    struct seen s;
    struct column c = {.status = COLUMN_OK};
    make();
    struct live_log *l = open_log(&s, &e);
    assert_int_equal(live_log_last(l), 8);
    assert_false(live_log_append(l, 8, &c, &e));
    assert_int_equal(e.code, ERR_FAILED);
    live_log_close(&l);
    expect_without(0);
}

/* Records that were moved within a file, or from another file, are no records. */
TEST_WITH(a_record_has_its_place, enter, leave)
{
    off_t size = make();
    const off_t header = 64, each = (size - header) / 3;
    uint8_t record[512];
    int fd = open("log", O_RDWR);
    assert_int_equal(pread(fd, record, (size_t)each, header + 2 * each), each);
    assert_int_equal(pwrite(fd, record, (size_t)each, header + each), each);
    close(fd);
    expect_without(7);
}

TEST_WITH(another_shape, enter, leave)
{
    struct err e = ERR_INIT;
    struct seen s = {.count = 0};
    struct live_shape found, other = shape;
    assert_false(live_log_shape("log", &found));
    off_t size = make();
    assert_true(live_log_shape("log", &found));
    assert_memory_equal(&found, &shape, sizeof found);
    other.step_us = 1000000;
    assert_null(live_log_open("log", &other, note, &s, &e));
    assert_int_equal(e.code, ERR_USAGE);
    assert_non_null(strstr(e.text, "10 s"));
    struct stat st;
    assert_int_equal(stat("log", &st), 0);
    assert_int_equal(st.st_size, size);
    expect_without(0);
}

TEST_WITH(one_process_at_a_time, enter, leave)
{
    struct err e = ERR_INIT;
    struct seen s;
    int how;
    struct live_log *l = open_log(&s, &e);
    assert_non_null(l);
    pid_t child = fork();
    if (child == 0) {
        live_log_close(&l); /* the inherited descriptor alone does not unlock */
        struct live_log *second = open_log(&s, &e);
        _exit(!second && e.code == ERR_FAILED && strstr(e.text, "in use") ? 7 : 1);
    }
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 7);
    live_log_close(&l);
    l = open_log(&s, &e);
    assert_non_null(l);
    live_log_close(&l);
}

TEST_WITH(no_folder, enter, leave)
{
    struct err e = ERR_INIT;
    struct seen s = {.count = 0};
    assert_null(live_log_open("no/log", &shape, note, &s, &e));
    assert_int_equal(e.code, ERR_FAILED);
}

/* ------------------------------------------------------------------ the mean colour */

enum { WIDTH = 37, HEIGHT = 23, PIXELS = WIDTH * HEIGHT };

static void make_frame(uint8_t rgb[PIXELS * 3], unsigned seed)
{
    for (size_t i = 0; i < PIXELS * 3; i++)
        rgb[i] = (uint8_t)((seed = seed * 1103515245u + 12345u) >> 16);
}

/* Of one frame it is what column_fill computes, of code values and of light. */
TEST(one_frame)
{
    struct err e = ERR_INIT;
    const struct light_rule rule = {.linear = true};
    struct light *light = light_open(&rule, 0, &e);
    const struct light_table *table = light_table(light, TRANSFER_SDR, &e);
    assert_non_null(table);
    for (unsigned seed = 0; seed < 40; seed++) {
        const struct light_table *means = seed % 2 ? table : NULL;
        uint8_t rgb[PIXELS * 3], mean[3];
        uint32_t rows[HEIGHT * 3] = {0};
        struct column column = {.status = COLUMN_MISSING};
        const struct frame_tag tag = {.repeat = 1};
        struct live_average a = {.count = 0};
        make_frame(rgb, seed);
        for (size_t i = 0; i < PIXELS * 3 && !means; i++)
            rows[i / 3 / WIDTH * 3 + i % 3] += rgb[i];
        for (size_t y = 0; y < HEIGHT && means; y++)
            column_row_light(means, rgb + y * WIDTH * 3, WIDTH, rows + y * 3);
        column_fill(&column, &tag, rows, WIDTH, HEIGHT, false, means);
        live_average_frame(&a, rgb, WIDTH, HEIGHT, means);
        live_average_colour(&a, means, mean);
        assert_memory_equal(mean, column.average, 3);
    }
    light_close(&light);
}

/* The mean of all pixels of many frames, rounded once. */
TEST(many_frames)
{
    struct live_average all = {.count = 0};
    uint64_t sum[3] = {0}, count = 0;
    for (unsigned seed = 0; seed < 100; seed++) {
        uint8_t rgb[PIXELS * 3], mean[3];
        struct live_average one = {.count = 0};
        make_frame(rgb, seed);
        for (size_t i = 0; i < PIXELS * 3; i++)
            sum[i % 3] += rgb[i];
        count += PIXELS;
        live_average_frame(&one, rgb, WIDTH, HEIGHT, NULL);
        live_average_add(&all, &one);
        live_average_colour(&all, NULL, mean);
        for (int c = 0; c < 3; c++)
            assert_int_equal(mean[c], (2 * sum[c] + count) / (2 * count));
    }
}
