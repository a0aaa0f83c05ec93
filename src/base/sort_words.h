/* sort_words.h - sorts 64-bit words. */
#ifndef BARCODE_SORT_WORDS_H
#define BARCODE_SORT_WORDS_H

#include <stddef.h>
#include <stdint.h>

/* Sorts word[n] by the lowest `bits` bits (others: equal or 0), using room[n]. Any thread. */
void sort_words(uint64_t *word, uint64_t *room, size_t n, int bits);

#endif
