#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "base/hash.h"
#include "media/ffmpeg/stream_name.h"

/* All words in capitals are secret, and so is what %40 and the like stand for in them. */
static const struct {
    const char *url, *shown; /* in `shown`, # is the digest of a key */
    char fault;
} cases[] = {
    /* without secrets */
    {"-", "-", 0},
    {"/dev/video0", "/dev/video0", 0},
    {"sky/a@b:c/", "sky/a@b:c/", 0},
    {"rtsp://h/a", "rtsp://h/a", 0},
    {"http://h/@cam/a:b@c.m3u8", "http://h/@cam/a:b@c.m3u8", 0},
    {"https://[fe80::1%25eth0]:8080/@cam", "https://[fe80::1%25eth0]:8080/@cam", 0},
    {"udp://@:5000", "udp://:5000", 0},
    {"udp://@239.0.0.1:5000", "udp://239.0.0.1:5000", 0},
    {"udp://[::1]:5000", "udp://[::1]:5000", 0},
    {"tcp://h:1", "tcp://h:1", 0},
    {"rtmp://h/live", "rtmp://h/live", 0},
    {"rtmps://h:443/live/", "rtmps://h:443/live/", 0},
    {"rtsp://", "rtsp://", 0},
    {"://h", "://h", 0},
    {"rtsp://../../etc", "rtsp://../../etc", 0},
    /* user and password */
    {"rtsp://USER:WORD@h:554/a/b?KEY=TOKEN#MORE", "rtsp://h:554/a/b", 0},
    {"RTSP://USER@h/a", "RTSP://h/a", 0},
    {"rtsp://USER:WO@RD@h/a", "rtsp://h/a", 0},
    {"rtsps://USER:@h/a", "rtsps://h/a", 0},
    {"http://USER:WO%40R%2fD@[::1]:80/a", "http://[::1]:80/a", 0},
    {"USER:WORD@rtsp://h/a", "rtsp://h/a", 0},
    /* which FFmpeg reads as a host and a port that is no number */
    {"rtsp://USER:WO#RD@h/a", "rtsp://h/a", '#'},
    {"rtsp://USER:12#RD@h", "rtsp://h", '#'},
    {"rtsp://USER:WO@A#RD@h:554/a", "rtsp://h:554/a", '#'},
    {"rtsp://US#ER:WORD@h/a", "rtsp://h/a", '#'},
    {"rtsp://h:554#MORE", "rtsp://h:554", 0},
    {"rtsp://USER:WO/RD@h:554/a", "rtsp://h:554/a", '/'},
    {"http://USER:WO?RD@h/a?KEY", "http://h/a", '?'},
    {"http://USER:/WO:RD@h/a", "http://h/a", '/'},
    {"rtsp://USER:1A/RD@h/a", "rtsp://h/a", '/'},
    /* which may be a password or not */
    {"rtsp://h:12/RD@H/A", "rtsp://h/#", 0},
    {"rtsp://h:554/@cam/b", "rtsp://h/#", 0},
    {"rtsp://h:12?RD@H/A", "rtsp://h/#", 0},
    {"rtsp://h:80/a?b=WO@RD", "rtsp://h/#", 0},
    {"rtsp://USER:WO@R/D@H/A", "rtsp:///#", 0},
    {"rtsp://USER:WO@R?D@H/A", "rtsp:///#", 0},
    {"http://h?user=WO@RD", "http://h", 0},
    /* in the path */
    {"rtsp://10.0.0.1:554/user=USER&password=WORD&channel=1&stream=0.sdp?real_stream",
     "rtsp://10.0.0.1:554/channel=1&stream=0.sdp", 0},
    {"rtsp://h/user=USER_password=WO_RD_channel=2_stream=0.sdp", "rtsp://h/channel=2&stream=0.sdp",
     0},
    {"http://h/a/token=TOKEN/b.m3u8", "http://h/a//b.m3u8", 0},
    {"http://h/hls;jsessionid=TOKEN/b.m3u8", "http://h//b.m3u8", 0},
    {"http://h/channel=WORDWORD/b", "http://h//b", 0},
    /* keys and phrases */
    {"rtmp://h/live/STREAMKEY", "rtmp://h/live/#", 0},
    {"rtmps://USER:WORD@h/live/A/STREAM-KEY?token=TOKEN", "rtmps://h/live/#", 0},
    {"srt://h:9000?passphrase=WORDWORDWORD&mode=caller", "srt://h:9000", 0},
    {"srt://h:9000?streamid=#!::r=TOKEN,m=request", "srt://h:9000", 0},
    {"https://h/a.m3u8?TOKEN", "https://h/a.m3u8", 0},
    {"udp://h:1?localaddr=TOKEN", "udp://h:1", 0},
};

