#include "kmeans_plain.h"

enum { MOST = 100000 };

TEST(every_k)
{
    uint8_t *rgb = malloc(3 * 1500);
    paint(rgb, 1500, BLOBS, 1);
    for (int k = 1; k <= 64; k++) {
        struct kmeans_params p = params(k, 1 + k % 2, (enum kmeans_init)(k % 3));
        compare(&p, rgb, 1500);
    }
    free(rgb);
}

TEST(every_size)
{
    uint8_t rgb[3 * 120];
    for (size_t pixels = 1; pixels <= 120; pixels++) {
        struct kmeans_params p = params(1 + (int)pixels % 9, 2, (enum kmeans_init)(pixels % 3));
        paint(rgb, pixels, pixels % 2 ? RANDOM : BLOBS, (uint32_t)pixels);
        compare(&p, rgb, pixels);
    }
}

TEST(every_picture)
{
    static const size_t sizes[] = {1, 2, 63, 300, 1999};
    static const int ks[] = {1, 2, 5, 8, 16, 33, 64};
    uint8_t *rgb = malloc(3 * 1999);
    for (int kind = 0; kind < PICTURES; kind++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            paint(rgb, sizes[s], (enum picture)kind, (uint32_t)s);
            for (size_t n = 0; n < sizeof ks / sizeof *ks; n++)
                for (int init = INIT_SCALABLE; init <= INIT_RANDOM; init++) {
                    struct kmeans_params p = params(ks[n], 2, (enum kmeans_init)init);
                    compare(&p, rgb, sizes[s]);
                }
        }
    free(rgb);
}

TEST(large_frames)
{
    uint8_t *rgb = malloc(3 * (size_t)MOST);
    static const int ks[] = {3, 8, 20};
    for (size_t n = 0; n < 3; n++) {
        paint(rgb, MOST, n == 0 ? RANDOM : n == 1 ? BLOBS : LETTERBOX, 3);
        struct kmeans_params p = params(ks[n], 1, (enum kmeans_init)n);
        p.max_iter = n == 0 ? 6 : 12;
        compare(&p, rgb, n == 0 ? MOST : MOST / 4 + 3);
    }
    free(rgb);
}

/* A workspace remembers nothing: not the frames before, not its size. */
TEST(workspace_is_reusable)
{
    enum { N = 2000 };
    uint8_t a[3 * N], b[3 * N];
    struct err e = ERR_INIT;
    paint(a, N, BLOBS, 1);
    paint(b, N, RANDOM, 2);
    struct kmeans_params p = params(9, 6, INIT_SCALABLE);
    p.race = true;
    struct result want = plain_run(&p, a, N, 5),
                  late = plain_run(&p, b, 500, UINT64_C(0x700000002));
    for (int isa = ISA_BASE; isa <= ISA_VNNI && isa_supported((enum isa)isa); isa++) {
        struct kmeans *km = kmeans_open(&p, 3 * N, (enum isa)isa, &e);
        assert_non_null(km);
        for (int i = 0; i < 3; i++) {
            struct result got;
            got.found = kmeans_run(km, a, N, 5, got.cluster, &got.inertia);
            assert_same(&got, &want);
            /* frame numbers count modulo 2^32 */
            got.found = kmeans_run(km, b, 500, 2, got.cluster, NULL);
            got.inertia = late.inertia;
            assert_same(&got, &late);
        }
        kmeans_free(&km);
    }
}

/* More pixels of a colour than its sums hold in 32 bits. */
TEST(beyond_32_bits)
{
    enum { N = (1 << 24) + 70000, FEW = 700 };
    uint8_t *rgb = malloc(3 * (size_t)N);
    assert_non_null(rgb);
    memset(rgb, 255, 3 * (size_t)N);
    paint(rgb, FEW, BLOBS, 7);
    for (int k = 2; k <= 40; k += 19) {
        struct kmeans_params p = params(k, 2, (enum kmeans_init)(k % 3));
        compare(&p, rgb, N);
    }
    free(rgb);
}

TEST(few_colours_come_back)
{
    static const uint8_t rgb[] = {9,   8, 7, 1, 2, 3, 9, 8, 7, 0,  0,
                                  255, 1, 2, 3, 9, 8, 7, 0, 0, 254};
    static const struct cluster want[] = {
        {{9, 8, 7}, 3}, {{1, 2, 3}, 2}, {{0, 0, 254}, 1}, {{0, 0, 255}, 1}};
    for (int k = 4; k <= 64; k += 20) {
        struct kmeans_params p = params(k, 1, INIT_SCALABLE);
        struct result r = run(&p, ISA_BASE, rgb, sizeof rgb / 3);
        assert_int_equal(r.found, 4);
        assert_true(r.inertia == 0);
        for (int i = 0; i < 4; i++) {
            assert_memory_equal(r.cluster[i].rgb, want[i].rgb, 3);
            assert_int_equal(r.cluster[i].count, want[i].count);
        }
        compare(&p, rgb, sizeof rgb / 3);
    }
}

