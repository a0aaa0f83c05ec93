#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "barcode/err.h"

static void the_first_sentence_stays(void **state)
{
    (void)state;
    struct err e = ERR_INIT;
    assert_false(err_set(&e, ERR_INPUT, "cannot open '%s': %d", "a.mkv", 7));
    assert_false(err_set(&e, ERR_FAILED, "something later"));
    assert_int_equal(e.code, ERR_INPUT);
    assert_string_equal(e.text, "cannot open 'a.mkv': 7");
    assert_non_null(strstr(e.file, "test_err.c"));
    assert_true(e.line > 0);
    err_clear(&e);
    assert_int_equal(e.code, ERR_NONE);
    assert_string_equal(e.text, "");
    err_set(&e, ERR_FAILED, "now this");
    assert_string_equal(e.text, "now this");
}

static void nobody_need_listen(void **state)
{
    (void)state;
    assert_false(err_set(NULL, ERR_FAILED, "dropped"));
    assert_false(err_prefix(NULL, "dropped"));
    assert_false(err_memory(NULL, 1));
}

static void a_prefix_goes_in_front(void **state)
{
    (void)state;
    struct err e = ERR_INIT;
    err_set(&e, ERR_INPUT, "no stream");
    assert_false(err_prefix(&e, "film %d", 3));
    assert_string_equal(e.text, "film 3: no stream");
    assert_int_equal(e.code, ERR_INPUT);
    err_prefix(&e, "%s", e.text);       /* its own text as argument */
    assert_string_equal(e.text, "film 3: no stream: film 3: no stream");
}

static void long_text_is_cut_and_terminated(void **state)
{
    (void)state;
    char text[1000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    struct err e = ERR_INIT;
    err_set(&e, ERR_FAILED, "%s", text);
    assert_int_equal(strlen(e.text), sizeof e.text - 1);
    for (size_t length = sizeof e.text - 4; length <= sizeof e.text + 1; length++) {
        err_prefix(&e, "%.*s", (int)length, text);
        assert_int_equal(strlen(e.text), sizeof e.text - 1);
    }
}

static void codes_are_exit_statuses(void **state)
{
    (void)state;
    static const int status[] = {0, 1, 2, 3, 4, 130};
    static const enum err_code code[] = {ERR_NONE, ERR_FAILED, ERR_USAGE, ERR_INPUT, ERR_ENGINE, ERR_INTERRUPTED};
    for (size_t i = 0; i < sizeof status / sizeof *status; i++) {
        struct err e = {.code = code[i]};
        assert_int_equal(err_exit_status(&e), status[i]);
    }
    struct err e = ERR_INIT;
    assert_false(err_memory(&e, 123));
    assert_int_equal(err_exit_status(&e), 1);
    assert_string_equal(e.text, "out of memory: 123 bytes asked for");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_sentence_stays),
        cmocka_unit_test(nobody_need_listen),
        cmocka_unit_test(a_prefix_goes_in_front),
        cmocka_unit_test(long_text_is_cut_and_terminated),
        cmocka_unit_test(codes_are_exit_statuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
