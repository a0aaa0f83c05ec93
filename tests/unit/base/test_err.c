#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "barcode/base/err.h"

TEST(the_first_sentence_stays)
{
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

TEST(nobody_need_listen)
{
    assert_false(err_set(NULL, ERR_FAILED, "dropped"));
    assert_false(err_prefix(NULL, "dropped"));
    assert_false(err_memory(NULL, 1));
}

TEST(a_prefix_goes_in_front)
{
    struct err e = ERR_INIT;
    err_set(&e, ERR_INPUT, "no stream");
    assert_false(err_prefix(&e, "film %d", 3));
    assert_string_equal(e.text, "film 3: no stream");
    assert_int_equal(e.code, ERR_INPUT);
    err_prefix(&e, "%s", e.text); /* its own text as argument */
    assert_string_equal(e.text, "film 3: no stream: film 3: no stream");
}

TEST(long_text_is_cut_and_terminated)
{
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

TEST(codes_are_exit_statuses)
{
    static const int status[] = {0, 1, 2, 3, 4, 130};
    static const enum err_code code[] = {ERR_NONE,  ERR_FAILED, ERR_USAGE,
                                         ERR_INPUT, ERR_ENGINE, ERR_INTERRUPTED};
    for (size_t i = 0; i < sizeof status / sizeof *status; i++) {
        struct err e = {.code = code[i]};
        assert_int_equal(err_exit_status(&e), status[i]);
    }
    struct err e = ERR_INIT;
    assert_false(err_memory(&e, 123));
    assert_int_equal(err_exit_status(&e), 1);
    assert_int_equal(e.code, ERR_MEMORY);
    assert_string_equal(e.text, "out of memory: 123 bytes requested");
    uint64_t before = err_memory_count();
    err_set(&e, ERR_FAILED, "another");
    assert_true(err_memory_count() == before);
    err_set(&e, ERR_MEMORY, "a second time"); /* counts, though the first error stays */
    assert_true(err_memory_count() == before + 1);
    err_clear(&e);
    err_memory(&e, 1);
    assert_true(err_memory_count() == before + 2);
    err_forgive(&e);
    assert_true(err_memory_count() == before + 1);
    assert_int_equal(e.code, ERR_NONE);
    err_forgive(&e);
    assert_true(err_memory_count() == before + 1);
}

TEST(memory_or_an_error)
{
    struct err e = ERR_INIT;
    size_t room = 0;
    uint16_t *array = NULL;
    for (uint16_t i = 0; i < 1000; i++) {
        assert_true(err_reserve(&array, i + 1U, &room, sizeof *array, &e));
        assert_true(room > i);
        array[i] = i;
    }
    assert_true(room < 2000);
    for (uint16_t i = 0; i < 1000; i++)
        assert_int_equal(array[i], i);
    uint16_t *old = array;
    assert_true(err_reserve(&array, 10, &room, sizeof *array, &e));
    assert_ptr_equal(array, old);
    assert_false(err_reserve(&array, SIZE_MAX / 4, &room, sizeof *array, &e));
    assert_int_equal(e.code, ERR_MEMORY);
    assert_ptr_equal(array, old);
    err_clear(&e);
    assert_false(err_reserve(&array, SIZE_MAX / 2 + 2, &room, sizeof *array, &e)); /* 2 bytes */
    assert_int_equal(e.code, ERR_MEMORY);
    assert_ptr_equal(array, old);
    free(array);
    err_clear(&e);
    assert_null(err_calloc(SIZE_MAX / 4, 2, &e));
    assert_int_equal(e.code, ERR_MEMORY);
    char *zero = err_calloc(2, 1, NULL);
    assert_true(zero && zero[0] == 0 && zero[1] == 0);
    free(zero);
}

/* Another process sends any number: only those of the header are taken. */
TEST(only_codes_of_the_header_are_codes)
{
    static const uint32_t codes[] = {0, 1, 2, 3, 4, 130, 256};
    size_t known = 0;
    for (uint32_t code = 0; code < 70000; code++)
        known += err_is_code(code);
    assert_int_equal(known, sizeof codes / sizeof *codes);
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        assert_true(err_is_code(codes[i]));
    assert_false(err_is_code(UINT32_MAX));
}
