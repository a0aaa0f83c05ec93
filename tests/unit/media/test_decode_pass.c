#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "test.h"
#include "barcode/base/clock.h"
#include "base/log.h"
#include "barcode/base/queue.h"
#include "base/limits.h"
#include "decode_pass_alone.h"

/* One decoder over everything cuts nothing. */
TEST(the_plan_decides_what_is_cut)
{
    static const struct film film;
    struct demux reader = {.traits = codec_traits(STREAM_H264)};
    for (int plan = DECODE_PARALLEL; plan <= DECODE_SEQUENTIAL; plan++) {
        struct decode_job job = {.plan = (enum decode_plan)plan};
        struct decode_pass other;
        decode_pass_open(&other, &film, reader.stream, reader.traits, &job);
        assert_int_equal(other.traits.parallel, plan == DECODE_PARALLEL);
        assert_int_equal(other.counts.last_us, -1);
        assert_false(decode_pass_stopped(&other));
        decode_pass_close(&other);
    }
}

static void *take_one(void *later)
{
    struct chunk *chunk;
    (void)later;
    nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
    if (!scheduler_next_chunk(&s, &cores, &chunk))
        return NULL;
    struct taken_chunk taken = scheduler_taken(chunk);
    chunk_free(&chunk);
    scheduler_chunk_done(&s, &taken);
    return NULL;
}

/* A chunk that is too large for the budget goes when nothing else is in flight; what would be too
 * much waits. */
TEST_WITH(the_budget_holds, pass_begin, pass_end)
{
    pthread_t thread;
    struct err e = ERR_INIT;
    assert_true(decode_pass_queue(&s, new_chunk((size_t)3 << 30), &e));
    assert_int_equal(pthread_create(&thread, NULL, take_one, NULL), 0);
    int64_t before = clock_ns();
    assert_true(decode_pass_queue(&s, new_chunk((size_t)1 << 30), &e));
    assert_true(clock_ns() - before > 100000000);
    pthread_join(thread, NULL);
    assert_int_equal(s.bytes_in_flight, (size_t)1 << 30);
}

/* A film may fill an eighth of its part of the memory. */
TEST(the_budget_fits_the_memory)
{
    static const struct film film;
    static const struct decode_job job;
    limits_set((uint64_t)1 << 30, 0);
    decode_pass_open(&s, &film, NULL, codec_traits(STREAM_H264), &job);
    assert_int_equal(s.max_bytes, (size_t)1 << 27);
    limits_set(0, 0);
}

/* The queue is closed when a worker fails: the chunk is not the caller's any more, and nobody waits
 * for the budget. */
TEST_WITH(a_run_for_nobody, pass_begin, pass_end)
{
    struct err first = ERR_INIT, e = ERR_INIT;
    assert_true(decode_pass_queue(&s, new_chunk((size_t)1 << 30), &e));
    err_set(&first, ERR_INPUT, "the worker's own");
    decode_pass_fail(&s, &first);
    assert_false(decode_pass_queue(&s, new_chunk((size_t)1 << 30), &e));
    assert_int_equal(e.code, ERR_FAILED);
    assert_string_equal(s.error.text, "the worker's own");
}

/* 10 of 200 pictures are key frames and have half of the bytes; decoding 20 pictures took 2 s. */
TEST_WITH(what_a_key_frame_costs, pass_begin, pass_end)
{
    struct decode_progress p = {0};
    struct chunk chunks[1] = {{.bytes = 100, .count = 20}}, *chunk = NULL;
    assert_true(queue_push(s.chunks, &chunks[0]) && scheduler_next_chunk(&s, &cores, &chunk));
    chunk->cpu_ns -= 2000000000;
    decode_pass_pictures_done(&s, chunk, 20);
    atomic_store(&s.pictures_read, 200);
    atomic_store(&s.bytes_read, 40000);
    atomic_store(&s.keys_read, 10);
    atomic_store(&s.key_bytes, 20000);
    decode_pass_key_costs(&s, &p);
    assert_true(p.key_share == 0 && p.key_seconds == 0); /* there is no index to go by */
    s.has_key_index = true;
    decode_pass_key_costs(&s, &p);
    assert_float_equal(p.decode_seconds, 2, 0.1);
    assert_float_equal(p.key_share, 0.05, 1e-9);
    /* It has ten times an average picture's bytes. */
    assert_float_equal(p.key_seconds, 0.1 * (1 + 10) / 2, 0.05);
    struct taken_chunk taken = scheduler_taken(chunk);
    scheduler_chunk_done(&s, &taken);
}

