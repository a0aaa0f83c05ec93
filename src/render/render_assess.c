#include <inttypes.h>

#include "engine/steady.h"
#include "render_job.h"

/*
 * Returns true if a damaged film ends long before its declared end. Sound often outlasts the
 * picture, and an estimated length proves nothing.
 */
static bool ends_early(const struct render_job *j)
{
    const struct film_length *l = &j->source->film.length;
    const struct decode_counts *c = &j->report.counts;
    int64_t film_end = film_length_end(l), slack = film_length_slack(film_end);
    int64_t end = j->report.selection.end_us < film_end ? j->report.selection.end_us : film_end;
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

/* Warns of columns missing at the end: the film was truncated, or its container is damaged. */
static void assess_end(struct render_job *j, uint64_t announced)
{
    const struct film *f = &j->source->film;
    const struct decode_counts *c = &j->report.counts;
    const struct selection *s = &j->report.selection;
    bool asked = s->kind == SELECT_COLUMNS;
    const struct film_length likely = likely_length(f);
    uint64_t expected = likely.duration_us > 0 ? selection_estimate(s, &likely) : 0;
    uint64_t there = announced > j->report.count ? announced : j->report.count;
    uint64_t short_by = expected > there ? expected - there : 0;
    bool early = short_by > 0 && ends_early(j);
    if (early || c->read_failed || asked)
        j->lost_to_end = short_by;
    bool unread = c->bytes_unread > 0; /* there is a warning of that */
    const char *cause = unread ? "its end cannot be read" : "the file is damaged";
    bool lacks = c->lack[0] != 0;
    if (lacks)
        cause = c->lack;
    if (early && !lacks)
        render_warn(j,
                    "'%s' stops at %.1f s of %.1f s: about %" PRIu64 " of %" PRIu64
                    " columns are missing",
                    f->path, c->last_us < 0 ? 0.0 : (double)c->last_us / 1e6,
                    (double)film_length_end(&f->length) / 1e6, short_by, expected);
    else if (c->read_failed && short_by > 0)
        render_warn(j, "'%s': %s: about %" PRIu64 " of %" PRIu64 " columns are missing%s", f->path,
                    cause, short_by, expected, lacks ? "" : " at its end");
    else if (c->read_failed && (lacks || !unread))
        render_warn(j, "'%s': %s", f->path, cause);
    else if (asked && short_by > 0)
        render_warn(j,
                    "'%s' has only %" PRIu64 " of the %" PRIu64
                    " requested columns: it ends before the length that it declares",
                    f->path, j->report.count, expected);
}

/* Warns of frames that no decoder received, unless missing columns already show them. */
static void assess_counts(struct render_job *j, uint64_t missing)
{
    const struct decode_counts *c = &j->report.counts;
    const char *path = j->report.film->path;
    if (c->unreadable + c->dropped > 0 && missing == 0)
        render_warn(j, "'%s': %" PRIu64 " frame%s missing, but no column needs %s", path,
                    c->unreadable + c->dropped, c->unreadable + c->dropped == 1 ? " is" : "s are",
                    c->unreadable + c->dropped == 1 ? "it" : "them");
    if (c->lead_in > 0)
        render_warn(j,
                    "'%s': skipped %" PRIu64
                    " frame%s before the first key frame (their references are not in the file)",
                    path, c->lead_in, c->lead_in == 1 ? "" : "s");
}

/* Returns false if all columns are transparent: there is no colour to draw. */
static bool assess_transparent(const struct render_job *j, struct err *e)
{
    const struct report *r = &j->report;
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

static uint64_t damaged_columns(const struct columns *c, uint64_t count)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < count; i++)
        n += columns_get(c, i)->status == COLUMN_DAMAGED;
    return n;
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
static void assess_keys(struct render_job *j)
{
    const int64_t far_us = 30000000;
    const struct report *r = &j->report;
    const struct decode_counts *c = &r->counts;
    const struct film *f = r->film;
    int64_t film_end = film_length_end(&f->length), start = r->selection.start_us;
    int64_t end = film_end < r->selection.end_us ? film_end : r->selection.end_us;
    int64_t span =
        (end < INT64_MAX ? end : c->last_us) - (start > c->first_us ? start : c->first_us);
    if (!r->selection.keyframes)
        return;
    if (c->bad_keys > 0)
        render_warn(j,
                    "'%s': %" PRIu64
                    " key frames are damaged or cannot be read (replaced by the previous ones)",
                    f->path, c->bad_keys);
    if (c->bytes_read > 0 && j->total_bytes > 0)
        log_msg(LOG_VERBOSE, "'%s': key frames: read %" PRIu64 " of %" PRIu64 " bytes", f->path,
                c->bytes_read, j->total_bytes);
    if (c->keys <= 1 || span / (int64_t)c->keys > far_us)
        render_warn(j,
                    "'%s' has %" PRIu64 " key frame%s in %.1f s: its %" PRIu64
                    " columns show only %" PRIu64 " frame%s",
                    f->path, c->keys, c->keys == 1 ? "" : "s", (double)span / 1e6, r->count,
                    different_frames(r), different_frames(r) == 1 ? "" : "s");
}

/*
 * Chooses the colours of all columns together for --steady. Only now does every column exist,
 * whichever source it came from.
 */
static bool steady(struct render_job *j, struct err *e)
{
    const struct report *r = &j->report;
    return r->steady == 0 || !(r->needs & (STRIP_CLUSTERS | STRIP_DOMINANT)) ||
           steady_columns(j->columns, (uint64_t)r->width * (uint64_t)r->height, r->steady, e);
}

/* Warns of bytes that --keep-going skipped, and of a film that changed while it was read. */
static void assess_reading(struct render_job *j)
{
    const struct film *f = j->report.film;
    uint64_t unread = j->report.counts.bytes_unread;
    if (unread > 0)
        render_warn(j, "'%s': %" PRIu64 " bytes cannot be read (skipped)", f->path, unread);
    if (j->changed)
        render_warn(j, "'%s' changed while it was being read: render it again", f->path);
    j->unsettled = unread > 0 || j->changed || j->report.counts.lack[0];
}

bool render_assess(struct render_job *j, struct err *e)
{
    struct report *r = &j->report;
    const char *path = r->film->path;
    assess_reading(j);
    uint64_t announced = columns_count(j->columns), cut;
    uint64_t inside = columns_finish(j->columns, &cut);
    r->columns = j->columns;
    r->count = columns_count(j->columns);
    if (r->count == 0 && announced == 0 && r->selection.keyframes && r->counts.keys == 0)
        return err_set(e, ERR_FAILED, "no key frame of '%s' could be found", path);
    if (r->count == 0 && announced == 0 && r->counts.displayed > 0)
        return err_set(e, ERR_FAILED,
                       "no frame of '%s' is selected: --start, --end or the interval leave none",
                       path);
    if (r->count == 0)
        return err_set(e, ERR_INPUT, "no frame of '%s' could be decoded", path);
    if (!assess_transparent(j, e))
        return false;
    if (inside + cut > 0)
        render_warn(j,
                    "'%s': %" PRIu64 " of %" PRIu64
                    " columns %s missing (their frames are not in the file or cannot be decoded)",
                    path, inside + cut, announced, inside + cut == 1 ? "is" : "are");
    uint64_t damaged = damaged_columns(j->columns, r->count);
    if (damaged > 0)
        render_warn(j, "'%s': %" PRIu64 " of %" PRIu64 " columns come%s from damaged frames", path,
                    damaged, r->count, damaged == 1 ? "s" : "");
    if (r->counts.decode_errors > 0 && inside + cut + r->counts.damaged == 0)
        render_warn(j, "'%s': the decoder found %" PRIu64 " of %" PRIu64 " packets damaged", path,
                    r->counts.decode_errors, r->counts.packets);
    assess_keys(j);
    assess_counts(j, inside + cut);
    assess_end(j, announced);
    r->missing = inside + cut + j->lost_to_end;
    render_decide_width(j);
    return steady(j, e) &&
           (!j->histogram ||
            film_palette_make(j->histogram, j->render->options->picture.colours, &r->palette, e));
}

bool render_is_whole(const struct render_job *j)
{
    const struct decode_counts *c = &j->report.counts;
    return j->report.missing == 0 && !j->cut_short && c->damaged == 0 && c->decode_errors == 0 &&
           !c->read_failed && c->unreadable == 0 && c->dropped == 0 && c->lead_in == 0 &&
           c->bad_keys == 0;
}
