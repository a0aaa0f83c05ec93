/* corruption.h - finds out which frames are damaged, by libavcodec's errors, flags and messages. */
#ifndef BARCODE_DECODE_CORRUPTION_H
#define BARCODE_DECODE_CORRUPTION_H

#include <libavcodec/avcodec.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "media/bitstream/coded_picture.h"

/*
 * The state of one decoder. Zero it first. It must not move while the decoder is open. The thread
 * that sends packets uses it; messages may come from the decoder's own threads.
 */
struct corruption_watch {
    atomic_uint_fast64_t complaints, substitutes;
    uint_fast64_t heard, substitutes_before;
    bool tainted, tainted_before;
    atomic_bool out_of_memory; /* a frame buffer could not be allocated, on any thread */
    int width, height;         /* the only size that a device decodes correctly; 0: any */
    bool resized;              /* the device was chosen for a frame of another size */
};

/*
 * Watches an opened decoder that works in libavcodec's own memory: its frame buffers, on each of
 * its threads, and its messages, where they are the only sign of damage. HEVC drops slices without
 * an error code or a flag. Other decoders log invalid blocks. Decoders of H.264 and the MPEG family
 * flag concealed blocks in the frame, and such a flag is lost if the frame is not output.
 */
void corruption_watch_open(struct corruption_watch *w, AVCodecContext *c);

/* Returns true if the decoder has logged damage since damage_found was called. */
bool corruption_reported(const struct corruption_watch *w);

/* Watches the messages alone, of a decoder whose frames are in a device's memory. */
void corruption_watch_messages(struct corruption_watch *w, AVCodecContext *c);

/*
 * Returns true if something was wrong with the packet for which avcodec_send_packet returned
 * `code`. With threads, the report may come with a later packet.
 */
bool damage_found(struct corruption_watch *w, int code);

/*
 * Returns true if the decoder has substituted missing references since this function was last
 * called. That is no damage by itself: a key may name references for pictures that are not decoded.
 * But on a GPU, a substituted frame shows what its memory held.
 */
bool corruption_has_substitutes(struct corruption_watch *w);

/*
 * Returns true if picture `p`, the next in decoding order, is damaged. `p` must still have its
 * packet. `corrupt`: the packet itself is corrupt. Damage spreads to all pictures that may refer to
 * `p`: up to the next key, and to the leading pictures of that key.
 */
bool corruption_spreads(struct corruption_watch *w, const struct picture *p, bool corrupt);

/* Forgets all damage: the decoder was flushed. */
void corruption_reset(struct corruption_watch *w);

/* Records damage that the decoder does not locate: the following frames may show it. */
void corruption_is_everywhere(struct corruption_watch *w);

/*
 * Returns true if the decoder flags the frame as damaged, as it does before an H.264 recovery
 * point.
 */
bool corruption_is_flagged(const AVFrame *frame);

/* Returns true if the decoder found damage in this frame's own data. */
bool corruption_concealed(const AVFrame *frame);

/*
 * Receives every message of every decoder, on any thread (av_log.c). A decoder's `opaque` is its
 * watch, so decoders of several films may work at the same time. Ignores a context without a watch
 * (a parser's).
 */
void corruption_message(const AVCodecContext *c, int level, const char *format);

#endif
