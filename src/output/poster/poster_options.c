#include "poster.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "media/ffmpeg/ffmpeg.h"
#include "output/writer.h"

#define OPTION_STRUCT struct poster_options

static bool set_poster(void *options, const struct option_row *row, const char *arg, struct err *e)
{
    struct poster_options *o = options;
    (void)row;
    char ending[16];
    snprintf(ending, sizeof ending, ".%s", arg ? arg : "");
    o->wanted = true;
    o->format = arg && !strchr(arg, '.') ? writer_by_ending(ending) : NULL;
    return !arg || (o->format && (o->format->page || o->format->pixels)) ||
           err_set(e, ERR_USAGE, "--poster: '%s' is not png, jpg, webp, svg or pdf", arg);
}

static bool set_title(void *options, const struct option_row *row, const char *arg, struct err *e)
{
    struct poster_options *o = options;
    (void)row;
    o->title = arg;
    return arg[strspn(arg, " ")] != '\0' || err_set(e, ERR_USAGE, "--title: the title is empty");
}

static bool set_page(void *options, const struct option_row *row, const char *arg, struct err *e)
{
    struct poster_options *o = options;
    (void)row;
    return paper_parse(arg, &o->page) ||
           err_set(e, ERR_USAGE,
                   "--page: '%s' is not a page such as A2, A4-portrait, Letter, 420x297mm, "
                   "16.5x11.7in or 800x600 pixels; sides are 40 mm to 5 m or %d to %d pixels, one "
                   "at most %d times the other",
                   arg, PAPER_LEAST_PX, PAPER_MOST_PX, PAPER_ASPECT_MOST);
}

static bool set_subtitle(void *options, const struct option_row *row, const char *arg,
                         struct err *e)
{
    struct poster_options *o = options;
    (void)row;
    o->style.subtitle = strcmp(arg, "none") == 0 ? "" : arg;
    return arg[strspn(arg, " ")] != '\0' ||
           err_set(e, ERR_USAGE, "--subtitle: the text is empty; 'none' leaves the line out");
}

static bool set_background(void *options, const struct option_row *row, const char *arg,
                           struct err *e)
{
    struct poster_options *o = options;
    (void)row;
    o->style.has_background = true;
    return colour_name_parse(arg, o->style.background) ||
           err_set(e, ERR_USAGE, "--background: '%s' is not a colour such as #1c2b3a or navy", arg);
}

static bool set_font(void *options, const struct option_row *row, const char *arg, struct err *e)
{
    struct poster_options *o = options;
    (void)row;
    bool ok = arg[strspn(arg, " ,")] != '\0';
    for (const char *c = arg; *c && ok; c += text_sequence(c))
        ok = text_sequence(c) > 0 && (unsigned char)*c >= ' ' && *c != 0x7f;
    o->style.font = arg;
    return ok || err_set(e, ERR_USAGE, "--font: '%s' is not the name of a font", arg);
}

static const struct option_row rows[] = {
    {"poster", "FORMAT", "poster with title, axis, palette: png, jpg, webp, svg, pdf",
     .group = OPTION_POSTER, .common = TASK_LOOKS, .optional = true, OPTION_CUSTOM(set_poster)},
    {"title", "TEXT", "title (the film's title tag, or else its name)", .group = OPTION_POSTER,
     OPTION_CUSTOM(set_title)},
    {"page", "PAGE",
     "A0 to A6, B0 to B6, Letter, A2-portrait, WxHmm, WxHin, WxH pixels (" PAPER_NAME ")",
     .group = OPTION_POSTER, .word_at = paper_name, OPTION_CUSTOM(set_page)},
    {"dpi", "N", "pixels per inch of a poster of pixels (300)", .group = OPTION_POSTER,
     OPTION_WHOLE(dpi, PAPER_DPI_LEAST, PAPER_DPI_MOST)},
    {"subtitle", "TEXT|none", "line below the title (what the picture shows; technical: how)",
     .group = OPTION_POSTER, OPTION_CUSTOM(set_subtitle)},
    {"bare", NULL, "no small print: title, picture and palette only", .group = OPTION_POSTER,
     OPTION_FLAG(style.bare)},
    {"background", "COLOUR", "colour (#1c2b3a, navy) behind a poster, a ring or -m all",
     .group = OPTION_POSTER, OPTION_CUSTOM(set_background)},
    {"font", "FAMILY", "font of posters and of -m all (Noto Sans)", .group = OPTION_POSTER,
     OPTION_CUSTOM(set_font)},
    {"svg-text", "KIND", "text in SVG: outlines (default) or live, to be edited",
     .group = OPTION_EXPERTS, .words = OPTION_WORDS("outlines", "live"),
     OPTION_WORD(style.live_text)},
    {0}};

static const struct poster_options defaults = {.wanted = false};

const struct option_table poster_options = {rows, &defaults, sizeof defaults};
