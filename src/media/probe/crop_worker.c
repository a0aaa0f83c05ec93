#include "crop_worker.h"

#include <stdlib.h>
#include <string.h>

#include "media/container/demux.h"
#include "media/container/keyframe_index.h"
#include "media/container/open.h"
#include "media/decode/decoder.h"
#include "media/ffmpeg/av_compat.h"
#include "media/ffmpeg/av_error.h"
#include "media/frame/frame_view.h"
#include "barcode/base/interrupt.h"

enum { KEY_WITHIN = 2000, OUT_WITHIN = 20 };       /* packets: up to a key frame; from there to the first picture */
enum { APART = 12 };                               /* packets from one picture behind it to the next one */

/*
 * Without an index libavformat reads everything up to a time, but where times can be halved to; some
 * find their feet at any byte.
 */
static enum way way_of(const struct looker *l)
{
    static const char *const halved[] = {"asf", "ogg", "nut", "mxf"};
    static const char *const any_byte[] = {"mpegts", "mpeg", "h264", "hevc", "mpegvideo", "m4v"};
    const int64_t small = 64 << 20;
    if (!film_av_seekable(l->format))
        return NO_WAY;
    if (film_av_is_one_of(l->format, any_byte, sizeof any_byte / sizeof *any_byte))
        return BY_BYTE;
    const struct demux r = {.format = l->format, .stream = l->stream};
    bool indexed = key_index_kind(&r, l->looks->film) != KEY_INDEX_NONE;
    bool quick = indexed || film_av_is_one_of(l->format, halved, sizeof halved / sizeof *halved);
    return quick || avio_size(l->format->pb) <= small ? BY_TIME : NO_WAY;
}

/* The first picture's time as the film's file has it, in microseconds. */
static int64_t start_us(const AVStream *s)
{
    return s->start_time != AV_NOPTS_VALUE ? av_rescale_q(s->start_time, s->time_base, AV_TIME_BASE_Q) : 0;
}

/* Seeks place `place` of LOOKS, the middle of its part of the film. */
static bool seek(struct looker *l, int place)
{
    const int64_t part = (int64_t)place * 2 + 1, parts = (int64_t)LOOKS * 2;
    int64_t duration_us = l->looks->film->duration_us;
    if (l->way == BY_BYTE) {
        int64_t at = av_rescale(avio_size(l->format->pb), part, parts);
        return av_seek_frame(l->format, -1, at, AVSEEK_FLAG_BYTE) >= 0;
    }
    if (duration_us <= 0)
        return false;
    int64_t time = av_sat_add64(start_us(l->stream), av_rescale(duration_us, part, parts));
    int64_t stamp = av_rescale_q(time, AV_TIME_BASE_Q, l->stream->time_base);
    return av_seek_frame(l->format, l->stream->index, stamp, AVSEEK_FLAG_BACKWARD) >= 0;
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
        film_av_out_of_memory(l->looks->film->path, &l->error);
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
        film_av_out_of_memory(l->looks->film->path, &l->error);
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
    l->watch = (struct damage_watch){0};
    l->decoder = decoder_open(l->stream, l->looks->film->path, 1, &l->error);
    if (l->decoder)
        damage_watch_open(&l->watch, l->decoder);
    return l->decoder != NULL;
}

/* True if the look is the first one to come to the key frame that lies there. */
static bool claim(struct looker *l, size_t look, int64_t at)
{
    bool first = true;
    pthread_mutex_lock(&l->looks->lock);
    for (int i = 0; i < LOOKS; i++)
        first &= !l->looks->look[i].claimed || l->looks->look[i].key != at;
    l->looks->look[look].claimed = true;
    l->looks->look[look].key = at;
    pthread_mutex_unlock(&l->looks->lock);
    return first;
}

