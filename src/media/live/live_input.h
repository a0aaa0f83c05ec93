/*
 * live_input.h - the bytes of a pipe or of a stream that has no demuxer of its own (UDP, SRT, TCP),
 * and when they arrived.
 *
 * A demuxer of MPEG-TS knows that a picture is complete when the next one begins: a frame later.
 * But the packet that ends a picture is stuffed, because each PES packet begins a packet of its
 * own. After it the input pauses, by EAGAIN, and the demuxer returns what it has. One picture of
 * 184 needs no stuffing: a datagram that is shorter than others ends it, too.
 */
#ifndef BARCODE_LIVE_LIVE_INPUT_H
#define BARCODE_LIVE_LIVE_INPUT_H

#include <libavformat/avformat.h>
#include <stdbool.h>
#include <stdint.h>

#include "barcode/base/err.h"

struct live_input;

/*
 * Opens stdin ("-"), a FIFO, or a URL with the options of avio_open2. `stop` returns not 0 when
 * reading must end. Returns NULL on failure; *code gets an AVERROR then, and `e` stays empty, or
 * `e` is set.
 */
struct live_input *live_input_open(const char *name, AVIOInterruptCB stop, AVDictionary **options,
                                   int *code, struct err *e);

/* Returns the context for AVFormatContext.pb. */
AVIOContext *live_input_context(struct live_input *in);

/* Pauses from now on after each picture of the MPEG-TS stream `pid`. */
void live_input_pause_after(struct live_input *in, int pid);

/* Goes on after the demuxer has returned EAGAIN. Returns false if that is not why it did. */
bool live_input_resume(struct live_input *in);

/* Returns true if the demuxer has read to the end. */
bool live_input_ended(const struct live_input *in);

/* Returns when (clock_ns) the last byte of the packet that the demuxer has returned arrived. */
int64_t live_input_arrived(const struct live_input *in);

/* Closes the input, after its demuxer. Sets *in to NULL. Does nothing if *in is NULL. */
void live_input_close(struct live_input **in);

/*
 * Returns true if a packet of MPEG-TS, 188 bytes, is stuffed: a PES packet ends in it. Pure; for
 * tests.
 */
bool live_input_is_stuffed(const uint8_t packet[188]);

#endif
