#include "job.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "barcode/base/clock.h"
#include "base/file.h"
#include "base/film_id.h"
#include "base/interrupt.h"
#include "base/watch.h"
#include "barcode/sound/spectrogram.h"
#include "cache/frame_cache.h"
#include "engine/steady.h"
#include "output/formats/thumbs.h"
#include "output/modes/film_palette.h"
#include "output/sinks.h"
#include "phases.h"
#include "plan/options_fingerprint.h"

/* ---- Sound ---- */

/* Opens the store of the spectrogram. */
static bool open_spectrum(struct job_sound *s, struct report *r, struct err *e)
{
    r->media.spectrum = spectrum_open(e);
    s->job.tap = spectrum_put;
    s->job.tap_user = r->media.spectrum;
    return r->media.spectrum != NULL;
}

/* Looks for the film's sound in the cache, if an output shows it. */
static bool look_for_sound(const struct job_order *order, struct job_sound *s, struct report *r,
                           struct err *e)
{
    const struct plan *plan = order->plan;
    if (!order->needs->sound)
        return true;
    if (!isa_choose(&s->job.isa, e) || (order->needs->spectrum && !open_spectrum(s, r, e)))
        return false;
    if (!plan->film.verify && !r->media.spectrum)
        s->job.done = s->cached =
            sound_cache_load(&plan->cache, order->path, order->parts, plan->film.stream,
                             plan->film.sound_stream, &s->job.sound);
    return true;
}

/* Returns the stream of sound for source_open_stream. */
static int sound_stream(const struct job_order *order, const struct job_sound *s)
{
    return order->needs->sound && !s->job.done ? order->plan->film.sound_stream : SOURCE_SOUND_NONE;
}

/* Logs what the sound is, and warns of what is silent because it cannot be decoded. */
static void assess_sound(const struct job_order *order, const struct job_sound *sound,
                         struct report *r)
{
    const struct film_sound *s = &sound->job.sound;
    if (s->stream < 0 && order->plan->outputs.sound_only)
        log_msg(LOG_VERBOSE, "'%s' has no sound", order->path);
    else if (s->stream < 0)
        job_warn(r, "'%s' has no sound%s", order->path,
                 order->needs->sound_only ? "" : ": sound and spectrum are dark");
    else
        log_msg(LOG_VERBOSE, "'%s': sound %d: %s by %s, %d Hz, %s, %.3f s, %" PRIu32 " gaps%s",
                order->path, s->stream, s->codec, s->decoder, s->rate, s->layout,
                (double)s->samples / SPECTROGRAM_RATE, s->gaps,
                sound->cached ? ", from the cache" : "");
    if (s->stream >= 0 && !s->decoder[0])
        job_warn(r, "'%s': its sound (%s) cannot be decoded, and is silent", order->path, s->codec);
    else if (s->errors > 0)
        job_warn(r, "'%s': %" PRIu64 " packet%s of its sound cannot be decoded (silent there)",
                 order->path, s->errors, s->errors == 1 ? "" : "s");
}

/* Keeps the sound in the cache, unless another file or another FFmpeg may give a better one. */
static void keep_sound(const struct job_order *order, const struct job_film *film,
                       const struct job_sound *sound, struct job_passes *p)
{
    const struct plan *plan = order->plan;
    const struct film_sound *s = &sound->job.sound;
    p->changed |= job_film_changed(order, film);
    bool decoded = s->stream < 0 || s->decoder[0];
    if (!sound->cached && decoded && !p->changed && !plan->film.keep_going &&
        source_can(film->source, SOURCE_CACHEABLE))
        sound_cache_save(&plan->cache, order->path, order->parts, plan->film.stream,
                         plan->film.sound_stream, s);
}

/*
 * Completes the sound after the decode pass, and keeps it in the cache: sets report.media.sound.
 * Does nothing if no output shows it.
 */
static bool end_sound(const struct job_order *order, const struct job_film *film,
                      struct job_sound *s, struct job_passes *p, struct report *r, struct err *e)
{
    if (!order->needs->sound)
        return true;
    if (!source_can(film->source, SOURCE_HAS_SOUND))
        return err_set(e, ERR_FAILED, "cannot read the sound of '%s'", order->path);
    if (!s->job.done && (!job_begin_sound(s, r, e) || !source_sound(film->source, &s->job, e)))
        return false;
    assess_sound(order, s, r);
    keep_sound(order, film, s, p);
    r->media.sound = &s->job.sound;
    return true;
}

