#include <stdio.h>
#include <string.h>

#include "strip_paint.h"

static void note(const struct report *r, char *out, size_t size)
{
    (void)r;
    snprintf(out, size, "each frame's mode in OKLab");
}

static void pixel(struct strip *s, uint64_t i, const struct column *c, uint8_t rgb[3])
{
    (void)s;
    (void)i;
    memcpy(rgb, c->dominant, 3);
}

const struct strip_kind strip_dominant = {
    .name = "dominant", .title = "dominant", .needs = STRIP_DOMINANT, .fit = FIT_MEDOID, .flat = true, .note = note, .pixel = pixel
};
