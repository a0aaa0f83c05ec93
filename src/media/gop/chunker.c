#include "chunker.h"

#include <stdlib.h>

#include "barcode/engine/column.h"
#include "media/ffmpeg/packet.h"
#include "media/select/frame_times.h"

/* ------------------------------------------------------------------ display order */

static int compare_time(const void *a, const void *b)
{
    const struct picture *p = *(struct picture *const *)a, *q = *(struct picture *const *)b;
    if (p->pts_us != q->pts_us)
        return p->pts_us < q->pts_us ? -1 : 1;
    return (p->serial > q->serial) - (p->serial < q->serial);
}

static int compare_order(const void *a, const void *b)
{
    const struct picture *p = *(struct picture *const *)a, *q = *(struct picture *const *)b;
    if (p->order != q->order)
        return p->order < q->order ? -1 : 1;
    return (p->serial > q->serial) - (p->serial < q->serial);
}

static bool all_timed(struct picture *const *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i]->pts_us == TIME_NONE || (i > 0 && p[i]->pts_us == p[i - 1]->pts_us))
            return false;
    return true;
}

static bool all_ordered(struct picture *const *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i]->order == TIME_NONE)
            return false;
    return true;
}

/*
 * Returns true if the order counts, by which the pictures are sorted, are valid: distinct, and no
 * picture waits for more pictures than a decoder keeps. Invalid counts restart within a GOP, or
 * come from damage.
 */
static bool order_is_sane(enum bitstream stream, struct picture *const *p, size_t n)
{
    size_t most = stream == STREAM_MPEG2 ? 1 : 16;
    for (size_t i = 0; i < n; i++) {
        size_t waits_for = 0;
        if (i + 1 < n && p[i]->order == p[i + 1]->order)
            return false;
        for (size_t j = i + 1; j < n && waits_for <= most; j++)
            waits_for += p[j]->serial < p[i]->serial;
        if (waits_for > most)
            return false;
    }
    return true;
}

static bool times_rise(struct picture *const *p, size_t n)
{
    int64_t last = TIME_NONE;
    for (size_t i = 0; i < n; i++) {
        if (p[i]->pts_us == TIME_NONE)
            continue;
        if (last != TIME_NONE && p[i]->pts_us <= last)
            return false;
        last = p[i]->pts_us;
    }
    return true;
}

/* Returns true if a picture is missing between p[i] and p[j], which are in decoding order. */
static bool are_apart(struct picture *const *p, size_t i, size_t j)
{
    size_t first = i < j ? i : j, last = i < j ? j : i;
    for (size_t k = first + 1; k <= last; k++)
        if (p[k]->lost || p[k]->after_gap)
            return true;
    return p[first]->lost;
}

/* Returns the time of MPEG-2's picture `i` by a picture nearby: the order counts frames. */
static int64_t time_by_order(struct picture *const *p, size_t n, size_t i, int64_t frame_us)
{
    enum { NEAR = 3 };
    size_t from = i > NEAR ? i - NEAR : 0;
    for (size_t j = from; j < n && j <= i + NEAR && p[i]->order != TIME_NONE; j++)
        if (p[j]->pts_us != TIME_NONE && p[j]->order != TIME_NONE && !are_apart(p, i, j))
            return p[j]->pts_us + (p[i]->order - p[j]->order) * frame_us;
    return i > 0 ? p[i - 1]->pts_us + frame_us : TIME_NONE;
}

/* Sorts by time; a picture without one follows the one before it. Without any: by order. */
static void sort_across_gaps(enum bitstream stream, struct picture **p, size_t n, int64_t frame_us)
{
    bool mpeg2 = stream == STREAM_MPEG2;
    if (mpeg2 && p[0]->pts_us == TIME_NONE)
        p[0]->pts_us = time_by_order(p, n, 0, frame_us);
    bool timed = p[0]->pts_us != TIME_NONE;
    for (size_t i = 1; i < n; i++) {
        if (timed && p[i]->pts_us == TIME_NONE)
            p[i]->pts_us = mpeg2 ? time_by_order(p, n, i, frame_us) : p[i - 1]->pts_us + frame_us;
        if (!timed && p[i]->lost)
            p[i]->order = p[i - 1]->order;
    }
    qsort(p, n, sizeof *p, timed ? compare_time : compare_order);
}

