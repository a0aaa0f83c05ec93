/*
 * nvdec_worker.c - one NVDEC decoder that takes runs from the queue that software workers share.
 *
 * Flushing an H.264 context throws its NVDEC decoder away, 0.2 s to make another. So a chunk
 * that begins with an IDR picture is fed directly after the last one, whose last pictures then come
 * out while the new chunk goes in: several runs may be waiting for pictures at once, and a picture
 * finds its chunk by its serial. Before a chunk that begins with another key an IDR picture is sent
 * that belongs to neither (idr_splice.h). Where there is none that fits, the chunk finds an empty
 * decoder: drained, flushed.
 *
 * What NVDEC did not deliver, a software decoder does: the chunk is decoded again for what is still
 * wanted.
 *
 * A chunk's bytes leave the budget once it is fed, though its packets are kept until its pictures
 * are there (about one chunk a worker): an idle session that waits for the next chunk must not keep
 * the reader from reading it.
 */
#include <assert.h>
#include <string.h>

#include "decoder_pool.h"
#include "nvdec.h"
#include "media/bitstream/codec_traits.h"
#include "media/bitstream/coded_picture.h"
#include "media/bitstream/h264_params.h"
#include "media/bitstream/packet_scan.h"
#include "media/decode/corruption.h"
#include "media/decode/decoder.h"
#include "media/decode/worker.h"
#include "media/frame/frame_view.h"
#include "media/gop/chunk.h"
#include "media/schedule/decode_pass.h"
#include "media/schedule/idr_splice.h"
#include "media/schedule/scheduler.h"
#include "barcode/base/interrupt.h"
#include "barcode/base/log.h"

enum {
    WAITING_MAX = 64, /* runs that are fed but not whole: as many as a decoder may delay pictures */
    PATIENCE = 48     /* packets sent after a chunk, beyond which nothing more of it will come */
};

struct waiting {
    struct chunk *chunk;
    unsigned sent_after; /* packets sent since its last one */
    struct chunk_order order;
    /* something of it was refused or is not to be trusted, and so is what still comes out */
    bool broken;
};

struct nvdec_worker {
    struct decode_pass *pass;
    struct nvdec_decoder *kept; /* the decoder's, NULL until the first chunk */
    struct nvdec *nvdec;        /* its GPU */
    AVCodecContext *decoder;
    int64_t base; /* nvdec_pool_base */
    struct corruption_watch watch;
    int length_size; /* as packet_scan.h has it */
    AVPacket *packet;
    AVFrame *frame, *host, *planes; /* planes: view_of_frame's */
    struct engine_port *port;
    struct decode_worker *software; /* NULL until something must be done again */
    struct waiting waiting[WAITING_MAX];
    int waitings;
    struct idr_splice idr_splice;
    uint64_t sets;  /* of the packet that was sent last (struct picture's) */
    bool used;      /* packets were sent since it was opened or flushed */
    bool fed;       /* this film's packets were sent */
    bool fell_back; /* libavcodec gave a picture in software */
    struct decode_counts counts;
};

static bool open_all(struct nvdec_worker *s, struct err *e)
{
    struct decode_pass *pass = s->pass;
    s->packet = av_packet_alloc();
    s->frame = av_frame_alloc();
    s->host = av_frame_alloc();
    if (!s->packet || !s->frame || !s->host)
        return err_set(e, ERR_FAILED, "out of memory for a decoder");
    s->port = engine_port_open(pass->job->engine, e);
    if (!s->port)
        return false;
    s->kept = nvdec_pool_take(pass->job->decoders, s->nvdec, pass->stream, e);
    if (!s->kept)
        return false;
    s->decoder = s->kept->context;
    s->base = nvdec_pool_base(s->kept);
    s->used = s->kept->films > 0;
    s->counts.reused += s->used;
    const AVCodecParameters *par = pass->stream->codecpar;
    struct nal_sets sets = {0};
    if (pass->traits.stream == STREAM_H264)
        nal_sets_scan_extradata(par->extradata, (size_t)par->extradata_size, &sets);
    s->sets = sets.state; /* nvdec_pool_refresh sees to it */
    s->length_size =
        nal_length_size(pass->traits.stream, par->extradata, (size_t)par->extradata_size);
    corruption_watch_messages(&s->watch, s->decoder);
    nvdec_expect_size(&s->watch, par);
    return true;
}

