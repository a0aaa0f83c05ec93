/* job_shots.c - a film's shots: from its scan frames or the cache to the report. */
#include "cache/frame_cache.h"
#include "output/modes/shot_columns.h"
#include "output/writer.h"
#include "phases.h"

void job_look_for_shots(const struct job_order *order, struct job_film *film, struct job_shots *s,
                        struct report *r)
{
    const struct plan *plan = order->plan;
    struct selection *rule = &r->analysis.selection;
    if (!order->needs->shots)
        return;
    if (!plan->film.verify)
        film->scan_cached =
            scan_cache_load(&plan->cache, order->path, order->parts, &film->ask,
                            plan->film.selection.start_us, plan->film.selection.end_us, &s->scan);
    if (film->scan_cached)
        rule->scan_end_us = 0;
    else if (rule->kind != SELECT_EVERY || rule->every > 1)
        log_msg(order->context->in_summary ? LOG_VERBOSE : LOG_INFO,
                "'%s': decoding every frame to find its shots, which takes longer", order->path);
}

/* Computes the film's scan after the decode pass, and keeps it in the cache if all is intact. */
static bool end_scan(const struct job_order *order, const struct job_film *film,
                     struct job_stores *stores, struct job_shots *s, bool whole,
                     const struct report *r, struct err *e)
{
    const struct plan *plan = order->plan;
    const struct selection *asked = &plan->film.selection;
    int64_t end = r->run.counts.end_us;
    const bool broken = end < 0 && r->run.counts.read_failed;
    if (asked->end_us != INT64_MAX && (end < 0 || end > asked->end_us) && !broken)
        end = asked->end_us;
    if (!scan_end(stores->scan, end, &s->scan, e))
        return false;
    scan_free(&stores->scan);
    if (s->scan.count == 0)
        return err_set(e, ERR_INPUT, "no frame of '%s' could be decoded for its shots",
                       order->path);
    if (whole && !plan->film.keep_going && source_can(film->source, SOURCE_CACHEABLE))
        scan_cache_save(&plan->cache, order->path, order->parts, &film->ask, asked->start_us,
                        asked->end_us, &s->scan);
    return true;
}

/* Returns true if a list of shots has the main colours of each. */
static bool shows_shot_colours(const struct job_order *order, const struct report *r)
{
    bool shows = false;
    for (size_t k = 0; k < order->outputs->count; k++) {
        const struct writer *w = order->outputs->output[k].kind->writer;
        shows |= w && w->shots && !w->modeless;
    }
    return shows && (r->analysis.needs & STRIP_CLUSTERS);
}

/* Finds the shots, and with --columns shots makes a column of each. */
static bool find_shots(const struct job_order *order, struct job_stores *stores,
                       struct job_shots *s, struct report *r, struct err *e)
{
    if (!shots_find(&s->scan, order->plan->film.shot_threshold, &s->shots, e))
        return false;
    film_scan_free(&s->scan);
    r->media.shots = &s->shots;
    log_msg(LOG_VERBOSE, "'%s': %zu shots", order->path, s->shots.count);
    if (!order->plan->film.by_shot && !shows_shot_colours(order, r))
        return true;
    r->media.shot_columns = stores->shot_columns = shot_columns(r, &s->shots, e);
    if (!stores->shot_columns)
        return false;
    if (!order->plan->film.by_shot)
        return true;
    r->columns = stores->shot_columns;
    r->count = s->shots.count;
    r->analysis.by_shot = true;
    return true;
}

bool job_end_shots(const struct job_order *order, const struct job_film *film,
                   struct job_stores *stores, bool whole, struct job_shots *s, struct report *r,
                   struct err *e)
{
    if (!order->needs->shots)
        return true;
    if (!film->scan_cached && !end_scan(order, film, stores, s, whole, r, e))
        return false;
    return find_shots(order, stores, s, r, e);
}