/*
 * Sorts p[0..n), displayed pictures in decoding order, into display order. `gaps`: pictures of the
 * GOP are missing, perhaps a key frame that restarts the order count. Then the order is by time,
 * and pictures without a time may get one. Returns false if bitstream and times contradict each
 * other, or if there is no order. Decoders use the bitstream's order and ignore times.
 */
static bool sort_display_order(const struct codec_traits *traits, bool gaps, int64_t frame_us,
                               struct picture **p, size_t n)
{
    if (!traits->reorder || n < 2)
        return true;
    if (gaps) {
        sort_across_gaps(traits->stream, p, n, frame_us);
        return true;
    }
    bool ordered = all_ordered(p, n);
    if (ordered) {
        qsort(p, n, sizeof *p, compare_order);
        if (order_is_sane(traits->stream, p, n))
            return times_rise(p, n);
    }
    qsort(p, n, sizeof *p, compare_time);
    if (!all_timed(p, n) && ordered)
        qsort(p, n, sizeof *p, compare_order);
    return false;
}

/* Queues the places of displayed pictures of p[0..n), in decoding order, once each. */
static bool queue_places(struct time_queue *places, struct picture *p, size_t n, struct err *e)
{
    for (size_t i = 0; i < n; i++) {
        if (p[i].placed && !p[i].hidden && !time_queue_push(places, p[i].place_us, e))
            return false;
        p[i].placed = false;
    }
    return true;
}

/*
 * Gives shown[0..n), the next pictures in display order, the times of their places, if any wait;
 * `after`, the picture after them, keeps its place in the queue. It may be NULL.
 */
static void apply_places(struct time_queue *places, int64_t frame_us, struct picture **shown,
                         size_t n, struct picture *after)
{
    for (size_t i = 0; i < n && time_queue_waits(places); i++)
        shown[i]->pts_us = time_queue_next(places, frame_us, true);
    if (after && time_queue_waits(places))
        after->pts_us = time_queue_next(places, frame_us, false);
}

/* Gives a film's first frame, shown[0], a time if it has none, by the first one that has. */
static void date_first(struct picture **shown, size_t n, int64_t frame_us)
{
    size_t i = 0;
    while (i < n && shown[i]->pts_us == TIME_NONE)
        i++;
    bool sane = i < n && shown[i]->pts_us < TIME_MOST && shown[i]->pts_us > -TIME_MOST;
    if (i > 0 && sane)
        shown[0]->pts_us = shown[i]->pts_us - (int64_t)i * frame_us;
}

/* ------------------------------------------------------------------ the pictures of a GOP */

/* Returns true if a picture is lost, or if something is missing right before a picture. */
static bool has_gap(const struct chunk *r)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->picture[i].lost || r->picture[i].after_gap)
            return true;
    return false;
}

/* Moves all pictures. Returns false if out of memory; then each keeps what it holds. */
static bool move_pictures(struct chunk *to, struct chunk *from, struct err *e)
{
    for (size_t i = 0; i < from->count; i++) {
        if (!chunk_append(to, &from->picture[i], e))
            return false;
        from->picture[i].packet = NULL;
    }
    from->count = 0;
    from->bytes = 0;
    return true;
}

/*
 * Appends copies of the next GOP's key frame and leading pictures to the chunk if one of them is
 * selected. `gaps`: frames are missing at the gaps nearby. Returns false if out of memory.
 */
