/* job_open.c - what is read of a film before it is decoded, and what is decided by that. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "barcode/base/clock.h"
#include "barcode/engine/colour.h"
#include "base/admission.h"
#include "base/film_id.h"
#include "media/source.h"
#include "output/poster/poster.h"
#include "phases.h"

void job_warn(struct report *r, const char *format, ...)
{
    char *text = r->run.warning[r->run.warnings];
    va_list args;
    if (r->run.warnings == REPORT_WARNINGS)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof r->run.warning[0], format, args);
    va_end(args);
    r->run.warnings++;
    log_msg(LOG_WARNING, "%s", text);
}

/* ---- Facts that the headers lack ---- */

/*
 * Returns true if the default depends on the number of frames and the container does not declare
 * it, as in raw streams. A huge film is unlikely to have few frames, so it is not counted.
 */
static bool worth_counting(struct source *source, const struct selection *s)
{
    const uint64_t huge = UINT64_C(1) << 30;
    const struct film *f = &source->film;
    struct decode_progress size;
    source_progress(source, &size);
    return s->kind == SELECT_EVERY && s->every == 0 && f->length.frames <= 0 &&
           source_can(source, SOURCE_RESTARTABLE) && size.total_bytes > 0 &&
           size.total_bytes <= huge;
}

/*
 * Returns true if key frames must be counted for the default of one column each. Without an index,
 * as in MPEG-TS, that means reading the film, which is done up to `large` bytes.
 */
static bool worth_counting_keys(struct source *source, const struct selection *s)
{
    const uint64_t large = UINT64_C(1) << 30;
    struct decode_progress size;
    source_progress(source, &size);
    return s->keyframes && s->kind == SELECT_EVERY && s->every == 0 &&
           source_can(source, SOURCE_RESTARTABLE) &&
           (source->film.lists_key_frames || (size.total_bytes > 0 && size.total_bytes <= large));
}

/* Returns true if the selection needs the film's real length before it is decoded. */
static bool needs_length(struct source *source, const struct selection *s)
{
    /* far below a frame's time, where a wrong length would hide millions of columns */
    enum { FINE_US = 10000 };
    const struct film *f = &source->film;
    if (!s->keyframes && worth_counting(source, s))
        return true;
    if (f->length.source < LENGTH_INDEX && s->start_us >= film_length_end(&f->length))
        return true;
    if (f->length.source > LENGTH_ESTIMATE)
        return false;
    /*
     * --columns is spread over the length. A wrong length would omit the film's end or give fewer
     * columns.
     */
    return s->kind == SELECT_COLUMNS || (s->kind == SELECT_INTERVAL && s->interval_us < FINE_US);
}

/* Rejects a pipe if the film must be read more than once. */
static bool check_pipe(const struct job_order *order, const struct job_film *film, bool length,
                       struct err *e)
{
    const struct plan *plan = order->plan;
    const struct film *f = &film->source->film;
    const char *path = f->path;
    const char *what = "so short an --interval";
    if (plan->film.selection.kind == SELECT_COLUMNS)
        what = "--columns";
    else if (plan->film.selection.start_us >= film_length_end(&f->length))
        what = "--start behind its declared end";
    if (plan->film.verify)
        return err_set(
            e, ERR_INPUT,
            "'%s': --verify decodes a film twice, and a pipe can be read only once: give a file",
            path);
    if (!length)
        return true;
    return err_set(
        e, ERR_INPUT,
        "'%s': %s needs the film's length, and a pipe can be read only once: give a file", path,
        what);
}

bool job_probe(const struct job_order *order, struct job_film *film, struct err *e)
{
    const struct film *f = &film->source->film;
    struct probe_request request = {.want = 0};
    struct probe_facts facts;
    if (needs_length(film->source, &order->plan->film.selection)) {
        log_msg(LOG_VERBOSE, "'%s': reading the film to find its length", f->path);
        request.want |= PROBE_LENGTH;
    }
    /*
     * Streams of other lengths are usual in Matroska. If the guess is wrong, the film is decoded
     * twice.
     */
    bool again = source_can(film->source, SOURCE_RESTARTABLE);
    if (again && f->length.source == LENGTH_CONTAINER && f->lists_key_frames)
        request.want |= PROBE_END;
    if (worth_counting_keys(film->source, &order->plan->film.selection))
        request.want |= PROBE_KEYS;
    if (!again && !check_pipe(order, film, request.want & PROBE_LENGTH, e))
        return false;
    bool ok = source_probe(film->source, &request, &facts, e);
    film->keys = ok && facts.found & PROBE_KEYS ? facts.keys : 0;
    return ok;
}

