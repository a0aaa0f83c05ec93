#include <sys/stat.h>

#include "test.h"
#include "media/container/open.h"
#include "film_pass.h"

static struct film facts(const char *name)
{
    struct err e = ERR_INIT;
    AVFormatContext *f = NULL;
    struct film film;
    assert_ok(container_open(name, SOURCE_STREAM_CHOICE, &f, &film, &e), &e);
    assert_string_equal(film.path, name);
    for (unsigned i = 0; i < f->nb_streams; i++)
        assert_int_equal(f->streams[i]->discard == AVDISCARD_ALL, (int)i != film.stream);
    container_close(&f);
    free(film.path);
    film.path = NULL;
    return film;
}

TEST(common_facts)
{
    if (!clip_encode("-c:v mpeg4 -q:v 4 plain.mp4") ||
        !clip_ffmpeg("-i plain.mp4 -c copy plain.mkv") ||
        !clip_encode("-c:v mpeg4 -q:v 4 plain.avi") ||
        !clip_encode("-c:v mpeg2video -q:v 4 plain.ts"))
        skip();
    static const char *const names[] = {"plain.mp4", "plain.mkv", "plain.avi"};
    static const char *const containers[] = {"mov,mp4", "matroska", "avi"};
    for (int i = 0; i < 3; i++) {
        struct film f = facts(names[i]);
        assert_non_null(strstr(f.container, containers[i]));
        assert_string_equal(f.codec, "mpeg4");
        assert_string_equal(f.pixel_format, "yuv420p");
        assert_int_equal(f.stream, 0);
        assert_int_equal(f.width, CLIP_W);
        assert_int_equal(f.height, CLIP_H);
        assert_int_equal(f.coded_width, CLIP_W);
        assert_int_equal(f.rate_num, 25 * f.rate_den);
        assert_int_equal(f.length.duration_us, CLIP_FRAMES * CLIP_STEP_US);
        assert_true(f.length.source > LENGTH_ESTIMATE);
        assert_int_equal(f.length.frames, CLIP_FRAMES);
        assert_int_equal(f.matrix, MATRIX_BT601); /* small and untagged */
        assert_int_equal(f.range, RANGE_LIMITED);
        assert_true(f.matrix_guessed && f.range_guessed);
        assert_int_equal(f.transfer, TRANSFER_SDR);
        assert_int_equal(f.orientation.quarter_turns, 0);
        assert_false(f.orientation.mirror);
    }
    /* From the first and the last timestamp: another recording may lie between them. */
    struct film f = facts("plain.ts");
    assert_true(f.length.duration_us > 0 && f.length.source == LENGTH_ESTIMATE);
}

/* The container's, and no stream's. */
TEST(the_film_s_title)
{
    if (!clip_encode("-c:v mpeg4 -q:v 4 bare.mkv") ||
        !clip_ffmpeg("-i bare.mkv -c copy -metadata title='Le Ciel \xc3\xa0 midi' -metadata:s:v "
                     "title='4K remux' titled.mkv") ||
        !clip_ffmpeg("-i bare.mkv -c copy -metadata:s:v title='4K remux' stream.mkv"))
        skip();
    assert_string_equal(facts("titled.mkv").title, "Le Ciel \xc3\xa0 midi");
    assert_string_equal(facts("stream.mkv").title, "");
}

