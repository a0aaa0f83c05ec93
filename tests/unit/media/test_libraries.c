/*
 * test_libraries.c - the lines of --version about FFmpeg and dav1d. tests/cli compares the versions
 * with what the libraries' own programs report.
 */
#include <string.h>

#include "test.h"
#include "media/ffmpeg/ffmpeg.h"

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