/* ---- Selection and picture ---- */

enum {
    COLUMNS_MOST = PICTURE_LONG, /* of the default selection, if the number of frames is known */
    EVERY_UNKNOWN = 24           /* if the number of frames is unknown */
};

bool job_is_default(const struct selection *asked)
{
    return asked->kind == SELECT_EVERY && asked->every == 0;
}

/* Returns how many of length->frames are inside start..end; 0 if unknown. */
static uint64_t frames_inside(const struct selection *s, const struct film_length *length)
{
    struct selection all = {
        .kind = SELECT_EVERY, .every = 1, .start_us = s->start_us, .end_us = s->end_us};
    return selection_estimate(&all, length);
}

uint64_t job_default_every(const struct selection *s, const struct film_length *length)
{
    uint64_t frames = frames_inside(s, length);
    if (frames == 0)
        return EVERY_UNKNOWN;
    uint64_t nearest = (frames + JOB_COLUMNS / 2) / JOB_COLUMNS,
             least = (frames + COLUMNS_MOST - 1) / COLUMNS_MOST;
    return nearest > least ? nearest : least;
}

/*
 * Sets the default selection of --keyframes: a column per key frame, but no more than a wide
 * picture needs. If the key frames were not counted, the duration gives the interval, also an
 * estimated one. Without any duration every 24th frame's time is used.
 */
static void decide_key_columns(struct selection *s, const struct film *f, int64_t keys,
                               uint64_t most)
{
    const struct film_length *l = &f->length;
    int64_t film_end = film_length_end(l), end = s->end_us < film_end ? s->end_us : film_end;
    int64_t start = s->start_us > l->start_us ? s->start_us : l->start_us;
    if (keys > 0 && l->duration_us > 0) {
        struct film_length counted = *l;
        counted.frames = keys;
        uint64_t inside = frames_inside(s, &counted);
        s->kind = SELECT_COLUMNS;
        s->columns = inside < JOB_COLUMNS ? inside : JOB_COLUMNS;
        s->columns = s->columns < most ? s->columns : most;
        s->columns = s->columns > 1 ? s->columns : 1;
    } else if (l->duration_us > 0 && end > start) {
        s->kind = SELECT_INTERVAL;
        s->interval_us = (end - start + JOB_COLUMNS - 1) / JOB_COLUMNS;
    } else {
        s->every = EVERY_UNKNOWN;
    }
}

/* Returns the time of `every` frames, which replaces --every with --keyframes. */
static int64_t every_us(uint64_t every, const struct film *f)
{
    const int64_t unknown_us = 40000, longest_us = INT64_MAX / 4;
    double us = f->rate_num > 0 ? 1e6 * (double)every * (double)f->rate_den / (double)f->rate_num
                                : (double)every * unknown_us;
    if (us < 1)
        return 1;
    return us > (double)longest_us ? longest_us : (int64_t)(us + 0.5);
}

/*
 * Returns the maximum number of columns. If each column is a pixel, the picture's size limits them.
 */
static uint64_t columns_most(const struct picture_options *o)
{
    uint64_t each = (uint64_t)o->height * (o->stacked ? o->strips : 1);
    uint64_t fit = o->width > 0 || each == 0 ? UINT64_MAX : PAINT_PIXELS_MOST / each;
    return fit < FILM_COLUMNS_MOST ? fit : FILM_COLUMNS_MOST;
}

bool job_is_short(const struct film *f)
{
    return f->length.source < LENGTH_PACKETS && film_length_is_short(&f->length);
}

