/*
 * film_keys.c - the reading thread of --keyframes: key frames alone, each a run of its own.
 *
 * Where the container has an index (key_index.h), the reader looks for the key frame at or before each wanted time, and only
 * those are read. Else the film is read through gather.c, which numbers and times every picture as it does for any run; the packets
 * of all but key frames are dropped at once. Both ways give the same key frames the same times.
 *
 * A key frame is what a decoder can begin with: a cut of the bitstream (nal.h), or, of codecs that nal.c does not know, what the
 * container calls a key frame.
 */
#include "key_index.h"

#include <inttypes.h>
#include <string.h>

#include "barcode/interrupt.h"
#include "barcode/log.h"

enum { SIDE_DATA = 2 };

/* What came with one packet and holds for those after it. */
struct side_data {
    uint8_t *data;
    size_t size;
};

struct reader {
    struct staging *staging;      /* NULL: only counting                                       */
    struct demux *demux;
    const struct film *film;
    struct run_traits traits;
    struct keys keys;
    uint64_t found;               /* key frames                                                */
    /* Read through: */
    bool half;                    /* the last picture was the first field of two               */
    uint64_t second_of;           /* the serial of the picture that `second` belongs to        */
    struct AVPacket *second;
    int64_t last_lasts_us;        /* what the last displayed picture's packet says             */
    /* By an index: */
    struct key_index index;
    int64_t origin_us;            /* stored time of the film's first frame                     */
    uint64_t lead_in, fetched;
    uint64_t none;                /* what the index calls key frames and the bitstream does not */
    struct side_data side[SIDE_DATA];
};

static struct run_traits traits_for_keys(const struct demux *r)
{
    struct run_traits t = r->traits;
    const AVCodecDescriptor *codec = avcodec_descriptor_get(r->stream->codecpar->codec_id);
    if (t.stream == STREAM_OTHER)
        t.reorder = codec && codec->props & AV_CODEC_PROP_REORDER;
    return t;
}

static void open_reader(struct reader *k, struct staging *s, struct demux *r, const struct film *film)
{
    *k = (struct reader){.staging = s, .demux = r, .film = film, .traits = traits_for_keys(r), .origin_us = TIME_NONE};
}

static void close_reader(struct reader *k)
{
    keys_drop(&k->keys);
    packet_free(&k->second);
    key_index_close(&k->index);
    for (int i = 0; i < SIDE_DATA; i++)
        av_freep(&k->side[i].data);
}

/* What only a container can say. */
static void find_cut(const struct reader *k, struct picture *p)
{
    if (k->traits.stream == STREAM_OTHER && p->packet && p->packet->flags & AV_PKT_FLAG_KEY)
        p->cut = k->traits.reorder ? CUT_OPEN : CUT_CLEAN;
}

static bool stopped(const struct reader *k)
{
    return k->staging ? staging_stopped(k->staging) : interrupted();
}

/* A key frame of the part that was asked for. */
static void count_key(struct reader *k, int64_t time_us)
{
    const struct selection *s = &k->keys.config.selection;
    k->found += !k->staging || (time_us >= s->start_us && time_us < s->end_us);
}

/*
 * An MP4 with several sample descriptions says with one packet that another one's headers hold from there on, and a palette comes
 * with the first picture that it holds for. Here any session may get any of the packets that follow: each key frame carries both.
 */
static bool keep_side_data(struct reader *k, AVPacket *packet, bool key, struct err *e)
{
    static const enum AVPacketSideDataType kinds[SIDE_DATA] = {AV_PKT_DATA_NEW_EXTRADATA, AV_PKT_DATA_PALETTE};
    for (int i = 0; i < SIDE_DATA; i++) {
        struct side_data *kept = &k->side[i];
        size_t size = 0;
        const uint8_t *data = av_packet_get_side_data(packet, kinds[i], &size);
        if (data) {
            av_freep(&kept->data);
            kept->data = av_memdup(data, size);
            kept->size = size;
            if (!kept->data)
                return err_memory(e, size);
        } else if (kept->data && key) {
            uint8_t *copy = av_packet_new_side_data(packet, kinds[i], kept->size);
            if (!copy)
                return err_memory(e, kept->size);
            memcpy(copy, kept->data, kept->size);
        }
    }
    return true;
}

