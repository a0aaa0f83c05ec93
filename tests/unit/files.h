/* files.h - for tests that write: a folder (folder.h), whole files, and the sentence of an error. */
#ifndef BARCODE_TESTS_FILES_H
#define BARCODE_TESTS_FILES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "test.h"
#include "folder.h"
#include "barcode/base/err.h"

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

static inline void expect_sentence(const struct err *e, enum err_code code, const char *part)
{
    if (!strstr(e->text, part))
        fail_msg("'%s' lacks '%s'", e->text, part);
    assert_int_equal(e->code, code);
}

#endif
