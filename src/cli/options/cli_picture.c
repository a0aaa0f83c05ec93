#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/outputs/outputs.h"
#include "media/ffmpeg/ffmpeg.h"
#include "output/poster/paint.h"
#include "cli_values.h"

enum {
    HEIGHT_USUAL = 800,
    STACKED_HEIGHT_USUAL = 360, /* of each mode */
    POSTER_HEIGHT_USUAL = 1080,
    EMBEDDED_MOST = 16384,
    CIRCLE_MOST = 16384
};

bool cli_parse_shape(const char *text, struct options *o, struct err *e)
{
    for (int i = 0; i < STRIP_SHAPES; i++) {
        o->shape = (enum strip_shape)i;
        if (strcmp(text, strip_shape_name(o->shape)) == 0)
            return true;
    }
    return err_set(e, ERR_USAGE, "--shape: '%s' is not strip, circle or vertical", text);
}

bool cli_parse_smooth(const char *text, struct options *o, struct err *e)
{
    int64_t us;
    if (!cli_parse_time(text, &us))
        return err_set(e, ERR_USAGE, "--smooth: '%s' is not a time such as 10 or 1:30", text);
    if (us > STRIP_SMOOTH_MOST_US)
        return err_set(e, ERR_USAGE, "--smooth: '%s' is more than an hour", text);
    o->smooth_us = us / 1000 * 1000;
    return true;
}

bool cli_parse_poster(const char *text, struct options *o, struct err *e)
{
    char ending[16];
    snprintf(ending, sizeof ending, ".%s", text ? text : "");
    o->poster = true;
    o->poster_format = text && !strchr(text, '.') ? writer_by_ending(ending) : NULL;
    return !text || (o->poster_format && (o->poster_format->page || o->poster_format->pixels)) ||
           err_set(e, ERR_USAGE, "--poster: '%s' is not png, jpg, webp, svg or pdf", text);
}

bool cli_parse_title(const char *text, struct options *o, struct err *e)
{
    o->title = text;
    return text[strspn(text, " ")] != '\0' || err_set(e, ERR_USAGE, "--title: the title is empty");
}

bool cli_parse_page(const char *text, struct options *o, struct err *e)
{
    return paper_parse(text, &o->page) ||
           err_set(e, ERR_USAGE,
                   "--page: '%s' is not a page such as A2, A4-portrait, Letter, 420x297mm, "
                   "16.5x11.7in or 800x600 pixels; sides are 40 mm to 5 m or %d to %d pixels, one "
                   "at most %d times the other",
                   text, PAPER_LEAST_PX, PAPER_MOST_PX, PAPER_ASPECT_MOST);
}

bool cli_parse_dpi(const char *text, struct options *o, struct err *e)
{
    uint64_t value;
    if (!cli_read_whole(text, PAPER_DPI_LEAST, PAPER_DPI_MOST, &value))
        return err_set(e, ERR_USAGE, "--dpi: '%s' is not a whole number from %d to %d", text,
                       PAPER_DPI_LEAST, PAPER_DPI_MOST);
    o->dpi = (int)value;
    return true;
}

bool cli_parse_subtitle(const char *text, struct options *o, struct err *e)
{
    o->style.subtitle = strcmp(text, "none") == 0 ? "" : text;
    return text[strspn(text, " ")] != '\0' ||
           err_set(e, ERR_USAGE, "--subtitle: the text is empty; 'none' leaves the line out");
}

bool cli_parse_background(const char *text, struct options *o, struct err *e)
{
    o->style.has_background = true;
    return colour_name_parse(text, o->style.background) ||
           err_set(e, ERR_USAGE, "--background: '%s' is not a colour such as #1c2b3a or navy",
                   text);
}

bool cli_parse_font(const char *text, struct options *o, struct err *e)
{
    bool ok = text[strspn(text, " ,")] != '\0';
    for (const char *c = text; *c && ok; c += text_sequence(c))
        ok = text_sequence(c) > 0 && (unsigned char)*c >= ' ' && *c != 0x7f;
    o->style.font = text;
    return ok || err_set(e, ERR_USAGE, "--font: '%s' is not the name of a font", text);
}

bool cli_parse_svg_text(const char *text, struct options *o, struct err *e)
{
    o->style.live_text = strcmp(text, "live") == 0;
    return o->style.live_text || strcmp(text, "outlines") == 0 ||
           err_set(e, ERR_USAGE, "--svg-text: '%s' is not outlines or live", text);
}

/* Rejects options for posters if the output is none. */
static bool check_plain(const struct options *o, struct err *e)
{
    const char *option = o->page.given                  ? "--page"
                         : o->dpi > 0                   ? "--dpi"
                         : o->title && !o->stacked      ? "--title"
                         : o->style.subtitle            ? "--subtitle"
                         : o->style.bare                ? "--bare"
                         : o->style.font && !o->stacked ? "--font"
                         : o->style.live_text           ? "--svg-text"
                                                        : NULL;
    if (option && !o->page.given && o->dpi > 0)
        return err_set(e, ERR_USAGE, "--dpi is for posters of pixels: give --poster");
    return !option ||
           err_set(e, ERR_USAGE,
                   "%s is for posters: give -o a name that ends in .pdf or .svg, or --poster",
                   option);
}

