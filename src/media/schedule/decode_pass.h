/*
 * decode_pass.h - private to the files that speak libav: what the threads of one staging share, and
 * tell each other.
 */
#ifndef BARCODE_SCHEDULE_DECODE_PASS_H
#define BARCODE_SCHEDULE_DECODE_PASS_H

#include <libavformat/avformat.h>
#include <pthread.h>
#include <stdatomic.h>

#include "idr_splice.h"
#include "media/bitstream/codec_traits.h"
#include "media/gop/chunk.h"
#include "media/gop/keyframe_chunks.h"
#include "barcode/media/film.h"
#include "barcode/media/source.h"

struct nvdec;

struct decode_pass {
    const struct film *film;
    struct nvdec *nvdec; /* NULL: nothing is decoded on a GPU */
    const AVStream *stream;
    struct codec_traits traits;
    const struct decode_job *job;
    struct queue *chunks; /* demuxer to sessions */
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t budget_freed;
    size_t bytes_in_flight;
    pthread_cond_t chunks_changed; /* a chunk came, was taken or is done, or the reader ended */
    int workers[2];                /* of software, of NVDEC */
    double busy_seconds[2];        /* that they spent on runs that are done, summed */
    int chunks_waiting;            /* in the queue */
    uint64_t file_bytes;
    bool is_list; /* its file names others, which hold the film: file_bytes says nothing of it */
    int64_t began_ns;
    bool read_to_end;
    uint64_t queued_bytes; /* of all chunks so far */
    int cores_busy;        /* threads of software decoders at work */
    struct decode_counts counts;
    double decode_seconds;
    struct err error; /* the first one wins */
    /* of a chunk's decoder; 0 or 1: all are single-threaded. Set before sessions begin */
    int threads_most;
    atomic_size_t work_pending; /* of queued and begun runs: no software decoder has got it */
    atomic_bool stop;
    atomic_bool contradicted; /* the decoder gives other pictures than were foreseen */
    atomic_bool damage_found; /* by a decoder with threads over everything */
    atomic_uint_fast64_t frames_done, bytes_read;
    atomic_uint_fast64_t passed;               /* pictures that software workers are done with */
    bool has_key_index;                        /* for --keyframes. Set before sessions begin */
    atomic_uint_fast64_t keys_read, key_bytes; /* random access points read, and their bytes */
    atomic_int_fast64_t decode_ns; /* processor time that software workers decoded for */
    /* 0: it is not known how many lie before the place reached */
    atomic_uint_fast64_t pictures_read;
    struct idr_splice idr_splice; /* between chunks of H.264 (under the lock) */
    bool idr_splice_refused;      /* a decoder did not like one (under the lock) */
    atomic_uint idr_splices;      /* separator.made */
    /* a bit for each kind that decode_pass_log_colour has told */
    atomic_uint_fast64_t colours_logged;
    /*
     * of key frames (under the lock): a damaged one is noted there instead of staged. NULL: damage
     * is shown
     */
    struct bad_key_list *bad_keys;
    atomic_bool bad_keys_found; /* sessions noted some */
};

/*
 * `film`, its `stream` and `job` are lent until decode_pass_close. There is no queue yet, and no
 * worker is chosen. Cannot fail.
 */
void decode_pass_open(struct decode_pass *s, const struct film *film, const AVStream *stream,
                      struct codec_traits traits, const struct decode_job *job);

/*
 * On how many threads the film may be decoded, 1 to `threads`: as many as half of `memory` (bytes)
 * has room for, so that pictures of a gigabyte do not take a core's worth of memory each.
 */
int decode_pass_threads(const struct film *film, int threads, uint64_t memory);

/* The machine's memory in bytes, or where several films are under way this one's part of it. */
uint64_t decode_pass_memory(const struct decode_job *job);

/* Opens the queue, once sessions[] says how many will take from it. */
bool decode_pass_open_queue(struct decode_pass *s, struct err *e);

/* Frees what it holds, runs included that no worker took. Every worker has ended. */
void decode_pass_close(struct decode_pass *s);

/* Keeps the first error, closes the queue, wakes the reader and the workers. */
void decode_pass_fail(struct decode_pass *s, const struct err *e);

/* Stops the reader and the workers: only a sequential decode can tell what the film's frames are.
 */
void decode_pass_contradict(struct decode_pass *s);

/*
 * Key frame `serial` is damaged, so that the one before it serves: with `again` the film has to be
 * staged anew for that. Noted in s->faults, where there are any, and counted in any case. Any
 * thread.
 */
void decode_pass_bad_key(struct decode_pass *s, uint64_t serial, bool again);

/* True if it was noted so. */
bool decode_pass_is_bad_key(struct decode_pass *s, uint64_t serial);

/* Estimates what decoding one key frame takes (decode_progress). Any thread. */
void decode_pass_key_costs(struct decode_pass *s, struct decode_progress *p);

/* Stops the reader and the workers: a single-threaded decoder has to find which frames are damaged.
 */
void decode_pass_find_damage(struct decode_pass *s);

/* True when threads should stop; looks at interrupted() too. */
bool decode_pass_stopped(struct decode_pass *s);

/* ---- what the reader and sessions of both kinds tell each other ---- */

/*
 * As chunker_emit, with a struct decode_pass: queues the chunk, and owns it on failure too. Waits
 * while too many bytes are in flight. The reading thread's.
 */
bool decode_pass_queue(void *pass, struct chunk *chunk, struct err *e);

/*
 * As queue_pop on the chunks; says on how many threads it is to be decoded (thread_share.h). Beside
 * NVDEC workers a software worker waits here while fewer chunks wait than there are NVDEC workers,
 * or films before have the cores; its work ends too when NVDEC workers have taken all chunks.
 */
bool decode_pass_next(struct decode_pass *s, bool nvdec, struct chunk **chunk);

/* A software decoder got `bytes` of the chunk, or has no need of them: those of a chunk count once.
 */
void decode_pass_sent(struct decode_pass *s, struct chunk *chunk, size_t bytes);

/*
 * Notes that a software worker is done with so many more of the chunk's pictures, or with the whole
 * chunk (run->count). A chunk's pictures count once. The worker's thread.
 */
void decode_pass_pictures_done(struct decode_pass *s, struct chunk *chunk, size_t pictures);

/* What a worker must know of a chunk that it took when the chunk is no more. */
struct taken {
    size_t bytes;
    uint64_t frames; /* displayed frames that are covered once it is done */
    int threads;     /* 0: an NVDEC worker took it */
    int64_t ns;      /* when */
};

struct taken decode_pass_taken(const struct chunk *chunk);

/* That chunk went through the worker. */
void decode_pass_chunk_done(struct decode_pass *s, const struct taken *chunk);

/* The reader queued its last chunk. */
void decode_pass_read_to_end(struct decode_pass *s);

/* An NVDEC worker could not begin: it works in software from here on. */
void decode_pass_lacks_nvdec(struct decode_pass *s);

/* Adds a worker's counts. */
void decode_pass_add_counts(struct decode_pass *s, const struct decode_counts *c);

/* A worker's thread is about to end, having sent `sent` packets: adds the processor time that it
 * used. */
void decode_pass_thread_ends(struct decode_pass *s, bool nvdec, uint64_t sent);

/* A picture was staged with these colours: told under -v, once a kind, when they are not what was
 * decided for the film. */
void decode_pass_log_colour(struct decode_pass *s, const struct frame_view *view);

#endif
