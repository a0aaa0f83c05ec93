/*
 * film_bars.c - see film_bars.h.
 *
 * A picture that decodes alone costs some 10 ms at 1080p, and a place in a file with an index one reading. Two dozen of them tell
 * what shape a film has: a shape that fewer than three of them have is left whole. A key frame counts once, wherever it was sought
 * from. A short film may have one or two: then some of the pictures that follow the first one are looked at as well, up to the first
 * few that tell something. What comes before those has to be decoded, by which 24 films of 10 s with one key frame each took ten times
 * as long as one film of their sum, when one film at a time was looked at on one thread.
 */
#include "film_bars.h"

#include <stdlib.h>
#include <string.h>

#include "av.h"
#include "key_index.h"
#include "side_data.h"
#include "shortage.h"
#include "barcode/gate.h"
#include "barcode/interrupt.h"

enum { LOOKS = 24, THREADS = PROBE_THREADS };
enum { KEY_WITHIN = 2000, OUT_WITHIN = 20 };       /* packets: up to a key frame; from there to the first picture */
enum { FEW = 4, MORE = 10, APART = 12, ENOUGH = FEW };  /* fewer keys than FEW: up to MORE pictures that are APART, until ENOUGH tell */
enum { AT_ONCE = 8 };                              /* films that are looked at side by side, about               */

/* How a place is sought. */
enum way { BY_TIME, BY_BYTE, NO_WAY };

/* What became of one place. */
struct look {
    bool looked;
    bool claimed;
    int64_t key;                          /* where its key frame lies, once it is claimed  */
    struct trim_seen seen;
};

/* One thread's share: looks [from, to). */
struct looker {
    const struct film *film;
    int wanted;
    int threads;                          /* of the decoder's */
    int told;                             /* pictures that told something, those of other lookers included */
    bool alone;                           /* a packet is a picture, and a key frame can be had without what follows it */
    bool hurt;                            /* a packet of this look was damaged             */
    bool doubted;                         /* a decoder with threads may have met damage    */
    bool fresh;                           /* the decoder is new                            */
    const AVFormatContext *opened;        /* the film, as whoever asked has it; NULL: not at all */
    size_t from, to;                      /* both LOOKS: at what follows the first key frame */
    struct look *look;                    /* [LOOKS + MORE], the film's */
    AVFormatContext *format;
    AVStream *stream;
    AVCodecContext *decoder;
    struct damage_watch watch;
    struct side_data side;
    AVPacket *packet;
    AVFrame *frame, *planes;
    uint32_t *room;
    pthread_mutex_t *lock;                /* guards each look's `key` while others look    */
    struct err error;
};

/* Without an index libavformat reads everything up to a time, but where times can be halved to; some find their feet at any byte. */
static enum way way_of(const struct looker *l)
{
    static const char *const halved[] = {"asf", "ogg", "nut", "mxf"};
    static const char *const any_byte[] = {"mpegts", "mpeg", "h264", "hevc", "mpegvideo", "m4v"};
    const int64_t small = 64 << 20;
    const struct demux r = {.format = l->format, .stream = l->stream};
    if (!film_av_seekable(l->format))
        return NO_WAY;
    if (film_av_is_one_of(l->format, any_byte, sizeof any_byte / sizeof *any_byte))
        return BY_BYTE;
    bool quick = key_index_kind(&r, l->film) != KEY_INDEX_NONE || film_av_is_one_of(l->format, halved, sizeof halved / sizeof *halved);
    return quick || avio_size(l->format->pb) <= small ? BY_TIME : NO_WAY;
}

static bool seek(struct looker *l, enum way way, size_t look)
{
    int64_t part = (int64_t)look * 2 + 1, parts = (int64_t)LOOKS * 2;
    if (way == BY_BYTE)
        return av_seek_frame(l->format, -1, av_rescale(avio_size(l->format->pb), part, parts), AVSEEK_FLAG_BYTE) >= 0;
    if (l->film->duration_us <= 0)
        return false;
    int64_t start = l->stream->start_time != AV_NOPTS_VALUE ? l->stream->start_time : 0;
    int64_t at = start + av_rescale_q(av_rescale(l->film->duration_us, part, parts), AV_TIME_BASE_Q, l->stream->time_base);
    return av_seek_frame(l->format, l->stream->index, at, AVSEEK_FLAG_BACKWARD) >= 0;
}

