#include "barcode/engine/crop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Percentages of covered samples: bars have logos and subtitles, pictures have dark ends. */
enum { BAR_MOST = 35, PICTURE_LEAST = 70, LINES_MOST = 20 };
enum { DARK_MOST = 8 }; /* of a line outside, if no edge proves that it is a bar */
enum { EDGE = 4 };      /* width of an edge in lines: encoders blur it */
enum { NEAR = 4 };      /* lines by which an edge may move between frames */

/* ------------------------------------------------------------------ one frame */

/* Returns the largest dark sample value. Chroma is ignored: dark pure colours are dark. */
static uint32_t dark_most(const struct frame_view *v)
{
    return (uint32_t)((v->range == RANGE_LIMITED && v->model != MODEL_RGB ? 16 : 0) + 12)
           << (v->bits - 8);
}

static uint32_t sample(const struct frame_view *v, const uint8_t *at)
{
    uint16_t word;
    if (v->bits <= 8)
        return *at;
    memcpy(&word, at, sizeof word);
    return (uint32_t)word >> v->shift;
}

/* Count a row as count_row does, for adjacent samples: loops that compilers vectorize. */
static uint32_t count_bytes(const uint8_t *row, int width, uint32_t dark, uint32_t *column)
{
    uint32_t covered = 0;
    for (int x = 0; x < width; x++) {
        uint32_t is = row[x] > dark;
        covered += is;
        column[x] += is;
    }
    return covered;
}

static uint32_t count_words(const uint8_t *row, int width, int shift, uint32_t dark,
                            uint32_t *column)
{
    uint32_t covered = 0;
    for (int x = 0; x < width; x++) {
        uint16_t word;
        memcpy(&word, row + (ptrdiff_t)2 * x, sizeof word);
        uint32_t is = (uint32_t)word >> shift > dark;
        covered += is;
        column[x] += is;
    }
    return covered;
}

/* Counts the covered samples of a row; adds each to column[] too. */
static uint32_t count_row(const struct frame_view *v, int y, uint32_t *column)
{
    const struct plane *p = &v->plane[0];
    const uint8_t *row = p->data + y * p->pitch;
    uint32_t dark = dark_most(v), covered = 0;
    if (v->bits <= 8 && p->step == 1 && v->model != MODEL_RGB)
        return count_bytes(row, p->width, dark, column);
    if (v->bits > 8 && p->step == 2 && v->model != MODEL_RGB)
        return count_words(row, p->width, v->shift, dark, column);
    for (int x = 0; x < p->width; x++) {
        uint32_t is = 0;
        for (int i = 0; i < (v->model == MODEL_RGB ? 3 : 1); i++) /* pure red is not dark */
            is |= sample(v, v->plane[i].data + y * v->plane[i].pitch +
                                (ptrdiff_t)x * v->plane[i].step) > dark;
        covered += is;
        column[x] += is;
    }
    return covered;
}

/* Returns line[i] of `count` lines, counted from one end or the other. */
static uint32_t line_at(const uint32_t *line, int count, int i, bool from_end)
{
    return line[from_end ? count - 1 - i : i];
}

static bool is_picture(const uint32_t *line, int count, int at, uint32_t most, bool from_end)
{
    for (int i = at; i < at + EDGE; i++)
        if (i >= count || line_at(line, count, i, from_end) * 100 < most * PICTURE_LEAST)
            return false;
    return true;
}

/* Returns true if the lines before `at` are a bar: few are covered, and not the last one. */
static bool is_bar(const uint32_t *line, int count, int at, uint32_t most, bool from_end)
{
    int over = 0, last = at - EDGE - 1;
    for (int i = 0; i <= last; i++)
        over += line_at(line, count, i, from_end) * 100 > most * BAR_MOST;
    return last >= 0 ? over * 100 <= at * LINES_MOST &&
                           line_at(line, count, last, from_end) * 100 <= most * BAR_MOST
                     : line_at(line, count, 0, from_end) * 100 <= most * BAR_MOST;
}

