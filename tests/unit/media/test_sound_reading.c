/*
 * A film with flashes, and clicks in its sound at the same times, in many containers and codecs:
 * the sound is on the axis of the pictures, read beside them and alone.
 */
#include <libavutil/channel_layout.h>
#include <libavutil/frame.h>
#include <libavutil/samplefmt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "barcode/engine/engine.h"
#include "media/sound/sound_reading.h"
#include "media/source.h"
#include "sound/film_sound.h"
#include "barcode/sound/spectrogram.h"
#include "clip.h"
#include "under_tsan.h"

enum { FLASHES_MOST = 32, ROW_US = 32000, CLICK = -160 /* 0.1 dB */ };

/* Flashes of a frame, and clicks, each at 0.4 s of a second, for 8 s. */
#define PICTURES \
    "-f lavfi -i " \
    "\"color=black:s=96x64:r=25:d=8,drawbox=c=white:t=fill:enable='between(mod(n,25),10,10)'\" "
#define SOUND(LAYOUT) "-f lavfi -i \"aevalsrc=" LAYOUT ":s=48000:d=8\" "
#define BEEP "0.7*sin(2*PI*1500*t)*between(mod(t+0.0001\\,1)\\,0.4\\,0.44)"
#define STEREO SOUND(BEEP "|" BEEP)
#define SURROUND SOUND(BEEP "|" BEEP "|" BEEP "|0|" BEEP "|" BEEP ":c=5.1")
#define VIDEO "-c:v mpeg4 -q:v 4 -g 12 -bf 2 "

struct heard {
    struct sound_job job;
    int64_t flash_us[FLASHES_MOST], click_us[FLASHES_MOST];
    size_t flashes, clicks;
};

/* Lists the rows in which a click begins. */
static void find_clicks(struct heard *h)
{
    const struct film_sound *s = &h->job.sound;
    bool before = false;
    for (size_t i = 0; i < s->rows; i++) {
        bool loud = s->row[i].peak > CLICK;
        if (loud && !before && h->clicks < FLASHES_MOST)
            h->click_us[h->clicks++] = (int64_t)i * s->hops * ROW_US;
        before = loud;
    }
}

static void find_flashes(struct heard *h, struct columns *c)
{
    for (uint64_t i = 0; i < columns_count(c); i++) {
        const struct column *column = columns_get(c, i);
        if (column->status == COLUMN_OK && column->average[1] > 128 && h->flashes < FLASHES_MOST)
            h->flash_us[h->flashes++] = column->time_us;
    }
}

static bool wants_none(void *user, const struct frame_tag *tag, const uint8_t *rgb, struct err *e)
{
    (void)user, (void)tag, (void)rgb, (void)e;
    return true;
}

/* Decodes every frame, with the sound beside it. */
static struct heard hear_beside(struct source *s, enum decode_plan plan)
{
    struct heard h = {.flashes = 0};
    const struct selection all = every(1);
    clip_sound = &h.job;
    struct staged r = clip_stage_with(s, plan, 2, &all, 16, 16, wants_none, NULL);
    clip_sound = NULL;
    assert_ok(r.ok, &r.error);
    assert_true(h.job.done);
    columns_finish(r.columns, NULL);
    find_flashes(&h, r.columns);
    find_clicks(&h);
    staged_free(&r);
    return h;
}

static struct source *open_film(const char *name, int sound)
{
    struct err e = ERR_INIT;
    struct source *s = source_open_stream(name, NULL, SOURCE_STREAM_CHOICE, sound, false, &e);
    assert_ok(s, &e);
    return s;
}

static void assert_same_sound(const struct film_sound *a, const struct film_sound *b)
{
    uint8_t *x = NULL, *y = NULL;
    size_t n = 0, m = 0;
    struct err e = ERR_INIT;
    assert_true(film_sound_write(a, &x, &n, &e) && film_sound_write(b, &y, &m, &e));
    assert_int_equal(n, m);
    assert_memory_equal(x, y, n);
    free(x);
    free(y);
}

