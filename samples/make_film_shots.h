/*
 * make_film_shots.h - the sample film's shots: one day, from night to night. A table; make_film.c draws it.
 *
 * The picture is 16 x 9 units of 48 pixels. Units are whole 16 x 16 coding blocks, and at the default
 * analysis size (320 x 180) exactly 20 x 20 staged pixels, so that shots of flat rectangles have
 * no mixed pixel anywhere and their shares come back exactly.
 */
#ifndef MAKE_FILM_SHOTS_H
#define MAKE_FILM_SHOTS_H

enum paint {
    FLAT,       /* colour `from` at the shot's first frame, `to` at its last               */
    GRADIENT,   /* `from` at the top, `to` at the bottom                                   */
    PAN,        /* from - to - from across, moving by dx a frame: the mean never changes   */
    GRAIN       /* as FLAT, with noise on the luma                                         */
};

/* A rectangle in units; dx, dy: movement a frame, in chroma samples (2 pixels). */
struct patch {
    enum paint paint;
    int x, y, w, h;
    unsigned from, to;
    int dx, dy;
};

enum { PATCHES = 8 };

/*
 * `intercut`: cut back and forth with the next shot, as editors do. Fades run from or to `fade` over that
 * many frames. Later patches lie on top of earlier ones.
 */
struct shot {
    const char *name;
    int intercut, frames, fade_in, fade_out;
    unsigned fade;
    struct patch patch[PATCHES];
};

#define ALL 0, 0, 16, 9
#define BARS {FLAT, 0, 0, 16, 1, 0x000000, 0x000000, 0, 0}, {FLAT, 0, 8, 16, 1, 0x000000, 0x000000, 0, 0}