/* `sound`: the decoder has nothing left to do, and another film may have it. */
static void close_all(struct nvdec_worker *s, bool sound)
{
    nvdec_pool_give(s->pass->job->decoders, s->nvdec, &s->kept, sound);
    while (s->waitings > 0)
        chunk_free(&s->waiting[--s->waitings].chunk);
    engine_port_close(&s->port);
    decode_worker_free(&s->software);
    av_frame_free(&s->frame);
    av_frame_free(&s->host);
    av_frame_free(&s->planes);
    av_packet_free(&s->packet);
    idr_splice_drop(&s->idr_splice);
}

/* ------------------------------------------------------------------ pictures out */

/* An error came with the packet that went in last. */
static void broke(struct nvdec_worker *s)
{
    if (s->waitings > 0)
        s->waiting[s->waitings - 1].broken = true;
}

/*
 * The chunk of the picture that came out. NULL: it has none, or a broken one. A picture that
 * libavcodec knows to be damaged breaks its chunk, because each decoder hides damage in its own way
 * (it chooses the pictures that it lends).
 */
static struct waiting *find_chunk(struct nvdec_worker *s, int64_t serial)
{
    bool damaged = corruption_is_flagged(s->frame);
    for (int i = s->waitings - 1; i >= 0; i--) {
        struct chunk *chunk = s->waiting[i].chunk;
        assert(chunk && chunk->picture);
        uint64_t index = (uint64_t)serial - chunk->picture[0].serial;
        /* A chunk's extras are the next chunk's first pictures: only one of the two was sent here,
         * and only one wants them. */
        if (index < chunk->count && chunk->picture[index].action != ACTION_SKIP) {
            chunk_order_check(&s->waiting[i].order, &s->pass->traits, &chunk->picture[index]);
            s->waiting[i].broken |= damaged;
            return s->waiting[i].broken ? NULL : &s->waiting[i];
        }
    }
    return NULL;
}

static bool view_of_picture(struct nvdec_worker *s, struct frame_view *view, struct err *e)
{
    const struct film *film = s->pass->film;
    if (!nvdec_is_picture(s->frame)) {
        s->fell_back = true;
        return view_of_frame(s->frame, film, &s->planes, view, e);
    }
    if (nvdec_shares(s->nvdec))
        return nvdec_view(s->decoder, s->frame, s->frame, film, view, e);
    return nvdec_download(s->frame, s->host, e) &&
           nvdec_view(s->decoder, s->frame, s->host, film, view, e);
}

static bool put_frame(struct nvdec_worker *s, struct picture *p, struct err *e)
{
    struct frame_view view;
    if (!view_of_picture(s, &view, e))
        return false;
    decode_pass_log_colour(s->pass, &view);
    p->done = true;
    return engine_put(s->port, &view, &p->tag, e);
}

static bool take_picture(struct nvdec_worker *s, struct err *e)
{
    struct waiting *w = find_chunk(s, s->frame->pts);
    if (!w)
        return true;
    struct picture *p = &w->chunk->picture[(uint64_t)s->frame->pts - w->chunk->picture[0].serial];
    return !p->selected || p->done || put_frame(s, p, e);
}

/* Takes every picture that is ready. */
static bool receive(struct nvdec_worker *s, struct err *e)
{
    for (int refused = 0; refused < RECEIVE_ERRORS_MAX;) {
        int code = avcodec_receive_frame(s->decoder, s->frame);
        if (code == AVERROR(EAGAIN) || code == AVERROR_EOF)
            return true;
        if (code < 0) {
            broke(s);
            refused++;
            continue;
        }
        if (s->frame->pts < s->base) { /* another film's */
            av_frame_unref(s->frame);
            continue;
        }
        s->frame->pts -= s->base;
        s->counts.decoded++;
        s->counts.hardware += nvdec_is_picture(s->frame);
        if (nvdec_is_resized(s->decoder))
            broke(s);
        nvdec_mend(s->frame);
        bool ok = take_picture(s, e);
        av_frame_unref(s->frame);
        if (!ok)
            return false;
    }
    return true;
}

