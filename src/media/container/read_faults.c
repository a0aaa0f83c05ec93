#include "film_input.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct byte_range {
    int64_t from, to;
};

struct read_faults {
    bool keep_going;
    pthread_mutex_t lock; /* guards the rest */
    bool failed;
    int error;                /* of the first failed read; 0: none */
    char *path;               /* its file; NULL: unknown */
    int64_t at;               /* its offset */
    char lack[400];           /* what is missing; "": nothing. Never changes again */
    struct byte_range *range; /* skipped bytes; the ranges are in order and do not touch */
    size_t count, room;
};

struct read_faults *read_faults_new(bool keep_going, struct err *e)
{
    struct read_faults *f = err_calloc(1, sizeof *f, e);
    if (!f)
        return NULL;
    f->keep_going = keep_going;
    pthread_mutex_init(&f->lock, NULL);
    return f;
}

void read_faults_free(struct read_faults **faults)
{
    struct read_faults *f = *faults;
    if (!f)
        return;
    pthread_mutex_destroy(&f->lock);
    free(f->range);
    free(f->path);
    free(f);
    *faults = NULL;
}

bool read_faults_may_skip(const struct read_faults *f, int error)
{
    /* Other errors concern the whole file, for instance ESTALE and ENOMEM. */
    static const int of_bytes[] = {EIO, EREMOTEIO, ENODATA, EILSEQ, EUCLEAN, EBADMSG};
    for (size_t i = 0; f && f->keep_going && i < sizeof of_bytes / sizeof *of_bytes; i++)
        if (error == of_bytes[i])
            return true;
    return false;
}

void read_faults_note(struct read_faults *f, const char *path, int error, int64_t at)
{
    if (!f)
        return;
    pthread_mutex_lock(&f->lock);
    if (f->error == 0) {
        f->error = error;
        f->path = path ? strdup(path) : NULL;
        f->at = at;
    }
    pthread_mutex_unlock(&f->lock);
}

void read_faults_fail(struct read_faults *f, const char *path, int error, int64_t at)
{
    if (!f || error == 0)
        return;
    read_faults_note(f, path, error, at);
    pthread_mutex_lock(&f->lock);
    f->failed = true;
    pthread_mutex_unlock(&f->lock);
}

void read_faults_lack(struct read_faults *f, const char *format, ...)
{
    va_list args;
    if (!f)
        return;
    pthread_mutex_lock(&f->lock);
    va_start(args, format);
    if (!f->lack[0])
        vsnprintf(f->lack, sizeof f->lack, format, args);
    va_end(args);
    pthread_mutex_unlock(&f->lock);
}

const char *read_faults_lacking(struct read_faults *f)
{
    if (!f)
        return "";
    pthread_mutex_lock(&f->lock);
    const char *lack = f->lack[0] ? f->lack : "";
    pthread_mutex_unlock(&f->lock);
    return lack;
}

void read_faults_add_logged(struct read_faults *f, const struct av_log_counts *logged)
{
    if (read_faults_may_skip(f, logged->read_error)) {
        read_faults_note(f, NULL, logged->read_error, -1);
        read_faults_lack(f, "cannot read one of its files to its end: %s",
                         strerror(logged->read_error));
    } else {
        read_faults_fail(f, NULL, logged->read_error, -1);
    }
    if (logged->unopened[0])
        read_faults_lack(f, "cannot open its part '%s': the film ends there", logged->unopened);
}

/* Adds a range, and merges those that it touches. Returns false if out of memory. */
static bool add_range(struct read_faults *f, struct byte_range new)
{
    size_t first = 0, last;
    while (first < f->count && f->range[first].to < new.from)
        first++;
    for (last = first; last < f->count && f->range[last].from <= new.to; last++) {
        new.from = f->range[last].from < new.from ? f->range[last].from : new.from;
        new.to = f->range[last].to > new.to ? f->range[last].to : new.to;
    }
    if (!err_reserve(&f->range, f->count + 1, &f->room, sizeof *f->range, NULL))
        return false;
    memmove(f->range + first + 1, f->range + last, (f->count - last) * sizeof *f->range);
    f->range[first] = new;
    f->count += 1 + first - last;
    return true;
}

void read_faults_skip(struct read_faults *f, int64_t from, int64_t to)
{
    if (!f)
        return;
    pthread_mutex_lock(&f->lock);
    f->failed |= !add_range(f, (struct byte_range){from, to});
    pthread_mutex_unlock(&f->lock);
}

bool read_faults_meet(struct read_faults *f, int64_t from, int64_t to)
{
    bool meets = false;
    if (!f)
        return false;
    pthread_mutex_lock(&f->lock);
    for (size_t i = 0; i < f->count && !meets; i++)
        meets = f->range[i].from < to && from < f->range[i].to;
    pthread_mutex_unlock(&f->lock);
    return meets;
}

uint64_t read_faults_bytes(struct read_faults *f)
{
    uint64_t bytes = 0;
    if (!f)
        return 0;
    pthread_mutex_lock(&f->lock);
    for (size_t i = 0; i < f->count; i++)
        bytes += (uint64_t)(f->range[i].to - f->range[i].from);
    pthread_mutex_unlock(&f->lock);
    return bytes;
}

static void set_error(const struct read_faults *f, const char *path, struct err *e)
{
    if (!e || e->code == ERR_INTERRUPTED)
        return;
    err_clear(e);
    if (f->path)
        err_set(e, ERR_FAILED, "cannot read '%s': %s (at byte %" PRId64 ")", f->path,
                strerror(f->error), f->at);
    else
        err_set(e, ERR_FAILED, "cannot read a file of '%s': %s", path, strerror(f->error));
}

bool read_faults_check(struct read_faults *f, const char *path, struct err *e)
{
    if (!f)
        return true;
    pthread_mutex_lock(&f->lock);
    bool failed = f->failed;
    if (failed)
        set_error(f, path, e);
    pthread_mutex_unlock(&f->lock);
    return !failed;
}

bool read_faults_explain(struct read_faults *f, const char *path, struct err *e)
{
    if (!f)
        return false;
    pthread_mutex_lock(&f->lock);
    if (f->error != 0) {
        set_error(f, path, e);
    } else if (f->lack[0] && e && e->code == ERR_INPUT) {
        err_clear(e);
        err_set(e, ERR_INPUT, "cannot open '%s': %s", path, f->lack);
    }
    pthread_mutex_unlock(&f->lock);
    return false;
}
