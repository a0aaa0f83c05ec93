/*
 * av.h - private to the files that speak libav: film_av.c (facts), film_av_said.c (messages),
 * film_stream.c (which stream), film_input.c (pipes), film_pictures.c (pictures one after another),
 * demux.c (packets), param_sets.c and side_data.c (what was said before), decoder.c (one context),
 * damage.c (what is wrong), film_colour.c, view.c and unpack.c (pictures), film_read.c (the reading
 * thread), film_keys.c, film_keys_index.c and key_index.c (key frames alone), film_probe.c (a look
 * before), session.c and sequential.c (decoding), source_film.c. What the threads of one staging
 * share is in staging.h.
 */
#ifndef BARCODE_AV_H
#define BARCODE_AV_H

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <pthread.h>
#include <stdatomic.h>

#include "gather.h"
#include "keys.h"
#include "nal_sets.h"
#include "param_sets.h"
#include "barcode/queue.h"
#include "barcode/source.h"

/* ---- film_av.c ---- */

/*
 * Opens `path`, finds the video stream, fills `film` (film->path is a copy, the caller's). Also when it fails, *format is the
 * caller's, film_av_close.
 */
bool film_av_open(const char *path, AVFormatContext **format, struct film *film, struct err *e);

/* The same with this one of its video streams (film_stream_choose). */
bool film_av_open_stream(const char *path, int wanted, AVFormatContext **format, struct film *film, struct err *e);

/*
 * Opens once more the film that `film` tells of, with its stream found out as `wanted` said before (film_av_open_stream). ERR_INPUT also where
 * that is another one now. *format as above.
 */
bool film_av_reopen(const struct film *film, int wanted, AVFormatContext **format, struct err *e);

/*
 * Opens once more a film that `opened` (lent) is of, in a container whose head names all its streams: what was found out of them is
 * copied, and not found out again, which takes as long as decoding some pictures. *format as above.
 */
bool film_av_open_again(const char *path, const AVFormatContext *opened, AVFormatContext **format, struct err *e);

/* Closes the container and what it was read through; sets *format to NULL. NULL in it is fine. */
void film_av_close(AVFormatContext **format);

/* True if the film's file can be sought in: it is there, it is no pipe, and no playlist that names other files. */
bool film_av_seekable(const AVFormatContext *format);

/* True if the demuxer's name is one of these, whole. */
bool film_av_is_one_of(const AVFormatContext *format, const char *const *names, size_t count);

/*
 * Reads up to `bytes` bytes of the film's file at `at`, then goes back to where the file stood. Returns how many came, 0 at the
 * file's end; -1 if it cannot be sought in, or is not read. The thread that reads the film.
 */
int film_av_peek(const AVFormatContext *format, int64_t at, uint8_t *to, int bytes);

/*
 * Returns the length in microseconds that the header of a truncated AVI declares, 0 for any other
 * file. libavformat shortens that length by the ratio of the file's size to the declared size.
 */
int64_t film_av_shortened_us(const AVFormatContext *format, const AVStream *stream);

/* The film's nominal frame time, > 0: of its rate, 40 ms where that is unknown. */
int64_t film_av_frame_us(const struct film *f);

/* Fills `e` (ERR_FAILED): libavcodec was out of memory for the film `path`. Returns false. */
bool film_av_out_of_memory(const char *path, struct err *e);

/* "Invalid data found", without libav types at the call. */
const char *film_av_sentence(int code, char text[128]);

/* ---- film_av_said.c ---- */

/* From the first call on libav's messages come here, and to damage_message. Any thread, any number of times. */
void film_av_hear(void);

/* What demuxers say while they read a film. They step over damage without a return code: this is the only sign of it. */
struct film_av_said {
    uint64_t errors;      /* messages that are errors                                                     */
    uint64_t jumps;       /* MPEG-TS: a counter jumped, so that packets are missing, of whichever stream   */
    uint64_t searches;    /* MPEG-TS: no packet was where one must be; the next one had to be looked for   */
};

/*
 * From here on each message of a demuxer on this thread is counted in *said, which the caller keeps; NULL: none is. It does
 * not matter which AVFormatContext logs it: a playlist's demuxer opens contexts of its own. Returns what was counted into
 * before, for the caller to set again. Any thread, each for itself.
 */
struct film_av_said *film_av_listen(struct film_av_said *said);

/* ---- demux.c: one sequential reader ---- */

