/*
 * outputs_asked.h - for tests of outputs.c: an output with an option of its own, and what becomes
 * of a run and its films.
 */
#ifndef BARCODE_TESTS_OUTPUTS_ASKED_H
#define BARCODE_TESTS_OUTPUTS_ASKED_H

#include "plan/outputs.h"
#include "named.h"

/* Asks for one output with an option of its own, and for no other. */
static inline void extra(struct plan *o, const char *writer, const char *path)
{
    o->outputs.extra[0] = (struct options_extra){writer_find(writer), path};
    o->outputs.extras = 1;
}

/* Names the outputs of film `i`. The caller calls outputs_free(run). */
static inline const struct outputs *name_outputs(const struct plan *o, const struct inputs *in,
                                                 size_t i, struct output_plan *run)
{
    struct err e = ERR_INIT;
    assert_ok(outputs_plan(o, in, run, &e), &e);
    assert_int_not_equal(run->film[i].count, 0);
    return &run->film[i];
}

static inline bool check_outputs(const struct plan *o, struct inputs *in, struct err *e)
{
    struct output_plan run;
    bool ok = outputs_plan(o, in, &run, e) && outputs_check(&run, in, e);
    outputs_free(&run);
    return ok;
}

/* The whole run is refused. */
static inline void expect_refusal(const struct plan *o, struct inputs *in, enum err_code code,
                                  const char *part)
{
    struct err e = ERR_INIT;
    assert_false(check_outputs(o, in, &e));
    expect_sentence(&e, code, part);
}

/* Only film `i` is. */
static inline void expect_problem(const struct plan *o, struct inputs *in, size_t i,
                                  enum err_code code, const char *part)
{
    struct err e = ERR_INIT;
    assert_ok(check_outputs(o, in, &e), &e);
    expect_sentence(&in->problem[i], code, part);
    err_clear(&in->problem[i]);
    for (size_t k = 0; k < in->count; k++)
        assert_int_equal(in->problem[k].code, ERR_NONE);
}

static inline void expect_allowed(const struct plan *o, struct inputs *in)
{
    struct err e = ERR_INIT;
    assert_ok(check_outputs(o, in, &e), &e);
    for (size_t i = 0; i < in->count; i++)
        assert_string_equal(in->problem[i].text, "");
}

#endif
