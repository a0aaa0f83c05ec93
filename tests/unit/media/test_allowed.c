/* test_allowed.c - which demuxers may read a film, and what they may open. */
#include <string.h>

#include "test.h"
#include "media/container/allowed.h"
#include "media/container/pipe_input.h"
#include "playlist_folder.h"

static int try_open(const AVInputFormat *iformat, const char *url)
{
    AVIOContext *file = NULL, *film = NULL;
    struct err e = ERR_INIT;
    assert_true(film_input_open("list/film", NULL, &film, &e) && film);
    AVFormatContext *format = avformat_alloc_context();
    assert_non_null(format);
    format->url = av_strdup("file:list/film");
    format->iformat = iformat;
    format->pb = film;
    int code = allowed_open(format, &file, url, AVIO_FLAG_READ, NULL);
    if (file) {
        char text[4];
        assert_int_equal(avio_read(file, (unsigned char *)text, sizeof text), sizeof text);
        assert_memory_equal(text, "film", sizeof text);
        allowed_close(format, file);
    }
    film_input_close(&film);
    format->pb = NULL;
    format->iformat = NULL;
    avformat_free_context(format);
    return code;
}

TEST(opens_nothing_else)
{
    const AVInputFormat *film = av_find_input_format("mov"), *list = av_find_input_format("hls");
    assert_int_equal(try_open(NULL, "file:list/film"), AVERROR(EPERM)); /* it is the input */
    assert_int_equal(try_open(film, "file:list/film"), AVERROR(EPERM));
    assert_int_equal(try_open(list, "file:list/film"), 0);
    assert_int_equal(try_open(film, "file:list/sub/film"), AVERROR(EPERM));
    assert_int_equal(try_open(NULL, "file:list/sub/film"), AVERROR(EPERM));
    assert_int_equal(try_open(list, "file:list/sub/film"), 0);
    assert_int_equal(try_open(list, "list/sub/film"), 0);
    assert_int_equal(try_open(list, "file:far/film"), AVERROR(EPERM));
    assert_int_equal(try_open(list, "file:list/missing"), AVERROR(ENOENT));
    assert_int_equal(try_open(list, "crypto:file:list/film"), AVERROR(ENOENT));
}

/* All names that are not those of films, and a few that are. */
TEST(demuxers)
{
    static const char *const refused[] = {
        "hls",    "concat", "dash", "imf",   "sdp",     "rtp",      "rtsp", "sap",   "image2",
        "vobsub", "none",   "v4l2", "lavfi", "x11grab", "avisynth", "alsa", "fbdev", "kmsgrab"};
    static const char *const films[] = {"mp4", "webm", "avi", "mpegts", "png_pipe", "tty", "gif"};
    char list[16384];
    snprintf(list, sizeof list, ",%s,", allowed_names());
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        char name[32];
        snprintf(name, sizeof name, ",%s,", refused[i]);
        if (strstr(list, name))
            fail_msg("%s may read a film", refused[i]);
    }
    for (size_t i = 0; i < sizeof films / sizeof *films; i++) {
        char name[32];
        snprintf(name, sizeof name, ",%s,", films[i]);
        if (!strstr(list, name))
            fail_msg("%s may not read a film", films[i]);
    }
    void *next = NULL;
    for (const AVInputFormat *d; (d = av_demuxer_iterate(&next));)
        if (d->flags & AVFMT_NOFILE) {
            char name[64];
            snprintf(name, sizeof name, ",%s,", d->name);
            assert_null(strstr(list, name));
        }
}

TEST_FIXTURE(playlist_folder_begin, playlist_folder_end)
