#include "cache_store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/path.h"
#include "cache_entry.h"

static bool is_own_file(const struct stat *st)
{
    return st->st_uid == geteuid() || st->st_uid == 0;
}

/* Returns true if the group of this process or one of its supplementary groups is `group`. */
static bool is_member(gid_t group)
{
    if (getegid() == group)
        return true;
    int count = getgroups(0, NULL);
    gid_t *list = count > 0 ? malloc((size_t)count * sizeof *list) : NULL;
    bool found = false;
    count = list ? getgroups(count, list) : 0;
    for (int i = 0; i < count; i++)
        found |= list[i] == group;
    free(list);
    return found;
}

bool cache_owner_read(struct cache_owner *o, const char *folder, struct err *e)
{
    struct stat link, st;
    *o = (struct cache_owner){.shared = false};
    if (lstat(folder, &link) != 0 || stat(folder, &st) != 0)
        return true; /* whoever makes it will see whose it is */
    o->group = st.st_gid;
    o->shared = S_ISDIR(st.st_mode) && st.st_mode & S_ISGID && !(st.st_mode & S_IWOTH);
    bool ok = is_own_file(&st) || (o->shared && is_member(o->group));
    /* Who may change the link can lead it to any folder. */
    ok = ok && (!S_ISLNK(link.st_mode) || is_own_file(&link));
    return ok || err_set(e, ERR_FAILED, "another user made it");
}

bool cache_owner_trusts(const struct cache_owner *o, const struct stat *file)
{
    return is_own_file(file) || (o->shared && file->st_gid == o->group);
}

mode_t cache_owner_mode(const struct cache_owner *o, mode_t group)
{
    return 0600 | (o->shared ? group << 3 : 0);
}

/* Returns the free bytes of the file system on which `folder` lies or will be made. */
static uint64_t free_space(const char *folder)
{
    char path[CACHE_PATH_BYTES];
    struct statvfs fs;
    snprintf(path, sizeof path, "%s", folder);
    while (statvfs(path, &fs) != 0) {
        char *slash = strrchr(path, '/');
        if (strcmp(path, ".") == 0 || strcmp(path, "/") == 0)
            return UINT64_MAX;
        /* The parent of "/a" is "/", that of "a" is ".". */
        snprintf(slash ? slash + (slash == path) : path, 2, "%s", slash ? "" : ".");
    }
    return (uint64_t)fs.f_bavail * fs.f_frsize;
}

static void add_size(void *user, const struct cache_file *file)
{
    *(uint64_t *)user += (uint64_t)file->st.st_size;
}

static uint64_t default_limit(const struct cache_store *s)
{
    uint64_t space = free_space(s->folder), held = 0;
    uint64_t least = cache_limit_default(space, 0);
    /* Entries are counted only if they can raise the limit. */
    if (least == cache_limit_default(UINT64_MAX, 0) || !cache_store_each(s, true, add_size, &held))
        return least;
    return cache_limit_default(space, held);
}

bool cache_store_open(struct cache_store *s, const struct cache_options *o, struct err *e)
{
    if (o->off || !cache_options_folder(o, s->folder, sizeof s->folder) ||
        !cache_owner_read(&s->owner, s->folder, e))
        return false;
    s->limit = o->limit == CACHE_LIMIT_AUTO ? default_limit(s) : o->limit;
    s->temporary = o->temporary;
    return true;
}

/* Makes the folder and its missing parents. */
static bool make_folders(const char *folder, struct err *e)
{
    char path[CACHE_PATH_BYTES];
    snprintf(path, sizeof path, "%s", folder);
    (void)path_make_folders(path, 0700);
    return errno == 0 || err_set(e, ERR_FAILED, "%s", strerror(errno));
}

/* Writes a size such as "10 GiB" or "1.5 MiB". */
static void format_bytes(char *text, size_t size, uint64_t bytes)
{
    static const char *const unit[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes;
    int i = 0;
    for (; value >= 1024 && i < 6; i++)
        value /= 1024;
    bool whole = value >= 10 || value == (double)(int)value;
    snprintf(text, size, "%.*f %s", whole ? 0 : 1, value, unit[i]);
}

/* Logs that there is a cache now, and how to turn it off. */
static void announce(const struct cache_store *s)
{
    char limit[32];
    const char *home = secure_getenv("HOME");
    size_t length = home ? strlen(home) : 0;
    bool below = length > 1 && strncmp(s->folder, home, length) == 0 && s->folder[length] == '/';
    format_bytes(limit, sizeof limit, s->limit);
    log_msg(LOG_INFO, "keeping analysed frames in %s%s, up to %s; --no-cache turns this off",
            below ? "~" : "", s->folder + (below ? length : 0), limit);
}

bool cache_store_make(const struct cache_store *s, struct err *e)
{
    static const char tag[] = "Signature: 8a477f597d28d172789f06886806bc55\n"
                              "# This folder holds frames that barcode can make again; see "
                              "https://bford.info/cachedir/\n";
    char path[CACHE_PATH_BYTES];
    struct cache_owner owner; /* the folder may be a new one, or no longer the same */
    if (!make_folders(s->folder, e) || !cache_owner_read(&owner, s->folder, e))
        return false;
    snprintf(path, sizeof path, "%s/CACHEDIR.TAG", s->folder);
    /* O_EXCL: a link is not followed */
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, cache_owner_mode(&owner, 4));
    if (fd < 0)
        return errno == EEXIST || err_set(e, ERR_FAILED, "%s", strerror(errno));
    if (write(fd, tag, sizeof tag - 1) < 0)
        errno = 0; /* for most programs it is enough that the tag exists */
    close(fd);
    if (!s->temporary)
        announce(s);
    return true;
}

