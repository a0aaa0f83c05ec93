/* job_sinks.c - where a job's frames go while they are decoded, and what is written at its end. */
#include <inttypes.h>
#include <stdio.h>

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

/* ---- What outputs need ---- */

bool job_wants_previews(const struct outputs *outputs)
{
    for (size_t i = 0; i < outputs->count; i++)
        if (outputs->output[i].writer->beside)
            return true;
    return false;
}

bool job_wants_columns(const struct outputs *outputs)
{
    bool wanted = outputs->dump.path != NULL;
    for (size_t i = 0; i < outputs->count && !wanted; i++)
        wanted = !outputs->output[i].writer->beside;
    return wanted;
}

int job_modes_wanted(const struct report *r)
{
    if (!(r->needs & STRIP_DOMINANT))
        return 0;
    return r->steady > 0 ? DOMINANT_MOST : 1;
}

static bool wants_thumbs(const struct outputs *outputs)
{
    for (size_t i = 0; i < outputs->count; i++)
        if (outputs->output[i].writer->thumbnails)
            return true;
    return false;
}

static bool has_output(const struct outputs *outputs, const struct writer *w)
{
    for (size_t i = 0; i < outputs->count; i++)
        if (outputs->output[i].writer == w)
            return true;
    return false;
}

static bool wants_palette(const struct job_order *order)
{
    for (size_t i = 0; i < order->outputs->count; i++)
        if (outputs_show_palette(order->plan, order->outputs->output[i].writer))
            return true;
    return false;
}

/* ---- Frames ---- */

static bool open_previews(const struct job_order *order, struct job_stores *s, struct report *r,
                          struct err *e)
{
    const int width = order->plan->formats.previews.width;
    if (!job_wants_previews(order->outputs))
        return true;
    s->previews = r->previews = previews_open(
        r->width, r->height, width, previews_height(r->film, width),
        has_output(order->outputs, &writer_jellyfin), has_output(order->outputs, &writer_bif), e);
    return s->previews != NULL;
}

static bool put_preview(struct job_stores *s, const struct frame_tag *tag, const uint8_t *rgb,
                        struct err *e)
{
    return !s->previews || previews_put(s->previews, tag, rgb, e);
}

static bool open_digests(const struct job_order *order, struct job_stores *s, struct report *r,
                         struct err *e)
{
    (void)r;
    if (!order->plan->film.verify)
        return true;
    s->digest = s->first = digest_open(e);
    s->second = s->first ? digest_open(e) : NULL;
    return s->second != NULL;
}

static bool put_digest(struct job_stores *s, const struct frame_tag *tag, const uint8_t *rgb,
                       struct err *e)
{
    return !s->digest || digest_put(s->digest, tag->column, rgb, s->frame_bytes, e);
}

static bool put_cached(struct job_stores *s, const struct frame_tag *tag, const uint8_t *rgb,
                       struct err *e)
{
    (void)e;
    frame_cache_put(s->cache, tag, rgb);
    return true;
}

static bool open_histogram(const struct job_order *order, struct job_stores *s, struct report *r,
                           struct err *e)
{
    if (!wants_palette(order))
        return true;
    s->histogram = colour_histogram_open(r->width, r->height, e);
    return s->histogram != NULL;
}

static bool put_colours(struct job_stores *s, const struct frame_tag *tag, const uint8_t *rgb,
                        struct err *e)
{
    (void)e;
    if (s->histogram)
        colour_histogram_put(s->histogram, tag, rgb);
    return true;
}

static bool open_dump(const struct job_order *order, struct job_stores *s, struct report *r,
                      struct err *e)
{
    (void)r;
    const struct output *dump = &order->outputs->dump;
    if (!dump->path)
        return true;
    s->dump = dump_open(dump->path, s->frame_bytes, e);
    return s->dump != NULL;
}

static bool put_dump(struct job_stores *s, const struct frame_tag *tag, const uint8_t *rgb,
                     struct err *e)
{
    return !s->dump || dump_put(s->dump, tag->column, tag->repeat, rgb, e);
}

