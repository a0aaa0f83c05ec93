/*
 * find_index.h - the landmarks of a library's films on disk, sorted by key: files (find_file.h)
 * that can always be made again, FOLDER/NAME-HASH.landmarks.
 *
 * New films get a file of their own, and small files are merged: each is more than twice as large
 * as all smaller ones together. Files appear by rename and never change, so that several processes
 * may read, add and merge at once without a lock: an open file stays readable when it is removed,
 * and a film that is in two files counts once. One thread an index.
 */
#ifndef BARCODE_FIND_INDEX_H
#define BARCODE_FIND_INDEX_H

#include "find_file.h"

#define FIND_NOT_WANTED UINT32_MAX

/* A film of the library. */
struct find_wanted {
    struct hash128 id;
    uint32_t number;
};

struct find_index {
    char *folder; /* owned; need not exist before something is added */
    char *name;   /* owned; of the library: the files' names begin with it */
    struct find_file **file;
    uint32_t **number; /* of each file's films: in the library's list, or FIND_NOT_WANTED */
    size_t files;
    struct find_wanted *wanted; /* [wants] by id */
    size_t wants;
    /* films that are not in a file yet */
    struct find_film *film;
    size_t films, films_room;
    uint64_t *word; /* landmark_word */
    size_t words, words_room;
};

/*
 * Opens the index of the library `name` in `folder`. Files that are damaged or of another version
 * are removed with a warning, those of other users are ignored. Returns false if out of memory or
 * interrupted.
 */
bool find_index_open(struct find_index *x, const char *folder, const char *name, struct err *e);

/*
 * Sets the library's films, and has[i] for each that is in the index. Landmarks of other films no
 * longer count, and are dropped when files are merged.
 */
bool find_index_want(struct find_index *x, const struct hash128 *id, size_t films, bool *has,
                     struct err *e);

/* Sets has[i] for each wanted film that is in the index. */
void find_index_has(const struct find_index *x, bool *has);

/*
 * Adds a film with its landmarks (landmarks_make), which may be none. It is in the index after
 * find_index_save.
 */
bool find_index_add(struct find_index *x, struct hash128 id, uint32_t frames,
                    const struct landmark *landmark, size_t n, struct err *e);

/* Writes what was added and merges files, without the films that are not wanted. */
bool find_index_save(struct find_index *x, struct err *e);

/*
 * Calls `hit` for each landmark of the wanted films with key[i], for all i; keys ascend. Returns
 * false with an error of find_file.h.
 */
typedef bool find_index_hit(void *user, size_t i, uint32_t film, uint32_t frame, struct err *e);
bool find_index_look(struct find_index *x, const uint32_t *key, size_t keys, find_index_hit *hit,
                     void *user, struct err *e);

/* Removes the damaged files: those that cannot be read to the end. */
bool find_index_check(struct find_index *x, struct err *e);

/* Closes the index and empties it. */
void find_index_close(struct find_index *x);

#endif