/* Returns the width of a bar, -1 if undetectable. `most`: samples of a completely covered line. */
static int bar_of(const uint32_t *line, int count, uint32_t most, int widest, bool from_end)
{
    enum { LEAST = CROP_EVERY }; /* a thinner bar may fall between the rows of crop_rows */
    int at = 0;
    while (at * 100 <= count * widest && !is_picture(line, count, at, most, from_end))
        at++;
    if (at * 100 > count * widest)
        return -1;
    if (at < LEAST)
        return 0;
    return is_bar(line, count, at, most, from_end) ? at : -1;
}

/*
 * Returns the bars of one axis. If one end is undetectable (subtitles, a dark side), it gets the
 * width of the other one if there is an edge: bars come in pairs.
 */
static struct crop_axis axis_of(const uint32_t *line, int count, uint32_t most, int widest)
{
    int low = bar_of(line, count, most, widest, false),
        high = bar_of(line, count, most, widest, true);
    if (low > 0 && high < 0 && is_bar(line, count, low + EDGE / 2, most, true) &&
        is_picture(line, count, low + EDGE / 2, most, true))
        high = low;
    if (high > 0 && low < 0 && is_bar(line, count, high + EDGE / 2, most, false) &&
        is_picture(line, count, high + EDGE / 2, most, false))
        low = high;
    return low < 0 || high < 0 ? (struct crop_axis){0} : (struct crop_axis){true, low, high};
}

static uint32_t largest_of(const uint32_t *line, int count)
{
    uint32_t most = 0;
    for (int i = 0; i < count; i++)
        most = line[i] > most ? line[i] : most;
    return most;
}

/*
 * Returns the largest bar at each end as a percentage of `length`, at least `least`. The bars may
 * leave a picture of aspect ratio `shape` / 1000 (its inverse for bars at the sides), plus a
 * margin. The widest pictures are 2.76:1: in 4:3 each bar is 26 %, in an upright 9:16 frame 40 %.
 * The narrowest are upright phone videos: in 16:9 each bar is 34 %.
 */
static int widest_bar(int side, int length, int shape, int least)
{
    int per_cent = 51 - (int)((int64_t)side * 50000 / ((int64_t)length * shape));
    return per_cent > least ? per_cent : least;
}

struct crop_seen crop_sample_frame(const struct frame_view *view, uint32_t *room)
{
    enum { BRIGHT = 30 }; /* per cent */
    const struct plane *p = &view->plane[0];
    uint32_t *row = room, *column = room + p->height;
    struct crop_seen seen = {0};
    if (view->model == MODEL_YCBCR && view->matrix == MATRIX_RGB)
        return seen;
    memset(room, 0, ((size_t)p->width + (size_t)p->height) * sizeof *room);
    for (int y = 0; y < p->height; y++)
        row[y] = count_row(view, y, column);
    uint32_t most = largest_of(row, p->height);
    /* no line is bright from end to end, not even between bars at the sides */
    if (most * 100 < (uint32_t)p->width * BRIGHT)
        return seen;
    seen.down = axis_of(row, p->height, most, widest_bar(p->width, p->height, 2760, 27));
    int top = seen.down.low, bottom = p->height - seen.down.high;
    if (seen.down.low + seen.down.high > 0) {
        memset(column, 0, (size_t)p->width * sizeof *column);
        for (int y = top; y < bottom; y++)
            count_row(view, y, column);
    }
    seen.across = axis_of(column, p->width, (uint32_t)(bottom - top),
                          widest_bar(p->height, p->width, 1778, 35));
    return seen;
}

/* ------------------------------------------------------------------ the film */

static bool near(int a, int b) { return abs(a - b) <= NEAR; }

/* Returns true if two axes have the same bars. An undetectable axis agrees with any other. */
static bool agree(struct crop_axis a, struct crop_axis b)
{
    return !a.known || !b.known || (near(a.low, b.low) && near(a.high, b.high));
}

static bool has_bar(struct crop_axis a) { return a.known && a.low + a.high > 0; }

static bool supports(const struct crop_seen *s, const struct crop_seen *shape)
{
    return (s->down.known || s->across.known) && agree(s->down, shape->down) &&
           agree(s->across, shape->across);
}

