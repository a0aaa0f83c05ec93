#include "job.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "barcode/base/clock.h"
#include "base/file.h"
#include "base/film_id.h"
#include "base/interrupt.h"
#include "base/watch.h"
#include "output/sinks.h"
#include "phases.h"

/* The state of a job, whose parts are handed to its phases. */
struct job {
    struct job_film film;
    struct job_sound sound;
    struct job_stores stores;
    struct job_passes passes;
    struct report report;
    char decode[32]; /* the report's, if a device decoded */
};

/* Opens the film, and decides how it is decoded. */
static bool open_film(const struct job_order *order, struct job *j, struct err *e)
{
    const struct film_options *o = &order->plan->film;
    struct job_film *film = &j->film;
    struct report *r = &j->report;
    engines_open_early(order->context->engines);
    film->stamp = film_stamp(order->path, order->parts);
    if (!job_look_for_sound(order, &j->sound, r, e))
        return false;
    film->source = source_open_stream(order->path, order->parts, o->stream,
                                      job_sound_stream(order, &j->sound), o->keep_going, e);
    if (!film->source || !job_probe(order, film, e) || !job_decide(order, film, r, e))
        return false;
    /*
     * A film that can be read only once is decoded with exact_damage from the start, in case it is
     * damaged.
     */
    j->passes.exact_damage = !source_can(film->source, SOURCE_RESTARTABLE);
    job_look_in_cache(order, film, &j->stores, r);
    return job_decide_crop(order, film, j->stores.cache, r, e);
}

static void describe_decoding(const struct job_order *order, struct job *j)
{
    const struct decode_counts *c = &j->report.run.counts;
    enum decode_choice choice = order->plan->film.decode;
    const char *device = decode_device_word(choice);
    /*
     * Which decoder got a chunk is not deterministic, so it is not reported: automatic means both.
     */
    bool alone = decode_is_device(choice) && c->hardware == c->decoded;
    if (c->on_device || c->hardware > 0) {
        snprintf(j->decode, sizeof j->decode, "%s%s%s", device, alone ? "" : "+",
                 alone ? "" : decode_word(DECODE_CPU));
        j->report.run.decode = j->decode;
    }
    if (c->fallbacks > 0)
        log_msg(job_device_level(choice), "'%s': %" PRIu64 " %s workers decoded in software",
                order->path, c->fallbacks, device);
}

/* Makes everything that is written of the film. */
static bool make_pictures(const struct job_order *order, struct job *j, int64_t started,
                          struct err *e)
{
    struct report *r = &j->report;
    bool ok = open_film(order, j, e);
    r->run.times.start_up = clock_since(started) - r->run.times.waiting;
    /* The sound beside the pictures uses the engine's device, too. */
    j->sound.job.engine = j->film.engine;
    ok = ok && job_decode(order, &j->film, &j->stores, &j->passes, &j->sound, r, e);
    describe_decoding(order, j);
    return ok && job_end_sound(order, &j->film, &j->sound, &j->passes, r, e) &&
           job_assess(order, &j->film, &j->stores, &j->passes, r, e);
}

static void close_job(struct job *j)
{
    job_close_stores(&j->stores);
    job_close_film(&j->film);
    film_sound_free(&j->sound.job.sound);
    spectrum_free(&j->report.media.spectrum);
}

/*
 * Switches to the CPU after a GPU error (out of memory, lost device), unless the user demanded the
 * GPU. The CPU renders this film again and all later films. Returns false if there is no other
 * engine.
 */
static bool goes_on_without_gpu(const struct job_context *c, size_t i, const struct engine *gpu,
                                struct err *e)
{
    /* the device itself may be missing */
    bool demanded = decode_is_device(c->plan->film.decode);
    const char *next = e->code == ERR_ENGINE && !demanded ? engines_give_up(c->engines, gpu) : NULL;
    if (!next)
        return false;
    log_msg(LOG_WARNING, "%s: rendering '%s' again on %s", e->text, c->inputs->path[i], next);
    err_clear(e);
    return true;
}

/* Returns true if the film may be rendered again alone. A pipe that was inherited is read once. */
static bool may_repeat(const struct job_context *c, size_t i)
{
    return !c->alone && file_descriptor(c->inputs->path[i]) < 0;
}

bool job_again_alone(const struct job_context *c, size_t i, const struct err *e)
{
    return e->code == ERR_MEMORY && may_repeat(c, i);
}