static bool add_next_leading(struct chunk *chunk, struct chunk *following, bool gaps, struct err *e)
{
    size_t last = 0;
    for (size_t i = 0; i < following->count; i++)
        if (following->picture[i].leading && following->picture[i].selected)
            last = i + 1;
    for (size_t i = 0; i < last; i++) {
        struct picture *p = &following->picture[i], copy = *p;
        if (p->packet) {
            copy.packet = packet_clone(p->packet);
            if (!copy.packet)
                return err_memory(e, packet_size(p->packet));
        }
        copy.after_gap &= gaps;
        if (p->leading) {
            p->selected = false;
        } else {
            /* The key frame, without a number yet, is displayed after its leading pictures. */
            copy.selected = false;
            copy.frame = following->picture[last - 1].frame + following->count;
        }
        if (!chunk_append(chunk, &copy, e)) {
            packet_free(&copy.packet);
            return false;
        }
    }
    return true;
}

/* Returns true if a picture is selected that is `leading`, or is not. */
static bool is_selected(const struct chunk *r, bool leading)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->picture[i].selected && r->picture[i].leading == leading)
            return true;
    return false;
}

/* ------------------------------------------------------------------ chunker */

struct chunker {
    struct chunker_config config;
    struct chunker_counts counts;
    struct selection_cursor cursor;
    struct chunk *pending;  /* selected GOPs to be merged with the next ones; may be NULL */
    struct chunk *gop;      /* the GOP being collected, its key first */
    struct chunk *next;     /* the next GOP's key frame and leading pictures so far */
    struct picture **shown; /* scratch memory: one GOP in display order */
    size_t shown_room;
    bool rap_seen, first_gop;
    bool unsure;                /* the display order of the GOP that is being closed is a guess */
    bool filled, filled_before; /* missing frames were numbered in it; in the GOP before it */
    bool real; /* frames are missing at the gaps near the GOP that was closed last */
    const struct picture *ahead; /* the picture that is being pushed; NULL: the film ended */
    struct gaps gaps;
    bool stopped; /* by chunker_stop */
    bool lost;    /* some picture is lost: not every later order count can be relied on */
    struct timeline timeline;
    struct time_queue places; /* of displayed pictures that are not numbered yet */
};

static struct chunk *new_chunk(struct err *e) { return err_calloc(1, sizeof(struct chunk), e); }

struct chunker *chunker_open(const struct chunker_config *config, struct err *e)
{
    struct chunker *g = err_calloc(1, sizeof *g, e);
    if (!g)
        return NULL;
    g->config = *config;
    g->cursor = selection_begin(&config->selection);
    g->timeline = timeline_begin(&config->clock);
    g->places.delay = config->clock.delay;
    g->places.moves = config->clock.places_from_0;
    g->first_gop = true;
    g->counts.first_us = g->counts.end_us = -1;
    g->gop = new_chunk(e);
    g->next = new_chunk(e);
    if (!g->gop || !g->next)
        chunker_free(&g);
    return g;
}

void chunker_free(struct chunker **g)
{
    if (!*g)
        return;
    chunk_free(&(*g)->pending);
    chunk_free(&(*g)->gop);
    chunk_free(&(*g)->next);
    free((*g)->shown);
    time_queue_free(&(*g)->places);
    free(*g);
    *g = NULL;
}

static bool add_shown(struct chunker *g, struct chunk *r, bool leading, size_t *n, struct err *e)
{
    size_t first = *n;
    if (!err_reserve(&g->shown, first + r->count, &g->shown_room, sizeof(struct picture *), e))
        return false;
    for (size_t i = 0; i < r->count; i++)
        if (!r->picture[i].hidden && r->picture[i].leading == leading)
            g->shown[(*n)++] = &r->picture[i];
    bool gaps = g->lost || has_gap(g->gop) || has_gap(g->next);
    g->unsure |= !sort_display_order(&g->config.traits, gaps, g->config.clock.frame_us,
                                     g->shown + first, *n - first);
    return true;
}

/* ------------------------------------------------------------------ times and selection */