/* Sets what the outputs beside the film need; without other outputs they decide everything. */
static void decide_previews(const struct job_order *order, struct report *r)
{
    struct selection *s = &r->analysis.selection;
    if (!order->needs->sheets && !order->needs->singles)
        return;
    s->preview_us = r->media.preview_us = order->plan->formats.previews.interval_us;
    if (order->needs->columns)
        return;
    s->kind = SELECT_INTERVAL;
    s->interval_us = s->preview_us;
    s->start_us = 0;
    s->end_us = INT64_MAX;
}

/* Returns how many frames are displayed in that time, rounded down, at least 1. */
static uint64_t frames_in(const struct film *f, int64_t us)
{
    int64_t frame_us = film_frame_us(f);
    return us > frame_us ? (uint64_t)(us / frame_us) : 1;
}

bool job_decide_selection(const struct job_order *order, const struct job_film *film,
                          struct report *r, struct err *e)
{
    const struct film *f = &film->source->film;
    struct selection *s = &r->analysis.selection;
    *s = order->plan->film.selection;
    s->scan_end_us = order->needs->shots && !film->scan_cached ? s->end_us : 0;
    decide_previews(order, r);
    int64_t end = film_length_end(&f->length);
    if (f->length.source >= LENGTH_INDEX && s->start_us >= end)
        return err_set(e, ERR_FAILED, "'%s' has no frame after --start: it ends at %.3f s", f->path,
                       (double)end / 1e6);
    if (s->kind == SELECT_INTERVAL &&
        selection_estimate(s, &f->length) > columns_most(&order->plan->picture))
        return err_set(e, ERR_USAGE,
                       "'%s': --interval is too short: it gives %" PRIu64
                       " columns, but at most %" PRIu64 " are possible",
                       f->path, selection_estimate(s, &f->length),
                       columns_most(&order->plan->picture));
    /* previews alone have set another kind */
    bool usual = job_is_default(&order->plan->film.selection) && s->kind == SELECT_EVERY;
    if (usual && s->keyframes)
        decide_key_columns(s, f, film->keys, columns_most(&order->plan->picture));
    else if (usual && order->plan->film.by_shot)
        s->every = frames_in(f, SHOT_LEAST_US);
    else if (usual)
        s->every = job_default_every(s, &f->length);
    if (usual && !s->keyframes && !order->plan->film.by_shot && f->length.frames <= 0)
        log_msg(LOG_INFO,
                "'%s' does not declare its length: using every %" PRIu64
                "th frame (-n N changes that)",
                f->path, s->every);
    if (s->kind == SELECT_EVERY && s->keyframes)
        s->interval_us = every_us(s->every, f);
    if (s->kind == SELECT_COLUMNS && s->end_us >= end) {
        s->end_us = end;
        s->to_film_end = f->length.source < LENGTH_INDEX || job_is_short(f);
    }
    return true;
}

void job_decide_width(const struct plan *plan, struct report *r)
{
    int *along = r->picture.shape == SHAPE_VERTICAL ? &r->picture.height : &r->picture.width;
    bool stacked = plan->picture.stacked;
    uint64_t most = stacked ? JOB_COLUMNS : COLUMNS_MOST;
    if (*along > 0 || (!job_is_default(&plan->film.selection) && !r->analysis.by_shot))
        return;
    const bool by_time = r->analysis.by_shot && !r->picture.shots_equal;
    if (r->count > most || by_time)
        *along = JOB_COLUMNS;
    else if (picture_repeats(r->count) > 1)
        *along = (int)(picture_repeats(r->count) * r->count);
}

/* ---- Light ---- */

/*
 * Probes the film's HDR peak: metadata, also of the first frame. A pipe cannot be probed before it
 * is decoded.
 */
static bool probe_light(const struct job_film *film, struct report *r, struct err *e)
{
    const struct film *f = &film->source->film;
    struct probe_request request = {.want = PROBE_LIGHT};
    struct probe_facts facts;
    if (source_can(film->source, SOURCE_RESTARTABLE))
        return source_probe(film->source, &request, &facts, e);
    job_warn(
        r,
        "'%s' is HDR, and its peak cannot be probed in a pipe: assuming %d cd/m2 (see --hdr-peak)",
        f->path, LIGHT_PEAK_USUAL);
    return true;
}

