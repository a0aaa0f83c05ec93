/* job_sinks.c - where a job's frames go while they are decoded, and what is written at its end. */
#include <inttypes.h>
#include <string.h>

#include "barcode/base/clock.h"
#include "barcode/engine/dominant.h"
#include "barcode/sound/spectrogram.h"
#include "base/watch.h"
#include "engine/digest.h"
#include "output/sinks.h"
#include "output/formats/thumbs.h"
#include "output/modes/film_palette.h"
#include "phases.h"
#include "plan/options_fingerprint.h"

int job_modes_wanted(const struct report *r)
{
    if (!(r->analysis.needs & STRIP_DOMINANT))
        return 0;
    return r->picture.steady > 0 ? DOMINANT_MOST : 1;
}

/* ---- Frames ---- */

/* Frees all but the cache. */
static void free_stores(struct job_stores *s)
{
    columns_free(&s->columns);
    dump_discard(&s->dump);
    thumbs_free(&s->thumbs);
    previews_free(&s->previews);
    colour_histogram_free(&s->histogram);
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

bool job_open_stores(const struct job_order *order, const struct job_film *film,
                     struct job_stores *s, struct report *r, struct err *e)
{
    const int k = order->plan->kmeans.k, height = r->analysis.height;
    const unsigned needs = r->analysis.needs;
    free_stores(s);
    s->frame_bytes = (size_t)r->analysis.width * (size_t)height * 3;
    s->columns = columns_open(needs & STRIP_CLUSTERS ? k : 0, needs & STRIP_ROWS ? height : 0, e);
    if (!s->columns)
        return false;
    if (job_modes_wanted(r) > 1)
        columns_keep_modes(s->columns);
    if (film->slit)
        columns_keep_slit(s->columns, film->slit->length);
    return open_needed(order, s, r, e);
}

bool job_is_second_pass(const struct job_stores *s) { return s->digest && s->digest == s->second; }

bool job_takes_frames(const struct job_stores *s)
{
    return s->dump || s->thumbs || s->previews || s->histogram || s->digest ||
           frame_cache_wants(s->cache);
}

bool job_put_frame(struct job_stores *s, const struct frame_tag *tag, const uint8_t *rgb,
                   struct err *e)
{
    const bool second = job_is_second_pass(s);
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

/* ---- Outputs ---- */

/* What a written output counts. */
static const char *count_written(const struct job_stores *s, const struct report *r,
                                 const struct writer *w, uint64_t *count)
{
    *count = r->count;
    if (w && w->beside) {
        *count = previews_count(s->previews);
        return "preview";
    }
    if (w && w->spectrum) {
        *count = spectrogram_frames(r->media.sound->samples);
        return "frame";
    }
    if (w && w->sound) {
        *count = r->media.sound->peaks;
        return "peak";
    }
    return "column";
}

static void log_written(const struct job_stores *s, const struct report *r,
                        const struct output *output)
{
    uint64_t count;
    const char *what = count_written(s, r, output->kind->writer, &count);
    if (!outputs_is_stdout(output->path) && !output->kind->in_memory)
        log_msg(LOG_INFO, "wrote '%s': %" PRIu64 " %s%s", output->path, count, what,
                count == 1 ? "" : "s");
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
            log_written(s, r, output);
    }
    return true;
}

static bool write_dump(const struct job_order *order, struct job_stores *s, const struct report *r,
                       struct err *e)
{
    if (!s->dump)
        return true;
    if (!dump_commit(&s->dump, r->count, e))
        return false;
    log_written(s, r, outputs_dump(order->outputs));
    return true;
}

bool job_write(const struct job_order *order, struct job_stores *s, const struct job_passes *p,
               struct report *r, int64_t started, struct err *e)
{
    /* --update renders the film again */
    const bool unsettled = r->run.counts.bytes_unread > 0 || p->changed || r->run.counts.lack[0];
    int64_t before = clock_ns();
    r->id.partial = !job_is_whole(p, r);
    watch_untimed(true); /* all outputs are written, or none */
    bool ok = write_outputs(order, s, unsettled, false, r, e) && write_dump(order, s, r, e);
    r->run.times.write = clock_since(before);
    r->run.times.wall = clock_since(started) - r->run.times.waiting;
    ok = ok && write_outputs(order, s, unsettled, true, r, e);
    watch_untimed(false);
    return ok;
}
