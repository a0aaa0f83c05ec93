#include <stdio.h>
#include <string.h>

#include "render_line.h"

static void note_average(const struct report *r, char *out, size_t size)
{
    (void)r;
    snprintf(out, size, "each frame's mean");
}

static void pixel_average(struct strip *s, uint64_t i, const struct column *c, uint8_t rgb[3])
{
    (void)s;
    (void)i;
    memcpy(rgb, c->average, 3);
}

const struct strip_kind strip_average = {.name = "average",
                                         .title = "average",
                                         .flat = true,
                                         .note = note_average,
                                         .pixel = pixel_average};
