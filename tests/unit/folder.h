/*
 * folder.h - for tests that write: an empty folder, in which they work between `enter` and `leave`.
 */
#ifndef BARCODE_TESTS_FOLDER_H
#define BARCODE_TESTS_FOLDER_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[64];
static int home;

static inline int enter(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/barcode-test.XXXXXX");
    home = open(".", O_RDONLY | O_DIRECTORY);
    return home >= 0 && mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static inline int leave(void **state)
{
    (void)state;
    char command[192];
    snprintf(command, sizeof command, "chmod -R u+rwx %s; rm -rf %s", folder, folder);
    int rc = fchdir(home);
    close(home);
    return rc == 0 && system(command) == 0 ? 0 : -1;
}

#endif