static bool select_frame(struct chunker *g, struct picture *p, int64_t time, int64_t next,
                         struct err *e)
{
    if (g->counts.displayed == 0) {
        g->counts.first_us = time;
        selection_first(&g->cursor, time);
    }
    p->frame = g->counts.displayed++;
    p->tag = (struct frame_tag){.frame = p->frame, .time_us = time};
    if (g->config.key || !selection_pick(&g->cursor, time, next, &p->tag))
        return true;
    p->selected = true;
    return columns_announce(g->config.columns, &p->tag, e);
}

/* Numbers the film's last frame, which no other frame ends. */
static bool number_last(struct chunker *g, struct picture *p, int64_t time, struct err *e)
{
    int64_t stays = timeline_last_stays(g->config.clock.frame_us, p->duration_us);
    bool usual = stays == g->config.clock.frame_us;
    g->counts.end_us = time + stays;
    frame_times_add(g->config.frame_times, time, usual ? FRAME_TIMES_OPEN : time + stays);
    return select_frame(
        g, p, time, usual ? selection_last_until(&g->cursor.rule, time, stays) : time + stays, e);
}

/* Numbers the frame at `time`, and the frames that are missing between it and the one at `next`. */
static bool number_frame(struct chunker *g, struct picture *p, const struct picture *follower,
                         int64_t time, int64_t next, struct err *e)
{
    uint64_t gone = 0;
    int64_t from = gaps_reached(&g->gaps, time);
    if (!g->stopped && next > from &&
        gaps_between(&g->gaps, p->serial, follower->serial, g->config.traits.reorder))
        gone = gap_frames(from, next, g->config.clock.frame_us);
    g->filled |= gone > 0;
    g->counts.dropped += gone;
    int64_t until = gone > 0 ? gap_frame_time(from, next, 1, gone) : next;
    frame_times_add(g->config.frame_times, time, until);
    if (!select_frame(g, p, time, until, e))
        return false;
    for (uint64_t i = 1; i <= gone; i++) {
        struct picture gap = {.lost = true};
        time = until;
        until = gap_frame_time(time, next, 1, gone - i);
        frame_times_add(g->config.frame_times, time, until);
        if (!select_frame(g, &gap, time, until, e))
            return false;
        g->counts.dropped_selected += gap.selected;
    }
    return true;
}

/* Numbers g->shown[0..n), and selects. `after` follows them; NULL: the film ends. */
static bool number_frames(struct chunker *g, size_t n, const struct picture *after, struct err *e)
{
    if (n == 0)
        return true;
    if (g->timeline.last_us < 0)
        date_first(g->shown, n, g->config.clock.frame_us);
    int64_t time = timeline_at(&g->timeline, g->shown[0]->pts_us);
    for (size_t i = 0; i < n; i++) {
        timeline_step(&g->timeline, time);
        const struct picture *follower = i + 1 < n ? g->shown[i + 1] : after;
        if (!follower)
            return number_last(g, g->shown[i], time, e);
        int64_t next = timeline_at(&g->timeline, follower->pts_us);
        if (!number_frame(g, g->shown[i], follower, time, next, e))
            return false;
        time = next;
    }
    return true;
}

/* VP9 and AV1 have so little redundancy that four pictures before a gap may be damaged. */
static void suspect_before(const struct chunker *g, struct chunk *r, size_t i)
{
    enum bitstream stream = g->config.traits.stream;
    size_t many = stream == STREAM_VP9 || stream == STREAM_AV1 ? 4 : 1;
    for (size_t k = 1; k <= many && k <= i; k++)
        r->picture[i - k].suspect = true;
}

/* Returns true if something is missing right before picture `p`. */
static bool is_after_gap(const struct chunker *g, const struct picture *p)
{
    return p->lost || (p->after_gap && g->real);
}

/* Returns true if more frames are missing after the next key frame than are ever reordered. */
static bool is_far_ahead(const struct chunker *g)
{
    enum { REACH = 17 }; /* no codec reorders by more than 16 */
    int64_t from = g->next->picture[0].pts_us;
    bool timed = from != TIME_NONE && g->ahead->pts_us != TIME_NONE;
    return timed && g->ahead->after_gap &&
           gap_frames(from, g->ahead->pts_us, g->config.clock.frame_us) > REACH;
}

