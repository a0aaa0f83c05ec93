#include "barcode/engine/dominant.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "barcode/engine/colour.h"

/* Returns the lower bound of x * 2^45 for roots above r; at most 2^61. */
static uint64_t root_bound(uint64_t r) { return (2 * r + 1) * (2 * r + 1) * (2 * r + 1) * 65535; }

void oklab_roots(uint16_t root[OKLAB_ROOTS])
{
    uint64_t r = 0;
    for (uint64_t x = 0; x < OKLAB_ROOTS; x++) {
        while (x << 45 >= root_bound(r))
            r++;
        root[x] = (uint16_t)r;
    }
}

/* Pixels whose sums fit in 32 bits (128 * 10404 * 1037 < 2^31), for vectors. */
enum { PIECE = 128 };

struct dominant {
    uint16_t root[OKLAB_ROOTS];
    /* number of pixels, later sums along b and a: at most 9 * 2^28 < 2^32 */
    uint32_t cell[DOMINANT_CELLS];
    /* sums along b */
    uint32_t sum[DOMINANT_CELLS];
    uint64_t density[DOMINANT_CELLS];
    uint16_t *l, *a, *b; /* [pixels] places */
};

/* The total weight of pixels; `first`: the weighted sum of their places or colours. */
struct weighed {
    uint64_t weight, first[3];
};

struct dominant *dominant_open(size_t pixels, struct err *e)
{
    struct dominant *d = calloc(1, sizeof *d);
    uint16_t *place = d ? malloc(3 * pixels * sizeof *place) : NULL;
    if (!place) {
        free(d);
        err_memory(e, sizeof *d + 3 * pixels * sizeof *place);
        return NULL;
    }
    oklab_roots(d->root);
    d->l = place;
    d->a = place + pixels;
    d->b = place + 2 * pixels;
    return d;
}

void dominant_free(struct dominant **d)
{
    if (!*d)
        return;
    free((*d)->l);
    free(*d);
    *d = NULL;
}

/* Counts the pixels of each cell. Neighbours often have the same colour, and so the same result. */
static void count_cells(struct dominant *d, const uint8_t *rgb, size_t pixels)
{
    struct dominant_place p = dominant_place_of(srgb_linear, d->root, rgb);
    uint32_t cell = dominant_cell_of(p);
    memset(d->cell, 0, sizeof d->cell);
    for (size_t i = 0; i < pixels; i++, rgb += 3) {
        if (i > 0 && (rgb[0] != rgb[-3] || rgb[1] != rgb[-2] || rgb[2] != rgb[-1])) {
            p = dominant_place_of(srgb_linear, d->root, rgb);
            cell = dominant_cell_of(p);
        }
        d->l[i] = p.l;
        d->a[i] = p.a;
        d->b[i] = p.b;
        d->cell[cell]++;
    }
}

/* Returns the weighted sum (1 2 3 2 1) along an axis of `count` cells, at number `at`. */
static uint64_t smooth(const uint32_t *cell, int at, int count, ptrdiff_t stride)
{
    uint64_t sum = (uint64_t)3 * *cell;
    for (int step = 1; step <= 2; step++) {
        uint64_t below = at >= step ? cell[-step * stride] : 0,
                 above = at + step < count ? cell[step * stride] : 0;
        sum += (uint64_t)(3 - step) * (below + above);
    }
    return sum;
}

static void smooth_all(struct dominant *d)
{
    enum { LAYER = DOMINANT_A * DOMINANT_B };
    for (int i = 0; i < DOMINANT_CELLS; i++)
        d->sum[i] = (uint32_t)smooth(d->cell + i, i % DOMINANT_B, DOMINANT_B, 1);
    for (int i = 0; i < DOMINANT_CELLS; i++)
        d->cell[i] =
            (uint32_t)smooth(d->sum + i, i / DOMINANT_B % DOMINANT_A, DOMINANT_A, DOMINANT_B);
    for (int i = 0; i < DOMINANT_CELLS; i++)
        d->density[i] = smooth(d->cell + i, i / LAYER, DOMINANT_L, LAYER);
}

