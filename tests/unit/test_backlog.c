#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "barcode/backlog.h"

static struct err e = ERR_INIT;

/* What is left of the others does not hang on how far the film itself is. */
static void what_others_have(void **state)
{
    (void)state;
    struct backlog *all = backlog_open(1000, 3, &e);
    struct backlog_film *first = backlog_begin(all, 0, 300), *second = backlog_begin(all, 2, 200);
    assert_int_equal(backlog_others(first), 700);
    assert_int_equal(backlog_others(second), 800);
    backlog_did(first, 100);
    assert_int_equal(backlog_others(first), 700);
    assert_int_equal(backlog_others(second), 700);
    backlog_did(first, 250);                        /* more than it has */
    assert_int_equal(backlog_others(first), 700);
    assert_int_equal(backlog_others(second), 500);
    backlog_end(second);
    backlog_end(second);
    backlog_did(second, 5);
    assert_int_equal(backlog_others(first), 500);
    second = backlog_begin(all, 2, 500);            /* the next one there */
    backlog_end(first);
    assert_int_equal(backlog_others(second), 0);
    backlog_end(second);
    assert_int_equal(backlog_others(first), 0);
    backlog_free(&all);
    assert_null(all);
}

static void of_no_run(void **state)
{
    (void)state;
    struct backlog *none = NULL;
    assert_null(backlog_begin(NULL, 0, 5));
    backlog_did(NULL, 5);
    backlog_end(NULL);
    assert_int_equal(backlog_others(NULL), 0);
    backlog_free(&none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_others_have),
        cmocka_unit_test(of_no_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
