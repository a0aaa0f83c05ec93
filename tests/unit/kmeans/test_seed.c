#include <stdlib.h>
#include <string.h>

#include "kmeans_pictures.h"
#include "kmeans/kmeans_vector.h"
#include "barcode/kmeans/seed.h"

enum { PIXELS = 6000 };

static void start(const struct frame *f, enum kmeans_init init, int k, enum isa isa, int restart,
                  uint32_t *centre)
{
    struct err e = ERR_INIT;
    struct kmeans_params params = {
        .k = k, .n_init = 1, .max_iter = 1, .init = init, .seed = UINT64_C(0x123456789abcdef)};
    struct seed *s = seed_open(&params, PIXELS, isa, &e);
    assert_non_null(s);
    seed_start(s, &f->p, 77, restart, centre);
    seed_close(&s);
    assert_null(s);
}

/* Checks that every instruction set starts from the k colours that plain C starts from. */
static void check_start(struct frame *f, enum kmeans_init init, int k, int restart,
                        uint32_t want[CLUSTERS_MAX])
{
    start(f, init, k, ISA_C, restart, want);
    for (int isa = ISA_BASE; isa <= ISA_VNNI && isa_supported((enum isa)isa); isa++) {
        uint32_t got[CLUSTERS_MAX];
        points_box(&f->p, (enum isa)isa);
        start(f, init, k, (enum isa)isa, restart, got);
        assert_memory_equal(got, want, (size_t)k * sizeof *want);
    }
}

/* Every start, every instruction set: k distinct colours of the frame, the same ones. */
TEST(same_from_every_isa)
{
    static const int ks[] = {1, 2, 3, 8, 9, 16, 33, 64};
    struct frame *f = frame_open(PIXELS);
    uint32_t x = 11;
    for (int colours = 2; colours <= 258; colours += 64) {
        for (size_t i = 0; i < 3 * PIXELS; i++)
            f->rgb[i] = (uint8_t)(next(&x) % (uint32_t)colours * 255 / (uint32_t)colours);
        points_make(f->maker, &f->p, f->rgb, PIXELS);
        for (size_t n = 0; n < sizeof ks / sizeof *ks; n++) {
            if ((size_t)ks[n] >= f->p.n)
                continue;
            for (int init = INIT_SCALABLE; init <= INIT_RANDOM; init++) {
                uint32_t want[CLUSTERS_MAX];
                check_start(f, (enum kmeans_init)init, ks[n], 3, want);
                for (int a = 0; a < ks[n]; a++)
                    for (int b = 0; b < a; b++)
                        assert_true(want[a] != want[b]);
            }
        }
    }
    frame_close(f);
}

/* k + 1 colours, all but one of a single pixel: the rounds find too few and are topped up. */
TEST(few_candidates_are_topped_up)
{
    struct frame *f = frame_open(PIXELS);
    memset(f->rgb, 0, 3 * PIXELS);
    for (int i = 0; i < 64; i++)
        f->rgb[3 * i] = (uint8_t)(i < 32 ? 1 + i : 255),
                   f->rgb[3 * i + 1] = (uint8_t)(i < 32 ? 0 : i);
    points_make(f->maker, &f->p, f->rgb, PIXELS);
    assert_int_equal(f->p.n, 65);
    for (int k = 40; k <= 64; k += 8) {
        uint32_t want[CLUSTERS_MAX];
        check_start(f, INIT_SCALABLE, k, 0, want);
    }
    frame_close(f);
}

static void same_draws(const struct nearest *a, const struct nearest *b, enum isa isa)
{
    assert_true(a->total == b->total);
    for (int i = 0; a->total > 0 && i < 50; i++) {
        uint64_t t = seed_scale((uint64_t)i * (UINT64_MAX / 49), a->total);
        assert_int_equal(seed_nearest_find(a, ISA_C, t), seed_nearest_find(b, isa, t));
    }
}

/* What is put off while there is candidate 0 alone is there when it is asked for: draws,
 * potentials, counts, `more` candidates. */
