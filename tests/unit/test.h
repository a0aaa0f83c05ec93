/*
 * test.h - cmocka, and tests that register themselves.
 *
 *   TEST(adds_up) { assert_int_equal(1 + 1, 2); }
 *   TEST_MAIN(NULL, NULL)
 *
 * Tests run in the order in which they stand in the file.
 */
#ifndef BARCODE_TESTS_TEST_H
#define BARCODE_TESTS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* cmocka 2 has the old name for unsigned values only, and marks it as deprecated. */
#ifdef assert_uint_in_range
#undef assert_in_range
#define assert_in_range assert_uint_in_range
#endif

/* Unused in a file whose main() has a list of its own. */
enum { TESTS_MOST = 80 };

__attribute__((unused)) static struct CMUnitTest test_list[TESTS_MOST];
__attribute__((unused)) static size_t test_count;

/* Defines the test NAME, whose body follows; `begin` and `end` run before and after the test. */
#define TEST_WITH(name, begin, end) \
    static void name(void **state); \
    __attribute__((constructor)) static void add_##name(void) \
    { \
        if (test_count < TESTS_MOST) \
            test_list[test_count++] = (struct CMUnitTest){#name, name, begin, end, NULL}; \
    } \
    static void name(__attribute__((unused)) void **state)

#define TEST(name) TEST_WITH(name, NULL, NULL)

/* Runs the file's tests; `begin` and `end` run before the first and after the last one, or are
 * NULL. */
#define TEST_MAIN(begin, end) \
    int main(void) \
    { \
        assert_true(test_count > 0 && test_count < TESTS_MOST); \
        return _cmocka_run_group_tests("tests", test_list, test_count, begin, end); \
    }

#endif
