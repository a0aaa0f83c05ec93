#include "barcode/render.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "barcode/clock.h"
#include "barcode/colour.h"
#include "barcode/digest.h"
#include "barcode/dump.h"
#include "barcode/frame_cache.h"
#include "barcode/log.h"
#include "barcode/pass.h"
#include "barcode/writer.h"

/* One film on its way. */
struct job {
    const struct render *render;
    size_t input;
    struct source *source;
    struct engine *engine;           /* the engines' */
    struct report report;
    struct columns *columns;
    struct dump *dump;
    struct frame_cache *cache;       /* NULL: this film has none          */
    struct digest *first, *second;   /* --verify: the two ways of decoding */
    bool careful;                    /* see source.h                       */
    struct digest *digest;           /* the one being filled, or NULL      */
    uint64_t lost_to_end;            /* columns that a damaged or cut-off film does not have */
};

static void warn(struct job *j, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void warn(struct job *j, const char *format, ...)
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

static bool wants(const struct options *o, enum mode m)
{
    return o->stacked || o->mode[m];
}

/* ------------------------------------------------------------------ deciding */

/* Every 24th frame, but on a short film often enough for about 720 columns. */
static uint64_t decide_every(const struct selection *s, const struct film *f)
{
    enum { USUAL = 24, COLUMNS_WANTED = 720 };
    struct selection all = *s;
    all.every = 1;
    uint64_t frames = selection_estimate(&all, f->frames, f->duration_us);
    if (frames == 0)
        return USUAL;
    uint64_t every = frames / COLUMNS_WANTED;
    return every < 1 ? 1 : every > USUAL ? USUAL : every;
}

/* Does the rule need the film's real length before it is decoded? */
static bool needs_length(const struct selection *s, const struct film *f)
{
    enum { FINE_US = 10000 };        /* far below a frame's time: a wrong length hides millions of columns */
    if (!f->duration_guessed && f->duration_us > 0)
        return false;
    /* Columns are spread over the length: a wrong one would leave the film's end out, or give fewer columns. */
    return s->kind == SELECT_COLUMNS || (s->kind == SELECT_INTERVAL && s->interval_us < FINE_US);
}

static bool decide_selection(struct job *j, struct err *e)
{
    const struct film *f = &j->source->film;
    struct selection *s = &j->report.selection;
    *s = j->render->options->selection;
    if (needs_length(s, f)) {
        log_msg(LOG_VERBOSE, "'%s': how long it is can only be found by reading it", f->path);
        if (!source_measure(j->source, e))
            return false;
    }
    if (!f->duration_guessed && f->duration_us > 0 && s->start_us >= f->duration_us)
        return err_set(e, ERR_FAILED, "'%s' has no frame after --start: it is %.3f s long", f->path,
                       (double)f->duration_us / 1e6);
    if (s->kind == SELECT_COLUMNS && f->duration_us > 0 && s->end_us > f->duration_us)
        s->end_us = f->duration_us;
    if (s->kind == SELECT_INTERVAL && selection_estimate(s, f->frames, f->duration_us) > OPTION_COLUMNS_MOST)
        return err_set(e, ERR_USAGE, "'%s': --interval is too short: it asks for %" PRIu64 " columns, and %d are the most",
                       f->path, selection_estimate(s, f->frames, f->duration_us), OPTION_COLUMNS_MOST);
    if (s->kind == SELECT_EVERY && s->every == 0)
        s->every = decide_every(s, f);
    return true;
}

static void describe_film(struct job *j)
{
    const struct film *f = &j->source->film;
    log_msg(LOG_VERBOSE, "'%s': %s in %s, %dx%d %s, matrix %s%s, range %s%s, %d threads, %s", f->path, f->codec, f->container,
            f->width, f->height, f->pixel_format, colour_matrix_name(f->matrix), f->matrix_guessed ? " (guessed)" : "",
            colour_range_name(f->range), f->range_guessed ? " (guessed)" : "", j->render->threads,
            engine_detail(j->engine));
    if (f->unknown_matrix[0])
        warn(j, "'%s': matrix '%s' is read as %s", f->path, f->unknown_matrix, colour_matrix_name(f->matrix));
    if (f->transfer != TRANSFER_SDR)
        warn(j, "'%s' is HDR (%s): its colours are read without tone mapping and come out flat", f->path,
             f->transfer == TRANSFER_PQ ? "PQ" : "HLG");
}

/* What staging fills, empty; what was there is thrown away. */
static bool open_stores(struct job *j, struct err *e)
{
    const struct options *o = j->render->options;
    const struct report *r = &j->report;
    columns_free(&j->columns);
    dump_discard(&j->dump);
    digest_free(&j->first);
    digest_free(&j->second);
    j->columns = columns_open(r->clustered ? o->kmeans.k : 0, wants(o, MODE_DOWNSAMPLE) ? r->height : 0, e);
    if (j->columns && o->dump)
        j->dump = dump_open(o->dump, (size_t)r->width * (size_t)r->height * 3, e);
    if (!j->columns || (o->dump && !j->dump))
        return false;
    if (!o->verify)
        return true;
    j->first = digest_open(e);
    j->second = j->first ? digest_open(e) : NULL;
    j->digest = j->first;
    return j->second != NULL;
}

static bool choose_engine(struct job *j, struct err *e)
{
    const struct film *f = &j->source->film;
    struct selection all = {.kind = SELECT_EVERY, .every = 1, .start_us = j->report.selection.start_us,
                            .end_us = j->report.selection.end_us};
    struct engine_work work = {
        .frames = selection_estimate(&all, f->frames, f->duration_us), .width = f->width, .height = f->height,
        .columns = j->report.clustered ? selection_estimate(&j->report.selection, f->frames, f->duration_us) : 0,
        .staged_width = j->report.width, .staged_height = j->report.height,
    };
    j->engine = engines_for(j->render->engines, &work, e);
    return j->engine != NULL;
}

static bool open_job(struct job *j, struct err *e)
{
    const struct options *o = j->render->options;
    const char *path = j->render->inputs->path[j->input];
    if (!o->verify)                  /* which is about decoding */
        j->cache = frame_cache_open(&o->cache, path);
    j->source = source_open(path, e);
    if (!j->source || !decide_selection(j, e))
        return false;
    struct report *r = &j->report;
    const struct film *f = &j->source->film;
    size_resolve(&o->size, f->width, f->height, &r->width, &r->height);
    r->film = f;
    r->kmeans = o->kmeans;
    r->clustered = wants(o, MODE_KMEANS) || wants(o, MODE_PALETTE);
    r->picture_width = o->width;
    r->picture_height = o->height;
    if (!choose_engine(j, e))
        return false;
    r->engine = j->engine->ops->name;
    r->decode = "cpu";
    r->isa = engine_detail(j->engine);
    r->threads = j->render->threads;
    describe_film(j);
    struct frame_cache_ask ask = {.film = j->source, .selection = &r->selection, .width = r->width, .height = r->height,
                                  .threads = r->threads, .decode = o->decode == DECODE_NVDEC ? "nvdec" : "any",
                                  .decoder = o->decode == DECODE_CPU             ? CACHE_BY_SOFTWARE_ALONE
                                             : engine_device(j->engine).context ? CACHE_BY_GPU
                                                                                : CACHE_BY_SOFTWARE};
    frame_cache_look(j->cache, &ask);
    r->cache = frame_cache_state(j->cache);
    return open_stores(j, e);
}

/* ------------------------------------------------------------------ staging */

static bool on_staged(void *user, const struct frame_tag *tag, const uint8_t *rgb, struct err *e)
{
    struct job *j = user;
    size_t bytes = (size_t)j->report.width * (size_t)j->report.height * 3;
    bool judging = j->digest && j->digest == j->second;
    if (j->digest && !digest_put(j->digest, tag->column, rgb, bytes, e))
        return false;
    frame_cache_put(j->cache, tag, rgb);
    return !j->dump || judging || dump_put(j->dump, tag->column, tag->repeat, rgb, e);
}

/* What the progress line needs beside the state of the pass. */
struct shown {
    struct progress *progress;
    const struct film *film;
    uint64_t columns_total;          /* estimate, 0 unknown */
};

/* Once a pass is done the film is covered, even if its end was not needed. */
static void show_progress(void *user, const struct pass_state *now)
{
    const struct shown *shown = user;
    const struct film *f = shown->film;
    struct progress_state state = {
        .frames = now->film.frames, .frames_total = f->frames > 0 ? (uint64_t)f->frames : 0,
        .columns = now->columns, .columns_total = shown->columns_total, .share = -1,
    };
    if (state.frames_total > 0)
        state.share = (double)state.frames / (double)state.frames_total;
    else if (now->film.total_bytes > 0)
        state.share = (double)now->film.bytes / (double)now->film.total_bytes;
    if (state.share > 1 || (now->done && state.share >= 0))
        state.share = 1;
    progress_tick(shown->progress, &state);
}

static bool run_pass(struct job *j, enum decode_plan plan, struct columns *columns, struct stage_counts *counts,
                     struct stage_times *times, struct err *e)
{
    const struct options *o = j->render->options;
    const struct film *f = &j->source->film;
    bool judging = j->digest && j->digest == j->second;
    const char *slash = strrchr(f->path, '/');
    /* Without memory for a progress line the run is as good. */
    struct shown shown = {.progress = progress_open(o->progress, slash ? slash + 1 : f->path, NULL), .film = f,
                          .columns_total = selection_estimate(&j->report.selection, f->frames, f->duration_us)};
    struct pass pass = {
        .source = frame_cache_source(j->cache, j->source), .engine = j->engine, .selection = j->report.selection, .plan = plan,
        .decode = o->decode, .threads = j->render->threads, .careful = j->careful, .timetable = frame_cache_timetable(j->cache),
        .tick = shown.progress ? show_progress : NULL, .tick_user = &shown,
        .job = {.width = j->report.width, .height = j->report.height, .kmeans = o->kmeans, .columns = columns,
                .cluster = !judging && j->report.clustered,
                .rows = !judging && wants(o, MODE_DOWNSAMPLE),
                .tap = j->dump || j->digest || frame_cache_wants(j->cache) ? on_staged : NULL, .tap_user = j},
    };
    bool fine = pass_run(&pass, counts, times, e);
    progress_close(&shown.progress);
    return fine;
}

/*
 * Where damage shows, the two ways of decoding differ and neither is right: other pictures are there to conceal it with.
 * Returns how many columns are not to be compared.
 */
static uint64_t leave_out_damage(struct job *j, struct columns *other)
{
    uint64_t here = columns_count(j->columns), there = columns_count(other), left_out = 0;
    for (uint64_t i = 0; i < here || i < there; i++) {
        bool intact = (i >= here || columns_get(j->columns, i)->status == COLUMN_OK) &&
                      (i >= there || columns_get(other, i)->status == COLUMN_OK);
        if (intact)
            continue;
        digest_drop(j->first, i);
        digest_drop(j->second, i);
        left_out++;
    }
    return left_out;
}

/* Decodes once more, one picture after another in one decoder, and compares every staged frame. */
static bool verify(struct job *j, struct err *e)
{
    struct stage_counts counts;
    struct stage_times times = {0};
    uint64_t left_out = 0;
    do {
        struct columns *columns = columns_open(0, 0, e);
        digest_free(&j->second);
        j->digest = j->second = digest_open(e);
        bool fine = columns && j->second && run_pass(j, DECODE_SEQUENTIAL, columns, &counts, &times, e);
        left_out = fine && !counts.damage_found ? leave_out_damage(j, columns) : 0;
        columns_free(&columns);
        if (!fine)
            return false;
        j->careful |= counts.damage_found;
    } while (counts.damage_found);
    struct digest_result d = digest_compare(j->first, j->second);
    if (d.different > 0 || d.alone > 0)
        return err_set(e, ERR_FAILED, "'%s': --verify found %" PRIu64 " of %" PRIu64 " frames different (first: column %" PRIu64
                       ") and %" PRIu64 " that only one way of decoding gives",
                       j->source->film.path, d.different, d.both, d.first_difference, d.alone);
    char but[80] = "";
    if (left_out > 0)
        snprintf(but, sizeof but, ", but for %" PRIu64 " that damage shows in", left_out);
    log_msg(LOG_INFO, "'%s': --verify: all %" PRIu64 " frames are identical%s", j->source->film.path, d.both, but);
    return true;
}

/* Throws away what was staged so far. */
static bool start_over(struct job *j, struct err *e)
{
    struct report *r = &j->report;
    frame_cache_again(j->cache, &r->counts);
    r->cache = frame_cache_state(j->cache);
    return open_stores(j, e);
}

/* How loud it is said that software decodes: a warning for those alone who wanted something else. */
static enum log_level loudness(const struct job *j)
{
    return j->render->options->decode == DECODE_NVDEC ? LOG_WARNING : LOG_VERBOSE;
}

static bool stage(struct job *j, struct err *e)
{
    struct report *r = &j->report;
    const struct stage_counts *c = &r->counts;
    enum decode_plan plan = DECODE_PARALLEL;
    bool fine = run_pass(j, plan, j->columns, &r->counts, &r->times, e);
    /* Each of the reasons to start over comes once. */
    while (fine && stage_must_start_over(c)) {
        /* The film's frames are not those that its headers let expect: one decoder over everything counts what it gives. */
        if (c->contradicted) {
            log_msg(loudness(j),
                    "'%s': pictures come in another order than foreseen: decoding it again in one piece, in software",
                    r->film->path);
            plan = DECODE_SEQUENTIAL;
        }
        if (c->damage_found) {
            log_msg(LOG_VERBOSE, "'%s': the film is damaged: decoding it again on one core", r->film->path);
            j->careful = true;
        }
        fine = start_over(j, e) && run_pass(j, plan, j->columns, &r->counts, &r->times, e);
    }
    frame_cache_end(j->cache, j->columns, &r->counts, fine);
    return fine && (!j->render->options->verify || verify(j, e));
}

static void describe_decoding(struct job *j)
{
    const struct stage_counts *c = &j->report.counts;
    /* Which of the two sides got which runs is chance, and nothing to be told: automatic means both. */
    bool alone = j->render->options->decode == DECODE_NVDEC && c->hardware == c->decoded;
    if (c->nvdec || c->hardware > 0)
        j->report.decode = alone ? "nvdec" : "nvdec+cpu";
    if (c->fallbacks > 0)
        log_msg(loudness(j),
                "'%s': %" PRIu64 " NVDEC sessions decoded in software", j->report.film->path, c->fallbacks);
}

/* ------------------------------------------------------------------ judging what came */

/* Is the film over long before the container says? A guess at its length proves nothing. */
static bool ends_early(const struct film *f, const struct selection *s, int64_t last_us)
{
    int64_t end = s->end_us < f->duration_us ? s->end_us : f->duration_us;
    int64_t slack = f->duration_us / 100 > 2000000 ? f->duration_us / 100 : 2000000;
    return f->duration_us > 0 && !f->duration_guessed && end - last_us > slack;
}

/* A film that stops long before its announced end was cut off; one whose container is damaged may lack pieces inside. */
static void judge_end(struct job *j)
{
    const struct film *f = &j->source->film;
    const struct stage_counts *c = &j->report.counts;
    const struct selection *s = &j->report.selection;
    bool asked = s->kind == SELECT_COLUMNS;
    uint64_t expected = f->duration_us > 0 ? selection_estimate(s, f->frames, f->duration_us) : 0;
    uint64_t short_by = expected > j->report.count ? expected - j->report.count : 0;
    bool early = ends_early(f, s, c->last_us);
    if (early || c->read_failed || asked)
        j->lost_to_end = short_by;
    if (early)
        warn(j, "'%s' stops at %.1f s of %.1f s: about %" PRIu64 " of %" PRIu64 " columns are missing", f->path,
             c->last_us < 0 ? 0.0 : (double)c->last_us / 1e6, (double)f->duration_us / 1e6, short_by, expected);
    else if (c->read_failed)
        warn(j, "'%s': the file is damaged: about %" PRIu64 " of %" PRIu64 " columns are missing", f->path, short_by,
             expected > j->report.count ? expected : j->report.count);
    else if (asked && short_by > 0)
        warn(j, "'%s' gives only %" PRIu64 " of the %" PRIu64 " columns asked for", f->path, j->report.count, expected);
}

static uint64_t damaged_columns(const struct columns *c, uint64_t count)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < count; i++)
        n += columns_get(c, i)->status == COLUMN_DAMAGED;
    return n;
}

