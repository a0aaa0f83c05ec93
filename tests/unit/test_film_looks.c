/*
 * test_film_looks.c - which key frames of an index are looked at for bars, in what order, and which only where it is needed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stage/film_looks.h"

enum { SECOND = 1000000 };

static const struct film film = {.duration_us = 48 * SECOND};       /* places at 1, 3, 5, ... s */

static struct film_looks plan_of(const int *at, const size_t *size, size_t count, int64_t start_us)
{
    struct key_entry key[64];
    for (size_t i = 0; i < count; i++)
        key[i] = (struct key_entry){.seek = at[i] + 1000, .from_us = at[i] * (int64_t)SECOND + start_us, .size = size ? size[i] : 0};
    const struct key_index index = {.kind = KEY_INDEX_SAMPLES, .key = key, .count = count};
    struct film_looks looks;
    film_looks_plan(&looks, &index, &film, start_us);
    return looks;
}

static void assert_plan(const struct film_looks *looks, const int *place, int count, int sure)
{
    assert_int_equal(looks->count, count);
    assert_int_equal(looks->sure, sure);
    for (int i = 0; i < count; i++)
        assert_int_equal(looks->at[i].place, place[i]);
}

static void without_an_index(void **state)
{
    (void)state;
    struct film_looks looks = plan_of(NULL, NULL, 0, 0);
    assert_int_equal(looks.count, LOOKS);
    assert_int_equal(looks.sure, LOOKS);
    for (int i = 0; i < LOOKS; i++) {
        assert_int_equal(looks.at[i].place, i);
        assert_true(looks.at[i].seek == AV_NOPTS_VALUE);
        assert_int_equal(film_looks_time(&film, 7, i), (2 * i + 1) * SECOND + 7);
    }
}

/* Of five, the two largest are left for later; the first place that comes to a key frame stands for it, wherever the film begins. */
static void the_small_ones_first(void **state)
{
    (void)state;
    const int at[] = {0, 10, 12, 20, 30};
    const size_t size[] = {1, 500, 400, 100, 600};
    for (int64_t start = -SECOND; start <= 5 * SECOND; start += 3 * SECOND) {
        struct film_looks looks = plan_of(at, size, 5, start);
        assert_plan(&looks, (const int[]){0, 10, 6, 5, 15}, 5, 3);
        assert_int_equal(looks.at[1].seek, 1020);
        assert_int_equal(looks.at[4].seek, 1030);
    }
}

/* Key frames that no place comes to do not count, nor do those behind the end; without sizes the order is the film's. */
static void what_places_come_to(void **state)
{
    (void)state;
    struct film_looks looks = plan_of((const int[]){0, 2, 4, 6, 6, 6, 47, 60}, NULL, 8, 0);
    assert_plan(&looks, (const int[]){0, 1, 2, 3, 23}, 5, 3);
    looks = plan_of((const int[]){30}, NULL, 1, 0);
    assert_plan(&looks, (const int[]){0}, 1, 1);
}

/* Of fewer than LOOKS_FEW all are looked at, for what follows them may be as well. */
static void few(void **state)
{
    (void)state;
    const int at[] = {0, 10, 20, 30};
    for (size_t count = 1; count <= 4; count++) {
        struct film_looks looks = plan_of(at, NULL, count, 0);
        assert_int_equal(looks.count, count);
        assert_int_equal(looks.sure, count < LOOKS_FEW ? count : count - (TRIM_QUORUM - 1));
    }
}

static void many(void **state)
{
    (void)state;
    int at[48];
    for (int i = 0; i < 48; i++)
        at[i] = i;
    struct film_looks looks = plan_of(at, NULL, 48, 0);
    assert_int_equal(looks.count, LOOKS);
    assert_int_equal(looks.sure, LOOKS - (TRIM_QUORUM - 1));
}

/* Times that headers made up. */
static void absurd_times(void **state)
{
    (void)state;
    const struct film endless = {.duration_us = INT64_MAX};
    assert_true(film_looks_time(&endless, INT64_MAX - 5, LOOKS - 1) == INT64_MAX);
    assert_true(film_looks_time(&endless, INT64_MIN, 0) < 0);
    struct key_entry key = {.from_us = INT64_MIN};
    const struct key_index index = {.kind = KEY_INDEX_SAMPLES, .key = &key, .count = 1};
    const struct film timeless = {.duration_us = 0};
    struct film_looks looks;
    film_looks_plan(&looks, &index, &timeless, 0);
    assert_int_equal(looks.count, LOOKS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_an_index), cmocka_unit_test(the_small_ones_first), cmocka_unit_test(what_places_come_to),
        cmocka_unit_test(few),              cmocka_unit_test(many),              cmocka_unit_test(absurd_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