/* The next packet of the film's stream; a key frame's if `key`. False: there is none near. */
static bool next_packet(struct looker *l, bool key)
{
    for (int i = 0; i < KEY_WITHIN && !interrupted(); i++) {
        if (av_read_frame(l->format, l->packet) < 0)
            return false;
        bool ours = l->packet->stream_index == l->stream->index && l->packet->size > 0, fits = !key || l->packet->flags & AV_PKT_FLAG_KEY;
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
    bool whole = l->frame->width == l->film->coded_width && l->frame->height == l->film->coded_height;
    if (!whole || damage_flagged(l->frame) || !view_of_frame(l->frame, l->film, &l->planes, &view, &l->error))
        return;
    l->look[look].seen = trim_look(&view, l->room);
    l->look[look].looked = true;
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
        shortage_error(l->film->path, "looked at", &l->error);
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
        shortage_error(l->film->path, "looked at", &l->error);
    bool whole = code >= 0 && !l->hurt && !l->frame->interlaced_frame;
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
    l->decoder = decoder_open(l->stream, l->film->path, l->threads, &l->error);
    return l->decoder && damage_watch_open(&l->watch, l->decoder, false, &l->error);
}

/* True if the look is the first one to come to the key frame that lies there. */
static bool claim(struct looker *l, size_t look, int64_t at)
{
    bool first = true;
    pthread_mutex_lock(l->lock);
    for (size_t i = 0; i < LOOKS; i++)
        first &= !l->look[i].claimed || l->look[i].key != at;
    l->look[look].claimed = true;
    l->look[look].key = at;
    pthread_mutex_unlock(l->lock);
    return first;
}

/* The first picture from a key frame on. What follows that one is only sent so that it comes out. Most looks come to a key frame that others had. */
static void look_once(struct looker *l, enum way way, size_t look)
{
    if (!seek(l, way, look) || !next_packet(l, true))
        return;
    int64_t at = l->packet->pos >= 0 ? l->packet->pos : l->packet->pts;
    bool mine = claim(l, look, at) && (l->fresh || open_decoder(l));
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

static bool tells(const struct trim_seen *seen)
{
    return seen->across.known || seen->down.known;
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
            l->told += tells(&l->look[look].seen);
            w->due = at + APART;
        }
        av_frame_unref(l->frame);
        if (l->doubted || l->told >= ENOUGH || w->looks == MORE || l->error.code != ERR_NONE)
            return false;
    }
    if (code == AVERROR(ENOMEM))
        shortage_error(l->film->path, "looked at", &l->error);
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
    enum { SENT_MOST = MORE * APART + 32 };
    struct way_on w = {.due = APART - 1};
    l->decoder->skip_frame = passes_over(l->stream->codecpar);
    if (!seek(l, way_of(l), 0) || !next_packet(l, true))
        return;
    bool more, there = true;
    do {
        l->packet->pts = w.sent++;           /* which is what damage_doubted goes by */
        int code = decoder_send(l->decoder, there ? l->packet : NULL);
        av_packet_unref(l->packet);
        if (code == AVERROR(ENOMEM))
            shortage_error(l->film->path, "looked at", &l->error);
        l->doubted |= l->watch.strict && damage_found(&l->watch, code);
        more = !l->doubted && code != AVERROR(ENOMEM) && take_on(l, &w) && there;
        there = more && w.sent < SENT_MOST && next_packet(l, false);
    } while (more);
}

/* By an index, a packet is a picture, and the head has named the streams. (AVI's packets may hold fields.) */
static bool is_simple(const struct looker *l)
{
    static const char *const simple[] = {"mov,mp4,m4a,3gp,3g2,mj2", "matroska,webm"};
    return l->opened && film_av_seekable(l->opened) && film_av_is_one_of(l->opened, simple, sizeof simple / sizeof *simple);
}

static bool open_film(struct looker *l)
{
    l->alone = is_simple(l) && film_av_open_again(l->film->path, l->opened, &l->format, &l->error);
    if (l->alone)
        return true;
    film_av_close(&l->format);           /* what its head says is not all: everything is found out anew */
    err_clear(&l->error);
    return film_av_reopen(l->film, l->wanted, &l->format, &l->error);
}

static bool open_looker(struct looker *l)
{
    const struct film *film = l->film;
    if (!open_film(l))
        return false;
    l->stream = l->format->streams[film->stream];
    l->packet = av_packet_alloc();
    l->frame = av_frame_alloc();
    l->room = malloc(((size_t)film->coded_width + (size_t)film->coded_height) * sizeof *l->room);
    if (!l->packet || !l->frame || !l->room)
        return err_set(&l->error, ERR_FAILED, "out of memory to look for bars");
    if (!open_decoder(l))
        return false;
    /* As decoders with threads have it, so that the same pictures come out in the same order. */
    if (l->from == LOOKS)
        decoder_widen_delay(l->decoder);
    return l->threads == 1 || damage_watch_strictly(&l->watch, l->decoder, &l->error);
}

