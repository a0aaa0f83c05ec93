/* demux.h - reads a film's packets in the order of the file; those of its video as pictures. */
#ifndef BARCODE_CONTAINER_DEMUX_H
#define BARCODE_CONTAINER_DEMUX_H

#include "container_quirks.h"
#include "film_input.h"
#include "open.h"
#include "media/bitstream/param_sets.h"
#include "media/select/timeline.h"

enum { DEMUX_STREAMS_MAX = 2 };

/* Called by demux_next with each packet. May move the content of one that is not of the video. */
typedef void demux_tap(void *user, AVPacket *packet);

struct demux {
    AVFormatContext *format;
    AVStream *stream; /* the film's video stream */
    struct followed_stream
        selected[DEMUX_STREAMS_MAX]; /* [selected_count] whose packets are read */
    size_t selected_count;
    demux_tap *tap; /* set after demux_open; NULL: other streams' packets are dropped */
    void *tap_user;
    AVCodecParserContext *parser; /* picture order counts and key frames; NULL if not needed */
    AVCodecContext *parse_context;
    struct codec_traits traits;
    int length_size;
    struct nal_sets sets;         /* H.264: as of the last packet */
    struct param_sets param_sets; /* likewise */
    bool lacking;             /* parameter sets have changed, and a later key frame lacks them */
    uint64_t serial;          /* of the next packet */
    bool ended;               /* HEVC: the last packet ended the sequence */
    bool rasl_undecodable;    /* HEVC: the references of the last key's RASL pictures are missing */
    bool may_suppress_output; /* HEVC: only a decoder can determine which pictures are not output */
    bool needs_sequential;    /* only sequential decoding handles this film correctly */
    const struct container_quirks *quirks;
    int64_t place_us;         /* the time between two places: the nominal frame time */
    bool knows_places;        /* the index has all places: demux_place_us */
    bool framed;              /* each packet is a picture: the container marks where each begins */
    bool failed;              /* the container is damaged somewhere */
    int64_t reached_us;       /* the latest decoding time of a packet */
    int64_t frame_us;         /* a broadcast's nominal frame time; 0: any other container */
    int64_t dts_us, stays_us; /* the last packet's decoding time (or TIME_NONE) and duration */
    int64_t last_pos;         /* its position in the file, or -1 */
    uint64_t incomplete;      /* MPEG-2: the serial after that of the last incomplete picture */
    unsigned steady;          /* how many packets in a row came one frame apart */
    bool gap;                 /* packets are missing since the last picture */
    uint64_t bare;            /* empty packets so far */
    int suspect_next;         /* how many of the next pictures may be truncated */
    struct read_faults *faults;  /* the film's; borrowed; set after demux_open */
    struct av_log_counts logged; /* what demuxers logged while they read this film */
    /* pictures that are never displayed; packets that should contain a picture and do not */
    uint64_t hidden, unreadable;
};

/* Returns how the film's stored times are to be read. */
struct film_clock demux_clock(const struct demux *r, const struct film *film);

bool demux_open(struct demux *r, AVFormatContext *format, int stream, struct err *e);

/* Selects another stream of the file, sound, beside the video. Call it before the first packet. */
void demux_select(struct demux *r, int stream);

/*
 * Reads the next packet of a selected stream, in the order of the file: packet->stream_index is its
 * stream. Returns false at the end, or on `e`: ERR_FAILED if the file cannot be read.
 */
bool demux_read(struct demux *r, AVPacket *packet, struct err *e);

/* Describes a packet of the video stream, the one that was read last, as a picture, which owns the
 * packet from then on. */
void demux_describe(struct demux *r, AVPacket *packet, struct picture *p);

/* Reads the next picture; the caller owns its packet. Returns false at the end, or on `e`. */
bool demux_next(struct demux *r, struct picture *p, struct err *e);

/* Resets the state after a seek: the next picture has number `serial`, and none is known. */
void demux_jumped(struct demux *r, uint64_t serial);

/* Forgets all parameter sets except those of the extradata, as before the first packet. */
void demux_begin_headers(struct demux *r);

/*
 * Returns the stored time of the frame that is displayed at place `entry` of an index of all
 * packets, as timeline.h finds it; TIME_NONE if the index does not have it.
 */
int64_t demux_place_us(const struct demux *r, int entry);

/* Returns the position in the file. */
uint64_t demux_position(const struct demux *r);

/* Returns how many bytes were read of a single file since it was opened; else 0. */
uint64_t demux_bytes_read(const struct demux *r);

void demux_close(struct demux *r);

/*
 * ---- keyframe_index.c: the container's list of key frames ----
 *
 * MP4 and AVI list every packet, Matroska's cues list key frames. An entry may be marked as a key
 * frame by mistake, so the reader checks the picture. A key frame that is not listed is not found,
 * and the previous one is used. Used by the reading thread only.
 */

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
    /* CUES: the stored time at which the last frame leaves the screen; TIME_NONE: unknown */
    int64_t end_us;
};

/* Returns which index the opened file has, without reading on. A pipe has none. */
enum key_index_kind key_index_kind(const AVFormatContext *format, const struct film *film);

/*
 * Lists the key frames, to be freed with key_index_close. The position of `r` is undefined then. If
 * the index covers only a part of the film, kind becomes NONE and count 0. Returns false on `e`.
 */
bool key_index_open(struct key_index *x, enum key_index_kind kind, struct demux *r,
                    const struct film *film, struct err *e);

/* Reads key frame `i`; the caller owns its packet. Returns false if there is nothing, or on `e`. */
bool key_index_fetch(const struct key_index *x, size_t i, struct demux *r, struct picture *p,
                     struct err *e);

/* Frees the list and empties *x. */
void key_index_close(struct key_index *x);

#endif