static bool judge(struct job *j, struct err *e)
{
    struct report *r = &j->report;
    const char *path = r->film->path;
    uint64_t announced = columns_count(j->columns), cut;
    uint64_t inside = columns_finish(j->columns, &cut);
    r->columns = j->columns;
    r->count = columns_count(j->columns);
    if (r->count == 0 && announced == 0 && r->counts.displayed > 0)
        return err_set(e, ERR_FAILED, "no frame of '%s' is selected: --start, --end or the interval leave none", path);
    if (r->count == 0)
        return err_set(e, ERR_INPUT, "no picture of '%s' could be decoded", path);
    if (inside + cut > 0)
        warn(j, "'%s': %" PRIu64 " of %" PRIu64 " columns are missing, their pictures could not be decoded", path,
             inside + cut, announced);
    uint64_t damaged = damaged_columns(j->columns, r->count);
    if (damaged > 0)
        warn(j, "'%s': %" PRIu64 " of %" PRIu64 " columns come from damaged pictures", path, damaged, r->count);
    if (r->counts.decode_errors > 0 && inside + cut + r->counts.damaged == 0)
        warn(j, "'%s': the decoder found %" PRIu64 " of %" PRIu64 " packets damaged", path, r->counts.decode_errors,
             r->counts.packets);
    judge_end(j);
    r->missing = inside + cut + j->lost_to_end;
    return true;
}

