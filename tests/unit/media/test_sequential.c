
#include "test.h"
#include "film_pass.h"

static struct staged stage(const char *name, enum decode_plan plan, int threads,
                           struct selection rule)
{
    struct staged r = clip_stage(name, plan, threads, &rule);
    if (!r.ok)
        fail_msg("%s: %s", name, r.error.text);
    return r;
}

/* The same frames at the same times, all decoded. */
static void assert_same(struct staged *a, struct staged *b)
{
    assert_int_equal(columns_count(a->columns), columns_count(b->columns));
    for (uint64_t i = 0; i < columns_count(a->columns); i++) {
        const struct column *x = columns_get(a->columns, i), *y = columns_get(b->columns, i);
        if (x->frame != y->frame || x->time_us != y->time_us || x->repeat != y->repeat ||
            x->status != y->status)
            fail_msg("column %d: frame %d at %d us and frame %d at %d us", (int)i, (int)x->frame,
                     (int)x->time_us, (int)y->frame, (int)y->time_us);
    }
    struct digest_result d = digest_compare(a->digest, b->digest);
    assert_true(d.both > 0);
    assert_int_equal(d.different + d.alone, 0);
}

/* ------------------------------------------------------------------ a delay that nobody announced
 */

struct bits {
    const uint8_t *data;
    size_t at;
};

static unsigned read_bits(struct bits *b, int n)
{
    unsigned value = 0;
    for (; n > 0; n--, b->at++)
        value = value << 1 | (b->data[b->at / 8] >> (7 - b->at % 8) & 1);
    return value;
}

static unsigned read_ue(struct bits *b)
{
    int zeros = 0;
    while (read_bits(b, 1) == 0)
        zeros++;
    return (1u << zeros) - 1 + read_bits(b, zeros);
}

/* Takes the VUI, and with it the announced delay, out of the first SPS of an MP4 file
 * (H.264 7.3.2.1.1; High profile). */
static void strip_vui(const char *path)
{
    const size_t size = clip_load(path);
    uint8_t *box = memmem(clip_bytes, size, "avcC", 4);
    assert_non_null(box);
    size_t length = (size_t)box[10] << 8 | box[11];
    uint8_t *sps = box + 12;
    struct bits b = {sps, 8};
    assert_int_equal(read_bits(&b, 8), 100);
    read_bits(&b, 16);
    read_ue(&b); /* id, then chroma format, depths, bypass, scaling matrix */
    assert_int_equal(read_ue(&b), 1);
    read_ue(&b), read_ue(&b);
    assert_int_equal(read_bits(&b, 2), 0);
    read_ue(&b); /* frame numbers, picture order */
    assert_int_equal(read_ue(&b), 0);
    read_ue(&b), read_ue(&b), read_bits(&b, 1);
    read_ue(&b), read_ue(&b); /* size; frames only; crop */
    assert_int_equal(read_bits(&b, 1), 1);
    read_bits(&b, 1);
    assert_int_equal(read_bits(&b, 1), 0);
    assert_int_equal(read_bits(&b, 1), 1); /* VUI present: no more; then the stop bit and zeros */
    for (size_t at = b.at - 1; at < length * 8; at++)
        sps[at / 8] &= (uint8_t) ~(0x80 >> at % 8);
    sps[b.at / 8] |= (uint8_t)(0x80 >> b.at % 8);
    clip_save(path, size);
}

/* libavcodec learns the delay when it first needs it, and loses pictures. 150 keys, then B
 * pictures: too late for probing. */
TEST(no_picture_is_lost_to_a_late_delay)
{
    clip_need("-force_key_frames 'expr:lt(n,150)' -c:v libx264 -preset veryfast -x264-params "
              "keyint=250:min-keyint=1:bframes=8:b-adapt=0:b-pyramid=normal:ref=6:scenecut=0 "
              "late.mp4");
    strip_vui("late.mp4");
    assert_true(clip_ffmpeg("-i late.mp4 -c copy late.mkv"));
    struct staged parallel = stage("late.mkv", DECODE_PARALLEL, 2, every(1));
    assert_int_equal(columns_count(parallel.columns), CLIP_FRAMES);
    for (int threads = 1; threads <= 4; threads += 3) {
        struct staged r = stage("late.mkv", DECODE_SEQUENTIAL, threads, every(1));
        assert_int_equal(r.counts.decoded, CLIP_FRAMES);
        assert_same(&parallel, &r);
        staged_free(&r);
    }
    staged_free(&parallel);
}

/* ------------------------------------------------------------------ the rest of a film */

TEST(a_gop_too_long_to_hold)
{
    enum { FRAMES = 1900 };
    if (!clip_ffmpeg("-stream_loop -1 -f rawvideo -pix_fmt yuv420p -s 96x64 -r 25 -i master.yuv "
                     "-frames:v 1900 "
                     "-force_key_frames 'expr:lt(n,300)*not(mod(n,20))' -c:v libx264 -preset "
                     "ultrafast -x264-params keyint=infinite:bframes=2 "
                     "long.mkv"))
        skip();
    for (uint64_t n = 1; n <= 50; n += 49) {
        struct staged right = stage("long.mkv", DECODE_SEQUENTIAL, 2, every(n)),
                      r = stage("long.mkv", DECODE_PARALLEL, 2, every(n));
        assert_int_equal(columns_count(right.columns), (FRAMES + n - 1) / n);
        assert_int_equal(r.counts.displayed, FRAMES);
        assert_true(r.counts.sequential);
        assert_true(r.counts.chunks > 1);
        assert_same(&right, &r);
        staged_free(&right);
        staged_free(&r);
    }
}

