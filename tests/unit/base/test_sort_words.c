#include <stdlib.h>
#include <string.h>

#include "base/sort_words.h"
#include "test.h"

static int compare(const void *a, const void *b)
{
    const uint64_t *p = a, *q = b;
    return (*p > *q) - (*p < *q);
}

static uint64_t draw(void)
{
    uint64_t word = 0;
    for (int i = 0; i < 5; i++)
        word = word << 15 ^ (uint64_t)rand();
    return word;
}

/* Against qsort, for each number of bits, and for words that share most digits. */
TEST(sorts_as_qsort)
{
    enum { MOST = 3000 };
    static uint64_t word[MOST], right[MOST], room[MOST];
    srand(1);
    for (int bits = 1; bits <= 64; bits++) {
        size_t n = (size_t)rand() % MOST;
        uint64_t mask = bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
        for (size_t i = 0; i < n; i++)
            right[i] = word[i] = draw() & mask & (bits % 3 ? UINT64_MAX : ~UINT64_C(0xffff00));
        sort_words(word, room, n, bits);
        qsort(right, n, sizeof *right, compare);
        assert_memory_equal(word, right, n * sizeof *word);
    }
}

TEST(nothing_and_equal_words)
{
    uint64_t word[3] = {7, 7, 7}, room[3];
    sort_words(word, room, 0, 64);
    sort_words(word, room, 3, 64);
    assert_true(word[0] == 7 && word[2] == 7);
}
