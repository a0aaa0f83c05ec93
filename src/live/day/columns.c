#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "day.h"
#include "barcode/base/clock.h"
#include "base/log.h"
#include "base/path.h"
#include "output/poster/poster.h"

/* A day and its columns, from the first one to the last one that were closed with a frame. */
struct day {
    struct live_day day;
    struct columns *columns;
    struct live_log *log; /* NULL: no folder, or the day is over */
    int64_t first;        /* the number of the column at index 0 */
    uint64_t count;
    uint64_t written; /* `count` when the files were written */
};

struct live_columns {
    struct live_columns_setup s;
    int64_t step_us;
    struct film film;
    struct live_shape shape;
    bool shaped;
    struct report report;
    uint8_t *rgb;              /* [report.picture.height][3], for the feed; NULL: there is none */
    struct day *today, *ended; /* ended: its files have to be written once more, or NULL */
    int64_t last;              /* of today: the last column that was closed; INT64_MIN: none */
    int64_t open;              /* the number of the open column; INT64_MIN: none */
    bool has_frame;            /* the open column has one */
    struct columns *latest;    /* [1]: the open column's latest frame */
    struct live_average sum;   /* of all its frames */
    uint64_t closed;
    bool log_failed;
    /* of a dated source */
    int64_t idle_us;     /* the first tick after the last frame, or NONE */
    int64_t since_us;    /* live_columns_since */
    int64_t last_frame;  /* the last column that was closed with a frame */
    int sparse;          /* columns in a row with missing ones before them */
    int64_t sparse_from; /* the column before those */
};

static const int64_t NONE = INT64_MIN;

/* ------------------------------------------------------------------ a column */

/* Fills the report, without columns. */
static void set_report(struct live_columns *c)
{
    const struct film *film = &c->film;
    c->report = c->s.plan->report;
    c->report.film = film;
    c->report.analysis.width = c->shape.width;
    c->report.analysis.height = c->shape.height;
    c->report.analysis.slit_length = c->shape.slit_length;
    c->report.analysis.light.peak =
        light_peak(&c->report.analysis.light, film->transfer, film->peak);
    c->report.picture.slit = c->shape.slit;
}

/* Copies a column into another that has the same room. */
static void copy_column(const struct report *r, struct column *to, const struct column *from)
{
    struct column room = *to;
    *to = *from;
    to->cluster = room.cluster;
    to->row = room.row;
    to->mode = room.mode;
    to->slit = room.slit;
    if (to->cluster && from->cluster)
        memcpy(to->cluster, from->cluster, from->clusters * sizeof *from->cluster);
    if (to->row && from->row)
        memcpy(to->row, from->row, (size_t)r->analysis.height * 3);
    if (to->slit && from->slit)
        memcpy(to->slit, from->slit, (size_t)r->analysis.slit_length * 3);
}

/* Paints the open column into c->rgb. Returns false if out of memory. */
static bool paint_open(struct live_columns *c)
{
    struct err none = ERR_INIT;
    struct report one = c->report;
    one.picture.width = 1;
    one.count = 1;
    one.columns = c->latest;
    struct painter *painter = painter_open(&one, (struct strips){c->s.plan->strips.kind, 1}, &none);
    bool ok = painter != NULL;
    for (int y = 0; ok && y < one.picture.height; y++)
        ok = painter_row(painter, y, c->rgb + (size_t)y * 3, &none);
    painter_free(&painter);
    return ok;
}

/* Puts the open column into the feed; with `over` it is complete. */
static void show_open(struct live_columns *c, bool over)
{
    if (!c->rgb)
        return;
    struct live_column to = {.number = c->open,
                             .time_us = live_start_us(c->open, c->step_us),
                             .missing = true,
                             .open = !over};
    if (c->has_frame && paint_open(c)) {
        const struct column *column = columns_get(c->latest, 0);
        memcpy(to.average, column->average, 3);
        memcpy(to.dominant, column->dominant, 3);
        to.missing = false;
    }
    live_feed_put(c->s.feed, &to, c->rgb);
}

/* ------------------------------------------------------------------ days */

static void free_day(struct day **d)
{
    if (!*d)
        return;
    live_log_close(&(*d)->log);
    columns_free(&(*d)->columns);
    free(*d);
    *d = NULL;
}

/* Adds a column to the day. */
static bool append_column(struct live_columns *c, struct day *d, int64_t number,
                          const struct column *from, struct err *e)
{
    if (d->count == 0)
        d->first = number;
    uint64_t index = (uint64_t)(number - d->first);
    struct column *to = columns_at(d->columns, index, e);
    if (!to)
        return false;
    copy_column(&c->report, to, from);
    to->frame = index;
    to->time_us = (int64_t)index * c->step_us;
    to->repeat = 1;
    d->count = index + 1;
    return true;
}