/* ------------------------------------------------------------------ runs */

/*
 * Ends waiting[i]: what is still wanted of it comes from software, which also counts what is wrong
 * with a broken one. Nothing is staged twice: what was staged before a chunk broke was decoded
 * before it.
 */
static bool finish_chunk(struct nvdec_worker *s, int i, struct err *e)
{
    struct waiting w = s->waiting[i];
    struct chunk *chunk = w.chunk;
    /* The order is kept: the last one is the one being fed. */
    memmove(&s->waiting[i], &s->waiting[i + 1], (size_t)(--s->waitings - i) * sizeof *s->waiting);
    bool ok = true;
    if (w.order.wrong && !w.broken)
        decode_pass_contradict(s->pass);
    if ((w.broken || !chunk_is_complete(chunk)) && !decode_pass_stopped(s->pass)) {
        s->counts.redone_chunks++;
        if (!s->software)
            s->software = decode_worker_new(s->pass, e);
        ok = s->software && decode_worker_decode(s->software, chunk, e);
    }
    chunk_free(&chunk);
    return ok;
}

/* Finishes the chunks that are whole, and those of which nothing more will come; `all`: every one.
 */
static bool finish_chunks(struct nvdec_worker *s, bool all, struct err *e)
{
    for (int i = s->waitings - 1; i >= 0; i--) {
        bool over = all || (chunk_is_complete(s->waiting[i].chunk) && !s->waiting[i].broken) ||
                    s->waiting[i].sent_after > PATIENCE;
        if (over && !finish_chunk(s, i, e))
            return false;
    }
    return true;
}

/* Takes everything out of the decoder, which is empty then, and finishes its chunks. */
static bool drain(struct nvdec_worker *s, struct err *e)
{
    bool ok = true;
    if (s->used) {
        avcodec_send_packet(s->decoder, NULL);
        ok = receive(s, e);
    }
    return finish_chunks(s, true, e) && ok;
}

/* The film's first packet, until one went in. */
static bool refresh(struct nvdec_worker *s, struct err *e)
{
    if (s->fed || nvdec_pool_refresh(s->kept, s->packet, e))
        return true;
    av_packet_unref(s->packet);
    return false;
}

/* What avcodec_send_packet gives for s->packet, which is empty then. */
static int send_packet(struct nvdec_worker *s)
{
    int code = avcodec_send_packet(s->decoder, s->packet);
    av_packet_unref(s->packet);
    return code;
}

/*
 * Sends the idr splice before `next`, the key of a chunk; NULL: nothing in particular follows.
 * *sent: it went in, and the decoder knows nothing of what came before, though pictures of that may
 * still come out. Else the decoder is as it was, or complained, and has to be flushed. What broke a
 * chunk may have left more in a decoder than an IDR picture clears away.
 */
static bool separate(struct nvdec_worker *s, const struct picture *next, bool *sent, struct err *e)
{
    *sent = false;
    if (s->pass->traits.stream != STREAM_H264 ||
        (s->waitings > 0 && s->waiting[s->waitings - 1].broken))
        return true;
    idr_splice_fetch(s->pass, &s->idr_splice);
    if (!idr_splice_fits(&s->idr_splice, s->sets, next ? next->sets : s->sets) ||
        !idr_splice_packet(&s->idr_splice, next, s->packet))
        return true;
    if (!refresh(s, e))
        return false;
    int code = send_packet(s);
    bool complained = damage_found(&s->watch, code);
    *sent = !(corruption_has_substitutes(&s->watch) || complained);
    s->fed |= *sent;
    if (!*sent)
        idr_splice_refuse(s->pass, &s->idr_splice);
    s->counts.idr_splices += *sent;
    return receive(s, e);
}

/*
 * As drain, but the decoder lives on: it holds separators alone, and what is fed next may begin
 * with an IDR picture of any film, or follow another idr splice. False in *lives: it could not be
 * done, and everything is still to come out.
 */
