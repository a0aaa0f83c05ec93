/*
 * live_url.h - what a name on the command line of --live may open. Each scheme allows its own
 * protocols and no other, so no stream and no playlist can reach a file or another scheme.
 */
#ifndef BARCODE_LIVE_LIVE_URL_H
#define BARCODE_LIVE_LIVE_URL_H

#include <libavformat/avformat.h>
#include <stdbool.h>

#include "barcode/base/err.h"

struct live_url {
    const char *protocols; /* for protocol_whitelist; "": none */
    const char *demuxers;  /* allowed beside those of films; "": none */
    const char *demuxer;   /* that reads it; NULL: found by its content */
    bool pipe;             /* stdin or a FIFO: not opened by libavformat */
    bool paced;       /* arrives in pieces of several seconds: frames are due by their timestamps */
    const char *path; /* for libavformat; points into the name */
};

/*
 * Describes a name. Fails with ERR_USAGE for a scheme that is not supported, a regular file, and
 * a device without libavdevice, and a URL that this FFmpeg cannot read.
 */
bool live_url_parse(const char *name, struct live_url *url, struct err *e);

/* Adds what keeps the delay low, and the whitelists. Returns 0 or an AVERROR. */
int live_url_options(const struct live_url *url, AVDictionary **options);

#endif
