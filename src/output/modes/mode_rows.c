/* mode_rows.c - the modes whose pixels are those of a column from top to bottom. */
#include <stdio.h>

#include "render_line.h"

static void note_squeeze(const struct report *r, char *out, size_t size)
{
    (void)r;
    snprintf(out, size, "each row's mean");
}

/* The values of a column that the current row covers. They are the same for every column. */
struct rows {
    struct shrink_span span;
    uint64_t length; /* the rows of an analysis frame, or the pixels of a slit */
};

static bool open_rows(struct strip *s, struct err *e)
{
    const struct report_analysis *a = &s->report->analysis;
    struct rows *rows = s->state = err_calloc(1, sizeof *rows, e);
    if (rows)
        rows->length = (uint64_t)(s->kind->needs & STRIP_SLIT ? a->slit_length : a->height);
    return rows != NULL;
}

static void cover_rows(struct strip *s)
{
    struct rows *rows = s->state;
    rows->span = shrink_span((uint64_t)s->y, rows->length, (uint64_t)s->height);
}

/* Writes the mean of the values, rounded half up. */
static void pixel_rows(struct strip *s, uint64_t i, const struct column *c, uint8_t rgb[3])
{
    const struct rows *rows = s->state;
    (void)i;
    strip_mean_span(s->kind->needs & STRIP_SLIT ? c->slit : c->row, &rows->span, rows->length,
                    (uint64_t)s->height, s->report->analysis.means, rgb);
}

const struct strip_kind strip_squeeze = {.name = "squeeze",
                                         .alias = "downsample",
                                         .title = "squeeze",
                                         .caption = "Squeezed frames",
                                         .needs = STRIP_ROWS,
                                         .note = note_squeeze,
                                         .open = open_rows,
                                         .row = cover_rows,
                                         .pixel = pixel_rows};

/* Writes a number of hundredths without zeros at its end, such as "12.5". */
static void write_hundredths(int n, char out[24])
{
    int digits = 2;
    if (n % 10 == 0)
        digits = n % 100 == 0 ? 0 : 1;
    snprintf(out, 24, "%.*f", digits, n / 100.0);
}

static void note_slit(const struct report *r, char *out, size_t size)
{
    char x[24], angle[24];
    write_hundredths(r->picture.slit.x, x);
    write_hundredths(r->picture.slit.angle, angle);
    if (r->picture.slit.angle == 0)
        snprintf(out, size, "each frame's pixels at %s %% of its width", x);
    else
        snprintf(out, size, "each frame's pixels at %s %% of its width, rotated by %s degrees", x,
                 angle);
}

const struct strip_kind strip_slit = {.name = "slit",
                                      .title = "slit",
                                      .caption = "A line of each frame",
                                      .value = "X%",
                                      .needs = STRIP_SLIT,
                                      .named_only = true,
                                      .note = note_slit,
                                      .open = open_rows,
                                      .row = cover_rows,
                                      .pixel = pixel_rows};
