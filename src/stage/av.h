/*
 * av.h - private to the files that speak libav: film_av.c (facts), film_stream.c (which stream), film_input.c (pipes),
 * film_index.c and film_zeros.c (what the demuxer jumped over), film_cut.c (what is cut off), demux.c (packets), decoder.c (one
 * context), damage.c and damage_settle.c (what is wrong), film_colour.c, view.c and unpack.c (pictures), film_read.c (the
 * reading thread), film_keys.c, film_keys_index.c and key_index.c (key frames alone), film_probe.c (a look before), session.c
 * and sequential.c (decoding), staging.c (who gets which run, on how many threads), source_film.c.
 */
#ifndef BARCODE_AV_H
#define BARCODE_AV_H

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <pthread.h>
#include <stdatomic.h>

#include "film_cut.h"
#include "film_index.h"
#include "film_zeros.h"
#include "gather.h"
#include "keys.h"
#include "nal_sets.h"
#include "pace.h"
#include "separator.h"
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

enum { FILM_AV_SAID = 64 };

/* What demuxers say while they read a film. They step over damage without a return code: this is the only sign of it. */
struct film_av_said {
    uint64_t errors;      /* messages that are errors                                                     */
    uint64_t jumps;       /* MPEG-TS: a counter jumped, so that packets are missing, of whichever stream   */
    uint64_t searches;    /* MPEG-TS: no packet was where one must be; the next one had to be looked for   */
    uint64_t unknown;     /* Matroska: elements that libavformat does not know: bytes of something else, or too new for it */
    int64_t at[FILM_AV_SAID];   /* where in the file the demuxer was reading when it said the first ones    */
    size_t places;
};

/*
 * From here on each message of a demuxer on this thread is counted in *said, which the caller keeps; NULL: none is. It does
 * not matter which AVFormatContext logs it: a playlist's demuxer opens contexts of its own. Returns what was counted into
 * before, for the caller to set again. Any thread, each for itself.
 */
struct film_av_said *film_av_listen(struct film_av_said *said);

/* The film's nominal frame time, > 0: of its rate, 40 ms where that is unknown. */
int64_t film_av_frame_us(const struct film *f);

/* "Invalid data found", without libav types at the call. */
const char *film_av_sentence(int code, char text[128]);

/* ---- demux.c: one sequential reader ---- */

struct demux {
    AVFormatContext *format;
    AVStream *stream;
    AVCodecParserContext *parser;   /* picture order counts and key frames; NULL when not needed */
    AVCodecContext *parse_context;
    struct run_traits traits;
    int length_size;
    struct nal_colours colours;     /* as of the last packet                                     */
    struct nal_sets sets;           /* H.264: likewise                                           */
    uint64_t serial;                /* of the next packet                                        */
    bool ended, orphans;            /* HEVC: the stream ended and goes on; the last key's RASL pictures are lost */
    bool odd;                       /* something that only a sequential decode gets right        */
    bool framed;                    /* a packet is a picture: the container says where each begins */
    bool table;                     /* MP4: it has a table of all its packets                   */
    bool failed;                    /* the container is damaged somewhere                       */
    struct film_cut cut;
    int64_t reached_us;             /* the latest time at which a packet is decoded              */
    struct film_index index;
    struct film_zeros zeros;
    AVPacket *waits;         /* read already: the pictures that are skipped come first; NULL: none */
    size_t skipped;                 /* so many pictures the demuxer jumped over right here       */
    const struct film_index_entry *skipped_at;      /* the next one's                            */
    bool hole, doubt;               /* something vanished since the last picture, or may have   */
    uint64_t bare, padded;          /* packets so far that have no bytes; that end in zeros     */
    int shaken;                     /* so many of the next pictures may lack bytes               */
    struct film_av_said said;       /* by demuxers while they read this film                     */
    const struct film_av_said *opening;   /* while they opened it, which reads its first pictures; NULL: unknown */
    int64_t position;               /* of the last packet in the file                            */
    uint64_t hidden, unreadable;    /* pictures so far that are not shown, and that are no pictures but must be */
};

bool demux_open(struct demux *r, AVFormatContext *format, int stream, struct err *e);

/* The next video packet as a picture (its packet is the caller's). False at the end, or on `e`. */
bool demux_next(struct demux *r, struct picture *p, struct err *e);