/* ------------------------------------------------------------------ reading through */

/* As gather_key. */
static bool on_key(void *user, struct picture *key, struct err *e)
{
    struct reader *k = user;
    struct AVPacket *second = NULL;
    count_key(k, key->tag.time_us);
    if (k->second && k->second_of == key->serial) {
        second = k->second;
        k->second = NULL;
    }
    if (!k->staging || staging_is_fault(k->staging, key->serial)) {
        packet_free(&second);
        return true;
    }
    keys_serve(&k->keys, key->tag.time_us);
    bool fine = keys_hold(&k->keys, key, second, e);
    key->packet = NULL;
    return fine;
}

/*
 * True for the second field of a picture: it is none of its own, and a key frame's goes with it. `p` loses its packet then.
 */
static bool is_second_field(struct reader *k, struct picture *p, bool after_key)
{
    bool second = p->field && k->half;
    k->half = p->field && !k->half;
    if (second && after_key) {
        packet_free(&k->second);
        k->second = p->packet;
        k->second_of = p->serial - 1;
    } else if (second) {
        packet_free(&p->packet);
    }
    return second;
}

static bool push(struct reader *k, struct gather *g, struct picture *p, bool *after_key, struct err *e)
{
    find_cut(k, p);
    if (is_second_field(k, p, *after_key))
        return true;
    bool key = !p->hidden && (p->cut != CUT_NONE || (p->intra && !gather_begun(g)));
    *after_key = key;
    if (p->packet && !keep_side_data(k, p->packet, key, e)) {
        packet_free(&p->packet);
        return false;
    }
    if (!key)
        packet_free(&p->packet);
    if (!p->hidden)
        k->last_lasts_us = p->duration_us;
    return gather_push(g, p, e);
}

/* The film is over: its last key frame serves to the end of its last frame. */
static bool end_through(struct reader *k, struct gather *g, bool done, struct err *e)
{
    if (done)
        gather_stop(g);
    if (k->demux->hole)
        gather_break_off(g, k->demux->serial);
    if (!gather_end(g, e))
        return false;
    int64_t frame_us = film_av_frame_us(k->film), last = gather_last_us(g);
    struct timeline t = timeline_begin(frame_us);
    int64_t stays = timeline_last_stays(&t, k->last_lasts_us);
    const struct selection *rule = &k->keys.cursor.rule;
    if (!done && last >= 0)
        keys_serve(&k->keys, stays == frame_us ? selection_last_until(rule, last, frame_us) : last + stays);
    return keys_end(&k->keys, e);
}

static void note_counts(struct reader *k, struct gather *g)
{
    struct stage_counts *to = &k->staging->counts;
    struct gather_counts c = gather_counts_now(g);
    pthread_mutex_lock(&k->staging->lock);
    to->displayed = c.displayed;
    to->last_us = gather_last_us(g);
    to->lead_in = c.lead_in;
    to->vanished = c.vanished;
    to->runs = k->keys.sent;
    to->keys = k->found;
    to->packets = k->demux->serial;
    to->hidden = k->demux->hidden;
    to->unreadable = k->demux->unreadable;
    pthread_mutex_unlock(&k->staging->lock);
}

static bool read_through(struct reader *k, struct probe_facts *facts, struct err *e)
{
    struct gather_config config = {.traits = k->traits, .frame_us = film_av_frame_us(k->film), .key = on_key, .user = k};
    struct gather *g = gather_open(&config, e);
    if (!g)
        return false;
    struct picture p;
    bool fine = true, done = false, after_key = false;
    while (fine && !done && !stopped(k) && demux_next(k->demux, &p, e)) {
        if (k->staging)
            atomic_store(&k->staging->bytes_read, demux_position(k->demux));
        fine = push(k, g, &p, &after_key, e);
        done = k->staging && selection_next(&k->keys.cursor) == INT64_MAX;
    }
    fine = e->code == ERR_NONE && (stopped(k) || end_through(k, g, done, e));
    if (k->staging) {
        note_counts(k, g);
        if (k->demux->odd && k->traits.stream == STREAM_HEVC)
            log_msg(LOG_WARNING, "'%s': which of its pictures are never displayed only decoding would tell: its frames may be numbered, and "
                    "timed, some too high", k->film->path);
    }
    if (facts && fine) {
        facts->frames = (int64_t)gather_counts_now(g).displayed;
        facts->duration_us = facts->frames > 0 ? gather_last_us(g) + config.frame_us : 0;
        facts->found |= PROBE_LENGTH;
    }
    gather_free(&g);
    return fine;
}

