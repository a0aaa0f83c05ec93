/* job_decode.c - decode passes of a film, until the result is valid, and where frames go. */
#include <inttypes.h>
#include <stdio.h>

#include "barcode/base/clock.h"
#include "base/watch.h"
#include "barcode/engine/dominant.h"
#include "engine/digest.h"
#include "output/sinks.h"
#include "output/formats/thumbs.h"
#include "output/modes/film_palette.h"
#include "phases.h"

/* What a pass reads, and what it sets. */
struct decoding {
    const struct job_order *order;
    struct job_film *film; /* its length is corrected */
    struct job_stores *stores;
    struct job_passes *passes;
    struct job_sound *sound;
    struct report *report;
};

/* ---- Progress ---- */

/* The progress of a pass, which the parent process shows. */
struct shown {
    const struct decoding *decoding;
    int64_t begin_ns;
    uint64_t columns_total; /* an estimate; 0: unknown */
    struct job_usage first; /* when the first column was done */
};

struct watch_progress job_progress(const struct film *f, uint64_t columns_total,
                                   const struct pass_state *now)
{
    struct watch_progress state = {
        .frames = now->film.frames,
        .columns = now->columns,
        .columns_total = columns_total,
        .share = -1,
    };
    if (columns_total > 0)
        state.share = (double)now->columns / (double)columns_total;
    else if (now->film.total_bytes > 0)
        state.share = (double)now->film.bytes / (double)now->film.total_bytes;
    /* A finished pass has covered the film, even if the film's end was not needed. */
    if (state.share > 1 || (now->done && state.share >= 0))
        state.share = 1;
    if (!now->done && columns_total > 0 && f->length.frames > 0)
        state.frames = (uint64_t)(state.share * (double)f->length.frames);
    return state;
}

double job_key_seconds(double keys, double key_seconds, const struct job_usage *first,
                       const struct job_usage *now)
{
    double seconds = now->seconds - first->seconds;
    double cpu_seconds = now->cpu_seconds - first->cpu_seconds;
    double columns = (double)now->columns - (double)first->columns;
    if (keys <= 0 || seconds <= 0 || cpu_seconds <= 0 || columns <= 0)
        return 0;
    double others = cpu_seconds - (now->decode_seconds - first->decode_seconds);
    double column_seconds = others > 0 ? others / columns : 0;
    return keys * (key_seconds + column_seconds) * seconds / cpu_seconds;
}

/*
 * Estimates how many key frames --keyframes would decode, from the part of the film that was read.
 */
static double keys_wanted(const struct shown *p, const struct pass_state *now)
{
    const struct decoding *d = p->decoding;
    const struct film *f = &d->film->source->film;
    struct selection all = d->report->analysis.selection;
    all.kind = SELECT_EVERY;
    all.every = 1;
    double keys = now->film.key_share * (double)selection_estimate(&all, &f->length);
    double most =
        job_is_default(&d->order->plan->film.selection) ? JOB_COLUMNS : (double)p->columns_total;
    return keys < most ? keys : most;
}

/* Logs once, while the user waits at a terminal, that --keyframes would be much faster. */
static void hint_at_keyframes(struct shown *p, double share, const struct pass_state *now)
{
    enum { SETTLED = 5, LONG = 120 }; /* seconds */
    double left = share > 0 ? clock_since(p->begin_ns) * (1 - share) / share : 0;
    const struct decoding *d = p->decoding;
    bool on_gpu = engine_device(d->film->engine).context != NULL;
    if (d->passes->hinted || !d->order->context->at_terminal || d->order->plan->film.verify ||
        d->order->needs->shots || on_gpu || now->columns == 0)
        return;
    struct job_usage used = {
        .seconds = (double)clock_ns() / 1e9,
        .cpu_seconds = clock_cpu_seconds(),
        .decode_seconds = now->film.decode_seconds,
        .columns = now->columns,
    };
    /* The time before the first column, such as crop detection, is not part of a column's time. */
    if (p->first.columns == 0)
        p->first = used;
    if (used.seconds - p->first.seconds < SETTLED || left <= LONG)
        return;
    double keys = keys_wanted(p, now);
    double needed = job_key_seconds(keys, now->film.key_seconds, &p->first, &used);
    if (needed <= 0 || needed > left / 2)
        return;
    log_msg(LOG_INFO, "--keyframes would take about %.0f s", needed < 1 ? 1 : needed);
    d->passes->hinted = true;
}

