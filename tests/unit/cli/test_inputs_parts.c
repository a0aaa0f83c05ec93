
#include "test.h"
#include "named.h"
#include "set_option.h"

/* Checks the films of a list, and their parts, as "STEM: PART PART; STEM". */
static void expect_films(const struct plan *o, const char *films)
{
    char text[2048] = "";
    struct inputs in;
    struct err e = ERR_INIT;
    assert_ok(inputs_expand(&o->inputs, &o->outputs, &in, &e), &e);
    for (size_t i = 0; i < in.count; i++) {
        size_t used = strlen(text);
        const struct film_parts *parts = in.parts[i];
        snprintf(text + used, sizeof text - used, "%s%s%s", i > 0 ? "; " : "",
                 in.stem[i] ? in.stem[i] : in.problem[i].text, parts ? ":" : "");
        for (size_t k = 0; parts && k < parts->count; k++) {
            used = strlen(text);
            snprintf(text + used, sizeof text - used, " %s", parts->part[k].path);
        }
    }
    assert_string_equal(text, films);
    inputs_free(&in);
}

static void expect(char **input, const char *films)
{
    size_t count = 0;
    while (input[count])
        count++;
    struct plan o = options_for(input, count);
    expect_films(&o, films);
}

static void touch_all(char **name)
{
    for (; *name; name++)
        touch(*name);
}

TEST_WITH(chapters, enter, leave)
{
    static const struct {
        char *there[6];
        const char *first, *films; /* named alone, and what it is then */
    } t[] = {
        {{"GX010123.MP4", "GX020123.MP4", "GX030123.MP4"},
         "GX010123.MP4",
         "GX010123: GX010123.MP4 GX020123.MP4 GX030123.MP4"},
        {{"GX010123.MP4", "GX020123.MP4"}, "GX020123.MP4", "GX020123"},
        {{"gh010001.mp4", "gh020001.mp4"}, "gh010001.mp4", "gh010001: gh010001.mp4 gh020001.mp4"},
        {{"GOPR0007.MP4", "GP010007.MP4", "GP020007.MP4"},
         "GOPR0007.MP4",
         "GOPR0007: GOPR0007.MP4 GP010007.MP4 GP020007.MP4"},
        {{"VTS_01_0.VOB", "VTS_01_1.VOB", "VTS_01_2.VOB", "VTS_02_1.VOB"},
         "VTS_01_1.VOB",
         "VTS_01_1: VTS_01_1.VOB VTS_01_2.VOB"},
        {{"VTS_01_0.VOB", "VTS_01_1.VOB"}, "VTS_01_0.VOB", "VTS_01_0"},
        {{"GX010123.MP4", "GX020124.MP4", "GH020123.MP4"}, "GX010123.MP4", "GX010123"},
        {{"GX010123.MP4", "GX030123.MP4"}, /* the second one is missing: opening the film says so */
         "GX010123.MP4",
         "GX010123: GX010123.MP4 GX020123.MP4 GX030123.MP4"},
        {{"MyGX010123.MP4", "MyGX020123.MP4"}, "MyGX010123.MP4", "MyGX010123"},
        {{"GX0101234.MP4", "GX0201234.MP4"}, "GX0101234.MP4", "GX0101234"},
        {{"GX010123.MP4", "GX020123.MOV"}, "GX010123.MP4", "GX010123"}};
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        char first[32];
        snprintf(first, sizeof first, "%s", t[i].first);
        touch_all((char **)(uintptr_t)t[i].there);
        expect(LIST(first), t[i].films);
        for (size_t k = 0; t[i].there[k]; k++)
            unlink(t[i].there[k]);
    }
}

TEST_WITH(chapters_of_a_folder, enter, leave)
{
    mkdir("d", 0777);
    touch_all(LIST("d/GX010001.MP4", "d/GX010002.MP4", "d/GX020001.MP4", "d/GX020009.MP4",
                   "d/GX030009.MP4", "d/z.mp4"));
    expect(LIST("d"), "GX010001: d/GX010001.MP4 d/GX020001.MP4; GX010002; "
                      "GX020009: d/GX010009.MP4 d/GX020009.MP4 d/GX030009.MP4; z");
    expect(LIST("d/GX010001.MP4", "d/GX020001.MP4", "d/GX010002.MP4"),
           "GX010001: d/GX010001.MP4 d/GX020001.MP4; GX010002");
    char *input[] = {"d/GX010001.MP4", "d/GX020001.MP4"};
    struct plan o = options_for(input, 2);
    o.inputs.no_join = true;
    expect_films(&o, "GX010001; GX020001");
}

