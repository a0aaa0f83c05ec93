/* test_live_stream.c - MPEG-TS through a FIFO, as a network or a slow decoder makes it come. */

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"
#include "clip.h"
#include "barcode/base/clock.h"
#include "media/live/live_source.h"
#include "media/live/live_decode.h"
#include "files.h"

/* What is written into the FIFO: the clip, `times` in a row. */
struct feed {
    int times;
    bool jitter;
    atomic_bool written;
};

static void *write_feed(void *argument)
{
    struct feed *f = argument;
    static uint8_t clip[1 << 20];
    uint32_t z = 7;
    FILE *file = fopen("clip.ts", "rb");
    const size_t size = file ? fread(clip, 1, sizeof clip, file) : 0;
    int fifo = open("fifo", O_WRONLY);
    for (int i = 0; i < f->times; i++)
        for (size_t at = 0, part; at < size; at += part) {
            z = z * 1664525u + 1013904223u;
            part = 1 + (z >> 16) % 5000;
            part = size - at < part ? size - at : part;
            if (write(fifo, clip + at, part) != (ssize_t)part)
                abort();
            if (f->jitter)
                usleep((z >> 8) % 20000);
        }
    f->written = true;
    close(fifo);
    if (file)
        fclose(file);
    return NULL;
}

struct seen {
    struct feed *feed;
    bool slow; /* the first frame takes until all is written */
    int frames, damaged;
    int64_t arrived_ns;
};

static bool count_frame(void *user, const struct live_frame *frame, struct err *e)
{
    struct seen *s = user;
    (void)e;
    while (s->slow && !s->feed->written)
        usleep(1000);
    assert_true(frame->arrived_ns >= s->arrived_ns && frame->arrived_ns <= clock_ns());
    s->arrived_ns = frame->arrived_ns;
    s->damaged += frame->damaged;
    s->frames++;
    return true;
}

static void ignore_current(void *user) { (void)user; }

/* Reads the feed to its end. Returns the packets that were dropped. */
static uint64_t read_feed(struct feed *f, struct seen *s)
{
    const struct live_options o = {
        .name = "fifo", .timeout_us = 60000000, .stream = SOURCE_STREAM_CHOICE, .threads = 1};
    const struct live_sink sink = {count_frame, ignore_current, s};
    struct err e = ERR_INIT;
    pthread_t writer;
    s->feed = f;
    struct live_source *source = live_source_open(&o, &e);
    assert_non_null(source);
    assert_string_equal(source->kind->name, "stream");
    assert_int_equal(pthread_create(&writer, NULL, write_feed, f), 0);
    assert_false(live_source_run(source, &sink, &e));
    assert_string_equal(e.text, "it ended");
    assert_false(source->over); /* another writer may come */
    pthread_join(writer, NULL);
    const uint64_t dropped = source->dropped;
    live_source_close(&source);
    return dropped;
}

static int begin(void **state)
{
    if (clip_begin(state) != 0 || mkfifo("fifo", 0600) != 0)
        return -1;
    return clip_encode("-c:v mpeg2video -g 12 -bf 0 -f mpegts clip.ts") ? 0 : -1;
}

TEST(every_frame_of_a_jittery_feed)
{
    struct feed f = {.times = 1, .jitter = true};
    struct seen s = {.frames = 0};
    assert_int_equal(read_feed(&f, &s), 0);
    assert_int_equal(s.frames, CLIP_FRAMES);
    assert_int_equal(s.damaged, 0);
}

/* Memory has a limit. What was dropped ends at a key frame. */
TEST(a_decoder_that_is_too_slow)
{
    enum { TIMES = 4, RING = 512 };
    struct feed f = {.times = TIMES};
    struct seen s = {.slow = true};
    const uint64_t dropped = read_feed(&f, &s), all = TIMES * CLIP_FRAMES;
    assert_true(dropped >= RING);
    assert_in_range(dropped + (uint64_t)s.frames, all - TIMES, all);
    assert_int_equal(s.damaged, 0);
}

TEST_FIXTURE(begin, clip_end)

/* ---- names ---- */

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
