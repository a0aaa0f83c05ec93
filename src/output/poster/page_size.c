#include "poster.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Portrait, in micrometres. */
static const struct {
    const char *name;
    int width, height;
} sizes[] = {{"A0", 841000, 1189000},   {"A1", 594000, 841000},     {"A2", 420000, 594000},
             {"A3", 297000, 420000},    {"A4", 210000, 297000},     {"A5", 148000, 210000},
             {"A6", 105000, 148000},    {"B0", 1000000, 1414000},   {"B1", 707000, 1000000},
             {"B2", 500000, 707000},    {"B3", 353000, 500000},     {"B4", 250000, 353000},
             {"B5", 176000, 250000},    {"B6", 125000, 176000},     {"Letter", 215900, 279400},
             {"Legal", 215900, 355600}, {"Tabloid", 279400, 431800}};

enum { SIZES = sizeof sizes / sizeof *sizes };

const char *paper_name(size_t i) { return i < SIZES ? sizes[i].name : NULL; }

static bool parse_name(const char *text, struct paper *page)
{
    for (int i = 0; i < SIZES; i++) {
        size_t length = strlen(sizes[i].name);
        const char *rest = text + length;
        if (strncasecmp(text, sizes[i].name, length) != 0)
            continue;
        *page = (struct paper){
            .given = true, .width = sizes[i].width, .height = sizes[i].height, .named = true};
        if (strcasecmp(rest, "-landscape") == 0)
            page->turn = PAPER_LANDSCAPE;
        else if (strcasecmp(rest, "-portrait") == 0)
            page->turn = PAPER_PORTRAIT;
        else if (*rest)
            continue;
        return true;
    }
    return false;
}

/* Reads a decimal number with at most 6 digits before the point and 4 after it, in ten-thousandths.
 * *text moves past the number. */
static bool read_decimal(const char **text, int64_t *value)
{
    uint64_t whole;
    if (!option_read_digits(text, 999999, &whole))
        return false;
    *value = (int64_t)whole * 10000;
    if (**text != '.')
        return true;
    const char *first = ++*text;
    for (int64_t unit = 1000; **text >= '0' && **text <= '9'; ++*text, unit /= 10)
        *value += unit * (**text - '0');
    return *text > first;
}

static bool is_within_limits(const struct paper *p)
{
    int least = p->pixels ? PAPER_LEAST_PX : PAPER_LEAST_UM,
        most = p->pixels ? PAPER_MOST_PX : PAPER_MOST_UM;
    int longer = p->width > p->height ? p->width : p->height,
        shorter = p->width > p->height ? p->height : p->width;
    return shorter >= least && longer <= most && longer / PAPER_ASPECT_MOST <= shorter;
}

bool paper_parse(const char *text, struct paper *page)
{
    int64_t w, h, um;
    if (parse_name(text, page))
        return true;
    if (!read_decimal(&text, &w) || *text++ != 'x' || !read_decimal(&text, &h))
        return false;
    *page = (struct paper){.given = true, .pixels = *text == '\0'};
    if (page->pixels && (w % 10000 != 0 || h % 10000 != 0))
        return false;
    if (page->pixels)
        um = 1;
    else if (strcmp(text, "mm") == 0)
        um = 1000;
    else if (strcmp(text, "cm") == 0)
        um = 10000;
    else if (strcmp(text, "in") == 0)
        um = 25400;
    else
        return false;
    w = (w * um + 5000) / 10000;
    h = (h * um + 5000) / 10000;
    if (w > PAPER_MOST_UM || h > PAPER_MOST_UM)
        return false;
    page->width = (int)w;
    page->height = (int)h;
    return is_within_limits(page);
}

void paper_sides(const struct paper *page, enum strip_shape shape, int *width, int *height)
{
    struct paper usual;
    if (!page->given && parse_name(PAPER_NAME, &usual))
        page = &usual;
    enum paper_turn turn = page->turn;
    if (turn == PAPER_USUAL)
        turn = shape == SHAPE_STRIP ? PAPER_LANDSCAPE : PAPER_PORTRAIT;
    bool over = page->named && turn == PAPER_LANDSCAPE;
    *width = over ? page->height : page->width;
    *height = over ? page->width : page->height;
}

void paper_pixels(const struct paper *page, enum strip_shape shape, int dpi, int *width,
                  int *height)
{
    paper_sides(page, shape, width, height);
    if (page->pixels)
        return;
    *width = (int)(((int64_t)*width * dpi + 12700) / 25400);
    *height = (int)(((int64_t)*height * dpi + 12700) / 25400);
}

void paper_text(const struct paper *page, enum strip_shape shape, char text[PAPER_TEXT])
{
    int width, height;
    paper_sides(page, shape, &width, &height);
    snprintf(text, PAPER_TEXT, "%dx%d%s", width, height, page->pixels ? "px" : "um");
}
