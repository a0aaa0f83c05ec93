#include "shrink_sum.h"

#include <stdlib.h>
#include <string.h>

#include "barcode/engine/colour.h"
#include "barcode/engine/shrink.h"

/* Sums over one pixel. Weights are at most 2^28 in all, so 60 bits hold the sums of light. */
struct cell {
    uint64_t sum[3]; /* of weight * coverage * component */
    uint64_t cover;  /* of weight * coverage */
};

struct shrink_alpha {
    int width, height;   /* as displayed */
    struct axis x, y;    /* of plane 0, before orientation */
    struct cell *cell;   /* [max(width, height)], an output row */
    uint8_t *rgb;        /* [height][width][3] */
    uint8_t *cover;      /* [height][width], each pixel's coverage */
    struct light *light; /* borrowed; NULL: no conversion to light */
};

/* Parameters common to all rows of a frame. */
struct picture {
    const struct frame_view *view;
    struct colour_transform m;
    const struct light_table *t; /* NULL: means of samples */
    struct light_gamut gamut;
};

struct shrink_alpha *shrink_alpha_open(int width, int height, struct light *light, struct err *e)
{
    size_t pixels = (size_t)width * (size_t)height,
           longer = (size_t)(width > height ? width : height);
    struct shrink_alpha *s = calloc(1, sizeof *s);
    if (s) {
        *s = (struct shrink_alpha){.width = width, .height = height, .light = light};
        s->cell = malloc(longer * sizeof *s->cell);
        s->rgb = malloc(3 * pixels);
        s->cover = malloc(pixels);
    }
    if (!s || !s->cell || !s->rgb || !s->cover) {
        shrink_alpha_free(&s);
        err_memory(e, 4 * pixels);
    }
    return s;
}

void shrink_alpha_free(struct shrink_alpha **s)
{
    if (!*s)
        return;
    shrink_axis_free(&(*s)->x);
    shrink_axis_free(&(*s)->y);
    free((*s)->cell);
    free((*s)->rgb);
    free((*s)->cover);
    free(*s);
    *s = NULL;
}

/* ------------------------------------------------------------------ samples */

static uint32_t read_sample(const struct frame_view *v, const struct plane *p, size_t x, size_t y)
{
    const uint8_t *at = p->data + (ptrdiff_t)y * p->pitch + (ptrdiff_t)x * p->step;
    uint16_t word;
    if (v->bits <= 8)
        return *at;
    memcpy(&word, at, sizeof word);
    return (uint32_t)(word >> v->shift);
}

static uint32_t read_cover(const struct frame_view *v, size_t x, size_t y)
{
    uint32_t cover = read_sample(v, &v->alpha, x, y) >> (v->bits - 8);
    return cover > 255 ? 255 : cover;
}

bool shrink_alpha_is_opaque(const struct frame_view *view)
{
    for (size_t y = 0; y < (size_t)view->alpha.height; y++)
        for (size_t x = 0; x < (size_t)view->alpha.width; x++)
            if (read_cover(view, x, y) < 255)
                return false;
    return true;
}

/* Returns the position in a plane of `size` samples that belongs to position `at` of `whole`. */
static size_t place_in(int size, size_t at, int whole)
{
    return size == whole ? at : at * (size_t)size / (size_t)whole;
}

/* Replaces samples by light_apply's results (light.h, steps 1 to 5). */
static void change_to_light(const struct picture *p, uint32_t in[3])
{
    uint32_t code[3];
    int32_t fix16[3];
    int parts = p->view->model == MODEL_GREY ? 1 : 3;
    for (int i = 0; i < 3; i++) {
        uint32_t up = in[i] << (16 - p->view->bits);
        fix16[i] = up > UINT16_MAX ? UINT16_MAX : (int32_t)up;
    }
    for (int i = 0; i < 3; i++) {
        int64_t sum = 0;
        for (int j = 0; j < parts; j++)
            sum += (int64_t)p->m.m[i][j] * (fix16[j] - p->m.offset[j]);
        code[i] = light_code_of((int32_t)sum);
    }
    light_apply(p->t, p->t->transfer, p->t->linear, &p->gamut, code, in);
}

/* Adds the sample at (x, y) of plane 0 to its pixel. */
static void add_sample(const struct picture *p, size_t x, size_t y, uint64_t weight, struct cell *c)
{
    const struct frame_view *v = p->view;
    uint64_t share = weight > 0 ? weight * read_cover(v, x, y) : 0;
    if (share == 0)
        return;
    uint32_t in[3];
    for (int i = 0; i < 3; i++) {
        const struct plane *from = &v->plane[v->model == MODEL_GREY ? 0 : i];
        in[i] = read_sample(v, from, place_in(from->width, x, v->plane[0].width),
                            place_in(from->height, y, v->plane[0].height));
    }
    if (p->t)
        change_to_light(p, in);
    for (int i = 0; i < 3; i++)
        c->sum[i] += share * in[i];
    c->cover += share;
}

