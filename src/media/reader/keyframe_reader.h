/*
 * keyframe_reader.h - private to the two ways of reading key frames: keyframe_reader.c (through the
 * film) and keyframe_by_index.c (by the container's index). The reading thread's.
 */
#ifndef BARCODE_READER_KEYFRAME_READER_H
#define BARCODE_READER_KEYFRAME_READER_H

#include "media/bitstream/codec_traits.h"
#include "media/bitstream/coded_picture.h"
#include "media/container/demux.h"
#include "media/container/keyframe_index.h"
#include "media/ffmpeg/side_data.h"
#include "media/gop/keyframe_chunks.h"
#include "media/schedule/decode_pass.h"

#ifdef __cplusplus
extern "C" {
#endif

/* chunker.c hands a key frame out when the one after the next comes, at the latest. */
enum { SECONDS = 4 };

struct key_reader {
    struct decode_pass *pass; /* NULL: only counting */
    struct demux *demux;
    const struct film *film;
    struct codec_traits traits;
    struct keys keys;
    uint64_t found; /* key frames */
    /* Read through: */
    bool half; /* the last picture was the first field of two */
    struct second_field {
        uint64_t of;             /* the serial of the first field */
        struct AVPacket *packet; /* NULL: none */
    } second[SECONDS];           /* of the latest key frames */
    unsigned seconds;            /* so many came */
    int64_t last_lasts_us;       /* what the last displayed picture's packet says */
    /* By an index: */
    struct key_index index;
    int64_t origin_us; /* stored time of the film's first frame */
    struct early {     /* a key frame that was read and is for a later column */
        bool there;
        size_t i;
        struct picture picture;
        struct AVPacket *second;
    } early;
    uint64_t lead_in, fetched;
    uint64_t none;         /* what the index calls key frames and the bitstream does not */
    struct side_data side; /* for any session may get any of the packets */
};

/* Makes a key frame of what only the container calls so. */
void film_keys_find_rap(const struct key_reader *k, struct picture *p);

bool film_keys_stopped(const struct key_reader *k);

/* Counts the key frame at `time_us`, if it lies in the part that was asked for. */
void film_keys_count(struct key_reader *k, int64_t time_us);

/*
 * Has the film decoded as a whole if the key frame that the demuxer read last lacks parameter sets
 * (param_sets.h), and so cannot be decoded alone. Returns true then.
 */
bool film_keys_lack_sets(struct key_reader *k);

/* ---- keyframe_by_index.c ---- */

/*
 * Finds the film's first frame, lists the index (`kind`), and reads by it. False, without an error,
 * when the index is not to be relied on: the film is then to be read through, from where the
 * demuxer stands.
 */
bool film_keys_read_index(struct key_reader *k, enum key_index_kind kind, struct err *e);

/* Back to the film's first key frame, after an index was looked for that is not there. False: it
 * cannot be read again. */
bool film_keys_go_back(struct key_reader *k, struct err *e);

#ifdef __cplusplus
}
#endif
#endif