static void log_light(const struct job_order *order, const struct job_film *film, struct report *r)
{
    const struct film *f = &film->source->film;
    const struct light_rule *rule = &r->analysis.light;
    const char *kind = f->transfer == TRANSFER_PQ ? "PQ" : "HLG";
    if (f->dolby_vision > 0)
        job_warn(
            r, "'%s' is Dolby Vision profile %d, which is not supported: its colours will be wrong",
            f->path, f->dolby_vision);
    if (f->transfer != TRANSFER_SDR && rule->map == TONE_OFF)
        log_msg(LOG_VERBOSE,
                "'%s' is HDR (%s) and read without tone mapping: its colours will look flat",
                f->path, kind);
    else if (f->transfer != TRANSFER_SDR)
        log_msg(LOG_VERBOSE, "'%s' is HDR (%s), mapped to SDR by %s from %d cd/m2%s", f->path, kind,
                light_map_name(rule->map), rule->peak,
                f->transfer == TRANSFER_HLG || f->peak > 0 || order->plan->film.light.peak > 0
                    ? ""
                    : " (guessed: not in the metadata)");
    if (r->analysis.primaries)
        log_msg(LOG_VERBOSE, "'%s': primaries %s are converted to bt709", f->path,
                r->analysis.primaries);
}

/* Returns report.primaries. */
static const char *unusual_primaries(const struct film *f, enum tone_map map)
{
    bool hdr = f->transfer != TRANSFER_SDR,
         converted = f->primaries != PRIMARIES_BT709 && !(hdr && map == TONE_OFF),
         usual = hdr && f->primaries == PRIMARIES_BT2020;
    return converted && !usual ? light_primaries_name(f->primaries) : NULL;
}

/* Fills film->light_words. */
static void describe_light(const struct light_rule *asked, struct job_film *film,
                           const struct report *r)
{
    const struct light_rule *rule = &r->analysis.light;
    bool usual = film->source->film.transfer == TRANSFER_SDR && rule->map == TONE_BT2390 &&
                 asked->peak == 0 && !rule->linear;
    const char *primaries = r->analysis.primaries;
    if (!usual || primaries)
        snprintf(film->light_words, sizeof film->light_words, "%s %d%s%s%s",
                 light_map_name(rule->map), rule->peak, rule->linear ? " linear" : "",
                 primaries ? " " : "", primaries ? primaries : "");
}

/*
 * Decides on tone mapping, primaries and --light linear: sets light, primaries and means of the
 * report, and the film's. Probes a PQ film that does not declare its peak.
 */
static bool decide_light(const struct job_order *order, struct job_film *film, struct report *r,
                         struct err *e)
{
    const struct film *f = &film->source->film;
    struct light_rule *rule = &r->analysis.light;
    *rule = order->plan->film.light;
    if (f->transfer == TRANSFER_PQ && rule->map != TONE_OFF && rule->peak == 0 && f->peak == 0 &&
        !probe_light(film, r, e))
        return false;
    rule->peak = light_peak(rule, f->transfer, f->peak);
    r->analysis.primaries = unusual_primaries(f, rule->map);
    describe_light(&order->plan->film.light, film, r);
    log_light(order, film, r);
    film->light = light_open(&order->plan->film.light, f->peak, e);
    if (!film->light || !rule->linear)
        return film->light != NULL;
    r->analysis.means = light_table(film->light, TRANSFER_SDR, e);
    return r->analysis.means != NULL;
}

/* ---- Crop ---- */

static void log_crop(const struct job_film *film, const struct crop *t,
                     const struct probe_facts *facts)
{
    const struct film *f = &film->source->film;
    for (int i = 0; i < t->count; i++) {
        char text[CROP_TEXT];
        crop_shown_text(t, i, f->orientation, text);
        log_msg(LOG_VERBOSE, "'%s': cropped to %s of %dx%d%s", f->path, text, f->width, f->height,
                t->forced ? ", by --crop, in frames of that size" : ", where the bars are black");
    }
    if (facts && facts->found & PROBE_BARS)
        log_msg(LOG_VERBOSE, "'%s': crop detection: sampled %d frames, %d conclusive", f->path,
                facts->sampled, facts->conclusive);
}

