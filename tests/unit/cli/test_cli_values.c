#include <stdio.h>
#include <string.h>

#include "test.h"
#include "cli/cli.h"
#include "barcode/engine/engine.h"
#include "plan/outputs.h"
#include "cli_line.h"

TEST(shapes_and_smoothing)
{
    good("f");
    assert_true(o.plan.picture.shape == SHAPE_STRIP && o.plan.picture.smooth_us == 0 &&
                o.plan.picture.width == 0 && o.plan.picture.height == 800);
    good("f -m all");
    assert_true(o.plan.picture.width == 0 && o.plan.picture.height == 360);
    good("f --shape ring");
    bad("f -o a.png -o b.png", "--output is given twice, as 'a.png' and 'b.png'");
    good("f --shape circle"); /* its former name */
    assert_true(o.plan.picture.shape == SHAPE_RING && o.plan.picture.width == 1080 &&
                o.plan.picture.height == 1080);
    good("f --shape ring --height 500");
    assert_true(o.plan.picture.width == 500 && o.plan.picture.height == 500);
    good("f --shape vertical --smooth 1:30.5");
    assert_true(o.plan.picture.shape == SHAPE_VERTICAL && o.plan.picture.width == 800 &&
                o.plan.picture.height == 0);
    assert_int_equal(o.plan.picture.smooth_us, 90500000);
    good("f --shape vertical --height 900 --width 20 -m kmeans,palette");
    assert_true(o.plan.picture.width == 20 && o.plan.picture.height == 900);
    good("f --smooth 1:00:00");
    bad("f --shape round", "--shape: 'round' is not strip, ring or vertical");
    bad("f --shape ring --width 5 --height 6",
        "--shape ring: a ring is as wide as it is high; give one of --width and --height");
    bad("f --shape ring --width 16385", "--shape ring: at most 16384 pixels");
    bad("f --shape ring -m all", "--shape ring: -m all and + stack modes in one picture; name "
                                 "the modes, separated by commas, for a picture each");
    bad("f --smooth 1:00:00.001", "--smooth: '1:00:00.001' is more than an hour");
    bad("f --smooth -1", "--smooth: '-1' is not a time such as 10 or 1:30");
}

