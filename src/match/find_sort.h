/* find_sort.h - sorts 64-bit words. */
#ifndef BARCODE_FIND_SORT_H
#define BARCODE_FIND_SORT_H

#include <stddef.h>
#include <stdint.h>

/*
 * Sorts word[n] in ascending order by the lowest `bits` bits; the others must be equal or 0. `room`
 * has n words too, and is overwritten. Any thread.
 */
void find_sort(uint64_t *word, uint64_t *room, size_t n, int bits);

#endif
