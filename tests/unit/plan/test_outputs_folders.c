/* What outputs.c does in folders: names of outputs that the program chooses, and whose files these
 * may replace. */

#include "test.h"
#include "base/film_id.h"
#include "outputs_asked.h"

/* A picture as barcode makes it of the film at `film`, as far as anybody looks. */
static void put_picture(const char *path, const char *film)
{
    static const uint8_t head[16] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n',
                                     0,    0,   0,   16,  't',  'E',  'X',  't'};
    uint8_t png[256] = {0};
    char id[FILM_ID_TEXT];
    assert_true(film_id_of(film, NULL, id, NULL));
    memcpy(png, head, sizeof head);
    memcpy(png + 16, "Software\0barcode", 16);
    size_t at = 16 + 16 + 4, length = strlen("barcode:film") + 1 + strlen(id);
    png[at + 3] = (uint8_t)length;
    memcpy(png + at + 4, "tEXtbarcode:film", 16);
    memcpy(png + at + 4 + 17, id, strlen(id));
    put(path, png, at + 12 + length);
}

TEST_WITH(other_films_pictures_stay, enter, leave)
{
    mkdir("s1", 0777);
    mkdir("s2", 0777);
    put("s1/e01.mkv", "one", 3);
    put("s2/e01.mkv", "two", 3);
    put_picture("e01.png", "s1/e01.mkv");
    struct inputs in;
    struct plan o = expand(LIST("s1/e01.mkv"), &in);
    expect_allowed(&o, &in);
    inputs_free(&in);
    o = expand(LIST("s2/e01.mkv"), &in);
    expect_problem(
        &o, &in, 0, ERR_FAILED,
        "'e01.png': the file exists and shows another film, or this one before it was modified; "
        "choose another name with -o, or --overwrite");
    o.outputs.path = "e01.png"; /* the user said so */
    expect_allowed(&o, &in);
    inputs_free(&in);
    /* In one run each has a name of its own, and the second run of the same finds them so. */
    o = expand(LIST("s1/e01.mkv", "s2/e01.mkv"), &in);
    expect_allowed(&o, &in);
    put_picture("e01-2.png", "s2/e01.mkv");
    expect_allowed(&o, &in);
    inputs_free(&in);
    o = expand(LIST("s2/e01.mkv", "s1/e01.mkv"), &in);
    struct err e = ERR_INIT;
    assert_true(outputs_check(&o, &in, &e));
    assert_true(in.problem[0].code == ERR_FAILED && in.problem[1].code == ERR_FAILED);
    inputs_free(&in);
    /* The film moved, or copied to another kind of name. */
    assert_int_equal(rename("s1/e01.mkv", "s2/e01.mp4"), 0);
    o = expand(LIST("s2/e01.mp4"), &in);
    expect_allowed(&o, &in);
    inputs_free(&in);
    /* A pipe's films are all alike. */
    assert_int_equal(mkfifo("e01.mkv", 0600), 0);
    o = expand(LIST("e01.mkv"), &in);
    expect_problem(&o, &in, 0, ERR_FAILED, "may show another film");
    inputs_free(&in);
}

