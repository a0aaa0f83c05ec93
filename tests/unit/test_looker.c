/*
 * test_looker.c - one thread's look for bars: the places that it takes, and where it stops.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stage/looker.h"
#include "clip.h"

static void is_hopeless(void **state)
{
    (void)state;
    for (int more = 0; more < TRIM_QUORUM; more++) {
        assert_true(looker_is_hopeless(TRIM_QUORUM - 1 - more, more));
        assert_false(looker_is_hopeless(TRIM_QUORUM - more, more));
    }
}

static void what_tells(void **state)
{
    (void)state;
    assert_false(looker_tells(&(struct trim_seen){.across = {.low = 9}}));
    assert_true(looker_tells(&(struct trim_seen){.across = {.known = true}}));
    assert_true(looker_tells(&(struct trim_seen){.down = {.known = true}}));
}

static struct source *open_film(const char *name)
{
    struct err e = ERR_INIT;
    struct source *s = source_open(name, &e);
    assert_non_null(s);
    return s;
}

/* The looks of one looker at `film`, which has a key frame each half second, from places [from, to). */
static void look_from_to(struct looks *looks, struct looker *l, int from, int to)
{
    for (int i = 0; i < LOOKS; i++)
        looks->plan.at[i] = (struct film_place){i, AV_NOPTS_VALUE};
    looks->plan.count = looks->plan.sure = LOOKS;
    atomic_store(&looks->next, from);
    looks->until = to;
    assert_null(looker_main(l));
    assert_int_equal(l->error.code, ERR_NONE);
}

/* A looker stays open from one share to the next; it does not touch what lies outside of it, and a key frame is looked at once. */
static void its_share(void **state)
{
    (void)state;
    if (!clip_encode("-c:v libx264 -preset ultrafast -g 12 -sc_threshold 0 plain.mp4"))
        skip();
    struct source *s = open_film("plain.mp4");
    struct looks looks = {.film = &s->film, .wanted = SOURCE_STREAM_CHOICE, .lock = PTHREAD_MUTEX_INITIALIZER};
    struct looker l = {.looks = &looks, .threads = 1, .error = ERR_INIT};
    look_from_to(&looks, &l, 3, 3);
    assert_int_equal(l.index, KEY_INDEX_SAMPLES);
    assert_int_equal(l.way, BY_TIME);
    const AVFormatContext *opened = l.format;
    assert_non_null(opened);
    look_from_to(&looks, &l, 3, 9);
    look_from_to(&looks, &l, 9, 12);
    assert_ptr_equal(l.format, opened);
    int looked = 0;
    for (int i = 0; i < LOOKS; i++) {
        assert_true(i >= 3 && i < 12 ? looks.look[i].claimed : !looks.look[i].claimed && !looks.look[i].looked);
        looked += looks.look[i].looked;
        for (int k = 0; k < i && looks.look[i].looked; k++)
            assert_true(!looks.look[k].looked || looks.look[k].key != looks.look[i].key);
    }
    assert_in_range(looked, 3, 9);
    looker_close(&l);
    source_close(&s);
}

static void count_up(void *user)
{
    atomic_fetch_add((atomic_int *)user, 1);
}

/* The film is let go once, when the last of those that are to open it has, or never where that is not wanted. */
static void lets_go(void **state)
{
    (void)state;
    atomic_int gone = 0;
    struct probe_request request = {.want = PROBE_BARS, .threads = 1, .lets_go = count_up, .user = &gone};
    struct looks looks = {.request = &request};
    looker_is_open(&looks);
    assert_int_equal(gone, 0);
    atomic_store(&looks.to_open, 3);
    for (int i = 0; i < 5; i++) {
        looker_is_open(&looks);
        assert_int_equal(gone, i >= 2);
    }
}

/* At what follows a key frame: no further than to where too few can come. */
static void on_from_the_first(void **state)
{
    (void)state;
    if (!clip_encode("-c:v libx264 -preset ultrafast -g 1000 -sc_threshold 0 -bf 0 one.mp4"))
        skip();
    struct source *s = open_film("one.mp4");
    struct looks looks = {.film = &s->film, .wanted = SOURCE_STREAM_CHOICE, .lock = PTHREAD_MUTEX_INITIALIZER};
    struct looker l = {.looks = &looks, .on = true, .threads = 1, .error = ERR_INIT};
    assert_null(looker_main(&l));
    assert_int_equal(l.error.code, ERR_NONE);
    assert_int_equal(l.tally.told, LOOKS_ENOUGH - TRIM_QUORUM + 1);
    assert_int_equal(l.tally.suggested, 0);
    looker_close(&l);
    source_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(is_hopeless), cmocka_unit_test(what_tells), cmocka_unit_test(its_share), cmocka_unit_test(lets_go), cmocka_unit_test(on_from_the_first)};
    return cmocka_run_group_tests(tests, clip_begin, clip_end);
}
