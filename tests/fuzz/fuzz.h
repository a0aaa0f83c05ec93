/* fuzz.h - what libFuzzer, or replay_main.c, calls. */
#ifndef BARCODE_TESTS_FUZZ_H
#define BARCODE_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What must hold whatever the bytes are. */
static inline void fuzz_demand(bool ok)
{
    if (!ok)
        abort();
}

/* Returns a copy of the exact size, so that a sanitizer guards both ends. The caller frees it. */
static inline uint8_t *fuzz_copy(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size);
    fuzz_demand(copy || size == 0);
    if (size > 0)
        memcpy(copy, data, size);
    return copy;
}

/* Returns a descriptor of a file in memory that has these bytes. */
static inline int fuzz_file(const uint8_t *data, size_t size)
{
    int fd = memfd_create("input", MFD_CLOEXEC);
    fuzz_demand(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    return fd;
}

#endif
