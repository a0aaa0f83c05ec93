#include "frame_cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/wire.h"
#include "cache_store.h"
#include "cache_entry.h"

enum { UNPACKED_MOST = 1 << 28 };

/* A film whose sound is sought or stored. */
struct place {
    struct cache_store store;
    struct cache_film id;
    struct cache_key key;
};

static bool locate(struct place *p, const struct cache_options *o, const char *path,
                   const struct film_parts *parts, struct err *e)
{
    return cache_store_open(&p->store, o, e) && cache_film_read(path, parts, &p->id, e);
}

/* Sets the key; with `file` that of a damaged sound, which has an entry for each copy of a film. */
static bool set_key(struct place *p, bool file, int video, int stream, struct err *e)
{
    return cache_key_make_sound(&p->key, &p->id, file, video, stream) ||
           err_set(e, ERR_FAILED, "its key is too long");
}

/* Decompresses the track: its size (u64), then zstd. */
static bool decode_track(const struct index_track *t, struct film_sound *out, struct err *e)
{
    struct wire_in in = wire_read(t->data, t->bytes);
    uint64_t size = wire_u64(&in);
    if (in.failed || size > UNPACKED_MOST)
        return err_set(e, ERR_INPUT, "the stored sound is invalid");
    struct cache_packer *packer = cache_packer_open(e);
    uint8_t *bytes = err_calloc((size_t)size + 1, 1, e);
    bool ok = packer && bytes &&
              cache_unpack(packer, in.at, wire_left(&in), bytes, (size_t)size, e) &&
              film_sound_read(out, bytes, (size_t)size, e);
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

/*
 * Returns true if the sound may be that of a damaged film. It serves the very same file only: a
 * repaired film may have the size, the time and the sampled bytes of the damaged one.
 */
static bool is_damaged(const struct film_sound *s) { return s->gaps > 0 || s->errors > 0; }

/* Loads the sound of the entry that the key names, if it may be used. */
static bool load_entry(const struct place *p, struct film_sound *out, struct err *e)
{
    struct cache_entry *entry = cache_store_named(&p->store, p->key.name);
    const struct index_track *t = entry ? cache_index_track(&entry->index, TRACK_SOUND) : NULL;
    bool found = t && is_of_film(p, entry) && decode_track(t, out, e);
    if (found && is_damaged(out) && !cache_place_same(&entry->index.film, &p->id.place)) {
        film_sound_free(out);
        found = false;
    }
    if (e->code == ERR_INPUT)
        cache_store_reject(&p->store, entry, true, e->text);
    if (found)
        cache_store_used(entry);
    cache_entry_close(&entry);
    return found;
}

bool sound_cache_load(const struct cache_options *o, const char *path,
                      const struct film_parts *parts, int video, int stream, struct film_sound *out)
{
    struct place p;
    struct err e = ERR_INIT;
    *out = (struct film_sound){.stream = -1};
    if (o->refresh || !locate(&p, o, path, parts, &e))
        return false;
    bool found = set_key(&p, false, video, stream, &e) && load_entry(&p, out, &e);
    if (!found && e.code == ERR_NONE)
        found = set_key(&p, true, video, stream, &e) && load_entry(&p, out, &e);
    log_msg(LOG_VERBOSE, "'%s': cache %s: %s", path, found ? "hit" : "miss",
            found ? "the film's sound is cached" : "no sound of this film is cached");
    return found;
}

/* Adds the track. */
static bool encode_track(struct cache_index *x, const struct film_sound *s, struct err *e)
{
    uint8_t *bytes = NULL, *packed = NULL;
    size_t count = 0, size = 0;
    struct wire_out o = {0};
    struct cache_packer *packer = cache_packer_open(e);
    bool ok = packer && film_sound_write(s, &bytes, &count, e) &&
              (packed = err_calloc(cache_pack_bound(count), 1, e)) &&
              (size = cache_pack(packer, bytes, count, packed, e)) > 0;
    if (ok) {
        wire_put_u64(&o, count);
        wire_put(&o, packed, size);
        ok = o.failed ? err_memory(e, size)
                      : cache_index_add_track(x, TRACK_SOUND, o.data, o.count, e);
    }
    wire_free(&o);
    free(packed);
    free(bytes);
    cache_packer_free(&packer);
    return ok;
}

static bool write_entry(const struct place *p, const char *path, const struct film_parts *parts,
                        const struct film_sound *s, struct err *e)
{
    const char *slash = strrchr(path, '/');
    struct cache_index facts = {.film = p->id.place};
    struct cache_writer *w = NULL;
    snprintf(facts.name, sizeof facts.name, "%s", slash ? slash + 1 : path);
    bool ok = encode_track(&facts, s, e) && cache_store_make(&p->store, e) &&
              (w = cache_writer_open(p->store.folder, p->key.text, 1, 1, 1, p->store.limit, e));
    ok = ok && cache_film_holds(path, parts, &p->id) &&
         cache_writer_finish(&w, &facts, NULL, p->key.name, e);
    cache_writer_discard(&w);
    cache_index_free(&facts);
    return ok;
}

void sound_cache_save(const struct cache_options *o, const char *path,
                      const struct film_parts *parts, int video, int stream,
                      const struct film_sound *s)
{
    struct place p;
    struct err e = ERR_INIT;
    if (!locate(&p, o, path, parts, &e) || !set_key(&p, is_damaged(s), video, stream, &e)) {
        if (e.code != ERR_NONE)
            log_msg(LOG_VERBOSE, "'%s': its sound is not cached: %s", path, e.text);
        return;
    }
    if (write_entry(&p, path, parts, s, &e))
        log_msg(LOG_VERBOSE, "'%s': its sound is stored in '%s/%s'", path, p.store.folder,
                p.key.name);
    else if (e.code != ERR_NONE)
        log_msg(LOG_WARNING, "cannot store the sound of '%s' in the cache '%s': %s", path,
                p.store.folder, e.text);
    cache_store_evict(&p.store, p.key.name);
}
