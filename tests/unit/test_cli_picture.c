#include <stdio.h>
#include <string.h>

#include "test.h"
#include "barcode/cli/cli.h"
#include "barcode/cli/outputs.h"

static struct options o;
static struct err e;

/* Parses "barcode " and the words of `line`. */
static enum cli_result parse(const char *line)
{
    static char program[] = "barcode", words[1024], *argument[64];
    int count = 0;
    argument[count++] = program;
    snprintf(words, sizeof words, "%s", line);
    for (char *save = NULL, *w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save))
        argument[count++] = w;
    argument[count] = NULL;
    err_clear(&e);
    return cli_parse(count, argument, &o, &e);
}

static void good(const char *line)
{
    if (parse(line) != CLI_RUN)
        fail_msg("'%s' was refused: %s", line, e.text);
}

static void bad(const char *line, const char *sentence)
{
    assert_int_equal(parse(line), CLI_BAD);
    assert_string_equal(e.text, sentence);
    assert_int_equal(e.code, ERR_USAGE);
}

TEST(shapes_and_smoothing)
{
    good("f");
    assert_true(o.shape == SHAPE_STRIP && o.smooth_us == 0 && o.width == 0 && o.height == 800);
    good("f -m all");
    assert_true(o.width == 0 && o.height == 360);
    good("f --shape circle");
    assert_true(o.shape == SHAPE_CIRCLE && o.width == 1080 && o.height == 1080);
    good("f --shape circle --height 500");
    assert_true(o.width == 500 && o.height == 500);
    good("f --shape vertical --smooth 1:30.5");
    assert_true(o.shape == SHAPE_VERTICAL && o.width == 800 && o.height == 0);
    assert_int_equal(o.smooth_us, 90500000);
    good("f --shape vertical --height 900 --width 20 -m kmeans,palette");
    assert_true(o.width == 20 && o.height == 900);
    good("f --smooth 1:00:00");
    bad("f --shape round", "--shape: 'round' is not strip, circle or vertical");
    bad("f --shape circle --width 5 --height 6",
        "--shape circle: a circle is as wide as it is high; give one of --width and --height");
    bad("f --shape circle --width 16385", "--shape circle: at most 16384 pixels");
    bad("f --shape circle -m all", "--shape circle: -m all stacks the modes in one picture; name "
                                   "the modes for a picture each");
    bad("f --smooth 1:00:00.001", "--smooth: '1:00:00.001' is more than an hour");
    bad("f --smooth -1", "--smooth: '-1' is not a time such as 10 or 1:30");
}

TEST(posters)
{
    good("f -o a.pdf");
    assert_true(outputs_are_posters(&o) && o.width == 0 && o.height == 1080 && !o.page.given &&
                o.dpi == 300);
    good("f -o a.SVG --page A2 --title x --height 50 --width 16384");
    assert_true(outputs_are_posters(&o) && o.page.given && o.height == 50);
    assert_string_equal(o.title, "x");
    good("f --poster --page 800x600");
    assert_true(outputs_are_posters(&o));
    assert_string_equal(outputs_format(&o)->name, "png");
    good("f --poster=pdf -o -");
    assert_string_equal(outputs_format(&o)->name, "pdf");
    good("f --poster -o a.svg");
    assert_string_equal(outputs_format(&o)->name, "svg");
    good("f -m all --title x");
    good("f -o a.png");
    assert_false(outputs_are_posters(&o));
    good("f --shape circle -o a.pdf");
    assert_int_equal(o.width, 2160);
    bad("f --poster=jpg", "--poster: 'jpg' is not png, svg or pdf");
    bad("f --poster=json", "--poster: 'json' is not png, svg or pdf");
    bad("f --poster -o a.html",
        "--poster: 'a.html' is not a poster's name; use .png, .svg or .pdf");
    bad("f --poster -o a.csv", "--poster: 'a.csv' is not a poster's name; use .png, .svg or .pdf");
    bad("f --poster=pdf -o a.png",
        "--poster=pdf and -o 'a.png' are different formats; give only one");
    bad("f --page A2",
        "--page is for posters: give -o a name that ends in .pdf or .svg, or --poster");
    bad("f --title x -o a.png",
        "--title is for posters: give -o a name that ends in .pdf or .svg, or --poster");
    bad("f --dpi 72", "--dpi is for posters in PNG: give --poster");
    bad("f -o a.pdf --dpi 72",
        "--dpi is for a poster in PNG: PDF keeps the strip's own pixels (--width, --height)");
    bad("f --poster --width 100", "a poster in PNG is as large as its page: give --page and --dpi, "
                                  "and no --width or --height");
    bad("f --poster --page 800x600 --dpi 72", "--dpi: a page of 800x600 pixels has no inches");
    bad("f -o a.svg --width 16385", "the strip of a poster in SVG is at most 16384 pixels wide and "
                                    "high; give a smaller --width or --height");
    bad("f --poster --page A0 --dpi 1500",
        "a poster of 70217x49665 pixels is too large (at most 2147483648 in all); give a "
        "smaller --page or --dpi");
    bad("f --poster --dpi 19", "--dpi: '19' is not a whole number from 20 to 2400");
    bad("f -o a.pdf --page A9",
        "--page: 'A9' is not a page such as A2, A4-portrait, Letter, 420x297mm, 16.5x11.7in or "
        "800x600 pixels; sides are 40 mm to 5 m or 160 to "
        "65535 pixels, one at most 20 times the other");
}

TEST_MAIN(NULL, NULL)