/*
 * Fails with ERR_MEMORY if the process ran out of memory after err_memory_count returned `before`:
 * libav may take a failed allocation for damage. Other films may have run out of it: that fails no
 * film that can be read only once.
 */
static bool had_memory(const struct job_context *c, size_t i, uint64_t before, struct err *e)
{
    bool own = c->alone || may_repeat(c, i);
    if (!own || err_memory_count() <= before || interrupted() || e->code == ERR_MEMORY)
        return true;
    err_clear(e);
    return err_set(e, ERR_MEMORY, "out of memory while '%s' was being rendered",
                   c->inputs->path[i]);
}

const struct job_result job_no_result = {.seconds = -1, .columns = -1};

static struct job_result result_of(const struct report *r, int64_t started)
{
    struct job_result result = {.seconds = clock_since(started) - r->run.times.waiting,
                                .columns = r->count > 0 ? (int64_t)r->count : -1,
                                .warnings = r->run.warnings};
    memcpy(result.warning, r->run.warning, sizeof result.warning);
    return result;
}

/* Runs the phases of a job. */
static bool run_phases(const struct job_order *order, struct job *j, struct err *e)
{
    const int64_t started = clock_ns();
    const uint64_t refused = err_memory_count();
    const struct job_context *c = order->context;
    const bool sound_only = order->needs.sound_only;
    bool ok = sound_only ? job_read_sound(order, &j->film, &j->sound, &j->passes, &j->report, e)
                         : make_pictures(order, j, started, e);
    ok = had_memory(c, order->input, refused, e) && ok;
    if (!ok || !job_write(order, &j->stores, &j->passes, &j->report, started, e))
        return false;
    const bool whole = sound_only || job_is_whole(&j->passes, &j->report);
    if (order->plan->outputs.strict && !(whole && job_sound_is_whole(j->report.media.sound)))
        return err_set(e, ERR_FAILED, "'%s' decoded only in part (--strict)", order->path);
    return true;
}

static struct job_needs needs_of(const struct plan *plan, const struct outputs *outputs)
{
    const bool dumps = outputs->dump.path != NULL, only = plan->outputs.sound_only;
    struct job_needs needs = {.columns = dumps, .sound = only};
    needs.sound_only = only || (outputs->count > 0 && !dumps && !plan->film.verify);
    for (size_t i = 0; i < outputs->count; i++) {
        const struct output *output = &outputs->output[i];
        const struct writer *w = output->writer;
        unsigned strips = w->modeless ? 0 : strips_need(output->strips);
        if (w->table)
            strips |= csv_columns_need(&plan->formats.csv_columns);
        needs.strips |= strips;
        needs.columns |= !w->beside;
        needs.sheets |= w == &writer_jellyfin;
        needs.singles |= w == &writer_bif;
        needs.thumbs |= w->thumbnails;
        needs.palette |= outputs_show_palette(plan, w);
        needs.sound |= w->sound || (strips & STRIP_SOUND);
        needs.spectrum |= w->spectrum;
        needs.sound_only &= w->sound;
    }
    return needs;
}

bool job_run(const struct job_context *c, size_t i, const struct outputs *outputs,
             struct job_result *result, struct err *e)
{
    const struct job_order order = {.context = c,
                                    .plan = c->plan,
                                    .input = i,
                                    .path = c->inputs->path[i],
                                    .parts = c->inputs->parts[i],
                                    .outputs = outputs,
                                    .needs = needs_of(c->plan, outputs)};
    struct job j;
    int64_t first = clock_ns();
    bool ok;
    do {
        j = (struct job){.film = {.source = NULL}};
        ok = run_phases(&order, &j, e);
        close_job(&j);
    } while (!ok && !watch_stopped() && goes_on_without_gpu(c, i, j.film.engine, e));
    struct err late = ERR_INIT; /* it was done before it was asked to end */
    bool stopped = watch_error(ok ? &late : e);
    if (!ok && (stopped || e->code == ERR_INTERRUPTED || e->code == ERR_MEMORY) &&
        !strstr(e->text, order.path))
        err_prefix(e, "'%s'", order.path);
    *result = result_of(&j.report, first);
    if (ok)
        log_msg(LOG_VERBOSE, "'%s' is done: %" PRIu64 " columns in %.1f s", order.path,
                j.report.count, result->seconds);
    return ok;
}
