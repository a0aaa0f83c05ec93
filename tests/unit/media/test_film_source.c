#include <signal.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "test.h"
#include "base/interrupt.h"
#include "clip.h"

/* ------------------------------------------------------------------ against the ffmpeg program,
 * byte for byte */

struct judge {
    uint8_t *right; /* rgb24 of every frame, by ffmpeg */
    size_t frames;
    atomic_uint seen, wrong;
};

static bool judge_frame(void *user, const struct frame_tag *tag, const uint8_t *rgb, struct err *e)
{
    (void)e;
    struct judge *j = user;
    size_t bytes = (size_t)CLIP_W * CLIP_H * 3;
    atomic_fetch_add(&j->seen, 1);
    if (tag->frame >= j->frames || tag->time_us != (int64_t)tag->frame * CLIP_STEP_US ||
        memcmp(rgb, j->right + tag->frame * bytes, bytes) != 0)
        atomic_fetch_add(&j->wrong, 1);
    return true;
}

static void read_right(struct judge *j, const char *name)
{
    char line[256];
    size_t bytes = (size_t)CLIP_W * CLIP_H * 3;
    snprintf(line, sizeof line, "-i %s -f rawvideo -pix_fmt rgb24 right.rgb", name);
    assert_true(clip_ffmpeg(line));
    j->right = malloc((CLIP_FRAMES + 20) * bytes);
    assert_non_null(j->right);
    FILE *f = fopen("right.rgb", "rb");
    assert_non_null(f);
    j->frames = fread(j->right, bytes, CLIP_FRAMES + 20, f);
    fclose(f);
    assert_int_equal(j->frames, CLIP_FRAMES);
}

/* Frames that a rule must pick, at 25 frames a second. */
static uint64_t picked(const struct selection *rule)
{
    switch (rule->kind) {
    case SELECT_EVERY: return (CLIP_FRAMES + rule->every - 1) / rule->every;
    case SELECT_INTERVAL:
        return (uint64_t)(CLIP_FRAMES * CLIP_STEP_US + rule->interval_us - 1) /
               (uint64_t)rule->interval_us;
    default: return rule->columns;
    }
}

static void assess_decode_pass(struct source *s, struct judge *j, enum decode_plan plan,
                               const struct selection *rule)
{
    atomic_store(&j->seen, 0);
    struct staged r = clip_stage_with(s, plan, 2, rule, CLIP_W, CLIP_H, judge_frame, j);
    if (!r.ok)
        fail_msg("%s: %s", s->film.path, r.error.text);
    assert_int_equal(atomic_load(&j->seen), picked(rule));
    if (atomic_load(&j->wrong) > 0)
        fail_msg("%s, rule %d, plan %d: %u wrong frames", s->film.path, rule->kind, plan,
                 atomic_load(&j->wrong));
    assert_int_equal(columns_count(r.columns), picked(rule));
    assert_int_equal(r.counts.lost + r.counts.damaged + r.counts.decode_errors, 0);
    staged_free(&r);
}

/* Every frame one after another, and by each rule in parallel. */
static void judge_clip(const char *name)
{
    static const struct selection rules[] = {
        {.kind = SELECT_EVERY, .every = 1, .end_us = INT64_MAX},
        {.kind = SELECT_EVERY, .every = 7, .end_us = INT64_MAX},
        {.kind = SELECT_INTERVAL, .interval_us = 630000, .end_us = INT64_MAX},
        {.kind = SELECT_COLUMNS, .columns = 13, .end_us = CLIP_FRAMES * CLIP_STEP_US},
    };
    struct judge j = {.frames = 0};
    struct err e = ERR_INIT;
    read_right(&j, name);
    struct source *s = source_open(name, &e);
    assert_non_null(s);
    assess_decode_pass(s, &j, DECODE_SEQUENTIAL, &rules[0]);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        assess_decode_pass(s, &j, DECODE_PARALLEL, &rules[i]);
    source_close(&s);
    free(j.right);
}

TEST(h264_is_what_ffmpeg_says)
{
    if (!clip_encode("-c:v libx264rgb -preset veryfast -x264-params "
                     "keyint=12:min-keyint=12:open-gop=1:bframes=3:b-pyramid=normal open.mkv") ||
        !clip_encode("-c:v libx264rgb -preset veryfast -x264-params "
                     "keyint=20:min-keyint=9:bframes=3 closed.mp4"))
        skip();
    judge_clip("open.mkv");
    judge_clip("closed.mp4");
}

TEST(hevc_is_what_ffmpeg_says)
{
    if (!clip_encode("-c:v libx265 -pix_fmt gbrp -preset superfast -x265-params "
                     "log-level=error:keyint=12:min-keyint=12:open-gop=1:bframes=4:b-adapt=0:"
                     "temporal-layers=1 open-hevc.mkv"))
        skip();
    judge_clip("open-hevc.mkv");
}

