/*
 * sequential.c - one decoder for the complete film, in the reading thread: for codecs that cannot
 * be decoded in chunks, for GOPs too long to hold, and for --verify.
 *
 * Damage: a decoder with threads reports it late, so that the damaged frames are not known. At the
 * first sign the pass ends, to be repeated by a single-threaded decoder (decode_job.exact_damage).
 *
 * --keyframes gets here if parameter sets change within the film: the complete film is decoded, and
 *   each key frame is held until the next one.
 *
 * Frames are numbered in the order of output. The selection needs the time of the next frame, so
 * each frame is held until the next one is output.
 *
 * A picture that the decoder should have output and did not is lost, if damage explains it. It is
 * numbered as soon as a frame that is displayed after it is output. So do the frames of a gap. In a
 * film without damage, a packet without output (a second field, a frame that is not coded) is
 * normal.
 */
#include <string.h>

#include "reader.h"
#include "media/decode/decoder.h"
#include "media/ffmpeg/packet.h"

enum {
    SLOTS = 4096,     /* more packets than a decoder holds at once */
    REACH = 17,       /* more pictures than any codec reorders by */
    AWAITED_MAX = 512 /* pictures that may be lost; a decoder holds a few dozen */
};

/* A picture that was sent to the decoder. */
struct sent {
    uint64_t serial, gop; /* gop: number of key frames up to it */
    int64_t pts_us, order, duration_us;
    bool ignore;  /* already numbered, or never displayed */
    bool second;  /* the second field of the previous frame */
    bool lost;    /* as in struct picture */
    bool corrupt; /* the packet or what precedes it is damaged */
    bool key;     /* a key frame that is displayed */
};

/* The last frame, which is displayed until the next one. */
struct held {
    bool valid, lost, corrupt, key;
    uint64_t serial;
    int64_t us, pts_us; /* the player's time; as stored */
};

struct sequential {
    struct decode_pass *pass;
    struct demux *reader;
    AVCodecContext *decoder;
    struct corruption_watch watch;
    AVFrame *frame, *picture; /* picture: the held frame, unless it is lost */
    AVFrame *planes;          /* for view_of_frame */
    AVFrame *key;             /* --keyframes: the last key frame, and its tag */
    struct frame_tag key_tag;
    int64_t reached_us; /* until when the last numbered frame is displayed */
    struct engine_port *port;
    struct selection_cursor cursor;
    struct timeline timeline;
    struct time_queue places;
    int64_t first_us; /* time of the first numbered frame; -1: none */
    uint64_t next_frame;
    struct held held;
    struct gaps gaps;
    struct sent sent[SLOTS]; /* by serial modulo SLOTS */
    /* displayed, but perhaps never output by the decoder */
    struct sent awaited[AWAITED_MAX];
    size_t awaits;
    struct sent last;    /* the latest */
    int64_t numbered_us; /* time of the last numbered frame; -1: none */
    bool done;           /* the selection is complete: counts has its end */
    struct decode_counts counts;
};

static bool open_all(struct sequential *q, struct err *e)
{
    q->frame = av_frame_alloc();
    q->picture = av_frame_alloc();
    q->key = av_frame_alloc();
    if (!q->frame || !q->picture || !q->key)
        return err_set(e, ERR_MEMORY, "out of memory for a decoder");
    const struct decode_job *job = q->pass->job;
    const struct film *film = q->pass->film;
    int threads =
        job->exact_damage ? 1 : scheduler_max_threads(film, job->threads, scheduler_memory(job));
    q->decoder = decoder_open(q->pass->stream, film->path, threads, e);
    if (!q->decoder)
        return false;
    corruption_watch_open(&q->watch, q->decoder);
    decoder_widen_delay(q->decoder);
    q->port = engine_port_open(q->pass->job->engine, e);
    return q->port != NULL;
}

