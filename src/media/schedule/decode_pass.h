/*
 * decode_pass.h - what the threads of one pass over a film share: the reader queues chunks, workers
 * decode them. scheduler.h has the rules by which workers take chunks.
 */
#ifndef BARCODE_SCHEDULE_DECODE_PASS_H
#define BARCODE_SCHEDULE_DECODE_PASS_H

#include <libavformat/avformat.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "idr_splice.h"
#include "media/bitstream/packet_scan.h"
#include "media/gop/chunk.h"
#include "media/gop/keyframe_chunks.h"
#include "media/film.h"
#include "media/source.h"

/*
 * ---- what decodes the chunks: libavcodec on the cores, or a device ----
 *
 * A backend is a `const struct decoder_backend`, as in nvdec/nvdec_worker.c, and a row of the table
 * in source/film_source.c. Other code in media uses this struct.
 */

/* Where a backend decodes. A film has workers of one backend on the cores and of one on a device.
 */
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
     * - on failure it calls decode_pass_fail; if frames contradict the chunk,
     * decode_pass_contradict;
     * - at its end it calls decode_pass_add_counts, and decode_pass_thread_ends. If the device does
     *   not start, it calls scheduler_leave_device and goes on as decode_worker_main.
     */
    void *(*worker_main)(void *pass);

    /* ---- on the cores ---- */

    /* Returns how many threads a decoder of one chunk may have, 1 or more. */
    int (*max_threads)(const AVStream *stream, const struct codec_traits *traits);

    /* ---- on a device ---- */

    /* A flush costs an H.264 decoder: workers send a spliced IDR picture instead (idr_splice.h). */
    bool flush_is_slow;
    /*
     * Flags 1 << STREAM_: of these streams DECODE_AUTO leaves all chunks to the device, because
     * software is too slow to add to the device's rate.
     */
    unsigned alone;
    /*
     * Returns true if DECODE_AUTO may use the device beside software: its frames are the software
     * decoder's, byte for byte, and the engine can read them.
     */
    bool (*is_eligible)(const struct decode_job *job, const AVStream *stream);
    /*
     * Opens the device for the stream and fills `*d`. Fails with ERR_ENGINE if there is no device,
     * with ERR_INPUT if the device cannot decode the stream, with ERR_MEMORY.
     */
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
    bool is_list; /* the file names others, which hold the film: file_bytes is not the film's size
                   */
    int64_t began_ns;
    struct queue *chunks; /* reader to workers */

    /* ---- guarded by the lock ---- */

    pthread_mutex_t lock;
    pthread_cond_t budget_freed;
    pthread_cond_t chunks_changed;     /* a chunk was queued, taken or done, or the reader ended */
    size_t bytes_in_flight, max_bytes; /* of packets that wait or are decoded */
    int workers[DECODER_PLACES];
    double busy_seconds[DECODER_PLACES]; /* thread time of the chunks that are done */
    int chunks_waiting;                  /* in the queue */
    bool read_to_end;
    uint64_t queued_bytes; /* of all chunks so far */
    int cores_busy;        /* threads of software decoders at work */
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

/*
 * Initializes the pass. `film`, its `stream` and `job` are borrowed until decode_pass_close. There
 * is no queue yet, and no worker is chosen. Cannot fail.
 */
void decode_pass_open(struct decode_pass *s, const struct film *film, const AVStream *stream,
                      struct codec_traits traits, const struct decode_job *job);

/* Opens the queue. s->workers[] must be set. Returns false if out of memory. */
bool decode_pass_open_queue(struct decode_pass *s, struct err *e);

/* Frees the pass and the chunks that no worker took. All workers have ended. */
void decode_pass_close(struct decode_pass *s);

/* Keeps the first error, closes the queue, wakes the reader and the workers. */
void decode_pass_fail(struct decode_pass *s, const struct err *e);

/*
 * Stops the reader and the workers: only a sequential decoder can find out what the film's frames
 * are.
 */
void decode_pass_contradict(struct decode_pass *s);

/*
 * Counts key frame `serial` as damaged, and adds it to s->bad_keys if that is not NULL. The
 * previous key frame replaces it. With `again`, the film must be decoded again for that. Any
 * thread.
 */
void decode_pass_bad_key(struct decode_pass *s, uint64_t serial, bool again);

/* Returns true if key frame `serial` is in s->bad_keys. */
bool decode_pass_is_bad_key(struct decode_pass *s, uint64_t serial);

/* Estimates how long decoding one key frame takes (decode_progress). Any thread. */
void decode_pass_key_costs(struct decode_pass *s, struct decode_progress *p);

/*
 * Stops the reader and the workers: a single-threaded decoder must find out which frames are
 * damaged.
 */
void decode_pass_find_damage(struct decode_pass *s);

/* Returns true if threads should stop, also if the user interrupted. */
bool decode_pass_stopped(struct decode_pass *s);

/* ---- between the reader and the workers ---- */

/*
 * Queues a chunk. Implements chunker_emit; `user` is a struct decode_pass. Owns the chunk on
 * failure too. Waits while too many bytes are in flight. Reading thread only.
 */
bool decode_pass_queue(void *pass, struct chunk *chunk, struct err *e);

/*
 * Records that `bytes` of the chunk were sent to a software decoder, or does not need them. A
 * chunk's bytes count once.
 */
void decode_pass_sent(struct decode_pass *s, struct chunk *chunk, size_t bytes);

/*
 * Records that a software worker is done with `pictures` more of the chunk, chunk->count for all of
 * them. A chunk's pictures count once. Worker thread only.
 */
void decode_pass_pictures_done(struct decode_pass *s, struct chunk *chunk, size_t pictures);

/* Records that the reader has queued its last chunk. */
void decode_pass_read_to_end(struct decode_pass *s);

/* Adds a worker's counts. */
void decode_pass_add_counts(struct decode_pass *s, const struct decode_counts *c);

/*
 * Adds the processor time of a worker's thread, which is about to end and has sent `sent` packets.
 */
void decode_pass_thread_ends(struct decode_pass *s, const struct decoder_backend *backend,
                             uint64_t sent);

/*
 * Logs, under -v, the colour tags of an analysed frame that differ from the film's. Each set of
 * tags is logged once.
 */
void decode_pass_log_colour(struct decode_pass *s, const struct frame_view *view);

#endif
