/* named.h - for tests of films and outputs: files, and options as a command line leaves them. */
#ifndef BARCODE_TESTS_NAMED_H
#define BARCODE_TESTS_NAMED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "folder.h"
#include "cli/cli.h"
#include "plan/inputs.h"

static inline void put(const char *path, const void *bytes, size_t size)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

/* Returns the bytes of a file of less than 4 MB, which the caller frees, and room for one more. */
static inline void *contents(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    void *all = malloc(1 << 22);
    *size = fread(all, 1, 1 << 22, f);
    fclose(f);
    return all;
}

static inline void touch(const char *path) { put(path, "x", 1); }

static inline struct options options_for(char **input, size_t inputs)
{
    return (struct options){.inputs.argument = input,
                            .inputs.count = inputs,
                            .picture.strip = {strip_table[0]},
                            .picture.strips = 1};
}

/* Expands a list of words that ends in NULL; the caller frees `in`. */
static inline struct options expand(char **input, struct inputs *in)
{
    size_t count = 0;
    while (input[count])
        count++;
    struct options o = options_for(input, count);
    struct err e = ERR_INIT;
    if (!inputs_expand(&o, in, &e))
        fail_msg("%s", e.text);
    return o;
}

#define LIST(...) ((char *[]){__VA_ARGS__, NULL})

static inline void expect_sentence(const struct err *e, enum err_code code, const char *part)
{
    if (!strstr(e->text, part))
        fail_msg("'%s' lacks '%s'", e->text, part);
    assert_int_equal(e->code, code);
}

#endif
