#include "cache_entry.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "barcode/base/clock.h"
#include "base/film_id.h"
#include "base/interrupt.h"
#include "barcode/engine/colour.h"
#include "media/ffmpeg/ffmpeg.h"
#include "sound/film_sound.h"

/* ---- The film ---- */

static uint64_t hash_of_path(const char *path)
{
    char *real = realpath(path, NULL);
    const char *name = real ? real : path;
    uint64_t hash = hash_64(name, strlen(name));
    free(real);
    return hash;
}

/*
 * Waits until a later change must give the file another modification time. A file system's clock
 * ticks every 4 to 10 ms, or every one or two seconds if it stores no fractions. A change within
 * the same tick would keep the time, and one fingerprint would stand for two films. Returns false
 * for a clock of whole seconds.
 */
static bool wait_until_sure(int64_t changed_ns, struct err *e)
{
    const int64_t tick = changed_ns % 1000000000 == 0 ? 2100000000 : 20000000;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t age = clock_in_ns(now) - changed_ns;
    if (age < 0 || age >= tick)
        return true;
    if (tick > 1000000000)
        return err_set(e, ERR_FAILED, "it was changed a moment ago");
    struct timespec rest = {0, tick - age};
    nanosleep(&rest, NULL);
    return true;
}

/*
 * Computes the fingerprint of a file, as film_id_fingerprint does. Of many files it covers the
 * middle instead of the beginning, which may be the black bar of an uncompressed image.
 */
static bool fingerprint(int fd, uint64_t size, size_t files, struct hash128 *print, struct err *e)
{
    bool ok;
    uint8_t *room = malloc(FILM_ID_ROOM);
    if (!room)
        return err_memory(e, FILM_ID_ROOM);
    if (files > FILM_ID_BLOCKS && size > FILM_ID_BLOCK_BYTES) {
        ok = file_read_at(fd, room, FILM_ID_BLOCK_BYTES, (size - FILM_ID_BLOCK_BYTES) / 2);
        *print = ok ? hash_128(room, FILM_ID_BLOCK_BYTES) : *print;
    } else {
        ok = film_id_fingerprint(fd, size, files, room, print);
    }
    free(room);
    return ok || err_set(e, ERR_FAILED, "it cannot be read");
}

/* Returns the number of a film whose files had the number `sum` so far; the first has `next`. */
static uint64_t add_number(uint64_t sum, uint64_t next)
{
    return sum * UINT64_C(0x9e3779b97f4a7c15) + next;
}

/* Adds a file's metadata. Those of several files are only compared, so one number stands for all.
 */
static void add_file(struct cache_film *id, const struct stat *st)
{
    struct cache_place *at = &id->place;
    id->size += (uint64_t)st->st_size;
    id->modified_ns =
        (int64_t)add_number((uint64_t)id->modified_ns, (uint64_t)clock_in_ns(st->st_mtim));
    at->device = add_number(at->device, (uint64_t)st->st_dev);
    at->inode = add_number(at->inode, (uint64_t)st->st_ino);
    at->changed_ns =
        (int64_t)add_number((uint64_t)at->changed_ns, (uint64_t)clock_in_ns(st->st_ctim));
}

static bool same_id(const struct cache_film *a, const struct cache_film *b)
{
    return a->size == b->size && a->modified_ns == b->modified_ns &&
           a->place.device == b->place.device && a->place.inode == b->place.inode &&
           a->place.changed_ns == b->place.changed_ns;
}

/* Adds a file to the identity of its film, which has `files` of them. */
static bool read_file(const char *path, const struct film_part *part, size_t files,
                      struct cache_film *id, struct err *e)
{
    struct stat st;
    struct hash128 print = {0, 0};
    /* A pipe is not even opened: its writer would take this process for its reader. */
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return err_set(e, ERR_FAILED, "it is not a file");
    int fd = file_open_read(path);
    if (fd < 0)
        return err_set(e, ERR_FAILED, "%s", strerror(errno));
    bool ok = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    if (!ok)
        err_set(e, ERR_FAILED, "it is not a file");
    ok = ok && wait_until_sure(clock_in_ns(st.st_mtim), e) &&
         fingerprint(fd, (uint64_t)st.st_size, files, &print, e);
    if (ok)
        add_file(id, &st);
    if (ok && part)
        film_id_add_part(&id->fingerprint, print, (uint64_t)st.st_size, part);
    else if (ok)
        id->fingerprint = print;
    close(fd);
    return ok;
}

bool cache_film_read(const char *path, const struct film_parts *parts, struct cache_film *id,
                     struct err *e)
{
    size_t files = film_files_count(parts);
    *id = (struct cache_film){0};
    for (size_t i = 0; i < files; i++)
        if (interrupted() ||
            !read_file(film_file(path, parts, i), parts ? &parts->part[i] : NULL, files, id, e))
            return interrupted() ? interrupt_error(e) : false;
    id->place.path = hash_of_path(path);
    return cache_film_holds(path, parts, id) || err_set(e, ERR_FAILED, "it is being written");
}

bool cache_film_holds(const char *path, const struct film_parts *parts, const struct cache_film *id)
{
    struct stat st;
    struct cache_film now = {0};
    for (size_t i = 0; i < film_files_count(parts); i++) {
        if (stat(film_file(path, parts, i), &st) != 0)
            return false;
        add_file(&now, &st);
    }
    return same_id(&now, id);
}

