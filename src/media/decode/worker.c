/*
 * worker.c - one decoder that takes runs from the queue: a single-threaded one, but where fewer runs are left than there are cores.
 *
 * Every run begins with a fresh decoder state (drained and flushed after the last one), so which session
 * decodes which run, and in what order, cannot change a pixel. A separator (idr_splice.h)
 * in place of the flush was measured: it saves nothing in software. A picture is known by its serial, which
 * travels through the decoder in `pts`.
 *
 * A run whose decoder reports an error is given up and decoded once more by a fresh single-threaded
 * decoder, which tells where the damage is (damage_spreads). What was staged of it before was
 * decoded before the damage. What damaged frames look like depends on what the decoder's memory
 * held.
 *
 * A decoder with frame threads (thread_share.h) shows the same frames of a run without damage. Its
 * complaints come earlier or later than the frames that they are of: so nothing is staged any more
 * from the first one on.
 */
#include "worker.h"

#include <assert.h>
#include <stdlib.h>

#include "corruption.h"
#include "decoder.h"
#include "media/bitstream/coded_picture.h"
#include "media/bitstream/packet_scan.h"
#include "media/ffmpeg/av_error.h"
#include "media/ffmpeg/packet.h"
#include "media/frame/frame_view.h"
#include "barcode/base/log.h"

/* A decoder, and what is noticed of it. */
struct watched {
    AVCodecContext *context;       /* NULL: not open */
    struct damage_watch watch;
    int threads;
};

struct session {
    struct staging *staging;
    struct watched usual, threaded;
    struct watched *now;           /* the one that decodes the run                              */
    AVPacket *packet;
    AVFrame *frame, *planes;       /* planes: view_of_frame's                                   */
    struct engine_port *port;
    bool corrupt;                  /* a picture of the run is                                   */
    bool again;                    /* it is, and is decoded once more                           */
    struct run_order order;        /* of what comes out of the run                              */
    struct stage_counts counts;
};

static void close_watched(struct watched *w)
{
    decoder_close(&w->context);
    w->watch = (struct damage_watch){0};
}

/* Opens a decoder on that many threads, unless it is open. */
static bool open_watched(struct session *s, struct watched *w, int threads, struct err *e)
{
    if (w->context && w->threads == threads)
        return true;
    close_watched(w);
    w->threads = threads;
    w->context = decoder_open(s->staging->stream, s->staging->film->path, threads, e);
    if (w->context)
        damage_watch_open(&w->watch, w->context);
    return w->context != NULL;
}

static bool session_open(struct session *s, struct err *e)
{
    s->packet = av_packet_alloc();
    s->frame = av_frame_alloc();
    if (!s->packet || !s->frame)
        return err_set(e, ERR_FAILED, "out of memory for a decoder");
    s->now = &s->usual;
    if (!open_watched(s, &s->usual, 1, e))
        return false;
    s->port = engine_port_open(s->staging->job->engine, e);
    return s->port != NULL;
}

static void session_close(struct session *s)
{
    engine_port_close(&s->port);
    close_watched(&s->usual);
    close_watched(&s->threaded);
    av_frame_free(&s->frame);
    av_frame_free(&s->planes);
    av_packet_free(&s->packet);
}

static bool stage_frame(struct session *s, struct picture *p, struct err *e)
{
    struct frame_view view;
    if (!view_of_frame(s->frame, s->staging->film, &s->planes, &view, e))
        return false;
    staging_note_colour(s->staging, &view);
    p->tag.damaged |= damage_flagged(s->frame);
    s->counts.damaged += p->tag.damaged;
    p->done = true;
    return engine_put(s->port, &view, &p->tag, e);
}

static bool given_up(const struct session *s)
{
    return s->corrupt && !s->again;
}