bool crop_suggests(const struct crop_seen *seen)
{
    const struct crop_axis *a = &seen->across, *d = &seen->down;
    return (a->known && (!d->known || has_bar(*a))) || (d->known && (!a->known || has_bar(*d)));
}

/* Returns the median position of an edge in frames of a shape: a scene may hide the edge. */
static int middle(const struct crop_seen *seen, size_t count, const struct crop_seen *shape,
                  bool down, bool high)
{
    int tally[2 * NEAR + 1] = {0}, total = 0, at = 0;
    struct crop_axis axis = down ? shape->down : shape->across;
    int place = high ? axis.high : axis.low;
    for (size_t i = 0; i < count && axis.known; i++) {
        struct crop_axis a = down ? seen[i].down : seen[i].across;
        if (a.known && supports(&seen[i], shape)) {
            tally[(high ? a.high : a.low) - place + NEAR]++;
            total++;
        }
    }
    for (int sum = tally[0]; sum * 2 < total; sum += tally[at])
        at++;
    return total > 0 ? place + at - NEAR : 0;
}

/* Returns true if both bars have about the same width. A dark edge at one end is the scene's. */
static bool is_pair(struct crop_axis a, int length)
{
    int most = length / 50 + 2 > (a.low + a.high) / 4 ? length / 50 + 2 : (a.low + a.high) / 4;
    return !has_bar(a) || (a.low > 0 && a.high > 0 && abs(a.low - a.high) <= most);
}

/* Returns how many frames must have a shape. That of few scenes is part of their content. */
static size_t quorum(size_t count)
{
    enum { SHARE = 8 };
    size_t share = (count + SHARE - 1) / SHARE;
    return share > CROP_QUORUM ? share : CROP_QUORUM;
}

static void add_rect(struct crop *t, size_t votes[CROP_RECTS], struct crop_rect r,
                     size_t supporters)
{
    for (int i = 0; i < t->count; i++)
        if (near(t->rect[i].x, r.x) && near(t->rect[i].y, r.y) && near(t->rect[i].width, r.width) &&
            near(t->rect[i].height, r.height))
            return;
    int at = t->count;
    if (at == CROP_RECTS) {
        at = 0;
        for (int i = 1; i < CROP_RECTS; i++)
            at = votes[i] < votes[at] ? i : at;
        if (votes[at] >= supporters)
            return;
    } else {
        t->count++;
    }
    t->rect[at] = r;
    votes[at] = supporters;
}

static int by_area(const void *a, const void *b)
{
    const struct crop_rect *p = a, *q = b;
    int64_t one = (int64_t)p->width * p->height, other = (int64_t)q->width * q->height;
    return (one > other) - (one < other);
}

/* Adds the shapes of frames with both axes detected, or with only one: the other has no bars. */
static void add_shapes(struct crop *t, const struct crop_seen *seen, size_t count, bool both)
{
    size_t votes[CROP_RECTS] = {0};
    for (size_t i = 0; i < count; i++) {
        const struct crop_seen *shape = &seen[i];
        bool bars = has_bar(shape->across) || has_bar(shape->down);
        if ((shape->across.known && shape->down.known) != both || !bars ||
            !is_pair(shape->across, t->width) || !is_pair(shape->down, t->height))
            continue;
        size_t supporters = 0;
        for (size_t j = 0; j < count; j++)
            supporters += supports(&seen[j], shape);
        if (supporters < quorum(count))
            continue;
        int left = middle(seen, count, shape, false, false),
            right = middle(seen, count, shape, false, true);
        int top = middle(seen, count, shape, true, false),
            bottom = middle(seen, count, shape, true, true);
        add_rect(t, votes,
                 (struct crop_rect){left, top, t->width - left - right, t->height - top - bottom},
                 supporters);
    }
}

struct crop crop_find(const struct crop_seen *seen, size_t count, int width, int height)
{
    struct crop t = {.width = width, .height = height};
    add_shapes(&t, seen, count, true);
    if (t.count == 0)
        add_shapes(&t, seen, count, false);
    qsort(t.rect, (size_t)t.count, sizeof *t.rect, by_area);
    return t;
}

