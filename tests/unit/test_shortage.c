#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <libavutil/mem.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "stage/shortage.h"

/* glibc leaves ENOMEM in errno after allocations that went well, too. */
static void errno_tells_nothing(void **state)
{
    (void)state;
    shortage_begin();
    errno = ENOMEM;
    assert_false(shortage_met());
    shortage_note();
    errno = 0;
    assert_true(shortage_met());
    shortage_begin();
    assert_false(shortage_met());
}

/* The sanitizers bring an allocator of their own, which no wrapper stands before: what follows cannot be asked there. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/* More than there can be: a volatile, so that the compiler does not see it coming. */
static volatile size_t absurd = (size_t)1 << 60;

/* The call is libav's own: refusals in other libraries are noted too. */
static void refusals_are_noted(void **state)
{
    (void)state;
    void *p = NULL;
    shortage_begin();
    free(malloc(1000));
    free(calloc(10, 100));
    free(realloc(malloc(10), 100000));
    assert_int_equal(posix_memalign(&p, 64, 1000), 0);
    free(p);
    av_free(av_malloc(1000));
    p = realloc(malloc(10), 0);
    assert_false(shortage_met());
    assert_null(malloc(absurd));
    assert_true(shortage_met());
    shortage_begin();
    assert_null(calloc(absurd, 1));
    assert_true(shortage_met());
    shortage_begin();
    assert_null(realloc(NULL, absurd));
    assert_true(shortage_met());
    shortage_begin();
    assert_int_equal(posix_memalign(&p, 64, absurd), ENOMEM);
    assert_true(shortage_met());
    shortage_begin();
    assert_null(av_malloc(absurd));      /* libav refuses by itself */
    assert_false(shortage_met());
    av_max_alloc(SIZE_MAX);
    assert_null(av_malloc(absurd));
    assert_true(shortage_met());
    av_max_alloc(INT_MAX);
}
#endif

/* What is mapped behind the heap, as CUDA does: the break cannot move, glibc takes pages elsewhere, and errno says ENOMEM. */
static void a_heap_that_cannot_grow(void **state)
{
    (void)state;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *end = sbrk(0);
    end += (page - (uintptr_t)end % page) % page;
    void *wall = mmap(end, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (wall == MAP_FAILED)
        skip();
    void *taken[64];
    shortage_begin();
    for (int i = 0; i < 64; i++)
        assert_non_null(taken[i] = av_malloc(100000));       /* below what glibc maps pages for anyway */
    assert_false(shortage_met());
    for (int i = 0; i < 64; i++)
        av_free(taken[i]);
    munmap(wall, page);
}

static void *short_of_memory(void *met)
{
    shortage_begin();
    shortage_note();
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
        cmocka_unit_test(errno_tells_nothing), cmocka_unit_test(a_heap_that_cannot_grow), cmocka_unit_test(each_thread_for_itself), cmocka_unit_test(the_sentence),
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
        cmocka_unit_test(refusals_are_noted),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