static void *looker_main(void *argument)
{
    struct looker *l = argument;
    shortage_begin();
    enum way way = open_looker(l) ? way_of(l) : NO_WAY;
    if (way != NO_WAY && l->from == LOOKS)
        look_on(l);
    for (size_t i = l->from; i < l->to && l->from < LOOKS && way != NO_WAY && l->error.code == ERR_NONE && !interrupted(); i++) {
        shortage_begin();
        look_once(l, way, i);
        if (shortage_met())
            shortage_error(l->film->path, "looked at", &l->error);
    }
    if (shortage_met())
        shortage_error(l->film->path, "looked at", &l->error);
    decoder_close(&l->decoder);
    damage_watch_close(&l->watch);
    av_frame_free(&l->frame);
    av_frame_free(&l->planes);
    av_packet_free(&l->packet);
    side_data_free(&l->side);
    film_av_close(&l->format);
    free(l->room);
    return NULL;
}

/* A film that this finds no way into fails where it is staged, with the better words: only what is the machine's fault counts here. */
static bool judge(const struct looker *looker, int count, struct err *e)
{
    if (interrupted())
        return interrupt_error(e);
    for (int i = 0; i < count; i++)
        if (looker[i].error.code == ERR_FAILED) {
            *e = looker[i].error;
            return false;
        }
    return true;
}

/* A thread that cannot be had is no loss: the caller's does its share. */
static void run_lookers(struct looker *looker, int count)
{
    pthread_t thread[THREADS];
    int started = 0;
    while (started + 1 < count && pthread_create(&thread[started], NULL, looker_main, &looker[started]) == 0)
        started++;
    for (int i = started; i < count; i++)
        looker_main(&looker[i]);
    for (int i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
}

/* The looks at different pictures, moved to the front. Returns how many there are. */
static int distinct(struct look *look, int count)
{
    int kept = 0;
    for (int i = 0; i < count; i++) {
        bool again = !look[i].looked;
        for (int k = 0; k < kept; k++)
            again |= look[k].key == look[i].key;
        if (!again)
            look[kept++] = look[i];
    }
    return kept;
}

/* Frame threads show the same of what is sound, and of damage what memory held. */
static bool takes_threads(const struct film *film)
{
    static const char *const codec[] = {"h264", "hevc", "vp9"};
    bool takes = false;
    for (size_t i = 0; i < sizeof codec / sizeof *codec; i++)
        takes |= strcmp(film->codec, codec[i]) == 0;
    return takes;
}

/* A decoder with threads has a try; at the first doubt, or where it cannot be had, one without does it all again. */
static bool look_further(const struct looker *first, int threads, struct err *e)
{
    struct looker l;
    for (int tries = takes_threads(first->film) && threads > 1 ? 2 : 1; tries > 0; tries--) {
        l = *first;
        l.from = l.to = LOOKS;
        l.threads = tries == 2 ? threads : 1;
        memset(l.look + LOOKS, 0, MORE * sizeof *l.look);
        looker_main(&l);
        bool fine = judge(&l, 1, e);
        if (fine ? !l.doubted : tries == 1 || e->code == ERR_INTERRUPTED)
            return fine;
        err_clear(e);
    }
    return true;
}

/* How many threads a look at pictures that follow one another is worth while other films wait for theirs, or none does. */
static int threads_for(const struct probe_request *request)
{
    int idle = request->threads;
    int threads = gate_spare(request->turn, &idle) ? idle : request->threads / AT_ONCE;
    return threads < 1 ? 1 : threads < THREADS ? threads : THREADS;
}

static int count_told(const struct look *look, int count)
{
    int told = 0;
    for (int i = 0; i < count; i++)
        told += tells(&look[i].seen);
    return told;
}

bool film_bars_probe(const struct film *film, int wanted, const AVFormatContext *opened, const struct probe_request *request, struct probe_facts *facts, struct err *e)
{
    struct look look[LOOKS + MORE] = {0};
    struct looker looker[THREADS];
    struct trim_seen seen[LOOKS + MORE];
    int count = request->threads < THREADS ? request->threads : THREADS;
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct looker first = {.lock = &lock, .film = film, .wanted = wanted, .opened = opened, .threads = 1, .look = look, .error = ERR_INIT};
    for (int i = 0; i < count; i++) {
        looker[i] = first;
        looker[i].from = (size_t)(i * LOOKS / count);
        looker[i].to = (size_t)((i + 1) * LOOKS / count);
    }
    run_lookers(looker, count);
    if (!judge(looker, count, e))
        return false;
    facts->looked = distinct(look, LOOKS);
    if (facts->looked > 0 && facts->looked < FEW) {
        gate_fed(request->turn);
        int threads = threads_for(request);
        first.told = count_told(look, facts->looked);
        gate_busy(request->turn, threads);
        bool fine = look_further(&first, threads, e);
        gate_busy(request->turn, -threads);
        if (!fine)
            return false;
        for (int i = LOOKS; i < LOOKS + MORE; i++)
            if (look[i].looked)
                look[facts->looked++] = look[i];
    }
    for (int i = 0; i < facts->looked; i++)
        seen[i] = look[i].seen;
    facts->told = count_told(look, facts->looked);
    facts->trim = trim_find(seen, (size_t)facts->looked, film->coded_width, film->coded_height);
    facts->found |= PROBE_BARS;
    return true;
}