/* Returns false if packets of the sound could not be decoded, or none of it. */
static bool sound_is_whole(const struct film_sound *s)
{
    return !s || s->stream < 0 || (s->decoder[0] && s->errors == 0);
}

/* Reads the film's sound, or takes it from the cache, without decoding its pictures. */
static bool read_sound(const struct job_order *order, struct job_film *film, struct job_sound *s,
                       struct job_passes *p, struct report *r, struct err *e)
{
    const struct plan *plan = order->plan;
    film->stamp = film_stamp(order->path, order->parts);
    if (!look_for_sound(order, s, r, e))
        return false;
    r->media.sound = &s->job.sound;
    if (s->job.done) {
        assess_sound(order, s, r);
        return true;
    }
    int stream =
        plan->film.stream == SOURCE_STREAM_CHOICE ? SOURCE_STREAM_OR_SOUND : plan->film.stream;
    film->source = source_open_stream(order->path, order->parts, stream, plan->film.sound_stream,
                                      plan->film.keep_going, e);
    if (!film->source)
        return false;
    const struct film_length *length = &film->source->film.length;
    const struct engine_work work = {.sound_seconds = (double)film_length_end(length) / 1e6};
    film->engine = s->job.engine = engines_for(order->context->engines, &work, e);
    return film->engine && end_sound(order, film, s, p, r, e);
}

/* ---- Assessment ---- */

/*
 * Returns true if a damaged film ends long before its declared end. Sound often outlasts the
 * picture, and an estimated length proves nothing.
 */
static bool ends_early(const struct film *f, const struct report *r)
{
    const struct film_length *l = &f->length;
    const struct decode_counts *c = &r->run.counts;
    int64_t film_end = film_length_end(l), slack = film_length_slack(film_end);
    int64_t end = r->analysis.selection.end_us < film_end ? r->analysis.selection.end_us : film_end;
    return c->read_failed && l->source > LENGTH_ESTIMATE && end - c->last_us > slack;
}

/*
 * Returns the length with the number of frames that the film probably has. If its frame count and
 * its duration contradict each other, the lower count wins.
 */
static struct film_length likely_length(const struct film *f)
{
    struct film_length l = f->length;
    if (l.frames <= 0 || f->rate_num <= 0 || l.duration_us <= 0 || l.source <= LENGTH_ESTIMATE)
        return l;
    double by_length = (double)l.duration_us / 1e6 * (double)f->rate_num / (double)f->rate_den;
    if (by_length < (double)l.frames * 0.9)
        l.frames = (int64_t)(by_length + 0.5);
    return l;
}

/*
 * Warns of columns missing at the end: the film was truncated, or its container is damaged. Returns
 * how many there are.
 */
static uint64_t assess_end(const struct film *f, uint64_t announced, struct report *r)
{
    const struct decode_counts *c = &r->run.counts;
    const struct selection *s = &r->analysis.selection;
    bool asked = s->kind == SELECT_COLUMNS;
    const struct film_length likely = likely_length(f);
    uint64_t expected = likely.duration_us > 0 ? selection_estimate(s, &likely) : 0;
    uint64_t there = announced > r->count ? announced : r->count;
    uint64_t short_by = expected > there ? expected - there : 0;
    bool early = short_by > 0 && ends_early(f, r);
    bool unread = c->bytes_unread > 0; /* there is a warning of that */
    const char *cause = unread ? "its end cannot be read" : "the file is damaged";
    bool lacks = c->lack[0] != 0;
    if (lacks)
        cause = c->lack;
    if (early && !lacks)
        job_warn(r,
                 "'%s' stops at %.1f s of %.1f s: about %" PRIu64 " of %" PRIu64
                 " columns are missing",
                 f->path, c->last_us < 0 ? 0.0 : (double)c->last_us / 1e6,
                 (double)film_length_end(&f->length) / 1e6, short_by, expected);
    else if (c->read_failed && short_by > 0)
        job_warn(r, "'%s': %s: about %" PRIu64 " of %" PRIu64 " columns are missing%s", f->path,
                 cause, short_by, expected, lacks ? "" : " at its end");
    else if (c->read_failed && (lacks || !unread))
        job_warn(r, "'%s': %s", f->path, cause);
    else if (asked && short_by > 0)
        job_warn(r,
                 "'%s' has only %" PRIu64 " of the %" PRIu64
                 " requested columns: it ends before the length that it declares",
                 f->path, r->count, expected);
    return early || c->read_failed || asked ? short_by : 0;
}

