#include <pthread.h>
#include <string.h>

#include "test.h"
#include "output/report.h"
#include "output/formats/thumbs.h"
#include "staged.h"

enum { W = 32, H = 18 };

static void expect_size(struct film film, struct crop crop, int analysis_width, int analysis_height,
                        int width, int height)
{
    int w, h;
    thumbs_size(&film, &crop, analysis_width, analysis_height, &w, &h);
    assert_int_equal(w, width);
    assert_int_equal(h, height);
}

/* The size that a person sees: square pixels, without bars, turned. */
TEST(sizes)
{
    const struct crop none = {.count = 0},
                      scope = {
                          .width = 1920, .height = 1080, .count = 1, .rect = {{0, 140, 1920, 800}}};
    expect_size((struct film){.width = 1920, .height = 1080}, none, 320, 180, 160, 90);
    expect_size((struct film){.width = 1920, .height = 1080, .sample_num = 1, .sample_den = 1},
                none, 320, 180, 160, 90);
    expect_size((struct film){.width = 1080, .height = 1920}, none, 180, 320, 90, 160);
    expect_size((struct film){.width = 720, .height = 576, .sample_num = 64, .sample_den = 45},
                none, 320, 256, 160, 90);
    expect_size((struct film){.width = 640, .height = 480}, none, 320, 240, 138, 104);
    expect_size((struct film){.width = 1920, .height = 1080}, scope, 320, 180, 160, 66);
    expect_size((struct film){.width = 1080, .height = 1920, .orientation = {1, false}}, scope, 180,
                320, 66, 160);
    expect_size((struct film){.width = 96, .height = 64}, none, 96, 64, 96, 64);
    expect_size((struct film){.width = 97, .height = 65}, none, 97, 65, 96, 64);
    expect_size((struct film){.width = 2, .height = 2}, none, 2, 2, 2, 2);
    expect_size((struct film){.width = 16384, .height = 1}, none, 320, 1, 160, 1);
    expect_size(
        (struct film){.width = 16384, .height = 16384, .sample_num = INT32_MAX, .sample_den = 1},
        none, 320, 320, 120, 120);
}

static struct thumbs *open_small(size_t most)
{
    struct err e = ERR_INIT;
    struct thumbs *t = thumbs_open(W, H, W / 2, H / 2, most, &e);
    assert_non_null(t);
    return t;
}

/* Column i's frame is flat, in a shade of its own. */
static void put_flat(struct thumbs *t, uint64_t column, uint32_t repeat)
{
    uint8_t rgb[W * H * 3];
    struct err e = ERR_INIT;
    struct frame_tag tag = staged_tag(column);
    tag.repeat = repeat;
    memset(rgb, (int)(column % 251), sizeof rgb);
    assert_true(thumbs_put(t, &tag, rgb, &e));
}

static struct report report_of(const struct film *film, uint64_t count)
{
    return (struct report){
        .film = film,
        .count = count,
        .analysis.selection = {.kind = SELECT_EVERY, .every = 24, .end_us = INT64_MAX}};
}

static struct thumbs_sheets sheets_of(const struct thumbs *t, const struct report *r, size_t bytes)
{
    struct thumbs_sheets s;
    struct err e = ERR_INIT;
    assert_ok(thumbs_sheets(t, r, 0, bytes, &s, &e), &e);
    return s;
}

/* Every S-th column is kept, whatever the order in which they came. */
TEST(evenly)
{
    static const uint64_t count[] = {1, 15, 16, 17, 32, 33, 100, 1000};
    static const uint64_t stride[] = {1, 1, 1, 2, 2, 4, 8, 64};
    const struct film film = {.length.duration_us = -1};
    for (size_t k = 0; k < sizeof count / sizeof *count; k++)
        for (int order = 0; order < 3; order++) {
            struct report r = report_of(&film, count[k]);
            struct thumbs *t = open_small(16);
            for (uint64_t i = 0; i < count[k]; i++)
                put_flat(t,
                         order == 0   ? i
                         : order == 1 ? count[k] - 1 - i
                                      : (i * 7919 + 13) % count[k],
                         1);
            struct thumbs_sheets s = sheets_of(t, &r, THUMBS_BYTES);
            assert_int_equal(s.count, (count[k] + stride[k] - 1) / stride[k]);
            for (size_t i = 0; i < s.count; i++) {
                assert_int_equal(s.thumb[i].first, i * stride[k]);
                assert_int_equal(s.thumb[i].time_us, i * stride[k] * 1000000);
            }
            thumbs_sheets_free(&s);
            thumbs_free(&t);
            assert_null(t);
        }
    struct thumbs *none = NULL;
    thumbs_free(&none);
}

