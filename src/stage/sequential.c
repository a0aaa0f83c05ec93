/*
 * sequential.c - one decoder over everything, in the reading thread: for codecs outside the parallel
 * path, for GOPs too long to hold, and as the judge that --verify asks.
 *
 * Damage: what a picture looks like then depends on the number of threads. At its first sign staging ends, to be done
 * anew with a careful decoder (stage_job.careful), which uses one core.
 *
 * Frames are numbered as they come out. The selection wants to know when the next frame appears, so each
 * frame is held until its successor is there.
 *
 * A picture that the decoder should have given and did not is lost, where damage explains it: it takes its place as soon as
 * one that is displayed after it has come out. So do those that vanished in a hole. In a film without damage a packet that
 * gives nothing (the second field of a picture, a frame that says that it is not coded) has nothing to give.
 */
#include <string.h>

#include "av.h"
#include "barcode/clock.h"
#include "holes.h"

enum {
    SLOTS = 4096,             /* packets inside a decoder at once, at most; generously     */
    AWAITED_MAX = 512         /* pictures that may be lost; a decoder holds a few dozen    */
};

/* A picture that is to be displayed, of which a decoder may give nothing. */
struct awaited {
    uint64_t serial;
    int64_t pts_us;
};

/* What is displayed until its successor is there. */
struct held {
    bool there, lost, hurt;
    uint64_t serial;
    int64_t us;               /* film time */
};

struct sequential {
    struct staging *staging;
    struct demux *reader;
    AVCodecContext *decoder;
    struct damage_watch watch;
    AVFrame *frame, *picture; /* picture: the held one's, unless it is lost */
    struct engine_port *port;
    struct selection_cursor cursor;
    struct timeline timeline;
    uint64_t next_frame;
    struct held held;
    struct holes holes;
    struct awaited awaited[AWAITED_MAX];
    size_t awaits;
    uint64_t sent_last;       /* serial                                                */
    int64_t numbered_us;       /* of the last frame that was numbered, -1: none         */
    bool done;                /* the selection can want no more: counts say how far    */
    int64_t pts_us[SLOTS];    /* by serial modulo SLOTS                                */
    bool ignore[SLOTS];       /* numbered already, or never to be displayed            */
    int64_t lasts_us[SLOTS];  /* as the container says it                              */
    bool second[SLOTS];       /* the second field of the picture before it             */
    bool hurt[SLOTS];         /* something was wrong with the packet, or before it     */
    struct stage_counts counts;
};

