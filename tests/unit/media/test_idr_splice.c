/* test_idr_splice.c - which IDR picture is kept, who gets it, and the packet that is made of it. */
#include "test.h"
#include "film_pass.h"

static const struct decoder_backend device = {.place = ON_DEVICE, .flush_is_slow = true},
                                    flushes_fast = {.place = ON_DEVICE};

/* Opens the film, of IDR pictures 12 apart; a pass lends them to nobody. */
static void scene_open(struct film_pass *s)
{
    film_pass_open(s, "film.mkv");
    s->pass.backend[ON_DEVICE] = &device;
}

/* The next IDR picture, or the next that is none. */
static struct picture next(struct film_pass *s, bool idr)
{
    struct err e = ERR_INIT;
    struct picture p;
    while (demux_next(&s->of.reader, &p, &e)) {
        if ((p.rap == RAP_CLOSED) == idr)
            return p;
        packet_free(&p.packet);
    }
    fail_msg("no such picture");
    return p;
}

static bool offer(struct film_pass *s, const struct picture *p)
{
    struct idr_splice mine = {0};
    unsigned before = atomic_load(&s->pass.idr_splices);
    idr_splice_offer(&s->pass, p, &s->of.reader.sets, s->of.reader.length_size);
    idr_splice_fetch(&s->pass, &mine);
    bool kept = atomic_load(&s->pass.idr_splices) > before;
    assert_true(!kept || (mine.packet && mine.packet->data == p->packet->data));
    av_packet_free(&mine.packet);
    return kept;
}

TEST(which_is_kept)
{
    struct film_pass s;
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
    film_pass_close(&s);
}

TEST(who_gets_it)
{
    struct film_pass s;
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
    av_packet_free(&a.packet);
    av_packet_free(&b.packet);
    av_packet_free(&packet);
    packet_free(&idr.packet);
    packet_free(&p.packet);
    film_pass_close(&s);
}

static int begin(void **state)
{
    bool made = clip_begin(state) == 0 && clip_encode("-c:v libx264 -preset veryfast -x264-params "
                                                      "keyint=12:min-keyint=12:bframes=2 film.mkv");
    return made ? 0 : -1;
}

TEST_FIXTURE(begin, clip_end)
