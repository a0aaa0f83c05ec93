#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"
#include "barcode/live/live_feed.h"
#include "under_tsan.h"

enum { HEIGHT = 5, PERIOD = 1000000 };

static struct live_feed *open_feed(size_t capacity)
{
    struct live_feed *f = live_feed_open(capacity, HEIGHT, PERIOD, NULL);
    assert_non_null(f);
    return f;
}

static void put(struct live_feed *f, int64_t number, uint8_t value, bool open)
{
    uint8_t rgb[HEIGHT][3];
    memset(rgb, value, sizeof rgb);
    struct live_column c = {.number = number,
                            .time_us = number * PERIOD,
                            .open = open,
                            .average = {value, 1, 2},
                            .dominant = {3, 4, value}};
    live_feed_put(f, &c, rgb[0]);
}

TEST(columns_come_back_as_they_were_put)
{
    struct live_feed *f = open_feed(4);
    struct live_column c[8];
    uint8_t rgb[8][HEIGHT][3];
    assert_int_equal(live_feed_read(f, -1, 8, c, rgb[0][0]), 0);
    assert_true(live_feed_newest(f) == INT64_MIN);
    put(f, 7, 70, false);
    put(f, 8, 80, true);
    assert_int_equal(live_feed_read(f, INT64_MIN, 8, c, rgb[0][0]), 2);
    assert_int_equal(c[0].number, 7);
    assert_int_equal(c[0].time_us, 7 * PERIOD);
    assert_false(c[0].open || c[0].missing);
    assert_int_equal(c[0].average[0], 70);
    assert_int_equal(c[0].average[2], 2);
    assert_int_equal(c[0].dominant[0], 3);
    assert_int_equal(c[0].dominant[2], 70);
    assert_true(c[1].open);
    for (int y = 0; y < HEIGHT; y++)
        for (int i = 0; i < 3; i++)
            assert_int_equal(rgb[1][y][i], 80);
    assert_int_equal(live_feed_read(f, 7, 8, c, NULL), 1);
    assert_int_equal(c[0].number, 8);
    assert_int_equal(live_feed_read(f, 8, 8, c, NULL), 0);
    assert_int_equal(live_feed_read(f, -1, 1, c, NULL), 1);
    assert_int_equal(c[0].number, 7);
    live_feed_free(&f);
    assert_null(f);
    live_feed_free(&f);
}

TEST(the_newest_is_replaced_and_no_other)
{
    struct live_feed *f = open_feed(4);
    struct live_column c[4];
    put(f, 1, 10, false);
    put(f, 2, 20, true);
    put(f, 2, 25, true);
    put(f, 1, 99, false); /* a clock that went back */
    assert_int_equal(live_feed_read(f, -1, 4, c, NULL), 2);
    assert_int_equal(c[0].average[0], 10);
    assert_int_equal(c[1].average[0], 25);
    assert_int_equal(live_feed_newest(f), 2);
    assert_int_equal(live_feed_puts(f), 3);
    put(f, 3, 30, true); /* ends the open one */
    assert_int_equal(live_feed_read(f, 1, 4, c, NULL), 2);
    assert_false(c[0].open);
    assert_true(c[1].open);
    live_feed_free(&f);
}

TEST(numbers_left_out_are_missing)
{
    struct live_feed *f = open_feed(8);
    struct live_column c[8];
    uint8_t rgb[8][HEIGHT][3];
    put(f, -3, 10, true);
    put(f, 1, 20, false);
    live_feed_put(f, &(struct live_column){.number = 2, .time_us = 2 * PERIOD, .missing = true},
                  NULL);
    assert_int_equal(live_feed_read(f, INT64_MIN, 8, c, rgb[0][0]), 6);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(c[i].number, i - 3);
        assert_int_equal(c[i].time_us, (i - 3) * PERIOD);
        assert_int_equal(c[i].missing, i != 0 && i != 4);
        assert_false(c[i].open);
        assert_int_equal(rgb[i][HEIGHT - 1][2], i == 0 ? 10 : i == 4 ? 20 : 0);
    }
    live_feed_free(&f);
}