/* Implements pass_tick: reports the progress (watch.h). */
static void show_progress(void *user, const struct pass_state *now)
{
    struct shown *p = user;
    const struct film *f = &p->decoding->film->source->film;
    struct watch_progress state = job_progress(f, p->columns_total, now);
    watch_set_progress(&state);
    hint_at_keyframes(p, state.share, now);
}

/* ---- Where the frames go ---- */

/* Returns how many dominant colours each frame needs: --steady chooses among several. */
static int modes_wanted(const struct report *r)
{
    if (!(r->analysis.needs & STRIP_DOMINANT))
        return 0;
    return r->picture.steady > 0 ? DOMINANT_MOST : 1;
}

/* Frees all but the cache. */
static void free_stores(struct job_stores *s)
{
    columns_free(&s->columns);
    columns_free(&s->shot_columns);
    dump_discard(&s->dump);
    thumbs_free(&s->thumbs);
    previews_free(&s->previews);
    colour_histogram_free(&s->histogram);
    scan_free(&s->scan);
    digest_free(&s->first);
    digest_free(&s->second);
    s->digest = NULL;
}

void job_close_stores(struct job_stores *s)
{
    free_stores(s);
    frame_cache_close(&s->cache);
}

/* Opens what the outputs need. */
static bool open_needed(const struct job_order *order, struct job_stores *s, struct report *r,
                        struct err *e)
{
    const struct output_needs *needs = order->needs;
    const int w = r->analysis.width, h = r->analysis.height;
    const struct output *dump = outputs_dump(order->outputs);
    int width = order->plan->formats.previews.width, height;
    if (needs->sheets || needs->singles) {
        s->previews = previews_open(w, h, width, previews_height(r->film, width), needs->sheets,
                                    needs->singles, e);
        if (!s->previews)
            return false;
    }
    if (order->plan->film.verify) {
        s->digest = s->first = digest_open(e);
        s->second = s->first ? digest_open(e) : NULL;
        if (!s->second)
            return false;
    }
    if (needs->palette) {
        s->histogram = colour_histogram_open(w, h, e);
        if (!s->histogram)
            return false;
    }
    if (r->analysis.selection.scan_end_us > 0) {
        s->scan = scan_open(e);
        if (!s->scan)
            return false;
    }
    if (dump) {
        s->dump = dump_open(dump->path, s->frame_bytes, e);
        if (!s->dump)
            return false;
    }
    if (needs->thumbs) {
        thumbs_size(r->film, &r->analysis.crop, w, h, &width, &height);
        s->thumbs = thumbs_open(w, h, width, height, THUMBS_MOST, e);
        if (!s->thumbs)
            return false;
    }
    r->media.previews = s->previews;
    r->media.thumbs = s->thumbs;
    return true;
}

/* Opens empty stores for a decode pass and frees the previous ones, but for the cache. */
static bool open_stores(const struct job_order *order, const struct job_film *film,
                        struct job_stores *s, struct report *r, struct err *e)
{
    const int k = order->plan->kmeans.k, height = r->analysis.height;
    const unsigned needs = r->analysis.needs;
    free_stores(s);
    s->frame_bytes = (size_t)r->analysis.width * (size_t)height * 3;
    s->columns = columns_open(needs & STRIP_CLUSTERS ? k : 0, needs & STRIP_ROWS ? height : 0, e);
    if (!s->columns)
        return false;
    if (modes_wanted(r) > 1)
        columns_keep_modes(s->columns);
    if (film->slit)
        columns_keep_slit(s->columns, film->slit->length);
    return open_needed(order, s, r, e);
}

/* Returns true in the second pass of --verify, whose frames go only to the digest and the cache. */
static bool is_second_pass(const struct job_stores *s)
{
    return s->digest && s->digest == s->second;
}

static bool takes_frames(const struct job_stores *s)
{
    return s->dump || s->thumbs || s->previews || s->histogram || s->digest ||
           frame_cache_wants(s->cache);
}

