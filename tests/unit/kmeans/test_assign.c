#include <stdlib.h>
#include <string.h>

#include "kmeans_plain.h"

enum { PIXELS = 9000 };

/* The score in the words of kmeans.h, in 64 bits. */
static int64_t defined_score(const int32_t q[3], int bits, int index, const int rgb[3])
{
    int64_t square = 0, dot = 0;
    for (int c = 0; c < 3; c++) {
        square += (int64_t)q[c] * q[c];
        dot += (int64_t)(rgb[c] - 127) * q[c];
    }
    int64_t h = square / ((int64_t)1 << (9 - bits));
    return (h - dot) * ((int64_t)1 << bits) + index;
}

TEST(score_as_defined)
{
    uint32_t x = 99;
    for (int i = 0; i < 200000; i++) {
        int bits = (int)(next(&x) % 7), one = 1 << (8 - bits);
        int32_t q[3];
        int rgb[3];
        for (int c = 0; c < 3; c++) {
            uint32_t edge = next(&x) % 4; /* black and white often: the extremes of the range */
            q[c] = edge == 0   ? -127 * one
                   : edge == 1 ? 128 * one
                               : (int32_t)(next(&x) % (uint32_t)(255 * one)) - 127 * one;
            rgb[c] = next(&x) % 3 ? (int)(next(&x) % 256) : (int)(next(&x) % 2 * 255);
        }
        int index = (int)(next(&x) % (1u << bits));
        int64_t want = defined_score(q, bits, index, rgb);
        uint32_t colour = colour_word((uint32_t)rgb[0], (uint32_t)rgb[1], (uint32_t)rgb[2]);
        assert_true(plain_score(assign_constant(q, bits, index), q, bits, colour) == want);
        assert_true(want < ASSIGN_NEVER && -want < ASSIGN_NEVER);
    }
}

static void set_q(struct assign *a, uint32_t *x, int step, int how_far)
{
    int most = 255 << (8 - a->bits);
    for (int j = 0; j < a->k; j++)
        for (int c = 0; c < 3; c++) {
            int raw = a->q[j][c] + (127 << (8 - a->bits));
            int jump = (int)(next(x) % (uint32_t)(2 * how_far + 1)) - how_far;
            raw = step == 0 ? (int)(next(x) % (uint32_t)(most + 1)) : raw + jump;
            raw = raw < 0 ? 0 : raw > most ? most : raw;
            a->q[j][c] = raw - (127 << (8 - a->bits));
        }
}

/* A step from centroids that moved by up to how_far in each channel: the sums are those of plain
 * loops. */
static void follow(const struct frame *f, struct assign *a, uint32_t *x, int step, int how_far)
{
    uint64_t sum[CLUSTERS_MAX][4];
    set_q(a, x, step, how_far);
    plain_sums(&f->p, a->k, a->bits, (const int32_t(*)[3])a->q, sum);
    assign_step(a, &f->p, step == 0);
    assert_memory_equal(a->sum, sum, sizeof sum);
}

/* A walk of the centroids, from tiny moves to jumps across the cube. */
static void walk(const struct frame *f, enum isa isa, int k, uint32_t seed)
{
    struct err e = ERR_INIT;
    struct assign *a = assign_open(k, f->p.n, isa, &e);
    static const int how_far[] = {1, 3, 20, 0, 300, 2, 2, 70000, 5, 1};
    uint32_t x = seed;
    assert_non_null(a);
    for (int restart = 0; restart < 2; restart++)
        for (int step = 0; step < 24; step++)
            follow(f, a, &x, step, how_far[step % 10]);
    /* Along a border the last unit counts. */
    for (int restart = 0; restart < 60 && k <= 3; restart++)
        for (int step = 0; step < 12; step++)
            follow(f, a, &x, step, 1);
    assign_close(&a);
    assert_null(a);
}

/* The same workspace for frame after frame: what an earlier, larger one left behind means nothing.
 */
TEST(one_workspace)
{
    static const size_t sizes[] = {8999, 40, 3000, 8192, 513, 1};
    static const int ks[] = {2, 5, 8, 20, 40};
    struct err e = ERR_INIT;
    struct frame *f = frame_open(PIXELS);
    for (int isa = ISA_BASE; isa <= ISA_VNNI; isa++) {
        for (size_t n = 0; isa_supported((enum isa)isa) && n < sizeof ks / sizeof *ks; n++) {
            struct assign *a = assign_open(ks[n], PIXELS, (enum isa)isa, &e);
            uint32_t x = 77 + (uint32_t)n;
            assert_non_null(a);
            for (size_t i = 0; i < 2 * sizeof sizes / sizeof *sizes; i++) {
                for (size_t p = 0; p < 3 * PIXELS; p++)
                    f->rgb[p] = (uint8_t)(p / 900 * 7 + next(&x) % 40);
                points_make(f->maker, &f->p, f->rgb, sizes[i % 6]);
                points_box(&f->p, (enum isa)isa);
                /* Now and then as far as differences of two int16 go, and beyond. */
                for (int step = 0; step < 12; step++)
                    follow(f, a, &x, step, step % 4 == 1 ? 8000 + (int)(next(&x) % 22000) : 2);
            }
            assign_close(&a);
        }
    }
    frame_close(f);
}

static void fill(struct frame *f, int kind, uint32_t seed)
{
    uint32_t x = seed;
    size_t pixels = kind == 0 ? PIXELS : kind == 1 ? 1 : 700;
    for (size_t i = 0; i < pixels; i++)
        for (int c = 0; c < 3; c++) {
            uint32_t r = next(&x);
            f->rgb[3 * i + (size_t)c] = (uint8_t)(kind == 0   ? (i * 20 / PIXELS * 12 + r % 30)
                                                  : kind == 3 ? r % 2 * 255
                                                              : r % 256);
        }
    points_make(f->maker, &f->p, f->rgb, pixels);
}

TEST(sums_of_a_walk)
{
    static const int ks[] = {1, 2, 3, 7, 8, 9, 16, 17, 31, 32, 63, 64};
    struct frame *f = frame_open(PIXELS);
    for (int kind = 0; kind < 4; kind++) {
        fill(f, kind, 17 + (uint32_t)kind);
        for (int isa = ISA_BASE; isa <= ISA_VNNI && isa_supported((enum isa)isa); isa++) {
            points_box(&f->p, (enum isa)isa);
            for (size_t n = 0; n < sizeof ks / sizeof *ks; n++)
                walk(f, (enum isa)isa, ks[n], 1000 + (uint32_t)n);
        }
    }
    frame_close(f);
}

/* Two centroids at one place: every point goes to the lower. */
TEST(ties_go_to_the_lower)
{
    struct frame *f = frame_open(PIXELS);
    fill(f, 0, 5);
    for (int isa = ISA_BASE; isa <= ISA_VNNI && isa_supported((enum isa)isa); isa++) {
        struct err e = ERR_INIT;
        points_box(&f->p, (enum isa)isa);
        struct assign *a = assign_open(5, f->p.n, (enum isa)isa, &e);
        assert_non_null(a);
        for (int j = 0; j < 5; j++)
            a->q[j][0] = a->q[j][1] = a->q[j][2] = j < 2 ? 1000 : -1000;
        for (int step = 0; step < 2; step++) {
            assign_step(a, &f->p, step == 0);
            assert_true(a->sum[0][3] > 0 && a->sum[2][3] > 0);
            assert_true(a->sum[0][3] + a->sum[2][3] == PIXELS);
        }
        assign_close(&a);
    }
    frame_close(f);
}