struct reading {
    struct live_columns *c;
    struct day *d;
};

/* Implements live_log_each. */
static bool restore(void *user, int64_t number, const struct column *column, struct err *e)
{
    struct reading *r = user;
    if (number < r->d->day.first || number >= r->d->day.end)
        return true;
    return append_column(r->c, r->d, number, column, e);
}

static char *log_path(const struct live_columns *c, const struct live_day *day, struct err *e)
{
    char name[512];
    snprintf(name, sizeof name, "%s-%s.columns", c->s.stem, day->name);
    return path_join(c->s.folder, name, "", e);
}

static bool open_log(struct live_columns *c, struct day *d, struct err *e)
{
    struct reading r = {c, d};
    if (!*c->s.folder)
        return true;
    char *path = log_path(c, &d->day, e);
    d->log = path ? live_log_open(path, &c->shape, restore, &r, e) : NULL;
    free(path);
    return d->log != NULL;
}

static struct columns *open_columns(const struct live_columns *c, struct err *e)
{
    struct columns *columns = columns_open(c->shape.k, c->shape.rows, e);
    if (columns)
        columns_keep_slit(columns, c->shape.slit_length);
    return columns;
}

/* Opens the day of a column with what its log has. */
static struct day *open_day(struct live_columns *c, int64_t number, struct err *e)
{
    struct day *d = err_calloc(1, sizeof *d, e);
    if (!d)
        return NULL;
    d->day = live_day_of(&c->s.plan->day, number, c->step_us);
    d->columns = open_columns(c, e);
    if (!d->columns || !open_log(c, d, e))
        free_day(&d);
    return d;
}

static void write_day(const struct live_columns *c, const struct day *d, bool end)
{
    struct err e = ERR_INIT;
    if (d->count == 0 || !*c->s.folder)
        return;
    struct live_day shown = d->day;
    shown.first = d->first;
    if (!live_day_write(c->s.plan->strips, &shown, c->s.folder, c->s.stem, &c->report, d->columns,
                        d->count, end, &e))
        log_msg(LOG_WARNING, "%s", e.text);
}

/*
 * Ends the current day. Its files are written once more by live_columns_write; if one day ended
 * just before it, that one's are written now.
 */
static void end_day(struct live_columns *c)
{
    if (!c->today)
        return;
    if (c->ended)
        write_day(c, c->ended, true);
    free_day(&c->ended);
    if (*c->s.folder) {
        live_log_close(&c->today->log);
        c->ended = c->today;
        c->today = NULL;
    }
    free_day(&c->today);
}

/* Makes the day of a column the current one. */
static bool switch_day(struct live_columns *c, int64_t number, struct err *e)
{
    if (c->today && number >= c->today->day.first && number < c->today->day.end)
        return true;
    struct day *d = open_day(c, number, e);
    if (!d)
        return false;
    end_day(c);
    c->today = d;
    c->last = d->log ? live_log_last(d->log) : NONE;
    return true;
}

/* ------------------------------------------------------------------ columns */

/* Logs, once, that the columns of a source of pictures are too short to have one each. */
static void warn_if_sparse(struct live_columns *c)
{
    enum { IN_A_ROW = 5, DAY_S = 86400 };
    if (!c->s.dated || c->sparse == IN_A_ROW)
        return;
    if (c->closed > 0 && c->open > c->last_frame + 1) {
        c->sparse++;
    } else {
        c->sparse = 0;
        c->sparse_from = c->open;
    }
    c->last_frame = c->open;
    int64_t s = (c->open - c->sparse_from) * c->step_us / (INT64_C(1000000) * IN_A_ROW), wanted = s;
    if (c->sparse < IN_A_ROW || s < 1 || s > DAY_S)
        return;
    while (wanted < DAY_S && DAY_S % wanted != 0)
        wanted++;
    log_msg(LOG_WARNING,
            "'%s': a picture comes every %" PRId64 " s or so, and most columns are without one: "
            "--live=%" PRId64 " would give each a column",
            c->s.label, s, wanted);
}