/* Adds row y to the cells of an output row. */
static void add_row(struct shrink_alpha *s, const struct picture *p, size_t y, uint64_t weight)
{
    for (uint32_t i = 0; i < s->x.out && weight > 0; i++) {
        const struct shrink_span *across = &s->x.span[i];
        struct cell *c = &s->cell[i];
        add_sample(p, across->head, y, weight * across->head_weight, c);
        for (size_t x = across->begin; x < across->end; x++)
            add_sample(p, x, y, weight * s->x.sample, c);
        add_sample(p, across->tail, y, weight * across->tail_weight, c);
    }
}

/* ------------------------------------------------------------------ pixels */

static void mean_of_cell(const struct picture *p, const struct cell *c, uint8_t rgb[3])
{
    uint16_t mean[3];
    for (int i = 0; i < 3 && p->t; i++)
        rgb[i] = light_mean(p->t, p->t->linear, c->sum[i], c->cover);
    if (p->t)
        return;
    for (int i = 0; i < 3; i++) {
        uint64_t in = ((c->sum[i] << (16 - p->view->bits)) + c->cover / 2) / c->cover;
        mean[i] = in > UINT16_MAX ? UINT16_MAX : (uint16_t)in;
    }
    colour_apply(&p->m, mean, rgb);
}

/* Makes row j of the analysis frame, before orientation. Returns true if it has a visible pixel. */
static bool make_row(struct shrink_alpha *s, const struct picture *p, uint32_t j,
                     struct shrink_placing to)
{
    const struct shrink_span *down = &s->y.span[j];
    const uint64_t total = (uint64_t)s->x.pixel * s->y.pixel;
    bool visible = false;
    memset(s->cell, 0, s->x.out * sizeof *s->cell);
    add_row(s, p, down->head, down->head_weight);
    for (size_t y = down->begin; y < down->end; y++)
        add_row(s, p, y, s->y.sample);
    add_row(s, p, down->tail, down->tail_weight);
    for (uint32_t i = 0; i < s->x.out; i++) {
        const struct cell *c = &s->cell[i];
        ptrdiff_t at = to.start + (ptrdiff_t)i * to.right + (ptrdiff_t)j * to.down;
        s->cover[at] = (uint8_t)((c->cover + total - 1) / total);
        if (c->cover > 0)
            mean_of_cell(p, c, s->rgb + 3 * at);
        visible |= c->cover > 0;
    }
    return visible;
}

/* The position in a walk over the pixels, and the coverage of those before it. */
struct walk {
    size_t at;
    uint64_t cover;
};

/* Returns the number of pixels that the walk's next pixel gets; `all` is the coverage of all n. */
static uint64_t next_share(struct walk *w, const uint8_t *cover, size_t n, uint64_t all)
{
    uint64_t before = (w->cover * n + all / 2) / all;
    w->cover += cover[w->at++];
    return (w->cover * n + all / 2) / all - before;
}

void shrink_alpha_fill(const uint8_t *cover, uint8_t *rgb, size_t n)
{
    struct walk from = {0}, to = {0};
    uint64_t all = 0, spare = 0; /* spare: pixels that from's last pixel gets beside its own */
    for (size_t i = 0; i < n; i++)
        all += cover[i];
    while (to.at < n) {
        if (next_share(&to, cover, n, all) > 0)
            continue;
        while (spare == 0) {
            uint64_t share = next_share(&from, cover, n, all);
            spare = share > 1 ? share - 1 : 0;
        }
        memcpy(rgb + 3 * (to.at - 1), rgb + 3 * (from.at - 1), 3);
        spare--;
    }
}

bool shrink_alpha_frame(struct shrink_alpha *s, const struct frame_view *view, const uint8_t **rgb,
                        struct err *e)
{
    struct picture p = {.view = view,
                        .gamut = light_gamut(s->light, view->transfer, view->primaries)};
    bool turned = view->orientation.quarter_turns & 1, visible = false;
    int width = turned ? s->height : s->width, height = turned ? s->width : s->height;
    if (!shrink_check_view(view, e) ||
        !shrink_axis_fit(&s->x, (uint32_t)view->plane[0].width, (uint32_t)width, e) ||
        !shrink_axis_fit(&s->y, (uint32_t)view->plane[0].height, (uint32_t)height, e))
        return false;
    bool lit = light_wanted(s->light, view);
    if (lit) {
        p.t = light_table(s->light, view->transfer, e);
        if (!p.t)
            return false;
    }
    if (lit)
        light_matrix(&p.m, view);
    else
        colour_transform_init(&p.m, view->model, view->matrix, view->range, view->bits);
    struct shrink_placing to = shrink_place(view->orientation, width, height);
    for (int j = 0; j < height; j++)
        visible |= make_row(s, &p, (uint32_t)j, to);
    if (visible)
        shrink_alpha_fill(s->cover, s->rgb, (size_t)width * (size_t)height);
    *rgb = visible ? s->rgb : NULL;
    return true;
}
