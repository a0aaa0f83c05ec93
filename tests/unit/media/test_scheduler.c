/* test_scheduler.c - which backends decode, who takes which chunk, and on how many threads. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "test.h"
#include "base/admission.h"
#include "base/limits.h"
#include "base/log.h"
#include "barcode/base/queue.h"
#include "decode_pass_alone.h"

/* A decoder may take six pictures of three bytes a pixel, all decoders together half the memory. */
TEST(as_many_threads_as_fit)
{
    const uint64_t gib = UINT64_C(1) << 30;
    struct film f = {.coded_width = 1920, .coded_height = 1080};
    assert_int_equal(scheduler_max_threads(&f, 64, 16 * gib), 64);
    assert_int_equal(scheduler_max_threads(&f, 64, gib), 14);
    f.coded_width = f.coded_height = 16000;
    assert_int_equal(scheduler_max_threads(&f, 64, 64 * gib), 7);
    assert_int_equal(scheduler_max_threads(&f, 2, 64 * gib), 2);
    assert_int_equal(scheduler_max_threads(&f, 64, 16 * gib), 1);
    assert_int_equal(scheduler_max_threads(&f, 64, gib), 1); /* it has to be tried */
    assert_int_equal(scheduler_max_threads(&f, 1, UINT64_MAX), 1);
    f.coded_width = 1920, f.coded_height = 1080;
    f.pixel_bytes = 2; /* 4:2:0 has more references */
    assert_int_equal(scheduler_max_threads(&f, 64, gib), 14);
    f.pixel_bytes = 8;
    assert_int_equal(scheduler_max_threads(&f, 64, gib), 5);
    f.coded_width = 0;
    assert_int_equal(scheduler_max_threads(&f, 64, gib), 64);
    struct admission_ticket ticket = {0};
    struct decode_job alone = {0}, one_of_several = {.ticket = &ticket};
    assert_true(scheduler_memory(&alone) > gib / 4);
    limits_set(gib, 0);
    assert_true(scheduler_memory(&alone) == gib);
    limits_set(0, 0);
    assert_true(scheduler_memory(&one_of_several) == scheduler_memory(&alone) / 2);
}

/* A worker is done with the chunk, which it took so long ago. */
static void done_after(struct taken_chunk *taken, int64_t nanoseconds)
{
    taken->ns -= nanoseconds;
    scheduler_chunk_done(&s, taken);
}

TEST_WITH(finished_runs, pass_begin, pass_end)
{
    struct chunk chunks[2] = {{.bytes = 100, .count = 10, .frames = 70},
                              {.bytes = 200, .count = 20, .frames = 50}},
                 *chunk[2] = {0};
    s.bytes_in_flight = 300;
    /* as many as there is room for */
    assert_true(queue_push(s.chunks, &chunks[0]) && queue_push(s.chunks, &chunks[1]));
    assert_true(scheduler_next_chunk(&s, &gpu, &chunk[0]) &&
                scheduler_next_chunk(&s, &cores, &chunk[1]));
    struct taken_chunk taken[2] = {scheduler_taken(chunk[0]), scheduler_taken(chunk[1])};
    done_after(&taken[0], 500000000);
    done_after(&taken[1], 1000000000);
    assert_int_equal(s.bytes_in_flight, 0);
    assert_int_equal(atomic_load(&s.frames_done), 70); /* never back */
    assert_float_equal(s.busy_seconds[ON_DEVICE], 0.5, 0.1);
    assert_float_equal(s.busy_seconds[ON_CORES], 1, 0.1);
}

/* Queues an intact chunk of `bytes`. Its pictures are borrowed. */
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
    assert_true(scheduler_next_chunk(&s, &cores, &chunk));
    int threads = chunk->threads;
    decode_pass_sent(&s, chunk, chunk->bytes + 5);
    struct taken_chunk taken = scheduler_taken(chunk);
    done_after(&taken, 1000000000);
    free(chunk);
    return threads;
}

/* A chunk has one thread until it is known that few are left. */
TEST_WITH(threads_for_the_last_runs, pass_begin, pass_end)
{
    static struct picture picture[20];
    s.workers[ON_CORES] = 16;
    s.max_threads = 16;
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
    assert_float_equal(s.busy_seconds[ON_CORES], 1 + 1 + 4 + 10 + 16, 1);
    /* Others at work have their part of what is left, as far as they have not done it. */
    struct chunk *chunk;
    queue_sound(picture, 100);
    queue_sound(picture, 100);
    assert_true(scheduler_next_chunk(&s, &cores, &chunk));
    assert_int_equal(chunk->threads, 10);
    decode_pass_sent(&s, chunk, 60);
    assert_int_equal(threads_of_next(), 14);
    struct taken_chunk taken = scheduler_taken(chunk);
    scheduler_chunk_done(&s, &taken);
    decode_pass_sent(&s, chunk, 60);
    assert_int_equal(atomic_load(&s.work_pending), 0);
    free(chunk);
}

