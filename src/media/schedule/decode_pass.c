#include "decode_pass.h"

#include "thread_share.h"
#include "barcode/base/clock.h"
#include "barcode/base/admission.h"
#include "barcode/base/interrupt.h"
#include "barcode/base/log.h"
#include "barcode/base/machine.h"
#include "barcode/base/queue.h"
#include "barcode/engine/colour.h"

/* Bytes of packets that may wait or be in work; one chunk may always be. */
#define BYTES_IN_FLIGHT ((size_t)1 << 30)

void decode_pass_open(struct decode_pass *s, const struct film *film, const AVStream *stream,
                      struct codec_traits traits, const struct decode_job *job)
{
    *s = (struct decode_pass){
        .film = film, .stream = stream, .traits = traits, .job = job, .began_ns = clock_ns()};
    /* A key frame alone needs none of what a codec must allow to be cut into runs. */
    s->traits.parallel |= job->selection.keyframes;
    s->traits.parallel &= job->plan == DECODE_PARALLEL;
    s->counts.last_us = -1;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->budget_freed, NULL);
    pthread_cond_init(&s->chunks_changed, NULL);
}

int decode_pass_threads(const struct film *film, int threads, uint64_t memory)
{
    /* Seen: three pictures a decoder where few are references. 3 bytes a pixel: 4:2:0 of 16 bits,
     * 4:4:4 of 8. */
    enum { PICTURES = 6, PIXEL_BYTES = 3 };
    uint64_t decoder =
        (uint64_t)film->coded_width * (uint64_t)film->coded_height * PIXEL_BYTES * PICTURES;
    uint64_t fit = decoder > 0 ? memory / 2 / decoder : (uint64_t)threads;
    return fit < 1 ? 1 : fit < (uint64_t)threads ? (int)fit : threads;
}

/* Among which the chunk's films are dealt out. */
static uint64_t gates_of(const struct decode_job *job)
{
    return job->worker_processes > 1 ? (uint64_t)job->worker_processes : 1;
}

uint64_t decode_pass_memory(const struct decode_job *job)
{
    /* The one that feeds, and the ends of those before it. */
    uint64_t films = (job->ticket ? 2 : 1) * gates_of(job);
    return machine_memory() / films;
}

static void drop_chunk(void *item)
{
    struct chunk *chunk = item;
    chunk_free(&chunk);
}

bool decode_pass_open_queue(struct decode_pass *s, struct err *e)
{
    s->chunks = queue_open((size_t)(s->workers[0] + s->workers[1]) + 2, drop_chunk, e);
    return s->chunks != NULL;
}

void decode_pass_close(struct decode_pass *s)
{
    queue_free(&s->chunks);
    idr_splice_drop(&s->idr_splice);
    pthread_cond_destroy(&s->budget_freed);
    pthread_cond_destroy(&s->chunks_changed);
    pthread_mutex_destroy(&s->lock);
}

static void halt(struct decode_pass *s)
{
    pthread_mutex_lock(&s->lock);
    atomic_store(&s->stop, true);
    pthread_cond_broadcast(&s->budget_freed);
    pthread_cond_broadcast(&s->chunks_changed);
    pthread_mutex_unlock(&s->lock);
    queue_abort(s->chunks);
}

void decode_pass_fail(struct decode_pass *s, const struct err *e)
{
    pthread_mutex_lock(&s->lock);
    if (s->error.code == ERR_NONE)
        s->error = *e;
    pthread_mutex_unlock(&s->lock);
    halt(s);
}

void decode_pass_contradict(struct decode_pass *s)
{
    atomic_store(&s->contradicted, true);
    halt(s);
}

void decode_pass_find_damage(struct decode_pass *s)
{
    atomic_store(&s->damage_found, true);
    halt(s);
}

void decode_pass_bad_key(struct decode_pass *s, uint64_t serial, bool again)
{
    struct err e = ERR_INIT;
    pthread_mutex_lock(&s->lock);
    s->counts.bad_keys++;
    bool noted = !s->bad_keys || key_faults_add(s->bad_keys, serial, &e);
    pthread_mutex_unlock(&s->lock);
    if (again)
        atomic_store(&s->bad_keys_found, true);
    if (!noted)
        decode_pass_fail(s, &e);
}

