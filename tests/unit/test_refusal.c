/* test_refusal.c - images one after another, and encrypted MPEG-TS */
#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "media/container/container_quirks.h"
#include "media/container/refusal.h"
#include "clip.h"

/* -1: no pictures in a row by its demuxer; else whether a second one follows. */
static int follow(const char *path)
{
    AVFormatContext *format = NULL;
    assert_int_equal(avformat_open_input(&format, path, NULL, NULL), 0);
    int got = container_quirks(format)->is_image_pipe ? film_pictures_follow(format) : -1;
    avformat_close_input(&format);
    return got;
}

/* Two files of pictures as one. */
static void join(const char *a, const char *b, const char *to)
{
    char command[256];
    snprintf(command, sizeof command, "cat %s %s > %s", a, b, to);
    assert_int_equal(system(command), 0);
}

TEST(pictures)
{
#define JPEG "-vf setsar=1 -q:v 2 -c:v mjpeg -f mjpeg "
    if (!clip_encode("-frames:v 3 -s 384x256 " JPEG "three.dat") ||
        !clip_encode("-frames:v 1 -s 384x256 " JPEG "one.dat") ||
        !clip_encode("-frames:v 1 -s 192x128 " JPEG "small.dat") ||
        !clip_encode("-frames:v 2 -c:v mjpeg film.avi") ||
        !clip_encode("-frames:v 2 -s 384x256 -c:v png -f image2pipe two.pngs"))
        skip();
    assert_int_equal(follow("three.dat"), 1);
    assert_int_equal(follow("two.pngs"), 1);
    assert_int_equal(follow("one.dat"), 0);
    assert_int_equal(follow("film.avi"), -1);
    join("one.dat", "one.dat", "twice.dat");
    assert_int_equal(follow("twice.dat"), 1);
    /* The second is of another size: something that belongs to the first. */
    join("one.dat", "small.dat", "thumbnail.dat");
    assert_int_equal(follow("thumbnail.dat"), 0);
}

/* A photograph says that others belong to it, of the same size too. */
TEST(a_photograph)
{
    if (access("one.dat", R_OK) != 0)
        skip();
    assert_int_equal(system("{ head -c 2 one.dat; printf '\\377\\342\\000\\006MPF\\000'; tail -c "
                            "+3 one.dat; cat one.dat; } > photo.dat"),
                     0);
    assert_int_equal(follow("photo.dat"), 0);
}

enum { PACKETS = 40, PID = 0x100 };

/*
 * Makes `PACKETS` packets of `step` bytes, after `front` bytes. Of each ten packets, `scrambled` of
 * `PID` are scrambled, and `others` are scrambled null packets. Reads from a block of the exact
 * size.
 */
static bool is_found(size_t step, size_t front, int scrambled, int others, int pid)
{
    size_t size = front + PACKETS * step;
    uint8_t *data = calloc(1, size);
    assert_non_null(data);
    for (size_t i = 0; i < PACKETS; i++) {
        uint8_t *p = data + front + i * step;
        bool null = (int)(i % 10) < others;
        p[0] = 0x47;
        p[1] = null ? 0x1f : PID >> 8;
        p[2] = null ? 0xff : PID & 0xff;
        p[3] = null || (int)(i % 10) - others < scrambled ? 0xd0 : 0x10;
    }
    bool is = refusal_is_scrambled_ts(data, size, pid);
    for (size_t less = 1; less < step; less += 17)
        refusal_is_scrambled_ts(data, size - less, pid);
    free(data);
    return is;
}

TEST(most_packets)
{
    static const size_t steps[] = {188, 192, 204};
    for (size_t i = 0; i < 3; i++)
        for (size_t front = 0; front < 200; front += 4) {
            assert_true(is_found(steps[i], front, 10, 0, PID));
            assert_true(is_found(steps[i], front, 6, 0, PID));
            assert_true(is_found(steps[i], front, 6, 0, SCRAMBLING_ANY_PID));
            assert_false(is_found(steps[i], front, 4, 0, PID));
            assert_false(is_found(steps[i], front, 0, 8, SCRAMBLING_ANY_PID));
            assert_false(is_found(steps[i], front, 10, 0, PID + 1));
        }
}

TEST(no_transport_stream)
{
    static uint8_t data[4000];
    assert_false(refusal_is_scrambled_ts(data, sizeof data, SCRAMBLING_ANY_PID));
    memset(data, 0xff, sizeof data);
    assert_false(refusal_is_scrambled_ts(data, sizeof data, SCRAMBLING_ANY_PID));
    assert_false(refusal_is_scrambled_ts(data, 0, SCRAMBLING_ANY_PID));
}

TEST_MAIN(clip_begin, clip_end)