/* Implements engine_job.tap: hands an analysis frame to the stores. */
static bool put_frame(void *user, const struct frame_tag *tag, const uint8_t *rgb, struct err *e)
{
    struct job_stores *s = user;
    const bool second = is_second_pass(s);
    if (s->previews && !second && !previews_put(s->previews, tag, rgb, e))
        return false;
    if (tag->repeat == 0)
        return true; /* no column */
    if (s->digest && !digest_put(s->digest, tag->column, rgb, s->frame_bytes, e))
        return false;
    frame_cache_put(s->cache, tag, rgb);
    if (second)
        return true;
    if (s->histogram)
        colour_histogram_put(s->histogram, tag, rgb);
    if (s->dump && !dump_put(s->dump, tag->column, tag->repeat, rgb, e))
        return false;
    return !s->thumbs || thumbs_put(s->thumbs, tag, rgb, e);
}

/* Implements engine_job.scan. */
static bool put_scan_frame(void *user, const struct frame_tag *tag, const uint8_t *rgb,
                           struct err *e)
{
    return scan_put(user, tag->frame, tag->time_us, rgb, e);
}

/* ---- A pass ---- */

bool job_begin_sound(const struct job_sound *s, const struct report *r, struct err *e)
{
    return !r->media.spectrum || s->job.done || spectrum_clear(r->media.spectrum, e);
}

/* Decodes the film once into `columns`. The caller checks decode_must_restart(). */
static bool decode_once(const struct decoding *d, enum decode_plan plan, struct columns *columns,
                        struct decode_counts *counts, struct decode_times *times, struct err *e)
{
    const struct job_context *context = d->order->context;
    const struct job_film *film = d->film;
    const struct report *r = d->report;
    struct job_stores *s = d->stores;
    const bool second = is_second_pass(s);
    if (!job_begin_sound(d->sound, r, e))
        return false;
    struct shown shown = {
        .decoding = d,
        .begin_ns = clock_ns(),
        .columns_total = selection_estimate(&r->analysis.selection, &film->source->film.length),
    };
    struct pass pass = {
        .source = frame_cache_source(s->cache, film->source),
        .decode = {.selection = r->analysis.selection,
                   .plan = plan,
                   .decode = d->order->plan->film.decode,
                   .threads = context->threads,
                   .engine = film->engine,
                   .exact_damage = d->passes->exact_damage,
                   .frame_times = frame_cache_frame_times(s->cache),
                   .decoders = context->decoders,
                   .worker_processes = context->workers,
                   .sound = d->order->needs->sound ? &d->sound->job : NULL},
        .tick = show_progress,
        .tick_user = &shown,
        .admission = context->admission,
        .job = {.crop = &r->analysis.crop,
                .light = film->light,
                .means = r->analysis.means,
                .width = r->analysis.width,
                .height = r->analysis.height,
                .kmeans = d->order->plan->kmeans,
                .columns = columns,
                .cluster = !second && (r->analysis.needs & STRIP_CLUSTERS),
                .rows = !second && (r->analysis.needs & STRIP_ROWS),
                .slit = second ? NULL : film->slit,
                .modes = second ? 0 : modes_wanted(r),
                .tap = takes_frames(s) ? put_frame : NULL,
                .tap_user = s,
                .scan = s->scan && !second ? put_scan_frame : NULL,
                .scan_user = s->scan,
                .scan_width = SCAN_WIDTH,
                .scan_height = SCAN_HEIGHT},
    };
    if (!pass.job.scan)
        pass.decode.selection.scan_end_us = 0;
    return pass_run(&pass, counts, times, e);
}

enum log_level job_device_level(enum decode_choice choice)
{
    return decode_is_device(choice) ? LOG_WARNING : LOG_VERBOSE;
}

/*
 * Returns true if the pass must restart, and sets what is done differently. Each reason occurs at
 * most once.
 */
