#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "test.h"
#include "media/live/live_input.h"

TEST(stuffed_packets)
{
    static const struct {
        uint8_t control, length, flags;
        bool stuffed;
    } cases[] = {
        {0x10, 0, 0, false},    /* payload alone */
        {0x20, 183, 0, false},  /* no payload */
        {0x30, 0, 0xff, true},  /* one byte of stuffing: the length itself */
        {0x30, 1, 0x00, false}, /* flags alone: also used for a discontinuity */
        {0x30, 2, 0x00, true},   {0x30, 7, 0x10, false}, {0x30, 8, 0x10, true},
        {0x30, 13, 0x18, false}, {0x30, 14, 0x18, true}, {0x30, 2, 0x04, false},
        {0x30, 90, 0x02, false}, /* private data: its length is not looked at */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t packet[188] = {0x47, 0x41, 0x00, cases[i].control, cases[i].length, cases[i].flags};
        assert_int_equal(live_input_is_stuffed(packet), cases[i].stuffed);
    }
}

static int never(void *user)
{
    (void)user;
    return 0;
}

/* A packet of stream `pid`, which ends a picture if `end`. */
static void make(uint8_t packet[188], int pid, bool end)
{
    memset(packet, 0xff, 188);
    packet[0] = 0x47;
    packet[1] = (uint8_t)(pid >> 8);
    packet[2] = (uint8_t)pid;
    packet[3] = end ? 0x30 : 0x10;
    packet[4] = end ? 100 : 0xff;
    packet[5] = 0;
}

/* The input pauses after each end of a picture, once, and gives every byte. */
TEST(pauses)
{
    const AVIOInterruptCB stop = {never, NULL};
    static const struct {
        int pid;
        bool end;
    } packets[] = {{256, false}, {256, true}, {257, true}, {256, false}, {256, true}, {256, true}};
    struct err e = ERR_INIT;
    uint8_t all[6][188], got[188];
    int ends[2], code, pauses = 0;
    assert_int_equal(pipe(ends), 0);
    int before = dup(STDIN_FILENO);
    dup2(ends[0], STDIN_FILENO);
    for (int i = 0; i < 6; i++)
        make(all[i], packets[i].pid, packets[i].end);
    struct live_input *in = live_input_open("-", stop, NULL, &code, &e);
    assert_non_null(in);
    live_input_pause_after(in, 256);
    /* in pieces that are no packets */
    assert_int_equal(write(ends[1], all, 300), 300);
    assert_int_equal(write(ends[1], (uint8_t *)all + 300, sizeof all - 300), sizeof all - 300);
    close(ends[1]);
    for (int i = 0; i < 6; i++) {
        int n;
        while ((n = avio_read(live_input_context(in), got, 188)) == AVERROR(EAGAIN)) {
            assert_true(i > 0 && packets[i - 1].end && packets[i - 1].pid == 256);
            assert_true(live_input_resume(in));
            pauses++;
        }
        assert_int_equal(n, 188);
        assert_memory_equal(got, all[i], 188);
    }
    assert_int_equal(pauses, 2);
    assert_int_equal(avio_read(live_input_context(in), got, 188), AVERROR(EAGAIN));
    assert_true(live_input_resume(in));
    assert_int_equal(avio_read(live_input_context(in), got, 188), AVERROR_EOF);
    assert_false(live_input_resume(in));
    live_input_close(&in);
    dup2(before, STDIN_FILENO);
    close(before);
    close(ends[0]);
}

/* Opens an input of a UDP port that is free, and *to for sending to it. */
static struct live_input *open_udp(int *to)
{
    const AVIOInterruptCB stop = {never, NULL};
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    struct err e = ERR_INIT;
    char name[64];
    int code, probe = socket(AF_INET, SOCK_DGRAM, 0);
    assert_int_equal(bind(probe, (struct sockaddr *)&at, size), 0);
    assert_int_equal(getsockname(probe, (struct sockaddr *)&at, &size), 0);
    close(probe);
    snprintf(name, sizeof name, "udp://127.0.0.1:%d", ntohs(at.sin_port));
    struct live_input *in = live_input_open(name, stop, NULL, &code, &e);
    assert_non_null(in);
    *to = socket(AF_INET, SOCK_DGRAM, 0);
    assert_int_equal(connect(*to, (struct sockaddr *)&at, size), 0);
    return in;
}

/* Sends `packets` in a datagram, of which the first begins a picture or not, and reads them. */
static void pass_on(struct live_input *in, int to, int packets, bool begins)
{
    uint8_t all[7][188] = {{0}}, got[188];
    for (int i = 0; i < packets; i++)
        make(all[i], 256, false);
    all[0][1] |= begins ? 0x40 : 0;
    assert_int_equal(send(to, all, (size_t)packets * 188, 0), packets * 188);
    for (int i = 0; i < packets; i++) {
        assert_int_equal(avio_read(live_input_context(in), got, 188), 188);
        assert_memory_equal(got, all[i], 188);
    }
}

/*
 * A picture without stuffing ends with a datagram that is shorter than others. Where one goes on in
 * the next datagram, no length means anything from then on.
 */
TEST(datagrams_end_pictures)
{
    uint8_t packet[188];
    int to;
    struct live_input *in = open_udp(&to);
    live_input_pause_after(in, 256);
    pass_on(in, to, 7, true);
    for (int i = 0; i < 3; i++) {
        pass_on(in, to, 2, i > 0);
        assert_int_equal(avio_read(live_input_context(in), packet, 188), AVERROR(EAGAIN));
        assert_true(live_input_resume(in));
    }
    /* a clock between pictures belongs to none */
    make(packet, 256, true);
    packet[3] = 0x20;
    assert_int_equal(send(to, packet, sizeof packet, 0), sizeof packet);
    assert_int_equal(avio_read(live_input_context(in), packet, 188), 188);
    pass_on(in, to, 2, true);
    assert_int_equal(avio_read(live_input_context(in), packet, 188), AVERROR(EAGAIN));
    assert_true(live_input_resume(in));
    pass_on(in, to, 2, false);
    pass_on(in, to, 2, true);
    pass_on(in, to, 7, false);
    live_input_close(&in);
    close(to);
}
