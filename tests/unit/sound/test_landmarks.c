#include <stdlib.h>
#include <string.h>

#include "sound/landmarks.h"
#include "test.h"

enum { PEAKS = 400 };

static uint32_t key_of(uint32_t f1, int df, uint32_t dt)
{
    return f1 << 14 | (uint32_t)(df + 128) << 6 | dt;
}

/* Counts the pairs by the definition, and checks each: none is further than the others. */
TEST(definition)
{
    static struct peak peak[PEAKS];
    static struct landmark got[PEAKS * 6];
    uint32_t frame = 0;
    assert_int_equal(landmarks_make(NULL, 0, false, 3, got), 0);
    srand(5);
    for (int i = 0; i < PEAKS; i++) {
        frame += (uint32_t)(rand() % 4 ? rand() % 5 : rand() % 90);
        peak[i] = (struct peak){frame, (uint16_t)(rand() % 512), (uint16_t)(rand() % 2)};
    }
    for (int fan = 1; fan <= 6; fan++)
        for (int wide = 0; wide < 2; wide++) {
            size_t n = landmarks_make(peak, PEAKS, wide, fan, got), at = 0;
            for (int i = 0; i < PEAKS; i++) {
                int pairs = 0;
                for (int j = i + 1; j < PEAKS && pairs < fan; j++) {
                    int dt = (int)(peak[j].frame - peak[i].frame);
                    int df = peak[j].bin - peak[i].bin;
                    if (dt < 1 || dt > 63 || abs(df) > 127 ||
                        (wide && !(peak[i].wide && peak[j].wide)))
                        continue;
                    pairs++;
                    assert_true(at < n);
                    assert_int_equal(got[at].key, key_of(peak[i].bin, df, (uint32_t)dt));
                    assert_true(got[at].key < 1u << LANDMARK_KEY_BITS);
                    assert_int_equal(got[at++].frame, peak[i].frame);
                }
            }
            assert_int_equal(at, n);
        }
}

TEST(words_sort_by_key_film_and_time)
{
    struct landmark l = {key_of(511, 127, 63), 0xfffff};
    assert_true(landmark_word(l, 0xfffff) == (UINT64_C(1) << 63) - 1);
    l = (struct landmark){5, 3};
    assert_true(landmark_word(l, 2) == (UINT64_C(5) << 40 | UINT64_C(2) << 20 | 3));
}

/* ---- Films that share their sound ---- */

enum { FILMS = 6, FILM_PEAKS = 3000, FRAMES = 9000 };

static struct peak film[FILMS][FILM_PEAKS];

static int compare_peaks(const void *a, const void *b)
{
    const struct peak *p = a, *q = b;
    return p->frame != q->frame ? (p->frame > q->frame) - (p->frame < q->frame) : p->bin - q->bin;
}

static int compare_words(const void *a, const void *b)
{
    const uint64_t *p = a, *q = b;
    return (*p > *q) - (*p < *q);
}

/* Film 3 has a third of film 1, 500 frames later; film 4 is film 0. */
FIXTURE(make_films)
{
    srand(4);
    for (int f = 0; f < FILMS; f++) {
        for (int i = 0; i < FILM_PEAKS; i++)
            film[f][i] = (struct peak){(uint32_t)rand() % FRAMES, (uint16_t)(4 + rand() % 500),
                                       (uint16_t)(rand() % 3 > 0)};
        qsort(film[f], FILM_PEAKS, sizeof **film, compare_peaks);
    }
    for (int i = 0; i < FILM_PEAKS / 3; i++) {
        film[3][i] = film[1][i];
        film[3][i].frame += 500;
    }
    qsort(film[3], FILM_PEAKS, sizeof **film, compare_peaks);
    memcpy(film[4], film[0], sizeof *film);
    return 0;
}