/* 250 columns, one a second: places, columns and times. */
TEST(places)
{
    const struct film film = {.length.duration_us = 249500000};
    struct report r = report_of(&film, 250);
    struct thumbs *t = open_small(1000);
    for (uint64_t i = 250; i-- > 0;)
        put_flat(t, i, 1);
    struct thumbs_sheets s = sheets_of(t, &r, THUMBS_BYTES);
    assert_int_equal(s.count, 250);
    assert_int_equal(s.sheets, 3);
    assert_int_equal(s.width, 16);
    assert_int_equal(s.height, 9);
    for (size_t i = 0; i < 250; i++) {
        const struct thumb *b = &s.thumb[i];
        assert_int_equal(b->first, i);
        assert_int_equal(b->time_us, i * 1000000);
        assert_int_equal(b->end_us, i == 249 ? 249500000 : (i + 1) * 1000000);
        assert_int_equal(b->sheet, i / 100);
        assert_int_equal(b->x, i % 10 * 16);
        assert_int_equal(b->y, i % 100 / 10 * 9);
    }
    assert_int_equal(s.sheet[0].width, 160);
    assert_int_equal(s.sheet[1].height, 90);
    assert_int_equal(s.sheet[2].width, 160);
    assert_int_equal(s.sheet[2].height, 45);
    thumbs_sheets_free(&s);
    assert_null(s.sheet);
    thumbs_free(&t);
}

/* A frame of many columns comes once; what is missing belongs to the one before, at the start to
 * the one after. */
TEST(repeats_and_holes)
{
    const struct film film = {.length.duration_us = -1};
    struct report r = report_of(&film, 30);
    struct thumbs *t = open_small(1000);
    put_flat(t, 3, 1);
    put_flat(t, 4, 9);
    put_flat(t, 20, 10);
    put_flat(t, 40, 2); /* beyond the film's end */
    struct thumbs_sheets s = sheets_of(t, &r, THUMBS_BYTES);
    static const uint64_t first[] = {0, 4, 20}, shown[] = {3, 4, 20};
    assert_int_equal(s.count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(s.thumb[i].first, first[i]);
        assert_int_equal(s.thumb[i].time_us, shown[i] * 1000000);
        assert_true(s.thumb[i].end_us > s.thumb[i].time_us);
    }
    assert_int_equal(s.sheet[0].width, 48);
    assert_int_equal(s.sheet[0].height, 9);
    thumbs_sheets_free(&s);
    thumbs_free(&t);
}

/* Of four columns a second the first of each second appears; the others are its columns. Times are
 * uneven: the one at 2.75 s comes 0.7 s later, and that of the third second is missing. */