TEST(colour_tags)
{
    static const struct {
        const char *arguments;
        enum matrix matrix;
        enum range range;
        enum transfer transfer;
        bool guessed;
    } films[] = {
        {"-c:v libx264 -preset ultrafast -frames:v 5 -colorspace bt709 -color_range tv",
         MATRIX_BT709, RANGE_LIMITED, TRANSFER_SDR, false},
        {"-c:v libx264 -preset ultrafast -frames:v 5 -colorspace smpte170m -color_range pc",
         MATRIX_BT601, RANGE_FULL, TRANSFER_SDR, false},
        {"-c:v libx264 -preset ultrafast -frames:v 5 -vf setparams=color_trc=smpte2084 -colorspace "
         "bt2020nc -color_trc smpte2084 -color_range tv",
         MATRIX_BT2020, RANGE_LIMITED, TRANSFER_PQ, false},
        {"-c:v libx264 -preset ultrafast -frames:v 5 -vf setparams=color_trc=arib-std-b67 "
         "-colorspace bt2020nc -color_trc arib-std-b67 -color_range tv",
         MATRIX_BT2020, RANGE_LIMITED, TRANSFER_HLG, false},
        {"-c:v libx264rgb -preset ultrafast -frames:v 5", MATRIX_RGB, RANGE_FULL, TRANSFER_SDR,
         false},
        {"-c:v ffv1 -pix_fmt gbrp -frames:v 5", MATRIX_RGB, RANGE_FULL, TRANSFER_SDR, false},
        {"-c:v mjpeg -pix_fmt yuvj420p -frames:v 5", MATRIX_BT601, RANGE_FULL, TRANSFER_SDR, false},
        {"-c:v mpeg4 -vf scale=1280:16 -frames:v 5", MATRIX_BT709, RANGE_LIMITED, TRANSFER_SDR,
         true},
        {"-c:v mpeg4 -vf scale=16:578 -frames:v 5", MATRIX_BT709, RANGE_LIMITED, TRANSFER_SDR,
         true},
        {"-c:v mpeg4 -vf scale=1278:576 -frames:v 1", MATRIX_BT601, RANGE_LIMITED, TRANSFER_SDR,
         true},
    };
    for (size_t i = 0; i < sizeof films / sizeof *films; i++) {
        char line[256];
        snprintf(line, sizeof line, "%s tagged.mkv", films[i].arguments);
        if (!clip_encode(line))
            continue;
        struct film f = facts("tagged.mkv");
        if (f.matrix != films[i].matrix || f.range != films[i].range ||
            f.transfer != films[i].transfer || f.matrix_guessed != films[i].guessed)
            fail_msg("%s: matrix %d%s, range %d, transfer %d", films[i].arguments, f.matrix,
                     f.matrix_guessed ? " guessed" : "", f.range, f.transfer);
    }
}

/* A decoder that finds no tag in the bitstream wipes out the container's own: it still counts. */
TEST(the_container_s_word)
{
    if (!clip_encode("-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -frames:v 5 -colorspace bt709 "
                     "-color_range tv tagged.webm") ||
        !clip_ffmpeg(
            "-i tagged.webm -c copy -bsf:v vp9_metadata=color_space=unknown container.webm"))
        skip();
    struct film f = facts("tagged.webm");
    assert_int_equal(f.matrix, MATRIX_BT709);
    f = facts("container.webm");
    assert_int_equal(f.matrix, MATRIX_BT709);
    assert_false(f.matrix_guessed);
}

/* Copies an MP4 with a display matrix, in its track header, that turns by `turns` quarters. */
static void write_turned(const char *from, const char *to, int turns)
{
    static const int32_t matrix[4][4] = {
        {1, 0, 0, 1}, {0, -1, 1, 0}, {-1, 0, 0, -1}, {0, 1, -1, 0}};
    const size_t size = clip_load(from);
    uint8_t *box = memmem(clip_bytes, size, "tkhd", 4);
    assert_non_null(box);
    for (int i = 0; i < 4; i++) {
        uint32_t big = htobe32((uint32_t)(matrix[turns][i] * 65536));
        memcpy(box + 44 + i / 2 * 12 + i % 2 * 4, &big, sizeof big);
    }
    clip_save(to, size);
}

TEST(orientation)
{
    clip_need("-c:v mpeg4 -q:v 4 -frames:v 5 plain.mp4");
    for (int turns = 0; turns < 4; turns++) {
        write_turned("plain.mp4", "turned.mp4", turns);
        struct film f = facts("turned.mp4");
        /* the matrix turns counter-clockwise */
        assert_int_equal(f.orientation.quarter_turns, (4 - turns) % 4);
        assert_false(f.orientation.mirror);
        assert_int_equal(f.coded_width, CLIP_W);
        assert_int_equal(f.width, turns % 2 ? CLIP_H : CLIP_W);
        assert_int_equal(f.height, turns % 2 ? CLIP_W : CLIP_H);
    }
}

/* The least number in a matrix has no opposite. */
TEST(a_broken_matrix)
{
    enum { BEHIND_NAME = 44 }; /* the matrix in a box "tkhd" */
    static const uint8_t least[] = {0x80, 0, 0, 0};
    clip_need("-c:v mpeg4 -q:v 4 -frames:v 10 matrix.mp4");
    const size_t size = clip_load("matrix.mp4");
    uint8_t *box = memmem(clip_bytes, size, "tkhd", 4);
    assert_non_null(box);
    memcpy(box + BEHIND_NAME, least, sizeof least);
    clip_save("matrix.mp4", size);
    struct film film = facts("matrix.mp4");
    assert_true(film.orientation.mirror && film.orientation.quarter_turns == 0);
}

