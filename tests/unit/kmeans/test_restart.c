#include "kmeans_plain.h"

enum { PIXELS = 6000, K = 12 };

/* Returns a frame for `isa`, and where two restarts on it begin. */
static struct frame *frame_for(enum isa isa, uint32_t centre[2][CLUSTERS_MAX])
{
    struct err e = ERR_INIT;
    struct kmeans_params p = params(K, 2, INIT_RANDOM);
    struct frame *f = frame_open(PIXELS);
    paint(f->rgb, PIXELS, BLOBS, 11);
    points_make(f->maker, &f->p, f->rgb, PIXELS);
    points_box(&f->p, isa);
    struct seed *seed = seed_open(&p, PIXELS, isa, &e);
    assert_non_null(seed);
    for (int i = 0; i < 2; i++)
        seed_start(seed, &f->p, 3, i, centre[i]);
    seed_close(&seed);
    return f;
}

static struct assign *workspace(enum isa isa)
{
    struct err e = ERR_INIT;
    struct assign *a = assign_open(K, PIXELS, isa, &e);
    assert_non_null(a);
    return a;
}

static void assert_same_restart(const struct restart *a, const struct plain_restart *b)
{
    assert_true(a->inertia == b->inertia && a->iterations == b->iterations &&
                a->ended == b->ended && a->number == b->number);
    assert_memory_equal(a->sum, b->sum, K * sizeof *a->sum);
    if (!a->ended)
        assert_memory_equal(a->q, b->q, K * sizeof *a->q);
}

/* Two restarts go on in turns, in parts, and come to what plain loops come to in one go; with
 * memory of their own and without. */
TEST(parts_make_the_whole)
{
    static const int stops[] = {1, 2, 2, 5, 12, 100000};
    for (int isa = ISA_BASE; isa <= ISA_VNNI && isa_supported((enum isa)isa); isa++) {
        uint32_t centre[2][CLUSTERS_MAX];
        struct frame *f = frame_for((enum isa)isa, centre);
        struct assign *one = workspace((enum isa)isa), *other = workspace((enum isa)isa);
        for (int unshared = 0; unshared < 2; unshared++) {
            struct restart r[2] = {{.assign = one, .unshared = unshared},
                                   {.assign = unshared ? other : one, .unshared = unshared}};
            for (int i = 0; i < 2; i++)
                restart_begin(&r[i], i, centre[i]);
            for (size_t s = 0; s < sizeof stops / sizeof *stops; s++)
                for (int i = 0; i < 2; i++) {
                    struct plain_restart want;
                    plain_begin(&want, K, i, centre[i]);
                    plain_go_on(&want, &f->p, K, stops[s]);
                    restart_go_on(&r[i], &f->p, stops[s]);
                    assert_same_restart(&r[i], &want);
                }
            assert_true(r[0].ended && r[1].ended && r[0].iterations > 12 && r[1].iterations > 12);
        }
        assign_close(&one);
        assign_close(&other);
        frame_close(f);
    }
}

TEST(order)
{
    struct restart a = {.number = 3, .inertia = 7}, b = {.number = 1, .inertia = 7};
    assert_true(restart_before(&b, &a) && !restart_before(&a, &b) && !restart_before(&a, &a));
    a.inertia = 6;
    assert_true(restart_before(&a, &b) && !restart_before(&b, &a));
}
