#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "barcode/engine/colour.h"
#include "output/modes/time_axis.h"

enum { MOST = 300 };

/* The definition, a column at a time. */
static void reference(const int64_t *edge, int count, int64_t half, const uint8_t *from,
                      uint8_t *to)
{
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) {
            uint64_t sum = 0, weight = 0;
            int64_t mi = edge[i] / 1000 + (edge[i + 1] / 1000 - edge[i] / 1000) / 2;
            for (int j = 0; j < count; j++) {
                int64_t span = edge[j + 1] / 1000 - edge[j] / 1000, mj = edge[j] / 1000 + span / 2,
                        away = llabs(mj - mi);
                uint64_t w = away < half ? (uint64_t)(span < 1         ? 1
                                                      : span > 3600000 ? 3600000
                                                                       : span) *
                                               (uint64_t)(half - away)
                                         : 0;
                sum += w * srgb_linear[from[j * 3 + k]];
                weight += w;
            }
            uint64_t mean = (2 * sum + weight) / (2 * weight);
            int best = 0;
            for (int v = 1; v < 256; v++)
                if (llabs((int64_t)srgb_linear[v] - (int64_t)mean) <
                    llabs((int64_t)srgb_linear[best] - (int64_t)mean))
                    best = v;
            to[i * 3 + k] = (uint8_t)best;
        }
}

TEST(it_is_the_definition)
{
    srand(3);
    for (int round = 0; round < 60; round++) {
        int count = 1 + rand() % MOST;
        int64_t edge[MOST + 1] = {(int64_t)(rand() % 100) * 1000000000}, step = round % 3 == 0 ? 1
                                                                                : round % 3 == 1
                                                                                    ? 100000
                                                                                    : 400000000;
        uint8_t line[MOST * 3], right[MOST * 3];
        for (int i = 0; i < count; i++)
            edge[i + 1] = edge[i] + rand() % 10 * step +
                          (round % 7 == 0 && i == count / 2 ? INT64_C(100000000000) : 0);
        for (int i = 0; i < count * 3; i++)
            line[i] = (uint8_t)rand();
        int64_t smooth_us =
            round % 5 == 0 ? INT64_C(3600000000) : (1 + rand() % 5000) * INT64_C(1000);
        reference(edge, count, smooth_us / 1000, line, right);
        struct err e = ERR_INIT;
        struct smooth *s = smooth_open(edge, (uint64_t)count, smooth_us, &e);
        smooth_line(s, line);
        assert_memory_equal(line, right, (size_t)count * 3);
        free(s);
    }
}

/* Every level alone stays; between black and white lies the middle of the light. */
TEST(what_it_means)
{
    int64_t edge[5] = {0, 1000000, 2000000, 3000000, 4000000};
    struct err e = ERR_INIT;
    struct smooth *s = smooth_open(edge, 4, 2000000, &e);
    for (int v = 0; v < 256; v++) {
        uint8_t line[12], right[12];
        memset(line, v, 12);
        memset(right, v, 12);
        smooth_line(s, line);
        assert_memory_equal(line, right, 12);
    }
    uint8_t edge_line[12] = {0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 255, 255};
    smooth_line(s, edge_line);
    assert_int_equal(edge_line[0], 0);   /* the next but one is 2 s away: no weight */
    assert_int_equal(edge_line[3], 137); /* a quarter of the light */
    assert_int_equal(edge_line[6], 225); /* three quarters */
    free(s);
}