/* Copies an MPEG-TS without the packets of a PID. */
static void silence(const char *from, const char *to, int pid)
{
    enum { PACKET = 188 };
    const uint8_t *end = clip_bytes + clip_load(from), *p = clip_bytes;
    uint8_t *kept = clip_bytes;
    for (; p + PACKET <= end; p += PACKET)
        if (((p[1] & 0x1f) << 8 | p[2]) != pid)
            kept = (uint8_t *)memmove(kept, p, PACKET) + PACKET;
    clip_save(to, (size_t)(kept - clip_bytes));
}

/* Returns how many bytes libavformat may read to find a film's streams. */
static int64_t probed_bytes(const char *name, int width)
{
    struct err e = ERR_INIT;
    AVFormatContext *f = NULL;
    struct film film;
    assert_ok(container_open(name, SOURCE_STREAM_CHOICE, &f, &film, &e), &e);
    int64_t bytes = f->probesize;
    assert_int_equal(film.width, width);
    container_close(&f);
    free(film.path);
    return bytes;
}

/* Only the film's own video is waited for, not one that a broadcast announces and never sends. */
TEST(late_video)
{
    if (!clip_encode("-c:v mpeg2video -g 10 film.mpg") ||
        !clip_ffmpeg("-i film.mpg -map 0:v -map 0:v -c copy -f mpegts two.ts") ||
        !clip_encode("-c:v libx264 -preset veryfast -g 10 film.mp4") ||
        !clip_ffmpeg("-itsoffset 10 -i film.mp4 -f lavfi -i sine=d=20:r=48000 -map 0:v -map 1:a "
                     "-c:v copy -c:a mp2 late.ts"))
        skip();
    silence("two.ts", "one.ts", 0x101);
    int64_t usual = probed_bytes("two.ts", CLIP_W);
    assert_int_equal(probed_bytes("one.ts", CLIP_W), usual);
    assert_true(probed_bytes("late.ts", CLIP_W) > usual);
}

static void must_refuse(const char *name, const char *words)
{
    struct err e = ERR_INIT;
    struct source *s =
        source_open_stream(name, NULL, SOURCE_STREAM_CHOICE, SOURCE_SOUND_NONE, false, &e);
    if (s)
        fail_msg("'%s' was opened", name);
    assert_int_equal(e.code, ERR_INPUT);
    if (!strstr(e.text, words) || !strstr(e.text, name))
        fail_msg("'%s' or '%s' is not in '%s'", words, name, e.text);
}

TEST(no_films)
{
    must_refuse("nowhere.mkv", "cannot open");
    assert_int_equal(mkdir("folder.mkv", 0700), 0);
    must_refuse("folder.mkv", "cannot open");
    assert_int_equal(
        system("seq 500 > text.mkv; seq 500 > text.txt; head -c 30000 /dev/zero > zeros.mp4"), 0);
    must_refuse("text.mkv", "not a film");
    must_refuse("text.txt", "not a film");
    must_refuse("zeros.mp4", "is not a film");
}

/* Names that libav would take for protocols or options of its own. */
TEST(odd_names)
{
    clip_need("-c:v mpeg4 -q:v 4 -frames:v 5 plain.mp4");
    static const char *const names[] = {"http:x.mp4", "concat:a|b.mp4",      "-i.mp4",
                                        "a%03d.mp4",  "sp ace \xc3\xa9.mp4", "file:x.mp4",
                                        "a\"b'c.mp4"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_int_equal(link("plain.mp4", names[i]), 0);
        struct film f = facts(names[i]);
        assert_int_equal(f.width, CLIP_W);
        assert_int_equal(unlink(names[i]), 0);
    }
    char name[5000];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = 0;
    struct err e = ERR_INIT;
    assert_null(source_open_stream(name, NULL, SOURCE_STREAM_CHOICE, SOURCE_SOUND_NONE, false, &e));
    assert_int_equal(e.code, ERR_INPUT);
    assert_non_null(strstr(e.text, "too long"));
}

TEST(sentences)
{
    char text[128];
    assert_string_equal(av_error_text(AVERROR_INVALIDDATA, text),
                        "Invalid data found when processing input");
    assert_string_equal(av_error_text(AVERROR(ENOENT), text), "No such file or directory");
    assert_non_null(strstr(av_error_text(-123456789, text), "123456789"));
}

TEST_FIXTURE(clip_begin, clip_end)
