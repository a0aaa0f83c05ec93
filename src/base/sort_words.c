/* Sorts by the least significant digit first. Skips the digits that are equal in all words. */
#include "sort_words.h"

#include <stdbool.h>
#include <string.h>

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

/* Sorts from[n] to to[n] by one digit. Returns false if it is equal in all, and moves nothing. */
static bool sort_digit(const uint64_t *from, uint64_t *to, size_t n, int shift)
{
    size_t at[DIGITS] = {0}, sum = 0;
    for (size_t i = 0; i < n; i++)
        at[from[i] >> shift & (DIGITS - 1)]++;
    if (at[from[0] >> shift & (DIGITS - 1)] == n)
        return false;
    for (size_t d = 0; d < DIGITS; d++) {
        size_t count = at[d];
        at[d] = sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++)
        to[at[from[i] >> shift & (DIGITS - 1)]++] = from[i];
    return true;
}

void sort_words(uint64_t *word, uint64_t *room, size_t n, int bits)
{
    uint64_t *from = word, *to = room;
    for (int shift = 0; n > 0 && shift < bits; shift += DIGIT_BITS)
        if (sort_digit(from, to, n, shift)) {
            uint64_t *sorted = to;
            to = from;
            from = sorted;
        }
    if (n > 0 && from != word)
        memcpy(word, from, n * sizeof *word);
}
