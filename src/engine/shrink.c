#include "barcode/engine/shrink.h"

#include <stdlib.h>
#include <string.h>

#include "barcode/engine/colour.h"
#include "shrink_sum.h"

struct shrink_placing shrink_place(struct orientation o, ptrdiff_t width, ptrdiff_t height)
{
    struct shrink_placing p;
    switch (o.quarter_turns & 3) {
    case 1: p = (struct shrink_placing){height - 1, height, -1}; break;
    case 2: p = (struct shrink_placing){width * height - 1, -1, -width}; break;
    case 3: p = (struct shrink_placing){(width - 1) * height, -height, 1}; break;
    default: p = (struct shrink_placing){0, 1, width}; break;
    }
    if (o.mirror) {
        p.start += (width - 1) * p.right;
        p.right = -p.right;
    }
    return p;
}

/*
 * ---- Frames that are converted to light first (light.h) ----
 *
 * A row of samples becomes codes, then light, and is added to the sums of the output row. The last
 * converted row is kept, because an output row's last input row is often the next one's first.
 * Chroma is kept likewise.
 */
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

static void free_rows(struct shrink_light *s)
{
    free(s->sum);
    free(s->lit);
    free(s->part);
    free(s->narrow);
    free(s->in);
    *s = (struct shrink_light){0};
}

static bool make_light_room(struct shrink_light *s, const struct frame_view *v, struct err *e)
{
    size_t width = 0;
    for (int i = 0; i < (v->model == MODEL_GREY ? 1 : 3); i++)
        width = (size_t)v->plane[i].width > width ? (size_t)v->plane[i].width : width;
    if (width <= s->room)
        return true;
    free_rows(s);
    s->sum = malloc(3 * width * sizeof *s->sum);
    s->lit = malloc(3 * width * sizeof *s->lit);
    s->part = malloc(3 * width * sizeof *s->part);
    s->narrow = malloc(3 * width * sizeof *s->narrow);
    s->in = malloc(2 * width * sizeof *s->in);
    if (!s->sum || !s->lit || !s->part || !s->narrow || !s->in) {
        free_rows(s);
        err_memory(e, width * (3 * (sizeof *s->sum + sizeof *s->lit + sizeof *s->part +
                                    sizeof *s->narrow) +
                               2 * sizeof *s->in));
        return false;
    }
    s->room = width;
    return true;
}

/* Repeats a chroma sample's part for its luma samples, most often two. */
static void widen_chroma(const int32_t *restrict from, size_t narrow, int32_t *restrict to,
                         size_t wide)
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
static void convert_chroma(struct shrink_light *s, const struct picture *p, uint64_t y)
{
    const struct plane *luma = &p->view->plane[0], *b = &p->view->plane[1], *r = &p->view->plane[2];
    uint64_t row = y * (uint64_t)b->height / (uint64_t)luma->height;
    if (s->has_chroma && s->chroma_row == row)
        return;
    p->how->read(p->view, b, b->data + (ptrdiff_t)row * b->pitch, s->in);
    p->how->read(p->view, r, r->data + (ptrdiff_t)row * r->pitch, s->in + s->room);
    p->how->chroma(&p->m, s->in, s->in + s->room, (size_t)b->width, s->narrow, s->room);
    for (size_t i = 0; i < 3; i++)
        widen_chroma(s->narrow + i * s->room, (size_t)b->width, s->part + i * s->room,
                     (size_t)luma->width);
    s->chroma_row = row;
    s->has_chroma = true;
}

static void convert_row(struct shrink_light *s, const struct picture *p, uint64_t y)
{
    const struct plane *luma = &p->view->plane[0];
    const bool grey = p->view->model == MODEL_GREY;
    size_t n = (size_t)luma->width;
    if (s->has_row && s->row == y)
        return;
    if (!grey)
        convert_chroma(s, p, y);
    p->how->read(p->view, luma, luma->data + (ptrdiff_t)y * luma->pitch, s->in);
    p->how->codes(&p->m, s->in, grey ? NULL : s->part, n, s->lit, s->room);
    p->how->apply(p->t, &p->gamut, s->lit, n, s->room);
    s->row = y;
    s->has_row = true;
}

