/*
 * A writer that is not in the table, as somebody would add it: all of it stands here. It goes
 * through the list of outputs, the checks and a whole render as it is. Only -o's choice by ending
 * reads the table itself.
 */

#include "test.h"
#include "cli/cli.h"
#include "base/log.h"
#include "plan/outputs.h"
#include "job/job.h"
#include "outputs_asked.h"
#include "synth.h"
#include "set_option.h"

/* ------------------------------------------------------------------ facts.c */

static bool write_facts(const struct report *r, struct strips strips, FILE *f, struct err *e)
{
    (void)e;
    fprintf(f, "columns %d\n", (int)r->count);
    for (size_t i = 0; i < strips.count; i++)
        fprintf(f, "strip %s\n", strips.kind[i]->name);
    fprintf(f, "wall %s\n", r->run.times.wall > 0 ? "known" : "unknown");
    return true;
}

static const char *const ending[] = {"txt", "facts", NULL};

static const struct writer writer_facts = {
    .name = "facts", .title = "text", .ending = ending, .write = write_facts};

/* The same, told last. */
static const struct writer writer_late = {
    .name = "late", .title = "text", .has_times = true, .write = write_facts};

/* ------------------------------------------------------------------ their tests */

static void ask(struct plan *o, const struct writer *w, const char *path)
{
    o->outputs.extra[o->outputs.extras++] = (struct options_extra){w, path};
}

static void expect_file(const char *path, const char *text)
{
    char got[400] = "";
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    got[fread(got, 1, sizeof got - 1, f)] = 0;
    fclose(f);
    assert_string_equal(got, text);
}

TEST_WITH(is_one_of_the_outputs, enter, leave)
{
    struct inputs in;
    struct output_plan run;
    struct err e = ERR_INIT;
    struct plan o = expand(LIST("film.mkv"), &in);
    assert_true(set_in_plan(&o, "mode", "kmeans,average", &e));
    o.outputs.path = "./";
    ask(&o, &writer_facts, "x.facts");
    const struct outputs *list = name_outputs(&o, &in, 0, &run);
    assert_int_equal(list->count, 3);
    assert_ptr_equal(run.kind[2].writer, &writer_facts);
    assert_string_equal(list->output[2].path, "x.facts");
    assert_int_equal(run.kind[2].strips.count, 2);
    outputs_free(&run);
    inputs_free(&in);
    assert_true(writer_has_ending("a.b.FACTS", writer_facts.ending));
    assert_false(writer_has_ending("facts", writer_facts.ending) ||
                 writer_has_ending("a.b", writer_late.ending));
}

TEST_WITH(is_checked, enter, leave)
{
    struct inputs in;
    touch("film.mkv");
    struct plan o = expand(LIST("film.mkv"), &in);
    ask(&o, &writer_facts, "x.facts");
    expect_allowed(&o, &in);
    o.outputs.path = "./x.facts";
    expect_refusal(&o, &in, ERR_USAGE, "as the picture and as another output");
    o.outputs.path = NULL;
    o.outputs.dump = "x.facts";
    expect_refusal(&o, &in, ERR_USAGE, "'x.facts' is requested twice: by --facts and by --dump");
    o.outputs.dump = NULL;
    o.outputs.extra[0].path = "./film.mkv";
    expect_refusal(&o, &in, ERR_USAGE, "is the film itself");
    o.outputs.extra[0].path = "other.mkv";
    expect_refusal(&o, &in, ERR_USAGE, "--facts 'other.mkv' is the name of a film");
    o.outputs.extra[0].path = "gone/x";
    expect_refusal(&o, &in, ERR_FAILED, "the folder 'gone/' does not exist");
    inputs_free(&in);
    o = expand(LIST("a.mkv", "b.mkv"), &in);
    ask(&o, &writer_facts, "x.facts");
    expect_refusal(&o, &in, ERR_USAGE, "--facts x.facts: one file for 2 films");
    inputs_free(&in);
}

TEST_WITH(is_written_with_the_rest, enter, leave)
{
    static char name[] = "barcode", modes[] = "-maverage,squeeze", pictures[] = "-o./",
                film[] = "4x4,30";
    struct options all;
    struct plan *o = &all.plan;
    struct inputs in;
    struct err e = ERR_INIT;
    setenv("BARCODE_CACHE", "-", 1);
    assert_int_equal(cli_parse(4, (char *[]){name, modes, pictures, film, NULL}, NULL, &all, &e),
                     CLI_RUN);
    log_set_level(LOG_ERROR);
    ask(o, &writer_late, "late.txt");
    ask(o, &writer_facts, "facts.txt");
    struct output_plan outputs;
    assert_true(inputs_expand(&o->inputs, &o->outputs, &in, &e) &&
                outputs_plan(o, &in, &outputs, &e) && outputs_check(&outputs, &in, &e));
    struct engines engines;
    engines_init(&engines, ENGINE_CPU, &(struct engine_devices){.count = 0}, 1);
    const struct job_context c = {
        .plan = o, .inputs = &in, .outputs = &outputs, .engines = &engines, .threads = 1};
    struct job_result result;
    assert_ok(job_run(&c, 0, &result, &e), &e);
    outputs_free(&outputs);
    engines_close(&engines);
    inputs_free(&in);
    expect_file("facts.txt", "columns 30\nstrip average\nstrip squeeze\nwall unknown\n");
    expect_file("late.txt", "columns 30\nstrip average\nstrip squeeze\nwall known\n");
    assert_int_equal(access("4x4,30-average.png", R_OK) | access("4x4,30-squeeze.png", R_OK), 0);
}
