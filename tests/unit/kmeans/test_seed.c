#include <stdlib.h>
#include <string.h>

#include "kmeans_plain.h"
#include "kmeans/kmeans_vector.h"

enum { PIXELS = 6000 };

static struct kmeans_params start_params(enum kmeans_init init, int k)
{
    return (struct kmeans_params){
        .k = k, .n_init = 1, .max_iter = 1, .init = init, .seed = UINT64_C(0x123456789abcdef)};
}

/* Checks that every instruction set starts from the k colours that plain loops start from. */
static void check_start(struct frame *f, enum kmeans_init init, int k, int restart,
                        uint32_t want[CLUSTERS_MAX])
{
    struct err e = ERR_INIT;
    struct kmeans_params p = start_params(init, k);
    plain_start(&f->p, &p, 77, restart, want);
    for (int isa = ISA_BASE; isa <= ISA_VNNI && isa_supported((enum isa)isa); isa++) {
        uint32_t got[CLUSTERS_MAX];
        points_box(&f->p, (enum isa)isa);
        struct seed *s = seed_open(&p, PIXELS, (enum isa)isa, &e);
        assert_non_null(s);
        seed_start(s, &f->p, 77, restart, got);
        seed_close(&s);
        assert_null(s);
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

static void check_draws(const struct nearest *n, const struct plain_points *plain)
{
    assert_true(n->total == plain_potential(plain));
    for (int i = 0; n->total > 0 && i < 50; i++) {
        uint64_t t = seed_scale((uint64_t)i * (UINT64_MAX / 49), n->total);
        assert_int_equal(seed_nearest_find(n, t), plain_find(plain, true, t));
    }
}

static void check_counts(struct nearest *n, enum isa isa, const struct plain_points *plain)
{
    uint32_t want[70] = {0}, got[70];
    for (size_t i = 0; i < plain->n; i++)
        want[plain->nearest[i]] += plain->weight[i];
    seed_nearest_count(n, isa, got, 70);
    assert_memory_equal(got, want, sizeof want);
    for (size_t i = 0; i < plain->n; i++) {
        assert_int_equal(nearest_distance(n->key[i]), plain->d2[i]);
        assert_int_equal(nearest_index(n->key[i]), plain->nearest[i]);
    }
}

/* What is put off while there is candidate 0 alone is there when it is asked for: draws,
 * potentials, counts, `more` candidates. */
static void check_alone(struct frame *f, enum isa isa, int more)
{
    struct err e = ERR_INIT;
    struct nearest n;
    uint32_t colour[70];
    assert_true(seed_nearest_open(&n, PIXELS, &e));
    for (size_t i = 0; i < 70; i++)
        colour[i] = f->p.colour[(i * 7919 + 5) % f->p.n];
    n.p = &f->p;
    for (int turn = 0; turn < 4; turn++) {
        struct plain_points plain = plain_points(f->p.n, f->p.colour, f->p.weight);
        plain_add(&plain, colour[0], 0);
        seed_nearest_add(&n, isa, colour, 0, 1, false);
        check_draws(&n, &plain);
        uint64_t potential[3];
        if (turn % 2)
            seed_nearest_try(&n, isa, colour + 1, 3, potential);
        for (int i = 0; turn % 2 && i < 3; i++)
            assert_true(potential[i] == plain_try(&plain, colour[1 + i]));
        if (turn / 2) {
            for (int i = 1; i <= more; i++)
                plain_add(&plain, colour[i], (uint32_t)i);
            seed_nearest_add(&n, isa, colour + 1, 1, more, false);
            check_draws(&n, &plain);
        }
        check_counts(&n, isa, &plain);
        plain_free(&plain);
    }
    seed_nearest_close(&n);
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
