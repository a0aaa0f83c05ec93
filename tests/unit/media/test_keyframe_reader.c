/*
 * test_keyframe_reader.c - --keyframes from a film to staged frames: each is the exact run's frame
 * of its number and time, by an index and read through; damaged ones give way to those before them;
 * what an index may contain; lengths
 */
#include "test.h"
#include "base/hash.h"
#include "clip_packets.h"
#include "film_pass.h"

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

/* Breaks the `number`th key frame of the film in the middle. */
static void break_key(const char *from, const char *to, int number)
{
    struct err e = ERR_INIT;
    struct open_film of;
    struct picture p;
    int64_t at = -1, size = 0;
    film_open(&of, from);
    while (at < 0 && demux_next(&of.reader, &p, &e)) {
        if (p.rap != RAP_NONE && number-- == 0) {
            at = p.packet->pos;
            size = p.packet->size;
        }
        packet_free(&p.packet);
    }
    film_close(&of);
    const size_t bytes = clip_load(from);
    assert_true(at > 0 && (size_t)(at + size) < bytes);
    /* behind the encoder's long word about itself */
    for (int64_t i = at + size * 3 / 4; i < at + size * 7 / 8; i++)
        clip_bytes[i] ^= 0x5a;
    clip_save(to, bytes);
}

/* The key frame at 2 s is damaged: what was wanted there has the one at 1.6 s, which no other
 * column has. */
