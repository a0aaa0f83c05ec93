/*
 * keyframe_by_index.c - reads key frames by the container's index: for each selected time, the one
 * at or before it.
 *
 * The times of an index are not display times: an MP4 has decoding times, which are not later than
 * display times. So the picture's display time decides. If that is too late, the previous key frame
 * is used.
 */
#include <inttypes.h>

#include "keyframe_reader.h"
#include "media/bitstream/coded_picture.h"
#include "media/bitstream/packet_scan.h"
#include "media/bitstream/param_sets.h"
#include "media/container/demux.h"
#include "media/container/keyframe_index.h"
#include "media/container/read_ahead.h"
#include "media/ffmpeg/packet.h"
#include "media/gop/keyframe_chunks.h"
#include "media/schedule/decode_pass.h"
#include "media/schedule/idr_splice.h"
#include "media/select/timeline.h"
#include "base/log.h"

/*
 * Returns true if the frame is displayed at the start of the film. Pictures displayed before the
 * first key frame count only if they refer to no earlier picture (chunker.c).
 */
static bool is_first_shown(const struct key_reader *k, const struct picture *key,
                           const struct picture *p)
{
    bool timed = p->pts_us != TIME_NONE && key->pts_us != TIME_NONE;
    bool leads = k->traits.reorder && key->rap != RAP_CLOSED && timed && p->pts_us < key->pts_us;
    bool whole = (k->traits.stream == STREAM_HEVC || key->closed) && !p->needs_before;
    return !p->hidden && (!leads || whole);
}

/*
 * Finds the stored time of the film's first frame, TIME_NONE if it has none: the earliest of the
 * first displayed pictures. No codec reorders by more than 16.
 */
static bool find_first(struct key_reader *k, int64_t *first_us, struct err *e)
{
    enum { REACH = 17 };
    struct picture p, key = {.serial = UINT64_MAX};
    *first_us = TIME_NONE;
    for (int shown = 0; shown < REACH && !film_keys_stopped(k) && demux_next(k->demux, &p, e);) {
        film_keys_find_rap(k, &p);
        bool kept = !p.packet || side_data_keep(&k->side, p.packet, false, e);
        packet_free(&p.packet);
        if (!kept)
            return false;
        bool begins =
            key.serial == UINT64_MAX && (p.rap != RAP_NONE || p.lost || (p.intra && !p.hidden));
        if (begins)
            key = p;
        if (key.serial == UINT64_MAX) {
            k->lead_in++;
            continue;
        }
        if (!is_first_shown(k, &key, &p))
            continue;
        shown++;
        int64_t time_us = p.placed ? p.place_us : key.pts_us != TIME_NONE ? p.pts_us : TIME_NONE;
        if (time_us != TIME_NONE && (*first_us == TIME_NONE || time_us < *first_us))
            *first_us = time_us;
        if (!k->traits.reorder)
            break;
    }
    return e->code == ERR_NONE;
}

/* ------------------------------------------------------------------ by the index */

static int64_t film_time(const struct key_reader *k, int64_t stored_us)
{
    int64_t time = stored_us - k->origin_us;
    return time > 0 ? time : 0;
}

/*
 * Returns true if `p` is displayed before the key frame that it follows in the file. In an AVI,
 * libavformat guesses the times of B pictures only.
 */
static bool displays_before(const struct picture *key, const struct picture *p)
{
    bool timed = p->pts_us != TIME_NONE, key_timed = key->pts_us != TIME_NONE;
    bool ordered = p->order != TIME_NONE && key->order != TIME_NONE;
    return p->marked_leading || (timed && key_timed ? p->pts_us < key->pts_us
                                 : ordered          ? p->order < key->order
                                                    : p->guessed && !key->guessed);
}

/*
 * Reads the pictures that belong to key frame `key` and follow it in the file: its second field, if
 * that has its own packet. If the index has all pictures, *leaders counts those displayed before
 * the key frame.
 */
