#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "test.h"
#include "barcode/base/clock.h"
#include "barcode/base/admission.h"
#include "barcode/base/log.h"
#include "barcode/base/queue.h"
#include "decode_pass_alone.h"

/* A decoder may take six pictures of three bytes a pixel, all decoders together half the memory. */
TEST(as_many_threads_as_fit)
{
    const uint64_t gib = UINT64_C(1) << 30;
    struct film f = {.coded_width = 1920, .coded_height = 1080};
    assert_int_equal(decode_pass_threads(&f, 64, 16 * gib), 64);
    assert_int_equal(decode_pass_threads(&f, 64, gib), 14);
    f.coded_width = f.coded_height = 16000;
    assert_int_equal(decode_pass_threads(&f, 64, 64 * gib), 7);
    assert_int_equal(decode_pass_threads(&f, 2, 64 * gib), 2);
    assert_int_equal(decode_pass_threads(&f, 64, 16 * gib), 1);
    assert_int_equal(decode_pass_threads(&f, 64, gib), 1); /* it has to be tried */
    assert_int_equal(decode_pass_threads(&f, 1, UINT64_MAX), 1);
    f.coded_width = 0;
    assert_int_equal(decode_pass_threads(&f, 64, gib), 64);
    struct admission_ticket ticket = {0};
    struct decode_job alone = {0}, one_of_several = {.ticket = &ticket};
    assert_true(decode_pass_memory(&alone) > gib / 4);
    assert_true(decode_pass_memory(&one_of_several) == decode_pass_memory(&alone) / 2);
}

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
    if (!decode_pass_next(&s, false, &chunk))
        return NULL;
    struct taken taken = decode_pass_taken(chunk);
    chunk_free(&chunk);
    decode_pass_chunk_done(&s, &taken);
    return NULL;
}

/* A chunk that is too large for the budget goes when nothing else is in flight; what would be too
 * much waits. */
TEST_WITH(the_budget_holds, staging_begin, staging_end)
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

/* The queue is closed when a worker fails: the chunk is not the caller's any more, and nobody waits
 * for the budget. */
TEST_WITH(a_run_for_nobody, staging_begin, staging_end)
{
    struct err first = ERR_INIT, e = ERR_INIT;
    assert_true(decode_pass_queue(&s, new_chunk((size_t)1 << 30), &e));
    err_set(&first, ERR_INPUT, "the session's own");
    decode_pass_fail(&s, &first);
    assert_false(decode_pass_queue(&s, new_chunk((size_t)1 << 30), &e));
    assert_int_equal(e.code, ERR_FAILED);
    assert_string_equal(s.error.text, "the session's own");
}

/* A worker is done with the chunk, which it took so long ago. */
static void done_after(struct taken *taken, int64_t nanoseconds)
{
    taken->ns -= nanoseconds;
    decode_pass_chunk_done(&s, taken);
}

TEST_WITH(finished_runs, staging_begin, staging_end)
{
    struct chunk chunks[2] = {{.bytes = 100, .count = 10, .frames = 70},
                              {.bytes = 200, .count = 20, .frames = 50}},
                 *chunk[2] = {0};
    s.bytes_in_flight = 300;
    /* as many as there is room for */
    assert_true(queue_push(s.chunks, &chunks[0]) && queue_push(s.chunks, &chunks[1]));
    assert_true(decode_pass_next(&s, true, &chunk[0]) && decode_pass_next(&s, false, &chunk[1]));
    struct taken taken[2] = {decode_pass_taken(chunk[0]), decode_pass_taken(chunk[1])};
    done_after(&taken[0], 500000000);
    done_after(&taken[1], 1000000000);
    assert_int_equal(s.bytes_in_flight, 0);
    assert_int_equal(atomic_load(&s.frames_done), 70); /* never back */
    assert_float_equal(s.busy_seconds[1], 0.5, 0.1);
    assert_float_equal(s.busy_seconds[0], 1, 0.1);
}

/* 10 of 200 pictures are key frames and have half of the bytes; decoding 20 pictures took 2 s. */
TEST_WITH(what_a_key_frame_costs, staging_begin, staging_end)
{
    struct decode_progress p = {0};
    struct chunk chunks[1] = {{.bytes = 100, .count = 20}}, *chunk = NULL;
    assert_true(queue_push(s.chunks, &chunks[0]) && decode_pass_next(&s, false, &chunk));
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
    struct taken taken = decode_pass_taken(chunk);
    decode_pass_chunk_done(&s, &taken);
}

