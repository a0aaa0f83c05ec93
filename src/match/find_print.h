/* find_print.h - the results of `barcode find` on stdout. */
#ifndef BARCODE_FIND_PRINT_H
#define BARCODE_FIND_PRINT_H

#include "barcode/base/err.h"
#include "find_votes.h"
#include "find_same.h"

/* Prints a place: time, film and score, or an object of JSON. Returns false if stdout fails. */
bool find_print_place(const char *film, const struct find_result *r, bool json, struct err *e);

/* Prints groups of films, whose paths are `path`. */
bool find_print_same(const struct find_same *s, char *const *path, bool json, struct err *e);

#endif
