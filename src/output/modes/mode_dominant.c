#include <stdio.h>
#include <string.h>

#include "render_line.h"

static void note_dominant(const struct report *r, char *out, size_t size)
{
    if (r->steady > 0)
        snprintf(out, size, "each frame's mode in OKLab, steady %d %%", r->steady);
    else
        snprintf(out, size, "each frame's mode in OKLab");
}

static void pixel_dominant(struct strip *s, uint64_t i, const struct column *c, uint8_t rgb[3])
{
    (void)s;
    (void)i;
    memcpy(rgb, c->dominant, 3);
}

const struct strip_kind strip_dominant = {.name = "dominant",
                                          .title = "dominant",
                                          .needs = STRIP_DOMINANT,
                                          .obeys = STRIP_STEADY,
                                          .fit = FIT_MEDOID,
                                          .flat = true,
                                          .note = note_dominant,
                                          .pixel = pixel_dominant};
