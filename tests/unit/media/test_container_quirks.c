/* test_container_quirks.c - what is special about a container, by its demuxer's name. */

#include "test.h"
#include "media/container/container_quirks.h"

static const struct container_quirks *quirks_of(const char *demuxer)
{
    const AVInputFormat iformat = {.name = demuxer};
    AVFormatContext format = {.iformat = &iformat};
    return container_quirks(&format);
}

/* The names that this FFmpeg gives its demuxers. */
TEST(demuxers_of_libavformat)
{
    AVFormatContext format = {0};
    void *next = NULL;
    int indexed = 0, playlists = 0, pipes = 0;
    while ((format.iformat = av_demuxer_iterate(&next))) {
        const struct container_quirks *q = container_quirks(&format);
        indexed += q->index != KEY_INDEX_NONE;
        playlists += q->is_playlist;
        pipes += q->is_image_pipe;
    }
    assert_int_equal(indexed, 3);
    assert_true(playlists >= 2 && pipes > 20);
}

TEST(patterns)
{
    assert_true(quirks_of("mov,mp4,m4a,3gp,3g2,mj2")->index_is_mp4);
    assert_int_equal(quirks_of("matroska,webm")->index, KEY_INDEX_CUES);
    assert_true(quirks_of("jpeg_pipe")->is_image_pipe && quirks_of("image2")->is_image);
    assert_true(quirks_of("mpeg")->unframed && !quirks_of("yuv4mpegpipe")->unframed);
    assert_true(quirks_of("hls,applehttp")->is_playlist && quirks_of("hls")->is_playlist);
    const struct container_quirks *none = quirks_of("nothing_known");
    assert_false(none->unframed || none->index != KEY_INDEX_NONE || none->end_error);
}
