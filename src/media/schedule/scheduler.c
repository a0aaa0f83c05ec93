#include "decode_pass.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/admission.h"
#include "barcode/base/clock.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/limits.h"
#include "barcode/base/queue.h"

/* ------------------------------------------------------------------ how many workers */

int scheduler_max_threads(const struct film *film, int threads, uint64_t memory)
{
    /* A decoder of few references holds three frames. At least 3 bytes a pixel: more references. */
    enum { FRAMES = 6, PIXEL_BYTES = 3 };
    uint64_t bytes = film->pixel_bytes > PIXEL_BYTES ? (uint64_t)film->pixel_bytes : PIXEL_BYTES;
    uint64_t decoder = (uint64_t)film->coded_width * (uint64_t)film->coded_height * bytes * FRAMES;
    uint64_t fit = decoder > 0 ? memory / 2 / decoder : (uint64_t)threads;
    if (fit < 1)
        return 1;
    return fit < (uint64_t)threads ? (int)fit : threads;
}

uint64_t scheduler_memory(const struct decode_job *job)
{
    /* The film that holds the cores, and the ends of those before it. */
    uint64_t films = job->ticket ? 2 : 1;
    uint64_t processes = job->worker_processes > 1 ? (uint64_t)job->worker_processes : 1;
    return limits_memory() / (films * processes);
}

/*
 * Opens the first device that is demanded, or that DECODE_AUTO may use. Returns false if the
 * demanded device does not exist.
 */
static bool choose_device(struct decode_pass *s, const struct decoder_backend *const *devices,
                          struct err *e)
{
    const struct decode_job *job = s->job;
    /* Key frames of any codec are decoded in parallel, but devices have the known codecs alone. */
    bool known = s->traits.parallel && s->traits.stream != STREAM_OTHER;
    for (; *devices && !s->backend[ON_DEVICE]; devices++) {
        const struct decoder_backend *device = *devices;
        bool demanded = job->decode == device->choice && job->plan == DECODE_PARALLEL;
        bool eligible = known && job->decode == DECODE_AUTO && device->is_eligible(job, s->stream);
        if (!demanded && !eligible)
            continue;
        struct err why = ERR_INIT;
        if (!device->open(&s->device, job, s->stream, &why)) {
            if (demanded && why.code == ERR_ENGINE) {
                *e = why;
                return false;
            }
            log_msg(demanded ? LOG_WARNING : LOG_VERBOSE, "'%s': %s: decoding in software",
                    s->film->path, why.text);
        } else if (!known) {
            log_msg(LOG_WARNING, "'%s': %s cannot decode %s: decoding in software", s->film->path,
                    device->name, s->film->codec);
            device->close(&s->device);
        } else {
            s->backend[ON_DEVICE] = device;
            s->device_demanded = demanded;
        }
    }
    return true;
}

bool scheduler_choose_workers(struct decode_pass *s, const struct decoder_backend *const *backends,
                              struct err *e)
{
    enum { DEVICE_WORKERS_A_CORE = 7 }; /* libavcodec parses their packets on the cores */
    const struct decode_job *job = s->job;
    const struct decoder_backend *software = backends[0];
    int threads = scheduler_max_threads(s->film, job->threads, scheduler_memory(job));
    s->backend[ON_CORES] = software;
    s->workers[ON_CORES] = s->traits.parallel ? threads : 0;
    s->max_threads = threads == job->threads ? software->max_threads(s->stream, &s->traits) : 1;
    if (!choose_device(s, backends + 1, e))
        return false;
    if (!s->backend[ON_DEVICE])
        return true;
    s->workers[ON_DEVICE] = s->device.workers;
    int left = threads - (s->device.workers + DEVICE_WORKERS_A_CORE - 1) / DEVICE_WORKERS_A_CORE;
    bool alone = s->device_demanded || s->backend[ON_DEVICE]->alone & 1u << s->traits.stream;
    if (alone)
        s->workers[ON_CORES] = 0;
    else
        s->workers[ON_CORES] = left > 1 ? left : 1;
    return true;
}

/* ------------------------------------------------------------------ threads of a chunk */

/*
 * While there are more chunks than cores, each chunk is decoded on one thread: that wastes nothing.
 * A film of 30 s has about five chunks, and at the end of a long film fewer chunks than cores are
 * left. Then a chunk gets threads in proportion to its part of the remaining work, so that the
 * decoders at work end together.
 *
 * Threads per core. There are more threads than cores because a decoder's threads wait for one
 * another: for the rows of a frame to which the next frame refers. A chunk on a single thread does
 * not share its core.
 */
enum { THREADS = 5, PER_CORES = 4 };

int thread_share_count(const struct thread_share *s)
{
    int most = s->cores < s->most ? s->cores : s->most;
    double part = s->left > s->chunk_work ? (double)s->chunk_work / (double)s->left : 1;
    int threads = (int)(part * s->cores * THREADS / PER_CORES + 0.5);
    threads = threads < most ? threads : most;
    return threads < 1 ? 1 : threads;
}

