#include <pthread.h>
#include <stdlib.h>

#include "made_film.h"

enum { FRAMES = 300 };
static struct made_film made;

FIXTURE(make)
{
    for (int i = 0; i < FRAMES; i++)
        mix_level(add_scene(&made, i / 70, i), 20, i % 16, 32);
    return 0;
}
TEST_FIXTURE(make, NULL)

static void assert_same(const struct film_scan *a, const struct film_scan *b)
{
    uint8_t *bytes[2];
    size_t count[2];
    assert_true(film_scan_write(a, &bytes[0], &count[0], NULL));
    assert_true(film_scan_write(b, &bytes[1], &count[1], NULL));
    assert_int_equal(count[0], count[1]);
    assert_memory_equal(bytes[0], bytes[1], count[0]);
    free(bytes[0]);
    free(bytes[1]);
}

/* Puts the frames i * step % FRAMES except [gap, gap_end). */
static struct film_scan scan_stepping(int step, int gap, int gap_end)
{
    struct film_scan film;
    struct scan *s = scan_open(NULL);
    for (int i = 0; i < FRAMES; i++) {
        int frame = i * step % FRAMES;
        if (frame < gap || frame >= gap_end)
            put_made(s, &made, frame);
    }
    assert_true(scan_end(s, (int64_t)FRAMES * FRAME_US, &film, NULL));
    scan_free(&s);
    return film;
}

TEST(facts_of_a_frame)
{
    struct made_film *two = calloc(1, sizeof *two);
    memset(two->rgb[0], 100, FRAME_BYTES);
    memset(two->rgb[1], 110, FRAME_BYTES);
    for (int i = 0; i < FRAME_BYTES; i += 3)
        two->rgb[1][i + 2] = 90;
    two->frames = 2;
    struct film_scan film = scan_made(two);
    const struct scan_frame *f = film.frame;
    assert_int_equal(f[0].luma, 100);
    assert_int_equal(f[0].contrast, 0);
    assert_int_equal(f[0].distance[0], 0);
    assert_true(f[1].frame == 1 && f[1].time_us == FRAME_US);
    assert_int_equal(f[1].mean[1], 110);
    assert_int_equal(f[1].mean[2], 90);
    assert_int_equal(f[1].luma, 108);
    assert_int_equal(f[1].distance[0], (2 * 8 + 10 + 2) * SCAN_UNIT / 2);
    assert_int_equal(f[1].distance[5],
                     f[1].distance[0]); /* the first one stands for those before it */
    assert_int_equal(f[1].residue[0], f[1].distance[0] / 2);
    assert_int_equal(f[1].likeness[0], 0);
    film_scan_free(&film);
    free(two);
}

TEST(order_does_not_matter)
{
    struct film_scan forward = scan_stepping(1, 0, 0);
    static const int step[] = {7, 53, 191, 299};
    for (int i = 0; i < 4; i++) {
        struct film_scan other = scan_stepping(step[i], 0, 0);
        assert_same(&forward, &other);
        film_scan_free(&other);
    }
    film_scan_free(&forward);
}

struct part {
    struct scan *scan;
    int first;
};

static void *put_part(void *at)
{
    const struct part *p = at;
    for (int i = p->first; i < FRAMES; i += 4)
        put_made(p->scan, &made, i);
    return NULL;
}