static bool open_all(struct sequential *q, struct err *e)
{
    q->frame = av_frame_alloc();
    q->picture = av_frame_alloc();
    if (!q->frame || !q->picture)
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

/* Numbers a frame that is displayed from time_us until next_us, and stages it. */
static bool number_frame(struct sequential *q, bool lost, int64_t time_us, int64_t next_us, struct err *e)
{
    timetable_add(q->staging->job->timetable, time_us, next_us);
    if (next_us == TIMETABLE_OPEN)
        next_us = selection_last_until(&q->cursor.rule, time_us, q->timeline.frame_us);
    struct frame_tag tag = {.frame = q->next_frame++, .time_us = time_us};
    q->numbered_us = time_us;
    tag.damaged = !lost && q->held.hurt;
    tag.repeat = selection_take(&q->cursor, time_us, next_us, &tag.column);
    atomic_store(&q->staging->frames_done, q->next_frame);
    if (tag.repeat == 0)
        return true;
    struct frame_view view;
    q->counts.damaged += tag.damaged;
    q->counts.lost += lost;
    return columns_announce(q->staging->job->columns, &tag, e) &&
           (lost || (view_of_frame(q->picture, q->staging->film, &view, e) && engine_put(q->port, &view, &tag, e)));
}

/* The held frame stays on the screen until `next_us`; TIMETABLE_OPEN: it is the film's last. */
static bool number_held(struct sequential *q, int64_t next_us, struct err *e)
{
    if (!q->held.there)
        return true;
    bool fine = number_frame(q, q->held.lost, q->held.us, next_us, e);
    av_frame_unref(q->picture);
    q->held.there = false;
    return fine;
}

/* Picture `serial`, displayed now, takes the place of the held one; between the two stands what vanished. */
static bool advance(struct sequential *q, uint64_t serial, int64_t pts_us, struct err *e)
{
    int64_t time = timeline_at(&q->timeline, pts_us), from = q->held.us;
    timeline_step(&q->timeline, time);
    uint64_t gone = 0;
    if (q->held.there && time > from && holes_between(&q->holes, q->held.serial, serial, q->staging->traits.reorder))
        gone = holes_frames(from, time, q->timeline.frame_us);
    if (gone > 0)
        found_damage(q);
    q->counts.vanished += gone;
    bool fine = number_held(q, holes_time(from, time, 1, gone), e);
    for (uint64_t i = 1; i <= gone && fine; i++)
        fine = number_frame(q, true, holes_time(from, time, i, gone), holes_time(from, time, i + 1, gone), e);
    q->held = (struct held){.there = true, .serial = serial, .us = time};
    return fine;
}

/* ------------------------------------------------------------------ what does not come */

static bool precedes(const struct awaited *a, uint64_t serial, int64_t pts_us)
{
    return a->pts_us != TIME_NONE && pts_us != TIME_NONE ? a->pts_us < pts_us : a->serial < serial;
}

static void await(struct sequential *q, uint64_t serial, int64_t pts_us)
{
    if (q->awaits < AWAITED_MAX)
        q->awaited[q->awaits++] = (struct awaited){serial, pts_us};
}

static void drop_awaited(struct sequential *q, size_t i)
{
    memmove(&q->awaited[i], &q->awaited[i + 1], (--q->awaits - i) * sizeof q->awaited[0]);
}

/* Picture `serial` came out. */
static void end_waiting(struct sequential *q, uint64_t serial)
{
    uint64_t first = q->second[serial % SLOTS] && serial > 0 ? serial - 1 : serial;
    for (size_t i = q->awaits; i-- > 0;)
        if (q->awaited[i].serial == serial || q->awaited[i].serial == first)
            drop_awaited(q, i);
}

/* Those that are displayed before picture `serial`, which came out, will not come any more; `all`: nor will any other. */
static bool give_up_waiting(struct sequential *q, bool all, uint64_t serial, int64_t pts_us, struct err *e)
{
    for (;;) {
        size_t next = q->awaits;
        for (size_t i = 0; i < q->awaits; i++)
            if ((all || precedes(&q->awaited[i], serial, pts_us)) &&
                (next == q->awaits || precedes(&q->awaited[i], q->awaited[next].serial, q->awaited[next].pts_us)))
                next = i;
        if (next == q->awaits)
            return true;
        struct awaited lost = q->awaited[next];
        drop_awaited(q, next);
        if (!advance(q, lost.serial, lost.pts_us, e))
            return false;
        q->held.lost = true;
    }
}

/* ------------------------------------------------------------------ through the decoder */

/* q->frame, which came out, is displayed after the held one. */
static bool take_frame(struct sequential *q, struct err *e)
{
    int64_t serial = q->frame->pts;
    bool known = serial != AV_NOPTS_VALUE && serial >= 0;
    if (known && q->ignore[serial % SLOTS]) {
        av_frame_unref(q->frame);
        return true;
    }
    bool hurt = damage_concealed(q->frame) || damage_unfinished(&q->watch, q->frame) || (known && q->hurt[serial % SLOTS]);
    if (hurt)
        found_damage(q);
    int64_t pts = known ? q->pts_us[serial % SLOTS] : TIME_NONE;
    uint64_t number = known ? (uint64_t)serial : q->sent_last;
    if (known)
        end_waiting(q, number);
    if (!give_up_waiting(q, false, number, pts, e) || !advance(q, number, pts, e))
        return false;
    av_frame_move_ref(q->picture, q->frame);
    q->held.hurt = hurt || damage_flagged(q->picture);
    return true;
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
        if (!take_frame(q, e))
            return false;
    }
}

