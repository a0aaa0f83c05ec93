/*
 * nvdec_worker.c - a thread with one NVDEC decoder, which takes chunks from the queue.
 *
 * Flushing an H.264 context destroys its NVDEC decoder, and creating another takes 0.2 s. So a
 * chunk that begins with an IDR picture is sent directly after the chunk before it. The decoder
 * outputs the last frames of that chunk while it receives the new one. So several chunks may be
 * pending, and the serial of a frame identifies its chunk. Before a chunk that begins with another
 * key, the worker sends an IDR picture that belongs to neither (idr_splice.c). If no such picture
 * fits, the decoder is drained and flushed.
 *
 * A chunk of which NVDEC does not return all selected frames is decoded again in software.
 *
 * A chunk leaves the byte budget once it is sent, though its packets are kept until its frames are
 * there (about one chunk a worker). Otherwise the reader could not read the next chunk, for which
 * an idle worker waits.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "nvdec.h"
#include "media/ffmpeg/libav.h"
#include "base/interrupt.h"
#include "base/log.h"

enum {
    PENDING_MAX = 64,      /* incomplete chunks: as many frames as a decoder may delay */
    PACKETS_AFTER_MAX = 48 /* packets sent after a chunk before it counts as broken */
};

struct pending_chunk {
    struct chunk *chunk;
    unsigned sent_after; /* packets sent after its last one */
    struct chunk_order order;
    /* frames output from now on are not used: a packet was refused or is untrusted */
    bool broken;
};

struct nvdec_worker {
    struct decode_pass *pass;
    struct nvdec_decoder *pooled; /* holds `decoder`; NULL until the first chunk */
    struct nvdec *nvdec;          /* the GPU */
    AVCodecContext *decoder;
    int64_t base; /* nvdec_pool_base */
    struct corruption_watch watch;
    int length_size; /* as packet_scan.h has it */
    AVPacket *packet;
    AVFrame *frame, *host, *planes; /* planes: view_of_frame's */
    struct engine_port *port;
    struct decode_worker *software; /* NULL until a chunk must be decoded again */
    struct pending_chunk pending[PENDING_MAX];
    int pending_count;
    struct idr_splice idr_splice;
    uint64_t sets;  /* of the packet that was sent last (struct picture's) */
    bool used;      /* packets were sent since the decoder was opened or flushed */
    bool sent_any;  /* this film's packets were sent */
    bool fell_back; /* libavcodec returned a frame in software */
    struct decode_counts counts;
};

static bool open_nvdec_worker(struct nvdec_worker *s, struct err *e)
{
    struct decode_pass *pass = s->pass;
    s->packet = av_packet_alloc();
    s->frame = av_frame_alloc();
    s->host = av_frame_alloc();
    if (!s->packet || !s->frame || !s->host)
        return err_set(e, ERR_MEMORY, "out of memory for a decoder");
    s->port = engine_port_open(pass->job->engine, e);
    if (!s->port)
        return false;
    s->pooled = nvdec_pool_take(pass->job->decoders, s->nvdec, pass->stream, e);
    if (!s->pooled)
        return false;
    s->decoder = s->pooled->context;
    s->base = nvdec_pool_base(s->pooled);
    s->used = s->pooled->films > 0;
    s->counts.reused += s->used;
    const AVCodecParameters *par = pass->stream->codecpar;
    struct nal_sets sets = {0};
    if (pass->traits.stream == STREAM_H264)
        nal_sets_scan_extradata(par->extradata, (size_t)par->extradata_size, &sets);
    s->sets = sets.state; /* nvdec_pool_refresh passes them to the decoder */
    s->length_size =
        nal_length_size(pass->traits.stream, par->extradata, (size_t)par->extradata_size);
    corruption_watch_messages(&s->watch, s->decoder);
    nvdec_expect_size(&s->watch, par);
    return true;
}

/* Frees what the worker holds. `reusable`: the decoder is empty, and another film may have it. */
static void close_nvdec_worker(struct nvdec_worker *s, bool reusable)
{
    nvdec_pool_give(s->pass->job->decoders, s->nvdec, &s->pooled, reusable);
    while (s->pending_count > 0)
        chunk_free(&s->pending[--s->pending_count].chunk);
    engine_port_close(&s->port);
    decode_worker_free(&s->software);
    av_frame_free(&s->frame);
    av_frame_free(&s->host);
    av_frame_free(&s->planes);
    av_packet_free(&s->packet);
    av_packet_free(&s->idr_splice.packet);
}

