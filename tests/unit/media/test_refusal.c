/* test_refusal.c - images one after another */
#include <stdlib.h>

#include "test.h"
#include "media/container/container_quirks.h"
#include "media/container/open.h"
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

TEST_FIXTURE(clip_begin, clip_end)
