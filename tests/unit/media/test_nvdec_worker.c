/*
 * test_nvdec_worker.c - what an NVDEC worker does but the GPU itself: software stands in (nvdec.h),
 * and every frame must be the one that a software worker stages.
 */
#include "test.h"
#include "clip.h"

static bool same(const struct staged *a, const struct staged *b)
{
    struct digest_result r = digest_compare(a->digest, b->digest);
    return r.both > 0 && r.different == 0 && r.alone == 0;
}

static struct staged stage(const char *name, uint64_t step, enum decode_choice decode, int threads)
{
    struct selection rule = every(step);
    clip_decode = decode;
    struct staged r = clip_stage(name, DECODE_PARALLEL, threads, &rule);
    clip_decode = DECODE_AUTO;
    return r;
}

/* A worker gives what a software worker gives of the same film, and counts what it counts: returned.
 */
static struct decode_counts judge_damaged(const char *name, uint64_t step)
{
    struct staged right = stage(name, step, DECODE_CPU, 2), r = stage(name, step, DECODE_NVDEC, 1);
    struct decode_counts counts = r.counts;
    if (!right.ok || !r.ok)
        fail_msg("%s: %s%s", name, right.error.text, r.error.text);
    if (!same(&right, &r))
        fail_msg("%s, every %d: other frames", name, (int)step);
    assert_int_equal(r.counts.contradicted, right.counts.contradicted);
    assert_int_equal(r.counts.decode_errors, right.counts.decode_errors);
    assert_int_equal(r.counts.damaged, right.counts.damaged);
    assert_int_equal(r.counts.lost, right.counts.lost);
    staged_free(&right);
    staged_free(&r);
    return counts;
}

/* Does the same with a film without damage, of which nothing is decoded twice. */
static struct decode_counts judge(const char *name, uint64_t step)
{
    struct decode_counts c = judge_damaged(name, step);
    assert_int_equal(c.redone_chunks + c.lost + c.damaged + c.decode_errors + c.contradicted, 0);
    return c;
}

static void every_step(const char *name)
{
    static const uint64_t step[] = {1, 2, 7, 24, 60};
    for (size_t i = 0; i < sizeof step / sizeof *step; i++)
        judge(name, step[i]);
}

/* Runs that begin with an IDR go in without a flush: pictures of the last run come out while the
 * next goes in. */
TEST(h264)
{
    clip_need("-c:v libx264 -preset veryfast -x264-params "
              "keyint=12:min-keyint=12:bframes=3:b-pyramid=normal closed.mp4");
    clip_need("-c:v libx264 -preset veryfast -x264-params "
              "keyint=12:min-keyint=12:open-gop=1:bframes=3 open.mkv");
    clip_need("-c:v libx264 -preset veryfast -x264-params keyint=1 intra.mkv");
    clip_need("-c:v libx264 -preset veryfast -x264-params "
              "keyint=70:bframes=16:ref=4:b-adapt=0 far.mkv");
    every_step("closed.mp4");
    every_step("open.mkv");
    every_step("intra.mkv");
    every_step("far.mkv");
}

TEST(others)
{
    if (!clip_encode(
            "-c:v libx265 -preset superfast -x265-params "
            "log-level=error:keyint=12:min-keyint=12:open-gop=1:bframes=4 open-hevc.mkv") ||
        !clip_encode("-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -g 12 -b:v 300k vp9.webm") ||
        !clip_encode("-c:v mpeg2video -g 12 -bf 2 mpeg2.mkv") || !clip_hidden_vp8("vp8.webm"))
        skip();
    every_step("open-hevc.mkv");
    every_step("vp9.webm");
    every_step("mpeg2.mkv");
    every_step("vp8.webm");
}

/* What the decoder does not give is decoded again in software, and damage is counted once. */
TEST(damaged)
{
    clip_need("-c:v libx264 -preset veryfast -x264-params keyint=12:min-keyint=12:bframes=2 "
              "whole.mp4");
    const size_t size = clip_load("whole.mp4");
    for (size_t at = 20000; at < 26000; at += 97)
        clip_bytes[at] = (uint8_t)(at * 31);
    clip_save("whole.mp4", size);
    judge_damaged("whole.mp4", 1);
    judge_damaged("whole.mp4", 5);
    judge_damaged("whole.mp4", 24);
}

/* Rewrites a stream with start codes: `change` copies one NAL, its start code included, and says
 * how many bytes it wrote. */
static void edit(const char *from, const char *to,
                 size_t (*change)(const uint8_t *nal, size_t size, uint8_t *out))
{
    static uint8_t nal[1 << 20];
    const uint8_t *data = clip_bytes;
    size_t size = clip_load(from), begin = 0;
    FILE *out = fopen(to, "wb");
    assert_non_null(out);
    for (size_t at = 1; at <= size; at++) {
        if (at < size && (at + 3 > size || data[at] || data[at + 1] || data[at + 2] != 1))
            continue;
        size_t n = change(data + begin, at - begin, nal);
        assert_int_equal(fwrite(nal, 1, n, out), n);
        begin = at;
    }
    fclose(out);
}