/* ------------------------------------------------------------------ the film's first frame, for an index */

/* What comes before the film's first key frame on the screen is there only if it refers to nothing before it (gather.c). */
static bool is_first_shown(const struct reader *k, const struct picture *key, const struct picture *p)
{
    bool timed = p->pts_us != TIME_NONE && key->pts_us != TIME_NONE;
    bool leads = k->traits.reorder && key->cut != CUT_CLEAN && timed && p->pts_us < key->pts_us;
    bool whole = (k->traits.stream == STREAM_HEVC || key->closed) && !p->needs_before;
    return !p->hidden && (!leads || whole);
}

/*
 * Finds the stored time of the film's first frame: the earliest of the first pictures that show. No codec displays a picture
 * before another one that comes 16 earlier in the file.
 */
static bool find_origin(struct reader *k, struct err *e)
{
    enum { REACH = 17 };
    struct picture p, key = {.serial = UINT64_MAX};
    for (int shown = 0; shown < REACH && !stopped(k) && demux_next(k->demux, &p, e);) {
        find_cut(k, &p);
        bool kept = !p.packet || keep_side_data(k, p.packet, false, e);
        packet_free(&p.packet);
        if (!kept)
            return false;
        bool begins = key.serial == UINT64_MAX && (p.cut != CUT_NONE || p.lost || (p.intra && !p.hidden));
        if (begins)
            key = p;
        if (key.serial == UINT64_MAX) {
            k->lead_in++;
            continue;
        }
        if (!is_first_shown(k, &key, &p))
            continue;
        shown++;
        if (key.pts_us != TIME_NONE && p.pts_us != TIME_NONE && (k->origin_us == TIME_NONE || p.pts_us < k->origin_us))
            k->origin_us = p.pts_us;
        if (!k->traits.reorder)
            break;
    }
    return e->code == ERR_NONE;
}

/* ------------------------------------------------------------------ by the index */

static int64_t film_time(const struct reader *k, int64_t stored_us)
{
    int64_t time = stored_us - k->origin_us;
    return time > 0 ? time : 0;
}

/* Displayed before its key, which it follows in the file. In an AVI libavformat knows the times of B pictures alone. */
static bool leads(const struct picture *key, const struct picture *p)
{
    bool timed = p->pts_us != TIME_NONE, key_timed = key->pts_us != TIME_NONE;
    bool ordered = p->order != TIME_NONE && key->order != TIME_NONE;
    return p->marked_leading || (timed && key_timed ? p->pts_us < key->pts_us : ordered ? p->order < key->order : timed && !key_timed);
}

/*
 * What belongs to key frame `key` and follows it in the file: its other field, where that has a packet of its own, and
 * where all pictures are counted how many of them are displayed before it.
 */
static bool read_on(struct reader *k, const struct picture *key, struct AVPacket **second, uint64_t *leaders, struct err *e)
{
    bool counts = k->index.kind == KEY_INDEX_SAMPLES && k->traits.reorder && key->cut == CUT_OPEN, field = key->field;
    struct picture p;
    while ((field || counts) && demux_next(k->demux, &p, e)) {
        if (field && p.field)
            *second = p.packet;
        else
            packet_free(&p.packet);
        counts = counts && (leads(key, &p) || field);
        *leaders += counts && !field && !p.hidden && (key->serial > 0 || is_first_shown(k, key, &p));
        field = false;
    }
    return e->code == ERR_NONE;
}

/*
 * Number and time of key frame `i`, before which `leaders` are displayed: where every picture is listed, by those before it; else
 * by its time and the film's rate.
 */
static void name_key(const struct reader *k, size_t i, uint64_t leaders, struct picture *p)
{
    const struct film *f = k->film;
    int64_t frame_us = film_av_frame_us(f);
    bool listed = k->index.kind == KEY_INDEX_SAMPLES, timed = p->pts_us != TIME_NONE;
    uint64_t number = k->index.key[i].before + leaders;
    if (!timed)
        p->pts_us = k->index.key[i].from_us + (int64_t)leaders * frame_us;
    int64_t time = film_time(k, p->pts_us);
    if (!listed)
        number = (uint64_t)(f->rate_num > 0 ? av_rescale(time, f->rate_num, f->rate_den * 1000000) : (time + frame_us / 2) / frame_us);
    p->tag = (struct frame_tag){.frame = number, .time_us = time};
}