static bool open_thumbs(const struct job_order *order, struct job_stores *s, struct report *r,
                        struct err *e)
{
    int width, height;
    if (!wants_thumbs(order->outputs))
        return true;
    thumbs_size(r->film, &r->crop, r->width, r->height, &width, &height);
    s->thumbs = thumbs_open(r->width, r->height, width, height, THUMBS_MOST, e);
    r->thumbs = s->thumbs;
    return s->thumbs != NULL;
}

static bool put_thumb(struct job_stores *s, const struct frame_tag *tag, const uint8_t *rgb,
                      struct err *e)
{
    return !s->thumbs || thumbs_put(s->thumbs, tag, rgb, e);
}

/* The sinks of analysis frames, in the order in which they get one. */
static const struct frame_sink {
    /* opens it if an output needs it; NULL: job_look_in_cache has */
    bool (*open)(const struct job_order *order, struct job_stores *s, struct report *r,
                 struct err *e);
    /* does nothing if it is not open */
    bool (*put)(struct job_stores *s, const struct frame_tag *tag, const uint8_t *rgb,
                struct err *e);
    bool no_column;   /* takes frames that are no column as well */
    bool second_pass; /* takes those of the second pass of --verify as well */
} sinks[] = {
    {.open = open_previews, .put = put_preview, .no_column = true},
    {.open = open_digests, .put = put_digest, .second_pass = true},
    {.put = put_cached, .second_pass = true},
    {.open = open_histogram, .put = put_colours},
    {.open = open_dump, .put = put_dump},
    {.open = open_thumbs, .put = put_thumb},
};

enum { SINKS = sizeof sinks / sizeof *sinks };

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

bool job_open_stores(const struct job_order *order, const struct job_film *film,
                     struct job_stores *s, struct report *r, struct err *e)
{
    const int k = order->plan->kmeans.k;
    free_stores(s);
    s->frame_bytes = (size_t)r->width * (size_t)r->height * 3;
    s->columns =
        columns_open(r->needs & STRIP_CLUSTERS ? k : 0, r->needs & STRIP_ROWS ? r->height : 0, e);
    if (!s->columns)
        return false;
    if (job_modes_wanted(r) > 1)
        columns_keep_modes(s->columns);
    if (film->slit)
        columns_keep_slit(s->columns, film->slit->length);
    for (int i = 0; i < SINKS; i++)
        if (sinks[i].open && !sinks[i].open(order, s, r, e))
            return false;
    return true;
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
    for (int i = 0; i < SINKS; i++) {
        if ((tag->repeat == 0 && !sinks[i].no_column) || (second && !sinks[i].second_pass))
            continue;
        if (!sinks[i].put(s, tag, rgb, e))
            return false;
    }
    return true;
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
        *count = spectrogram_frames(r->sound->samples);
        return "frame";
    }
    if (w && w->sound) {
        *count = r->sound->peaks;
        return "peak";
    }
    return "column";
}

static void log_written(const struct job_stores *s, const struct report *r,
                        const struct output *output)
{
    uint64_t count;
    const char *what = count_written(s, r, output->writer, &count);
    if (!outputs_is_stdout(output->path) && !output->in_memory)
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
        const struct writer *w = output->writer;
        if (w->has_times != has_times)
            continue;
        options_fingerprint(order->plan, w, output->strips, r->fingerprint);
        if (unsettled)
            fingerprint_add_again(r->fingerprint, order->path);
        r->overwrite = output->overwrite;
        if (!writer_save(w, r, output->strips, output->path, e))
            return false;
        const bool parent_writes = order->context->table && w->table && !output->chosen;
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
    log_written(s, r, &order->outputs->dump);
    return true;
}

bool job_write(const struct job_order *order, struct job_stores *s, const struct job_passes *p,
               struct report *r, int64_t started, struct err *e)
{
    /* --update renders the film again */
    const bool unsettled = r->counts.bytes_unread > 0 || p->changed || r->counts.lack[0];
    int64_t before = clock_ns();
    r->partial = !job_is_whole(p, r);
    watch_untimed(true); /* all outputs are written, or none */
    bool ok = write_outputs(order, s, unsettled, false, r, e) && write_dump(order, s, r, e);
    r->times.write = clock_since(before);
    r->times.wall = clock_since(started) - r->times.waiting;
    ok = ok && write_outputs(order, s, unsettled, true, r, e);
    watch_untimed(false);
    return ok;
}
