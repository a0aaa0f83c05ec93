#include <inttypes.h>

#include "engine/steady.h"
#include "phases.h"

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

bool job_assess(const struct job_order *order, const struct job_film *film,
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
    if (r->run.counts.decode_errors > 0 && inside + cut + r->run.counts.damaged == 0)
        job_warn(r, "'%s': the decoder found %" PRIu64 " of %" PRIu64 " packets damaged", path,
                 r->run.counts.decode_errors, r->run.counts.packets);
    assess_keys(film->total_bytes, r);
    assess_counts(r, inside + cut);
    uint64_t lost_to_end = assess_end(&film->source->film, announced, r);
    r->missing = inside + cut + lost_to_end;
    job_decide_width(order->plan, r);
    if (!choose_steady(s->columns, r, e))
        return false;
    if (!s->histogram)
        return true;
    return film_palette_make(s->histogram, order->plan->picture.colours, &r->media.palette, e);
}

bool job_is_whole(const struct job_passes *p, const struct report *r)
{
    const struct decode_counts *c = &r->run.counts;
    return r->missing == 0 && !p->cut_short && c->damaged == 0 && c->decode_errors == 0 &&
           !c->read_failed && c->unreadable == 0 && c->dropped == 0 && c->lead_in == 0 &&
           c->bad_keys == 0;
}