/* k = 1 has one answer: the rounded mean, and its inertia. */
TEST(one_cluster_is_the_mean)
{
    static const uint8_t rgb[] = {0, 0, 10, 1, 0, 20, 0, 255, 30, 1, 255, 41};
    struct kmeans_params p = params(1, 2, INIT_PLUSPLUS);
    struct result r = run(&p, ISA_BASE, rgb, 4);
    assert_int_equal(r.found, 1);
    /* 0.5, 127.5, 25.25 */
    assert_memory_equal(r.cluster[0].rgb, ((const uint8_t[]){1, 128, 25}), 3);
    assert_int_equal(r.cluster[0].count, 4);
    uint64_t square = 0 + 1 + 0 + 1 + 2 * 255 * 255 + 100 + 400 + 900 + 1681;
    assert_true(r.inertia ==
                (square << INERTIA_FRACTION) -
                    ((UINT64_C(2) * 2 + 510 * 510 + 101 * 101) << INERTIA_FRACTION) / 4);
    compare(&p, rgb, 4);
}

static double nearest2(const uint8_t *rgb, const double (*centre)[3], int k, int *label)
{
    double best = 1e30;
    for (int j = 0; j < k; j++) {
        double d = 0;
        for (int c = 0; c < 3; c++)
            d += (rgb[c] - centre[j][c]) * (rgb[c] - centre[j][c]);
        if (d < best) {
            best = d;
            *label = j;
        }
    }
    return best;
}

/* One step of Lloyd in double; returns the inertia before it. */
static double lloyd(const uint8_t *rgb, size_t pixels, double (*centre)[3], int k)
{
    double sum[CLUSTERS_MAX][4] = {{0}}, inertia = 0;
    for (size_t i = 0; i < pixels; i++) {
        int label = 0;
        inertia += nearest2(rgb + 3 * i, (const double(*)[3])centre, k, &label);
        for (int c = 0; c < 3; c++)
            sum[label][c] += rgb[3 * i + (size_t)c];
        sum[label][3] += 1;
    }
    for (int j = 0; j < k; j++)
        for (int c = 0; c < 3 && sum[j][3] > 0; c++)
            centre[j][c] = sum[j][c] / sum[j][3];
    return inertia;
}

static double units(uint64_t inertia) { return (double)inertia / (1 << INERTIA_FRACTION); }

/* Our inertia is that of our clusters, and plain Lloyd in double cannot take much off it. */
TEST(inertia_is_true_and_converged)
{
    enum { N = 5000 };
    uint8_t rgb[3 * N];
    paint(rgb, N, BLOBS, 6);
    static const int ks[] = {2, 8, 16, 40};
    for (size_t n = 0; n < 4; n++) {
        struct kmeans_params p = params(ks[n], 10, INIT_SCALABLE);
        struct result r = run(&p, ISA_BASE, rgb, N);
        double centre[CLUSTERS_MAX][3], before = 0;
        for (int j = 0; j < r.found; j++)
            for (int c = 0; c < 3; c++)
                centre[j][c] = r.cluster[j].rgb[c];
        before = lloyd(rgb, N, centre, r.found);
        assert_true(units(r.inertia) < before * 1.0005 && before < units(r.inertia) * 1.02);
        for (int i = 0; i < 100; i++)
            before = lloyd(rgb, N, centre, r.found);
        assert_true(before > units(r.inertia) * 0.99 && before < units(r.inertia) * 1.002);
    }
}

/* More iterations and more restarts never hurt: those before are among them. */
TEST(more_is_never_worse)
{
    enum { N = 4000 };
    static const struct {
        int k, iterations[6], restarts[6];
        enum picture picture;
    } row[] = {{12, {1, 2, 5, 20, 100, 100000}, {1, 1, 1, 1, 1, 1}, BLOBS},
               {6, {300, 300, 300, 300, 300, 300}, {1, 2, 4, 8, 12, 16}, RANDOM}};
    uint8_t rgb[3 * N];
    for (size_t n = 0; n < 2; n++) {
        uint64_t last = UINT64_MAX;
        paint(rgb, N, row[n].picture, 4);
        for (int i = 0; i < 6; i++) {
            struct kmeans_params p = params(row[n].k, row[n].restarts[i], INIT_RANDOM);
            p.max_iter = row[n].iterations[i];
            struct result r = run(&p, ISA_BASE, rgb, N);
            assert_true(r.inertia <= last);
            last = r.inertia;
            compare(&p, rgb, N);
        }
    }
}

TEST(seed_and_frame_matter)
{
    enum { N = 1500 };
    uint8_t rgb[3 * N];
    paint(rgb, N, RANDOM, 9);
    struct kmeans_params p = params(10, 1, INIT_SCALABLE);
    struct result a = run_in(&p, ISA_BASE, rgb, N, N, 1),
                  again = run_in(&p, ISA_BASE, rgb, N, N, 1);
    struct result other = run_in(&p, ISA_BASE, rgb, N, N, 2);
    assert_same(&a, &again);
    assert_true(a.inertia != other.inertia);
    p.seed = UINT64_C(42) << 32 | 42;
    struct result seeded = run_in(&p, ISA_BASE, rgb, N, N, 1);
    assert_true(a.inertia != seeded.inertia);
}

TEST(names)
{
    assert_string_equal(kmeans_init_name(INIT_SCALABLE), "scalable");
    assert_string_equal(kmeans_init_name(INIT_PLUSPLUS), "k-means++");
    assert_string_equal(kmeans_init_name(INIT_RANDOM), "random");
}
