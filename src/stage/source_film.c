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

#include "nvdec.h"
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
    struct stage_progress before;   /* the last staging's, when it ended                    */
    pthread_mutex_t now_lock;
};

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

static void covered(struct staging *s, const struct gather *g)
{
    s->counts.displayed = gather_counts_now(g).displayed;
    s->counts.last_us = gather_last_us(g);
}

/* Reads pictures into the gather until the film's end or until only a sequential decoder can go on. */
static bool read_runs(struct staging *s, struct demux *r, struct gather *g, bool *stuck, struct err *e)
{
    struct picture p;
    bool done = false;
    *stuck = false;
    while (!staging_stopped(s)) {
        if ((r->odd && gather_begun(g)) || gather_stuck(g, false)) {
            *stuck = true;
            return true;
        }
        if (!demux_next(r, &p, e))
            break;
        s->counts.packets++;
        atomic_store(&s->bytes_read, demux_position(r));
        if (!gather_push(g, &p, e))
            return false;
        timetable_check(s->job->timetable);
        if ((done = gather_done(g)))
            break;
    }
    if (e->code != ERR_NONE || staging_stopped(s))
        return e->code == ERR_NONE;
    *stuck = !done && (gather_stuck(g, true) || (r->odd && !gather_begun(g)));
    if (*stuck)
        return true;
    /* Pictures that are held when the selection ends have no successor yet: neither their order nor their times are sure. */
    if (done) {
        covered(s, g);
        timetable_stop(s->job->timetable);
    }
    bool fine = gather_end(g, e);
    if (!done)
        covered(s, g);
    return fine;
}

/*
 * The sequential plan for a codec that could be cut: what comes before the first key refers to pictures that are not
 * in the file, and so may the key's leading pictures. Reads just behind these, where gather has judged them.
 */
static bool read_start(struct staging *s, struct demux *r, struct gather *g, struct err *e)
{
    struct picture p;
    while (!staging_stopped(s) && !gather_begun(g) && !gather_stuck(g, false) && demux_next(r, &p, e))
        if (!gather_push(g, &p, e))
            return false;
    return e->code == ERR_NONE;
}