static bool is_list(const char *name)
{
    size_t length = strlen(name), end = strlen(CACHE_INDEX_ENDING);
    return strcmp(name, CACHE_FAILED_FILMS) == 0 ||
           (length > end && strcmp(name + length - end, CACHE_INDEX_ENDING) == 0);
}

static bool visit_all(const struct cache_store *s, bool temps, bool foreign, cache_visit *visit,
                      void *user)
{
    DIR *folder = opendir(s->folder);
    if (!folder)
        return false;
    const struct dirent *d;
    while ((d = readdir(folder))) {
        bool temp = strncmp(d->d_name, CACHE_TEMP_START, strlen(CACHE_TEMP_START)) == 0;
        char path[CACHE_PATH_BYTES];
        struct cache_file file = {.path = path, .name = d->d_name};
        bool other = temp || is_list(d->d_name);
        if (!cache_key_is_name(d->d_name) && !(other && temps))
            continue;
        snprintf(path, sizeof path, "%s/%s", s->folder, d->d_name);
        if (lstat(path, &file.st) == 0 && S_ISREG(file.st.st_mode) &&
            cache_owner_trusts(&s->owner, &file.st) != foreign)
            visit(user, &file);
    }
    closedir(folder);
    return true;
}

bool cache_store_each(const struct cache_store *s, bool temps, cache_visit *visit, void *user)
{
    return visit_all(s, temps, false, visit, user);
}

static void count_one(void *user, const struct cache_file *file)
{
    (void)file;
    ++*(uint64_t *)user;
}

uint64_t cache_store_foreign(const struct cache_store *s)
{
    uint64_t count = 0;
    visit_all(s, false, true, count_one, &count);
    return count;
}

/* ---- Lookup ---- */

struct cache_entry *cache_store_entry(const struct cache_store *s, const char *path,
                                      enum entry_state *state, struct err *e)
{
    struct stat st;
    bool foreign = lstat(path, &st) == 0 && !cache_owner_trusts(&s->owner, &st);
    struct cache_entry *entry = foreign ? NULL : cache_entry_open(path, state, e);
    /* Another file may have taken its place. */
    foreign |= entry && (fstat(entry->fd, &st) != 0 || !cache_owner_trusts(&s->owner, &st));
    if (!foreign)
        return entry;
    cache_entry_close(&entry);
    *state = ENTRY_ABSENT;
    err_set(e, ERR_FAILED, "it belongs to another user");
    return NULL;
}

static void remove_broken(const char *path, const struct stat *opened, const char *why)
{
    struct stat now;
    log_msg(LOG_WARNING, "removing the damaged cache entry '%s': %s", path, why);
    bool same =
        lstat(path, &now) == 0 && now.st_dev == opened->st_dev && now.st_ino == opened->st_ino;
    if (same && unlink(path) != 0)
        log_msg(LOG_VERBOSE, "it cannot be removed: %s", strerror(errno));
}

/* The entry stays: the disk may read it next time. */
static void warn_unreadable(const char *path, const char *why)
{
    log_msg(LOG_WARNING, "cannot read the cache entry '%s': %s", path, why);
}

struct cache_entry *cache_store_named(const struct cache_store *s, const char *name)
{
    char path[CACHE_PATH_BYTES];
    struct stat st;
    struct err e = ERR_INIT;
    enum entry_state state;
    snprintf(path, sizeof path, "%s/%s", s->folder, name);
    if (lstat(path, &st) != 0)
        return NULL;
    struct cache_entry *entry = cache_store_entry(s, path, &state, &e);
    if (state == ENTRY_BROKEN)
        remove_broken(path, &st, e.text);
    else if (state == ENTRY_UNREADABLE)
        warn_unreadable(path, e.text);
    else if (!entry)
        log_msg(LOG_VERBOSE, "cache: ignored '%s': %s", path, e.text);
    return entry;
}