TEST(the_last_columns_are_kept)
{
    struct live_feed *f = open_feed(4);
    struct live_column c[8];
    for (int n = 0; n < 11; n++)
        put(f, n, (uint8_t)n, false);
    assert_int_equal(live_feed_read(f, -1, 8, c, NULL), 4);
    assert_int_equal(c[0].number, 7);
    assert_int_equal(c[3].number, 10);
    put(f, 1000000000000, 1, false); /* a gap of more than is kept */
    assert_int_equal(live_feed_read(f, -1, 8, c, NULL), 4);
    assert_int_equal(c[0].number, 999999999997);
    assert_true(c[0].missing && c[2].missing && !c[3].missing);
    live_feed_free(&f);
}

static bool is_readable(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    uint64_t count;
    return poll(&p, 1, 0) == 1 && read(fd, &count, sizeof count) == sizeof count;
}

TEST(readers_are_woken)
{
    struct live_feed *f = open_feed(4);
    struct err e = ERR_INIT;
    int a = live_feed_watch(f, NULL), b = live_feed_watch(f, NULL);
    assert_true(a >= 0 && b >= 0);
    assert_false(is_readable(a));
    put(f, 1, 1, true);
    assert_true(is_readable(a) && is_readable(b));
    assert_false(is_readable(a));
    put(f, 1, 2, true);
    assert_true(is_readable(a) && is_readable(b));
    put(f, 0, 2, true); /* ignored */
    assert_false(is_readable(a));
    assert_false(live_feed_closed(f));
    live_feed_close(f);
    assert_true(live_feed_closed(f));
    assert_true(is_readable(a) && is_readable(b));
    assert_int_equal(live_feed_watch(f, &e), -1);
    assert_int_equal(e.code, ERR_FAILED);
    live_feed_free(&f);
}

TEST(another_process_puts)
{
    struct live_feed *f = open_feed(4);
    struct live_column c[4];
    int watch = live_feed_watch(f, NULL), how;
    pid_t child = fork();
    if (child == 0) {
        put(f, 7, 70, false);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(is_readable(watch));
    assert_int_equal(live_feed_read(f, -1, 4, c, NULL), 1);
    assert_int_equal(c[0].average[0], 70);
    live_feed_free(&f);
}

/* Puts columns of one value until it is killed. */
static void put_for_ever(struct live_feed *f)
{
    static uint8_t rgb[2000][3];
    for (int64_t n = live_feed_newest(f) < 0 ? 0 : live_feed_newest(f);; n++) {
        memset(rgb, (int)(n % 251), sizeof rgb);
        live_feed_put(f, &(struct live_column){.number = n, .time_us = n}, rgb[0]);
    }
}

/* A process is killed again and again while it puts; what is read is whole, and the next goes on.
 */
TEST(a_killed_process_leaves_whole_columns)
{
    struct live_feed *f = live_feed_open(4, 2000, PERIOD, NULL);
    static uint8_t rgb[4][2000][3];
    struct live_column c[4];
    for (int turn = 0; turn < (UNDER_TSAN ? 5 : 50); turn++) {
        pid_t child = fork();
        if (child == 0)
            put_for_ever(f);
        const uint64_t before = live_feed_puts(f);
        while (live_feed_puts(f) < before + 8) /* however busy the machine is */
            usleep(100);
        usleep(137 * (unsigned)turn);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        size_t count = live_feed_read(f, -1, 4, c, rgb[0][0]);
        assert_true(count >= 2); /* all but the one that was written, and the one before it */
        for (size_t i = 0; i < count; i++)
            for (int y = 0; y < 2000; y++)
                assert_int_equal(rgb[i][y][1], c[i].number % 251);
    }
    assert_true(live_feed_newest(f) > 30);
    live_feed_free(&f);
}

/* Returns the feed's memory, the only shared mapping of so many bytes or more. */
static uint8_t *find_ring(size_t least, size_t *bytes)
{
    char line[512];
    FILE *f = fopen("/proc/self/maps", "r");
    uint8_t *ring = NULL;
    assert_non_null(f);
    while (!ring && fgets(line, sizeof line, f)) {
        uintptr_t from, to;
        char rights[8];
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %7s", &from, &to, rights) == 3 &&
            strcmp(rights, "rw-s") == 0 && to - from >= least) {
            ring = (uint8_t *)from;
            *bytes = to - from;
        }
    }
    fclose(f);
    assert_non_null(ring);
    return ring;
}

