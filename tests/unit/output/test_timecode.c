#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "output/formats/timecode.h"

static void expect(double rate, bool drop, int64_t frame, const char *want)
{
    char text[TIMECODE_TEXT];
    const struct timecode t = timecode_of(rate, drop);
    timecode_text(&t, frame, text);
    if (strcmp(text, want) != 0)
        fail_msg("frame %lld at %.3f is %s, not %s", (long long)frame, rate, text, want);
}

/* SMPTE ST 12-1: an hour is 107,892 frames of 29.97 per second with drop frame, 108,000 without. */
TEST(known)
{
    const double ntsc = 30000 / 1001.0;
    expect(24000 / 1001.0, false, 24 * 3600, "01:00:00:00");
    expect(25, true, 25 * 60 + 24, "00:01:00:24");
    expect(50, false, 3599 * 50 + 49, "00:59:59:49");
    expect(ntsc, false, 1800, "00:01:00:00");
    expect(ntsc, true, 1799, "00:00:59;29");
    expect(ntsc, true, 1800, "00:01:00;02");
    expect(ntsc, true, 17981, "00:09:59;29");
    expect(ntsc, true, 17982, "00:10:00;00");
    expect(ntsc, true, 107892, "01:00:00;00");
    expect(29.97, true, 107892, "01:00:00;00");
    expect(30, true, 107892, "00:59:56:12"); /* no drop frame at 30 */
    expect(2 * ntsc, true, 3599, "00:00:59;59");
    expect(2 * ntsc, true, 3600, "00:01:00;04");
    expect(2 * ntsc, true, 215784, "01:00:00;00");
    expect(24, false, 24 * 3600 * 25, "01:00:00:00"); /* after a day */
    assert_true(timecode_of(19001 / 317.0, true).rate == 60000 / 1001.0);
    assert_true(timecode_of(23.98, true).rate == 23.98);
    expect(0.5, false, 61, "00:01:01:00");
}

/* A clock that counts up and leaves out the first numbers of minutes, as the standard words it. */
TEST(drop_frame_counts)
{
    for (int base = 30; base <= 60; base += 30) {
        int hour = 0, minute = 0, second = 0, frame = 0;
        char want[64];
        for (int64_t n = 0; n < INT64_C(2) * 3600 * base; n++) {
            snprintf(want, sizeof want, "%02d:%02d:%02d;%02d", hour, minute, second, frame);
            expect(base * 1000 / 1001.0, true, n, want);
            if (++frame < base)
                continue;
            frame = 0;
            if (++second < 60)
                continue;
            second = 0;
            hour += ++minute / 60;
            minute %= 60;
            frame = minute % 10 == 0 ? 0 : base / 15;
        }
    }
}

/* Times of frames, rounded in any way to microseconds or milliseconds, give the frames back. */
TEST(frames_of_times)
{
    static const int rate[][2] = {{24000, 1001}, {24, 1}, {25, 1}, {30000, 1001},
                                  {30, 1},       {50, 1}, {60, 1}, {60000, 1001}};
    for (size_t i = 0; i < sizeof rate / sizeof *rate; i++) {
        struct film film = {
            .rate_num = rate[i][0], .rate_den = rate[i][1], .length.start_us = 83000};
        const struct timecode t = timecode_of_film(&film, false);
        for (int64_t n = 0; n < 300000; n += 7) {
            int64_t us = n * 1000000 * rate[i][1] / rate[i][0];
            assert_int_equal(timecode_frame(&t, 83000 + us), n);
            assert_int_equal(timecode_frame(&t, 83000 + us + 1), n);
            assert_int_equal(timecode_frame(&t, 83000 + us / 1000 * 1000), n);
        }
        assert_int_equal(timecode_frame(&t, 0), 0);
    }
    struct film unknown = {.rate_num = 0, .rate_den = 1};
    assert_int_equal(timecode_of_film(&unknown, true).base, 25);
}

TEST(event)
{
    char *text;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    const struct timecode t = timecode_of(25, false);
    timecode_put_event(f, &t, 1234, "AX", (const int64_t[]){0, 30, 25, 55});
    fclose(f);
    assert_string_equal(text, "1234  AX       V     C        00:00:00:00 00:00:01:05 00:00:01:00 "
                              "00:00:02:05\n");
    free(text);
}
