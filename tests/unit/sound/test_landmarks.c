#include <stdlib.h>

#include "sound/landmarks.h"
#include "test.h"

enum { PEAKS = 400 };

static uint32_t key_of(uint32_t f1, int df, uint32_t dt)
{
    return f1 << 14 | (uint32_t)(df + 128) << 6 | dt;
}

TEST(pairs_of_a_short_list)
{
    static const struct peak peak[] = {
        {10, 100, 1}, {10, 300, 0}, {11, 90, 0},  {12, 227, 1},  {12, 228, 1},
        {20, 100, 0}, {73, 101, 1}, {74, 100, 1}, {500, 511, 1},
    };
    static const struct {
        bool wide;
        uint32_t f1, frame;
        int df;
        uint32_t dt;
    } row[] = {
        {false, 100, 10, -10, 1},   {false, 100, 10, 127, 2},   {false, 100, 10, 0, 10},
        {false, 300, 10, -73, 2},   {false, 300, 10, -72, 2},   {false, 90, 11, 10, 9},
        {false, 90, 11, 11, 62},    {false, 90, 11, 10, 63},    {false, 227, 12, -127, 8},
        {false, 227, 12, -126, 61}, {false, 227, 12, -127, 62}, {false, 228, 12, -127, 61},
        {false, 100, 20, 1, 53},    {false, 100, 20, 0, 54},    {false, 101, 73, -1, 1},
        {true, 100, 10, 127, 2},    {true, 100, 10, 1, 63},     {true, 227, 12, -126, 61},
        {true, 227, 12, -127, 62},  {true, 228, 12, -127, 61},  {true, 101, 73, -1, 1},
    };
    struct landmark got[27];
    for (int wide = 0; wide < 2; wide++) {
        size_t n = landmarks_make(peak, 9, wide, LANDMARK_FAN, got), at = 0;
        for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
            if (row[i].wide != (wide == 1))
                continue;
            assert_true(at < n);
            assert_int_equal(got[at].key, key_of(row[i].f1, row[i].df, row[i].dt));
            assert_int_equal(got[at++].frame, row[i].frame);
        }
        assert_int_equal(at, n);
    }
}

/* Counts the pairs by the definition, and checks each: none is further than the others. */
TEST(definition)
{
    static struct peak peak[PEAKS];
    static struct landmark got[PEAKS * 6];
    uint32_t frame = 0;
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

TEST(none)
{
    struct landmark got[1];
    assert_int_equal(landmarks_make(NULL, 0, false, 3, got), 0);
}