int thread_share_override(void)
{
    enum { MOST = 16 };
    const char *value = getenv("BARCODE_FRAME_THREADS");
    if (!value)
        return 0;
    if (strcmp(value, "off") == 0)
        return 1;
    char *end;
    long threads = strtol(value, &end, 10);
    return *value && !*end && threads >= 1 && threads <= MOST ? (int)threads : 0;
}

/*
 * Returns the work of a coded picture besides its bytes, in bytes: as much as an average picture of
 * the film has. Returns 0 if the number of frames is unknown.
 */
static size_t picture_work(const struct decode_pass *s)
{
    int64_t frames = s->film->length.frames;
    return frames > 0 ? (size_t)(s->file_bytes / (uint64_t)frames) : 0;
}

size_t scheduler_estimate_work(const struct decode_pass *s, const struct chunk *chunk)
{
    return chunk->bytes + chunk->count * picture_work(s);
}

/*
 * Returns true if it is unknown how much of the film is still unread: of a pipe or a playlist. The
 * caller holds the lock.
 */
static bool unread_is_unknown(const struct decode_pass *s)
{
    return !s->read_to_end && (s->file_bytes == 0 || s->is_list);
}

/*
 * Returns how many bytes of the film may still become chunks; the reader is `ahead` bytes ahead of
 * the queued ones. The estimate is generous: these bytes include the audio. The caller holds the
 * lock.
 */
static uint64_t unread_bytes(const struct decode_pass *s, size_t ahead)
{
    if (s->read_to_end)
        return 0;
    uint64_t read = atomic_load(&s->bytes_read), past = read > ahead ? read - ahead : 0;
    past = past > s->queued_bytes ? past : s->queued_bytes;
    return s->file_bytes > past ? s->file_bytes - past : 0;
}

/*
 * Returns the threads for `share` on the cores that no other film uses. The caller holds the lock.
 */
static int threads_on_idle_cores(struct decode_pass *s, struct thread_share share)
{
    int idle = s->workers[ON_CORES] - s->cores_busy;
    if (!admission_spare_cores(s->job->ticket, &idle))
        return 1;
    int cores = s->cores_busy + idle;
    share.cores = cores < share.cores ? cores : share.cores;
    return thread_share_count(&share);
}

/*
 * Returns on how many threads a worker on the cores decodes the chunk: as many as idle cores allow.
 * Returns 1 if the amount of remaining work is unknown (a pipe, a playlist), and if memory has no
 * room for a decoder on each core (scheduler_choose_workers). The caller holds the lock.
 */
static int threads_for_chunk(struct decode_pass *s, const struct chunk *chunk)
{
    bool allowed = s->max_threads > 1 && s->workers[ON_DEVICE] == 0 && !s->bad_keys;
    if (!allowed || !chunk_may_use_threads(chunk))
        return 1;
    if (thread_share_override() > 0)
        return thread_share_override();
    if (unread_is_unknown(s))
        return 1;
    /* the work of a byte of the file, with its part of a picture's */
    uint64_t byte_work = picture_work(s) > 0 ? 2 : 1;
    /* The reader must find the end of a chunk to queue it: it is about a chunk ahead. */
    struct thread_share share = {.cores = s->workers[ON_CORES],
                                 .chunk_work = chunk->work,
                                 .left = atomic_load(&s->work_pending) +
                                         unread_bytes(s, chunk->bytes) * byte_work,
                                 .most = s->max_threads};
    return threads_on_idle_cores(s, share);
}

/* ------------------------------------------------------------------ who takes a chunk */

/* Counts `cores` more (fewer if negative) at work for the film. The caller holds the lock. */
static void add_busy_cores(struct decode_pass *s, int cores)
{
    s->cores_busy += cores;
    admission_add_cores(s->job->ticket, cores);
}

/* Gives a chunk from the queue to a worker of `backend`. The caller holds the lock. */
static void assign_chunk(struct decode_pass *s, const struct decoder_backend *backend,
                         struct chunk *chunk)
{
    bool on_cores = backend->place == ON_CORES;
    chunk->taken_ns = clock_ns();
    chunk->cpu_ns = clock_thread_ns();
    chunk->backend = backend;
    s->chunks_waiting--;
    pthread_cond_broadcast(&s->chunks_changed);
    chunk->threads = on_cores ? threads_for_chunk(s, chunk) : 1;
    add_busy_cores(s, on_cores ? chunk->threads : 0);
}

/*
 * Returns true if a core is free for software beside the device. Earlier films may still be
 * decoding: all of them together get as many cores as one film alone. The caller holds the lock.
 */
