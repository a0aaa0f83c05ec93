/* What outputs.c does in folders: names of outputs that the program chooses, and whose files these
 * may replace. */

#include "test.h"
#include "outputs_asked.h"

/* Folders below the one that was named are made when an output is written there, and not before. */
TEST_WITH(the_tree_is_mirrored, enter, leave)
{
    static const char *const dir[] = {"t", "t/a", "t/a/b", "out", "j"};
    for (size_t i = 0; i < sizeof dir / sizeof *dir; i++)
        mkdir(dir[i], 0777);
    touch("t/a/b/x.mkv");
    touch("t/y.mkv");
    static char t[] = "t", *words[] = {t};
    struct inputs in;
    struct output_plan run;
    struct err e = ERR_INIT;
    struct plan o = options_for(words, 1);
    o.inputs.recursive = true;
    o.outputs.path = "out";
    o.outputs.dump = "j";
    extra(&o, "json", "j/");
    assert_true(inputs_expand(&o.inputs, &o.outputs, &in, &e));
    expect_allowed(&o, &in);
    const struct outputs *list = name_outputs(&o, &in, 1, &run);
    assert_string_equal(list->output[0].path, "out/a/b/x.png");
    assert_string_equal(list->output[0].below, "out/a/b/x.png");
    assert_string_equal(list->output[1].path, "j/a/b/x.json");
    assert_string_equal(list->output[1].below, "j/a/b/x.json");
    assert_string_equal(outputs_dump(list)->below, "j/a/b/x.rgb");
    assert_int_not_equal(access("out/a", F_OK), 0);
    assert_true(outputs_make_folders(&list->output[0], &e) &&
                outputs_make_folders(&list->output[0], &e));
    assert_int_equal(access("out/a/b", F_OK), 0);
    expect_allowed(&o, &in);
    outputs_free(&run);
    /* What stands in the way of one folder is that film's problem. */
    touch("j/a");
    expect_problem(&o, &in, 1, ERR_FAILED, "cannot write 'j/a/b/x.json': 'j/a' is not a folder");
    remove("j/a");
    /* So is the folder that was named, but none above it. */
    mkdir("up", 0777);
    o.outputs.path = "up/gone/";
    expect_allowed(&o, &in);
    list = name_outputs(&o, &in, 1, &run);
    assert_string_equal(list->output[0].below, "gone/a/b/x.png");
    assert_int_not_equal(access("up/gone", F_OK), 0);
    assert_true(outputs_make_folders(&list->output[0], &e));
    assert_int_equal(access("up/gone/a/b", F_OK), 0);
    outputs_free(&run);
    o.outputs.path = NULL;
    o.outputs.extras = 0;
    expect_allowed(&o, &in);
    list = name_outputs(&o, &in, 1, &run);
    assert_string_equal(list->output[0].below, "a/b/x.png");
    assert_true(list->output[0].below == list->output[0].path &&
                outputs_make_folders(&list->output[0], &e));
    assert_int_equal(access("a/b", F_OK), 0);
    outputs_free(&run);
    inputs_free(&in);
}
