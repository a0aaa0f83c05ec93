/* Sound that is decoded in segments is as if one decoder had decoded all. */
#include <stdlib.h>

#include "test.h"
#include "barcode/engine/engine.h"
#include "media/sound/sound_reading.h"
#include "media/source.h"
#include "sound/film_sound.h"
#include "clip.h"

#define PICTURES "-f lavfi -i color=black:s=96x64:r=25:d=8 "
#define VIDEO "-c:v mpeg4 -q:v 4 -g 12 -bf 2 "

/* Reads the sound of a film alone. */
static struct film_sound hear(const char *name)
{
    struct err e = ERR_INIT;
    struct sound_job job = {.done = false};
    struct source *s =
        source_open_stream(name, NULL, SOURCE_STREAM_CHOICE, SOURCE_STREAM_CHOICE, false, &e);
    if (!s || !source_sound(s, &job, &e))
        fail_msg("%s", e.text);
    assert_true(job.done);
    source_close(&s);
    return job.sound;
}

/*
 * Segments that are decoded apart are heard as if one decoder had decoded all: a tone that rises,
 * over more than two segments.
 */
TEST(segments_have_no_seams)
{
    static const char *const codec[] = {"ac3", "aac"}, *const option[] = {"", "-aac_pns 0"};
    for (size_t i = 0; i < 2; i++) {
        char line[400];
        snprintf(line, sizeof line,
                 PICTURES
                 "-f lavfi -i \"aevalsrc=0.4*sin(2*PI*(300*t+40*t*t)):s=48000:d=20\" " VIDEO
                 "-c:a %s %s apart.mkv",
                 codec[i], option[i]);
        assert_true(clip_ffmpeg(line));
        snprintf(line, sizeof line, "-c:a %s_fixed -i apart.mkv -c:v copy -c:a pcm_s16le plain.mkv",
                 codec[i]);
        assert_true(clip_ffmpeg(line));
        struct film_sound apart = hear("apart.mkv"), plain = hear("plain.mkv");
        assert_int_equal(apart.rows, plain.rows);
        for (size_t r = 0; r < apart.rows; r++) {
            const struct sound_row *a = &apart.row[r], *b = &plain.row[r];
            if (abs(a->peak - b->peak) > 1 || abs(a->loudness - b->loudness) > 1 ||
                abs(a->centroid - b->centroid) > 2)
                fail_msg("%s, row %zu: peak %d and %d, loudness %d and %d, centroid %u and %u",
                         codec[i], r, a->peak, b->peak, a->loudness, b->loudness, a->centroid,
                         b->centroid);
        }
        film_sound_free(&apart);
        film_sound_free(&plain);
    }
}

/* Makes a film of PICTURES with 20 s of the tone `sine`, as AAC; `more`: options and its name. */
static void make_film(const char *sine, const char *more)
{
    char line[1000];
    snprintf(line, sizeof line, PICTURES "-f lavfi -i %s:d=20 -c:a aac %s", sine, more);
    assert_true(clip_ffmpeg(line));
}

/* A layout that AAC has no number for: only the first packet of a recording in MPEG-TS has it. */
TEST(layout_in_the_first_packet)
{
    static const char *const name[] = {"first.ts", "joined.ts"};
    static const int channels[] = {6, 1};
    make_film("sine=f=440", "-c:v mpeg2video -af \"pan=5.1(side)|FL=c0|FR=c0|SL=c0\" first.ts");
    make_film("sine=f=440", "-c:v mpeg2video mono.ts");
    assert_int_equal(system("cat mono.ts first.ts mono.ts > joined.ts"), 0);
    for (size_t i = 0; i < 2; i++) {
        struct film_sound s = hear(name[i]);
        assert_int_equal(s.channels, channels[i]);
        assert_int_equal(s.errors, 0);
        film_sound_free(&s);
    }
}

/* A header within the film, as where two recordings were joined, counts for all segments behind. */
TEST(another_header)
{
    make_film("sine=r=48000", "-c:v flv1 -ac 2 one.flv");
    make_film("sine=r=48000", "-c:v flv1 -ac 1 -ar 44100 -output_ts_offset 20 two.flv");
    assert_int_equal(system("(cat one.flv; tail -c +14 two.flv) > both.flv"), 0);
    struct film_sound s = hear("both.flv");
    assert_int_equal(s.errors, 0);
    assert_int_equal(s.gaps, 0);
    film_sound_free(&s);
}

static struct sound_device *open_no_device(const struct engine *g, struct err *e)
{
    (void)g;
    err_set(e, ERR_ENGINE, "the GPU is gone");
    return NULL;
}

/* A GPU that fails is no lack of memory: another engine renders the film, and not this one alone.
 */
TEST(a_device_that_cannot_be_opened)
{
    static const struct engine_ops ops = {.sound = open_no_device};
    struct engine engine = {.ops = &ops};
    struct sound_job job = {.engine = &engine};
    struct err e = ERR_INIT;
    const uint64_t before = err_memory_count();
    assert_null(sound_decoder_open(NULL, 0, "film.mkv", INT64_MAX, &job, &e));
    assert_int_equal(e.code, ERR_ENGINE);
    assert_int_equal(err_memory_count(), before);
}

TEST_FIXTURE(clip_begin, clip_end)