void cache_store_reject(const struct cache_store *s, const struct cache_entry *entry, bool damaged,
                        const char *why)
{
    struct stat opened;
    char path[CACHE_PATH_BYTES], link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", entry->fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n <= 0 || fstat(entry->fd, &opened) != 0) {
        log_msg(LOG_WARNING, "damaged cache entry in '%s': %s", s->folder, why);
        return;
    }
    path[n] = 0;
    if (damaged)
        remove_broken(path, &opened, why);
    else
        warn_unreadable(path, why);
}

/* The state of a walk that looks up every selected frame. */
struct frame_lookup {
    const struct cache_index *index;
    uint64_t lacking;
};

static bool find_frame(void *user, const struct frame_tag *tag)
{
    struct frame_lookup *lookup = user;
    lookup->lacking = tag->frame;
    return cache_index_find(lookup->index, tag->frame) != NULL;
}

struct search {
    const struct cache_store *store;
    const struct cache_key *key;
    const struct cache_place *place;
    const struct selection *rule;
    enum cache_decoder decoder;
    struct cache_found found;
};

static const char *selection_text(const char *key, size_t base, size_t *length)
{
    *length = strcspn(key + base, "\n");
    return key + base;
}

static void set_found(struct search *s, struct cache_entry *entry, enum cache_answer answer,
                      const char *why)
{
    size_t length;
    const char *rule = selection_text(entry->key, s->key->base, &length);
    cache_entry_close(&s->found.entry);
    s->found.entry = entry;
    s->found.answer = answer;
    snprintf(s->found.why, sizeof s->found.why, "%s (%.*s, %" PRIu64 " frames)", why, (int)length,
             rule, entry->index.frames);
}

/* Checks one entry of the same film and size, and keeps it if it is better than the best so far. */
static void consider(struct search *s, struct cache_entry *entry)
{
    struct frame_lookup lookup = {.index = &entry->index};
    struct frame_times_walked walked;
    bool same_key = s->rule && strcmp(entry->key, s->key->text) == 0,
         clean = cache_index_is_clean(&entry->index);
    bool by_gpu = entry->index.counts.hardware > 0,
         same_decoder = clean || by_gpu == (s->decoder == CACHE_BY_GPU);
    if (cache_place_suspect(&entry->index.film, s->place)) {
        snprintf(s->found.why, sizeof s->found.why,
                 "the film's file was modified after its frames were cached");
    } else if (!clean && !cache_place_same(&entry->index.film, s->place)) {
        /* A repaired film may have the size, the time and the sampled bytes of the damaged one. */
        snprintf(s->found.why, sizeof s->found.why,
                 "the cached frames are of a damaged film and valid only for that file");
    } else if (by_gpu && s->decoder == CACHE_BY_SOFTWARE_ALONE) {
        snprintf(s->found.why, sizeof s->found.why, "a GPU decoded the cached frames");
    } else if (same_key && !entry->index.partial && same_decoder &&
               !selection_needs_film(s->rule)) {
        set_found(s, entry, CACHE_HIT, "all frames are cached");
        return;
    } else if (!clean) {
        snprintf(s->found.why, sizeof s->found.why,
                 "the cached frames are of a damaged film and valid only for their own selection");
    } else if (s->rule && !selection_needs_film(s->rule) &&
               frame_times_walk(entry->index.frame_times, s->rule, find_frame, &lookup, &walked)) {
        set_found(s, entry, CACHE_HIT_OTHER,
                  "the frames of another selection include all selected ones");
        return;
    } else if (!s->found.entry || s->found.entry->index.frames < entry->index.frames) {
        const char *why =
            s->rule ? "frames of another selection" : "frames of a run without --keyframes";
        if (same_key)
            why = entry->index.partial ? "frames of an interrupted run"
                                       : "all columns are cached, but not all that is needed";
        set_found(s, entry, CACHE_PARTIAL, why);
        return;
    }
    cache_entry_close(&entry);
}

static void consider_other(void *user, const struct cache_file *file)
{
    struct search *s = user;
    if (s->found.answer >= CACHE_HIT || strcmp(file->name, s->key->name) == 0 ||
        strncmp(file->name, s->key->name, CACHE_NAME_BASE + 1) != 0)
        return;
    struct cache_entry *entry = cache_store_named(s->store, file->name);
    if (!entry)
        return;
    if (strncmp(entry->key, s->key->text, s->key->base) == 0)
        consider(s, entry);
    else
        cache_entry_close(&entry);
}

/*
 * Records why an entry of this film does not match: the first line in which the keys differ (-v).
 * An entry of the film itself is a better explanation than one of a copy.
 */
