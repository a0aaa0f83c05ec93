#include "frame_cache.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache_store.h"
#include "cache_entry.h"
#include "base/interrupt.h"
#include "base/log.h"

struct frame_cache {
    const struct cache_options *options;
    const char *path;
    const struct film_parts *parts;
    struct cache_store store;
    struct cache_film id;
    struct cache_key key;
    struct frame_cache_ask ask;
    struct cache_found found;
    struct source *source;       /* of found.entry; NULL if there is none */
    struct cache_writer *writer; /* NULL: frames are not stored */
    struct frame_times *frame_times;
    struct crop crop; /* of the stored frames */
    bool exact_only;  /* decoded sequentially after a contradiction */
};

void frame_cache_check_folder(struct cache_options *o)
{
    struct cache_store store;
    struct err e = ERR_INIT;
    if (!cache_store_open(&store, o, &e)) {
        if (e.code != ERR_NONE)
            log_msg(LOG_WARNING, "the cache '%s' is not used: %s", store.folder, e.text);
        o->off = true;
        return;
    }
    uint64_t foreign = log_enabled(LOG_VERBOSE) ? cache_store_foreign(&store) : 0;
    if (foreign > 0)
        log_msg(LOG_VERBOSE, "the cache '%s': ignored %" PRIu64 " %s of other users", store.folder,
                foreign, foreign == 1 ? "entry" : "entries");
}

struct frame_cache *frame_cache_open(const struct cache_options *o, const char *path,
                                     const struct film_parts *parts)
{
    struct cache_store store;
    struct err e = ERR_INIT;
    struct frame_cache *c = cache_store_open(&store, o, &e) ? calloc(1, sizeof *c) : NULL;
    if (!c)
        return NULL;
    c->options = o;
    c->path = path;
    c->parts = parts;
    c->store = store;
    if (cache_film_read(path, parts, &c->id, &e))
        return c;
    log_msg(LOG_VERBOSE, "'%s': not cached: %s", path, e.text);
    free(c);
    return NULL;
}

/* ---- Lookup ---- */

/* Logs why frames are not stored. A folder fails alike for all films: only the first is a warning. */
static void report_unwritable(const struct cache_store *store, const struct err *e)
{
    static atomic_bool warned;
    enum log_level level = atomic_exchange(&warned, true) ? LOG_VERBOSE : LOG_WARNING;
    log_msg(level, "cannot store frames in the cache '%s': %s", store->folder, e->text);
}

static void start_writer(struct frame_cache *c)
{
    struct err e = ERR_INIT;
    /* Compressing takes far less time than decoding; more threads only help very fast engines. */
    int half = c->ask.threads / 2, threads = half < 1 ? 1 : half > 8 ? 8 : half;
    /* Without frame times the frames serve only their own selection. */
    bool timed = source_can(frame_cache_source(c, c->ask.film), SOURCE_HAS_FRAME_TIMES);
    bool ok = cache_store_make(&c->store, &e);
    if (ok && timed && !c->frame_times) {
        c->frame_times = frame_times_open(&e);
        ok = c->frame_times != NULL;
    }
    if (ok)
        c->writer = cache_writer_open(c->store.folder, c->key.text, c->ask.width, c->ask.height,
                                      threads, c->store.limit, &e);
    if (!c->writer)
        report_unwritable(&c->store, &e);
}

/*
 * Looks for exact frames that can serve --keyframes: those with the number and time of a key frame.
 * Only for films whose frames all have times. Elsewhere hidden and packed frames make both an
 * estimate.
 */
static void look_for_exact(struct frame_cache *c)
{
    struct cache_key key;
    struct selection exact = *c->ask.selection;
    const struct frame_cache_ask *ask = &c->ask;
    exact.keyframes = false;
    if (!cache_key_make(&key, &c->id, &ask->film->film, &exact, ask->width, ask->height, ask->crop,
                        ask->light, ask->decode))
        return;
    struct cache_found found = cache_store_find(&c->store, &key, &c->id.place, NULL, ask->decoder);
    if (found.answer == CACHE_PARTIAL)
        c->found = found;
}

