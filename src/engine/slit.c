#include "barcode/engine/slit.h"

#include <stdlib.h>
#include <string.h>

__extension__ typedef __int128 i128;

enum { BITS = 60, KEPT = 20 }; /* fractional bits of the series, and of its result */

static int64_t times(int64_t a, int64_t b) { return (int64_t)((i128)a * b >> BITS); }

/*
 * Returns round(2^KEPT f(angle)) for 0..9000 hundredths of a degree, f being the sine (first = 1)
 * or the cosine (first = 0): the Taylor series x^n / n!, exact to about 2^-54.
 */
static int32_t series(int angle, int first)
{
    const int64_t half_turn = INT64_C(3622009729038561421); /* pi 2^60 */
    int64_t x = (int64_t)((i128)half_turn * angle / (SLIT_TURN / 2)), sum = 0;
    int64_t term = first ? x : INT64_C(1) << BITS;
    for (int64_t n = first; term != 0; n += 2) {
        sum += term;
        term = -times(times(term, x), x) / ((n + 1) * (n + 2));
    }
    return (int32_t)((sum + (INT64_C(1) << (BITS - KEPT - 1))) >> (BITS - KEPT));
}

void slit_rotation(int angle, int32_t *cosine, int32_t *sine)
{
    int rest = angle % (SLIT_TURN / 4);
    int32_t c = series(rest, 0), s = series(rest, 1);
    switch (angle / (SLIT_TURN / 4)) {
    case 0: *cosine = c, *sine = s; return;
    case 1: *cosine = -s, *sine = c; return;
    case 2: *cosine = -c, *sine = -s; return;
    default: *cosine = s, *sine = -c; return;
    }
}

/* Returns the side of the canvas: a |p| + b |q| in pixels. */
static int64_t canvas_side(int64_t a, int64_t p, int64_t b, int64_t q)
{
    return (a * llabs(p) + b * llabs(q) + (1 << (KEPT - 1))) >> KEPT;
}

/* Writes the offsets of the slit's pixels. Returns their number. */
static int trace(const struct slit *slit, int64_t w, int64_t h, uint32_t *offset)
{
    int32_t c, s;
    slit_rotation(slit->angle, &c, &s);
    int64_t across = canvas_side(w, c, h, s), down = canvas_side(w, s, h, c);
    int64_t i = slit->x * across / SLIT_X_ONE;
    int64_t u = 2 * (i < across ? i : across - 1) + 1 - across;
    int length = 0;
    for (int64_t j = 0; j < down; j++) {
        int64_t v = 2 * j + 1 - down;
        int64_t x = (w * (1 << KEPT) + u * c + v * s) >> (KEPT + 1);
        int64_t y = (h * (1 << KEPT) - u * s + v * c) >> (KEPT + 1);
        if (x >= 0 && x < w && y >= 0 && y < h)
            offset[length++] = (uint32_t)((y * w + x) * 3);
    }
    return length;
}

struct slit_line *slit_line_open(const struct slit *slit, int width, int height, struct err *e)
{
    size_t most = (size_t)width + (size_t)height + 1;
    struct slit_line *line = err_calloc(1, sizeof *line, e);
    if (!line)
        return NULL;
    line->offset = malloc(most * sizeof *line->offset);
    if (!line->offset)
        err_memory(e, most * sizeof *line->offset);
    else
        line->length = trace(slit, width, height, line->offset);
    if (line->length > 0)
        return line;
    if (line->offset)
        err_set(e, ERR_USAGE,
                "the slit at %d.%02d %% of the frame misses it when it is rotated by %d.%02d "
                "degrees; give a place nearer to 50%%",
                slit->x / 100, slit->x % 100, slit->angle / 100, slit->angle % 100);
    slit_line_free(&line);
    return NULL;
}

void slit_line_read(const struct slit_line *line, const uint8_t *rgb, uint8_t *to)
{
    for (int i = 0; i < line->length; i++)
        memcpy(to + 3 * (ptrdiff_t)i, rgb + line->offset[i], 3);
}

void slit_line_free(struct slit_line **line)
{
    if (!*line)
        return;
    free((*line)->offset);
    free(*line);
    *line = NULL;
}
