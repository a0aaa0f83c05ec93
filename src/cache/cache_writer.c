
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/path.h"
#include "barcode/base/queue.h"
#include "base/watch.h"
#include "cache_store.h"
#include "cache_entry.h"

/* The frames of one block, before they are compressed. */
struct load {
    uint32_t frames;
    struct frame_tag tag[ENTRY_BLOCK_FRAMES];
    uint8_t *rgb; /* [frames][frame_bytes] */
};

struct cache_writer {
    char *folder, *temp;
    int fd;
    int width, height, threads, started;
    size_t frame_bytes;
    uint32_t per_block;
    uint64_t limit;
    struct load *load;
    int loads;
    struct queue *todo, *free;
    pthread_t *thread;
    struct hash128 head_hash;
    pthread_mutex_t put_lock; /* guards `filling`, `put` and its size */
    struct load *filling;
    uint64_t *put; /* numbers of all frames put so far */
    size_t puts, put_room;
    pthread_mutex_t lock; /* guards the rest and the file */
    uint64_t offset, places;
    struct index_block *block;
    size_t blocks, block_room;
    struct index_frame *frame;
    size_t frames, frame_room;
    struct err error; /* set: the writer has stopped storing frames */
};

static void give_up(struct cache_writer *w, const struct err *e)
{
    pthread_mutex_lock(&w->lock);
    if (w->error.code == ERR_NONE)
        w->error = *e;
    /* On a full disk the outputs need the space now. */
    if (ftruncate(w->fd, 0) != 0)
        log_msg(LOG_VERBOSE, "cannot truncate a temporary cache file: %s", strerror(errno));
    pthread_mutex_unlock(&w->lock);
}

static bool given_up(struct cache_writer *w)
{
    pthread_mutex_lock(&w->lock);
    bool up = w->error.code != ERR_NONE;
    pthread_mutex_unlock(&w->lock);
    return up;
}

static bool write_all(int fd, const uint8_t *data, size_t bytes, struct err *e)
{
    return file_write(fd, data, bytes) || err_set(e, ERR_FAILED, "%s", strerror(errno));
}

/* ---- Compression ---- */

struct scratch {
    struct cache_packer *cache_packer;
    uint8_t *half, *residual, *packed;
};

static bool scratch_open(struct scratch *s, const struct cache_writer *w, struct err *e)
{
    size_t block = w->frame_bytes * w->per_block;
    s->cache_packer = cache_packer_open(e);
    s->half = malloc(w->frame_bytes);
    s->residual = malloc(block);
    s->packed = malloc(cache_pack_bound(block));
    return (s->cache_packer && s->half && s->residual && s->packed) || err_memory(e, 3 * block);
}

static void scratch_free(struct scratch *s)
{
    cache_packer_free(&s->cache_packer);
    free(s->half);
    free(s->residual);
    free(s->packed);
}

/* Appends the block to the file and its frames to the table. The caller holds the lock. */
static bool append(struct cache_writer *w, const struct load *l, const uint8_t *packed,
                   struct index_block b, struct err *e)
{
    if (w->offset + b.bytes > w->limit)
        return err_set(e, ERR_FAILED, "the film's frames exceed --cache-limit");
    if (!err_reserve(&w->block, w->blocks + 1, &w->block_room, sizeof *w->block, e) ||
        !write_all(w->fd, packed, (size_t)b.bytes, e))
        return false;
    b.offset = w->offset;
    b.first = w->places;
    w->offset += b.bytes;
    w->block[w->blocks++] = b;
    for (uint32_t i = 0; i < l->frames; i++) {
        if (!err_reserve(&w->frame, w->frames + 1, &w->frame_room, sizeof *w->frame, e))
            return false;
        w->frame[w->frames++] =
            (struct index_frame){.tag = l->tag[i],
                                 .status = l->tag[i].damaged ? COLUMN_DAMAGED : COLUMN_OK,
                                 .place = w->places++};
    }
    return true;
}