bool decode_pass_is_bad_key(struct decode_pass *s, uint64_t serial)
{
    pthread_mutex_lock(&s->lock);
    bool is = s->bad_keys && key_faults_has(s->bad_keys, serial);
    pthread_mutex_unlock(&s->lock);
    return is;
}

bool decode_pass_stopped(struct decode_pass *s) { return atomic_load(&s->stop) || interrupted(); }

/* Under the lock. */
static void count_chunks(struct decode_pass *s, int chunks)
{
    s->chunks_waiting += chunks;
    pthread_cond_broadcast(&s->chunks_changed);
}

/*
 * What a picture takes whatever its size, in bytes: as much as an average picture of the film has.
 * A fade's pictures of few bytes take half as long as others (seen). 0 where nobody knows how many
 * pictures there are.
 */
static size_t picture_bytes(const struct decode_pass *s)
{
    return s->film->frames > 0 ? (size_t)(s->file_bytes / (uint64_t)s->film->frames) : 0;
}

bool decode_pass_queue(void *pass, struct chunk *chunk, struct err *e)
{
    struct decode_pass *s = pass;
    pthread_mutex_lock(&s->lock);
    while (s->bytes_in_flight > 0 && s->bytes_in_flight + chunk->bytes > BYTES_IN_FLIGHT &&
           !atomic_load(&s->stop))
        pthread_cond_wait(&s->budget_freed, &s->lock);
    s->bytes_in_flight += chunk->bytes;
    count_chunks(s, 1);
    s->queued_bytes += chunk->bytes;
    chunk->bytes_pending = chunk->bytes;
    chunk->work = chunk->bytes + chunk->count * picture_bytes(s);
    atomic_fetch_add(&s->work_pending, chunk->work);
    pthread_mutex_unlock(&s->lock);
    if (queue_push(s->chunks, chunk))
        return true;
    chunk_free(&chunk);
    /* A worker failed: its sentence is the one to show. */
    return err_set(e, ERR_FAILED, "staging stopped");
}

void decode_pass_sent(struct decode_pass *s, struct chunk *chunk, size_t bytes)
{
    bytes = bytes < chunk->bytes_pending ? bytes : chunk->bytes_pending;
    if (bytes == 0)
        return;
    /* The last bytes bring what rounding left. */
    chunk->bytes_pending -= bytes;
    size_t work = chunk->work;
    if (chunk->bytes_pending > 0)
        work =
            (size_t)((double)chunk->work * (double)bytes / (double)(chunk->bytes_pending + bytes));
    chunk->work -= work;
    atomic_fetch_sub(&s->work_pending, work);
}

void decode_pass_pictures_done(struct decode_pass *s, struct chunk *chunk, size_t pictures)
{
    size_t left = chunk->count - chunk->passed;
    pictures = pictures < left ? pictures : left;
    chunk->passed += pictures;
    atomic_fetch_add(&s->passed, pictures);
    int64_t now = clock_thread_ns();
    atomic_fetch_add(&s->decode_ns, now - chunk->cpu_ns);
    chunk->cpu_ns = now;
}

void decode_pass_key_costs(struct decode_pass *s, struct decode_progress *p)
{
    double passed = (double)atomic_load(&s->passed);
    double keys = (double)atomic_load(&s->keys_read);
    double read = (double)atomic_load(&s->pictures_read);
    double bytes = (double)atomic_load(&s->bytes_read);
    if (!s->has_key_index || passed <= 0 || keys <= 0 || read <= 0 || bytes <= 0)
        return;
    /* Half of a picture's time goes by its bytes (picture_bytes). */
    double size = (double)atomic_load(&s->key_bytes) / keys * read / bytes;
    p->decode_seconds = (double)atomic_load(&s->decode_ns) / 1e9;
    p->key_share = keys / read;
    p->key_seconds = p->decode_seconds / passed * (1 + size) / 2;
}

struct taken decode_pass_taken(const struct chunk *chunk)
{
    return (struct taken){.bytes = chunk->bytes,
                          .frames = chunk->frames,
                          .threads = chunk->threads,
                          .ns = chunk->taken_ns};
}

/* That many cores more (or, negative, fewer) are at work for the film. Under the lock. */
static void work_on_cores(struct decode_pass *s, int cores)
{
    s->cores_busy += cores;
    admission_add_cores(s->job->ticket, cores);
}