static void print_times(const struct heard *h)
{
    for (size_t i = 0; i < h->flashes || i < h->clicks; i++)
        print_message("%8.3f %8.3f\n", i < h->flashes ? (double)h->flash_us[i] / 1e6 : -1,
                      i < h->clicks ? (double)h->click_us[i] / 1e6 : -1);
}

/* Each flash has a click in its row, or in a neighbouring one; no click has no flash but `more`. */
static void assert_together(const char *name, const struct heard *h, size_t least, size_t more)
{
    bool ok = h->flashes >= least && h->clicks == h->flashes + more;
    for (size_t i = 0; i < h->flashes && ok; i++) {
        int64_t row_us = h->flash_us[i] / ROW_US * ROW_US;
        bool found = false;
        for (size_t k = 0; k < h->clicks; k++)
            found |= h->click_us[k] >= row_us - ROW_US && h->click_us[k] <= row_us + ROW_US;
        ok = found;
    }
    if (ok)
        return;
    print_times(h);
    fail_msg("%s: flashes and clicks differ", name);
}

/* Reads the sound alone, beside the pictures, and beside a sequential decoder: all the same. */
static void assert_clicks(const char *name, size_t least, size_t more)
{
    struct err e = ERR_INIT;
    struct sound_job alone = {.done = false};
    struct source *s = open_film(name, SOURCE_STREAM_CHOICE);
    struct heard h = hear_beside(s, DECODE_PARALLEL);
    assert_together(name, &h, least, more);
    struct heard again = hear_beside(s, DECODE_SEQUENTIAL);
    assert_ok(source_sound(s, &alone, &e), &e);
    assert_true(alone.done);
    assert_same_sound(&h.job.sound, &again.job.sound);
    assert_same_sound(&h.job.sound, &alone.sound);
    assert_int_equal(h.job.sound.errors, 0);
    assert_int_equal(h.job.sound.gaps, 0);
    film_sound_free(&h.job.sound);
    film_sound_free(&again.job.sound);
    film_sound_free(&alone.sound);
    source_close(&s);
}

TEST(clicks_are_where_flashes_are)
{
    static const struct {
        const char *name, *arguments;
    } film[] = {
        {"aac.mp4", VIDEO "-c:a aac aac.mp4"},
        {"aac.mkv", VIDEO "-c:a aac aac.mkv"},
        {"aac.ts", "-c:v mpeg2video -q:v 4 -bf 2 -c:a aac aac.ts"},
        {"ac3.ts", "-c:v mpeg2video -q:v 4 -bf 2 -c:a ac3 ac3.ts"},
        {"mp2.mpg", "-c:v mpeg2video -q:v 4 -bf 2 -c:a mp2 mp2.mpg"},
        {"opus.mkv", VIDEO "-c:a libopus opus.mkv"},
        {"opus.mp4", VIDEO "-c:a libopus opus.mp4"},
        {"flac.mkv", VIDEO "-c:a flac flac.mkv"},
        {"pcm.mov", VIDEO "-c:a pcm_s24le pcm.mov"},
        {"vorbis.mkv", VIDEO "-c:a libvorbis vorbis.mkv"},
        {"eac3.mp4", VIDEO "-c:a eac3 eac3.mp4"},
        {"mp3.mkv", VIDEO "-c:a libmp3lame mp3.mkv"},
        {"mp3.avi", "-c:v mpeg4 -q:v 4 -c:a libmp3lame mp3.avi"},
        {"pcm.avi", "-c:v mpeg4 -q:v 4 -c:a pcm_s16le pcm.avi"},
        {"late.mp4", VIDEO "-c:a aac -output_ts_offset 10 late.mp4"},
        {"late.mkv", VIDEO "-c:a aac -output_ts_offset 10 late.mkv"},
        {"late.ts", "-c:v mpeg2video -bf 2 -c:a mp2 -output_ts_offset 10 late.ts"},
        {"wrap.ts", "-c:v mpeg2video -bf 2 -c:a mp2 -output_ts_offset 95441 wrap.ts"},
    };
    size_t count = UNDER_TSAN ? 3 : sizeof film / sizeof *film;
    for (size_t i = 0; i < count; i++) {
        char line[1024];
        snprintf(line, sizeof line, PICTURES STEREO "%s", film[i].arguments);
        if (clip_ffmpeg(line))
            assert_clicks(film[i].name, 8, 0);
    }
}

