#include "barcode/engine/column.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "barcode/engine/dominant.h"

enum { SEGMENT_COLUMNS = 1024 };

static const uint64_t COUNT_MAX = UINT64_C(1) << 32;

/* Columns that are allocated together, with their clusters and modes, then rows and slits. */
struct segment {
    struct column column[SEGMENT_COLUMNS];
    struct cluster cluster[];
};

/* The table grows by realloc, but segments never move: pointers to columns stay valid. */
struct columns {
    pthread_mutex_t lock;
    int k, rows, slit;
    bool modes;
    struct segment **segment;
    size_t segments; /* entries in the table; many may be NULL */
    uint64_t count, done;
};

struct columns *columns_open(int k, int rows, struct err *e)
{
    struct columns *c = err_calloc(1, sizeof *c, e);
    if (!c)
        return NULL;
    pthread_mutex_init(&c->lock, NULL);
    c->k = k;
    c->rows = rows;
    return c;
}

void columns_keep_modes(struct columns *c) { c->modes = true; }

void columns_keep_slit(struct columns *c, int length) { c->slit = length; }

static struct segment *segment_make(const struct columns *c, struct err *e)
{
    size_t k = (size_t)c->k, clusters = k + (c->modes ? DOMINANT_MOST : 0);
    size_t row_bytes = (size_t)c->rows * 3, bytes = row_bytes + (size_t)c->slit * 3;
    size_t each = clusters * sizeof(struct cluster) + bytes;
    struct segment *s = err_calloc(1, sizeof *s + SEGMENT_COLUMNS * each, e);
    for (size_t i = 0; s && i < SEGMENT_COLUMNS; i++) {
        struct column *column = &s->column[i];
        struct cluster *cluster = s->cluster + i * clusters;
        uint8_t *row = (uint8_t *)(s->cluster + SEGMENT_COLUMNS * clusters) + i * bytes;
        column->cluster = k > 0 ? cluster : NULL;
        column->mode = c->modes ? cluster + k : NULL;
        column->row = row_bytes > 0 ? row : NULL;
        column->slit = c->slit > 0 ? row + row_bytes : NULL;
    }
    return s;
}

static bool table_reserve(struct columns *c, size_t segments, struct err *e)
{
    if (segments <= c->segments)
        return true;
    size_t room = c->segments * 2 > segments ? c->segments * 2 : segments;
    struct segment **table = realloc(c->segment, room * sizeof *table);
    if (!table)
        return err_memory(e, room * sizeof *table);
    memset(table + c->segments, 0, (room - c->segments) * sizeof *table);
    c->segment = table;
    c->segments = room;
    return true;
}

struct column *columns_at(struct columns *c, uint64_t index, struct err *e)
{
    if (index >= COUNT_MAX) {
        err_set(e, ERR_FAILED, "too many columns: at most %llu are kept",
                (unsigned long long)COUNT_MAX);
        return NULL;
    }
    size_t at = (size_t)(index / SEGMENT_COLUMNS);
    struct column *column = NULL;
    pthread_mutex_lock(&c->lock);
    if (table_reserve(c, at + 1, e)) {
        if (!c->segment[at])
            c->segment[at] = segment_make(c, e);
        if (c->segment[at]) {
            column = &c->segment[at]->column[index % SEGMENT_COLUMNS];
            if (c->count <= index)
                c->count = index + 1;
        }
    }
    pthread_mutex_unlock(&c->lock);
    return column;
}

static void name(struct column *column, const struct frame_tag *tag)
{
    column->frame = tag->frame;
    column->time_us = tag->time_us;
    column->repeat = tag->repeat;
}

/* Returns sum / count, rounded half up. */
static uint8_t mean(uint64_t sum, uint64_t count)
{
    return (uint8_t)((2 * sum + count) / (2 * count));
}

void column_row_light(const struct light_table *sdr, const uint8_t *rgb, int n, uint32_t mean[3])
{
    uint64_t sum[3] = {0}, count = (uint64_t)n;
    for (int x = 0; x < n; x++)
        for (int c = 0; c < 3; c++)
            sum[c] += light_of_byte(sdr, *rgb++);
    for (int c = 0; c < 3; c++)
        mean[c] = (uint32_t)((sum[c] + count / 2) / count);
}

