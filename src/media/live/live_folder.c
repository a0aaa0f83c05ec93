/*
 * live_folder.c - a source that is a folder in which pictures appear, or one picture in it that is
 * written again and again. inotify reports what is written here; files that another machine writes
 * to a network folder are found by listing it now and then.
 */
#include <errno.h>
#include <dirent.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "live_picture.h"
#include "barcode/base/clock.h"
#include "base/log.h"
#include "base/path.h"
#include "base/watch.h"

enum {
    WAIT_MS = 400,
    LIST_S = 10, /* the folder is listed so often, for files that have not changed for as long */
    AGE_DAYS_MOST = 31, /* of a picture that appears */
    EVENT_BYTES = 64 * (sizeof(struct inotify_event) + NAME_MAX + 1)
};

struct folder {
    struct live_source base;
    struct live_options o;
    struct film film;  /* the last picture's facts */
    char *path, *only; /* the folder; the picture in it, or NULL: all of them */
    atomic_bool stop;
    int watch;
    int64_t newest_ns; /* the latest file that was given: its modification */
    char newest[NAME_MAX + 1];
    int64_t oldest_us; /* earlier pictures are passed over */
};

static bool fits(const char *name)
{
    struct stat s;
    return stat(name, &s) == 0 &&
           (S_ISDIR(s.st_mode) || (S_ISREG(s.st_mode) && live_picture_is_name(name)));
}

static void close_folder(struct live_source **source)
{
    struct folder *f = (struct folder *)*source;
    if (f->watch >= 0)
        close(f->watch);
    free(f->film.path);
    free(f->path);
    free(f->only);
    free(f);
    *source = NULL;
}

static struct live_source *open_folder(const struct live_options *o, struct err *e)
{
    struct stat s;
    struct folder *f = err_calloc(1, sizeof *f, e);
    if (!f)
        return NULL;
    struct live_source *source = &f->base;
    *f = (struct folder){.base.kind = &live_folder, .o = *o, .watch = -1};
    bool whole = stat(o->name, &s) == 0 && S_ISDIR(s.st_mode);
    size_t length;
    const char *last = path_last(o->name, &length);
    f->path = whole ? strdup(o->name) : strndup(o->name, (size_t)(last - o->name));
    f->only = whole ? NULL : strndup(last, length);
    if (f->path && !f->path[0]) {
        free(f->path);
        f->path = strdup(".");
    }
    f->film.path = strdup(o->name);
    if (f->path && f->film.path && (whole || f->only))
        return source;
    err_memory(e, strlen(o->name));
    close_folder(&source);
    return NULL;
}

/* ------------------------------------------------------------------ pictures */

/* A file of the folder. */
struct entry {
    char *name;
    struct live_picture picture;
};

struct list {
    struct entry *entry;
    size_t count, room;
};

static int by_time(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    int64_t s = x->picture.time_us, t = y->picture.time_us;
    return s != t ? (s > t) - (s < t) : path_order(x->name, y->name);
}

static void free_list(struct list *l)
{
    for (size_t i = 0; i < l->count; i++)
        free(l->entry[i].name);
    free(l->entry);
}

static bool append(struct list *l, const char *name, const struct live_picture *p, struct err *e)
{
    if (l->count == l->room) {
        size_t room = l->room * 2 + 64;
        struct entry *more = realloc(l->entry, room * sizeof *more);
        if (!more)
            return err_memory(e, room * sizeof *more);
        l->entry = more;
        l->room = room;
    }
    char *copy = strdup(name);
    if (!copy)
        return err_memory(e, strlen(name) + 1);
    l->entry[l->count++] = (struct entry){copy, *p};
    return true;
}

static bool is_wanted(const struct folder *f, const char *name)
{
    return f->only ? strcmp(name, f->only) == 0 : live_picture_is_name(name);
}

/*
 * Reads the picture's time. Sets *is_new to false if it cannot be read, was given already, or was
 * taken before what is wanted.
 */
static bool describe(const struct folder *f, const char *name, struct live_picture *p, bool *is_new,
                     struct err *e)
{
    char *path = path_join(f->path, name, "", e);
    if (!path)
        return false;
    *is_new = live_picture_read(path, p) &&
              (f->base.since_us == 0 || p->time_us >= f->base.since_us) &&
              !(p->modified_ns == f->newest_ns && strcmp(name, f->newest) == 0);
    free(path);
    return true;
}

static bool give(struct folder *f, const char *name, const struct live_picture *p,
                 const struct live_sink *sink, struct err *e)
{
    char *path = path_join(f->path, name, "", e);
    watch_moved();
    bool ok = path;
    if (p->time_us < f->oldest_us)
        log_msg(LOG_WARNING, "'%s/%s' is passed over: it was taken more than %d days ago", f->path,
                name, AGE_DAYS_MOST);
    else
        ok = path && live_picture_give(path, p, &f->o, &f->film, sink, e);
    free(path);
    /* a date to come would hide all others until then */
    if (p->modified_ns >= f->newest_ns && p->modified_ns <= clock_wall_us() * 1000) {
        f->newest_ns = p->modified_ns;
        snprintf(f->newest, sizeof f->newest, "%s", name);
    }
    return ok;
}

