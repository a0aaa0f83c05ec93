#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"
#include "media/live/live_decode.h"
#include "files.h"

/* Returns true if `word` is in a list with commas. */
static bool lists(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (strncmp(at, word, length) == 0 && (at[length] == ',' || at[length] == 0))
            return true;
    return false;
}

static struct live_url parse(const char *name)
{
    struct err e = ERR_INIT;
    struct live_url url;
    assert_true(live_url_parse(name, &url, &e));
    assert_string_equal(e.text, "");
    return url;
}

/* No scheme reaches files, pipes or other schemes, and only HTTP reads playlists. */
TEST(what_a_scheme_allows)
{
    static const struct {
        const char *name, *protocol;
    } cases[] = {{"rtsp://h/a", "tcp"},  {"RTSP://h/a", "tcp"},    {"rtsps://h", "tls"},
                 {"rtmp://h/a", "rtmp"}, {"rtmps://h/a", "rtmps"}, {"srt://h:1", "srt"},
                 {"udp://h:1", "udp"},   {"rtp://h:1", "rtp"},     {"tcp://h:1", "tcp"},
                 {"http://h/a", "http"}, {"https://h/a", "https"}};
    static const char *const never[] = {"file", "pipe", "data", "concat", "subfile", "unix", "fd"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct live_url url = parse(cases[i].name);
        bool web = strncmp(cases[i].name, "http", 4) == 0;
        assert_true(lists(url.protocols, cases[i].protocol));
        for (size_t k = 0; k < sizeof never / sizeof *never; k++)
            assert_false(lists(url.protocols, never[k]));
        assert_int_equal(lists(url.demuxers, "hls"), web);
        assert_int_equal(lists(url.protocols, "http"), web);
    }
}

TEST(what_options_have)
{
    struct live_url url = parse("udp://127.0.0.1:1");
    AVDictionary *options = NULL;
    assert_true(live_url_options(&url, &options) >= 0);
    const char *protocols = av_dict_get(options, "protocol_whitelist", NULL, 0)->value,
               *demuxers = av_dict_get(options, "format_whitelist", NULL, 0)->value;
    assert_string_equal(protocols, "udp");
    assert_true(lists(demuxers, "mpegts"));
    assert_false(lists(demuxers, "hls") || lists(demuxers, "concat") || lists(demuxers, "rtsp") ||
                 lists(demuxers, "dash") || lists(demuxers, "sdp") || lists(demuxers, "lavfi"));
    av_dict_free(&options);
    url = parse("-");
    assert_true(url.pipe);
    assert_true(live_url_options(&url, &options) >= 0);
    assert_string_equal(av_dict_get(options, "protocol_whitelist", NULL, 0)->value, "none");
    av_dict_free(&options);
}

TEST_WITH(what_is_no_stream, enter, leave)
{
    static const char *const names[] = {"missing",   "file",   "file:///etc/passwd",
                                        "lavfi://x", "://",    "concat://a|b",
                                        "rtspx://h", "rts://h"};
    touch("file");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct err e = ERR_INIT;
        struct live_url url;
        assert_false(live_url_parse(names[i], &url, &e));
        assert_int_equal(e.code, ERR_USAGE);
    }
    /* a device, if FFmpeg can read any */
    struct err e = ERR_INIT;
    struct live_url url;
    assert_true(live_url_parse("/dev/null", &url, &e) ? lists(url.demuxers, "v4l2")
                                                      : e.code == ERR_USAGE);
    assert_int_equal(mkfifo("fifo", 0600), 0);
    assert_true(parse("fifo").pipe);
}