/* Edit lists leave out what a cut without encoding has to keep. */
TEST(cut_films)
{
    if (!clip_ffmpeg(PICTURES SURROUND VIDEO "-c:a aac whole.mp4"))
        skip();
    assert_clicks("whole.mp4", 8, 0);
    assert_true(clip_ffmpeg("-ss 1.1 -i whole.mp4 -c copy cut.mp4"));
    assert_clicks("cut.mp4", 6, 0);
    assert_true(clip_ffmpeg("-ss 1.1 -i whole.mp4 -c copy cut.mkv"));
    assert_clicks("cut.mkv", 6, 0);
    assert_true(clip_ffmpeg("-i whole.mp4 -ss 1.1 -t 4 -c copy short.mp4"));
    /* its sound begins before its video, with a click */
    assert_clicks("short.mp4", 3, 1);
}

/* Reads the sound of a film alone. */
static struct film_sound hear(const char *name, int sound)
{
    struct err e = ERR_INIT;
    struct sound_job job = {.done = false};
    struct source *s = open_film(name, sound);
    assert_ok(source_sound(s, &job, &e), &e);
    assert_true(job.done);
    source_close(&s);
    return job.sound;
}

/*
 * Spoils the sync words of the FLAC frames in the middle third of a copy of the film. Returns their
 * number, with what only looks like one.
 */
static size_t spoil_frames(const char *name, const char *copy)
{
    const size_t size = clip_load(name);
    size_t spoiled = 0;
    for (size_t at = size / 3; at < size / 3 * 2; at++) {
        if (clip_bytes[at] != 0xff || clip_bytes[at + 1] != 0xf8)
            continue;
        clip_bytes[at] = 0;
        spoiled++;
    }
    clip_save(copy, size);
    return spoiled;
}

/* Sound that begins late, and has a gap of a second: silence there, and the rest in place. */
TEST(late_sound_and_gap)
{
    static const char *const film[] = {"-c:a pcm_s16le gap.mkv", "-c:a aac gap.mkv",
                                       "-c:a mp2 gap.ts"};
    for (size_t i = 0; i < sizeof film / sizeof *film; i++) {
        char line[1024];
        const char *name = strrchr(film[i], ' ') + 1;
        snprintf(line, sizeof line,
                 PICTURES STEREO "-c:v mpeg2video -bf 2 -af "
                                 "\"aselect='gt(t,2)*not(between(t,4.9,5.9))'\" %s",
                 film[i]);
        assert_true(clip_ffmpeg(line));
        struct source *s = open_film(name, SOURCE_STREAM_CHOICE);
        struct heard h = hear_beside(s, DECODE_PARALLEL);
        assert_int_equal(h.job.sound.gaps, 1);
        assert_in_range(h.job.sound.gap_us, 900000, 1100000);
        assert_int_equal(h.job.sound.errors, 0);
        assert_int_equal(h.clicks, 5);
        assert_int_equal(h.flashes, 8);
        memmove(&h.flash_us[0], &h.flash_us[2], 3 * sizeof *h.flash_us);
        memmove(&h.flash_us[3], &h.flash_us[6], 2 * sizeof *h.flash_us);
        h.flashes = 5;
        assert_together(name, &h, 5, 0);
        film_sound_free(&h.job.sound);
        source_close(&s);
    }
}