TEST(a_damaged_one_gives_way)
{
    clip_need(X264 "whole.mkv");
    break_key("whole.mkv", "broken.mkv", 5);
    for (int threads = 1; threads <= 5; threads += 2) {
        struct frames have, right;
        struct source *s = clip_open("broken.mkv"), *whole = clip_open("whole.mkv");
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
    clip_need(X264 "-g 300 -keyint_min 300 one.mkv");
    break_key("one.mkv", "all.mkv", 0);
    struct frames have;
    struct source *s = clip_open("all.mkv");
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
    clip_need(X264 "count.mp4");
    clip_need(X264 "count.ts");
    static const char *const name[] = {"count.mp4", "count.ts"};
    for (int i = 0; i < 2; i++) {
        struct err e = ERR_INIT;
        struct source *s = clip_open(name[i]);
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
    clip_need("-c:v mpeg4 -bf 0 -g 10 -sc_threshold 1000000000 one.avi");
    assert_int_equal(system("cat one.avi one.avi > two.avi"), 0);
    struct err e = ERR_INIT;
    struct source *s = clip_open("two.avi");
    struct probe_request request = {.want = PROBE_KEYS};
    struct probe_facts facts;
    assert_true(source_probe(s, &request, &facts, &e));
    assert_int_equal(facts.keys, 2 * CLIP_FRAMES / GOP);
    assert_int_equal(facts.length.frames, 2 * CLIP_FRAMES);
    source_close(&s);
}

/* A fingerprint of each column's frame. */
struct shown {
    uint64_t hash[CLIP_FRAMES];
};

static bool note_column(void *user, const struct frame_tag *tag, const uint8_t *rgb, struct err *e)
{
    struct shown *s = user;
    (void)e;
    for (uint32_t i = 0; i < tag->repeat && tag->column + i < CLIP_FRAMES; i++)
        s->hash[tag->column + i] = hash_64(rgb, (size_t)CLIP_W * CLIP_H / 4 * 3);
    return true;
}

/* As render does: until it need not start over. */
static struct staged stage_film(const char *name, bool keyframes, int64_t interval_us,
                                struct shown *shown)
{
    struct err e = ERR_INIT;
    struct source *s = source_open(name, &e);
    struct selection rule = {.kind = SELECT_INTERVAL,
                             .interval_us = interval_us,
                             .end_us = INT64_MAX,
                             .keyframes = keyframes};
    assert_ok(s, &e);
    struct staged r = {0};
    enum decode_plan plan = DECODE_PARALLEL;
    int rounds = 0;
    do {
        staged_free(&r);
        r = clip_stage_with(s, plan, 2, &rule, CLIP_W / 2, CLIP_H / 2, note_column, shown);
        plan = r.counts.contradicted ? DECODE_SEQUENTIAL : plan;
        clip_careful |= r.counts.damage_found;
        assert_true(++rounds < 9);
    } while (r.ok && decode_must_restart(&r.counts));
    clip_careful = false;
    columns_finish(r.columns, NULL);
    source_close(&s);
    return r;
}

static enum change flag_45(AVPacket *p, int number)
{
    if (number == 45)
        p->flags |= AV_PKT_FLAG_KEY;
    return COPIED;
}

/* A P picture with a key flag is none that a decoder can begin with: the one before serves. */
TEST(a_flag_that_lies)
{
    clip_need(X264 "true.mkv");
    remux("true.mkv", "lies.mkv", flag_45);
    remux("true.mkv", "lies.mp4", flag_45);
    static const char *const name[] = {"lies.mkv", "lies.mp4"};
    for (int i = 0; i < 2; i++) {
        static struct shown shown;
        struct staged r = stage_film(name[i], true, 950000, &shown);
        assert_true(r.ok && r.counts.bad_keys == 0);
        /* at 1.9 s */
        assert_true(columns_get(r.columns, 2)->frame == 40 &&
                    columns_get(r.columns, 2)->status == COLUMN_OK);
        staged_free(&r);
    }
}

/* The index is in front, and the second half is gone: its columns are not drawn. */
TEST(a_film_cut_short)
{
    clip_need(X264 "-movflags faststart whole.mp4");
    assert_int_equal(system("head -c $(($(stat -c %s whole.mp4) / 2)) whole.mp4 > half.mp4"), 0);
    static struct shown shown;
    struct staged r = stage_film("half.mp4", true, 1000000, &shown);
    uint64_t count = columns_count(r.columns);
    assert_true(r.ok && r.counts.read_failed && count >= 3 && count <= 6);
    assert_in_range(r.counts.bad_keys, 0, 1);
    int64_t last = columns_get(r.columns, count - 1)->time_us;
    assert_in_range(last, ((int64_t)count - 2) * 1000000, (int64_t)count * 1000000);
    for (uint64_t i = 0; i < count; i++)
        assert_true(columns_get(r.columns, i)->status == COLUMN_OK &&
                    columns_get(r.columns, i)->time_us <= last);
    staged_free(&r);
}

/* ------------------------------------------------------------------ fields */

/* MPEG-2 I pictures of half the height become fields, the second one without headers; each pair is
 * one picture, 40 ms. */
static enum change make_field(AVPacket *p, int number)
{
    uint8_t *d = p->data;
    bool second = number % 2;
    assert_true(av_packet_make_writable(p) >= 0);
    d = p->data;
    for (int i = 0; i + 8 < p->size; i++) {
        if (memcmp(d + i, "\0\0\1\xb3", 4) == 0)
            d[i + 6] = CLIP_H; /* vertical_size */
        if (memcmp(d + i, "\0\0\1\xb5", 4) != 0)
            continue;
        if (d[i + 4] >> 4 == 1)
            d[i + 5] &= 0xf7; /* progressive_sequence */
        if (d[i + 4] >> 4 == 8) {
            d[i + 6] = (uint8_t)((d[i + 6] & 0xfc) | (second ? 2 : 1)); /* picture_structure */
            d[i + 7] &= 0x3e; /* top_field_first, frame_pred_frame_dct, chroma_420_type */
            d[i + 8] &= 0x7f; /* progressive_frame */
        }
    }
    const uint8_t *picture = memmem(d, (size_t)p->size, "\0\0\1\0", 4);
    assert_non_null(picture);
    if (second) {
        p->size -= (int)(picture - d);
        p->data += picture - d;
        p->flags &= ~AV_PKT_FLAG_KEY;
    }
    return COPIED;
}

/* Both fields of a key frame are decoded, by an index and read through: it is the picture that one
 * decoder over everything gives. */
TEST(fields_in_packets_of_their_own)
{
    clip_need("-vf scale=96:32 -c:v mpeg2video -g 1 -qscale:v 4 -r 50 half.mkv");
    remux("half.mkv", "fields.mkv", make_field);
    assert_int_equal(
        system("head -c $(($(stat -c %s fields.mkv) * 9 / 10)) fields.mkv > fields-short.mkv"), 0);
    static const char *const name[] = {"fields.mkv", "fields-short.mkv"};
    for (int i = 0; i < 2; i++) {
        static struct shown right, have;
        struct staged exact = stage_film(name[i], false, 200000, &right),
                      keys = stage_film(name[i], true, 200000, &have);
        assert_true(exact.ok && keys.ok && keys.counts.bad_keys <= (uint64_t)i);
        assert_in_range(columns_count(keys.columns), 15, CLIP_FRAMES);
        for (uint64_t c = 0; c + 3 < columns_count(keys.columns); c++) {
            assert_true(columns_get(keys.columns, c)->time_us ==
                        columns_get(exact.columns, c)->time_us);
            assert_true(have.hash[c] == right.hash[c] && have.hash[c] != 0);
        }
        staged_free(&exact);
        staged_free(&keys);
    }
}

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
        struct source *s = clip_open(films[i].name);
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
    clip_need("-c:v mpeg2video -g 10 -q:v 4 plain.mkv");
    struct err e = ERR_INIT;
    struct open_film of;
    struct picture p;
    struct probe_facts facts = {.found = 0};
    film_open(&of, "plain.mkv");
    while (demux_next(&of.reader, &p, &e))
        packet_free(&p.packet);
    assert_true(film_keys_probe(&of.reader, &of.film, PROBE_LENGTH, &facts, &e));
    assert_true(facts.found & PROBE_LENGTH);
    assert_true(facts.length.frames == 0 && facts.length.duration_us == 0);
    facts = (struct probe_facts){.length.frames = 5};
    err_set(&e, ERR_INPUT, "told before");
    assert_false(film_keys_probe(&of.reader, &of.film, PROBE_LENGTH, &facts, &e));
    assert_true(facts.found == 0 && facts.length.frames == 5);
    film_close(&of);
}

TEST_FIXTURE(clip_begin, clip_end)
