
#include "test.h"
#include "cli/cli.h"
#include "outputs_asked.h"
#include "set_option.h"

static void ask_html(struct plan *o, const char *path)
{
    o->outputs.extras = 1;
    o->outputs.extra[0] = (struct options_extra){writer_find("html"), path};
}

static const char *gallery_of(const struct plan *o)
{
    struct output_plan run;
    struct err e = ERR_INIT;
    assert_true(outputs_plan(o, &(struct inputs){.count = 0}, &run, &e));
    const char *path = run.gallery;
    outputs_free(&run);
    return path;
}

/* The gallery that these inputs and --html PATH ask for; NULL: none. */
static const char *gallery(char **input, size_t inputs, const char *path)
{
    struct plan o = options_for(input, inputs);
    ask_html(&o, path);
    return gallery_of(&o);
}

TEST_WITH(which_names_are_galleries, enter, leave)
{
    assert_int_equal(mkdir("films", 0777) | mkdir("odd", 0777) | mkdir("odd/index.html", 0777), 0);
    assert_string_equal(gallery(LIST("films"), 1, "g/index.html"), "g/index.html");
    assert_string_equal(gallery(LIST("a.mkv", "b.mkv"), 2, "index.html"), "index.html");
    assert_null(gallery(LIST("a.mkv"), 1, "index.html"));
    assert_null(gallery(LIST("films"), 1, "g/other.html"));
    assert_null(gallery(LIST("films"), 1, "g/"));
    assert_null(gallery(LIST("films"), 1, "g/index.htm"));
    assert_null(gallery(LIST("films"), 1, "index.html/"));
    assert_null(gallery(LIST("films"), 1, "odd/index.html"));
    struct plan o = options_for(LIST("films"), 1);
    assert_null(gallery_of(&o));
    o.outputs.extras = 1;
    o.outputs.extra[0] = (struct options_extra){writer_find("json"), "index.json"};
    assert_null(gallery_of(&o));
}

/* What costs nothing more comes after what was asked for. */
TEST_WITH(what_is_computed, enter, leave)
{
    static const struct {
        const char *asked, *computed;
    } want[] = {
        {"kmeans", "kmeans palette average "},
        {"palette", "palette kmeans average "},
        {"average", "average "},
        {"squeeze", "squeeze average "},
        {"dominant", "dominant average "},
        {"kmeans,average", "kmeans average palette "},
        {"all", "kmeans dominant palette average squeeze "},
    };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        struct options all = {.plan = options_for(LIST("film"), 1)};
        struct plan *o = &all.plan;
        struct err e = ERR_INIT;
        char got[200] = "";
        assert_true(set_in_plan(o, "mode", want[i].asked, &e));
        assert_true(cli_complete(&all, &e));
        for (size_t k = 0; k < o->picture.computes; k++)
            snprintf(got + strlen(got), sizeof got - strlen(got), "%s ",
                     o->picture.computed[k]->name);
        assert_string_equal(got, want[i].computed);
    }
}
