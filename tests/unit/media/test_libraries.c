/*
 * test_libraries.c - the lines of --version about FFmpeg and dav1d. tests/cli compares the versions
 * with what the libraries' own programs report.
 */
#include <stdio.h>
#include <string.h>

#include <libavcodec/avcodec.h>
#include <libavutil/avutil.h>

#include "test.h"
#include "media/ffmpeg/ffmpeg.h"

TEST(a_line_a_library)
{
    char text[512], start[64], codec[64];
    libraries_describe(text, sizeof text);
    snprintf(start, sizeof start, "FFmpeg %s (libavutil ", av_version_info());
    assert_memory_equal(text, start, strlen(start));
    snprintf(codec, sizeof codec, ", libavcodec %u.", avcodec_version() >> 16);
    assert_non_null(strstr(text, codec));
    assert_int_equal(text[strlen(text) - 1], '\n');

    int number;
    const char *dav1d = strstr(text, "\ndav1d ");
    assert_int_equal(dav1d != NULL, avcodec_find_decoder_by_name("libdav1d") != NULL);
    assert_true(!dav1d || sscanf(dav1d, "\ndav1d %d", &number) == 1);
}

TEST(little_room)
{
    char all[512], text[sizeof all];
    libraries_describe(all, sizeof all);
    for (size_t size = 1; size <= strlen(all); size++) {
        memset(text, '#', sizeof text);
        libraries_describe(text, size);
        assert_true(strlen(text) < size);
        assert_memory_equal(text, all, strlen(text));
        assert_int_equal(text[size], '#');
    }
}
