/* What canvas_cairo.c is in a build without cairo and pango (PORTABLE=1). */
#include <stddef.h>

#include "canvas_cairo.h"

bool ink_ready(struct err *e)
{
    return err_set(e, ERR_USAGE, "this build draws no posters: it was made without cairo and pango");
}

struct ink *ink_open(struct err *e)
{
    ink_ready(e);
    return NULL;
}

void ink_close(struct ink **ink)
{
    *ink = NULL;
}

/* Nobody has an ink to call these with. */

void ink_measure(struct ink *ink, const struct sheet_text *text, double *w, double *h)
{
    (void)ink;
    (void)text;
    *w = *h = 0;
}

bool ink_leftward(struct ink *ink, const struct sheet_text *text)
{
    (void)ink;
    (void)text;
    return false;
}

int ink_unknown(struct ink *ink, const struct sheet_text *text)
{
    (void)ink;
    (void)text;
    return 0;
}

bool ink_pixels(struct ink *ink, const struct sheet *s, int y, int rows, int width, uint8_t *rgb, struct err *e)
{
    (void)ink, (void)s, (void)y, (void)rows, (void)width, (void)rgb;
    return ink_ready(e);
}

bool ink_pdf(struct ink *ink, const struct sheet *s, const struct ink_about *about, ink_sink *sink, void *user, struct err *e)
{
    (void)ink, (void)s, (void)about, (void)sink, (void)user;
    return ink_ready(e);
}

char *ink_outlines(struct ink *ink, const struct sheet_text *text, struct err *e)
{
    (void)ink, (void)text;
    ink_ready(e);
    return NULL;
}
