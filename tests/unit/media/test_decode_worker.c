
#include "test.h"
#include "media/decode/decoder.h"
#include "barcode/base/queue.h"
#include "clip_packets.h"
#include "film_pass.h"

/* ------------------------------------------------------------------ damage */

/* Makes every slice of a packet impossible to decode, and leaves its NAL headers as they are. */
static void ruin(const char *path, const struct where *w)
{
    const size_t size = clip_load(path);
    uint8_t *bytes = clip_bytes + w->pos;
    for (size_t at = 0; at + 5 < (size_t)w->size;) {
        size_t length = (size_t)bytes[at] << 24 | (size_t)bytes[at + 1] << 16 |
                        (size_t)bytes[at + 2] << 8 | bytes[at + 3];
        int type = bytes[at + 4] & 31;
        if (type == 1 || type == 5)
            /* "macroblock 128 and so on": there is none */
            memset(bytes + at + 5, 1, length < 9 ? length - 1 : 8);
        at += 4 + length;
    }
    clip_save(path, size);
}

static bool make_film(const char *name)
{
    char line[256];
    snprintf(line, sizeof line,
             "-c:v libx264 -preset veryfast -x264-params "
             "keyint=20:min-keyint=20:bframes=2:b-pyramid=none:scenecut=0 %s",
             name);
    return clip_encode(line);
}

static struct staged stage(const char *name, int threads, uint64_t n)
{
    struct selection rule = every(n);
    struct staged r = clip_stage(name, DECODE_PARALLEL, threads, &rule);
    if (!r.ok)
        fail_msg("%s", r.error.text);
    return r;
}

/* A picture that nobody refers to is lost: it alone is missing, announced with its number and time,
 * and the rest is untouched. */
TEST(one_lost_picture)
{
    static struct where w[CLIP_FRAMES];
    if (!make_film("whole.mp4"))
        skip();
    assert_int_equal(system("cp whole.mp4 lost.mp4"), 0);
    assert_int_equal(list_packets("whole.mp4", w, CLIP_FRAMES), CLIP_FRAMES);
    size_t at = 90;
    while (!w[at].droppable)
        at++;
    ruin("lost.mp4", &w[at]);
    struct staged whole = stage("whole.mp4", 2, 1);
    for (int threads = 1; threads <= 5; threads += 2) {
        struct staged r = stage("lost.mp4", threads, 1);
        struct digest_result d = digest_compare(whole.digest, r.digest);
        assert_int_equal(d.both, CLIP_FRAMES - 1);
        assert_int_equal(d.different, 0);
        assert_int_equal(d.alone, 1);
        assert_int_equal(r.counts.lost, 1);
        assert_int_equal(r.counts.redone_chunks, 1);
        assert_int_equal(r.counts.decode_errors, 1); /* although it was tried twice */
        assert_false(r.counts.contradicted);         /* damage explains it */
        assert_int_equal(r.counts.displayed, CLIP_FRAMES);
        assert_int_equal(columns_count(r.columns), CLIP_FRAMES);
        int missing = 0;
        for (uint64_t i = 0; i < CLIP_FRAMES; i++) {
            const struct column *c = columns_get(r.columns, i);
            missing += c->status == COLUMN_MISSING;
            assert_int_equal(c->frame, i);
            assert_int_equal(c->time_us, (int64_t)i * CLIP_STEP_US);
            assert_int_equal(c->repeat, 1);
        }
        assert_int_equal(missing, 1);
        staged_free(&r);
    }
    staged_free(&whole);
    struct selection rule = every(1);
    struct staged r = clip_stage("lost.mp4", DECODE_SEQUENTIAL, 1, &rule);
    assert_true(r.counts.decode_errors > 0);
    staged_free(&r);
}

static bool count_calls(void *user, const struct frame_tag *tag, const uint8_t *rgb, struct err *e)
{
    (void)tag, (void)rgb, (void)e;
    atomic_fetch_add((atomic_int *)user, 1);
    return true;
}

/* The second try of a chunk stages only what the first one did not. */
TEST(nothing_is_staged_twice)
{
    static struct where w[CLIP_FRAMES];
    atomic_int calls = 0;
    if (!make_film("lost.mp4"))
        skip();
    list_packets("lost.mp4", w, CLIP_FRAMES);
    size_t at = 90;
    while (!w[at].droppable)
        at++;
    ruin("lost.mp4", &w[at]);
    struct selection rule = every(1);
    struct source *s = clip_open("lost.mp4");
    struct staged r = clip_stage_with(s, DECODE_PARALLEL, 2, &rule, 8, 8, count_calls, &calls);
    assert_true(r.ok);
    assert_int_equal(r.counts.redone_chunks, 1);
    assert_int_equal(atomic_load(&calls), CLIP_FRAMES - 1);
    staged_free(&r);
    source_close(&s);
}