/* A process that was taken over may write anything: reading still ends, and soon. */
TEST(nonsense)
{
    enum { CAPACITY = 50000 };
    struct live_feed *f = open_feed(CAPACITY);
    struct live_column c[8];
    uint8_t rgb[8][HEIGHT][3];
    size_t bytes = 0;
    uint8_t *ring = find_ring(CAPACITY * 8, &bytes);
    for (int fill = 0; fill < 256; fill += 5)
        for (int first = 0; first < 2; first++) {
            memset(ring, fill, bytes);
            if (first)
                memset(ring, 0xff, 8); /* the newest number is INT64_MAX */
            const int64_t newest = live_feed_newest(f);
            alarm(20);
            size_t n = live_feed_read(f, INT64_MIN, 8, c, rgb[0][0]);
            assert_int_equal(
                n, live_feed_read(f, newest < 0 ? INT64_MIN : newest - 9, 8, c, rgb[0][0]));
            assert_true(n <= 1);
        }
    alarm(0);
    live_feed_free(&f);
}

/* ---- many readers beside one that puts: every column is whole, in order, and none is lost */

enum { READERS = 3, ROUNDS = 20000 };
static atomic_bool over;
static atomic_int broken;

static bool is_whole(const struct live_column *c, uint8_t rgb[HEIGHT][3])
{
    uint8_t value = (uint8_t)(c->missing ? 0 : c->number % 251 + 1);
    for (int i = 0; i < HEIGHT * 3; i++)
        if (rgb[i / 3][i % 3] != value)
            return false;
    return c->time_us == c->number * PERIOD && c->missing == (c->number % 7 == 0) &&
           c->average[0] == value && c->dominant[2] == value;
}

static void *read_columns(void *feed)
{
    struct live_feed *f = feed;
    struct live_column c[16];
    uint8_t rgb[16][HEIGHT][3];
    int64_t since = -1;
    for (bool last = false; !last;) {
        last = atomic_load(&over);
        size_t n;
        while ((n = live_feed_read(f, since, 16, c, rgb[0][0])) > 0)
            for (size_t i = 0; i < n; i++) {
                if (c[i].number <= since || !is_whole(&c[i], rgb[i]))
                    atomic_fetch_add(&broken, 1);
                since = c[i].number;
            }
    }
    if (since != live_feed_newest(f))
        atomic_fetch_add(&broken, 1);
    return NULL;
}

TEST(readers_see_whole_columns)
{
    struct live_feed *f = open_feed(32);
    pthread_t reader[READERS];
    for (int i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&reader[i], NULL, read_columns, f), 0);
    for (int n = 0; n < ROUNDS / (UNDER_TSAN ? 4 : 1); n++) {
        uint8_t rgb[HEIGHT][3], value = (uint8_t)(n % 251 + 1);
        if (n % 7 == 0 && n % 2)
            continue; /* left out */
        memset(rgb, value, sizeof rgb);
        struct live_column c = {.number = n,
                                .time_us = (int64_t)n * PERIOD,
                                .missing = n % 7 == 0,
                                .average = {value},
                                .dominant = {0, 0, value}};
        live_feed_put(f, &c, c.missing ? NULL : rgb[0]);
        live_feed_put(f, &c, c.missing ? NULL : rgb[0]);
    }
    atomic_store(&over, true);
    for (int i = 0; i < READERS; i++)
        pthread_join(reader[i], NULL);
    assert_int_equal(atomic_load(&broken), 0);
    live_feed_free(&f);
}

TEST_MAIN(NULL, NULL)