static bool separate_out(struct nvdec_worker *s, bool *lives, struct err *e)
{
    assert(s->decoder);
    /* As many pictures as the decoder delays push the last one out, one more because the delay may
     * have just grown. */
    int times = s->decoder->has_b_frames + 1;
    bool ok = true;
    *lives = true;
    for (int i = 0; i < times && ok && *lives && s->used; i++)
        ok = separate(s, NULL, lives, e);
    if (!*lives || !ok)
        return ok;
    return finish_chunks(s, true, e);
}

/*
 * True if NVDEC's output from here on may differ from software's. NVDEC says nothing of damage
 * inside slices: only the bytes can tell of it. Where references are missing, libavcodec lends
 * surfaces that hold no picture. `key`: the chunk's first, when `p` is of its GOP. It and what
 * leads it (hidden, where a film begins with it) are free to name references that this decoder
 * never saw. A CRA's are lent in silence: libavcodec does not tell when a RADL picture, which must
 * not, refers to them. (A film whose every CRA has RADL pictures is decoded twice. No encoder that
 * we know of makes one.)
 */
static bool untrusted(struct nvdec_worker *s, const struct picture *key, const struct picture *p,
                      int code)
{
    bool damaged = damage_found(&s->watch, code) && !p->empty;
    bool substitutes =
        corruption_has_substitutes(&s->watch) && !(key && (p == key || p->leading || p->hidden));
    return damaged || substitutes || nvdec_gives_up(key, p) ||
           nal_has_illegal_zeros(s->pass->traits.stream, s->length_size, p->packet->data,
                                 (size_t)p->packet->size);
}

static bool send_picture(struct nvdec_worker *s, const struct picture *key, const struct picture *p,
                         struct err *e)
{
    if (!decoder_packet(s->packet, p, e) || !refresh(s, e))
        return false;
    s->packet->pts += s->base;
    s->fed = true;
    if (untrusted(s, key, p, send_packet(s)) || nvdec_is_resized(s->decoder))
        broke(s);
    s->used = true;
    s->sets = p->sets;
    s->counts.sent++;
    for (int i = 0; i < s->waitings - 1; i++)
        s->waiting[i].sent_after++;
    return receive(s, e);
}

/* True if the chunk may be fed right after the last one. */
static bool follows_on(const struct nvdec_worker *s, const struct chunk *chunk)
{
    if (!s->used || !s->pass->traits.flush)
        return true;
    return s->pass->traits.stream == STREAM_H264 && chunk->picture[0].rap == RAP_CLOSED;
}

/* Makes the decoder ready for a chunk that knows nothing of the last one. */
static bool part(struct nvdec_worker *s, const struct chunk *chunk, struct err *e)
{
    bool full = s->waitings == WAITING_MAX, parted = !full && follows_on(s, chunk);
    if (parted)
        return true;
    if (!full && !separate(s, chunk->picture, &parted, e))
        return false;
    if (parted)
        return true;
    if (!drain(s, e))
        return false;
    avcodec_flush_buffers(s->decoder);
    corruption_reset(&s->watch);
    s->used = false;
    s->counts.flushes++;
    return true;
}

/*
 * No other chunk comes. *lives: another film may have the decoder. Not H.264's of a film that is
 * alone: to separate costs it time. Not one of H.264 in Annex B: newer versions of libavcodec
 * replace parameter sets by nvdec_pool_refresh's only where they came in that way.
 */
static bool end(struct nvdec_worker *s, bool *lives, struct err *e)
{
    bool h264 = s->pass->traits.stream == STREAM_H264, ok = true;
    *lives = false;
    if (h264 && s->length_size > 0 && nvdec_pool_hands_on(s->pass->job->decoders))
        ok = separate_out(s, lives, e);
    if (*lives)
        return ok;
    ok = drain(s, e) && ok;
    if (!h264 && s->used)
        avcodec_flush_buffers(s->decoder);
    *lives = !h264;
    return ok;
}

