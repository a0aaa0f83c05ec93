/*
 * test_crop_worker.c - one thread's look for bars: the key frames that it looks at, and where it stops.
 */

#include "test.h"
#include "media/probe/crop_worker.h"
#include "clip.h"

TEST(what_tells)
{
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

/* Each key frame is looked at once, and all places are taken. */
TEST(every_place)
{
    if (!clip_encode("-c:v libx264 -preset ultrafast -g 12 -sc_threshold 0 plain.mp4"))
        skip();
    struct source *s = open_film("plain.mp4");
    struct looks looks = {.film = &s->film, .wanted = SOURCE_STREAM_CHOICE, .lock = PTHREAD_MUTEX_INITIALIZER};
    struct looker l = {.looks = &looks, .error = ERR_INIT};
    assert_null(looker_main(&l));
    assert_int_equal(l.error.code, ERR_NONE);
    assert_int_equal(l.way, BY_TIME);
    int looked = 0;
    for (int i = 0; i < LOOKS; i++) {
        assert_true(looks.look[i].claimed);
        looked += looks.look[i].looked;
        for (int k = 0; k < i && looks.look[i].looked; k++)
            assert_true(!looks.look[k].looked || looks.look[k].key != looks.look[i].key);
    }
    assert_in_range(looked, 12, 24);
    /* They tell enough: nothing that follows is looked at. */
    looker_look_on(&l);
    for (int i = LOOKS; i < LOOKS + LOOKS_MORE; i++)
        assert_false(looks.look[i].looked);
    looker_close(&l);
    source_close(&s);
}

/* At what follows a key frame: no further than to where too few can come. */
TEST(on_from_the_first)
{
    if (!clip_encode("-c:v libx264 -preset ultrafast -g 1000 -sc_threshold 0 -bf 0 one.mp4"))
        skip();
    struct source *s = open_film("one.mp4");
    struct looks looks = {.film = &s->film, .wanted = SOURCE_STREAM_CHOICE, .lock = PTHREAD_MUTEX_INITIALIZER};
    struct looker l = {.looks = &looks, .error = ERR_INIT};
    assert_null(looker_main(&l));
    looker_look_on(&l);
    assert_int_equal(l.error.code, ERR_NONE);
    int told = 0;
    for (int i = 0; i < LOOKS + LOOKS_MORE; i++)
        told += looks.look[i].looked && looker_tells(&looks.look[i].seen);
    assert_int_equal(told, LOOKS_ENOUGH - TRIM_QUORUM + 1);
    looker_close(&l);
    source_close(&s);
}

TEST_MAIN(clip_begin, clip_end)