static bool store(struct cache_writer *w, const struct load *l, struct scratch *s, struct err *e)
{
    for (uint32_t i = 0; i < l->frames; i++)
        cache_residual_make(l->rgb + i * w->frame_bytes, w->width, w->height, s->half,
                            s->residual + i * w->frame_bytes);
    struct index_block b = {.frames = l->frames};
    b.bytes = cache_pack(s->cache_packer, s->residual, l->frames * w->frame_bytes, s->packed, e);
    if (b.bytes == 0)
        return false;
    b.hash = hash_128(s->packed, (size_t)b.bytes);
    pthread_mutex_lock(&w->lock);
    bool ok = w->error.code == ERR_NONE && append(w, l, s->packed, b, e);
    pthread_mutex_unlock(&w->lock);
    return ok;
}

static void *writer_main(void *argument)
{
    struct cache_writer *w = argument;
    struct scratch s = {0};
    struct err e = ERR_INIT;
    bool ok = scratch_open(&s, w, &e);
    void *item;
    if (!ok)
        give_up(w, &e);
    while (queue_pop(w->todo, &item)) {
        struct load *l = item;
        if (ok && !store(w, l, &s, &e)) {
            ok = false;
            if (e.code != ERR_NONE)
                give_up(w, &e);
        }
        l->frames = 0;
        queue_push(w->free, l);
    }
    scratch_free(&s);
    return NULL;
}

void cache_writer_put(struct cache_writer *w, const struct frame_tag *tag, const uint8_t *rgb)
{
    struct err e = ERR_INIT;
    void *item = NULL;
    if (given_up(w))
        return;
    pthread_mutex_lock(&w->put_lock);
    if (!w->filling && queue_pop(w->free, &item))
        w->filling = item;
    struct load *l = w->filling;
    if (!err_reserve(&w->put, w->puts + 1, &w->put_room, sizeof *w->put, &e)) {
        give_up(w, &e);
    } else if (l) {
        w->put[w->puts++] = tag->frame;
        memcpy(l->rgb + l->frames * w->frame_bytes, rgb, w->frame_bytes);
        l->tag[l->frames++] = *tag;
        if (l->frames == w->per_block) {
            queue_push(w->todo, l);
            w->filling = NULL;
        }
    }
    pthread_mutex_unlock(&w->put_lock);
}

/* ---- Opening ---- */

/*
 * Makes the file by a name that no other process and no other writer of this one has. A confined
 * process cannot change the mode afterwards; a worker's umask is 0.
 */
static bool open_temporary(struct cache_writer *w, mode_t mode, struct err *e)
{
    static atomic_uint count;
    char name[64];
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof name, CACHE_TEMP_START "%d-%u", (int)getpid(),
                 atomic_fetch_add(&count, 1));
        free(w->temp);
        w->temp = path_join(w->folder, name, "", e);
        if (!w->temp)
            return false;
        w->fd = open(w->temp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (w->fd >= 0)
            return true;
        int error = errno;
        w->temp[0] = 0;
        if (error != EEXIST)
            return err_set(e, ERR_FAILED, "%s", strerror(error));
    }
    return err_set(e, ERR_FAILED, "%s", strerror(EEXIST));
}

static bool open_file(struct cache_writer *w, const char *folder, const char *key, struct err *e)
{
    struct cache_owner owner = {.shared = false};
    w->folder = strdup(folder);
    if (!w->folder)
        return err_memory(e, strlen(folder));
    (void)cache_owner_read(&owner, folder, NULL);
    if (!open_temporary(w, cache_owner_mode(&owner, 4), e))
        return false;
    /* tells other processes that the file is in use; failure is harmless */
    flock(w->fd, LOCK_EX | LOCK_NB);
    struct wire_out head = {0};
    wire_put(&head, "barcodef", 8);
    wire_put_u32(&head, ENTRY_VERSION);
    wire_put_u32(&head, (uint32_t)strlen(key));
    wire_put(&head, key, strlen(key));
    bool ok = false;
    if (head.failed)
        err_memory(e, 64);
    else
        ok = write_all(w->fd, head.data, head.count, e);
    if (ok)
        w->head_hash = hash_128(head.data, head.count);
    w->offset = head.count;
    wire_free(&head);
    return ok;
}

