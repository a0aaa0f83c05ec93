#include <libavcodec/packet.h>
#include <string.h>

#include "test.h"
#include "media/ffmpeg/packet.h"

TEST(clones_share_their_bytes)
{
    struct AVPacket *a = av_packet_alloc();
    assert_non_null(a);
    assert_int_equal(av_new_packet(a, 100), 0);
    memset(a->data, 7, 100);
    a->flags = AV_PKT_FLAG_KEY;
    struct AVPacket *b = packet_clone(a);
    assert_non_null(b);
    assert_ptr_equal(a->data, b->data);
    assert_int_equal(packet_size(b), 100);
    assert_int_equal(b->flags, AV_PKT_FLAG_KEY);
    packet_free(&a);
    assert_null(a);
    assert_int_equal(b->data[99], 7); /* the clone keeps them */
    packet_free(&b);
    assert_null(b);
}

TEST(nothing)
{
    struct AVPacket *none = NULL, *empty = av_packet_alloc();
    assert_null(packet_clone(NULL));
    assert_int_equal(packet_size(NULL), 0);
    assert_int_equal(packet_size(empty), 0);
    packet_free(&none);
    packet_free(&empty);
}
