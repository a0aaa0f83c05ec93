#include <stdio.h>

#include "barcode/base/clock.h"
#include "base/admission.h"
#include "render_job.h"

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

/* Returns true if a pipe can be used: the film need be read only once. */
static bool one_reading_will_do(const struct render_job *j, bool length, struct err *e)
{
    const struct options *o = j->render->options;
    const struct film *f = &j->source->film;
    const char *path = f->path;
    const char *what = o->film.selection.kind == SELECT_COLUMNS ? "--columns"
                       : o->film.selection.start_us >= film_length_end(&f->length)
                           ? "--start behind its declared end"
                           : "so short an --interval";
    if (o->film.verify)
        return err_set(
            e, ERR_INPUT,
            "'%s': --verify decodes a film twice, and a pipe can be read only once: give a file",
            path);
    return !length ||
           err_set(
               e, ERR_INPUT,
               "'%s': %s needs the film's length, and a pipe can be read only once: give a file",
               path, what);
}

bool render_probe(struct render_job *j, struct err *e)
{
    const struct film *f = &j->source->film;
    struct probe_request request = {.want = 0};
    struct probe_facts facts;
    if (needs_length(j->source, &j->render->options->film.selection)) {
        log_msg(LOG_VERBOSE, "'%s': reading the film to find its length", f->path);
        request.want |= PROBE_LENGTH;
    }
    /*
     * Streams of other lengths are usual in Matroska. If the guess is wrong, the film is decoded
     * twice.
     */
    bool again = source_can(j->source, SOURCE_RESTARTABLE);
    if (again && f->length.source == LENGTH_CONTAINER && f->lists_key_frames)
        request.want |= PROBE_END;
    if (worth_counting_keys(j->source, &j->render->options->film.selection))
        request.want |= PROBE_KEYS;
    if (!again && !one_reading_will_do(j, request.want & PROBE_LENGTH, e))
        return false;
    bool ok = source_probe(j->source, &request, &facts, e);
    j->keys = ok && facts.found & PROBE_KEYS ? facts.keys : 0;
    return ok;
}

/*
 * Probes the film's HDR peak: metadata, also of the first frame. A pipe cannot be probed before it
 * is decoded.
 */
static bool look_for_light(struct render_job *j, struct err *e)
{
    const struct film *f = &j->source->film;
    struct probe_request request = {.want = PROBE_LIGHT};
    struct probe_facts facts;
    if (source_can(j->source, SOURCE_RESTARTABLE))
        return source_probe(j->source, &request, &facts, e);
    render_warn(
        j,
        "'%s' is HDR, and its peak cannot be probed in a pipe: assuming %d cd/m2 (see --hdr-peak)",
        f->path, LIGHT_PEAK_USUAL);
    return true;
}

static void log_light(struct render_job *j)
{
    const struct film *f = &j->source->film;
    const struct light_rule *rule = &j->report.light;
    const char *kind = f->transfer == TRANSFER_PQ ? "PQ" : "HLG";
    if (f->dolby_vision > 0)
        render_warn(
            j, "'%s' is Dolby Vision profile %d, which is not supported: its colours will be wrong",
            f->path, f->dolby_vision);
    if (f->transfer != TRANSFER_SDR && rule->map == TONE_OFF)
        log_msg(LOG_VERBOSE,
                "'%s' is HDR (%s) and read without tone mapping: its colours will look flat",
                f->path, kind);
    else if (f->transfer != TRANSFER_SDR)
        log_msg(LOG_VERBOSE, "'%s' is HDR (%s), mapped to SDR by %s from %d cd/m2%s", f->path, kind,
                light_map_name(rule->map), rule->peak,
                f->transfer == TRANSFER_HLG || f->peak > 0 ||
                        j->render->options->film.light.peak > 0
                    ? ""
                    : " (guessed: not in the metadata)");
    if (j->report.primaries)
        log_msg(LOG_VERBOSE, "'%s': primaries %s are converted to bt709", f->path,
                j->report.primaries);
}

