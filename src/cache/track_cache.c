#include "frame_cache.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/wire.h"
#include "cache_store.h"
#include "cache_entry.h"

enum { UNPACKED_MOST = 1 << 28, WORDS = 1024 };

/* What is kept of a film besides its analysis frames, in an entry of its own. */
struct track {
    uint32_t kind;     /* TRACK_SOUND or TRACK_SCAN */
    const char *name;  /* in its key */
    const char *title; /* in messages */
    bool (*read)(void *out, const uint8_t *bytes, size_t count, struct err *e);
    bool (*write)(const void *of, uint8_t **bytes, size_t *count, struct err *e);
    void (*empty)(void *out);
    /*
     * Returns true if it may be that of a damaged film. It serves the very same file only: a
     * repaired film may have the size, the time and the sampled bytes of the damaged one.
     */
    bool (*is_damaged)(const void *of);
};

static bool read_sound(void *out, const uint8_t *bytes, size_t count, struct err *e)
{
    return film_sound_read(out, bytes, count, e);
}

static bool write_sound(const void *of, uint8_t **bytes, size_t *count, struct err *e)
{
    return film_sound_write(of, bytes, count, e);
}

static void empty_sound(void *out) { film_sound_free(out); }

static bool is_damaged_sound(const void *of)
{
    const struct film_sound *s = of;
    return s->gaps > 0 || s->errors > 0;
}

static const struct track sound_track = {TRACK_SOUND, "sound",     "sound",         read_sound,
                                         write_sound, empty_sound, is_damaged_sound};

static bool read_scan(void *out, const uint8_t *bytes, size_t count, struct err *e)
{
    return film_scan_read(out, bytes, count, e);
}

static bool write_scan(const void *of, uint8_t **bytes, size_t *count, struct err *e)
{
    return film_scan_write(of, bytes, count, e);
}

static void empty_scan(void *out) { film_scan_free(out); }

static bool is_damaged_scan(const void *of)
{
    (void)of;
    return false; /* scan_cache_save is not called for one */
}

static const struct track scan_track = {TRACK_SCAN, "scan",     "shots",        read_scan,
                                        write_scan, empty_scan, is_damaged_scan};

/* A film whose track is sought or stored. */
struct place {
    const struct track *track;
    const char *words; /* of the key */
    struct cache_store store;
    struct cache_film id;
    struct cache_key key;
};

static bool locate(struct place *p, const struct cache_options *o, const char *path,
                   const struct film_parts *parts, struct err *e)
{
    return cache_store_open(&p->store, o, e) && cache_film_read(path, parts, &p->id, e);
}

/* Sets the key; with `file` that of a damaged film, which has an entry for each copy. */
static bool set_key(struct place *p, bool file, struct err *e)
{
    return cache_key_make_track(&p->key, &p->id, file, p->track->name, p->words) ||
           err_set(e, ERR_FAILED, "its key is too long");
}

/* Decompresses the track: its size (u64), then zstd. */
static bool decode_track(const struct track *track, const struct index_track *t, void *out,
                         struct err *e)
{
    struct wire_in in = wire_read(t->data, t->bytes);
    uint64_t size = wire_u64(&in);
    if (in.failed || size > UNPACKED_MOST)
        return err_set(e, ERR_INPUT, "the stored %s is invalid", track->title);
    struct cache_packer *packer = cache_packer_open(e);
    uint8_t *bytes = err_calloc((size_t)size + 1, 1, e);
    bool ok = packer && bytes &&
              cache_unpack(packer, in.at, wire_left(&in), bytes, (size_t)size, e) &&
              track->read(out, bytes, (size_t)size, e);
    free(bytes);
    cache_packer_free(&packer);
    return ok;
}

/* Returns true if the entry is of this film, which was not modified since. */
static bool is_of_film(const struct place *p, const struct cache_entry *entry)
{
    return strcmp(entry->key, p->key.text) == 0 &&
           !cache_place_suspect(&entry->index.film, &p->id.place);
}

/* Loads the track of the entry that the key names, if it may be used. */
static bool load_entry(const struct place *p, void *out, struct err *e)
{
    struct cache_entry *entry = cache_store_named(&p->store, p->key.name);
    const struct index_track *t = entry ? cache_index_track(&entry->index, p->track->kind) : NULL;
    bool found = t && is_of_film(p, entry) && decode_track(p->track, t, out, e);
    if (found && p->track->is_damaged(out) && !cache_place_same(&entry->index.film, &p->id.place)) {
        p->track->empty(out);
        found = false;
    }
    if (e->code == ERR_INPUT)
        cache_store_reject(&p->store, entry, true, e->text);
    if (found)
        cache_store_used(entry);
    cache_entry_close(&entry);
    return found;
}

static bool load_track(const struct cache_options *o, const char *path,
                       const struct film_parts *parts, const struct track *track, const char *words,
                       void *out)
{
    struct place p = {.track = track, .words = words};
    struct err e = ERR_INIT;
    if (o->refresh || !locate(&p, o, path, parts, &e))
        return false;
    bool found = set_key(&p, false, &e) && load_entry(&p, out, &e);
    if (!found && e.code == ERR_NONE)
        found = set_key(&p, true, &e) && load_entry(&p, out, &e);
    log_msg(LOG_VERBOSE, "'%s': cache %s: the film's %s: %s", path, found ? "hit" : "miss",
            track->title, found ? "cached" : "not cached");
    return found;
}