/* ------------------------------------------------------------------ frames out */

/* Marks the chunk that was sent last: an error came with its packet. */
static void mark_broken(struct nvdec_worker *s)
{
    if (s->pending_count > 0)
        s->pending[s->pending_count - 1].broken = true;
}

/*
 * Returns the chunk of the frame that the decoder output, or NULL if the frame has no chunk or a
 * broken one. A frame that libavcodec flags as damaged breaks its chunk: each decoder conceals
 * damage in its own way, because it chooses the substituted references.
 */
static struct pending_chunk *find_pending_chunk(struct nvdec_worker *s, int64_t serial)
{
    bool damaged = corruption_is_flagged(s->frame);
    for (int i = s->pending_count - 1; i >= 0; i--) {
        struct chunk *chunk = s->pending[i].chunk;
        assert(chunk && chunk->picture);
        uint64_t index = (uint64_t)serial - chunk->picture[0].serial;
        /* The next key's leading pictures are in two chunks. Only one of the two was sent here, and
         * only one selects them. */
        if (index < chunk->count && chunk->picture[index].action != ACTION_SKIP) {
            chunk_order_check(&s->pending[i].order, &s->pass->traits, &chunk->picture[index]);
            s->pending[i].broken |= damaged;
            return s->pending[i].broken ? NULL : &s->pending[i];
        }
    }
    return NULL;
}

static bool view_nvdec_frame(struct nvdec_worker *s, struct frame_view *view, struct err *e)
{
    const struct film *film = s->pass->film;
    if (!nvdec_is_device_frame(s->frame)) {
        s->fell_back = true;
        return view_of_frame(s->frame, film, &s->planes, view, e);
    }
    if (nvdec_shares(s->nvdec))
        return nvdec_view(s->decoder, s->frame, s->frame, film, view, e);
    return nvdec_download(s->frame, s->host, e) &&
           nvdec_view(s->decoder, s->frame, s->host, film, view, e);
}

static bool put_nvdec_frame(struct nvdec_worker *s, struct picture *p, struct err *e)
{
    struct frame_view view;
    if (!view_nvdec_frame(s, &view, e))
        return false;
    decode_pass_log_colour(s->pass, &view);
    p->done = true;
    return engine_put(s->port, &view, &p->tag, e);
}

static bool handle_frame(struct nvdec_worker *s, struct err *e)
{
    struct pending_chunk *w = find_pending_chunk(s, s->frame->pts);
    if (!w)
        return true;
    struct picture *p = &w->chunk->picture[(uint64_t)s->frame->pts - w->chunk->picture[0].serial];
    return !p->selected || p->done || put_nvdec_frame(s, p, e);
}

/* Handles every frame that is ready. */
static bool receive_nvdec_frames(struct nvdec_worker *s, struct err *e)
{
    for (int refused = 0; refused < RECEIVE_ERRORS_MAX;) {
        int code = avcodec_receive_frame(s->decoder, s->frame);
        if (code == AVERROR(EAGAIN) || code == AVERROR_EOF)
            return true;
        if (code < 0) {
            mark_broken(s);
            refused++;
            continue;
        }
        if (s->frame->pts < s->base) { /* of another film */
            av_frame_unref(s->frame);
            continue;
        }
        s->frame->pts -= s->base;
        s->counts.decoded++;
        s->counts.hardware += nvdec_is_device_frame(s->frame);
        if (nvdec_is_resized(s->decoder))
            mark_broken(s);
        nvdec_fix_chroma(s->frame);
        bool ok = handle_frame(s, e);
        av_frame_unref(s->frame);
        if (!ok)
            return false;
    }
    return true;
}

/* ------------------------------------------------------------------ chunks */

/*
 * Removes s->pending[i]. The missing frames of the chunk are decoded in software, which also counts
 * the damage of a broken chunk. No frame is analysed twice: NVDEC decoded the frames that are done
 * before the chunk broke.
 */