/* Puts a sound run of `bytes` into the queue; its pictures are not looked at. */
static void queue_sound(struct picture *picture, size_t bytes)
{
    struct err e = ERR_INIT;
    struct chunk *r = new_chunk(bytes);
    free(r->picture);
    r->picture = picture;
    r->count = 20;
    assert_true(decode_pass_queue(&s, r, &e));
}

/* Takes a chunk, decodes it and drops it. Returns its threads. */
static int threads_of_next(void)
{
    struct chunk *chunk;
    assert_true(decode_pass_next(&s, false, &chunk));
    int threads = chunk->threads;
    decode_pass_sent(&s, chunk, chunk->bytes + 5);
    struct taken taken = decode_pass_taken(chunk);
    done_after(&taken, 1000000000);
    free(chunk);
    return threads;
}

/* A chunk has one thread until it is known that few are left. */
TEST_WITH(threads_for_the_last_runs, staging_begin, staging_end)
{
    static struct picture picture[20];
    s.workers[0] = 16;
    s.threads_most = 16;
    s.file_bytes = 0;
    queue_sound(picture, 100);
    assert_int_equal(threads_of_next(), 1); /* of a pipe: how much is to come? */
    s.file_bytes = 1000000;
    queue_sound(picture, 100);
    assert_int_equal(threads_of_next(), 1);
    s.file_bytes = 700; /* 400 more, beside this one and those before */
    queue_sound(picture, 100);
    assert_int_equal(threads_of_next(), 4);
    atomic_store(&s.bytes_read, 700); /* but those were not needed */
    queue_sound(picture, 100);
    assert_int_equal(threads_of_next(), 10);
    s.read_to_end = true;
    queue_sound(picture, 100);
    assert_int_equal(threads_of_next(), 16);
    assert_int_equal(atomic_load(&s.work_pending), 0);
    assert_int_equal(s.cores_busy, 0);
    assert_float_equal(s.busy_seconds[0], 1 + 1 + 4 + 10 + 16, 1);
    /* Others at work have their part of what is left, as far as they have not done it. */
    struct chunk *chunk;
    queue_sound(picture, 100);
    queue_sound(picture, 100);
    assert_true(decode_pass_next(&s, false, &chunk));
    assert_int_equal(chunk->threads, 10);
    decode_pass_sent(&s, chunk, 60);
    assert_int_equal(threads_of_next(), 14);
    struct taken taken = decode_pass_taken(chunk);
    decode_pass_chunk_done(&s, &taken);
    decode_pass_sent(&s, chunk, 60);
    assert_int_equal(atomic_load(&s.work_pending), 0);
    free(chunk);
}

/* A chunk of few bytes, a fade's, is not decoded in no time: its pictures count as well. */
TEST_WITH(pictures_count_too, staging_begin, staging_end)
{
    static struct picture picture[20];
    static const struct film film = {.frames = 40};
    s.film = &film;
    s.workers[0] = s.threads_most = 16;
    s.file_bytes = 1000;
    s.read_to_end = true;
    queue_sound(picture, 100);
    queue_sound(picture, 300);
    /* 20 * (100 + 20 * 25) / (100 + 300 + 40 * 25), 5 by the bytes alone */
    assert_int_equal(threads_of_next(), 9);
    assert_int_equal(threads_of_next(), 16);
    assert_int_equal(atomic_load(&s.work_pending), 0);
}

/* Whatever speaks against threads. */
TEST_WITH(no_threads, staging_begin, staging_end)
{
    static struct picture picture[20];
    struct bad_key_list bad_keys = {0};
    s.workers[0] = 16;
    s.read_to_end = true;
    queue_sound(picture, 100);
    assert_int_equal(threads_of_next(), 1); /* the codec has none */
    s.threads_most = 8;
    queue_sound(picture, 100);
    assert_int_equal(threads_of_next(), 8);
    s.bad_keys = &bad_keys;
    queue_sound(picture, 100);
    assert_int_equal(threads_of_next(), 1);
    s.bad_keys = NULL;
    s.workers[1] = 1; /* a GPU takes part */
    queue_sound(picture, 100);
    assert_int_equal(threads_of_next(), 1);
    s.workers[1] = 0;
    picture[3].suspect = true;
    queue_sound(picture, 100);
    assert_int_equal(threads_of_next(), 1);
    picture[3].suspect = false;
    setenv("BARCODE_FRAME_THREADS", "off", 1);
    queue_sound(picture, 100);
    assert_int_equal(threads_of_next(), 1);
    setenv("BARCODE_FRAME_THREADS", "3", 1);
    queue_sound(picture, 100);
    assert_int_equal(threads_of_next(), 3);
    unsetenv("BARCODE_FRAME_THREADS");
}

