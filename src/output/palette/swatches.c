#include "swatches.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "output/text/labels.h"

void swatches_name(const struct report *r, char name[SWATCHES_NAME])
{
    paint_text_utf8(paint_text_file_name(r->film->path), true, name, SWATCHES_NAME);
}

void swatches_hex(const struct film_colour *c, char text[SWATCHES_TEXT])
{
    snprintf(text, SWATCHES_TEXT, "#%02x%02x%02x", c->rgb[0], c->rgb[1], c->rgb[2]);
}

uint32_t swatches_share(const struct film_colour *c, uint32_t whole)
{
    return (uint32_t)(((uint64_t)c->share * whole + FILM_PALETTE_PIXELS / 2) / FILM_PALETTE_PIXELS);
}

void swatches_percent(const struct film_colour *c, char text[SWATCHES_TEXT])
{
    uint32_t share = swatches_share(c, 1000);
    snprintf(text, SWATCHES_TEXT, "%u.%u %%", share / 10, share % 10);
}

bool swatches_failed(struct err *e)
{
    return err_set(e, ERR_FAILED, "%s", strerror(errno ? errno : EIO));
}
