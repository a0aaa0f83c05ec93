/*
 * film_keys_heads.c - whether a film's key frames can be decoded apart from each other: the first bytes of each are looked at.
 *
 * Two recordings joined byte by byte may say their headers once, each at its start. Who reads some of the key frames would miss the
 * second one's, and decode all behind it with the first one's, without a word. Such a film is read through. One whose key
 * frames bring what they go by, whatever changes, is not, nor is one that never changes.
 *
 * So is one whose key frames take more looking for than reading it through does: a hostile file's index may name one cluster of a thousand
 * small elements a million times.
 *
 * Only what lies in key frames is seen here. Headers that change in a picture between two of them, and are not said again in
 * the next one, take reading the film through.
 */
#include "film_keys.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "barcode/log.h"
#include "barcode/slow_file.h"
#include "key_block.h"

enum { PAGE = 4096, ENOUGH = 512, AHEAD = 64, HEAD_MOST = 1 << 22 };

struct look {
    struct key_reader *k;
    int fd;                   /* -1: it cannot be opened                                       */
    uint64_t track;           /* Matroska: the stream's                                        */
    bool placed;              /* it is known where in the file a key frame's bytes begin        */
    uint64_t most;            /* of demux_bytes_read, and of gone_through: more are too many        */
    uint64_t gone_through;    /* bytes that the demuxer went through, from its buffer too           */
    bool costly;              /* they were                                                         */
    struct headers headers;
    uint8_t *head;            /* [room], owned                                                 */
    size_t room;
};

static bool place_of(struct look *l, size_t i, int64_t *at, size_t *size)
{
    const struct key_entry *key = &l->k->index.key[i];
    enum { CHUNK_HEAD = 8 };
    struct key_block block;
    if (l->k->index.kind == KEY_INDEX_SAMPLES) {
        *at = key->at + (strcmp(l->k->demux->format->iformat->name, "avi") == 0 ? CHUNK_HEAD : 0);
        *size = key->size;
        return true;
    }
    bool found = l->placed && key_block_find(l->fd, key->at, l->track, key->stamp, &block);
    l->k->demux->looked += l->placed ? block.read : 0;
    if (found) {
        *at = block.at;
        *size = block.size;
    }
    return found;
}

/* The first `bytes` bytes from `at`, or fewer at the file's end. */
static size_t read_head(struct look *l, int64_t at, size_t bytes, struct err *e)
{
    if (bytes > l->room) {
        uint8_t *grown = realloc(l->head, bytes);
        if (!grown)
            return err_memory(e, bytes);
        l->head = grown;
        l->room = bytes;
    }
    ssize_t got = pread(l->fd, l->head, bytes, (off_t)at);
    l->k->demux->looked += got > 0 ? (uint64_t)got : 0;
    return got > 0 ? (size_t)got : 0;
}

/* Key frame `i` as the demuxer gives it, past demux.c, which would give it headers. NULL: it gives none, or `e`. */
static AVPacket *read_packet(struct look *l, size_t i, struct err *e)
{
    const struct demux *r = l->k->demux;
    AVPacket *packet = av_packet_alloc();
    if (!packet) {
        err_memory(e, sizeof *packet);
        return NULL;
    }
    bool there = av_seek_frame(r->format, r->stream->index, l->k->index.key[i].seek, AVSEEK_FLAG_BACKWARD) >= 0;
    bool ours = false;
    uint64_t from = demux_position(r);
    while (there && !ours) {
        av_packet_unref(packet);
        there = av_read_frame(r->format, packet) >= 0;
        ours = there && packet->stream_index == r->stream->index;
    }
    uint64_t to = demux_position(r);
    l->gone_through += to > from ? to - from : 0;
    if (!ours)
        packet_free(&packet);
    return packet;
}

/* Tells the kernel which key frames come next, from time to time: a disk fetches many at once faster than one by one. */
static void announce(const struct look *l, size_t i)
{
    const struct key_index *x = &l->k->index;
    for (size_t j = i; i % AHEAD == 0 && l->placed && j < x->count && j < i + AHEAD; j++)
        posix_fadvise(l->fd, (off_t)x->key[j].at, ENOUGH, POSIX_FADV_WILLNEED);
}

