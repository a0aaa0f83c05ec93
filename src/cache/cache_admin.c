#include "cache_options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "cache_store.h"

struct sums {
    const struct cache_store *store;
    FILE *out;
    uint64_t entries, partial, other, damaged, unreadable, bytes, frames, frame_bytes, raw_bytes,
        removed, kept;
};

/* Writes a line that contains foreign text, made plain (text.h). */
static void print_plain(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void print_plain(FILE *out, const char *format, ...)
{
    char line[2 * CACHE_PATH_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    text_make_plain(line);
    fprintf(out, "%s\n", line);
}

/* Checks an entry with its blocks, and removes a damaged one. */
static void verify_one(void *user, const struct cache_file *file)
{
    struct sums *s = user;
    struct err e = ERR_INIT;
    enum entry_state state;
    if (interrupted())
        return; /* the other entries may take long */
    struct cache_entry *entry = cache_store_entry(s->store, file->path, &state, &e);
    if (!entry && state == ENTRY_ABSENT)
        return; /* evicted meanwhile, or unreadable for this user: not known to be damaged */
    s->entries++;
    if (state == ENTRY_OTHER) {
        s->other++;
    } else if (state == ENTRY_UNREADABLE ||
               (entry && !cache_entry_check(entry, &e) && e.code != ERR_INPUT)) {
        s->unreadable++;
        fprintf(s->out, "%s: cannot be read: %s\n", file->name, e.text);
    } else if (!entry || e.code != ERR_NONE) {
        s->damaged++;
        bool gone = unlink(file->path) == 0;
        print_plain(s->out, "%s: damaged: %s; %s", file->name, e.text,
                    gone ? "removed" : strerror(errno));
    }
    cache_entry_close(&entry);
}

static bool verify(struct sums *s, struct err *e)
{
    cache_store_each(s->store, false, verify_one, s);
    fprintf(s->out,
            "checked   %" PRIu64 " entries, %" PRIu64 " damaged, %" PRIu64 " of another version\n",
            s->entries, s->damaged, s->other);
    if (s->damaged > 0)
        return err_set(e, ERR_FAILED,
                       "%" PRIu64 " of %" PRIu64 " entries of the cache were damaged", s->damaged,
                       s->entries);
    return s->unreadable == 0 ||
           err_set(e, ERR_FAILED, "%" PRIu64 " of %" PRIu64 " entries of the cache cannot be read",
                   s->unreadable, s->entries);
}

static void clear_one(void *user, const struct cache_file *file)
{
    struct sums *s = user;
    if (interrupted())
        return;
    if (unlink(file->path) == 0) {
        s->removed++;
        s->bytes += (uint64_t)file->st.st_size;
    } else {
        s->kept++;
    }
}

static bool clear(struct sums *s, struct err *e)
{
    cache_store_each(s->store, true, clear_one, s);
    fprintf(s->out, "removed   %" PRIu64 " files, %" PRIu64 " bytes\n", s->removed, s->bytes);
    return s->kept == 0 || err_set(e, ERR_FAILED, "%" PRIu64 " files in '%s' cannot be removed",
                                   s->kept, s->store->folder);
}

static void count_one(void *user, const struct cache_file *file)
{
    struct sums *s = user;
    enum entry_state state;
    if (interrupted())
        return;
    struct cache_entry *entry = cache_store_entry(s->store, file->path, &state, NULL);
    s->entries++;
    s->bytes += (uint64_t)file->st.st_size;
    if (entry && cache_index_track(&entry->index, TRACK_SOUND)) {
        print_plain(s->out, "%s, sound: %" PRIu64 " bytes", entry->index.name, entry->bytes);
    } else if (entry) {
        struct cache_index *x = &entry->index;
        uint64_t held = 0;
        for (uint64_t i = 0; i < x->blocks; i++)
            held += x->block[i].frames;
        uint64_t raw = held * (uint64_t)x->width * (uint64_t)x->height * 3;
        const char *rule = strstr(entry->key, "selection.");
        print_plain(s->out,
                    "%s, %dx%d, %.*s%s: %" PRIu64 " columns, %" PRIu64 " bytes, %" PRIu64
                    " a column, %.3f of raw RGB",
                    x->name, x->width, x->height, rule ? (int)strcspn(rule + 10, "\n") : 0,
                    rule ? rule + 10 : "", x->partial ? " (interrupted)" : "", held, entry->bytes,
                    held ? entry->bytes / held : 0, raw ? (double)entry->bytes / (double)raw : 0.0);
        s->partial += x->partial;
        s->frames += held;
        s->frame_bytes += entry->bytes;
        s->raw_bytes += raw;
    } else {
        s->other++;
    }
    cache_entry_close(&entry);
}

static void stats(struct sums *s, uint64_t limit)
{
    cache_store_each(s->store, false, count_one, s);
    print_plain(s->out, "folder    %s", s->store->folder);
    fprintf(s->out,
            "entries   %" PRIu64 " (%" PRIu64 " of interrupted runs, %" PRIu64
            " that cannot be read)\n",
            s->entries, s->partial, s->other);
    fprintf(s->out, "bytes     %" PRIu64 " of %" PRIu64 " allowed\n", s->bytes, limit);
    fprintf(s->out, "columns   %" PRIu64 "\n", s->frames);
    if (s->frames > 0 && s->raw_bytes > 0)
        fprintf(s->out, "a column  %" PRIu64 " bytes, %.3f of raw RGB\n",
                s->frame_bytes / s->frames, (double)s->frame_bytes / (double)s->raw_bytes);
}

bool cache_admin(const struct cache_options *o, FILE *out, struct err *e)
{
    struct cache_store store;
    struct cache_options asked = *o;
    asked.off = false;
    if (!cache_options_folder(&asked, store.folder, sizeof store.folder))
        return err_set(e, ERR_FAILED, "no folder for a cache; give one with --cache");
    if (!cache_store_open(&store, &asked, e))
        return err_prefix(e, "the cache '%s' is not used", store.folder);
    struct stat st;
    if (stat(store.folder, &st) == 0 && !S_ISDIR(st.st_mode))
        return err_set(e, ERR_FAILED, "the cache '%s' is not a folder", store.folder);
    struct sums s = {.store = &store, .out = out};
    bool ok = true;
    if (o->verify)
        ok = verify(&s, e);
    s = (struct sums){.store = &store, .out = out};
    if (o->clear)
        ok &= clear(&s, e);
    s = (struct sums){.store = &store, .out = out};
    if (o->stats)
        stats(&s, store.limit);
    if (interrupted())
        return err_set(e, ERR_INTERRUPTED, "interrupted; not all entries of the cache were read");
    return file_end_stdout(out, true, e) && ok;
}
