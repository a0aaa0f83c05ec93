/* kmeans_pictures.h - made pictures, their points, and the k-means run on them. */
#ifndef TEST_KMEANS_PICTURES_H
#define TEST_KMEANS_PICTURES_H

#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "barcode/kmeans/kmeans.h"
#include "barcode/kmeans/points.h"

static inline uint32_t next(uint32_t *x)
{
    *x ^= *x << 13;
    *x ^= *x >> 17;
    *x ^= *x << 5;
    return *x;
}

enum picture { RANDOM, BLACK, WHITE, TWO_COLOURS, GRADIENT, LETTERBOX, BLOBS, PICTURES };

/* `pixels` pixels of a kind of picture, seen as rows of 100. */
static inline void paint(uint8_t *rgb, size_t pixels, enum picture kind, uint32_t seed)
{
    uint32_t x = seed * 2654435761u + 1;
    for (size_t i = 0; i < pixels; i++) {
        size_t row = i / 100, rows = pixels / 100 + 1;
        for (size_t c = 0; c < 3; c++) {
            uint32_t r = next(&x);
            uint32_t v = r >> 24;
            if (kind == BLACK || (kind == LETTERBOX && (row < rows / 8 || row >= rows - rows / 8)))
                v = 0;
            else if (kind == WHITE)
                v = 255;
            else if (kind == TWO_COLOURS)
                v = i % 7 < 3 ? 255 : 0;
            else if (kind == GRADIENT)
                v = (uint32_t)(i * (c + 1) * 255 / (pixels * 3));
            else if (kind == BLOBS)
                v = (uint32_t)((row * 5 / rows * 37 + i % 100 / 25 * 61 + c * 53) % 200) +
                    (r >> 16) % 28;
            rgb[3 * i + c] = (uint8_t)v;
        }
    }
}

struct result {
    struct cluster cluster[CLUSTERS_MAX];
    int found;
    uint64_t inertia;
};

static inline struct result run_in(const struct kmeans_params *p, enum isa isa, const uint8_t *rgb,
                                   size_t pixels, size_t room, uint64_t frame)
{
    struct err e = ERR_INIT;
    struct result r;
    memset(&r, 0, sizeof r);
    struct kmeans *km = kmeans_open(p, room, isa, &e);
    assert_non_null(km);
    r.found = kmeans_run(km, rgb, pixels, frame, r.cluster, &r.inertia);
    kmeans_free(&km);
    assert_null(km);
    return r;
}

static inline struct result run(const struct kmeans_params *p, enum isa isa, const uint8_t *rgb,
                                size_t pixels)
{
    return run_in(p, isa, rgb, pixels, pixels, 5);
}

static inline void assert_same(const struct result *a, const struct result *b)
{
    assert_int_equal(a->found, b->found);
    assert_true(a->inertia == b->inertia);
    for (int i = 0; i < a->found; i++) {
        assert_memory_equal(a->cluster[i].rgb, b->cluster[i].rgb, 3);
        assert_int_equal(a->cluster[i].count, b->cluster[i].count);
    }
}

static inline void assert_wellformed(const struct result *r, int k, size_t pixels)
{
    uint64_t sum = 0;
    assert_true(r->found >= 1 && r->found <= k);
    for (int i = 0; i < r->found; i++) {
        const struct cluster *c = r->cluster + i;
        sum += c->count;
        assert_true(c->count > 0);
        if (i > 0)
            assert_true(c[-1].count > c->count ||
                        (c[-1].count == c->count && memcmp(c[-1].rgb, c->rgb, 3) <= 0));
    }
    assert_int_equal(sum, pixels);
}

static inline struct kmeans_params params(int k, int n_init, enum kmeans_init init)
{
    return (struct kmeans_params){
        .k = k, .n_init = n_init, .max_iter = 300, .init = init, .seed = 42};
}

/* A frame of some pixels, which the test draws, and its points. */
struct frame {
    struct points_maker *maker;
    struct points p;
    uint8_t rgb[];
};

static inline struct frame *frame_open(size_t pixels)
{
    struct err e = ERR_INIT;
    struct frame *f = calloc(1, sizeof *f + 3 * pixels);
    assert_non_null(f);
    f->maker = points_maker_open(pixels, ISA_BASE, &e);
    assert_true(f->maker && points_open(&f->p, pixels, &e));
    return f;
}

static inline void frame_close(struct frame *f)
{
    points_close(&f->p);
    points_maker_close(&f->maker);
    free(f);
}

#endif
