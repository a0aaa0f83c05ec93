/*
 * runner.c - main() of a program of unit tests.
 *
 *   test_ROOM                  every file, each in a process of its own
 *   test_ROOM FILE [PATTERN]   one file as "test_demux"; of it the tests whose names match
 *   test_ROOM --list           the names of the files
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

/* After so much time of the processor, or of the clock if it waits, a process of a test ends. A
 * loaded machine takes ten times as long by the clock. */
enum { PROCESSOR_SECONDS = 300, CLOCK_SECONDS = 1200 };

static struct test_group *groups, **end_of_groups = &groups;
int test_round;

void test_add(struct test_group *group, struct CMUnitTest test)
{
    if (group->count == TESTS_MOST)
        abort();
    if (group->count == 0) {
        *end_of_groups = group;
        end_of_groups = &group->next;
    }
    group->test[group->count++] = test;
}

/* Also called in each child: fork() does not copy timers. */
static void limit_time(void)
{
    setitimer(ITIMER_PROF, &(struct itimerval){.it_value.tv_sec = PROCESSOR_SECONDS}, NULL);
    alarm(CLOCK_SECONDS);
}

/* Copies the file's name without its folder and ending. */
static const char *group_name(const struct test_group *g)
{
    static char name[64];
    const char *slash = strrchr(g->file, '/');
    snprintf(name, sizeof name, "%s", slash ? slash + 1 : g->file);
    name[strcspn(name, ".")] = 0;
    return name;
}

/* Returns how many tests failed. */
static int run_group(struct test_group *g)
{
    int failed = 0;
    pthread_atfork(NULL, NULL, limit_time);
    limit_time();
    for (test_round = 0; test_round == 0 || test_round < g->rounds; test_round++)
        failed += _cmocka_run_group_tests(group_name(g), g->test, g->count, g->begin, g->end);
    return failed;
}

static bool run_in_child(struct test_group *g)
{
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        exit(run_group(g) != 0);
    if (child < 0 || waitpid(child, &status, 0) != child)
        return false;
    if (WIFSIGNALED(status))
        fprintf(stderr, "%s: killed by signal %d\n", group_name(g), WTERMSIG(status));
    return status == 0;
}

int main(int argc, char **argv)
{
    const char *file = argc > 1 ? argv[1] : "";
    bool ok = true, found = false;
    if (argc > 2)
        cmocka_set_test_filter(argv[2]);
    for (struct test_group *g = groups; g; g = g->next) {
        if (strcmp(file, "--list") == 0)
            puts(group_name(g));
        else if (!*file)
            ok = run_in_child(g) && ok;
        else if (strcmp(file, group_name(g)) == 0)
            return run_group(g) != 0;
        else
            continue;
        found = true;
    }
    if (!found)
        fprintf(stderr, "%s: no test file '%s'\n", argv[0], file);
    return ok && found ? 0 : 1;
}