static const struct shot SHOTS[] = {
    /* night */
    {"title", 0, 60, 30, 0, 0x000000, {{FLAT, ALL, 0x0b1230, 0x131d47, 0, 0}, {FLAT, 6, 4, 4, 1, 0xd9c8a0, 0xf0e2c0, 0, 0}}},
    {"skyline", 1, 66, 0, 0, 0, {{FLAT, ALL, 0x16225a, 0x1c2a6b, 0, 0}, {FLAT, 0, 5, 3, 4, 0x070a18, 0x070a18, 0, 0},
        {FLAT, 5, 6, 4, 3, 0x0a0e20, 0x0a0e20, 0, 0}, {FLAT, 12, 4, 3, 5, 0x070a18, 0x070a18, 0, 0},
        {FLAT, 1, 6, 1, 1, 0xf2c14e, 0xe8b040, 0, 0}, {FLAT, 13, 5, 1, 1, 0xf2c14e, 0xf2d070, 0, 0}}},
    {"lamp", 1, 36, 0, 0, 0, {{FLAT, ALL, 0x2b1b2e, 0x34203a, 0, 0}, {FLAT, 10, 2, 3, 3, 0xf0a840, 0xf7b850, 0, 0}}},
    {"moon on water", 1, 72, 0, 0, 0, {{FLAT, ALL, 0x0e3350, 0x114063, 0, 0}, {FLAT, 0, 0, 16, 3, 0x0a1a38, 0x0d2146, 0, 0},
        {FLAT, 11, 1, 1, 1, 0xe8ecf2, 0xe8ecf2, 0, 0}, {FLAT, 10, 5, 3, 1, 0x4f7f9a, 0x5b8fab, 0, 0}}},
    {"night train", 0, 48, 0, 0, 0, {{FLAT, ALL, 0x101428, 0x141a34, 0, 0}, {FLAT, 0, 4, 5, 2, 0xd8b25a, 0xd8b25a, 5, 0}, BARS}},

    /* dawn */
    {"first light", 1, 66, 0, 0, 0, {{FLAT, ALL, 0x3b2a5c, 0x6a3d73, 0, 0}, {FLAT, 0, 6, 16, 3, 0x1d1838, 0x33204a, 0, 0}}},
    {"sunrise", 1, 84, 0, 0, 0, {{GRADIENT, ALL, 0x5a3f7d, 0xf3a45c, 0, 0}, {FLAT, 7, 5, 2, 2, 0xffe0a3, 0xffe0a3, 0, -1}}},
    {"window", 1, 42, 0, 0, 0, {{FLAT, ALL, 0xd9774f, 0xe88d5c, 0, 0}, {FLAT, 3, 1, 4, 5, 0xffd9a8, 0xffe2b8, 0, 0},
        {FLAT, 9, 1, 4, 5, 0xffd9a8, 0xffe2b8, 0, 0}}},
    {"peach", 0, 48, 0, 0, 0, {{FLAT, ALL, 0xf0a882, 0xf6c09b, 0, 0}}},
    {"bird", 0, 54, 0, 24, 0xffffff, {{FLAT, ALL, 0xf4cfae, 0xf9e4cf, 0, 0}, {FLAT, 2, 3, 1, 1, 0x6b4a4a, 0x6b4a4a, 5, -1}}},

    /* morning */
    {"white room", 0, 36, 0, 0, 0, {{FLAT, ALL, 0xffffff, 0xffffff, 0, 0}, {FLAT, 7, 3, 2, 3, 0x9ec5d8, 0x9ec5d8, 0, 0}}},
    {"meadow", 1, 66, 0, 0, 0, {{FLAT, ALL, 0x9fd0e6, 0xaad8ec, 0, 0}, {FLAT, 0, 6, 16, 3, 0x7fae55, 0x86b65b, 0, 0},
        {FLAT, 11, 5, 2, 1, 0xb5533c, 0xb5533c, 0, 0}}},
    {"wheat", 1, 60, 0, 0, 0, {{GRAIN, ALL, 0xd9b45a, 0xe0bd66, 0, 0}, {FLAT, 0, 0, 16, 3, 0x8cc4e0, 0x8cc4e0, 0, 0}}},
    {"road", 0, 42, 0, 0, 0, {{FLAT, ALL, 0x86a957, 0x93b562, 0, 0}, {FLAT, 6, 0, 4, 9, 0xb9b4a6, 0xb9b4a6, 0, 0},
        {FLAT, 7, 0, 1, 1, 0x2f5d8c, 0x2f5d8c, 0, 4}}},

    /* sea */
    {"harbour", 1, 54, 0, 0, 0, {{FLAT, ALL, 0x1f7f92, 0x23899c, 0, 0}, {FLAT, 0, 0, 16, 3, 0xd8e9ee, 0xcfe4ec, 0, 0},
        {FLAT, 2, 3, 3, 2, 0xc8402f, 0xc8402f, 3, 0}}},
    {"wave", 1, 78, 0, 0, 0, {{PAN, ALL, 0x0f6678, 0x63c1c4, 3, 0}}},
    {"deep", 1, 54, 0, 0, 0, {{FLAT, ALL, 0x14808f, 0x0a4a6b, 0, 0}, {FLAT, 3, 5, 2, 1, 0xf2b134, 0xe0a02c, 4, -1}}},
    {"abyss", 0, 42, 0, 0, 0, {{FLAT, ALL, 0x0a3f63, 0x072a4a, 0, 0}, BARS}},

    /* forest */
    {"canopy", 1, 54, 0, 0, 0, {{FLAT, ALL, 0x335c34, 0x3c6b3a, 0, 0}, {FLAT, 0, 0, 5, 4, 0x6b9a4a, 0x78a852, 0, 0},
        {FLAT, 11, 1, 4, 3, 0xa7bf6a, 0xb4cb74, 0, 0}}},
    {"moss", 1, 54, 0, 0, 0, {{GRAIN, ALL, 0x4f7040, 0x587c46, 0, 0}, {FLAT, 5, 2, 6, 5, 0x2a3d26, 0x2a3d26, 0, 0}}},
    {"clearing", 0, 48, 0, 0, 0, {{FLAT, ALL, 0xb9cf8a, 0xc6da97, 0, 0}, {FLAT, 0, 0, 3, 9, 0x2c4a2a, 0x2c4a2a, 0, 0},
        {FLAT, 13, 0, 3, 9, 0x2c4a2a, 0x2c4a2a, 0, 0}}},

    /* desert */
    {"dunes", 1, 72, 0, 0, 0, {{FLAT, ALL, 0xe3ad5d, 0xe9bb6e, 0, 0}, {FLAT, 0, 0, 16, 3, 0x74b3cf, 0x80bcd6, 0, 0},
        {FLAT, 8, 6, 8, 3, 0xbf7d3e, 0xc5853f, 0, 0}}},
    {"caravan", 1, 54, 0, 0, 0, {{FLAT, ALL, 0xd98e48, 0xdf984f, 0, 0}, {FLAT, 1, 6, 1, 1, 0x6a3421, 0x6a3421, 3, 0},
        {FLAT, 4, 6, 1, 1, 0x6a3421, 0x6a3421, 3, 0}, BARS}},
    {"red rock", 0, 48, 0, 0, 0, {{FLAT, ALL, 0xa8482a, 0xb55232, 0, 0}, {FLAT, 0, 0, 16, 2, 0x5fa5c9, 0x5fa5c9, 0, 0}}},

    /* indoors */
    {"tea house", 1, 60, 0, 0, 0, {{FLAT, ALL, 0x6e3b22, 0x7a4427, 0, 0}, {FLAT, 2, 2, 3, 4, 0xf0c070, 0xf5ca7c, 0, 0},
        {FLAT, 9, 5, 5, 2, 0x3c1f17, 0x3c1f17, 0, 0}}},
    {"four walls", 1, 42, 0, 0, 0, {{FLAT, ALL, 0x8c2f39, 0x8c2f39, 0, 0}, {FLAT, 10, 0, 6, 5, 0xd9a441, 0xd9a441, 0, 0},
        {FLAT, 0, 6, 6, 3, 0x30525c, 0x30525c, 0, 0}, {FLAT, 12, 6, 4, 3, 0xe9d8b4, 0xe9d8b4, 0, 0}}},
    {"shutters", 0, 30, 0, 0, 0, {{FLAT, ALL, 0x402218, 0x402218, 0, 0}, {FLAT, 2, 0, 2, 9, 0xe8b878, 0xe8b878, 0, 0},
        {FLAT, 7, 0, 2, 9, 0xe8b878, 0xe8b878, 0, 0}, {FLAT, 12, 0, 2, 9, 0xe8b878, 0xe8b878, 0, 0}}},

    /* rain: colours that are nearly the same */
    {"rain", 1, 48, 0, 0, 0, {{FLAT, ALL, 0x78848c, 0x78848c, 0, 0}, {FLAT, 0, 0, 7, 9, 0x7f8b93, 0x7f8b93, 0, 0}}},
    {"fog", 1, 60, 0, 0, 0, {{FLAT, ALL, 0x8d979c, 0xa3acb0, 0, 0}}},
    {"umbrella", 0, 42, 0, 0, 0, {{FLAT, ALL, 0x5c666e, 0x5c666e, 0, 0}, {FLAT, 1, 4, 2, 2, 0xd62b3a, 0xd62b3a, 4, 0}}},

    /* sunset */
    {"long shadows", 1, 60, 0, 0, 0, {{FLAT, ALL, 0xe9894a, 0xe0703f, 0, 0}, {FLAT, 0, 6, 16, 3, 0x5b2a36, 0x512434, 0, 0}}},
    {"sun disc", 1, 66, 0, 0, 0, {{GRADIENT, ALL, 0xb23a48, 0xf6a048, 0, 0}, {FLAT, 6, 2, 4, 4, 0xffe08a, 0xffe08a, 0, 1}}},
    {"embers", 1, 48, 0, 0, 0, {{FLAT, ALL, 0xa32638, 0x7a1c3c, 0, 0}, {FLAT, 4, 6, 2, 1, 0xf49a3a, 0xf49a3a, 2, -1}}},
    {"dusk", 0, 54, 0, 0, 0, {{FLAT, ALL, 0x64204a, 0x42205a, 0, 0}, {FLAT, 0, 7, 16, 2, 0x1b1030, 0x1b1030, 0, 0}}},

    /* the city's lights: the corners of BT.709 */
    {"neon magenta", 0, 48, 0, 0, 0, {{FLAT, ALL, 0x8a1172, 0xa0158a, 0, 0}, {FLAT, 2, 2, 5, 2, 0x23d5e8, 0x23d5e8, 0, 0}}},
    {"red", 0, 12, 0, 0, 0, {{FLAT, ALL, 0xff0000, 0xff0000, 0, 0}}},
    {"blue", 0, 12, 0, 0, 0, {{FLAT, ALL, 0x0000ff, 0x0000ff, 0, 0}}},
    {"green", 0, 12, 0, 0, 0, {{FLAT, ALL, 0x00ff00, 0x00ff00, 0, 0}}},
    {"magenta", 0, 12, 0, 0, 0, {{FLAT, ALL, 0xff00ff, 0xff00ff, 0, 0}}},
    {"cyan", 0, 12, 0, 0, 0, {{FLAT, ALL, 0x00ffff, 0x00ffff, 0, 0}}},
    {"yellow", 0, 12, 0, 0, 0, {{FLAT, ALL, 0xffff00, 0xffff00, 0, 0}}},
    {"neon blue", 1, 48, 0, 0, 0, {{FLAT, ALL, 0x1b2a9c, 0x1a2488, 0, 0}, {FLAT, 12, 1, 2, 2, 0xff2d78, 0xff2d78, -3, 1},
        {FLAT, 0, 7, 16, 2, 0x0b0f3a, 0x0b0f3a, 0, 0}}},
    {"night drive", 0, 48, 0, 0, 0, {{FLAT, ALL, 0x0d1233, 0x0a0d26, 0, 0}, {FLAT, 2, 6, 1, 1, 0xf7e3b0, 0xf7e3b0, 5, 0},
        {FLAT, 14, 7, 1, 1, 0xc81e28, 0xc81e28, -5, 0}}},
    {"credits", 0, 54, 0, 30, 0x000000, {{FLAT, ALL, 0x10132a, 0x0a0c1c, 0, 0}, {FLAT, 6, 8, 4, 1, 0xd8d8d8, 0xd8d8d8, 0, -2}}},
    {"black", 0, 24, 0, 0, 0, {{FLAT, ALL, 0x000000, 0x000000, 0, 0}}},
};

enum { SHOT_COUNT = sizeof SHOTS / sizeof SHOTS[0] };

#endif