static bool must_restart(const struct decoding *d, enum decode_plan *plan)
{
    struct report *r = d->report;
    const struct decode_counts *c = &r->run.counts;
    if (!decode_must_restart(c))
        return false;
    /*
     * The frames do not match the headers. A single decoder for the whole film numbers its own
     * output.
     */
    if (c->contradicted) {
        log_msg(
            job_device_level(d->order->plan->film.decode),
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
        d->passes->exact_damage = true;
    }
    frame_cache_again(d->stores->cache, c);
    r->run.cache = frame_cache_state(d->stores->cache);
    return true;
}

/* Decodes until the result is valid. */
static bool decode_film(const struct decoding *d, struct err *e)
{
    struct report *r = d->report;
    struct job_stores *s = d->stores;
    enum decode_plan plan = DECODE_PARALLEL;
    bool ok;
    do
        ok = open_stores(d->order, d->film, s, r, e) &&
             decode_once(d, plan, s->columns, &r->run.counts, &r->run.times, e);
    while (ok && must_restart(d, &plan));
    ok = ok && e->code == ERR_NONE;
    d->passes->changed |= job_film_changed(d->order, d->film);
    if (d->passes->changed)
        frame_cache_close(&s->cache); /* keeps no frames */
    frame_cache_end(s->cache, s->columns, &r->run.counts, ok);
    return ok;
}

/* ---- The film's length ---- */

/*
 * Returns true if the default N of --every gave half of the columns wanted or fewer, or more than
 * twice as many. The film's real length is known now. If none was declared, too many do not count.
 */
static bool needs_other_every(const struct decoding *d, bool declared)
{
    if (d->order->plan->film.by_shot)
        return false;
    const struct selection *used = &d->report->analysis.selection;
    if (!job_is_default(&d->order->plan->film.selection) || used->kind != SELECT_EVERY ||
        used->keyframes || !source_can(d->film->source, SOURCE_RESTARTABLE))
        return false;
    uint64_t every =
        job_default_every(&d->order->plan->film.selection, &d->film->source->film.length);
    return 2 * every <= used->every || (declared && every > 2 * used->every);
}

/*
 * Corrects the film's length by what was read. Returns true if its columns have to be selected
 * again: the length was wrong by more than a column of --columns, or so wrong that the default
 * needs another N, or the film is truncated and has none of the columns.
 */
static bool correct_length(const struct decoding *d)
{
    const struct report *r = d->report;
    const struct decode_counts *c = &r->run.counts;
    struct film_length *l = &d->film->source->film.length;
    bool none = columns_count(d->stores->columns) == 0 &&
                r->analysis.selection.kind == SELECT_COLUMNS &&
                d->order->plan->film.selection.end_us == INT64_MAX;
    /* If the selection ends before the film does, whether reading went on to its end is chance. */
    bool whole = r->analysis.selection.kind == SELECT_COLUMNS
                     ? r->analysis.selection.to_film_end
                     : r->analysis.selection.end_us == INT64_MAX;
    if (c->first_us >= 0 && l->duration_us > c->first_us - l->start_us) {
        l->duration_us -= c->first_us - l->start_us;
        l->start_us = c->first_us;
    }
    if (c->end_us < 0 || c->first_us < 0 || !((whole && c->to_end) || none))
        return false;
    int64_t off = c->end_us - r->analysis.selection.end_us;
    bool exact = job_is_short(r->film) && source_can(d->film->source, SOURCE_RESTARTABLE);
    int64_t most_us =
        exact ? film_frame_us(r->film) / 2 : selection_slack_us(&r->analysis.selection);
    bool wrong = (off < 0 ? -off : off) > most_us;
    if (r->analysis.selection.kind == SELECT_COLUMNS && !wrong)
        return false;
    bool declared = l->frames > 0;
    *l = (struct film_length){.start_us = c->first_us,
                              .duration_us = c->end_us - c->first_us,
                              .frames = (int64_t)c->displayed,
                              .source = c->packets < c->displayed ? LENGTH_INDEX : LENGTH_PACKETS};
    return r->analysis.selection.kind == SELECT_COLUMNS || needs_other_every(d, declared);
}

/* Logs that the columns of --columns are spread again. Returns false if they cannot be. */
static bool may_spread_again(const struct decoding *d)
{
    struct report *r = d->report;
    const struct film *f = r->film;
    double declared = (double)r->analysis.selection.end_us / 1e6,
           end = (double)r->run.counts.end_us / 1e6;
    if (!source_can(d->film->source, SOURCE_RESTARTABLE)) {
        if (end > declared)
            job_warn(r,
                     "'%s' ends at %.1f s and not at %.1f s, as it declares: the rest is not in "
                     "the picture (give a file)",
                     f->path, end, declared);
        return false;
    }
    d->passes->cut_short = !r->run.counts.to_end;
    if (!d->passes->cut_short)
        log_msg(LOG_VERBOSE, "'%s' ends at %.1f s and not at %.1f s: spreading its columns again",
                f->path, end, declared);
    else
        job_warn(r, "'%s' stops at %.1f s of %.1f s: its columns are spread over its real length",
                 f->path, end, declared);
    return true;
}

static bool select_again(const struct decoding *d, struct err *e)
{
    struct report *r = d->report;
    if (r->analysis.selection.kind == SELECT_EVERY)
        log_msg(LOG_VERBOSE, "'%s' has %" PRId64 " frames: decoding again with another N of -n",
                r->film->path, d->film->source->film.length.frames);
    else if (!may_spread_again(d))
        return true;
    if (!job_decide_selection(d->order, d->film, r, e))
        return false;
    job_look_in_cache(d->order, d->film, d->stores, r);
    return decode_film(d, e);
}

/* ---- Verification ---- */

/*
 * Excludes damaged frames from the comparison: the two ways of decoding conceal damage with
 * different frames, and neither is right. A frame that is intact in one way and missing in the
 * other is compared, because that is not damage. Returns how many frames are excluded.
 */
static uint64_t exclude_damage(const struct job_stores *s, struct columns *other)
{
    const uint64_t first = columns_count(s->columns), second = columns_count(other);
    uint64_t excluded = 0;
    for (uint64_t i = 0; i < first || i < second; i++) {
        const struct column *a = i < first ? columns_get(s->columns, i) : NULL,
                            *b = i < second ? columns_get(other, i) : NULL;
        bool damaged = (a && a->status == COLUMN_DAMAGED) || (b && b->status == COLUMN_DAMAGED);
        bool sound = (a && a->status == COLUMN_OK) || (b && b->status == COLUMN_OK);
        /* Columns that repeat the previous one are filled later. */
        bool frame = (a && a->repeat > 0) || (b && b->repeat > 0);
        bool transparent = (a && a->transparent) && (b && b->transparent);
        if (!frame || transparent || (sound && !damaged))
            continue;
        digest_drop(s->first, i);
        digest_drop(s->second, i);
        excluded++;
    }
    return excluded;
}

/* Decodes again, frame by frame in one decoder, and compares every analysis frame. */
static bool verify(const struct decoding *d, struct err *e)
{
    struct job_stores *s = d->stores;
    const char *path = d->film->source->film.path;
    struct decode_counts counts;
    struct decode_times times = {0};
    uint64_t excluded = 0;
    do {
        struct columns *columns = columns_open(0, 0, e);
        digest_free(&s->second);
        s->digest = s->second = digest_open(e);
        bool ok =
            columns && s->second && decode_once(d, DECODE_SEQUENTIAL, columns, &counts, &times, e);
        excluded = ok && !counts.damage_found ? exclude_damage(s, columns) : 0;
        columns_free(&columns);
        if (!ok)
            return false;
        d->passes->exact_damage |= counts.damage_found;
    } while (counts.damage_found);
    struct digest_result result = digest_compare(s->first, s->second);
    if (result.different > 0 || result.alone > 0)
        return err_set(e, ERR_FAILED,
                       "'%s': --verify found %" PRIu64 " of %" PRIu64
                       " frames different (first: column %" PRIu64 ") and %" PRIu64
                       " that only one of the passes has",
                       path, result.different, result.both, result.first_difference, result.alone);
    if (result.both == 0) {
        log_msg(LOG_WARNING, "'%s': --verify compared nothing: no frame is without damage", path);
        return true;
    }
    char but[80] = "";
    if (excluded > 0)
        snprintf(but, sizeof but, ", except %" PRIu64 " damaged ones", excluded);
    log_msg(LOG_INFO, "'%s': --verify: all %" PRIu64 " frames are identical%s", path, result.both,
            but);
    return true;
}

bool job_decode(const struct job_order *order, struct job_film *film, struct job_stores *s,
                struct job_passes *p, struct job_sound *sound, struct report *r, struct err *e)
{
    const struct decoding d = {order, film, s, p, sound, r};
    if (!decode_film(&d, e))
        return false;
    if (correct_length(&d) && !select_again(&d, e))
        return false;
    return !order->plan->film.verify || verify(&d, e);
}
