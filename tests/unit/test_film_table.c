/* test_film_table.c - an MP4's table: with fewer entries than it says that there are pictures, and cut by an edit list, which is no damage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "stage/film_table.h"
#include "clip.h"

/* True if the film lacks pictures for a reader to whom `came` came. */
static bool lacks(const char *name, uint64_t came)
{
    AVFormatContext *format = NULL;
    char url[64];
    snprintf(url, sizeof url, "file:%s", name);
    assert_int_equal(avformat_open_input(&format, url, NULL, NULL), 0);
    bool is = film_table_lacks(format, format->streams[0], came);
    avformat_close_input(&format);
    return is;
}

/* A copy of plain.mp4 whose first track has a chunk less. */
static void shorten(void)
{
    static uint8_t data[1 << 22];
    FILE *f = fopen("plain.mp4", "rb"), *out = fopen("short.mp4", "wb");
    assert_true(f && out);
    size_t size = fread(data, 1, sizeof data, f);
    for (size_t i = 0; i + 12 < size; i++)
        if (memcmp(data + i, "stco", 4) == 0) {
            assert_true(data[i + 11] > 1);
            data[i + 11]--;
            break;
        }
    assert_true(fwrite(data, size, 1, out) == 1);
    assert_int_equal(fclose(f) + fclose(out), 0);
}

static void tables(void **state)
{
    (void)state;
    if (!clip_encode("-f lavfi -i anoisesrc=d=8 -map 0 -map 1 -c:v mpeg2video -bf 2 -g 10 -q:v 4 -c:a mp2 plain.mp4") ||
        !clip_ffmpeg("-ss 1.3 -i plain.mp4 -t 4 -c copy cut.mp4") || !clip_ffmpeg("-i plain.mp4 -c copy plain.mkv"))
        skip();
    shorten();
    AVFormatContext *format = NULL;
    assert_int_equal(avformat_open_input(&format, "file:plain.mp4", NULL, NULL), 0);
    uint64_t all = (uint64_t)format->streams[0]->nb_frames;
    avformat_close_input(&format);
    assert_false(lacks("plain.mp4", all) || lacks("plain.mkv", 0));
    assert_true(lacks("plain.mp4", all - 1));
    assert_int_equal(avformat_open_input(&format, "file:cut.mp4", NULL, NULL), 0);
    uint64_t entries = (uint64_t)avformat_index_get_entries_count(format->streams[0]);
    assert_true(entries > 0 && entries < all);
    avformat_close_input(&format);
    assert_false(lacks("cut.mp4", entries));
    assert_true(lacks("cut.mp4", entries - 1));
    assert_int_equal(avformat_open_input(&format, "file:short.mp4", NULL, NULL), 0);
    entries = (uint64_t)avformat_index_get_entries_count(format->streams[0]);
    avformat_close_input(&format);
    assert_true(entries < all && lacks("short.mp4", entries));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tables)};
    return cmocka_run_group_tests(tests, clip_begin, clip_end);
}