void frame_cache_look(struct frame_cache *c, const struct frame_cache_ask *ask)
{
    struct err e = ERR_INIT;
    if (!c || !source_can(ask->film, SOURCE_CACHEABLE) ||
        !cache_film_holds(c->path, c->parts, &c->id) ||
        !cache_key_make(&c->key, &c->id, &ask->film->film, ask->selection, ask->width, ask->height,
                        ask->crop, ask->light, ask->decode))
        return;
    c->ask = *ask;
    if (c->options->refresh)
        snprintf(c->found.why, sizeof c->found.why, "--refresh");
    else
        c->found = cache_store_find(&c->store, &c->key, &c->id.place, ask->selection, ask->decoder);
    if (c->found.answer == CACHE_MISS && ask->selection->keyframes &&
        ask->film->film.frames_have_times && !c->options->refresh)
        look_for_exact(c);
    const struct cache_index *index = c->found.entry ? &c->found.entry->index : NULL;
    bool other_size = index && (index->width != ask->width || index->height != ask->height);
    if (other_size)
        log_msg(LOG_WARNING,
                "an entry of the cache in '%s' has frames of another size than its key",
                c->store.folder);
    if (c->found.entry && !other_size)
        c->source = source_cache_open(ask->film, &c->found, &e);
    if (c->found.entry && !c->source) {
        cache_entry_close(&c->found.entry);
        c->found.answer = CACHE_MISS;
    }
    log_msg(LOG_VERBOSE, "'%s': cache %s: %s", c->path, frame_cache_state(c), c->found.why);
    if (c->found.answer < CACHE_HIT)
        start_writer(c);
}

bool frame_cache_crop(const struct frame_cache *c, struct crop *crop)
{
    if (!c || !c->found.entry)
        return false;
    *crop = c->found.entry->index.crop;
    return true;
}

void frame_cache_set_crop(struct frame_cache *c, const struct crop *crop)
{
    if (c)
        c->crop = *crop;
}

struct source *frame_cache_source(struct frame_cache *c, struct source *film)
{
    return c && c->source ? c->source : film;
}

bool frame_cache_wants(const struct frame_cache *c) { return c && c->writer; }

void frame_cache_put(struct frame_cache *c, const struct frame_tag *tag, const uint8_t *rgb)
{
    if (frame_cache_wants(c))
        cache_writer_put(c->writer, tag, rgb);
}

struct frame_times *frame_cache_frame_times(struct frame_cache *c)
{
    return c ? c->frame_times : NULL;
}

const char *frame_cache_state(const struct frame_cache *c)
{
    static const char *const name[] = {"miss", "partial", "hit", "hit"};
    return c && c->ask.film ? name[c->found.answer] : "off";
}

/* ---- End ---- */

void frame_cache_again(struct frame_cache *c, const struct decode_counts *counts)
{
    if (!c || !c->ask.film)
        return;
    const struct err *broken = c->source ? source_cache_broken(c->source) : NULL;
    if (counts->cache_failed && broken)
        cache_store_reject(&c->store, c->found.entry, broken->code == ERR_INPUT, broken->text);
    source_close(&c->source);
    cache_entry_close(&c->found.entry);
    c->found.answer = CACHE_MISS;
    c->exact_only |= counts->contradicted;
    cache_writer_discard(&c->writer);
    start_writer(c);
}

/* Returns true unless frames of an interrupted run would replace a complete entry. */
static bool may_replace(const struct frame_cache *c)
{
    char path[CACHE_PATH_BYTES];
    enum entry_state state;
    snprintf(path, sizeof path, "%s/%s", c->store.folder, c->key.name);
    struct cache_entry *old = cache_store_entry(&c->store, path, &state, NULL);
    bool complete = old && !old->index.partial;
    cache_entry_close(&old);
    return !complete;
}

