/*
 * decode_pass.h - private to the files that speak libav: what the threads of one staging share, and tell each other.
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

struct staging {
    const struct film *film;
    struct nvdec *nvdec;             /* NULL: nothing is decoded on a GPU                     */
    const AVStream *stream;
    struct run_traits traits;
    const struct stage_job *job;
    struct queue *runs;              /* demuxer to sessions                                  */
    pthread_mutex_t lock;            /* guards what follows                                  */
    pthread_cond_t budget_freed;
    size_t bytes_in_flight;
    pthread_cond_t runs_changed;     /* a run came, was taken or is done, or the reader ended  */
    int sessions[2];                 /* of software, of NVDEC                                 */
    double busy_seconds[2];          /* that they spent on runs that are done, summed         */
    int runs_waiting;                /* in the queue                                          */
    uint64_t file_bytes;
    bool is_list;                    /* its file names others, which hold the film: file_bytes says nothing of it */
    int64_t began_ns;
    bool read_to_end;
    uint64_t queued_bytes;           /* of all runs so far                                    */
    int cores_busy;                  /* threads of software decoders at work                  */
    struct stage_counts counts;
    double decode_seconds;
    struct err error;                /* the first one wins                                   */
    int threads_most;                /* of a run's decoder; 0 or 1: all are single-threaded. Set before sessions begin */
    atomic_size_t work_pending;      /* of queued and begun runs: no software decoder has got it */
    atomic_bool stop;
    atomic_bool contradicted;        /* the decoder gives other pictures than were foreseen  */
    atomic_bool damage_found;        /* by a decoder with threads over everything            */
    atomic_uint_fast64_t frames_done, bytes_read;
    atomic_uint_fast64_t passed;     /* pictures that software sessions are done with          */
    bool has_key_index;              /* for --keyframes. Set before sessions begin            */
    atomic_uint_fast64_t keys_read, key_bytes;   /* random access points read, and their bytes */
    atomic_int_fast64_t decode_ns;   /* processor time that software sessions decoded for     */
    atomic_uint_fast64_t pictures_read;  /* 0: it is not known how many lie before the place reached */
    struct separator separator;      /* between runs of H.264 (under the lock)               */
    bool separator_refused;          /* a decoder did not like one (under the lock)           */
    atomic_uint separators;          /* separator.made                                        */
    atomic_uint_fast64_t colours_told;   /* a bit for each kind that staging_note_colour has told  */
    struct key_faults *faults;       /* of key frames (under the lock): a damaged one is noted there instead of staged. NULL:
                                        damage is shown                                        */
    atomic_bool faults_found;        /* sessions noted some                                   */
};

/*
 * `film`, its `stream` and `job` are lent until staging_close. There is no queue yet, and no session
 * is chosen. Cannot fail.
 */
void staging_open(struct staging *s, const struct film *film, const AVStream *stream,
                  struct run_traits traits, const struct stage_job *job);

/*
 * On how many threads the film may be decoded, 1 to `threads`: as many as half of `memory` (bytes) has room for, so that
 * pictures of a gigabyte do not take a core's worth of memory each.
 */
int staging_threads(const struct film *film, int threads, uint64_t memory);

/* The machine's memory in bytes, or where several films are under way this one's part of it. */
uint64_t staging_memory(const struct stage_job *job);

/* Opens the queue, once sessions[] says how many will take from it. */
bool staging_open_queue(struct staging *s, struct err *e);

/* Frees what it holds, runs included that no session took. Every session has ended. */
void staging_close(struct staging *s);

/* Keeps the first error, closes the queue, wakes the reader and the sessions. */
void staging_fail(struct staging *s, const struct err *e);

/* Stops the reader and the sessions: only a sequential decode can tell what the film's frames are. */
void staging_contradict(struct staging *s);

/*
 * Key frame `serial` is damaged, so that the one before it serves: with `again` the film has to be staged anew for that. Noted in
 * s->faults, where there are any, and counted in any case. Any thread.
 */
void staging_fault(struct staging *s, uint64_t serial, bool again);

/* True if it was noted so. */
bool staging_is_fault(struct staging *s, uint64_t serial);

/* Estimates what decoding one key frame takes (stage_progress). Any thread. */
void staging_key_costs(struct staging *s, struct stage_progress *p);

/* Stops the reader and the sessions: a single-threaded decoder has to find which frames are damaged. */
void staging_find_damage(struct staging *s);

/* True when threads should stop; looks at interrupted() too. */
bool staging_stopped(struct staging *s);

/* ---- what the reader and sessions of both kinds tell each other ---- */

/*
 * As chunker_emit, with a struct staging: queues the run, and owns it on failure too. Waits while
 * too many bytes are in flight. The reading thread's.
 */
bool staging_queue_run(void *staging, struct run *run, struct err *e);

/*
 * As queue_pop on the runs; says on how many threads it is to be decoded (thread_share.h). Beside NVDEC
 * sessions a software session waits here while fewer runs wait than there are NVDEC sessions, or
 * films before have the cores; its work ends too when NVDEC sessions have taken all runs.
 */
bool staging_next_run(struct staging *s, bool nvdec, struct run **run);

/* A software decoder got `bytes` of the run, or has no need of them: those of a run count once. */
void staging_fed(struct staging *s, struct run *run, size_t bytes);

/*
 * Notes that a software session is done with so many more of the run's pictures, or with the whole
 * run (run->count). A run's pictures count once. The session's thread.
 */
void staging_passed(struct staging *s, struct run *run, size_t pictures);

/* What a session must know of a run that it took when the run is no more. */
struct taken {
    size_t bytes;
    uint64_t frames;                 /* displayed frames that are covered once it is done     */
    int threads;                     /* 0: an NVDEC session took it                           */
    int64_t ns;                      /* when                                                  */
};

struct taken staging_taken(const struct run *run);

/* That run went through the session. */
void staging_run_done(struct staging *s, const struct taken *run);

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

#endif
