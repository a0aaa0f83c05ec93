/*
 * find_file.c - a file of an index: the landmarks of some films, sorted by key. It never changes.
 *
 * All films of the file lie one after the other on one axis of frames; a landmark is the word
 *
 *   key * frames of all films + the film's first frame + the landmark's frame
 *
 * The file (numbers as in wire.h):
 *
 *   blocks of FIND_BLOCK bytes: u64 XXH3 of the rest; words, each as the distance from the one
 *     before, of which the first is in the table of blocks; zeros
 *   the films: hash128 identity, u32 frames, u32 landmarks
 *   the blocks' first words, u64 each
 *   "barcodel" u32 version, u32 films, u64 blocks, u64 landmarks, XXH3-128 of the tables, and u64
 *     XXH3 of these 48 bytes                                               FIND_TAIL bytes
 *
 * It is read with pread() and each part is checked before it is used, so that neither a damaged nor
 * a shortened file can do harm, as they could if it were mapped; nor can one with right checksums
 * that a worker process made of a hostile film: words ascend, and are of the files' films.
 */
#include "find_index.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic_file.h"
#include "base/file.h"
#include "base/wire.h"

/* ---- Reading ---- */

enum {
    FILM_BYTES = 24,
    HEAD = 8,              /* of a block */
    BLOCKS_MOST = 1 << 24, /* 128 GiB; their table is in memory */
};

static const char magic[] = "barcodel";

static bool damaged(struct err *e) { return err_set(e, ERR_INPUT, "the index is damaged"); }

static bool read_at(struct find_file *f, void *to, size_t bytes, uint64_t at, struct err *e)
{
    if (file_read_at(f->fd, to, bytes, at))
        return true;
    return errno == 0 ? damaged(e) : err_set(e, ERR_FAILED, "%s", strerror(errno));
}

/* Reads the tail; *hash is that of the tables. */
static bool read_tail(struct find_file *f, uint64_t bytes, struct hash128 *hash, struct err *e)
{
    uint8_t tail[FIND_TAIL];
    if (bytes < FIND_TAIL || !read_at(f, tail, sizeof tail, bytes - FIND_TAIL, e))
        return bytes < FIND_TAIL ? damaged(e) : false;
    struct wire_in in = wire_read(tail + 8, sizeof tail - 8);
    uint32_t version = wire_u32(&in);
    f->films = wire_u32(&in);
    f->blocks = wire_u64(&in);
    f->landmarks = wire_u64(&in);
    *hash = wire_hash(&in);
    if (memcmp(tail, magic, 8) != 0 || wire_u64(&in) != hash_64(tail, FIND_TAIL - 8) ||
        version != FIND_VERSION || f->films > FIND_FILMS_MOST || f->blocks > BLOCKS_MOST ||
        bytes != f->blocks * (FIND_BLOCK + 8) + (uint64_t)f->films * FILM_BYTES + FIND_TAIL)
        return damaged(e);
    return true;
}

static bool decode_tables(struct find_file *f, struct wire_in in)
{
    for (uint32_t i = 0; i < f->films; i++) {
        f->number[i] = FIND_NOT_WANTED;
        f->film[i].id = wire_hash(&in);
        f->film[i].frames = wire_u32(&in);
        f->film[i].landmarks = wire_u32(&in);
        f->base[i + 1] = f->base[i] + f->film[i].frames;
        if (f->film[i].frames > FIND_FRAMES_MOST)
            return false;
    }
    for (uint64_t i = 0; i < f->blocks; i++)
        f->first[i] = wire_u64(&in);
    return f->blocks == 0 || f->base[f->films] > 0;
}

static bool read_tables(struct find_file *f, struct hash128 hash, struct err *e)
{
    size_t bytes = (size_t)f->films * FILM_BYTES + (size_t)f->blocks * 8;
    uint8_t *data = malloc(bytes + 1);
    f->film = err_calloc((size_t)f->films + 1, sizeof *f->film, e);
    f->base = err_calloc((size_t)f->films + 1, sizeof *f->base, e);
    f->first = err_calloc((size_t)f->blocks + 1, sizeof *f->first, e);
    f->number = err_calloc((size_t)f->films + 1, sizeof *f->number, e);
    bool ok = data && f->film && f->base && f->first && f->number ? true : err_memory(e, bytes);
    ok = ok && read_at(f, data, bytes, f->blocks * FIND_BLOCK, e);
    if (ok && !hash_same(hash, hash_128(data, bytes)))
        ok = damaged(e);
    if (ok && !decode_tables(f, wire_read(data, bytes)))
        ok = damaged(e);
    free(data);
    return ok;
}