TEST(periods)
{
    static const int64_t ms[] = {0,    250,  500,  750,  1000, 1250, 1500, 1750, 2050,
                                 2250, 2500, 3450, 3500, 3750, 5010, 5250, 5999, 6000};
    enum { COUNT = sizeof ms / sizeof *ms };
    static const uint64_t first[] = {0, 4, 8, 11, 14, 17};
    const struct film film = {.length.duration_us = 6100000};
    struct report r = report_of(&film, COUNT);
    struct thumbs *t = open_small(1000);
    struct thumbs_sheets s;
    struct err e = ERR_INIT;
    uint8_t rgb[W * H * 3] = {0};
    for (uint64_t i = 0; i < COUNT; i++) {
        struct frame_tag tag = staged_tag(i);
        tag.time_us = ms[i] * 1000;
        assert_true(thumbs_put(t, &tag, rgb, &e));
    }
    assert_true(thumbs_sheets(t, &r, 1000000, THUMBS_BYTES, &s, &e));
    assert_int_equal(s.count, sizeof first / sizeof *first);
    for (size_t i = 0; i < s.count; i++) {
        bool last = i + 1 == s.count;
        assert_int_equal(s.thumb[i].first, first[i]);
        assert_int_equal(s.thumb[i].time_us, ms[first[i]] * 1000);
        assert_int_equal(s.thumb[i].end_us, last ? 6100000 : ms[first[i + 1]] * 1000);
    }
    thumbs_sheets_free(&s);
    thumbs_free(&t);
}

/* Noise is the hardest to pack: the sheets still take no more than they may, and with more room
 * they are finer. */
TEST(budget)
{
    enum { COUNT = 230 };
    const struct film film = {.length.duration_us = -1};
    struct report r = report_of(&film, COUNT);
    struct thumbs *t = open_small(1000);
    uint8_t rgb[W * H * 3];
    struct err e = ERR_INIT;
    for (uint64_t i = 0; i < COUNT; i++) {
        struct frame_tag tag = staged_tag(i);
        staged_draw(rgb, W, H, i);
        assert_true(thumbs_put(t, &tag, rgb, &e));
    }
    size_t before = 0;
    for (size_t most = 9000; most <= 18000; most += 3000) {
        struct thumbs_sheets s = sheets_of(t, &r, most), again = sheets_of(t, &r, most);
        size_t bytes = 0;
        for (size_t i = 0; i < s.sheets; i++) {
            bytes += s.sheet[i].size;
            assert_int_equal(s.sheet[i].size, again.sheet[i].size);
            assert_memory_equal(s.sheet[i].data, again.sheet[i].data, s.sheet[i].size);
        }
        assert_in_range(bytes, before, most);
        before = bytes + 1;
        thumbs_sheets_free(&s);
        thumbs_sheets_free(&again);
    }
    thumbs_free(&t);
}

TEST(of_nothing)
{
    const struct film film = {.length.duration_us = -1};
    struct report r = report_of(&film, 3);
    struct thumbs *t = open_small(8);
    struct thumbs_sheets s;
    struct err e = ERR_INIT;
    assert_false(thumbs_sheets(t, &r, 0, THUMBS_BYTES, &s, &e));
    assert_string_equal(e.text, "no frames for thumbnails");
    assert_null(s.thumb);
    thumbs_sheets_free(&s);
    thumbs_free(&t);
}

struct putter {
    struct thumbs *thumbs;
    pthread_t thread;
    uint64_t first;
};

static void *put_some(void *argument)
{
    struct putter *p = argument;
    for (uint64_t i = 0; i < 500; i++) {
        uint8_t rgb[W * H * 3];
        struct frame_tag tag = staged_tag(i * 4 + p->first);
        memset(rgb, (int)(tag.column % 251), sizeof rgb);
        if (!thumbs_put(p->thumbs, &tag, rgb, NULL))
            return p;
    }
    return NULL;
}

TEST(many_threads)
{
    struct putter p[4];
    struct thumbs *t = open_small(100);
    for (int i = 0; i < 4; i++) {
        p[i] = (struct putter){.thumbs = t, .first = (uint64_t)i};
        assert_int_equal(pthread_create(&p[i].thread, NULL, put_some, &p[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        void *failed;
        pthread_join(p[i].thread, &failed);
        assert_null(failed);
    }
    const struct film film = {.length.duration_us = -1};
    struct report r = report_of(&film, 2000);
    struct thumbs_sheets s = sheets_of(t, &r, THUMBS_BYTES);
    assert_int_equal(s.count, 63);
    for (size_t i = 0; i < s.count; i++)
        assert_int_equal(s.thumb[i].time_us, i * 32 * 1000000);
    thumbs_sheets_free(&s);
    thumbs_free(&t);
}
