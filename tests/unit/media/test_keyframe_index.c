/* test_keyframe_index.c - where containers say that key frames lie: what is relied on, and that
 * each is found again. */

#include "test.h"
#include "film_pass.h"

/* Every listed key frame is found, backwards too, with its serial and its time. */
static void each_is_found(const char *name, enum key_index_kind kind, size_t keys)
{
    struct open_film f;
    struct key_index index;
    struct err e = ERR_INIT;
    film_open(&f, name);
    assert_int_equal(key_index_kind(f.format, &f.film), kind);
    assert_true(key_index_open(&index, kind, &f.reader, &f.film, &e));
    assert_int_equal(index.count, keys);
    int64_t last_us = INT64_MAX;
    for (size_t i = keys; i-- > 0;) {
        struct picture p;
        assert_true(key_index_fetch(&index, i, &f.reader, &p, &e));
        assert_true(p.packet && p.packet->flags & AV_PKT_FLAG_KEY && p.rap != RAP_NONE);
        assert_true(p.serial == index.key[i].serial && p.pts_us >= index.key[i].from_us &&
                    p.pts_us < last_us);
        if (kind == KEY_INDEX_SAMPLES)
            assert_true(index.key[i].before == index.key[i].serial && index.shown == CLIP_FRAMES);
        last_us = p.pts_us;
        packet_free(&p.packet);
    }
    key_index_close(&index);
    film_close(&f);
}

#define H264 "-c:v libx264 -preset veryfast -g 10 -keyint_min 10 -sc_threshold 0 -bf 2 "

TEST(key_frames_are_found)
{
    clip_need(H264 "closed.mp4");
    clip_need(H264 "-x264-params open-gop=1 open.mp4");
    clip_need(H264 "closed.mkv");
    each_is_found("closed.mp4", KEY_INDEX_SAMPLES, CLIP_FRAMES / 10);
    each_is_found("open.mp4", KEY_INDEX_SAMPLES, CLIP_FRAMES / 10);
    each_is_found("closed.mkv", KEY_INDEX_CUES, CLIP_FRAMES / 10);
}

/* Streams have no index, fragments may list what was read so far, and a file that is cut short has
 * lost its cues. */
TEST(what_is_not_relied_on)
{
    clip_need(H264 "film.ts");
    clip_need(H264 "-movflags dash+frag_keyframe fragments.mp4");
    clip_need(H264 "whole.mkv");
    assert_int_equal(system("head -c $(($(stat -c %s whole.mkv) * 2 / 3)) whole.mkv > short.mkv"),
                     0);
    static const char *const name[] = {"film.ts", "fragments.mp4", "short.mkv"};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        struct open_film f;
        struct key_index index;
        struct err e = ERR_INIT;
        film_open(&f, name[i]);
        enum key_index_kind kind = key_index_kind(f.format, &f.film);
        assert_true(kind == KEY_INDEX_NONE || kind == KEY_INDEX_CUES);
        assert_true(key_index_open(&index, kind, &f.reader, &f.film, &e));
        assert_true(index.count == 0 && index.kind == KEY_INDEX_NONE);
        film_close(&f);
    }
}

TEST_FIXTURE(clip_begin, clip_end)
