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

/* ---- side data ---- */

static struct err e;

static AVPacket *packet(const char *header)
{
    AVPacket *p = av_packet_alloc();
    assert_non_null(p);
    assert_int_equal(av_new_packet(p, 4), 0);
    if (header) {
        uint8_t *to = av_packet_new_side_data(p, AV_PKT_DATA_NEW_EXTRADATA, strlen(header));
        assert_non_null(to);
        memcpy(to, header, strlen(header));
    }
    return p;
}

/* Gives the packet to the reader; what it then says of headers must be that. */
static void says(struct side_data *s, const char *header, bool key, const char *after)
{
    AVPacket *p = packet(header);
    size_t size = 0;
    assert_true(side_data_keep(s, p, key, &e));
    const uint8_t *data = av_packet_get_side_data(p, AV_PKT_DATA_NEW_EXTRADATA, &size);
    assert_int_equal(data != NULL, after != NULL);
    if (after) {
        assert_int_equal(size, strlen(after));
        assert_memory_equal(data, after, size);
    }
    av_packet_free(&p);
}

TEST(keys_carry_what_was_said_last)
{
    struct side_data s = {0};
    says(&s, NULL, true, NULL);
    says(&s, "one", false, "one");
    says(&s, NULL, false, NULL);
    says(&s, NULL, true, "one");
    says(&s, "two", true, "two");
    says(&s, NULL, true, "two");
    side_data_free(&s);
    says(&s, NULL, true, NULL);
}
