/*
 * keyframe_reader.c - the reading thread of --keyframes: each key frame becomes a chunk.
 *
 * With an index (keyframe_index.h), only the key frames at or before each selected time are read.
 * Otherwise the complete film goes through the chunker, which numbers and times each picture, and
 * only the packets of key frames are kept. Both ways give a key frame the same time.
 *
 * A key frame is a random access point of the bitstream (packet_scan.h). In a codec that
 * packet_scan.c does not know, it is what the container marks as a key frame.
 */
#include "keyframe_reader.h"

#include "reader.h"
#include "media/bitstream/packet_scan.h"
#include "media/ffmpeg/packet.h"
#include "media/gop/chunker.h"
#include "media/schedule/idr_splice.h"
#include "media/select/timeline.h"
#include "base/interrupt.h"
#include "base/log.h"

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

void film_keys_find_rap(const struct key_reader *k, struct picture *p)
{
    if (k->traits.stream == STREAM_OTHER && p->packet && p->packet->flags & AV_PKT_FLAG_KEY)
        p->rap = k->traits.reorder ? RAP_OPEN : RAP_CLOSED;
}

bool film_keys_stopped(const struct key_reader *k)
{
    return k->pass ? decode_pass_stopped(k->pass) : interrupted();
}

void film_keys_count(struct key_reader *k, int64_t time_us)
{
    const struct selection *s = &k->keys.config.selection;
    k->found += !k->pass || (time_us >= s->start_us && time_us < s->end_us);
}

bool film_keys_lack_sets(struct key_reader *k)
{
    if (!k->pass || !k->demux->lacking)
        return false;
    log_msg(LOG_VERBOSE, "'%s': its parameter sets change within the film", k->film->path);
    decode_pass_contradict(k->pass);
    return true;
}

/* ------------------------------------------------------------------ reading through */

/* Implements chunker_key. */
static bool on_key(void *user, struct picture *key, struct err *e)
{
    struct key_reader *k = user;
    struct picture second = {.packet = NULL};
    selection_first(&k->keys.cursor, chunker_counts_now(k->chunker).first_us);
    film_keys_count(k, key->tag.time_us);
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

/*
 * Returns true for the second field of a frame: it is not a frame of its own. A key frame's second
 * field is kept, and `p` loses its packet.
 */
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
    film_keys_find_rap(k, p);
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
    while (ok && !done && !film_keys_stopped(k) && demux_next(k->demux, &p, e)) {
        if (k->pass)
            atomic_store(&k->pass->bytes_read, demux_position(k->demux));
        if (film_keys_lack_sets(k)) {
            packet_free(&p.packet);
            break;
        }
        ok = push_picture(k, g, &p, &after_key, e);
        done = k->pass && selection_next(&k->keys.cursor) == INT64_MAX &&
               !k->keys.cursor.rule.to_film_end && k->keys.cursor.rule.preview_us == 0;
    }
    ok = e->code == ERR_NONE && (film_keys_stopped(k) || end_through(k, g, done, e));
    if (k->pass) {
        note_counts(k, g);
        k->pass->counts.to_end = ok && !done && !film_keys_stopped(k);
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
    return parsed || err_set(e, ERR_INPUT,
                             "cannot find the key frames of '%s': it has no index, and its codec "
                             "does not mark them",
                             k->film->path);
}

static bool read_keys(struct key_reader *k, struct err *e)
{
    if (!check_marks(k, e))
        return false;
    enum key_index_kind kind = key_index_kind(k->demux->format, k->film);
    return (kind != KEY_INDEX_NONE && film_keys_read_index(k, kind, e)) ||
           (e->code == ERR_NONE && read_through(k, NULL, e));
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

/* Finds what the index alone tells. */
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
    struct probe_facts mine = {.found = 0};
    open_reader(&k, NULL, r, film);
    enum key_index_kind kind =
        want & PROBE_LENGTH ? KEY_INDEX_NONE : key_index_kind(r->format, film);
    bool ok = (!(want & PROBE_KEYS) || check_marks(&k, e)) &&
              (kind == KEY_INDEX_NONE || probe_index(&k, kind, &mine, e));
    if (ok && mine.found == 0 && want & (PROBE_KEYS | PROBE_LENGTH)) {
        ok = (kind == KEY_INDEX_NONE || film_keys_go_back(&k, e)) && read_through(&k, &mine, e);
        mine.keys = (int64_t)k.found;
        mine.found |= want & PROBE_KEYS;
    }
    if (ok && interrupted())
        ok = interrupt_error(e);
    close_reader(&k);
    if (!ok)
        return false;
    facts->found |= mine.found;
    facts->length = mine.length;
    facts->keys = mine.keys;
    return true;
}
