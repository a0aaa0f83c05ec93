/*
 * source_film.c - a film through libav: one thread reads, several decode.
 *
 *   reader --pictures--> gather --runs--> [queue] --> session 1..n --> engine
 *
 * The reading thread is the caller's. What cannot be cut into runs is decoded by that same thread, with
 * libav's frame threads, from where the runs end (sequential.c).
 */
#include <stdlib.h>
#include <string.h>

#include "av.h"
#include "barcode/clock.h"
#include "barcode/interrupt.h"
#include "barcode/log.h"

/* Bytes of packets that may wait or be in work; one run may always be. */
#define BYTES_IN_FLIGHT ((size_t)1 << 30)

struct source_film {
    struct source base;
    AVFormatContext *format;
    bool used;                      /* read from already: must be opened anew to start over */
    uint64_t file_bytes;
    struct staging *now;            /* for progress, while staging                          */
    pthread_mutex_t now_lock;
};

static void halt(struct staging *s)
{
    pthread_mutex_lock(&s->lock);
    atomic_store(&s->stop, true);
    pthread_cond_broadcast(&s->budget_freed);
    pthread_mutex_unlock(&s->lock);
    queue_abort(s->runs);
}

void staging_fail(struct staging *s, const struct err *e)
{
    pthread_mutex_lock(&s->lock);
    if (s->error.code == ERR_NONE)
        s->error = *e;
    pthread_mutex_unlock(&s->lock);
    halt(s);
}

void staging_contradict(struct staging *s)
{
    atomic_store(&s->contradicted, true);
    halt(s);
}

bool staging_stopped(struct staging *s)
{
    return atomic_load(&s->stop) || interrupted();
}

static void drop_run(void *item)
{
    struct run *run = item;
    run_free(&run);
}

static int64_t frame_us(const struct film *f)
{
    if (f->rate_num <= 0)
        return 40000;
    int64_t us = av_rescale(1000000, f->rate_den, f->rate_num);
    return us > 0 ? us : 1;
}

/* Takes the run; waits while too many bytes are in flight. */
static bool emit(void *user, struct run *run, struct err *e)
{
    struct staging *s = user;
    pthread_mutex_lock(&s->lock);
    while (s->bytes_in_flight > 0 && s->bytes_in_flight + run->bytes > BYTES_IN_FLIGHT && !atomic_load(&s->stop))
        pthread_cond_wait(&s->budget_freed, &s->lock);
    s->bytes_in_flight += run->bytes;
    pthread_mutex_unlock(&s->lock);
    if (queue_push(s->runs, run))
        return true;
    run_free(&run);
    /* A session failed: its sentence is the one to show. */
    return err_set(e, ERR_FAILED, "staging stopped");
}

/* Opens the file again to read it from the start; what was said of it before must still hold. */
static bool reopen(struct source_film *f, struct err *e)
{
    if (!f->used) {
        f->used = true;
        return true;
    }
    avformat_close_input(&f->format);
    struct film again;
    const struct film *before = &f->base.film;
    bool fine = film_av_open(before->path, &f->format, &again, e);
    bool same = fine && again.stream == before->stream && strcmp(again.codec, before->codec) == 0 &&
                again.coded_width == before->coded_width && again.coded_height == before->coded_height;
    free(again.path);
    return same || (fine && err_set(e, ERR_INPUT, "'%s' changed while it was being read", before->path));
}

/* Reads pictures into the gather until the film's end or until only a sequential decoder can go on. */
static bool read_runs(struct staging *s, struct reader *r, struct gather *g, bool *stuck, struct err *e)
{
    struct picture p;
    *stuck = false;
    while (!staging_stopped(s)) {
        if ((r->odd && gather_begun(g)) || gather_stuck(g, false)) {
            *stuck = true;
            return true;
        }
        if (!reader_next(r, &p, e))
            break;
        s->counts.packets++;
        atomic_store(&s->bytes_read, reader_position(r));
        if (!gather_push(g, &p, e))
            return false;
        if (gather_done(g))
            break;
    }
    if (e->code != ERR_NONE || staging_stopped(s))
        return e->code == ERR_NONE;
    *stuck = gather_stuck(g, true) || (r->odd && !gather_begun(g));
    return *stuck || gather_end(g, e);
}

/*
 * The sequential plan for a codec that could be cut: what comes before the first key refers to pictures that are not
 * in the file, and so may the key's leading pictures. Reads just behind these, where gather has judged them.
 */
static bool read_start(struct staging *s, struct reader *r, struct gather *g, struct err *e)
{
    struct picture p;
    while (!staging_stopped(s) && !gather_begun(g) && !gather_stuck(g, false) && reader_next(r, &p, e))
        if (!gather_push(g, &p, e))
            return false;
    return e->code == ERR_NONE;
}

static bool read_film(struct staging *s, struct reader *r, struct err *e)
{
    struct gather_config config = {
        .selection = s->job->selection, .traits = s->traits, .frame_us = frame_us(s->film),
        .columns = s->job->columns, .emit = emit, .user = s,
    };
    struct gather *g = gather_open(&config, e);
    if (!g)
        return false;
    struct gather_state state = {0};
    bool stuck = !s->traits.parallel;
    bool fine = !stuck ? read_runs(s, r, g, &stuck, e) : !r->traits.parallel || read_start(s, r, g, e);
    struct gather_counts c = gather_counts_now(g);
    s->counts.displayed = c.displayed;
    s->counts.lead_in = c.lead_in;
    s->counts.last_us = gather_last_us(g);
    if (fine && stuck) {
        fine = gather_release(g, &state, e) && sequential_stage(s, r, &state, e);
        run_free(&state.held);
    }
    c = gather_counts_now(g);
    s->counts.runs = c.runs;
    s->counts.skipped_runs = c.skipped;
    s->counts.packets = r->serial;
    gather_free(&g);
    return fine;
}