/* Records that the film is damaged. A single-threaded decoder has located the damage. */
static void found_damage(struct sequential *q)
{
    if (q->decoder->thread_count > 1)
        decode_pass_find_damage(q->pass);
}

/* Puts a frame into the engine if its tag says that it is selected. */
static bool put_selected(struct sequential *q, const AVFrame *frame, const struct frame_tag *tag,
                         bool lost, struct err *e)
{
    struct frame_view view;
    if (!frame_is_selected(tag))
        return true;
    q->counts.damaged += tag->damaged;
    q->counts.lost += lost;
    if (!columns_announce(q->pass->job->columns, tag, e))
        return false;
    if (lost)
        return true;
    if (!view_of_frame(frame, q->pass->film, &q->planes, &view, e))
        return false;
    decode_pass_log_colour(q->pass, &view);
    return engine_put(q->port, &view, tag, e);
}

/* Uses the last key frame for columns up to `until_us`; the first one also for earlier ones. */
static bool end_key(struct sequential *q, int64_t until_us, struct err *e)
{
    if (!q->key->buf[0])
        return true;
    struct frame_tag *tag = &q->key_tag;
    selection_pick(&q->cursor, until_us - 1, until_us, tag);
    bool ok = put_selected(q, q->key, tag, false, e);
    av_frame_unref(q->key);
    return ok;
}

/* --keyframes: begins another key frame. A damaged key frame is replaced by the previous one. */
static bool begin_key(struct sequential *q, const struct frame_tag *tag, struct err *e)
{
    const struct selection *rule = &q->cursor.rule;
    q->counts.keys += tag->time_us >= rule->start_us && tag->time_us < rule->end_us;
    if (tag->damaged && q->pass->bad_keys) {
        decode_pass_bad_key(q->pass, q->held.serial, false);
        return true;
    }
    if (!end_key(q, tag->time_us, e))
        return false;
    q->key_tag = *tag;
    return av_frame_ref(q->key, q->picture) >= 0 ||
           err_set(e, ERR_MEMORY, "out of memory for a frame");
}

/* Numbers a frame that is displayed from time_us until next_us, and puts it into the engine. */
static bool number_frame(struct sequential *q, bool lost, int64_t time_us, int64_t next_us,
                         struct err *e)
{
    const struct decode_job *job = q->pass->job;
    if (q->first_us < 0) {
        q->first_us = time_us;
        selection_first(&q->cursor, time_us);
    }
    frame_times_add(job->frame_times, time_us, next_us);
    if (next_us == FRAME_TIMES_OPEN)
        next_us = selection_last_until(&q->cursor.rule, time_us, q->timeline.frame_us);
    struct frame_tag tag = {.frame = q->next_frame++, .time_us = time_us};
    q->numbered_us = time_us;
    q->reached_us = next_us;
    tag.damaged = !lost && q->held.corrupt;
    atomic_store(&q->pass->frames_done, q->next_frame);
    if (job->selection.keyframes) {
        if (lost || !q->held.key)
            return true;
        return begin_key(q, &tag, e);
    }
    selection_pick(&q->cursor, time_us, next_us, &tag);
    return put_selected(q, q->picture, &tag, lost, e);
}

/* Numbers the held frame, displayed until `next_us`; FRAME_TIMES_OPEN: the film's last. */
static bool number_held(struct sequential *q, int64_t next_us, struct err *e)
{
    if (!q->held.valid)
        return true;
    bool ok = number_frame(q, q->held.lost, q->held.us, next_us, e);
    av_frame_unref(q->picture);
    q->held.valid = false;
    return ok;
}

/* Returns true if a gap may be between the held picture and `serial`. */
static bool may_follow_gap(const struct sequential *q, uint64_t serial)
{
    return gaps_between(&q->gaps, q->held.serial, serial, q->pass->traits.reorder);
}