static void suspect_inside(const struct chunker *g, struct chunk *r)
{
    for (size_t i = 0; i < r->count; i++)
        if (is_after_gap(g, &r->picture[i]))
            suspect_before(g, r, i);
}

/* Ignores gaps without missing frames. The picture before another one may be truncated. */
static void check_gaps(struct chunker *g)
{
    g->real = g->filled || g->filled_before;
    for (size_t i = 0; i < g->gop->count; i++)
        g->gop->picture[i].after_gap &= g->real;
    suspect_inside(g, g->gop);
    suspect_inside(g, g->next); /* copies may be in a chunk already (add_next_leading) */
    if (g->next->count > 0 && is_after_gap(g, &g->next->picture[0]))
        suspect_before(g, g->gop, g->gop->count);
    if (g->next->count > 0 && g->ahead && (is_after_gap(g, g->ahead) || is_far_ahead(g)))
        suspect_before(g, g->next, g->next->count);
    g->filled_before = g->filled;
    g->filled = false;
}

/*
 * Deselects the selected pictures of g->shown[0..n) if all of them exist already. All or none: a
 * GOP is decoded as it would be without them, so that its decoder finds the same damage. A GOP
 * whose order is a guess is always decoded: only that shows whether the guess was right.
 */
static void deselect_existing(const struct chunker *g, size_t n)
{
    const struct chunker_config *c = &g->config;
    if (!c->have || g->unsure)
        return;
    for (size_t i = 0; i < n; i++)
        if (g->shown[i]->selected && !c->have(c->have_user, &g->shown[i]->tag, false))
            return;
    for (size_t i = 0; i < n; i++)
        if (g->shown[i]->selected)
            g->shown[i]->selected = !c->have(c->have_user, &g->shown[i]->tag, true);
}

/* ------------------------------------------------------------------ chunks */

/* Emits the pending chunk. `following` is the GOP right after it (NULL: none). */
static bool emit_pending(struct chunker *g, struct chunk *following, struct err *e)
{
    struct chunk *chunk = g->pending;
    g->pending = NULL;
    if (!chunk)
        return true;
    chunk->own = chunk->count;
    if (following && !add_next_leading(chunk, following, g->real, e)) {
        chunk_free(&chunk);
        return false;
    }
    chunk->selected = 0;
    for (size_t i = 0; i < chunk->count; i++)
        chunk->selected += chunk->picture[i].selected;
    chunk->frames = g->counts.displayed;
    g->counts.chunks++;
    return g->config.emit(g->config.user, chunk, e);
}

static bool report_key(struct chunker *g, struct err *e)
{
    struct picture *key = g->gop->count > 0 ? g->gop->picture : NULL;
    bool shows = key && !key->lost && !key->hidden && key->rap != RAP_NONE;
    if (!g->config.key || !shows)
        return true;
    return g->config.key(g->config.user, key, e);
}

/* Returns the picture displayed after the GOP: the first of g->next that does not lead, or NULL. */
static struct picture *find_after(const struct chunker *g)
{
    for (size_t i = 0; i < g->next->count; i++)
        if (!g->next->picture[i].hidden && !g->next->picture[i].leading)
            return &g->next->picture[i];
    return NULL;
}