/* Adds the track. */
static bool encode_track(const struct track *track, struct cache_index *x, const void *of,
                         struct err *e)
{
    uint8_t *bytes = NULL, *packed = NULL;
    size_t count = 0, size = 0;
    struct wire_out o = {0};
    struct cache_packer *packer = cache_packer_open(e);
    bool ok = packer && track->write(of, &bytes, &count, e) &&
              (count <= UNPACKED_MOST || err_set(e, ERR_FAILED, "it is too long")) &&
              (packed = err_calloc(cache_pack_bound(count), 1, e)) &&
              (size = cache_pack(packer, bytes, count, packed, e)) > 0;
    if (ok) {
        wire_put_u64(&o, count);
        wire_put(&o, packed, size);
        ok = o.failed ? err_memory(e, size)
                      : cache_index_add_track(x, track->kind, o.data, o.count, e);
    }
    wire_free(&o);
    free(packed);
    free(bytes);
    cache_packer_free(&packer);
    return ok;
}

static bool write_entry(const struct place *p, const char *path, const struct film_parts *parts,
                        const void *of, struct err *e)
{
    const char *slash = strrchr(path, '/');
    struct cache_index facts = {.film = p->id.place};
    struct cache_writer *w = NULL;
    snprintf(facts.name, sizeof facts.name, "%s", slash ? slash + 1 : path);
    bool ok = encode_track(p->track, &facts, of, e) && cache_store_make(&p->store, e) &&
              (w = cache_writer_open(p->store.folder, p->key.text, 1, 1, 1, p->store.limit, e));
    ok = ok && cache_film_holds(path, parts, &p->id) &&
         cache_writer_finish(&w, &facts, NULL, p->key.name, e);
    cache_writer_discard(&w);
    cache_index_free(&facts);
    return ok;
}

static void save_track(const struct cache_options *o, const char *path,
                       const struct film_parts *parts, const struct track *track, const char *words,
                       const void *of)
{
    struct place p = {.track = track, .words = words};
    struct err e = ERR_INIT;
    if (!locate(&p, o, path, parts, &e) || !set_key(&p, track->is_damaged(of), &e)) {
        if (e.code != ERR_NONE)
            log_msg(LOG_VERBOSE, "'%s': cannot cache its %s: %s", path, track->title, e.text);
        return;
    }
    if (write_entry(&p, path, parts, of, &e))
        log_msg(LOG_VERBOSE, "'%s': stored its %s in '%s/%s'", path, track->title, p.store.folder,
                p.key.name);
    else if (e.code != ERR_NONE)
        log_msg(LOG_WARNING, "cannot store the %s of '%s' in the cache '%s': %s", track->title,
                path, p.store.folder, e.text);
    cache_store_evict(&p.store, p.key.name);
}

/* ---- Sound ---- */

static void sound_words(char words[WORDS], int video, int stream)
{
    snprintf(words, WORDS, "sound=%d\nsound.video=%d\nsound.stream=%d\n", SOUND_VERSION, video,
             stream);
}

bool sound_cache_load(const struct cache_options *o, const char *path,
                      const struct film_parts *parts, int video, int stream, struct film_sound *out)
{
    char words[WORDS];
    *out = (struct film_sound){.stream = -1};
    sound_words(words, video, stream);
    return load_track(o, path, parts, &sound_track, words, out);
}

void sound_cache_save(const struct cache_options *o, const char *path,
                      const struct film_parts *parts, int video, int stream,
                      const struct film_sound *s)
{
    char words[WORDS];
    sound_words(words, video, stream);
    save_track(o, path, parts, &sound_track, words, s);
}

/* ---- Scan frames ---- */

static void scan_words(char words[WORDS], const struct frame_cache_ask *ask, int64_t start_us,
                       int64_t end_us)
{
    const struct film *f = &ask->film->film;
    snprintf(words, WORDS,
             "scan=%d\nscan.analysis=%d\nscan.stream=%d\nscan.start=%" PRId64 "\nscan.end=%" PRId64
             "\nscan.decode=%s\nscan.crop=%s\nscan.light=%s\n",
             SCAN_VERSION, ANALYSIS_VERSION, f->stream, start_us, end_us,
             ask->decoder == CACHE_BY_SOFTWARE_ALONE ? "cpu" : ask->decode,
             ask->crop ? ask->crop : "", ask->light ? ask->light : "");
}

bool scan_cache_load(const struct cache_options *o, const char *path,
                     const struct film_parts *parts, const struct frame_cache_ask *ask,
                     int64_t start_us, int64_t end_us, struct film_scan *out)
{
    char words[WORDS];
    *out = (struct film_scan){.count = 0};
    scan_words(words, ask, start_us, end_us);
    return load_track(o, path, parts, &scan_track, words, out);
}

void scan_cache_save(const struct cache_options *o, const char *path,
                     const struct film_parts *parts, const struct frame_cache_ask *ask,
                     int64_t start_us, int64_t end_us, const struct film_scan *s)
{
    char words[WORDS];
    scan_words(words, ask, start_us, end_us);
    save_track(o, path, parts, &scan_track, words, s);
}
