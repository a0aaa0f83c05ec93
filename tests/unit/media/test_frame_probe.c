/*
 * test_frame_probe.c - black bars by key frames, in containers with an index and without, with any
 * number of threads; peak brightness by the first frame
 */
#include <libavformat/avformat.h>

#include "test.h"
#include "media/reader/reader.h"
#include "clip.h"

#define X264 "-c:v libx264 -preset ultrafast -crf 23 -g 12 "
#define SCOPE "-i master.mkv -vf crop=96:40:0:12,pad=96:64:0:12:black " X264

static struct probe_facts detect(const char *name, int threads)
{
    struct err e = ERR_INIT;
    struct probe_request request = {.want = PROBE_BARS, .threads = threads};
    struct probe_facts facts;
    struct source *s = clip_open(name);
    assert_true(source_probe(s, &request, &facts, &e));
    source_close(&s);
    return facts;
}

/* By an index (mp4, mkv, avi), by the byte (ts), and in a small film without either (flv). */
TEST(every_way)
{
    static const char *const name[] = {"scope.mkv", "scope.mp4", "scope.ts", "scope.avi",
                                       "scope.flv"};
    if (!clip_encode("-c:v ffv1 master.mkv") || !clip_ffmpeg(SCOPE "scope.mkv") ||
        !clip_ffmpeg("-i scope.mkv -c copy scope.mp4") ||
        !clip_ffmpeg("-i scope.mkv -c copy scope.ts") ||
        !clip_ffmpeg("-i scope.mkv -c copy -bsf:v h264_mp4toannexb scope.avi") ||
        !clip_ffmpeg("-i scope.mkv -c copy scope.flv"))
        skip();
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        for (int threads = 1; threads <= 5; threads += 2) {
            struct probe_facts facts = detect(name[i], threads);
            assert_int_equal(facts.found, PROBE_BARS);
            assert_in_range(facts.sampled, 12, 24);
            assert_in_range(facts.conclusive, 1, facts.sampled);
            assert_int_equal(facts.crop.count, 1);
            assert_in_range(facts.crop.rect[0].y, 11, 13);
            assert_in_range(facts.crop.rect[0].height, 38, 42);
            assert_int_equal(facts.crop.rect[0].width, CLIP_W);
        }
}

/* A film that can be staged can be looked at before and after. */
TEST(beside_other_probes)
{
    if (!clip_encode("-c:v ffv1 master.mkv") || !clip_ffmpeg(SCOPE "scope.mkv"))
        skip();
    struct err e = ERR_INIT;
    struct source *s = source_open("scope.mkv", &e);
    struct probe_request request = {.want = PROBE_BARS | PROBE_LENGTH, .threads = 2};
    struct probe_facts facts;
    assert_non_null(s);
    for (int i = 0; i < 2; i++) {
        assert_true(source_probe(s, &request, &facts, &e));
        assert_int_equal(facts.found, PROBE_BARS | PROBE_LENGTH);
        assert_int_equal(facts.length.frames, CLIP_FRAMES);
        assert_int_equal(facts.crop.count, 1);
    }
    source_close(&s);
}

TEST(nothing_to_find)
{
    if (!clip_encode(X264 "plain.mkv") ||
        !clip_ffmpeg("-f lavfi -i color=black:s=96x64:d=3 " X264 "black.mkv") ||
        !clip_encode("-c:v mpeg4 -g 12 plain.avi"))
        skip();
    static const char *const name[] = {"plain.mkv", "black.mkv", "plain.avi"};
    for (size_t i = 0; i < 3; i++) {
        struct probe_facts facts = detect(name[i], 2);
        assert_int_equal(facts.found, PROBE_BARS);
        assert_int_equal(facts.crop.count, 0);
        assert_true(facts.sampled > 0);
    }
    struct err e = ERR_INIT;
    struct film gone = {.path = strdup("gone.mkv")};
    struct probe_facts facts = {.found = 0};
    const struct probe_request request = {.want = PROBE_BARS, .threads = 2};
    /* whoever stages it says why */
    assert_true(film_bars_probe(&gone, SOURCE_STREAM_CHOICE, NULL, &request, &facts, &e));
    assert_int_equal(facts.sampled, 0);
    free(gone.path);
}

/* From what follows the first key frame on, 8 of every 499 bytes are not what they were. */
static void spoil(const char *name, const char *as)
{
    size_t size = clip_load(name);
    for (size_t i = size / 40; i < size; i += 499)
        for (size_t k = i; k < i + 8 && k < size; k++)
            clip_bytes[k] ^= 0x5a;
    clip_save(as, size);
}

/* Whatever is wrong with it, the same is found by any number of threads. */
static void same_by_all(const char *name)
{
    struct probe_facts alone = detect(name, 1);
    for (int threads = 2; threads <= 8; threads += 3) {
        struct probe_facts facts = detect(name, threads);
        assert_memory_equal(&facts, &alone, sizeof facts);
    }
}

