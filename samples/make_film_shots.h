/*
 * make_film_shots.h - the sample film's shots: one day, from night to night. A table; make_film.c cuts the film by it.
 *
 * Most of the film is 2.40:1 between bars of 56 lines, as a film for the cinema is in a file for television; the scenes at sea are
 * 16:9 without bars. Units are 48 pixels across and 16 down: in both shapes whole pixels of the default analysis size (320 x 180),
 * so that shots of flat rectangles have no mixed pixel anywhere and their shares come back exactly.
 */
#ifndef MAKE_FILM_SHOTS_H
#define MAKE_FILM_SHOTS_H

enum paint {
    FLAT,       /* one colour; what a dominant colour is known by                     */
    GRADIENT,   /* from the first colour at the top to the second at the bottom       */
    WEAVE,      /* patches between the two colours, most of them in the middle: leaves, water, stone */
    GRAIN,      /* one colour, with noise on the luma that is new in every frame      */
    LAMPS       /* lit windows, stars: spots of one colour, nothing between them      */
};

enum outline { BOX, DISC, HILLS };     /* HILLS: a box with a skyline, `size` cells high, on top */

/*
 * A patch, in units. Two colours (FLAT and GRAIN: one, twice) at the shot's first frame and two at its last; dx, dy: movement
 * in eighths of a cell (2 x 2 pixels) a frame; `size`: cells of a WEAVE's patches and of a skyline's height.
 */
struct patch {
    enum paint paint;
    enum outline outline;
    int x, y, w, h;
    unsigned first[2], last[2];
    int dx, dy, size;
};

enum { PATCHES = 7, SCOPE = 20, WHOLE = 27 };

/*
 * `intercut`: cut back and forth with the next shot, as editors do, in pieces of about so many frames. Fades run from or to `fade`
 * over that many frames. `rows`: the height of its picture, SCOPE or WHOLE. `shake`: cells by which all but the first patch rise and
 * sink, as before a camera in the hand. `flashes`: among its frames are single ones of another colour. Later patches lie on top of
 * earlier ones.
 */
struct shot {
    const char *name;
    int rows, intercut, frames, fade_in, fade_out;
    unsigned fade;
    int shake, flashes;
    const char *words;
    struct patch patch[PATCHES];
};

#define ALL 0, 0, 16, WHOLE
#define PLAIN(where, a, b) {FLAT, BOX, where, {a, a}, {b, b}, 0, 0, 0}
#define MOVING(where, a, b, dx, dy) {FLAT, BOX, where, {a, a}, {b, b}, dx, dy, 0}
#define ROUND(where, a, b, dx, dy) {FLAT, DISC, where, {a, a}, {b, b}, dx, dy, 0}
#define RIDGE(y, a, b, dx, size) {FLAT, HILLS, 0, y, 16, WHOLE, {a, a}, {b, b}, dx, 0, size}
#define SKY(h, a, b, c, d) {GRADIENT, BOX, 0, 0, 16, h, {a, b}, {c, d}, 0, 0, 0}
#define CLOTH(where, a, b, c, d, dx, dy, size) {WEAVE, BOX, where, {a, b}, {c, d}, dx, dy, size}
#define TREES(y, a, b, c, d, dx, size) {WEAVE, HILLS, 0, y, 16, WHOLE, {a, b}, {c, d}, dx, 0, size}
#define DUST(where, a, b) {GRAIN, BOX, where, {a, a}, {b, b}, 0, 0, 0}
#define LIT(where, a, size) {LAMPS, BOX, where, {a, a}, {a, a}, 0, 0, size}
#define AT(x, y, w, h) x, y, w, h