static bool read_film(struct staging *s, struct demux *r, struct err *e)
{
    struct gather_config config = {
        .selection = s->job->selection, .traits = s->traits, .frame_us = frame_us(s->film),
        .columns = s->job->columns, .timetable = s->job->timetable, .have = s->job->have, .have_user = s->job->have_user,
        .emit = emit, .user = s,
    };
    struct gather *g = gather_open(&config, e);
    if (!g)
        return false;
    struct gather_state state = {0};
    bool stuck = !s->traits.parallel;
    bool fine = !stuck ? read_runs(s, r, g, &stuck, e) : !r->traits.parallel || read_start(s, r, g, e);
    struct gather_counts c = gather_counts_now(g);
    s->counts.lead_in = c.lead_in;
    if (!fine || stuck || staging_stopped(s))
        covered(s, g);
    if (fine && stuck) {
        if (s->nvdec && s->job->decode == DECODE_NVDEC)
            log_msg(LOG_WARNING, "'%s': from some place on it can only be decoded in one piece, and in software", s->film->path);
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
static bool run_threads(struct staging *s, struct demux *r, struct err *e)
{
    int hard = s->pace[1].sessions, wanted = hard + s->pace[0].sessions, started = 0;
    pthread_t *thread = calloc((size_t)wanted + 1, sizeof *thread);
    if (!thread)
        return err_memory(e, ((size_t)wanted + 1) * sizeof *thread);
    for (; started < wanted; started++) {
        void *(*entry)(void *) = started < hard ? session_nvdec_main : session_main;
        if (pthread_create(&thread[started], NULL, entry, s) != 0)
            break;
    }
    if (wanted > 0 && started == 0) {
        free(thread);
        return err_set(e, ERR_FAILED, "no thread could be started");
    }
    struct err mine = ERR_INIT;
    if (!read_film(s, r, &mine) && !atomic_load(&s->contradicted) && !atomic_load(&s->damage_found))
        staging_fail(s, &mine);
    const AVIOContext *file = r->format->pb;
    s->counts.io_failed = file && file->error < 0 && file->error != AVERROR_EOF;
    s->counts.read_failed = r->failed || s->counts.io_failed;
    pthread_mutex_lock(&s->lock);
    s->read_to_end = true;
    pthread_mutex_unlock(&s->lock);
    if (interrupted())
        queue_abort(s->runs);
    queue_close(s->runs);
    for (int i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
    free(thread);
    s->counts.contradicted = atomic_load(&s->contradicted);
    s->counts.damage_found = atomic_load(&s->damage_found);
    if (interrupted())
        return interrupt_error(e);
    if (s->error.code != ERR_NONE) {
        *e = s->error;
        return false;
    }
    if (!r->failed)
        timetable_end(s->job->timetable);
    return true;
}

/*
 * How many sessions of which kind. An NVDEC session needs a twentieth of a core for what libavcodec does on it (seen:
 * 20 s of 14 cores in 27 s); the cores that are left decode in software beside. MPEG-2 allows every decoder its own inverse transform: NVDEC's differs from libavcodec's
 * in the last bit, so that only one of the two may decode a film, and unless asked for it is not the GPU.
 */
static bool choose_sessions(struct staging *s, struct nvdec *nvdec, struct err *e)
{
    const struct stage_job *job = s->job;
    enum { ENGINE_SESSIONS = 2 };
    bool demanded = job->decode == DECODE_NVDEC && job->plan == DECODE_PARALLEL;
    s->pace[0].sessions = s->traits.parallel ? job->threads : 0;
    bool may = s->traits.parallel && job->decode == DECODE_AUTO && s->traits.stream != STREAM_MPEG2 &&
               (engine_device(job->engine).context || nvdec_stands_in());
    if (!may && !demanded)
        return true;
    struct err why = ERR_INIT;
    if (!nvdec_open(nvdec, engine_device(job->engine), s->stream, &why)) {
        if (demanded && why.code == ERR_ENGINE) {
            *e = why;
            return false;
        }
        log_msg(demanded ? LOG_WARNING : LOG_VERBOSE, "'%s': %s: decoding in software", s->film->path, why.text);
        return true;
    }
    if (!s->traits.parallel) {
        log_msg(LOG_WARNING, "'%s': %s is not decoded by NVDEC but in software", s->film->path, s->film->codec);
        return true;
    }
    s->nvdec = nvdec;
    s->pace[1].sessions = ENGINE_SESSIONS * nvdec->engines;
    int left = job->threads - (s->pace[1].sessions + 6) / 7;
    s->pace[0].sessions = demanded ? 0 : left > 1 ? left : 1;
    return true;
}

static struct stage_progress how_far(struct staging *s)
{
    return (struct stage_progress){.frames = atomic_load(&s->frames_done), .bytes = atomic_load(&s->bytes_read)};
}

static void publish(struct source_film *f, struct staging *s)
{
    pthread_mutex_lock(&f->now_lock);
    f->before = f->now ? how_far(f->now) : (struct stage_progress){0};
    f->now = s;
    pthread_mutex_unlock(&f->now_lock);
}

static bool film_stage(struct source *base, const struct stage_job *job, struct stage_counts *counts,
                       struct stage_times *times, struct err *e)
{
    struct source_film *f = (struct source_film *)base;
    if (!reopen(f, e))
        return false;
    struct demux reader;
    if (!demux_open(&reader, f->format, f->base.film.stream, e))
        return false;
    struct staging s = {.film = &base->film, .stream = reader.stream, .traits = reader.traits, .job = job};
    s.traits.parallel &= job->plan == DECODE_PARALLEL;
    s.counts.last_us = -1;
    timetable_begin(job->timetable, frame_us(&base->film));
    pthread_mutex_init(&s.lock, NULL);
    pthread_cond_init(&s.budget_freed, NULL);
    s.file_bytes = f->file_bytes;
    s.began_ns = clock_ns();
    struct nvdec nvdec = {0};
    bool fine = choose_sessions(&s, &nvdec, e);
    s.runs = fine ? queue_open((size_t)(s.pace[0].sessions + s.pace[1].sessions) + 2, drop_run, e) : NULL;
    publish(f, &s);
    int64_t demux_before = clock_thread_ns();
    fine = s.runs && run_threads(&s, &reader, e);
    /* What libav's own threads used cannot be told; this thread decoded too when it was the only decoder. */
    *(s.counts.sequential ? &times->decode : &times->demux) += (double)(clock_thread_ns() - demux_before) / 1e9;
    publish(f, NULL);
    times->decode += s.decode_seconds;
    double wall = (double)(clock_ns() - s.began_ns) / 1e9;
    times->software_busy = s.pace[0].sessions > 0 ? s.pace[0].seconds / wall / s.pace[0].sessions : 0;
    times->nvdec_busy = s.pace[1].sessions > 0 ? s.pace[1].seconds / wall / s.pace[1].sessions : 0;
    bool fine_sessions = s.nvdec && !nvdec_stands_in() && s.counts.fallbacks == 0;
    s.counts.nvdec = fine_sessions && s.counts.runs > 0;
    *counts = s.counts;
    queue_free(&s.runs);
    nvdec_close(&nvdec);
    pthread_cond_destroy(&s.budget_freed);
    pthread_mutex_destroy(&s.lock);
    demux_close(&reader);
    return fine;
}

static void film_progress(struct source *base, struct stage_progress *p)
{
    struct source_film *f = (struct source_film *)base;
    pthread_mutex_lock(&f->now_lock);
    *p = f->now ? how_far(f->now) : f->before;
    pthread_mutex_unlock(&f->now_lock);
    p->total_bytes = f->file_bytes;
}

/* Pictures that show, and the time they take by the clock that staging goes by (timeline.h). */
struct tally {
    struct timeline timeline;
    int64_t shown, lead_us;       /* lead: how far the earliest picture lies before the first one stored */
};

/* Pictures come in the order of decoding: the timeline is only ever moved on to the latest of them. */
static void tally_add(struct tally *t, const struct picture *p)
{
    struct timeline *line = &t->timeline;
    t->shown++;
    int64_t time = timeline_at(line, p->pts_us);
    if (p->pts_us != TIME_NONE && line->shift_us == 0 && line->origin_us - p->pts_us > t->lead_us && time == 0)
        t->lead_us = line->origin_us - p->pts_us;
    if (time > line->last_us)
        timeline_step(line, time);
}

/* Reads every packet once. */
static bool film_measure(struct source *base, struct err *e)
{
    struct source_film *f = (struct source_film *)base;
    struct demux r;
    if (!reopen(f, e) || !demux_open(&r, f->format, base->film.stream, e))
        return false;
    struct tally t = {.timeline = timeline_begin(frame_us(&base->film))};
    struct picture p;
    while (!interrupted() && demux_next(&r, &p, e)) {
        if (!p.hidden)
            tally_add(&t, &p);
        packet_free(&p.packet);
    }
    demux_close(&r);
    if (interrupted())
        return interrupt_error(e);
    if (e->code != ERR_NONE)
        return false;
    base->film.frames = t.shown;
    base->film.duration_us = t.shown > 0 ? t.lead_us + t.timeline.last_us + t.timeline.frame_us : 0;
    base->film.duration_guessed = false;
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
