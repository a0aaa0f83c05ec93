/*
 * test_reader.c - the reading thread alone: what it queues of a film, where it stops, and that
 * every picture is in one place. What decoding makes of it is test_film_source's.
 */

#include "test.h"
#include "barcode/base/queue.h"
#include "film_pass.h"

/* What was queued. */
struct queued {
    size_t chunks, own, selected, bytes;
    uint64_t frames;
};

static struct queued take_all(struct film_pass *b)
{
    struct queued q = {0};
    void *item;
    queue_close(b->pass.chunks);
    for (; queue_pop(b->pass.chunks, &item); q.chunks++) {
        struct chunk *chunk = item;
        q.own += chunk->own;
        q.selected += chunk->selected;
        q.bytes += chunk->bytes;
        q.frames = chunk->frames;
        chunk_free(&chunk);
    }
    return q;
}

static bool make_film(void)
{
    return clip_encode("-c:v mpeg2video -g 10 -bf 2 -q:v 4 -sc_threshold 1000000000 film.mkv");
}

TEST(a_film_is_queued_whole)
{
    if (!make_film())
        skip();
    struct film_pass b;
    struct err e = ERR_INIT;
    film_pass_open(&b, "film.mkv");
    b.job.selection = every(4);
    assert_true(film_read(&b.pass, &b.of.reader, &e));
    assert_int_equal(e.code, ERR_NONE);
    struct queued q = take_all(&b);
    assert_int_equal(q.own, CLIP_FRAMES);
    assert_int_equal(q.selected, CLIP_FRAMES / 4);
    assert_int_equal(q.frames, CLIP_FRAMES);
    assert_int_equal(b.pass.bytes_in_flight, q.bytes);
    assert_int_equal(columns_count(b.columns), CLIP_FRAMES / 4);
    const struct decode_counts *c = &b.pass.counts;
    assert_true(c->packets == CLIP_FRAMES && c->displayed == CLIP_FRAMES && c->lead_in == 0);
    assert_true(c->chunks == q.chunks && q.chunks > 1 && c->skipped_chunks == 0);
    assert_int_equal(c->last_us, (CLIP_FRAMES - 1) * CLIP_STEP_US);
    assert_true(atomic_load(&b.pass.bytes_read) > 0);
    film_pass_close(&b);
}

/* What comes after the selection's last frame is not read; GOPs without a wanted frame are not
 * queued. */
TEST(reading_stops_with_the_selection)
{
    if (!make_film())
        skip();
    struct film_pass b;
    struct err e = ERR_INIT;
    film_pass_open(&b, "film.mkv");
    b.job.selection.start_us = 2000000;
    b.job.selection.end_us = 4000000;
    assert_true(film_read(&b.pass, &b.of.reader, &e));
    struct queued q = take_all(&b);
    assert_int_equal(q.selected, 50);
    assert_in_range(b.pass.counts.packets, 100, 125);
    assert_in_range(b.pass.counts.displayed, 100, 125);
    /* at the end what is held is dropped too */
    assert_in_range(b.pass.counts.skipped_chunks, 4, 6);
    film_pass_close(&b);
}

/* Somebody else stopped the staging: no error of the reader's. A queue that takes nothing is one.
 */
TEST(staging_that_is_over)
{
    if (!make_film())
        skip();
    struct film_pass b;
    struct err e = ERR_INIT;
    film_pass_open(&b, "film.mkv");
    decode_pass_contradict(&b.pass);
    assert_true(film_read(&b.pass, &b.of.reader, &e));
    assert_int_equal(b.pass.counts.packets, 0);
    film_pass_close(&b);

    film_pass_open(&b, "film.mkv");
    queue_close(b.pass.chunks);
    assert_false(film_read(&b.pass, &b.of.reader, &e));
    assert_int_equal(e.code, ERR_FAILED);
    assert_in_range(b.pass.counts.packets, 1, CLIP_FRAMES - 1);
    film_pass_close(&b);
}

/*
 * A film that begins in mid-GOP and that only a sequential decoder can do: pictures stored as
 * fields, which is seen before the first key. What cannot be decoded is no frame.
 */
TEST(lead_in_of_fields)
{
    uint8_t *file = clip_bytes;
    clip_need("-c:v mpeg2video -g 10 -bf 0 -b:v 200k -sc_threshold 1000000000 fields.m2v");
    size_t size = clip_load("fields.m2v"), from = 0;
    for (size_t i = 0; i + 6 < size; i++) {
        if (memcmp(file + i, "\0\0\1\xb5", 4) == 0 && file[i + 4] >> 4 == 8)
            file[i + 6] = (uint8_t)((file[i + 6] & 0xfc) | 1); /* picture_structure: top field */
        if (from == 0 && i > 1000 && memcmp(file + i, "\0\0\1\0", 4) == 0)
            from = i; /* the first P picture or the next */
    }
    /* The sequence header stands in front, as in a container's private data: a decoder could begin
     * at once. */
    size_t header = (size_t)((uint8_t *)memmem(file, size, "\0\0\1\xb8", 4) - file);
    memmove(file + header, file + from, size - from);
    clip_save("late.m2v", header + size - from);
    for (int plan = DECODE_PARALLEL; plan <= DECODE_SEQUENTIAL; plan++) {
        struct selection rule = every(1);
        struct staged r = clip_stage("late.m2v", (enum decode_plan)plan, 2, &rule);
        assert_true(r.ok && r.counts.sequential);
        assert_in_range(r.counts.lead_in, 1, 10);
        staged_free(&r);
    }
}

TEST_FIXTURE(clip_begin, clip_end)
