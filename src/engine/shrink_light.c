/*
 * shrink_light.c - see shrink_light.h. Converts a row of samples to codes, then to light, and adds
 * it to the sums of the output row. Keeps the last converted row, because an output row's last
 * input row is often the next one's first. Chroma is kept likewise.
 */
#include "shrink_light.h"

#include <stdlib.h>
#include <string.h>

#include "barcode/engine/shrink.h"
#include "light_row.h"

struct shrink_light {
    size_t room;     /* capacity of the buffers below in samples of a row */
    uint64_t *sum;   /* [3][room] of one output row */
    uint32_t *lit;   /* [3][room], the input row `row` */
    int32_t *part;   /* [3][room], what chroma's row `chroma_row` adds to each luma sample */
    int32_t *narrow; /* [3][room], the same for each chroma sample */
    int32_t *in;     /* [2][room], samples as read */
    uint64_t row, chroma_row;
    bool has_row, has_chroma;
};

/* Parameters common to all rows of a frame. */
struct picture {
    const struct light_row *how;
    const struct light_table *t;
    const struct frame_view *view;
    struct colour_transform m;
    struct light_gamut gamut;
};

struct shrink_light *shrink_light_open(struct err *e)
{
    return err_calloc(1, sizeof(struct shrink_light), e);
}

static void release(struct shrink_light *s)
{
    free(s->sum);
    free(s->lit);
    free(s->part);
    free(s->narrow);
    free(s->in);
    *s = (struct shrink_light){0};
}

void shrink_light_free(struct shrink_light **s)
{
    if (*s)
        release(*s);
    free(*s);
    *s = NULL;
}

static bool make_room(struct shrink_light *s, const struct frame_view *v, struct err *e)
{
    size_t width = 0;
    for (int i = 0; i < (v->model == MODEL_GREY ? 1 : 3); i++)
        width = (size_t)v->plane[i].width > width ? (size_t)v->plane[i].width : width;
    if (width <= s->room)
        return true;
    release(s);
    s->sum = malloc(3 * width * sizeof *s->sum);
    s->lit = malloc(3 * width * sizeof *s->lit);
    s->part = malloc(3 * width * sizeof *s->part);
    s->narrow = malloc(3 * width * sizeof *s->narrow);
    s->in = malloc(2 * width * sizeof *s->in);
    if (!s->sum || !s->lit || !s->part || !s->narrow || !s->in) {
        release(s);
        err_memory(e, width * (3 * (sizeof *s->sum + sizeof *s->lit + sizeof *s->part +
                                    sizeof *s->narrow) +
                               2 * sizeof *s->in));
        return false;
    }
    s->room = width;
    return true;
}

/*
 * Repeats every chroma sample's part for its luma samples. Half the width is by far the most common
 * case.
 */
static void widen(const int32_t *restrict from, size_t narrow, int32_t *restrict to, size_t wide)
{
    if (narrow == wide)
        memcpy(to, from, wide * sizeof *to);
    else if (2 * narrow == wide)
        for (size_t x = 0; x < narrow; x++)
            to[2 * x] = to[2 * x + 1] = from[x];
    else
        for (size_t x = 0; x < wide; x++)
            to[x] = from[x * narrow / wide];
}

/* Converts the row of planes 1 and 2, which have the same size, at luma row y. */
static void change_chroma(struct shrink_light *s, const struct picture *p, uint64_t y)
{
    const struct plane *luma = &p->view->plane[0], *b = &p->view->plane[1], *r = &p->view->plane[2];
    uint64_t row = y * (uint64_t)b->height / (uint64_t)luma->height;
    if (s->has_chroma && s->chroma_row == row)
        return;
    p->how->read(p->view, b, b->data + (ptrdiff_t)row * b->pitch, s->in);
    p->how->read(p->view, r, r->data + (ptrdiff_t)row * r->pitch, s->in + s->room);
    p->how->chroma(&p->m, s->in, s->in + s->room, (size_t)b->width, s->narrow, s->room);
    for (size_t i = 0; i < 3; i++)
        widen(s->narrow + i * s->room, (size_t)b->width, s->part + i * s->room,
              (size_t)luma->width);
    s->chroma_row = row;
    s->has_chroma = true;
}

static void change_row(struct shrink_light *s, const struct picture *p, uint64_t y)
{
    const struct plane *luma = &p->view->plane[0];
    const bool grey = p->view->model == MODEL_GREY;
    size_t n = (size_t)luma->width;
    if (s->has_row && s->row == y)
        return;
    if (!grey)
        change_chroma(s, p, y);
    p->how->read(p->view, luma, luma->data + (ptrdiff_t)y * luma->pitch, s->in);
    p->how->codes(&p->m, s->in, grey ? NULL : s->part, n, s->lit, s->room);
    p->how->apply(p->t, &p->gamut, s->lit, n, s->room);
    s->row = y;
    s->has_row = true;
}

static void add_row(struct shrink_light *s, const struct picture *p, uint64_t y, uint64_t weight)
{
    if (weight == 0)
        return;
    change_row(s, p, y);
    for (size_t i = 0; i < 3; i++)
        p->how->add(s->sum + i * s->room, s->lit + i * s->room, (uint32_t)weight,
                    (size_t)p->view->plane[0].width);
}

/* Sums the input rows of output row `down`, for each luma column and component. */
static void sum_columns(struct shrink_light *s, const struct picture *p,
                        const struct shrink_span *down, uint64_t weight)
{
    memset(s->sum, 0, 3 * s->room * sizeof *s->sum);
    add_row(s, p, down->head, down->head_weight);
    for (uint64_t y = down->begin; y < down->end; y++)
        add_row(s, p, y, weight);
    add_row(s, p, down->tail, down->tail_weight);
}

static void mean_of_cell(const struct shrink_light *s, const struct light_table *t,
                         const struct shrink_span *across, uint64_t weight, uint64_t total,
                         uint8_t *rgb)
{
    for (size_t i = 0; i < 3; i++) {
        const uint64_t *column = s->sum + i * s->room;
        uint64_t sum = column[across->head] * across->head_weight +
                       column[across->tail] * across->tail_weight,
                 whole = 0;
        for (uint64_t x = across->begin; x < across->end; x++)
            whole += column[x];
        rgb[i] = light_mean(t, t->linear, sum + whole * weight, total);
    }
}

bool shrink_light_frame(struct shrink_light *s, struct light *l, const struct frame_view *view,
                        const struct axis *x, const struct axis *y, uint8_t *rgb, struct err *e)
{
    struct picture p = {.how = light_row_for(light_isa(l)),
                        .t = light_table(l, view->transfer, e),
                        .view = view,
                        .gamut = light_gamut(l, view->transfer, view->primaries)};
    if (!p.t || !make_room(s, view, e))
        return false;
    light_matrix(&p.m, view);
    s->has_row = s->has_chroma = false;
    struct shrink_placing to =
        shrink_place(view->orientation, (ptrdiff_t)x->out, (ptrdiff_t)y->out);
    uint64_t total = (uint64_t)x->pixel * y->pixel;
    for (uint32_t j = 0; j < y->out; j++) {
        sum_columns(s, &p, &y->span[j], y->sample);
        for (uint32_t i = 0; i < x->out; i++)
            mean_of_cell(s, p.t, &x->span[i], x->sample, total,
                         rgb + 3 * (to.start + (ptrdiff_t)i * to.right + (ptrdiff_t)j * to.down));
    }
    return true;
}
