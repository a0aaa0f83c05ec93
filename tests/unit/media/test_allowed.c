/* test_allowed.c - which demuxers and files a film may use, and what a playlist may name */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"
#include "files.h"
#include "media/container/open.h"
#include "media/container/film_input.h"
#include "media/container/playlists.h"

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

static int begin(void **state)
{
    if (enter(state) != 0 || mkdir("far", 0700) || mkdir("list", 0700) || mkdir("list/sub", 0700) ||
        mkdir("list2", 0700) || mkfifo("list/pipe", 0600) || symlink("../far/film", "list/link") ||
        symlink("../far", "list/out") || symlink("sub/film", "list/in") ||
        symlink("loop", "list/loop"))
        return 1;
    static const char *const film[] = {"far/film", "list/film", "list/sub/film", "list2/film"};
    for (size_t i = 0; i < 4; i++)
        put(film[i], "film", 4);
    return 0;
}

static const AVInputFormat *demuxer(const char *name)
{
    const AVInputFormat *found = av_find_input_format(name);
    assert_non_null(found);
    return found;
}

/* The lists lie in the folder "list". A result of 0 is a file. */
TEST(files)
{
    static const struct {
        const char *file;
        int code;
    } t[] = {{"list/film", 0},
             {"file:list/film", 0},
             {"list/sub/film", 0},
             {"list/sub/../film", 0},
             {"list/in", 0},
             {"list/link", EPERM},
             {"list/out/film", EPERM},
             {"list/../far/film", EPERM},
             {"far/film", EPERM},
             {"list2/film", EPERM},
             {"list/sub", EPERM},
             {"list", EPERM},
             {"list/pipe", EPERM},
             {"/dev/null", EPERM},
             {"/etc/passwd", EPERM},
             {"list/missing", ENOENT},
             {"list/loop", ELOOP},
             {"list/film/film", ENOTDIR},
             {"http://list/film", ENOENT},
             {"subfile,,start,0,end,0,,:list/film", ENOENT},
             {"", ENOENT}};
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        char *file = playlists_file(i % 2 ? "list/a.m3u8" : "file:list/a.m3u8", t[i].file);
        if (t[i].code ? file != NULL || errno != t[i].code : !file || file[0] != '/')
            fail_msg("'%s': %s, %s", t[i].file, file ? file : "none", strerror(errno));
        free(file);
    }
}

TEST(names)
{
    put("list/a.m3u8", "", 0);
    put("list/a.mp4", "", 0);
    assert_true(playlists_may_be("list/a.m3u8"));
    assert_false(playlists_may_be("list/a.mp4") || playlists_may_be("list/missing.m3u8") ||
                 playlists_may_be("/dev/fd/0"));
}