static bool open_loads(struct cache_writer *w, struct err *e)
{
    w->loads = w->threads + 1;
    w->load = calloc((size_t)w->loads, sizeof *w->load);
    w->todo = queue_open((size_t)w->loads, NULL, e);
    w->free = queue_open((size_t)w->loads, NULL, e);
    if (!w->load || !w->todo || !w->free)
        return err_memory(e, (size_t)w->loads * sizeof *w->load);
    for (int i = 0; i < w->loads; i++) {
        w->load[i].rgb = malloc(w->frame_bytes * w->per_block);
        if (!w->load[i].rgb)
            return err_memory(e, w->frame_bytes * w->per_block);
        queue_push(w->free, &w->load[i]);
    }
    return true;
}

struct cache_writer *cache_writer_open(const char *folder, const char *key, int width, int height,
                                       int threads, uint64_t limit, struct err *e)
{
    struct cache_writer *w = err_calloc(1, sizeof *w, e);
    if (!w)
        return NULL;
    w->fd = -1;
    w->width = width;
    w->height = height;
    w->threads = threads;
    w->limit = limit;
    w->frame_bytes = (size_t)width * (size_t)height * 3;
    w->per_block = cache_index_block_frames(width, height);
    pthread_mutex_init(&w->put_lock, NULL);
    pthread_mutex_init(&w->lock, NULL);
    w->thread = calloc((size_t)threads, sizeof *w->thread);
    if (!w->thread)
        err_memory(e, (size_t)threads * sizeof *w->thread);
    bool ok = w->thread && open_file(w, folder, key, e) && open_loads(w, e);
    for (; ok && w->started < threads; w->started++)
        if (watch_thread(&w->thread[w->started], writer_main, w) != 0)
            break;
    if (ok && w->started > 0)
        return w;
    if (ok)
        err_set(e, ERR_MEMORY, "cannot start a thread");
    cache_writer_discard(&w);
    return NULL;
}

/* ---- Finishing ---- */

static void stop_threads(struct cache_writer *w)
{
    if (w->filling && w->filling->frames > 0 && w->started > 0)
        queue_push(w->todo, w->filling);
    w->filling = NULL;
    if (w->todo)
        queue_close(w->todo);
    for (int i = 0; i < w->started; i++)
        pthread_join(w->thread[i], NULL);
    w->started = 0;
}

void cache_writer_discard(struct cache_writer **writer)
{
    struct cache_writer *w = *writer;
    if (!w)
        return;
    stop_threads(w);
    if (w->fd >= 0)
        close(w->fd);
    if (w->temp && w->temp[0])
        unlink(w->temp);
    queue_free(&w->todo);
    queue_free(&w->free);
    for (int i = 0; w->load && i < w->loads; i++)
        free(w->load[i].rgb);
    pthread_mutex_destroy(&w->put_lock);
    pthread_mutex_destroy(&w->lock);
    free(w->load);
    free(w->thread);
    free(w->put);
    free(w->block);
    free(w->frame);
    free(w->temp);
    free(w->folder);
    free(w);
    *writer = NULL;
}