/* The file was sought in: the next picture is `serial`, and nothing is known of what lies before it. */
void demux_jumped(struct demux *r, uint64_t serial);

/* How far into the file it has read. */
uint64_t demux_position(const struct demux *r);

/* Bytes of the file that were read since it was opened; 0: no single file. */
uint64_t demux_bytes_read(const struct demux *r);

void demux_close(struct demux *r);

/* ---- decoder.c: one libavcodec context ---- */

/* A context for the stream of the film `path`; `threads` 1: single-threaded, more: frame threads. */
AVCodecContext *decoder_open(const AVStream *stream, const char *path, int threads, struct err *e);

/*
 * avcodec_send_packet and avcodec_receive_frame, but for this: the result is AVERROR(ENOMEM) whenever memory was short in
 * the decoder, whatever libavcodec made of that; a frame that came all the same is not to be used. The decoder is watched.
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
    bool careful, marked;      /* pictures begin as the last one was; with marks in them     */
    AVFrame *picture;          /* the one being decoded, when its blocks are looked at there */
    AVFrame *last;             /* careful: the one before it, in decoding order              */
    bool tainted, tainted_before;
    atomic_bool starved;       /* memory was short on a thread of the decoder's own: see decoder_send */
    bool strict;               /* what the decoder says is a complaint, if only in passing         */
    struct damage_settle *settle;   /* strict, HEVC with frame threads: pictures whose blocks are still to be looked at */
};

/*
 * Watches an opened decoder that works on memory of libavcodec's own:
 * - its messages, where they are the only sign: those of the HEVC decoder on slices, which it drops without an error code or a
 *   flag; those of others on wrong blocks; and what H.264 and the MPEG family say when they conceal blocks, because the flags
 *   of a picture that is not put out cannot be seen;
 * - its memory, on every thread that it has;
 * - HEVC's blocks (Y'CbCr with three planes): a slice that ends too early leaves the rest as the memory was, in silence.
 * `careful`, for a single-threaded decoder with pictures of libavcodec's own (dav1d has others): what damage keeps from being
 * decoded shows the picture that was decoded before, black in the decoder's first, unless the decoder conceals it. Otherwise
 * the memory's last content shows, which depends on what was decoded before and on the number of threads.
 * ERR_FAILED without memory.
 */
bool damage_watch_open(struct damage_watch *w, AVCodecContext *c, bool careful, struct err *e);

/*
 * Makes a watch that is open, and not careful, a strict one: for a decoder with threads that has a try at a run which a
 * single-threaded one will decode anew at the first doubt. ERR_FAILED without memory.
 */
bool damage_watch_strictly(struct damage_watch *w, const AVCodecContext *c, struct err *e);

/*
 * Of a strict watch: true if anything was said since damage_found was asked, or if blocks are missing in a picture of a serial up to
 * this one. A picture that came out shows what was decoded of it and of pictures sent before it, all of which is whole by then; what
 * the decoder's threads do at that moment is of later ones, whose complaints count too early and never too late.
 */
bool damage_doubted(struct damage_watch *w, int64_t serial);

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

/* With threads: true if blocks of a picture that came out are missing. Single-threaded, damage_found has told already. */
bool damage_unfinished(const struct damage_watch *w, const AVFrame *frame);

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

void damage_watch_close(struct damage_watch *w);

/*
 * Every message of every decoder comes here, on any thread (film_av.c). The decoder's `opaque` is its watch, so decoders of
 * several films can be at work; one without a watch (a parser's) is not listened to.
 */
void damage_message(const AVCodecContext *c, int level, const char *format);

/* ---- damage_settle.c: HEVC's pictures between a decoder's threads and their last look ---- */

struct damage_settle *damage_settle_open(struct err *e);

/* `frame` is about to be decoded, on any thread; its pts is its packet's serial, of which only the first picture counts. < 0: memory. */
int damage_settle_add(struct damage_settle *s, const AVFrame *frame);

/* Looks at those of serials up to this one, which are decoded, and lets go of them: true if `unfinished` is of one. */
bool damage_settle_look(struct damage_settle *s, int64_t serial, const struct damage_watch *w);

/* Lets go of all; no thread of the decoder is at work. */
void damage_settle_clear(struct damage_settle *s);
void damage_settle_free(struct damage_settle **s);

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

/* Takes from a decoded frame the tags that its own headers do not say: they are of some earlier picture. */
void film_colour_hush(AVFrame *frame, struct nal_unsaid unsaid, const struct film *film);