static bool is_whole(const struct job *j)
{
    const struct stage_counts *c = &j->report.counts;
    return j->report.missing == 0 && c->damaged == 0 && c->decode_errors == 0 && !c->read_failed;
}

/* ------------------------------------------------------------------ writing */

static void say_written(const struct job *j, const char *path)
{
    if (strcmp(path, "-") != 0)
        log_msg(LOG_INFO, "wrote '%s': %" PRIu64 " column%s", path, j->report.count, j->report.count == 1 ? "" : "s");
}

static bool write_picture(struct job *j, enum mode m, struct err *e)
{
    const struct options *o = j->render->options;
    char *path = inputs_output(o, j->render->inputs, j->input, m, e);
    if (!path)
        return false;
    bool fine = writer_save(&writer_png, &j->report, m, o->stacked, path, e);
    if (fine)
        say_written(j, path);
    free(path);
    return fine;
}

static bool write_all(struct job *j, int64_t started, struct err *e)
{
    const struct options *o = j->render->options;
    int64_t before = clock_ns();
    for (enum mode m = 0; m < MODE_COUNT; m++)
        if ((o->stacked ? m == 0 : o->mode[m]) && !write_picture(j, m, e))
            return false;
    if (j->dump) {
        if (!dump_commit(&j->dump, j->report.count, e))
            return false;
        say_written(j, o->dump);
    }
    j->report.times.write = (double)(clock_ns() - before) / 1e9;
    j->report.times.wall = (double)(clock_ns() - started) / 1e9;
    if (o->json) {
        if (!writer_save(&writer_json, &j->report, 0, false, o->json, e))
            return false;
        say_written(j, o->json);
    }
    return !o->bench || writer_save(&writer_bench, &j->report, 0, false, "-", e);
}