/* Warns of frames that no decoder received, unless missing columns already show them. */
static void assess_counts(struct report *r, uint64_t missing)
{
    const struct decode_counts *c = &r->run.counts;
    const char *path = r->film->path;
    if (c->unreadable + c->dropped > 0 && missing == 0)
        job_warn(r, "'%s': %" PRIu64 " frame%s missing, but no column needs %s", path,
                 c->unreadable + c->dropped, c->unreadable + c->dropped == 1 ? " is" : "s are",
                 c->unreadable + c->dropped == 1 ? "it" : "them");
    if (c->lead_in > 0)
        job_warn(r,
                 "'%s': skipped %" PRIu64
                 " frame%s before the first key frame (their references are not in the file)",
                 path, c->lead_in, c->lead_in == 1 ? "" : "s");
}

/* Returns false if all columns are transparent: there is no colour to draw. */
static bool assess_transparent(const struct report *r, struct err *e)
{
    const char *path = r->film->path;
    uint64_t transparent = 0, missing = 0;
    for (uint64_t i = 0; i < r->count; i++) {
        transparent += columns_get(r->columns, i)->transparent;
        missing += columns_get(r->columns, i)->status == COLUMN_MISSING;
    }
    if (missing == r->count)
        return err_set(e, ERR_FAILED, "all selected frames of '%s' are transparent", path);
    if (transparent > 0)
        log_msg(LOG_INFO, "'%s': %" PRIu64 " of %" PRIu64 " columns are transparent", path,
                transparent, r->count);
    return true;
}

static uint64_t different_frames(const struct report *r)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < r->count; i++) {
        const struct column *c = columns_get(r->columns, i);
        n += c->status != COLUMN_MISSING &&
             (i == 0 || c->time_us != columns_get(r->columns, i - 1)->time_us);
    }
    return n;
}

/* Warns of damaged key frames, and of key frames that are far apart, which is not damage. */
static void assess_keys(uint64_t total_bytes, struct report *r)
{
    const int64_t far_us = 30000000;
    const struct decode_counts *c = &r->run.counts;
    const struct film *f = r->film;
    int64_t film_end = film_length_end(&f->length), start = r->analysis.selection.start_us;
    int64_t end = film_end < r->analysis.selection.end_us ? film_end : r->analysis.selection.end_us;
    if (!r->analysis.selection.keyframes)
        return;
    if (end == INT64_MAX)
        end = c->last_us;
    int64_t span = end - (start > c->first_us ? start : c->first_us);
    if (c->bad_keys > 0)
        job_warn(r,
                 "'%s': %" PRIu64
                 " key frames are damaged or cannot be read (replaced by the previous ones)",
                 f->path, c->bad_keys);
    if (c->bytes_read > 0 && total_bytes > 0)
        log_msg(LOG_VERBOSE, "'%s': key frames: read %" PRIu64 " of %" PRIu64 " bytes", f->path,
                c->bytes_read, total_bytes);
    if (c->keys <= 1 || span / (int64_t)c->keys > far_us)
        job_warn(r,
                 "'%s' has %" PRIu64 " key frame%s in %.1f s: its %" PRIu64
                 " columns show only %" PRIu64 " frame%s",
                 f->path, c->keys, c->keys == 1 ? "" : "s", (double)span / 1e6, r->count,
                 different_frames(r), different_frames(r) == 1 ? "" : "s");
}

/*
 * Chooses the colours of all columns together for --steady. Only now does every column exist,
 * whichever source it came from.
 */
static bool choose_steady(struct columns *columns, const struct report *r, struct err *e)
{
    if (r->picture.steady == 0 || !(r->analysis.needs & (STRIP_CLUSTERS | STRIP_DOMINANT)))
        return true;
    return steady_columns(columns, (uint64_t)r->analysis.width * (uint64_t)r->analysis.height,
                          r->picture.steady, e);
}

/*
 * Finishes the columns, chooses their colours, and warns of missing or damaged frames. Returns
 * false if there is nothing to paint.
 */
