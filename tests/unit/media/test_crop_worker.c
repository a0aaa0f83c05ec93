/*
 * test_crop_worker.c - one thread of crop detection: the key frames that it samples, and where it
 * stops.
 */

#include "test.h"
#include "media/probe/crop_worker.h"
#include "clip.h"

TEST(conclusive_samples)
{
    assert_false(crop_sample_is_conclusive(&(struct crop_seen){.across = {.low = 9}}));
    assert_true(crop_sample_is_conclusive(&(struct crop_seen){.across = {.known = true}}));
    assert_true(crop_sample_is_conclusive(&(struct crop_seen){.down = {.known = true}}));
}

static struct source *open_film(const char *name)
{
    struct err e = ERR_INIT;
    struct source *s = source_open(name, &e);
    assert_non_null(s);
    return s;
}

/* Each key frame is sampled once, and all places are taken. */
TEST(every_place)
{
    if (!clip_encode("-c:v libx264 -preset ultrafast -g 12 -sc_threshold 0 plain.mp4"))
        skip();
    struct source *s = open_film("plain.mp4");
    struct crop_samples samples = {
        .film = &s->film, .requested = SOURCE_STREAM_CHOICE, .lock = PTHREAD_MUTEX_INITIALIZER};
    struct crop_worker w = {.samples = &samples, .error = ERR_INIT};
    assert_null(crop_worker_main(&w));
    assert_int_equal(w.error.code, ERR_NONE);
    assert_int_equal(w.way, BY_TIME);
    int done = 0;
    for (int i = 0; i < CROP_SAMPLES; i++) {
        assert_true(samples.sample[i].claimed);
        done += samples.sample[i].done;
        for (int k = 0; k < i && samples.sample[i].done; k++)
            assert_true(!samples.sample[k].done || samples.sample[k].key != samples.sample[i].key);
    }
    assert_in_range(done, 12, 24);
    /* They are conclusive: no frame that follows is sampled. */
    crop_worker_sample_more(&w);
    for (int i = CROP_SAMPLES; i < CROP_SAMPLES + CROP_SAMPLES_MORE; i++)
        assert_false(samples.sample[i].done);
    crop_worker_close(&w);
    source_close(&s);
}

/* At what follows a key frame: no further than to where too few can come. */
TEST(on_from_the_first)
{
    if (!clip_encode("-c:v libx264 -preset ultrafast -g 1000 -sc_threshold 0 -bf 0 one.mp4"))
        skip();
    struct source *s = open_film("one.mp4");
    struct crop_samples samples = {
        .film = &s->film, .requested = SOURCE_STREAM_CHOICE, .lock = PTHREAD_MUTEX_INITIALIZER};
    struct crop_worker w = {.samples = &samples, .error = ERR_INIT};
    assert_null(crop_worker_main(&w));
    crop_worker_sample_more(&w);
    assert_int_equal(w.error.code, ERR_NONE);
    int conclusive = 0;
    for (int i = 0; i < CROP_SAMPLES + CROP_SAMPLES_MORE; i++)
        conclusive += samples.sample[i].done && crop_sample_is_conclusive(&samples.sample[i].seen);
    assert_int_equal(conclusive, CROP_SAMPLES_ENOUGH - CROP_QUORUM + 1);
    crop_worker_close(&w);
    source_close(&s);
}

TEST_FIXTURE(clip_begin, clip_end)
