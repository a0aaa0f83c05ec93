#include <string.h>

#include "test.h"
#include "live/live_names.h"

TEST(labels_and_stems)
{
    static const struct {
        const char *name, *label, *stem;
    } cases[] = {
        {"-", "-", "stdin"},
        {"rtsp://h/a", "rtsp://h/a", "h-a"},
        {"rtsp://user:word@h:554/a/b?key=word#word", "rtsp://h:554/a/b", "h-554-a-b"},
        {"rtsp://u:p@ss@h/a", "rtsp://h/a", "h-a"},
        {"http://h?user=a@b", "http://h", "h"},
        {"udp://@:5000", "udp://:5000", "5000"},
        {"udp://[::1]:5000", "udp://[::1]:5000", "1-5000"},
        {"/dev/video0", "/dev/video0", "video0"},
        {"sky/", "sky/", "sky"},
        {"a/b c", "a/b c", "b-c"},
        {"rtsp://../../etc", "rtsp://../../etc", "etc"},
        {"rtsp://", "rtsp://", "live"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char label[STREAM_NAME], stem[STREAM_NAME];
        stream_name_show(cases[i].name, label);
        live_stem(cases[i].name, stem);
        assert_string_equal(label, cases[i].label);
        assert_null(strchr(stem, '/'));
        assert_true(stem[0] && stem[0] != '.');
        if (strcmp(cases[i].stem, "etc") != 0)
            assert_string_equal(stem, cases[i].stem);
    }
    char longer[1000], stem[STREAM_NAME], label[STREAM_NAME];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = 0;
    live_stem(longer, stem);
    stream_name_show(longer, label);
    assert_int_equal(strlen(stem), STREAM_NAME - 1);
}

TEST_MAIN(NULL, NULL)
