/*
 * make_film_draw.h - draws one frame of a shot (make_film_shots.h) on a canvas of cells. Nothing
 * here depends on the machine: noise comes from whole numbers, curves from polynomials.
 */
#ifndef MAKE_FILM_DRAW_H
#define MAKE_FILM_DRAW_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "make_film_shots.h"

enum {
    WIDTH = 768,
    HEIGHT = 432,
    CW = WIDTH / 2,
    CH = HEIGHT / 2,
    UNIT_X = 24,
    UNIT_Y = 8,
    CELLS = CW * CH
};
/* what cells may show beside a shot's patches */
enum { NO_PATCH = 255, WORDS = PATCHES, FLASH, COLOURS };

struct cell {
    uint8_t y, cb, cr;
    uint8_t patch; /* which flat colour it shows; NO_PATCH when its colour is not one of a few */
};

/* The picture's rows of the canvas: what lies outside are bars. */
static inline int picture_rows(const struct shot *s) { return s->rows * UNIT_Y; }

static inline int picture_top(const struct shot *s) { return (CH - picture_rows(s)) / 2; }

/* ---- colour ---- */

static double mix(double a, double b, double t) { return a + (b - a) * t; }

static void unpack(unsigned hex, double rgb[3])
{
    for (int c = 0; c < 3; c++)
        rgb[c] = (hex >> (16 - 8 * c)) & 255;
}

static struct cell encode_colour(const double rgb[3])
{
    double luma = 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2];
    return (struct cell){
        .y = (uint8_t)lround(16 + luma * 219 / 255),
        .cb = (uint8_t)lround(128 + (rgb[2] - luma) / 1.8556 * 224 / 255),
        .cr = (uint8_t)lround(128 + (rgb[0] - luma) / 1.5748 * 224 / 255),
        .patch = NO_PATCH,
    };
}

static struct cell encode_hex(unsigned hex)
{
    double rgb[3];
    unpack(hex, rgb);
    return encode_colour(rgb);
}

/* How much of the shot's fade colour lies over frame t: 0 none, 1 all. */
static double fade_at(const struct shot *s, int t)
{
    if (t < s->fade_in)
        return 1 - (double)t / s->fade_in;
    int left = s->frames - 1 - t;
    return left < s->fade_out ? 1 - (double)left / s->fade_out : 0;
}

/* ---- shapes and textures ---- */

static uint32_t scramble(int x, int y, int z)
{
    uint32_t h = (uint32_t)x * 0x9e3779b1u ^ (uint32_t)y * 0x85ebca77u ^ (uint32_t)z * 0xc2b2ae3du;
    h = (h ^ h >> 15) * 0x2c1b3c6du;
    h = (h ^ h >> 12) * 0x297a2d39u;
    return h ^ h >> 15;
}

/* Rounds down, of negative numbers too. */
static int divide(int a, int b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }

static double ease(double t) { return t * t * (3 - 2 * t); }

static double corner(int x, int y, int seed) { return (scramble(x, y, seed) & 1023) / 1023.0; }

/* Smooth hills of 0 to 1, one in each field of w x h. */
static double bumps(int x, int y, int w, int h, int seed)
{
    int i = divide(x, w), k = divide(y, h);
    double u = ease((double)(x - i * w) / w), v = ease((double)(y - k * h) / h);
    return mix(mix(corner(i, k, seed), corner(i + 1, k, seed), u),
               mix(corner(i, k + 1, seed), corner(i + 1, k + 1, seed), u), v);
}

/* Twice as wide as high, as waves, leaves and strata are; small ones on the large ones. */
static double weave(int x, int y, int size, int seed)
{
    int small = size > 4 ? size / 3 : 1;
    return 0.65 * bumps(x, y, size * 2, size, seed) +
           0.35 * bumps(x, y, small * 2, small, seed + 1);
}

static int skyline(int x, int size, int seed)
{
    return (int)lround(size *
                       (0.7 * bumps(x, 0, 96, 1, seed) + 0.3 * bumps(x, 0, 22, 1, seed + 1)));
}

/* One in nine places has a lamp; a size is the lamp's own side. */
static bool lamp(int x, int y, int size, int seed)
{
    int pitch = size * 4, i = divide(x, pitch), k = divide(y, pitch);
    return x - i * pitch < size && y - k * pitch < size && scramble(i, k, seed) % 9 == 0;
}

static int sway(const struct shot *s, int t)
{
    return s->shake ? (int)lround(s->shake * (2 * bumps(t, 0, 5, 1, 77) - 1)) : 0;
}

/* ---- drawing ---- */

enum { STEPS = 64 };

/* A patch as it is at one moment. */
struct brush {
    const struct patch *p;
    struct cell step[STEPS];    /* from its first colour to its second */
    int index, left, top, w, h; /* cells, from the picture's corner */
    int x, y, t;                /* how far its texture has moved */
};

static void set_brush(struct brush *b, const struct shot *s, int index, int t)
{
    const struct patch *p = &s->patch[index];
    double fade = fade_at(s, t), time = s->frames > 1 ? (double)t / (s->frames - 1) : 0, over[3];
    bool still = p->paint == WEAVE || p->outline == HILLS;
    b->p = p;
    b->index = index;
    b->t = t;
    b->x = divide(p->dx * t, 8);
    b->y = divide(p->dy * t, 8);
    b->left = p->x * UNIT_X + (still ? 0 : b->x);
    b->top = p->y * UNIT_Y + (still ? 0 : b->y) + (index > 0 ? sway(s, t) : 0);
    b->w = p->w * UNIT_X;
    b->h = p->h * UNIT_Y;
    unpack(s->fade, over);
    for (int i = 0; i < STEPS; i++) {
        double rgb[2][3], to[2][3];
        for (int k = 0; k < 2; k++) {
            unpack(p->first[k], rgb[k]);
            unpack(p->last[k], to[k]);
        }
        for (int c = 0; c < 3; c++)
            rgb[0][c] = mix(mix(mix(rgb[0][c], to[0][c], time), mix(rgb[1][c], to[1][c], time),
                                i / (STEPS - 1.0)),
                            over[c], fade);
        b->step[i] = encode_colour(rgb[0]);
    }
}