/* Fills the means of column_fill from linear light. */
static void fill_light(struct column *to, const uint32_t *row_light, int height, bool rows,
                       const struct light_table *sdr)
{
    uint64_t sum[3] = {0}, count = (uint64_t)height;
    for (size_t at = 0; at < (size_t)height * 3; at++) {
        sum[at % 3] += row_light[at];
        if (rows)
            to->row[at] = light_to_byte(sdr, row_light[at]);
    }
    for (int c = 0; c < 3; c++)
        to->average[c] = light_to_byte(sdr, (uint32_t)((sum[c] + count / 2) / count));
}

void column_fill(struct column *to, const struct frame_tag *tag, const uint32_t *row_sum, int width,
                 int height, bool rows, const struct light_table *means)
{
    uint64_t sum[3] = {0}, pixels = (uint64_t)width * (uint64_t)height;
    name(to, tag);
    to->status = tag->damaged ? COLUMN_DAMAGED : COLUMN_OK;
    if (means) {
        fill_light(to, row_sum, height, rows, means);
        return;
    }
    for (size_t at = 0; at < (size_t)height * 3; at++) {
        sum[at % 3] += row_sum[at];
        if (rows)
            to->row[at] = mean(row_sum[at], (uint64_t)width);
    }
    for (int c = 0; c < 3; c++)
        to->average[c] = mean(sum[c], pixels);
}

void column_fill_transparent(struct column *to, const struct frame_tag *tag)
{
    name(to, tag);
    to->transparent = true;
}

void column_fill_modes(struct column *to, const struct cluster *mode, int modes)
{
    memcpy(to->dominant, mode[0].rgb, sizeof to->dominant);
    if (!to->mode)
        return;
    memcpy(to->mode, mode, (size_t)modes * sizeof *mode);
    to->modes = (uint8_t)modes;
}

bool columns_announce(struct columns *c, const struct frame_tag *tag, struct err *e)
{
    if (!c || !frame_fills_column(tag))
        return true;
    struct column *column = columns_at(c, tag->column, e);
    if (!column || !columns_at(c, tag->column + tag->repeat - 1, e))
        return false;
    name(column, tag);
    return true;
}

void columns_note_done(struct columns *c, const struct frame_tag *tag)
{
    pthread_mutex_lock(&c->lock);
    c->done += tag->repeat;
    pthread_mutex_unlock(&c->lock);
}

uint64_t columns_done(struct columns *c)
{
    pthread_mutex_lock(&c->lock);
    uint64_t done = c->done;
    pthread_mutex_unlock(&c->lock);
    return done;
}

uint64_t columns_count(struct columns *c)
{
    pthread_mutex_lock(&c->lock);
    uint64_t count = c->count;
    pthread_mutex_unlock(&c->lock);
    return count;
}

const struct column *columns_get(const struct columns *c, uint64_t index)
{
    /* MISSING: part of a gap in which no column was created */
    static const struct column never_made;
    size_t at = (size_t)(index / SEGMENT_COLUMNS);
    if (at >= c->segments || !c->segment[at])
        return &never_made;
    return &c->segment[at]->column[index % SEGMENT_COLUMNS];
}

/*
 * Copies the column at `index` to the following columns that its frame fills. The copies share its
 * clusters and rows, which are read-only from now on. If out of memory, they stay MISSING. The
 * image is the same, because a missing column is painted like the previous one.
 */
static void spread(struct columns *c, uint64_t index)
{
    const struct column *first = columns_get(c, index);
    uint64_t end = index + first->repeat < COUNT_MAX ? index + first->repeat : COUNT_MAX;
    for (uint64_t i = index + 1; i < end; i++) {
        struct column *copy = columns_at(c, i, NULL);
        if (!copy)
            return;
        if (copy->status != COLUMN_MISSING || copy->repeat != 0)
            continue;
        *copy = *first;
        copy->repeat = 0;
    }
}

static bool is_lost(const struct column *c)
{
    return c->status == COLUMN_MISSING && !c->transparent;
}

uint64_t columns_finish(struct columns *c, uint64_t *cut)
{
    for (uint64_t i = 0; i < c->count; i++)
        if (columns_get(c, i)->repeat > 1)
            spread(c, i);

    uint64_t before = c->count, missing = 0;
    while (c->count > 0 && is_lost(columns_get(c, c->count - 1)))
        c->count--;
    if (cut)
        *cut = before - c->count;
    for (uint64_t i = 0; i < c->count; i++)
        missing += is_lost(columns_get(c, i));
    return missing;
}

void columns_free(struct columns **c)
{
    if (!*c)
        return;
    for (size_t i = 0; i < (*c)->segments; i++)
        free((*c)->segment[i]);
    free((*c)->segment);
    pthread_mutex_destroy(&(*c)->lock);
    free(*c);
    *c = NULL;
}