/* Closes the open column: it is logged and kept if it has a frame. */
static void close_open(struct live_columns *c)
{
    struct err e = ERR_INIT;
    if (c->open == NONE)
        return;
    show_open(c, true);
    if (c->has_frame && c->today) {
        const struct column *column = columns_get(c->latest, 0);
        bool logged = !c->today->log || live_log_append(c->today->log, c->open, column, &e);
        if (!logged && !c->log_failed)
            log_msg(LOG_WARNING, "%s", e.text);
        c->log_failed = !logged;
        err_clear(&e);
        if (!append_column(c, c->today, c->open, column, &e))
            log_msg(LOG_WARNING, "'%s': a column is lost: %s", c->s.label, e.text);
        warn_if_sparse(c);
        c->closed++;
        int64_t end_us = live_start_us(c->open + 1, c->step_us);
        if (end_us > c->since_us && end_us <= clock_wall_us() + LIVE_DAY_US)
            c->since_us = end_us;
    }
    c->last = c->open;
    c->open = NONE;
    c->has_frame = false;
}

static void open_column(struct live_columns *c, int64_t number)
{
    c->open = number;
    c->has_frame = false;
    c->sum = (struct live_average){.count = 0};
}

bool live_columns_accept(const struct live_columns *c, int64_t number)
{
    if (!c->today || number < c->today->day.first || number >= c->today->day.end)
        return true;
    return number > c->last && (c->open == NONE || number >= c->open);
}

/* Sets the open column to a frame. */
static struct column *set_latest(struct live_columns *c, const struct column *from)
{
    struct column *latest = columns_at(c->latest, 0, NULL); /* is allocated: set_shape */
    copy_column(&c->report, latest, from);
    latest->time_us = 0;
    latest->frame = 0;
    c->has_frame = true;
    return latest;
}

bool live_columns_add(struct live_columns *c, int64_t number, const struct column *column,
                      const struct live_average *sum, struct err *e)
{
    if (c->open != number)
        close_open(c);
    if (!switch_day(c, number, e))
        return false;
    if (number <= c->last) /* the day was here before */
        return true;
    if (c->open != number)
        open_column(c, number);
    if (column->status != COLUMN_MISSING) {
        struct column *latest = set_latest(c, column);
        live_average_add(&c->sum, sum);
        live_average_colour(&c->sum, c->report.analysis.means, latest->average);
        c->idle_us = NONE;
    }
    show_open(c, false);
    return true;
}

/*
 * Returns when the open column of a dated source, whose time is over, may be closed: some seconds
 * after its last frame, because others of it may follow at once.
 */
static int64_t burst_end(struct live_columns *c, int64_t now_us)
{
    const int64_t most_us = 5000000;
    if (c->idle_us == NONE)
        c->idle_us = now_us;
    return c->idle_us + most_us;
}

/* Closes the open column if its time is over. Returns when to try again. */
static int64_t tick_open(struct live_columns *c, int64_t now_us, int64_t grace_us)
{
    int64_t due = live_start_us(c->open + 1, c->step_us) + grace_us;
    if (now_us >= due && c->s.dated)
        due = burst_end(c, now_us);
    if (now_us < due)
        return due;
    close_open(c);
    return now_us;
}

int64_t live_columns_tick(struct live_columns *c, int64_t now_us, int64_t grace_us)
{
    const int64_t dated_us = 3600000000;
    int64_t due = INT64_MAX, late_us = c->s.dated ? dated_us : grace_us;
    if (!c->shaped)
        return due;
    if (c->open != NONE)
        due = tick_open(c, now_us, grace_us);
    if (c->open != NONE)
        return due;
    int64_t number = live_number(now_us - late_us, c->step_us);
    if (c->today && number >= c->today->day.end)
        end_day(c);
    if (c->s.dated)
        return c->today ? live_start_us(c->today->day.end, c->step_us) + late_us : INT64_MAX;
    if (number > c->last)
        open_column(c, number);
    number = c->open != NONE ? c->open : c->last;
    return live_start_us(number + 1, c->step_us) + grace_us;
}

void live_columns_reset(struct live_columns *c)
{
    if (!c->s.dated)
        return;
    c->open = NONE;
    c->has_frame = false;
}

int64_t live_columns_since(const struct live_columns *c) { return c->since_us; }

/* ------------------------------------------------------------------ files */

bool live_columns_changed(const struct live_columns *c)
{
    if (!*c->s.folder)
        return false;
    return c->ended || (c->today && c->today->count != c->today->written);
}

void live_columns_mark_written(struct live_columns *c)
{
    free_day(&c->ended);
    if (c->today)
        c->today->written = c->today->count;
}

/* Makes the log survive a crash of the machine. */
static void sync_log(const struct live_columns *c)
{
    struct err none = ERR_INIT;
    char *path = log_path(c, &c->today->day, &none);
    int log = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (log >= 0) {
        (void)fdatasync(log);
        close(log);
    }
    free(path);
}

void live_columns_write(struct live_columns *c)
{
    if (!live_columns_changed(c))
        return;
    if (c->ended)
        write_day(c, c->ended, true);
    if (c->today) {
        sync_log(c);
        write_day(c, c->today, false);
    }
    live_columns_mark_written(c);
}