static void add_light_row(struct shrink_light *s, const struct picture *p, uint64_t y,
                          uint64_t weight)
{
    if (weight == 0)
        return;
    convert_row(s, p, y);
    for (size_t i = 0; i < 3; i++)
        p->how->add(s->sum + i * s->room, s->lit + i * s->room, (uint32_t)weight,
                    (size_t)p->view->plane[0].width);
}

/* Sums the input rows of output row `down`, for each luma column and component. */
static void sum_light(struct shrink_light *s, const struct picture *p,
                      const struct shrink_span *down, uint64_t weight)
{
    memset(s->sum, 0, 3 * s->room * sizeof *s->sum);
    add_light_row(s, p, down->head, down->head_weight);
    for (uint64_t y = down->begin; y < down->end; y++)
        add_light_row(s, p, y, weight);
    add_light_row(s, p, down->tail, down->tail_weight);
}

static void light_mean_of(const struct shrink_light *s, const struct light_table *t,
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

/*
 * Does shrink_frame's work for a view that passed light_wanted and shrink_check_view. x and y fit
 * the luma plane. Returns false if out of memory, with rgb unchanged.
 */
static bool shrink_light_frame(struct shrink_light *s, struct light *l,
                               const struct frame_view *view, const struct axis *x,
                               const struct axis *y, uint8_t *rgb, struct err *e)
{
    struct picture p = {.how = ISA_PICK(light_row, light_isa(l)),
                        .t = light_table(l, view->transfer, e),
                        .view = view,
                        .gamut = light_gamut(l, view->transfer, view->primaries)};
    if (!p.t || !make_light_room(s, view, e))
        return false;
    light_matrix(&p.m, view);
    s->has_row = s->has_chroma = false;
    struct shrink_placing to =
        shrink_place(view->orientation, (ptrdiff_t)x->out, (ptrdiff_t)y->out);
    uint64_t total = (uint64_t)x->pixel * y->pixel;
    for (uint32_t j = 0; j < y->out; j++) {
        sum_light(s, &p, &y->span[j], y->sample);
        for (uint32_t i = 0; i < x->out; i++)
            light_mean_of(s, p.t, &x->span[i], x->sample, total,
                          rgb + 3 * (to.start + (ptrdiff_t)i * to.right + (ptrdiff_t)j * to.down));
    }
    return true;
}

/* ---- All other frames ---- */

/* Planes with interleaved samples (NV12's chroma, packed RGB): their columns are summed at once. */
struct group {
    const uint8_t *base; /* of the plane that comes first in memory */
    /* base as a number, because pointers into different frames do not compare */
    uintptr_t address;
    uint32_t last; /* words from base to the plane that comes last */
    int plane[3];
    int planes;
};

struct shrink {
    int width, height;      /* as displayed */
    struct axis x[3], y[3]; /* for each plane, before orientation */
    uint32_t *sum;          /* column sums of one output row */
    uint16_t *scratch;      /* column sums that fit in 16 bits */
    size_t room;            /* capacity of sum, scratch and running.prefix in words */
    struct mean_scratch running;
    uint16_t *mean[3]; /* a row of means of each component, max(width, height) each; one block */
    struct colour_transform colour;
    struct light *light; /* borrowed; NULL: no conversion to light */
    struct shrink_light lit;
};

struct shrink *shrink_open(int width, int height, struct err *e)
{
    if (width < 1 || height < 1 || width > SHRINK_LARGEST || height > SHRINK_LARGEST) {
        err_set(e, ERR_USAGE, "analysis size %dx%d is outside 1x1..%dx%d", width, height,
                SHRINK_LARGEST, SHRINK_LARGEST);
        return NULL;
    }
    size_t longer = (size_t)(width > height ? width : height);
    struct shrink *s = err_calloc(1, sizeof *s, e);
    if (!s)
        return NULL;
    s->width = width;
    s->height = height;
    s->mean[0] = err_calloc(3 * longer, sizeof *s->mean[0], e);
    s->running.total = err_calloc(longer, sizeof *s->running.total, e);
    if (!s->mean[0] || !s->running.total) {
        shrink_free(&s);
        return NULL;
    }
    s->mean[1] = s->mean[0] + longer;
    s->mean[2] = s->mean[1] + longer;
    return s;
}

void shrink_free(struct shrink **s)
{
    if (!*s)
        return;
    for (int i = 0; i < 3; i++) {
        shrink_axis_free(&(*s)->x[i]);
        shrink_axis_free(&(*s)->y[i]);
    }
    free((*s)->sum);
    free((*s)->scratch);
    free((*s)->running.prefix);
    free((*s)->running.total);
    free((*s)->mean[0]);
    free_rows(&(*s)->lit);
    free(*s);
    *s = NULL;
}

void shrink_use_light(struct shrink *s, struct light *light) { s->light = light; }

static int planes_of(const struct frame_view *v) { return v->model == MODEL_GREY ? 1 : 3; }

static int word_size(const struct frame_view *v) { return v->bits > 8 ? 2 : 1; }

static bool check_size(int width, int height, struct err *e)
{
    if (width >= 1 && height >= 1 && width <= SHRINK_LARGEST && height <= SHRINK_LARGEST)
        return true;
    return err_set(e, ERR_FAILED, "cannot downscale a frame of %dx%d: the largest is %dx%d", width,
                   height, SHRINK_LARGEST, SHRINK_LARGEST);
}

bool shrink_check_view(const struct frame_view *v, struct err *e)
{
    int word = word_size(v);
    if (!check_size(v->width, v->height, e))
        return false;
    if (v->bits < 8 || v->bits > 16 || v->shift < 0 || v->shift > 8 * word - v->bits)
        return err_set(e, ERR_FAILED, "cannot downscale samples of %d bits shifted by %d", v->bits,
                       v->shift);
    int planes = planes_of(v);
    for (int i = 0; i < planes + (v->alpha.data != NULL); i++) {
        const struct plane *p = i < planes ? &v->plane[i] : &v->alpha;
        if (!check_size(p->width, p->height, e))
            return false;
        if (p->step < word || p->step > 64 || p->step % word)
            return err_set(e, ERR_FAILED,
                           "cannot downscale samples of %d bits that lie %d bytes apart", v->bits,
                           p->step);
    }
    if (v->alpha.data &&
        (v->alpha.width != v->plane[0].width || v->alpha.height != v->plane[0].height))
        return err_set(e, ERR_FAILED, "cannot downscale a frame with alpha of another size");
    return true;
}

static bool joins(struct group *g, const struct frame_view *v, int plane)
{
    const struct plane *p = &v->plane[plane], *q = &v->plane[g->plane[0]];
    if (p->pitch != q->pitch || p->step != q->step || p->width != q->width ||
        p->height != q->height)
        return false;
    /* Unsigned differences: only one of the two is small. */
    uintptr_t at = (uintptr_t)p->data, step = (uintptr_t)p->step;
    uintptr_t after = at - g->address, before = g->address - at;
    uint32_t word = (uint32_t)word_size(v);
    if (after < step && after % word == 0) {
        if (after / word > g->last)
            g->last = (uint32_t)after / word;
    } else if (before + (uintptr_t)g->last * word < step && before < step && before % word == 0) {
        g->base = p->data;
        g->address = at;
        g->last += (uint32_t)before / word;
    } else {
        return false;
    }
    g->plane[g->planes++] = plane;
    return true;
}

static int make_groups(const struct frame_view *v, struct group group[3])
{
    int n = 0;
    for (int i = 0; i < planes_of(v); i++) {
        bool joined = false;
        for (int j = 0; j < n && !joined; j++)
            joined = joins(&group[j], v, i);
        if (!joined)
            group[n++] =
                (struct group){v->plane[i].data, (uintptr_t)v->plane[i].data, 0, {i, 0, 0}, 1};
    }
    return n;
}

/* Returns the words from a row's first to its last sample, where the memory may end. */
static uint32_t words_of(const struct frame_view *v, const struct group *g)
{
    const struct plane *p = &v->plane[g->plane[0]];
    return (uint32_t)(p->width - 1) * (uint32_t)(p->step / word_size(v)) + g->last + 1;
}

static bool make_room(struct shrink *s, size_t words, struct err *e)
{
    if (words <= s->room)
        return true;
    free(s->sum);
    free(s->scratch);
    free(s->running.prefix);
    s->sum = malloc(words * sizeof *s->sum);
    s->scratch = malloc(words * sizeof *s->scratch);
    s->running.prefix = malloc((words + 1) * sizeof *s->running.prefix);
    bool ok = s->sum && s->scratch && s->running.prefix;
    s->room = ok ? words : 0;
    return ok || err_memory(e, words * (sizeof *s->sum + sizeof *s->scratch + sizeof(uint64_t)));
}

/* Computes row y of the group's components, before orientation, in s->mean. */
static void group_means(struct shrink *s, const struct frame_view *v, const struct group *g,
                        uint32_t y)
{
    const struct plane *p = &v->plane[g->plane[0]];
    const struct axis *down = &s->y[g->plane[0]], *across = &s->x[g->plane[0]];
    uint32_t word = (uint32_t)word_size(v);
    struct rows rows = {g->base, p->pitch, words_of(v, g), v->shift};
    if (word == 1)
        shrink_column_sums_8(&rows, &down->span[y], down->sample, s->scratch, s->sum);
    else
        shrink_column_sums_16(&rows, &down->span[y], down->sample, s->sum);
    uint32_t largest = word == 1 ? UINT8_MAX : UINT16_MAX >> v->shift;
    struct mean_rule rule = {across, down->pixel, (uint32_t)p->step / word, 16 - v->bits, largest};
    for (int i = 0; i < g->planes; i++) {
        uintptr_t offset = ((uintptr_t)v->plane[g->plane[i]].data - g->address) / word;
        shrink_row_means(&rule, s->sum + offset, &s->running, s->mean[g->plane[i]]);
    }
}

/* Does shrink_frame's work for a frame that is converted to light first. */
static bool shrink_lit(struct shrink *s, const struct frame_view *view, uint8_t *rgb, struct err *e)
{
    bool turned = view->orientation.quarter_turns & 1;
    int width = turned ? s->height : s->width, height = turned ? s->width : s->height;
    bool whole = view->model == MODEL_GREY || (view->plane[1].width == view->plane[2].width &&
                                               view->plane[1].height == view->plane[2].height);
    if (!whole)
        return err_set(e, ERR_FAILED,
                       "cannot downscale a frame whose chroma planes differ in size");
    if (!shrink_axis_fit(&s->x[0], (uint32_t)view->plane[0].width, (uint32_t)width, e) ||
        !shrink_axis_fit(&s->y[0], (uint32_t)view->plane[0].height, (uint32_t)height, e))
        return false;
    return shrink_light_frame(&s->lit, s->light, view, &s->x[0], &s->y[0], rgb, e);
}

bool shrink_frame(struct shrink *s, const struct frame_view *view, uint8_t *rgb, struct err *e)
{
    if (!shrink_check_view(view, e))
        return false;
    if (light_wanted(s->light, view))
        return shrink_lit(s, view, rgb, e);
    bool turned = view->orientation.quarter_turns & 1;
    int width = turned ? s->height : s->width, height = turned ? s->width : s->height;
    struct group group[3];
    int groups = make_groups(view, group);
    for (int i = 0; i < groups; i++)
        if (!make_room(s, words_of(view, &group[i]), e))
            return false;
    for (int i = 0; i < planes_of(view); i++)
        if (!shrink_axis_fit(&s->x[i], (uint32_t)view->plane[i].width, (uint32_t)width, e) ||
            !shrink_axis_fit(&s->y[i], (uint32_t)view->plane[i].height, (uint32_t)height, e))
            return false;
    colour_transform_init(&s->colour, view->model, view->matrix, view->range, view->bits);
    const uint16_t *grey = view->model == MODEL_GREY ? s->mean[0] : NULL;
    const uint16_t *const mean[3] = {s->mean[0], grey ? grey : s->mean[1],
                                     grey ? grey : s->mean[2]};
    struct shrink_placing p = shrink_place(view->orientation, width, height);
    for (int y = 0; y < height; y++) {
        for (int i = 0; i < groups; i++)
            group_means(s, view, &group[i], (uint32_t)y);
        colour_apply_row(&s->colour, mean, width, rgb + 3 * (p.start + y * p.down), 3 * p.right);
    }
    return true;
}

bool shrink_rgb(const uint8_t *from, int from_width, int from_height, uint8_t *to, int width,
                int height, struct err *e)
{
    struct frame_view view = {.model = MODEL_RGB,
                              .matrix = MATRIX_RGB,
                              .range = RANGE_FULL,
                              .bits = 8,
                              .width = from_width,
                              .height = from_height};
    for (int c = 0; c < 3; c++)
        view.plane[c] =
            (struct plane){from + c, (ptrdiff_t)from_width * 3, 3, from_width, from_height};
    struct shrink *s = shrink_open(width, height, e);
    bool ok = s && shrink_frame(s, &view, to, e);
    shrink_free(&s);
    return ok;
}