static bool finish_chunk(struct nvdec_worker *s, int i, struct err *e)
{
    struct pending_chunk w = s->pending[i];
    struct chunk *chunk = w.chunk;
    /* The order is kept: the last one is the one being sent. */
    memmove(&s->pending[i], &s->pending[i + 1],
            (size_t)(--s->pending_count - i) * sizeof *s->pending);
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

/* Finishes the chunks that are complete or can no longer become so; `all`: every chunk. */
static bool finish_chunks(struct nvdec_worker *s, bool all, struct err *e)
{
    for (int i = s->pending_count - 1; i >= 0; i--) {
        bool over = all || (chunk_is_complete(s->pending[i].chunk) && !s->pending[i].broken) ||
                    s->pending[i].sent_after > PACKETS_AFTER_MAX;
        if (over && !finish_chunk(s, i, e))
            return false;
    }
    return true;
}

/* Drains the decoder, and finishes all chunks. */
static bool drain_nvdec(struct nvdec_worker *s, struct err *e)
{
    bool ok = true;
    if (s->used) {
        avcodec_send_packet(s->decoder, NULL);
        ok = receive_nvdec_frames(s, e);
    }
    return finish_chunks(s, true, e) && ok;
}

/* Adds the parameter sets to s->packet until a first packet of this film was sent. */
static bool refresh_parameter_sets(struct nvdec_worker *s, struct err *e)
{
    return s->sent_any || nvdec_pool_refresh(s->pooled, s->packet, e);
}

/* Sends s->packet and unrefs it. Returns the code of avcodec_send_packet. */
static int send_packet(struct nvdec_worker *s)
{
    int code = avcodec_send_packet(s->decoder, s->packet);
    av_packet_unref(s->packet);
    return code;
}

/*
 * Sends the spliced IDR before `next`, the key of a chunk, or NULL if no picture follows. Sets
 * *sent if the decoder accepted it: the decoder then refers to nothing that came before, though it
 * may still output earlier frames. Otherwise the decoder is unchanged or reported an error, and has
 * to be flushed. Does nothing after a broken chunk, of which more may be left in the decoder than
 * an IDR picture removes.
 */
static bool send_idr_splice(struct nvdec_worker *s, const struct picture *next, bool *sent,
                            struct err *e)
{
    *sent = false;
    if (s->pass->traits.stream != STREAM_H264 ||
        (s->pending_count > 0 && s->pending[s->pending_count - 1].broken))
        return true;
    idr_splice_fetch(s->pass, &s->idr_splice);
    if (!idr_splice_fits(&s->idr_splice, s->sets, next ? next->sets : s->sets) ||
        !idr_splice_packet(&s->idr_splice, next, s->packet))
        return true;
    if (!refresh_parameter_sets(s, e))
        return false;
    int code = send_packet(s);
    bool complained = damage_found(&s->watch, code);
    *sent = !(corruption_has_substitutes(&s->watch) || complained);
    s->sent_any |= *sent;
    if (!*sent)
        idr_splice_refuse(s->pass, &s->idr_splice);
    s->counts.idr_splices += *sent;
    return receive_nvdec_frames(s, e);
}

/*
 * Empties the decoder as drain_nvdec does, but with spliced IDRs, so that the decoder stays open.
 * An IDR picture of any film, or another spliced IDR, may follow. Clears *reusable if that is not
 * possible, and the frames still have to be drained.
 */
static bool push_frames_out(struct nvdec_worker *s, bool *reusable, struct err *e)
{
    assert(s->decoder);
    /* The delay may have just grown by one. */
    int times = s->decoder->has_b_frames + 1;
    bool ok = true;
    *reusable = true;
    for (int i = 0; i < times && ok && *reusable && s->used; i++)
        ok = send_idr_splice(s, NULL, reusable, e);
    return *reusable && ok ? finish_chunks(s, true, e) : ok;
}

/*
 * Returns true for a picture from which on a worker leaves its chunk to software: a RADL picture of
 * the chunk's first GOP, whose CRA is `key` (NULL: `p` is of a later GOP). Its references may be
 * surfaces without a frame, and libavcodec does not report that (is_untrusted).
 */
static bool gives_up(const struct picture *key, const struct picture *p)
{
    return key && !key->closed && p->marked_leading && !p->needs_before;
}

/*
 * Returns true if NVDEC's frames from here on may differ from the software decoder's. Either the
 * decoder reported damage, or the bytes contain it, because NVDEC does not report damage inside
 * slices. Or a reference is missing, for which libavcodec substitutes a surface without a picture.
 * `key` is the chunk's first picture if `p` is of its GOP, else NULL. The key and its leading
 * pictures (hidden at the start of a film) may name references that this decoder never got.
 * libavcodec does not report the references that it substitutes after a CRA: gives_up checks
 * RADL pictures. So a film with RADL pictures after every CRA is decoded twice.
 */
static bool is_untrusted(struct nvdec_worker *s, const struct picture *key, const struct picture *p,
                         int code)
{
    bool damaged = damage_found(&s->watch, code) && !p->empty;
    bool substitutes =
        corruption_has_substitutes(&s->watch) && !(key && (p == key || p->leading || p->hidden));
    return damaged || substitutes || gives_up(key, p) || p->illegal_zeros;
}

static bool send_nvdec_picture(struct nvdec_worker *s, const struct picture *key,
                               const struct picture *p, struct err *e)
{
    if (!decoder_packet(s->packet, p, e) || !refresh_parameter_sets(s, e))
        return false;
    s->packet->pts += s->base;
    s->sent_any = true;
    if (is_untrusted(s, key, p, send_packet(s)) || nvdec_is_resized(s->decoder))
        mark_broken(s);
    s->used = true;
    s->sets = p->sets;
    s->counts.sent++;
    for (int i = 0; i < s->pending_count - 1; i++)
        s->pending[i].sent_after++;
    return receive_nvdec_frames(s, e);
}

/* Returns true if the chunk may be sent right after the chunk before it. */
static bool may_follow_directly(const struct nvdec_worker *s, const struct chunk *chunk)
{
    if (!s->used || !s->pass->traits.flush)
        return true;
    return s->pass->traits.stream == STREAM_H264 && chunk->picture[0].rap == RAP_CLOSED;
}

/* Makes the decoder ready for a chunk that refers to no earlier one. */
static bool prepare_decoder(struct nvdec_worker *s, const struct chunk *chunk, struct err *e)
{
    bool full = s->pending_count == PENDING_MAX, ready = !full && may_follow_directly(s, chunk);
    if (!full && !ready && !send_idr_splice(s, chunk->picture, &ready, e))
        return false;
    if (ready)
        return true;
    if (!drain_nvdec(s, e))
        return false;
    avcodec_flush_buffers(s->decoder);
    corruption_reset(&s->watch);
    s->used = false;
    s->counts.flushes++;
    return true;
}

/*
 * Empties the decoder after the last chunk. Sets *reusable if another film may have it. An H.264
 * decoder is reusable only if there are other films, because splicing costs time, and never of
 * Annex B: newer versions of libavcodec keep its parameter sets in spite of nvdec_pool_refresh.
 */
static bool empty_decoder(struct nvdec_worker *s, bool *reusable, struct err *e)
{
    bool h264 = s->pass->traits.stream == STREAM_H264, ok = true;
    *reusable = false;
    if (h264 && s->length_size > 0 && nvdec_pool_is_shared(s->pass->job->decoders))
        ok = push_frames_out(s, reusable, e);
    if (*reusable)
        return ok;
    ok = drain_nvdec(s, e) && ok;
    if (!h264 && s->used)
        avcodec_flush_buffers(s->decoder);
    *reusable = !h264;
    return ok;
}

static bool decode_chunk(struct nvdec_worker *s, struct chunk *chunk, struct err *e)
{
    const struct codec_traits *traits = &s->pass->traits;
    assert(s->decoder);
    if (!prepare_decoder(s, chunk, e)) {
        chunk_free(&chunk);
        return false;
    }
    chunk_plan(chunk, traits, chunk->unsure);
    decoder_fit_delay(s->decoder, traits, chunk);
    s->pending[s->pending_count++] = (struct pending_chunk){.chunk = chunk};
    bool ok = true;
    const struct picture *key = chunk->picture;
    for (size_t i = 0; i < chunk->count && ok; i++) {
        if (decode_pass_stopped(s->pass) || nvdec_is_resized(s->decoder))
            break;
        const struct picture *p = &chunk->picture[i];
        key = i == 0 || p->rap == RAP_NONE ? key : NULL;
        if (p->lost || p->suspect || (p->after_gap && i > 0)) /* left to software */
            mark_broken(s);
        if (p->action != ACTION_SKIP && !p->lost)
            ok = send_nvdec_picture(s, key, p, e);
    }
    return ok && finish_chunks(s, nvdec_is_resized(s->decoder), e);
}

/* Closes the NVDEC decoder: this worker decodes in software from here on. */
static void leave_nvdec(struct nvdec_worker *s, const char *why)
{
    log_msg(LOG_VERBOSE, "%s: decoding in software instead", why);
    close_nvdec_worker(s, false);
    nvdec_pool_leave(s->pass->job->decoders, s->nvdec);
    s->counts.fallbacks = 1;
    decode_pass_add_counts(s->pass, &s->counts);
    scheduler_leave_device(s->pass);
}

/* Decodes `chunk` and all that follow in software: this worker has no NVDEC. */
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
    if (!ok)
        decode_pass_fail(pass, e);
    return decode_worker_main(pass);
}

