#include <errno.h>

#include "test.h"
#include "media/container/film_input.h"

static void expect_bytes(struct read_faults *f, uint64_t bytes)
{
    assert_int_equal(read_faults_bytes(f), bytes);
}

/* Bytes that several contexts skip count once. */
TEST(skipped_ranges)
{
    struct read_faults *f = read_faults_new(true, NULL);
    expect_bytes(f, 0);
    read_faults_skip(f, 100, 200);
    read_faults_skip(f, 300, 400);
    read_faults_skip(f, 0, 10);
    expect_bytes(f, 210);
    read_faults_skip(f, 150, 200);
    read_faults_skip(f, 300, 400);
    expect_bytes(f, 210);
    assert_true(read_faults_meet(f, 199, 250) && read_faults_meet(f, 250, 301) &&
                read_faults_meet(f, 0, 1000) && read_faults_meet(f, 5, 6));
    assert_false(read_faults_meet(f, 200, 300) || read_faults_meet(f, 10, 100) ||
                 read_faults_meet(f, 400, 500));
    read_faults_skip(f, 200, 300); /* touches both */
    expect_bytes(f, 310);
    read_faults_skip(f, 5, 1000);
    expect_bytes(f, 1000);
    for (int64_t i = 0; i < 100; i++)
        read_faults_skip(f, 2000 + 10 * i, 2005 + 10 * i);
    expect_bytes(f, 1500);
    read_faults_skip(f, 0, 5000);
    expect_bytes(f, 5000);
    assert_true(read_faults_check(f, "f", NULL));
    read_faults_free(&f);
    assert_null(f);
}

TEST(first_failure)
{
    struct err e = ERR_INIT;
    struct read_faults *f = read_faults_new(false, NULL);
    read_faults_fail(f, "f", 0, 7);
    assert_true(read_faults_check(f, "f", &e));
    assert_int_equal(e.code, ERR_NONE);
    read_faults_fail(f, "a", EIO, 7);
    read_faults_fail(f, NULL, ESTALE, -1);
    err_set(&e, ERR_INPUT, "'f' is not a film");
    assert_false(read_faults_check(f, "f", &e));
    assert_int_equal(e.code, ERR_FAILED);
    assert_string_equal(e.text, "cannot read 'a': Input/output error (at byte 7)");
    err_clear(&e);
    err_set(&e, ERR_INTERRUPTED, "interrupted");
    assert_false(read_faults_check(f, "f", &e));
    assert_int_equal(e.code, ERR_INTERRUPTED);
    read_faults_free(&f);
    f = read_faults_new(false, NULL);
    read_faults_fail(f, NULL, EIO, -1);
    err_clear(&e);
    assert_false(read_faults_check(f, "f", &e));
    assert_string_equal(e.text, "cannot read a file of 'f': Input/output error");
    read_faults_free(&f);
}

/* A film that was opened in spite of skipped bytes is read; otherwise they are why it was not. */
TEST(skipped_bytes_explain)
{
    struct err e = ERR_INIT;
    struct read_faults *f = read_faults_new(true, NULL);
    err_set(&e, ERR_INPUT, "'f' is not a film");
    assert_false(read_faults_explain(f, "f", &e));
    assert_int_equal(e.code, ERR_INPUT);
    read_faults_note(f, "f", EIO, 4096);
    read_faults_skip(f, 4096, 8192);
    assert_false(read_faults_explain(f, "f", &e));
    assert_string_equal(e.text, "cannot read 'f': Input/output error (at byte 4096)");
    read_faults_free(&f);
}

/* What is missing is no failure, unless the film cannot be opened. */
TEST(what_is_missing)
{
    struct err e = ERR_INIT;
    struct av_log_counts logged = {.unopened = "b.ts"};
    struct read_faults *f = read_faults_new(false, NULL);
    assert_string_equal(read_faults_lacking(f), "");
    assert_string_equal(read_faults_lacking(NULL), "");
    read_faults_lack(f, "cannot open its part '%s'", "a.ts");
    read_faults_add_logged(f, &logged);
    assert_string_equal(read_faults_lacking(f), "cannot open its part 'a.ts'");
    assert_true(read_faults_check(f, "f", &e));
    err_set(&e, ERR_INPUT, "'f' is not a film");
    assert_false(read_faults_explain(f, "f", &e));
    assert_string_equal(e.text, "cannot open 'f': cannot open its part 'a.ts'");
    logged.read_error = EIO;
    read_faults_add_logged(f, &logged);
    assert_false(read_faults_check(f, "f", &e));
    read_faults_free(&f);
    f = read_faults_new(true, NULL);
    err_clear(&e);
    read_faults_add_logged(f, &logged);
    assert_true(read_faults_check(f, "f", &e));
    assert_string_equal(read_faults_lacking(f),
                        "cannot read one of its files to its end: Input/output error");
    read_faults_free(&f);
}

TEST(what_may_be_skipped)
{
    struct read_faults *going = read_faults_new(true, NULL), *strict = read_faults_new(false, NULL);
    assert_true(read_faults_may_skip(going, EIO));
    assert_false(read_faults_may_skip(going, ESTALE) || read_faults_may_skip(strict, EIO) ||
                 read_faults_may_skip(NULL, EIO));
    read_faults_free(&going);
    read_faults_free(&strict);
}
