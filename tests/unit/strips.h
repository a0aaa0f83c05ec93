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

/*
 * The bytes of an output of the film 9-ab with the fingerprint r=1 are recognized by its writer alone, as
 * complete or cut off; a writer without `end` stores nothing.
 */
static inline void expect_recognized(const struct writer *w, char *got, size_t size)
{
    char film[FILM_ID_TEXT] = "";
    struct writer_metadata says = {.columns = 0};
    assert_true(writer_recognizes(w, (const uint8_t *)got, size, film));
    assert_string_equal(film, "9-ab");
    FILE *f = fmemopen(got, size, "r");
    assert_int_equal(writer_read(w, f, &says), w->end != NULL);
    fclose(f);
    if (w->end)
        assert_string_equal(says.fingerprint, "r=1");
    f = fmemopen(got, size - 3, "r");
    assert_false(writer_read(w, f, &says));
    fclose(f);
    for (size_t j = 0; j < writer_count; j++)
        assert_true(writer_table[j] == w ||
                    !writer_recognizes(writer_table[j], (const uint8_t *)got, size, film));
}

static inline void expect_full_disk(const char *writer, const struct report *r,
                                    struct strips strips)
{
    struct err e = ERR_INIT;
    assert_false(writer_save(writer_find(writer), r, strips, "/dev/full", &e));
    assert_string_equal(e.text, "cannot write '/dev/full': No space left on device");
}

static inline void free_columns(struct report *r)
{
    struct columns *c = (struct columns *)r->columns;
    columns_free(&c);
    r->columns = NULL;
}

#endif