/* Implements worker_main (struct decoder_backend). */
static void *nvdec_worker_main(void *pass)
{
    struct decode_pass *shared = pass;
    struct nvdec_worker s = {.pass = shared, .nvdec = shared->device.state};
    struct decoders *decoders = shared->job->decoders;
    struct err e = ERR_INIT;
    struct chunk *chunk;
    bool ok = true, reusable = false;
    if (!nvdec_pool_enter(decoders, s.nvdec, shared)) {
        /* This may be the only worker, and the reader waits until chunks are taken. */
        if (interrupted() && !interrupt_error(&e))
            decode_pass_fail(shared, &e);
        return NULL;
    }
    while (ok && scheduler_next_chunk(s.pass, &nvdec_backend, &chunk)) {
        /* Opening one takes time, and a film of few chunks needs few decoders. */
        if (!s.pooled && !open_nvdec_worker(&s, &e))
            return fall_back(&s, chunk, &e);
        struct taken_chunk taken = scheduler_taken(chunk);
        ok = decode_chunk(&s, chunk, &e);
        scheduler_chunk_done(s.pass, &taken);
        if (ok && nvdec_is_resized(s.decoder)) {
            leave_nvdec(&s, "the size of the frames changes");
            return decode_worker_main(pass);
        }
    }
    if (!ok)
        decode_pass_fail(s.pass, &e);
    if (s.pooled && !empty_decoder(&s, &reusable, &e))
        decode_pass_fail(s.pass, &e);
    s.counts.fallbacks = s.fell_back;
    decode_pass_add_counts(s.pass, &s.counts);
    close_nvdec_worker(&s, reusable && ok && e.code == ERR_NONE &&
                               (!s.fell_back || nvdec_is_emulated()));
    nvdec_pool_leave(decoders, s.nvdec);
    decode_pass_thread_ends(pass, &nvdec_backend, s.counts.sent);
    return NULL;
}