TEST(any_thread_puts)
{
    struct film_scan forward = scan_stepping(1, 0, 0), film;
    struct scan *s = scan_open(NULL);
    struct part part[4];
    pthread_t thread[4];
    for (int i = 0; i < 4; i++) {
        part[i] = (struct part){s, i};
        assert_int_equal(pthread_create(&thread[i], NULL, put_part, &part[i]), 0);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    assert_true(scan_end(s, (int64_t)FRAMES * FRAME_US, &film, NULL));
    scan_free(&s);
    assert_same(&forward, &film);
    film_scan_free(&film);
    film_scan_free(&forward);
}

/* The frame before a gap stands for those in it. */
TEST(missing_frames)
{
    struct film_scan film = scan_stepping(1, 90, 100), other = scan_stepping(77, 90, 100);
    assert_same(&film, &other);
    assert_int_equal(film.count, FRAMES - 10);
    assert_true(film.frame[89].frame == 89 && film.frame[90].frame == 100);
    assert_int_equal(film.frame[90].distance[0], film.frame[90].distance[5]);
    film_scan_free(&film);
    film_scan_free(&other);
    film = scan_stepping(1, 0, 250);
    assert_int_equal(film.count, 50);
    assert_int_equal(film.frame[0].distance[0], 0);
    film_scan_free(&film);
}

TEST(the_first_one_of_a_number_counts)
{
    struct film_scan film;
    struct scan *s = scan_open(NULL);
    put_made(s, &made, 1);
    assert_true(scan_put(s, 1, 0, made.rgb[0], NULL));
    assert_true(scan_end(s, -1, &film, NULL));
    assert_int_equal(film.count, 1);
    assert_true(film.frame[0].time_us == FRAME_US);
    scan_free(&s);
    film_scan_free(&film);
}

TEST(no_frame)
{
    struct film_scan film;
    struct scan *s = scan_open(NULL);
    assert_true(scan_end(s, -1, &film, NULL));
    assert_int_equal(film.count, 0);
    film_scan_free(&film);
    scan_free(&s);
    assert_null(s);
    scan_free(&s);
}

TEST(a_number_beyond_memory_fails)
{
    struct err e = ERR_INIT;
    struct scan *s = scan_open(NULL);
    assert_false(scan_put(s, UINT64_MAX, 0, made.rgb[0], &e));
    assert_int_equal(e.code, ERR_MEMORY);
    scan_free(&s);
}

/* ---- Bytes ---- */

TEST(comes_back_from_bytes)
{
    struct film_scan film = scan_stepping(1, 90, 100), back;
    uint8_t *bytes;
    size_t count;
    film.frame[0].time_us = -5000000000;
    assert_true(film_scan_write(&film, &bytes, &count, NULL));
    assert_true(count < film.count * 60);
    assert_true(film_scan_read(&back, bytes, count, NULL));
    assert_same(&film, &back);
    film_scan_free(&back);
    film_scan_free(&film);
    free(bytes);
}

TEST(invalid_bytes_are_refused)
{
    struct film_scan film = scan_stepping(1, 10, FRAMES), back;
    struct err e = ERR_INIT;
    uint8_t *bytes;
    size_t count;
    assert_true(film_scan_write(&film, &bytes, &count, NULL));
    for (size_t n = 0; n < count; n++) {
        uint8_t *cut = malloc(n + 1); /* so that sanitizers see a read beyond */
        memcpy(cut, bytes, n);
        assert_false(film_scan_read(&back, cut, n, &e));
        assert_null(back.frame);
        free(cut);
    }
    assert_int_equal(e.code, ERR_INPUT);
    for (size_t i = 0; i < count; i++)
        for (int bit = 0; bit < 8; bit++) {
            bytes[i] ^= (uint8_t)(1 << bit);
            if (film_scan_read(&back, bytes, count, NULL))
                for (size_t k = 1; k < back.count; k++)
                    assert_true(back.frame[k].frame > back.frame[k - 1].frame);
            film_scan_free(&back);
            bytes[i] ^= (uint8_t)(1 << bit);
        }
    film.frame[0].time_us = INT64_MIN; /* a difference that overflows */
    free(bytes);
    assert_true(film_scan_write(&film, &bytes, &count, NULL));
    assert_false(film_scan_read(&back, bytes, count, NULL));
    bytes[0]++;
    assert_false(film_scan_read(&back, bytes, count, NULL));
    free(bytes);
    film.count = 0; /* no frame: nothing to find shots in */
    assert_true(film_scan_write(&film, &bytes, &count, NULL));
    assert_false(film_scan_read(&back, bytes, count, NULL));
    film_scan_free(&film);
    free(bytes);
}
