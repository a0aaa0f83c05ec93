/* find_same.h - what two films of a library share. Main thread only. */
#ifndef BARCODE_MATCH_FIND_SAME_H
#define BARCODE_MATCH_FIND_SAME_H

#include "barcode/base/err.h"
#include "sound/film_sound.h"

struct find_same_pair {
    size_t a, b; /* films of the library, a < b */
    uint32_t group;
    bool identical;    /* the same bytes, without sound by which they could be compared */
    int64_t common_us; /* sound of a that is in b too; silence does not count */
    int of_a, of_b;    /* shares of the films' sounds, in thousandths */
    int speed_num, speed_den;
};

/*
 * Aligns two films, and sets what their sounds share. *found: enough to be a pair. Returns false if
 * out of memory or interrupted.
 */
bool find_same_sound(const struct film_sound *a, const struct film_sound *b,
                     struct find_same_pair *p, bool *found, struct err *e);

/* Returns true if two regular files of the same size have the same bytes. */
bool find_same_bytes(const char *a, const char *b);

#endif