TEST(others_are_what_ffmpeg_says)
{
    if (!clip_encode("-c:v libvpx-vp9 -pix_fmt gbrp -deadline realtime -cpu-used 8 -g 12 -b:v 300k "
                     "vp9.webm") ||
        !clip_encode("-c:v ffv1 -pix_fmt gbrp ffv1.mkv"))
        skip();
    judge_clip("vp9.webm");
    judge_clip("ffv1.mkv");
}

/* ------------------------------------------------------------------ parallel against sequential */

struct way {
    enum decode_plan plan;
    int threads;
    uint64_t every;
};

static struct staged stage_or_fail(const char *name, const struct way *way)
{
    struct selection rule = every(way->every);
    struct staged r = clip_stage(name, way->plan, way->threads, &rule);
    if (!r.ok)
        fail_msg("%s: %s", name, r.error.text);
    return r;
}

static void compare(const char *name, struct staged *right, const struct way *way,
                    bool expect_sequential)
{
    struct staged r = stage_or_fail(name, way);
    for (uint64_t i = 0; i < columns_count(r.columns); i++) {
        const struct column *a = columns_get(right->columns, i * way->every),
                            *b = columns_get(r.columns, i);
        if (b->status != COLUMN_OK || a->frame != b->frame || a->time_us != b->time_us ||
            memcmp(a->average, b->average, 3) != 0)
            fail_msg("%s, every %d, %d threads: column %d differs", name, (int)way->every,
                     way->threads, (int)i);
    }
    assert_int_equal(columns_count(r.columns),
                     (columns_count(right->columns) + way->every - 1) / way->every);
    struct digest_result d = digest_compare(right->digest, r.digest);
    if (way->every == 1)
        assert_int_equal(d.different + d.alone, 0);
    assert_int_equal(r.counts.displayed, right->counts.displayed);
    assert_int_equal(r.counts.lead_in, right->counts.lead_in);
    assert_int_equal(r.counts.last_us, right->counts.last_us);
    assert_int_equal(r.counts.chunks > 0, way->plan == DECODE_PARALLEL && !expect_sequential);
    assert_false(r.counts.read_failed);
    assert_int_equal(r.counts.sequential, way->plan == DECODE_SEQUENTIAL || expect_sequential);
    staged_free(&r);
}

/* Every plan and number of threads gives the same bytes in the same columns. */
static void same_both_ways(const char *name, uint64_t frames, bool expect_sequential)
{
    static const struct way right_way = {DECODE_SEQUENTIAL, 1, 1};
    static const struct way ways[] = {
        {DECODE_SEQUENTIAL, 4, 1}, {DECODE_PARALLEL, 1, 1},  {DECODE_PARALLEL, 5, 1},
        {DECODE_PARALLEL, 2, 7},   {DECODE_PARALLEL, 2, 31},
    };
    struct staged right = stage_or_fail(name, &right_way);
    assert_true(right.counts.sequential);
    if (columns_count(right.columns) != frames)
        fail_msg("%s: %d frames of %d", name, (int)columns_count(right.columns), (int)frames);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        compare(name, &right, &ways[i], expect_sequential);
    staged_free(&right);
}

TEST(mpeg2_both_ways)
{
    if (!clip_encode("-c:v mpeg2video -g 9 -bf 2 -q:v 4 -sc_threshold 1000000000 open.ts") ||
        !clip_encode(
            "-c:v mpeg2video -g 9 -bf 2 -q:v 4 -flags +cgop -sc_threshold 1000000000 closed.mkv"))
        skip();
    same_both_ways("open.ts", CLIP_FRAMES, false);
    same_both_ways("closed.mkv", CLIP_FRAMES, false);
}

TEST(h264_both_ways)
{
    if (!clip_encode("-c:v libx264 -preset veryfast -x264-params "
                     "keyint=10:min-keyint=10:open-gop=1:bframes=3 open264.ts") ||
        !clip_encode("-c:v libx264 -preset veryfast -x264-params keyint=20:tff=1 -flags "
                     "+ildct+ilme interlaced.mkv"))
        skip();
    same_both_ways("open264.ts", CLIP_FRAMES, false);
    same_both_ways("interlaced.mkv", CLIP_FRAMES, false);
    assert_true(clip_ffmpeg("-i open264.ts -c copy bare.h264"));   /* no times, no container */
    assert_true(clip_ffmpeg("-i open264.ts -c copy open264.avi")); /* decoding times only */
    same_both_ways("bare.h264", CLIP_FRAMES, false);
    same_both_ways("open264.avi", CLIP_FRAMES, false);
}