struct find_file *find_file_open(const char *path, struct err *e)
{
    struct stat st = {0};
    struct hash128 hash = {0, 0};
    struct find_file *f = err_calloc(1, sizeof *f, e);
    if (!f)
        return NULL;
    f->loaded = UINT64_MAX;
    f->path = strdup(path);
    f->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    bool ok = f->path ? true : err_memory(e, strlen(path) + 1);
    if (ok && (f->fd < 0 || fstat(f->fd, &st) != 0))
        ok = err_set(e, ERR_FAILED, "%s", strerror(errno));
    if (ok && !S_ISREG(st.st_mode))
        ok = err_set(e, ERR_FAILED, "it is no regular file");
    ok = ok && read_tail(f, (uint64_t)st.st_size, &hash, e) && read_tables(f, hash, e);
    if (!ok) {
        err_prefix(e, "'%s'", path);
        find_file_close(&f);
    }
    return f;
}

void find_file_close(struct find_file **f)
{
    if (!*f)
        return;
    if ((*f)->fd >= 0)
        close((*f)->fd);
    free((*f)->path);
    free((*f)->film);
    free((*f)->base);
    free((*f)->number);
    free((*f)->first);
    free(*f);
    *f = NULL;
}

static bool load_block(struct find_file *f, uint64_t block, struct err *e)
{
    if (f->loaded == block)
        return true;
    f->loaded = UINT64_MAX;
    if (!read_at(f, f->block, FIND_BLOCK, block * FIND_BLOCK, e))
        return err_prefix(e, "'%s'", f->path);
    struct wire_in in = wire_read(f->block, HEAD);
    if (wire_u64(&in) != hash_64(f->block + HEAD, FIND_BLOCK - HEAD)) {
        damaged(e);
        return err_prefix(e, "'%s'", f->path);
    }
    f->loaded = block;
    return true;
}

/* Returns a number of wire_put_number, or 0 behind the block's last one. */
static inline uint64_t next_number(struct find_cursor *c)
{
    const uint8_t *byte = c->file->block;
    uint64_t value = 0;
    for (unsigned shift = 0; c->at < FIND_BLOCK && shift < 64; shift += 7) {
        uint8_t b = byte[c->at++];
        value |= (uint64_t)(b & 127) << shift;
        if (b < 128)
            return value;
    }
    return 0;
}

static bool enter_block(struct find_cursor *c, uint64_t block, struct err *e)
{
    c->ended = block >= c->file->blocks;
    if (c->ended)
        return true;
    if (!load_block(c->file, block, e))
        return false;
    c->block = block;
    c->at = HEAD;
    c->word = c->file->first[block];
    return true;
}

/* Fails unless the word is `least` or more and of a key and frame. */
static bool check_word(const struct find_cursor *c, uint64_t least, struct err *e)
{
    const struct find_file *f = c->file;
    if (c->ended || (c->word >= least && c->word >> LANDMARK_KEY_BITS < f->base[f->films]))
        return true;
    damaged(e);
    return err_prefix(e, "'%s'", f->path);
}

bool find_cursor_next(struct find_cursor *c, struct err *e)
{
    const uint64_t before = c->word;
    /* another cursor may have loaded its block */
    if (c->file->loaded != c->block && !load_block(c->file, c->block, e))
        return false;
    uint64_t step = next_number(c);
    c->word += step;
    if (step == 0 && !enter_block(c, c->block + 1, e))
        return false;
    return check_word(c, before + 1, e);
}

bool find_cursor_open(struct find_cursor *c, struct find_file *file, struct err *e)
{
    *c = (struct find_cursor){.file = file};
    return enter_block(c, 0, e) && check_word(c, 0, e);
}

bool find_cursor_forward(struct find_cursor *c, uint64_t word, struct err *e)
{
    const uint64_t *first = c->file->first;
    uint64_t low = c->block, high = c->ended ? low : c->file->blocks; /* it is in [low, high) */
    while (high > low + 1) {
        uint64_t middle = low + (high - low) / 2;
        if (first[middle] <= word)
            low = middle;
        else
            high = middle;
    }
    bool ok = low == c->block || (enter_block(c, low, e) && check_word(c, 0, e));
    while (ok && !c->ended && c->word < word)
        ok = find_cursor_next(c, e);
    return ok;
}

