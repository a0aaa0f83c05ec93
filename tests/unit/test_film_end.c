#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <unistd.h>

#include "stage/av.h"
#include "clip.h"

/* Reads a film to its end: whether it is torn there. *behind: where packet `nth` ends in the file. */
static bool is_torn(const char *name, int nth, int64_t *behind)
{
    struct err e = ERR_INIT;
    AVFormatContext *format = NULL;
    struct film film;
    struct film_end end;
    AVPacket *packet = av_packet_alloc();
    assert_non_null(packet);
    if (!film_av_open(name, &format, &film, &e))
        fail_msg("%s", e.text);
    film_end_open(&end);
    assert_false(film_end_is_torn(&end, format, format->streams[film.stream]));
    int code;
    while ((code = av_read_frame(format, packet)) >= 0) {
        film_end_packet(&end, format, packet);
        if (end.packets == (uint64_t)nth)
            *behind = end.behind;
        av_packet_unref(packet);
    }
    bool ended = code == AVERROR_EOF || film_end_is_end(format, code);
    int64_t at = avio_tell(format->pb);
    bool torn = film_end_is_torn(&end, format, format->streams[film.stream]);
    assert_int_equal(avio_tell(format->pb), at);
    assert_true(ended || torn);
    av_packet_free(&packet);
    film_av_close(&format);
    free(film.path);
    return torn;
}

static void cut_between_pictures(void **state)
{
    (void)state;
    static const struct {
        const char *how, *name;
    } film[] = {{"a.gif", "a.gif"},
                {"a.apng", "a.apng"},
                {"-c:v libvpx -deadline realtime -auto-alt-ref 0 a.ivf", "a.ivf"},
                {"-c:v mpeg2video a.mxf", "a.mxf"},
                {"-c:v mjpeg a.nut", "a.nut"}};
    for (size_t i = 0; i < sizeof film / sizeof *film; i++) {
        int64_t at = 0, nothing = 0;
        if (!clip_encode(film[i].how))
            continue;
        assert_false(is_torn(film[i].name, CLIP_FRAMES / 2, &at));
        assert_true(at > 0);
        assert_int_equal(truncate(film[i].name, at), 0);
        assert_true(is_torn(film[i].name, 1, &nothing));
    }
}

static void cut_in_a_picture(void **state)
{
    (void)state;
    int64_t at = 0, nothing = 0;
    if (!clip_encode("-pix_fmt yuv420p a.y4m"))
        skip();
    assert_false(is_torn("a.y4m", CLIP_FRAMES / 2, &at));
    assert_int_equal(truncate("a.y4m", at + 3), 0);
    assert_true(is_torn("a.y4m", 1, &nothing));
    assert_int_equal(truncate("a.y4m", at), 0);
    assert_false(is_torn("a.y4m", 1, &nothing));
}

static void errors_that_are_the_end(void **state)
{
    (void)state;
    int64_t nothing = 0;
    if (clip_encode("-f mpjpeg a.mpjpeg"))
        assert_false(is_torn("a.mpjpeg", 1, &nothing));
    if (clip_encode("-s 720x576 -c:v mpeg2video a.gxf"))
        assert_false(is_torn("a.gxf", 1, &nothing));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cut_between_pictures),
        cmocka_unit_test(cut_in_a_picture),
        cmocka_unit_test(errors_that_are_the_end),
    };
    return cmocka_run_group_tests(tests, clip_begin, clip_end);
}