TEST_WITH(counts_add_up, pass_begin, pass_end)
{
    struct decode_counts one = {.sent = 1,
                                .decoded = 2,
                                .hardware = 3,
                                .fallbacks = 4,
                                .decode_errors = 5,
                                .redone_chunks = 6,
                                .lost = 7,
                                .damaged = 8};
    decode_pass_add_counts(&s, &one);
    decode_pass_add_counts(&s, &one);
    assert_int_equal(s.counts.sent, 2);
    assert_int_equal(s.counts.decoded, 4);
    assert_int_equal(s.counts.hardware, 6);
    assert_int_equal(s.counts.fallbacks, 8);
    assert_int_equal(s.counts.decode_errors, 10);
    assert_int_equal(s.counts.redone_chunks, 12);
    assert_int_equal(s.counts.lost, 14);
    assert_int_equal(s.counts.damaged, 16);
}

TEST_WITH(the_first_error_stays, pass_begin, pass_end)
{
    struct err first = ERR_INIT, second = ERR_INIT;
    err_set(&first, ERR_FAILED, "first");
    err_set(&second, ERR_INPUT, "second");
    assert_false(decode_pass_stopped(&s));
    decode_pass_fail(&s, &first);
    decode_pass_fail(&s, &second);
    assert_true(decode_pass_stopped(&s));
    assert_string_equal(s.error.text, "first");
    void *item;
    assert_false(queue_pop(s.chunks, &item));
}

/* What decode_pass_log_colour says of a picture. */
static const char *told(enum colour_model model, enum matrix matrix, enum range range,
                        enum transfer transfer)
{
    static char text[512];
    const struct frame_view v = {
        .model = model, .matrix = matrix, .range = range, .transfer = transfer};
    fflush(stderr);
    FILE *to = tmpfile();
    int before = dup(STDERR_FILENO);
    assert_true(to && before >= 0 && dup2(fileno(to), STDERR_FILENO) >= 0);
    decode_pass_log_colour(&s, &v);
    fflush(stderr);
    dup2(before, STDERR_FILENO);
    close(before);
    rewind(to);
    text[fread(text, 1, sizeof text - 1, to)] = 0;
    fclose(to);
    return text;
}

TEST_WITH(other_colours_are_told_once, pass_begin, pass_end)
{
    static char path[] = "a film";
    const struct film film = {.path = path, .matrix = MATRIX_BT709, .range = RANGE_LIMITED};
    s.film = &film;
    log_set_level(LOG_VERBOSE);
    const enum transfer none = TRANSFER_SDR;
    assert_string_equal(told(MODEL_YCBCR, MATRIX_BT709, RANGE_LIMITED, none), "");
    assert_string_equal(told(MODEL_RGB, MATRIX_RGB, RANGE_FULL, none), "");
    assert_string_equal(told(MODEL_GREY, MATRIX_BT601, RANGE_LIMITED, none), "");
    assert_non_null(strstr(told(MODEL_YCBCR, MATRIX_BT601, RANGE_LIMITED, none),
                           "'a film': some frames are read as matrix bt601, range limited\n"));
    assert_string_equal(told(MODEL_YCBCR, MATRIX_BT601, RANGE_LIMITED, none), "");
    assert_non_null(strstr(told(MODEL_YCBCR, MATRIX_BT601, RANGE_FULL, none), "range full\n"));
    assert_non_null(
        strstr(told(MODEL_YCBCR, MATRIX_RGB, RANGE_FULL, TRANSFER_PQ), "range full, PQ\n"));
    assert_non_null(strstr(told(MODEL_YCBCR, MATRIX_BT709, RANGE_LIMITED, TRANSFER_HLG),
                           "range limited, HLG\n"));
    assert_string_equal(told(MODEL_YCBCR, MATRIX_BT709, RANGE_LIMITED, TRANSFER_HLG), "");
    assert_non_null(
        strstr(told(MODEL_YCBCR, MATRIX_BT601, RANGE_LIMITED, TRANSFER_PQ), "range limited, PQ\n"));
    log_set_level(LOG_ERROR);
}