/* A key that is lost takes its GOP with it, as missing or damaged columns; the GOPs around it are
 * untouched. */
TEST(a_lost_key)
{
    static struct where w[CLIP_FRAMES];
    if (!make_film("whole.mp4"))
        skip();
    assert_int_equal(system("cp whole.mp4 lost.mp4"), 0);
    list_packets("whole.mp4", w, CLIP_FRAMES);
    assert_true(w[100].key);
    ruin("lost.mp4", &w[100]);
    struct staged whole = stage("whole.mp4", 2, 1), r = stage("lost.mp4", 2, 1);
    struct digest_result d = digest_compare(whole.digest, r.digest);
    assert_true(r.counts.lost >= 1 && r.counts.lost <= 20);
    assert_true(r.counts.lost + r.counts.damaged <= 21);
    assert_true(d.alone >= 1 && d.alone + d.different <= 20);
    for (uint64_t i = 0; i < CLIP_FRAMES; i++) {
        bool in_gop = i >= 100 && i < 120;
        const struct column *a = columns_get(whole.columns, i), *b = columns_get(r.columns, i);
        assert_int_equal(b->frame, i);
        if (!in_gop) {
            assert_int_equal(b->status, COLUMN_OK);
            assert_memory_equal(a->average, b->average, 3);
        }
    }
    assert_int_not_equal(columns_get(r.columns, 100)->status, COLUMN_OK);
    staged_free(&whole);
    staged_free(&r);
}

/* ------------------------------------------------------------------ failures */

static bool say_no(void *user, const struct frame_tag *tag, const uint8_t *rgb, struct err *e)
{
    (void)user, (void)rgb;
    return tag->frame < 60 || err_set(e, ERR_FAILED, "the engine broke");
}

/* An engine that fails ends staging, with its sentence, in every plan and with any number of
 * threads. */
TEST(the_engine_fails)
{
    if (!make_film("whole.mp4"))
        skip();
    for (int threads = 0; threads <= 5; threads++) {
        struct selection rule = every(1);
        struct source *s = clip_open("whole.mp4");
        struct staged r = clip_stage_with(s, threads ? DECODE_PARALLEL : DECODE_SEQUENTIAL,
                                          threads ? threads : 2, &rule, 40, 30, say_no, NULL);
        assert_false(r.ok);
        /* staging met it: far more frames than batches were to come */
        assert_string_equal(r.error.text, "the engine broke");
        staged_free(&r);
        source_close(&s);
    }
}

/* ------------------------------------------------------------------ by hand */

/* Runs of one GOP each, queued in a shuffled order, every 5th picture wanted. `lie`: numbered in
 * decoding order. */
static size_t queue_runs(struct film_pass *b, bool unsure, bool lie)
{
    struct err e = ERR_INIT;
    struct chunk *chunk[16];
    struct picture p;
    size_t chunks = 0, bytes = 0;
    while (demux_next(&b->of.reader, &p, &e)) {
        if (p.rap != RAP_NONE)
            chunk[chunks++] = calloc(1, sizeof **chunk);
        p.frame = lie ? p.serial : (uint64_t)p.pts_us / CLIP_STEP_US;
        p.selected = p.frame % 5 == 0;
        p.tag = (struct frame_tag){
            .column = p.frame / 5, .repeat = 1, .frame = p.frame, .time_us = p.pts_us};
        chunk[chunks - 1]->selected += p.selected;
        assert_true(chunk_append(chunk[chunks - 1], &p, &e));
    }
    assert_in_range(chunks, 4, 8);
    for (size_t i = 0; i < chunks; i++) {
        struct chunk *r = chunk[i * 3 % chunks];
        r->own = r->count;
        r->unsure = unsure;
        r->frames = (i * 3 % chunks + 1) * 40;
        bytes += r->bytes;
        assert_true(queue_push(b->pass.chunks, r));
    }
    b->pass.bytes_in_flight = bytes + 7;
    queue_close(b->pass.chunks);
    return chunks;
}