/* The first picture from a key frame on. What follows that one is only sent so that it comes out. Most looks come to a key frame that others had. */
static void look_once(struct looker *l, int place)
{
    size_t look = (size_t)place;
    if (!seek(l, place) || !next_packet(l, true))
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

/*
 * Returns true if more pictures are needed: fewer than LOOKS_ENOUGH tell something so far, and
 * those that may still be looked at could make a rectangle.
 */
static bool needs_more(const struct looker *l)
{
    int told = 0, suggested = 0, looked = 0;
    for (int i = 0; i < LOOKS + LOOKS_MORE; i++) {
        const struct look *look = &l->looks->look[i];
        told += look->looked && looker_tells(&look->seen);
        suggested += look->looked && trim_suggests(&look->seen);
        looked += i >= LOOKS && look->looked;
    }
    int left = LOOKS_MORE - looked, wanted = LOOKS_ENOUGH - told;
    int more = left < wanted ? left : wanted;
    return more > 0 && suggested + more >= TRIM_QUORUM;
}

/*
 * Takes the pictures that are ready, and looks at one each APART packets. Returns false if nothing
 * more is needed, or nothing more comes.
 */
static bool take_ready(struct looker *l, int64_t *due, size_t *look)
{
    int code;
    while ((code = decoder_receive(l->decoder, l->frame)) >= 0) {
        if (l->frame->pts >= *due && *look < LOOKS + LOOKS_MORE) {
            *due = l->frame->pts + APART;
            look_at_picture(l, (*look)++);
        }
        av_frame_unref(l->frame);
        if (l->error.code != ERR_NONE || !needs_more(l))
            return false;
    }
    if (code == AVERROR(ENOMEM))
        film_av_out_of_memory(l->looks->film->path, &l->error);
    return code == AVERROR(EAGAIN);
}

/* HEVC's pictures of a lower layer may be referred to by those of a higher one, whatever they call themselves: hvcC tells of layers. */
static enum AVDiscard passes_over(const AVCodecParameters *par)
{
    enum { LAYERS = 21, HVCC = 23 };
    const uint8_t *data = par->extradata;
    bool one = par->codec_id != AV_CODEC_ID_HEVC || (data && par->extradata_size >= HVCC && data[0] == 1 && (data[LAYERS] >> 3 & 7) == 1);
    return one ? AVDISCARD_NONREF : AVDISCARD_DEFAULT;
}

void looker_look_on(struct looker *l)
{
    enum { SENT_MOST = LOOKS_MORE * APART + 32 };
    int64_t sent = 0, due = APART - 1;
    size_t look = LOOKS;
    side_data_free(&l->side);
    if (!needs_more(l) || !open_decoder(l) || !seek(l, 0) || !next_packet(l, true))
        return;
    decoder_widen_delay(l->decoder);
    l->decoder->skip_frame = passes_over(l->stream->codecpar);
    bool more, there = true;
    do {
        l->packet->pts = sent++;
        int code = decoder_send(l->decoder, there ? l->packet : NULL);
        av_packet_unref(l->packet);
        if (code == AVERROR(ENOMEM))
            film_av_out_of_memory(l->looks->film->path, &l->error);
        more = code != AVERROR(ENOMEM) && take_ready(l, &due, &look) && there;
        there = more && sent < SENT_MOST && next_packet(l, false);
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

static bool open_looker(struct looker *l)
{
    const struct film *film = l->looks->film;
    if (!open_film(l))
        return false;
    l->stream = l->format->streams[film->stream];
    l->way = way_of(l);
    l->packet = av_packet_alloc();
    l->frame = av_frame_alloc();
    l->room = malloc(((size_t)film->coded_width + (size_t)film->coded_height) * sizeof *l->room);
    if (!l->packet || !l->frame || !l->room)
        return err_set(&l->error, ERR_FAILED, "out of memory to look for bars");
    return open_decoder(l);
}

void looker_close(struct looker *l)
{
    decoder_close(&l->decoder);
    av_frame_free(&l->frame);
    av_frame_free(&l->planes);
    av_packet_free(&l->packet);
    side_data_free(&l->side);
    film_av_close(&l->format);
    free(l->room);
    l->room = NULL;
}

void *looker_main(void *argument)
{
    struct looker *l = argument;
    int place;
    bool opened = open_looker(l) && l->way != NO_WAY;
    while (opened && l->error.code == ERR_NONE && !interrupted() &&
           (place = atomic_fetch_add(&l->looks->next, 1)) < LOOKS)
        look_once(l, place);
    return NULL;
}
