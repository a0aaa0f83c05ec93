#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "barcode/engine/dominant.h"
#include "barcode/engine/colour.h"
#include "film_palette.h"
#include "band_order.h"

struct colour_histogram {
    pthread_mutex_t lock; /* guards `bin` */
    size_t pixels, step;
    struct histogram_bin bin[HISTOGRAM_BINS];
};

static size_t common_divisor(size_t a, size_t b)
{
    while (b > 0) {
        size_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

struct colour_histogram *colour_histogram_open(int width, int height, struct err *e)
{
    struct colour_histogram *h = err_calloc(1, sizeof *h, e);
    if (!h)
        return NULL;
    pthread_mutex_init(&h->lock, NULL);
    h->pixels = (size_t)width * (size_t)height;
    h->step = h->pixels > HISTOGRAM_PIXELS ? h->pixels / HISTOGRAM_PIXELS : 1;
    while (common_divisor(h->step, (size_t)width) > 1)
        h->step--;
    return h;
}

void colour_histogram_put(struct colour_histogram *h, const struct frame_tag *tag,
                          const uint8_t *rgb)
{
    pthread_mutex_lock(&h->lock);
    for (size_t i = tag->column % h->step; i < h->pixels; i += h->step) {
        const uint8_t *c = rgb + 3 * i;
        struct histogram_bin *bin = &h->bin[c[0] >> 2 << 12 | c[1] >> 2 << 6 | c[2] >> 2];
        bin->count += tag->repeat;
        for (int j = 0; j < 3; j++)
            bin->sum[j] += (uint64_t)tag->repeat * c[j];
    }
    pthread_mutex_unlock(&h->lock);
}

const struct histogram_bin *colour_histogram_bins(const struct colour_histogram *h)
{
    return h->bin;
}

void colour_histogram_free(struct colour_histogram **h)
{
    if (!*h)
        return;
    pthread_mutex_destroy(&(*h)->lock);
    free(*h);
    *h = NULL;
}

/* Squares of distances in OKLab, in 2^-20: of 0.08, 0.1, 0.15, and of the chroma 0.07. */
enum { SHOWN = 82 * 82, UNSHOWN = 102 * 102, MISSING = 154 * 154, VIVID = 72 * 72 };
/* The costs of a pixel; with both at their most it costs COST. */
enum { HIDDEN = 4096, HIDDEN_MOST = 6144, OFF = 16, OFF_MOST = 2048, COST = 8192 };
/* Weights are shares of the film in 2^-24. */
enum { FILM = 1 << 24, ACCENT = FILM / 128, STEP = FILM / 4096 };
enum { CANDIDATES = 512, CELLS = DOMINANT_CELLS };
enum { DARK = 19588755 }; /* srgb_luminance of L* 20 */

/* A cell that has pixels. */
struct cell {
    uint32_t number, weight;
    uint64_t count;
    int32_t l, a, b;
    uint8_t rgb[3];
    bool dark;
};

/* What each cell pays: the nearest swatch, its cost and that of the second nearest. */
struct payment {
    int swatch;
    uint32_t cost, second;
};

struct choice {
    struct cell *cell; /* [cells], the largest first */
    int cells, candidates;
    uint16_t *cost; /* [candidates][cells] */
    struct payment *paid;
    int *missing;                   /* room for indices of cells */
    int swatch[FILM_PALETTE_MOST];  /* indices of cells */
    bool accent[FILM_PALETTE_MOST]; /* which swatches are accents, and stay */
    int swatches, dark_most;        /* no step makes more swatches than `dark_most` dark */
};

static int32_t squared(int32_t x) { return x * x; }

static int32_t distance(const struct cell *x, const struct cell *y)
{
    return squared(x->l - y->l) + squared(x->a - y->a) + squared(x->b - y->b);
}

static int64_t at_most(int64_t x, int64_t most) { return x < most ? x : most; }

static uint32_t cost_of(const struct cell *x, const struct cell *swatch)
{
    int64_t d = distance(x, swatch), e = 4 * d - 3 * (int64_t)squared(x->l - swatch->l),
            vivid = VIVID + squared(x->a) + squared(x->b),
            hidden = d <= SHOWN ? 0 : HIDDEN * (d - SHOWN) / (UNSHOWN - SHOWN);
    return (uint32_t)(at_most(hidden, HIDDEN_MOST) +
                      at_most(e * vivid / (OFF * (int64_t)VIVID), OFF_MOST));
}

/* ------------------------------------------------------------------ cells */

static int larger_first(const void *a, const void *b)
{
    const struct cell *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return x->number < y->number ? -1 : 1;
}

static void mean_of(const struct histogram_bin *bin, uint8_t rgb[3])
{
    for (int i = 0; i < 3; i++)
        rgb[i] = (uint8_t)((2 * bin->sum[i] + bin->count) / (2 * bin->count));
}

/* Adds the bins to the cells of their means. Returns the number of pixels. */
static uint64_t pour(const struct histogram_bin *bin, const uint16_t *root,
                     struct histogram_bin cell[CELLS])
{
    uint64_t total = 0;
    uint8_t rgb[3];
    for (const struct histogram_bin *end = bin + HISTOGRAM_BINS; bin < end; bin++) {
        if (bin->count == 0)
            continue;
        mean_of(bin, rgb);
        struct histogram_bin *to =
            &cell[dominant_cell_of(dominant_place_of(srgb_linear, root, rgb))];
        to->count += bin->count;
        for (int i = 0; i < 3; i++)
            to->sum[i] += bin->sum[i];
        total += bin->count;
    }
    return total;
}

/* Fills c->cell with the cells that have pixels. */
static bool list_cells(struct choice *c, const struct colour_histogram *h, struct err *e)
{
    struct histogram_bin *sum = err_calloc(CELLS, sizeof *sum, e);
    uint16_t *root = err_calloc(OKLAB_ROOTS, sizeof *root, e);
    c->cell = err_calloc(CELLS, sizeof *c->cell, e);
    if (sum && root && c->cell) {
        oklab_roots(root);
        uint64_t total = pour(colour_histogram_bins(h), root, sum);
        for (uint32_t i = 0; i < CELLS; i++) {
            struct cell *to = &c->cell[c->cells];
            if (sum[i].count == 0)
                continue;
            to->number = i;
            to->count = sum[i].count;
            to->weight = (uint32_t)(to->count * FILM / total);
            mean_of(&sum[i], to->rgb);
            to->dark = srgb_luminance(to->rgb) < DARK;
            struct oklab q = oklab_of(srgb_linear, root, to->rgb);
            to->l = q.l;
            to->a = q.a;
            to->b = q.b;
            c->cells++;
        }
        qsort(c->cell, (size_t)c->cells, sizeof *c->cell, larger_first);
    }
    bool ok = sum && root && c->cell;
    free(sum);
    free(root);
    return ok;
}

static bool open_choice(struct choice *c, const struct colour_histogram *h, struct err *e)
{
    if (!list_cells(c, h, e))
        return false;
    c->candidates = c->cells < CANDIDATES ? c->cells : CANDIDATES;
    size_t cells = (size_t)c->cells + 1; /* a film may have none */
    c->paid = err_calloc(cells, sizeof *c->paid, e);
    c->missing = err_calloc(cells, sizeof *c->missing, e);
    c->cost = err_calloc(cells * CANDIDATES, sizeof *c->cost, e);
    for (int i = 0; c->cost && i < c->candidates; i++)
        for (int x = 0; x < c->cells; x++)
            c->cost[(size_t)i * (size_t)c->cells + (size_t)x] =
                (uint16_t)cost_of(&c->cell[x], &c->cell[i]);
    return c->paid && c->missing && c->cost;
}

static void close_choice(struct choice *c)
{
    free(c->cell);
    free(c->paid);
    free(c->missing);
    free(c->cost);
}

/* ------------------------------------------------------------------ PAM */

/* Sets what each cell pays. Returns the sum. */
static uint64_t pay(struct choice *c)
{
    uint64_t sum = 0;
    for (int x = 0; x < c->cells; x++) {
        struct payment p = {.cost = COST, .second = COST};
        for (int i = 0; i < c->swatches; i++) {
            uint32_t cost = cost_of(&c->cell[x], &c->cell[c->swatch[i]]);
            if (i == 0 || cost < p.cost)
                p = (struct payment){i, cost, p.cost};
            else if (cost < p.second)
                p.second = cost;
        }
        c->paid[x] = p;
        sum += (uint64_t)c->cell[x].weight * p.cost;
    }
    return sum;
}

/* Returns true if the cell may replace swatch i, or be added as swatch i = c->swatches. */
static bool may_replace(const struct choice *c, int i, int cell)
{
    int dark = 0;
    if (i < c->swatches && (c->accent[i] || c->cell[c->swatch[i]].dark))
        return !c->accent[i];
    for (int j = 0; j < c->swatches; j++)
        dark += c->cell[c->swatch[j]].dark;
    return !c->cell[cell].dark || dark < c->dark_most;
}

/* Sets saved[i] to what is saved if the candidate replaces swatch i; or none: i = c->swatches. */
static void savings(const struct choice *c, int candidate, int64_t saved[FILM_PALETTE_MOST + 1])
{
    const uint16_t *cost = c->cost + (size_t)candidate * (size_t)c->cells;
    int64_t added = 0;
    memset(saved, 0, (FILM_PALETTE_MOST + 1) * sizeof *saved);
    for (int x = 0; x < c->cells; x++) {
        const struct payment *p = &c->paid[x];
        int64_t weight = c->cell[x].weight;
        if (cost[x] < p->cost)
            added += weight * (p->cost - cost[x]);
        else
            saved[p->swatch] -= weight * ((cost[x] < p->second ? cost[x] : p->second) - p->cost);
    }
    for (int i = 0; i <= c->swatches; i++)
        saved[i] += added;
}

/* Makes the step that saves most: a candidate is added, or else replaces a swatch. Returns false if
 * it saves too little. */
static bool improve(struct choice *c, bool adds)
{
    int64_t most = (int64_t)STEP * COST - 1, saved[FILM_PALETTE_MOST + 1];
    const int first = adds ? c->swatches : 0, end = c->swatches + adds;
    int best = -1, place = 0;
    for (int i = 0; i < c->candidates; i++) {
        savings(c, i, saved);
        for (int j = first; j < end; j++) {
            if (saved[j] > most && may_replace(c, j, i)) {
                most = saved[j];
                best = i;
                place = j;
            }
        }
    }
    if (best >= 0) {
        c->swatch[place] = best;
        c->swatches = end > c->swatches ? end : c->swatches;
    }
    pay(c);
    return best >= 0;
}

/* ------------------------------------------------------------------ accents */

static bool is_missing(const struct choice *c, int x)
{
    for (int i = 0; i < c->swatches; i++)
        if (distance(&c->cell[x], &c->cell[c->swatch[i]]) <= MISSING)
            return false;
    return true;
}

/* Returns the size of the largest accent that is missing, and sets *at to its cell. */
static uint32_t largest_accent(const struct choice *c, int *at)
{
    int *missing = c->missing, count = 0;
    uint64_t densest = 0;
    uint32_t size = 0;
    for (int x = 0; x < c->cells; x++)
        if (is_missing(c, x))
            missing[count++] = x;
    for (int i = 0; i < count; i++) {
        uint64_t density = 0;
        uint32_t share = 0;
        for (int j = 0; j < count; j++) {
            const struct cell *y = &c->cell[missing[j]];
            int32_t d = distance(&c->cell[missing[i]], y);
            density += d < UNSHOWN ? (uint64_t)y->weight * (uint64_t)(UNSHOWN - d) : 0;
            share += d < UNSHOWN ? y->weight : 0;
        }
        if (density > densest) {
            densest = density;
            size = share;
            *at = missing[i];
        }
    }
    return size;
}

static uint32_t missing_share(const struct choice *c)
{
    uint32_t share = 0;
    for (int x = 0; x < c->cells; x++)
        share += is_missing(c, x) ? c->cell[x].weight : 0;
    return share;
}

/* Returns the swatch that is replaced by the cell at least cost, or -1 if none may be. */
static int least_useful(struct choice *c, int cell)
{
    uint64_t least = UINT64_MAX;
    int found = -1;
    for (int i = 0; i < c->swatches; i++) {
        int before = c->swatch[i];
        if (!may_replace(c, i, cell))
            continue;
        c->swatch[i] = cell;
        uint64_t sum = pay(c) + (uint64_t)missing_share(c) * COST * 16;
        c->swatch[i] = before;
        if (sum < least) {
            least = sum;
            found = i;
        }
    }
    return found;
}

/* Gives the largest accent a swatch. Returns false if there is none, or no place for it. */
static bool add_accent(struct choice *c)
{
    struct choice before = *c;
    int at = 0;
    uint32_t size = largest_accent(c, &at);
    int out = size < ACCENT ? -1 : least_useful(c, at);
    if (out < 0)
        return false;
    c->swatch[out] = at;
    c->accent[out] = true;
    pay(c);
    while (improve(c, false)) {
    }
    uint32_t after = largest_accent(c, &at);
    bool better = after < size || (after == size && missing_share(c) <= missing_share(&before));
    if (!better)
        *c = before;
    return better;
}

/* ------------------------------------------------------------------ palette */

static void fill_palette(const struct choice *c, struct film_palette *to)
{
    uint64_t count[FILM_PALETTE_MOST] = {0}, total = 0, sum = 0;
    struct cluster colour[FILM_PALETTE_MOST];
    uint8_t order[FILM_PALETTE_MOST];
    for (int x = 0; x < c->cells; x++) {
        int near = 0;
        for (int i = 1; i < c->swatches; i++)
            if (distance(&c->cell[x], &c->cell[c->swatch[i]]) <
                distance(&c->cell[x], &c->cell[c->swatch[near]]))
                near = i;
        count[near] += c->cell[x].count;
        total += c->cell[x].count;
    }
    for (int i = 0; i < c->swatches && total > 0; i++) {
        uint64_t from = sum * FILM_PALETTE_PIXELS / total;
        sum += count[i];
        memcpy(colour[i].rgb, c->cell[c->swatch[i]].rgb, 3);
        colour[i].count = (uint32_t)(sum * FILM_PALETTE_PIXELS / total - from);
    }
    to->count = c->swatches;
    if (c->swatches > 0)
        strip_order(ORDER_LIGHTNESS, colour, c->swatches, order);
    for (int i = 0; i < c->swatches; i++) {
        memcpy(to->colour[i].rgb, colour[order[i]].rgb, 3);
        to->colour[i].share = colour[order[i]].count;
    }
}

/* BUILD: adds swatches while they save enough, of which at most `dark_most` are dark. */
static void build(struct choice *c, int colours, int dark_most)
{
    c->dark_most = dark_most;
    while (c->swatches < colours && improve(c, true)) {
    }
}

bool film_palette_make(const struct colour_histogram *h, int colours, struct film_palette *to,
                       struct err *e)
{
    const int dark_most = colours < 3 ? 1 : 3 * colours / 8;
    struct choice c = {.swatches = 0};
    bool ok = open_choice(&c, h, e);
    if (ok) {
        pay(&c);
        build(&c, colours, dark_most);
        build(&c, colours, colours);
        c.dark_most = dark_most;
        while (improve(&c, false)) {
        }
        while (add_accent(&c)) {
        }
        fill_palette(&c, to);
    }
    close_choice(&c);
    return ok;
}