static bool render_once(const struct render *r, size_t i, struct err *e)
{
    int64_t started = clock_ns();
    struct job j = {.render = r, .input = i};
    bool fine = open_job(&j, e);
    j.report.times.start_up = (double)(clock_ns() - started) / 1e9;
    fine = fine && stage(&j, e);
    describe_decoding(&j);
    fine = fine && judge(&j, e) && write_all(&j, started, e);
    if (fine && r->options->strict && !is_whole(&j))
        fine = err_set(e, ERR_FAILED, "'%s' decoded only in part (--strict)", r->inputs->path[i]);
    if (!fine && e->code == ERR_INTERRUPTED)
        err_prefix(e, "'%s'", r->inputs->path[i]);
    dump_discard(&j.dump);
    digest_free(&j.first);
    digest_free(&j.second);
    columns_free(&j.columns);
    frame_cache_close(&j.cache);
    source_close(&j.source);
    return fine;
}

bool render_film(const struct render *r, size_t i, struct err *e)
{
    if (render_once(r, i, e))
        return true;
    /* A GPU that nobody demanded may fail: memory, a lost device. The processor does the film again, and those behind. */
    bool demanded = r->options->decode == DECODE_NVDEC;      /* and it may be this that is not there */
    if (e->code != ERR_ENGINE || demanded || !engines_give_up_cuda(r->engines))
        return false;
    log_msg(LOG_WARNING, "%s: '%s' is done again on the CPU", e->text, r->inputs->path[i]);
    err_clear(e);
    return render_once(r, i, e);
}
