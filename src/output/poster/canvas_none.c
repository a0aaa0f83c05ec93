/* Replaces canvas_cairo*.c in a build without cairo and pango (PORTABLE=1). */
#include <stddef.h>

#include "canvas_cairo.h"

bool paint_has_letters(struct err *e)
{
    return err_set(e, ERR_USAGE,
                   "this build cannot draw posters: it was built without cairo and pango");
}

bool paint_letter_places(paint_visit *visit, void *user, struct err *e)
{
    (void)visit, (void)user, (void)e;
    return true;
}

void paint_check_font(const char *font) { (void)font; }

struct canvas *canvas_open(const char *font, struct err *e)
{
    (void)font;
    paint_has_letters(e);
    return NULL;
}

void canvas_close(struct canvas **canvas) { *canvas = NULL; }

/* The functions below are never called, because no canvas can be opened. */

void canvas_measure(struct canvas *canvas, const struct layout_text *text, double *w, double *h)
{
    (void)canvas, (void)text;
    *w = *h = 0;
}

int canvas_unknown(struct canvas *canvas, const struct layout_text *text, bool *leftward)
{
    (void)canvas, (void)text;
    *leftward = false;
    return 0;
}

const char *canvas_families(const struct canvas *canvas)
{
    (void)canvas;
    return "";
}

int canvas_lines(struct canvas *canvas, const struct layout_text *text, struct canvas_line *line,
                 int most)
{
    (void)canvas, (void)text, (void)line, (void)most;
    return 0;
}

bool canvas_pixels(struct canvas *canvas, const struct layout *s, int y, int rows, int width,
                   uint8_t *rgb, struct err *e)
{
    (void)canvas, (void)s, (void)y, (void)rows, (void)width, (void)rgb;
    return paint_has_letters(e);
}

bool canvas_pdf(struct canvas *canvas, const struct layout *s, const struct canvas_about *about,
                canvas_sink *sink, void *user, struct err *e)
{
    (void)canvas, (void)s, (void)about, (void)sink, (void)user;
    return paint_has_letters(e);
}

char *canvas_outlines(struct canvas *canvas, const struct layout_text *text, struct err *e)
{
    (void)canvas, (void)text;
    paint_has_letters(e);
    return NULL;
}
