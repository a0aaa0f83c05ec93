#include <string.h>

#include "barcode/engine/srgb.h"
#include "layout.h"

/* WCAG 2.2 defines contrast as (Y1 + 0.05) / (Y2 + 0.05), Y1 being the lighter colour's. */
enum { FLARE = 32767500 }; /* 0.05 in the unit of srgb_luminance */

/* Contrasts in hundredths. Text needs 4.5 to be readable. */
enum { TITLE_CONTRAST = 1600, SMALL_CONTRAST = 500, LINE_CONTRAST = 140 };

int layout_contrast(const uint8_t a[3], const uint8_t b[3])
{
    uint64_t x = (uint64_t)srgb_luminance(a) + FLARE, y = (uint64_t)srgb_luminance(b) + FLARE;
    return (int)((x > y ? x : y) * 100 / (x > y ? y : x));
}

/* Sets `to` to the mixture of paper and black or white that is nearest to the paper and has this
 * contrast to it, or to black or white if none has. */
static void mix_colour(const uint8_t paper[3], int contrast, uint8_t to[3])
{
    enum { STEPS = 32 };
    static const uint8_t black[3] = {0, 0, 0}, white[3] = {255, 255, 255};
    const uint8_t *end =
        layout_contrast(paper, black) >= layout_contrast(paper, white) ? black : white;
    for (int i = 1; i <= STEPS; i++) {
        for (int c = 0; c < 3; c++)
            to[c] = (uint8_t)((paper[c] * (STEPS - i) + end[c] * i + STEPS / 2) / STEPS);
        if (layout_contrast(paper, to) >= contrast)
            return;
    }
}

struct page_colours layout_colours(const uint8_t paper[3])
{
    struct page_colours c;
    memcpy(c.paper, paper, 3);
    mix_colour(paper, TITLE_CONTRAST, c.title);
    mix_colour(paper, SMALL_CONTRAST, c.small);
    mix_colour(paper, LINE_CONTRAST, c.line);
    return c;
}
