#include "size.h"

#include <stdint.h>

/* Returns `n` limited to 1..most. */
static int clamp_side(int n, int most)
{
    if (n > most)
        n = most;
    return n < 1 ? 1 : n;
}

/* Returns n / divisor, rounded half up, at least 1. */
static int divided(int n, int divisor)
{
    int64_t d = divisor > 1 ? divisor : 1;
    return clamp_side((int)((2 * (int64_t)n + d) / (2 * d)), n);
}

/*
 * Scales the longer side to `side` (never enlarges) and the other in proportion, rounded half up,
 * at least 1.
 */
static void fit_side(int width, int height, int side, int *out_width, int *out_height)
{
    int longer = width > height ? width : height;
    int64_t shorter = width > height ? height : width;
    if (side < longer) {
        side = side > 1 ? side : 1;
        shorter = (2 * shorter * side + longer) / (2 * (int64_t)longer);
        longer = side;
    }
    int least = shorter > 1 ? (int)shorter : 1;
    *out_width = width > height ? longer : least;
    *out_height = width > height ? least : longer;
}

void size_resolve(const struct size_rule *rule, int width, int height, int *out_width,
                  int *out_height)
{
    switch (rule->kind) {
    case SIZE_ROWS:
        *out_height = clamp_side(rule->side, height);
        *out_width = clamp_side(
            (int)((2 * (int64_t)width * *out_height + height) / (2 * (int64_t)height)), width);
        return;
    case SIZE_SIDE: fit_side(width, height, rule->side, out_width, out_height); return;
    case SIZE_EXACT:
        *out_width = clamp_side(rule->width, width);
        *out_height = clamp_side(rule->height, height);
        return;
    case SIZE_DIVIDE:
        *out_width = divided(width, rule->divisor);
        *out_height = divided(height, rule->divisor);
        return;
    case SIZE_FULL: break;
    }
    *out_width = width;
    *out_height = height;
}