void decode_pass_chunk_done(struct decode_pass *s, const struct taken *chunk)
{
    bool nvdec = chunk->threads == 0;
    pthread_mutex_lock(&s->lock);
    s->bytes_in_flight -= chunk->bytes;
    s->busy_seconds[nvdec] += clock_since(chunk->ns) * (nvdec ? 1 : chunk->threads);
    work_on_cores(s, -chunk->threads);
    pthread_cond_signal(&s->budget_freed);
    pthread_cond_broadcast(&s->chunks_changed);
    pthread_mutex_unlock(&s->lock);
    /* Runs end in any order: progress never goes back. */
    uint_fast64_t seen = atomic_load(&s->frames_done);
    while (seen < chunk->frames &&
           !atomic_compare_exchange_weak(&s->frames_done, &seen, chunk->frames))
        continue;
}

void decode_pass_read_to_end(struct decode_pass *s)
{
    pthread_mutex_lock(&s->lock);
    s->read_to_end = true;
    pthread_cond_broadcast(&s->chunks_changed);
    pthread_mutex_unlock(&s->lock);
}

void decode_pass_lacks_nvdec(struct decode_pass *s)
{
    pthread_mutex_lock(&s->lock);
    s->workers[1]--;
    s->workers[0]++;
    pthread_cond_broadcast(&s->chunks_changed);
    pthread_mutex_unlock(&s->lock);
}

void decode_pass_add_counts(struct decode_pass *s, const struct decode_counts *c)
{
    pthread_mutex_lock(&s->lock);
    s->counts.sent += c->sent;
    s->counts.decoded += c->decoded;
    s->counts.hardware += c->hardware;
    s->counts.fallbacks += c->fallbacks;
    s->counts.decode_errors += c->decode_errors;
    s->counts.redone_chunks += c->redone_chunks;
    s->counts.flushes += c->flushes;
    s->counts.idr_splices += c->idr_splices;
    s->counts.reused += c->reused;
    s->counts.lost += c->lost;
    s->counts.damaged += c->damaged;
    pthread_mutex_unlock(&s->lock);
}

void decode_pass_thread_ends(struct decode_pass *s, bool nvdec, uint64_t sent)
{
    double busy = (double)clock_thread_ns() / 1e9;
    pthread_mutex_lock(&s->lock);
    s->decode_seconds += busy;
    pthread_mutex_unlock(&s->lock);
    /* When each worker ran dry shows where a staging could be faster. */
    log_msg(LOG_DEBUG, "%s session ends at %.2f s: %llu packets, %.2f s of a core",
            nvdec ? "NVDEC" : "software", clock_since(s->began_ns), (unsigned long long)sent, busy);
}

/* Bytes of the film that may become runs yet, counted generously: they hold its sound too. With the
 * lock held. */
static uint64_t unread(const struct decode_pass *s, const struct chunk *chunk)
{
    if (s->read_to_end)
        return 0;
    /* The reader is ahead of the chunks that it queued by as much as it takes to know where one
     * ends. */
    uint64_t read = atomic_load(&s->bytes_read),
             past = read > chunk->bytes ? read - chunk->bytes : 0;
    past = past > s->queued_bytes ? past : s->queued_bytes;
    return s->file_bytes > past ? s->file_bytes - past : 0;
}

/* On the cores on which no other film is at work. With the lock held. */
static int threads_now(struct decode_pass *s, struct share share)
{
    int idle = s->workers[0] - s->cores_busy;
    if (!admission_spare_cores(s->job->ticket, &idle))
        return 1;
    int cores = s->cores_busy + idle;
    share.cores = cores < share.cores ? cores : share.cores;
    return share_threads(&share);
}

/*
 * How many threads a chunk gets that a software worker takes: as many as idle cores allow. Of a
 * pipe nobody knows how much is to come, nor of a playlist. A film whose pictures leave no memory
 * for a decoder a core has none for threads (decode_pass_threads). With the lock held.
 */