/* Recordings one after another: times jump back, and rate and layout of the sound change. */
TEST(concatenated_recordings)
{
    assert_true(clip_ffmpeg(PICTURES STEREO "-c:v mpeg2video -bf 2 -c:a ac3 -t 7.3 one.ts"));
    assert_true(clip_ffmpeg(PICTURES SURROUND "-c:v mpeg2video -bf 2 -c:a ac3 -ar 44100 two.ts"));
    assert_true(clip_ffmpeg(PICTURES SURROUND "-c:v mpeg2video -bf 2 -c:a ac3 -ar 32000 -t 6 "
                                              "-af atrim=0:5.2 three.ts"));
    assert_int_equal(system("cat one.ts two.ts three.ts > changes.ts"), 0);
    struct source *s = open_film("changes.ts", SOURCE_STREAM_CHOICE);
    struct heard h = hear_beside(s, DECODE_PARALLEL);
    assert_int_equal(h.flashes, 7 + 8 + 6);
    h.flashes--; /* the sound ends before the last one */
    assert_together("changes.ts", &h, 20, 0);
    assert_int_equal(h.job.sound.channels, 2);
    assert_int_equal(h.job.sound.rate, 48000);
    assert_string_equal(h.job.sound.layout, "stereo");
    film_sound_free(&h.job.sound);
    source_close(&s);
}

/* The rate of the sound changes, and packets within a PES packet have no time. */
TEST(changed_rates)
{
    static const struct {
        const char *codec;
        int rate[3];
    } trial[] = {{"aac -b:a 64k", {48000, 32000, 24000}},
                 {"aac -b:a 64k", {24000, 48000, 32000}},
                 {"aac -b:a 64k", {44100, 48000, 22050}},
                 {"ac3 -b:a 64k", {48000, 32000, 44100}},
                 {"mp2 -b:a 64k", {24000, 48000, 32000}}};
    for (size_t i = 0; i < (UNDER_TSAN ? 1 : sizeof trial / sizeof *trial); i++) {
        for (int k = 0; k < 3; k++) {
            char line[1024];
            snprintf(line, sizeof line,
                     PICTURES STEREO
                     "-af atrim=0:7.7 -c:v mpeg2video -bf 2 -ac 1 -c:a %s -ar %d %d.ts",
                     trial[i].codec, trial[i].rate[k], k);
            assert_true(clip_ffmpeg(line));
        }
        assert_int_equal(system("cat 0.ts 1.ts 2.ts > rates.ts"), 0);
        struct source *s = open_film("rates.ts", SOURCE_STREAM_CHOICE);
        struct heard h = hear_beside(s, DECODE_PARALLEL);
        assert_together(trial[i].codec, &h, 3 * 8, 0);
        assert_int_equal(h.job.sound.gaps, 2); /* where a recording's sound has ended */
        assert_in_range(h.job.sound.gap_us, 300000, 600000);
        assert_int_equal(h.job.sound.errors, 0);
        film_sound_free(&h.job.sound);
        source_close(&s);
    }
}

/* A film has the same columns with its sound and without, and the sound is always complete. */
static void assert_beside(const char *name, const struct selection *rule, bool beside)
{
    struct sound_job job = {.done = false};
    struct source *with = open_film(name, SOURCE_STREAM_CHOICE),
                  *without = open_film(name, SOURCE_SOUND_NONE);
    clip_sound = &job;
    struct staged a =
        clip_stage_with(with, DECODE_PARALLEL, 2, rule, CLIP_W / 2, CLIP_H / 2, NULL, NULL);
    clip_sound = NULL;
    struct staged b =
        clip_stage_with(without, DECODE_PARALLEL, 2, rule, CLIP_W / 2, CLIP_H / 2, NULL, NULL);
    assert_true(a.ok && b.ok);
    assert_int_equal(columns_count(a.columns), columns_count(b.columns));
    struct digest_result r = digest_compare(a.digest, b.digest);
    assert_true(r.both > 0 && r.different + r.alone == 0);
    assert_true(a.counts.read_failed || !b.counts.read_failed); /* the sound may be cut off */
    assert_int_equal(a.counts.displayed, b.counts.displayed);
    if (job.done != beside)
        fail_msg("%s: its sound was read %d", name, job.done);
    struct film_sound alone = hear(name, SOURCE_STREAM_CHOICE);
    if (beside)
        assert_same_sound(&job.sound, &alone);
    film_sound_free(&job.sound);
    film_sound_free(&alone);
    staged_free(&a);
    staged_free(&b);
    source_close(&with);
    source_close(&without);
}

