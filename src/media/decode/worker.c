/*
 * worker.c - a thread that takes chunks from the queue and decodes them in software.
 *
 * A decoder is single-threaded, unless fewer chunks are left than there are cores (scheduler.c).
 * It is drained and flushed after each chunk. So which worker decodes which chunk, and in what
 * order, cannot change a pixel. A picture's serial travels through the decoder in `pts`.
 *
 * If a decoder reports an error, the chunk is decoded again by a fresh single-threaded decoder,
 * which finds out where the damage is (corruption_spreads). Frames that were analysed before the
 * error stay: they were decoded before the damage. What damaged frames look like depends on what
 * the decoder's memory held.
 *
 * A decoder with frame threads returns the same frames of an intact chunk. It reports an error
 * earlier or later than the frame that has it, so no frame is analysed after its first error.
 */
#include "decoder.h"

#include <assert.h>
#include <stdlib.h>

#include "media/ffmpeg/libav.h"
#include "media/ffmpeg/packet.h"
#include "base/log.h"

/* A decoder and its corruption watch. */
struct watched {
    AVCodecContext *context; /* NULL: not open */
    struct corruption_watch watch;
    int threads;
};

struct decode_worker {
    struct decode_pass *pass;
    struct watched single, threaded;
    struct watched *current; /* the chunk's: one of these, or decode_again's */
    AVPacket *packet;
    AVFrame *frame, *planes; /* planes: view_of_frame's */
    struct engine_port *port;
    bool corrupt;             /* the chunk is damaged */
    bool redoing;             /* the chunk is damaged and decoded again */
    struct chunk_order order; /* the order in which its frames are output */
    struct decode_counts counts;
};

static void close_watched(struct watched *w)
{
    avcodec_free_context(&w->context);
    w->watch = (struct corruption_watch){0};
}

/* Opens a decoder with `threads` threads, unless it is open. */
static bool open_watched(struct decode_worker *s, struct watched *w, int threads, struct err *e)
{
    if (w->context && w->threads == threads)
        return true;
    close_watched(w);
    w->threads = threads;
    w->context = decoder_open(s->pass->stream, s->pass->film->path, threads, e);
    if (w->context)
        corruption_watch_open(&w->watch, w->context);
    return w->context != NULL;
}

static bool open_worker(struct decode_worker *s, struct err *e)
{
    s->packet = av_packet_alloc();
    s->frame = av_frame_alloc();
    if (!s->packet || !s->frame)
        return err_set(e, ERR_MEMORY, "out of memory for a decoder");
    s->current = &s->single;
    if (!open_watched(s, &s->single, 1, e))
        return false;
    s->port = engine_port_open(s->pass->job->engine, e);
    return s->port != NULL;
}

static bool put_software_frame(struct decode_worker *s, struct picture *p, struct err *e)
{
    struct frame_view view;
    if (!view_of_frame(s->frame, s->pass->film, &s->planes, &view, e))
        return false;
    decode_pass_log_colour(s->pass, &view);
    p->tag.damaged |= corruption_is_flagged(s->frame);
    s->counts.damaged += p->tag.damaged;
    p->done = true;
    return engine_put(s->port, &view, &p->tag, e);
}

static bool is_given_up(const struct decode_worker *s) { return s->corrupt && !s->redoing; }

/* Returns the picture of the frame that was output, or NULL if it is not to be analysed. */
static struct picture *find_selected(struct decode_worker *s, struct chunk *chunk)
{
    uint64_t index = (uint64_t)s->frame->pts - chunk->picture[0].serial;
    struct picture *p = index < chunk->count ? &chunk->picture[index] : NULL;
    if (!p || is_given_up(s))
        return NULL;
    if (p->second && index > 0) /* the second field of a key frame alone */
        p--;
    chunk_order_check(&s->order, &s->pass->traits, p);
    if (!p->selected || p->done)
        return NULL;
    s->corrupt |= corruption_concealed(s->frame);
    if (s->current->threads > 1)
        s->corrupt |= corruption_reported(&s->current->watch);
    return is_given_up(s) ? NULL : p;
}