TEST(other_codecs_both_ways)
{
    if (clip_encode("-c:v mpeg4 -g 12 -bf 2 -q:v 4 mpeg4.avi"))
        same_both_ways("mpeg4.avi", CLIP_FRAMES, true);
    if (clip_hidden_vp8("vp8.webm"))
        same_both_ways("vp8.webm", CLIP_FRAMES, false);
    if (clip_encode("-c:v libx265 -preset superfast -x265-params "
                    "log-level=error:keyint=10:min-keyint=10:open-gop=0:radl=2 radl.mkv"))
        same_both_ways("radl.mkv", CLIP_FRAMES, false);
    if (clip_encode("-c:v mjpeg -q:v 4 mjpeg.avi"))
        same_both_ways("mjpeg.avi", CLIP_FRAMES, true);
}

/* A film that begins in mid-GOP: what cannot be decoded is no frame, whichever way it is decoded.
 */
TEST(lead_in_both_ways)
{
    if (!clip_encode("-c:v libx264 -preset veryfast -x264-params "
                     "keyint=10:min-keyint=10:open-gop=1:bframes=3 whole.ts"))
        skip();
    assert_int_equal(system("tail -c +$((1 + 188 * 40)) whole.ts > late.ts"), 0);
    struct selection rule = every(1);
    struct staged r = clip_stage("late.ts", DECODE_PARALLEL, 2, &rule);
    assert_true(r.ok);
    assert_true(r.counts.lead_in > 0 && r.counts.displayed > CLIP_FRAMES / 2);
    assert_int_equal(r.counts.damaged, 0);
    uint64_t frames = r.counts.displayed;
    staged_free(&r);
    same_both_ways("late.ts", frames, false);
}

/* ------------------------------------------------------------------ the source itself */

/* A gap in the container: the remaining pictures are staged, and the gap is reported. */
TEST(damaged_container)
{
    if (!clip_encode("-c:v mpeg2video -g 10 -q:v 4 -sc_threshold 1000000000 gap.mkv"))
        skip();
    assert_int_equal(system("dd if=/dev/zero of=gap.mkv bs=1000 seek=$(($(stat -c %s gap.mkv) / "
                            "2000)) count=20 conv=notrunc 2>/dev/null"),
                     0);
    struct selection rule = every(1);
    for (int plan = DECODE_PARALLEL; plan <= DECODE_SEQUENTIAL; plan++) {
        clip_careful = plan == DECODE_SEQUENTIAL;
        struct staged r = clip_stage("gap.mkv", (enum decode_plan)plan, 2, &rule);
        clip_careful = false;
        assert_true(r.ok);
        assert_true(r.counts.read_failed);
        assert_int_equal(columns_count(r.columns), CLIP_FRAMES); /* what is lost keeps its place */
        assert_true(r.counts.dropped + r.counts.unreadable > 0 &&
                    r.counts.lost >= r.counts.dropped);
        staged_free(&r);
    }
}

static bool watch(void *user, const struct frame_tag *tag, const uint8_t *rgb, struct err *e)
{
    (void)tag, (void)rgb;
    struct decode_progress p;
    source_progress(user, &p);
    return (p.frames <= CLIP_FRAMES && p.bytes > 0 && p.bytes <= p.total_bytes) ||
           err_set(e, ERR_FAILED, "progress beyond the end");
}

TEST(progress_and_reopening)
{
    if (!clip_encode("-c:v mpeg2video -g 10 -q:v 4 film.mkv"))
        skip();
    struct err e = ERR_INIT;
    struct stat st;
    struct decode_progress p;
    struct selection rule = every(1);
    struct source *s = source_open("film.mkv", &e);
    assert_true(s && stat("film.mkv", &st) == 0);
    source_progress(s, &p);
    assert_int_equal(p.frames, 0);
    assert_int_equal(p.total_bytes, st.st_size);
    for (int plan = DECODE_PARALLEL; plan <= DECODE_SEQUENTIAL; plan++) {
        struct staged r = clip_stage_with(s, (enum decode_plan)plan, 2, &rule, 8, 8, watch, s);
        if (!r.ok)
            fail_msg("%s", r.error.text);
        assert_true(r.times.decode > 0);
        source_progress(s, &p);
        assert_int_equal(p.frames, CLIP_FRAMES);
        staged_free(&r);
    }
    /* A film that went away in between is an error, and stays one. */
    assert_int_equal(unlink("film.mkv"), 0);
    for (int again = 0; again < 2; again++) {
        struct staged r = clip_stage_with(s, DECODE_PARALLEL, 2, &rule, 8, 8, NULL, NULL);
        assert_false(r.ok);
        assert_int_equal(r.error.code, ERR_INPUT);
        assert_non_null(strstr(r.error.text, "cannot open 'film.mkv'"));
        staged_free(&r);
    }
    assert_false(clip_measure(s, &e));
    source_close(&s);
}

