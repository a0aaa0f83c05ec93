#include "render.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "barcode/base/clock.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/watch.h"
#include "barcode/engine/colour.h"
#include "output/spectrum.h"
#include "render_job.h"

void render_warn(struct render_job *j, const char *format, ...)
{
    char *text = j->report.warning[j->report.warnings];
    va_list args;
    if (j->report.warnings == REPORT_WARNINGS)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof j->report.warning[0], format, args);
    va_end(args);
    j->report.warnings++;
    log_msg(LOG_WARNING, "%s", text);
}

static void describe_film(struct render_job *j)
{
    const struct film *f = &j->source->film;
    log_msg(LOG_VERBOSE, "'%s': %s in %s, %dx%d %s, matrix %s%s, range %s%s, %d threads, %s",
            f->path, f->codec, f->container, f->width, f->height, f->pixel_format,
            colour_matrix_name(f->matrix), f->matrix_guessed ? " (guessed)" : "",
            colour_range_name(f->range), f->range_guessed ? " (guessed)" : "", j->render->threads,
            engine_detail(j->engine));
}

/* Chooses the engine and sets ask.decoder and ask.threads. */
static bool open_engine(struct render_job *j, struct err *e)
{
    struct frame_cache_ask *ask = &j->ask;
    if (!render_decide_engine(j, e))
        return false;
    if (ask->decoder == CACHE_BY_GPU && !engine_device(j->engine).context)
        ask->decoder = CACHE_BY_SOFTWARE;
    ask->threads = j->report.threads = j->render->threads;
    j->report.decode = decode_word(DECODE_CPU);
    describe_film(j);
    return true;
}

/* Copies the options of modes and pictures to the report and derives what the outputs need. */
static void copy_options(struct report *r, const struct options *o, const struct outputs *outputs)
{
    r->kmeans = o->kmeans;
    r->steady = o->picture.steady;
    r->order = o->picture.order;
    r->slit = o->picture.slit;
    r->needs = 0;
    for (size_t k = 0; k < outputs->count; k++) {
        const struct output *output = &outputs->output[k];
        r->needs |= output->writer->modeless ? 0 : strips_need(output->strips);
        if (output->writer->table)
            r->needs |= csv_columns_need(&o->formats.csv_columns);
    }
    r->picture_width = o->picture.width;
    r->picture_height = o->picture.height;
    r->shape = o->picture.shape;
    r->smooth_us = o->picture.smooth_us;
    r->poster = outputs_are_posters(o);
    r->page = o->poster.page;
    r->dpi = o->poster.dpi;
    r->title = o->poster.title;
    r->csv_columns = &o->formats.csv_columns;
    r->style = o->poster.style;
}

void render_look_in_cache(struct render_job *j)
{
    const struct options *o = j->render->options;
    frame_cache_close(&j->cache);
    /* --verify must decode, and frames for previews alone serve no later run. */
    if (!o->film.verify && render_wants_columns(j))
        j->cache = frame_cache_open(&o->cache, j->render->inputs->path[j->input],
                                    j->render->inputs->parts[j->input]);
    frame_cache_look(j->cache, &j->ask);
    frame_cache_set_crop(j->cache, &j->report.crop);
    j->report.cache = frame_cache_state(j->cache);
}

