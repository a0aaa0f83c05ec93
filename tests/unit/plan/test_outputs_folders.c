/* What outputs.c does in folders: names of outputs that the program chooses, and whose files these
 * may replace. */

#include "test.h"
#include "outputs_asked.h"

/* What stands in the way of one folder is that film's problem. */
TEST_WITH(the_tree_is_mirrored, enter, leave)
{
    static const char *const dir[] = {"t", "t/a", "t/a/b", "out", "j"};
    for (size_t i = 0; i < sizeof dir / sizeof *dir; i++)
        mkdir(dir[i], 0777);
    touch("t/a/b/x.mkv");
    touch("t/y.mkv");
    static char t[] = "t", *words[] = {t};
    struct inputs in;
    struct err e = ERR_INIT;
    struct plan o = options_for(words, 1);
    o.inputs.recursive = true;
    o.outputs.path = "out";
    o.outputs.dump = "j";
    extra(&o, "json", "j/");
    assert_true(inputs_expand(&o.inputs, &o.outputs, &in, &e));
    expect_allowed(&o, &in);
    assert_int_not_equal(access("out/a", F_OK), 0);
    touch("j/a");
    expect_problem(&o, &in, 1, ERR_FAILED, "cannot write 'j/a/b/x.json': 'j/a' is not a folder");
    inputs_free(&in);
}
