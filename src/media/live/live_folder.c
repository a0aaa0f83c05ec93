/*
 * live_folder.c - a source that is a folder in which pictures appear, or one picture in it that is
 * written again and again. inotify reports what is written here; files that another machine writes
 * to a network folder are found by listing it now and then.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libavformat/avformat.h>
#include <libavutil/avstring.h>
#include <limits.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "live_decode.h"
#include "media/bitstream/exif.h"
#include "media/container/open.h"
#include "barcode/base/clock.h"
#include "base/log.h"
#include "base/path.h"
#include "base/watch.h"

enum {
    WAIT_MS = 400,
    LIST_S = 10, /* the folder is listed so often, for files that have not changed for as long */
    AGE_DAYS_MOST = 31, /* of a picture that appears */
    PLACES_MOST = 65536,
    HEAD_BYTES = 128 << 10, /* the largest EXIF is 64 KiB */
    EVENT_BYTES = 64 * (sizeof(struct inotify_event) + NAME_MAX + 1)
};

/* Clocks that differ by less may both be right. */
static const int64_t day_us = INT64_C(86400000000);

/* What is known of a picture before it is decoded. */
struct picture {
    int64_t modified_ns; /* the file's modification, since 1970 */
    int64_t time_us;     /* when it was taken: microseconds of UTC since 1970 */
    int64_t later_us; /* or then: the clock showed that hour twice, and the file has no such time */
    struct orientation orientation;
};

/* A watched folder: that of the source, or one below it. */
struct place {
    char *below; /* its path below the source's folder, with a slash: "20261128/night/"; or "" */
    int watch;   /* of inotify; -1: none: it is only listed */
    int64_t listed_ns; /* its modification when all its pictures had been listed; 0: never */
};

struct folder {
    struct live_source base;
    struct live_options o;
    struct film film;  /* the last picture's facts */
    char *path, *only; /* the folder; the picture in it, or NULL: all of them */
    atomic_bool stop;
    int watch;
    struct place *place; /* [places]; the first one is the source's folder */
    size_t places, room;
    int64_t newest_ns; /* the latest file that was delivered: its modification */
    char newest[PATH_MAX];
    int64_t oldest_us; /* earlier pictures are passed over */
    int64_t last_us;   /* when the last one that was delivered was taken */
};

/* ------------------------------------------------------------------ one picture */

/* Returns true for the name of a picture, by its ending. Hidden files are none. */
static bool is_picture_name(const char *name)
{
    return name[0] != '.' && av_match_ext(name, "jpg,jpeg,jpe,png,webp,bmp,tif,tiff,avif,jxl,jp2,"
                                                "pgm,ppm,pnm,qoi,fits,fit,fts");
}

/* Returns the offset from UTC of the time zone of the process. */
static int64_t offset_at(int64_t utc_us)
{
    time_t seconds = (time_t)(utc_us / 1000000);
    struct tm tm;
    localtime_r(&seconds, &tm);
    return (int64_t)tm.tm_gmtoff * 1000000;
}

/*
 * Converts a camera's clock, as if it were UTC, by the time zone of the process. When summer time
 * ends, an hour comes twice: the time nearer to that of the file is returned if the file was
 * written then, else the first, and the second is *later_us. A time that summer time leaves out is
 * as long after the time before as in standard time.
 */
static int64_t utc_of_local(int64_t local_us, int64_t modified_us, int64_t *later_us)
{
    const int64_t before_us = offset_at(local_us - day_us), after_us = offset_at(local_us + day_us);
    const int64_t first_us = local_us - before_us, second_us = local_us - after_us;
    if (offset_at(second_us) != after_us || first_us == second_us)
        return first_us;
    if (offset_at(first_us) != before_us)
        return second_us;
    const int64_t near_us = (second_us - first_us) / 2;
    if (llabs(modified_us - second_us) < near_us)
        return second_us;
    if (llabs(modified_us - first_us) >= near_us)
        *later_us = second_us;
    return first_us;
}

