/* made_film.h - a film of scan frames: scenes of tiles, mixed, moved and lit. */
#ifndef BARCODE_TESTS_MADE_FILM_H
#define BARCODE_TESTS_MADE_FILM_H

#include <string.h>

#include "shots/shots.h"
#include "test.h"

enum { FRAME_BYTES = SCAN_WIDTH * SCAN_HEIGHT * 3, FRAMES_MOST = 1000, FRAME_US = 40000 };

struct made_film {
    int frames;
    uint8_t rgb[FRAMES_MOST][FRAME_BYTES];
};

static inline unsigned tile_level(int scene, int x, int y, int c)
{
    uint32_t h = (uint32_t)scene * 2654435761U + (uint32_t)(x >> 3) * 40503U +
                 (uint32_t)(y >> 3) * 2246822519U + (uint32_t)c * 97U;
    h = (h ^ h >> 15) * 2246822519U;
    h = (h ^ h >> 13) * 3266489917U;
    return 40 + ((h ^ h >> 16) & 127);
}

/* Appends a frame of a scene, its camera at pixel `x`. */
static inline uint8_t *add_scene(struct made_film *m, int scene, int x)
{
    uint8_t *to = m->rgb[m->frames++];
    for (int i = 0; i < FRAME_BYTES; i++)
        to[i] = (uint8_t)tile_level(scene, i / 3 % SCAN_WIDTH + x, i / 3 / SCAN_WIDTH, i % 3);
    return to;
}

static inline void add_scenes(struct made_film *m, int scene, int frames)
{
    for (int i = 0; i < frames; i++)
        add_scene(m, scene, 0);
}

/* Mixes the frame with a level: `share` of `of` parts of it. */
static inline void mix_level(uint8_t *rgb, int level, int share, int of)
{
    for (int i = 0; i < FRAME_BYTES; i++)
        rgb[i] = (uint8_t)((rgb[i] * (of - share) + level * share) / of);
}

/* Appends `frames` frames that lead from one scene to another. */
static inline void add_dissolve(struct made_film *m, int from, int to, int frames)
{
    static struct made_film other;
    for (int i = 1; i <= frames; i++) {
        other.frames = 0;
        uint8_t *a = add_scene(m, from, 0), *b = add_scene(&other, to, 0);
        for (int k = 0; k < FRAME_BYTES; k++)
            a[k] = (uint8_t)((a[k] * (frames + 1 - i) + b[k] * i) / (frames + 1));
    }
}

/* Appends `frames` frames that lead from a level to a scene or, with `out`, back. */
static inline void add_fade(struct made_film *m, int scene, int level, int frames, bool out)
{
    for (int i = 1; i <= frames; i++)
        mix_level(add_scene(m, scene, 0), level, out ? i : frames + 1 - i, frames + 1);
}

static inline void add_level(struct made_film *m, int level, int frames)
{
    for (int i = 0; i < frames; i++)
        memset(m->rgb[m->frames++], level, FRAME_BYTES);
}

static inline void put_made(struct scan *s, const struct made_film *m, int frame)
{
    assert_true(scan_put(s, (uint64_t)frame, (int64_t)frame * FRAME_US, m->rgb[frame], NULL));
}

/* Returns the facts of all frames, which were put in their order. */
static inline struct film_scan scan_made(const struct made_film *m)
{
    struct film_scan film;
    struct scan *s = scan_open(NULL);
    assert_non_null(s);
    for (int i = 0; i < m->frames; i++)
        put_made(s, m, i);
    assert_true(scan_end(s, (int64_t)m->frames * FRAME_US, &film, NULL));
    assert_int_equal(film.count, m->frames);
    scan_free(&s);
    return film;
}

#endif
