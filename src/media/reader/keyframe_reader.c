/*
 * keyframe_reader.c - the reading thread of --keyframes: each key frame becomes a chunk.
 *
 * With an index (keyframe_index.c), only the key frames at or before each selected time are read.
 * Otherwise the complete film goes through the chunker, which numbers and times each picture, and
 * only the packets of key frames are kept. Both ways give a key frame the same time.
 *
 * A key frame is a random access point of the bitstream (packet_scan.h). In a codec that
 * packet_scan.c does not know, it is what the container marks as a key frame.
 */
#include <inttypes.h>

#include "base/interrupt.h"
#include "base/log.h"
#include "media/container/open.h"
#include "media/ffmpeg/packet.h"
#include "reader.h"

/* The chunker returns a key frame at the latest when the second one after it comes. */
enum { SECONDS = 4 };

struct key_reader {
    struct decode_pass *pass; /* NULL: only counts */
    struct demux *demux;
    const struct film *film;
    struct codec_traits traits;
    struct keys keys;
    struct chunker *chunker; /* when the complete film is read */
    uint64_t found;          /* key frames */
    /* When the complete film is read: */
    bool half;                      /* the last picture was the first field of two */
    struct picture second[SECONDS]; /* second fields of the last key frames; packet NULL: none */
    unsigned seconds;               /* how many came */
    int64_t last_lasts_us;          /* duration of the last displayed picture's packet */
    /* By an index: */
    struct key_index index;
    int64_t origin_us; /* stored time that is 0 for a player */
    int64_t first_us;  /* time of the film's first frame */
    struct early {     /* a key frame that was read for a later column */
        bool kept;
        size_t i;
        struct picture picture, second;
    } early;
    uint64_t lead_in, fetched;
    uint64_t none;         /* pictures that are key frames in the index but not in the bitstream */
    struct side_data side; /* for key frames that any worker may decode */
};

static struct codec_traits traits_for_keys(const struct demux *r)
{
    struct codec_traits t = r->traits;
    const AVCodecDescriptor *codec = avcodec_descriptor_get(r->stream->codecpar->codec_id);
    if (t.stream == STREAM_OTHER)
        t.reorder = codec && codec->props & AV_CODEC_PROP_REORDER;
    return t;
}

static void open_reader(struct key_reader *k, struct decode_pass *s, struct demux *r,
                        const struct film *film)
{
    *k = (struct key_reader){
        .pass = s, .demux = r, .film = film, .traits = traits_for_keys(r), .origin_us = TIME_NONE};
}

static void close_reader(struct key_reader *k)
{
    keys_drop(&k->keys);
    for (int i = 0; i < SECONDS; i++)
        packet_free(&k->second[i].packet);
    packet_free(&k->early.picture.packet);
    packet_free(&k->early.second.packet);
    key_index_close(&k->index);
    side_data_free(&k->side);
}

/* Sets p's rap if only the container marks it as a key frame. */
static void find_rap(const struct key_reader *k, struct picture *p)
{
    if (k->traits.stream == STREAM_OTHER && p->packet && p->packet->flags & AV_PKT_FLAG_KEY)
        p->rap = k->traits.reorder ? RAP_OPEN : RAP_CLOSED;
}

static bool is_stopped(const struct key_reader *k)
{
    return k->pass ? decode_pass_stopped(k->pass) : interrupted();
}

/* Counts the key frame at `time_us` if it is in the selected part of the film. */
static void count_key(struct key_reader *k, int64_t time_us)
{
    const struct selection *s = &k->keys.config.selection;
    k->found += !k->pass || (time_us >= s->start_us && time_us < s->end_us);
}

/* Has the film decoded sequentially if the last key frame lacks parameter sets (param_sets.h). */
static bool lacks_sets(struct key_reader *k)
{
    if (!k->pass || !k->demux->lacking)
        return false;
    log_msg(LOG_VERBOSE, "'%s': its parameter sets change within the film", k->film->path);
    decode_pass_contradict(k->pass);
    return true;
}

