/* sort_words.h - sorts 64-bit words. */
#ifndef BARCODE_SORT_WORDS_H
#define BARCODE_SORT_WORDS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Sorts word[n] in ascending order by the lowest `bits` bits; the others must be equal or 0. `room`
 * has n words too, and is overwritten. Any thread.
 */
void sort_words(uint64_t *word, uint64_t *room, size_t n, int bits);

#endif
