/*
 * keyframe_reader.h - private to the two ways of reading key frames: keyframe_reader.c reads the
 * complete film, keyframe_by_index.c uses the container's index. Used by the reading thread.
 */
#ifndef BARCODE_READER_KEYFRAME_READER_H
#define BARCODE_READER_KEYFRAME_READER_H

#include "media/bitstream/codec_traits.h"
#include "media/bitstream/coded_picture.h"
#include "media/container/demux.h"
#include "media/container/keyframe_index.h"
#include "media/ffmpeg/packet.h"
#include "media/gop/keyframe_chunks.h"
#include "media/schedule/decode_pass.h"

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
        bool there;
        size_t i;
        struct picture picture, second;
    } early;
    uint64_t lead_in, fetched;
    uint64_t none;         /* pictures that are key frames in the index but not in the bitstream */
    struct side_data side; /* for key frames that any worker may decode */
};

/* Sets p's rap if only the container marks it as a key frame. */
void film_keys_find_rap(const struct key_reader *k, struct picture *p);

bool film_keys_stopped(const struct key_reader *k);

/* Counts the key frame at `time_us` if it is in the selected part of the film. */
void film_keys_count(struct key_reader *k, int64_t time_us);

/*
 * Makes the film be decoded sequentially if the last key frame lacks parameter sets (param_sets.h),
 * and so cannot be decoded alone. Returns true then.
 */
bool film_keys_lack_sets(struct key_reader *k);

/* ---- keyframe_by_index.c ---- */

/*
 * Finds the film's first frame, lists the index of this `kind`, and reads by it. Returns false
 * without an error if the index cannot be relied on. The film is then to be read completely, from
 * where the demuxer is.
 */
bool film_keys_read_index(struct key_reader *k, enum key_index_kind kind, struct err *e);

/*
 * Seeks to the film's first picture, after key_index_open found no usable index. Returns false if
 * the film cannot be read again.
 */
bool film_keys_go_back(struct key_reader *k, struct err *e);

#endif