/* The picture that came out, if it is to be staged. */
static struct picture *picture_of(struct session *s, struct run *run)
{
    uint64_t index = (uint64_t)s->frame->pts - run->picture[0].serial;
    struct picture *p = index < run->count ? &run->picture[index] : NULL;
    if (!p || given_up(s))
        return NULL;
    if (p->second && index > 0)          /* of a key frame alone */
        p--;
    run_order_watch(&s->order, &s->staging->traits, p);
    if (!p->wanted || p->done)
        return NULL;
    s->corrupt |= damage_concealed(s->frame);
    if (s->now->threads > 1)
        s->corrupt |= damage_heard(&s->now->watch);
    return given_up(s) ? NULL : p;
}

/* Takes every picture that is ready. */
static bool receive(struct session *s, struct run *run, struct err *e)
{
    for (int errors = 0;;) {
        int code = decoder_receive(s->now->context, s->frame);
        if (code == AVERROR(EAGAIN) || code == AVERROR_EOF)
            return true;
        if (code == AVERROR(ENOMEM))
            return film_av_out_of_memory(s->staging->film->path, e);
        if (code < 0) {
            s->counts.decode_errors++;
            s->corrupt = true;
            damage_everywhere(&s->now->watch);
            if (++errors == RECEIVE_ERRORS_MAX)
                return true;
            continue;
        }
        s->counts.decoded++;
        struct picture *p = picture_of(s, run);
        bool fine = !p || stage_frame(s, p, e);
        av_frame_unref(s->frame);
        if (!fine)
            return false;
    }
}

static bool send_picture(struct session *s, struct run *run, struct picture *p, struct err *e)
{
    if (!decoder_packet(s->packet, p, e))
        return false;
    int code = decoder_send(s->now->context, s->packet);
    av_packet_unref(s->packet);
    if (code == AVERROR(ENOMEM))
        return film_av_out_of_memory(s->staging->film->path, e);
    bool corrupt = (damage_found(&s->now->watch, code) && !p->empty) || p->suspect;
    s->counts.decode_errors += corrupt;
    s->corrupt |= corrupt;
    p->tag.damaged |= damage_spreads(&s->now->watch, p, corrupt);
    s->counts.sent++;
    return receive(s, run, e);
}

static bool drain(struct session *s, struct run *run, struct err *e)
{
    bool fine = decoder_send(s->now->context, NULL) == AVERROR(ENOMEM)
                    ? film_av_out_of_memory(s->staging->film->path, e)
                    : receive(s, run, e);
    avcodec_flush_buffers(s->now->context);
    return fine;
}

/*
 * Pictures before `p` are missing, so pictures that may refer to them are damaged. A clean key
 * after a gap refers to none of them.
 */
static void miss(struct session *s, const struct run *run, const struct picture *p)
{
    bool begins = p == run->picture || p->cut == CUT_CLEAN;
    if (begins && !p->lost)
        return;
    s->corrupt = true;
    damage_everywhere(&s->now->watch);
}

static bool decode_once(struct session *s, struct run *run, bool everything, struct err *e)
{
    assert(s->now->context);
    s->order.last = 0;
    damage_forget(&s->now->watch);
    for (size_t i = 0; i < run->count; i++)
        run->picture[i].tag.damaged &= run->picture[i].done;
    run_plan(run, &s->staging->traits, everything);
    decoder_fit_delay(s->now->context, &s->staging->traits, run);
    bool fine = true, gap = false;
    for (size_t i = 0; i < run->count && fine; i++) {
        struct picture *p = &run->picture[i];
        if (staging_stopped(s->staging) || given_up(s))
            break;
        staging_fed(s->staging, run, packet_size(p->packet));
        staging_passed(s->staging, run, 1);
        gap |= p->lost || p->after_gap;
        if (p->action == ACTION_SKIP)
            continue;
        if (gap)
            miss(s, run, p);
        gap = false;
        if (!p->lost)
            fine = given_up(s) || send_picture(s, run, p, e);
    }
    fine = drain(s, run, e) && fine;
    s->corrupt |= damage_found(&s->now->watch, 0);   /* on threads that had not finished yet */
    return fine;
}

static uint64_t still_wanted(const struct run *run)
{
    uint64_t n = 0;
    for (size_t i = 0; i < run->count; i++)
        n += run->picture[i].wanted && !run->picture[i].done;
    return n;
}

/*
 * Decodes the run once more, all of it, by a fresh single-threaded decoder: what it gives is
 * staged.
 */
