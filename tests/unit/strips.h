/* strips.h - the table's strips, and what writers make of them. */
#ifndef TEST_STRIPS_H
#define TEST_STRIPS_H

#include <stdio.h>
#include <string.h>

#include "output/writer.h"

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

/* Returns the bytes of an output and a 0, which the caller frees. */
static inline char *written(const char *writer, const struct report *r, struct strips strips,
                            size_t *size)
{
    static char *bytes; /* open_memstream keeps its address */
    struct err e = ERR_INIT;
    FILE *f = open_memstream(&bytes, size);
    assert_ok(writer_find(writer)->write(r, strips, f, &e), &e);
    assert_int_equal(fclose(f), 0);
    return bytes;
}

static inline void free_columns(struct report *r)
{
    struct columns *c = (struct columns *)r->columns;
    columns_free(&c);
    r->columns = NULL;
}

#endif