/* Returns report.primaries. */
static const char *unusual_primaries(const struct film *f, enum tone_map map)
{
    bool hdr = f->transfer != TRANSFER_SDR,
         converted = f->primaries != PRIMARIES_BT709 && !(hdr && map == TONE_OFF),
         usual = hdr && f->primaries == PRIMARIES_BT2020;
    return converted && !usual ? light_primaries_name(f->primaries) : NULL;
}

/* Fills j->light_words. */
static void describe_light(struct render_job *j)
{
    const struct light_rule *rule = &j->report.light, *asked = &j->render->options->film.light;
    bool usual = j->source->film.transfer == TRANSFER_SDR && rule->map == TONE_BT2390 &&
                 asked->peak == 0 && !rule->linear;
    const char *primaries = j->report.primaries;
    if (!usual || primaries)
        snprintf(j->light_words, sizeof j->light_words, "%s %d%s%s%s", light_map_name(rule->map),
                 rule->peak, rule->linear ? " linear" : "", primaries ? " " : "",
                 primaries ? primaries : "");
}

bool render_light(struct render_job *j, struct err *e)
{
    const struct film *f = &j->source->film;
    struct light_rule *rule = &j->report.light;
    *rule = j->render->options->film.light;
    if (f->transfer == TRANSFER_PQ && rule->map != TONE_OFF && rule->peak == 0 && f->peak == 0 &&
        !look_for_light(j, e))
        return false;
    rule->peak = light_peak(rule, f->transfer, f->peak);
    j->report.primaries = unusual_primaries(f, rule->map);
    describe_light(j);
    log_light(j);
    j->light = light_open(&j->render->options->film.light, f->peak, e);
    if (!j->light || !rule->linear)
        return j->light != NULL;
    j->report.means = light_table(j->light, TRANSFER_SDR, e);
    return j->report.means != NULL;
}

void render_crop_words(struct render_job *j)
{
    const struct crop_rule *rule = &j->render->options->film.crop;
    snprintf(j->crop_words, CROP_TEXT, "%s", rule->kind == CROP_AUTO ? "auto" : "");
    if (rule->kind == CROP_RECT)
        crop_text(&rule->rect, j->crop_words);
}

static void log_crop(const struct render_job *j, const struct probe_facts *facts)
{
    const struct crop *t = &j->report.crop;
    const struct film *f = &j->source->film;
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
static bool probe_bars(struct render_job *j, struct probe_facts *facts, struct err *e)
{
    struct admission_ticket ticket = {.admission = j->render->probe_admission};
    struct probe_request request = {.want = PROBE_BARS, .threads = j->render->threads};
    int64_t came = clock_ns();
    if (!admission_enter(&ticket, e))
        return false;
    j->report.times.waiting += clock_since(came);
    bool ok = source_probe(j->source, &request, facts, e);
    admission_release(&ticket);
    return ok;
}

static bool look_for_bars(struct render_job *j, struct err *e)
{
    struct probe_facts facts = {.found = 0};
    if (!source_can(j->source, SOURCE_RESTARTABLE))
        log_msg(LOG_VERBOSE, "'%s': no crop detection in a pipe", j->source->film.path);
    else if (!probe_bars(j, &facts, e))
        return false;
    j->report.crop = facts.crop;
    log_crop(j, &facts);
    return true;
}

bool render_crop(struct render_job *j, struct err *e)
{
    if (!render_wants_columns(j))
        return true; /* previews show the complete frame */
    const struct crop_rule *rule = &j->render->options->film.crop;
    const struct film *f = &j->source->film;
    if (!crop_check(rule, f->width, f->height, e))
        return err_prefix(e, "'%s'", f->path);
    if (rule->kind == CROP_RECT)
        j->report.crop = (struct crop){
            f->coded_width,
            f->coded_height,
            1,
            true,
            {crop_to_decoded(rule->rect, f->orientation, f->coded_width, f->coded_height)}};
    if (rule->kind == CROP_RECT ||
        (rule->kind == CROP_AUTO && frame_cache_crop(j->cache, &j->report.crop)))
        log_crop(j, NULL);
    else if (rule->kind == CROP_AUTO && !look_for_bars(j, e))
        return false;
    frame_cache_set_crop(j->cache, &j->report.crop);
    return true;
}
