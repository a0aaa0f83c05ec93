/* find_merge.h - merges files of an index (find_index.h). One thread. */
#ifndef BARCODE_FIND_MERGE_H
#define BARCODE_FIND_MERGE_H

#include "find_file.h"

struct find_merge {
    struct find_file **file; /* [files], borrowed, as `number`: FIND_NOT_WANTED films are dropped */
    uint32_t **number;
    size_t files;
    struct find_film *film; /* the films of the result */
    uint64_t **base;        /* of each film of each file: its first frame in the result */
    uint64_t frames;        /* of all films */
    uint32_t films;
};

/* Lists the films. On failure *m is empty. */
bool find_merge_open(struct find_merge *m, struct find_file **file, uint32_t **number, size_t files,
                     struct err *e);

/* Writes the merged file. */
bool find_merge_write(const struct find_merge *m, const char *path, struct err *e);

/* Frees what find_merge_open made. */
void find_merge_close(struct find_merge *m);

#endif
