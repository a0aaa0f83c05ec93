#include "time_axis.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "barcode/engine/colour.h"
#include "shots/shots.h"

static const int64_t SECOND = 1000000;

/* Returns floor(span * part / whole). All are below 2^63, part and whole below 2^32. */
static int64_t share(int64_t span, uint64_t part, uint64_t whole)
{
    uint64_t s = (uint64_t)span;
    return (int64_t)(s / whole * part + s % whole * part / whole);
}

/* Returns the duration of the last frame's columns, which follow `before` others. */
static int64_t last_span(int64_t first, int64_t last, uint64_t before, uint64_t columns,
                         int64_t end_us)
{
    bool known = end_us < INT64_MAX && end_us > last;
    int64_t span = known ? end_us - last : SECOND;
    if (before > 0)
        span = share(last - first, columns, before);
    if (known && span > end_us - last)
        span = end_us - last;
    return span > 0 ? span : 1;
}

/* Returns when the last frame's columns, from `from` on, leave the screen. */
static int64_t last_edge(const struct report *r, const int64_t *edge, uint64_t from)
{
    if (!r->analysis.by_shot)
        return edge[from] + last_span(edge[0], edge[from], from, r->count - from,
                                      film_length_end(&r->film->length));
    const int64_t end_us = r->media.shots->shot[r->media.shots->count - 1].end_us;
    return end_us > edge[from] ? end_us : edge[from] + 1;
}

bool axis_by_time(const struct report *r) { return r->analysis.by_shot && !r->picture.shots_equal; }

uint64_t axis_parts(const struct report *r) { return axis_by_time(r) ? 1 : r->count; }

int64_t *axis_edges(const struct report *r, struct err *e)
{
    const struct columns *columns = r->columns;
    const uint64_t count = r->count;
    int64_t *edge = err_calloc(count + 1, sizeof *edge, e);
    if (!edge)
        return NULL;
    uint64_t from = 0; /* first column of the latest frame */
    edge[0] = columns_get(columns, 0)->time_us;
    for (uint64_t i = 1; i <= count; i++) {
        int64_t time = i < count ? columns_get(columns, i)->time_us : last_edge(r, edge, from);
        if (time <= edge[from] && i < count)
            continue;
        uint64_t n = i - from;
        int64_t start = edge[from], span = time - start;
        for (uint64_t j = 1; j <= n; j++)
            edge[from + j] = start + share(span, j, n);
        edge[i] = time;
        from = i;
    }
    return edge;
}

int64_t *axis_pixel_edges(const struct report *r, uint64_t width, struct err *e)
{
    int64_t *edge = axis_edges(r, e),
            *pixel = edge ? err_calloc(width + 1, sizeof *pixel, e) : NULL;
    const uint64_t parts = axis_parts(r);
    if (pixel)
        edge[parts] = edge[r->count]; /* the parts are the columns, or all of them are one */
    for (uint64_t x = 0; pixel && x <= width; x++) {
        uint64_t at = x * parts / width, part = x * parts % width;
        pixel[x] = edge[at] + (part > 0 ? share(edge[at + 1] - edge[at], part, width) : 0);
    }
    free(edge);
    return pixel;
}

uint32_t *axis_pixel_columns(const struct report *r, uint64_t width, struct err *e)
{
    uint32_t *column = err_calloc(width, sizeof *column, e);
    if (!column)
        return NULL;
    if (!axis_by_time(r)) {
        for (uint64_t x = 0; x < width; x++)
            column[x] = (uint32_t)((2 * x + 1) * r->count / (2 * width));
        return column;
    }
    int64_t *edge = axis_edges(r, e), *pixel = edge ? axis_pixel_edges(r, width, e) : NULL;
    for (uint64_t x = 0, i = 0; pixel && x < width; x++) {
        const int64_t middle = pixel[x] + (pixel[x + 1] - pixel[x]) / 2;
        while (i + 1 < r->count && edge[i + 1] <= middle)
            i++;
        column[x] = (uint32_t)i;
    }
    if (!pixel) {
        free(column);
        column = NULL;
    }
    free(edge);
    free(pixel);
    return column;
}

