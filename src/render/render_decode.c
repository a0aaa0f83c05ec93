#include <inttypes.h>

#include "base/film_id.h"
#include "barcode/engine/dominant.h"
#include "media/source.h"
#include "render_job.h"
#include "render_progress.h"

/* Returns how many dominant colours each frame needs: --steady chooses among several. */
static int modes_wanted(const struct report *r)
{
    return !(r->needs & STRIP_DOMINANT) ? 0 : r->steady > 0 ? DOMINANT_MOST : 1;
}

static bool wants_thumbs(const struct render_job *j)
{
    const struct outputs *list = &j->outputs;
    for (size_t i = 0; i < list->count; i++)
        if (list->output[i].writer->thumbnails)
            return true;
    return false;
}

static bool has_output(const struct render_job *j, const struct writer *w)
{
    for (size_t i = 0; i < j->outputs.count; i++)
        if (j->outputs.output[i].writer == w)
            return true;
    return false;
}

static bool wants_palette(const struct render_job *j)
{
    const struct outputs *list = &j->outputs;
    for (size_t i = 0; i < list->count; i++)
        if (outputs_show_palette(j->render->options, list->output[i].writer))
            return true;
    return false;
}

static bool open_previews(struct render_job *j, struct err *e)
{
    struct report *r = &j->report;
    previews_free(&j->previews);
    if (render_wants_previews(j)) {
        int width = j->render->options->formats.previews.width;
        j->previews = previews_open(r->width, r->height, width, previews_height(r->film, width),
                                    has_output(j, &writer_jellyfin), has_output(j, &writer_bif), e);
        if (!j->previews)
            return false;
    }
    r->previews = j->previews;
    return true;
}

static bool open_histogram(struct render_job *j, struct err *e)
{
    colour_histogram_free(&j->histogram);
    if (wants_palette(j))
        j->histogram = colour_histogram_open(j->report.width, j->report.height, e);
    return j->histogram || !wants_palette(j);
}

static bool open_thumbs(struct render_job *j, struct err *e)
{
    struct report *r = &j->report;
    int width, height;
    thumbs_free(&j->thumbs);
    if (wants_thumbs(j)) {
        thumbs_size(r->film, &r->crop, r->width, r->height, &width, &height);
        j->thumbs = thumbs_open(r->width, r->height, width, height, THUMBS_MOST, e);
        if (!j->thumbs)
            return false;
    }
    r->thumbs = j->thumbs;
    return true;
}

/* Opens empty stores for the decode pass and frees the previous ones. */
static bool open_stores(struct render_job *j, struct err *e)
{
    const struct options *o = j->render->options;
    const struct report *r = &j->report;
    columns_free(&j->columns);
    dump_discard(&j->dump);
    digest_free(&j->first);
    digest_free(&j->second);
    j->columns = columns_open(r->needs & STRIP_CLUSTERS ? o->kmeans.k : 0,
                              r->needs & STRIP_ROWS ? r->height : 0, e);
    if (j->columns && modes_wanted(r) > 1)
        columns_keep_modes(j->columns);
    if (j->columns && j->slit)
        columns_keep_slit(j->columns, j->slit->length);
    const struct output *dump = &j->outputs.dump;
    /*
     * A dump does not name its film. None existed at first, so a dump that exists when the film is
     * rendered again is its own.
     */
    bool allowed =
        dump->path && (j->render->again || outputs_allowed(j->render->inputs, j->input, dump, e));
    if (j->columns && allowed && outputs_make_folders(dump, e))
        j->dump = dump_open(dump->path, (size_t)r->width * (size_t)r->height * 3, e);
    if (!j->columns || (dump->path && !j->dump) || !open_thumbs(j, e) || !open_previews(j, e) ||
        !open_histogram(j, e))
        return false;
    if (!o->film.verify)
        return true;
    j->first = digest_open(e);
    j->second = j->first ? digest_open(e) : NULL;
    j->digest = j->first;
    return j->second != NULL;
}

/* Returns true in the second pass of --verify, whose frames go only to the digest. */
static bool is_judging(const struct render_job *j) { return j->digest && j->digest == j->second; }

