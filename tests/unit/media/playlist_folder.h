/* playlist_folder.h - a folder with films in, below and outside the folder of a playlist, "list".
 */
#ifndef BARCODE_TESTS_PLAYLIST_FOLDER_H
#define BARCODE_TESTS_PLAYLIST_FOLDER_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

static char folder[] = "/tmp/barcode-playlist-XXXXXX";

static inline void put(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");
    assert_true(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

/* Makes it and enters it. */
static inline int playlist_folder_begin(void **state)
{
    (void)state;
    if (!mkdtemp(folder) || chdir(folder) != 0 || mkdir("far", 0700) || mkdir("list", 0700) ||
        mkdir("list/sub", 0700))
        return 1;
    put("far/film", "film");
    put("list/film", "film");
    put("list/sub/film", "film");
    return 0;
}

static inline int playlist_folder_end(void **state)
{
    char command[64];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return chdir("/") != 0 || system(command) != 0;
}

#endif