/* ------------------------------------------------------------------ by the index */

/*
 * The times of an index are not display times: an MP4 has decoding times, which are not later than
 * display times. So the picture's display time decides. If that is too late, the previous key frame
 * is used.
 */

/* Returns true if the frame is displayed at the film's start, as chunker.c decides. */
static bool is_first_shown(const struct key_reader *k, const struct picture *key,
                           const struct picture *p)
{
    bool timed = p->pts_us != TIME_NONE && key->pts_us != TIME_NONE;
    bool leads = k->traits.reorder && key->rap != RAP_CLOSED && timed && p->pts_us < key->pts_us;
    bool whole = (k->traits.stream == STREAM_HEVC || key->closed) && !p->needs_before;
    return !p->hidden && (!leads || whole);
}

/* Finds the earliest stored time of the first displayed pictures, or TIME_NONE. */
static bool find_first(struct key_reader *k, int64_t *first_us, struct err *e)
{
    enum { REACH = 17 }; /* no codec reorders by more than 16 */
    struct picture p, key = {.serial = UINT64_MAX};
    *first_us = TIME_NONE;
    for (int shown = 0; shown < REACH && !is_stopped(k) && demux_next(k->demux, &p, e);) {
        find_rap(k, &p);
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
        int64_t time_us = key.pts_us != TIME_NONE ? p.pts_us : TIME_NONE;
        if (p.placed)
            time_us = p.place_us;
        if (time_us != TIME_NONE && (*first_us == TIME_NONE || time_us < *first_us))
            *first_us = time_us;
        if (!k->traits.reorder)
            break;
    }
    return e->code == ERR_NONE;
}

static int64_t film_time(const struct key_reader *k, int64_t stored_us)
{
    int64_t time = stored_us - k->origin_us;
    return time > 0 ? time : 0;
}

/* Returns true if `p` is displayed before its key frame. In AVI, B pictures alone have times. */
static bool displays_before(const struct picture *key, const struct picture *p)
{
    if (p->marked_leading)
        return true;
    if (p->pts_us != TIME_NONE && key->pts_us != TIME_NONE)
        return p->pts_us < key->pts_us;
    if (p->order != TIME_NONE && key->order != TIME_NONE)
        return p->order < key->order;
    return p->guessed && !key->guessed;
}

/*
 * Reads the pictures that belong to key frame `key` and follow it in the file: its second field, if
 * that has its own packet. If the index has all pictures, *leaders counts those displayed before
 * the key frame.
 */