/* A chunk of few bytes, a fade's, is not decoded in no time: its pictures count as well. */
TEST_WITH(pictures_count_too, pass_begin, pass_end)
{
    static struct picture picture[20];
    static const struct film film = {.length.frames = 40};
    s.film = &film;
    s.workers[ON_CORES] = s.max_threads = 16;
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
TEST_WITH(no_threads, pass_begin, pass_end)
{
    static struct picture picture[20];
    struct bad_key_list bad_keys = {0};
    s.workers[ON_CORES] = 16;
    s.read_to_end = true;
    queue_sound(picture, 100);
    assert_int_equal(threads_of_next(), 1); /* the codec has none */
    s.max_threads = 8;
    queue_sound(picture, 100);
    assert_int_equal(threads_of_next(), 8);
    s.bad_keys = &bad_keys;
    queue_sound(picture, 100);
    assert_int_equal(threads_of_next(), 1);
    s.bad_keys = NULL;
    s.workers[ON_DEVICE] = 1; /* a GPU takes part */
    queue_sound(picture, 100);
    assert_int_equal(threads_of_next(), 1);
    s.workers[ON_DEVICE] = 0;
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
    *(bool *)took = scheduler_next_chunk(&s, &cores, &chunk);
    chunk_free(&chunk);
    return NULL;
}

static void wait_ms(long ms) { nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL); }

/*
 * Beside two device workers, a software worker takes a chunk if two wait. It does not take the last
 * one, and ends once the device has taken that.
 */
TEST_WITH(software_beside_a_device, pass_begin, pass_end)
{
    pthread_t thread;
    bool took = false;
    struct chunk *chunk = NULL;
    s.workers[ON_CORES] = s.workers[ON_DEVICE] = 2;
    for (int chunks = 2; chunks > 0; chunks--)
        assert_true(decode_pass_queue(&s, new_chunk(1), NULL));
    take_for_software(&took);
    assert_true(took);
    assert_int_equal(pthread_create(&thread, NULL, take_for_software, &took), 0);
    wait_ms(50);
    assert_int_equal(s.chunks_waiting, 1);
    assert_true(scheduler_next_chunk(&s, &gpu, &chunk));
    decode_pass_read_to_end(&s);
    queue_close(s.chunks);
    pthread_join(thread, NULL);
    assert_false(took);
    chunk_free(&chunk);
}

/* A device worker has done chunks in 1 s each, software in 1.2 s; two chunks wait. */
static void queue_two_measured(void)
{
    s.workers[ON_CORES] = s.workers[ON_DEVICE] = 1;
    s.chunks_done[ON_CORES] = s.chunks_done[ON_DEVICE] = 10;
    s.busy_seconds[ON_DEVICE] = 10;
    s.busy_seconds[ON_CORES] = 12;
    for (int i = 0; i < 2; i++)
        assert_true(decode_pass_queue(&s, new_chunk(1), NULL));
}

/* The device needs 2 s for the last two chunks, and software might need longer for one. */
TEST_WITH(last_chunks, pass_begin, pass_end)
{
    pthread_t thread;
    bool took = true;
    struct chunk *chunk[2] = {NULL};
    queue_two_measured();
    decode_pass_read_to_end(&s);
    assert_int_equal(pthread_create(&thread, NULL, take_for_software, &took), 0);
    wait_ms(50);
    assert_int_equal(s.chunks_waiting, 2);
    assert_true(scheduler_next_chunk(&s, &gpu, &chunk[0]));
    assert_true(scheduler_next_chunk(&s, &gpu, &chunk[1]));
    queue_close(s.chunks);
    pthread_join(thread, NULL);
    assert_false(took);
    chunk_free(&chunk[0]);
    chunk_free(&chunk[1]);
}

/* The same with as much still to be read. */
TEST_WITH(chunks_before_the_last, pass_begin, pass_end)
{
    bool took = false;
    s.file_bytes = 4;
    queue_two_measured();
    take_for_software(&took);
    assert_true(took);
}

/* The device refuses its only worker: software takes all chunks, down to the last one. */
TEST_WITH(nobody_else, pass_begin, pass_end)
{
    bool took = false;
    s.workers[ON_CORES] = s.workers[ON_DEVICE] = 1;
    assert_true(decode_pass_queue(&s, new_chunk(1), NULL));
    scheduler_leave_device(&s);
    assert_int_equal(s.workers[ON_CORES], 2);
    take_for_software(&took);
    assert_true(took);
}

