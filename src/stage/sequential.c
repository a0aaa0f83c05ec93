/*
 * sequential.c - one decoder over everything, in the reading thread: for codecs outside the parallel
 * path, for GOPs too long to hold, and as the judge that --verify asks.
 *
 * Damage: what a picture looks like then depends on the number of threads. At its first sign staging ends, to be done
 * anew with a careful decoder (stage_job.careful), which uses one core.
 *
 * Frames are numbered as they come out. The selection wants to know when the next frame appears, so each
 * frame is held until its successor is there.
 */
#include "av.h"
#include "barcode/clock.h"

enum { SLOTS = 4096 };        /* packets inside a decoder at once, at most; generously */

struct sequential {
    struct staging *staging;
    struct demux *reader;
    AVCodecContext *decoder;
    struct damage_watch watch;
    AVFrame *frame, *held, *planes;   /* planes: view_of_frame's                 */
    struct engine_port *port;
    struct selection_cursor cursor;
    struct timeline timeline;
    uint64_t next_frame;
    int64_t held_us;          /* film time of the held frame; valid when held->data[0] */
    int64_t settled_us;       /* of the last frame that was numbered, -1: none         */
    bool done;                /* the selection can want no more: counts say how far    */
    int64_t pts_us[SLOTS];    /* by serial modulo SLOTS                                */
    bool ignore[SLOTS];       /* numbered already, or never to be displayed            */
    bool hurt[SLOTS];         /* something was wrong with the packet, or before it     */
    struct nal_unsaid unsaid[SLOTS];      /* struct picture's                          */
    bool held_hurt;
    struct stage_counts counts;
};

static bool open_all(struct sequential *q, struct err *e)
{
    q->frame = av_frame_alloc();
    q->held = av_frame_alloc();
    if (!q->frame || !q->held)
        return err_set(e, ERR_FAILED, "out of memory for a decoder");
    const struct stage_job *job = q->staging->job;
    q->decoder = decoder_open(q->staging->stream, job->careful ? 1 : job->threads, e);
    if (!q->decoder || !damage_watch_open(&q->watch, q->decoder, job->careful, e))
        return false;
    if (q->staging->traits.stream == STREAM_H264)
        q->decoder->has_b_frames = 15;       /* as much as the standard allows: see session.c */
    q->port = engine_port_open(q->staging->job->engine, e);
    return q->port != NULL;
}

/* Something is wrong with the film, unless the careful decoder knows already. */
static void found_damage(struct sequential *q)
{
    if (!q->staging->job->careful)
        staging_find_damage(q->staging);
}

/* The held frame stays on the screen until `next_us`; TIMETABLE_OPEN: it is the film's last. */
static bool settle(struct sequential *q, int64_t next_us, struct err *e)
{
    if (!q->held->data[0])
        return true;
    timetable_add(q->staging->job->timetable, q->held_us, next_us);
    if (next_us == TIMETABLE_OPEN)
        next_us = selection_last_until(&q->cursor.rule, q->held_us, q->timeline.frame_us);
    struct frame_tag tag = {.frame = q->next_frame++, .time_us = q->held_us};
    q->settled_us = q->held_us;
    tag.damaged = q->held_hurt;
    tag.repeat = selection_take(&q->cursor, q->held_us, next_us, &tag.column);
    atomic_store(&q->staging->frames_done, q->next_frame);
    bool fine = true;
    if (tag.repeat > 0) {
        struct frame_view view;
        q->counts.damaged += tag.damaged;
        fine = columns_announce(q->staging->job->columns, &tag, e) &&
               view_of_frame(q->held, q->staging->film, &q->planes, &view, e);
        if (fine)
            staging_note_colour(q->staging, q->held, &view);
        fine = fine && engine_put(q->port, &view, &tag, e);
    }
    av_frame_unref(q->held);
    return fine;
}