struct demux {
    AVFormatContext *format;
    AVStream *stream;
    AVCodecParserContext *parser;   /* picture order counts and key frames; NULL when not needed */
    AVCodecContext *parse_context;
    struct run_traits traits;
    int length_size;
    struct nal_sets sets;           /* H.264: as of the last packet                              */
    struct param_sets param_sets;   /* likewise                                                  */
    bool lacking;                   /* sets changed, and a key frame came without them           */
    uint64_t serial;                /* of the next packet                                        */
    bool ended, orphans;            /* HEVC: the stream ended and goes on; the last key's RASL pictures are lost */
    bool veiled;                    /* HEVC: pictures may stay hidden, and only the decoder knows which */
    bool odd;                       /* something that only a sequential decode gets right        */
    bool framed;                    /* a packet is a picture: the container says where each begins */
    bool table;                     /* MP4: it has a table of all its packets                   */
    bool failed;                    /* the container is damaged somewhere                       */
    int64_t reached_us;             /* the latest decoding time of a packet                      */
    int64_t frame_us;               /* of a broadcast: nominal time of a frame; 0: of others     */
    int64_t dts_us, stays_us;       /* the last packet's time, TIME_NONE if unknown; its duration */
    unsigned steady;                /* so many packets before it came a frame apart              */
    bool hole;                      /* something vanished since the last picture                 */
    uint64_t bare;                  /* packets so far that have no bytes                         */
    int shaken;                     /* so many of the next pictures may lack bytes               */
    struct film_av_said said;       /* by demuxers while they read this film                     */
    uint64_t hidden, unreadable;    /* pictures so far that are not shown, and that are no pictures but must be */
};

bool demux_open(struct demux *r, AVFormatContext *format, int stream, struct err *e);

/* The next video packet as a picture (its packet is the caller's). False at the end, or on `e`. */
bool demux_next(struct demux *r, struct picture *p, struct err *e);

/* The file was sought in: the next picture is `serial`, and nothing is known of what lies before it. */
void demux_jumped(struct demux *r, uint64_t serial);

/* Forgets all parameter sets but those of the extradata, as before the first packet. */
void demux_begin_headers(struct demux *r);

/* How far into the file it has read. */
uint64_t demux_position(const struct demux *r);

/* Bytes of the file that were read since it was opened; 0: no single file. */
uint64_t demux_bytes_read(const struct demux *r);

void demux_close(struct demux *r);


/* ---- decoder.c: one libavcodec context ---- */

/* A context for the stream of the film `path`; `threads` 1: single-threaded, more: frame threads. */
AVCodecContext *decoder_open(const AVStream *stream, const char *path, int threads, struct err *e);

/*
 * avcodec_send_packet and avcodec_receive_frame of a watched decoder. Return AVERROR(ENOMEM) once a
 * frame buffer could not be allocated.
 */
int decoder_send(AVCodecContext *c, const AVPacket *packet);
int decoder_receive(AVCodecContext *c, AVFrame *frame);

/* Frees the decoder before its watch goes; NULL is fine. */
void decoder_close(AVCodecContext **c);

/*
 * On how many threads, at most, one decoder of the film's runs may work; 1 where more are no use or not safe. Those with frame
 * threads of libavcodec's own (H.264, HEVC, VP9), and dav1d. MPEG-2's has none. VP8's, with threads, makes another picture of damage of
 * which it says nothing (seen: one flipped bit), as Theora's does.
 */
int decoder_threads_most(const AVStream *stream, const struct run_traits *traits);

/* A context for the film's stream, not opened yet; `name`: a certain decoder, NULL: libavcodec's choice. */
AVCodecContext *decoder_alloc(const AVStream *stream, const char *name, struct err *e);

/*
 * Makes `to`, empty, the packet that a decoder of a run gets for `p`: its serial for a time, and DISCARD where the picture
 * itself is not wanted. The caller unrefs it once it is sent.
 */
bool decoder_packet(AVPacket *to, const struct picture *p, struct err *e);

/*
 * Gives an H.264 decoder, before its first packet, as much delay as the standard allows, for pictures of any order. Others are left as they
 * are. decoder_fit_delay says why.
 */
void decoder_widen_delay(AVCodecContext *c);

/*
 * Gives an H.264 decoder the delay that `run` needs, before its first packet: decoders learn it on the fly, and the picture
 * at which it grows is lost. Others are left as they are.
 */
void decoder_fit_delay(AVCodecContext *c, const struct run_traits *traits, const struct run *run);

/*
 * Errors of avcodec_receive_frame that are stepped over at a time: each should use up a packet, of which a decoder holds
 * a few dozen. A decoder that fails without end must not hang the session.
 */
enum { RECEIVE_ERRORS_MAX = 1000 };

/* ---- damage.c: what libavcodec knows and tells of damage, and what it does not ---- */

/*
 * What is noticed of one decoder; zero it first. It must stay where it is while the decoder lives. The thread that sends
 * packets uses it; messages may come from the decoder's own threads.
 */
struct damage_watch {
    atomic_uint_fast64_t complaints, lent;
    uint_fast64_t heard, lent_before;
    bool tainted, tainted_before;
    atomic_bool out_of_memory; /* a frame buffer could not be allocated, on any thread       */
    int width, height;         /* nvdec_expect_size's; 0: any                                */
    bool resized;              /* NVDEC was chosen for a frame of another size               */
};

