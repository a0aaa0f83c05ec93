/* decode_pass.h - what the threads of a pass over a film share; scheduling, backends, splices. */
#ifndef BARCODE_SCHEDULE_DECODE_PASS_H
#define BARCODE_SCHEDULE_DECODE_PASS_H

#include <libavformat/avformat.h>
#include <pthread.h>
#include <stdatomic.h>

#include "media/gop/chunker.h"
#include "media/source.h"
#include "media/bitstream/param_sets.h"

/* ---- idr_splice.c: an IDR picture of the film in place of a flush of H.264 ---- */

struct decode_pass;

/* A worker's copy, or the pass's. Zero it first. */
struct idr_splice {
    struct AVPacket *packet; /* as in the film; NULL: none is kept */
    struct nal_sets sets;    /* active at that picture there */
    int sps;                 /* the SPS that its slices name */
    int length_size;
    unsigned made; /* how many were kept so far, with this one */
};

/*
 * Keeps `p` if it can be spliced and is smaller than the one that is kept. Does nothing if `sets`
 * are not those active at `p`. `length_size` is packet_scan's. Cannot fail: without memory the film
 * has no spliced IDR. The reading thread calls it for each picture.
 */
void idr_splice_offer(struct decode_pass *s, const struct picture *p, const struct nal_sets *sets,
                      int length_size);

/* Updates `copy` to the one that is kept now. A worker's thread, for itself. */
void idr_splice_fetch(struct decode_pass *s, struct idr_splice *copy);

/* Records that a decoder rejected `copy`. Unless another one is kept by now, no more are kept. */
void idr_splice_refuse(struct decode_pass *s, const struct idr_splice *copy);

/* Returns true if it may be sent between pictures of these sets (struct picture's). */
bool idr_splice_fits(const struct idr_splice *copy, uint64_t before, uint64_t after);

/*
 * Makes `to`, an empty packet, the one to send before `next`, the key of a chunk that is not an
 * IDR, or NULL if no picture follows. The caller unrefs it. Returns false if it cannot be sent
 * there, or if out of memory.
 */
bool idr_splice_packet(const struct idr_splice *copy, const struct picture *next,
                       struct AVPacket *to);

/* ---- what decodes the chunks; a backend is a row of the table in source/film_source.c ---- */

/* Where a backend decodes. A film has workers of one backend on each. */
enum decoder_place {
    ON_CORES,  /* a decoder needs a core for each of its threads */
    ON_DEVICE, /* workers come on top of the cores; each is several times as fast as a core */
    DECODER_PLACES
};

/* A device that is open for one film. */
struct decoder_device {
    void *state;   /* the backend's */
    int workers;   /* that keep the device busy */
    bool emulated; /* software replaces the device, for tests */
};

struct decoder_backend {
    const char *name;          /* in messages */
    const char *word;          /* in options, reports and cache keys */
    enum decode_choice choice; /* the option that demands this backend alone */
    enum decoder_place place;
    /*
     * Main function of a worker's thread; the argument is the struct decode_pass. It decodes chunks
     * until scheduler_next_chunk returns false:
     * - it puts the selected frames of a chunk into the engine, then calls scheduler_chunk_done and
     *   chunk_free. A device redoes in software what it cannot be trusted with;
     * - on failure it calls decode_pass_fail, on another order of frames decode_pass_contradict;
     * - at its end it calls decode_pass_add_counts, and decode_pass_thread_ends. If the device does
     *   not start, it calls scheduler_leave_device and goes on as decode_worker_main.
     */
    void *(*worker_main)(void *pass);

    /* ---- on the cores ---- */

    /* Returns how many threads a decoder of one chunk may have, 1 or more. */
    int (*max_threads)(const AVStream *stream, const struct codec_traits *traits);

    /* ---- on a device ---- */

    /* A flush costs an H.264 decoder: workers send a spliced IDR picture instead (idr_splice.c). */
    bool flush_is_slow;
    /* Flags 1 << STREAM_: DECODE_AUTO leaves these to the device, as software is too slow. */
    unsigned alone;
    /* Returns true if its frames equal software's, and the engine can read them: DECODE_AUTO. */
    bool (*is_eligible)(const struct decode_job *job, const AVStream *stream);
    /* Opens the device. ERR_ENGINE: none; ERR_INPUT: it cannot decode the stream; ERR_MEMORY. */
    bool (*open)(struct decoder_device *d, const struct decode_job *job, const AVStream *stream,
                 struct err *e);
    /* Closes the device. All workers have ended. */
    void (*close)(struct decoder_device *d);
};

