#include "barcode/kmeans/points.h"
#include "barcode/kmeans/seed.h"
#include "kmeans/assign.h"
#include "kmeans_pictures.h"
#include "under_tsan.h"

TEST(rungs)
{
    struct kmeans_rung r[KMEANS_RUNGS];
    struct kmeans_params p = params(8, 20, INIT_SCALABLE);
    assert_int_equal(kmeans_rungs(&p, r), 1);
    assert_true(r[0].iterations == 300 && r[0].go_on == 1);
    p.race = true;
    static const int on[][3] = {{5, 3, 1},  {6, 3, 2},   {9, 5, 2},       {10, 5, 2},
                                {11, 6, 3}, {20, 10, 4}, {1000, 500, 200}};
    for (size_t i = 0; i < sizeof on / sizeof *on; i++) {
        p.n_init = on[i][0];
        assert_int_equal(kmeans_rungs(&p, r), 3);
        assert_true(r[0].iterations == 5 && r[0].go_on == on[i][1]);
        assert_true(r[1].iterations == 12 && r[1].go_on == on[i][2]);
        assert_true(r[2].iterations == 300 && r[2].go_on == 1);
    }
    p.max_iter = 12;
    assert_int_equal(kmeans_rungs(&p, r), 2);
    assert_true(r[0].iterations == 5 && r[1].iterations == 12 && r[1].go_on == 1);
    p.max_iter = 5;
    assert_int_equal(kmeans_rungs(&p, r), 1);
    p.max_iter = 300;
    for (p.n_init = 1; p.n_init < 5; p.n_init++)
        assert_int_equal(kmeans_rungs(&p, r), 1);
}

/* Inertia of every restart after so many iterations of plain C, each from its start. */
static void inertia_after(const struct kmeans_params *p, const uint8_t *rgb, size_t pixels,
                          int iterations, uint64_t *inertia)
{
    struct err e = ERR_INIT;
    struct points_maker *maker = points_maker_open(pixels, ISA_C, &e);
    struct points points;
    assert_true(maker && points_open(&points, pixels, &e));
    points_make(maker, &points, rgb, pixels);
    struct seed *seed = seed_open(p, pixels, ISA_C, &e);
    struct restart r = {.assign = assign_open(p->k, pixels, ISA_C, &e)};
    assert_true(seed && r.assign);
    for (int i = 0; i < p->n_init; i++) {
        uint32_t centre[CLUSTERS_MAX];
        seed_start(seed, &points, 5, i, centre);
        restart_begin(&r, i, centre);
        restart_go_on(&r, &points, iterations < p->max_iter ? iterations : p->max_iter);
        inertia[i] = r.inertia;
    }
    assign_close(&r.assign);
    seed_close(&seed);
    points_close(&points);
    points_maker_close(&maker);
}

/* Of the restarts that are `in`, the `most` of smallest inertia stay in. */
static void leave(const uint64_t *inertia, int n, int most, bool *in)
{
    bool stays[64] = {false};
    for (; most > 0; most--) {
        int best = -1;
        for (int i = 0; i < n; i++)
            if (in[i] && !stays[i] && (best < 0 || inertia[i] < inertia[best]))
                best = i;
        if (best >= 0)
            stays[best] = true;
    }
    for (int i = 0; i < n; i++)
        in[i] = stays[i];
}

/* The race in the words of kmeans.h; the inertia of the restart that it chooses. */
static uint64_t raced(const struct kmeans_params *p, const uint8_t *rgb, size_t pixels)
{
    uint64_t inertia[64];
    bool in[64];
    memset(in, true, sizeof in);
    inertia_after(p, rgb, pixels, 5, inertia);
    leave(inertia, p->n_init, (p->n_init + 1) / 2, in);
    inertia_after(p, rgb, pixels, 12, inertia);
    leave(inertia, p->n_init, (p->n_init + 4) / 5, in);
    inertia_after(p, rgb, pixels, p->max_iter, inertia);
    leave(inertia, p->n_init, 1, in);
    for (int i = 0; i < p->n_init; i++)
        if (in[i])
            return inertia[i];
    return 0;
}

TEST(race_as_defined)
{
    enum { N = UNDER_TSAN ? 600 : 1200 };
    uint8_t rgb[3 * N];
    int behind = 0;
    for (int i = 0; i < 24; i++) {
        static const int ks[] = {2, 8, 16, 40}, inits[] = {5, 6, 20, 33};
        paint(rgb, N, i % 3 ? BLOBS : RANDOM, (uint32_t)i);
        struct kmeans_params p = params(ks[i % 4], inits[i / 2 % 4], (enum kmeans_init)(i % 3));
        p.max_iter = i % 8 == 7 ? 9 : 300;
        struct result whole = run(&p, ISA_C, rgb, N);
        p.race = true;
        struct result r = run(&p, ISA_C, rgb, N);
        assert_true(r.inertia == raced(&p, rgb, N));
        assert_true(r.inertia >= whole.inertia);
        behind += r.inertia > whole.inertia;
        compare(&p, rgb, N);
    }
    assert_true(behind > 0); /* or the race would not have been seen to leave any restart */
}

/* In a large workspace some restarts share the memory of the assign step and begin it anew when
 * they go on. */
TEST(race_in_little_memory)
{
    enum { N = 20000 };
    uint8_t *rgb = malloc(3 * (size_t)N);
    paint(rgb, N, BLOBS, 8);
    struct kmeans_params p = params(8, 20, INIT_SCALABLE);
    p.race = true;
    struct result want = run(&p, ISA_C, rgb, N);
    for (int isa = ISA_BASE; isa <= ISA_VNNI && isa_supported((enum isa)isa); isa++) {
        struct result got = run_in(&p, (enum isa)isa, rgb, N, (size_t)1 << 20, 5);
        assert_same(&got, &want);
    }
    free(rgb);
}