uint32_t find_file_film(const struct find_file *f, uint64_t position, uint32_t from)
{
    uint32_t step = 1, low = from;
    while (low + step < f->films && f->base[low + step] <= position) {
        low += step;
        step *= 2;
    }
    for (; step > 0; step /= 2)
        if (low + step < f->films && f->base[low + step] <= position)
            low += step;
    return low;
}

/* ---- Writing ---- */

enum { NUMBER_MOST = 10 };

struct find_writer {
    struct atomic_file *file;
    struct wire_out first; /* the blocks' first words */
    uint64_t blocks, landmarks, last;
    size_t at; /* in `block`; 0: none is begun */
    uint8_t block[FIND_BLOCK + NUMBER_MOST];
};

struct find_writer *find_writer_open(const char *path, struct err *e)
{
    struct find_writer *w = err_calloc(1, sizeof *w, e);
    if (!w)
        return NULL;
    w->file = atomic_file_open(path, true, e);
    if (!w->file) {
        free(w);
        return NULL;
    }
    return w;
}

static bool write_bytes(struct find_writer *w, const void *data, size_t bytes, struct err *e)
{
    if (fwrite(data, 1, bytes, atomic_file_stream(w->file)) == bytes)
        return true;
    return err_set(e, ERR_FAILED, "cannot write the index: %s", strerror(errno));
}

static bool end_block(struct find_writer *w, struct err *e)
{
    struct wire_out head = {0};
    if (w->at == 0)
        return true;
    memset(w->block + w->at, 0, FIND_BLOCK - w->at);
    wire_put_u64(&head, hash_64(w->block + HEAD, FIND_BLOCK - HEAD));
    if (!head.failed)
        memcpy(w->block, head.data, HEAD);
    bool ok = head.failed ? err_memory(e, HEAD) : write_bytes(w, w->block, FIND_BLOCK, e);
    wire_free(&head);
    w->at = 0;
    w->blocks++;
    return ok;
}

/* Appends a number as wire_put_number does. Returns false, and nothing changes, if it does not fit.
 */
static bool put_number(struct find_writer *w, uint64_t value)
{
    size_t at = w->at;
    for (; value >= 128; value >>= 7)
        w->block[at++] = (uint8_t)(value | 128);
    w->block[at++] = (uint8_t)value;
    if (at > FIND_BLOCK)
        return false;
    w->at = at;
    return true;
}

bool find_writer_add(struct find_writer *w, uint64_t word, struct err *e)
{
    bool follows = w->at > 0 && put_number(w, word - w->last);
    if (!follows) {
        if (!end_block(w, e))
            return false;
        w->at = HEAD;
        wire_put_u64(&w->first, word);
        if (w->first.failed)
            return err_memory(e, w->first.count);
    }
    w->last = word;
    w->landmarks++;
    return true;
}

static bool write_tables(struct find_writer *w, const struct find_film *film, uint32_t films,
                         struct err *e)
{
    struct wire_out out = {0};
    for (uint32_t i = 0; i < films; i++) {
        wire_put_hash(&out, film[i].id);
        wire_put_u32(&out, film[i].frames);
        wire_put_u32(&out, film[i].landmarks);
    }
    wire_put(&out, w->first.data, w->first.count);
    struct hash128 hash = hash_128(out.data, out.count);
    size_t tail = out.count;
    wire_put(&out, magic, 8);
    wire_put_u32(&out, FIND_VERSION);
    wire_put_u32(&out, films);
    wire_put_u64(&out, w->blocks);
    wire_put_u64(&out, w->landmarks);
    wire_put_hash(&out, hash);
    if (!out.failed)
        wire_put_u64(&out, hash_64(out.data + tail, out.count - tail));
    bool ok = out.failed ? err_memory(e, out.count) : write_bytes(w, out.data, out.count, e);
    wire_free(&out);
    return ok;
}

bool find_writer_end(struct find_writer **writer, const struct find_film *film, uint32_t films,
                     struct err *e)
{
    struct find_writer *w = *writer;
    if (!w)
        return false;
    bool ok = film && end_block(w, e) && write_tables(w, film, films, e) &&
              atomic_file_commit(&w->file, e);
    if (w->file)
        atomic_file_discard(&w->file);
    wire_free(&w->first);
    free(w);
    *writer = NULL;
    return ok;
}
