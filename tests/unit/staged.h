/*
 * staged.h - for tests: frames made of a number, and columns compared to the last byte.
 */
#ifndef BARCODE_TESTS_STAGED_H
#define BARCODE_TESTS_STAGED_H

#include <stdlib.h>
#include <string.h>

#include "barcode/engine/engine.h"

static inline struct engine *staged_engine(int threads)
{
    struct err e = ERR_INIT;
    struct engine_config config = {.threads = threads};
    struct engine *g = engine_open("cpu", &config, &e);
    assert_ok(g, &e);
    return g;
}

/* Frame n: blocks of colours, a few of them random, so that clusters, averages and rows all differ.
 */
static inline void staged_draw(uint8_t *rgb, int width, int height, uint64_t n)
{
    uint64_t z = n * UINT64_C(0x9e3779b97f4a7c15) + 1;
    for (int i = 0; i < width * height; i++) {
        z = z * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        unsigned shade = (unsigned)(z >> 60);
        rgb[3 * i] = (uint8_t)(n * 37 + (unsigned)(i % width) / 4 * 16 + shade);
        rgb[3 * i + 1] = (uint8_t)(n * 11 + (unsigned)(i / width) * 8);
        rgb[3 * i + 2] = (uint8_t)(shade > 11 ? 200 + shade : n * 5);
    }
}

static inline struct frame_view staged_view(const uint8_t *rgb, int width, int height)
{
    struct frame_view v = {.model = MODEL_RGB,
                           .matrix = MATRIX_RGB,
                           .range = RANGE_FULL,
                           .bits = 8,
                           .width = width,
                           .height = height};
    for (int c = 0; c < 3; c++)
        v.plane[c] = (struct plane){rgb + c, (ptrdiff_t)width * 3, 3, width, height};
    return v;
}

static inline struct frame_tag staged_tag(uint64_t column)
{
    return (struct frame_tag){
        .column = column, .repeat = 1, .frame = column * 24, .time_us = (int64_t)column * 1000000};
}

/* Puts the frame that staged_draw makes of `n` (at most 64x64), as it is or as a decoded picture;
 * it was read before put returns. */
static inline bool staged_put(struct engine_port *p, int width, int height, uint64_t n, bool staged,
                              struct err *e)
{
    uint8_t rgb[64 * 64 * 3];
    staged_draw(rgb, width, height, n);
    struct frame_tag tag = staged_tag(n);
    struct frame_view view = staged_view(rgb, width, height);
    bool ok = staged ? engine_put_analysed(p, rgb, &tag, e) : engine_put(p, &view, &tag, e);
    memset(rgb, 0xee, sizeof rgb);
    return ok;
}

/* True when two columns hold the same bytes. */
static inline bool same_column(const struct column *a, const struct column *b, int rows)
{
    if (a->frame != b->frame || a->time_us != b->time_us || a->repeat != b->repeat ||
        a->status != b->status || a->clusters != b->clusters || a->modes != b->modes ||
        memcmp(a->average, b->average, 3) != 0 || memcmp(a->dominant, b->dominant, 3) != 0)
        return false;
    for (int i = 0; i < a->clusters; i++)
        if (memcmp(a->cluster[i].rgb, b->cluster[i].rgb, 3) != 0 ||
            a->cluster[i].count != b->cluster[i].count)
            return false;
    for (int i = 0; i < a->modes; i++)
        if (memcmp(a->mode[i].rgb, b->mode[i].rgb, 3) != 0 || a->mode[i].count != b->mode[i].count)
            return false;
    return rows == 0 || memcmp(a->row, b->row, (size_t)rows * 3) == 0;
}

/* The first column that differs, -1 when all are the same. */
static inline long first_difference(struct columns *a, struct columns *b, int rows)
{
    uint64_t most = columns_count(a) > columns_count(b) ? columns_count(a) : columns_count(b);
    for (uint64_t i = 0; i < most; i++)
        if (!same_column(columns_get(a, i), columns_get(b, i), rows))
            return (long)i;
    return columns_count(a) == columns_count(b) ? -1 : (long)most;
}

#endif
