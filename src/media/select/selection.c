
#include "selection.h"

__extension__ typedef unsigned __int128 u128;

struct selection_cursor selection_begin(const struct selection *rule)
{
    struct selection_cursor c = {.rule = *rule};
    /* Rules are checked when they are parsed. This only prevents a division by zero. */
    if (c.rule.every < 1)
        c.rule.every = 1;
    if (c.rule.interval_us < 1)
        c.rule.interval_us = 1;
    if (c.rule.start_us < 0)
        c.rule.start_us = 0;
    if (c.rule.keyframes && c.rule.kind == SELECT_EVERY)
        c.rule.kind = SELECT_INTERVAL;
    return c;
}

/* INTERVAL: returns how many targets are before `t`: the number of j >= 0 with start + j*S < t. */
static uint64_t targets_by_interval(const struct selection *r, int64_t t)
{
    if (t > r->end_us)
        t = r->end_us;
    if (t <= r->start_us)
        return 0;
    return (uint64_t)(t - r->start_us - 1) / (uint64_t)r->interval_us + 1;
}

/*
 * COLUMNS: returns the number of j in 0..C-1 with start + floor((2j+1)*D / (2C)) < t. For an
 * integer n = t - start, floor(x) < n is x < n. So it is the number of odd numbers below q = 2*C*n
 * / D, which is floor(ceil(q) / 2). 2*C*n is below 2^128 for every C and n.
 */
static uint64_t targets_by_columns(const struct selection *r, int64_t t)
{
    if (r->end_us <= r->start_us || t <= r->start_us)
        return 0;
    if (t >= r->end_us)
        return r->columns;
    uint64_t n = (uint64_t)(t - r->start_us), span = (uint64_t)(r->end_us - r->start_us);
    u128 product = (u128)2 * r->columns * n;
    u128 q = product / span + (product % span != 0);
    return (uint64_t)(q / 2);
}

static uint64_t targets_before(const struct selection *r, int64_t t)
{
    return r->kind == SELECT_INTERVAL ? targets_by_interval(r, t) : targets_by_columns(r, t);
}

static uint32_t count_by_number(struct selection_cursor *c, int64_t time_us)
{
    if (time_us < c->rule.start_us || time_us >= c->rule.end_us)
        return 0;
    return c->seen++ % c->rule.every == 0;
}