TEST(runs_in_any_order)
{
    clip_need("-c:v libx264 -preset veryfast -x264-params "
              "keyint=40:min-keyint=40:bframes=2:scenecut=0 gops.mp4");
    struct film_pass b;
    film_pass_open(&b, "gops.mp4");
    size_t chunks = queue_runs(&b, false, false);
    assert_null(decode_worker_main(&b.pass));
    assert_int_equal(b.pass.error.code, ERR_NONE);
    assert_int_equal(b.pass.bytes_in_flight, 7); /* every chunk's bytes are given back, once */
    assert_int_equal(atomic_load(&b.pass.frames_done), chunks * 40);
    assert_int_equal(b.pass.counts.lost + b.pass.counts.redone_chunks + b.pass.counts.decode_errors,
                     0);
    assert_true(b.pass.counts.sent < CLIP_FRAMES); /* not what nobody needs */
    /* the rest is decoded, but not handed out */
    assert_int_equal(b.pass.counts.decoded, CLIP_FRAMES / 5);
    assert_false(atomic_load(&b.pass.contradicted));
    film_pass_close(&b);
}

/* Of a chunk whose order is a guess everything is decoded, though little is wanted: a wrong guess
 * is found out. */
TEST(guessed_order)
{
    clip_need("-c:v libx264 -preset veryfast -x264-params "
              "keyint=40:min-keyint=40:bframes=2:scenecut=0 gops.mp4");
    for (int lie = 0; lie < 2; lie++) {
        struct film_pass b;
        film_pass_open(&b, "gops.mp4");
        queue_runs(&b, true, lie);
        assert_null(decode_worker_main(&b.pass));
        assert_int_equal(b.pass.error.code, ERR_NONE);
        assert_int_equal(atomic_load(&b.pass.contradicted), lie);
        assert_int_equal(atomic_load(&b.pass.stop), lie);
        assert_int_equal(b.pass.counts.lost + b.pass.counts.decode_errors, 0);
        if (!lie)
            assert_int_equal(b.pass.counts.decoded, CLIP_FRAMES);
        film_pass_close(&b);
    }
}

/* A picture that is foreseen and never comes out of a sound film: what was foreseen is wrong. */
TEST(a_picture_that_never_comes)
{
    clip_need("-c:v mpeg2video -g 10 -bf 0 -q:v 4 -sc_threshold 1000000000 plain.mkv");
    struct film_pass b;
    struct err e = ERR_INIT;
    struct picture p;
    film_pass_open(&b, "plain.mkv");
    struct chunk *chunk = calloc(1, sizeof *chunk);
    for (int i = 0; i < 5; i++) {
        assert_true(demux_next(&b.of.reader, &p, &e));
        p.frame = p.serial;
        p.selected = true;
        p.tag = (struct frame_tag){.column = p.frame, .repeat = 1, .frame = p.frame};
        if (i == 3) { /* a packet that holds a picture by its flags, and none by its bytes */
            memset(p.packet->data, 0, (size_t)p.packet->size);
        }
        assert_true(chunk_append(chunk, &p, &e));
    }
    chunk->own = chunk->count;
    assert_true(queue_push(b.pass.chunks, chunk));
    queue_close(b.pass.chunks);
    assert_null(decode_worker_main(&b.pass));
    assert_int_equal(b.pass.counts.lost, 1);
    assert_int_equal(b.pass.counts.decode_errors + b.pass.counts.damaged, 0);
    assert_true(atomic_load(&b.pass.contradicted));
    film_pass_close(&b);
}

/* Two threads end at any time: what they counted is added under the lock (for the thread
 * sanitizer). */
static void *session_thread(void *pass) { return decode_worker_main(pass); }

TEST(counts_are_added_under_the_lock)
{
    clip_need("-c:v libx264 -preset veryfast -x264-params "
              "keyint=40:min-keyint=40:bframes=2:scenecut=0 gops.mp4");
    struct film_pass b;
    struct err e = ERR_INIT;
    pthread_t thread;
    film_pass_open(&b, "gops.mp4");
    queue_close(b.pass.chunks);
    struct chunker_state from = {.held = calloc(1, sizeof(struct chunk)),
                                 .cursor = selection_begin(&b.job.selection),
                                 .timeline = timeline_begin(&(struct film_clock){
                                     .frame_us = CLIP_STEP_US, .origin_us = TIME_NONE})};
    assert_int_equal(pthread_create(&thread, NULL, session_thread, &b.pass), 0);
    assert_true(sequential_decode(&b.pass, &b.of.reader, &from, &e));
    pthread_join(thread, NULL);
    assert_int_equal(b.pass.counts.decoded, CLIP_FRAMES);
    chunk_free(&from.held);
    film_pass_close(&b);
}

/* ------------------------------------------------------------------ decoders with threads */

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
    const size_t size = clip_load(path);
    const int half = w->size / 2;
    memset(clip_bytes + w->pos + half, value, (size_t)(w->size - half));
    clip_save(path, size);
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