static int threads_for(struct decode_pass *s, const struct chunk *chunk)
{
    bool may = s->threads_most > 1 && s->workers[1] == 0 && !s->bad_keys;
    if (!may || !chunk_may_use_threads(chunk))
        return 1;
    if (thread_share_override() > 0)
        return thread_share_override();
    bool known = s->file_bytes > 0 && !s->is_list;
    if (!s->read_to_end && !known)
        return 1;
    /* what one of a file takes, its pictures included */
    uint64_t byte = picture_bytes(s) > 0 ? 2 : 1;
    struct share share = {.cores = s->workers[0],
                          .own = chunk->work,
                          .left = atomic_load(&s->work_pending) + unread(s, chunk) * byte,
                          .most = s->threads_most};
    return threads_now(s, share);
}

/* `chunk` was taken from the queue. Under the lock. */
static void begin_chunk(struct decode_pass *s, bool nvdec, struct chunk *chunk)
{
    chunk->taken_ns = clock_ns();
    count_chunks(s, -1);
    chunk->threads = nvdec ? 0 : threads_for(s, chunk);
    chunk->cpu_ns = clock_thread_ns();
    work_on_cores(s, chunk->threads);
}

/*
 * Beside NVDEC: the films before this one may have runs at work yet, and all of them together get
 * as many cores as one that is alone. Under the lock.
 */
static bool has_core(const struct decode_pass *s)
{
    int kept = s->job->threads - s->workers[0]; /* for what NVDEC's sessions do */
    return admission_idle_cores(s->job->ticket) > (kept > 0 ? kept : 0);
}

/*
 * Returns true if a software worker may take a chunk beside NVDEC workers: not one of the last,
 * which NVDEC would have to wait for, since one of its workers is several times as fast as a core.
 * HEVC has no such software worker (choose_workers). Under the lock.
 */
static bool may_share(const struct decode_pass *s)
{
    return s->chunks_waiting >= s->workers[1] && has_core(s);
}

/*
 * Takes a chunk for a software worker beside NVDEC workers; waits until it may have one. Looks
 * again after a while even when nothing happens, for another film does not signal that it has freed
 * a core.
 */
static bool take_share(struct decode_pass *s, void **item)
{
    enum { LOOK_AGAIN_NS = 20000000 };
    bool got = false;
    pthread_mutex_lock(&s->lock);
    while (!got && !decode_pass_stopped(s) && s->workers[1] > 0) {
        if (s->read_to_end && s->chunks_waiting <= 0)
            break;
        got = may_share(s) && queue_try_pop(s->chunks, item);
        if (got)
            begin_chunk(s, false, *item);
        struct timespec soon = clock_deadline(LOOK_AGAIN_NS);
        if (!got)
            pthread_cond_timedwait(&s->chunks_changed, &s->lock, &soon);
    }
    pthread_mutex_unlock(&s->lock);
    return got;
}

bool decode_pass_next(struct decode_pass *s, bool nvdec, struct chunk **chunk)
{
    void *item;
    pthread_mutex_lock(&s->lock);
    bool shares = !nvdec && s->workers[1] > 0;
    pthread_mutex_unlock(&s->lock);
    bool got = shares && take_share(s, &item);
    if (!got) {
        /* Closed and empty, or no NVDEC worker is left to share with. */
        if (!queue_pop(s->chunks, &item))
            return false;
        pthread_mutex_lock(&s->lock);
        begin_chunk(s, nvdec, item);
        pthread_mutex_unlock(&s->lock);
    }
    *chunk = item;
    return true;
}

void decode_pass_log_colour(struct decode_pass *s, const struct frame_view *view)
{
    const struct film *f = s->film;
    enum transfer transfer = view->transfer;
    bool matrix = view->model == MODEL_YCBCR && view->matrix != f->matrix;
    bool range = view->model != MODEL_RGB && view->range != f->range;
    if (!matrix && !range && transfer == f->transfer)
        return;
    /* 8 matrices, 2 ranges and 3 transfers: 48 bits. */
    uint_fast64_t mine = (uint_fast64_t)1
                         << ((view->matrix * 2 + (view->range == RANGE_FULL)) * 3 + transfer);
    if (atomic_fetch_or(&s->colours_logged, mine) & mine)
        return;
    log_msg(LOG_VERBOSE, "'%s': some of its pictures are read as matrix %s, range %s%s", f->path,
            colour_matrix_name(view->matrix), colour_range_name(view->range),
            transfer == TRANSFER_PQ    ? ", PQ"
            : transfer == TRANSFER_HLG ? ", HLG"
                                       : "");
}