double axis_place(const int64_t *edge, uint64_t parts, int64_t us)
{
    uint64_t low = 0, high = parts; /* the part is in low..high - 1 */
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (edge[middle] <= us)
            low = middle;
        else
            high = middle;
    }
    const double part = (double)(us - edge[low]) / (double)(edge[low + 1] - edge[low]);
    return ((double)low + (part < 0 ? 0 : part > 1 ? 1 : part)) / (double)parts;
}

static int64_t choose_step(int64_t from, int64_t to, int most)
{
    static const int32_t tenths[] = {1,     2,     5,     10,     20,     50,     100,
                                     150,   300,   600,   1200,   3000,   6000,   9000,
                                     18000, 36000, 72000, 108000, 216000, 432000, 864000};
    enum { STEPS = sizeof tenths / sizeof *tenths };
    for (int i = 0; i < STEPS; i++) {
        int64_t step = tenths[i] * (SECOND / 10);
        if ((to - 1) / step - (from + step - 1) / step + 1 <= most)
            return step;
    }
    int64_t day = tenths[STEPS - 1] * (SECOND / 10);
    return ((to - from) / day / most + 1) * day;
}

/* How the labels of an axis are written. */
struct label_style {
    int64_t step;
    bool hours;
};

static void write_label(int64_t us, struct label_style style, char label[AXIS_LABEL])
{
    int64_t s = us / SECOND;
    if (style.hours && style.step >= 60 * SECOND && s % 3600 == 0) {
        snprintf(label, AXIS_LABEL, s > 0 ? "%" PRId64 " h" : "%" PRId64, s / 3600);
        return;
    }
    if (style.hours && style.step >= 60 * SECOND) {
        snprintf(label, AXIS_LABEL, "%" PRId64 ":%02d", s / 3600, (int)(s / 60 % 60));
        return;
    }
    text_clock(us, style.hours ? TEXT_HOURS : TEXT_MINUTES, style.step < SECOND, label);
}

/* Writes the label at the end of the axis, rounded to its last digit. */
static void write_end(int64_t us, struct label_style style, char label[AXIS_LABEL])
{
    bool minutes = style.hours && style.step >= 60 * SECOND;
    int64_t unit = SECOND;
    if (minutes)
        unit = 60 * SECOND;
    else if (style.step < SECOND)
        unit = SECOND / 10;
    write_label((us + unit / 2) / unit * unit, style, label);
    if (minutes && !strchr(label, 'h'))
        snprintf(label + strlen(label), AXIS_LABEL - strlen(label), " h");
}

struct axis axis_make(const int64_t *edge, uint64_t count, int most)
{
    struct axis axis = {.ticks = 0};
    int64_t from = edge[0] > 0 ? edge[0] : 0, to = edge[count];
    if (to <= from)
        return axis;
    int64_t step = choose_step(from, to, most), tick = (from + step - 1) / step * step;
    struct label_style style = {step, (to - 1) / step * step >= 3600 * SECOND};
    write_end(to, style, axis.end);
    for (uint64_t i = 0; i < count && tick < to && axis.ticks < AXIS_TICKS_MOST; i++)
        for (; tick < edge[i + 1] && axis.ticks < AXIS_TICKS_MOST; tick += step) {
            struct axis_tick *t = &axis.tick[axis.ticks++];
            t->place = ((double)i + (double)(tick - edge[i]) / (double)(edge[i + 1] - edge[i])) /
                       (double)count;
            write_label(tick, style, t->label);
        }
    return axis;
}

void axis_length(int64_t us, char *out, size_t size)
{
    int64_t s = (us + SECOND / 2) / SECOND;
    char clock[TEXT_CLOCK];
    text_clock(us, TEXT_HOURS_IF_ANY, false, clock);
    if (s < 60)
        snprintf(out, size, "%d s", (int)s);
    else
        snprintf(out, size, "%s %s", clock, s < 3600 ? "min" : "h");
}

/* ---- Sound ---- */

const struct film_sound *report_sound(const struct report *r)
{
    return r->media.sound && r->media.sound->stream >= 0 ? r->media.sound : NULL;
}