/* Does the same with the beginning of a film. */
static void assert_truncated(const char *name, int thousandths)
{
    char line[200];
    struct selection all = every(1);
    snprintf(line, sizeof line, "head -c $(($(stat -c %%s %s) * %d / 1000)) %s > truncated.mp4",
             name, thousandths, name);
    assert_int_equal(system(line), 0);
    assert_beside("truncated.mp4", &all, true);
}

TEST(pictures_are_the_same)
{
    struct selection part = every(3), keys = every(1);
    part.end_us = 3000000;
    keys.keyframes = true;
    keys.interval_us = 40000;
    assert_true(clip_ffmpeg(PICTURES STEREO VIDEO "-c:a aac -movflags +faststart good.mp4"));
    assert_true(clip_ffmpeg("-i good.mp4 -c copy good.mkv"));
    assert_true(clip_ffmpeg(PICTURES STEREO "-c:v mpeg2video -bf 2 -c:a mp2 good.ts"));
    /* Fragments have all of their pictures, then all of their sound. */
    assert_true(clip_ffmpeg("-i good.mp4 -c:v copy -c:a pcm_s16le -movflags +frag_keyframe "
                            "-frag_duration 4000000 -min_frag_duration 4000000 fragments.mov"));
    clip_careful = true; /* else the pass ends where the film does, to be repeated */
    for (int thousandths = 700; thousandths < 1000; thousandths += 59) {
        assert_truncated("good.mp4", thousandths);
        assert_truncated("fragments.mov", thousandths);
    }
    clip_careful = false;
    static const char *const name[] = {"good.mp4", "good.mkv", "good.ts"};
    for (size_t i = 0; i < 3; i++) {
        assert_beside(name[i], &part, true);
        /* an index leads past the sound */
        assert_beside(name[i], &keys, i == 2);
    }
}

/* Damaged packets are counted, and the rest is heard. */
TEST(damaged_sound)
{
    assert_true(clip_ffmpeg("-f lavfi -i color=black:s=16x16:r=1:d=20 -f lavfi -i sine=d=20 "
                            "-c:v mpeg4 -c:a flac whole.mkv"));
    size_t spoiled = spoil_frames("whole.mkv", "damaged.mkv");
    struct film_sound whole = hear("whole.mkv", SOURCE_STREAM_CHOICE);
    struct film_sound damaged = hear("damaged.mkv", SOURCE_STREAM_CHOICE);
    assert_int_equal(whole.errors, 0);
    assert_in_range(spoiled, 20, 2000);
    assert_in_range(damaged.errors, spoiled * 9 / 10, spoiled);
    assert_in_range(damaged.samples, whole.samples - SPECTROGRAM_RATE,
                    whole.samples + SPECTROGRAM_RATE / 100);
    film_sound_free(&whole);
    film_sound_free(&damaged);
}

/* Writes a copy of the film in which `from` is replaced by `to`, which is as long. */
static void replace_bytes(const char *name, const char *copy, const char *from, const char *to)
{
    char line[300];
    snprintf(line, sizeof line, "LC_ALL=C sed 's/%s/%s/g' %s > %s", from, to, name, copy);
    assert_int_equal(system(line), 0);
}

/* A codec without a decoder, and no sound at all, are silence. */
TEST(nothing_to_hear)
{
    assert_true(clip_ffmpeg(PICTURES STEREO VIDEO "-c:a pcm_s24le known.mov"));
    assert_true(clip_ffmpeg(PICTURES VIDEO "silent.mkv"));
    replace_bytes("known.mov", "unknown.mov", "in24", "zz24");
    struct selection all = every(1);
    assert_beside("unknown.mov", &all, true);
    assert_beside("silent.mkv", &all, true);
    struct film_sound known = hear("known.mov", SOURCE_STREAM_CHOICE),
                      unknown = hear("unknown.mov", SOURCE_STREAM_CHOICE),
                      silent = hear("silent.mkv", 3);
    assert_string_equal(known.decoder, "pcm_s24le");
    assert_in_range(known.rows, 249, 251);
    assert_int_equal(unknown.stream, 0);
    assert_string_equal(unknown.decoder, "");
    assert_int_equal(unknown.rows, 0);
    assert_int_equal(unknown.samples, 0);
    assert_int_equal(silent.stream, -1);
    assert_int_equal(silent.rows, 0);
    film_sound_free(&known);
    film_sound_free(&unknown);
    film_sound_free(&silent);
}