static bool decode_chunk(struct nvdec_worker *s, struct chunk *chunk, struct err *e)
{
    const struct codec_traits *traits = &s->pass->traits;
    assert(s->decoder);
    if (!part(s, chunk, e)) {
        chunk_free(&chunk);
        return false;
    }
    chunk_plan(chunk, traits, chunk->unsure);
    decoder_fit_delay(s->decoder, traits, chunk);
    s->waiting[s->waitings++] = (struct waiting){.chunk = chunk};
    bool ok = true;
    const struct picture *key = chunk->picture;
    for (size_t i = 0; i < chunk->count && ok; i++) {
        if (decode_pass_stopped(s->pass) || nvdec_is_resized(s->decoder))
            break;
        const struct picture *p = &chunk->picture[i];
        key = i == 0 || p->rap == RAP_NONE ? key : NULL;
        if (p->lost || p->suspect || (p->after_gap && i > 0)) /* left to software */
            broke(s);
        if (p->action != ACTION_SKIP && !p->lost)
            ok = send_picture(s, key, p, e);
    }
    return ok && finish_chunks(s, nvdec_is_resized(s->decoder), e);
}

/* Closes the NVDEC decoder; what this worker takes from here on is decoded in software. */
static void leave_nvdec(struct nvdec_worker *s, const char *why)
{
    log_msg(LOG_VERBOSE, "%s: decoding in software instead", why);
    close_all(s, false);
    nvdec_pool_leave(s->pass->job->decoders, s->nvdec);
    s->counts.fallbacks = 1;
    scheduler_leave_device(s->pass);
}

/* NVDEC refuses this worker: decodes its chunk in software, and all that it would have taken. */
static void *fall_back(struct nvdec_worker *s, struct chunk *chunk, struct err *e)
{
    struct decode_pass *pass = s->pass;
    struct taken_chunk taken = scheduler_taken(chunk);
    leave_nvdec(s, e->text);
    err_clear(e);
    s->software = decode_worker_new(pass, e);
    bool ok = s->software && decode_worker_decode(s->software, chunk, e);
    decode_worker_free(&s->software);
    scheduler_chunk_done(pass, &taken);
    chunk_free(&chunk);
    decode_pass_add_counts(pass, &s->counts);
    if (!ok)
        decode_pass_fail(pass, e);
    return decode_worker_main(pass);
}

void *nvdec_worker_main(void *pass)
{
    struct decode_pass *shared = pass;
    struct nvdec_worker s = {.pass = shared};
    struct decoders *decoders = shared->job->decoders;
    struct err e = ERR_INIT;
    struct chunk *chunk;
    bool ok = true, lives = false;
    s.nvdec = shared->device.state;
    if (!nvdec_pool_enter(decoders, s.nvdec, shared)) {
        /* There may be nobody else to take runs, for which the reader waits. */
        if (interrupted() && !interrupt_error(&e))
            decode_pass_fail(shared, &e);
        return NULL;
    }
    while (ok && scheduler_next_chunk(s.pass, &nvdec_backend, &chunk)) {
        /* Only now: a film of few runs needs few decoders, and making one takes time. */
        if (!s.kept && !open_all(&s, &e))
            return fall_back(&s, chunk, &e);
        struct taken_chunk taken = scheduler_taken(chunk);
        ok = decode_chunk(&s, chunk, &e);
        scheduler_chunk_done(s.pass, &taken);
        if (ok && nvdec_is_resized(s.decoder)) {
            leave_nvdec(&s, "the size of the frames changes");
            decode_pass_add_counts(s.pass, &s.counts);
            return decode_worker_main(pass);
        }
    }
    if (!ok)
        decode_pass_fail(s.pass, &e);
    if (s.kept && !end(&s, &lives, &e))
        decode_pass_fail(s.pass, &e);
    s.counts.fallbacks = s.fell_back;
    decode_pass_add_counts(s.pass, &s.counts);
    close_all(&s, lives && ok && e.code == ERR_NONE && (!s.fell_back || nvdec_stands_in()));
    nvdec_pool_leave(decoders, s.nvdec);
    decode_pass_thread_ends(pass, &nvdec_backend, s.counts.sent);
    return NULL;
}
