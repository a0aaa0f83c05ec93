/*
 * find_library.h - the films of a library and the index of their sound (find_index.h), which is
 * brought up to date. Main thread only.
 */
#ifndef BARCODE_FIND_LIBRARY_H
#define BARCODE_FIND_LIBRARY_H

#include "barcode/sound/film_sound.h"
#include "command.h"
#include "find_index.h"

struct find_library {
    struct command_batch batch; /* its `in` lists the films */
    struct hash128 *id;         /* [batch.in.count]: of the files as they are now; 0: none */
    bool *has;                  /* the film is in the index */
    struct find_index index;
    size_t known; /* films that are in the index */
};

enum find_library_state {
    FIND_LIBRARY_READY,
    FIND_LIBRARY_FAILED, /* `e` is set */
    FIND_LIBRARY_WORKER  /* this is a worker process, which must end with *status */
};

/*
 * Lists the films of the folders and files word[words], and opens their index. Films that are not
 * in it are decoded unless their sound is in the cache, and added. A film that fails is reported
 * and left out. The caller calls find_library_close in any case.
 */
enum find_library_state find_library_open(struct find_library *l, const struct command_line *line,
                                          char *const *word, size_t words, int *status,
                                          struct err *e);

/*
 * Loads the sound of film i of a batch that has run. Returns false if it is not in the cache: the
 * film failed.
 */
bool find_library_sound(const struct command_batch *b, size_t i, struct film_sound *sound);

/* Removes what is damaged from the index and adds it again; states as above. */
enum find_library_state find_library_mend(struct find_library *l, int *status, struct err *e);

void find_library_close(struct find_library *l);

#endif