static void explain(void *user, const struct cache_file *file)
{
    struct search *s = user;
    char text[CACHE_KEY_BYTES];
    const char *line, *film_line = strstr(s->key->text, "film.fingerprint=");
    if (!film_line || !cache_entry_peek_key(file->path, text, sizeof text))
        return;
    const char *cached_line = strstr(text, "film.fingerprint=");
    size_t length = strcspn(film_line, "\n");
    if (!cached_line || strncmp(film_line, cached_line, length) != 0)
        return;
    length = cache_key_difference(text, s->key->text, &line);
    bool copy = strncmp(line, "film.", 5) == 0;
    if (length > 0 && length < 200 && copy && !s->found.why[0])
        snprintf(s->found.why, sizeof s->found.why,
                 "the cached frames are of a copy, or of the film before it was modified");
    else if (length > 0 && length < 200 && !copy)
        snprintf(s->found.why, sizeof s->found.why, "the cached frames were made with %.*s",
                 (int)length, line);
}

void cache_store_used(const struct cache_entry *entry)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", entry->fd);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) /* a read-only cache */
        return;
    /* ftruncate sets the time also where the size stays. The sandbox refuses futimens. */
    if (ftruncate(fd, (off_t)entry->bytes) != 0)
        errno = 0; /* only the order of eviction depends on it */
    close(fd);
}

struct cache_found cache_store_find(const struct cache_store *store, const struct cache_key *key,
                                    const struct cache_place *place, const struct selection *rule,
                                    enum cache_decoder decoder)
{
    struct search s = {
        .store = store, .key = key, .place = place, .rule = rule, .decoder = decoder};
    struct cache_entry *named = cache_store_named(store, key->name);
    /* The name is only a hash; the text of the key decides. */
    if (named && strcmp(named->key, key->text) == 0)
        consider(&s, named);
    else
        cache_entry_close(&named);
    if (s.found.answer < CACHE_HIT)
        cache_store_each(store, false, consider_other, &s);
    if (s.found.answer == CACHE_MISS && !s.found.why[0] && rule && log_enabled(LOG_VERBOSE))
        cache_store_each(store, false, explain, &s);
    if (!s.found.why[0])
        snprintf(s.found.why, sizeof s.found.why, "no frames of this film are cached");
    if (s.found.answer >= CACHE_HIT)
        cache_store_used(s.found.entry);
    return s.found;
}

/* ---- Eviction ---- */

struct candidate {
    char *path;
    struct timespec used;
    uint64_t bytes;
};

struct eviction {
    const char *keep;
    struct candidate *list;
    size_t count, room;
    uint64_t total;
};

/* Removes a temporary whose lock is free: its writer is gone. A new one may not be locked yet. */
static void sweep(const char *path, const struct stat *st)
{
    if (time(NULL) - st->st_mtim.tv_sec < 60)
        return;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
        unlink(path);
    if (fd >= 0)
        close(fd);
}

static void weigh(void *user, const struct cache_file *file)
{
    struct eviction *t = user;
    if (!cache_key_is_name(file->name) && !is_list(file->name)) {
        sweep(file->path, &file->st);
        return;
    }
    t->total += (uint64_t)file->st.st_size;
    if (strcmp(file->name, t->keep) == 0)
        return;
    if (!err_reserve(&t->list, t->count + 1, &t->room, sizeof *t->list, NULL))
        return;
    struct candidate c = {strdup(file->path), file->st.st_mtim, (uint64_t)file->st.st_size};
    if (c.path)
        t->list[t->count++] = c;
}

static int by_use(const void *a, const void *b)
{
    const struct candidate *p = a, *q = b;
    if (p->used.tv_sec != q->used.tv_sec)
        return p->used.tv_sec < q->used.tv_sec ? -1 : 1;
    return (p->used.tv_nsec > q->used.tv_nsec) - (p->used.tv_nsec < q->used.tv_nsec);
}

void cache_store_evict(const struct cache_store *s, const char *keep)
{
    char path[CACHE_PATH_BYTES];
    snprintf(path, sizeof path, "%s/lock", s->folder);
    int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
                    cache_owner_mode(&s->owner, 6));
    /*
     * The process that has the lock evicts. On a file system without locks two processes may evict
     * at once, which only costs frames. Another user's lock could prevent eviction for ever.
     */
    struct stat st;
    bool trusted = lock >= 0 && fstat(lock, &st) == 0 && cache_owner_trusts(&s->owner, &st);
    bool busy = trusted && flock(lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    struct eviction t = {.keep = keep};
    if (!busy)
        cache_store_each(s, true, weigh, &t);
    if (t.count > 0)
        qsort(t.list, t.count, sizeof *t.list, by_use);
    for (size_t i = 0; i < t.count; i++) {
        if (t.total > s->limit && unlink(t.list[i].path) == 0) {
            t.total -= t.list[i].bytes;
            log_msg(LOG_VERBOSE, "cache: evicted '%s'", t.list[i].path);
        }
        free(t.list[i].path);
    }
    free(t.list);
    if (lock >= 0)
        close(lock);
}
