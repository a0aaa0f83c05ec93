/*
 * keyframe_index.h - where a container says that its key frames lie, and reading one of them.
 *
 * MP4 and AVI list every picture, Matroska's cues the key frames. What an index calls a key frame
 * may be none (the reader of the picture judges), and what it does not list is not found: then the
 * one before serves. The reading thread's.
 */
#ifndef BARCODE_CONTAINER_KEYFRAME_INDEX_H
#define BARCODE_CONTAINER_KEYFRAME_INDEX_H

#include "container_quirks.h"
#include "demux.h"
#include "media/bitstream/coded_picture.h"
#include "barcode/media/film.h"

#ifdef __cplusplus
extern "C" {
#endif

struct key_entry {
    int64_t stamp;   /* as the demuxer's index has it, in the stream's units */
    int64_t seek;    /* what to seek: it comes to this key frame */
    int64_t from_us; /* `stamp`; the picture's stored time is not before it */
    uint64_t serial; /* of its packet: SAMPLES: its place in the file, CUES: a number of its own */
    int64_t at;      /* where in the file: MP4: it, AVI: its chunk, CUES: its cluster */
    uint64_t before; /* SAMPLES: pictures before it, in decoding order, that are displayed */
    bool unusable;   /* the reader's: it is no key frame, or cannot be read */
};

struct key_index {
    enum key_index_kind kind;
    struct key_entry *key; /* [count], by from_us */
    size_t count, room;
    uint64_t shown; /* SAMPLES: displayed pictures of the film */
};

/* By the container alone, without reading on. A pipe has none. */
enum key_index_kind key_index_kind(const AVFormatContext *format, const struct film *film);

/*
 * Lists the key frames. Where `kind` is CUES the file is sought in, and `r` stands anywhere
 * afterwards. kind is NONE and count 0 when the index turns out to cover only a part of the film.
 * False: memory; *x is empty then. key_index_close frees it.
 */
bool key_index_open(struct key_index *x, enum key_index_kind kind, struct demux *r,
                    const struct film *film, struct err *e);

/*
 * Reads key frame `i` of the index, with the entry's serial (its neighbours too where the demuxer
 * will not go to it): *p's packet is the caller's. False: nothing can be read there, or on `e`.
 */
bool key_index_fetch(const struct key_index *x, size_t i, struct demux *r, struct picture *p,
                     struct err *e);

/* Frees and empties. */
void key_index_close(struct key_index *x);

#ifdef __cplusplus
}
#endif
#endif