static bool open_job(struct render_job *j, struct err *e)
{
    const struct options *o = j->render->options;
    const char *path = j->render->inputs->path[j->input];
    const struct film_parts *parts = j->render->inputs->parts[j->input];
    j->stamp = film_stamp(path, parts);
    if (!render_look_for_sound(j, e))
        return false;
    j->source = source_open_stream(path, parts, o->film.stream, render_sound_stream(j),
                                   o->film.keep_going, e);
    if (!j->source || !render_probe(j, e) || !render_decide_selection(j, e))
        return false;
    struct decode_progress size;
    source_progress(j->source, &size);
    j->total_bytes = size.total_bytes;
    /*
     * A film that can be read only once is decoded with exact_damage from the start, in case it is
     * damaged.
     */
    j->exact_damage = !source_can(j->source, SOURCE_RESTARTABLE);
    struct report *r = &j->report;
    const struct film *f = &j->source->film;
    size_resolve(&o->film.size, f->width, f->height, &r->width, &r->height);
    if (o->film.size.kind == SIZE_EXACT &&
        (r->width < o->film.size.width || r->height < o->film.size.height))
        render_warn(j,
                    "'%s' has frames of %dx%d, which --size %dx%d does not enlarge: the analysis "
                    "size is %dx%d",
                    path, f->width, f->height, o->film.size.width, o->film.size.height, r->width,
                    r->height);
    r->film = f;
    if (!film_id_of(path, f->parts, r->film_id, e)) {
        if (!o->film.keep_going)
            return false;
        render_warn(j, "%s", e->text); /* the film has no id */
        err_clear(e);
    }
    copy_options(r, o, &j->outputs);
    if ((r->needs & STRIP_SLIT) && !(j->slit = slit_line_open(&r->slit, r->width, r->height, e)))
        return false;
    r->slit_length = j->slit ? j->slit->length : 0;
    if (f->unknown_matrix[0])
        render_warn(j, "'%s': matrix '%s' is read as %s", path, f->unknown_matrix,
                    colour_matrix_name(f->matrix));
    if (!render_light(j, e))
        return false;
    render_crop_words(j);
    j->ask = (struct frame_cache_ask){
        .film = j->source,
        .selection = &r->selection,
        .width = r->width,
        .height = r->height,
        .crop = j->crop_words,
        .light = j->light_words,
        .decode = decode_is_device(o->film.decode) ? decode_word(o->film.decode) : "any",
        .decoder = o->film.decode == DECODE_CPU ? CACHE_BY_SOFTWARE_ALONE : CACHE_BY_GPU};
    if (!open_engine(j, e))
        return false;
    render_look_in_cache(j);
    return render_crop(j, e);
}

static void describe_decoding(struct render_job *j)
{
    const struct decode_counts *c = &j->report.counts;
    enum decode_choice choice = j->render->options->film.decode;
    const char *device = decode_device_word(choice);
    /*
     * Which decoder got a chunk is not deterministic, so it is not reported: automatic means both.
     */
    bool alone = decode_is_device(choice) && c->hardware == c->decoded;
    if (c->on_device || c->hardware > 0) {
        snprintf(j->decode, sizeof j->decode, "%s%s%s", device, alone ? "" : "+",
                 alone ? "" : decode_word(DECODE_CPU));
        j->report.decode = j->decode;
    }
    if (c->fallbacks > 0)
        log_msg(render_warning_level(j), "'%s': %" PRIu64 " %s workers decoded in software",
                j->report.film->path, c->fallbacks, device);
}

static void close_job(struct render_job *j)
{
    dump_discard(&j->dump);
    thumbs_free(&j->thumbs);
    previews_free(&j->previews);
    colour_histogram_free(&j->histogram);
    digest_free(&j->first);
    digest_free(&j->second);
    columns_free(&j->columns);
    frame_cache_close(&j->cache);
    source_close(&j->source);
    light_close(&j->light);
    film_sound_free(&j->sound.sound);
    slit_line_free(&j->slit);
    spectrum_free(&j->report.spectrum);
}

/*
 * Switches to the CPU after a GPU error (out of memory, lost device), unless the user demanded the
 * GPU. The CPU renders this film again and all later films. Returns false if there is no other
 * engine.
 */
static bool goes_on_without_gpu(const struct render *r, size_t i, const struct engine *gpu,
                                struct err *e)
{
    bool demanded = decode_is_device(r->options->film.decode); /* the device itself may be missing
                                                                */
    const char *next = e->code == ERR_ENGINE && !demanded ? engines_give_up(r->engines, gpu) : NULL;
    if (!next)
        return false;
    log_msg(LOG_WARNING, "%s: rendering '%s' again on %s", e->text, r->inputs->path[i], next);
    err_clear(e);
    return true;
}