/* True if the patch covers the cell (x, y) of the picture. */
static bool covers(const struct brush *b, int x, int y, int horizon)
{
    if (b->p->outline == HILLS)
        return y >= horizon;
    if (b->p->outline == DISC) {
        int u = 2 * (x - b->left) + 1 - b->w, v = 2 * (y - b->top) + 1 - b->h;
        return (int64_t)u * u * b->h * b->h + (int64_t)v * v * b->w * b->w <=
               (int64_t)b->w * b->w * b->h * b->h;
    }
    return b->p->paint != LAMPS || lamp(x - b->left, y - b->top, b->p->size, b->index);
}

static struct cell paint(const struct brush *b, int x, int y, int rows)
{
    struct cell c = b->step[0];
    int high = b->h < rows ? b->h : rows;
    int size = b->p->outline == HILLS ? 7 : b->p->size; /* `size` of hills is their height */
    switch (b->p->paint) {
    case GRADIENT: return b->step[high > 1 ? (y - b->top) * (STEPS - 1) / (high - 1) : 0];
    case WEAVE:
        return b
            ->step[(int)lround(weave(x - b->x, y - b->top - b->y, size, b->index) * (STEPS - 1))];
    case GRAIN: c.y = (uint8_t)(c.y + (int)(scramble(x, y, b->t) % 7) - 3); return c;
    default: c.patch = (uint8_t)b->index; return c;
    }
}

static void draw_patch(struct cell *canvas, const struct shot *s, int index, int t)
{
    struct brush b;
    set_brush(&b, s, index, t);
    int top = picture_top(s), rows = picture_rows(s), hills[CW];
    for (int x = 0; x < CW && b.p->outline == HILLS; x++)
        hills[x] = b.top + b.p->size - skyline(x + b.x, b.p->size, index);
    for (int y = b.top > 0 ? b.top : 0; y < b.top + b.h && y < rows; y++)
        for (int x = b.left > 0 ? b.left : 0; x < b.left + b.w && x < CW; x++)
            if (covers(&b, x, y, b.p->outline == HILLS ? hills[x] : 0))
                canvas[(top + y) * CW + x] = paint(&b, x, y, rows);
}

/* Letters of 3 x 5: a row is an octal digit, the top one first. */
static const struct {
    char letter;
    unsigned rows;
} LETTERS[] = {{'A', 025755}, {'D', 065556}, {'E', 074647}, {'H', 055755},
               {'N', 065555}, {'O', 075557}, {'T', 072222}, {'Y', 055222}};

static void draw_letter(struct cell *canvas, unsigned rows, int left, int top, int size,
                        struct cell ink)
{
    for (int y = 0; y < 5 * size; y++)
        for (int x = 0; x < 3 * size; x++)
            if (rows >> (14 - y / size * 3 - x / size) & 1)
                canvas[(top + y) * CW + left + x] = ink;
}

static void draw_words(struct cell *canvas, const struct shot *s, int t)
{
    enum { SIZE = 6 };
    double rgb[3], over[3];
    unpack(0xece6d8, rgb);
    unpack(s->fade, over);
    for (int c = 0; c < 3; c++)
        rgb[c] = mix(rgb[c], over[c], fade_at(s, t));
    struct cell ink = encode_colour(rgb);
    ink.patch = WORDS;
    int left = (CW - ((int)strlen(s->words) * 4 - 1) * SIZE) / 2;
    for (const char *w = s->words; *w; w++, left += 4 * SIZE)
        for (size_t i = 0; i < sizeof LETTERS / sizeof *LETTERS; i++)
            if (LETTERS[i].letter == *w)
                draw_letter(canvas, LETTERS[i].rows, left, (CH - 5 * SIZE) / 2, SIZE, ink);
}

/*
 * Single frames of the corners of BT.709, which test the limits of the colours' arithmetic. Only
 * odd frames of the film: a picture of every other frame, which is what a film of this length gets,
 * has none.
 */
static bool flash(struct cell *canvas, const struct shot *s, int t, int number)
{
    static const unsigned colour[] = {0xff0000, 0x00ff00, 0x0000ff, 0xffff00,
                                      0xff00ff, 0x00ffff, 0xffffff};
    enum { EVERY = 4, COUNT = sizeof colour / sizeof *colour };
    int k = t / EVERY;
    if (!s->flashes || !(number & 1) || t % EVERY >= 2 || k >= COUNT)
        return false;
    struct cell c = encode_hex(colour[k]);
    c.patch = FLASH;
    for (int i = picture_top(s) * CW; i < (picture_top(s) + picture_rows(s)) * CW; i++)
        canvas[i] = c;
    return true;
}

/* Frame t of a shot, which is frame `number` of the film. */
static void draw(struct cell *canvas, const struct shot *s, int t, int number)
{
    const struct cell black = {16, 128, 128, 0};
    for (int i = 0; i < CELLS; i++)
        canvas[i] = black;
    if (flash(canvas, s, t, number))
        return;
    for (int i = 0; i < PATCHES && s->patch[i].w; i++)
        draw_patch(canvas, s, i, t);
    if (s->words)
        draw_words(canvas, s, t);
}

#endif
