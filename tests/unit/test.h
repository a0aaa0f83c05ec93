/*
 * test.h - cmocka, and tests that register themselves.
 *
 *   TEST(adds_up) { assert_int_equal(1 + 1, 2); }
 *   TEST_FIXTURE(begin, end)
 *
 * The tests of a file are a group. They run in the order in which they stand in the file, in a
 * process of their own (runner.c).
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

/* Fails with the sentence of an error, unless `ok`. */
#define assert_ok(ok, e) \
    do { \
        if (!(ok)) \
            fail_msg("%s", (e)->text); \
    } while (0)

enum { TESTS_MOST = 80 };

struct test_group {
    const char *file;
    CMFixtureFunction begin, end; /* NULL: none */
    int rounds;                   /* how many times all tests run; 0 is 1 */
    struct CMUnitTest test[TESTS_MOST];
    size_t count;
    struct test_group *next;
};

/* Appends a test to the group, and a group without tests to those of the program. */
void test_add(struct test_group *group, struct CMUnitTest test);

/* The round that runs, from 0. */
extern int test_round;

__attribute__((unused)) static struct test_group test_group = {.file = __BASE_FILE__};

/* Defines the test NAME, whose body follows; `begin` and `end` run before and after the test. */
#define TEST_WITH(name, begin, end) \
    static void name(void **state); \
    __attribute__((constructor)) static void add_##name(void) \
    { \
        test_add(&test_group, (struct CMUnitTest){#name, name, begin, end, NULL}); \
    } \
    static void name(__attribute__((unused)) void **state)

#define TEST(name) TEST_WITH(name, NULL, NULL)

/* Defines the function NAME of a fixture, whose body follows. It returns 0 if all is well. */
#define FIXTURE(name) static int name(__attribute__((unused)) void **state)

/* `begin` and `end`, or NULL, run before the first test of the file and after its last one. */
#define TEST_FIXTURE(begin, end) TEST_FIXTURE_ROUNDS(begin, end, 1)

/* The same for a file whose tests run several times: see test_round. */
#define TEST_FIXTURE_ROUNDS(first, last, times) \
    __attribute__((constructor)) static void add_fixture(void) \
    { \
        test_group.begin = first; \
        test_group.end = last; \
        test_group.rounds = times; \
    }

#endif