/* Starts sessions, reads, waits for them. */
static bool run_threads(struct staging *s, struct reader *r, struct err *e)
{
    int wanted = s->traits.parallel ? s->job->threads : 0, started = 0;
    pthread_t *thread = calloc((size_t)wanted + 1, sizeof *thread);
    if (!thread)
        return err_memory(e, ((size_t)wanted + 1) * sizeof *thread);
    for (; started < wanted; started++) {
        if (pthread_create(&thread[started], NULL, session_main, s) != 0)
            break;
    }
    if (wanted > 0 && started == 0) {
        free(thread);
        return err_set(e, ERR_FAILED, "no thread could be started");
    }
    struct err mine = ERR_INIT;
    if (!read_film(s, r, &mine) && !atomic_load(&s->contradicted))
        staging_fail(s, &mine);
    s->counts.read_failed = r->failed;
    if (interrupted())
        queue_abort(s->runs);
    queue_close(s->runs);
    for (int i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
    free(thread);
    if (interrupted())
        return interrupt_error(e);
    s->counts.contradicted = atomic_load(&s->contradicted);
    if (s->error.code != ERR_NONE) {
        *e = s->error;
        return false;
    }
    return true;
}

static void publish(struct source_film *f, struct staging *s)
{
    pthread_mutex_lock(&f->now_lock);
    f->now = s;
    pthread_mutex_unlock(&f->now_lock);
}

static bool film_stage(struct source *base, const struct stage_job *job, struct stage_counts *counts,
                       struct stage_times *times, struct err *e)
{
    struct source_film *f = (struct source_film *)base;
    if (!reopen(f, e))
        return false;
    struct reader reader;
    if (!reader_open(&reader, f->format, f->base.film.stream, e))
        return false;
    struct staging s = {.film = &base->film, .stream = reader.stream, .traits = reader.traits, .job = job};
    s.traits.parallel &= job->plan == DECODE_PARALLEL;
    s.counts.last_us = -1;
    pthread_mutex_init(&s.lock, NULL);
    pthread_cond_init(&s.budget_freed, NULL);
    s.runs = queue_open((size_t)job->threads + 2, drop_run, e);
    publish(f, &s);
    int64_t demux_before = clock_thread_ns();
    bool fine = s.runs && run_threads(&s, &reader, e);
    /* What libav's own threads used cannot be told; this thread decoded too when it was the only decoder. */
    *(s.counts.sequential ? &times->decode : &times->demux) += (double)(clock_thread_ns() - demux_before) / 1e9;
    publish(f, NULL);
    times->decode += s.decode_seconds;
    *counts = s.counts;
    queue_free(&s.runs);
    pthread_cond_destroy(&s.budget_freed);
    pthread_mutex_destroy(&s.lock);
    reader_close(&reader);
    return fine;
}

static void film_progress(struct source *base, struct stage_progress *p)
{
    struct source_film *f = (struct source_film *)base;
    *p = (struct stage_progress){.total_bytes = f->file_bytes};
    pthread_mutex_lock(&f->now_lock);
    if (f->now) {
        p->frames = atomic_load(&f->now->frames_done);
        p->bytes = atomic_load(&f->now->bytes_read);
    }
    pthread_mutex_unlock(&f->now_lock);
}

/* Reads every packet once: pictures that show, and when the last one ends. */
static bool film_measure(struct source *base, struct err *e)
{
    struct source_film *f = (struct source_film *)base;
    struct reader r;
    if (!reopen(f, e) || !reader_open(&r, f->format, base->film.stream, e))
        return false;
    int64_t first = INT64_MAX, last = INT64_MIN, shown = 0;
    struct picture p;
    while (!interrupted() && reader_next(&r, &p, e)) {
        shown += !p.hidden;
        if (!p.hidden && p.pts_us != TIME_NONE) {
            first = p.pts_us < first ? p.pts_us : first;
            last = p.pts_us > last ? p.pts_us : last;
        }
        packet_free(&p.packet);
    }
    reader_close(&r);
    if (interrupted())
        return interrupt_error(e);
    if (e->code != ERR_NONE)
        return false;
    int64_t step = frame_us(&base->film);
    base->film.frames = shown;
    base->film.duration_us = last >= first ? last - first + step : shown * step;
    return true;
}

static void film_close(struct source **base)
{
    struct source_film *f = (struct source_film *)*base;
    avformat_close_input(&f->format);
    pthread_mutex_destroy(&f->now_lock);
    free(f->base.film.path);
    free(f);
    *base = NULL;
}

static const struct source_ops film_ops = {
    .name = "film", .stage = film_stage, .progress = film_progress, .measure = film_measure, .close = film_close,
};

struct source *source_film_open(const char *path, struct err *e)
{
    struct source_film *f = calloc(1, sizeof *f);
    if (!f) {
        err_memory(e, sizeof *f);
        return NULL;
    }
    f->base.ops = &film_ops;
    pthread_mutex_init(&f->now_lock, NULL);
    if (!film_av_open(path, &f->format, &f->base.film, e)) {
        struct source *s = &f->base;
        source_close(&s);
        return NULL;
    }
    int64_t size = f->format->pb ? avio_size(f->format->pb) : -1;
    f->file_bytes = size > 0 ? (uint64_t)size : 0;
    return &f->base;
}
