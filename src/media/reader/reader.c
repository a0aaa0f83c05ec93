/*
 * reader.c - the reading thread: moves pictures from the file into the chunker, up to the end of
 * the film or of the selection.
 *
 * This thread itself decodes what cannot be cut into chunks, from where the chunks end
 * (sequential.c).
 */
#include "reader.h"

#include <libavcodec/avcodec.h>

#include "media/ffmpeg/packet.h"
#include "base/log.h"

/* Returns true if the film is decoded sequentially, as chunks cannot handle its codec or data. */
static bool in_one_piece(const struct decode_pass *s, const struct demux *r)
{
    return !s->traits.parallel || r->needs_sequential;
}

/*
 * Returns true if one decoder has to go on from here: after the first key frame and its leading
 * pictures. Earlier pictures refer to pictures that are not in the file, so may leading pictures,
 * and the chunker checks both.
 */
static bool chunks_end(const struct decode_pass *s, const struct demux *r, const struct chunker *g)
{
    return (in_one_piece(s, r) && chunker_begun(g)) || chunker_stuck(g, false);
}

/* Finds the key frame with which a film begins that is not decoded in chunks. */
static void find_first_key(const struct decode_pass *s, const struct chunker *g, struct picture *p)
{
    if (s->traits.stream == STREAM_OTHER && !chunker_begun(g) && p->packet &&
        p->packet->flags & AV_PKT_FLAG_KEY)
        p->rap = RAP_CLOSED;
}

static void note_covered(struct decode_pass *s, const struct chunker *g)
{
    struct chunker_counts c = chunker_counts_now(g);
    s->counts.displayed = c.displayed;
    s->counts.first_us = c.first_us;
    s->counts.last_us = chunker_last_us(g);
    s->counts.end_us = c.end_us;
}

/* Ends the chunks, at the end of the film, or with `done` of the selection. */
static bool end_chunks(struct decode_pass *s, const struct demux *r, struct chunker *g, bool done,
                       struct err *e)
{
    /* Held pictures have no successor yet: order and times are not final. */
    if (done) {
        note_covered(s, g);
        frame_times_stop(s->job->frame_times);
        chunker_stop(g);
    }
    if (r->gap) /* the file is truncated */
        chunker_break_off(g, r->serial);
    bool ok = chunker_end(g, e);
    if (!done)
        note_covered(s, g);
    s->counts.to_end = !done;
    return ok;
}

static bool decode_rest(struct decode_pass *s, struct demux *r, struct chunker *g, struct err *e)
{
    struct chunker_state state = {0};
    note_covered(s, g);
    if (s->device_demanded)
        log_msg(LOG_WARNING, "'%s': the rest can only be decoded sequentially, in software",
                s->film->path);
    bool ok = chunker_release(g, &state, e) && sequential_decode(s, r, &state, e);
    chunk_free(&state.held);
    time_queue_free(&state.places);
    return ok;
}

/* Records that `p` was read, for the progress. */
static void note_read(struct decode_pass *s, const struct demux *r, const struct picture *p)
{
    atomic_store(&s->bytes_read, demux_position(r));
    atomic_store(&s->pictures_read, r->serial);
    if (p->rap == RAP_NONE)
        return;
    atomic_fetch_add(&s->keys_read, 1);
    atomic_fetch_add(&s->key_bytes, packet_size(p->packet));
}

bool film_read(struct decode_pass *s, struct demux *r, struct err *e)
{
    /* If key frames cannot be decoded separately, sequential.c picks them. */
    if (s->job->selection.keyframes && s->job->plan != DECODE_SEQUENTIAL)
        return film_keys_read(s, r, e);
    struct chunker_config config = {
        .selection = s->job->selection,
        .traits = s->traits,
        .clock = demux_clock(r, s->film),
        .columns = s->job->columns,
        .frame_times = s->job->frame_times,
        .have = s->job->have,
        .have_user = s->job->have_user,
        .emit = decode_pass_queue,
        .user = s,
    };
    struct chunker *g = chunker_open(&config, e);
    if (!g)
        return false;
    struct picture p;
    bool ok = true, done = false;
    while (ok && !done && !decode_pass_stopped(s) && !chunks_end(s, r, g) && demux_next(r, &p, e)) {
        note_read(s, r, &p);
        find_first_key(s, g, &p);
        idr_splice_offer(s, &p, &r->sets, r->length_size);
        ok = chunker_push(g, &p, e);
        frame_times_check(s->job->frame_times);
        done = chunker_done(g);
    }
    ok = e->code == ERR_NONE;
    if (!ok || decode_pass_stopped(s))
        note_covered(s, g);
    else if (!done && (in_one_piece(s, r) || chunker_stuck(g, true)))
        ok = decode_rest(s, r, g, e);
    else
        ok = end_chunks(s, r, g, done, e);
    struct chunker_counts c = chunker_counts_now(g);
    s->counts.lead_in = c.lead_in;
    s->counts.chunks = c.chunks;
    s->counts.skipped_chunks = c.skipped;
    s->counts.packets = r->serial;
    s->counts.hidden = r->hidden;
    s->counts.unreadable = r->unreadable;
    pthread_mutex_lock(&s->lock); /* workers are running */
    s->counts.dropped += c.dropped;
    s->counts.lost += c.dropped_selected;
    pthread_mutex_unlock(&s->lock);
    chunker_free(&g);
    return ok;
}