/* Adds a file that is newer than what was given and was not modified after `settled_ns`. */
static bool list_file(const struct folder *f, int folder, const char *name, int64_t settled_ns,
                      struct list *l, struct err *e)
{
    struct live_picture p;
    struct stat s;
    bool is_new;
    watch_moved();
    if (!is_wanted(f, name) || fstatat(folder, name, &s, 0) != 0)
        return true;
    int64_t modified_ns = clock_in_ns(s.st_mtim);
    if (modified_ns <= f->newest_ns || modified_ns > settled_ns)
        return true;
    return describe(f, name, &p, &is_new, e) && (!is_new || append(l, name, &p, e));
}

/* Gives the folder's new pictures that were not modified after `settled_ns`, by their time. */
static bool give_listed(struct folder *f, int64_t settled_ns, const struct live_sink *sink,
                        struct err *e)
{
    struct list l = {.entry = NULL};
    const struct dirent *d;
    DIR *folder = opendir(f->path);
    bool ok = true;
    if (!folder)
        return err_set(e, ERR_INPUT, "cannot read the folder: %s", strerror(errno));
    while (ok && !atomic_load(&f->stop) && (d = readdir(folder)))
        ok = list_file(f, dirfd(folder), d->d_name, settled_ns, &l, e);
    closedir(folder);
    if (l.count > 0)
        qsort(l.entry, l.count, sizeof *l.entry, by_time);
    for (size_t i = 0; ok && i < l.count && !atomic_load(&f->stop); i++)
        ok = give(f, l.entry[i].name, &l.entry[i].picture, sink, e);
    free_list(&l);
    return ok;
}

/* ------------------------------------------------------------------ what appears */

static bool open_watch(struct folder *f, struct err *e)
{
    const uint32_t written = IN_CLOSE_WRITE | IN_MOVED_TO, gone = IN_DELETE_SELF | IN_MOVE_SELF;
    f->watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    return (f->watch >= 0 &&
            inotify_add_watch(f->watch, f->path, written | gone | IN_ONLYDIR) >= 0) ||
           err_set(e, ERR_INPUT, "cannot watch the folder: %s", strerror(errno));
}

/* Handles one event. Sets *lost if events were lost. */
static bool take_event(struct folder *f, const struct inotify_event *event, bool *lost,
                       const struct live_sink *sink, struct err *e)
{
    struct live_picture p;
    bool is_new;
    *lost |= (event->mask & IN_Q_OVERFLOW) != 0;
    if (event->mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED | IN_UNMOUNT))
        return err_set(e, ERR_INPUT, "the folder is gone");
    if (event->len == 0 || !is_wanted(f, event->name))
        return true;
    return describe(f, event->name, &p, &is_new, e) &&
           (!is_new || give(f, event->name, &p, sink, e));
}

/* Handles the events that are there. */
static bool take_events(struct folder *f, bool *lost, const struct live_sink *sink, struct err *e)
{
    _Alignas(struct inotify_event) char buffer[EVENT_BYTES];
    bool ok = true;
    ssize_t bytes;
    while (ok && !atomic_load(&f->stop) && (bytes = read(f->watch, buffer, sizeof buffer)) > 0) {
        const struct inotify_event *event;
        for (char *at = buffer; ok && at < buffer + bytes; at += sizeof *event + event->len) {
            event = (const struct inotify_event *)(const void *)at;
            ok = atomic_load(&f->stop) || take_event(f, event, lost, sink, e);
        }
    }
    return ok;
}

static bool watch_folder(struct folder *f, const struct live_sink *sink, struct err *e)
{
    int64_t listed_ns = clock_ns();
    bool ok = true, lost = false;
    while (ok && !atomic_load(&f->stop)) {
        struct pollfd p = {.fd = f->watch, .events = POLLIN};
        poll(&p, 1, WAIT_MS);
        watch_moved();
        ok = take_events(f, &lost, sink, e);
        if (!ok || (!lost && clock_ns() - listed_ns < LIST_S * INT64_C(1000000000)))
            continue;
        int64_t settled = lost ? INT64_MAX : clock_wall_us() * 1000 - LIST_S * INT64_C(1000000000);
        ok = give_listed(f, settled, sink, e);
        lost = false;
        listed_ns = clock_ns();
    }
    return ok;
}

/*
 * The folder is watched before it is listed, so no picture is missed in between. What is listed may
 * have any date: the user chose it. What appears comes from whoever may write there, and each day
 * that is begun makes files. So its age is limited.
 */
static bool run(struct live_source *source, const struct live_sink *sink, struct err *e)
{
    const int64_t day_us = INT64_C(86400000000);
    struct folder *f = (struct folder *)source;
    f->oldest_us = INT64_MIN;
    bool ok = atomic_load(&f->stop) || (open_watch(f, e) && give_listed(f, INT64_MAX, sink, e));
    f->oldest_us = clock_wall_us() - AGE_DAYS_MOST * day_us;
    if (ok && !atomic_load(&f->stop)) {
        sink->current(sink->user);
        ok = watch_folder(f, sink, e);
    }
    if (f->watch >= 0)
        close(f->watch);
    f->watch = -1;
    return ok;
}

static void stop(struct live_source *source)
{
    atomic_store(&((struct folder *)source)->stop, true);
}

const struct live_source_kind live_folder = {.name = "folder",
                                             .dated = true,
                                             .fits = fits,
                                             .open = open_folder,
                                             .run = run,
                                             .stop = stop,
                                             .close = close_folder};