/* Another film under the same name is not the one that was opened. */
TEST(changed_in_between)
{
    static const char *const others[] = {"-c:v mpeg2video -q:v 4 -s 64x64", "-c:v mpeg4 -q:v 4",
                                         "-map 0 -map 0 -c:v:0 mpeg4 -c:v:1 mpeg2video"};
    struct selection rule = every(1);
    for (int i = 0; i < 3; i++) {
        char line[128];
        struct err e = ERR_INIT;
        snprintf(line, sizeof line, "%s other.mkv", others[i]);
        if (!clip_encode("-c:v mpeg2video -g 10 -q:v 4 film.mkv") || !clip_encode(line))
            skip();
        struct source *s = source_open("film.mkv", &e);
        assert_non_null(s);
        assert_true(clip_measure(s, &e));
        assert_true(clip_measure(s, &e)); /* nothing changed */
        assert_int_equal(rename("other.mkv", "film.mkv"), 0);
        assert_false(clip_measure(s, &e));
        struct staged r = clip_stage_with(s, DECODE_PARALLEL, 2, &rule, 8, 8, NULL, NULL);
        assert_false(r.ok);
        assert_int_equal(r.error.code, ERR_INPUT);
        assert_string_equal(r.error.text, "'film.mkv' changed while it was being read");
        staged_free(&r);
        source_close(&s);
    }
}

/* A file can be read again; what a playlist names may change without it; a pipe is read once, and
 * then an error, no hang. */
TEST(what_a_film_can)
{
    if (!clip_encode("-c:v mpeg2video -g 10 -q:v 4 film.mkv"))
        skip();
    struct err e = ERR_INIT;
    struct selection rule = every(10);
    const unsigned by_reading = SOURCE_HAS_FRAME_TIMES | SOURCE_SPARING | SOURCE_EXACT_DAMAGE;
    struct source *s = source_open("film.mkv", &e);
    assert_non_null(s);
    assert_true(source_can(s, by_reading | SOURCE_RESTARTABLE | SOURCE_CACHEABLE));
    source_close(&s);

    assert_int_equal(system("printf 'ffconcat version 1.0\nfile film.mkv\n' > list.ffconcat"), 0);
    s = source_open("list.ffconcat", &e);
    assert_non_null(s);
    assert_true(source_can(s, by_reading | SOURCE_RESTARTABLE));
    assert_false(source_can(s, SOURCE_CACHEABLE));
    source_close(&s);

    assert_int_equal(mkfifo("pipe.mkv", 0600), 0);
    assert_int_equal(system("cat film.mkv > pipe.mkv &"), 0);
    s = source_open("pipe.mkv", &e);
    assert_non_null(s);
    assert_true(source_can(s, by_reading));
    assert_false(source_can(s, SOURCE_RESTARTABLE) || source_can(s, SOURCE_CACHEABLE));
    for (int again = 0; again < 2; again++) {
        struct staged r = clip_stage_with(s, DECODE_PARALLEL, 2, &rule, 8, 8, NULL, NULL);
        assert_int_equal(r.ok, again == 0);
        assert_int_equal(columns_count(r.columns), again == 0 ? CLIP_FRAMES / 10 : 0);
        assert_int_equal(r.error.code, again == 0 ? ERR_NONE : ERR_INPUT);
        assert_true(again == 0 || strstr(r.error.text, "and a pipe can be read only once"));
        staged_free(&r);
    }
    source_close(&s);
}

/* Leaves the process interrupted: the last test. */
static bool interrupt_at(void *user, const struct frame_tag *tag, const uint8_t *rgb, struct err *e)
{
    (void)user, (void)rgb, (void)e;
    return tag->frame != 60 || raise(SIGINT) == 0;
}

TEST(interrupted_staging)
{
    if (!clip_encode("-c:v libx264 -preset ultrafast -x264-params keyint=10 film.mkv"))
        skip();
    struct err e = ERR_INIT;
    struct selection rule = every(1);
    struct source *s = source_open("film.mkv", &e);
    assert_non_null(s);
    interrupt_install();
    for (int plan = DECODE_PARALLEL; plan <= DECODE_SEQUENTIAL; plan++) {
        struct staged r =
            clip_stage_with(s, (enum decode_plan)plan, 3, &rule, 8, 8, interrupt_at, NULL);
        assert_false(r.ok);
        assert_int_equal(r.error.code, ERR_INTERRUPTED);
        assert_int_equal(r.counts.lost, 0); /* what was not decoded any more is not lost */
        staged_free(&r);
    }
    assert_false(clip_measure(s, &e));
    assert_int_equal(e.code, ERR_INTERRUPTED);
    source_close(&s);
}

TEST_FIXTURE(clip_begin, clip_end)