/*
 * Detects black bars. At most max_concurrent_probes films do so at a time: each has up to
 * PROBE_THREADS decoders, and those of all film workers at once would fill the memory.
 */
static bool probe_bars(const struct job_order *order, const struct job_film *film, struct report *r,
                       struct probe_facts *facts, struct err *e)
{
    struct admission_ticket ticket = {.admission = order->context->probe_admission};
    struct probe_request request = {.want = PROBE_BARS, .threads = order->context->threads};
    int64_t came = clock_ns();
    if (!admission_enter(&ticket, e))
        return false;
    r->run.times.waiting += clock_since(came);
    bool ok = source_probe(film->source, &request, facts, e);
    admission_release(&ticket);
    return ok;
}

static bool detect_crop(const struct job_order *order, const struct job_film *film,
                        struct report *r, struct err *e)
{
    struct probe_facts facts = {.found = 0};
    if (!source_can(film->source, SOURCE_RESTARTABLE))
        log_msg(LOG_VERBOSE, "'%s': no crop detection in a pipe", film->source->film.path);
    else if (!probe_bars(order, film, r, &facts, e))
        return false;
    r->analysis.crop = facts.crop;
    log_crop(film, &r->analysis.crop, &facts);
    return true;
}

bool job_decide_crop(const struct job_order *order, const struct job_film *film,
                     struct frame_cache *cache, struct report *r, struct err *e)
{
    if (!order->needs->columns)
        return true; /* previews show the complete frame */
    const struct crop_rule *rule = &order->plan->film.crop;
    const struct film *f = &film->source->film;
    if (!crop_check(rule, f->width, f->height, e))
        return err_prefix(e, "'%s'", f->path);
    const int width = film_frame_width(f), height = film_frame_height(f);
    if (rule->kind == CROP_RECT)
        r->analysis.crop = (struct crop){
            width, height, 1, true, {crop_to_decoded(rule->rect, f->orientation, width, height)}};
    if (rule->kind == CROP_RECT ||
        (rule->kind == CROP_AUTO && frame_cache_crop(cache, &r->analysis.crop)))
        log_crop(film, &r->analysis.crop, NULL);
    else if (rule->kind == CROP_AUTO && !detect_crop(order, film, r, e))
        return false;
    frame_cache_set_crop(cache, &r->analysis.crop);
    return true;
}

/* ---- The film ---- */

/* Chooses the engine and sets ask.decoder and ask.threads. */
static bool open_engine(const struct job_order *order, struct job_film *film, struct report *r,
                        struct err *e)
{
    const struct film *f = &film->source->film;
    const struct report_analysis *a = &r->analysis;
    const int threads = order->context->threads;
    struct frame_cache_ask *ask = &film->ask;
    const struct engine_work work = {
        .frames = frames_inside(&a->selection, &f->length),
        .width = f->width,
        .height = f->height,
        .columns = a->needs & STRIP_CLUSTERS ? selection_estimate(&a->selection, &f->length) : 0,
        .analysis_width = a->width,
        .analysis_height = a->height,
    };
    film->engine = engines_for(order->context->engines, &work, e);
    if (!film->engine)
        return false;
    if (ask->decoder == CACHE_BY_GPU && !engine_device(film->engine).context)
        ask->decoder = CACHE_BY_SOFTWARE;
    ask->threads = r->run.threads = threads;
    r->run.engine = film->engine->ops->name;
    r->run.isa = engine_detail(film->engine);
    r->run.decode = decode_word(DECODE_CPU);
    if (f->width == 0)
        return true;
    log_msg(LOG_VERBOSE, "'%s': %s in %s, %dx%d %s, matrix %s%s, range %s%s, %d threads, %s",
            f->path, f->codec, f->container, f->width, f->height, f->pixel_format,
            colour_matrix_name(f->matrix), f->matrix_guessed ? " (guessed)" : "",
            colour_range_name(f->range), f->range_guessed ? " (guessed)" : "", threads, r->run.isa);
    return true;
}