static bool on_analysed(void *user, const struct frame_tag *tag, const uint8_t *rgb, struct err *e)
{
    struct render_job *j = user;
    size_t bytes = (size_t)j->report.width * (size_t)j->report.height * 3;
    if (j->previews && !is_judging(j) && !previews_put(j->previews, tag, rgb, e))
        return false;
    if (tag->repeat == 0)
        return true;
    if (j->digest && !digest_put(j->digest, tag->column, rgb, bytes, e))
        return false;
    frame_cache_put(j->cache, tag, rgb);
    if (is_judging(j))
        return true;
    if (j->histogram)
        colour_histogram_put(j->histogram, tag, rgb);
    return (!j->dump || dump_put(j->dump, tag->column, tag->repeat, rgb, e)) &&
           (!j->thumbs || thumbs_put(j->thumbs, tag, rgb, e));
}

bool render_attempt(struct render_job *j, enum decode_plan plan, struct columns *columns,
                    struct decode_counts *counts, struct decode_times *times, struct err *e)
{
    const struct options *o = j->render->options;
    bool judging = is_judging(j);
    if (!render_begin_sound(j, e))
        return false;
    struct render_progress shown = render_progress_open(j);
    struct pass pass = {
        .source = frame_cache_source(j->cache, j->source),
        .engine = j->engine,
        .selection = j->report.selection,
        .plan = plan,
        .decode = o->film.decode,
        .threads = j->render->threads,
        .exact_damage = j->exact_damage,
        .frame_times = frame_cache_frame_times(j->cache),
        .sound = j->wants_sound ? &j->sound : NULL,
        .tick = render_progress_tick,
        .tick_user = &shown,
        .admission = j->render->admission,
        .worker_processes = j->render->workers,
        .decoders = j->render->decoders,
        .job = {.crop = &j->report.crop,
                .light = j->light,
                .means = j->report.means,
                .width = j->report.width,
                .height = j->report.height,
                .kmeans = o->kmeans,
                .columns = columns,
                .cluster = !judging && (j->report.needs & STRIP_CLUSTERS),
                .rows = !judging && (j->report.needs & STRIP_ROWS),
                .slit = judging ? NULL : j->slit,
                .modes = judging ? 0 : modes_wanted(&j->report),
                .tap = j->dump || j->thumbs || j->previews || j->histogram || j->digest ||
                               frame_cache_wants(j->cache)
                           ? on_analysed
                           : NULL,
                .tap_user = j},
    };
    bool ok = pass_run(&pass, counts, times, e);
    return ok;
}

enum log_level render_warning_level(const struct render_job *j)
{
    return decode_is_device(j->render->options->film.decode) ? LOG_WARNING : LOG_VERBOSE;
}

/*
 * Returns true if the pass must restart, and sets what is done differently. Each reason occurs at
 * most once.
 */
static bool starts_over(struct render_job *j, enum decode_plan *plan)
{
    struct report *r = &j->report;
    const struct decode_counts *c = &r->counts;
    if (!decode_must_restart(c))
        return false;
    /*
     * The frames do not match the headers. A single decoder for the whole film numbers its own
     * output.
     */
    if (c->contradicted) {
        log_msg(
            render_warning_level(j),
            "'%s': the frames do not match the headers: decoding again with one software decoder",
            r->film->path);
        *plan = DECODE_SEQUENTIAL;
    }
    if (c->keys_again)
        log_msg(LOG_VERBOSE,
                "'%s': %" PRIu64 " key frames are damaged: decoding again with the previous ones",
                r->film->path, c->bad_keys);
    if (c->damage_found) {
        log_msg(LOG_VERBOSE, "'%s': the film is damaged: decoding again on one core",
                r->film->path);
        j->exact_damage = true;
    }
    frame_cache_again(j->cache, c);
    r->cache = frame_cache_state(j->cache);
    return true;
}

/* Decodes until the result is valid. */
static bool decode_film(struct render_job *j, struct err *e)
{
    struct report *r = &j->report;
    enum decode_plan plan = DECODE_PARALLEL;
    bool ok;
    do
        ok = open_stores(j, e) && render_attempt(j, plan, j->columns, &r->counts, &r->times, e);
    while (ok && starts_over(j, &plan));
    ok = ok && e->code == ERR_NONE;
    j->changed |= j->stamp != 0 && film_stamp(r->film->path, r->film->parts) != j->stamp;
    if (j->changed)
        frame_cache_close(&j->cache); /* keeps no frames */
    frame_cache_end(j->cache, j->columns, &r->counts, ok);
    return ok;
}

