/*
 * find_same.h - the films of a library that share their sound: candidates by shared_words.h, then
 * how much they share by align_map.h. Main thread only.
 */
#ifndef BARCODE_FIND_SAME_H
#define BARCODE_FIND_SAME_H

#include "find_library.h"

struct find_same_pair {
    size_t a, b; /* films of the library, a < b */
    uint32_t group;
    int64_t common_us;        /* of a's time */
    int64_t a_us, b_us;       /* lengths of their sounds */
    int speed_num, speed_den; /* a's time that passes in b's */
};

struct find_same {
    struct find_same_pair *pair; /* [pairs] by group, a, b */
    size_t pairs;
};

/*
 * Finds the films of which at least a tenth of the shorter one is in the other. The caller calls
 * find_same_free in any case.
 */
enum find_state find_same_films(struct find_library *l, struct find_same *s, int *status,
                                struct err *e);

void find_same_free(struct find_same *s);

#endif
