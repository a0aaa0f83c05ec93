/* A folder as a live source: the pictures that are there, by their times, then those that appear.
 */

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "test.h"
#include "base/log.h"
#include "media/live/live_source.h"

enum { MOST = 64 };

static char folder[300];
static struct live_source *source;

static struct got {
    uint8_t shade;
    int width, height;
    int64_t time_us;
} got[MOST];
static atomic_int count, current_at;
static int fail_at;

static bool on_frame(void *user, const struct live_frame *frame, struct err *e)
{
    (void)user;
    int n = atomic_load(&count);
    got[n] = (struct got){frame->view->plane[0].data[0], frame->film->width, frame->film->height,
                          frame->time_us};
    assert_string_equal(frame->film->path, folder);
    assert_false(frame->late);
    atomic_store(&count, n + 1);
    return n + 1 != fail_at || err_set(e, ERR_FAILED, "no more");
}

static void on_current(void *user)
{
    (void)user;
    atomic_store(&current_at, atomic_load(&count));
}

static const struct live_sink sink = {on_frame, on_current, NULL};

static const char *path_of(const char *name)
{
    static char path[600];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* A grey picture that was last modified `second`s after 1970; 0: now. */
static void put_picture(const char *name, int shade, time_t second)
{
    FILE *f = fopen(path_of(name), "wb");
    assert_non_null(f);
    fprintf(f, "P6\n3 2\n255\n");
    for (int i = 0; i < 18; i++)
        fputc(shade, f);
    fclose(f);
    struct timespec times[2] = {{.tv_sec = second}, {.tv_sec = second}};
    if (second > 0)
        assert_int_equal(utimensat(AT_FDCWD, path_of(name), times, 0), 0);
}

static void remove_all(void)
{
    char command[600];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
}

FIXTURE(set_up)
{
    strcpy(folder, "/tmp/test_live_folder.XXXXXX");
    log_set_level(LOG_ERROR);
    atomic_store(&count, 0);
    atomic_store(&current_at, -1);
    fail_at = 0;
    return mkdtemp(folder) ? 0 : -1;
}

FIXTURE(tear_down)
{
    live_source_close(&source);
    remove_all();
    return 0;
}

static void open_source(const char *name, int64_t since_us)
{
    struct err e = ERR_INIT;
    struct live_options o = {.name = name, .threads = 1, .timeout_us = 1};
    source = live_source_open(&o, &e);
    assert_ok(source, &e);
    assert_string_equal(source->kind->name, "folder");
    source->since_us = since_us;
}

static void *run_source(void *result)
{
    struct err e = ERR_INIT;
    *(bool *)result = live_source_run(source, &sink, &e);
    return NULL;
}

static void wait_for(const atomic_int *what, int least)
{
    for (int i = 0; i < 500 && atomic_load(what) < least; i++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    if (atomic_load(what) < least)
        fail_msg("%d of %d came", atomic_load(what), least);
}

TEST_WITH(existing_by_time_then_new, set_up, tear_down)
{
    pthread_t thread;
    bool ok = false;
    const time_t recent = time(NULL) - 30 * 86400;
    put_picture("b.ppm", 20, 3000);
    put_picture("a.ppm", 30, 4000);
    put_picture("c.PPM", 10, 2000);
    put_picture("d.ppm.part", 99, 1000);
    put_picture(".e.ppm", 99, 1000);
    assert_int_equal(mkdir(path_of("f.ppm"), 0700), 0);
    open_source(folder, 0);
    pthread_create(&thread, NULL, run_source, &ok);
    wait_for(&current_at, 3);
    assert_int_equal(atomic_load(&current_at), 3);
    put_picture("g.ppm", 40, 0);
    wait_for(&count, 4);
    char to[600];
    put_picture(".i.tmp", 99, recent - 2 * 86400); /* too old to appear now */
    snprintf(to, sizeof to, "%s", path_of("i.ppm"));
    assert_int_equal(rename(path_of(".i.tmp"), to), 0);
    put_picture(".h.tmp", 50, recent);
    snprintf(to, sizeof to, "%s", path_of("h.ppm"));
    assert_int_equal(rename(path_of(".h.tmp"), to), 0);
    wait_for(&count, 5);
    put_picture("g.ppm", 60, 0); /* written again */
    wait_for(&count, 6);
    live_source_stop(source);
    pthread_join(thread, NULL);
    assert_true(ok);
    assert_int_equal(atomic_load(&count), 6);
    static const uint8_t shades[] = {10, 20, 30, 40, 50, 60};
    for (int i = 0; i < 6; i++) {
        assert_int_equal(got[i].shade, shades[i]);
        assert_true(got[i].width == 3 && got[i].height == 2);
    }
    for (int i = 0; i < 3; i++)
        assert_true(got[i].time_us == (i + 2) * INT64_C(1000000000));
    assert_true(got[4].time_us == recent * INT64_C(1000000));
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    assert_true(llabs(got[5].time_us / 1000000 - now.tv_sec) < 60);
}

/* A camera whose clock is wrong: its pictures belong to the time of the file, or to now. */
TEST_WITH(dates_to_come, set_up, tear_down)
{
    static const struct {
        const char *year;
        int modified_s, want_s; /* 0: now */
    } cases[] = {{"2001", 1000, 978307200}, {"2099", 1000, 1000}, {"2099", 2000000000, 0}};
    setenv("TZ", "UTC", 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put_picture("a.jpg", 10, 0);
        FILE *f = fopen(path_of("a.jpg"), "ab");
        fwrite("Exif\0\0II*\0\10\0\0\0"                    /* a list at 8: */
               "\1\0\x69\x87\4\0\1\0\0\0\32\0\0\0\0\0\0\0" /* a list at 26: */
               "\1\0\3\x90\2\0\24\0\0\0\54\0\0\0\0\0\0\0",
               1, 50, f); /* a text at 44 */
        fprintf(f, "%s:01:01 00:00:00", cases[i].year);
        fputc(0, f);
        fclose(f);
        struct timespec then = {.tv_sec = cases[i].modified_s}, times[2] = {then, then};
        assert_int_equal(utimensat(AT_FDCWD, path_of("a.jpg"), times, 0), 0);
        struct err e = ERR_INIT;
        atomic_store(&count, 0);
        fail_at = 1;
        open_source(folder, 0);
        assert_false(live_source_run(source, &sink, &e));
        live_source_close(&source);
        int64_t want = cases[i].want_s > 0 ? cases[i].want_s : (int64_t)time(NULL);
        assert_true(llabs(got[0].time_us / 1000000 - want) < 60);
    }
}

/* What is no picture is passed over; the last one of a broken run is not given again. */
TEST_WITH(broken_pictures_and_runs, set_up, tear_down)
{
    FILE *f = fopen(path_of("text.jpg"), "w");
    fputs("no picture", f);
    fclose(f);
    f = fopen(path_of("empty.png"), "w");
    fclose(f);
    put_picture("a.ppm", 10, 1000);
    put_picture("b.ppm", 20, 2000);
    assert_int_equal(truncate(path_of("b.ppm"), 13), 0);
    struct timespec times[2] = {{.tv_sec = 2000}, {.tv_sec = 2000}};
    utimensat(AT_FDCWD, path_of("b.ppm"), times, 0);
    put_picture("c.ppm", 30, 3000);
    open_source(folder, 0);
    struct err e = ERR_INIT;
    fail_at = 1;
    assert_false(live_source_run(source, &sink, &e));
    assert_int_equal(got[0].shade, 10);
    fail_at = -1;
    err_clear(&e);
    pthread_t thread;
    bool ok = true;
    pthread_create(&thread, NULL, run_source, &ok);
    wait_for(&current_at, 2);
    assert_int_equal(got[atomic_load(&count) - 1].shade, 30);
    remove_all(); /* the folder goes away, so the run breaks */
    pthread_join(thread, NULL);
    assert_false(ok);
}
