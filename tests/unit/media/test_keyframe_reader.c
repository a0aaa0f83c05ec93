/*
 * test_keyframe_reader.c - --keyframes from a film to staged frames: each is the exact run's frame
 * of its number and time, by an index and read through, with any number of sessions; damaged ones
 * give way to those before them.
 */

#include "test.h"
#include "base/hash.h"
#include "media/bitstream/coded_picture.h"
#include "media/bitstream/packet_scan.h"
#include "media/container/demux.h"
#include "media/container/open.h"
#include "media/ffmpeg/packet.h"
#include "clip.h"

enum { GOP = 10 };

#define X264 "-c:v libx264 -preset veryfast -g 10 -keyint_min 10 -sc_threshold 0 -bf 2 "

/* A fingerprint of each frame of the film, by its number. */
struct frames {
    uint64_t hash[CLIP_FRAMES + 1];
};

static bool note_frame(void *user, const struct frame_tag *tag, const uint8_t *rgb, struct err *e)
{
    struct frames *f = user;
    if (tag->frame >= CLIP_FRAMES)
        return err_set(e, ERR_FAILED, "frame %llu", (unsigned long long)tag->frame);
    f->hash[tag->frame] = hash_64(rgb, (size_t)CLIP_W * CLIP_H / 4 * 3);
    return true;
}

static struct staged stage(struct source *s, int threads, const struct selection *rule,
                           struct frames *f)
{
    *f = (struct frames){{0}};
    return clip_stage_with(s, DECODE_PARALLEL, threads, rule, CLIP_W / 2, CLIP_H / 2, note_frame,
                           f);
}

static struct selection key_rule(int64_t interval_us)
{
    return (struct selection){.kind = SELECT_INTERVAL,
                              .interval_us = interval_us,
                              .end_us = INT64_MAX,
                              .keyframes = true};
}

static struct source *open_film(const char *name)
{
    struct err e = ERR_INIT;
    struct source *s = source_open(name, &e);
    if (!s)
        fail_msg("%s", e.text);
    return s;
}

/* `by_index`: only what serves is read. `gop`: pictures from one key frame to the next, 0: the
 * encoder decided. */
static void one_film(const char *name, bool by_index, uint64_t gop)
{
    struct frames right, have;
    struct source *s = open_film(name);
    struct selection all = every(1);
    struct staged exact = stage(s, 2, &all, &right);
    assert_true(exact.ok && exact.counts.displayed == CLIP_FRAMES);
    for (int threads = 1; threads <= 5; threads += 2) {
        struct selection rule = key_rule(1000000);
        struct staged keys = stage(s, threads, &rule, &have);
        assert_true(keys.ok && !decode_must_restart(&keys.counts));
        assert_int_equal(columns_finish(keys.columns, NULL), 0);
        assert_int_equal(columns_count(keys.columns), CLIP_FRAMES / 25);
        assert_true(keys.counts.bad_keys == 0 && keys.counts.bytes_read > 0 &&
                    (!gop || keys.counts.keys == CLIP_FRAMES / gop));
        assert_true(by_index ? keys.counts.packets < CLIP_FRAMES / 2
                             : keys.counts.packets == CLIP_FRAMES);
        assert_true(keys.counts.sent == keys.counts.chunks);
        for (uint64_t j = 0; j < CLIP_FRAMES / 25; j++) {
            const struct column *c = columns_get(keys.columns, j);
            assert_true(c->status == COLUMN_OK && c->frame <= j * 25 &&
                        c->time_us == (int64_t)c->frame * CLIP_STEP_US);
            assert_true(!gop || c->frame == j * 25 / gop * gop);
            assert_true(have.hash[c->frame] == right.hash[c->frame] && right.hash[c->frame] != 0);
        }
        staged_free(&keys);
    }
    staged_free(&exact);
    source_close(&s);
}

TEST(key_frames_are_the_exact_ones)
{
    if (!clip_encode(X264 "closed.mp4") || !clip_encode(X264 "-x264-params open-gop=1 open.mp4") ||
        !clip_encode(X264 "film.mkv") || !clip_encode(X264 "-x264-params open-gop=1 film.ts") ||
        !clip_encode("-c:v mpeg4 -g 10 -bf 2 -sc_threshold 1000000000 asp.mp4") ||
        !clip_encode("-c:v mpeg4 -g 10 -bf 2 -sc_threshold 1000000000 asp.ts") ||
        !clip_encode(
            "-c:v libvpx-vp9 -g 10 -keyint_min 10 -deadline realtime -cpu-used 8 vp9.webm"))
        skip();
    one_film("closed.mp4", true, GOP);
    one_film("open.mp4", true, GOP);
    one_film("film.mkv", true, GOP);
    one_film("film.ts", false, GOP);
    one_film("asp.mp4", true, 0);
    one_film("asp.ts", false, 0);
    one_film("vp9.webm", true, GOP);
}