static bool assess_film(const struct job_order *order, const struct job_film *film,
                        const struct job_stores *s, const struct job_passes *p, struct report *r,
                        struct err *e)
{
    const char *path = r->film->path;
    if (r->run.counts.bytes_unread > 0)
        job_warn(r, "'%s': %" PRIu64 " bytes cannot be read (skipped)", path,
                 r->run.counts.bytes_unread);
    if (p->changed)
        job_warn(r, "'%s' changed while it was being read: render it again", path);
    uint64_t announced = columns_count(s->columns), cut;
    uint64_t inside = columns_finish(s->columns, &cut);
    r->columns = s->columns;
    r->count = columns_count(s->columns);
    if (r->count == 0 && announced == 0 && r->analysis.selection.keyframes &&
        r->run.counts.keys == 0)
        return err_set(e, ERR_FAILED, "no key frame of '%s' could be found", path);
    if (r->count == 0 && announced == 0 && r->run.counts.displayed > 0)
        return err_set(e, ERR_FAILED,
                       "no frame of '%s' is selected: --start, --end or the interval leave none",
                       path);
    if (r->count == 0)
        return err_set(e, ERR_INPUT, "no frame of '%s' could be decoded", path);
    if (!assess_transparent(r, e))
        return false;
    if (inside + cut > 0)
        job_warn(r,
                 "'%s': %" PRIu64 " of %" PRIu64
                 " columns %s missing (their frames are not in the file or cannot be decoded)",
                 path, inside + cut, announced, inside + cut == 1 ? "is" : "are");
    uint64_t damaged = 0;
    for (uint64_t i = 0; i < r->count; i++)
        damaged += columns_get(s->columns, i)->status == COLUMN_DAMAGED;
    if (damaged > 0)
        job_warn(r, "'%s': %" PRIu64 " of %" PRIu64 " columns come%s from damaged frames", path,
                 damaged, r->count, damaged == 1 ? "s" : "");
    if (r->run.counts.decode_errors > 0 && inside + cut + damaged == 0)
        job_warn(r, "'%s': the decoder found %" PRIu64 " of %" PRIu64 " packets damaged", path,
                 r->run.counts.decode_errors, r->run.counts.packets);
    assess_keys(film->total_bytes, r);
    assess_counts(r, inside + cut);
    uint64_t lost_to_end = assess_end(&film->source->film, announced, r);
    r->missing = inside + cut + lost_to_end;
    if (!choose_steady(s->columns, r, e))
        return false;
    if (!s->histogram)
        return true;
    return film_palette_make(s->histogram, order->plan->picture.colours, &r->media.palette, e);
}

/*
 * Returns true if no frame of the film is missing or damaged, selected or not, and the film was
 * read to its end (--strict).
 */
static bool is_whole(const struct job_passes *p, const struct report *r)
{
    const struct decode_counts *c = &r->run.counts;
    return r->missing == 0 && !p->cut_short && c->damaged == 0 && c->decode_errors == 0 &&
           !c->read_failed && c->unreadable == 0 && c->dropped == 0 && c->lead_in == 0 &&
           c->bad_keys == 0;
}

/* ---- Outputs ---- */

/* What a written output counts. */
static const char *count_written(const struct job_stores *s, const struct report *r,
                                 const struct writer *w, uint64_t *count)
{
    *count = w ? r->count : columns_count(s->columns);
    if (!w) /* a dump */
        return "frame";
    if (w->beside) {
        *count = previews_count(s->previews);
        return "preview";
    }
    if (w->thumbnails && w->modeless) {
        *count = thumbs_count(r->media.thumbs, r, THUMBS_PERIOD_US);
        return "thumbnail";
    }
    if (w->spectrum) {
        *count = spectrogram_frames(r->media.sound->samples);
        return "frame";
    }
    if (w->shots) {
        *count = r->media.shots->count;
        return "shot";
    }
    if (w->sound) {
        *count = r->media.sound->peaks;
        return "peak";
    }
    if (w->palette && w->modeless) {
        *count = (uint64_t)r->media.palette.count;
        return "colour";
    }
    return "column";
}

static void log_written(const struct job_order *order, const struct job_stores *s,
                        const struct report *r, const struct output *output)
{
    uint64_t count;
    const char *what = count_written(s, r, output->kind->writer, &count);
    if (!outputs_is_stdout(output->path) && !output->kind->in_memory)
        log_msg(order->context->in_summary ? LOG_VERBOSE : LOG_INFO, "wrote '%s': %" PRIu64 " %s%s",
                output->path, count, what, count == 1 ? "" : "s");
}