static bool receive(struct sequential *q, struct err *e)
{
    for (int errors = 0;;) {
        int code = avcodec_receive_frame(q->decoder, q->frame);
        if (code == AVERROR(EAGAIN) || code == AVERROR_EOF)
            return true;
        if (code == AVERROR(ENOMEM))
            return err_set(e, ERR_FAILED, "out of memory for a decoded picture");
        if (code < 0) {
            q->counts.decode_errors++;
            damage_everywhere(&q->watch);
            found_damage(q);
            if (++errors == RECEIVE_ERRORS_MAX)
                return true;
            continue;
        }
        q->counts.decoded++;
        int64_t serial = q->frame->pts;
        bool known = serial != AV_NOPTS_VALUE && serial >= 0;
        if (known && q->ignore[serial % SLOTS]) {
            av_frame_unref(q->frame);
            continue;
        }
        if (known)
            film_colour_hush(q->frame, q->unsaid[serial % SLOTS], q->staging->film);
        bool hurt = damage_concealed(q->frame) || damage_unfinished(&q->watch, q->frame) || (known && q->hurt[serial % SLOTS]);
        if (hurt)
            found_damage(q);
        int64_t time = timeline_at(&q->timeline, known ? q->pts_us[serial % SLOTS] : TIME_NONE);
        timeline_step(&q->timeline, time);
        if (!settle(q, time, e))
            return false;
        av_frame_move_ref(q->held, q->frame);
        q->held_us = time;
        q->held_hurt = hurt || damage_flagged(q->held);
    }
}

static bool send_picture(struct sequential *q, struct picture *p, struct err *e)
{
    AVPacket *packet = p->packet;
    q->pts_us[p->serial % SLOTS] = p->pts_us;
    q->ignore[p->serial % SLOTS] = p->leading || p->hidden;
    q->unsaid[p->serial % SLOTS] = p->unsaid;
    packet->pts = (int64_t)p->serial;
    packet->dts = AV_NOPTS_VALUE;
    int code = avcodec_send_packet(q->decoder, packet);
    bool hurt = damage_found(&q->watch, code);
    q->hurt[p->serial % SLOTS] = damage_spreads(&q->watch, p, hurt);
    packet_free(&p->packet);
    if (code == AVERROR(ENOMEM))
        return err_set(e, ERR_FAILED, "out of memory in the decoder");
    if (hurt) {
        q->counts.decode_errors++;
        found_damage(q);
    }
    q->counts.sent++;
    return receive(q, e);
}

/* So far the counts say that the film was covered: what still comes out of the decoder is beyond the selection's end. */
static void covered(struct sequential *q)
{
    q->done = true;
    q->counts.displayed = q->next_frame;
    q->counts.last_us = q->settled_us;
}

static bool decode_all(struct sequential *q, struct run *held, struct err *e)
{
    for (size_t i = 0; i < held->count && !staging_stopped(q->staging); i++)
        if (!send_picture(q, &held->picture[i], e))
            return false;
    struct picture p;
    while (!staging_stopped(q->staging) && demux_next(q->reader, &p, e)) {
        atomic_store(&q->staging->bytes_read, demux_position(q->reader));
        if (!send_picture(q, &p, e))
            return false;
        timetable_check(q->staging->job->timetable);
        if (q->settled_us >= 0 && selection_done(&q->cursor, q->settled_us)) {
            covered(q);
            timetable_stop(q->staging->job->timetable);
            break;
        }
    }
    avcodec_send_packet(q->decoder, NULL);
    if (e->code != ERR_NONE || !receive(q, e) || !settle(q, TIMETABLE_OPEN, e))
        return false;
    if (damage_found(&q->watch, 0))      /* of threads that were behind */
        found_damage(q);
    if (!q->done)
        covered(q);
    return true;
}

bool sequential_stage(struct staging *s, struct demux *r, struct gather_state *state, struct err *e)
{
    struct sequential *q = calloc(1, sizeof *q);
    if (!q)
        return err_memory(e, sizeof *q);
    q->staging = s;
    q->reader = r;
    q->cursor = state->cursor;
    q->timeline = state->timeline;
    q->next_frame = state->next_frame;
    q->held_us = -1;
    q->settled_us = state->timeline.last_us;
    bool fine = open_all(q, e) && decode_all(q, state->held, e);
    pthread_mutex_lock(&s->lock);       /* sessions that ended early count too */
    s->counts.sent += q->counts.sent;
    s->counts.decoded += q->counts.decoded;
    s->counts.decode_errors += q->counts.decode_errors;
    s->counts.damaged += q->counts.damaged;
    s->counts.displayed = q->done ? q->counts.displayed : q->next_frame;
    s->counts.last_us = q->done ? q->counts.last_us : q->settled_us;
    s->counts.sequential = true;
    pthread_mutex_unlock(&s->lock);
    engine_port_close(&q->port);
    avcodec_free_context(&q->decoder);
    damage_watch_close(&q->watch);
    av_frame_free(&q->frame);
    av_frame_free(&q->held);
    av_frame_free(&q->planes);
    free(q);
    return fine;
}
