#include <signal.h>
#include <sys/stat.h>

#include "test.h"
#include "base/interrupt.h"
#include "clip.h"

/* A gap in the container: the remaining pictures are staged, and the gap is reported. */
TEST(damaged_container)
{
    clip_need("-c:v mpeg2video -g 10 -q:v 4 -sc_threshold 1000000000 gap.mkv");
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
    clip_need("-c:v mpeg2video -g 10 -q:v 4 film.mkv");
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
        struct source *s = clip_open("film.mkv");
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
    clip_need("-c:v mpeg2video -g 10 -q:v 4 film.mkv");
    struct selection rule = every(10);
    const unsigned by_reading = SOURCE_HAS_FRAME_TIMES | SOURCE_SPARING | SOURCE_EXACT_DAMAGE;
    struct source *s = clip_open("film.mkv");
    assert_true(source_can(s, by_reading | SOURCE_RESTARTABLE | SOURCE_CACHEABLE));
    source_close(&s);

    assert_int_equal(system("printf 'ffconcat version 1.0\nfile film.mkv\n' > list.ffconcat"), 0);
    s = clip_open("list.ffconcat");
    assert_true(source_can(s, by_reading | SOURCE_RESTARTABLE));
    assert_false(source_can(s, SOURCE_CACHEABLE));
    source_close(&s);

    assert_int_equal(mkfifo("pipe.mkv", 0600), 0);
    assert_int_equal(system("cat film.mkv > pipe.mkv &"), 0);
    s = clip_open("pipe.mkv");
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
    clip_need("-c:v libx264 -preset ultrafast -x264-params keyint=10 film.mkv");
    struct err e = ERR_INIT;
    struct selection rule = every(1);
    struct source *s = clip_open("film.mkv");
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