/* Only next_us decides: targets skipped by broken times go to the next frame beyond them. */
static uint32_t count_by_time(const struct selection_cursor *c, int64_t time_us, int64_t next_us)
{
    if (next_us <= time_us)
        return 0;
    if (next_us == INT64_MAX && c->rule.kind == SELECT_INTERVAL)
        next_us = time_us + 1;
    uint64_t before = targets_before(&c->rule, next_us);
    if (before <= c->column)
        return 0;
    uint64_t n = before - c->column;
    return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

void selection_first(struct selection_cursor *c, int64_t time_us)
{
    if (c->rule.kind != SELECT_EVERY && c->rule.start_us < time_us)
        c->rule.start_us = time_us;
}

uint32_t selection_take(struct selection_cursor *c, int64_t time_us, int64_t next_us,
                        uint64_t *column)
{
    uint32_t n = c->rule.kind == SELECT_EVERY ? count_by_number(c, time_us)
                                              : count_by_time(c, time_us, next_us);
    if (column)
        *column = c->column;
    c->column += n;
    return n;
}

/* Returns the rule that picks previews. */
static struct selection preview_rule(const struct selection *rule)
{
    return (struct selection){
        .kind = SELECT_INTERVAL, .interval_us = rule->preview_us, .end_us = INT64_MAX};
}

bool selection_pick(struct selection_cursor *c, int64_t time_us, int64_t next_us,
                    struct frame_tag *tag)
{
    tag->repeat = selection_take(c, time_us, next_us, &tag->column);
    tag->preview = c->preview;
    tag->previews = 0;
    if (c->rule.preview_us > 0) {
        struct selection_cursor previews = {.rule = preview_rule(&c->rule), .column = c->preview};
        tag->previews = count_by_time(&previews, time_us, next_us);
        c->preview += tag->previews;
    }
    tag->scan = time_us >= c->rule.start_us && time_us < c->rule.scan_end_us;
    return frame_is_selected(tag);
}

int64_t selection_next_preview(const struct selection_cursor *c)
{
    struct selection rule = preview_rule(&c->rule);
    return c->rule.preview_us > 0 ? selection_target(&rule, c->preview) : INT64_MAX;
}

int64_t selection_target(const struct selection *rule, uint64_t column)
{
    struct selection r = selection_begin(rule).rule;
    bool none = r.kind == SELECT_EVERY ||
                (r.kind == SELECT_COLUMNS && (column >= r.columns || r.end_us <= r.start_us));
    if (none)
        return -1;
    u128 after =
        r.kind == SELECT_INTERVAL
            ? (u128)column * (uint64_t)r.interval_us
            : ((u128)2 * column + 1) * (uint64_t)(r.end_us - r.start_us) / ((u128)2 * r.columns);
    return after > (u128)(INT64_MAX - r.start_us) ? INT64_MAX : r.start_us + (int64_t)after;
}

int64_t selection_next(const struct selection_cursor *c)
{
    int64_t target = selection_target(&c->rule, c->column);
    return target < 0 || target >= c->rule.end_us ? INT64_MAX : target;
}

bool selection_done(const struct selection_cursor *c, int64_t time_us)
{
    if (c->rule.preview_us > 0 || time_us < c->rule.scan_end_us)
        return false;
    if (c->rule.kind == SELECT_EVERY)
        return time_us >= c->rule.end_us;
    if (c->rule.to_film_end)
        return false;
    return c->column >= targets_before(&c->rule, c->rule.end_us);
}

bool selection_needs_film(const struct selection *rule)
{
    return rule->preview_us > 0 || rule->scan_end_us > 0;
}

/* EVERY: estimates the frames inside start..end, as if they were evenly spaced. */
static uint64_t estimate_by_count(const struct selection *r, const struct film_length *l)
{
    if (l->frames <= 0)
        return 0;
    uint64_t inside = (uint64_t)l->frames;
    int64_t film_end = film_length_end(l), end = r->end_us < film_end ? r->end_us : film_end;
    int64_t start = r->start_us > l->start_us ? r->start_us : l->start_us;
    bool whole = start == l->start_us && (r->end_us == INT64_MAX || end == film_end);
    if (!whole) {
        if (end <= start || l->duration_us <= 0)
            return 0;
        u128 scaled = (u128)inside * (uint64_t)(end - start), duration = (uint64_t)l->duration_us;
        inside = (uint64_t)((scaled + duration - 1) / duration);
    }
    return inside / r->every + (inside % r->every != 0);
}

uint64_t selection_estimate(const struct selection *rule, const struct film_length *length)
{
    struct selection r = selection_begin(rule).rule;
    int64_t end = film_length_end(length);
    if (r.kind == SELECT_EVERY)
        return estimate_by_count(&r, length);
    if (r.end_us == INT64_MAX && length->duration_us < 0)
        return r.kind == SELECT_COLUMNS ? r.columns : 0;
    r.start_us = r.start_us > length->start_us ? r.start_us : length->start_us;
    if (length->duration_us == 0)
        r.end_us = length->start_us;
    else if (end < r.end_us)
        r.end_us = end;
    return targets_before(&r, r.end_us);
}

int64_t selection_last_until(const struct selection *rule, int64_t last_us, int64_t frame_us)
{
    int64_t until = last_us + frame_us;
    if (rule->kind != SELECT_COLUMNS || rule->end_us == INT64_MAX)
        return until;
    return rule->end_us - until <= selection_slack_us(rule) ? INT64_MAX : until;
}

int64_t selection_slack_us(const struct selection *rule)
{
    int64_t usual = film_length_slack(rule->end_us);
    uint64_t span = rule->end_us > rule->start_us ? (uint64_t)(rule->end_us - rule->start_us) : 0;
    uint64_t column = span / (rule->columns > 0 ? rule->columns : 1) + 1;
    return column < (uint64_t)usual ? (int64_t)column : usual;
}
