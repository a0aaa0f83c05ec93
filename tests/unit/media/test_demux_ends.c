
#include "test.h"
#include "media/bitstream/coded_picture.h"
#include "media/container/demux.h"
#include "media/container/open.h"
#include "media/ffmpeg/packet.h"
#include "clip.h"

/* How a film ended for its reader. */
struct ending {
    bool failed, gap;
    uint64_t pictures;
};

static struct ending read_to_end(const char *name)
{
    struct err e = ERR_INIT;
    AVFormatContext *format = NULL;
    struct film film;
    struct demux r;
    struct picture p;
    if (!container_open(name, SOURCE_STREAM_CHOICE, &format, &film, &e) ||
        !demux_open(&r, format, film.stream, &e))
        fail_msg("%s: %s", name, e.text);
    while (demux_next(&r, &p, &e))
        packet_free(&p.packet);
    assert_false(demux_next(&r, &p, &e)); /* who goes on with another decoder asks again */
    assert_int_equal(e.code, ERR_NONE);
    struct ending end = {r.failed, r.gap, r.serial};
    demux_close(&r);
    container_close(&format);
    free(film.path);
    return end;
}

/* A copy of `from` but for its last `rap` bytes, with `more` bytes behind it. */
static void copy_film(const char *from, const char *to, long rap, const void *more, size_t bytes)
{
    FILE *f = fopen(from, "rb"), *out = fopen(to, "wb");
    assert_true(f && out && fseek(f, 0, SEEK_END) == 0);
    long size = ftell(f) - rap;
    uint8_t *data = malloc((size_t)size);
    assert_true(data && fseek(f, 0, SEEK_SET) == 0 && fread(data, (size_t)size, 1, f) == 1);
    assert_true(fwrite(data, (size_t)size, 1, out) == 1 &&
                (bytes == 0 || fwrite(more, bytes, 1, out) == 1));
    assert_int_equal(fclose(f) + fclose(out), 0);
    free(data);
}

static const uint8_t zeros[2000];

TEST(transport_streams)
{
    if (!clip_encode("-c:v mpeg2video -g 10 -q:v 4 plain.ts") ||
        !clip_ffmpeg("-i plain.ts -c copy -mpegts_m2ts_mode 1 blu.m2ts"))
        skip();
    struct ending whole = read_to_end("plain.ts"), blu = read_to_end("blu.m2ts");
    assert_false(whole.failed || whole.gap || blu.failed || blu.gap);
    assert_int_equal(whole.pictures, CLIP_FRAMES);

    /* less than a packet: rubbish that nobody misses */
    copy_film("plain.ts", "padded.ts", 0, zeros, 100);
    assert_false(read_to_end("padded.ts").failed);
}

/* Elsewhere zeros at the end are padding. */
TEST(padded_films)
{
    static const char *const name[] = {"plain.mpg", "plain.m2v", "plain.avi", "plain.mp4",
                                       "plain.mkv"};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        char line[128];
        snprintf(line, sizeof line, "-c:v mpeg2video -g 10 -q:v 4 %s", name[i]);
        if (!clip_encode(line))
            skip();
        snprintf(line, sizeof line, "padded%s", strrchr(name[i], '.'));
        copy_film(name[i], line, 0, zeros, sizeof zeros);
        struct ending whole = read_to_end(name[i]), padded = read_to_end(line);
        assert_false(whole.failed || whole.gap);
        assert_false(padded.failed || padded.gap);
        assert_int_equal(padded.pictures, whole.pictures);
    }
}

TEST_FIXTURE(clip_begin, clip_end)