TEST_WITH(joined, enter, leave)
{
    touch_all(LIST("b.mp4", "a.mp4", "1.png", "2.PNG", "3.jpg"));
    char *films[] = {"b.mp4", "a.mp4", "gone.mp4"}, *images[] = {"1.png", "2.PNG", "3.jpg"};
    struct plan o = options_for(films, 3);
    o.inputs.join = true;
    expect_films(&o, "b: b.mp4 a.mp4 gone.mp4");
    struct inputs in;
    o = options_for(images, 2);
    o.inputs.join = true;
    struct err e = ERR_INIT;
    assert_true(inputs_expand(&o.inputs, &o.outputs, &in, &e));
    assert_int_equal(in.parts[0]->rate_num, 24);
    assert_int_equal(in.file[0].bytes, 2);
    assert_true(in.file[0].regular);
    inputs_free(&in);
    o.inputs.count = 3;
    assert_false(inputs_expand(&o.inputs, &o.outputs, &in, &e));
    expect_sentence(&e, ERR_INPUT, "cannot join '3.jpg' to '1.png': they have different formats");
    err_clear(&e);
    char *other[] = {"b.mp4", "."};
    o = options_for(other, 2);
    o.inputs.join = true;
    assert_false(inputs_expand(&o.inputs, &o.outputs, &in, &e));
    expect_sentence(&e, ERR_USAGE, "'.' is not a file");
}

TEST_WITH(patterns, enter, leave)
{
    mkdir("d", 0777);
    touch_all(LIST("d/i0008.png", "d/i0009.png", "d/i0010.png", "d/i011.png", "d/i0011.jpg",
                   "d/k9.png", "d/k10.png", "d/k011.png", "d/0001.png", "d/m1.png", "d/m3.png",
                   "d/x%d.mp4", "d/x1.mp4"));
    expect(LIST("d/i%04d.png"), "i: d/i0008.png d/i0009.png d/i0010.png");
    expect(LIST("d/k%d.png", "d/m%d.png"), "k: d/k9.png d/k10.png; m: d/m1.png d/m2.png");
    expect(LIST("d/%04d.png"), "d: d/0001.png");
    expect(LIST("d/m%d.png"), "m: d/m1.png d/m2.png");
    expect(LIST("d/x%d.mp4"), "x%d"); /* there is such a file */
    expect(LIST("d/y%d.mp4"), "no file has a name such as 'd/y%d.mp4'");
    expect(LIST("d/y%s.mp4", "d/%d%d.mp4", "100%", "gone/%d/x.mp4"), "y%s; %d%d; 100%; x");
}

TEST_WITH(sequence_of_a_folder, enter, leave)
{
    mkdir("my.frames", 0777);
    mkdir("none", 0777);
    touch_all(LIST("my.frames/e10.png", "my.frames/e2.png", "my.frames/.e1.png", "my.frames/a.txt",
                   "none/a.txt"));
    mkdir("my.frames/e3.png", 0777);
    char *input[] = {"my.frames/", "none"};
    struct plan o = options_for(input, 2);
    o.inputs.sequence = true;
    expect_films(&o, "my: my.frames/e2.png my.frames/e10.png; no images in the folder 'none'");
    touch("my.frames/f.jpg");
    o.inputs.count = 1;
    expect_films(&o, "cannot join 'my.frames/f.jpg' to 'my.frames/e2.png': they have different "
                     "formats");
}

TEST(rates)
{
    static const struct {
        const char *text;
        int64_t num, den;
    } t[] = {{"24", 24, 1},
             {"23.976", 23976, 1000},
             {"30000/1001", 30000, 1001},
             {"0.5", 5, 10},
             {"1000", 1000, 1},
             {"0", 0, 0},
             {"1001", 0, 0},
             {"", 0, 0},
             {"24fps", 0, 0},
             {"1/0", 0, 0},
             {"1.2345", 0, 0},
             {"-1", 0, 0},
             {"99999999999", 0, 0},
             {"1.", 0, 0},
             {"0/5", 0, 0}};
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct plan o = {.inputs.rate_num = 0};
        struct err e = ERR_INIT;
        assert_int_equal(set_in_plan(&o, "rate", t[i].text, &e), t[i].num > 0);
        assert_int_equal(o.inputs.rate_num, t[i].num);
        assert_int_equal(o.inputs.rate_den, t[i].den);
        assert_int_equal(e.code, t[i].num > 0 ? ERR_NONE : ERR_USAGE);
    }
}