static bool decode_again(struct session *s, struct run *run, struct err *e)
{
    struct watched fresh = {0};
    s->now = &fresh;
    s->again = true;
    bool fine = open_watched(s, &fresh, 1, e) && decode_once(s, run, true, e);
    close_watched(&fresh);
    s->again = false;
    s->now = &s->usual;
    return fine;
}

/*
 * Chooses the run's decoder. One with threads that cannot be opened is none: the usual one serves.
 */
static void choose_decoder(struct session *s, const struct run *run)
{
    struct err why = ERR_INIT;
    bool threaded = run->threads > 1 && open_watched(s, &s->threaded, run->threads, &why);
    s->now = threaded ? &s->threaded : &s->usual;
    if (run->threads > 1)
        log_msg(LOG_DEBUG, "a run of %zu pictures on %d threads%s%s", run->count, s->now->threads,
                threaded ? "" : ": ", why.text);
}

/* A key frame alone that is damaged or never came is noted, and another one serves: what is staged of it is thrown away. */
static bool is_fault(struct session *s, const struct run *run)
{
    bool faulty = s->corrupt || still_wanted(run) > 0 || run->picture[0].tag.damaged;
    if (!s->staging->faults || !faulty || staging_stopped(s->staging))
        return false;
    staging_fault(s->staging, run->picture[0].serial, true);
    return true;
}

static bool decode_run(struct session *s, struct run *run, struct err *e)
{
    uint64_t errors = s->counts.decode_errors, damaged = s->counts.damaged;
    s->order.wrong = s->corrupt = false;
    choose_decoder(s, run);
    if (!decode_once(s, run, run->unsure, e))
        return false;
    if (still_wanted(run) > 0 && !s->corrupt && !staging_stopped(s->staging)) {
        s->counts.redone_runs++;
        if (!decode_once(s, run, true, e))
            return false;
    }
    if (is_fault(s, run))
        return true;
    if (s->corrupt && !staging_stopped(s->staging)) {
        s->counts.redone_runs++;
        s->counts.decode_errors = errors;      /* they are met again */
        if (!decode_again(s, run, e))
            return false;
    }
    if (staging_stopped(s->staging)) {
        if (s->order.wrong)                    /* frames of this run must not be kept for the next try */
            atomic_store(&s->staging->contradicted, true);
        return true;
    }
    uint64_t lost = still_wanted(run);
    s->counts.lost += lost;
    /* Damage explains much. Without it the decoder is right, and what was foreseen of the film is not. */
    bool foreseen = !s->staging->job->selection.keyframes;
    if (foreseen && (s->order.wrong || lost > 0) && !s->corrupt && s->counts.damaged == damaged)
        staging_contradict(s->staging);
    return true;
}

struct session *session_new(struct staging *staging, struct err *e)
{
    struct session *s = calloc(1, sizeof *s);
    if (!s) {
        err_memory(e, sizeof *s);
        return NULL;
    }
    s->staging = staging;
    if (!session_open(s, e))
        session_free(&s);
    return s;
}

bool session_decode(struct session *s, struct run *run, struct err *e)
{
    return decode_run(s, run, e);
}

void session_free(struct session **s)
{
    if (!*s)
        return;
    staging_add_counts((*s)->staging, &(*s)->counts);
    session_close(*s);
    free(*s);
    *s = NULL;
}

void *session_main(void *staging)
{
    struct session s = {.staging = staging};
    struct err e = ERR_INIT;
    bool fine = session_open(&s, &e);
    struct run *run;
    while (fine && staging_next_run(s.staging, false, &run)) {
        fine = decode_run(&s, run, &e);
        struct taken taken = staging_taken(run);
        staging_fed(s.staging, run, run->bytes);
        staging_passed(s.staging, run, run->count);
        staging_run_done(s.staging, &taken);
        run_free(&run);
    }
    if (!fine)
        staging_fail(s.staging, &e);
    staging_add_counts(s.staging, &s.counts);
    session_close(&s);
    staging_thread_ends(staging, false, s.counts.sent);
    return NULL;
}
