#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"
#include "base/log.h"

static int real_stderr;
static FILE *caught;

FIXTURE(catch_stderr)
{
    caught = tmpfile();
    real_stderr = dup(STDERR_FILENO);
    log_set_level(LOG_INFO);
    return caught && real_stderr >= 0 && dup2(fileno(caught), STDERR_FILENO) >= 0 ? 0 : -1;
}

FIXTURE(release_stderr)
{
    dup2(real_stderr, STDERR_FILENO);
    close(real_stderr);
    fclose(caught);
    return 0;
}

/* What was written since the test began. */
static const char *said(void)
{
    static char text[1 << 16];
    ssize_t n = pread(fileno(caught), text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    return text;
}

TEST_WITH(levels, catch_stderr, release_stderr)
{
    log_msg(LOG_ERROR, "e");
    log_msg(LOG_WARNING, "w %d", 1);
    log_msg(LOG_INFO, "i");
    log_msg(LOG_VERBOSE, "v");
    log_set_level(LOG_ERROR);
    assert_true(log_enabled(LOG_ERROR));
    assert_false(log_enabled(LOG_WARNING));
    log_msg(LOG_ERROR, "quiet");
    log_msg(LOG_WARNING, "not this");
    log_msg(LOG_INFO, "nor this");
    log_set_level(LOG_DEBUG);
    log_msg(LOG_VERBOSE, "v");
    log_msg(LOG_DEBUG, "d");
    assert_string_equal(said(), "barcode: e\nbarcode: warning: w 1\nbarcode: i\nbarcode: quiet\n"
                                "barcode: v\nbarcode: debug: d\n");
}

TEST_WITH(text_is_shown_plainly, catch_stderr, release_stderr)
{
    log_msg(LOG_INFO, "a\nb\x1b[2J\x7f\xc3\xa9");
    log_msg(LOG_INFO, "\xc2\x9b"
                      "31m\x9b\xe2\x80\xae \xe4\xb8\x83\xe4\xba\xba");
    log_status("\xc2\x85\xe2\x81\xa6");
    log_status(NULL);
    assert_string_equal(said(), "barcode: a?b?[2J?\xc3\xa9\n"
                                "barcode: ?31m?? \xe4\xb8\x83\xe4\xba\xba\n??\r\x1b[K");
}

TEST_WITH(a_long_line_is_cut, catch_stderr, release_stderr)
{
    char text[3000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    log_msg(LOG_INFO, "%s", text);
    size_t length = strlen(said());
    assert_true(length > 1000 && length < 1100);
    assert_int_equal(said()[length - 1], '\n');
}

TEST_WITH(errno_is_left_alone, catch_stderr, release_stderr)
{
    close(STDERR_FILENO);
    errno = ENOSPC;
    log_msg(LOG_INFO, "into nothing");
    assert_int_equal(errno, ENOSPC);
    dup2(fileno(caught), STDERR_FILENO);
}

TEST_WITH(the_status_line_stays_below, catch_stderr, release_stderr)
{
    log_status(NULL);
    log_status("10 %");
    log_msg(LOG_INFO, "hello");
    log_status("20\a %");
    log_status(NULL);
    log_status(NULL);
    log_msg(LOG_INFO, "end");
    assert_string_equal(said(), "10 %"
                                "\r\033[K"
                                "barcode: hello\n"
                                "10 %"
                                "\r\033[K"
                                "20? %"
                                "\r\033[K"
                                "barcode: end\n");
}

static char got[200];

static void collect(enum log_level level, const char *line)
{
    size_t used = strlen(got);
    snprintf(got + used, sizeof got - used, "%d:%s\n", level, line);
}

/* A sink gets the lines of the enabled levels, plain, and nothing goes to stderr. */
TEST_WITH(a_sink, catch_stderr, release_stderr)
{
    log_set_sink(collect);
    log_msg(LOG_ERROR, "a\nb");
    log_msg(LOG_WARNING, "%d", 2);
    log_msg(LOG_DEBUG, "no");
    log_status("3");
    log_status(NULL);
    log_set_sink(NULL);
    assert_string_equal(said(), "");
    assert_string_equal(got, "0:a?b\n1:2\n");
}

/* While the reader of stderr has paused, a message waits, and is not lost. */
TEST_WITH(a_paused_stderr, catch_stderr, release_stderr)
{
    static char full[1 << 16];
    int end[2];
    assert_int_equal(pipe(end), 0);
    assert_true(log_is_ready());
    dup2(end[1], STDERR_FILENO);
    assert_true(log_is_ready());
    fcntl(end[1], F_SETFL, O_NONBLOCK);
    while (write(end[1], full, sizeof full) > 0 || write(end[1], full, 1) > 0)
        continue;
    fcntl(end[1], F_SETFL, 0);
    bool ready = log_is_ready();
    pid_t child = fork();
    if (child == 0) {
        usleep(250000);
        for (ssize_t n; (n = read(end[0], full, sizeof full)) > 0 && full[n - 1] != '\n';)
            continue;
        _exit(strcmp(full, "barcode: at last\n") != 0);
    }
    log_msg(LOG_INFO, "at last");
    dup2(fileno(caught), STDERR_FILENO);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(!ready && status == 0);
    close(end[0]);
    close(end[1]);
}

/* Without patience it waits for nobody, and the next line tells what is missing. */
TEST_WITH(a_paused_stderr_without_patience, catch_stderr, release_stderr)
{
    static char full[1 << 16];
    int end[2];
    assert_int_equal(pipe2(end, O_NONBLOCK), 0);
    while (write(end[1], full, sizeof full) > 0 || write(end[1], full, 1) > 0)
        continue;
    fcntl(end[1], F_SETFL, 0);
    dup2(end[1], STDERR_FILENO);
    log_set_patience(false);
    for (int i = 0; i < 1000; i++)
        log_msg(LOG_INFO, "%d", i);
    while (read(end[0], full, sizeof full) > 0)
        continue;
    log_msg(LOG_INFO, "on");
    log_msg(LOG_INFO, "and on");
    log_set_patience(true);
    dup2(fileno(caught), STDERR_FILENO);
    ssize_t n = read(end[0], full, sizeof full - 1);
    full[n > 0 ? n : 0] = '\0';
    assert_string_equal(full, "barcode: 1000 lines were left out here\n"
                              "barcode: on\nbarcode: and on\n");
    close(end[0]);
    close(end[1]);
}

static void *talk(void *number)
{
    for (int i = 0; i < 50; i++) {
        log_msg(LOG_INFO, "thread %s says %s", (const char *)number, "the quick brown fox");
        log_status(i % 2 ? "half" : NULL);
    }
    return NULL;
}

TEST_WITH(threads_do_not_mix_lines, catch_stderr, release_stderr)
{
    static char name[4][2] = {"0", "1", "2", "3"};
    pthread_t thread[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, talk, name[i]), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    log_status(NULL);
    int whole = 0;
    for (const char *at = said(); (at = strstr(at, "barcode: thread ")); at++)
        whole += strncmp(at + 17, " says the quick brown fox\n", 26) == 0;
    assert_int_equal(whole, 200);
}
