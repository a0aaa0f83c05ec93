/* find_print.h - writes the results of `barcode find`. */
#ifndef BARCODE_FIND_PRINT_H
#define BARCODE_FIND_PRINT_H

#include <stdio.h>

#include "barcode/base/err.h"
#include "find_votes.h"
#include "find_same.h"

/*
 * Writes the places that were found, of films whose paths are `path`: a line each, or an object of
 * JSON, also if there is none. Returns false if writing fails.
 */
bool find_print_places(FILE *out, const struct find_result *r, char *const *path, bool json,
                       struct err *e);

/* Writes groups of films, whose paths are `path`. */
bool find_print_same(FILE *out, const struct find_same *s, char *const *path, bool json,
                     struct err *e);

#endif