/* Writes the outputs that contain the time the film took, or all others. */
static bool write_outputs(const struct job_order *order, const struct job_stores *s, bool unsettled,
                          bool has_times, struct report *r, struct err *e)
{
    const struct outputs *list = order->outputs;
    for (size_t k = 0; k < list->count; k++) {
        const struct output *output = &list->output[k];
        const struct output_kind *kind = output->kind;
        const struct writer *w = kind->writer;
        if (!w || w->has_times != has_times)
            continue;
        memcpy(r->id.fingerprint, kind->fingerprint, sizeof r->id.fingerprint);
        if (unsettled)
            fingerprint_add_again(r->id.fingerprint, order->path);
        r->id.overwrite = output->overwrite;
        if (!writer_save(w, r, kind->strips, output->path, e))
            return false;
        const bool parent_writes = order->context->outputs->table && w->table && !kind->chosen;
        if (!parent_writes)
            log_written(order, s, r, output);
    }
    return true;
}

static bool write_dump(const struct job_order *order, struct job_stores *s, const struct report *r,
                       struct err *e)
{
    if (!s->dump)
        return true;
    if (!dump_commit(&s->dump, columns_count(s->columns), e))
        return false;
    log_written(order, s, r, outputs_dump(order->outputs));
    return true;
}

/* Writes all outputs and the dump. `started` (clock_ns) is when the work on the film began. */
static bool save_outputs(const struct job_order *order, struct job_stores *s,
                         const struct job_passes *p, struct report *r, int64_t started,
                         struct err *e)
{
    /* --update renders the film again */
    const bool unsettled = r->run.counts.bytes_unread > 0 || p->changed || r->run.counts.lack[0];
    int64_t before = clock_ns();
    r->id.partial = !is_whole(p, r);
    watch_untimed(true); /* all outputs are written, or none */
    bool ok = write_outputs(order, s, unsettled, false, r, e) && write_dump(order, s, r, e);
    r->run.times.write = clock_since(before);
    r->run.times.wall = clock_since(started) - r->run.times.waiting;
    ok = ok && write_outputs(order, s, unsettled, true, r, e);
    watch_untimed(false);
    return ok;
}

/* ---- The phases ---- */

/* The state of a job, whose parts are handed to its phases. */
struct job {
    struct job_film film;
    struct job_sound sound;
    struct job_shots shots;
    struct job_stores stores;
    struct job_passes passes;
    struct report report;
    char decode[32]; /* the report's, if a device decoded */
};

/* Returns true if the outputs show nothing but sound, so that a file needs no pictures. */
static bool shows_sound_alone(const struct job_order *order)
{
    const struct output_needs *n = order->needs;
    bool frames = n->sheets || n->singles || n->thumbs || n->palette || n->shots ||
                  outputs_dump(order->outputs);
    return n->strips == STRIP_SOUND && !frames && !order->plan->film.verify;
}

/* Opens the film. Its width is 0 if it is sound alone. */
static bool open_source(const struct job_order *order, struct job *j, struct err *e)
{
    const struct film_options *o = &order->plan->film;
    struct job_film *film = &j->film;
    int stream = o->stream;
    if (stream == SOURCE_STREAM_CHOICE && shows_sound_alone(order))
        stream = SOURCE_STREAM_OR_SOUND;
    engines_open_early(order->context->engines);
    film->stamp = film_stamp(order->path, order->parts);
    if (!look_for_sound(order, &j->sound, &j->report, e))
        return false;
    film->source = source_open_stream(order->path, order->parts, stream,
                                      sound_stream(order, &j->sound), o->keep_going, e);
    return film->source != NULL;
}