static void *take_for_software(void *took)
{
    struct chunk *chunk = NULL;
    *(bool *)took = decode_pass_next(&s, false, &chunk);
    chunk_free(&chunk);
    return NULL;
}

static void wait_ms(long ms) { nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL); }

/*
 * Beside two NVDEC workers a software worker takes a chunk where two wait, not the last one, and
 * ends once NVDEC has taken that.
 */
TEST_WITH(software_beside_nvdec, staging_begin, staging_end)
{
    pthread_t thread;
    bool took = false;
    struct chunk *chunk = NULL;
    s.workers[0] = s.workers[1] = 2;
    for (int chunks = 2; chunks > 0; chunks--)
        assert_true(decode_pass_queue(&s, new_chunk(1), NULL));
    take_for_software(&took);
    assert_true(took);
    assert_int_equal(pthread_create(&thread, NULL, take_for_software, &took), 0);
    wait_ms(50);
    assert_int_equal(s.chunks_waiting, 1);
    assert_true(decode_pass_next(&s, true, &chunk));
    decode_pass_read_to_end(&s);
    queue_close(s.chunks);
    pthread_join(thread, NULL);
    assert_false(took);
    chunk_free(&chunk);
}

/* NVDEC refuses all: what would have been its workers' is software's, down to the last chunk. */
TEST_WITH(nobody_else, staging_begin, staging_end)
{
    bool took = false;
    s.workers[0] = s.workers[1] = 1;
    assert_true(decode_pass_queue(&s, new_chunk(1), NULL));
    decode_pass_lacks_nvdec(&s);
    assert_int_equal(s.workers[0], 2);
    take_for_software(&took);
    assert_true(took);
}

/*
 * Software takes no chunk while films before have all cores that are not kept for NVDEC's sessions.
 */
TEST_WITH(cores_of_the_film_before, staging_begin, staging_end)
{
    struct err e = ERR_INIT;
    struct admission_ticket mine = {.admission = admission_open(4, &e)}, before = mine;
    struct decode_job job = {.threads = 4, .ticket = &mine};
    pthread_t thread;
    bool took = false;
    s.job = &job;
    s.workers[0] = 2;
    s.workers[1] = 1;
    admission_add_cores(&before, 2);
    assert_true(decode_pass_queue(&s, new_chunk(1), &e));
    assert_int_equal(pthread_create(&thread, NULL, take_for_software, &took), 0);
    wait_ms(100);
    assert_int_equal(s.chunks_waiting, 1);
    admission_add_cores(&before, -1);
    for (int i = 0; i < 500 && admission_idle_cores(&mine) > 2; i++)
        wait_ms(10);
    int idle = admission_idle_cores(&mine);
    decode_pass_find_damage(&s); /* ends the wait, also one in vain */
    pthread_join(thread, NULL);
    assert_true(took);
    assert_int_equal(idle, 2);
    admission_free(&mine.admission);
    s.job = NULL;
}

TEST_WITH(counts_add_up, staging_begin, staging_end)
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

TEST_WITH(the_first_error_stays, staging_begin, staging_end)
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

TEST_WITH(other_colours_are_told_once, staging_begin, staging_end)
{
    static char path[] = "a film";
    const struct film film = {.path = path, .matrix = MATRIX_BT709, .range = RANGE_LIMITED};
    s.film = &film;
    log_set_level(LOG_VERBOSE);
    const enum transfer none = TRANSFER_SDR;
    assert_string_equal(told(MODEL_YCBCR, MATRIX_BT709, RANGE_LIMITED, none), "");
    assert_string_equal(told(MODEL_RGB, MATRIX_RGB, RANGE_FULL, none), "");
    assert_string_equal(told(MODEL_GREY, MATRIX_BT601, RANGE_LIMITED, none), "");
    assert_non_null(
        strstr(told(MODEL_YCBCR, MATRIX_BT601, RANGE_LIMITED, none),
               "'a film': some of its pictures are read as matrix bt601, range limited\n"));
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

TEST_MAIN(NULL, NULL)