/* One key frame: pictures that follow it are looked at, also of a damaged film. */
TEST(few_keys)
{
    static const char *const encoder[] = {
        "libx264 -g 1000 -keyint_min 1000 -sc_threshold 0 -bf 3",
        "libx265 -x265-params log-level=none:keyint=1000:scenecut=0",
        "libvpx-vp9 -g 1000 -b:v 500k", "mpeg4 -g 600 -sc_threshold 1000000000"};
    char line[512];
    clip_need("-c:v ffv1 master.mkv");
    for (size_t i = 0; i < 4; i++) {
        snprintf(line, sizeof line,
                 "-i master.mkv -vf crop=96:40:0:12,pad=96:64:0:12:black -c:v %s one.mkv",
                 encoder[i]);
        if (!clip_ffmpeg(line))
            skip();
        struct probe_facts alone = detect("one.mkv", 1);
        assert_int_equal(alone.crop.count, 1);
        assert_in_range(alone.crop.rect[0].y, 11, 13);
        assert_in_range(alone.conclusive, 4, 5); /* no more are decoded than tell enough */
        same_by_all("one.mkv");
        spoil("one.mkv", "spoilt.mkv");
        same_by_all("spoilt.mkv");
    }
}

/* The middle of each of the film's two largest packets becomes noise. */
static void spoil_largest(const char *name, const char *as)
{
    int64_t at[2] = {0, 0};
    int size[2] = {0, 0};
    AVFormatContext *format = NULL;
    AVPacket *p = av_packet_alloc();
    assert_int_equal(avformat_open_input(&format, name, NULL, NULL), 0);
    for (; av_read_frame(format, p) >= 0; av_packet_unref(p)) {
        int least = size[1] < size[0];
        if (p->size > size[least]) {
            size[least] = p->size;
            at[least] = p->pos;
        }
    }
    avformat_close_input(&format);
    av_packet_free(&p);
    size_t length = clip_load(name);
    for (int i = 0; i < 2; i++)
        for (int k = size[i] / 3; k < size[i] / 2; k++)
            clip_bytes[at[i] + k] ^= (uint8_t)(k * 31 + 7);
    clip_save(as, length);
}

/* Two key frames are dark, and the two that would tell are damaged: then what follows the first one
 * is looked at. */
TEST(dark_and_damaged)
{
    if (!clip_ffmpeg(
            "-f lavfi -i "
            "color=gray:s=96x40:r=24:d=4,noise=alls=60:allf=t,eq=brightness=-1:enable='lt(mod(n\\,"
            "48)\\,6)',pad=96:64:0:12:black "
            "-c:v libx264 -preset ultrafast -g 24 -keyint_min 24 -sc_threshold 0 -bf 0 four.mp4"))
        skip();
    /* Of four frames, two show the bars, which is too few. */
    assert_int_equal(detect("four.mp4", 2).crop.count, 0);
    assert_int_equal(detect("four.mp4", 2).sampled, 4);
    spoil_largest("four.mp4", "spoilt.mp4");
    struct probe_facts facts = detect("spoilt.mp4", 2);
    assert_true(facts.sampled > 4);
    assert_int_equal(facts.crop.count, 1);
    same_by_all("spoilt.mp4");
}

/* Of the frames after the only key frame, as few are sampled as can show that there are no bars. */
TEST(frames_after_the_only_key_frame)
{
    clip_need("-c:v libx264 -preset ultrafast -g 1000 -sc_threshold 0 -bf 0 one.mp4");
    enum { ENOUGH = 4 };
    assert_int_equal(detect("one.mp4", 1).conclusive, ENOUGH - CROP_QUORUM + 1);
}

#define X265 \
    "-frames:v 12 -c:v libx265 -preset ultrafast -pix_fmt yuv420p10le -x265-params " \
    "log-level=error:colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc"

/* What the source knows of the film's peak, without a probe and with one. */
static void peaks(const char *name, int before, int after)
{
    struct err e = ERR_INIT;
    struct probe_request request = {.want = PROBE_LIGHT};
    struct probe_facts facts;
    struct source *s = clip_open(name);
    assert_int_equal(s->film.transfer, TRANSFER_PQ);
    assert_int_equal(s->film.primaries, PRIMARIES_BT2020);
    assert_int_equal(s->film.peak, before);
    assert_true(source_probe(s, &request, &facts, &e));
    assert_int_equal(facts.found, PROBE_LIGHT);
    assert_int_equal(s->film.peak, after);
    /* And it can be looked at again. */
    assert_true(source_probe(s, &request, &facts, &e));
    source_close(&s);
}

TEST(in_films)
{
    if (!clip_encode(X265 ":max-cll=1234,400 said.mp4") ||
        !clip_ffmpeg("-i said.mp4 -c copy said.ts") ||
        !clip_ffmpeg("-i said.mp4 -c copy said.hevc") ||
        !clip_encode(X265 ":hdr10=1:'master-display=G(13250,34500)B(7500,3000)R(34000,16000)WP("
                          "15635,16450)L(20000000,50)' display.mkv") ||
        !clip_encode(X265 " silent.mkv"))
        skip();
    peaks("said.mp4", 0, 1234);
    peaks("said.ts", 0, 1234);
    peaks("said.hevc", 0, 1234);
    peaks("display.mkv", 0, 2000);
    peaks("silent.mkv", 0, 0);
}

/* A recording that begins behind a key frame: nothing can be decoded before the next one. */
TEST(behind_a_key_frame)
{
    if (!clip_encode("-c:v libx265 -preset ultrafast -pix_fmt yuv420p10le -x265-params "
                     "log-level=error:colorprim=bt2020:transfer=smpte2084:"
                     "colormatrix=bt2020nc:keyint=150:min-keyint=150:scenecut=0:repeat-headers=1:"
                     "max-cll=1234,400 whole.ts") ||
        system("tail -c +$((188 * 50 + 1)) whole.ts > behind.ts") != 0)
        skip();
    peaks("behind.ts", 0, 1234);
}

TEST_FIXTURE(clip_begin, clip_end)
