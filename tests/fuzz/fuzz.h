/* fuzz.h - what libFuzzer, or replay_main.c, calls. */
#ifndef BARCODE_TESTS_FUZZ_H
#define BARCODE_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
