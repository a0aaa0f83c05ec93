#include <stdio.h>
#include <stdlib.h>

#include "fit_width.h"
#include "render_line.h"

static void note_squeeze(const struct report *r, char *out, size_t size)
{
    (void)r;
    snprintf(out, size, "each row's mean");
}

/* Allocates the state: the rows of the analysis frame that the current row covers. They are the
 * same for every column. */
static bool open_rows(struct strip *s, struct err *e)
{
    s->state = calloc(1, sizeof(struct shrink_span));
    return s->state || err_memory(e, sizeof(struct shrink_span));
}

static void row(struct strip *s)
{
    struct shrink_span *rows = s->state;
    *rows = shrink_span((uint64_t)s->y, (uint64_t)s->report->height, (uint64_t)s->height);
}

/* Writes the mean of the rows, rounded half up. */
static void pixel_squeeze(struct strip *s, uint64_t i, const struct column *c, uint8_t rgb[3])
{
    (void)i;
    strip_mean_span(c->row, s->state, (uint64_t)s->report->height, (uint64_t)s->height,
                    s->report->means, rgb);
}

const struct strip_kind strip_squeeze = {.name = "squeeze",
                                         .former = "downsample",
                                         .title = "squeeze",
                                         .needs = STRIP_ROWS,
                                         .note = note_squeeze,
                                         .open = open_rows,
                                         .row = row,
                                         .pixel = pixel_squeeze};
