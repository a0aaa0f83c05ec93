#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "test.h"
#include "base/limits.h"

TEST(once_more_does_nothing)
{
    bool kept = process_limits_keep_heap();
    assert_int_equal(process_limits_keep_heap(), kept);
}

/* The sanitizers' malloc is another one. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/* Together a little less than the least that each arena keeps. */
enum { PICTURES = 3, PICTURE_BYTES = 5 << 20 };

/* As a decoder does that shows a few pictures and is closed. NULL: memory was short. */
static void *decode(void *argument)
{
    void *picture[PICTURES];
    for (int i = 0; i < PICTURES; i++) {
        picture[i] = malloc(PICTURE_BYTES);
        if (!picture[i])
            return NULL;
        memset(picture[i], 1, PICTURE_BYTES);
        *(volatile char *)picture[i] = 2; /* the compiler keeps what nobody reads */
    }
    for (int i = 0; i < PICTURES; i++)
        free(picture[i]);
    return argument;
}

/* Pages that the kernel had to hand out for one decoder on a thread of its own. */
static long pages_of_one(void)
{
    struct rusage before, after;
    pthread_t thread;
    void *ok;
    assert_int_equal(getrusage(RUSAGE_SELF, &before), 0);
    assert_int_equal(pthread_create(&thread, NULL, decode, &ok), 0);
    pthread_join(thread, &ok);
    assert_non_null(ok);
    assert_int_equal(getrusage(RUSAGE_SELF, &after), 0);
    return after.ru_minflt - before.ru_minflt;
}

/* The first decoder's memory is the next one's. */
TEST(freed_memory_is_used_again)
{
    if (!process_limits_keep_heap())
        return; /* a machine of little memory */
    long first = pages_of_one();
    for (int i = 0; i < 3; i++)
        assert_in_range(pages_of_one(), 0, first / 4);
}
#endif