/* ------------------------------------------------------------------ the backend */

static bool is_nvdec_eligible(const struct decode_job *job, const AVStream *stream)
{
    return nvdec_is_exact(stream->codecpar->codec_id) &&
           (engine_device(job->engine).context || nvdec_is_emulated());
}

static bool open_nvdec_device(struct decoder_device *d, const struct decode_job *job,
                              const AVStream *stream, struct err *e)
{
    struct nvdec *nvdec = calloc(1, sizeof *nvdec);
    if (!nvdec)
        return err_memory(e, sizeof *nvdec);
    if (!nvdec_open(nvdec, engine_device(job->engine), job->decoders, stream, e)) {
        free(nvdec);
        return false;
    }
    *d = (struct decoder_device){
        .state = nvdec, .workers = nvdec_workers(nvdec), .emulated = nvdec_is_emulated()};
    return true;
}

static void close_nvdec_device(struct decoder_device *d)
{
    nvdec_close(d->state);
    free(d->state);
    d->state = NULL;
}

const struct decoder_backend nvdec_backend = {
    .name = "NVDEC",
    .word = "nvdec",
    .choice = DECODE_NVDEC,
    .place = ON_DEVICE,
    .worker_main = nvdec_worker_main,
    .flush_is_slow = true,
    .alone = 1u << STREAM_HEVC,
    .is_eligible = is_nvdec_eligible,
    .open = open_nvdec_device,
    .close = close_nvdec_device,
};