static bool is_slice(const uint8_t *nal)
{
    int type = nal[3] & 31;
    return nal[2] == 1 && type >= 1 && type <= 5;
}

static size_t add(const uint8_t *nal, size_t size, const char *tail, size_t n, uint8_t *out)
{
    memcpy(out, nal, size);
    if (is_slice(nal))
        memcpy(out + size, tail, n);
    return size + (is_slice(nal) ? n : 0);
}

static size_t add_zeros(const uint8_t *nal, size_t size, uint8_t *out)
{
    return add(nal, size, "\0\0\0\0", 4, out);
}

/* Behind what a decoder looks at: software sees nothing wrong. */
static size_t add_illegal_zeros(const uint8_t *nal, size_t size, uint8_t *out)
{
    return add(nal, size, "\0\0\0\5", 4, out);
}

static int keys;

/* Without what is before the first CRA; its RASL pictures become RADL ones, which refer to what is
 * not there. */
static size_t lie(const uint8_t *nal, size_t size, uint8_t *out)
{
    int type = nal[2] == 1 ? nal[3] >> 1 & 63 : 64;
    keys += type == 21;
    if (keys == 0 && type < 32)
        return 0;
    memcpy(out, nal, size);
    if (keys == 1 && (type == 8 || type == 9))
        out[3] = (uint8_t)((type - 2) << 1);
    return size;
}

/* Runs that a worker gave to software, and that software found nothing wrong with. */
static void judge_redone(const char *name, uint64_t step, uint64_t redone, bool all)
{
    struct decode_counts c = judge_damaged(name, step);
    assert_int_equal(c.contradicted + c.decode_errors + c.damaged + c.lost, 0);
    if (c.redone_chunks != (all ? c.chunks : redone))
        fail_msg("%s: %d of %d runs redone", name, (int)c.redone_chunks, (int)c.chunks);
}

/* NVDEC reports neither missing data in slices nor missing references. */
TEST(left_to_software)
{
    clip_need("-c:v libx264 -preset veryfast -x264-params "
              "keyint=12:min-keyint=12:bframes=2:slices=1 whole.h264");
    clip_need("-c:v libx265 -preset superfast -x265-params "
              "log-level=error:keyint=12:min-keyint=12:open-gop=1:bframes=4 open.hevc");
    edit("whole.h264", "gap.h264", add_illegal_zeros);
    judge_redone("gap.h264", 1, 0, true);
    keys = 0;
    edit("open.hevc", "lie.hevc", lie);
    /* libavcodec conceals the missing references; FFmpeg 9 reports that. */
    assert_int_equal(judge_damaged("lie.hevc", 1).redone_chunks, 1);
}

/* What looks much like it, in sane films: zeros between slices, references from before an open GOP.
 */
TEST(trusted)
{
    if (!clip_encode("-c:v libx264 -preset veryfast -x264-params "
                     "keyint=12:min-keyint=12:bframes=2:slices=1 whole.h264") ||
        !clip_ffmpeg("-f lavfi -i testsrc2=s=96x64:r=25:d=40,noise=alls=20:allf=t -pix_fmt yuv420p "
                     "-c:v libx264 -preset veryfast "
                     "-threads 2 -x264-params keyint=60:min-keyint=60:open-gop=1:bframes=8:ref=8 "
                     "long.mkv") ||
        !clip_ffmpeg("-ss 6 -i long.mkv -c copy cut.mkv"))
        skip();
    edit("whole.h264", "zeros.h264", add_zeros);
    judge_redone("zeros.h264", 1, 0, false);
    judge_redone("long.mkv", 24, 0, false);
    judge_redone("long.mkv", 100, 0, false);
    judge_redone("cut.mkv", 24, 0, false);
}

#define BLURAY \
    "bluray-compat=1:slices=4:bframes=3:b-pyramid=strict:level=4.1:vbv-maxrate=40000:" \
    "vbv-bufsize=30000"

/* Long enough that each of the four sessions gets several runs. */
static bool encode_long(const char *arguments)
{
    char line[1024];
    snprintf(line, sizeof line,
             "-f lavfi -i testsrc2=s=96x64:r=25:d=36,noise=alls=20:allf=t -pix_fmt yuv420p -c:v "
             "libx264 -preset veryfast "
             "-threads 2 -x264-params scenecut=0:open-gop=1:keyint=24:min-keyint=1:%s",
             arguments);
    return clip_ffmpeg(line);
}

static struct decode_counts judge_long(const char *name, uint64_t step)
{
    struct decode_counts c = judge(name, step);
    assert_true(c.chunks > 8);
    return c;
}

static void judge_separated(const char *name, bool separated)
{
    static const uint64_t step[] = {1, 5, 24};
    for (size_t i = 0; i < sizeof step / sizeof *step; i++) {
        struct decode_counts c = judge_long(name, step[i]);
        if (separated != (c.flushes == 0) || separated != (c.idr_splices > 8))
            fail_msg("%s: %d flushes, %d separators", name, (int)c.flushes, (int)c.idr_splices);
    }
}

