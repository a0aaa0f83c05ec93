/* live_decode.h - decodes a stream with the least delay; what a name of --live may open. */
#ifndef BARCODE_LIVE_LIVE_DECODE_H
#define BARCODE_LIVE_LIVE_DECODE_H

#include <libavformat/avformat.h>

#include "live_source.h"

struct live_decode;

/* Opens a decoder for the stream, called `name` in messages. Returns NULL with ERR_INPUT. */
struct live_decode *live_decode_open(const AVStream *stream, const char *name,
                                     const struct live_options *o, struct err *e);

/* Passes on a packet's frames; `waiting` are behind it. Returns false on `e`. */
bool live_decode_packet(struct live_decode *d, AVPacket *packet, int64_t arrived_ns, int waiting,
                        const struct live_sink *sink, struct err *e);

/* Passes on the frames that the decoder still holds, likewise. No packet may follow. */
bool live_decode_end(struct live_decode *d, const struct live_sink *sink, struct err *e);

/* Frees *d and sets it to NULL. Does nothing if *d is NULL. */
void live_decode_close(struct live_decode **d);

/*
 * What a name of --live may open. Each scheme allows its own protocols and no other, so no stream
 * and no playlist can reach a file or another scheme.
 */
struct live_url {
    const char *protocols; /* for protocol_whitelist; "": none */
    const char *demuxers;  /* allowed beside those of films; "": none */
    const char *demuxer;   /* that reads it; NULL: found by its content */
    bool pipe;             /* stdin or a FIFO: not opened by libavformat */
    bool paced;       /* arrives in pieces of several seconds: frames are due by their timestamps */
    const char *path; /* for libavformat; points into the name */
};

/* Describes a name. Fails with ERR_USAGE if this FFmpeg cannot read it, or for a file. */
bool live_url_parse(const char *name, struct live_url *url, struct err *e);

/* Adds what keeps the delay low, and the whitelists. Returns 0 or an AVERROR. */
int live_url_options(const struct live_url *url, AVDictionary **options);

#endif
