/* strips.h - pictures of the table's strips. */
#ifndef TEST_STRIPS_H
#define TEST_STRIPS_H

#include <string.h>

#include "output/modes/strip.h"

/* The strip of this name alone. */
static inline struct strips alone(const char *name)
{
    size_t i = 0;
    while (i < strip_count && strcmp(strip_table[i]->name, name) != 0)
        i++;
    assert_true(i < strip_count);
    return (struct strips){&strip_table[i], 1};
}

/* -m all. */
static inline struct strips stacked(void) { return strips_all(); }

#endif
