#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "stage/av.h"
#include "clip.h"

/* The first `bytes` of a film. */
static struct film_cut cut_at(const char *name, long bytes, int64_t *duration_us)
{
    char line[256], part[64];
    struct err e = ERR_INIT;
    AVFormatContext *format = NULL;
    struct film film;
    snprintf(part, sizeof part, "part%s", strrchr(name, '.'));
    snprintf(line, sizeof line, "head -c %ld %s > %s", bytes, name, part);
    assert_int_equal(system(line), 0);
    if (!film_av_open(part, &format, &film, &e))
        fail_msg("%s", e.text);
    int64_t at = avio_tell(format->pb);
    struct film_cut cut = film_cut_of(format, format->streams[film.stream]);
    assert_int_equal(avio_tell(format->pb), at);
    *duration_us = film.duration_us;
    film_av_close(&format);
    free(film.path);
    return cut;
}

static struct film_cut cut_of(const char *name, int percent, int64_t *duration_us)
{
    struct stat s;
    assert_int_equal(stat(name, &s), 0);
    return cut_at(name, (long)s.st_size * percent / 100, duration_us);
}

static void heads_and_pages(void **state)
{
    (void)state;
    static const struct {
        const char *how, *name;
        bool length;           /* known of the whole film */
    } film[] = {{"-c:v mjpeg a.avi", "a.avi", true}, {"-c:v wmv2 a.wmv", "a.wmv", true}, {"-c:v theora a.ogv", "a.ogv", false},
                {"-c:v rv10 a.rm", "a.rm", true}, {"-c:v flv1 a.flv", "a.flv", false}, {"-c:v mjpeg a.swf", "a.swf", false},
                {"-c:v mpeg1video a.mpg", "a.mpg", false}};
    for (size_t i = 0; i < sizeof film / sizeof *film; i++) {
        int64_t whole_us, part_us;
        if (!clip_encode(film[i].how))
            continue;
        struct film_cut whole = cut_of(film[i].name, 100, &whole_us), part = cut_of(film[i].name, 60, &part_us);
        assert_false(whole.off);
        assert_int_equal(part.off, strcmp(film[i].name, "a.mpg") != 0);
        if (!film[i].length)
            continue;
        const int64_t length = CLIP_FRAMES * CLIP_STEP_US;
        assert_in_range(part.duration_us, length - 100000, length + 100000);
        assert_int_equal(part_us, part.duration_us);
    }
}

/* Where a picture begins stand four zeros, which are no End. */
static void swf_that_ends_in_zeros(void **state)
{
    (void)state;
    static uint8_t byte[1 << 20];
    int64_t length_us;
    if (!clip_encode("-c:v mjpeg zeros.swf"))
        return;
    FILE *file = fopen("zeros.swf", "rb");
    assert_non_null(file);
    size_t size = fread(byte, 1, sizeof byte, file), at = size / 2;
    fclose(file);
    while (at + 8 <= size && (memcmp(byte + at, "\x7f\x05", 2) != 0 || memcmp(byte + at + 4, "\0\0\0\0", 4) != 0))
        at++;
    assert_in_range(at + 8, 8, size);
    assert_true(cut_at("zeros.swf", (long)at + 8, &length_us).off);
    assert_false(cut_at("zeros.swf", (long)size, &length_us).off);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heads_and_pages),
        cmocka_unit_test(swf_that_ends_in_zeros),
    };
    return cmocka_run_group_tests(tests, clip_begin, clip_end);
}
