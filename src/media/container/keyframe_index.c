#include "demux.h"

#include <stdlib.h>
#include <string.h>

#include "open.h"
#include "media/bitstream/matroska.h"
#include "media/ffmpeg/packet.h"
#include "base/file.h"

/*
 * Returns true if the index lists all packets of the film: as many as the header declares, up to
 * the film's end. A fragmented MP4's index grows while it is read, and its header declares none or
 * a part.
 */
static bool samples_cover(AVStream *s, const struct film *film)
{
    int entries = avformat_index_get_entries_count(s);
    int64_t duration_us = film->length.duration_us;
    if (entries < 1 || s->nb_frames < entries || duration_us <= 0)
        return false;
    if (film->length.source >= LENGTH_INDEX)
        return true;
    const AVIndexEntry *first = avformat_index_get_entry(s, 0),
                       *last = avformat_index_get_entry(s, entries - 1);
    int64_t spans =
        av_sat_sub64(container_us(s, last->timestamp), container_us(s, first->timestamp));
    return av_sat_sub64(duration_us, spans) <= film_length_slack(duration_us);
}

/*
 * Returns true if a Matroska's cues may cover the file. Its header must have a seek entry for them
 * (RFC 9559, 5.1.1.1.1): without cues, a seek makes libavformat read the complete film to build an
 * index. The segment must fill the file: cues do not cover another film behind this one.
 */
static bool head_allows_cues(const char *path, int64_t file_size)
{
    static const uint8_t seek_to_cues[] = {0x53, 0xab, 0x84, 0x1c, 0x53, 0xbb, 0x6b};
    static const uint8_t segment[] = {0x18, 0x53, 0x80, 0x67};
    enum { HEAD = 1 << 16, REST = 1 << 12 };
    uint8_t *head = malloc(HEAD);
    FILE *f = head ? file_open_regular(path) : NULL;
    size_t size = f ? fread(head, 1, HEAD, f) : 0;
    bool is = size > 0 && memmem(head, size, seek_to_cues, sizeof seek_to_cues);
    const uint8_t *at = size > 0 ? memmem(head, size, segment, sizeof segment) : NULL;
    size_t from = at ? (size_t)(at - head) + sizeof segment : size;
    size_t own;
    int64_t bytes = ebml_size(head + from, size - from, &own);
    is = is && (bytes < 0 || file_size - (int64_t)from - bytes < REST);
    if (f)
        fclose(f);
    free(head);
    return is;
}

enum key_index_kind key_index_kind(const AVFormatContext *format, const struct film *film)
{
    enum key_index_kind kind = container_quirks(format)->index;
    bool named = file_descriptor(film->path) < 0, usable = true;
    if (!container_is_seekable(format))
        return KEY_INDEX_NONE;
    if (kind == KEY_INDEX_SAMPLES)
        usable = samples_cover(format->streams[film->stream], film);
    else if (kind == KEY_INDEX_CUES)
        usable = named && head_allows_cues(film->path, avio_size(format->pb));
    return usable ? kind : KEY_INDEX_NONE;
}

static bool add_key(struct key_index *x, const struct key_entry *key, struct err *e)
{
    if (!err_reserve(&x->key, x->count + 1, &x->room, sizeof *x->key, e))
        return false;
    x->key[x->count++] = *key;
    return true;
}

/*
 * Chooses the time to seek for each key frame. The MP4 demuxer seeks by display time, and stops at
 * the previous key frame if a key frame's display time is later. So the time right before the next
 * key frame is used.
 */
static void choose_seeks(struct key_index *x, AVStream *s, bool mp4)
{
    int entries = avformat_index_get_entries_count(s);
    size_t k = 0;
    for (size_t i = 0; i < x->count; i++)
        x->key[i].seek = x->key[i].stamp;
    for (int i = 0; mp4 && i < entries; i++) {
        const AVIndexEntry *entry = avformat_index_get_entry(s, i);
        while (k < x->count && x->key[k].serial < (uint64_t)i)
            if (entry->flags & AVINDEX_KEYFRAME || i == entries - 1)
                x->key[k++].seek = entry->timestamp - (entry->flags & AVINDEX_KEYFRAME ? 1 : 0);
            else
                break;
    }
}

static bool list_keys(struct key_index *x, AVStream *s, int64_t file_size, struct err *e)
{
    int entries = avformat_index_get_entries_count(s);
    for (int i = 0; i < entries; i++) {
        const AVIndexEntry *entry = avformat_index_get_entry(s, i);
        /* cues: every second number, for a second field has the number after its first */
        uint64_t serial = x->kind == KEY_INDEX_SAMPLES ? (uint64_t)i : (uint64_t)i * 2;
        struct key_entry key = {.stamp = entry->timestamp,
                                .from_us = container_us(s, entry->timestamp),
                                .serial = serial,
                                .at = entry->pos,
                                .before = x->shown};
        x->last_us = key.from_us;
        if (x->cut_us == TIME_NONE && file_size > 0 && x->kind == KEY_INDEX_SAMPLES &&
            entry->pos >= file_size)
            x->cut_us = key.from_us;
        bool shows = !(entry->flags & AVINDEX_DISCARD_FRAME);
        x->shown += shows;
        if (shows && entry->flags & AVINDEX_KEYFRAME && !add_key(x, &key, e))
            return false;
    }
    return true;
}

/* Returns how far the film's end may be from the last cue: thrice the widest gap between cues. */
static int64_t widest_tail(const struct key_index *x)
{
    const int64_t usual_us = 60000000;
    int64_t widest = usual_us;
    for (size_t i = 1; i < x->count; i++) {
        int64_t gap = av_sat_sub64(x->key[i].from_us, x->key[i - 1].from_us);
        widest = gap > widest / 3 ? av_sat_add64(gap, av_sat_add64(gap, gap)) : widest;
    }
    return widest;
}

