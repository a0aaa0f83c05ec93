#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli.h"
#include "plan/outputs.h"
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
        o->picture.shape = (enum strip_shape)i;
        if (strcmp(text, strip_shape_name(o->picture.shape)) == 0)
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
    o->picture.smooth_us = us / 1000 * 1000;
    return true;
}

bool cli_parse_poster(const char *text, struct options *o, struct err *e)
{
    char ending[16];
    snprintf(ending, sizeof ending, ".%s", text ? text : "");
    o->poster.wanted = true;
    o->poster.format = text && !strchr(text, '.') ? writer_by_ending(ending) : NULL;
    return !text || (o->poster.format && (o->poster.format->page || o->poster.format->pixels)) ||
           err_set(e, ERR_USAGE, "--poster: '%s' is not png, jpg, webp, svg or pdf", text);
}

bool cli_parse_title(const char *text, struct options *o, struct err *e)
{
    o->poster.title = text;
    return text[strspn(text, " ")] != '\0' || err_set(e, ERR_USAGE, "--title: the title is empty");
}

bool cli_parse_page(const char *text, struct options *o, struct err *e)
{
    return paper_parse(text, &o->poster.page) ||
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
    o->poster.dpi = (int)value;
    return true;
}

bool cli_parse_subtitle(const char *text, struct options *o, struct err *e)
{
    o->poster.style.subtitle = strcmp(text, "none") == 0 ? "" : text;
    return text[strspn(text, " ")] != '\0' ||
           err_set(e, ERR_USAGE, "--subtitle: the text is empty; 'none' leaves the line out");
}

bool cli_parse_background(const char *text, struct options *o, struct err *e)
{
    o->poster.style.has_background = true;
    return colour_name_parse(text, o->poster.style.background) ||
           err_set(e, ERR_USAGE, "--background: '%s' is not a colour such as #1c2b3a or navy",
                   text);
}

bool cli_parse_font(const char *text, struct options *o, struct err *e)
{
    bool ok = text[strspn(text, " ,")] != '\0';
    for (const char *c = text; *c && ok; c += text_sequence(c))
        ok = text_sequence(c) > 0 && (unsigned char)*c >= ' ' && *c != 0x7f;
    o->poster.style.font = text;
    return ok || err_set(e, ERR_USAGE, "--font: '%s' is not the name of a font", text);
}

bool cli_parse_svg_text(const char *text, struct options *o, struct err *e)
{
    o->poster.style.live_text = strcmp(text, "live") == 0;
    return o->poster.style.live_text || strcmp(text, "outlines") == 0 ||
           err_set(e, ERR_USAGE, "--svg-text: '%s' is not outlines or live", text);
}

/* Rejects options for posters if the output is none. */
static bool check_plain(const struct options *o, struct err *e)
{
    const char *option = o->poster.page.given                          ? "--page"
                         : o->poster.dpi > 0                           ? "--dpi"
                         : o->poster.title && !o->picture.stacked      ? "--title"
                         : o->poster.style.subtitle                    ? "--subtitle"
                         : o->poster.style.bare                        ? "--bare"
                         : o->poster.style.font && !o->picture.stacked ? "--font"
                         : o->poster.style.live_text                   ? "--svg-text"
                                                                       : NULL;
    if (option && !o->poster.page.given && o->poster.dpi > 0)
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
                       o->outputs.path);
    if (o->poster.style.live_text && strcmp(w->name, "svg") != 0)
        return err_set(e, ERR_USAGE, "--svg-text is for posters in SVG, not in %s", w->title);
    if (o->poster.format && w != o->poster.format)
        return err_set(e, ERR_USAGE, "--poster=%s and -o '%s' are different formats; give only one",
                       o->poster.format->name, o->outputs.path);
    if (w->page && o->poster.dpi > 0)
        return err_set(
            e, ERR_USAGE,
            "--dpi is for a poster of pixels: %s keeps the strip's own pixels (--width, --height)",
            w->title);
    if (w->page && (o->picture.width > EMBEDDED_MOST || o->picture.height > EMBEDDED_MOST))
        return err_set(e, ERR_USAGE,
                       "the strip of a poster in %s is at most %d pixels wide and high; give a "
                       "smaller --width or --height",
                       w->title, EMBEDDED_MOST);
    if (w->page)
        return true;
    if (o->picture.width > 0 || o->picture.height > 0)
        return err_set(e, ERR_USAGE,
                       "a poster in %s is as large as its page: give --page and --dpi, and no "
                       "--width or --height",
                       w->title);
    if (o->poster.page.pixels && o->poster.dpi > 0)
        return err_set(e, ERR_USAGE, "--dpi: a page of %dx%d pixels has no inches",
                       o->poster.page.width, o->poster.page.height);
    paper_pixels(&o->poster.page, o->picture.shape,
                 o->poster.dpi > 0 ? o->poster.dpi : PAPER_DPI_USUAL, &width, &height);
    return (uint64_t)width * (uint64_t)height <= PAINT_PIXELS_MOST ||
           err_set(e, ERR_USAGE,
                   "a poster of %dx%d pixels is too large (at most %llu in all); give a smaller "
                   "--page or --dpi",
                   width, height, (unsigned long long)PAINT_PIXELS_MOST);
}

