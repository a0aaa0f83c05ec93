/* limits.h - what the films may take: memory (--memory), and pixels of a frame (--max-pixels). */
#ifndef BARCODE_LIMITS_H
#define BARCODE_LIMITS_H

#include <stdint.h>

/* The most pixels of a frame without --max-pixels: 2^27, as of 16384x8192. */
#define LIMITS_PIXELS ((uint64_t)1 << 27)

/* Sets the limits of the user; 0: not given. Main thread, before any other thread exists. */
void limits_set(uint64_t memory, uint64_t pixels);

/*
 * Returns how many bytes all worker processes together may use: --memory, or what the machine or
 * the control group allows (machine_memory) less a reserve of 1/16. Returns UINT64_MAX if unknown.
 * Any thread.
 */
uint64_t limits_memory(void);

/* Returns the most pixels that a frame may have. Any thread. */
uint64_t limits_pixels(void);

/* Returns limits_memory for a machine of `machine` bytes (UINT64_MAX: unknown); for its test. */
uint64_t limits_memory_of(uint64_t machine, uint64_t wanted);

#endif
