/*
 * keyframe_index.h - the container's list of key frames, and reading one of them.
 *
 * MP4 and AVI list every packet, Matroska's cues list key frames. An entry may be marked as a key
 * frame by mistake, so the reader checks the picture. A key frame that is not listed is not found,
 * and the previous one is used. Used by the reading thread only.
 */
#ifndef BARCODE_CONTAINER_KEYFRAME_INDEX_H
#define BARCODE_CONTAINER_KEYFRAME_INDEX_H

#include "container_quirks.h"
#include "demux.h"
#include "media/bitstream/coded_picture.h"
#include "media/film.h"

struct key_entry {
    int64_t stamp;   /* the time in the demuxer's index, in the stream's time base */
    int64_t seek;    /* the time to seek, so that the demuxer stops at this key frame */
    int64_t from_us; /* `stamp` in microseconds; the picture's stored time is not before it */
    uint64_t serial; /* of its packet: SAMPLES: its number in the file; CUES: a made-up number */
    int64_t at;      /* position in the file: MP4: the packet; AVI: its chunk; CUES: its cluster */
    uint64_t before; /* SAMPLES: displayed pictures before it in decoding order */
    bool unusable;   /* set by the reader: it is not a key frame, or cannot be read */
};

struct key_index {
    enum key_index_kind kind;
    struct key_entry *key; /* [count], by from_us */
    size_t count, room;
    /* SAMPLES: where a truncated file ends, as key_entry.from_us; TIME_NONE: it is complete */
    int64_t cut_us;
    int64_t last_us; /* of the last entry, as key_entry.from_us */
    uint64_t shown;  /* SAMPLES: the film's displayed pictures */
    /*
     * CUES: the stored time at which the film's last frame leaves the screen, from the packets
     * after the last key frame; TIME_NONE: unknown
     */
    int64_t end_us;
};

/* Returns which index the opened file has, without reading on. A pipe has none. */
enum key_index_kind key_index_kind(const AVFormatContext *format, const struct film *film);

/*
 * Lists the key frames. This seeks in the file, and the position of `r` is undefined afterwards. If
 * the index covers only a part of the film, kind becomes NONE and count 0.
 * Returns false if out of memory; *x is empty then. Free it with key_index_close.
 */
bool key_index_open(struct key_index *x, enum key_index_kind kind, struct demux *r,
                    const struct film *film, struct err *e);

/*
 * Reads key frame `i` of the index, which gets the entry's serial. If the demuxer stops at an
 * earlier key frame, reads on from there. The caller owns *p's packet. Returns false if nothing can
 * be read there, or on `e`.
 */
bool key_index_fetch(const struct key_index *x, size_t i, struct demux *r, struct picture *p,
                     struct err *e);

/* Frees the list and empties *x. */
void key_index_close(struct key_index *x);

#endif
