#include "looker.h"

#include <stdlib.h>
#include <string.h>

#include "av_compat.h"
#include "shortage.h"
#include "barcode/interrupt.h"

enum { KEY_WITHIN = 2000, OUT_WITHIN = 20 };       /* packets: up to a key frame; from there to the first picture */
enum { APART = 12 };                               /* of pictures that follow one another, the first of so many, about */

/* Without an index libavformat reads everything up to a time, but where times can be halved to; some find their feet at any byte. */
static enum way way_of(const struct looker *l)
{
    static const char *const halved[] = {"asf", "ogg", "nut", "mxf"};
    static const char *const any_byte[] = {"mpegts", "mpeg", "h264", "hevc", "mpegvideo", "m4v"};
    const int64_t small = 64 << 20;
    if (!film_av_seekable(l->format))
        return NO_WAY;
    if (film_av_is_one_of(l->format, any_byte, sizeof any_byte / sizeof *any_byte))
        return BY_BYTE;
    bool quick = l->index != KEY_INDEX_NONE || film_av_is_one_of(l->format, halved, sizeof halved / sizeof *halved);
    return quick || avio_size(l->format->pb) <= small ? BY_TIME : NO_WAY;
}

int64_t looker_start_us(const AVStream *s)
{
    return s->start_time != AV_NOPTS_VALUE ? av_rescale_q(s->start_time, s->time_base, AV_TIME_BASE_Q) : 0;
}

static bool seek(struct looker *l, const struct film_place *at)
{
    if (l->way == BY_BYTE)
        return av_seek_frame(l->format, -1, film_looks_part(avio_size(l->format->pb), at->place), AVSEEK_FLAG_BYTE) >= 0;
    if (l->looks->film->duration_us <= 0)
        return false;
    int64_t time = film_looks_time(l->looks->film, looker_start_us(l->stream), at->place);
    int64_t seek = at->seek != AV_NOPTS_VALUE ? at->seek : av_rescale_q(time, AV_TIME_BASE_Q, l->stream->time_base);
    return av_seek_frame(l->format, l->stream->index, seek, AVSEEK_FLAG_BACKWARD) >= 0;
}

/* The next packet of the film's stream; a key frame's if `key`. False: there is none near. */
static bool next_packet(struct looker *l, bool key)
{
    for (int i = 0; i < KEY_WITHIN && !interrupted(); i++) {
        if (av_read_frame(l->format, l->packet) < 0)
            return false;
        bool ours = l->packet->stream_index == l->stream->index && l->packet->size > 0;
        bool fits = !key || l->packet->flags & AV_PKT_FLAG_KEY;
        bool kept = !ours || side_data_keep(&l->side, l->packet, key && fits, &l->error);
        if (ours && fits && kept)
            return true;
        av_packet_unref(l->packet);
        if (!kept)
            return false;
    }
    return false;
}

static void look_at_picture(struct looker *l, size_t look)
{
    struct frame_view view;
    bool whole = l->frame->width == l->looks->film->coded_width && l->frame->height == l->looks->film->coded_height;
    if (!whole || damage_flagged(l->frame) || !view_of_frame(l->frame, l->looks->film, &l->planes, &view, &l->error))
        return;
    l->looks->look[look].seen = trim_look(&view, l->room);
    l->looks->look[look].looked = true;
}

/*
 * Sends what was read, or NULL; true when a picture came out, which was looked at if it is sound: what is missing of a damaged one shows
 * what the memory held, and that depends on what this thread looked at before.
 */
static bool decode(struct looker *l, const AVPacket *packet, size_t look)
{
    int code = decoder_send(l->decoder, packet);
    l->hurt |= damage_found(&l->watch, code);
    if (code >= 0)
        code = decoder_receive(l->decoder, l->frame);
    if (code == AVERROR(ENOMEM))
        shortage_error(l->looks->film->path, "looked at", &l->error);
    if (code < 0)
        return false;
    if (!l->hurt)
        look_at_picture(l, look);
    av_frame_unref(l->frame);
    return true;
}

/*
 * The key frame that was read, out of a decoder that is told that nothing follows. False: nothing came of it, or a field, which may be
 * half of a picture.
 */
static bool look_alone(struct looker *l, size_t look)
{
    int code = decoder_send(l->decoder, l->packet);
    l->hurt = damage_found(&l->watch, code);
    if (code >= 0)
        code = decoder_send(l->decoder, NULL);
    if (code >= 0)
        code = decoder_receive(l->decoder, l->frame);
    if (code == AVERROR(ENOMEM))
        shortage_error(l->looks->film->path, "looked at", &l->error);
    bool whole = code >= 0 && !l->hurt && !av_compat_is_interlaced(l->frame);
    if (whole)
        look_at_picture(l, look);
    if (l->error.code == ERR_NONE)
        avcodec_flush_buffers(l->decoder);       /* what follows goes into it as well if this was no whole picture */
    av_frame_unref(l->frame);
    return whole || l->error.code != ERR_NONE;
}

