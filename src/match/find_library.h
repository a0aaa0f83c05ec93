/*
 * find_library.h - the films of a library, their sound, and the index of it (find_index.h). Main
 * thread only.
 */
#ifndef BARCODE_FIND_LIBRARY_H
#define BARCODE_FIND_LIBRARY_H

#include "sound/film_sound.h"
#include "command.h"
#include "find_index.h"

struct find_library {
    struct command_batch batch; /* its `in` lists the films */
    struct hash128 *id;         /* [batch.in.count]: of the files as they are now; 0: none */
    bool *has;                  /* [batch.in.count]: the film is in the index */
    struct find_index index;
    size_t known; /* films that are in the index */
};

enum find_state {
    FIND_DONE,
    FIND_FAILED, /* `e` is set, or the batch has reported the error and *status is not 0 */
    FIND_WORKER  /* this is a worker process, which must end with *status */
};

/* Lists the films of the files and folders word[words]. The caller calls find_library_close. */
bool find_library_open(struct find_library *l, const struct command_line *line, char *const *word,
                       size_t words, bool recursive, struct err *e);

/*
 * Calls `visit` with the sound of each film i for which skip[i] is not set (NULL: all), from the
 * cache or decoded. Films that fail are reported and left out; then *status is not 0.
 */
typedef bool find_visit(void *user, size_t i, const struct film_sound *sound, struct err *e);
enum find_state find_library_each(struct find_library *l, const bool *skip, find_visit *visit,
                                  void *user, int *status, struct err *e);

/*
 * Opens the index of the library word[words] and adds the films that are not in it. The second call
 * removes what is damaged before.
 */
enum find_state find_library_index(struct find_library *l, char *const *word, size_t words,
                                   int *status, struct err *e);

void find_library_close(struct find_library *l);

#endif