/*
 * Returns when a picture was taken: EXIF's DateTimeOriginal, else the modification, else the
 * present: the first that is no more than a day in the future. EXIF without a time zone is in that
 * of the process.
 */
static int64_t time_of(const char *path, const struct exif *x, int64_t modified_us,
                       int64_t *later_us)
{
    const int64_t now_us = clock_wall_us(), most_us = now_us + day_us;
    int64_t us = modified_us;
    if (x->has_time)
        us = x->has_offset ? x->time_us - x->offset_us
                           : utc_of_local(x->time_us, modified_us, later_us);
    if (us > most_us)
        us = modified_us;
    if (us <= most_us)
        return us;
    log_msg(LOG_VERBOSE, "'%s' has a time that is still to come: it counts as of now", path);
    return now_us;
}

/* Describes the regular file `path` by its beginning. Returns false if it cannot be read. */
static bool read_picture(const char *path, struct picture *p)
{
    struct stat s;
    uint8_t *head = malloc(HEAD_BYTES);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    bool ok = head && fd >= 0 && fstat(fd, &s) == 0 && S_ISREG(s.st_mode);
    ssize_t size = ok ? pread(fd, head, HEAD_BYTES, 0) : -1;
    if (fd >= 0)
        close(fd);
    if (size >= 0) {
        struct exif x = exif_read(head, (size_t)size);
        *p = (struct picture){.modified_ns = clock_in_ns(s.st_mtim),
                              .later_us = INT64_MIN,
                              .orientation = x.orientation};
        p->time_us = time_of(path, &x, p->modified_ns / 1000, &p->later_us);
    }
    free(head);
    return size >= 0;
}

/* Adds to a decoded frame what is known of its file. */
struct turned {
    const struct picture *picture;
    struct film *film;
    const struct live_sink *sink;
    bool delivered, failed;
};

/* Implements live_sink.frame. */
static bool deliver_turned(void *user, const struct live_frame *decoded, struct err *e)
{
    struct turned *t = user;
    struct film *film = t->film;
    char *path = film->path;
    struct frame_view view = *decoded->view;
    struct live_frame frame = *decoded;
    *film = *decoded->film;
    film->path = path;
    film->orientation = view.orientation = t->picture->orientation;
    if (film->orientation.quarter_turns % 2 == 1) {
        film->width = decoded->film->height;
        film->height = decoded->film->width;
        film->sample_num = decoded->film->sample_den;
        film->sample_den = decoded->film->sample_num;
    }
    frame.film = film;
    frame.view = &view;
    frame.time_us = t->picture->time_us;
    t->delivered = true;
    t->failed = !t->sink->frame(t->sink->user, &frame, e);
    return !t->failed;
}

/* Opens a container of films or images by its bytes: image2 would take its name for a pattern. */
static int open_container(const char *path, AVFormatContext **format, AVIOContext **file)
{
    AVDictionary *options = NULL;
    char *url = av_asprintf("file:%s", path);
    AVFormatContext *opened = url ? avformat_alloc_context() : NULL;
    int code = opened ? avio_open2(file, url, AVIO_FLAG_READ, NULL, NULL) : AVERROR(ENOMEM);
    if (code >= 0)
        code = allowed_demuxers(opened, "");
    if (code >= 0) {
        opened->pb = *file;
        opened->io_open = allowed_open;
        opened->max_streams = STREAMS_MOST;
        av_dict_set(&options, "protocol_whitelist", "file", 0);
        code = avformat_open_input(&opened, "", NULL, &options);
    } else {
        avformat_free_context(opened);
    }
    av_dict_free(&options);
    av_free(url);
    *format = code >= 0 ? opened : NULL;
    return code;
}

static const AVStream *find_video(const AVFormatContext *format)
{
    for (unsigned i = 0; i < format->nb_streams; i++)
        if (format->streams[i]->codecpar->codec_type == AVMEDIA_TYPE_VIDEO)
            return format->streams[i];
    return NULL;
}