/* Handles every frame that is ready. */
static bool receive_frames(struct decode_worker *s, struct chunk *chunk, struct err *e)
{
    for (int errors = 0;;) {
        int code = decoder_receive(s->current->context, s->frame);
        if (code == AVERROR(EAGAIN) || code == AVERROR_EOF)
            return true;
        if (code == AVERROR(ENOMEM))
            return av_out_of_memory(s->pass->film->path, e);
        if (code < 0) {
            s->counts.decode_errors++;
            s->corrupt = true;
            corruption_is_everywhere(&s->current->watch);
            if (++errors == RECEIVE_ERRORS_MAX)
                return true;
            continue;
        }
        s->counts.decoded++;
        struct picture *p = find_selected(s, chunk);
        bool ok = !p || put_software_frame(s, p, e);
        av_frame_unref(s->frame);
        if (!ok)
            return false;
    }
}

static bool send_coded_picture(struct decode_worker *s, struct chunk *chunk, struct picture *p,
                               struct err *e)
{
    if (!decoder_packet(s->packet, p, e))
        return false;
    int code = decoder_send(s->current->context, s->packet);
    av_packet_unref(s->packet);
    if (code == AVERROR(ENOMEM))
        return av_out_of_memory(s->pass->film->path, e);
    bool corrupt = (damage_found(&s->current->watch, code) && !p->empty) || p->suspect;
    s->counts.decode_errors += corrupt;
    s->corrupt |= corrupt;
    p->tag.damaged |= corruption_spreads(&s->current->watch, p, corrupt);
    s->counts.sent++;
    return receive_frames(s, chunk, e);
}

static bool drain_decoder(struct decode_worker *s, struct chunk *chunk, struct err *e)
{
    bool ok;
    if (decoder_send(s->current->context, NULL) == AVERROR(ENOMEM))
        ok = av_out_of_memory(s->pass->film->path, e);
    else
        ok = receive_frames(s, chunk, e);
    avcodec_flush_buffers(s->current->context);
    return ok;
}

/* Pictures that may refer to missing ones before `p` are damaged. An intact key refers to none. */
static void mark_missing(struct decode_worker *s, const struct chunk *chunk,
                         const struct picture *p)
{
    bool begins = p == chunk->picture || p->rap == RAP_CLOSED;
    if (begins && !p->lost)
        return;
    s->corrupt = true;
    corruption_is_everywhere(&s->current->watch);
}

static bool decode_once(struct decode_worker *s, struct chunk *chunk, bool everything,
                        struct err *e)
{
    assert(s->current->context);
    s->order.last = 0;
    corruption_reset(&s->current->watch);
    for (size_t i = 0; i < chunk->count; i++)
        chunk->picture[i].tag.damaged &= chunk->picture[i].done;
    chunk_plan(chunk, &s->pass->traits, everything);
    decoder_fit_delay(s->current->context, &s->pass->traits, chunk);
    bool ok = true, gap = false;
    for (size_t i = 0; i < chunk->count && ok; i++) {
        struct picture *p = &chunk->picture[i];
        if (decode_pass_stopped(s->pass) || is_given_up(s))
            break;
        decode_pass_sent(s->pass, chunk, packet_size(p->packet));
        decode_pass_pictures_done(s->pass, chunk, 1);
        gap |= p->lost || p->after_gap;
        if (p->action == ACTION_SKIP)
            continue;
        if (gap)
            mark_missing(s, chunk, p);
        gap = false;
        if (!p->lost)
            ok = is_given_up(s) || send_coded_picture(s, chunk, p, e);
    }
    ok = drain_decoder(s, chunk, e) && ok;
    s->corrupt |= damage_found(&s->current->watch, 0); /* by threads that had not finished yet */
    return ok;
}

static uint64_t still_selected(const struct chunk *chunk)
{
    uint64_t n = 0;
    for (size_t i = 0; i < chunk->count; i++)
        n += chunk->picture[i].selected && !chunk->picture[i].done;
    return n;
}

/* Decodes the chunk by a fresh single-threaded decoder. Frames are analysed whatever it reports. */
static bool decode_again(struct decode_worker *s, struct chunk *chunk, struct err *e)
{
    struct watched fresh = {0};
    s->current = &fresh;
    s->redoing = true;
    bool ok = open_watched(s, &fresh, 1, e) && decode_once(s, chunk, true, e);
    close_watched(&fresh);
    s->redoing = false;
    s->current = &s->single;
    return ok;
}