bool cache_place_suspect(const struct cache_place *seen, const struct cache_place *now)
{
    return seen->device == now->device && seen->inode == now->inode && seen->path == now->path &&
           seen->changed_ns != now->changed_ns;
}

bool cache_place_same(const struct cache_place *seen, const struct cache_place *now)
{
    return seen->device == now->device && seen->inode == now->inode &&
           seen->changed_ns == now->changed_ns;
}

/* ---- Text ---- */

static void append_key(struct cache_key *key, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void append_key(struct cache_key *key, const char *format, ...)
{
    size_t used = strlen(key->text);
    va_list args;
    va_start(args, format);
    vsnprintf(key->text + used, sizeof key->text - used, format, args);
    va_end(args);
}

static void add_film(struct cache_key *key, const struct cache_film *id, const struct film *f,
                     const char *decode)
{
    char print[33];
    hash_hex(id->fingerprint, print);
    append_key(key, "analysis=%d\nlibrary=%s\ndecode=%s\n", ANALYSIS_VERSION, f->library, decode);
    append_key(key, "film.size=%" PRIu64 "\nfilm.modified=%" PRId64 "\nfilm.fingerprint=%s\n",
               id->size, id->modified_ns, print);
    append_key(key, "film.container=%s\nfilm.stream=%d\nfilm.codec=%s\nfilm.pixel_format=%s\n",
               f->container, f->stream, f->codec, f->pixel_format);
    if (f->alpha)
        append_key(key, "film.alpha=1\n");
    append_key(key, "film.coded=%dx%d\nfilm.shown=%dx%d\nfilm.turned=%d%s\n", f->coded_width,
               f->coded_height, f->width, f->height, f->orientation.quarter_turns * 90,
               f->orientation.mirror ? " mirrored" : "");
    append_key(key, "film.matrix=%s\nfilm.range=%s\nfilm.rate=%" PRId64 "/%" PRId64 "\n",
               colour_matrix_name(f->matrix), colour_range_name(f->range), f->rate_num,
               f->rate_den);
}

static void add_selection_key(struct cache_key *key, const struct selection *s)
{
    if (s->kind == SELECT_EVERY)
        append_key(key, "selection.every=%" PRIu64 "\n", s->every);
    else if (s->kind == SELECT_INTERVAL)
        append_key(key, "selection.interval=%" PRId64 "\n", s->interval_us);
    else
        append_key(key, "selection.columns=%" PRIu64 "\n", s->columns);
    append_key(key, "selection.start=%" PRId64 "\nselection.end=%" PRId64 "\n", s->start_us,
               s->end_us);
}

/* Returns false if the text was cut. */
static bool name_key(struct cache_key *key)
{
    char whole[33];
    hash_hex(hash_128(key->text, strlen(key->text)), whole);
    snprintf(key->name, sizeof key->name, "%016" PRIx64 "-%s.frames", hash_64(key->text, key->base),
             whole);
    return strlen(key->text) + 1 < sizeof key->text;
}

bool cache_key_make(struct cache_key *key, const struct cache_film *id, const struct film *film,
                    const struct selection *rule, int width, int height, const char *crop,
                    const char *light, const char *decode)
{
    key->text[0] = 0;
    add_film(key, id, film, decode);
    append_key(key, "size=%dx%d\n", width, height);
    if (crop && *crop)
        append_key(key, "crop=%s\n", crop);
    if (light && *light)
        append_key(key, "light=%s\n", light);
    /* Without an index key frames may have other numbers: frame_cache.c also compares times. */
    if (rule->keyframes)
        append_key(key, "keyframes=1\n");
    key->base = strlen(key->text);
    add_selection_key(key, rule);
    return name_key(key);
}

bool cache_key_make_track(struct cache_key *key, const struct cache_film *id, bool file,
                          const char *name, const char *words)
{
    const struct cache_place *at = &id->place;
    char print[33], library[256];
    hash_hex(id->fingerprint, print);
    libraries_describe(library, sizeof library);
    key->text[0] = 0;
    append_key(key, "%slibrary=%.*s\n", words, (int)strcspn(library, "\n"), library);
    append_key(key, "%s.size=%" PRIu64 "\n%s.modified=%" PRId64 "\n%s.fingerprint=%s\n", name,
               id->size, name, id->modified_ns, name, print);
    if (file)
        append_key(key, "%s.file=%" PRIu64 " %" PRIu64 " %" PRId64 "\n", name, at->device,
                   at->inode, at->changed_ns);
    key->base = strlen(key->text);
    return name_key(key);
}

size_t cache_key_difference(const char *text, const char *other, const char **line)
{
    while (*text) {
        size_t length = strcspn(text, "\n"), other_length = strcspn(other, "\n");
        if (length != other_length || memcmp(text, other, length) != 0) {
            *line = text;
            return length;
        }
        text += length + (text[length] != 0);
        other += length + (other[length] != 0);
    }
    return 0;
}

bool cache_key_is_name(const char *name)
{
    static const char digits[] = "0123456789abcdef";
    return strspn(name, digits) == CACHE_NAME_BASE && name[CACHE_NAME_BASE] == '-' &&
           strspn(name + CACHE_NAME_BASE + 1, digits) == 32 &&
           strcmp(name + CACHE_NAME_BASE + 33, ".frames") == 0;
}
