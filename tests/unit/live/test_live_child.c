#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"
#include "live/live_child.h"
#include "barcode/base/clock.h"
#include "base/interrupt.h"

TEST(a_child_that_ends_is_waited_for)
{
    double seconds = -1;
    pid_t pid = live_child_start();
    if (pid == 0)
        _exit(0);
    assert_true(pid > 0);
    live_child_wait();
    assert_false(live_child_runs(&seconds));
    assert_true(seconds >= 0);
    assert_int_equal(kill(pid, 0), -1);
}

/* As if its disk hung: after SIGTERM the program does not wait for it long. */
TEST(a_child_that_hangs_is_killed)
{
    double seconds;
    int how = 0;
    pid_t pid = live_child_start();
    while (pid == 0)
        pause();
    assert_true(live_child_runs(&seconds));
    interrupt_install();
    raise(SIGTERM);
    const int64_t began = clock_ns();
    live_child_wait();
    assert_true(clock_since(began) < 10);
    assert_false(live_child_runs(&seconds));
    assert_int_equal(waitpid(pid, &how, 0), pid);
    assert_true(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
}
