/* test_idr_splice.c - which IDR picture is kept, who gets it, and the packet that is made of it. */
#include "test.h"
#include "clip.h"
#include "media/bitstream/packet_scan.h"
#include "media/container/demux.h"
#include "media/container/open.h"
#include "media/ffmpeg/packet.h"
#include "media/schedule/decode_pass.h"

/* A film of IDR pictures 12 apart, and a staging that lends them to nobody. */
struct scene {
    AVFormatContext *format;
    struct film film;
    struct demux reader;
    struct decode_job job;
    struct decode_pass pass;
};

static const struct decoder_backend device = {.place = ON_DEVICE, .flush_is_slow = true},
                                    flushes_fast = {.place = ON_DEVICE};

static void scene_open(struct scene *s)
{
    struct err e = ERR_INIT;
    *s = (struct scene){.job = {.plan = DECODE_PARALLEL}};
    assert_true(container_open("film.mkv", SOURCE_STREAM_CHOICE, &s->format, &s->film, &e) &&
                demux_open(&s->reader, s->format, s->film.stream, &e));
    decode_pass_open(&s->pass, &s->film, s->reader.stream, s->reader.traits, &s->job);
    s->pass.backend[ON_DEVICE] = &device;
}

static void scene_close(struct scene *s)
{
    decode_pass_close(&s->pass);
    demux_close(&s->reader);
    container_close(&s->format);
    free(s->film.path);
}

/* The next IDR picture, or the next that is none. */
static struct picture next(struct scene *s, bool idr)
{
    struct err e = ERR_INIT;
    struct picture p;
    while (demux_next(&s->reader, &p, &e)) {
        if ((p.rap == RAP_CLOSED) == idr)
            return p;
        packet_free(&p.packet);
    }
    fail_msg("no such picture");
    return p;
}

static bool offer(struct scene *s, const struct picture *p)
{
    struct idr_splice mine = {0};
    unsigned before = atomic_load(&s->pass.idr_splices);
    idr_splice_offer(&s->pass, p, &s->reader.sets, s->reader.length_size);
    idr_splice_fetch(&s->pass, &mine);
    bool kept = atomic_load(&s->pass.idr_splices) > before;
    assert_true(!kept || (mine.packet && mine.packet->data == p->packet->data));
    idr_splice_drop(&mine);
    return kept;
}

TEST(which_is_kept)
{
    struct scene s;
    scene_open(&s);
    struct picture idr = next(&s, true), p = next(&s, false), other = idr;
    assert_false(offer(&s, &p)); /* no IDR */
    other.suspect = true;
    assert_false(offer(&s, &other));
    other = idr;
    other.sets++;
    assert_false(offer(&s, &other)); /* of other sets than those that are given */
    other = idr;
    other.packet = av_packet_clone(idr.packet);
    assert_int_equal(av_grow_packet(other.packet, 5 << 20), 0);
    assert_false(offer(&s, &other)); /* too large */
    s.pass.backend[ON_DEVICE] = &flushes_fast;
    assert_false(offer(&s, &idr)); /* its decoders flush fast */
    s.pass.backend[ON_DEVICE] = NULL;
    assert_false(offer(&s, &idr)); /* there is no device */
    s.pass.backend[ON_DEVICE] = &device;
    assert_true(offer(&s, &idr));
    assert_false(offer(&s, &idr)); /* no smaller */
    packet_free(&other.packet);
    packet_free(&idr.packet);
    packet_free(&p.packet);
    scene_close(&s);
}

TEST(who_gets_it)
{
    struct scene s;
    struct idr_splice a = {0}, b = {0};
    scene_open(&s);
    struct picture idr = next(&s, true), p = next(&s, false);
    AVPacket *packet = av_packet_alloc();
    assert_false(idr_splice_fits(&a, idr.sets, idr.sets));
    assert_true(offer(&s, &idr));
    idr_splice_fetch(&s.pass, &a);
    idr_splice_fetch(&s.pass, &b);
    assert_true(idr_splice_fits(&a, idr.sets, idr.sets));
    assert_false(idr_splice_fits(&a, idr.sets + 1, idr.sets));
    assert_false(idr_splice_fits(&a, idr.sets, idr.sets + 1));
    /* A packet of its own, which never comes out, before a picture or before nothing; not before
     * one whose bytes are gone. */
    assert_true(idr_splice_packet(&a, &p, packet));
    assert_int_equal(packet->pts, -1);
    assert_true(packet->flags & AV_PKT_FLAG_DISCARD);
    assert_true(packet->data != idr.packet->data && packet->size > 0 &&
                packet->size <= idr.packet->size);
    av_packet_unref(packet);
    assert_true(idr_splice_packet(&a, NULL, packet));
    av_packet_unref(packet);
    struct picture lost = {.lost = true};
    assert_false(idr_splice_packet(&a, &lost, packet));
    /* Refused: whoever looks has none, and none comes again. */
    idr_splice_refuse(&s.pass, &a);
    idr_splice_fetch(&s.pass, &b);
    assert_null(b.packet);
    assert_false(offer(&s, &idr));
    idr_splice_drop(&a);
    idr_splice_drop(&b);
    av_packet_free(&packet);
    packet_free(&idr.packet);
    packet_free(&p.packet);
    scene_close(&s);
}

static int begin(void **state)
{
    bool made = clip_begin(state) == 0 && clip_encode("-c:v libx264 -preset veryfast -x264-params "
                                                      "keyint=12:min-keyint=12:bframes=2 film.mkv");
    return made ? 0 : -1;
}

TEST_FIXTURE(begin, clip_end)