/* Chooses the single-threaded decoder if one with threads is not asked for or cannot be opened. */
static void choose_decoder(struct decode_worker *s, const struct chunk *chunk)
{
    struct err why = ERR_INIT;
    bool threaded = chunk->threads > 1 && open_watched(s, &s->threaded, chunk->threads, &why);
    s->current = threaded ? &s->threaded : &s->single;
    if (chunk->threads > 1)
        log_msg(LOG_DEBUG, "a chunk of %zu pictures on %d threads%s%s", chunk->count,
                s->current->threads, threaded ? "" : ": ", why.text);
    err_forgive(&why);
}

/* Returns true for a single key frame that is damaged or missing: another one replaces it. */
static bool is_bad_key(struct decode_worker *s, const struct chunk *chunk)
{
    bool bad_key = s->corrupt || still_selected(chunk) > 0 || chunk->picture[0].tag.damaged;
    if (!s->pass->bad_keys || !bad_key || decode_pass_stopped(s->pass))
        return false;
    decode_pass_bad_key(s->pass, chunk->picture[0].serial, true);
    return true;
}

bool decode_worker_decode(struct decode_worker *s, struct chunk *chunk, struct err *e)
{
    uint64_t errors = s->counts.decode_errors, damaged = s->counts.damaged;
    s->order.wrong = s->corrupt = false;
    choose_decoder(s, chunk);
    if (!decode_once(s, chunk, chunk->unsure, e))
        return false;
    if (still_selected(chunk) > 0 && !s->corrupt && !decode_pass_stopped(s->pass)) {
        s->counts.redone_chunks++;
        if (!decode_once(s, chunk, true, e))
            return false;
    }
    if (is_bad_key(s, chunk))
        return true;
    if (s->corrupt && !decode_pass_stopped(s->pass)) {
        s->counts.redone_chunks++;
        s->counts.decode_errors = errors; /* they are found again */
        if (!decode_again(s, chunk, e))
            return false;
    }
    if (decode_pass_stopped(s->pass)) {
        if (s->order.wrong) /* the next pass must not reuse frames of this chunk */
            atomic_store(&s->pass->contradicted, true);
        return true;
    }
    uint64_t lost = still_selected(chunk);
    s->counts.lost += lost;
    /* Without damage the decoder is right, and what was predicted of the film is wrong. */
    bool predicted = !s->pass->job->selection.keyframes;
    if (predicted && (s->order.wrong || lost > 0) && !s->corrupt && s->counts.damaged == damaged)
        decode_pass_contradict(s->pass);
    return true;
}

struct decode_worker *decode_worker_new(struct decode_pass *pass, struct err *e)
{
    struct decode_worker *s = err_calloc(1, sizeof *s, e);
    if (!s)
        return NULL;
    s->pass = pass;
    if (!open_worker(s, e))
        decode_worker_free(&s);
    return s;
}

void decode_worker_free(struct decode_worker **worker)
{
    struct decode_worker *s = *worker;
    if (!s)
        return;
    decode_pass_add_counts(s->pass, &s->counts);
    engine_port_close(&s->port);
    close_watched(&s->single);
    close_watched(&s->threaded);
    av_frame_free(&s->frame);
    av_frame_free(&s->planes);
    av_packet_free(&s->packet);
    free(s);
    *worker = NULL;
}

void *decode_worker_main(void *pass)
{
    struct err e = ERR_INIT;
    struct decode_worker *s = decode_worker_new(pass, &e);
    struct chunk *chunk;
    bool ok = s != NULL;
    while (ok && scheduler_next_chunk(pass, &software_backend, &chunk)) {
        ok = decode_worker_decode(s, chunk, &e);
        struct taken_chunk taken = scheduler_taken(chunk);
        decode_pass_sent(pass, chunk, chunk->bytes);
        decode_pass_pictures_done(pass, chunk, chunk->count);
        scheduler_chunk_done(pass, &taken);
        chunk_free(&chunk);
    }
    if (!ok)
        decode_pass_fail(pass, &e);
    const uint64_t sent = s ? s->counts.sent : 0;
    decode_worker_free(&s);
    decode_pass_thread_ends(pass, &software_backend, sent);
    return NULL;
}

const struct decoder_backend software_backend = {
    .name = "software",
    .word = "cpu",
    .choice = DECODE_CPU,
    .place = ON_CORES,
    .worker_main = decode_worker_main,
    .max_threads = decoder_max_threads,
};