/*
 * Software takes no chunk while earlier films have all cores but those kept for device workers.
 */
TEST_WITH(cores_of_the_film_before, pass_begin, pass_end)
{
    struct err e = ERR_INIT;
    struct admission_ticket mine = {.admission = admission_open(4, &e)}, before = mine;
    struct decode_job job = {.threads = 4, .ticket = &mine};
    pthread_t thread;
    bool took = false;
    s.job = &job;
    s.workers[ON_CORES] = 2;
    s.workers[ON_DEVICE] = 1;
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

/* ------------------------------------------------------------------ which backends */

static enum err_code open_fails; /* ERR_NONE: the device opens */
static int opened, closed;
static bool eligible;

static bool is_eligible(const struct decode_job *job, const AVStream *stream)
{
    (void)job, (void)stream;
    return eligible;
}

static bool open_device(struct decoder_device *d, const struct decode_job *job,
                        const AVStream *stream, struct err *e)
{
    (void)job, (void)stream;
    if (open_fails != ERR_NONE)
        return err_set(e, open_fails, "no device");
    opened++;
    d->workers = 14;
    return true;
}

static void close_device(struct decoder_device *d)
{
    (void)d;
    closed++;
}

static int four_threads(const AVStream *stream, const struct codec_traits *traits)
{
    (void)stream, (void)traits;
    return 4;
}

static bool never_eligible(const struct decode_job *job, const AVStream *stream)
{
    (void)job, (void)stream;
    return false;
}

static const struct decoder_backend software = {.place = ON_CORES, .max_threads = four_threads},
                                    unused = {.name = "unused",
                                              .place = ON_DEVICE,
                                              .choice = (enum decode_choice)99,
                                              .is_eligible = never_eligible},
                                    device = {.name = "a device",
                                              .place = ON_DEVICE,
                                              .choice = DECODE_NVDEC,
                                              .alone = 1u << STREAM_AV1,
                                              .is_eligible = is_eligible,
                                              .open = open_device,
                                              .close = close_device};

struct choice {
    enum decode_choice decode;
    enum bitstream stream;
    bool eligible;
    enum err_code fails;
    bool ok;
    int on_cores, on_device;
};

/* 16 threads; a core is kept for seven of the device's 14 workers. */
TEST(backends_and_workers)
{
    static const struct choice choice[] = {
        {DECODE_CPU, STREAM_H264, true, ERR_NONE, true, 16, 0},
        {DECODE_AUTO, STREAM_H264, false, ERR_NONE, true, 16, 0},
        {DECODE_AUTO, STREAM_H264, true, ERR_NONE, true, 14, 14},
        {DECODE_AUTO, STREAM_HEVC, true, ERR_NONE, true, 14, 14},
        {DECODE_AUTO, STREAM_AV1, true, ERR_NONE, true, 0, 14}, /* the device's alone */
        {DECODE_AUTO, STREAM_H264, true, ERR_ENGINE, true, 16, 0},
        {DECODE_NVDEC, STREAM_H264, false, ERR_NONE, true, 0, 14},
        {DECODE_NVDEC, STREAM_H264, false, ERR_INPUT, true, 16, 0},
        {DECODE_NVDEC, STREAM_H264, false, ERR_ENGINE, false, 16, 0},
        {DECODE_NVDEC, STREAM_OTHER, true, ERR_NONE, true, 0, 0},
    };
    static char path[] = "a film";
    static const struct film film = {.path = path};
    const struct decoder_backend *const backends[] = {&software, &unused, &device, NULL};
    for (size_t i = 0; i < sizeof choice / sizeof *choice; i++) {
        const struct choice *c = &choice[i];
        struct err e = ERR_INIT;
        struct decode_pass pass;
        struct decode_job job = {.decode = c->decode, .threads = 16};
        eligible = c->eligible;
        open_fails = c->fails;
        opened = closed = 0;
        decode_pass_open(&pass, &film, NULL, codec_traits(c->stream), &job);
        if (scheduler_choose_workers(&pass, backends, &e) != c->ok)
            fail_msg("choice %zu: %s", i, e.text);
        assert_int_equal(e.code, c->ok ? ERR_NONE : c->fails);
        assert_int_equal(pass.workers[ON_CORES], c->on_cores);
        assert_int_equal(pass.workers[ON_DEVICE], c->on_device);
        assert_int_equal(pass.max_threads, 4);
        assert_ptr_equal(pass.backend[ON_CORES], &software);
        assert_ptr_equal(pass.backend[ON_DEVICE], c->on_device > 0 ? &device : NULL);
        /* A device that is open and of no use is closed at once. */
        assert_int_equal(opened - closed, c->on_device > 0);
        decode_pass_close(&pass);
    }
}
