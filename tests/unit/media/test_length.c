
#include "test.h"
#include "media/bitstream/coded_picture.h"
#include "media/container/demux.h"
#include "media/container/open.h"
#include "media/ffmpeg/packet.h"
#include "media/reader/reader.h"
#include "clip.h"

TEST(measuring)
{
    if (!clip_encode("-c:v libx264 -preset ultrafast -x264-params keyint=20:bframes=2 whole.mkv") ||
        !clip_ffmpeg("-i whole.mkv -c copy bare.h264") ||
        !clip_ffmpeg("-i whole.mkv -c copy -t 3 short.mp4") ||
        !clip_ffmpeg("-i whole.mkv -c copy whole.mp4") ||
        !clip_ffmpeg("-ss 3 -i whole.mp4 -c copy edited.mp4") ||
        !clip_ffmpeg("-i whole.mkv -c copy whole.ts") ||
        system("cat whole.ts whole.ts > twice.ts") != 0)
        skip();
    static const struct {
        const char *name;
        int64_t frames;
    } films[] = {{"whole.mkv", CLIP_FRAMES},
                 {"bare.h264", CLIP_FRAMES},
                 {"short.mp4", 75},
                 {"edited.mp4", 125},
                 {"twice.ts", 2 * CLIP_FRAMES}};
    for (int i = 0; i < 5; i++) {
        struct err e = ERR_INIT;
        struct source *s = source_open(films[i].name, &e);
        assert_non_null(s);
        for (int again = 0; again < 2; again++) {
            s->film.length.frames = s->film.length.duration_us = -1;
            s->film.length.source = LENGTH_ESTIMATE;
            assert_true(clip_measure(s, &e));
            assert_int_equal(s->film.length.source, LENGTH_PACKETS);
            /* a cut may keep a B picture more */
            assert_in_range(s->film.length.frames, films[i].frames, films[i].frames + 2);
            assert_in_range(s->film.length.duration_us, s->film.length.frames * CLIP_STEP_US,
                            (s->film.length.frames + 2) * CLIP_STEP_US);
        }
        struct selection rule = every(10);
        struct staged r =
            clip_stage_with(s, DECODE_PARALLEL, 1, &rule, CLIP_W / 2, CLIP_H / 2, NULL, NULL);
        assert_true(r.ok);
        assert_int_equal(columns_count(r.columns), (s->film.length.frames + 9) / 10);
        staged_free(&r);
        source_close(&s);
    }
}

/* A film of no packets has no length; an error leaves the facts alone. */
TEST(nothing_to_read)
{
    if (!clip_encode("-c:v mpeg2video -g 10 -q:v 4 plain.mkv"))
        skip();
    struct err e = ERR_INIT;
    AVFormatContext *format = NULL;
    struct film film;
    struct demux r;
    struct picture p;
    struct probe_facts facts = {.found = 0};
    assert_true(container_open("plain.mkv", SOURCE_STREAM_CHOICE, &format, &film, &e) &&
                demux_open(&r, format, film.stream, &e));
    while (demux_next(&r, &p, &e))
        packet_free(&p.packet);
    assert_true(film_keys_probe(&r, &film, PROBE_LENGTH, &facts, &e));
    assert_true(facts.found & PROBE_LENGTH);
    assert_true(facts.length.frames == 0 && facts.length.duration_us == 0);
    facts = (struct probe_facts){.length.frames = 5};
    err_set(&e, ERR_INPUT, "told before");
    assert_false(film_keys_probe(&r, &film, PROBE_LENGTH, &facts, &e));
    assert_true(facts.found == 0 && facts.length.frames == 5);
    demux_close(&r);
    container_close(&format);
    free(film.path);
}

TEST_FIXTURE(clip_begin, clip_end)