/* Numbers g->gop, then merges, emits or drops it. g->next becomes g->gop. */
static bool close_gop(struct chunker *g, struct err *e)
{
    size_t n = 0;
    g->unsure = false;
    if (!add_shown(g, g->gop, false, &n, e) || !add_shown(g, g->next, true, &n, e))
        return false;
    if (!queue_places(&g->places, g->gop->picture, g->gop->count, e) ||
        !queue_places(&g->places, g->next->picture, g->next->count, e))
        return false;
    struct picture *after = find_after(g);
    bool placed = time_queue_waits(&g->places);
    apply_places(&g->places, g->config.clock.frame_us, g->shown, n, after);
    if (!number_frames(g, n, after, e))
        return false;
    if (placed && after)
        after->pts_us = TIME_NONE; /* it is sorted with its GOP, where no other has a time */
    check_gaps(g);
    deselect_existing(g, n);
    if (!report_key(g, e))
        return false;

    bool needed = g->config.emit && (is_selected(g->gop, false) || is_selected(g->next, true));
    if (needed) {
        if (!g->pending)
            g->pending = new_chunk(e);
        if (!g->pending)
            return false;
        if (g->pending->count == 0) /* a first GOP's leading pictures are in the previous chunk */
            for (size_t i = 0; i < g->gop->count; i++)
                g->gop->picture[i].selected &= !g->gop->picture[i].leading;
        if (!move_pictures(g->pending, g->gop, e))
            return false;
        g->pending->unsure |= g->unsure;
        if (g->pending->count >= CHUNK_PICTURES && !emit_pending(g, g->next, e))
            return false;
    } else {
        g->counts.skipped += g->config.emit != NULL;
        if (!emit_pending(g, g->gop, e))
            return false;
    }
    chunk_free(&g->gop);
    g->gop = g->next;
    g->first_gop = false;
    g->next = new_chunk(e);
    return g->next != NULL;
}

/* ------------------------------------------------------------------ pushing */

static bool is_leading(const struct chunker *g, const struct picture *key, const struct picture *p)
{
    if (!g->config.traits.reorder || key->rap == RAP_CLOSED || p->hidden)
        return false;
    bool timed = p->pts_us != TIME_NONE && key->pts_us != TIME_NONE;
    if (g->config.traits.stream == STREAM_OTHER && p->guessed != key->guessed)
        return p->guessed;
    /* The picture may lead a missing key frame. A truncated one may have no time. */
    if (timed && (g->lost || gaps_inside(&g->gaps, key->serial, p->serial)))
        return p->pts_us < key->pts_us;
    if (g->config.traits.stream == STREAM_HEVC)
        return p->marked_leading;
    if (p->order != TIME_NONE && key->order != TIME_NONE && p->order != key->order)
        return p->order < key->order;
    bool by_time =
        g->config.traits.stream == STREAM_H264 || g->config.traits.stream == STREAM_OTHER;
    return by_time && timed && p->pts_us < key->pts_us;
}

static bool append_picture(struct chunk *r, struct picture *p, struct err *e)
{
    if (chunk_append(r, p, e))
        return true;
    packet_free(&p->packet);
    return false;
}

static bool push_before_first_rap(struct chunker *g, struct picture *p, struct err *e)
{
    /* A film whose first picture is lost begins with that picture: the film was not cut there. */
    if (p->lost && g->gop->count == 0) {
        g->rap_seen = true;
        g->first_gop = false;
        return append_picture(g->gop, p, e);
    }
    /* a picture that refers to no other can begin the film without being marked */
    if (p->intra && !p->hidden && p->rap == RAP_NONE && g->gop->count == 0)
        p->rap = RAP_OPEN;
    if (p->rap == RAP_NONE)
        return append_picture(g->gop, p, e);
    /* Earlier pictures refer to pictures that are not in the file. */
    for (size_t i = 0; i < g->gop->count; i++)
        g->counts.lead_in += !g->gop->picture[i].hidden;
    chunk_free(&g->gop);
    g->rap_seen = true;
    g->gop = new_chunk(e);
    if (!g->gop) {
        packet_free(&p->packet);
        return false;
    }
    return append_picture(g->gop, p, e);
}

void chunker_break_off(struct chunker *g, uint64_t serial)
{
    struct chunk *in = g->next->count > 0 ? g->next : g->gop;
    gaps_note(&g->gaps, serial);
    if (in->count > 0)
        in->picture[in->count - 1].suspect = true;
}