/* ------------------------------------------------------------------ cropping */

struct frame_view crop_rows(const struct frame_view *view)
{
    struct frame_view rows = *view;
    for (int i = 0; i < 3; i++) {
        rows.plane[i].pitch *= CROP_EVERY;
        rows.plane[i].height = (rows.plane[i].height + CROP_EVERY - 1) / CROP_EVERY;
    }
    return rows;
}

/*
 * Statistics of the lines outside a rectangle: their number, how many are covered more than a bar
 * may be, and the most covered one. `most` is the length of a line.
 */
struct outside {
    int lines, over;
    uint32_t worst; /* per cent */
};

static void add_lines(struct outside *o, const uint32_t *line, int from, int to, uint32_t most)
{
    for (int i = from; i < to; i++) {
        uint32_t share = line[i] * 100 / most;
        o->lines++;
        o->over += share > BAR_MOST;
        o->worst = share > o->worst ? share : o->worst;
    }
}

/* Returns the first row of the thinned frame at or below line `y`. */
static int row_from(int y) { return (y + CROP_EVERY - 1) / CROP_EVERY; }

/* Returns true if the picture is bright inside every edge of `r`: what is outside is a bar. */
static bool shows_edges(const struct crop_rect *r, const struct crop *t, const uint32_t *row,
                        const uint32_t *column)
{
    int top = row_from(r->y + EDGE), bottom = (r->y + r->height - EDGE - 1) / CROP_EVERY;
    int left = r->x + EDGE, right = r->x + r->width - EDGE - 1;
    uint32_t across = (uint32_t)r->width * PICTURE_LEAST,
             down = (uint32_t)(bottom - top + 1) * PICTURE_LEAST;
    bool vertical =
        r->height == t->height || (row[top] * 100 >= across && row[bottom] * 100 >= across);
    return vertical &&
           (r->width == t->width || (column[left] * 100 >= down && column[right] * 100 >= down));
}

/* Returns true if all outside `r` is bars, by row[rows] and column[width] of the thinned frame. */
static bool holds(const struct crop_rect *r, const struct crop *t, const uint32_t *row, int rows,
                  const uint32_t *column, int width)
{
    struct outside rim = {0}, side = {0};
    if (r->width < 4 * EDGE || r->height < 4 * EDGE)
        return false;
    add_lines(&rim, row, 0, row_from(r->y), (uint32_t)width);
    add_lines(&rim, row, row_from(r->y + r->height), rows, (uint32_t)width);
    add_lines(&side, column, 0, r->x, (uint32_t)rows);
    add_lines(&side, column, r->x + r->width, width, (uint32_t)rows);
    if (rim.worst <= DARK_MOST && side.worst <= DARK_MOST)
        return true;
    return rim.over * 100 <= rim.lines * LINES_MOST && side.over * 100 <= side.lines * LINES_MOST &&
           shows_edges(r, t, row, column);
}

void crop_view(const struct crop *t, const struct frame_view *luma, struct frame_view *view)
{
    enum { LARGEST = 16384 };
    const struct plane *p = &luma->plane[0];
    /* A green plane alone is not brightness, and the GPU provides only one plane. */
    bool one_plane = view->model == MODEL_YCBCR && view->matrix == MATRIX_RGB;
    if (t->count == 0 || (one_plane && !t->forced) || view->width != t->width ||
        view->height != t->height || view->width > LARGEST || view->height > LARGEST)
        return;
    if (t->forced) {
        crop_to_rect(view, &t->rect[0]);
        return;
    }
    uint32_t row[LARGEST / CROP_EVERY] = {0}, column[LARGEST] = {0};
    for (int y = 0; y < p->height; y++)
        row[y] = count_row(luma, y, column);
    for (int i = 0; i < t->count; i++)
        if (holds(&t->rect[i], t, row, p->height, column, p->width)) {
            crop_to_rect(view, &t->rect[i]);
            return;
        }
}

/* Returns the subsampling ratio of chroma, whose last sample may cover fewer luma samples. */
static int ratio_of(int luma, int chroma)
{
    int ratio = 1;
    while (chroma * ratio < luma)
        ratio *= 2;
    return ratio;
}