/* What cannot be read lacks nothing: it is no key frame for anybody, which is told when it is wanted. */
static enum headers_seen look_at(struct look *l, size_t i, struct err *e)
{
    int64_t at;
    size_t size;
    announce(l, i);
    if (place_of(l, i, &at, &size)) {
        /* A page more costs a disk as much as a few bytes of it. */
        size_t bytes = (size_t)(PAGE - at % PAGE), got;
        bytes += bytes < ENOUGH ? PAGE : 0;
        enum headers_seen seen = HEADERS_MORE;
        for (bool more = true; more && bytes <= HEAD_MOST && seen == HEADERS_MORE && e->code == ERR_NONE; bytes *= 4) {
            more = bytes < size;
            got = read_head(l, at, more ? bytes : size, e);
            more = more && got == bytes;
            seen = got > 0 ? headers_look(&l->headers, l->head, got, e) : HEADERS_OWN;
        }
        return seen;
    }
    AVPacket *packet = read_packet(l, i, e);
    enum headers_seen seen = packet ? headers_look(&l->headers, packet->data, (size_t)packet->size, e) : HEADERS_OWN;
    packet_free(&packet);
    return seen;
}

/*
 * Of a Matroska only its packets tell the number of the stream's track, and that the file has a picture's bytes as they are: a track
 * may be compressed, or leave out the bytes with which all its blocks begin.
 */
static bool find_track(struct look *l, struct err *e)
{
    enum { COMPARED = 64 };
    AVPacket *packet = l->fd >= 0 ? read_packet(l, 0, e) : NULL;
    int64_t at;
    size_t size;
    if (packet && packet->pos >= 0 && key_block_track(l->fd, packet->pos, &l->track)) {
        l->placed = true;
        size_t compared = packet->size < COMPARED ? (size_t)packet->size : COMPARED;
        l->placed = place_of(l, 0, &at, &size) && size == (size_t)packet->size && read_head(l, at, compared, e) == compared &&
                    memcmp(l->head, packet->data, compared) == 0;
    }
    packet_free(&packet);
    return e->code == ERR_NONE;
}

/* True if key frame `i` is displayed after the part that was asked for, and so is the one before it, which may still be tried. */
static bool is_behind(const struct key_reader *k, size_t i)
{
    const int64_t slack_us = 10000000;       /* the index has times of decoding */
    const struct key_entry *key = k->index.key;
    int64_t end = k->keys.cursor.rule.end_us;
    return i > 0 && end < INT64_MAX - slack_us && key[i - 1].from_us - key[0].from_us > end + slack_us;
}

/* True if what the first key frame of the index says is read with the film's beginning (find_origin), so that it is in force until it changes. */
static bool begins_the_film(const struct look *l)
{
    const struct key_reader *k = l->k;
    return k->index.kind == KEY_INDEX_SAMPLES ? k->index.key[0].serial == 0 : headers_hold(&k->demux->headers, &l->headers);
}

/* How many bytes may be read to look at the key frames: reading the film through takes about as many as it has, and looks at none twice. */
static uint64_t bytes_enough(const struct demux *r)
{
    enum { TIMES = 4, LEAST = 1 << 20 };
    int64_t size = r->format->pb ? avio_size(r->format->pb) : 0;
    return demux_bytes_read(r) + TIMES * (uint64_t)(size > 0 ? size : 0) + LEAST;
}

/* True if the film is to be read through. */
static bool some_lack(struct look *l, struct err *e)
{
    struct key_reader *k = l->k;
    for (size_t i = 0; i < k->index.count && !film_keys_stopped(k) && !is_behind(k, i); i++) {
        enum headers_seen seen = look_at(l, i, e);
        if (e->code != ERR_NONE)
            return false;
        /* One cluster that lies in the demuxer's buffer is read once, and gone through for each key frame that is said to be in it. */
        l->costly = demux_bytes_read(k->demux) > l->most || l->gone_through > l->most;
        if (l->costly)
            return true;
        if (i == 0)
            l->headers.changed &= !begins_the_film(l);
        else if (l->headers.changed && seen == HEADERS_LACKING)
            return true;
    }
    /* Each brings what its first slice goes by: of the others it is told when one lacks some. */
    k->demux->headers.changed |= l->headers.changed;
    return false;
}

bool film_keys_need_headers(struct key_reader *k, struct err *e)
{
    const AVCodecParameters *codec = k->demux->stream->codecpar;
    if (!headers_are_kept(k->traits.stream))
        return false;
    struct look l = {.k = k, .fd = slow_open(k->film->path, false), .most = bytes_enough(k->demux), .headers = {.stream = k->traits.stream}};
    bool samples = k->index.kind == KEY_INDEX_SAMPLES, need = false;
    if (headers_begin(&l.headers, codec->extradata, (size_t)codec->extradata_size, e) && (samples || find_track(&l, e))) {
        l.placed |= samples;
        need = samples && l.fd < 0 ? true : some_lack(&l, e);
    }
    if (need)
        log_msg(LOG_VERBOSE, "'%s': its key frames %s: it is read through, and not by its index", k->film->path,
                l.costly ? "take more looking for than the film" : "go by headers that changed in mid-film");
    headers_free(&l.headers);
    free(l.head);
    if (l.fd >= 0)
        close(l.fd);
    return need;
}