static bool read_followers(struct key_reader *k, const struct picture *key, struct picture *second,
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
static void number_key(const struct key_reader *k, size_t i, uint64_t leaders, struct picture *p)
{
    const struct film *f = k->film;
    int64_t frame_us = film_frame_us(f);
    bool listed = k->index.kind == KEY_INDEX_SAMPLES, timed = p->pts_us != TIME_NONE;
    uint64_t number = k->index.key[i].before + leaders;
    int64_t place_us = p->placed ? demux_place_us(k->demux, (int)number) : TIME_NONE;
    if (!timed && place_us != TIME_NONE)
        p->pts_us = place_us;
    else if (!timed)
        p->pts_us = k->index.key[i].from_us + (int64_t)leaders * frame_us;
    int64_t time = film_time(k, p->pts_us);
    int64_t since = time > k->first_us ? time - k->first_us : 0;
    if (!listed && f->rate_num > 0)
        number = (uint64_t)av_rescale(since, f->rate_num, f->rate_den * 1000000);
    else if (!listed)
        number = (uint64_t)((since + frame_us / 2) / frame_us);
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
    if (k->early.kept && k->early.i == i) {
        *p = k->early.picture;
        *second = k->early.second;
        k->early = (struct early){.kept = false};
        return true;
    }
    *second = (struct picture){.packet = NULL};
    if (is_stopped(k) || key->unusable || decode_pass_is_bad_key(k->pass, key->serial))
        return false;
    bool fetched = key_index_fetch(&k->index, i, k->demux, p, e);
    if (e->code != ERR_NONE)
        return false;
    const struct param_sets *sets = &k->demux->param_sets;
    bool whole = fetched && !p->lost && !p->suspect && p->rap != RAP_NONE;
    /* Other pictures contain parameter sets, which this one may need as well. */
    k->demux->lacking |= whole && sets->last > 0 && sets->last != p->serial + 1;
    if (lacks_sets(k)) {
        packet_free(&p->packet);
        return false;
    }
    atomic_store(&k->pass->bytes_read, demux_position(k->demux));
    k->fetched++;
    key->unusable = !fetched || p->lost;
    if (key->unusable) {
        decode_pass_bad_key(k->pass, key->serial, false);
        return false;
    }
    find_rap(k, p);
    idr_splice_offer(k->pass, p, &k->demux->sets, k->demux->length_size);
    bool usable = !p->hidden && (p->rap != RAP_NONE || (p->intra && i == 0));
    uint64_t leaders = 0;
    if (usable && side_data_keep(&k->side, p->packet, true, e) &&
        read_followers(k, p, second, &leaders, e)) {
        number_key(k, i, leaders, p);
        return true;
    }
    key->unusable = !usable;
    k->none += !usable;
    packet_free(&p->packet);
    packet_free(&second->packet);
    return false;
}

/* Returns the last key frame from `low` on that may be at or before `time_us`, or `low`. */
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

/* Holds a key frame. Its number exceeds the last one, even if rates and times are wrong. */
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
    const size_t first = k->keys.holds ? *at + 1 : *at; /* the one that is held is at *at */
    for (size_t i = candidate + 1; i-- > first;) {
        if (!fetch_key(k, i, &p, &second, e)) {
            if (e->code != ERR_NONE || is_stopped(k))
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
    for (size_t i = candidate + 1; i < count; i++) {
        if (fetch_key(k, i, &p, &second, e)) {
            *at = i;
            *until = i + 1 < count ? film_time(k, k->index.key[i + 1].from_us) : INT64_MAX;
            return hold_key(k, &p, &second, e);
        }
        if (e->code != ERR_NONE || is_stopped(k))
            return false;
    }
    return false;
}

/* Returns when the film's last frame leaves the screen. */
static int64_t film_end(const struct key_reader *k)
{
    const struct key_entry *last = &k->index.key[k->index.count - 1];
    int64_t end = film_time(k, last->from_us) + film_frame_us(k->film);
    if (k->index.end_us != TIME_NONE)
        end = film_time(k, k->index.end_us);
    else if (k->film->length.duration_us > 0)
        end = film_length_end(&k->film->length);
    int64_t cut = k->index.cut_us != TIME_NONE ? film_time(k, k->index.cut_us) : INT64_MAX;
    return end < cut ? end : cut;
}

/* Returns until when the last key frame fills columns: all, or those of an interval's film. */
static int64_t columns_end(const struct key_reader *k, int64_t film_end_us)
{
    const struct selection *rule = &k->keys.cursor.rule;
    if (rule->kind != SELECT_COLUMNS)
        return film_end_us < rule->end_us ? film_end_us : rule->end_us;
    return k->index.cut_us != TIME_NONE ? film_time(k, k->index.cut_us) : INT64_MAX;
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
        count_key(k, film_time(k, k->index.key[i].from_us));
    pthread_mutex_lock(&k->pass->lock);
    if (k->index.kind == KEY_INDEX_SAMPLES)
        to->displayed = k->index.shown;
    else
        to->displayed = f->length.frames > 0 ? (uint64_t)f->length.frames : k->found;
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
    for (int64_t target = next_target(k, end, last); target < INT64_MAX && !is_stopped(k);
         target = next_target(k, end, last)) {
        if (!serve_next(k, target, &at, &until, e))
            break;
        if (k->keys.cursor.rule.preview_us > 0 && until > last)
            keys_serve(&k->keys, last);
        until = until < end ? until : end;
        keys_serve(&k->keys, until > target ? until : target + 1);
    }
    bool ok = e->code == ERR_NONE && (is_stopped(k) || keys_end(&k->keys, e));
    k->demux->failed |= k->index.cut_us != TIME_NONE;
    note_index_counts(k, end);
    if (k->none > 0)
        log_msg(LOG_VERBOSE, "'%s': its index lists %" PRIu64 " entries that are not key frames",
                k->film->path, k->none);
    return ok;
}

/* Seeks to the first picture if no index is usable. Returns false if that is impossible. */
static bool seek_first(struct key_reader *k, struct err *e)
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

/* Returns false if parameter sets may change: some picture has them, not the second key frame. */
static bool repeats_sets(struct key_reader *k, struct err *e)
{
    const struct param_sets *sets = &k->demux->param_sets;
    struct picture p = {.packet = NULL};
    if (sets->last == 0 || k->index.count < 2)
        return true;
    bool alike = key_index_fetch(&k->index, 1, k->demux, &p, e) && sets->last == p.serial + 1;
    packet_free(&p.packet);
    return alike;
}

/* Sets the origin of the film's times as the timeline does, and the start of the selection. */
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

/* Lists the index, finds the first frame. Returns false, `e` empty, if the index is unreliable. */
static bool begin_index(struct key_reader *k, enum key_index_kind kind, struct err *e)
{
    int64_t first_us;
    if (!find_first(k, &first_us, e) || !key_index_open(&k->index, kind, k->demux, k->film, e))
        return false;
    find_origin(k, first_us);
    if (is_stopped(k))
        return true;
    if (k->index.count > 0 && repeats_sets(k, e))
        return e->code == ERR_NONE;
    k->lead_in = 0;
    if (e->code == ERR_NONE)
        seek_first(k, e);
    return false;
}

/* ------------------------------------------------------------------ reading through */

/* Implements chunker_key. */
static bool on_key(void *user, struct picture *key, struct err *e)
{
    struct key_reader *k = user;
    struct picture second = {.packet = NULL};
    selection_first(&k->keys.cursor, chunker_counts_now(k->chunker).first_us);
    count_key(k, key->tag.time_us);
    for (int i = 0; i < SECONDS; i++)
        if (k->second[i].packet && k->second[i].serial == key->serial + 1) {
            second = k->second[i];
            k->second[i].packet = NULL;
        }
    if (!k->pass || decode_pass_is_bad_key(k->pass, key->serial)) {
        packet_free(&second.packet);
        return true;
    }
    keys_serve(&k->keys, key->tag.time_us);
    bool ok = keys_hold(&k->keys, key, &second, e);
    key->packet = NULL;
    return ok;
}

/* Returns true for a frame's second field. A key frame's is kept, and `p` loses its packet. */
static bool is_second_field(struct key_reader *k, struct picture *p, bool after_key)
{
    bool second = p->field && k->half;
    k->half = p->field && !k->half;
    if (second && after_key) {
        struct picture *kept = &k->second[k->seconds++ % SECONDS];
        packet_free(&kept->packet);
        *kept = *p;
    } else if (second) {
        packet_free(&p->packet);
    }
    return second;
}

static bool push_picture(struct key_reader *k, struct chunker *g, struct picture *p,
                         bool *after_key, struct err *e)
{
    find_rap(k, p);
    if (k->pass)
        idr_splice_offer(k->pass, p, &k->demux->sets, k->demux->length_size);
    if (is_second_field(k, p, *after_key))
        return true;
    bool key = !p->hidden && (p->rap != RAP_NONE || (p->intra && !chunker_begun(g)));
    *after_key = key;
    if (p->packet && !side_data_keep(&k->side, p->packet, key, e)) {
        packet_free(&p->packet);
        return false;
    }
    if (!key)
        packet_free(&p->packet);
    if (!p->hidden)
        k->last_lasts_us = p->duration_us;
    return chunker_push(g, p, e);
}

/* Ends the film: its last key frame is used up to the end of its last frame. */
static bool end_through(struct key_reader *k, struct chunker *g, bool done, struct err *e)
{
    if (done)
        chunker_stop(g);
    if (k->demux->gap)
        chunker_break_off(g, k->demux->serial);
    if (!chunker_end(g, e))
        return false;
    int64_t frame_us = film_frame_us(k->film), last = chunker_last_us(g);
    int64_t stays = timeline_last_stays(frame_us, k->last_lasts_us);
    const struct selection *rule = &k->keys.cursor.rule;
    if (!done && last >= 0 && rule->preview_us > 0)
        keys_serve(&k->keys, last + stays);
    if (!done && last >= 0)
        keys_serve(&k->keys,
                   stays == frame_us ? selection_last_until(rule, last, frame_us) : last + stays);
    return keys_end(&k->keys, e);
}

static void note_counts(struct key_reader *k, struct chunker *g)
{
    struct decode_counts *to = &k->pass->counts;
    struct chunker_counts c = chunker_counts_now(g);
    pthread_mutex_lock(&k->pass->lock);
    to->displayed = c.displayed;
    to->first_us = c.first_us;
    to->last_us = chunker_last_us(g);
    to->end_us = c.end_us;
    to->lead_in = c.lead_in;
    to->dropped = c.dropped;
    to->chunks = k->keys.sent;
    to->keys = k->found;
    to->packets = k->demux->serial;
    to->hidden = k->demux->hidden;
    to->unreadable = k->demux->unreadable;
    pthread_mutex_unlock(&k->pass->lock);
}

static bool read_through(struct key_reader *k, struct probe_facts *facts, struct err *e)
{
    struct chunker_config config = {
        .traits = k->traits, .clock = demux_clock(k->demux, k->film), .key = on_key, .user = k};
    struct chunker *g = k->chunker = chunker_open(&config, e);
    if (!g)
        return false;
    struct picture p;
    bool ok = true, done = false, after_key = false;
    while (ok && !done && !is_stopped(k) && demux_next(k->demux, &p, e)) {
        if (k->pass)
            atomic_store(&k->pass->bytes_read, demux_position(k->demux));
        if (lacks_sets(k)) {
            packet_free(&p.packet);
            break;
        }
        ok = push_picture(k, g, &p, &after_key, e);
        done = k->pass && selection_next(&k->keys.cursor) == INT64_MAX &&
               !k->keys.cursor.rule.to_film_end && k->keys.cursor.rule.preview_us == 0;
    }
    ok = e->code == ERR_NONE && (is_stopped(k) || end_through(k, g, done, e));
    if (k->pass) {
        note_counts(k, g);
        k->pass->counts.to_end = ok && !done && !is_stopped(k);
        if (k->demux->needs_sequential && k->traits.stream == STREAM_HEVC)
            log_msg(
                LOG_WARNING,
                "'%s': frame numbers and times may be too high: only decoding shows which pictures "
                "are never displayed",
                k->film->path);
    }
    if (facts && ok) {
        struct chunker_counts c = chunker_counts_now(g);
        bool any = c.displayed > 0; /* otherwise it has no key frame, and no order */
        int64_t shown = any ? (int64_t)c.displayed : (int64_t)c.held;
        /* of a film whose times go back, the end may lie before the beginning */
        int64_t until_us = c.end_us > c.first_us ? c.end_us : c.first_us;
        facts->length = (struct film_length){.start_us = any ? c.first_us : 0,
                                             .duration_us = any ? until_us - c.first_us
                                                                : shown * config.clock.frame_us,
                                             .frames = shown,
                                             .source = LENGTH_PACKETS};
        facts->found |= PROBE_LENGTH;
    }
    chunker_free(&g);
    return ok;
}

/*
 * Returns true unless the film's key frames cannot be told from others: in an AVI without an index,
 * libavformat marks every packet of a codec that it has no parser for.
 */
static bool check_marks(const struct key_reader *k, struct err *e)
{
    const AVStream *s = k->demux->stream;
    const AVCodecDescriptor *codec = avcodec_descriptor_get(s->codecpar->codec_id);
    bool inter =
        k->traits.stream == STREAM_OTHER && codec && !(codec->props & AV_CODEC_PROP_INTRA_ONLY);
    if (!inter || !k->demux->quirks->marks_by_index || k->demux->knows_places)
        return true;
    AVCodecParserContext *parser = av_parser_init((int)s->codecpar->codec_id);
    bool parsed = parser != NULL;
    av_parser_close(parser);
    if (parsed)
        return true;
    return err_set(e, ERR_INPUT,
                   "cannot find the key frames of '%s': it has no index, and its codec does not "
                   "mark them",
                   k->film->path);
}

static bool read_keys(struct key_reader *k, struct err *e)
{
    if (!check_marks(k, e))
        return false;
    enum key_index_kind kind = key_index_kind(k->demux->format, k->film);
    if (kind != KEY_INDEX_NONE && begin_index(k, kind, e))
        return is_stopped(k) || read_by_index(k, e);
    return e->code == ERR_NONE && read_through(k, NULL, e);
}

bool film_keys_read(struct decode_pass *s, struct demux *r, struct err *e)
{
    struct key_reader k;
    open_reader(&k, s, r, s->film);
    frame_times_stop(s->job->frame_times); /* other frames' times are unknown */
    struct keys_config config = {.selection = s->job->selection,
                                 .columns = s->job->columns,
                                 .have = s->job->have,
                                 .have_user = s->job->have_user,
                                 .emit = decode_pass_queue,
                                 .user = s};
    keys_begin(&k.keys, &config);
    bool ok = read_keys(&k, e);
    close_reader(&k);
    return ok;
}

/* Finds what the index alone contains. */
static bool probe_index(struct key_reader *k, enum key_index_kind kind, struct probe_facts *facts,
                        struct err *e)
{
    if (!key_index_open(&k->index, kind, k->demux, k->film, e))
        return false;
    if (k->index.count == 0)
        return true;
    facts->keys = (int64_t)k->index.count;
    facts->found |= PROBE_KEYS;
    if (k->index.end_us == TIME_NONE)
        return true;
    const struct film_clock clock = demux_clock(k->demux, k->film);
    int64_t start_us = k->film->length.start_us;
    int64_t origin_us = clock.origin_us != TIME_NONE ? clock.origin_us : k->index.key[0].from_us;
    facts->length = (struct film_length){.start_us = start_us,
                                         .duration_us = k->index.end_us - origin_us - start_us,
                                         .frames = k->film->length.frames,
                                         .source = LENGTH_INDEX};
    facts->found |= facts->length.duration_us > 0 ? PROBE_LENGTH : 0;
    return true;
}

bool film_keys_probe(struct demux *r, const struct film *film, unsigned want,
                     struct probe_facts *facts, struct err *e)
{
    struct key_reader k;
    struct probe_facts result = {.found = 0};
    open_reader(&k, NULL, r, film);
    enum key_index_kind kind =
        want & PROBE_LENGTH ? KEY_INDEX_NONE : key_index_kind(r->format, film);
    bool ok = (!(want & PROBE_KEYS) || check_marks(&k, e)) &&
              (kind == KEY_INDEX_NONE || probe_index(&k, kind, &result, e));
    if (ok && result.found == 0 && want & (PROBE_KEYS | PROBE_LENGTH)) {
        ok = (kind == KEY_INDEX_NONE || seek_first(&k, e)) && read_through(&k, &result, e);
        result.keys = (int64_t)k.found;
        result.found |= want & PROBE_KEYS;
    }
    if (ok && interrupted())
        ok = interrupt_error(e);
    close_reader(&k);
    if (!ok)
        return false;
    facts->found |= result.found;
    facts->length = result.length;
    facts->keys = result.keys;
    return true;
}