TEST_WITH(outputs_in_folders, enter, leave)
{
    mkdir("out", 0777);
    touch("a.mkv");
    touch("b.mkv");
    struct inputs in;
    struct outputs list;
    struct err e = ERR_INIT;
    struct plan o = expand(LIST("a.mkv", "b.mkv"), &in);
    extra(&o, "json", "out");
    o.outputs.path = "./out";
    o.outputs.dump = "out/";
    expect_allowed(&o, &in);
    assert_true(outputs_of(&o, &in, 1, &list, &e));
    assert_int_equal(list.count, 2);
    assert_string_equal(list.output[0].path, "./out/b.png");
    assert_string_equal(list.output[1].path, "out/b.json");
    assert_string_equal(list.output[1].option, "--json");
    assert_string_equal(list.dump.path, "out/b.rgb");
    assert_true(list.output[1].chosen && list.dump.chosen);
    outputs_free(&list);
    /* What is there already is in this film's way alone. */
    touch("out/b.json");
    expect_problem(&o, &in, 1, ERR_FAILED,
                   "'out/b.json': the file exists and was not made by barcode; choose another name "
                   "with --json");
    remove("out/b.json");
    touch("out/a.rgb");
    expect_problem(&o, &in, 0, ERR_FAILED,
                   "'out/a.rgb': the file exists, and a dump does not name its film; "
                   "choose another name with --dump");
    remove("out/a.rgb");
    extra(&o, "json", "gone/");
    expect_allowed(&o, &in);
    extra(&o, "json", "gone/deeper/");
    expect_refusal(&o, &in, ERR_FAILED,
                   "cannot create the folder 'gone/deeper/': the folder 'gone/' does not exist");
    extra(&o, "json", "-");
    expect_refusal(&o, &in, ERR_USAGE, "--json -: one file for 2 films; give a folder (DIR/)");
    assert_int_not_equal(access("gone", F_OK), 0);
    inputs_free(&in);
    /* A name that one option chose and another was given. */
    o = expand(LIST("a.mkv"), &in);
    extra(&o, "json", "out");
    o.outputs.dump = "out/a.json";
    expect_refusal(&o, &in, ERR_USAGE, "'out/a.json' is requested twice: by --json and by --dump");
    o.outputs.dump = NULL;
    o.outputs.path = "./out/a.json";
    expect_refusal(&o, &in, ERR_USAGE, "as the picture and as another output");
    inputs_free(&in);
}

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
    struct outputs list;
    struct err e = ERR_INIT;
    struct plan o = options_for(words, 1);
    o.inputs.recursive = true;
    o.outputs.path = "out";
    o.outputs.dump = "j";
    extra(&o, "json", "j/");
    assert_true(inputs_expand(&o.inputs, &o.outputs, &in, &e));
    expect_allowed(&o, &in);
    assert_true(outputs_of(&o, &in, 1, &list, &e));
    assert_string_equal(list.output[0].path, "out/a/b/x.png");
    assert_string_equal(list.output[0].below, "out/a/b/x.png");
    assert_string_equal(list.output[1].path, "j/a/b/x.json");
    assert_string_equal(list.output[1].below, "j/a/b/x.json");
    assert_string_equal(list.dump.below, "j/a/b/x.rgb");
    assert_int_not_equal(access("out/a", F_OK), 0);
    assert_true(outputs_make_folders(&list.output[0], &e) &&
                outputs_make_folders(&list.output[0], &e));
    assert_int_equal(access("out/a/b", F_OK), 0);
    expect_allowed(&o, &in);
    outputs_free(&list);
    /* What stands in the way of one folder is that film's problem. */
    touch("j/a");
    expect_problem(&o, &in, 1, ERR_FAILED, "cannot write 'j/a/b/x.json': 'j/a' is not a folder");
    remove("j/a");
    /* So is the folder that was named, but none above it. */
    mkdir("up", 0777);
    o.outputs.path = "up/gone/";
    expect_allowed(&o, &in);
    assert_true(outputs_of(&o, &in, 1, &list, &e));
    assert_string_equal(list.output[0].below, "gone/a/b/x.png");
    assert_int_not_equal(access("up/gone", F_OK), 0);
    assert_true(outputs_make_folders(&list.output[0], &e));
    assert_int_equal(access("up/gone/a/b", F_OK), 0);
    outputs_free(&list);
    o.outputs.path = NULL;
    o.outputs.extras = 0;
    expect_allowed(&o, &in);
    assert_true(outputs_of(&o, &in, 1, &list, &e));
    assert_string_equal(list.output[0].below, "a/b/x.png");
    assert_true(list.output[0].below == list.output[0].path &&
                outputs_make_folders(&list.output[0], &e));
    assert_int_equal(access("a/b", F_OK), 0);
    outputs_free(&list);
    inputs_free(&in);
}