/*
 * Key frame `i` of the index into *p, with number and time. False: it is none that can be used, or on `e`. One that cannot be
 * read is a fault, told and counted; one that the index calls a key frame and the bitstream does not is none.
 */
static bool fetch(struct reader *k, size_t i, struct picture *p, struct AVPacket **second, struct err *e)
{
    struct key_entry *key = &k->index.key[i];
    *second = NULL;
    if (stopped(k) || key->unusable || staging_is_fault(k->staging, key->serial))
        return false;
    bool there = key_index_fetch(&k->index, i, k->demux, p, e);
    if (e->code != ERR_NONE)
        return false;
    atomic_store(&k->staging->bytes_read, demux_position(k->demux));
    k->fetched++;
    key->unusable = !there || p->lost;
    if (key->unusable) {
        staging_fault(k->staging, key->serial, false);
        return false;
    }
    find_cut(k, p);
    bool usable = !p->hidden && (p->cut != CUT_NONE || (p->intra && i == 0));
    uint64_t leaders = 0;
    if (usable && keep_side_data(k, p->packet, true, e) && read_on(k, p, second, &leaders, e)) {
        name_key(k, i, leaders, p);
        return true;
    }
    key->unusable = !usable;
    k->none += !usable;
    packet_free(&p->packet);
    packet_free(second);
    return false;
}

/* The last key frame that may be at or before `time_us`, from `low` on; `low` if there is none. */
static size_t find_key(const struct reader *k, size_t low, int64_t time_us)
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

/* Its number must be above the one before, whatever rates and times say. */
static bool hold(struct reader *k, struct picture *p, struct AVPacket *second, struct err *e)
{
    const struct frame_tag *before = &k->keys.held.tag;
    bool any = k->keys.sent > 0 || k->keys.holds;
    if (any && p->tag.frame <= before->frame)
        p->tag.frame = before->frame + 1;
    return keys_hold(&k->keys, p, second, e);
}

/*
 * Finds what serves the first open column, wanted at `target`: the last usable key frame at or before it, from *at on; without one
 * what is held; at the film's start the first one after. Sets *at and *until, before which nothing else can serve. False: nothing serves, or `e`.
 */
static bool serve_next(struct reader *k, int64_t target, size_t *at, int64_t *until, struct err *e)
{
    size_t count = k->index.count, candidate = find_key(k, *at, target);
    struct picture p;
    struct AVPacket *second;
    *until = candidate + 1 < count ? film_time(k, k->index.key[candidate + 1].from_us) : INT64_MAX;
    for (size_t i = candidate + 1; i-- > *at + (k->keys.holds ? 1 : 0);) {
        if (!fetch(k, i, &p, &second, e)) {
            if (e->code != ERR_NONE || stopped(k))
                return false;
            continue;
        }
        /* Its place in the index is the time of its decoding. */
        bool later = p.tag.time_us > target && i > 0;
        if (!later) {
            *at = i;
            return hold(k, &p, second, e);
        }
        *until = p.tag.time_us < *until ? p.tag.time_us : *until;
        packet_free(&p.packet);
        packet_free(&second);
    }
    if (k->keys.holds)
        return true;
    for (size_t i = candidate + 1; i < count; i++)
        if (fetch(k, i, &p, &second, e)) {
            *at = i;
            *until = i + 1 < count ? film_time(k, k->index.key[i + 1].from_us) : INT64_MAX;
            return hold(k, &p, second, e);
        } else if (e->code != ERR_NONE || stopped(k)) {
            return false;
        }
    return false;
}

/* Where the last key frame ends: by columns they are all there, by an interval they end with the film. */
static int64_t film_end(const struct reader *k)
{
    const struct selection *rule = &k->keys.cursor.rule;
    const struct key_entry *last = &k->index.key[k->index.count - 1];
    int64_t end = k->film->duration_us > 0 ? k->film->duration_us : film_time(k, last->from_us) + film_av_frame_us(k->film);
    return rule->kind == SELECT_COLUMNS ? INT64_MAX : end < rule->end_us ? end : rule->end_us;
}