/* Closes the GOP before picture `p` is added. On failure, `p` is freed. */
static bool close_before(struct chunker *g, struct picture *p, struct err *e)
{
    /* With a delay, the place of `p` may be the time of the GOP's last frame. */
    if (queue_places(&g->places, g->gop->picture, g->gop->count, e) &&
        queue_places(&g->places, g->next->picture, g->next->count, e) &&
        queue_places(&g->places, p, 1, e) && close_gop(g, e))
        return true;
    packet_free(&p->packet);
    return false;
}

bool chunker_push(struct chunker *g, struct picture *p, struct err *e)
{
    g->lost |= p->lost;
    g->ahead = p;
    if (p->after_gap)
        gaps_note(&g->gaps, p->serial);
    if (!g->rap_seen)
        return push_before_first_rap(g, p, e);
    if (p->rap != RAP_NONE) {
        if (g->next->count > 0 && !close_before(g, p, e))
            return false;
        return append_picture(g->next, p, e);
    }
    struct chunk *in = g->next->count > 0 ? g->next : g->gop;
    if (in == g->next || g->first_gop)
        p->leading = is_leading(g, &in->picture[0], p);
    if (in == g->next) {
        if (p->leading || p->hidden)
            return append_picture(in, p, e);
        if (!close_before(g, p, e))
            return false;
        return append_picture(g->gop, p, e);
    }
    if (p->leading) {
        /* The film's first GOP: leading pictures are displayed if they need no other. */
        bool hevc = g->config.traits.stream == STREAM_HEVC;
        bool whole = (hevc || g->gop->picture[0].closed) && !p->needs_before;
        p->leading = false;
        p->hidden |= !whole;
    } else if (!p->hidden) {
        g->first_gop = false; /* leading pictures come right after their key frame */
    }
    return append_picture(in, p, e);
}

void chunker_stop(struct chunker *g) { g->stopped = true; }

bool chunker_end(struct chunker *g, struct err *e)
{
    g->ahead = NULL;
    if (!g->rap_seen)
        return true;
    if (g->next->count > 0 && !close_gop(g, e))
        return false;
    return close_gop(g, e) && emit_pending(g, NULL, e);
}

static bool is_too_long(const struct chunk *r)
{
    return r->count > GOP_PICTURES_MAX || r->bytes > GOP_BYTES_MAX;
}

bool chunker_stuck(const struct chunker *g, bool at_end)
{
    if (!g->rap_seen && at_end)
        return g->gop->count > 0;
    /* All pictures may seem to lead a key frame whose time or order is far too high. */
    return !g->config.key && (is_too_long(g->gop) || is_too_long(g->next));
}

bool chunker_begun(const struct chunker *g)
{
    return g->rap_seen && (!g->first_gop || g->next->count > 0);
}

bool chunker_done(const struct chunker *g)
{
    return g->timeline.last_us >= 0 && selection_done(&g->cursor, g->timeline.last_us);
}

bool chunker_release(struct chunker *g, struct chunker_state *s, struct err *e)
{
    struct chunk *held = g->gop;
    if (!emit_pending(g, held, e))
        return false;
    /* These come next in decoding order, and have no numbers yet. */
    for (size_t i = 0; i < g->next->count; i++)
        g->next->picture[i].leading = false;
    if (!move_pictures(held, g->next, e))
        return false;
    g->gop = NULL;
    *s = (struct chunker_state){.held = held,
                                .cursor = g->cursor,
                                .next_frame = g->counts.displayed,
                                .timeline = g->timeline,
                                .places = g->places,
                                .first_us = g->counts.first_us};
    g->places = (struct time_queue){.us = NULL};
    return true;
}

struct chunker_counts chunker_counts_now(const struct chunker *g)
{
    struct chunker_counts c = g->counts;
    c.held = g->rap_seen || !g->gop ? 0 : g->gop->count;
    return c;
}

int64_t chunker_last_us(const struct chunker *g) { return g->timeline.last_us; }
