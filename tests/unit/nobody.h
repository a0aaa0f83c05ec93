/*
 * nobody.h - for tests: what an ordinary user may not do, whoever runs the tests. Root may do
 * everything, so as root the question is asked by a child that is the user nobody.
 */
#ifndef BARCODE_TESTS_NOBODY_H
#define BARCODE_TESTS_NOBODY_H

#include <grp.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Calls check(what), by an ordinary user, and returns its answer. `check` must assert nothing:
 * cmocka's way out of a test does not lead out of a child. The folder of the test must be open to
 * others.
 */
static inline bool nobody_holds(bool (*check)(const void *what), const void *what)
{
    enum { NOBODY = 65534 };
    if (geteuid() != 0)
        return check(what);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        bool ordinary = setgroups(0, NULL) == 0 && setresgid(NOBODY, NOBODY, NOBODY) == 0 &&
                        setresuid(NOBODY, NOBODY, NOBODY) == 0;
        if (!ordinary)
            perror("cannot become nobody");
        _exit(ordinary && check(what) ? 0 : 1);
    }
    int status;
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

#endif
