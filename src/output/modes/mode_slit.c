#include <stdio.h>
#include <stdlib.h>

#include "fit_width.h"
#include "render_line.h"

/* Writes a number of hundredths without zeros at its end, such as "12.5". */
static void write_hundredths(int n, char out[24])
{
    int digits = n % 100 == 0 ? 0 : n % 10 == 0 ? 1 : 2;
    snprintf(out, 24, "%.*f", digits, n / 100.0);
}

static void note_slit(const struct report *r, char *out, size_t size)
{
    char x[24], angle[24];
    write_hundredths(r->slit.x, x);
    write_hundredths(r->slit.angle, angle);
    if (r->slit.angle == 0)
        snprintf(out, size, "each frame's pixels at %s %% of its width", x);
    else
        snprintf(out, size, "each frame's pixels at %s %% of its width, rotated by %s degrees", x,
                 angle);
}

/* Allocates the state: the pixels of the slit that the current row covers. */
static bool open_span(struct strip *s, struct err *e)
{
    s->state = calloc(1, sizeof(struct shrink_span));
    return s->state || err_memory(e, sizeof(struct shrink_span));
}

static void row(struct strip *s)
{
    struct shrink_span *span = s->state;
    *span = shrink_span((uint64_t)s->y, (uint64_t)s->report->slit_length, (uint64_t)s->height);
}

static void pixel_slit(struct strip *s, uint64_t i, const struct column *c, uint8_t rgb[3])
{
    (void)i;
    strip_mean_span(c->slit, s->state, (uint64_t)s->report->slit_length, (uint64_t)s->height,
                    s->report->means, rgb);
}

const struct strip_kind strip_slit = {.name = "slit",
                                      .title = "slit",
                                      .value = "X%",
                                      .needs = STRIP_SLIT,
                                      .named_only = true,
                                      .note = note_slit,
                                      .open = open_span,
                                      .row = row,
                                      .pixel = pixel_slit};