/* ---- the pass ---- */

struct decode_pass {
    const struct film *film;
    const AVStream *stream;
    struct codec_traits traits;
    const struct decode_job *job;

    /* ---- set before workers start (scheduler_choose_workers) ---- */

    const struct decoder_backend *backend[DECODER_PLACES]; /* [ON_DEVICE]: NULL without a device */
    struct decoder_device device;                          /* open if there is one */
    bool device_demanded; /* the user demands the device: no software beside it */
    int max_threads;      /* of a chunk's decoder; 0 or 1: all are single-threaded */
    bool has_key_index;   /* for --keyframes */
    uint64_t file_bytes;
    bool is_list; /* the file names others, so file_bytes is not the size of the film */
    int64_t began_ns;
    struct queue *chunks; /* reader to workers */

    /* ---- guarded by the lock ---- */

    pthread_mutex_t lock;
    pthread_cond_t budget_freed;
    pthread_cond_t chunks_changed;     /* a chunk was queued, taken or done, or the reader ended */
    size_t bytes_in_flight, max_bytes; /* of packets that wait or are decoded */
    int workers[DECODER_PLACES];
    double busy_seconds[DECODER_PLACES]; /* thread time of the chunks that are done */
    int chunks_done[DECODER_PLACES];
    int chunks_waiting; /* in the queue */
    bool read_to_end;
    uint64_t queued_bytes; /* of all chunks so far */
    int chunks_queued;
    int cores_busy; /* threads of software decoders at work */
    struct decode_counts counts;
    double decode_seconds;
    struct err error;             /* the first one */
    struct idr_splice idr_splice; /* between chunks of H.264 */
    bool idr_splice_refused;      /* a decoder rejected one */
    /* Damaged key frames are added here and not analysed. NULL: damaged frames are analysed. */
    struct bad_key_list *bad_keys;

    /* ---- any thread ---- */

    atomic_size_t work_pending; /* of queued and begun chunks: not yet sent to a software decoder */
    atomic_bool stop;
    atomic_bool contradicted;   /* a decoder returns other frames than were predicted */
    atomic_bool damage_found;   /* by a decoder with threads that decodes the whole film */
    atomic_bool bad_keys_found; /* workers added to bad_keys */
    atomic_uint_fast64_t frames_done, bytes_read;
    atomic_uint_fast64_t passed;               /* pictures that software workers are done with */
    atomic_uint_fast64_t keys_read, key_bytes; /* random access points read, and their bytes */
    atomic_int_fast64_t decode_ns;             /* processor time of the software workers */
    atomic_uint_fast64_t pictures_read;        /* up to bytes_read; 0: unknown */
    atomic_uint idr_splices;                   /* idr_splice.made */
    atomic_uint_fast64_t colours_logged; /* a bit for each set of tags (decode_pass_log_colour) */
};

/* Initializes the pass, without queue and workers. The arguments are borrowed until it ends. */
void decode_pass_open(struct decode_pass *s, const struct film *film, const AVStream *stream,
                      struct codec_traits traits, const struct decode_job *job);

/* Opens the queue. s->workers[] must be set. Returns false if out of memory. */
bool decode_pass_open_queue(struct decode_pass *s, struct err *e);

/* Frees the pass and the chunks that no worker took. All workers have ended. */
void decode_pass_close(struct decode_pass *s);

/* Keeps the first error, closes the queue, wakes the reader and the workers. */
void decode_pass_fail(struct decode_pass *s, const struct err *e);

/* Stops all threads: only a sequential decoder can find out what the film's frames are. */
void decode_pass_contradict(struct decode_pass *s);

/*
 * Counts key frame `serial` as damaged, and adds it to s->bad_keys if there are any. With `again`,
 * the film must be decoded again for that. Any thread.
 */
void decode_pass_bad_key(struct decode_pass *s, uint64_t serial, bool again);

/* Returns true if key frame `serial` is in s->bad_keys. */
bool decode_pass_is_bad_key(struct decode_pass *s, uint64_t serial);

/* Estimates how long decoding one key frame takes (decode_progress). Any thread. */
void decode_pass_key_costs(struct decode_pass *s, struct decode_progress *p);

