#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "test.h"
#include "base/log.h"
#include "base/progress.h"

static const struct progress_state third = {
    .frames = 12340, .columns = 120, .columns_total = 320, .share = 0.375};

TEST(the_line)
{
    char text[200];
    progress_format(text, sizeof text, "NAME", &third, 10);
    assert_string_equal(text, "NAME  37 %  1234 frames/s  120/320 columns  ETA 0:17");
    progress_format(text, sizeof text, "NAME", &third, 36000);
    assert_string_equal(text, "NAME  37 %  0 frames/s  120/320 columns  ETA 16:40:00");
    progress_format(text, sizeof text, "NAME", &third, 0);
    assert_string_equal(text, "NAME  37 %  120/320 columns");
}

TEST(what_is_unknown_is_left_out)
{
    char text[200];
    struct progress_state s = {.share = -1};
    progress_format(text, sizeof text, "NAME", &s, 5);
    assert_string_equal(text, "NAME  0 columns");
    s = (struct progress_state){.share = -1, .columns = 7, .frames = 50};
    progress_format(text, sizeof text, "NAME", &s, 5);
    assert_string_equal(text, "NAME  10 frames/s  7 columns");
    s = (struct progress_state){.share = 0, .columns_total = 9};
    progress_format(text, sizeof text, "NAME", &s, 5);
    assert_string_equal(text, "NAME   0 %  0/9 columns");
    s = (struct progress_state){.share = 1.5, .columns = 9, .columns_total = 9};
    progress_format(text, sizeof text, "NAME", &s, 5);
    assert_string_equal(text, "NAME 100 %  9/9 columns");
    s.share = __builtin_nan("");
    progress_format(text, sizeof text, "NAME", &s, 5);
    assert_string_equal(text, "NAME  9/9 columns");
}

/* Of several films share, rate and ETA are of them all. */
TEST(several_films)
{
    char text[200];
    struct progress_run run = {.films = 3,
                               .films_total = 24,
                               .bytes = 300,
                               .bytes_total = 1000,
                               .bytes_now = 100,
                               .seconds = 10};
    struct progress_state s = third;
    s.frames += 5000;
    s.run = &run;
    progress_format(text, sizeof text, "NAME", &s, 2);
    assert_string_equal(text, "NAME  40 %  3/24 films  1734 frames/s  ETA 0:15");
    /* No files: by their number. */
    run = (struct progress_run){.films = 1, .films_total = 4, .films_now = 0.5, .seconds = 10};
    s.frames = 0;
    progress_format(text, sizeof text, "NAME", &s, 2);
    assert_string_equal(text, "NAME  37 %  1/4 films  ETA 0:17");
    run.films_now = 0;
    progress_format(text, sizeof text, "NAME", &s, 2);
    assert_string_equal(text, "NAME  25 %  1/4 films  ETA 0:30");
    run.seconds = 0.5;
    progress_format(text, sizeof text, "NAME", &s, 2);
    assert_string_equal(text, "NAME  25 %  1/4 films");
    run = (struct progress_run){.films_total = 0};
    assert_true(progress_share(&run) == 0);
}

/* The line fits any width, and never ends in half a character of the name. */
TEST(it_fits)
{
    static const char title[] =
        "L\xc3\xa9on \xe6\x98\xa0\xe7\x94\xbb \xe6\x98\xa0\xe7\x94\xbb, a film with a long name";
    static const char tail[] = "37 %  1234 frames/s  120/320 columns  ETA 0:17";
    char text[200];
    for (int size = 1; size <= (int)sizeof text; size++) {
        memset(text, '#', sizeof text);
        progress_format(text, size, title, &third, 10);
        assert_true(strlen(text) < (size_t)size);
        const char *end = strstr(text, tail);
        if (!end) {
            assert_true(size < 60);
            continue;
        }
        const char *dots = strstr(text, "...");
        size_t kept = (size_t)((dots ? dots : end) - text);
        if (dots) {
            assert_memory_equal(text, title, kept);
            assert_int_not_equal((unsigned char)title[kept] & 0xc0, 0x80);
        }
    }
    assert_memory_equal(text, title, sizeof title - 1);
    progress_format(text, 0, "NAME", &third, 10);
}

/* ---- With stderr on something else ---- */

static int real_stderr;

static int take_stderr(int fd)
{
    real_stderr = dup(STDERR_FILENO);
    return dup2(fd, STDERR_FILENO);
}

static void give_stderr_back(void)
{
    dup2(real_stderr, STDERR_FILENO);
    close(real_stderr);
}

