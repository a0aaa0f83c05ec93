/* fuzz.h - what libFuzzer, or replay_main.c, calls. */
#ifndef BARCODE_TESTS_FUZZ_H
#define BARCODE_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What must hold whatever the bytes are. */
static inline void fuzz_demand(bool ok)
{
    if (!ok)
        abort();
}

#endif
