/* test_film_more.c - what stands behind a film, in files of empty boxes and of transport packets that are made here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <libavutil/intreadwrite.h>

#include "stage/film_more.h"
#include "format_of.h"

/* Boxes of 20 bytes; one named in capitals says that it is longer than the file. */
static bool behind(const char *format, const char *boxes)
{
    uint8_t bytes[20 * 20] = {0};
    size_t count = strlen(boxes) / 4;
    for (size_t i = 0; i < count; i++) {
        bool damaged = boxes[i * 4] < 'a';
        AV_WB32(bytes + 20 * i, damaged ? 1 : 20);
        memcpy(bytes + 20 * i + 4, boxes + i * 4, 4);
        if (damaged)
            AV_WB64(bytes + 20 * i + 8, UINT64_MAX - 5);
    }
    AVFormatContext *f = format_of(format, bytes, 20 * count);
    bool is = film_more_behind(f);
    assert_int_equal(avio_tell(f->pb), 0);
    close_format(f);
    return is;
}

static void films_behind(void **state)
{
    (void)state;
    assert_true(behind("mp4", "ftypmoovmdatftypmoovmdat"));
    assert_true(behind("mp4", "ftypfreemdatmoovftypfreemdatmoov"));
    assert_false(behind("mp4", "ftypmoovmdat") || behind("mp4", "ftypmdatmoov"));
    assert_false(behind("mp4", "ftypmoovmoofmdatftypmoovmoofmdat"));      /* of which libavformat reads on */
    assert_false(behind("mp4", "ftypmoovmdatmoov"));              /* an older one, left behind */
    assert_false(behind("mp4", "ftypmoovmdatftypmdat"));
    assert_false(behind("mp4", "ftypmoovMDATftypmoovmdat"));
    assert_false(behind("avi", "ftypmoovmdatftypmoovmdat"));
}

enum { PACKET = 188, PACKETS = 600 };

/* Packets of two streams: 100 up to `until`, and 200 from `from` on; of `length` bytes each. Does the second one go on? */
static bool goes_on(int length, int until, int from, enum AVMediaType type)
{
    static uint8_t bytes[PACKETS * 204 + 100];
    memset(bytes, 0xff, sizeof bytes);
    for (int i = 0; i < PACKETS; i++) {
        uint8_t *at = bytes + 3 + i * length;
        int pid = (i % 2 == 0 && i < until) || i < from ? 100 : i % 2 || i >= until ? 200 : 100;
        pid = i >= until && i < from ? 0x1fff : pid;
        at[0] = 0x47;
        AV_WB16(at + 1, 0x4000 | pid);
    }
    AVFormatContext *f = format_of("mpegts", bytes, (size_t)(3 + PACKETS * length));
    AVStream *film = avformat_new_stream(f, NULL), *other = avformat_new_stream(f, NULL);
    film->id = 100;
    other->id = 200;
    film->codecpar->codec_type = AVMEDIA_TYPE_VIDEO;
    other->codecpar->codec_type = type;
    bool is = film_more_goes_on(f, film, 3 + (until - 1) * (int64_t)length);
    assert_int_equal(avio_tell(f->pb), 0);
    assert_false(film_more_goes_on(f, film, -1));
    close_format(f);
    return is;
}

static void streams_that_go_on(void **state)
{
    (void)state;
    const int lengths[] = {188, 192, 204};
    for (int i = 0; i < 3; i++) {
        assert_true(goes_on(lengths[i], 300, 300, AVMEDIA_TYPE_VIDEO));
        assert_true(goes_on(lengths[i], 301, 320, AVMEDIA_TYPE_VIDEO));
        assert_false(goes_on(lengths[i], 300, 200, AVMEDIA_TYPE_VIDEO));      /* it ran beside */
        assert_false(goes_on(lengths[i], 300, PACKETS - 5, AVMEDIA_TYPE_VIDEO));
        assert_false(goes_on(lengths[i], 300, 300, AVMEDIA_TYPE_AUDIO));
        assert_false(goes_on(lengths[i], PACKETS, PACKETS, AVMEDIA_TYPE_VIDEO));
    }
    uint8_t noise[3000];
    memset(noise, 0x11, sizeof noise);
    AVFormatContext *f = format_of("mpegts", noise, sizeof noise);
    AVStream *film = avformat_new_stream(f, NULL), *other = avformat_new_stream(f, NULL);
    film->codecpar->codec_type = other->codecpar->codec_type = AVMEDIA_TYPE_VIDEO;
    assert_false(film_more_goes_on(f, film, 5));
    close_format(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(films_behind), cmocka_unit_test(streams_that_go_on)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
