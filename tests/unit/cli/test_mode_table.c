#include <string.h>

#include "test.h"
#include "output/report.h"
#include "output/modes/band_order.h"
#include "strips.h"
#include "set_option.h"

/* The names are used three times: on the command line, in file names and in the PNG. They must be
 * the same word. */
TEST(every_name_is_a_mode)
{
    for (size_t m = 0; m < strip_count; m++) {
        struct plan o = {0};
        struct err e = ERR_INIT;
        const char *name = strip_table[m]->name;
        assert_true(set_in_plan(&o, "mode", name, &e));
        assert_int_equal(o.picture.strips, 1);
        assert_ptr_equal(o.picture.strip[0], strip_table[m]);
        assert_ptr_equal(strip_find(name, strlen(name)), strip_table[m]);
        assert_null(strip_find(name, strlen(name) - 1));
        const char *alias = strip_table[m]->alias;
        assert_true(!alias || strip_find(alias, strlen(alias)) == strip_table[m]);
        assert_null(strpbrk(name, "/ ., %"));
        assert_string_not_equal(name, STRIP_ALL);
    }
    assert_null(strip_find("", 0));
}

TEST(the_alias)
{
    struct plan o = {0};
    struct err e = ERR_INIT;
    assert_string_equal(strip_find("downsample", strlen("downsample"))->name, "squeeze");
    assert_true(set_in_plan(&o, "mode", "downsample,average,squeeze", &e));
    assert_int_equal(o.picture.strips, 2);
    assert_string_equal(o.picture.strip[0]->name, "average");
    assert_string_equal(o.picture.strip[1]->name, "squeeze");
}

/* Several in one picture, in the table's order. */
TEST(stacks)
{
    struct plan o = {0};
    struct err e = ERR_INIT;
    assert_true(set_in_plan(&o, "mode", "spectrum+slit=20%+all+sound", &e));
    assert_int_equal(o.picture.slit.x, 2000);
    assert_true(o.picture.strips == strip_count && o.picture.stacked);
    assert_true(set_in_plan(&o, "mode", "sound+squeeze", &e));
    assert_true(o.picture.strips == 2 && o.picture.stacked);
    assert_string_equal(o.picture.strip[0]->name, "squeeze");
    assert_string_equal(o.picture.strip[1]->name, "sound");
    assert_true(set_in_plan(&o, "mode", "sound+sound", &e));
    assert_true(o.picture.strips == 1 && !o.picture.stacked);
    assert_false(set_in_plan(&o, "mode", "sound+squeeze,average", &e));
    assert_string_equal(e.text,
                        "-m: 'sound+squeeze,average' has both , and +: give one picture for "
                        "each mode, or one with several modes");
}

TEST(the_table)
{
    static const struct {
        const char *name, *title;
        unsigned needs;
    } known[] = {{"kmeans", "k-means", STRIP_CLUSTERS},  {"dominant", "dominant", STRIP_DOMINANT},
                 {"palette", "palette", STRIP_CLUSTERS}, {"average", "average", 0},
                 {"squeeze", "squeeze", STRIP_ROWS},     {"sound", "sound", STRIP_SOUND},
                 {"spectrum", "spectrum", STRIP_SOUND},  {"slit", "slit", STRIP_SLIT}};
    char name[STRIPS_NAME];
    assert_in_range(strip_count, 8, STRIPS_MOST);
    for (size_t i = 0; i < 8; i++) {
        assert_string_equal(strip_table[i]->name, known[i].name);
        assert_string_equal(strip_table[i]->title, known[i].title);
        assert_int_equal(strips_need(alone(known[i].name)), known[i].needs);
        strips_name(alone(known[i].name), name);
        assert_string_equal(name, known[i].name);
    }
    assert_int_equal(strips_all().count, 5);
    assert_int_equal(strips_need(stacked()), STRIP_CLUSTERS | STRIP_ROWS | STRIP_DOMINANT);
    strips_name(stacked(), name);
    assert_string_equal(name, "all");
    strips_name((struct strips){strip_table + 4, 3}, name);
    assert_string_equal(name, "squeeze+sound+spectrum");
    for (size_t i = 0; i < strip_count; i++)
        assert_int_equal(strip_table[i]->named_only, i >= strips_all().count);
}

static void expect_note(const char *name, int k, const char *text)
{
    struct report r = {.analysis.kmeans = {.k = k}};
    char out[64];
    alone(name).kind[0]->note(&r, out, sizeof out);
    assert_string_equal(out, text);
    alone(name).kind[0]->note(&r, out, 4);
    assert_int_equal(strlen(out), 3);
}

/* Which options change what it shows. */
TEST(what_they_obey)
{
    struct report r = {.analysis.kmeans = {.k = 8}, .picture.steady = 12};
    char out[64];
    alone("kmeans").kind[0]->note(&r, out, sizeof out);
    assert_string_equal(out, "largest of 8 clusters, steady 12 %");
    assert_int_equal(strips_obey(alone("kmeans")), STRIP_STEADY);
    r.picture.order = ORDER_SHARE;
    alone("palette").kind[0]->note(&r, out, sizeof out);
    assert_string_equal(out, "all 8 clusters by share");
    assert_int_equal(strips_obey(alone("palette")), STRIP_ORDER);
    assert_int_equal(strips_obey(stacked()), STRIP_STEADY | STRIP_ORDER);
    alone("dominant").kind[0]->note(&r, out, sizeof out);
    assert_string_equal(out, "each frame's mode in OKLab, steady 12 %");
    assert_int_equal(strips_obey(alone("dominant")), STRIP_STEADY);
    assert_int_equal(strips_obey(alone("average")), 0);
    assert_int_equal(strips_obey(alone("squeeze")), 0);
}

TEST(what_they_show)
{
    expect_note("kmeans", 8, "largest of 8 clusters");
    expect_note("kmeans", 1, "one cluster");
    expect_note("dominant", 8, "each frame's mode in OKLab");
    expect_note("palette", 8, "all 8 clusters by lightness");
    expect_note("palette", 1, "one cluster");
    expect_note("average", 8, "each frame's mean");
    expect_note("squeeze", 8, "each row's mean");
    expect_note("sound", 8, "the film has no sound");
    expect_note("spectrum", 8, "the film has no sound");
    struct report r = {.picture.slit = {.x = 1250}};
    char out[80];
    alone("slit").kind[0]->note(&r, out, sizeof out);
    assert_string_equal(out, "each frame's pixels at 12.5 % of its width");
    r.picture.slit = (struct slit){.x = 10000, .angle = 34725};
    alone("slit").kind[0]->note(&r, out, sizeof out);
    assert_string_equal(out,
                        "each frame's pixels at 100 % of its width, rotated by 347.25 degrees");
}

/* In which order bands lie. */
TEST(orders)
{
    static const struct cluster c[5] = {
        {{90, 90, 90}, 9}, {{0, 200, 0}, 7}, {{90, 90, 90}, 5}, {{0, 0, 255}, 2}, {{255, 0, 0}, 1}};
    static const uint8_t light[] = {1, 4, 0, 2, 3}, share[] = {0, 1, 2, 3, 4};
    uint8_t got[5];
    strip_order(ORDER_LIGHTNESS, c, 5, got);
    assert_memory_equal(got, light, 5);
    strip_order(ORDER_SHARE, c, 5, got);
    assert_memory_equal(got, share, 5);
}
