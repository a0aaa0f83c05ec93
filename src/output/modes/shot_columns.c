#include "shot_columns.h"

#include <stdlib.h>
#include <string.h>

#include "render_line.h"

/* The columns of the report that may be in a shot: first..end - 1. */
struct span {
    uint64_t first, end;
};

struct shot_job {
    const struct report *report;
    const struct shots *shots;
    struct span *span;            /* [shots->count] */
    int k, rows, slit;            /* what the columns of the report have */
    const struct column **member; /* of the current shot */
    size_t members;
    uint8_t *line; /* a colour of each of them */
};

static bool is_member(const struct column *c, const struct shot *shot)
{
    return c->status != COLUMN_MISSING && c->frame >= shot->frame &&
           c->frame - shot->frame < shot->frames;
}

/* Finds the columns of every shot, and what they have. Both are in the order of time. */
static bool find_spans(struct shot_job *job, struct err *e)
{
    const struct report *r = job->report;
    uint64_t i = 0, most = 1;
    for (size_t n = 0; n < job->shots->count; n++) {
        const struct shot *shot = &job->shots->shot[n];
        job->span[n].first = i;
        for (; i < r->count; i++) {
            const struct column *c = columns_get(r->columns, i);
            if (c->status == COLUMN_MISSING)
                continue;
            if (c->frame >= shot->frame + shot->frames)
                break;
            job->k = c->cluster ? r->analysis.kmeans.k : 0;
            job->rows = c->row ? r->analysis.height : 0;
            job->slit = c->slit ? r->analysis.slit_length : 0;
        }
        job->span[n].end = i;
        most = i - job->span[n].first > most ? i - job->span[n].first : most;
    }
    job->member = err_calloc(most, sizeof(struct column *), e);
    job->line = job->member ? err_calloc(most, 3, e) : NULL;
    return job->line != NULL;
}

/* Gives the columns of a shot, as pool_columns pools them. */
static const struct column *column_in(const struct pool_source *from, uint64_t x, uint64_t n,
                                      const struct column *before, uint64_t *weight)
{
    const struct shot_job *job = from->of;
    (void)before;
    if (n >= job->span[x].end - job->span[x].first)
        return NULL;
    const struct column *c = columns_get(job->report->columns, job->span[x].first + n);
    *weight = is_member(c, &job->shots->shot[x]);
    return c;
}

static const uint8_t *average_of(const struct column *c, size_t y)
{
    (void)y;
    return c->average;
}

static const uint8_t *dominant_of(const struct column *c, size_t y)
{
    (void)y;
    return c->dominant;
}

static const uint8_t *row_of(const struct column *c, size_t y) { return c->row + y * 3; }

/* Collects a colour of each member in job->line. */
static void collect_colours(struct shot_job *job,
                            const uint8_t *(*of)(const struct column *c, size_t y), size_t y)
{
    for (size_t i = 0; i < job->members; i++)
        memcpy(job->line + i * 3, of(job->member[i], y), 3);
}

static void fill_from_members(struct shot_job *job, struct column *to)
{
    const struct light_table *means = job->report->analysis.means;
    const struct column *middle = job->member[job->members / 2];
    to->status = COLUMN_OK;
    for (size_t i = 0; i < job->members; i++)
        if (job->member[i]->status == COLUMN_DAMAGED)
            to->status = COLUMN_DAMAGED;
    collect_colours(job, average_of, 0);
    strip_fit_mean(job->line, job->members, to->average, 1, means);
    collect_colours(job, dominant_of, 0);
    strip_fit_medoid(job->line, job->members, to->dominant, 1);
    for (size_t y = 0; y < (size_t)job->rows; y++) {
        collect_colours(job, row_of, y);
        strip_fit_mean(job->line, job->members, to->row + y * 3, 1, means);
    }
    if (to->slit)
        memcpy(to->slit, middle->slit, (size_t)job->slit * 3);
    if (to->cluster && job->members == 1) {
        to->clusters = middle->clusters;
        to->chosen = middle->chosen;
        memcpy(to->cluster, middle->cluster, middle->clusters * sizeof *to->cluster);
    }
}

/* Fills a column with one colour. */
static void fill_with(const struct shot_job *job, const uint8_t rgb[3], struct column *to)
{
    const struct report_analysis *a = &job->report->analysis;
    to->status = COLUMN_OK;
    memcpy(to->average, rgb, 3);
    memcpy(to->dominant, rgb, 3);
    for (size_t y = 0; y < (size_t)job->rows; y++)
        memcpy(to->row + y * 3, rgb, 3);
    for (size_t y = 0; y < (size_t)job->slit; y++)
        memcpy(to->slit + y * 3, rgb, 3);
    if (!to->cluster)
        return;
    to->clusters = 1;
    to->cluster[0].count = (uint32_t)a->width * (uint32_t)a->height;
    memcpy(to->cluster[0].rgb, rgb, 3);
}

static bool fill_shot(struct shot_job *job, size_t n, struct columns *columns, struct err *e)
{
    const struct shot *shot = &job->shots->shot[n];
    struct column *to = columns_at(columns, n, e);
    if (!to)
        return false;
    to->frame = shot->frame;
    to->time_us = shot->start_us;
    to->repeat = 1;
    job->members = 0;
    for (uint64_t i = job->span[n].first; i < job->span[n].end; i++) {
        const struct column *c = columns_get(job->report->columns, i);
        if (is_member(c, shot))
            job->member[job->members++] = c;
    }
    if (job->members > 0)
        fill_from_members(job, to);
    else
        fill_with(job, shot->mean, to);
    return true;
}

static bool fill_all(struct shot_job *job, struct columns *columns, struct err *e)
{
    const struct pool_source from = {
        .report = job->report, .count = job->shots->count, .column = column_in, .of = job};
    if (job->slit > 0)
        columns_keep_slit(columns, job->slit);
    if (job->k > 0 && !pool_columns(&from, columns, e))
        return false;
    for (size_t n = 0; n < job->shots->count; n++)
        if (!fill_shot(job, n, columns, e))
            return false;
    return true;
}

struct columns *shot_columns(const struct report *r, const struct shots *shots, struct err *e)
{
    struct shot_job job = {
        .report = r, .shots = shots, .span = err_calloc(shots->count, sizeof *job.span, e)};
    struct columns *columns = NULL;
    if (job.span && find_spans(&job, e))
        columns = columns_open(job.k, job.rows, e);
    if (columns && !fill_all(&job, columns, e))
        columns_free(&columns);
    free(job.member);
    free(job.line);
    free(job.span);
    return columns;
}