/* Decodes the first coded picture of the stream. Sets *e on failure. */
static void decode_first(AVFormatContext *format, const AVStream *stream, const char *path,
                         const struct live_options *o, const struct live_sink *sink, struct err *e)
{
    struct live_decode *decode = live_decode_open(stream, path, o, e);
    AVPacket *packet = decode ? av_packet_alloc() : NULL;
    bool found = false, ok = true;
    if (decode && !packet)
        err_memory(e, sizeof *packet);
    while (packet && ok && !found && av_read_frame(format, packet) >= 0) {
        found = packet->stream_index == stream->index;
        if (found)
            ok = live_decode_packet(decode, packet, clock_ns(), 0, sink, e);
        av_packet_unref(packet);
    }
    if (packet && ok)
        live_decode_end(decode, sink, e);
    av_packet_free(&packet);
    live_decode_close(&decode);
}

/*
 * Decodes the picture and calls the sink for its frame, with `film`, which gets the picture's facts
 * and keeps its path. A file that is no picture is logged and skipped. Returns false if the sink
 * does, or if out of memory.
 */
static bool decode_picture(const char *path, const struct picture *p, const struct live_options *o,
                           struct film *film, const struct live_sink *sink, struct err *e)
{
    struct turned turned = {.picture = p, .film = film, .sink = sink};
    const struct live_sink inner = {.frame = deliver_turned, .user = &turned};
    AVFormatContext *format = NULL;
    AVIOContext *file = NULL;
    struct err why = ERR_INIT;
    char text[128];
    av_log_install();
    int code = open_container(path, &format, &file);
    const AVStream *stream = format ? find_video(format) : NULL;
    if (code < 0)
        err_set(&why, ERR_INPUT, "%s", av_error_text(code, text));
    if (stream)
        decode_first(format, stream, path, o, &inner, &why);
    avformat_close_input(&format);
    avio_closep(&file);
    if (turned.failed || why.code == ERR_MEMORY) {
        *e = why;
        return false;
    }
    if (!turned.delivered)
        log_msg(LOG_WARNING, "'%s' is passed over: %s", path,
                why.code != ERR_NONE ? why.text : "it has no picture");
    return true;
}

/* ------------------------------------------------------------------ opening */

bool live_folder_fits(const char *name)
{
    struct stat s;
    return stat(name, &s) == 0 &&
           (S_ISDIR(s.st_mode) || (S_ISREG(s.st_mode) && is_picture_name(name)));
}

static void end_watch(struct folder *f)
{
    while (f->places > 0)
        free(f->place[--f->places].below);
    if (f->watch >= 0)
        close(f->watch);
    f->watch = -1;
}

