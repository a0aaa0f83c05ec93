#include "test.h"
#include "media/live/live_packets.h"

static void put(struct live_packets *p, int64_t arrived, bool key, int size)
{
    struct err e = ERR_INIT;
    AVPacket *packet = av_packet_alloc();
    assert_int_equal(av_new_packet(packet, size), 0);
    packet->flags = key ? AV_PKT_FLAG_KEY : 0;
    assert_true(live_packets_put(p, packet, arrived, &e));
    av_packet_free(&packet);
}

static int64_t take(struct live_packets *p, int *waiting)
{
    AVPacket *packet = av_packet_alloc();
    int64_t arrived = -1;
    if (!live_packets_take(p, packet, &arrived, waiting))
        arrived = -1;
    av_packet_free(&packet);
    return arrived;
}

TEST(in_order)
{
    struct err e = ERR_INIT;
    int waiting;
    struct live_packets *p = live_packets_open(&e);
    for (int round = 0; round < 300; round++) {
        for (int i = 0; i < 3; i++)
            put(p, 3 * round + i, i == 0, 10);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(take(p, &waiting), 3 * round + i);
            assert_int_equal(waiting, 2 - i);
        }
    }
    assert_int_equal(take(p, &waiting), -1);
    assert_int_equal(live_packets_dropped(p), 0);
    put(p, 1, true, 1);
    live_packets_end(p);
    assert_false(live_packets_over(p));
    assert_int_equal(take(p, &waiting), 1);
    assert_true(live_packets_over(p));
    live_packets_free(&p);
}

/* A decoder that takes nothing: memory has a limit, and goes on with a key frame. */
TEST(bounded)
{
    struct err e = ERR_INIT;
    int waiting;
    struct live_packets *p = live_packets_open(&e);
    for (int i = 0; i < 5000; i++)
        put(p, i, i % 100 == 0, 10);
    int64_t first = take(p, &waiting);
    assert_int_equal(first % 100, 0);
    assert_true(first > 0 && waiting < 512);
    assert_int_equal(live_packets_dropped(p) + (uint64_t)waiting + 1, 5000);
    live_packets_free(&p);
    p = live_packets_open(&e);
    for (int i = 0; i < 40; i++)
        put(p, i, true, 10 << 20);
    assert_true(live_packets_dropped(p) >= 33);
    live_packets_free(&p);
}
