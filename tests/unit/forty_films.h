/*
 * forty_films.h - a folder of films that need not be there: what a queue and a run are opened over.
 */
#ifndef BARCODE_TESTS_FORTY_FILMS_H
#define BARCODE_TESTS_FORTY_FILMS_H

#include "barcode/inputs.h"

enum { FILMS = 40 };

/* All of one size. The arrays are the test's own and last; each call sets them anew. */
static inline struct inputs forty_films(void)
{
    static struct err problem[FILMS];
    static enum input_duty duty[FILMS];
    static struct input_file file[FILMS];
    static char *path[FILMS];
    for (size_t i = 0; i < FILMS; i++) {
        file[i] = (struct input_file){.bytes = 1000};
        path[i] = "folder/film.mkv";
    }
    return (struct inputs){.problem = problem, .duty = duty, .file = file, .path = path, .count = FILMS};
}

#endif