/* Returns true if the cues are in the order of the file: the demuxer sorts them by time. */
static bool cues_in_order(const struct key_index *x)
{
    for (size_t i = 1; i < x->count; i++)
        if (x->key[i].at < x->key[i - 1].at)
            return false;
    return true;
}

/* Reads the tail's first picture: the last key frame; of an MP4 one before the last frame. */
static bool read_tail_first(const struct key_index *x, struct demux *r, struct picture *p,
                            struct err *e)
{
    enum { REACH = 17 }; /* no codec reorders by more than 16 */
    int entries = avformat_index_get_entries_count(r->stream);
    if (!r->quirks->index_is_mp4)
        return key_index_fetch(x, x->count - 1, r, p, e);
    int first = entries > REACH ? entries - REACH : 0;
    int64_t stamp = avformat_index_get_entry(r->stream, first)->timestamp;
    if (container_seek(r->format, r->stream->index, stamp, AVSEEK_FLAG_BACKWARD | AVSEEK_FLAG_ANY) <
        0)
        return false;
    demux_jumped(r, (uint64_t)first);
    return demux_next(r, p, e);
}

/*
 * Reads the tail of the film, from the last key frame on; sets end_us if its packets have display
 * times. Returns false if the film goes on too long after that, or its times go back: then the
 * index does not cover it.
 */
static bool read_tail(struct key_index *x, struct demux *r, const struct film *film, struct err *e)
{
    const int64_t second_us = 1000000, frame_us = film_frame_us(film);
    const struct demux before = *r;
    int64_t last_us = x->key[x->count - 1].from_us, tail_us = widest_tail(x), shown_us = TIME_NONE;
    struct picture p;
    bool covers = read_tail_first(x, r, &p, e), more = covers;
    for (; more && covers; more = demux_next(r, &p, e)) {
        int64_t time_us = p.placed ? p.place_us : p.pts_us;
        packet_free(&p.packet);
        if (time_us == TIME_NONE || p.hidden)
            continue;
        covers = time_us >= last_us - second_us && time_us - last_us <= tail_us;
        if (shown_us == TIME_NONE || time_us > shown_us) {
            shown_us = time_us;
            x->end_us = time_us + timeline_last_stays(frame_us, p.duration_us);
        }
    }
    if (more)
        packet_free(&p.packet);
    covers = covers && r->failed == before.failed && e->code == ERR_NONE &&
             (x->kind == KEY_INDEX_SAMPLES ? r->reached_us <= x->last_us : x->end_us != TIME_NONE);
    *r = before;
    return covers;
}

/*
 * Returns true if the index covers the film. The demuxer reads cues when it seeks. A file without
 * cues has only the entries that were met while reading, and a truncated recording may have cues
 * for a part. An MP4's table is all that there is of a film, but does not have the time of its last
 * frame, which counts in a short film. An AVI may go on after its index.
 */
static bool covers_film(struct key_index *x, int known_before, struct demux *r,
                        const struct film *film, struct err *e)
{
    if (x->count == 0)
        return false;
    if (r->quirks->index_is_mp4) {
        if (film_length_is_short(&film->length) && !read_tail(x, r, film, e))
            x->end_us = TIME_NONE;
        return e->code == ERR_NONE;
    }
    bool cues = x->kind == KEY_INDEX_CUES;
    if (cues && (x->count < 3 || x->count <= (size_t)known_before || !cues_in_order(x)))
        return false;
    /* The tail was read when the film was probed. */
    return (cues && film->length.source == LENGTH_INDEX) || read_tail(x, r, film, e);
}

bool key_index_open(struct key_index *x, enum key_index_kind kind, struct demux *r,
                    const struct film *film, struct err *e)
{
    *x = (struct key_index){.kind = kind, .end_us = TIME_NONE, .cut_us = TIME_NONE};
    int known = avformat_index_get_entries_count(r->stream);
    if (kind == KEY_INDEX_CUES &&
        (known < 1 || container_seek(r->format, r->stream->index,
                                     avformat_index_get_entry(r->stream, 0)->timestamp,
                                     AVSEEK_FLAG_BACKWARD) < 0))
        x->kind = KEY_INDEX_NONE;
    if (x->kind != KEY_INDEX_NONE && !list_keys(x, r->stream, avio_size(r->format->pb), e)) {
        key_index_close(x);
        return false;
    }
    choose_seeks(x, r->stream, r->quirks->index_is_mp4);
    if (!covers_film(x, known, r, film, e))
        key_index_close(x);
    return e->code == ERR_NONE;
}

bool key_index_fetch(const struct key_index *x, size_t i, struct demux *r, struct picture *p,
                     struct err *e)
{
    const struct key_entry *key = &x->key[i];
    if (container_seek(r->format, r->stream->index, key->seek, AVSEEK_FLAG_BACKWARD) < 0)
        return false;
    /* Errors elsewhere in the file do not concern this picture. */
    demux_jumped(r, key->serial);
    bool mp4 = container_quirks(r->format)->index_is_mp4;
    while (demux_next(r, p, e)) {
        int64_t stamp = p->packet ? p->packet->dts : AV_NOPTS_VALUE;
        if (!mp4 || stamp == key->stamp)
            return true;
        packet_free(&p->packet);
        if (stamp == AV_NOPTS_VALUE || stamp > key->stamp)
            return false;
        demux_jumped(r, key->serial); /* an earlier one */
    }
    return false;
}

void key_index_close(struct key_index *x)
{
    free(x->key);
    *x = (struct key_index){.kind = KEY_INDEX_NONE, .end_us = TIME_NONE, .cut_us = TIME_NONE};
}