void live_columns_close(struct live_columns *c)
{
    if (c->shaped)
        close_open(c);
}

/* ------------------------------------------------------------------ opening */

/* Sets up what depends on the size of analysis frames. */
static bool set_shape(struct live_columns *c, int width, int height, struct err *e)
{
    c->shape = live_shape_of(&c->s.plan->report, width, height);
    set_report(c);
    c->latest = open_columns(c, e);
    if (c->s.feed)
        c->rgb = err_calloc((size_t)c->report.picture.height, 3, e);
    c->shaped = c->latest && columns_at(c->latest, 0, e) && e->code == ERR_NONE;
    return c->shaped;
}

/* Puts the restored columns of a day into the feed, as many as it has room for. */
static void show_day(struct live_columns *c, const struct day *d)
{
    const uint64_t room = c->s.feed ? live_feed_capacity(c->s.feed) : 0;
    uint64_t i = d->count > room ? d->count - room : 0;
    for (; i < d->count; i++) {
        const struct column *column = columns_get(d->columns, i);
        if (column->status == COLUMN_MISSING)
            continue;
        set_latest(c, column);
        c->open = d->first + (int64_t)i;
        show_open(c, true);
    }
    c->open = NONE;
    c->has_frame = false;
}

/*
 * Shows the newest log until there is a frame. What it has decides nothing of the day: a frame may
 * have another size.
 */
static void show_newest(struct live_columns *c)
{
    struct err none = ERR_INIT;
    struct live_shape shape;
    struct day d = {.day = {.first = INT64_MIN, .end = INT64_MAX}};
    struct reading r = {c, &d};
    char *path =
        c->s.feed && *c->s.folder ? live_day_newest(c->s.folder, c->s.stem, c->s.now_us) : NULL;
    bool ok =
        path && live_log_shape(path, &shape) && set_shape(c, shape.width, shape.height, &none);
    if (ok)
        d.columns = open_columns(c, &none);
    if (d.columns)
        d.log = live_log_open(path, &c->shape, restore, &r, &none);
    /* else the clock was set back, and the feed would take no column until then */
    if (d.log && live_log_last(d.log) < live_number(c->s.now_us, c->step_us))
        show_day(c, &d);
    live_log_close(&d.log);
    columns_free(&d.columns);
    columns_free(&c->latest);
    free(c->rgb);
    c->rgb = NULL;
    c->shaped = false;
    free(path);
}

/* Continues the day: its log has the size of the analysis frames, before there is a frame. */
static bool restore_day(struct live_columns *c, struct err *e)
{
    struct live_shape shape;
    int64_t now = live_number(c->s.now_us, c->step_us);
    struct live_day day = live_day_of(&c->s.plan->day, now, c->step_us);
    char *path = *c->s.folder ? log_path(c, &day, e) : NULL;
    bool found = path && live_log_shape(path, &shape);
    free(path);
    if (!found) {
        show_newest(c);
        return e->code == ERR_NONE;
    }
    if (!set_shape(c, shape.width, shape.height, e) || !switch_day(c, now, e))
        return false;
    show_day(c, c->today);
    return true;
}

struct live_columns *live_columns_open(const struct live_columns_setup *s, struct err *e)
{
    struct live_columns *c = err_calloc(1, sizeof *c, e);
    if (!c)
        return NULL;
    c->s = *s;
    c->step_us = s->plan->report.analysis.selection.interval_us;
    c->last = c->open = NONE;
    if (s->dated && *s->folder)
        c->since_us = live_day_since(s->folder, s->stem, s->now_us);
    snprintf(c->film.title, sizeof c->film.title, "%s", s->label);
    c->film.path = strdup(s->stem);
    if (!c->film.path)
        err_memory(e, strlen(s->stem) + 1);
    if (!c->film.path || !restore_day(c, e))
        live_columns_free(&c);
    return c;
}

const struct live_shape *live_columns_shape(const struct live_columns *c)
{
    return c->shaped ? &c->shape : NULL;
}

bool live_columns_start(struct live_columns *c, enum transfer transfer, int peak, int width,
                        int height, struct err *e)
{
    c->film.transfer = transfer;
    c->film.peak = peak;
    return set_shape(c, width, height, e);
}

uint64_t live_columns_closed(const struct live_columns *c) { return c->closed; }

void live_columns_free(struct live_columns **c)
{
    if (!*c)
        return;
    free_day(&(*c)->today);
    free_day(&(*c)->ended);
    free((*c)->rgb);
    columns_free(&(*c)->latest);
    free((*c)->film.path);
    free(*c);
    *c = NULL;
}