bool column_sound_open(struct column_sound *c, const struct report *r, struct err *e)
{
    *c = (struct column_sound){.sound = report_sound(r)};
    if (!c->sound || r->count == 0)
        return true;
    c->edge = axis_edges(r, e);
    return c->edge != NULL;
}

bool column_sound_at(const struct column_sound *c, uint64_t i, struct sound_row *row)
{
    if (c->sound)
        film_sound_span(c->sound, c->edge[i], c->edge[i + 1], row);
    return c->sound;
}

void column_sound_close(struct column_sound *c)
{
    free(c->edge);
    *c = (struct column_sound){.sound = NULL};
}

/* ---- --smooth ---- */

enum { MS = 1000, HOUR_MS = 3600000 };

/* A column, and a channel of it. */
struct instant {
    int64_t middle; /* m_i */
    uint32_t span;  /* d_i */
    uint16_t light, mean;
};

struct smooth {
    uint64_t count;
    int64_t half;         /* S */
    uint8_t level[65536]; /* srgb_level */
    struct instant at[];  /* [count] */
};

struct smooth *smooth_open(const int64_t *edge, uint64_t count, int64_t smooth_us, struct err *e)
{
    struct smooth *s = err_calloc(1, sizeof *s + count * sizeof *s->at, e);
    if (!s)
        return NULL;
    s->count = count;
    s->half = smooth_us / MS;
    for (uint64_t i = 0; i < count; i++) {
        int64_t from = edge[i] / MS, to = edge[i + 1] / MS, span = to - from;
        s->at[i].span = span < 1 ? 1 : span > HOUR_MS ? HOUR_MS : (uint32_t)span;
        s->at[i].middle = from + span / 2;
    }
    for (int v = 0; v < 65536; v++)
        s->level[v] = srgb_level((uint16_t)v);
    return s;
}

/* The sums over a range of columns of d, d m, d v and d m v, modulo 2^64. */
struct sums {
    uint64_t d, dm, dv, dmv;
};

static void move(const struct smooth *s, struct sums *to, uint64_t j, bool in)
{
    uint64_t d = s->at[j].span, dm = d * (uint64_t)s->at[j].middle, v = s->at[j].light;
    to->d += in ? d : 0 - d;
    to->dm += in ? dm : 0 - dm;
    to->dv += in ? d * v : 0 - d * v;
    to->dmv += in ? dm * v : 0 - dm * v;
}

/* Smooths one channel. Middles never decrease. `left` holds the columns j <= i within reach, where
 * S - |m_j - m_i| is (S - m_i) + m_j. `right` holds those after i, where it is (S + m_i) - m_j. */
static void smooth_channel(struct smooth *s)
{
    struct sums left = {0}, right = {0};
    uint64_t first = 0, end = 0; /* left: first..i, right: i + 1..end - 1 */
    for (uint64_t i = 0; i < s->count; i++) {
        int64_t m = s->at[i].middle;
        for (; end < s->count && s->at[end].middle - m < s->half; end++)
            move(s, &right, end, true);
        move(s, &right, i, false);
        move(s, &left, i, true);
        for (; m - s->at[first].middle >= s->half; first++)
            move(s, &left, first, false);
        uint64_t below = (uint64_t)(s->half - m), above = (uint64_t)(s->half + m);
        uint64_t weight = below * left.d + left.dm + above * right.d - right.dm;
        uint64_t sum = below * left.dv + left.dmv + above * right.dv - right.dmv;
        s->at[i].mean = (uint16_t)((2 * sum + weight) / (2 * weight));
    }
}

void smooth_values(struct smooth *s, uint16_t *value, size_t stride)
{
    for (uint64_t i = 0; i < s->count; i++)
        s->at[i].light = value[i * stride];
    smooth_channel(s);
    for (uint64_t i = 0; i < s->count; i++)
        value[i * stride] = s->at[i].mean;
}

void smooth_line(struct smooth *s, uint8_t *line)
{
    for (int k = 0; k < 3; k++) {
        for (uint64_t i = 0; i < s->count; i++)
            s->at[i].light = srgb_linear[line[i * 3 + (uint64_t)k]];
        smooth_channel(s);
        for (uint64_t i = 0; i < s->count; i++)
            line[i * 3 + (uint64_t)k] = s->level[s->at[i].mean];
    }
}