/* Open GOPs, of which only the film's first picture is an IDR: it stands between chunks, and no
 * decoder is made anew. */
TEST(separated)
{
    if (!encode_long(BLURAY " bluray.mkv") ||
        !encode_long(BLURAY ":tff=1 -flags +ildct+ilme fields.mkv") ||
        !encode_long("bframes=8:b-adapt=0:b-pyramid=normal:ref=5 far.mkv") ||
        !clip_ffmpeg("-i bluray.mkv -c copy -bsf:v h264_mp4toannexb bluray.ts"))
        skip();
    judge_separated("bluray.mkv", true);
    judge_separated("bluray.ts", true);
    judge_separated("fields.mkv", true);
    judge_separated("far.mkv", true);
}

/* Another film's decoders, for a film of which most runs begin with no IDR picture: none is made
 * anew. */
TEST(from_film_to_film)
{
    struct err e = ERR_INIT;
    static const char *const name[] = {"one.mkv", "two.mkv", "one.mkv", "two.mkv"};
    if (!encode_long(BLURAY " one.mkv") || !encode_long(BLURAY " -vf negate two.mkv"))
        skip();
    clip_decoders = decoders_open(true, &e);
    assert_non_null(clip_decoders);
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        struct decode_counts c = judge_long(name[i], i % 2 ? 1 : 24);
        if (c.flushes > 0 || (c.reused > 0) != (i > 0))
            fail_msg("%s, film %d: %d flushes, %d decoders taken over", name[i], (int)i,
                     (int)c.flushes, (int)c.reused);
    }
    decoders_free(&clip_decoders);
}

/* No film comes after it: its H.264 decoders are drained, not separated for another one. Its frames
 * are the same. */
TEST(a_film_alone_hands_on_nothing)
{
    struct err e = ERR_INIT;
    if (!encode_long(BLURAY " one.mkv"))
        skip();
    clip_decoders = decoders_open(false, &e);
    assert_non_null(clip_decoders);
    for (int i = 0; i < 2; i++)
        assert_int_equal(judge_long("one.mkv", 24).reused, 0);
    decoders_free(&clip_decoders);
}

/* Where no picture can separate, decoders are flushed: none is an IDR, or the order count has too
 * little room. */
TEST(flushed)
{
    if (!encode_long("bframes=3 whole.mkv") ||
        !clip_ffmpeg("-i whole.mkv -c copy -bsf:v 'noise=drop=lt(n\\,30)' no-idr.mkv") ||
        !encode_long("bframes=3:ref=16 narrow.mkv"))
        skip();
    judge_separated("no-idr.mkv", false);
    judge_separated("narrow.mkv", false);
}

/* Runs are separated among those of the same parameter sets. */
TEST(sets_change)
{
    if (!encode_long("bframes=3:b-pyramid=normal:ref=2 -bsf:v dump_extra=freq=keyframe one.ts") ||
        !encode_long("bframes=2:b-pyramid=none:ref=4 -bsf:v dump_extra=freq=keyframe two.ts") ||
        system("cat one.ts two.ts one.ts > sets.ts") != 0)
        skip();
    struct decode_counts c = judge_long("sets.ts", 1);
    assert_true(c.idr_splices > 0 && c.flushes > 0 && c.flushes < c.chunks);
    judge_long("sets.ts", 24);
}

/*
 * VP8 and VP9 films whose frame size changes: a worker stages nothing that NVDEC decodes of a run
 * with another size, and what it takes afterwards is decoded in software, for which nothing is done
 * twice.
 */
TEST(another_size)
{
    static const char *const encoder[] = {"libvpx", "libvpx-vp9"};
    for (size_t i = 0; i < sizeof encoder / sizeof *encoder; i++) {
        char line[256];
        for (int size = 96; size >= 64; size -= 32) {
            snprintf(line, sizeof line,
                     "-vf scale=%d:%d -c:v %s -deadline realtime -cpu-used 8 "
                     "-g 20 -b:v 300k %d.webm",
                     size, size * 2 / 3, encoder[i], size);
            if (!clip_encode(line))
                skip();
        }
        if (system("printf 'ffconcat version 1.0\nfile %s.webm\n' 96 64 96 > sizes.ffconcat") ||
            !clip_ffmpeg("-i sizes.ffconcat -c copy sizes.webm"))
            skip();
        struct decode_counts c = judge_damaged("sizes.webm", 3);
        assert_in_range(c.redone_chunks, 1, 4); /* one for each worker */
        assert_int_equal(c.decode_errors + c.damaged + c.lost, 0);
        assert_int_equal(judge_damaged("96.webm", 3).redone_chunks, 0);
    }
}

static int begin(void **state)
{
    setenv("BARCODE_NVDEC", "software", 1);
    return clip_begin(state);
}

TEST_FIXTURE(begin, clip_end)
