/* decoder.h - one libavcodec context, and its signs of damage: errors, flags and messages. */
#ifndef BARCODE_DECODE_DECODER_H
#define BARCODE_DECODE_DECODER_H

#include <libavcodec/avcodec.h>

#include "media/schedule/decode_pass.h"

/* Opens a decoder; with more than one of `threads`, frame threads. Free it before its watch. */
AVCodecContext *decoder_open(const AVStream *stream, const char *path, int threads, struct err *e);

/* As libavcodec's functions, but AVERROR(ENOMEM) once a frame buffer could not be allocated. */
int decoder_send(AVCodecContext *c, const AVPacket *packet);
int decoder_receive(AVCodecContext *c, AVFrame *frame);

/*
 * Returns the most threads that a decoder of one chunk may have: 1 if more are of no use or not
 * safe. H.264, HEVC and VP9 have frame threads of libavcodec's own, and so has dav1d; MPEG-2 has
 * none. With threads, VP8 and Theora show another frame for damage that they do not report.
 */
int decoder_max_threads(const AVStream *stream, const struct codec_traits *traits);

/* Allocates an unopened context of the decoder `name`; NULL: libavcodec's choice. */
AVCodecContext *decoder_alloc(const AVStream *stream, const char *name, struct err *e);

/*
 * Makes `to`, an empty packet, that of a chunk's decoder for `p`: the serial is its pts, DISCARD is
 * set unless the frame is output. The caller unrefs it. Returns false if out of memory.
 */
bool decoder_packet(AVPacket *to, const struct picture *p, struct err *e);

/*
 * Sets the delay of an H.264 decoder to the standard's largest, for pictures in any order. Call it
 * before the first packet. Leaves other decoders as they are. decoder_fit_delay has the reason.
 */
void decoder_widen_delay(AVCodecContext *c);

/*
 * Sets the delay that `chunk` needs in an H.264 decoder, before its first packet: a decoder that
 * increases its delay on the fly drops a frame. Leaves other decoders as they are.
 */
void decoder_fit_delay(AVCodecContext *c, const struct codec_traits *traits,
                       const struct chunk *chunk);

/* Errors of avcodec_receive_frame in a row: a decoder that always fails must not hang. */
enum { RECEIVE_ERRORS_MAX = 1000 };

/* ---- which frames are damaged ---- */

/*
 * The state of one decoder. Zero it first. It must not move while the decoder is open. The thread
 * that sends packets uses it; messages may come from the decoder's own threads.
 */
struct corruption_watch {
    atomic_uint_fast64_t reports, substitutes; /* messages about damage, about missing references */
    uint_fast64_t reports_before, substitutes_before;
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

/* Returns true if the packet sent with `code` was damaged. With threads that may show later. */
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

/* Returns true if the frame is flagged as damaged, as before an H.264 recovery point. */
bool corruption_is_flagged(const AVFrame *frame);

/* Returns true if the decoder found damage in this frame's own data. */
bool corruption_concealed(const AVFrame *frame);

/* Receives all decoders' messages (av_log.c), any thread. `opaque` may be no watch (a parser's). */
void corruption_message(const AVCodecContext *c, int level, const char *format);

/* ---- worker.c: decodes chunks in software ---- */

extern const struct decoder_backend software_backend;

/* Implements worker_main (struct decoder_backend). */
void *decode_worker_main(void *pass);

/* A software worker on the caller's thread. Decodes what is selected in a chunk and not done. */
struct decode_worker;
struct decode_worker *decode_worker_new(struct decode_pass *s, struct err *e);
bool decode_worker_decode(struct decode_worker *s, struct chunk *chunk, struct err *e);
/* Adds the worker's counts to the pass and frees it, if *s is not NULL. */
void decode_worker_free(struct decode_worker **s);

#endif
