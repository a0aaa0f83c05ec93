
#include "test.h"
#include "named.h"

TEST_WITH(what_cannot_be_expanded, enter, leave)
{
    struct plan o = options_for(LIST("first.mkv", ""), 2);
    struct inputs in;
    struct err e = ERR_INIT;
    assert_false(inputs_expand(&o.inputs, &o.outputs, &in, &e));
    expect_sentence(&e, ERR_USAGE, "empty");
    assert_int_equal(in.count, 0);
    assert_null(in.path);
}

TEST_WITH(stems, enter, leave)
{
    struct inputs in;
    expand(LIST("a/x.mkv", "b/x.avi", "x-2.mp4", "x.ts", "no-ending", ".mkv", "v1.2.mkv", "gone/",
                "a:b", "dot."),
           &in);
    static const char *const stem[] = {"x",    "x-2",  "x-2-2", "x-3", "no-ending",
                                       ".mkv", "v1.2", "gone",  "a:b", "dot"};
    assert_int_equal(in.count, sizeof stem / sizeof *stem);
    for (size_t i = 0; i < in.count; i++)
        assert_string_equal(in.stem[i], stem[i]);
    assert_string_equal(in.path[8], "a:b");
    inputs_free(&in);
}

/* Every name is given out once, however many there are. */
TEST_WITH(many_of_one_name, enter, leave)
{
    enum { FILMS = 3000 };
    static char name[] = "x.mkv", other[] = "x-7.mkv", *list[FILMS + 1];
    for (size_t i = 0; i < FILMS; i++)
        list[i] = i == 5 ? other : name;
    struct inputs in;
    expand(list, &in);
    assert_int_equal(in.count, FILMS);
    assert_string_equal(in.stem[4], "x-5");
    assert_string_equal(in.stem[5], "x-7");
    assert_string_equal(in.stem[6], "x-6");
    assert_string_equal(in.stem[7], "x-8");
    assert_string_equal(in.stem[FILMS - 1], "x-3000");
    inputs_free(&in);
}

/* ffmpeg's habit: the last word names the output. */
TEST_WITH(an_output_among_the_films, enter, leave)
{
    static const uint8_t animated[] = "\x89PNG\r\n\x1a\n\0\0\0\x08"
                                      "acTL";
    struct inputs in;
    touch("film.mp4");
    touch("old.png");
    put("animated.png", animated, sizeof animated);
    mkdir("folder", 0777);
    mkdir("d.png", 0777);
    static const struct {
        const char *name, *sentence;
    } refused[] = {
        {"out.png", "'out.png' is not a film; use -o out.png"},
        {"old.png", "'old.png' is not a film; use -o old.png"},
        {"d/out.PDF", "'d/out.PDF' is not a film; use -o d/out.PDF"},
        {"out.svg", "use -o out.svg"},
        {"out.html", "use -o out.html"},
        {"out.csv", "use -o out.csv"},
        {"out.json", "'out.json' is not a film; use --json out.json"},
        {"out.jpg", "'out.jpg' is not a film; use -o out.jpg"},
        {"pics/", "'pics/' is not a film; use -o pics/"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct plan o = options_for(LIST("film.mp4", (char *)refused[i].name), 2);
        struct err e = ERR_INIT;
        assert_false(inputs_expand(&o.inputs, &o.outputs, &in, &e));
        expect_sentence(&e, ERR_USAGE, refused[i].sentence);
    }
    static const char *const ok[] = {"animated.png", "folder", "d.png", "missing.mkv", "-"};
    for (size_t i = 0; i < sizeof ok / sizeof *ok; i++) {
        expand(LIST("film.mp4", (char *)ok[i]), &in);
        inputs_free(&in);
    }
    struct plan o = options_for(LIST("film.mp4", "old.png", "other.mkv"), 3);
    struct err e = ERR_INIT;
    assert_false(inputs_expand(&o.inputs, &o.outputs, &in, &e));
    expect_sentence(&e, ERR_USAGE,
                    "'old.png' is not a film; for the outputs of several films use -o FOLDER/");
    expand(LIST("old.png"), &in); /* alone it is what the user means, and opening it says what it is
                                   */
    inputs_free(&in);
}

/* Names in tables: of an absolute folder without it, else as given. */
TEST(table_names)
{
    static const char *const name[][3] = {{"films", "films/x.mkv", "films/x.mkv"},
                                          {"/srv/a", "/srv/a/x.mkv", "x.mkv"},
                                          {"/srv/a/", "/srv/a/s01/x.mkv", "s01/x.mkv"},
                                          {"/srv/c.mkv", "/srv/c.mkv", "/srv/c.mkv"},
                                          {"/srv/a", "/srv/ab/x.mkv", "/srv/ab/x.mkv"}};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        /* of two folders the names would be those of other films, too */
        char *argument[] = {(char *)name[i][0], "/srv/b"};
        struct inputs_options o = {.argument = argument, .count = 1};
        assert_string_equal(inputs_table_name(&o, name[i][1]), name[i][2]);
        o.count = 2;
        assert_string_equal(inputs_table_name(&o, name[i][1]), name[i][1]);
    }
}
