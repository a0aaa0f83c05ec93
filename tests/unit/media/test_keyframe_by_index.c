/*
 * test_keyframe_by_index.c - what containers with an index may hold: key flags that lie, key frames
 * that are cut off, pictures whose two fields have a packet each. (Sound films are
 * test_keyframe_reader's.)
 */
#include <libavformat/avformat.h>

#include "test.h"
#include "base/hash.h"
#include "clip.h"

#define X264 "-c:v libx264 -preset veryfast -g 10 -keyint_min 10 -sc_threshold 0 -bf 2 "

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
static struct staged stage(const char *name, bool keyframes, int64_t interval_us,
                           struct shown *shown)
{
    struct err e = ERR_INIT;
    struct source *s = source_open(name, &e);
    struct selection rule = {.kind = SELECT_INTERVAL,
                             .interval_us = interval_us,
                             .end_us = INT64_MAX,
                             .keyframes = keyframes};
    if (!s)
        fail_msg("%s", e.text);
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

/* Copies packets one by one; `change` may do as it likes with each, false leaves it out. */
static void remux(const char *from, const char *to, bool (*change)(AVPacket *p, int number))
{
    AVFormatContext *in = NULL, *out = NULL;
    AVPacket *p = av_packet_alloc();
    assert_true(avformat_open_input(&in, from, NULL, NULL) == 0 &&
                avformat_find_stream_info(in, NULL) >= 0);
    assert_true(avformat_alloc_output_context2(&out, NULL, NULL, to) >= 0);
    AVStream *s = avformat_new_stream(out, NULL);
    assert_true(s && avcodec_parameters_copy(s->codecpar, in->streams[0]->codecpar) >= 0);
    s->codecpar->codec_tag = 0;
    s->time_base = in->streams[0]->time_base;
    assert_true(avio_open(&out->pb, to, AVIO_FLAG_WRITE) >= 0 &&
                avformat_write_header(out, NULL) >= 0);
    for (int number = 0; av_read_frame(in, p) >= 0; av_packet_unref(p))
        if (change(p, number++)) {
            av_packet_rescale_ts(p, in->streams[0]->time_base, s->time_base);
            p->stream_index = 0;
            assert_true(av_write_frame(out, p) >= 0);
        }
    assert_true(av_write_trailer(out) >= 0);
    avio_closep(&out->pb);
    avformat_free_context(out);
    avformat_close_input(&in);
    av_packet_free(&p);
}

static bool flag_45(AVPacket *p, int number)
{
    if (number == 45)
        p->flags |= AV_PKT_FLAG_KEY;
    return true;
}

/* A P picture with a key flag is none that a decoder can begin with: the one before serves. */
TEST(a_flag_that_lies)
{
    if (!clip_encode(X264 "true.mkv"))
        skip();
    remux("true.mkv", "lies.mkv", flag_45);
    remux("true.mkv", "lies.mp4", flag_45);
    static const char *const name[] = {"lies.mkv", "lies.mp4"};
    for (int i = 0; i < 2; i++) {
        static struct shown shown;
        struct staged r = stage(name[i], true, 950000, &shown);
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
    if (!clip_encode(X264 "-movflags faststart whole.mp4"))
        skip();
    assert_int_equal(system("head -c $(($(stat -c %s whole.mp4) / 2)) whole.mp4 > half.mp4"), 0);
    static struct shown shown;
    struct staged r = stage("half.mp4", true, 1000000, &shown);
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
static bool make_field(AVPacket *p, int number)
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
    return true;
}

/* Both fields of a key frame are decoded, by an index and read through: it is the picture that one
 * decoder over everything gives. */
TEST(fields_in_packets_of_their_own)
{
    if (!clip_encode("-vf scale=96:32 -c:v mpeg2video -g 1 -qscale:v 4 -r 50 half.mkv"))
        skip();
    remux("half.mkv", "fields.mkv", make_field);
    assert_int_equal(
        system("head -c $(($(stat -c %s fields.mkv) * 9 / 10)) fields.mkv > fields-short.mkv"), 0);
    static const char *const name[] = {"fields.mkv", "fields-short.mkv"};
    for (int i = 0; i < 2; i++) {
        static struct shown right, have;
        struct staged exact = stage(name[i], false, 200000, &right),
                      keys = stage(name[i], true, 200000, &have);
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

TEST_FIXTURE(clip_begin, clip_end)
