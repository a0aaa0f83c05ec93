#include <pthread.h>
#include <string.h>

#include "test.h"
#include "engine/digest.h"

static struct digest *open_digest(void)
{
    struct digest *d = digest_open(NULL);
    assert_non_null(d);
    return d;
}

/* Notes `text` for a column. */
static void put(struct digest *d, uint64_t column, const char *text)
{
    struct err e = ERR_INIT;
    assert_true(digest_put(d, column, text, strlen(text), &e));
}

static void expect(struct digest_result r, uint64_t both, uint64_t different, uint64_t alone)
{
    assert_int_equal(r.both, both);
    assert_int_equal(r.different, different);
    assert_int_equal(r.alone, alone);
}

TEST(comparing)
{
    struct digest *a = open_digest(), *b = open_digest();
    expect(digest_compare(a, b), 0, 0, 0);
    put(a, 0, "red");
    expect(digest_compare(a, b), 0, 0, 1);
    expect(digest_compare(b, a), 0, 0, 1);
    put(b, 0, "red");
    expect(digest_compare(a, b), 1, 0, 0);
    put(a, 5, "green");
    put(b, 5, "greem");
    put(a, 900, "blue");
    put(b, 900, "blu");
    put(b, 70000, "white");
    struct digest_result r = digest_compare(a, b);
    expect(r, 3, 2, 1);
    assert_int_equal(r.first_difference, 5);
    expect(digest_compare(b, a), 3, 2, 1);
    put(b, 5, "green"); /* the last word counts */
    r = digest_compare(a, b);
    expect(r, 3, 1, 1);
    assert_int_equal(r.first_difference, 900);
    digest_drop(a, 900);
    expect(digest_compare(a, b), 2, 0, 2);
    digest_drop(b, 900);
    digest_drop(b, 70000);
    digest_drop(b, 1u << 30); /* was never there */
    expect(digest_compare(a, b), 2, 0, 0);
    digest_free(&a);
    digest_free(&b);
    assert_null(a);
    digest_free(&a);
}

/* Bytes whose hash must not be mistaken for "not there": nothing at all, and zeros. */
TEST(empty_is_something)
{
    struct digest *a = open_digest(), *b = open_digest();
    put(a, 3, "");
    expect(digest_compare(a, b), 0, 0, 1);
    struct err e = ERR_INIT;
    assert_true(digest_put(b, 3, "\0\0\0", 3, &e));
    expect(digest_compare(a, b), 1, 1, 0);
    digest_free(&a);
    digest_free(&b);
}

struct writer {
    struct digest *digest;
    pthread_t thread;
    uint64_t first;
};

static void *write_some(void *argument)
{
    struct writer *w = argument;
    for (uint64_t i = 0; i < 3000; i++) {
        uint64_t column = i * 4 + w->first, bytes[2] = {column, ~column};
        if (!digest_put(w->digest, column, bytes, sizeof bytes, NULL))
            return w;
    }
    return NULL;
}

TEST(many_threads)
{
    struct digest *a = open_digest(), *b = open_digest();
    struct writer w[4];
    for (int i = 0; i < 4; i++) {
        w[i] = (struct writer){.digest = a, .first = (uint64_t)i};
        assert_int_equal(pthread_create(&w[i].thread, NULL, write_some, &w[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        void *failed;
        pthread_join(w[i].thread, &failed);
        assert_null(failed);
    }
    for (int i = 3; i >= 0; i--) {
        w[i] = (struct writer){.digest = b, .first = (uint64_t)i};
        assert_null(write_some(&w[i]));
    }
    expect(digest_compare(a, b), 12000, 0, 0);
    digest_free(&a);
    digest_free(&b);
}
