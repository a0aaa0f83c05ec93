#include "residual.h"

#include <stddef.h>

/* Returns the median of left, above and left + above - upper left, without a branch. */
static inline int foretell(int left, int above, int corner)
{
    int most = left > above ? left : above, least = left > above ? above : left,
        slope = left + above - corner;
    return slope < least ? least : slope > most ? most : slope;
}

static void subtract_green(const uint8_t *rgb, size_t pixels, uint8_t *out)
{
    for (size_t i = 0; i < 3 * pixels; i += 3) {
        uint8_t green = rgb[i + 1];
        out[i] = (uint8_t)(rgb[i] - green + 128);
        out[i + 1] = green;
        out[i + 2] = (uint8_t)(rgb[i + 2] - green + 128);
    }
}

static void add_green(const uint8_t *in, size_t pixels, uint8_t *rgb)
{
    for (size_t i = 0; i < 3 * pixels; i += 3) {
        uint8_t green = in[i + 1];
        rgb[i] = (uint8_t)(in[i] + green - 128);
        rgb[i + 1] = green;
        rgb[i + 2] = (uint8_t)(in[i + 2] + green - 128);
    }
}

void cache_residual_make(const uint8_t *rgb, int width, int height, uint8_t *scratch, uint8_t *out)
{
    size_t row = 3 * (size_t)width;
    subtract_green(rgb, (size_t)width * (size_t)height, scratch);
    for (size_t x = 0; x < row; x++)
        out[x] = (uint8_t)(scratch[x] - (x < 3 ? 0 : scratch[x - 3]));
    for (size_t y = 1; y < (size_t)height; y++) {
        const uint8_t *now = scratch + y * row, *above = now - row;
        uint8_t *to = out + y * row;
        for (size_t x = 0; x < 3; x++)
            to[x] = (uint8_t)(now[x] - above[x]);
        for (size_t x = 3; x < row; x++)
            to[x] = (uint8_t)(now[x] - foretell(now[x - 3], above[x], above[x - 3]));
    }
}

/*
 * Restores a row after the first. The channels are independent, so the processor computes them in
 * parallel.
 */
static void undo_row(const uint8_t *from, const uint8_t *above, uint8_t *now, size_t row)
{
    uint8_t r = now[0] = (uint8_t)(from[0] + above[0]);
    uint8_t g = now[1] = (uint8_t)(from[1] + above[1]);
    uint8_t b = now[2] = (uint8_t)(from[2] + above[2]);
    for (size_t x = 3; x < row; x += 3) {
        r = now[x] = (uint8_t)(from[x] + foretell(r, above[x], above[x - 3]));
        g = now[x + 1] = (uint8_t)(from[x + 1] + foretell(g, above[x + 1], above[x - 2]));
        b = now[x + 2] = (uint8_t)(from[x + 2] + foretell(b, above[x + 2], above[x - 1]));
    }
}

void cache_residual_undo(const uint8_t *residual, int width, int height, uint8_t *scratch,
                         uint8_t *rgb)
{
    size_t row = 3 * (size_t)width;
    for (size_t x = 0; x < row; x++)
        scratch[x] = (uint8_t)(residual[x] + (x < 3 ? 0 : scratch[x - 3]));
    for (size_t y = 1; y < (size_t)height; y++)
        undo_row(residual + y * row, scratch + (y - 1) * row, scratch + y * row, row);
    add_green(scratch, (size_t)width * (size_t)height, rgb);
}
