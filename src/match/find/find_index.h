/*
 * find_index.h - the landmarks of a library's films on disk, sorted by key: files that can always
 * be made again, FOLDER/NAME-HASH.landmarks.
 *
 * New films get a file of their own, and small files are merged: each is more than twice as large
 * as all smaller ones together. Files appear by rename and never change, so that several processes
 * may read, add and merge at once without a lock: an open file stays readable when it is removed,
 * and a film that is in two files counts once. One thread an index.
 */
#ifndef BARCODE_MATCH_FIND_INDEX_H
#define BARCODE_MATCH_FIND_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "barcode/base/err.h"
#include "base/hash.h"
#include "sound/landmarks.h"

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
    size_t files, room;
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
 * false if a file cannot be read, or with ERR_INPUT if files were damaged, which are removed.
 */
typedef bool find_index_hit(void *user, size_t i, uint32_t film, uint32_t frame, struct err *e);
bool find_index_look(struct find_index *x, const uint32_t *key, size_t keys, find_index_hit *hit,
                     void *user, struct err *e);

void find_index_close(struct find_index *x);

/* ---- A file of an index: find_file.c, which has the format ---- */

enum {
    FIND_VERSION = 1,
    FIND_BLOCK = 8192,
    FIND_TAIL = 56,
    FIND_FILMS_MOST = 1 << LANDMARK_FILM_BITS,
    FIND_FRAMES_MOST = 1 << LANDMARK_TIME_BITS /* of a film: later landmarks are left out */
};

struct find_film {
    struct hash128 id;
    uint32_t frames, landmarks;
};

struct find_file {
    int fd;
    char *path;             /* owned */
    struct find_film *film; /* [films] */
    uint32_t *number;       /* [films]: in the index's list of films, or FIND_NOT_WANTED */
    uint64_t *base;         /* [films + 1]; the first frame of each; the last is that of all */
    uint32_t films;
    uint64_t *first; /* [blocks]: the blocks' first words */
    uint64_t blocks, landmarks;
    uint64_t loaded; /* the block that is in `block`; UINT64_MAX: none */
    uint8_t block[FIND_BLOCK];
};

/*
 * Opens a file and checks its tables. Returns NULL: with ERR_INPUT if it is damaged, or of another
 * version; with ERR_FAILED if it cannot be read; with ERR_MEMORY. One thread a file.
 */
struct find_file *find_file_open(const char *path, struct err *e);

void find_file_close(struct find_file **f);

/* Walks through the landmarks in ascending order. */
struct find_cursor {
    struct find_file *file;
    uint64_t block;
    size_t at;     /* in the block */
    uint64_t word; /* the current one */
    bool ended;
};

/* Begins at the first word. Returns false with an error as above. */
bool find_cursor_open(struct find_cursor *c, struct find_file *file, struct err *e);

/* Moves on to the first word that is `word` or more, unless it is there already or later. */
bool find_cursor_forward(struct find_cursor *c, uint64_t word, struct err *e);

bool find_cursor_next(struct find_cursor *c, struct err *e);

/* Returns the film that contains frame `position` of the axis, at `from` or later. */
uint32_t find_file_film(const struct find_file *f, uint64_t position, uint32_t from);

struct find_writer;

/* Begins a file. It appears under its path when it ends. */
struct find_writer *find_writer_open(const char *path, struct err *e);

/* Adds the next word, which is larger than the last one. */
bool find_writer_add(struct find_writer *w, uint64_t word, struct err *e);

/*
 * Writes the tables and renames the file to its path. Frees *w and sets it to NULL in any case;
 * `film` is NULL to give up.
 */
bool find_writer_end(struct find_writer **w, const struct find_film *film, uint32_t films,
                     struct err *e);

#endif