/* Returns true if the film may be rendered again alone. A pipe that was inherited is read once. */
static bool may_repeat(const struct render *r, size_t i)
{
    return !r->alone && file_descriptor(r->inputs->path[i]) < 0;
}

bool render_again_alone(const struct render *r, size_t i, const struct err *e)
{
    return e->code == ERR_MEMORY && may_repeat(r, i);
}

/*
 * Fails with ERR_MEMORY if the process ran out of memory after err_memory_count returned `before`:
 * libav may take a failed allocation for damage. Other films may have run out of it: that fails no
 * film that can be read only once.
 */
static bool had_memory(const struct render *r, size_t i, uint64_t before, struct err *e)
{
    bool own = r->alone || may_repeat(r, i);
    if (!own || err_memory_count() <= before || interrupted() || e->code == ERR_MEMORY)
        return true;
    err_clear(e);
    return err_set(e, ERR_MEMORY, "out of memory while '%s' was being rendered",
                   r->inputs->path[i]);
}

/* Makes everything that is written of the film. */
static bool render_pictures(struct render_job *j, int64_t started, struct err *e)
{
    bool ok = open_job(j, e);
    j->report.times.start_up = clock_since(started) - j->report.times.waiting;
    ok = ok && render_decode(j, e);
    describe_decoding(j);
    return ok && render_sound(j, e) && render_assess(j, e);
}

const struct film_result film_no_result = {.seconds = -1, .columns = -1};

/* Returns what the report of the run tells of the film. */
static struct film_result result_of(const struct render_job *j, int64_t started)
{
    const struct report *r = &j->report;
    struct film_result result = {.written = j->written,
                                 .seconds = clock_since(started) - r->times.waiting,
                                 .columns = r->count > 0 ? (int64_t)r->count : -1,
                                 .warnings = r->warnings};
    memcpy(result.warning, r->warning, sizeof result.warning);
    return result;
}

bool render_film(const struct render *r, size_t i, struct film_result *result, struct err *e)
{
    struct render_job j = {.input = i};
    uint64_t refused = err_memory_count();
    int64_t first = clock_ns();
    bool ok;
    do {
        int64_t started = clock_ns();
        outputs_free(&j.outputs);
        j = (struct render_job){.render = r, .input = i};
        ok = outputs_of(r->options, r->inputs, i, &j.outputs, e);
        bool alone = ok && render_sound_alone(&j);
        ok = ok && (alone ? render_sound_only(&j, e) : render_pictures(&j, started, e));
        ok = had_memory(r, i, refused, e) && ok;
        ok = ok && render_write(&j, started, e);
        bool whole = (alone || render_is_whole(&j)) && render_sound_is_whole(&j);
        if (ok && r->options->outputs.strict && !whole)
            ok = err_set(e, ERR_FAILED, "'%s' decoded only in part (--strict)", r->inputs->path[i]);
        close_job(&j);
    } while (!ok && !watch_stopped() && goes_on_without_gpu(r, i, j.engine, e));
    struct err late = ERR_INIT; /* it was done before it was asked to end */
    bool stopped = watch_error(ok ? &late : e);
    if (!ok && (stopped || e->code == ERR_INTERRUPTED || e->code == ERR_MEMORY) &&
        !strstr(e->text, r->inputs->path[i]))
        err_prefix(e, "'%s'", r->inputs->path[i]);
    *result = result_of(&j, first);
    if (ok)
        log_msg(LOG_VERBOSE, "'%s' is done: %" PRIu64 " columns in %.1f s", r->inputs->path[i],
                j.report.count, result->seconds);
    outputs_free(&j.outputs);
    return ok;
}
