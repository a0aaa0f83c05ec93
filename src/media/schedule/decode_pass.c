#include "decode_pass.h"

#include "barcode/base/clock.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "barcode/base/queue.h"
#include "barcode/engine/colour.h"

/*
 * Returns the bytes of packets that may wait or be decoded at a time, within the film's part of the
 * memory; one chunk always may.
 */
static size_t max_bytes_in_flight(const struct decode_job *job)
{
    const uint64_t most = (uint64_t)1 << 30, part = scheduler_memory(job) / 8;
    return (size_t)(part < most ? part : most);
}

void decode_pass_open(struct decode_pass *s, const struct film *film, const AVStream *stream,
                      struct codec_traits traits, const struct decode_job *job)
{
    *s = (struct decode_pass){
        .film = film, .stream = stream, .traits = traits, .job = job, .began_ns = clock_ns()};
    /* Key frames alone are decoded in parallel, whatever the codec allows. */
    s->traits.parallel |= job->selection.keyframes;
    s->traits.parallel &= job->plan == DECODE_PARALLEL;
    s->max_bytes = max_bytes_in_flight(job);
    s->counts.first_us = s->counts.last_us = s->counts.end_us = -1;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->budget_freed, NULL);
    pthread_cond_init(&s->chunks_changed, NULL);
}

static void drop_chunk(void *item)
{
    struct chunk *chunk = item;
    chunk_free(&chunk);
}

bool decode_pass_open_queue(struct decode_pass *s, struct err *e)
{
    s->chunks =
        queue_open((size_t)(s->workers[ON_CORES] + s->workers[ON_DEVICE]) + 2, drop_chunk, e);
    return s->chunks != NULL;
}

void decode_pass_close(struct decode_pass *s)
{
    queue_free(&s->chunks);
    av_packet_free(&s->idr_splice.packet);
    pthread_cond_destroy(&s->budget_freed);
    pthread_cond_destroy(&s->chunks_changed);
    pthread_mutex_destroy(&s->lock);
}

static void stop_threads(struct decode_pass *s)
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
    stop_threads(s);
}

void decode_pass_contradict(struct decode_pass *s)
{
    atomic_store(&s->contradicted, true);
    stop_threads(s);
}

void decode_pass_find_damage(struct decode_pass *s)
{
    atomic_store(&s->damage_found, true);
    stop_threads(s);
}

void decode_pass_bad_key(struct decode_pass *s, uint64_t serial, bool again)
{
    struct err e = ERR_INIT;
    pthread_mutex_lock(&s->lock);
    s->counts.bad_keys++;
    bool noted = !s->bad_keys || bad_key_list_add(s->bad_keys, serial, &e);
    pthread_mutex_unlock(&s->lock);
    if (again)
        atomic_store(&s->bad_keys_found, true);
    if (!noted)
        decode_pass_fail(s, &e);
}

bool decode_pass_is_bad_key(struct decode_pass *s, uint64_t serial)
{
    pthread_mutex_lock(&s->lock);
    bool is = s->bad_keys && bad_key_list_has(s->bad_keys, serial);
    pthread_mutex_unlock(&s->lock);
    return is;
}

bool decode_pass_stopped(struct decode_pass *s) { return atomic_load(&s->stop) || interrupted(); }

bool decode_pass_queue(void *pass, struct chunk *chunk, struct err *e)
{
    struct decode_pass *s = pass;
    pthread_mutex_lock(&s->lock);
    while (s->bytes_in_flight > 0 && s->bytes_in_flight + chunk->bytes > s->max_bytes &&
           !atomic_load(&s->stop))
        pthread_cond_wait(&s->budget_freed, &s->lock);
    s->bytes_in_flight += chunk->bytes;
    s->chunks_waiting++;
    pthread_cond_broadcast(&s->chunks_changed);
    s->queued_bytes += chunk->bytes;
    s->chunks_queued++;
    chunk->bytes_pending = chunk->bytes;
    chunk->work = scheduler_estimate_work(s, chunk);
    atomic_fetch_add(&s->work_pending, chunk->work);
    pthread_mutex_unlock(&s->lock);
    if (queue_push(s->chunks, chunk))
        return true;
    chunk_free(&chunk);
    /* A worker failed, and its error is reported. */
    return err_set(e, ERR_FAILED, "decoding stopped");
}

void decode_pass_sent(struct decode_pass *s, struct chunk *chunk, size_t bytes)
{
    bytes = bytes < chunk->bytes_pending ? bytes : chunk->bytes_pending;
    if (bytes == 0)
        return;
    /* The last bytes take the rounding remainder. */
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
    /* Half of a picture's work is its bytes (scheduler_estimate_work). */
    double size = (double)atomic_load(&s->key_bytes) / keys * read / bytes;
    p->decode_seconds = (double)atomic_load(&s->decode_ns) / 1e9;
    p->key_share = keys / read;
    p->key_seconds = p->decode_seconds / passed * (1 + size) / 2;
}

void decode_pass_read_to_end(struct decode_pass *s)
{
    pthread_mutex_lock(&s->lock);
    s->read_to_end = true;
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

void decode_pass_thread_ends(struct decode_pass *s, const struct decoder_backend *backend,
                             uint64_t sent)
{
    double busy = (double)clock_thread_ns() / 1e9;
    pthread_mutex_lock(&s->lock);
    s->decode_seconds += busy;
    pthread_mutex_unlock(&s->lock);
    log_msg(LOG_DEBUG, "%s worker ends at %.2f s: %llu packets, %.2f s of CPU time", backend->name,
            clock_since(s->began_ns), (unsigned long long)sent, busy);
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
    int bit = (view->matrix * 2 + (view->range == RANGE_FULL)) * 3 + transfer;
    uint_fast64_t tags = (uint_fast64_t)1 << bit;
    if (atomic_fetch_or(&s->colours_logged, tags) & tags)
        return;
    static const char *const transfer_names[] = {
        [TRANSFER_SDR] = "", [TRANSFER_PQ] = ", PQ", [TRANSFER_HLG] = ", HLG"};
    log_msg(LOG_VERBOSE, "'%s': some frames are read as matrix %s, range %s%s", f->path,
            colour_matrix_name(view->matrix), colour_range_name(view->range),
            transfer_names[transfer]);
}
