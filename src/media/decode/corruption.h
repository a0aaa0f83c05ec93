/*
 * corruption.h - what libavcodec knows and tells of damage, and what it does not.
 */
#ifndef BARCODE_DECODE_CORRUPTION_H
#define BARCODE_DECODE_CORRUPTION_H

#include <libavcodec/avcodec.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "media/bitstream/coded_picture.h"

/*
 * What is noticed of one decoder; zero it first. It must stay where it is while the decoder lives.
 * The thread that sends packets uses it; messages may come from the decoder's own threads.
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
 * Watches an opened decoder that works on memory of libavcodec's own:
 * - its messages, where they are the only sign: those of the HEVC decoder on slices, which it drops
 * without an error code or a flag; those of others on wrong blocks; and what H.264 and the MPEG
 * family say when they conceal blocks, because the flags of a picture that is not put out cannot be
 * seen;
 * - its memory, on every thread that it has.
 */
void corruption_watch_open(struct corruption_watch *w, AVCodecContext *c);

/* Returns true if the decoder has complained since damage_found was asked. */
bool corruption_reported(const struct corruption_watch *w);

/* Watches a decoder whose pictures are not in memory that can be looked at: its messages alone. */
void corruption_watch_messages(struct corruption_watch *w, AVCodecContext *c);

/*
 * Called when avcodec_send_packet has given `code`: true if something was wrong with the packet.
 * With threads the answer may come with a later packet.
 */
bool damage_found(struct corruption_watch *w, int code);

/*
 * True if the decoder, since it was last asked, lent pictures in place of references that are
 * missing. No damage by itself (a key may name such references for pictures that are not decoded),
 * but on a GPU what was lent shows what its memory held.
 */
bool corruption_has_substitutes(struct corruption_watch *w);

/*
 * Returns true if picture `p`, the next in decoding order, is damaged. It must still have its
 * packet. `corrupt`: the packet itself is corrupt. This spreads to all pictures that may refer to
 * `p`: up to the next key, and to the leading pictures of that key.
 */
bool corruption_spreads(struct corruption_watch *w, const struct picture *p, bool corrupt);

/* Forgets what was noticed: the decoder is flushed and begins anew. */
void corruption_reset(struct corruption_watch *w);

/* Notes that something was wrong and the decoder does not say where: what comes now may show it. */
void corruption_is_everywhere(struct corruption_watch *w);

/* True if the decoder says that this picture is damaged, as it does of those before an H.264
 * recovery point. */
bool corruption_is_flagged(const AVFrame *frame);

/* True if the decoder found damage in this picture's own data. */
bool corruption_concealed(const AVFrame *frame);

/*
 * Every message of every decoder comes here, on any thread (av_log.c). The decoder's `opaque` is
 * its watch, so decoders of several films can be at work; one without a watch (a parser's) is not
 * listened to.
 */
void corruption_message(const AVCodecContext *c, int level, const char *format);

#endif
