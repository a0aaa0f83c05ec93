#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <pthread.h>

#include "stage/shortage.h"

static void errno_tells(void **state)
{
    (void)state;
    errno = ENOMEM;
    shortage_begin();
    assert_false(shortage_met());
    errno = ENOENT;
    assert_false(shortage_met());
    errno = ENOMEM;
    assert_true(shortage_met());
    shortage_begin();
    assert_false(shortage_met());
}

/* A call after the one that failed may leave another errno. */
static void a_look_in_between_is_kept(void **state)
{
    (void)state;
    shortage_begin();
    shortage_look();
    assert_false(shortage_met());
    errno = ENOMEM;
    shortage_look();
    errno = ENOENT;
    shortage_look();
    assert_true(shortage_met());
    shortage_begin();
    assert_false(shortage_met());
}

static void *short_of_memory(void *met)
{
    shortage_begin();
    errno = ENOMEM;
    shortage_look();
    *(bool *)met = shortage_met();
    return NULL;
}

static void each_thread_for_itself(void **state)
{
    (void)state;
    pthread_t thread;
    bool there = false;
    shortage_begin();
    assert_int_equal(pthread_create(&thread, NULL, short_of_memory, &there), 0);
    pthread_join(thread, NULL);
    assert_true(there);
    errno = 0;
    assert_false(shortage_met());
}

static void the_sentence(void **state)
{
    (void)state;
    struct err e = ERR_INIT;
    assert_false(shortage_error("a.mkv", "opened", &e));
    assert_int_equal(e.code, ERR_FAILED);
    assert_string_equal(e.text, "out of memory while 'a.mkv' was being opened");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errno_tells), cmocka_unit_test(a_look_in_between_is_kept), cmocka_unit_test(each_thread_for_itself),
        cmocka_unit_test(the_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
