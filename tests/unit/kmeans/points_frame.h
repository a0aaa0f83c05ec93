/*
 * points_frame.h - for tests of k-means' parts: a frame of PIXELS pixels, which the including file
 * defines, and its points.
 */
#ifndef TEST_POINTS_FRAME_H
#define TEST_POINTS_FRAME_H

#include "kmeans_pictures.h"
#include "barcode/kmeans/points.h"

struct frame {
    struct points_maker *maker;
    struct points p;
    uint8_t rgb[3 * PIXELS];
};

static inline struct frame *frame_open(void)
{
    struct err e = ERR_INIT;
    struct frame *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->maker = points_maker_open(PIXELS, ISA_C, &e);
    assert_true(f->maker && points_open(&f->p, PIXELS, &e));
    return f;
}

static inline void frame_close(struct frame *f)
{
    points_close(&f->p);
    points_maker_close(&f->maker);
    free(f);
}

#endif