/* Holds `serial`, which is displayed now, and numbers the frames missing before it. */
static bool advance_to(struct sequential *q, uint64_t serial, int64_t pts_us, struct err *e)
{
    if (time_queue_waits(&q->places))
        pts_us = time_queue_next(&q->places, q->timeline.frame_us, true);
    /* After a gap demuxers guess times: a time that goes back is ignored. */
    bool back = q->held.valid && pts_us < q->held.pts_us && q->held.pts_us != TIME_NONE;
    if (back && may_follow_gap(q, serial))
        pts_us = TIME_NONE;
    int64_t time = timeline_at(&q->timeline, pts_us), from = gaps_reached(&q->gaps, q->held.us);
    timeline_step(&q->timeline, time);
    uint64_t gone = 0;
    /* Once the selection is done the decoder only drains, without the pictures in between. */
    if (q->held.valid && !q->done && time > from && may_follow_gap(q, serial))
        gone = gap_frames(from, time, q->timeline.frame_us);
    if (gone > 0)
        found_damage(q);
    q->counts.dropped += gone;
    bool ok = number_held(q, gone > 0 ? gap_frame_time(from, time, 1, gone) : time, e);
    for (uint64_t i = 1; i <= gone && ok; i++)
        ok = number_frame(q, true, gap_frame_time(from, time, i, gone),
                          gap_frame_time(from, time, i + 1, gone), e);
    q->held = (struct held){.valid = true, .serial = serial, .us = time, .pts_us = pts_us};
    return ok;
}

/* ------------------------------------------------------------------ missing output */

/*
 * Returns true if `a` is displayed before `b`. Without times or order counts, that is certain only
 * when `b` comes later than any codec reorders. A picture that was not sent to the decoder cannot
 * be output late: codecs with a delay of one picture output it about then.
 */
static bool is_before(const struct sequential *q, const struct sent *a, const struct sent *b)
{
    uint64_t reach = a->lost && q->pass->traits.stream == STREAM_OTHER ? 1 : REACH;
    if (a->pts_us != TIME_NONE && b->pts_us != TIME_NONE)
        return a->pts_us < b->pts_us;
    if (a->order != TIME_NONE && b->order != TIME_NONE)
        return a->gop < b->gop || (a->gop == b->gop && a->order < b->order);
    return a->serial + (q->decoder->has_b_frames > 0 ? reach : 0) < b->serial;
}

static void drop_awaited(struct sequential *q, size_t i)
{
    memmove(&q->awaited[i], &q->awaited[i + 1], (--q->awaits - i) * sizeof q->awaited[0]);
}

/* Removes `p`, whose frame was output, from the awaited pictures. */
static void remove_awaited(struct sequential *q, const struct sent *p)
{
    uint64_t first = p->second && p->serial > 0 ? p->serial - 1 : p->serial;
    for (size_t i = q->awaits; i-- > 0;)
        if (q->awaited[i].serial == p->serial || q->awaited[i].serial == first)
            drop_awaited(q, i);
}

/* Numbers as missing the awaited pictures that are displayed before `p`; NULL: all. */
static bool number_missing(struct sequential *q, const struct sent *p, struct err *e)
{
    for (;;) {
        size_t next = q->awaits;
        for (size_t i = 0; i < q->awaits; i++)
            if ((!p || is_before(q, &q->awaited[i], p)) &&
                (next == q->awaits || is_before(q, &q->awaited[i], &q->awaited[next])))
                next = i;
        if (next == q->awaits)
            return true;
        struct sent lost = q->awaited[next];
        drop_awaited(q, next);
        q->sent[lost.serial % SLOTS].ignore = true; /* it is numbered */
        if (!advance_to(q, lost.serial, lost.pts_us, e))
            return false;
        q->held.lost = true;
    }
}

/* ------------------------------------------------------------------ through the decoder */