/*
 * A flush leaves a decoder its headers, and those of an earlier look may be others: what a look sees would depend on which looks are this
 * thread's.
 */
static bool open_decoder(struct looker *l)
{
    l->fresh = true;
    decoder_close(&l->decoder);
    damage_watch_close(&l->watch);
    l->watch = (struct damage_watch){0};
    l->decoder = decoder_open(l->stream, l->looks->film->path, l->threads, &l->error);
    return l->decoder && damage_watch_open(&l->watch, l->decoder, false, &l->error);
}

/* True if the look is the first one to come to the key frame that lies there. */
static bool claim(struct looker *l, size_t look, int64_t at)
{
    bool first = true;
    pthread_mutex_lock(&l->looks->lock);
    for (size_t i = 0; i < LOOKS; i++)
        first &= !l->looks->look[i].claimed || l->looks->look[i].key != at;
    l->looks->look[look].claimed = true;
    l->looks->look[look].key = at;
    pthread_mutex_unlock(&l->looks->lock);
    return first;
}

/* The first picture from a key frame on. What follows that one is only sent so that it comes out. Most looks come to a key frame that others had. */
static void look_once(struct looker *l, const struct film_place *at)
{
    size_t look = (size_t)at->place;
    if (!seek(l, at) || !next_packet(l, true))
        return;
    int64_t key = l->packet->pos >= 0 ? l->packet->pos : l->packet->pts;
    bool mine = claim(l, look, key) && (l->fresh || open_decoder(l));
    l->fresh = l->fresh && !mine;
    if (!mine || (l->alone && look_alone(l, look))) {
        av_packet_unref(l->packet);
        return;
    }
    bool came = false, more = true;
    l->hurt = false;
    for (int i = 0; i < OUT_WITHIN && more && !came && l->error.code == ERR_NONE; i++) {
        came = decode(l, l->packet, look);
        av_packet_unref(l->packet);
        more = !came && next_packet(l, false);
    }
    av_packet_unref(l->packet);
    /* A decoder that was short of memory is not touched again: libavcodec 59 crashes. */
    if (!came && l->error.code == ERR_NONE)
        decode(l, NULL, look);
}

bool looker_tells(const struct trim_seen *seen)
{
    return seen->across.known || seen->down.known;
}

void looker_count(struct looks_tally *tally, const struct trim_seen *seen)
{
    tally->told += looker_tells(seen);
    tally->suggested += trim_suggests(seen);
}

bool looker_is_hopeless(int suggested, int more)
{
    return suggested + more < TRIM_QUORUM;
}

/* How far a look at pictures that follow one another has come. */
struct way_on {
    int64_t sent;                         /* packets                                         */
    int64_t due;                          /* the next picture to be looked at is that packet's, or a later one's */
    size_t looks;
};

/* Takes what is ready. False: no more is needed, or nothing more will come. */
static bool take_on(struct looker *l, struct way_on *w)
{
    int code;
    while ((code = decoder_receive(l->decoder, l->frame)) >= 0) {
        int64_t at = l->frame->pts;
        l->doubted |= l->watch.strict && (damage_flagged(l->frame) || damage_doubted(&l->watch, at));
        if (at >= w->due && !l->doubted) {
            size_t look = LOOKS + w->looks++;
            look_at_picture(l, look);
            looker_count(&l->tally, &l->looks->look[look].seen);
            w->due = at + APART;
        }
        av_frame_unref(l->frame);
        int left = LOOKS_MORE - (int)w->looks, wanted = LOOKS_ENOUGH - l->tally.told, more = left < wanted ? left : wanted;
        if (l->doubted || more <= 0 || looker_is_hopeless(l->tally.suggested, more) || l->error.code != ERR_NONE)
            return false;
    }
    if (code == AVERROR(ENOMEM))
        shortage_error(l->looks->film->path, "looked at", &l->error);
    /* No thread of the decoder's is at work at the end; after an error, what still comes may show what is missing. */
    if (l->watch.strict && code != AVERROR(EAGAIN))
        l->doubted |= code != AVERROR_EOF || damage_doubted(&l->watch, INT64_MAX);
    return !l->doubted && code != AVERROR(ENOMEM) && code != AVERROR_EOF;
}