/* By time the selection wants to know when the next frame appears, which a decoder says only later.
 */
TEST(selections_by_time)
{
    clip_need("-c:v mpeg2video -g 9 -bf 2 -q:v 5 time.mkv");
    struct selection rules[] = {
        {.kind = SELECT_INTERVAL, .interval_us = 130000, .end_us = INT64_MAX},
        {.kind = SELECT_INTERVAL, .interval_us = 15000, .start_us = 1000000, .end_us = 3000000},
        {.kind = SELECT_COLUMNS, .columns = 333, .end_us = CLIP_FRAMES * CLIP_STEP_US},
        {.kind = SELECT_COLUMNS, .columns = 10, .start_us = 2010000, .end_us = 7123456},
        {.kind = SELECT_EVERY, .every = 3, .start_us = 1234567, .end_us = 4321000},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        struct staged right = stage("time.mkv", DECODE_SEQUENTIAL, 1, rules[i]),
                      r = stage("time.mkv", DECODE_PARALLEL, 2, rules[i]);
        assert_same(&right, &r);
        /* Nobody reads on when nothing more can be wanted. */
        bool whole = rules[i].end_us >= CLIP_FRAMES * CLIP_STEP_US;
        assert_int_equal(right.counts.packets == CLIP_FRAMES, whole);
        assert_int_equal(r.counts.packets == CLIP_FRAMES, whole);
        staged_free(&right);
        staged_free(&r);
    }
}

/* Damage is counted, and the film goes on. */
TEST(damage_is_counted)
{
    clip_need("-c:v mpeg2video -g 20 -bf 0 -b:v 300k film.mkv");
    assert_int_equal(system("for i in 20 21 22 23; do dd if=/dev/zero of=film.mkv bs=97 count=1 "
                            "conv=notrunc 2>/dev/null "
                            "seek=$(($(stat -c %s film.mkv) / 97 / 40 * i)); done"),
                     0);
    struct staged r = stage("film.mkv", DECODE_SEQUENTIAL, 2, every(1));
    assert_true(r.counts.damage_found); /* and that is all it is good for */
    staged_free(&r);
    r = stage("film.mkv", DECODE_SEQUENTIAL, 1, every(1));
    assert_false(r.counts.damage_found);
    assert_in_range(r.counts.damaged + r.counts.decode_errors, 1, 60);
    assert_in_range(columns_count(r.columns), CLIP_FRAMES - 10, CLIP_FRAMES);
    uint64_t damaged = 0;
    for (uint64_t i = 0; i < columns_count(r.columns); i++)
        damaged += columns_get(r.columns, i)->status == COLUMN_DAMAGED;
    assert_int_equal(damaged, r.counts.damaged);
    assert_true(damaged > 0);
    staged_free(&r);
}

/* ------------------------------------------------------------------ by hand */

/* Goes on from a state: number 1000, five seconds, and the first held pictures numbered already or
 * hidden. */
TEST(goes_on_from_where_runs_ended)
{
    struct err e = ERR_INIT;
    struct film_pass h;
    clip_need("-c:v mpeg2video -g 9 -bf 0 -q:v 5 plain.mkv");
    film_pass_open(&h, "plain.mkv");
    struct chunker_state from = {.held = calloc(1, sizeof(struct chunk)),
                                 .cursor = selection_begin(&h.job.selection),
                                 .next_frame = 1000,
                                 .timeline = timeline_begin(&(struct film_clock){
                                     .frame_us = CLIP_STEP_US, .origin_us = TIME_NONE})};
    timeline_step(&from.timeline, timeline_at(&from.timeline, -5000000));
    for (int i = 0; i < 10; i++) {
        struct picture p;
        assert_true(demux_next(&h.of.reader, &p, &e));
        p.leading = i == 2;
        p.hidden = i == 4;
        assert_true(chunk_append(from.held, &p, &e));
    }
    assert_true(sequential_decode(&h.pass, &h.of.reader, &from, &e));
    film_pass_finish(&h);
    assert_int_equal(columns_count(h.columns), CLIP_FRAMES - 2);
    assert_int_equal(h.pass.counts.displayed, 1000 + CLIP_FRAMES - 2);
    assert_int_equal(h.pass.counts.decoded, CLIP_FRAMES);
    assert_true(h.pass.counts.sequential);
    assert_int_equal(h.pass.counts.last_us, 5000000 + (CLIP_FRAMES - 1) * CLIP_STEP_US);
    assert_int_equal(atomic_load(&h.pass.frames_done), 1000 + CLIP_FRAMES - 2);
    for (uint64_t i = 0; i < CLIP_FRAMES - 2; i++) {
        uint64_t shown = i < 2 ? i : i < 3 ? i + 1 : i + 2; /* pictures 2 and 4 are no frames */
        assert_int_equal(columns_get(h.columns, i)->frame, 1000 + i);
        assert_int_equal(columns_get(h.columns, i)->time_us, 5000000 + shown * CLIP_STEP_US);
        assert_int_equal(columns_get(h.columns, i)->status, COLUMN_OK);
    }
    chunk_free(&from.held);
    film_pass_close(&h);
}

TEST_FIXTURE(clip_begin, clip_end)