/* Makes q->frame, the frame just output, the held frame. */
static bool hold_output(struct sequential *q, struct err *e)
{
    int64_t serial = q->frame->pts;
    bool known = serial != AV_NOPTS_VALUE && serial >= 0;
    struct sent p =
        known ? q->sent[serial % SLOTS]
              : (struct sent){.serial = q->last.serial, .pts_us = TIME_NONE, .order = TIME_NONE};
    if (p.ignore) {
        av_frame_unref(q->frame);
        return true;
    }
    bool corrupt = corruption_concealed(q->frame) || p.corrupt;
    if (corrupt)
        found_damage(q);
    if (known)
        remove_awaited(q, &p);
    if (!number_missing(q, &p, e) || !advance_to(q, p.serial, p.pts_us, e))
        return false;
    av_frame_move_ref(q->picture, q->frame);
    q->held.corrupt = corrupt || corruption_is_flagged(q->picture);
    q->held.key = p.key;
    return true;
}

static bool receive_frames(struct sequential *q, struct err *e)
{
    for (int errors = 0;;) {
        int code = decoder_receive(q->decoder, q->frame);
        if (code == AVERROR(EAGAIN) || code == AVERROR_EOF)
            return true;
        if (code == AVERROR(ENOMEM))
            return av_out_of_memory(q->pass->film->path, e);
        if (code < 0) {
            q->counts.decode_errors++;
            corruption_is_everywhere(&q->watch);
            found_damage(q);
            if (++errors == RECEIVE_ERRORS_MAX)
                return true;
            continue;
        }
        q->counts.decoded++;
        if (!hold_output(q, e))
            return false;
    }
}

/* Marks the picture that was sent last as damaged: its end may be missing. */
static void suspect_last(struct sequential *q)
{
    q->sent[q->last.serial % SLOTS].corrupt = true;
    q->held.corrupt |= q->held.serial == q->last.serial;
    corruption_is_everywhere(&q->watch);
}

static void await_frame(struct sequential *q, const struct sent *p)
{
    if (p->ignore || p->second)
        return;
    if (q->awaits < AWAITED_MAX)
        q->awaited[q->awaits++] = *p;
    else
        found_damage(q);
}

/* Records `p` before it is sent. Returns NULL if out of memory. */
static struct sent *note_sent(struct sequential *q, const struct picture *p, struct err *e)
{
    bool gap = p->after_gap && q->reader->framed; /* otherwise the gap may be another stream's */
    if (gap || p->lost)
        suspect_last(q);
    if (p->after_gap)
        gaps_note(&q->gaps, p->serial);
    q->last = (struct sent){.serial = p->serial,
                            .gop = q->last.gop + (p->rap != RAP_NONE),
                            .pts_us = p->pts_us,
                            .order = p->order,
                            .duration_us = p->duration_us,
                            .ignore = p->leading || p->hidden,
                            .second = p->second,
                            .lost = p->lost,
                            .key = p->rap != RAP_NONE && !p->hidden};
    struct sent *noted = &q->sent[p->serial % SLOTS];
    *noted = q->last;
    if (noted->ignore || noted->second || !p->placed)
        return noted;
    return time_queue_push(&q->places, p->place_us, e) ? noted : NULL;
}

static bool decode_picture(struct sequential *q, struct picture *p, struct err *e)
{
    AVPacket *packet = p->packet;
    struct sent *sent = note_sent(q, p, e);
    if (!sent) {
        packet_free(&p->packet);
        return false;
    }
    if (p->lost) { /* nothing is sent, and the picture is awaited */
        found_damage(q);
        await_frame(q, sent);
        return true;
    }
    packet->pts = (int64_t)p->serial;
    packet->dts = AV_NOPTS_VALUE;
    int code = decoder_send(q->decoder, packet);
    bool corrupt = (damage_found(&q->watch, code) && !p->empty) || p->suspect;
    sent->corrupt = corruption_spreads(&q->watch, p, corrupt);
    if (sent->corrupt)
        await_frame(q, sent);
    packet_free(&p->packet);
    if (code == AVERROR(ENOMEM))
        return av_out_of_memory(q->pass->film->path, e);
    if (corrupt) {
        q->counts.decode_errors++;
        found_damage(q);
    }
    q->counts.sent++;
    return receive_frames(q, e);
}

