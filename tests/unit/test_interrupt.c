#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"
#include "barcode/base/interrupt.h"

/* Each case runs in a process of its own, as the first signal cannot be taken back. */
static int in_child(int (*body)(void))
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(20);
        _exit(body());
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static int first_only(void)
{
    interrupt_install();
    if (interrupted())
        return 1;
    raise(SIGINT);
    return interrupted() ? 42 : 2;
}

static int twice(void)
{
    interrupt_install();
    raise(SIGINT);
    usleep(400000);
    raise(SIGINT);
    return 3;
}

/* As timeout(1) does it. */
static int twice_at_once(void)
{
    interrupt_install();
    raise(SIGTERM);
    raise(SIGTERM);
    return interrupted() ? 42 : 2;
}

static int twice_with_temporaries(void)
{
    static const char *const name[] = {"/tmp/.test_interrupt.a.tmp", "/tmp/.test_interrupt.b.tmp",
                                       "/tmp/.test_interrupt.c.tmp"};
    interrupt_install();
    for (int i = 0; i < 3; i++) {
        FILE *f = fopen(name[i], "w");
        if (!f || fclose(f) != 0)
            return 1;
    }
    int a = interrupt_doom(name[0]), b = interrupt_doom(name[1]), c = interrupt_doom(name[2]);
    if (a < 0 || b < 0 || c < 0)
        return 1;
    interrupt_spare(b);
    interrupt_spare(-1);
    raise(SIGINT);
    if (access(name[0], F_OK) != 0) /* the first one leaves that to whoever made it */
        return 2;
    raise(SIGTERM);
    return 3;
}

static int one_of_each(void)
{
    interrupt_install();
    raise(SIGTERM);
    raise(SIGINT);
    return 3;
}

static int ignored_by_the_parent(void)
{
    signal(SIGINT, SIG_IGN);
    interrupt_install();
    raise(SIGINT);
    return interrupted() ? 1 : 42;
}

static int broken_pipe(void)
{
    int end[2];
    interrupt_install();
    if (pipe(end) != 0)
        return 1;
    close(end[0]);
    return write(end[1], "x", 1) == -1 ? 42 : 2;
}

static int hung_up(void)
{
    interrupt_install();
    raise(SIGHUP);
    raise(SIGHUP); /* the shell says it again */
    return interrupted() ? 42 : 2;
}

static int stopped_and_hung_up(void)
{
    interrupt_install();
    raise(SIGTERM);
    raise(SIGHUP);
    usleep(400000);
    raise(SIGTERM);
    return 3;
}

static int file_too_large(void)
{
    struct rlimit none = {0, 0};
    FILE *f = tmpfile();
    interrupt_install();
    if (!f || setrlimit(RLIMIT_FSIZE, &none) != 0)
        return 1;
    return write(fileno(f), "x", 1) == -1 && errno == EFBIG ? 42 : 2;
}

TEST(the_first_signal_asks)
{
    int status = in_child(first_only);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 42);
}

TEST(an_echo_does_not_kill)
{
    int status = in_child(twice_at_once);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 42);
}

TEST(the_second_signal_kills)
{
    int status = in_child(twice);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGINT);
    status = in_child(one_of_each);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGINT);
}

TEST(the_second_signal_leaves_no_temporaries)
{
    int status = in_child(twice_with_temporaries);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGTERM);
    assert_int_not_equal(access("/tmp/.test_interrupt.a.tmp", F_OK), 0);
    assert_int_equal(unlink("/tmp/.test_interrupt.b.tmp"), 0);
    assert_int_not_equal(access("/tmp/.test_interrupt.c.tmp", F_OK), 0);
}

/* A worker may write any path where the parent looks for those of temporary files. */
TEST(only_temporary_files_are_removed)
{
    static const char *const name[] = {"/tmp/test_interrupt.film", "/tmp/.test_interrupt",
                                       "/tmp/test_interrupt.tmp", "/tmp/.tmp",
                                       "/tmp/.new-test_interrupt"};
    interrupt_install();
    for (int i = 0; i < 5; i++) {
        FILE *f = fopen(name[i], "w");
        assert_non_null(f);
        fclose(f);
        assert_true(interrupt_doom(name[i]) >= 0);
    }
    interrupt_remove_doomed(getpid());
    for (int i = 0; i < 5; i++)
        assert_int_equal(unlink(name[i]) == 0, i < 4);
}

TEST(too_many_are_doomed)
{
    int number[1000];
    interrupt_install();
    for (int i = 0; i < 1000; i++)
        number[i] = interrupt_doom("/tmp/.test_interrupt.none.tmp");
    assert_int_equal(number[0], 0);
    assert_int_equal(number[999], -1);
    for (int i = 0; i < 1000; i++)
        interrupt_spare(number[i]);
    assert_int_equal(interrupt_doom("/tmp/.test_interrupt.none.tmp"), 0);
    interrupt_spare(0);
}

TEST(what_nohup_ignores_stays_ignored)
{
    int status = in_child(ignored_by_the_parent);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 42);
}

TEST(a_closed_pipe_is_an_error_of_write)
{
    int status = in_child(broken_pipe);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 42);
}

TEST(a_closed_terminal_asks)
{
    int status = in_child(hung_up);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 42);
    status = in_child(stopped_and_hung_up);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGTERM);
}

TEST(a_file_too_large_is_an_error_of_write)
{
    int status = in_child(file_too_large);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 42);
}

TEST(the_sentence)
{
    struct err e = ERR_INIT;
    assert_false(interrupt_error(&e));
    assert_int_equal(err_exit_status(&e), 130);
    assert_int_not_equal(e.text[0], '\0');
}

TEST_MAIN(NULL, NULL)