static bool check_shape(const struct options *o, struct err *e)
{
    if (o->picture.shape != SHAPE_STRIP && o->picture.stacked)
        return err_set(
            e, ERR_USAGE,
            "--shape %s: -m all and + stack modes in one picture; name the modes, separated by "
            "commas, for a picture each",
            strip_shape_name(o->picture.shape));
    if (o->picture.shape != SHAPE_CIRCLE)
        return true;
    if (o->picture.width > 0 && o->picture.height > 0 && o->picture.width != o->picture.height)
        return err_set(
            e, ERR_USAGE,
            "--shape circle: a circle is as wide as it is high; give one of --width and --height");
    return (o->picture.width <= CIRCLE_MOST && o->picture.height <= CIRCLE_MOST) ||
           err_set(e, ERR_USAGE, "--shape circle: at most %d pixels", CIRCLE_MOST);
}

/* Checks --background. A ring in a format without transparency is on white. */
static bool finalize_background(struct options *o, bool poster, struct err *e)
{
    static const uint8_t white[3] = {255, 255, 255};
    bool ring = o->picture.shape == SHAPE_CIRCLE && !poster;
    if (o->poster.style.has_background && !poster && !ring && !o->picture.stacked)
        return err_set(e, ERR_USAGE,
                       "--background is for posters, for --shape circle and for stacked modes: a "
                       "strip fills its picture");
    if (ring && outputs_format(o)->opaque && !o->poster.style.has_background) {
        memcpy(o->poster.style.background, white, 3);
        o->poster.style.has_background = true;
    }
    return true;
}

/* Checks the sides that are known without the film against the limit of the format. */
static bool check_sides(const struct options *o, bool poster, struct err *e)
{
    const struct writer *w = outputs_format(o);
    int width = o->picture.width, height = o->picture.height;
    if (!w->pixels || w->side_most == 0)
        return true;
    if (poster)
        paper_pixels(&o->poster.page, o->picture.shape, o->poster.dpi, &width, &height);
    else if (o->film.selection.kind == SELECT_COLUMNS && o->picture.shape == SHAPE_STRIP &&
             width == 0)
        width = (int)o->film.selection.columns;
    else if (o->film.selection.kind == SELECT_COLUMNS && o->picture.shape == SHAPE_VERTICAL &&
             height == 0)
        height = (int)o->film.selection.columns;
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
    o->poster.dpi = o->poster.dpi > 0 ? o->poster.dpi : PAPER_DPI_USUAL;
    int across = outputs_format(o)->page ? POSTER_HEIGHT_USUAL
                 : o->picture.stacked    ? STACKED_HEIGHT_USUAL
                                         : HEIGHT_USUAL;
    if (o->picture.shape == SHAPE_CIRCLE)
        o->picture.width = o->picture.height = o->picture.width > 0      ? o->picture.width
                                               : o->picture.height > 0   ? o->picture.height
                                               : outputs_format(o)->page ? 2 * POSTER_HEIGHT_USUAL
                                                                         : POSTER_HEIGHT_USUAL;
    else if (o->picture.shape == SHAPE_VERTICAL)
        o->picture.width = o->picture.width > 0 ? o->picture.width : across;
    else
        o->picture.height = o->picture.height > 0 ? o->picture.height : across;
    return check_sides(o, poster, e);
}
