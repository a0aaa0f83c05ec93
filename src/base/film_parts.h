/* film_parts.h - the files of a film in several files. Any thread. */
#ifndef BARCODE_FILM_PARTS_H
#define BARCODE_FILM_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "barcode/base/err.h"

/* A file, and the section of it that the film shows. */
struct film_part {
    char *path;
    int64_t start_us, end_us; /* by the file's own timestamps; the complete file: end_us is 0 */
};

/* Empty if zero. Whoever makes it frees it with film_parts_free. */
struct film_parts {
    struct film_part *part; /* [count], in the order of the film */
    size_t count;
    int64_t rate_num, rate_den; /* each file is an image, so many a second; 0/0: films */
};

/* Appends a copy of `*part`. Returns false if out of memory. */
bool film_parts_add(struct film_parts *parts, const struct film_part *part, struct err *e);

/*
 * Returns the files of a film: `path` alone if `parts` is NULL. The number of files is
 * film_files_count.
 */
const char *film_file(const char *path, const struct film_parts *parts, size_t i);
size_t film_files_count(const struct film_parts *parts);

/* Returns true if all parts are regular files; otherwise ERR_INPUT names the first other one. */
bool film_parts_check(const char *path, const struct film_parts *parts, struct err *e);

/* Returns the size of all parts together. */
uint64_t film_parts_bytes(const struct film_parts *parts);

/* Returns true if a part is the same file as `path`, maybe by another name. */
bool film_parts_have(const struct film_parts *parts, const char *path);

/* Frees the list and sets *parts to NULL. Does nothing if it is NULL. */
void film_parts_free(struct film_parts **parts);

#endif