/* The default stream, else the one with the most channels; or the one with the number. */
TEST(chooses_a_stream)
{
    struct err e = ERR_INIT;
    assert_true(clip_ffmpeg(PICTURES STEREO SURROUND
                            "-map 1:a -map 0:v -map 2:a -map 1:a " VIDEO
                            "-c:a flac -ar:a:2 32000 -disposition:a 0 plain.mkv"));
    assert_true(clip_ffmpeg("-i plain.mkv -map 0 -c copy -disposition:a:2 default default.mkv"));
    assert_true(clip_ffmpeg("-i plain.mkv -map 0 -c copy -disposition:a:1 comment comment.mkv"));
    static const struct {
        const char *name;
        int asked, stream, channels, rate;
    } trial[] = {{"plain.mkv", SOURCE_STREAM_CHOICE, 1, 6, 48000},
                 {"default.mkv", SOURCE_STREAM_CHOICE, 2, 2, 32000},
                 {"comment.mkv", SOURCE_STREAM_CHOICE, 0, 2, 48000},
                 {"default.mkv", 0, 0, 2, 48000},
                 {"default.mkv", 1, 1, 6, 48000}};
    for (size_t i = 0; i < sizeof trial / sizeof *trial; i++) {
        struct film_sound s = hear(trial[i].name, trial[i].asked);
        assert_int_equal(s.stream, trial[i].stream);
        assert_int_equal(s.channels, trial[i].channels);
        assert_int_equal(s.rate, trial[i].rate);
        film_sound_free(&s);
    }
    assert_null(source_open_stream("plain.mkv", NULL, SOURCE_STREAM_CHOICE, 3, false, &e));
    assert_int_equal(e.code, ERR_USAGE);
    assert_string_equal(e.text, "'plain.mkv' has 3 streams of sound, numbered from 0: there is no "
                                "--sound-stream 3");
}

/* Rates and channels that no film has. */
TEST(hostile_formats)
{
    static const struct {
        const char *rate, *channels;
        uint64_t samples;
        bool heard;
    } trial[] = {{"1", "1", 16000 * UINT64_C(6400), true},
                 {"768000", "2", 67, true},
                 {"768001", "1", 0, false},
                 {"48000", "64", 33, true},
                 {"48000", "65", 0, false}};
    assert_int_equal(system("head -c 12800 /dev/urandom > noise"), 0);
    for (size_t i = UNDER_TSAN; i < sizeof trial / sizeof *trial; i++) { /* not the two hours */
        char line[300];
        snprintf(line, sizeof line,
                 PICTURES "-f s16le -ar %s -ac %s -i noise -c:v mpeg4 -c:a copy odd.mkv",
                 trial[i].rate, trial[i].channels);
        assert_true(clip_ffmpeg(line));
        struct film_sound s = hear("odd.mkv", SOURCE_STREAM_CHOICE);
        assert_int_equal(s.stream, 0);
        assert_int_equal(s.errors > 0, !trial[i].heard);
        assert_in_range(s.samples, trial[i].samples > 8 ? trial[i].samples - 8 : 0,
                        trial[i].samples + 8);
        film_sound_free(&s);
    }
}

/* A time in the far future is not waited for. */
TEST(wrong_time)
{
    assert_true(clip_ffmpeg(PICTURES STEREO VIDEO
                            "-c:a pcm_s16le -bsf:a setts=pts='if(eq(N\\,100)\\,PTS+9e9\\,PTS)' "
                            "future.mkv"));
    struct film_sound s = hear("future.mkv", SOURCE_STREAM_CHOICE);
    assert_in_range(s.rows, 240, 260);
    film_sound_free(&s);
}

/* ---- segments ---- */

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
        struct film_sound apart = hear("apart.mkv", SOURCE_STREAM_CHOICE),
                          plain = hear("plain.mkv", SOURCE_STREAM_CHOICE);
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
        struct film_sound s = hear(name[i], SOURCE_STREAM_CHOICE);
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
    struct film_sound s = hear("both.flv", SOURCE_STREAM_CHOICE);
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