void job_look_in_cache(const struct job_order *order, const struct job_film *film,
                       struct job_stores *s, struct report *r)
{
    const struct plan *plan = order->plan;
    frame_cache_close(&s->cache);
    /* --verify must decode, and frames for previews alone serve no later run. */
    if (!plan->film.verify && order->needs->columns)
        s->cache = frame_cache_open(&plan->cache, order->path, order->parts);
    frame_cache_look(s->cache, &film->ask);
    frame_cache_set_crop(s->cache, &r->analysis.crop);
    r->run.cache = frame_cache_state(s->cache);
}

/* Sets the analysis size. */
static void decide_size(const struct job_order *order, const struct film *f, struct report *r)
{
    const struct size_rule *size = &order->plan->film.size;
    if (f->width == 0) { /* it is sound alone */
        r->analysis.width = r->analysis.height = 1;
        return;
    }
    size_resolve(size, f->width, f->height, &r->analysis.width, &r->analysis.height);
    if (size->kind == SIZE_EXACT &&
        (r->analysis.width < size->width || r->analysis.height < size->height))
        job_warn(r,
                 "'%s' has frames of %dx%d, which --size %dx%d does not enlarge: the analysis "
                 "size is %dx%d",
                 order->path, f->width, f->height, size->width, size->height, r->analysis.width,
                 r->analysis.height);
}

/* Sets the film's id. With --keep-going a film that cannot be read has none. */
static bool identify_film(const struct job_order *order, const struct film *f, struct report *r,
                          struct err *e)
{
    if (film_id_of(order->path, f->parts, r->id.film_id, e))
        return true;
    if (!order->plan->film.keep_going)
        return false;
    job_warn(r, "%s", e->text);
    err_clear(e);
    return true;
}

bool job_decide(const struct job_order *order, struct job_film *film, struct report *r,
                struct err *e)
{
    const struct plan *plan = order->plan;
    const struct film *f = &film->source->film;
    struct decode_progress size;
    r->film = f;
    r->name = inputs_table_name(&plan->inputs, order->path);
    if (!job_decide_selection(order, film, r, e))
        return false;
    source_progress(film->source, &size);
    film->total_bytes = size.total_bytes;
    decide_size(order, f, r);
    if (!identify_film(order, f, r, e))
        return false;
    r->analysis.kmeans = plan->kmeans;
    r->analysis.needs = order->needs->strips;
    r->picture = plan->picture;
    r->poster = plan->poster;
    r->poster.wanted = order->context->outputs->posters;
    r->csv_columns = &plan->formats.csv_columns;
    r->drop_frame = plan->formats.drop_frame;
    if ((r->analysis.needs & STRIP_SLIT) &&
        !(film->slit = slit_line_open(&r->picture.slit, r->analysis.width, r->analysis.height, e)))
        return false;
    r->analysis.slit_length = film->slit ? film->slit->length : 0;
    if (f->unknown_matrix[0])
        job_warn(r, "'%s': matrix '%s' is read as %s", order->path, f->unknown_matrix,
                 colour_matrix_name(f->matrix));
    if (!decide_light(order, film, r, e))
        return false;
    if (plan->film.crop.kind == CROP_AUTO)
        strcpy(film->crop_words, "auto");
    else if (plan->film.crop.kind == CROP_RECT)
        crop_text(&plan->film.crop.rect, film->crop_words);
    film->ask = (struct frame_cache_ask){
        .film = film->source,
        .selection = &r->analysis.selection,
        .width = r->analysis.width,
        .height = r->analysis.height,
        .crop = film->crop_words,
        .light = film->light_words,
        .decode = decode_is_device(plan->film.decode) ? decode_word(plan->film.decode) : "any",
        .decoder = plan->film.decode == DECODE_CPU ? CACHE_BY_SOFTWARE_ALONE : CACHE_BY_GPU};
    return open_engine(order, film, r, e);
}

bool job_film_changed(const struct job_order *order, const struct job_film *film)
{
    return film->stamp != 0 && film_stamp(order->path, order->parts) != film->stamp;
}

void job_close_film(struct job_film *film)
{
    source_close(&film->source);
    light_close(&film->light);
    slit_line_free(&film->slit);
}