static bool read_on(struct key_reader *k, const struct picture *key, struct picture *second,
                    uint64_t *leaders, struct err *e)
{
    enum { LEADERS_MOST = 16 }; /* no codec reorders by more pictures */
    bool counts = k->index.kind == KEY_INDEX_SAMPLES && k->traits.reorder && key->rap == RAP_OPEN,
         field = key->field;
    struct picture p;
    while ((field || counts) && demux_next(k->demux, &p, e)) {
        if (field && p.field)
            *second = p;
        else
            packet_free(&p.packet);
        counts = counts && *leaders < LEADERS_MOST && (displays_before(key, &p) || field);
        *leaders +=
            counts && !field && !p.hidden && (key->serial > 0 || is_first_shown(k, key, &p));
        field = false;
    }
    return e->code == ERR_NONE;
}

/*
 * Fills number and time of key frame `i`, which has `leaders` leading pictures. If the index has
 * all pictures, the number is the count of those before; otherwise it follows from the time and the
 * film's rate.
 */
static void name_key(const struct key_reader *k, size_t i, uint64_t leaders, struct picture *p)
{
    const struct film *f = k->film;
    int64_t frame_us = film_frame_us(f);
    bool listed = k->index.kind == KEY_INDEX_SAMPLES, timed = p->pts_us != TIME_NONE;
    uint64_t number = k->index.key[i].before + leaders;
    int64_t place_us = p->placed ? demux_place_us(k->demux, (int)number) : TIME_NONE;
    if (!timed)
        p->pts_us = place_us != TIME_NONE ? place_us
                                          : k->index.key[i].from_us + (int64_t)leaders * frame_us;
    int64_t time = film_time(k, p->pts_us);
    int64_t since = time > k->first_us ? time - k->first_us : 0;
    if (!listed)
        number = (uint64_t)(f->rate_num > 0 ? av_rescale(since, f->rate_num, f->rate_den * 1000000)
                                            : (since + frame_us / 2) / frame_us);
    p->tag = (struct frame_tag){.frame = number, .time_us = time};
}

/*
 * Reads key frame `i` of the index into *p, with number and time. Returns false if it cannot be
 * used, or on `e`. A key frame that cannot be read is recorded as bad. An entry that is not a key
 * frame in the bitstream is ignored.
 */
static bool fetch_key(struct key_reader *k, size_t i, struct picture *p, struct picture *second,
                      struct err *e)
{
    struct key_entry *key = &k->index.key[i];
    if (k->early.there && k->early.i == i) {
        *p = k->early.picture;
        *second = k->early.second;
        k->early = (struct early){.there = false};
        return true;
    }
    *second = (struct picture){.packet = NULL};
    if (film_keys_stopped(k) || key->unusable || decode_pass_is_bad_key(k->pass, key->serial))
        return false;
    bool there = key_index_fetch(&k->index, i, k->demux, p, e);
    if (e->code != ERR_NONE)
        return false;
    const struct param_sets *sets = &k->demux->param_sets;
    bool whole = there && !p->lost && !p->suspect && p->rap != RAP_NONE;
    /* Other pictures contain parameter sets, which this one may need as well. */
    k->demux->lacking |= whole && sets->last > 0 && sets->last != p->serial + 1;
    if (film_keys_lack_sets(k)) {
        packet_free(&p->packet);
        return false;
    }
    atomic_store(&k->pass->bytes_read, demux_position(k->demux));
    k->fetched++;
    key->unusable = !there || p->lost;
    if (key->unusable) {
        decode_pass_bad_key(k->pass, key->serial, false);
        return false;
    }
    film_keys_find_rap(k, p);
    idr_splice_offer(k->pass, p, &k->demux->sets, k->demux->length_size);
    bool usable = !p->hidden && (p->rap != RAP_NONE || (p->intra && i == 0));
    uint64_t leaders = 0;
    if (usable && side_data_keep(&k->side, p->packet, true, e) &&
        read_on(k, p, second, &leaders, e)) {
        name_key(k, i, leaders, p);
        return true;
    }
    key->unusable = !usable;
    k->none += !usable;
    packet_free(&p->packet);
    packet_free(&second->packet);
    return false;
}

/*
 * Returns the last key frame from `low` on that may be at or before `time_us`; `low` if there is
 * none.
 */