/* The picture that was sent last may have lost its end. */
static void suspect_last(struct sequential *q)
{
    q->hurt[q->sent_last % SLOTS] = true;
    q->held.hurt |= q->held.serial == q->sent_last;
    damage_everywhere(&q->watch);
}

/* The decoder is given nothing: what refers to the picture is damaged, and it takes its place by its time. */
static bool send_lost(struct sequential *q, const struct picture *p)
{
    found_damage(q);
    if (!p->leading && !p->hidden)
        await(q, p->serial, p->pts_us);
    return true;
}

static bool send_picture(struct sequential *q, struct picture *p, struct err *e)
{
    AVPacket *packet = p->packet;
    size_t slot = p->serial % SLOTS;
    bool hole = p->after_hole && q->reader->framed;      /* elsewhere it may be another stream's */
    if (hole || p->lost)
        suspect_last(q);
    q->sent_last = p->serial;
    q->pts_us[slot] = p->pts_us;
    q->lasts_us[slot] = p->duration_us;
    q->ignore[slot] = p->leading || p->hidden;
    q->second[slot] = p->second;
    if (p->after_hole)
        holes_note(&q->holes, p->serial);
    if (p->lost)
        return send_lost(q, p);
    packet->pts = (int64_t)p->serial;
    packet->dts = AV_NOPTS_VALUE;
    int code = avcodec_send_packet(q->decoder, packet);
    bool hurt = (damage_found(&q->watch, code) && !p->empty) || p->suspect;
    q->hurt[slot] = damage_spreads(&q->watch, p, hurt);
    if (q->hurt[slot] && !q->ignore[slot] && !p->second)
        await(q, p->serial, p->pts_us);
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
    q->counts.last_us = q->numbered_us;
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
        if (q->numbered_us >= 0 && selection_done(&q->cursor, q->numbered_us)) {
            covered(q);
            timetable_stop(q->staging->job->timetable);
            break;
        }
    }
    if (q->reader->hole)                  /* the file broke off */
        holes_note(&q->holes, q->reader->serial);
    avcodec_send_packet(q->decoder, NULL);
    if (e->code != ERR_NONE || !receive(q, e))
        return false;
    if (!q->done && !staging_stopped(q->staging) && !give_up_waiting(q, true, 0, TIME_NONE, e))
        return false;
    int64_t stays = timeline_last_stays(&q->timeline, q->held.there ? q->lasts_us[q->held.serial % SLOTS] : 0);
    if (!number_held(q, stays == q->timeline.frame_us ? TIMETABLE_OPEN : q->held.us + stays, e))
        return false;
    if (damage_found(&q->watch, 0))      /* of threads that had not finished yet */
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
    q->numbered_us = state->timeline.last_us;
    bool fine = open_all(q, e) && decode_all(q, state->held, e);
    pthread_mutex_lock(&s->lock);       /* sessions that ended early count too */
    s->counts.sent += q->counts.sent;
    s->counts.decoded += q->counts.decoded;
    s->counts.decode_errors += q->counts.decode_errors;
    s->counts.damaged += q->counts.damaged;
    s->counts.lost += q->counts.lost;
    s->counts.vanished += q->counts.vanished;
    s->counts.displayed = q->done ? q->counts.displayed : q->next_frame;
    s->counts.last_us = q->done ? q->counts.last_us : q->numbered_us;
    s->counts.sequential = true;
    pthread_mutex_unlock(&s->lock);
    engine_port_close(&q->port);
    avcodec_free_context(&q->decoder);
    damage_watch_close(&q->watch);
    av_frame_free(&q->frame);
    av_frame_free(&q->picture);
    free(q);
    return fine;
}