uint64_t cache_writer_bytes(struct cache_writer *w)
{
    pthread_mutex_lock(&w->lock);
    uint64_t bytes = w->offset;
    pthread_mutex_unlock(&w->lock);
    return bytes;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static int by_column(const void *a, const void *b)
{
    uint64_t x = ((const struct index_frame *)a)->tag.column,
             y = ((const struct index_frame *)b)->tag.column;
    return (x > y) - (x < y);
}

bool cache_writer_add(struct cache_writer *w, const struct cache_entry *older, struct err *e)
{
    const struct cache_index *x = &older->index;
    struct cache_entry_reader *r = cache_entry_reader_open(older, e);
    struct index_frame *f = malloc((size_t)x->frames * sizeof *f + 1);
    size_t before = w->puts;
    if (!f)
        err_memory(e, (size_t)x->frames * sizeof *f);
    bool ok = r && f;
    if (ok && x->frames > 0) {
        memcpy(f, x->frame, (size_t)x->frames * sizeof *f);
        cache_index_sort_by_place(f, (size_t)x->frames);
        if (before > 0)
            qsort(w->put, before, sizeof *w->put, by_value);
    }
    uint64_t block = UINT64_MAX;
    for (uint64_t i = 0; i < x->frames && ok; i++) {
        if (f[i].status == COLUMN_MISSING ||
            (before > 0 && bsearch(&f[i].tag.frame, w->put, before, sizeof *w->put, by_value)))
            continue;
        uint64_t its = cache_entry_block_of(older, f[i].place);
        ok = its == block || cache_entry_reader_block(r, its, e);
        block = its;
        if (ok)
            cache_writer_put(
                w, &f[i].tag,
                cache_entry_reader_frame(r, (uint32_t)(f[i].place - x->block[its].first)));
    }
    free(f);
    cache_entry_reader_close(&r);
    return ok;
}

/* Appends the columns that were announced but never decoded. */
static bool add_missing(struct cache_writer *w, const struct columns *columns, uint64_t count,
                        struct err *e)
{
    for (uint64_t i = 0; i < count; i++) {
        const struct column *c = columns_get(columns, i);
        if (c->status != COLUMN_MISSING || c->repeat == 0)
            continue;
        if (!err_reserve(&w->frame, w->frames + 1, &w->frame_room, sizeof *w->frame, e))
            return false;
        struct frame_tag tag = {
            .column = i, .repeat = c->repeat, .frame = c->frame, .time_us = c->time_us};
        w->frame[w->frames++] = (struct index_frame){
            .tag = tag, .status = COLUMN_MISSING, .transparent = c->transparent};
    }
    return true;
}

static bool write_end(struct cache_writer *w, const struct cache_index *facts, struct err *e)
{
    struct cache_index x = *facts;
    x.width = w->width;
    x.height = w->height;
    x.block = w->block;
    x.blocks = w->blocks;
    x.frame = w->frame;
    x.frames = w->frames;
    struct wire_out o = {0};
    cache_index_encode(&x, &o);
    uint64_t length = o.count;
    struct hash128 hash = o.failed ? (struct hash128){0, 0} : hash_128(o.data, o.count);
    wire_put_u64(&o, w->offset);
    wire_put_u64(&o, length);
    wire_put_hash(&o, w->head_hash);
    wire_put_hash(&o, hash);
    if (!o.failed)
        wire_put_hash(&o, hash_128(o.data + length, ENTRY_TAIL - 16));
    bool ok = o.failed ? err_memory(e, o.room) : write_all(w->fd, o.data, o.count, e);
    wire_free(&o);
    return ok;
}

/* Returns true if the file can be read back. Otherwise it must not replace another. */
static bool reads_back(const struct cache_writer *w, struct err *e)
{
    enum entry_state state;
    struct cache_entry *entry = cache_entry_open(w->temp, &state, e);
    cache_entry_close(&entry);
    return state == ENTRY_GOOD;
}

bool cache_writer_finish(struct cache_writer **writer, const struct cache_index *facts,
                         struct columns *columns, const char *name, struct err *e)
{
    struct cache_writer *w = *writer;
    stop_threads(w);
    char *path = path_join(w->folder, name, "", e);
    bool ok = path != NULL;
    if (w->error.code != ERR_NONE) {
        if (ok)
            *e = w->error;
        ok = false;
    }
    ok = ok && (!columns || add_missing(w, columns, columns_count(columns), e));
    if (ok && w->frames > 0)
        qsort(w->frame, w->frames, sizeof *w->frame, by_column);
    ok = ok && write_end(w, facts, e) && reads_back(w, e);
    if (ok && rename(w->temp, path) != 0)
        ok = err_set(e, ERR_FAILED, "%s", strerror(errno));
    else if (ok)
        w->temp[0] = 0;
    free(path);
    cache_writer_discard(writer);
    return ok;
}