/* Stops all threads: a single-threaded decoder must find out which frames are damaged. */
void decode_pass_find_damage(struct decode_pass *s);

/* Returns true if threads should stop, also if the user interrupted. */
bool decode_pass_stopped(struct decode_pass *s);

/* ---- between the reader and the workers ---- */

/*
 * Queues a chunk. Implements chunker_emit; `user` is a struct decode_pass. Owns the chunk on
 * failure too. Waits while too many bytes are in flight. Reading thread only.
 */
bool decode_pass_queue(void *pass, struct chunk *chunk, struct err *e);

/* Records that a software decoder got `bytes` of the chunk, or needs them not. Bytes count once. */
void decode_pass_sent(struct decode_pass *s, struct chunk *chunk, size_t bytes);

/* Records that a worker's thread is done with `pictures` more of its chunk, once each. */
void decode_pass_pictures_done(struct decode_pass *s, struct chunk *chunk, size_t pictures);

/* Records that the reader has queued its last chunk. */
void decode_pass_read_to_end(struct decode_pass *s);

/* Adds a worker's counts. */
void decode_pass_add_counts(struct decode_pass *s, const struct decode_counts *c);

/* Adds the processor time of a worker's thread, which ends after `sent` packets. */
void decode_pass_thread_ends(struct decode_pass *s, const struct decoder_backend *backend,
                             uint64_t sent);

/* Logs, under -v, each set of colour tags of frames that differ from the film's. */
void decode_pass_log_colour(struct decode_pass *s, const struct frame_view *view);

/* ---- scheduler.c: the rules by which workers are chosen and take chunks ---- */

/*
 * Returns the number of threads that may decode the film, 1 to `threads`. Their decoders fit into
 * half of `memory` (bytes), so that frames of a gigabyte do not take a core's worth of memory each.
 */
int scheduler_max_threads(const struct film *film, int threads, uint64_t memory);

/* Returns the machine's memory in bytes, or this film's part if several films are under way. */
uint64_t scheduler_memory(const struct decode_job *job);

/*
 * Chooses the backends of the pass and the number of their workers, and opens the device. The first
 * of `backends` decodes on the cores, the others on devices; NULL ends the array. Where no device
 * can be used, software decodes the film. Returns false if the demanded device does not exist.
 */
bool scheduler_choose_workers(struct decode_pass *s, const struct decoder_backend *const *backends,
                              struct err *e);

/* Estimates the work of decoding a chunk, in bytes of packets. */
size_t scheduler_estimate_work(const struct decode_pass *s, const struct chunk *chunk);

/*
 * Takes a chunk from the queue for a worker of `backend`, and sets chunk->threads. Waits for a
 * chunk. Beside device workers, a worker on the cores waits until it may take one (may_share).
 * Returns false if no chunk is left for this worker. A worker's thread.
 */
bool scheduler_next_chunk(struct decode_pass *s, const struct decoder_backend *backend,
                          struct chunk **chunk);

/* What a worker must know of its chunk after the chunk is freed. */
struct taken_chunk {
    size_t bytes;
    uint64_t frames; /* displayed frames that are covered once the chunk is done */
    const struct decoder_backend *backend;
    int threads;
    int64_t ns; /* when the worker took the chunk (clock_ns) */
};

/* Returns the facts of a chunk that scheduler_next_chunk returned. */
struct taken_chunk scheduler_taken(const struct chunk *chunk);

/* Returns the chunk's bytes and cores to the pass: its worker is done with it. */
void scheduler_chunk_done(struct decode_pass *s, const struct taken_chunk *chunk);

/* Counts one worker fewer on the device and one more on the cores: the device refused a worker. */
void scheduler_leave_device(struct decode_pass *s);

/* ---- on how many threads a chunk is decoded in software; exposed for its test ---- */

struct thread_share {
    int cores;           /* that the film may use, including those of other chunks */
    uint64_t chunk_work; /* work of the chunk, > 0: in bytes, or any other unit */
    uint64_t left; /* work not sent to decoders yet, of all films on the cores: >= chunk_work */
    int most;      /* threads that a decoder may have */
};

/* Returns the threads for the chunk, 1 to the smaller of `cores` and `most`. */
int thread_share_count(const struct thread_share *s);

/* Returns the threads of a chunk by BARCODE_FRAME_THREADS, for tests: 1 for "off", 0: not set. */
int thread_share_override(void);

#endif