TEST(posters)
{
    good("f -o a.pdf");
    assert_true(outputs_are_posters(&o.plan) && o.plan.picture.width == 0 &&
                o.plan.picture.height == 1080 && !o.plan.poster.page.given &&
                o.plan.poster.dpi == 300);
    good("f -o a.SVG --page A2 --title x --height 50 --width 16384");
    assert_true(outputs_are_posters(&o.plan) && o.plan.poster.page.given &&
                o.plan.picture.height == 50);
    assert_string_equal(o.plan.poster.title, "x");
    good("f --poster --page 800x600");
    assert_true(outputs_are_posters(&o.plan));
    assert_string_equal(outputs_format(&o.plan)->name, "png");
    good("f --poster=pdf -o -");
    assert_string_equal(outputs_format(&o.plan)->name, "pdf");
    good("f --poster -o a.svg");
    assert_string_equal(outputs_format(&o.plan)->name, "svg");
    good("f -m all --title x");
    good("f -o a.png");
    assert_false(outputs_are_posters(&o.plan));
    good("f --shape ring -o a.pdf");
    assert_int_equal(o.plan.picture.width, 2160);
    good("f --poster=jpg -o d/");
    assert_string_equal(outputs_format(&o.plan)->name, "jpeg");
    bad("f --poster=a.png", "--poster: 'a.png' is not png, jpg, webp, svg or pdf");
    bad("f --poster=gif", "--poster: 'gif' is not png, jpg, webp, svg or pdf");
    bad("f --poster=json", "--poster: 'json' is not png, jpg, webp, svg or pdf");
    bad("f --poster -o a.html",
        "--poster: 'a.html' is not a poster's name; use .png, .jpg, .webp, .svg or .pdf");
    bad("f --poster -o a.csv",
        "--poster: 'a.csv' is not a poster's name; use .png, .jpg, .webp, .svg or .pdf");
    bad("f --poster=pdf -o a.png",
        "--poster=pdf and -o 'a.png' are different formats; give only one");
    bad("f --page A2",
        "--page is for posters: give -o a name that ends in .pdf or .svg, or --poster");
    bad("f --title x -o a.png",
        "--title is for posters: give -o a name that ends in .pdf or .svg, or --poster");
    bad("f --dpi 72", "--dpi is for posters of pixels: give --poster");
    bad("f -o a.pdf --dpi 72",
        "--dpi is for a poster of pixels: PDF keeps the strip's own pixels (--width, --height)");
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

TEST(what_posters_look_like)
{
    good("f -o a.pdf");
    assert_true(!o.plan.poster.style.subtitle && !o.plan.poster.style.font &&
                !o.plan.poster.style.bare && !o.plan.poster.style.live_text &&
                !o.plan.poster.style.has_background);
    good("f -o a.svg --subtitle text --font Noto --bare --svg-text live --background #1c2B3a");
    assert_string_equal(o.plan.poster.style.subtitle, "text");
    assert_string_equal(o.plan.poster.style.font, "Noto");
    assert_true(o.plan.poster.style.bare && o.plan.poster.style.live_text &&
                o.plan.poster.style.has_background);
    assert_memory_equal(o.plan.poster.style.background, ((uint8_t[]){0x1c, 0x2b, 0x3a}), 3);
    good("f --poster --subtitle none --background f80 --svg-text outlines");
    assert_string_equal(o.plan.poster.style.subtitle, "");
    assert_memory_equal(o.plan.poster.style.background, ((uint8_t[]){0xff, 0x88, 0}), 3);
    assert_false(o.plan.poster.style.live_text);
    static const char *const greys[] = {"DarkSlateGray", "darkslategrey", "2F4F4F"};
    for (size_t i = 0; i < 3; i++) {
        char line[60];
        snprintf(line, sizeof line, "f -m all --font x --background %s", greys[i]);
        good(line);
        assert_memory_equal(o.plan.poster.style.background, ((uint8_t[]){0x2f, 0x4f, 0x4f}), 3);
    }
    REFUSES("background", "", "#12", "blu", "", "#1234567", "gray+", "random");
    REFUSES("font", "", "", " ", ",", "a\xff", "a\nb", "\x7f");
    assert_true(set_option(&o, "font", "\xe6\xb8\xb8 Gothic", &e));
    bad("f --subtitle x",
        "--subtitle is for posters: give -o a name that ends in .pdf or .svg, or --poster");
    bad("f --bare", "--bare is for posters: give -o a name that ends in .pdf or .svg, or --poster");
    bad("f --font x", "--font is for posters: give -o a name that ends in .pdf or .svg, or "
                      "--poster");
    bad("f -o a.pdf --svg-text live", "--svg-text is for posters in SVG, not in PDF");
    bad("f --svg-text edit", "--svg-text: 'edit' is not outlines or live");
    bad("f --background red", "--background is for posters, for --shape ring and for stacked "
                              "modes: a strip fills its picture");
}

TEST(rings_on_a_background)
{
    good("f --shape ring");
    assert_true(!o.plan.poster.style.has_background && outputs_format(&o.plan)->pixels);
    good("f --shape ring -o a.jpg");
    assert_true(o.plan.poster.style.has_background && o.plan.poster.style.background[0] == 255 &&
                o.plan.poster.style.background[2] == 255);
    good("f --shape ring -o a.jpg --background navy");
    assert_memory_equal(o.plan.poster.style.background, ((uint8_t[]){0, 0, 128}), 3);
}

/* The limits of JPEG and WebP, where the size is known before the film is read. */
TEST(sides_of_formats)
{
    good("f -o a.jpg --width 65500");
    good("f -o a.png --width 70000");
    good("f -o a.webp --height 16383");
    good("f -o a.webp --columns 16383");
    good("f -o a.webp --columns 100000 --width 100");
    good("f -o a.webp --poster --page A2"); /* 7016 pixels */
    bad("f -o a.jpeg --width 65501", "a JPEG is at most 65500 pixels wide and high; give a smaller "
                                     "--width or --height, or a name that ends in .png");
    const char *webp = "a WebP is at most 16383 pixels wide and high; give a smaller --width or "
                       "--height, or a name that ends in .png";
    bad("f -o a.webp --height 16384", webp);
    bad("f -o a.webp --columns 16384", webp);
    bad("f -o a.webp --shape vertical --columns 16384", webp);
    bad("f -o a.webp --poster --page A0 --dpi 600",
        "a WebP is at most 16383 pixels wide and high; give a smaller --page or --dpi");
}

/* A slit's place and angle, and the frames that it makes large enough. */
TEST(slits)
{
    good("f -m slit");
    assert_true(o.plan.picture.slit.x == 5000 && o.plan.picture.slit.angle == 0);
    assert_true(o.plan.film.size.kind == SIZE_ROWS && o.plan.film.size.side == 800);
    good("f -m kmeans,slit=12.5% --rotate -10.25 --height 300");
    assert_true(o.plan.picture.slit.x == 1250 && o.plan.picture.slit.angle == 34975 &&
                o.plan.film.size.side == 300);
    good("f -m slit=100,slit=0.07 --rotate 360 --size 64 --shape vertical");
    assert_true(o.plan.picture.slit.x == 7 && o.plan.picture.slit.angle == 0);
    assert_true(o.plan.film.size.kind == SIZE_SIDE && o.plan.film.size.side == 64);
    bad("f -m average=3", "-m: 'average' takes no value: 'average=3'");
    bad("f -m slit=100.01", "-m: 'slit=100.01': the place is 0% to 100% of the width, with two "
                            "decimals at most");
    bad("f -m squeeze --rotate 3", "--rotate applies to the mode slit; add -m slit");
    bad("f -m slit --rotate 1.234", "--rotate: '1.234' is not a number of degrees from -360 to "
                                    "360, with two decimals at most");
    good("f -m slit --shape vertical");
    assert_true(o.plan.film.size.kind == SIZE_ROWS && o.plan.film.size.side == 800);
    REFUSES("mode", "", "slit=", "slit=%", "slit=-1", "slit=1.234", "slit=5 %", "slit=101", "all=3",
            "slit=3=4", "slit=.5");
    REFUSES("rotate", "", "", "-", "361", "-360.01", "1e1", "4.", "nan", "--3");
}

/* ---- Engines, decoders, memory ---- */

static bool engine(const char *text)
{
    err_clear(&e);
    o = (struct options){.engine.devices = {.count = 9}};
    return set_option(&o, "engine", text, &e);
}

TEST(engines_by_name)
{
    assert_true(engine("auto"));
    assert_int_equal(o.engine.choice, ENGINE_AUTO);
    assert_true(engine("cpu"));
    assert_int_equal(o.engine.choice, ENGINE_CPU);
    REFUSES("engine", "is not auto, cpu or cuda[:N,...]", "", "gpu", "CPU", "cud",
            "cuda:", "cuda:x", "cuda:1x", "cuda:123", "cuda1", "cuda:-1", "cuda,1", "cuda:0,",
            "cuda:,0", "cuda:0,,1", "cuda:0:1", "cuda:0, 1", "cuda:0,100", "cuda:0;1",
            "cuda:99999999999999999999", "cuda: 1");
}

TEST(cuda_where_it_is_built)
{
    static const struct {
        const char *text;
        struct engine_devices devices;
    } good[] = {
        {"cuda", {.count = 0}},
        {"cuda:0", {.count = 1, .number = {0}}},
        {"cuda:7", {.count = 1, .number = {7}}},
        {"cuda:12", {.count = 1, .number = {12}}},
        {"cuda:0,2", {.count = 2, .number = {0, 2}}},
        {"cuda:0,0", {.count = 2, .number = {0, 0}}},
        {"cuda:3,1,02,99", {.count = 4, .number = {3, 1, 2, 99}}},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        bool ok = engine(good[i].text);
        assert_int_equal(ok, engine_built("cuda"));
        if (!ok)
            assert_int_equal(e.code, ERR_ENGINE);
        assert_int_equal(o.engine.choice, ENGINE_CUDA);
        assert_int_equal(o.engine.devices.count, good[i].devices.count);
        for (int k = 0; k < good[i].devices.count; k++)
            assert_int_equal(o.engine.devices.number[k], good[i].devices.number[k]);
    }
}

/* As many as a list may have, and not one more. */
TEST(many_numbers)
{
    char text[200] = "cuda:0";
    for (int i = 1; i < ENGINE_DEVICES_MOST; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), ",%d", i);
    assert_int_equal(engine(text), engine_built("cuda"));
    assert_int_equal(o.engine.devices.count, ENGINE_DEVICES_MOST);
    assert_int_equal(o.engine.devices.number[ENGINE_DEVICES_MOST - 1], ENGINE_DEVICES_MOST - 1);
    snprintf(text + strlen(text), sizeof text - strlen(text), ",0");
    assert_false(engine(text));
    assert_int_equal(e.code, ERR_USAGE);
}

TEST(decoders_by_name)
{
    static const char *const name[] = {"auto", "cpu", "nvdec"};
    for (int i = DECODE_AUTO; i <= DECODE_NVDEC; i++) {
        assert_true(set_option(&o, "decode", name[i], &e));
        assert_int_equal(o.plan.film.decode, i);
    }
    err_clear(&e);
    assert_false(set_option(&o, "decode", "gpu", &e));
    assert_int_equal(e.code, ERR_USAGE);
    assert_string_equal(e.text, "--decode: 'gpu' is not auto, cpu or nvdec");
}

TEST(memory_by_size)
{
    const uint64_t mib = (uint64_t)1 << 20;
    assert_true(set_option(&o, "memory", "256M", &e) && o.process.memory == 256 * mib);
    assert_true(set_option(&o, "memory", "1.5GiB", &e) && o.process.memory == 1536 * mib);
    assert_true(set_option(&o, "memory", "268435457", &e) && o.process.memory == 256 * mib + 1);
    REFUSES("memory", "is not a size such as 500M or 2G (at least 256M)", "", "lots", "-1G", "255M",
            "1", "2X", "1e30");
}
