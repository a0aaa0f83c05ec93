/*
 * live_split.h - splits a packet into its pictures at once. A parser of libavformat waits for the
 * next picture; this one takes the end of the packet for the end of a picture, which holds for
 * MPEG-TS of encoders. One thread.
 */
#ifndef BARCODE_LIVE_LIVE_SPLIT_H
#define BARCODE_LIVE_LIVE_SPLIT_H

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <stdbool.h>

#include "barcode/base/err.h"

struct live_split;

/* Returns NULL if out of memory. */
struct live_split *live_split_open(const AVStream *stream, struct err *e);

/* Begins with a packet, whose reference stays the caller's until the last picture was taken. */
void live_split_begin(struct live_split *s, const AVPacket *packet);

/* Sets *picture to the next one, with its key flag. Returns 0, AVERROR_EOF if there is none, or
 * AVERROR(ENOMEM). */
int live_split_next(struct live_split *s, AVPacket *picture);

/* Frees *s and sets it to NULL. Does nothing if *s is NULL. */
void live_split_close(struct live_split **s);

#endif
