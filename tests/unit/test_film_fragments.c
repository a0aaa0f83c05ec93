/* test_film_fragments.c - fragments that are missing, by their numbers and times, in files of empty boxes that are made here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <libavutil/intreadwrite.h>

#include "stage/film_fragments.h"
#include "format_of.h"

enum { FRAME = 100, MOOF = 32, MDAT = 50, FRAGMENT = MOOF + MDAT, FIRST = 20 };

/* An MP4 of a box and fragments of these numbers. */
static AVFormatContext *make(const uint32_t *number, int count)
{
    uint8_t bytes[4096] = {0, 0, 0, FIRST, 'f', 't', 'y', 'p'};
    for (int i = 0; i < count; i++) {
        uint8_t *at = bytes + FIRST + i * FRAGMENT;
        memcpy(at, (const uint8_t[]){0, 0, 0, MOOF, 'm', 'o', 'o', 'f', 0, 0, 0, 16, 'm', 'f', 'h', 'd'}, 16);
        AV_WB32(at + 20, number[i]);
        memcpy(at + MOOF, (const uint8_t[]){0, 0, 0, 1, 'm', 'd', 'a', 't', 0, 0, 0, 0, 0, 0, 0, MDAT}, 16);
    }
    return format_of("mp4", bytes, (size_t)(FIRST + count * FRAGMENT));
}

/* Fragments of these numbers, of two packets each; that numbered `late` begins 300 later. Before which packet some are missing; -1: nowhere. */
static int trial(const uint32_t *number, int count, int late)
{
    AVFormatContext *format = make(number, count);
    struct film_fragments f = {.frame = FRAME, .at = -1};
    int found = -1;
    for (int i = 0; i < 2 * count; i++) {
        AVPacket p = {.pos = FIRST + i / 2 * FRAGMENT + MOOF + 16 + i % 2, .dts = i * FRAME + (i >= 2 * late ? 300 : 0)};
        bool lost = film_fragments_lost(&f, format, &p);
        assert_false(lost && found >= 0);
        if (lost)
            found = i;
    }
    assert_int_equal(avio_tell(format->pb), 0);
    close_format(format);
    return found;
}

#define TRIAL(late, ...) trial((const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t), late)

static void both_signs(void **state)
{
    (void)state;
    assert_int_equal(TRIAL(3, 1, 2, 3, 5, 6), 6);
    assert_int_equal(TRIAL(1, 1, 3, 4), 2);
    assert_int_equal(TRIAL(9, 1, 2, 3, 5, 6), -1);          /* the times go on */
    assert_int_equal(TRIAL(3, 1, 2, 3, 4, 5), -1);          /* the numbers do */
    assert_int_equal(TRIAL(2, 1, 2, 3, 5, 6), -1);          /* the jump is elsewhere */
}

static void habits_of_packagers(void **state)
{
    (void)state;
    assert_int_equal(TRIAL(3, 1, 3, 5, 7, 9), -1);          /* sound has the others, in a file of its own */
    assert_int_equal(TRIAL(3, 1, 3, 5, 9, 11), 6);
    assert_int_equal(TRIAL(3, 1, 1, 1, 1, 1), -1);
    assert_int_equal(TRIAL(3, 0, 0, 0, 0, 0), -1);
    assert_int_equal(TRIAL(3, 7, 8, 9, 1, 2), -1);          /* another recording */
}

static void other_containers(void **state)
{
    (void)state;
    AVFormatContext *format = avformat_alloc_context();
    format->iformat = av_find_input_format("matroska");
    AVStream *stream = avformat_new_stream(format, NULL);
    stream->avg_frame_rate = (AVRational){25, 1};
    stream->time_base = (AVRational){1, 2500};
    struct film_fragments f;
    film_fragments_open(&f, format, stream);
    assert_int_equal(f.next, -1);
    AVPacket a = {.pos = 10, .dts = 0}, b = {.pos = 90, .dts = 9000}, later = {.pos = -1, .dts = AV_NOPTS_VALUE};
    assert_false(film_fragments_lost(&f, format, &a) || film_fragments_lost(&f, format, &b) || film_fragments_lost(&f, format, &later));
    assert_int_equal(f.at, 90);
    avformat_free_context(format);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(both_signs), cmocka_unit_test(habits_of_packagers), cmocka_unit_test(other_containers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