static const struct shot SHOTS[] = {
    {"title", SCOPE, 0, 34, 22, 0, 0x000000, 0, 0, "ONE DAY", {PLAIN(ALL, 0x000000, 0x000000)}},

    /* night: most of it darker than some films' bars */
    {"night sky", SCOPE, 8, 46, 0, 0, 0, 0, 0, 0, {SKY(SCOPE, 0x070b1a, 0x1a3052, 0x080d20, 0x223c60), ROUND(AT(11, 3, 1, 3), 0xe6e2d0, 0xe6e2d0, 1, -1),
        RIDGE(14, 0x060810, 0x080a14, 2, 34)}},
    {"moon on water", SCOPE, 8, 51, 0, 0, 0, 0, 0, 0, {CLOTH(ALL, 0x08203a, 0x1d4c6c, 0x0a2642, 0x25597a, 3, 1, 10), PLAIN(AT(0, 0, 16, 5), 0x0a1228, 0x0c162e),
        ROUND(AT(4, 1, 1, 3), 0xe6e2d0, 0xe6e2d0, 0, 0)}},
    {"lit windows", SCOPE, 8, 36, 0, 0, 0, 0, 0, 0, {PLAIN(ALL, 0x16224a, 0x1b2a57), RIDGE(9, 0x0a0d1c, 0x0a0d1c, 0, 40), LIT(AT(0, 13, 16, 7), 0xeeb550, 3)}},
    {"sleeper", SCOPE, 0, 31, 0, 0, 0, 0, 0, 0, {PLAIN(ALL, 0x1a2038, 0x232a48), PLAIN(AT(0, 12, 11, 8), 0x3d4a70, 0x46547c), ROUND(AT(8, 8, 3, 6), 0x6a5648, 0x7c6350, 0, 0)}},

    /* dawn */
    {"first light", SCOPE, 10, 46, 0, 0, 0, 0, 0, 0, {SKY(SCOPE, 0x2a2c5e, 0x7d5684, 0x3a3a74, 0xb06f8e), RIDGE(13, 0x1a1836, 0x241d42, 3, 30)}},
    {"rooftops", SCOPE, 8, 41, 0, 0, 0, 0, 0, 0, {PLAIN(ALL, 0x8c5f8a, 0xb0738c), RIDGE(13, 0x3a2a54, 0x45305c, 0, 16), PLAIN(AT(4, 10, 1, 8), 0x3a2a54, 0x45305c)}},
    {"sunrise", SCOPE, 8, 57, 0, 0, 0, 0, 0, 0, {SKY(SCOPE, 0x6b5c96, 0xe8966e, 0x8f7aa4, 0xf6b874), ROUND(AT(7, 11, 2, 6), 0xffe4ac, 0xfff0c8, 0, -3), RIDGE(15, 0x4a3050, 0x5c3a54, 2, 24)}},
    {"curtain", SCOPE, 8, 41, 0, 0, 0, 0, 0, 0, {PLAIN(ALL, 0xe0906c, 0xeba27a), PLAIN(AT(9, 3, 4, 11), 0xffdcae, 0xffe8c4), CLOTH(AT(0, 0, 4, 20), 0xb86450, 0xd88468, 0xc87058, 0xe09070, 1, 0, 14)}},
    {"birds", SCOPE, 0, 38, 0, 14, 0xfff4e4, 0, 0, 0, {PLAIN(ALL, 0xf3c49c, 0xf9dcbc), ROUND(AT(2, 9, 1, 1), 0x70504c, 0x70504c, 40, -8), ROUND(AT(1, 6, 1, 1), 0x70504c, 0x70504c, 40, -8)}},

    /* morning: meadow and wheat, of near the same share */
    {"white room", SCOPE, 7, 31, 0, 0, 0, 0, 0, 0, {PLAIN(ALL, 0xf4efe6, 0xf7f3ec), PLAIN(AT(10, 4, 3, 8), 0xb4d0d8, 0xbcd8e0), PLAIN(AT(2, 13, 5, 7), 0xd8b888, 0xd8b888)}},
    {"meadow", SCOPE, 10, 51, 0, 0, 0, 9, 0, 0, {SKY(SCOPE, 0x7fb8d0, 0xb4d8de, 0x8ac2d6, 0xc2e0e2), CLOTH(AT(0, 10, 16, 20), 0x6c9440, 0x9cbc58, 0x74a046, 0xa8c662, 3, 0, 5)}},
    {"wheat", SCOPE, 8, 46, 0, 0, 0, 0, 0, 0, {PLAIN(ALL, 0xdcb862, 0xe4c472), SKY(7, 0x8cc4dc, 0xc4e0e0, 0x94cae0, 0xcce4e2)}},
    {"path", SCOPE, 7, 36, 0, 0, 0, 8, 0, 0, {PLAIN(ALL, 0x9cb866, 0xa6c070), PLAIN(AT(0, 12, 16, 20), 0xd2b878, 0xdac284), ROUND(AT(11, 3, 2, 9), 0x5c8848, 0x5c8848, -6, 0)}},
    {"orchard", SCOPE, 0, 31, 0, 0, 0, 0, 0, 0, {PLAIN(ALL, 0xb8cf7c, 0xc0d686), TREES(9, 0x587c38, 0x86a850, 0x5c823c, 0x8cae56, 4, 26), PLAIN(AT(4, 13, 1, 2), 0xc04838, 0xc04838)}},

    /* forest: leaves, whose clusters take turns */
    {"canopy", SCOPE, 10, 51, 0, 0, 0, 0, 0, 0, {CLOTH(ALL, 0x1c3c22, 0x6a9444, 0x1e4226, 0x78a04c, 4, 2, 9)}},
    {"trunks", SCOPE, 8, 36, 0, 0, 0, 0, 0, 0, {PLAIN(ALL, 0x3c6636, 0x44703a), MOVING(AT(2, 0, 1, 20), 0x1c2a1c, 0x1c2a1c, 6, 0), MOVING(AT(7, 0, 2, 20), 0x1c2a1c, 0x1c2a1c, 6, 0),
        MOVING(AT(12, 0, 1, 20), 0x1c2a1c, 0x1c2a1c, 6, 0)}},
    {"moss", SCOPE, 8, 41, 0, 0, 0, 0, 0, 0, {DUST(ALL, 0x53703a, 0x5c7c40), CLOTH(AT(0, 12, 16, 8), 0x283c22, 0x44602e, 0x283c22, 0x44602e, -3, 0, 12)}},
    {"brook", SCOPE, 7, 36, 0, 0, 0, 8, 0, 0, {PLAIN(ALL, 0x24482e, 0x285034), CLOTH(AT(0, 12, 16, 20), 0x4c8884, 0x90c4b4, 0x508e8a, 0x98ccbc, 9, 0, 6)}},
    {"clearing", SCOPE, 0, 34, 0, 0, 0, 0, 0, 0, {PLAIN(ALL, 0xc6d68c, 0xd4e29c), PLAIN(AT(0, 0, 3, 20), 0x2a4628, 0x2a4628), PLAIN(AT(13, 0, 3, 20), 0x2a4628, 0x2a4628)}},

    /* the sea, in 16:9 */
    {"headland", WHOLE, 8, 41, 0, 0, 0, 0, 0, 0, {SKY(WHOLE, 0x5fa8c4, 0xd0e6e4, 0x68b0ca, 0xd8ece8), CLOTH(AT(0, 14, 16, 27), 0x1a7484, 0x3a9ca4, 0x1e7c8a, 0x40a4aa, 5, 0, 7)}},
    {"swell", WHOLE, 10, 51, 0, 0, 0, 10, 0, 0, {PLAIN(ALL, 0x9fd2d4, 0xaadadb), PLAIN(AT(0, 13, 16, 27), 0x1f8494, 0x248e9c)}},
    {"sail", WHOLE, 8, 36, 0, 0, 0, 0, 0, 0, {PLAIN(ALL, 0x2a94a2, 0x309cae), PLAIN(AT(0, 0, 16, 6), 0xd4e8e6, 0xd4e8e6), MOVING(AT(3, 4, 2, 8), 0xf4ead6, 0xf4ead6, 12, 0)}},
    {"under water", WHOLE, 10, 51, 0, 0, 0, 0, 0, 0, {SKY(WHOLE, 0x3ab0b4, 0x0c4a70, 0x2a98a8, 0x083a60)}},
    {"deep", WHOLE, 8, 36, 0, 0, 0, 0, 0, 0, {PLAIN(ALL, 0x0f5478, 0x0b4468), ROUND(AT(3, 15, 2, 2), 0xf0a840, 0xe09a38, 30, -5), ROUND(AT(1, 18, 1, 1), 0xf0a840, 0xe09a38, 30, -5)}},
    {"storm", WHOLE, 8, 41, 0, 0, 0, 7, 0, 0, {SKY(WHOLE, 0x384850, 0x76888c, 0x2c3a44, 0x64787e), CLOTH(AT(0, 14, 16, 27), 0x1c3a42, 0x4a7074, 0x18323c, 0x40646a, 12, 0, 8)}},
    {"night at sea", WHOLE, 0, 36, 0, 0, 0, 0, 0, 0, {PLAIN(ALL, 0x080c14, 0x080c14), LIT(AT(0, 0, 16, 12), 0xb8c4d8, 1), CLOTH(AT(0, 17, 16, 10), 0x1e4c68, 0x4c7c94, 0x1e4c68, 0x4c7c94, 6, 0, 8)}},

    /* desert */
    {"dunes", SCOPE, 10, 51, 0, 0, 0, 0, 0, 0, {PLAIN(ALL, 0xe4b468, 0xeabf78), SKY(6, 0x5ca6c0, 0xb0d4cc, 0x64aec6, 0xb8d8d0), RIDGE(14, 0xc08444, 0xc68a48, 2, 28)}},
    {"haze", SCOPE, 8, 41, 0, 0, 0, 8, 0, 0, {SKY(SCOPE, 0x9cc0bc, 0xe8d4a8, 0xa4c6c0, 0xecd8ac), CLOTH(AT(0, 10, 16, 20), 0xd49c54, 0xe6b870, 0xd8a25a, 0xeac078, 2, 0, 16)}},
    {"caravan", SCOPE, 8, 36, 0, 0, 0, 0, 0, 0, {PLAIN(ALL, 0xdc9a54, 0xe2a45e), ROUND(AT(1, 12, 1, 2), 0x6c3824, 0x6c3824, 24, 0), ROUND(AT(3, 12, 1, 2), 0x6c3824, 0x6c3824, 24, 0),
        ROUND(AT(5, 12, 1, 2), 0x6c3824, 0x6c3824, 24, 0)}},
    {"red rock", SCOPE, 7, 41, 0, 0, 0, 0, 0, 0, {CLOTH(ALL, 0x883a24, 0xc86a40, 0x8e3e26, 0xce7046, 3, 0, 11), PLAIN(AT(0, 0, 16, 4), 0x5ea4bc, 0x5ea4bc)}},
    {"well", SCOPE, 0, 26, 0, 0, 0, 0, 0, 0, {PLAIN(ALL, 0xa85434, 0xb05c38), ROUND(AT(5, 4, 6, 12), 0x2c1c1c, 0x2c1c1c, 0, 0), ROUND(AT(7, 8, 2, 5), 0x68a8bc, 0x68a8bc, 0, 0)}},

    /* the tea house */
    {"doorway", SCOPE, 7, 26, 0, 0, 0, 0, 0, 0, {PLAIN(ALL, 0x2e1812, 0x341c14), PLAIN(AT(10, 3, 3, 17), 0xf4cc88, 0xf4cc88)}},
    {"tea house", SCOPE, 8, 41, 0, 0, 0, 0, 0, 0, {PLAIN(ALL, 0x74402a, 0x7c462c), PLAIN(AT(2, 3, 3, 9), 0xf0bc68, 0xf4c474), PLAIN(AT(8, 12, 7, 5), 0x40221a, 0x40221a)}},
    {"carpet", SCOPE, 8, 36, 0, 0, 0, 0, 0, 0, {PLAIN(ALL, 0x8c2c34, 0x92303a), CLOTH(AT(4, 3, 8, 14), 0xb8743c, 0xdca858, 0xb8743c, 0xdca858, 0, 0, 4)}},
    {"two faces", SCOPE, 8, 36, 0, 0, 0, 0, 0, 0, {PLAIN(ALL, 0x5a3226, 0x5a3226), PLAIN(AT(0, 0, 6, 20), 0x9c5c3a, 0x9c5c3a), ROUND(AT(10, 4, 3, 11), 0xc88a60, 0xc88a60, 2, 0),
        ROUND(AT(2, 4, 3, 11), 0xd49a6c, 0xd49a6c, -2, 0)}},
    {"glass", SCOPE, 0, 26, 0, 0, 0, 0, 0, 0, {PLAIN(ALL, 0xc07030, 0xca7a34), PLAIN(AT(6, 3, 3, 14), 0xf0c060, 0xf0c060)}},

    /* rain: colours that are nearly the same */
    {"rain", SCOPE, 8, 41, 0, 0, 0, 0, 0, 0, {PLAIN(ALL, 0x74828c, 0x74828c), PLAIN(AT(0, 0, 7, 20), 0x7c8a94, 0x7c8a94)}},
    {"fog", SCOPE, 8, 46, 0, 0, 0, 0, 0, 0, {SKY(SCOPE, 0xaab6ba, 0x76868e, 0xa0aeb4, 0x70808a), RIDGE(12, 0x66767e, 0x606f78, 3, 20)}},
    {"umbrellas", SCOPE, 8, 36, 0, 0, 0, 0, 0, 0, {PLAIN(ALL, 0x56646e, 0x56646e), ROUND(AT(1, 7, 2, 6), 0xc82c38, 0xc82c38, 22, 0), ROUND(AT(9, 9, 2, 6), 0x2c3840, 0x2c3840, -10, 0)}},
    {"wet street", SCOPE, 0, 41, 0, 0, 0, 0, 0, 0, {CLOTH(ALL, 0x38464e, 0x7a8890, 0x344048, 0x727f88, 0, 6, 8), PLAIN(AT(0, 0, 16, 6), 0x8e9aa0, 0x848f96)}},

    /* sunset */
    {"long shadows", SCOPE, 10, 46, 0, 0, 0, 0, 0, 0, {PLAIN(ALL, 0xeca058, 0xe88c4c), RIDGE(14, 0x6a3434, 0x602e38, 3, 22)}},
    {"low sun", SCOPE, 10, 57, 0, 0, 0, 0, 0, 0, {SKY(SCOPE, 0xd07850, 0xf8bc60, 0xb04c4c, 0xf49a4c), ROUND(AT(6, 5, 3, 9), 0xffe690, 0xffd884, 0, 4), RIDGE(16, 0x542634, 0x481f34, 2, 20)}},
    {"red sea", SCOPE, 8, 46, 0, 0, 0, 8, 0, 0, {SKY(SCOPE, 0x98405a, 0xe87848, 0x843860, 0xd86444), CLOTH(AT(0, 10, 16, 20), 0x5a2444, 0xb4543e, 0x502048, 0xa44a44, 5, 0, 8)}},
    {"embers", SCOPE, 8, 36, 0, 0, 0, 0, 0, 0, {PLAIN(ALL, 0x9c2c3c, 0x7e2440), ROUND(AT(5, 16, 1, 1), 0xf8a040, 0xf8a040, 8, -14), ROUND(AT(9, 18, 1, 1), 0xf8a040, 0xf8a040, -6, -18)}},
    {"dusk", SCOPE, 0, 46, 0, 0, 0, 0, 0, 0, {SKY(SCOPE, 0x3c2a5e, 0x9a4260, 0x2a2354, 0x6c3464), RIDGE(15, 0x1c1230, 0x150f2a, 1, 26)}},

    /* the city's lights: the corners of BT.709, and between them single frames of a flash */
    {"neon", SCOPE, 7, 41, 0, 0, 0, 0, 0, 0, {PLAIN(ALL, 0x64186c, 0x781c7e), PLAIN(AT(2, 4, 4, 4), 0x22d0e4, 0x22d0e4), PLAIN(AT(9, 9, 1, 5), 0xff0000, 0xff0000),
        PLAIN(AT(11, 9, 1, 5), 0xffff00, 0xffff00), PLAIN(AT(13, 9, 1, 5), 0x00ff00, 0x00ff00)}},
    {"street", SCOPE, 7, 41, 0, 0, 0, 0, 0, 0, {PLAIN(ALL, 0x1c2070, 0x20247c), RIDGE(12, 0x0c0e30, 0x0c0e30, 5, 30), MOVING(AT(12, 4, 2, 4), 0xff2c78, 0xff2c78, -8, 0),
        LIT(AT(0, 15, 16, 5), 0xf4c060, 2)}},
    {"bar", SCOPE, 7, 36, 0, 0, 0, 0, 0, 0, {PLAIN(ALL, 0xa41c5c, 0x941a62), PLAIN(AT(0, 13, 16, 7), 0x2a1040, 0x2a1040), ROUND(AT(4, 4, 2, 5), 0x30c8d8, 0x30c8d8, 0, 0)}},
    {"dancers", SCOPE, 0, 31, 0, 0, 0, 0, 1, 0, {PLAIN(ALL, 0x3020a0, 0x4420a4), MOVING(AT(3, 6, 2, 14), 0x140c3c, 0x140c3c, 10, 0), MOVING(AT(10, 7, 2, 13), 0x140c3c, 0x140c3c, -9, 0)}},

    /* night again */
    {"night drive", SCOPE, 7, 36, 0, 0, 0, 0, 0, 0, {PLAIN(ALL, 0x10163a, 0x0d1230), ROUND(AT(2, 14, 1, 2), 0xf4e0b0, 0xf4e0b0, 36, 0), ROUND(AT(14, 16, 1, 2), 0xc42028, 0xc42028, -36, 0)}},
    {"milky way", SCOPE, 0, 41, 0, 0, 0, 0, 0, 0, {CLOTH(ALL, 0x060a1c, 0x2a2c58, 0x060a1c, 0x2a2c58, 1, 1, 30), LIT(AT(0, 0, 16, 20), 0xd0d4e8, 1), RIDGE(16, 0x04060c, 0x04060c, 0, 24)}},
    {"the end", SCOPE, 0, 55, 10, 24, 0x000000, 0, 0, "THE END", {PLAIN(ALL, 0x000000, 0x000000)}},
};

enum { SHOT_COUNT = sizeof SHOTS / sizeof SHOTS[0] };

#endif