/* Returns true if the entry that was found has the frames of an interrupted run like this one. */
static bool is_earlier(const struct frame_cache *c, const struct cache_found *f)
{
    return f->answer == CACHE_PARTIAL && strcmp(f->entry->key, c->key.text) == 0;
}

/*
 * Returns true if the frames of an interrupted run may be stored; the film was intact so far. Adds
 * the frames that they replace: a copy of the film has the same entry, and may have just ended.
 */
static bool prepare_partial(struct frame_cache *c, struct cache_index *facts, struct err *e)
{
    facts->partial = true;
    facts->frame_times = NULL;
    if (!interrupted() || !cache_index_is_clean(facts) || facts->counts.chunks == 0 ||
        !may_replace(c))
        return false;
    struct cache_found now = {.answer = CACHE_MISS};
    if (!c->options->refresh && !c->exact_only)
        now = cache_store_find(&c->store, &c->key, &c->id.place, c->ask.selection, c->ask.decoder);
    const struct cache_found *earlier = is_earlier(c, &now) ? &now : &c->found;
    bool ok = !is_earlier(c, earlier) || cache_writer_add(c->writer, earlier->entry, e);
    cache_entry_close(&now.entry);
    return ok;
}

/* Publishes the entry. Returns false, and logs why, if nothing is kept. */
static bool keep_written(struct frame_cache *c, struct columns *columns,
                         const struct decode_counts *counts, bool ok)
{
    struct err e = ERR_INIT;
    struct cache_index facts = {.film = c->id.place,
                                .counts = *counts,
                                .exact_only = c->exact_only,
                                .crop = c->crop,
                                .frame_times = c->frame_times};
    const char *slash = strrchr(c->path, '/');
    snprintf(facts.name, sizeof facts.name, "%s", slash ? slash + 1 : c->path);
    /* The disk may read the same bytes correctly next time. */
    bool whole = counts->bytes_unread == 0 && !counts->lack[0];
    const char *why = NULL;
    if (!whole)
        why = "the file could not be read whole";
    else if (!cache_film_holds(c->path, c->parts, &c->id))
        why = "the file was modified";
    else if (!ok && !prepare_partial(c, &facts, &e))
        why = e.text[0] ? e.text : "the film was not decoded to its end";
    if (why) {
        cache_writer_discard(&c->writer);
        log_msg(LOG_VERBOSE, "'%s': frames not stored in the cache: %s", c->path, why);
        return false;
    }
    uint64_t bytes = cache_writer_bytes(c->writer);
    if (!cache_writer_finish(&c->writer, &facts, ok ? columns : NULL, c->key.name, &e)) {
        log_msg(LOG_WARNING, "cannot store the frames of '%s' in the cache '%s': %s", c->path,
                c->store.folder, e.text);
        return false;
    }
    log_msg(LOG_VERBOSE, "'%s': %s frames are stored in '%s/%s', about %" PRIu64 " bytes", c->path,
            ok ? "its" : "the interrupted run's", c->store.folder, c->key.name, bytes);
    return true;
}

void frame_cache_end(struct frame_cache *c, struct columns *columns,
                     const struct decode_counts *counts, bool ok)
{
    if (!c || !c->ask.film)
        return;
    if (ok && c->source)
        log_msg(LOG_VERBOSE, "'%s': %" PRIu64 " frames came from the cache", c->path,
                source_cache_frames(c->source));
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* copies end one after another */
    pthread_mutex_lock(&lock);
    bool kept = c->writer && keep_written(c, columns, counts, ok);
    pthread_mutex_unlock(&lock);
    /* Also after a hit: the limit may have changed. */
    cache_store_evict(&c->store, kept ? c->key.name : "");
}

void frame_cache_close(struct frame_cache **cache)
{
    struct frame_cache *c = *cache;
    if (!c)
        return;
    source_close(&c->source);
    cache_entry_close(&c->found.entry);
    cache_writer_discard(&c->writer);
    frame_times_free(&c->frame_times);
    free(c);
    *cache = NULL;
}
