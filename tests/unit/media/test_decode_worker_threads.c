
#include "test.h"
#include "clip_packets.h"

/* Stages with every run on that many threads. */
static struct staged stage_on(const char *name, const char *threads, uint64_t n)
{
    setenv("BARCODE_FRAME_THREADS", threads, 1);
    struct selection rule = every(n);
    struct staged r = clip_stage(name, DECODE_PARALLEL, 2, &rule);
    unsetenv("BARCODE_FRAME_THREADS");
    if (!r.ok)
        fail_msg("%s", r.error.text);
    return r;
}

static void assert_same(struct staged *a, struct staged *b)
{
    struct digest_result d = digest_compare(a->digest, b->digest);
    assert_int_equal(d.different + d.alone, 0);
    assert_int_equal(a->counts.lost, b->counts.lost);
    assert_int_equal(a->counts.damaged, b->counts.damaged);
    assert_int_equal(a->counts.decode_errors, b->counts.decode_errors);
    assert_int_equal(a->counts.redone_chunks, b->counts.redone_chunks);
    assert_int_equal(a->counts.contradicted, b->counts.contradicted);
}

/* A decoder with threads gives what one without gives, and no more than was asked for. */
TEST(threads_change_nothing)
{
    static const char *const encode[] = {
        "-c:v libx264 -preset veryfast -x264-params "
        "keyint=40:min-keyint=40:bframes=3:open-gop=1:scenecut=0 threads.mkv",
        "-c:v libx264 -preset veryfast -x264-params "
        "keyint=200:bframes=3:b-pyramid=strict:interlaced=1:slices=3 threads.mkv",
        "-c:v libx265 -preset ultrafast -x265-params "
        "log-level=error:wpp=1:pools=2:frame-threads=1:keyint=50:bframes=3 threads.mkv",
        "-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -g 70 threads.webm",
        "-c:v libsvtav1 -preset 12 -g 60 threads.webm",
    };
    for (size_t i = 0; i < sizeof encode / sizeof *encode; i++) {
        const char *name = strrchr(encode[i], ' ') + 1;
        if (!clip_encode(encode[i]))
            continue;
        for (uint64_t n = 1; n < 8; n += 3) {
            struct staged one = stage_on(name, "off", n), many = stage_on(name, "5", n);
            assert_same(&one, &many);
            assert_int_equal(many.counts.decoded, one.counts.decoded);
            assert_int_equal(many.counts.sent, one.counts.sent); /* none was decoded twice */
            staged_free(&one);
            staged_free(&many);
        }
    }
}

/* Makes the second half of a packet's bytes `value`: its slice's header is as it was. */
static void garble(const char *path, const struct where *w, int value)
{
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    fseek(f, (long)w->pos + w->size / 2, SEEK_SET);
    for (int i = w->size / 2; i < w->size; i++)
        putc(value, f);
    fclose(f);
}

/*
 * Damage ends what a decoder with threads stages; a single-threaded one decodes the rest of the
 * GOP. The other GOPs are untouched.
 */
TEST(threads_and_damage)
{
    static struct where w[CLIP_FRAMES];
    static const char *const encode[] = {
        "-c:v libx264 -preset veryfast -x264-params keyint=50:min-keyint=50:bframes=2:scenecut=0 "
        "corrupt.mp4",
        "-c:v libx265 -preset ultrafast -x265-params "
        "log-level=error:wpp=1:pools=2:frame-threads=1:keyint=50:min-keyint=50:no-open-gop=1 "
        "corrupt.mp4",
    };
    for (size_t i = 0; i < sizeof encode / sizeof *encode && clip_encode(encode[i]); i++) {
        struct staged whole = stage_on("corrupt.mp4", "off", 1);
        list_packets("corrupt.mp4", w, CLIP_FRAMES);
        garble("corrupt.mp4", &w[110], 0xa5);
        garble("corrupt.mp4", &w[135], 0xff);
        for (const char *threads = "2359"; *threads; threads++) {
            struct staged many = stage_on("corrupt.mp4", (char[]){*threads, 0}, 1);
            assert_true(many.counts.redone_chunks > 0 &&
                        many.counts.damaged + many.counts.lost > 0);
            assert_false(many.counts.contradicted);
            for (uint64_t f = 0; f < CLIP_FRAMES; f++) {
                const struct column *a = columns_get(whole.columns, f),
                                    *b = columns_get(many.columns, f);
                assert_int_equal(b->frame, f);
                bool same = b->status == COLUMN_OK && memcmp(a->average, b->average, 3) == 0;
                assert_true(same || (f >= 100 && f < 150));
            }
            staged_free(&many);
        }
        staged_free(&whole);
    }
}

TEST_FIXTURE(clip_begin, clip_end)