enum { CASES = sizeof cases / sizeof *cases };

TEST(shown_names_and_faults)
{
    for (size_t i = 0; i < CASES; i++) {
        char shown[STREAM_NAME];
        stream_name_show(cases[i].url, shown);
        char *star = strchr(shown, '*');
        if (star) {
            assert_int_equal(strlen(star), 5);
            strcpy(star, "#");
        }
        assert_string_equal(shown, cases[i].shown);
        assert_int_equal(stream_name_fault(cases[i].url), cases[i].fault);
    }
    char one[STREAM_NAME], other[STREAM_NAME], longer[1000];
    stream_name_show("rtmp://h/live/a", one);
    stream_name_show("rtmp://h/live/b", other);
    assert_string_not_equal(one, other);
    memset(longer, 'x', sizeof longer);
    longer[sizeof longer - 1] = 0;
    stream_name_show(longer, one);
    assert_int_equal(strlen(one), STREAM_NAME - 1);
    memcpy(longer + 4, "://", 3);
    stream_name_show(longer, one);
    assert_int_equal(strlen(one), STREAM_NAME - 1);
}

/* Fails if a word of capitals in `url` is in `line`. Words of a single one are no secrets. */
static void has_no_secret(const char *line, const char *url)
{
    static const char capital[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    for (const char *at = url; *(at += strcspn(at, capital)); at += strspn(at, capital)) {
        char word[32];
        snprintf(word, sizeof word, "%.*s", (int)strspn(at, capital), at);
        if (strlen(word) > 1 && strcmp(word, "RTSP") != 0 && strcmp(word, "KEY") != 0 &&
            strstr(line, word))
            fail_msg("'%s' of '%s' is in '%s'", word, url, line);
    }
}

/* What libavformat makes of a URL and prints: it, its parts, and what is decoded. */
TEST(lines)
{
    struct err e = ERR_INIT;
    for (size_t i = 0; i < CASES; i++)
        assert_true(stream_name_remember(cases[i].url, &e));
    for (size_t i = 0; i < CASES; i++) {
        const char *url = cases[i].url;
        char line[2048];
        snprintf(line, sizeof line, "Cannot open '%s': %s", url, url);
        stream_name_hide(line, sizeof line);
        has_no_secret(line, url);
        for (const char *at = url; *(at += strcspn(at, "/?#:@")); at++) {
            snprintf(line, sizeof line, "part %s", at + 1);
            stream_name_hide(line, sizeof line);
            has_no_secret(line, url);
        }
    }
    static const struct {
        const char *line, *want;
    } table[] = {
        {"[http @ 0x1] user USER, word WO@R/D, WO%40R%2fD", "[http @ 0x1] user ***, word ***, ***"},
        {"no SUSER or WORDS of 127.0.0.1", "no SUSER or WORDS of 127.0.0.1"},
        {"to tcp://h:1?a=b failed", "to tcp://h:1 failed"},
        {"moved to \"https://a:b@cdn/x/y.ts?Signature=Z\" (302)",
         "moved to \"https://cdn/x/y.ts\" (302)"},
        {"Failed to open http://one/x?q http://two/y?r",
         "Failed to open http://one/x http://two/y"},
        {"nothing", "nothing"},
        {"", ""}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char line[100];
        snprintf(line, sizeof line, "%s", table[i].line);
        stream_name_hide(line, sizeof line);
        assert_string_equal(line, table[i].want);
    }
}

/* A line that grows is cut. */
TEST(lines_have_room)
{
    struct err e = ERR_INIT;
    assert_true(stream_name_remember("rtsp://Q:*@h", &e));
    for (size_t size = 1; size < 24; size++) {
        char *line = calloc(size, 1);
        snprintf(line, size, "Q.Q.Q.://Q*Q?Q Q://*");
        stream_name_hide(line, size);
        assert_true(strlen(line) < size);
        assert_null(strchr(line, 'Q'));
        free(line);
    }
}
