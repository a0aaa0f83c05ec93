/* test_keyframe_index.c - where containers say that key frames lie: what is relied on, and that
 * each is found again. */

#include "test.h"
#include "media/bitstream/packet_scan.h"
#include "media/container/demux.h"
#include "media/container/open.h"
#include "media/ffmpeg/packet.h"
#include "clip.h"

struct bench {
    AVFormatContext *format;
    struct film film;
    struct demux reader;
    struct key_index index;
};

static void bench_open(struct bench *b, const char *name)
{
    struct err e = ERR_INIT;
    *b = (struct bench){.format = NULL};
    if (!container_open(name, SOURCE_STREAM_CHOICE, &b->format, &b->film, &e) ||
        !demux_open(&b->reader, b->format, b->film.stream, &e))
        fail_msg("%s", e.text);
}

static void bench_close(struct bench *b)
{
    key_index_close(&b->index);
    demux_close(&b->reader);
    container_close(&b->format);
    free(b->film.path);
}

/* Every listed key frame is found, backwards too, with its serial and its time. */
static void each_is_found(const char *name, enum key_index_kind kind, size_t keys)
{
    struct bench b;
    struct err e = ERR_INIT;
    bench_open(&b, name);
    assert_int_equal(key_index_kind(b.reader.format, &b.film), kind);
    assert_true(key_index_open(&b.index, kind, &b.reader, &b.film, &e));
    assert_int_equal(b.index.count, keys);
    int64_t last_us = INT64_MAX;
    for (size_t i = keys; i-- > 0;) {
        struct picture p;
        assert_true(key_index_fetch(&b.index, i, &b.reader, &p, &e));
        assert_true(p.packet && p.packet->flags & AV_PKT_FLAG_KEY && p.rap != RAP_NONE);
        assert_true(p.serial == b.index.key[i].serial && p.pts_us >= b.index.key[i].from_us &&
                    p.pts_us < last_us);
        if (kind == KEY_INDEX_SAMPLES)
            assert_true(b.index.key[i].before == b.index.key[i].serial &&
                        b.index.shown == CLIP_FRAMES);
        last_us = p.pts_us;
        packet_free(&p.packet);
    }
    bench_close(&b);
}

#define H264 "-c:v libx264 -preset veryfast -g 10 -keyint_min 10 -sc_threshold 0 -bf 2 "

TEST(key_frames_are_found)
{
    if (!clip_encode(H264 "closed.mp4") || !clip_encode(H264 "-x264-params open-gop=1 open.mp4") ||
        !clip_encode(H264 "closed.mkv"))
        skip();
    each_is_found("closed.mp4", KEY_INDEX_SAMPLES, CLIP_FRAMES / 10);
    each_is_found("open.mp4", KEY_INDEX_SAMPLES, CLIP_FRAMES / 10);
    each_is_found("closed.mkv", KEY_INDEX_CUES, CLIP_FRAMES / 10);
}

/* Streams have no index, fragments may list what was read so far, and a file that is cut short has
 * lost its cues. */
TEST(what_is_not_relied_on)
{
    if (!clip_encode(H264 "film.ts") ||
        !clip_encode(H264 "-movflags dash+frag_keyframe fragments.mp4") ||
        !clip_encode(H264 "whole.mkv"))
        skip();
    assert_int_equal(system("head -c $(($(stat -c %s whole.mkv) * 2 / 3)) whole.mkv > short.mkv"),
                     0);
    static const char *const name[] = {"film.ts", "fragments.mp4", "short.mkv"};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        struct bench b;
        struct err e = ERR_INIT;
        bench_open(&b, name[i]);
        enum key_index_kind kind = key_index_kind(b.reader.format, &b.film);
        assert_true(kind == KEY_INDEX_NONE || kind == KEY_INDEX_CUES);
        assert_true(key_index_open(&b.index, kind, &b.reader, &b.film, &e));
        assert_true(b.index.count == 0 && b.index.kind == KEY_INDEX_NONE);
        bench_close(&b);
    }
}

TEST_FIXTURE(clip_begin, clip_end)
