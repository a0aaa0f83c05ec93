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

struct line {
    struct progress_state state;
    double seconds;
    const char *text;
};

static void check_line(const struct line *line, const struct progress_run *run)
{
    char text[200];
    struct progress_state s = line->state;
    s.run = run;
    progress_format(text, sizeof text, "NAME", &s, line->seconds);
    assert_string_equal(text, line->text);
}

#define STATE(frames, columns, total, share) \
    { \
        frames, columns, total, share, NULL, NULL \
    }
#define THIRD STATE(12340, 120, 320, 0.375)

/* What is unknown is left out. */
TEST(the_line)
{
    static const struct line line[] = {
        {THIRD, 10, "NAME  37 %  1234 frames/s  120/320 columns  ETA 0:17"},
        {THIRD, 36000, "NAME  37 %  0 frames/s  120/320 columns  ETA 16:40:00"},
        {THIRD, 0, "NAME  37 %  120/320 columns"},
        {STATE(0, 0, 0, -1), 5, "NAME  0 columns"},
        {STATE(50, 7, 0, -1), 5, "NAME  10 frames/s  7 columns"},
        {STATE(0, 0, 9, 0), 5, "NAME   0 %  0/9 columns"},
        {STATE(0, 9, 9, 1.5), 5, "NAME 100 %  9/9 columns"},
        {STATE(0, 9, 9, __builtin_nan("")), 5, "NAME  9/9 columns"}};
    for (size_t i = 0; i < sizeof line / sizeof *line; i++)
        check_line(&line[i], NULL);
}

/* Of several films share, rate and ETA are of them all: by bytes, or without files by number. */
TEST(several_films)
{
    static const struct {
        struct progress_run run;
        struct line line;
    } row[] = {
        {{3, 24, 300, 1000, 0, 100, 10},
         {STATE(17340, 120, 320, 0.375), 2, "NAME  40 %  3/24 films  1734 frames/s  ETA 0:15"}},
        {{1, 4, 0, 0, 0.5, 0, 10},
         {STATE(0, 120, 320, 0.375), 2, "NAME  37 %  1/4 films  ETA 0:17"}},
        {{1, 4, 0, 0, 0, 0, 10}, {STATE(0, 120, 320, 0.375), 2, "NAME  25 %  1/4 films  ETA 0:30"}},
        {{1, 4, 0, 0, 0, 0, 0.5}, {STATE(0, 120, 320, 0.375), 2, "NAME  25 %  1/4 films"}}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        check_line(&row[i].line, &row[i].run);
    assert_true(progress_share(&(struct progress_run){.films_total = 0}) == 0);
}

static const struct progress_state third = THIRD;

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