/* Fills matrix, range, transfer and primaries of a view whose width and height are there. `format`: what the frame was coded in. */
void film_colour_of_frame(const AVFrame *frame, enum AVPixelFormat format, const struct film *film, struct frame_view *view);

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

/* True if the format's samples can be copied into a format that view_format_direct knows. */
bool unpack_knows(enum AVPixelFormat format);

/* Copies a frame of a format that unpack_knows into *planes, whose memory is kept while the format and size stay. */
bool unpack_frame(AVFrame **planes, const AVFrame *frame, struct err *e);

/* ---- what the threads of one staging share ---- */

struct nvdec;

struct staging {
    const struct film *film;
    struct nvdec *nvdec;             /* [nvdecs], one a GPU. NULL: nothing is decoded on one  */
    int nvdecs;
    atomic_int nvdec_begun;          /* NVDEC sessions that have begun: the next one's number */
    const AVStream *stream;
    struct run_traits traits;
    const struct stage_job *job;
    struct queue *runs;              /* demuxer to sessions                                  */
    pthread_mutex_t lock;            /* guards what follows                                  */
    pthread_cond_t budget_freed;
    size_t bytes_in_flight;
    pthread_cond_t pace_changed;     /* a run came, was taken or is done, or the reader ended  */
    struct pace pace[2];             /* of software sessions, of NVDEC sessions; under_way is not kept */
    int64_t begun_ns[2];             /* when the runs that are being decoded were taken, summed */
    struct pace_left waiting;        /* runs that are queued; unread is not kept              */
    struct pace_reading first;       /* what was read when the first run was there            */
    double queued;                   /* pictures of all runs so far                           */
    uint64_t file_bytes;
    int64_t began_ns;
    bool read_to_end;
    uint64_t queued_bytes;           /* of all runs so far                                    */
    int cores_busy;                  /* threads of software decoders at work                  */
    struct stage_counts counts;
    double decode_seconds;
    struct err error;                /* the first one wins                                   */
    int threads_most;                /* of a run's decoder; 0 or 1: all are single-threaded. Set before sessions begin */
    atomic_bool threads_failed;      /* a decoder with threads was in doubt: later runs get none */
    atomic_size_t unfed;             /* bytes of the queued and begun runs that no software decoder has got yet */
    atomic_bool stop;
    atomic_bool contradicted;        /* the decoder gives other pictures than were foreseen  */
    atomic_bool distrusted;          /* NVDEC's pictures are not the software decoder's       */
    atomic_bool damage_found;        /* by a decoder over everything that was not careful    */
    atomic_uint_fast64_t frames_done, bytes_read;
    atomic_uint_fast64_t pictures_read;  /* 0: it is not known how many lie before the place reached */
    struct separator separator;      /* between runs of H.264 (under the lock)               */
    bool separator_refused;          /* a decoder did not like one (under the lock)           */
    atomic_uint separators;          /* separator.made                                        */
    atomic_uint_fast64_t colours_told;   /* a bit for each kind that staging_note_colour has told  */
    struct key_faults *faults;       /* of key frames (under the lock): a damaged one is noted there instead of staged. NULL:
                                        damage is shown                                        */
    atomic_bool faults_found;        /* sessions noted some                                   */
};

/* `film`, `r` (open) and `job` are lent until staging_close. There is no queue yet, and no session is chosen. Cannot fail. */
void staging_open(struct staging *s, const struct film *film, const struct demux *r, const struct stage_job *job);

/*
 * On how many threads the film may be decoded, 1 to `threads`: as many as half of `memory` (bytes) has room for, so that
 * pictures of a gigabyte do not take a core's worth of memory each.
 */
int staging_threads(const struct film *film, int threads, uint64_t memory);

/* The machine's memory in bytes, or where several films are under way this one's part of it. */
uint64_t staging_memory(const struct stage_job *job);

/* Opens the queue, once pace[].sessions says how many will take from it. */
bool staging_open_queue(struct staging *s, struct err *e);

/* Frees what it holds, runs included that no session took. Every session has ended. */
void staging_close(struct staging *s);

/* Keeps the first error, closes the queue, wakes the reader and the sessions. */
void staging_fail(struct staging *s, const struct err *e);

/* Stops the reader and the sessions: only a sequential decode can tell what the film's frames are. */
void staging_contradict(struct staging *s);