/* ---- samples ---- */

/* A frame of four samples of two channels in memory of the caller. */
static AVFrame *frame_of(enum AVSampleFormat format, void *first, void *second)
{
    AVFrame *f = av_frame_alloc();
    assert_non_null(f);
    f->format = format;
    f->nb_samples = 4;
    f->extended_data[0] = first;
    f->extended_data[1] = second;
    return f;
}

/* Checks the planar format, and the packed one with every sample twice. */
static void check(enum AVSampleFormat packed, const void *values, size_t size,
                  const int16_t expected[4])
{
    uint8_t twice[2 * 4 * 8], plane[2][4 * 8];
    int16_t out[8];
    for (size_t i = 0; i < 8; i++)
        memcpy(twice + i * size, (const uint8_t *)values + i / 2 * size, size);
    for (size_t i = 0; i < 4; i++) {
        memcpy(plane[0] + i * size, (const uint8_t *)values + i * size, size);
        memcpy(plane[1] + (3 - i) * size, (const uint8_t *)values + i * size, size);
    }
    AVFrame *f = frame_of(packed, twice, NULL);
    assert_true(samples_known(packed));
    samples_convert(f, 2, out);
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(out[i], expected[i / 2]);
    av_frame_free(&f);
    enum AVSampleFormat planar = av_get_planar_sample_fmt(packed);
    assert_true(samples_known(planar));
    f = frame_of(planar, plane[0], plane[1]);
    samples_convert(f, 2, out);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(out[2 * i], expected[i]);
        assert_int_equal(out[2 * i + 1], expected[3 - i]);
    }
    av_frame_free(&f);
}

TEST(every_format)
{
    check(AV_SAMPLE_FMT_U8, (uint8_t[]){0, 127, 128, 255}, 1, (int16_t[]){-32768, -256, 0, 32512});
    check(AV_SAMPLE_FMT_S16, (int16_t[]){-32768, -1, 0, 32767}, 2,
          (int16_t[]){-32768, -1, 0, 32767});
    check(AV_SAMPLE_FMT_S32, (int32_t[]){INT32_MIN, 0x7fff, 0x8000, INT32_MAX}, 4,
          (int16_t[]){-32768, 0, 1, 32767});
    check(AV_SAMPLE_FMT_S64,
          (int64_t[]){INT64_MIN, INT64_C(0x7fffffffffff), INT64_C(0x800000000000), INT64_MAX}, 8,
          (int16_t[]){-32768, 0, 1, 32767});
    check(AV_SAMPLE_FMT_FLT, (float[]){-7, 0.6f / 32768, 1, NAN}, 4,
          (int16_t[]){-32768, 1, 32767, 0});
    check(AV_SAMPLE_FMT_FLT, (float[]){-INFINITY, -0.6f / 32768, 0.4f / 32768, INFINITY}, 4,
          (int16_t[]){-32768, -1, 0, 32767});
    check(AV_SAMPLE_FMT_DBL, (double[]){-1, 0.4 / 32768, 32767.4 / 32768, NAN}, 8,
          (int16_t[]){-32768, 0, 32767, 0});
    assert_false(samples_known(AV_SAMPLE_FMT_NONE));
    assert_false(samples_known((enum AVSampleFormat)999));
}

TEST(masks)
{
    AVChannelLayout l = AV_CHANNEL_LAYOUT_5POINT1;
    assert_int_equal(samples_mask(&l), AV_CH_LAYOUT_5POINT1);
    l = (AVChannelLayout){.order = AV_CHANNEL_ORDER_UNSPEC, .nb_channels = 2};
    assert_int_equal(samples_mask(&l), AV_CH_LAYOUT_STEREO);
    l.nb_channels = 63; /* no usual layout */
    assert_int_equal(samples_mask(&l), 0);
    l = (AVChannelLayout){.order = AV_CHANNEL_ORDER_AMBISONIC, .nb_channels = 4};
    assert_int_equal(samples_mask(&l), 0);
}