static bool is_peak(const uint64_t *density, int cell)
{
    int l = cell / (DOMINANT_A * DOMINANT_B), a = cell / DOMINANT_B % DOMINANT_A,
        b = cell % DOMINANT_B;
    for (int step = 0; step < 27; step++) {
        int i = l + step / 9 - 1, j = a + step / 3 % 3 - 1, k = b + step % 3 - 1,
            other = (i * DOMINANT_A + j) * DOMINANT_B + k;
        bool inside =
            i >= 0 && i < DOMINANT_L && j >= 0 && j < DOMINANT_A && k >= 0 && k < DOMINANT_B;
        if (inside &&
            (density[other] > density[cell] || (density[other] == density[cell] && other < cell)))
            return false;
    }
    return density[cell] > 0;
}

/* Writes the `most` densest peaks to peak[], ties to the lower cell. Returns their number. */
static int find_peaks(const uint64_t *density, int most, int *peak)
{
    int found = 0;
    for (int cell = 0; cell < DOMINANT_CELLS; cell++) {
        uint64_t least = found < most ? 0 : density[peak[found - 1]];
        if (density[cell] <= least || !is_peak(density, cell))
            continue;
        if (found < most)
            found++;
        int at = found - 1;
        for (; at > 0 && density[peak[at - 1]] < density[cell]; at--)
            peak[at] = peak[at - 1];
        peak[at] = cell;
    }
    return found;
}

/* Adds n <= PIECE pixels. */
static void weigh_places(const uint16_t *l, const uint16_t *a, const uint16_t *b, size_t n,
                         struct dominant_place m, struct weighed *to)
{
    uint32_t weight = 0, sum[3] = {0};
    for (size_t i = 0; i < n; i++) {
        uint32_t w = dominant_weight((struct dominant_place){l[i], a[i], b[i]}, m);
        weight += w;
        sum[0] += w * l[i];
        sum[1] += w * a[i];
        sum[2] += w * b[i];
    }
    to->weight += weight;
    for (int c = 0; c < 3; c++)
        to->first[c] += sum[c];
}

static uint64_t mean(const struct weighed *s, int channel)
{
    assert(s->weight > 0); /* proved in dominant.h */
    return (2 * s->first[channel] + s->weight) / (2 * s->weight);
}

static struct dominant_place climb(const struct dominant *d, size_t pixels, struct dominant_place m)
{
    struct weighed s = {0};
    for (size_t i = 0; i < pixels; i += PIECE)
        weigh_places(d->l + i, d->a + i, d->b + i, pixels - i < PIECE ? pixels - i : PIECE, m, &s);
    return (struct dominant_place){(uint16_t)mean(&s, 0), (uint16_t)mean(&s, 1),
                                   (uint16_t)mean(&s, 2)};
}

static void find_colour(const struct dominant *d, const uint8_t *rgb, size_t pixels,
                        struct dominant_place m, uint8_t colour[3])
{
    struct weighed s = {0};
    for (size_t i = 0; i < pixels; i++, rgb += 3) {
        uint32_t w = dominant_weight((struct dominant_place){d->l[i], d->a[i], d->b[i]}, m);
        s.weight += w;
        for (int c = 0; c < 3; c++)
            s.first[c] += (uint64_t)w * rgb[c];
    }
    for (int c = 0; c < 3; c++)
        colour[c] = (uint8_t)mean(&s, c);
}

int dominant_modes(struct dominant *d, const uint8_t *rgb, size_t pixels, int most,
                   struct cluster *mode)
{
    int peak[DOMINANT_MOST] = {0};
    count_cells(d, rgb, pixels);
    smooth_all(d);
    int found = find_peaks(d->density, most, peak);
    for (int i = 0; i < found; i++) {
        struct dominant_place m = dominant_centre((uint32_t)peak[i]);
        for (int round = 0; round < DOMINANT_ROUNDS; round++)
            m = climb(d, pixels, m);
        find_colour(d, rgb, pixels, m, mode[i].rgb);
        mode[i].count = (uint32_t)(d->density[peak[i]] / DOMINANT_PEAK);
    }
    return found;
}
