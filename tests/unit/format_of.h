/*
 * format_of.h - for unit tests of what looks into a film's file past libavformat: an open file of these bytes, without a demuxer at work.
 */
#ifndef BARCODE_TESTS_FORMAT_OF_H
#define BARCODE_TESTS_FORMAT_OF_H

#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <libavformat/avformat.h>

/* The caller closes it. The file is gone then. */
static inline AVFormatContext *format_of(const char *demuxer, const uint8_t *bytes, size_t size)
{
    AVFormatContext *format = avformat_alloc_context();
    FILE *f = tmpfile();
    assert_true(format && f && fwrite(bytes, size, 1, f) == 1 && fflush(f) == 0);
    char url[64];
    snprintf(url, sizeof url, "/proc/self/fd/%d", fileno(f));
    format->iformat = av_find_input_format(demuxer);
    assert_int_equal(avio_open(&format->pb, url, AVIO_FLAG_READ), 0);
    fclose(f);
    return format;
}

static inline void close_format(AVFormatContext *format)
{
    avio_closep(&format->pb);
    avformat_free_context(format);
}

#endif