/* NVDEC's pictures are not the software decoder's: stops the reader and the sessions, unless NVDEC is demanded. */
void staging_distrust(struct staging *s);

/*
 * Key frame `serial` is damaged, so that the one before it serves: with `again` the film has to be staged anew for that. Noted in
 * s->faults, where there are any, and counted in any case. Any thread.
 */
void staging_fault(struct staging *s, uint64_t serial, bool again);

/* True if it was noted so. */
bool staging_is_fault(struct staging *s, uint64_t serial);

/* Stops the reader and the sessions: only a careful decoder gives the same pictures every time. */
void staging_find_damage(struct staging *s);

/* True when threads should stop; looks at interrupted() too. */
bool staging_stopped(struct staging *s);

/* ---- film_read.c: the reading thread, which is the caller's ---- */

/*
 * Reads the film through, from where `r` stands, and queues its runs; what cannot be cut into runs it decodes too. Returns
 * after the last run is queued; fills the counts of what was read. True also when staging was stopped from elsewhere.
 */
bool film_read(struct staging *s, struct demux *r, struct err *e);

/* ---- film_keys.c: the same for --keyframes: key frames alone ---- */

/*
 * As film_read, with runs of one key frame each: those that serve columns (keys.h). Where the container has an index only they
 * are read, else the film is read through. Key frames among staging's faults are passed over.
 */
bool film_keys_read(struct staging *s, struct demux *r, struct err *e);

/*
 * PROBE_KEYS: how many key frames the film has. Uses the index, or reads on from where `r` stands, its film's start; what a
 * reading finds out about the length is said too. *facts is as it was when it fails.
 */
bool film_keys_probe(struct demux *r, const struct film *film, struct probe_facts *facts, struct err *e);

/* ---- film_probe.c: what can be found out before staging ---- */

/* PROBE_LENGTH: reads on from where `r` stands, its film's start. *facts is as it was when it fails. */
bool film_probe_length(struct demux *r, const struct film *film, struct probe_facts *facts, struct err *e);

/* ---- session.c: a thread that decodes runs ---- */

void *session_main(void *staging);

/* One software session without a thread, for the caller's: decodes what a run still wants. */
struct session;
struct session *session_new(struct staging *s, struct err *e);
bool session_decode(struct session *s, struct run *run, struct err *e);
/* Adds its counts to the staging's, frees it; NULL is fine. */
void session_free(struct session **s);

/* ---- staging.c: what the reader and sessions of both kinds tell each other ---- */

/*
 * As gather_emit, with a struct staging: queues the run, and owns it on failure too. Waits while too many bytes are in
 * flight. The reading thread's.
 */
bool staging_queue_run(void *staging, struct run *run, struct err *e);

/*
 * As queue_pop on the runs; says on how many threads it is to be decoded (share.h). A software session waits here while no run is
 * worth it (staging_worth_it), and its work ends too when NVDEC sessions have taken all.
 */
bool staging_next_run(struct staging *s, bool nvdec, struct run **run);

/* A software decoder got `bytes` of the run, or has no need of them: those of a run count once. */
void staging_fed(struct staging *s, struct run *run, size_t bytes);

/*
 * A run of `bytes` and `pictures` went through a session in `nanoseconds`, on that many threads (0: an NVDEC session); `frames` of the
 * film are covered with it.
 */
void staging_run_done(struct staging *s, size_t bytes, size_t pictures, uint64_t frames, int threads, int64_t nanoseconds);

/* The reader queued its last run. */
void staging_read_to_end(struct staging *s);

/* An NVDEC session could not begin: it works in software from here on. */
void staging_lacks_nvdec(struct staging *s);

/* Adds a session's counts. */
void staging_add_counts(struct staging *s, const struct stage_counts *c);

/* A session's thread is about to end, having sent `sent` packets: adds the processor time that it used. */
void staging_thread_ends(struct staging *s, bool nvdec, uint64_t sent);

/* A picture was staged with these colours: told under -v, once a kind, when they are not what was decided for the film. */
void staging_note_colour(struct staging *s, const struct frame_view *view);

/* True if a software session should take a run now (pace.h). Under the lock. */
bool staging_worth_it(const struct staging *s);

/* ---- sequential.c: one decoder over everything from `state` on, in the calling thread ---- */

bool sequential_stage(struct staging *s, struct demux *r, struct gather_state *state, struct err *e);

#endif