/* The words of all films, and the first frame of each; returns the number of words. */
static size_t make_words(uint64_t *word, uint32_t *base)
{
    size_t n = 0;
    base[0] = 0;
    for (int f = 0; f < FILMS; f++) {
        n += shared_words_make(film[f], FILM_PEAKS, base[f], word + n);
        base[f + 1] = base[f] + FRAMES + 600;
    }
    return n;
}

/* A word is for an anchor with two partners, and equal for equal distances. */
TEST(words_of_anchors)
{
    static const struct peak few[] = {{10, 100, 1}, {12, 90, 1},  {14, 95, 1}, {15, 99, 0},
                                      {90, 100, 1}, {92, 90, 1},  {94, 95, 1}, {170, 100, 1},
                                      {172, 90, 1}, {174, 96, 1}, {300, 5, 1}};
    uint64_t word[11];
    size_t n = shared_words_make(few, 11, 1000, word);
    assert_int_equal(n, 3);
    assert_int_equal((uint32_t)word[0], 1010);
    assert_int_equal((uint32_t)word[1], 1090);
    assert_int_equal((uint32_t)word[2], 1170);
    assert_true(word[0] >> 32 == word[1] >> 32);
    assert_true(word[0] >> 32 != word[2] >> 32);
}

/* All pairs of words by the definition. */
TEST(votes_by_the_definition)
{
    static uint64_t word[FILMS * FILM_PEAKS], right[1 << 20];
    uint32_t base[FILMS + 1];
    size_t n = make_words(word, base), rights = 0, votes;
    for (size_t i = 0; i < n; i++)
        word[i] &= ~(UINT64_C(0x1fffff) << 43); /* runs of all lengths */
    for (size_t i = 0; i < n; i++) {
        size_t run = 0;
        for (size_t j = 0; j < n; j++)
            run += word[i] >> 32 == word[j] >> 32;
        for (size_t j = 0; j < n && run <= SHARED_RUN_MOST; j++) {
            uint64_t a = (uint32_t)word[i] / base[1], b = (uint32_t)word[j] / base[1];
            if (a < b && word[i] >> 32 == word[j] >> 32)
                right[rights++] = a << 44 | b << 24 |
                                  ((uint32_t)word[j] - base[b] - ((uint32_t)word[i] - base[a]) +
                                   SHARED_OFFSET_ZERO);
        }
    }
    qsort(right, rights, sizeof *right, compare_words);
    struct err e = ERR_INIT;
    uint64_t *vote;
    struct shared_films films = {base, FILMS};
    assert_true(shared_votes(word, n, &films, rights, &vote, &votes, &e));
    assert_true(rights > 1000);
    assert_int_equal(votes, rights);
    assert_memory_equal(vote, right, rights * sizeof *vote);
    free(vote);
    assert_false(shared_votes(word, n, &films, rights - 1, &vote, &votes, &e));
    assert_int_equal(e.code, ERR_FAILED);
}

TEST(pairs_of_films)
{
    static uint64_t word[FILMS * FILM_PEAKS];
    uint32_t base[FILMS + 1];
    size_t n = make_words(word, base), votes, pairs;
    struct err e = ERR_INIT;
    struct shared_films films = {base, FILMS};
    struct shared_pair *pair;
    uint64_t *vote;
    assert_true(shared_votes(word, n, &films, SIZE_MAX, &vote, &votes, &e));
    assert_true(shared_pairs(vote, votes, 12, &pair, &pairs, &e));
    assert_int_equal(pairs, 2);
    assert_true(pair[0].a == 0 && pair[0].b == 4 && pair[0].offset == 0);
    assert_true(pair[0].votes > 1500);
    assert_true(pair[1].a == 1 && pair[1].b == 3 && pair[1].offset == 500);
    assert_true(pair[1].votes > 100 && pair[1].votes < 700);
    free(pair);
    assert_true(shared_pairs(vote, 0, 12, &pair, &pairs, &e));
    assert_int_equal(pairs, 0);
    free(pair);
    free(vote);
}

TEST_FIXTURE(make_films, NULL)
