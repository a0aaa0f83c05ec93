/*
 * demux.h - one sequential reader: a film's video packets as pictures, in decoding order.
 */
#ifndef BARCODE_CONTAINER_DEMUX_H
#define BARCODE_CONTAINER_DEMUX_H

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <stdbool.h>
#include <stdint.h>

#include "media/bitstream/codec_traits.h"
#include "media/bitstream/coded_picture.h"
#include "media/bitstream/h264_params.h"
#include "media/bitstream/param_sets.h"
#include "media/ffmpeg/av_log.h"
#include "barcode/base/err.h"

enum { DEMUX_STREAMS_MAX = 2 };

struct demux {
    AVFormatContext *format;
    AVStream *stream;                /* the film's video stream */
    int selected[DEMUX_STREAMS_MAX]; /* [selected_count] streams whose packets are read */
    size_t selected_count;
    AVCodecParserContext *parser; /* picture order counts and key frames; NULL when not needed */
    AVCodecContext *parse_context;
    struct codec_traits traits;
    int length_size;
    struct nal_sets sets;         /* H.264: as of the last packet */
    struct param_sets param_sets; /* likewise */
    bool lacking;                 /* sets changed, and a key frame came without them */
    uint64_t serial;              /* of the next packet */
    bool ended;                   /* HEVC: an end of sequence; more follows */
    bool rasl_undecodable;        /* HEVC: the last key's RASL pictures miss their references */
    bool may_suppress_output;     /* HEVC: some pictures may not be output, the decoder knows */
    bool needs_sequential;        /* something that only a sequential decode gets right */
    const struct container_quirks *quirks;
    bool framed;                 /* a packet is a picture: the container says where each begins */
    bool failed;                 /* the container is damaged somewhere */
    int64_t reached_us;          /* the latest decoding time of a packet */
    int64_t frame_us;            /* of a broadcast: nominal time of a frame; 0: of others */
    int64_t dts_us, stays_us;    /* the last packet's time, TIME_NONE if unknown; its duration */
    unsigned steady;             /* so many packets before it came a frame apart */
    bool gap;                    /* packets are missing since the last picture */
    uint64_t bare;               /* packets so far that have no bytes */
    int suspect_next;            /* so many of the next pictures may lack bytes */
    struct av_log_counts logged; /* by demuxers while they read this film */
    /* pictures so far that are not shown, and that are no pictures but must be */
    uint64_t hidden, unreadable;
};

bool demux_open(struct demux *r, AVFormatContext *format, int stream, struct err *e);

/* Selects another stream of the file, sound, beside the video. Call it before the first packet. */
void demux_select(struct demux *r, int stream);

/*
 * Reads the next packet of a selected stream, in the order of the file: packet->stream_index is its
 * stream. Returns false at the end, or on `e`.
 */
bool demux_read(struct demux *r, AVPacket *packet, struct err *e);

/* Describes a packet of the video stream, the one that was read last, as a picture, which owns the
 * packet from then on. */
void demux_describe(struct demux *r, AVPacket *packet, struct picture *p);

/* The next video packet as a picture (its packet is the caller's). False at the end, or on `e`. */
bool demux_next(struct demux *r, struct picture *p, struct err *e);

/* The file was sought in: the next picture is `serial`, and nothing is known of what lies before
 * it. */
void demux_jumped(struct demux *r, uint64_t serial);

/* Forgets all parameter sets but those of the extradata, as before the first packet. */
void demux_begin_headers(struct demux *r);

/* How far into the file it has read. */
uint64_t demux_position(const struct demux *r);

/* Bytes of the file that were read since it was opened; 0: no single file. */
uint64_t demux_bytes_read(const struct demux *r);

void demux_close(struct demux *r);

#endif