static bool check_poster(const struct options *o, struct err *e)
{
    const struct writer *w = outputs_format(o);
    int width, height;
    if (!w->page && !w->pixels)
        return err_set(e, ERR_USAGE,
                       "--poster: '%s' is not a poster's name; use .png, .jpg, .webp, .svg or .pdf",
                       o->output);
    if (o->style.live_text && strcmp(w->name, "svg") != 0)
        return err_set(e, ERR_USAGE, "--svg-text is for posters in SVG, not in %s", w->title);
    if (o->poster_format && w != o->poster_format)
        return err_set(e, ERR_USAGE, "--poster=%s and -o '%s' are different formats; give only one",
                       o->poster_format->name, o->output);
    if (w->page && o->dpi > 0)
        return err_set(
            e, ERR_USAGE,
            "--dpi is for a poster of pixels: %s keeps the strip's own pixels (--width, --height)",
            w->title);
    if (w->page && (o->width > EMBEDDED_MOST || o->height > EMBEDDED_MOST))
        return err_set(e, ERR_USAGE,
                       "the strip of a poster in %s is at most %d pixels wide and high; give a "
                       "smaller --width or --height",
                       w->title, EMBEDDED_MOST);
    if (w->page)
        return true;
    if (o->width > 0 || o->height > 0)
        return err_set(e, ERR_USAGE,
                       "a poster in %s is as large as its page: give --page and --dpi, and no "
                       "--width or --height",
                       w->title);
    if (o->page.pixels && o->dpi > 0)
        return err_set(e, ERR_USAGE, "--dpi: a page of %dx%d pixels has no inches", o->page.width,
                       o->page.height);
    paper_pixels(&o->page, o->shape, o->dpi > 0 ? o->dpi : PAPER_DPI_USUAL, &width, &height);
    return (uint64_t)width * (uint64_t)height <= PAINT_PIXELS_MOST ||
           err_set(e, ERR_USAGE,
                   "a poster of %dx%d pixels is too large (at most %llu in all); give a smaller "
                   "--page or --dpi",
                   width, height, (unsigned long long)PAINT_PIXELS_MOST);
}

static bool check_shape(const struct options *o, struct err *e)
{
    if (o->shape != SHAPE_STRIP && o->stacked)
        return err_set(
            e, ERR_USAGE,
            "--shape %s: -m all and + stack modes in one picture; name the modes, separated by "
            "commas, for a picture each",
            strip_shape_name(o->shape));
    if (o->shape != SHAPE_CIRCLE)
        return true;
    if (o->width > 0 && o->height > 0 && o->width != o->height)
        return err_set(
            e, ERR_USAGE,
            "--shape circle: a circle is as wide as it is high; give one of --width and --height");
    return (o->width <= CIRCLE_MOST && o->height <= CIRCLE_MOST) ||
           err_set(e, ERR_USAGE, "--shape circle: at most %d pixels", CIRCLE_MOST);
}

/* Checks --background. A ring in a format without transparency is on white. */
static bool finalize_background(struct options *o, bool poster, struct err *e)
{
    static const uint8_t white[3] = {255, 255, 255};
    bool ring = o->shape == SHAPE_CIRCLE && !poster;
    if (o->style.has_background && !poster && !ring && !o->stacked)
        return err_set(e, ERR_USAGE,
                       "--background is for posters, for --shape circle and for stacked modes: a "
                       "strip fills its picture");
    if (ring && outputs_format(o)->opaque && !o->style.has_background) {
        memcpy(o->style.background, white, 3);
        o->style.has_background = true;
    }
    return true;
}

/* Checks the sides that are known without the film against the limit of the format. */
static bool check_sides(const struct options *o, bool poster, struct err *e)
{
    const struct writer *w = outputs_format(o);
    int width = o->width, height = o->height;
    if (!w->pixels || w->side_most == 0)
        return true;
    if (poster)
        paper_pixels(&o->page, o->shape, o->dpi, &width, &height);
    else if (o->selection.kind == SELECT_COLUMNS && o->shape == SHAPE_STRIP && width == 0)
        width = (int)o->selection.columns;
    else if (o->selection.kind == SELECT_COLUMNS && o->shape == SHAPE_VERTICAL && height == 0)
        height = (int)o->selection.columns;
    return (width <= w->side_most && height <= w->side_most) ||
           err_set(e, ERR_USAGE, "a %s is at most %d pixels wide and high; give a smaller %s",
                   w->title, w->side_most,
                   poster ? "--page or --dpi" : "--width or --height, or a name that ends in .png");
}

bool cli_finalize_picture(struct options *o, struct err *e)
{
    bool poster = outputs_are_posters(o);
    if (!(poster ? check_poster(o, e) : check_plain(o, e)) || !check_shape(o, e) ||
        !finalize_background(o, poster, e))
        return false;
    o->dpi = o->dpi > 0 ? o->dpi : PAPER_DPI_USUAL;
    int across = outputs_format(o)->page ? POSTER_HEIGHT_USUAL
                 : o->stacked            ? STACKED_HEIGHT_USUAL
                                         : HEIGHT_USUAL;
    if (o->shape == SHAPE_CIRCLE)
        o->width = o->height = o->width > 0              ? o->width
                               : o->height > 0           ? o->height
                               : outputs_format(o)->page ? 2 * POSTER_HEIGHT_USUAL
                                                         : POSTER_HEIGHT_USUAL;
    else if (o->shape == SHAPE_VERTICAL)
        o->width = o->width > 0 ? o->width : across;
    else
        o->height = o->height > 0 ? o->height : across;
    return check_sides(o, poster, e);
}