static void close_folder(struct live_source **source)
{
    struct folder *f = (struct folder *)*source;
    end_watch(f);
    free(f->place);
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
    *f = (struct folder){.base.kind = &live_folder, .o = *o, .watch = -1, .last_us = INT64_MIN};
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

/* ------------------------------------------------------------------ the folder */

/* A file of the folder. */
struct entry {
    char *name;
    struct picture picture;
};

struct list {
    struct entry *entry;
    size_t count, room;
    bool unsettled; /* files were left out that may still be written */
};

static int by_time(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    int64_t s = x->picture.time_us, t = y->picture.time_us;
    return s != t ? (s > t) - (s < t) : path_order(x->name, y->name);
}

static int by_name(const void *a, const void *b)
{
    return path_order(((const struct entry *)a)->name, ((const struct entry *)b)->name);
}

/* Takes the later time of a picture if it follows one of `last_us`, between both times. */
static void keep_order(struct picture *p, int64_t last_us)
{
    if (last_us > p->time_us && last_us <= p->later_us)
        p->time_us = p->later_us;
}

/* Sorts by time. Pictures of an hour that came twice are in the order of their names. */
static void sort_list(struct list *l, int64_t last_us)
{
    if (l->count == 0)
        return;
    qsort(l->entry, l->count, sizeof *l->entry, by_name);
    for (size_t i = 0; i < l->count; i++) {
        keep_order(&l->entry[i].picture, last_us);
        last_us = l->entry[i].picture.time_us;
    }
    qsort(l->entry, l->count, sizeof *l->entry, by_time);
}

static void free_list(struct list *l)
{
    for (size_t i = 0; i < l->count; i++)
        free(l->entry[i].name);
    free(l->entry);
}

/* Appends a picture. Takes ownership of `name`. */
static bool append(struct list *l, char *name, const struct picture *p, struct err *e)
{
    if (!err_reserve(&l->entry, l->count + 1, &l->room, sizeof *l->entry, e)) {
        free(name);
        return false;
    }
    l->entry[l->count++] = (struct entry){name, *p};
    return true;
}

static bool is_wanted(const struct folder *f, const char *name)
{
    return f->only ? strcmp(name, f->only) == 0 : is_picture_name(name);
}

/* Sets *is_new to false if the picture is unreadable, delivered already, or before since_us. */
static bool describe(const struct folder *f, const char *name, struct picture *p, bool *is_new,
                     struct err *e)
{
    char *path = path_join(f->path, name, "", e);
    if (!path)
        return false;
    *is_new = read_picture(path, p) &&
              (f->base.since_us == 0 || p->time_us >= f->base.since_us ||
               p->later_us >= f->base.since_us) &&
              !(p->modified_ns == f->newest_ns && strcmp(name, f->newest) == 0);
    free(path);
    return true;
}

/* Decodes a picture and remembers it as the newest. Returns false if the sink does. */
static bool deliver(struct folder *f, const char *name, const struct picture *p,
                    const struct live_sink *sink, struct err *e)
{
    bool ok = true;
    watch_moved();
    if (f->base.since_us != 0 && p->time_us < f->base.since_us)
        return true;
    if (p->time_us < f->oldest_us) {
        log_msg(LOG_WARNING, "'%s/%s' is passed over: it was taken more than %d days ago", f->path,
                name, AGE_DAYS_MOST);
    } else {
        char *path = path_join(f->path, name, "", e);
        ok = path && decode_picture(path, p, &f->o, &f->film, sink, e);
        free(path);
        f->last_us = p->time_us;
    }
    /* a date to come would hide all others until then */
    if (p->modified_ns >= f->newest_ns && p->modified_ns <= clock_wall_us() * 1000) {
        f->newest_ns = p->modified_ns;
        snprintf(f->newest, sizeof f->newest, "%s", name);
    }
    return ok;
}

/* Adds a file that is newer than the newest and was not modified after `settled_ns`. */
static bool list_file(const struct folder *f, const char *below, int folder, const char *file,
                      int64_t settled_ns, struct list *l, struct err *e)
{
    struct picture p;
    struct stat s;
    bool is_new;
    watch_moved();
    if (!is_wanted(f, file) || fstatat(folder, file, &s, 0) != 0)
        return true;
    int64_t modified_ns = clock_in_ns(s.st_mtim);
    l->unsettled |= modified_ns > settled_ns;
    if (modified_ns <= f->newest_ns || modified_ns > settled_ns)
        return true;
    char *name = path_join(below, file, "", e);
    if (name && describe(f, name, &p, &is_new, e) && is_new)
        return append(l, name, &p, e);
    free(name);
    return e->code == ERR_NONE;
}

/* Watches a folder from now on. Takes ownership of `below`. */
static bool add_place(struct folder *f, char *below, struct err *e)
{
    const uint32_t events = IN_CLOSE_WRITE | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF |
                            IN_ONLYDIR | (f->o.recursive ? IN_CREATE : 0U);
    char *path = below ? path_join(f->path, below, "", e) : NULL;
    bool ok = path && err_reserve(&f->place, f->places + 1, &f->room, sizeof *f->place, e);
    if (ok)
        f->place[f->places++] = (struct place){below, inotify_add_watch(f->watch, path, events), 0};
    else
        free(below);
    free(path);
    return ok;
}

/* Watches a folder in place `i`, if it is not watched yet. */
static bool add_below(struct folder *f, size_t i, const char *name, struct err *e)
{
    char *below = path_join(f->place[i].below, name, "/", e);
    bool known = f->places == PLACES_MOST;
    for (size_t k = 0; below && k < f->places && !known; k++)
        known = strcmp(f->place[k].below, below) == 0;
    if (!known)
        return add_place(f, below, e);
    free(below);
    return true;
}

/* Links are not followed. */
static bool is_subfolder(const struct folder *f, int folder, const struct dirent *d)
{
    struct stat s;
    if (!f->o.recursive || f->only || d->d_name[0] == '.')
        return false;
    if (d->d_type != DT_UNKNOWN)
        return d->d_type == DT_DIR;
    return fstatat(folder, d->d_name, &s, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(s.st_mode);
}

static bool list_entries(struct folder *f, size_t i, DIR *folder, int64_t settled_ns,
                         struct list *l, struct err *e)
{
    const struct dirent *d;
    bool ok = true;
    while (ok && !atomic_load(&f->stop) && (d = readdir(folder)))
        if (is_subfolder(f, dirfd(folder), d))
            ok = add_below(f, i, d->d_name, e);
        else
            ok = list_file(f, f->place[i].below, dirfd(folder), d->d_name, settled_ns, l, e);
    return ok;
}

/* Lists place `i`, if it has changed: the first one always. Sets *gone if it is no more. */
static bool list_place(struct folder *f, size_t i, int64_t settled_ns, struct list *l, bool *gone,
                       struct err *e)
{
    const int64_t now_ns = clock_wall_us() * 1000;
    struct stat s;
    char *path = path_join(f->path, f->place[i].below, "", e);
    DIR *folder = path ? opendir(path) : NULL;
    free(path);
    *gone = !folder || fstat(dirfd(folder), &s) != 0;
    bool ok = e->code == ERR_NONE;
    if (*gone && i == 0 && ok)
        ok = err_set(e, ERR_INPUT, "cannot read the folder: %s", strerror(errno));
    int64_t changed_ns = *gone ? 0 : clock_in_ns(s.st_mtim);
    if (!*gone && (i == 0 || changed_ns != f->place[i].listed_ns)) {
        l->unsettled = changed_ns > now_ns - LIST_S * INT64_C(1000000000);
        ok = list_entries(f, i, folder, settled_ns, l, e);
        f->place[i].listed_ns = l->unsettled ? 0 : changed_ns;
    }
    if (folder)
        closedir(folder);
    return ok;
}

/*
 * Drops a place and those below it: if the folder was renamed, they have the watches of those below
 * its new name. The others keep their order, in which a folder comes before those below it.
 */
static void drop_place(struct folder *f, size_t i)
{
    char *below = f->place[i].below;
    const size_t length = strlen(below), places = f->places;
    f->places = i;
    for (size_t k = i; k < places; k++) {
        if (strncmp(f->place[k].below, below, length) != 0) {
            f->place[f->places++] = f->place[k];
            continue;
        }
        if (f->place[k].watch >= 0)
            inotify_rm_watch(f->watch, f->place[k].watch);
        if (k != i)
            free(f->place[k].below);
    }
    free(below);
}

/* Delivers the new pictures of all places, not modified after `settled_ns`, by their time. */
static bool deliver_listed(struct folder *f, int64_t settled_ns, const struct live_sink *sink,
                           struct err *e)
{
    struct list l = {.entry = NULL};
    bool ok = true;
    for (size_t i = 0; ok && i < f->places;) { /* listing one may add others */
        bool gone;
        ok = list_place(f, i, settled_ns, &l, &gone, e);
        if (ok && gone)
            drop_place(f, i);
        else
            i++;
    }
    sort_list(&l, f->last_us);
    for (size_t i = 0; ok && i < l.count && !atomic_load(&f->stop); i++)
        ok = deliver(f, l.entry[i].name, &l.entry[i].picture, sink, e);
    free_list(&l);
    return ok;
}

/* ------------------------------------------------------------------ what appears */

static bool open_watch(struct folder *f, struct err *e)
{
    f->watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (!add_place(f, strdup(""), e))
        return e->code != ERR_NONE ? false : err_memory(e, 1);
    if (f->place[0].watch < 0)
        return err_set(e, ERR_INPUT, "cannot watch the folder: %s", strerror(errno));
    return true;
}

/* Handles one event. Sets *lost if events were lost. */
static bool handle_event(struct folder *f, const struct inotify_event *event, bool *lost,
                         const struct live_sink *sink, struct err *e)
{
    struct picture p;
    bool is_new;
    size_t i = 0;
    *lost |= (event->mask & IN_Q_OVERFLOW) != 0;
    while (i < f->places && f->place[i].watch != event->wd)
        i++;
    if (event->wd < 0 || i == f->places)
        return true;
    if (event->mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED | IN_UNMOUNT)) {
        if (i == 0)
            return err_set(e, ERR_INPUT, "the folder is gone");
        drop_place(f, i);
        return true;
    }
    *lost |= (event->mask & IN_ISDIR) != 0; /* pictures may be in it already */
    if (event->mask & (IN_ISDIR | IN_CREATE) || event->len == 0 || !is_wanted(f, event->name))
        return true;
    char *name = path_join(f->place[i].below, event->name, "", e);
    bool ok = name && describe(f, name, &p, &is_new, e);
    if (ok && is_new) {
        keep_order(&p, f->last_us);
        ok = deliver(f, name, &p, sink, e);
    }
    free(name);
    return ok;
}

/* Handles the events that have come. */
static bool handle_events(struct folder *f, bool *lost, const struct live_sink *sink, struct err *e)
{
    _Alignas(struct inotify_event) char buffer[EVENT_BYTES];
    bool ok = true;
    ssize_t bytes;
    while (ok && !atomic_load(&f->stop) && (bytes = read(f->watch, buffer, sizeof buffer)) > 0) {
        const struct inotify_event *event;
        for (char *at = buffer; ok && at < buffer + bytes; at += sizeof *event + event->len) {
            event = (const struct inotify_event *)(const void *)at;
            ok = atomic_load(&f->stop) || handle_event(f, event, lost, sink, e);
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
        ok = handle_events(f, &lost, sink, e);
        if (!ok || (!lost && clock_ns() - listed_ns < LIST_S * INT64_C(1000000000)))
            continue;
        int64_t settled = lost ? INT64_MAX : clock_wall_us() * 1000 - LIST_S * INT64_C(1000000000);
        ok = deliver_listed(f, settled, sink, e);
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
    struct folder *f = (struct folder *)source;
    f->oldest_us = INT64_MIN;
    bool ok = true;
    if (!atomic_load(&f->stop))
        ok = open_watch(f, e) && deliver_listed(f, INT64_MAX, sink, e);
    f->oldest_us = clock_wall_us() - AGE_DAYS_MOST * day_us;
    if (ok && !atomic_load(&f->stop)) {
        sink->current(sink->user);
        ok = watch_folder(f, sink, e);
    }
    end_watch(f);
    return ok;
}

static void stop(struct live_source *source)
{
    atomic_store(&((struct folder *)source)->stop, true);
}

const struct live_source_kind live_folder = {.name = "folder",
                                             .dated = true,
                                             .open = open_folder,
                                             .run = run,
                                             .stop = stop,
                                             .close = close_folder};
