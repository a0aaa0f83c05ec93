#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stage/av.h"
#include "clip.h"

static uint8_t film[1 << 22];

/* Where chunk `n` of the video begins in film[0..size). */
static size_t chunk(size_t size, int n)
{
    bool inside = false;
    for (size_t at = 0; at + 4 < size; at++) {
        inside |= memcmp(film + at, "movi", 4) == 0;
        if (inside && memcmp(film + at, "00dc", 4) == 0 && n-- == 0)
            return at;
    }
    fail();
    return 0;
}

static size_t load(const char *name)
{
    FILE *f = fopen(name, "rb");
    assert_non_null(f);
    size_t size = fread(film, 1, sizeof film, f);
    fclose(f);
    return size;
}

struct seen {
    uint64_t lost;
    bool even;              /* each picture at its time, lost ones too */
    uint64_t pictures;
};

/* What a reader of film[0..size) sees. */
static struct seen read_film(size_t size)
{
    struct err e = ERR_INIT;
    AVFormatContext *format = NULL;
    struct film facts;
    struct demux r;
    struct picture p;
    FILE *f = fopen("trial.avi", "wb");
    assert_true(f && fwrite(film, size, 1, f) == 1 && fclose(f) == 0);
    if (!film_av_open("trial.avi", &format, &facts, &e) || !demux_open(&r, format, facts.stream, &e))
        fail_msg("%s", e.text);
    struct seen seen = {.even = true};
    while (demux_next(&r, &p, &e)) {
        seen.even &= p.pts_us == (int64_t)seen.pictures++ * CLIP_STEP_US;
        seen.lost += p.lost;
        packet_free(&p.packet);
    }
    assert_int_equal(e.code, ERR_NONE);
    assert_int_equal(seen.lost, r.unreadable);
    demux_close(&r);
    avformat_close_input(&format);
    free(facts.path);
    return seen;
}

static void holes(void **state)
{
    (void)state;
    if (!clip_encode("-c:v mjpeg -q:v 5 plain.avi"))
        skip();
    size_t size = load("plain.avi");
    static const struct {
        int from, to;       /* zeros from the middle of the picture before `from` into that before `to` */
    } hole[] = {{20, 30}, {1, 2}, {150, 151}, {190, 200}};
    for (size_t i = 0; i < sizeof hole / sizeof *hole; i++) {
        size = load("plain.avi");
        size_t at = chunk(size, hole[i].from) - 100, end = hole[i].to == 200 ? chunk(size, 199) + 100 : chunk(size, hole[i].to) - 100;
        memset(film + at, 0, end - at);
        struct seen seen = read_film(size);
        assert_int_equal(seen.pictures, CLIP_FRAMES);
        assert_int_equal(seen.lost, hole[i].to - hole[i].from);
        assert_true(seen.even);
    }
}

/* Entries that lie where no chunk is: the film itself is in one piece. */
static void wrong_entries(void **state)
{
    (void)state;
    if (!clip_encode("-c:v mjpeg -q:v 5 plain.avi"))
        skip();
    size_t size = load("plain.avi"), at = 0;
    for (size_t i = 0; i + 4 < size; i++)
        if (memcmp(film + i, "idx1", 4) == 0)
            at = i;
    assert_true(at > 0);
    for (int i = 50; i < 60; i++)
        film[at + 8 + 16 * (size_t)i + 8] += 2;
    struct seen seen = read_film(size);
    assert_int_equal(seen.pictures, CLIP_FRAMES);
    assert_int_equal(seen.lost, 0);
    assert_true(seen.even);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(holes), cmocka_unit_test(wrong_entries),
    };
    return cmocka_run_group_tests(tests, clip_begin, clip_end);
}
