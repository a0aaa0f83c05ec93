#include "kmeans_plain.h"

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

TEST(race_as_defined)
{
    enum { N = 1200 };
    uint8_t rgb[3 * N];
    int behind = 0;
    for (int i = 0; i < 24; i++) {
        static const int ks[] = {2, 8, 16, 40}, inits[] = {5, 6, 20, 33};
        paint(rgb, N, i % 3 ? BLOBS : RANDOM, (uint32_t)i);
        struct kmeans_params p = params(ks[i % 4], inits[i / 2 % 4], (enum kmeans_init)(i % 3));
        p.max_iter = i % 8 == 7 ? 9 : 300;
        struct result whole = run(&p, ISA_BASE, rgb, N);
        p.race = true;
        struct result r = run(&p, ISA_BASE, rgb, N);
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
    struct result want = plain_run(&p, rgb, N, 5);
    for (int isa = ISA_BASE; isa <= ISA_VNNI && isa_supported((enum isa)isa); isa++) {
        struct result got = run_in(&p, (enum isa)isa, rgb, N, (size_t)1 << 20, 5);
        assert_same(&got, &want);
    }
    free(rgb);
}