/* HEVC's pictures of a lower layer may be referred to by those of a higher one, whatever they call themselves: hvcC tells of layers. */
static enum AVDiscard passes_over(const AVCodecParameters *par)
{
    enum { LAYERS = 21, HVCC = 23 };
    const uint8_t *data = par->extradata;
    bool one = par->codec_id != AV_CODEC_ID_HEVC || (data && par->extradata_size >= HVCC && data[0] == 1 && (data[LAYERS] >> 3 & 7) == 1);
    return one ? AVDISCARD_NONREF : AVDISCARD_DEFAULT;
}

/* Of the film's first pictures those that others refer to, some APART. */
static void look_on(struct looker *l)
{
    enum { SENT_MOST = LOOKS_MORE * APART + 32 };
    struct way_on w = {.due = APART - 1};
    l->decoder->skip_frame = passes_over(l->stream->codecpar);
    if (!seek(l, &(struct film_place){0, AV_NOPTS_VALUE}) || !next_packet(l, true))
        return;
    bool more, there = true;
    do {
        l->packet->pts = w.sent++;           /* which is what damage_doubted goes by */
        int code = decoder_send(l->decoder, there ? l->packet : NULL);
        av_packet_unref(l->packet);
        if (code == AVERROR(ENOMEM))
            shortage_error(l->looks->film->path, "looked at", &l->error);
        l->doubted |= l->watch.strict && damage_found(&l->watch, code);
        more = !l->doubted && code != AVERROR(ENOMEM) && take_on(l, &w) && there;
        there = more && w.sent < SENT_MOST && next_packet(l, false);
    } while (more);
}

/* By an index, a packet is a picture, and the head has named the streams. (AVI's packets may hold fields.) */
static bool is_simple(const struct looker *l)
{
    static const char *const simple[] = {"mov,mp4,m4a,3gp,3g2,mj2", "matroska,webm"};
    return l->looks->opened && film_av_seekable(l->looks->opened) && film_av_is_one_of(l->looks->opened, simple, sizeof simple / sizeof *simple);
}

static bool open_film(struct looker *l)
{
    l->alone = is_simple(l) && film_av_open_again(l->looks->film->path, l->looks->opened, &l->format, &l->error);
    if (l->alone)
        return true;
    film_av_close(&l->format);           /* what its head says is not all: everything is found out anew */
    err_clear(&l->error);
    return film_av_reopen(l->looks->film, l->looks->wanted, &l->format, &l->error);
}

bool looker_open(struct looker *l)
{
    const struct film *film = l->looks->film;
    if (!open_film(l))
        return false;
    l->stream = l->format->streams[film->stream];
    const struct demux r = {.format = l->format, .stream = l->stream};
    shortage_begin();
    l->index = key_index_kind(&r, film);
    if (shortage_met())
        return shortage_error(film->path, "looked at", &l->error);
    l->way = way_of(l);
    l->packet = av_packet_alloc();
    l->frame = av_frame_alloc();
    l->room = malloc(((size_t)film->coded_width + (size_t)film->coded_height) * sizeof *l->room);
    if (!l->packet || !l->frame || !l->room)
        return err_set(&l->error, ERR_FAILED, "out of memory to look for bars");
    if (!open_decoder(l))
        return false;
    /* As decoders with threads have it, so that the same pictures come out in the same order. */
    if (l->on)
        decoder_widen_delay(l->decoder);
    return l->threads == 1 || damage_watch_strictly(&l->watch, l->decoder, &l->error);
}

void looker_close(struct looker *l)
{
    decoder_close(&l->decoder);
    damage_watch_close(&l->watch);
    av_frame_free(&l->frame);
    av_frame_free(&l->planes);
    av_packet_free(&l->packet);
    side_data_free(&l->side);
    film_av_close(&l->format);
    free(l->room);
    l->room = NULL;
}

/* The next place that is to be looked at, or NULL. */
static const struct film_place *next_place(struct looker *l)
{
    int next = atomic_fetch_add(&l->looks->next, 1);
    return next < l->looks->until ? &l->looks->plan.at[next] : NULL;
}

void looker_is_open(struct looks *looks)
{
    if (atomic_fetch_sub(&looks->to_open, 1) == 1)
        looks->request->lets_go(looks->request->user);
}

void *looker_main(void *argument)
{
    struct looker *l = argument;
    const struct film_place *at;
    shortage_begin();
    bool opened = l->error.code == ERR_NONE && (l->format || looker_open(l)) && l->way != NO_WAY;
    looker_is_open(l->looks);
    if (opened && l->on)
        look_on(l);
    while (opened && !l->on && l->error.code == ERR_NONE && !interrupted() && (at = next_place(l))) {
        shortage_begin();
        look_once(l, at);
        if (shortage_met())
            shortage_error(l->looks->film->path, "looked at", &l->error);
    }
    if (shortage_met())
        shortage_error(l->looks->film->path, "looked at", &l->error);
    return NULL;
}