static void note_index_counts(struct reader *k, int64_t end)
{
    struct stage_counts *to = &k->staging->counts;
    const struct film *f = k->film;
    for (size_t i = 0; i < k->index.count; i++)
        count_key(k, film_time(k, k->index.key[i].from_us));
    pthread_mutex_lock(&k->staging->lock);
    to->displayed = k->index.kind == KEY_INDEX_SAMPLES ? k->index.shown : f->frames > 0 ? (uint64_t)f->frames : k->found;
    to->last_us = end == INT64_MAX ? f->duration_us : end;
    to->lead_in = k->lead_in;
    to->runs = k->keys.sent;
    to->keys = k->found;
    to->packets = k->fetched;
    pthread_mutex_unlock(&k->staging->lock);
}

static bool read_by_index(struct reader *k, struct err *e)
{
    size_t at = 0;
    int64_t end = film_end(k), until;
    for (int64_t target = selection_next(&k->keys.cursor); target < end && !stopped(k); target = selection_next(&k->keys.cursor)) {
        if (!serve_next(k, target, &at, &until, e))
            break;
        until = until < end ? until : end;
        keys_serve(&k->keys, until > target ? until : target + 1);
    }
    bool fine = e->code == ERR_NONE && (stopped(k) || keys_end(&k->keys, e));
    note_index_counts(k, end);
    if (k->none > 0)
        log_msg(LOG_VERBOSE, "'%s': %" PRIu64 " pictures that its index calls key frames are none", k->film->path, k->none);
    return fine;
}

/* The container promised cues and has none to rely on: from its first key frame, then. */
static bool go_back(struct reader *k, struct err *e)
{
    struct demux *r = k->demux;
    const AVIndexEntry *first = avformat_index_get_entry(r->stream, 0);
    if (!first || av_seek_frame(r->format, r->stream->index, first->timestamp, AVSEEK_FLAG_BACKWARD) < 0)
        return err_set(e, ERR_INPUT, "'%s' cannot be read again from its start", k->film->path);
    demux_jumped(r, 0);
    r->hidden = r->unreadable = 0;
    return true;
}

static bool read_keys(struct reader *k, struct err *e)
{
    enum key_index_kind kind = key_index_kind(k->demux, k->film);
    if (kind == KEY_INDEX_NONE)
        return read_through(k, NULL, e);
    if (!find_origin(k, e) || !key_index_open(&k->index, kind, k->demux, k->film, e))
        return false;
    if (k->index.count > 0) {
        if (k->origin_us == TIME_NONE)
            k->origin_us = k->index.key[0].from_us;
        return read_by_index(k, e);
    }
    if (stopped(k))
        return true;
    return go_back(k, e) && read_through(k, NULL, e);
}

bool film_keys_read(struct staging *s, struct demux *r, struct err *e)
{
    struct reader k;
    open_reader(&k, s, r, s->film);
    timetable_stop(s->job->timetable);       /* other pictures' times are not looked at */
    struct keys_config config = {.selection = s->job->selection, .columns = s->job->columns, .have = s->job->have,
                                 .have_user = s->job->have_user, .emit = staging_queue_run, .user = s};
    keys_begin(&k.keys, &config);
    bool fine = read_keys(&k, e);
    close_reader(&k);
    return fine;
}

bool film_keys_probe(struct demux *r, const struct film *film, struct probe_facts *facts, struct err *e)
{
    struct reader k;
    struct probe_facts mine = {.found = PROBE_KEYS};
    open_reader(&k, NULL, r, film);
    enum key_index_kind kind = key_index_kind(r, film);
    bool fine = kind == KEY_INDEX_NONE || key_index_open(&k.index, kind, r, film, e);
    mine.keys = (int64_t)k.index.count;
    if (fine && k.index.count == 0) {
        fine = (kind != KEY_INDEX_CUES || go_back(&k, e)) && read_through(&k, &mine, e);
        mine.keys = (int64_t)k.found;
    }
    if (fine && interrupted())
        fine = interrupt_error(e);
    close_reader(&k);
    if (fine)
        *facts = mine;
    return fine;
}
