/* test_film_blocks.c - jumps in tracks that are compressed and in others, by blocks that are made here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "stage/film_blocks.h"
#include "format_of.h"

enum { FRAME = 40, SIZE = 200, AT = 30 };

/* A file with a block of track `track` at AT, whose content begins with `before` bytes that the packet has not, or lacks its first `less`. */
static AVFormatContext *with_block(const uint8_t *packet, int track, int before, int less)
{
    uint8_t bytes[AT + 300] = {0}, *at = bytes + AT;
    if (track >= 127)
        *at++ = 0x40;
    *at++ = (uint8_t)(track >= 127 ? track : 0x80 | track);
    memset(at, 0xee, 3 + (size_t)before);
    memcpy(at + 3 + before, packet + less, SIZE - (size_t)less);
    return format_of("matroska", bytes, sizeof bytes);
}

/* Packets every FRAME, but for the fifth, which comes `late`; of these the ones before which pictures may be missing, a bit each. */
static unsigned trial(int track, int before, int less, int late, int flags)
{
    uint8_t data[SIZE];
    for (int i = 0; i < SIZE; i++)
        data[i] = (uint8_t)(i * 7 + 3);
    AVFormatContext *format = with_block(data, track, before, less);
    struct film_blocks b = {.frame = FRAME, .dts = AV_NOPTS_VALUE};
    unsigned found = 0;
    for (int i = 0; i < 8; i++) {
        AVPacket p = {.pos = i == 0 ? AT : -1, .dts = i * FRAME + (i >= 4 ? late : 0), .data = data, .size = SIZE, .flags = i == 6 ? flags : 0};
        found |= (unsigned)film_blocks_lost(&b, format, &p) << i;
    }
    assert_int_equal(avio_tell(format->pb), 0);
    close_format(format);
    return found;
}

static void compressed(void **state)
{
    (void)state;
    for (int track = 1; track < 200; track += 150) {
        assert_int_equal(trial(track, 7, 0, 100, 0), 1 << 4);                 /* packed without getting smaller */
        assert_int_equal(trial(track, 7, 0, 0, 0), 0);
        assert_int_equal(trial(track, 7, 0, 15, 0), 0);
        assert_int_equal(trial(track, 7, 0, 0, AV_PKT_FLAG_KEY), 1 << 6);
        assert_int_equal(trial(track, 40, 100, 100, 0), 1 << 4);
    }
}

static void as_they_are(void **state)
{
    (void)state;
    for (int track = 1; track < 200; track += 150) {
        assert_int_equal(trial(track, 0, 0, 100, AV_PKT_FLAG_KEY), 0);
        assert_int_equal(trial(track, 0, 4, 100, AV_PKT_FLAG_KEY), 0);       /* its first bytes are left out */
    }
}

static void other_containers(void **state)
{
    (void)state;
    AVFormatContext *format = avformat_alloc_context();
    format->iformat = av_find_input_format("avi");
    AVStream *stream = avformat_new_stream(format, NULL);
    stream->avg_frame_rate = (AVRational){25, 1};
    stream->time_base = (AVRational){1, 1000};
    struct film_blocks b;
    film_blocks_open(&b, format, stream);
    assert_int_equal(b.frame, 0);
    AVPacket p = {.pos = 0, .dts = 0};
    assert_false(film_blocks_lost(&b, format, &p));
    avformat_free_context(format);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(compressed), cmocka_unit_test(as_they_are), cmocka_unit_test(other_containers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
