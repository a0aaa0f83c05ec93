
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

static void expect_page(const struct plan *o, const struct inputs *in, size_t i, const char *path,
                        const char *below)
{
    struct output_plan run;
    const struct outputs *list = name_outputs(o, in, i, &run);
    assert_int_equal(list->count, 1); /* and no picture */
    assert_string_equal(list->output[0].path, path);
    assert_true(run.kind[0].chosen);
    if (below)
        assert_string_equal(list->output[0].below, below);
    else
        assert_null(list->output[0].below);
    outputs_free(&run);
}

TEST_WITH(pages_lie_beside_it, enter, leave)
{
    struct inputs in;
    struct err e = ERR_INIT;
    assert_int_equal(mkdir("films", 0777) | mkdir("films/s1", 0777) | mkdir("g", 0777), 0);
    touch("films/a.b.mkv");
    touch("films/s1/e.mkv");
    struct plan o = options_for(LIST("films"), 1);
    o.inputs.recursive = true;
    assert_true(inputs_expand(&o.inputs, &o.outputs, &in, &e));
    ask_html(&o, "g/index.html");
    expect_page(&o, &in, 0, "g/a.b.html", "g/a.b.html");
    expect_page(&o, &in, 1, "g/s1/e.html", "g/s1/e.html");
    o.outputs.name = OUTPUTS_NAME_STEM "-of-{mode}";
    expect_page(&o, &in, 1, "g/s1/e-of-kmeans.html", "g/s1/e-of-kmeans.html");
    o.outputs.name = NULL;
    ask_html(&o, "films/index.html");
    expect_page(&o, &in, 0, "films/a.b-barcode.html", "films/a.b-barcode.html");
    ask_html(&o, "index.html");
    expect_page(&o, &in, 0, "a.b.html", NULL);
    expect_page(&o, &in, 1, "s1/e.html", "s1/e.html");
    ask_html(&o, "none/index.html");
    expect_allowed(&o, &in);
    assert_int_not_equal(access("none", F_OK), 0);
    struct output_plan run;
    assert_true(outputs_plan(&o, &in, &run, &e) && outputs_make_gallery_folder(&run, &e));
    outputs_free(&run);
    assert_int_equal(access("none", F_OK), 0);
    ask_html(&o, "gone/none/index.html");
    expect_refusal(&o, &in, ERR_FAILED,
                   "cannot create the folder 'gone/none/': the folder 'gone/' does not exist");
    inputs_free(&in);
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
        struct options all = {.plan = options_for(NULL, 0)};
        struct plan *o = &all.plan;
        struct err e = ERR_INIT;
        char got[200] = "";
        assert_true(set_in_plan(o, "mode", want[i].asked, &e));
        o->inputs.count = 1;
        assert_true(cli_complete(&all, &e));
        for (size_t k = 0; k < o->picture.computes; k++)
            snprintf(got + strlen(got), sizeof got - strlen(got), "%s ",
                     o->picture.computed[k]->name);
        assert_string_equal(got, want[i].computed);
    }
}