/*
 * Returns true if the default N of --every gave half of the columns wanted or fewer, or more than
 * twice as many. The film's real length is known now. If none was declared, too many do not count.
 */
static bool needs_other_every(const struct render_job *j, bool declared)
{
    const struct selection *used = &j->report.selection;
    if (!render_is_default(j) || used->kind != SELECT_EVERY || used->keyframes ||
        !source_can(j->source, SOURCE_RESTARTABLE))
        return false;
    uint64_t every =
        render_default_every(&j->render->options->film.selection, &j->source->film.length);
    return 2 * every <= used->every || (declared && every > 2 * used->every);
}

/*
 * Corrects the film's length by what was read. Returns true if its columns have to be selected
 * again: the length was wrong by more than a column of --columns, or so wrong that the default
 * needs another N, or the film is truncated and has none of the columns.
 */
static bool corrects_length(struct render_job *j)
{
    const struct report *r = &j->report;
    const struct decode_counts *c = &r->counts;
    struct film_length *l = &j->source->film.length;
    bool none = columns_count(j->columns) == 0 && r->selection.kind == SELECT_COLUMNS &&
                j->render->options->film.selection.end_us == INT64_MAX;
    /* If the selection ends before the film does, whether reading went on to its end is chance. */
    bool whole = r->selection.kind == SELECT_COLUMNS ? r->selection.to_film_end
                                                     : r->selection.end_us == INT64_MAX;
    if (c->first_us >= 0 && l->duration_us > c->first_us - l->start_us) {
        l->duration_us -= c->first_us - l->start_us;
        l->start_us = c->first_us;
    }
    if (c->end_us < 0 || c->first_us < 0 || !((whole && c->to_end) || none))
        return false;
    int64_t off = c->end_us - r->selection.end_us;
    bool exact = render_is_short(r->film) && source_can(j->source, SOURCE_RESTARTABLE);
    int64_t most_us = exact ? film_frame_us(r->film) / 2 : selection_slack_us(&r->selection);
    bool wrong = (off < 0 ? -off : off) > most_us;
    if (r->selection.kind == SELECT_COLUMNS && !wrong)
        return false;
    bool declared = l->frames > 0;
    *l = (struct film_length){.start_us = c->first_us,
                              .duration_us = c->end_us - c->first_us,
                              .frames = (int64_t)c->displayed,
                              .source = c->packets < c->displayed ? LENGTH_INDEX : LENGTH_PACKETS};
    return r->selection.kind == SELECT_COLUMNS || needs_other_every(j, declared);
}

/* Logs that the columns of --columns are spread again. Returns false if they cannot be. */
static bool may_spread_again(struct render_job *j)
{
    const struct film *f = j->report.film;
    double said = (double)j->report.selection.end_us / 1e6,
           end = (double)j->report.counts.end_us / 1e6;
    if (!source_can(j->source, SOURCE_RESTARTABLE)) {
        if (end > said)
            render_warn(j,
                        "'%s' ends at %.1f s and not at %.1f s, as it declares: the rest is not in "
                        "the picture (give a file)",
                        f->path, end, said);
        return false;
    }
    j->cut_short = !j->report.counts.to_end;
    if (!j->cut_short)
        log_msg(LOG_VERBOSE, "'%s' ends at %.1f s and not at %.1f s: spreading its columns again",
                f->path, end, said);
    else
        render_warn(j,
                    "'%s' stops at %.1f s of %.1f s: its columns are spread over its real length",
                    f->path, end, said);
    return true;
}

static bool select_again(struct render_job *j, struct err *e)
{
    if (j->report.selection.kind == SELECT_EVERY)
        log_msg(LOG_VERBOSE, "'%s' has %" PRId64 " frames: decoding again with another N of -n",
                j->report.film->path, j->source->film.length.frames);
    else if (!may_spread_again(j))
        return true;
    if (!render_decide_selection(j, e))
        return false;
    render_look_in_cache(j);
    return decode_film(j, e);
}

bool render_decode(struct render_job *j, struct err *e)
{
    bool ok = decode_film(j, e) && (!corrects_length(j) || select_again(j, e));
    return ok && (!j->render->options->film.verify || render_verify(j, e));
}
