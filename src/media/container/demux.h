/*
 * demux.h - reads a film's packets in the order of the file, and describes those of its video
 * stream as coded pictures.
 */
#ifndef BARCODE_CONTAINER_DEMUX_H
#define BARCODE_CONTAINER_DEMUX_H

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <stdbool.h>
#include <stdint.h>

#include "read_faults.h"
#include "media/bitstream/coded_picture.h"
#include "media/bitstream/h264_params.h"
#include "media/bitstream/param_sets.h"
#include "media/ffmpeg/av_log.h"
#include "media/select/timeline.h"
#include "barcode/base/err.h"
#include "media/film.h"

enum { DEMUX_STREAMS_MAX = 2 };

/*
 * Called by demux_next with each packet that it reads, of all selected streams. It may take over
 * (av_packet_move_ref) the content of a packet that is not of the video stream.
 */
typedef void demux_tap(void *user, AVPacket *packet);

struct demux {
    AVFormatContext *format;
    AVStream *stream;                /* the film's video stream */
    int selected[DEMUX_STREAMS_MAX]; /* [selected_count] streams whose packets are read */
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
    unsigned steady;          /* how many packets in a row came one frame apart */
    bool gap;                 /* packets are missing since the last picture */
    uint64_t bare;            /* empty packets so far */
    int suspect_next;         /* how many of the next pictures may be truncated */
    struct read_faults *faults;  /* the film's; borrowed; set after demux_open */
    struct av_log_counts logged; /* what demuxers logged while they read this film */
    /*
     * pictures so far that are never displayed, and packets that should contain a picture but do
     * not
     */
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

/*
 * Reads the next picture of the video stream; the caller owns its packet. Returns false at the end,
 * or on `e`.
 */
bool demux_next(struct demux *r, struct picture *p, struct err *e);

/*
 * Resets the state after a seek in the file: the next picture has number `serial`, and no earlier
 * picture is known.
 */
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

/*
 * Returns how many bytes of the file were read since it was opened; 0 if it is not a single file.
 */
uint64_t demux_bytes_read(const struct demux *r);

void demux_close(struct demux *r);

#endif