/* Selects columns of a sound alone as of a film of 25 frames a second without any visible pixel. */
static bool select_columns(const struct film *f, struct job_stores *s, struct report *r,
                           struct err *e)
{
    const int64_t lasts_us = film_frame_us(f);
    struct selection_cursor cursor = selection_begin(&r->analysis.selection);
    s->columns = columns_open(0, 0, e);
    if (!s->columns)
        return false;
    for (int64_t n = 0; n < f->length.frames; n++) {
        struct frame_tag tag = {.frame = (uint64_t)n, .time_us = n * lasts_us};
        if (!selection_pick(&cursor, tag.time_us, tag.time_us + lasts_us, &tag))
            continue;
        struct column *column = columns_at(s->columns, tag.column, e);
        if (!column)
            return false;
        column_fill_transparent(column, &tag);
    }
    columns_finish(s->columns, NULL);
    r->columns = s->columns;
    r->count = columns_count(s->columns);
    return r->count > 0 || err_set(e, ERR_FAILED, "nothing of '%s' is selected", f->path);
}

/* Reads the sound of a file without pictures, and makes columns for it. */
static bool make_sound(const struct job_order *order, struct job *j, struct err *e)
{
    enum { RATE = 25 };
    struct film *f = &j->film.source->film;
    struct report *r = &j->report;
    if (!end_sound(order, &j->film, &j->sound, &j->passes, r, e))
        return false;
    int64_t us = (int64_t)j->sound.job.sound.samples * 1000000 / SPECTROGRAM_RATE;
    if (us == 0)
        return err_set(e, ERR_INPUT, "no sound of '%s' could be decoded", f->path);
    f->rate_num = RATE;
    f->rate_den = 1;
    f->length = (struct film_length){
        .duration_us = us, .frames = (us * RATE + 999999) / 1000000, .source = LENGTH_PACKETS};
    r->run.cache = frame_cache_state(NULL);
    if (!job_decide(order, &j->film, r, e) || !select_columns(f, &j->stores, r, e))
        return false;
    job_decide_width(order->plan, r);
    return true;
}

/* Decides how the film is decoded. */
static bool prepare_film(const struct job_order *order, struct job *j, struct err *e)
{
    struct job_film *film = &j->film;
    struct report *r = &j->report;
    if (!job_probe(order, film, e) || !job_decide(order, film, r, e))
        return false;
    /*
     * A film that can be read only once is decoded with exact_damage from the start, in case it is
     * damaged.
     */
    j->passes.exact_damage = !source_can(film->source, SOURCE_RESTARTABLE);
    job_look_for_shots(order, film, &j->shots, r);
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
    if (!open_source(order, j, e))
        return false;
    if (j->film.source->film.width == 0)
        return make_sound(order, j, e);
    bool ok = prepare_film(order, j, e);
    r->run.times.start_up = clock_since(started) - r->run.times.waiting;
    /* The sound beside the pictures uses the engine's device, too. */
    j->sound.job.engine = j->film.engine;
    ok = ok && job_decode(order, &j->film, &j->stores, &j->passes, &j->sound, r, e);
    describe_decoding(order, j);
    ok = ok && end_sound(order, &j->film, &j->sound, &j->passes, r, e) &&
         assess_film(order, &j->film, &j->stores, &j->passes, r, e) &&
         job_end_shots(order, &j->film, &j->stores, is_whole(&j->passes, r) && !j->passes.changed,
                       &j->shots, r, e);
    if (ok)
        job_decide_width(order->plan, r);
    return ok;
}

static void close_job(struct job *j)
{
    job_close_stores(&j->stores);
    job_close_film(&j->film);
    film_sound_free(&j->sound.job.sound);
    film_scan_free(&j->shots.scan);
    shots_free(&j->shots.shots);
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
    const bool sound_only = order->needs->sound_only;
    bool ok = sound_only ? read_sound(order, &j->film, &j->sound, &j->passes, &j->report, e)
                         : make_pictures(order, j, started, e);
    ok = had_memory(c, order->input, refused, e) && ok;
    if (!ok || !save_outputs(order, &j->stores, &j->passes, &j->report, started, e))
        return false;
    const bool whole = sound_only || is_whole(&j->passes, &j->report);
    if (order->plan->outputs.strict && !(whole && sound_is_whole(j->report.media.sound)))
        return err_set(e, ERR_FAILED, "'%s' decoded only in part (--strict)", order->path);
    return true;
}

bool job_run(const struct job_context *c, size_t i, struct job_result *result, struct err *e)
{
    const struct job_order order = {.context = c,
                                    .plan = c->plan,
                                    .input = i,
                                    .path = c->inputs->path[i],
                                    .parts = c->inputs->parts[i],
                                    .outputs = &c->outputs->film[i],
                                    .needs = &c->outputs->needs};
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