/* Breaks the `number`th key frame of the film in the middle. */
static void break_key(const char *from, const char *to, int number)
{
    struct err e = ERR_INIT;
    AVFormatContext *format = NULL;
    struct film film;
    struct demux r;
    struct picture p;
    static uint8_t file[1 << 22];
    int64_t at = -1, size = 0;
    assert_true(container_open(from, SOURCE_STREAM_CHOICE, &format, &film, &e) &&
                demux_open(&r, format, film.stream, &e));
    while (at < 0 && demux_next(&r, &p, &e)) {
        if (p.rap != RAP_NONE && number-- == 0) {
            at = p.packet->pos;
            size = p.packet->size;
        }
        packet_free(&p.packet);
    }
    demux_close(&r);
    container_close(&format);
    free(film.path);
    FILE *f = fopen(from, "rb");
    size_t bytes = fread(file, 1, sizeof file, f);
    fclose(f);
    assert_true(at > 0 && bytes < sizeof file && (size_t)(at + size) < bytes);
    /* behind the encoder's long word about itself */
    for (int64_t i = at + size * 3 / 4; i < at + size * 7 / 8; i++)
        file[i] ^= 0x5a;
    f = fopen(to, "wb");
    assert_true(fwrite(file, 1, bytes, f) == bytes && fclose(f) == 0);
}

/* The key frame at 2 s is damaged: what was wanted there has the one at 1.6 s, which no other
 * column has. */
TEST(a_damaged_one_gives_way)
{
    if (!clip_encode(X264 "whole.mkv"))
        skip();
    break_key("whole.mkv", "broken.mkv", 5);
    for (int threads = 1; threads <= 5; threads += 2) {
        struct frames have, right;
        struct source *s = open_film("broken.mkv"), *whole = open_film("whole.mkv");
        struct selection rule = key_rule(1000000), all = every(1);
        struct staged exact = stage(whole, 2, &all, &right), keys = stage(s, threads, &rule, &have);
        assert_true(keys.ok && keys.counts.keys_again && decode_must_restart(&keys.counts));
        staged_free(&keys);
        keys = stage(s, threads, &rule, &have);
        assert_true(keys.ok && !decode_must_restart(&keys.counts));
        assert_int_equal(keys.counts.bad_keys, 1);
        assert_int_equal(keys.counts.damaged + keys.counts.lost, 0);
        assert_int_equal(columns_get(keys.columns, 2)->frame, 40);
        assert_true(have.hash[40] == right.hash[40] && have.hash[50] == 0);
        staged_free(&keys);
        staged_free(&exact);
        source_close(&whole);
        source_close(&s);
    }
}

/* Where all are damaged, what there is is shown, and damage is told as ever. */
TEST(nothing_but_damage)
{
    if (!clip_encode(X264 "-g 300 -keyint_min 300 one.mkv"))
        skip();
    break_key("one.mkv", "all.mkv", 0);
    struct frames have;
    struct source *s = open_film("all.mkv");
    struct selection rule = key_rule(1000000);
    struct staged r = {0};
    int rounds = 0;
    do {
        staged_free(&r);
        r = stage(s, 2, &rule, &have);
        if (!r.ok || ++rounds == 10)
            fail_msg("round %d: %s", rounds, r.error.text);
    } while (decode_must_restart(&r.counts) || columns_count(r.columns) == 0);
    assert_true(r.counts.damaged == 1 && columns_get(r.columns, 0)->status == COLUMN_DAMAGED);
    staged_free(&r);
    source_close(&s);
}

TEST(key_frames_are_counted)
{
    if (!clip_encode(X264 "count.mp4") || !clip_encode(X264 "count.ts"))
        skip();
    static const char *const name[] = {"count.mp4", "count.ts"};
    for (int i = 0; i < 2; i++) {
        struct err e = ERR_INIT;
        struct source *s = open_film(name[i]);
        struct probe_request request = {.want = PROBE_KEYS | PROBE_LENGTH};
        struct probe_facts facts;
        assert_true(source_probe(s, &request, &facts, &e));
        assert_int_equal(facts.found, PROBE_KEYS | PROBE_LENGTH);
        assert_true(facts.keys == CLIP_FRAMES / GOP && facts.length.frames == CLIP_FRAMES &&
                    facts.length.duration_us == CLIP_FRAMES * CLIP_STEP_US);
        source_close(&s);
    }
}

/* An AVI that goes on after its index is read from its start, after its tail was looked at. */
TEST(a_film_behind_another_is_counted)
{
    if (!clip_encode("-c:v mpeg4 -bf 0 -g 10 -sc_threshold 1000000000 one.avi"))
        skip();
    assert_int_equal(system("cat one.avi one.avi > two.avi"), 0);
    struct err e = ERR_INIT;
    struct source *s = open_film("two.avi");
    struct probe_request request = {.want = PROBE_KEYS};
    struct probe_facts facts;
    assert_true(source_probe(s, &request, &facts, &e));
    assert_int_equal(facts.keys, 2 * CLIP_FRAMES / GOP);
    assert_int_equal(facts.length.frames, 2 * CLIP_FRAMES);
    source_close(&s);
}

TEST_FIXTURE(clip_begin, clip_end)