/*
 * Watches an opened decoder that works on memory of libavcodec's own:
 * - its messages, where they are the only sign: those of the HEVC decoder on slices, which it drops without an error code or a
 *   flag; those of others on wrong blocks; and what H.264 and the MPEG family say when they conceal blocks, because the flags
 *   of a picture that is not put out cannot be seen;
 * - its memory, on every thread that it has.
 */
void damage_watch_open(struct damage_watch *w, AVCodecContext *c);

/* Returns true if the decoder has complained since damage_found was asked. */
bool damage_heard(const struct damage_watch *w);

/* Watches a decoder whose pictures are not in memory that can be looked at: its messages alone. */
void damage_watch_messages(struct damage_watch *w, AVCodecContext *c);

/*
 * Called when avcodec_send_packet has given `code`: true if something was wrong with the packet. With threads the answer may
 * come with a later packet.
 */
bool damage_found(struct damage_watch *w, int code);

/*
 * True if the decoder, since it was last asked, lent pictures in place of references that are missing. No damage by itself
 * (a key may name such references for pictures that are not decoded), but on a GPU what was lent shows what its memory held.
 */
bool damage_lent(struct damage_watch *w);

/*
 * True if picture `p`, the next in decoding order, whose packet is still there, shows damage. `hurt`: its own packet was
 * damaged, which is handed on to all that may refer to it: up to the next key, and to the pictures that lead this one.
 */
bool damage_spreads(struct damage_watch *w, const struct picture *p, bool hurt);

/* Forgets what was noticed: the decoder is flushed and begins anew. */
void damage_forget(struct damage_watch *w);

/* Notes that something was wrong and the decoder does not say where: what comes now may show it. */
void damage_everywhere(struct damage_watch *w);

/* True if the decoder says that this picture is damaged, as it does of those before an H.264 recovery point. */
bool damage_flagged(const AVFrame *frame);

/* True if the decoder found damage in this picture's own data. */
bool damage_concealed(const AVFrame *frame);

/*
 * Every message of every decoder comes here, on any thread (film_av_said.c). The decoder's `opaque` is its watch, so decoders of
 * several films can be at work; one without a watch (a parser's) is not listened to.
 */
void damage_message(const AVCodecContext *c, int level, const char *format);

/* ---- film_colour.c: whose word counts on matrix, range and transfer ---- */

/* What a stream, or a frame of it, says of its colours. */
struct colour_tags {
    enum AVColorSpace space;
    enum AVColorPrimaries primaries;
    enum AVColorRange range;
    enum AVColorTransferCharacteristic transfer;
};

struct colour_tags film_colour_tags(const AVCodecParameters *par);

/*
 * Decides pixel format, matrix, range and transfer of `f` before decoding. `container`: what the stream's tags were before
 * libavformat decoded the first pictures, for decoders write "unspecified" over them.
 */
void film_colour_decide(const AVCodecParameters *par, struct colour_tags container, struct film *f);

/* Fills matrix, range, transfer and primaries of a view whose width and height are there. `format`: what the frame was coded in. */
void film_colour_of_frame(const AVFrame *frame, enum AVPixelFormat format, const struct film *film, struct frame_view *view);

/*
 * Keeps the colour tags of a frame whose decoding begins, in its `opaque`. From 6.1 on libavcodec replaces the missing tags of
 * a frame by those of the sequence in which the frame is output.
 */
void film_colour_keep_tags(enum AVCodecID codec, AVFrame *f);

enum transfer film_colour_transfer(const AVFrame *frame, const struct film *film);

/* ---- film_light.c: how bright a film gets ---- */

/* Fills peak and dolby_vision, from what the container says. */
void film_light_of_stream(const AVStream *s, struct film *f);

/* Finds PROBE_LIGHT of `film`, whose video stream is `wanted`, as film_bars_probe does. A film without a picture has none. */
bool film_light_probe(const struct film *film, int wanted, struct probe_facts *facts, struct err *e);

/* ---- view.c ---- */

/*
 * Describes a decoded frame, or its copy in *planes where its own samples cannot be described (unpack.c). *planes begins as
 * NULL and is the caller's to free with av_frame_free; one a thread. False for a pixel format that we cannot read
 * (ERR_INPUT) and without memory (ERR_FAILED).
 */
bool view_of_frame(const AVFrame *frame, const struct film *film, AVFrame **planes, struct frame_view *view, struct err *e);

/* The check alone, before any decoding. */
bool view_format_known(enum AVPixelFormat format);

/* True if frame.h describes the format's samples as they lie. */
bool view_format_direct(enum AVPixelFormat format);

/* ---- unpack.c: pictures whose samples frame.h cannot describe ---- */

/* True if libswscale can convert the format's samples to a format that view_format_direct knows. */
bool unpack_knows(enum AVPixelFormat format);

/* Converts a frame of a format that unpack_knows into *planes, whose memory is kept while the format and size stay. */
bool unpack_frame(AVFrame **planes, const AVFrame *frame, struct err *e);

#endif