static void check_alone(struct frame *f, enum isa isa, int more)
{
    struct err e = ERR_INIT;
    struct nearest plain, fast;
    uint32_t colour[70], count[2][70];
    uint64_t potential[2][3];
    assert_true(seed_nearest_open(&plain, PIXELS, &e) && seed_nearest_open(&fast, PIXELS, &e));
    for (size_t i = 0; i < 70; i++)
        colour[i] = f->p.colour[(i * 7919 + 5) % f->p.n];
    plain.p = fast.p = &f->p;
    for (int turn = 0; turn < 4; turn++) {
        seed_nearest_add(&plain, ISA_C, colour, 0, 1, false);
        seed_nearest_add(&fast, isa, colour, 0, 1, false);
        same_draws(&plain, &fast, isa);
        seed_nearest_try(&plain, ISA_C, colour + 1, 3, potential[0]);
        if (turn % 2)
            seed_nearest_try(&fast, isa, colour + 1, 3, potential[1]);
        assert_true(turn % 2 == 0 || memcmp(potential[0], potential[1], sizeof potential[0]) == 0);
        if (turn / 2) {
            seed_nearest_add(&plain, ISA_C, colour + 1, 1, more, false);
            seed_nearest_add(&fast, isa, colour + 1, 1, more, false);
            same_draws(&plain, &fast, isa);
        }
        seed_nearest_count(&plain, ISA_C, count[0], 70);
        seed_nearest_count(&fast, isa, count[1], 70);
        assert_memory_equal(count[0], count[1], sizeof count[0]);
        assert_memory_equal(plain.key, fast.key, f->p.n * sizeof *plain.key);
    }
    seed_nearest_close(&plain);
    seed_nearest_close(&fast);
}

TEST(candidate_0_alone)
{
    static const int more[] = {1, 2, 15, 16, 17, 33, 69};
    struct frame *f = frame_open(PIXELS);
    uint32_t x = 23;
    for (int colours = 3; colours <= 243; colours *= 3) {
        for (size_t i = 0; i < 3 * PIXELS; i++)
            f->rgb[i] = (uint8_t)(next(&x) % (uint32_t)colours * 255 / (uint32_t)colours);
        points_make(f->maker, &f->p, f->rgb, PIXELS);
        for (int isa = ISA_BASE; isa <= ISA_VNNI && isa_supported((enum isa)isa); isa++) {
            points_box(&f->p, (enum isa)isa);
            for (size_t i = 0; i < sizeof more / sizeof *more; i++)
                check_alone(f, (enum isa)isa, more[i]);
        }
    }
    frame_close(f);
}

/* The random start against the words of its definition. */
TEST(random_by_definition)
{
    struct frame *f = frame_open(PIXELS);
    uint32_t x = 5;
    for (size_t i = 0; i < 3 * PIXELS; i++)
        f->rgb[i] = (uint8_t)(next(&x) % 3 * 100);
    points_make(f->maker, &f->p, f->rgb, PIXELS);
    uint32_t got[CLUSTERS_MAX], left[27];
    start(f, INIT_RANDOM, 20, ISA_C, 9, got);
    memcpy(left, f->p.weight, sizeof left);
    uint64_t total = PIXELS;
    for (uint32_t draw = 0; draw < 20; draw++) {
        uint64_t t =
            seed_scale(philox_u64(UINT64_C(0x123456789abcdef), draw, 9, 77, STAGE_RANDOM), total);
        size_t i = 0;
        for (uint64_t sum = left[0]; sum <= t; sum += left[++i])
            ;
        assert_int_equal(got[draw], f->p.colour[i]);
        total -= left[i];
        left[i] = 0;
    }
    frame_close(f);
}

TEST(small_functions)
{
    static const int want[][2] = {{1, 2},  {2, 2},  {3, 3},  {7, 3},  {8, 4},
                                  {20, 4}, {21, 5}, {54, 5}, {55, 6}, {64, 6}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        assert_int_equal(seed_trials(want[i][0]), want[i][1]);
    assert_true(seed_scale(0, 1000) == 0);
    assert_true(seed_scale(UINT64_MAX, 1000) == 999);
    assert_true(seed_scale(UINT64_MAX, UINT64_MAX) == UINT64_MAX - 1);
    assert_true(seed_scale(UINT64_C(1) << 63, 1001) == 500);
}
