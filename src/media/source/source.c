#include "media/source.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "barcode/base/clock.h"
#include "base/admission.h"
#include "base/watch.h"

bool source_can(const struct source *s, unsigned abilities)
{
    return (s->ops->can & ~s->lacks & abilities) == abilities;
}

bool source_decode(struct source *s, const struct decode_job *job, struct decode_counts *counts,
                   struct decode_times *times, struct err *e)
{
    return s->ops->decode_frames(s, job, counts, times, e);
}

void source_progress(struct source *s, struct decode_progress *p) { s->ops->progress(s, p); }

bool source_sound(struct source *s, struct sound_job *sound, struct err *e)
{
    return s->ops->read_sound(s, sound, e);
}

bool source_probe(struct source *s, const struct probe_request *request, struct probe_facts *facts,
                  struct err *e)
{
    struct probe_request able = *request;
    able.want &= s->ops->probes;
    *facts = (struct probe_facts){.found = 0};
    if (able.want == 0)
        return true;
    if (!s->ops->probe(s, &able, facts, e)) {
        *facts = (struct probe_facts){.found = 0};
        return false;
    }
    if (facts->found & PROBE_LIGHT)
        s->film.peak = facts->peak;
    if (facts->found & PROBE_LENGTH)
        s->film.length = facts->length;
    return true;
}

void source_close(struct source **s)
{
    if (*s)
        (*s)->ops->close(s);
}

/* ---- A pass ---- */

/* The thread that decodes, so that the caller's thread can report progress. */
struct decode_thread {
    const struct pass *pass;
    struct admission_ticket *ticket;
    pthread_t thread;
    struct decode_counts counts;
    struct decode_times times;
    struct err error;
    bool ok;
    pthread_mutex_t lock; /* guards `done` */
    pthread_cond_t finished;
    bool done;
};

static void *decode_thread_main(void *argument)
{
    struct decode_thread *s = argument;
    const struct pass *p = s->pass;
    struct decode_job job = p->decode;
    job.columns = p->job.columns;
    job.ticket = p->admission ? s->ticket : NULL;
    s->ok = source_decode(p->source, &job, &s->counts, &s->times, &s->error);
    pthread_mutex_lock(&s->lock);
    s->done = true;
    pthread_cond_signal(&s->finished);
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

static void report_tick(const struct pass *p, bool done)
{
    if (!p->tick)
        return;
    struct pass_state state = {.columns = columns_done(p->job.columns), .done = done};
    source_progress(p->source, &state.film);
    p->tick(p->tick_user, &state);
}

/* Returns false if there is no thread, and nothing to wait for. */
static bool start_decode_thread(struct decode_thread *s, const struct pass *p,
                                struct admission_ticket *ticket, struct err *e)
{
    *s = (struct decode_thread){.pass = p, .ticket = ticket, .error = ERR_INIT};
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->finished, NULL);
    if (watch_thread(&s->thread, decode_thread_main, s) == 0)
        return true;
    pthread_cond_destroy(&s->finished);
    pthread_mutex_destroy(&s->lock);
    return err_set(e, ERR_MEMORY, "cannot start a decoding thread");
}

/* Ticks ten times a second until the film is decoded. */
static bool wait_for_decode_thread(struct decode_thread *s, struct err *e)
{
    pthread_mutex_lock(&s->lock);
    while (!s->done) {
        struct timespec until = clock_deadline(100000000);
        if (pthread_cond_timedwait(&s->finished, &s->lock, &until) != ETIMEDOUT)
            continue;
        pthread_mutex_unlock(&s->lock);
        report_tick(s->pass, false);
        pthread_mutex_lock(&s->lock);
    }
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->thread, NULL);
    pthread_cond_destroy(&s->finished);
    pthread_mutex_destroy(&s->lock);
    if (!s->ok)
        *e = s->error;
    return s->ok;
}

bool pass_run(const struct pass *p, struct decode_counts *counts, struct decode_times *times,
              struct err *e)
{
    struct engine_job job = p->job;
    /* Software workers, and the thread that reads when it decodes the rest of a film. Workers
     * on a device come on top. */
    job.ports = p->decode.threads + 1;
    struct admission_ticket ticket = {.admission = p->admission};
    *counts = (struct decode_counts){0};
    int64_t came = clock_ns();
    if (!admission_enter(&ticket, e))
        return false;
    int64_t begun = clock_ns();
    times->waiting += (double)(begun - came) / 1e9;
    if (!engine_begin(p->decode.engine, &job, e)) {
        admission_release(&ticket);
        return false;
    }
    int64_t ready = clock_ns();
    struct decode_thread s;
    bool ok = start_decode_thread(&s, p, &ticket, e) && wait_for_decode_thread(&s, e);
    admission_release(&ticket);
    int64_t decoded = clock_ns();
    struct engine_times engine = {0, 0};
    struct err engine_error = ERR_INIT;
    if (!engine_finish(p->decode.engine, &engine, &engine_error) && ok) {
        *e = engine_error;
        ok = false;
    }
    if (!decode_must_restart(&s.counts))
        report_tick(p, ok);
    *counts = s.counts;
    times->engine_begin += (double)(ready - begun) / 1e9;
    times->pass += (double)(decoded - ready) / 1e9;
    times->engine_finish += clock_since(decoded);
    times->device_busy = s.times.device_busy;
    times->software_busy = s.times.software_busy;
    times->demux += s.times.demux;
    times->decode +=
        s.times.decode > engine.shrink ? s.times.decode - engine.shrink : s.times.decode;
    times->shrink += engine.shrink;
    times->cluster += engine.cluster;
    return ok;
}