TEST(texts)
{
    static const struct {
        const char *name, *demuxer, *text, *sentence; /* NULL: it may be read */
    } t[] = {
        {"a.m3u8", "hls", "#EXTM3U\n#EXTINF:1,\nfilm\n#EXT-X-ENDLIST\n", NULL},
        {"a.m3u8", "hls", "#EXTM3U\r#EXTINF:1,\rfilm \r#EXT-X-ENDLIST", NULL},
        {"a.m3u8", "hls", "#EXTM3U\n#EXTINF:1,\nmissing\n#EXT-X-ENDLIST\n", NULL},
        {"a.m3u8", "hls", "#EXTM3U\n#EXTINF:1,\n./sub/film\n#EXT-X-ENDLIST\n", NULL},
        {"a.m3u8", "hls", "#EXTM3U\n#EXTINF:1,\na..b\n#EXT-X-ENDLIST\n", NULL},
        {"a.m3u8", "hls", "#EXTM3U\n#EXTINF:1,\nfilm\n", "is a live playlist"},
        {"a.m3u8", "hls", "#EXTM3U\n#EXTINF:1,\nfilm\n ##EXT-X-ENDLIST\n", "is a live playlist"},
        {"a.m3u8", "hls", "#EXTM3U\n#EXT-X-STREAM-INF:B=1\nmissing\n", NULL},
        {"a.m3u8", "hls", "#EXTM3U\n#EXT-X-STREAM-INF:B=1\na.m3u8\n#EXTINF:1,\nfilm\n", "live"},
        {"a.m3u8", "hls", "#EXTM3U\n#EXT-X-STREAM-INF:B=1\na.m3u8\n", "another one, 'a.m3u8'"},
        {"a.m3u8", "hls", "#EXTM3U\n#EXT-X-KEY:M=A,URI=\"../k\"\n#EXT-X-ENDLIST\n", "names '../k'"},
        {"a.m3u8", "hls", "#EXTM3U\n#EXT-X-KEY:METHOD=NONE\n#EXT-X-ENDLIST\n", NULL},
        {"a.m3u8", "hls", "#EXTM3U\n#EXT-X-KEY:M=A\n#X:METHOD=A\n#EXT-X-ENDLIST\n", NULL},
        {"a.m3u8", "hls",
         "#EXTM3U\n#EXT-X-KEY:METHOD=NONE\nfilm\n#EXT-X-KEY:METHOD=A,URI=\"k\"\n#EXT-X-ENDLIST\n",
         "'list/a.m3u8' is encrypted"},
        {"a.m3u8", "hls", "#EXTM3U\n/missing\n#EXT-X-ENDLIST\n", "names '/missing'"},
        {"a.m3u8", "hls", "#EXTM3U\nsub/..\n#EXT-X-ENDLIST\n", "names 'sub/..'"},
        {"a.m3u8", "hls", "#EXTM3U\ndata:x\n#EXT-X-ENDLIST\n", "names 'data:x'"},
        {"a.m3u8", "hls", "#EXTM3U\npipe\n#EXT-X-ENDLIST\n", "names 'pipe'"},
        {"a.ffconcat", "concat", "ffconcat version 1.0\n file 'film'\nfile sub/film\n", NULL},
        {"a.ffconcat", "concat", "ffconcat version 1.0\nfile 'link'\n", "names 'link'"},
        {"a.ffconcat", "concat", "ffconcat version 1.0\nfile\tl\\ink\n", "names 'link'"},
        {"a.ffconcat", "concat", "ffconcat version 1.0\rfile 'li''nk' \n", "names 'link'"},
        {"a.ffconcat", "concat", "ffconcat version 1.0\nfile a.ffconcat\n", "another one"},
        {"a.ffconcat", "concat", "ffconcat version 1.0\nfilename 'link'\n", NULL},
        {"a.mp4", "concat", "ffconcat version 1.0\nfile film\n", "use --playlists"},
        {"a.m3u8", "concat", "ffconcat version 1.0\nfile film\n", "use --playlists"},
        {"a.ffconcat", "hls", "#EXTM3U\nfilm\n#EXT-X-ENDLIST\n", "use --playlists"}};
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        char name[32];
        struct err e = ERR_INIT;
        snprintf(name, sizeof name, "list/%s", t[i].name);
        put(name, t[i].text, strlen(t[i].text));
        bool ok = playlist_check(name, demuxer(t[i].demuxer), &e);
        if (t[i].sentence ? ok || e.code != ERR_INPUT || !strstr(e.text, t[i].sentence) : !ok)
            fail_msg("%zu, '%s': %s", i, t[i].text, e.text);
        unlink(name);
    }
}

/* A master playlist that names a long one again and again. */
TEST(large)
{
    static char master[400000] = "#EXTM3U\n", longer[120000] = "#EXTM3U\n";
    char *at = master + strlen(master), *end = longer + strlen(longer);
    for (int i = 0; i < 10000; i++) {
        at = stpcpy(at, "#EXT-X-STREAM-INF:B=1\nlong.m3u8\n");
        end = stpcpy(end, "#a comment\n");
    }
    end = stpcpy(end, "#EXT-X-ENDLIST\n");
    put("list/a.m3u8", master, (size_t)(at - master));
    put("list/long.m3u8", longer, (size_t)(end - longer));
    struct err e = ERR_INIT;
    assert_false(playlist_check("list/a.m3u8", demuxer("hls"), &e));
    assert_string_equal(e.text, "'list/a.m3u8' is too large for a playlist");
}

/* An entry that has a NUL is two lines to libavformat. */
TEST(nul)
{
    static const char text[] = "#EXTM3U\0#EXTINF:1,\0link\0#EXT-X-ENDLIST\n";
    put("list/a.m3u8", text, sizeof text - 1);
    struct err e = ERR_INIT;
    assert_false(playlist_check("list/a.m3u8", demuxer("hls"), &e));
    assert_non_null(strstr(e.text, "names 'link'"));
}

TEST(any_name)
{
    struct err e = ERR_INIT;
    static const char text[] = "ffconcat version 1.0\nfile film\n";
    put("list/a.mp4", text, sizeof text - 1);
    assert_false(playlist_check("list/a.mp4", demuxer("concat"), &e));
    playlists_allow();
    err_clear(&e);
    assert_true(playlists_may_be("list/a.mp4") && !playlists_may_be("list/pipe"));
    assert_true(playlist_check("list/a.mp4", demuxer("concat"), &e));
    assert_false(playlist_check("/dev/stdin", demuxer("concat"), &e));
    assert_non_null(strstr(e.text, "give the name of its file"));
}

TEST_FIXTURE(begin, leave)