/* Ends the counts here: what the decoder still outputs is after the end of the selection. */
static void note_covered(struct sequential *q)
{
    q->done = true;
    q->counts.displayed = q->next_frame;
    q->counts.last_us = q->numbered_us;
}

static bool decode_all(struct sequential *q, struct chunk *held, struct err *e)
{
    for (size_t i = 0; i < held->count && !decode_pass_stopped(q->pass); i++)
        if (!decode_picture(q, &held->picture[i], e))
            return false;
    struct picture p;
    while (!decode_pass_stopped(q->pass) && demux_next(q->reader, &p, e)) {
        atomic_store(&q->pass->bytes_read, demux_position(q->reader));
        if (!decode_picture(q, &p, e))
            return false;
        frame_times_check(q->pass->job->frame_times);
        if (q->numbered_us >= 0 && selection_done(&q->cursor, q->numbered_us)) {
            note_covered(q);
            frame_times_stop(q->pass->job->frame_times);
            break;
        }
    }
    if (q->reader->gap) /* the file is truncated */
        gaps_note(&q->gaps, q->reader->serial);
    if (e->code == ERR_NONE && decoder_send(q->decoder, NULL) == AVERROR(ENOMEM))
        return av_out_of_memory(q->pass->film->path, e);
    if (e->code != ERR_NONE || !receive_frames(q, e))
        return false;
    if (!q->done && !decode_pass_stopped(q->pass) && !number_missing(q, NULL, e))
        return false;
    int64_t duration_us = q->held.valid ? q->sent[q->held.serial % SLOTS].duration_us : 0;
    int64_t stays = timeline_last_stays(q->timeline.frame_us, duration_us);
    if (!number_held(q, stays == q->timeline.frame_us ? FRAME_TIMES_OPEN : q->held.us + stays, e) ||
        !end_key(q, q->reached_us, e))
        return false;
    if (damage_found(&q->watch, 0)) /* of threads that had not finished */
        found_damage(q);
    if (q->done)
        return true;
    note_covered(q);
    q->counts.to_end = !decode_pass_stopped(q->pass);
    q->counts.end_us = q->numbered_us < 0 ? -1 : q->numbered_us + stays;
    return true;
}

bool sequential_decode(struct decode_pass *s, struct demux *r, struct chunker_state *state,
                       struct err *e)
{
    struct sequential *q = calloc(1, sizeof *q);
    if (!q)
        return err_memory(e, sizeof *q);
    q->pass = s;
    q->reader = r;
    q->cursor = state->cursor;
    q->timeline = state->timeline;
    q->places = state->places;
    q->first_us = state->first_us;
    q->counts.end_us = -1;
    q->next_frame = state->next_frame;
    q->numbered_us = state->timeline.last_us;
    bool ok = open_all(q, e) && decode_all(q, state->held, e);
    decode_pass_add_counts(s, &q->counts); /* workers that ended early count too */
    pthread_mutex_lock(&s->lock);
    s->counts.dropped += q->counts.dropped;
    s->counts.keys += q->counts.keys;
    s->counts.displayed = q->done ? q->counts.displayed : q->next_frame;
    s->counts.first_us = q->first_us;
    s->counts.last_us = q->done ? q->counts.last_us : q->numbered_us;
    s->counts.end_us = q->counts.end_us;
    s->counts.to_end = q->counts.to_end;
    s->counts.sequential = true;
    pthread_mutex_unlock(&s->lock);
    engine_port_close(&q->port);
    avcodec_free_context(&q->decoder);
    av_frame_free(&q->frame);
    av_frame_free(&q->picture);
    av_frame_free(&q->key);
    av_frame_free(&q->planes);
    state->places = q->places; /* it may have moved */
    free(q);
    return ok;
}