static size_t find_key(const struct key_reader *k, size_t low, int64_t time_us)
{
    size_t high = k->index.count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (film_time(k, k->index.key[middle].from_us) <= time_us)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/*
 * Holds a key frame. Makes its number greater than the previous one even if rates and times are
 * wrong.
 */
static bool hold_key(struct key_reader *k, struct picture *p, struct picture *second, struct err *e)
{
    const struct frame_tag *before = &k->keys.held.tag;
    bool any = k->keys.sent > 0 || k->keys.holds;
    if (any && p->tag.frame <= before->frame)
        p->tag.frame = before->frame + 1;
    return keys_hold(&k->keys, p, second, e);
}

/*
 * Finds the key frame for the first open column, selected at `target`. That is the last usable one
 * at or before `target`, from *at on; else the held one; at the film's start the first one after
 * it. Sets *at, and *until: the time up to which no other key frame can be used. Returns false if
 * there is none, or on `e`.
 */
static bool serve_next(struct key_reader *k, int64_t target, size_t *at, int64_t *until,
                       struct err *e)
{
    size_t count = k->index.count, candidate = find_key(k, *at, target);
    struct picture p, second;
    *until = candidate + 1 < count ? film_time(k, k->index.key[candidate + 1].from_us) : INT64_MAX;
    for (size_t i = candidate + 1; i-- > *at + (k->keys.holds ? 1 : 0);) {
        if (!fetch_key(k, i, &p, &second, e)) {
            if (e->code != ERR_NONE || film_keys_stopped(k))
                return false;
            continue;
        }
        /* The time in the index is a decoding time. */
        bool later = p.tag.time_us > target && i > 0;
        if (!later) {
            *at = i;
            return hold_key(k, &p, &second, e);
        }
        *until = p.tag.time_us < *until ? p.tag.time_us : *until;
        packet_free(&k->early.picture.packet);
        packet_free(&k->early.second.packet);
        k->early = (struct early){true, i, p, second};
    }
    if (k->keys.holds)
        return true;
    for (size_t i = candidate + 1; i < count; i++)
        if (fetch_key(k, i, &p, &second, e)) {
            *at = i;
            *until = i + 1 < count ? film_time(k, k->index.key[i + 1].from_us) : INT64_MAX;
            return hold_key(k, &p, &second, e);
        } else if (e->code != ERR_NONE || film_keys_stopped(k)) {
            return false;
        }
    return false;
}

/* Returns when the film's last frame leaves the screen. */
static int64_t film_end(const struct key_reader *k)
{
    const struct key_entry *last = &k->index.key[k->index.count - 1];
    int64_t end = k->index.end_us != TIME_NONE ? film_time(k, k->index.end_us)
                  : k->film->length.duration_us > 0
                      ? film_length_end(&k->film->length)
                      : film_time(k, last->from_us) + film_frame_us(k->film);
    int64_t cut = k->index.cut_us != TIME_NONE ? film_time(k, k->index.cut_us) : INT64_MAX;
    return end < cut ? end : cut;
}

/*
 * Returns until when the last key frame is used for columns: all columns are filled, an interval
 * ends with the film.
 */
static int64_t columns_end(const struct key_reader *k, int64_t film_end_us)
{
    const struct selection *rule = &k->keys.cursor.rule;
    bool cut = k->index.cut_us != TIME_NONE;
    return rule->kind == SELECT_COLUMNS ? (cut ? film_time(k, k->index.cut_us) : INT64_MAX)
           : film_end_us < rule->end_us ? film_end_us
                                        : rule->end_us;
}

/* Returns the first time that still needs a key frame, for a column or a preview, or INT64_MAX. */
static int64_t next_target(const struct key_reader *k, int64_t columns_end_us, int64_t film_end_us)
{
    int64_t column = selection_next(&k->keys.cursor),
            preview = selection_next_preview(&k->keys.cursor);
    column = column < columns_end_us ? column : INT64_MAX;
    preview = preview < film_end_us ? preview : INT64_MAX;
    return column < preview ? column : preview;
}

static void note_index_counts(struct key_reader *k, int64_t end)
{
    struct decode_counts *to = &k->pass->counts;
    const struct film *f = k->film;
    for (size_t i = 0; i < k->index.count; i++)
        film_keys_count(k, film_time(k, k->index.key[i].from_us));
    pthread_mutex_lock(&k->pass->lock);
    to->displayed = k->index.kind == KEY_INDEX_SAMPLES ? k->index.shown
                    : f->length.frames > 0             ? (uint64_t)f->length.frames
                                                       : k->found;
    to->first_us = k->first_us;
    to->last_us = end < INT64_MAX ? end : film_length_end(&f->length);
    to->to_end = k->index.end_us != TIME_NONE;
    to->end_us = to->to_end ? film_time(k, k->index.end_us) : -1;
    to->lead_in = k->lead_in;
    to->chunks = k->keys.sent;
    to->keys = k->found;
    to->packets = k->fetched;
    pthread_mutex_unlock(&k->pass->lock);
}

static bool read_by_index(struct key_reader *k, struct err *e)
{
    size_t at = 0;
    int64_t last = film_end(k), end = columns_end(k, last), until;
    for (int64_t target = next_target(k, end, last); target < INT64_MAX && !film_keys_stopped(k);
         target = next_target(k, end, last)) {
        if (!serve_next(k, target, &at, &until, e))
            break;
        if (k->keys.cursor.rule.preview_us > 0 && until > last)
            keys_serve(&k->keys, last);
        until = until < end ? until : end;
        keys_serve(&k->keys, until > target ? until : target + 1);
    }
    bool ok = e->code == ERR_NONE && (film_keys_stopped(k) || keys_end(&k->keys, e));
    k->demux->failed |= k->index.cut_us != TIME_NONE;
    note_index_counts(k, end);
    if (k->none > 0)
        log_msg(LOG_VERBOSE, "'%s': its index lists %" PRIu64 " entries that are not key frames",
                k->film->path, k->none);
    return ok;
}

bool film_keys_go_back(struct key_reader *k, struct err *e)
{
    struct demux *r = k->demux;
    const AVIndexEntry *first = avformat_index_get_entry(r->stream, 0);
    bool samples = r->quirks->index == KEY_INDEX_SAMPLES; /* the first entry may be no key frame */
    int flags = AVSEEK_FLAG_BACKWARD | (samples ? AVSEEK_FLAG_ANY : 0);
    if (!first || container_seek(r->format, r->stream->index, first->timestamp, flags) < 0)
        return err_set(e, ERR_INPUT, "cannot seek to the start of '%s'", k->film->path);
    demux_jumped(r, 0);
    r->hidden = r->unreadable = 0;
    demux_begin_headers(r);
    return true;
}

/*
 * Returns false if some picture has parameter sets and the second key frame has none. Then only
 * reading the complete film shows whether sets change between key frames.
 */
static bool bring_sets_alike(struct key_reader *k, struct err *e)
{
    const struct param_sets *sets = &k->demux->param_sets;
    struct picture p = {.packet = NULL};
    if (sets->last == 0 || k->index.count < 2)
        return true;
    bool alike = key_index_fetch(&k->index, 1, k->demux, &p, e) && sets->last == p.serial + 1;
    packet_free(&p.packet);
    return alike;
}

/* Sets the origin of the film's times as the timeline does, and tells the selection the start. */
static void find_origin(struct key_reader *k, int64_t first_us)
{
    const struct film_clock clock = demux_clock(k->demux, k->film);
    struct timeline t = timeline_begin(&clock);
    if (first_us == TIME_NONE && k->index.count > 0)
        first_us = k->index.key[0].from_us;
    k->first_us = timeline_at(&t, first_us);
    k->origin_us = t.origin_us;
    selection_first(&k->keys.cursor, k->first_us);
}

/*
 * Lists the index, and finds the film's first frame. Returns false without an error if the index
 * cannot be relied on.
 */
static bool begin_index(struct key_reader *k, enum key_index_kind kind, struct err *e)
{
    int64_t first_us;
    if (!find_first(k, &first_us, e) || !key_index_open(&k->index, kind, k->demux, k->film, e))
        return false;
    find_origin(k, first_us);
    if (film_keys_stopped(k))
        return true;
    if (k->index.count > 0 && bring_sets_alike(k, e))
        return e->code == ERR_NONE;
    k->lead_in = 0;
    if (e->code == ERR_NONE)
        film_keys_go_back(k, e);
    return false;
}

bool film_keys_read_index(struct key_reader *k, enum key_index_kind kind, struct err *e)
{
    if (!begin_index(k, kind, e))
        return false;
    if (film_keys_stopped(k))
        return true;
    return read_by_index(k, e);
}