/* What has arrived at `fd` up to now. */
static const char *arrived(int fd)
{
    static char text[4096];
    size_t used = 0;
    struct pollfd p = {.fd = fd, .events = POLLIN};
    while (used < sizeof text - 1 && poll(&p, 1, 20) == 1 && p.revents & POLLIN) {
        ssize_t n = read(fd, text + used, sizeof text - 1 - used);
        if (n <= 0)
            break;
        used += (size_t)n;
    }
    text[used] = '\0';
    return text;
}

/* Ticks 3 times within a moment; what came out, the closing included. */
static const char *ticks(int fd, enum progress_when when)
{
    struct err e = ERR_INIT;
    struct progress *p = progress_open(when, "NAME", &e);
    for (int i = 0; p && i < 3; i++)
        progress_tick(p, &third);
    progress_close(&p);
    assert_null(p);
    return arrived(fd);
}

TEST(a_pipe_gets_nothing_unasked)
{
    int end[2];
    assert_int_equal(pipe(end), 0);
    setenv("TERM", "xterm", 1);
    take_stderr(end[1]);
    const char *text = ticks(end[0], PROGRESS_AUTO);
    text = *text ? text : ticks(end[0], PROGRESS_NEVER);
    give_stderr_back();
    assert_string_equal(text, "");
    close(end[0]);
    close(end[1]);
}

/* A run of a moment: one line, written at its end. A run that never got anywhere: none. */
TEST(a_pipe_gets_the_end_of_a_short_run)
{
    int end[2];
    assert_int_equal(pipe(end), 0);
    take_stderr(end[1]);
    char text[256];
    snprintf(text, sizeof text, "%s", ticks(end[0], PROGRESS_ALWAYS));
    struct progress *p = progress_open(PROGRESS_ALWAYS, "NAME", NULL);
    progress_close(&p);
    bool silent = !*arrived(end[0]);
    give_stderr_back();
    assert_memory_equal(text, "barcode: NAME  37 %  ", 21);
    assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
    assert_true(silent);
    close(end[0]);
    close(end[1]);
}

TEST(a_pipe_gets_lines_when_asked)
{
    int end[2];
    assert_int_equal(pipe(end), 0);
    take_stderr(end[1]);
    struct progress *p = progress_open(PROGRESS_ALWAYS, "NAME", NULL);
    nanosleep(&(struct timespec){.tv_sec = 3, .tv_nsec = 50000000}, NULL);
    progress_tick(p, &third);
    progress_tick(p, &third);
    progress_close(&p);
    const char *text = arrived(end[0]);
    give_stderr_back();
    /* One at its time, one at the end. */
    const char *second = strchr(text, '\n') + 1;
    assert_memory_equal(text, "barcode: NAME  37 %  ", 21);
    assert_memory_equal(second, "barcode: NAME  37 %  ", 21);
    assert_ptr_equal(strchr(second, '\n'), second + strlen(second) - 1);
    assert_null(strchr(text, '\033'));
    close(end[0]);
    close(end[1]);
}

TEST(a_terminal_gets_one_line)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0)
        skip();
    int slave = open(ptsname(master), O_RDWR | O_NOCTTY);
    assert_true(slave >= 0);
    assert_int_equal(ioctl(slave, TIOCSWINSZ, &(struct winsize){.ws_row = 24, .ws_col = 40}), 0);
    char text[4][256];
    take_stderr(slave);
    setenv("TERM", "xterm", 1);
    snprintf(text[0], sizeof text[0], "%s", ticks(master, PROGRESS_AUTO));
    snprintf(text[1], sizeof text[1], "%s", ticks(master, PROGRESS_NEVER));
    setenv("TERM", "dumb", 1);
    snprintf(text[2], sizeof text[2], "%s", ticks(master, PROGRESS_AUTO));
    setenv("TERM", "xterm", 1);
    log_set_level(LOG_ERROR);
    snprintf(text[3], sizeof text[3], "%s", ticks(master, PROGRESS_ALWAYS));
    log_set_level(LOG_INFO);
    give_stderr_back();
    /* One line for three ticks, shorter than the window, lifted at the end. */
    size_t length = strlen(text[0]);
    assert_true(length > 4 && length <= 39 + 4);
    assert_memory_equal(text[0], "37 %  ", 6);
    assert_string_equal(text[0] + length - 4, "\r\033[K");
    assert_ptr_equal(strchr(text[0], '\r'), text[0] + length - 4);
    for (int i = 1; i < 4; i++)
        assert_string_equal(text[i], "");
    close(slave);
    close(master);
}

TEST(null_is_fine)
{
    struct progress *p = NULL;
    progress_tick(p, &third);
    progress_close(&p);
    progress_close(NULL);
}