/*
 * Crops one axis of a plane to [from, to) of `whole` luma samples, rounded inwards, but not to
 * nothing. *plane is the plane's size.
 */
static void cut_axis(int from, int to, int whole, int *plane, int *begin)
{
    int ratio = ratio_of(whole, *plane);
    int first = (from + ratio - 1) / ratio, end = to == whole ? *plane : to / ratio;
    if (first >= *plane)
        first = *plane - 1;
    if (end <= first)
        end = first + 1;
    *begin = first;
    *plane = end - first;
}

/* Rounds the luma range inwards too, so that it covers the same area as chroma. */
static void align(int *from, int *to, int whole, int chroma)
{
    int ratio = ratio_of(whole, chroma);
    int first = (*from + ratio - 1) / ratio * ratio,
        end = *to == whole ? whole : *to / ratio * ratio;
    if (first < end) {
        *from = first;
        *to = end;
    }
}

static int inside(int value, int most) { return value < 0 ? 0 : value > most ? most : value; }

void crop_to_rect(struct frame_view *view, const struct crop_rect *rect)
{
    int x0 = inside(rect->x, view->width), x1 = inside(rect->x + rect->width, view->width);
    int y0 = inside(rect->y, view->height), y1 = inside(rect->y + rect->height, view->height);
    bool chroma = view->model == MODEL_YCBCR;
    if (x1 <= x0 || y1 <= y0)
        return;
    align(&x0, &x1, view->width, chroma ? view->plane[1].width : view->width);
    align(&y0, &y1, view->height, chroma ? view->plane[1].height : view->height);
    int planes = view->model == MODEL_GREY ? 1 : 3;
    for (int i = 0; i < planes + (view->alpha.data != NULL); i++) {
        struct plane *p = i < planes ? &view->plane[i] : &view->alpha;
        int left, top;
        cut_axis(x0, x1, view->width, &p->width, &left);
        cut_axis(y0, y1, view->height, &p->height, &top);
        p->data += top * p->pitch + (ptrdiff_t)left * p->step;
    }
    view->width = x1 - x0;
    view->height = y1 - y0;
}

/* ------------------------------------------------------------------ as displayed */

/* Rotates a rectangle clockwise by 90 degrees in a frame of height `height`. */
static struct crop_rect rotate(struct crop_rect r, int height)
{
    return (struct crop_rect){height - r.y - r.height, r.x, r.height, r.width};
}

struct crop_rect crop_to_shown(struct crop_rect r, struct orientation o, int width, int height)
{
    if (o.mirror)
        r.x = width - r.x - r.width;
    for (int i = 0; i < (o.quarter_turns & 3); i++)
        r = rotate(r, i % 2 == 0 ? height : width);
    return r;
}

struct crop_rect crop_to_decoded(struct crop_rect r, struct orientation o, int width, int height)
{
    int turns = (4 - (o.quarter_turns & 3)) & 3;
    for (int i = 0; i < turns; i++)
        r = rotate(r, (i % 2 == 0) == (turns % 2 == 1) ? width : height);
    if (o.mirror)
        r.x = width - r.x - r.width;
    return r;
}

bool crop_check(const struct crop_rule *rule, int width, int height, struct err *e)
{
    const struct crop_rect *r = &rule->rect;
    return rule->kind != CROP_RECT || (r->x + r->width <= width && r->y + r->height <= height) ||
           err_set(e, ERR_USAGE, "--crop %d:%d:%d:%d is outside its frames of %dx%d", r->width,
                   r->height, r->x, r->y, width, height);
}

void crop_text(const struct crop_rect *r, char text[CROP_TEXT])
{
    snprintf(text, CROP_TEXT, "%d:%d:%d:%d", r->width, r->height, r->x, r->y);
}

void crop_shown_text(const struct crop *t, int i, struct orientation o, char text[CROP_TEXT])
{
    struct crop_rect shown = crop_to_shown(t->rect[i], o, t->width, t->height);
    crop_text(&shown, text);
}