static bool has_idle_core(const struct decode_pass *s)
{
    int reserved = s->job->threads - s->workers[ON_CORES]; /* for the device's workers */
    return admission_idle_cores(s->job->ticket) > (reserved > 0 ? reserved : 0);
}

/* Returns the mean time that a chunk took, 0 if none is done. The caller holds the lock. */
static double seconds_per_chunk(const struct decode_pass *s, enum decoder_place place)
{
    return s->chunks_done[place] > 0 ? s->busy_seconds[place] / s->chunks_done[place] : 0;
}

/*
 * Returns how long the device takes for the chunks that wait or are still unread; long if that, or
 * the rate of the device, is unknown. The caller holds the lock.
 */
static double device_seconds_left(const struct decode_pass *s)
{
    if (s->chunks_done[ON_DEVICE] == 0 || s->queued_bytes == 0 || unread_is_unknown(s))
        return HUGE_VAL;
    double unread = (double)unread_bytes(s, 0) * s->chunks_queued / (double)s->queued_bytes;
    return (s->chunks_waiting + unread) * seconds_per_chunk(s, ON_DEVICE) / s->workers[ON_DEVICE];
}

/*
 * Returns true if a worker on the cores may take a chunk beside device workers. It may not take one
 * of the last chunks: the device would be done before it, and wait. A chunk may take twice its mean
 * time. The caller holds the lock.
 */
static bool may_share(const struct decode_pass *s)
{
    const double slow = 2;
    return s->chunks_waiting >= s->workers[ON_DEVICE] &&
           device_seconds_left(s) >= slow * seconds_per_chunk(s, ON_CORES) && has_idle_core(s);
}

/*
 * Takes a chunk for a worker on the cores beside device workers, and waits until it may take one.
 * Checks again after RECHECK_NS, because another film does not signal that it has freed a core.
 * Returns false if there is none, or if no device worker is left.
 */
static bool next_shared_chunk(struct decode_pass *s, const struct decoder_backend *backend,
                              void **item)
{
    enum { RECHECK_NS = 20000000 };
    bool got = false;
    pthread_mutex_lock(&s->lock);
    while (!got && !atomic_load(&s->stop) && !interrupt_pending() && s->workers[ON_DEVICE] > 0) {
        if (s->read_to_end && s->chunks_waiting <= 0)
            break;
        got = may_share(s) && queue_try_pop(s->chunks, item);
        if (got)
            assign_chunk(s, backend, *item);
        struct timespec soon = clock_deadline(RECHECK_NS);
        if (!got)
            pthread_cond_timedwait(&s->chunks_changed, &s->lock, &soon);
    }
    pthread_mutex_unlock(&s->lock);
    return got;
}

bool scheduler_next_chunk(struct decode_pass *s, const struct decoder_backend *backend,
                          struct chunk **chunk)
{
    void *item;
    pthread_mutex_lock(&s->lock);
    bool shares = backend->place == ON_CORES && s->workers[ON_DEVICE] > 0;
    pthread_mutex_unlock(&s->lock);
    bool got = shares && next_shared_chunk(s, backend, &item);
    if (!got) {
        /* The queue is closed and empty, or no device worker is left to share with. */
        if (!queue_pop(s->chunks, &item))
            return false;
        pthread_mutex_lock(&s->lock);
        assign_chunk(s, backend, item);
        pthread_mutex_unlock(&s->lock);
    }
    *chunk = item;
    return true;
}

struct taken_chunk scheduler_taken(const struct chunk *chunk)
{
    return (struct taken_chunk){.bytes = chunk->bytes,
                                .frames = chunk->frames,
                                .backend = chunk->backend,
                                .threads = chunk->threads,
                                .ns = chunk->taken_ns};
}

void scheduler_chunk_done(struct decode_pass *s, const struct taken_chunk *chunk)
{
    enum decoder_place place = chunk->backend->place;
    pthread_mutex_lock(&s->lock);
    s->bytes_in_flight -= chunk->bytes;
    s->busy_seconds[place] += clock_since(chunk->ns) * chunk->threads;
    s->chunks_done[place]++;
    add_busy_cores(s, place == ON_CORES ? -chunk->threads : 0);
    pthread_cond_signal(&s->budget_freed);
    pthread_cond_broadcast(&s->chunks_changed);
    pthread_mutex_unlock(&s->lock);
    /* Chunks end in any order: progress never goes back. */
    uint_fast64_t seen = atomic_load(&s->frames_done);
    while (seen < chunk->frames &&
           !atomic_compare_exchange_weak(&s->frames_done, &seen, chunk->frames))
        continue;
}

void scheduler_leave_device(struct decode_pass *s)
{
    pthread_mutex_lock(&s->lock);
    s->workers[ON_DEVICE]--;
    s->workers[ON_CORES]++;
    pthread_cond_broadcast(&s->chunks_changed);
    pthread_mutex_unlock(&s->lock);
}
