#include "cache_entry.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

/* ---- The index ---- */

static const uint64_t COLUMNS_MAX = UINT64_C(1) << 32;
#define TIME_MAX_US ((int64_t)1 << 61)

enum {
    FLAG_PARTIAL = 1,
    FLAG_EXACT_ONLY = 2,
    FLAG_READ_FAILED = 4,
    FLAG_SEQUENTIAL = 8,
    FLAG_ON_DEVICE = 16,
    FLAG_TO_END = 32,
    FLAGS = 63
};
enum { BLOCK_LEAST = 18, FRAME_LEAST = 5 }; /* minimum bytes of one in the index */
enum { COUNTS = 18 };
enum { TRACKS_MAX = 16 };
enum { SIDE_MAX = 65535 }; /* of a frame, in a crop */

uint32_t cache_index_block_frames(int width, int height)
{
    uint64_t frame = (uint64_t)width * (uint64_t)height * 3, fit = ENTRY_BLOCK_BYTES / frame;
    return fit < 1 ? 1 : fit > ENTRY_BLOCK_FRAMES ? ENTRY_BLOCK_FRAMES : (uint32_t)fit;
}

bool cache_index_is_clean(const struct cache_index *x)
{
    const struct decode_counts *c = &x->counts;
    return !x->exact_only && c->decode_errors == 0 && c->damaged == 0 && c->lost == 0 &&
           c->redone_chunks == 0 && c->unreadable == 0 && c->dropped == 0 && c->bad_keys == 0 &&
           !c->read_failed && !c->contradicted && !c->damage_found;
}

static int by_number(const void *key, const void *item)
{
    uint64_t sought = *(const uint64_t *)key, have = ((const struct index_frame *)item)->tag.frame;
    return (sought > have) - (sought < have);
}

const struct index_frame *cache_index_find(const struct cache_index *x, uint64_t frame)
{
    const struct index_frame *f = NULL;
    if (x->frames > 0)
        f = bsearch(&frame, x->frame, (size_t)x->frames, sizeof *x->frame, by_number);
    return f && f->status != COLUMN_MISSING ? f : NULL;
}

static int by_place(const void *a, const void *b)
{
    uint64_t x = ((const struct index_frame *)a)->place, y = ((const struct index_frame *)b)->place;
    return (x > y) - (x < y);
}

void cache_index_sort_by_place(struct index_frame *frame, size_t frames)
{
    if (frames > 0)
        qsort(frame, frames, sizeof *frame, by_place);
}

void cache_index_free(struct cache_index *x)
{
    free(x->block);
    free(x->frame);
    frame_times_free(&x->frame_times);
    for (uint64_t i = 0; i < x->tracks; i++)
        free(x->track[i].data);
    free(x->track);
    *x = (struct cache_index){0};
}

const struct index_track *cache_index_track(const struct cache_index *x, uint32_t kind)
{
    for (uint64_t i = 0; i < x->tracks; i++)
        if (x->track[i].kind == kind)
            return &x->track[i];
    return NULL;
}

bool cache_index_add_track(struct cache_index *x, uint32_t kind, const uint8_t *data, size_t bytes,
                           struct err *e)
{
    if (x->tracks >= TRACKS_MAX || cache_index_track(x, kind))
        return err_set(e, ERR_FAILED, "the entry has no room for another track");
    uint8_t *copy = malloc(bytes + 1);
    struct index_track *grown =
        copy ? realloc(x->track, ((size_t)x->tracks + 1) * sizeof *grown) : NULL;
    if (!grown) {
        free(copy);
        return err_memory(e, bytes);
    }
    memcpy(copy, data, bytes);
    x->track = grown;
    x->track[x->tracks++] = (struct index_track){kind, bytes, copy};
    return true;
}

/* Lists the counts in the order of the file, for encoding and decoding. */
static void list_counts(struct decode_counts *c, uint64_t *list[COUNTS])
{
    uint64_t *const all[COUNTS] = {
        &c->packets,   &c->displayed, &c->sent,           &c->decoded,       &c->hardware,
        &c->fallbacks, &c->chunks,    &c->skipped_chunks, &c->redone_chunks, &c->decode_errors,
        &c->lost,      &c->damaged,   &c->lead_in,        &c->hidden,        &c->unreadable,
        &c->dropped,   &c->keys,      &c->bad_keys};
    for (int i = 0; i < COUNTS; i++)
        list[i] = all[i];
}

/* ---- The index as bytes ---- */

static void encode_counts(const struct cache_index *x, struct wire_out *o)
{
    struct decode_counts c = x->counts;
    uint64_t *list[COUNTS];
    list_counts(&c, list);
    wire_put_number(o, (x->partial ? FLAG_PARTIAL : 0) | (x->exact_only ? FLAG_EXACT_ONLY : 0) |
                           (c.read_failed ? FLAG_READ_FAILED : 0) |
                           (c.sequential ? FLAG_SEQUENTIAL : 0) |
                           (c.on_device ? FLAG_ON_DEVICE : 0) | (c.to_end ? FLAG_TO_END : 0));
    for (int i = 0; i < COUNTS; i++)
        wire_put_number(o, *list[i]);
    wire_put_signed(o, c.first_us);
    wire_put_signed(o, c.last_us);
    wire_put_signed(o, c.end_us);
}

static void encode_crop(const struct crop *t, struct wire_out *o)
{
    wire_put_number(o, (uint64_t)t->count);
    if (t->count > 0) {
        wire_put_number(o, (uint64_t)t->width);
        wire_put_number(o, (uint64_t)t->height);
    }
    for (int i = 0; i < t->count; i++) {
        const struct crop_rect *r = &t->rect[i];
        wire_put_number(o, (uint64_t)r->x);
        wire_put_number(o, (uint64_t)r->y);
        wire_put_number(o, (uint64_t)r->width);
        wire_put_number(o, (uint64_t)r->height);
    }
}

void cache_index_encode(const struct cache_index *x, struct wire_out *o)
{
    wire_put_number(o, (uint64_t)x->width);
    wire_put_number(o, (uint64_t)x->height);
    wire_put_u64(o, x->film.device);
    wire_put_u64(o, x->film.inode);
    wire_put_u64(o, x->film.path);
    wire_put_signed(o, x->film.changed_ns);
    wire_put_number(o, strlen(x->name));
    wire_put(o, x->name, strlen(x->name));
    encode_counts(x, o);
    encode_crop(&x->crop, o);
    wire_put_number(o, x->blocks);
    for (uint64_t i = 0; i < x->blocks; i++) {
        wire_put_number(o, x->block[i].bytes);
        wire_put_number(o, x->block[i].frames);
        wire_put_hash(o, x->block[i].hash);
    }
    wire_put_number(o, x->frames);
    uint64_t column = 0, frame = 0, places = 0;
    int64_t time = 0;
    for (uint64_t i = 0; i < x->blocks; i++)
        places += x->block[i].frames;
    for (uint64_t i = 0; i < x->frames; i++) {
        const struct index_frame *f = &x->frame[i];
        wire_put_number(o, f->tag.column - column);
        wire_put_number(o, f->tag.repeat);
        wire_put_number(o, f->tag.frame - frame);
        wire_put_signed(o, f->tag.time_us - time);
        uint64_t place = f->transparent ? places : f->place;
        wire_put_number(o, f->status == COLUMN_MISSING && !f->transparent
                               ? 0
                               : (place << 1 | (f->status == COLUMN_DAMAGED)) + 1);
        column = f->tag.column;
        frame = f->tag.frame;
        time = f->tag.time_us;
    }
    frame_times_encode(x->frame_times, o);
    wire_put_number(o, x->tracks);
    for (uint64_t i = 0; i < x->tracks; i++) {
        wire_put_number(o, x->track[i].kind);
        wire_put_number(o, x->track[i].bytes);
        wire_put(o, x->track[i].data, x->track[i].bytes);
    }
}

static bool decode_side(struct wire_in *in, uint64_t least, int *to)
{
    uint64_t value = wire_number(in);
    *to = (int)value;
    return !in->failed && value >= least && value <= SIDE_MAX;
}

static bool decode_crop(struct crop *t, struct wire_in *in)
{
    uint64_t count = wire_number(in);
    if (in->failed || count > CROP_RECTS)
        return false;
    bool ok = count == 0 || (decode_side(in, 1, &t->width) && decode_side(in, 1, &t->height));
    for (; ok && (uint64_t)t->count < count; t->count++) {
        struct crop_rect *r = &t->rect[t->count];
        ok = decode_side(in, 0, &r->x) && decode_side(in, 0, &r->y) &&
             decode_side(in, 1, &r->width) && decode_side(in, 1, &r->height) &&
             r->x + r->width <= t->width && r->y + r->height <= t->height;
    }
    return ok;
}

static bool decode_head(struct cache_index *x, struct wire_in *in)
{
    uint64_t width = wire_number(in), height = wire_number(in);
    x->film.device = wire_u64(in);
    x->film.inode = wire_u64(in);
    x->film.path = wire_u64(in);
    x->film.changed_ns = wire_signed(in);
    uint64_t length = wire_number(in);
    if (length >= sizeof x->name || length > wire_left(in))
        return false;
    memcpy(x->name, in->at, (size_t)length);
    in->at += length;
    uint64_t flags = wire_number(in), *list[COUNTS];
    list_counts(&x->counts, list);
    for (int i = 0; i < COUNTS; i++)
        *list[i] = wire_number(in);
    x->counts.first_us = wire_signed(in);
    x->counts.last_us = wire_signed(in);
    x->counts.end_us = wire_signed(in);
    if (in->failed || width < 1 || width > 16384 || height < 1 || height > 16384 || flags > FLAGS)
        return false;
    x->width = (int)width;
    x->height = (int)height;
    x->partial = flags & FLAG_PARTIAL;
    x->exact_only = flags & FLAG_EXACT_ONLY;
    x->counts.read_failed = flags & FLAG_READ_FAILED;
    x->counts.sequential = flags & FLAG_SEQUENTIAL;
    x->counts.on_device = flags & FLAG_ON_DEVICE;
    x->counts.to_end = flags & FLAG_TO_END;
    return decode_crop(&x->crop, in);
}

/* Sets `*places` to the number of frames in the blocks. */
static bool decode_blocks(struct cache_index *x, struct wire_in *in, uint64_t at, uint64_t end,
                          uint64_t *places)
{
    uint64_t count = wire_number(in), frame_bytes = (uint64_t)x->width * (uint64_t)x->height * 3;
    uint32_t most = cache_index_block_frames(x->width, x->height);
    *places = 0;
    if (in->failed || count > wire_left(in) / BLOCK_LEAST)
        return false;
    x->block = calloc((size_t)count + 1, sizeof *x->block);
    if (!x->block)
        return false;
    for (; x->blocks < count; x->blocks++) {
        struct index_block b = {.offset = at, .first = *places, .bytes = wire_number(in)};
        uint64_t frames = wire_number(in);
        b.hash = wire_hash(in);
        if (in->failed || frames < 1 || frames > most || b.bytes < 1 || b.bytes > end - at ||
            b.bytes > cache_pack_bound((size_t)(frames * frame_bytes)))
            return false;
        b.frames = (uint32_t)frames;
        x->block[x->blocks] = b;
        at += b.bytes;
        *places += frames;
    }
    return at == end;
}

static bool decode_frame(struct index_frame *f, const struct index_frame *before,
                         struct wire_in *in, uint64_t places)
{
    uint64_t step = wire_number(in), repeat = wire_number(in), frame_step = wire_number(in);
    int64_t time_step = wire_signed(in);
    uint64_t what = wire_number(in);
    uint64_t column = before ? before->tag.column : 0, frame = before ? before->tag.frame : 0;
    int64_t time = before ? before->tag.time_us : 0;
    if (in->failed || step >= COLUMNS_MAX || repeat < 1 || repeat > UINT32_MAX ||
        frame_step > UINT64_MAX / 4 || frame > UINT64_MAX / 4 || time_step > TIME_MAX_US ||
        time_step < -TIME_MAX_US)
        return false;
    /* columns and frames ascend */
    if (before && (step < 1 || frame_step < 1))
        return false;
    column += step;
    time += time_step;
    if (column + repeat > COLUMNS_MAX || time < 0 || time > TIME_MAX_US)
        return false;
    f->tag = (struct frame_tag){
        .column = column, .repeat = (uint32_t)repeat, .frame = frame + frame_step, .time_us = time};
    f->transparent = what == (places << 1) + 1;
    bool missing = what == 0 || f->transparent;
    if (missing)
        f->status = COLUMN_MISSING;
    else
        f->status = (what - 1) & 1 ? COLUMN_DAMAGED : COLUMN_OK;
    f->tag.damaged = f->status == COLUMN_DAMAGED;
    f->place = missing ? 0 : (what - 1) >> 1;
    return missing || f->place < places;
}

static bool decode_frames(struct cache_index *x, struct wire_in *in, uint64_t places)
{
    uint64_t count = wire_number(in);
    if (in->failed || count > wire_left(in) / FRAME_LEAST)
        return false;
    x->frame = calloc((size_t)count + 1, sizeof *x->frame);
    if (!x->frame)
        return false;
    for (; x->frames < count; x->frames++)
        if (!decode_frame(&x->frame[x->frames], x->frames > 0 ? &x->frame[x->frames - 1] : NULL, in,
                          places))
            return false;
    return true;
}

static bool decode_tracks(struct cache_index *x, struct wire_in *in)
{
    uint64_t count = wire_number(in);
    for (uint64_t i = 0; i < count && !in->failed; i++) {
        uint64_t kind = wire_number(in), bytes = wire_number(in);
        if (in->failed || kind > UINT32_MAX || bytes > wire_left(in) ||
            !cache_index_add_track(x, (uint32_t)kind, in->at, (size_t)bytes, NULL))
            return false;
        in->at += bytes;
    }
    return !in->failed;
}

bool cache_index_decode(struct cache_index *x, const uint8_t *data, size_t bytes, uint64_t begin,
                        uint64_t end, struct err *e)
{
    *x = (struct cache_index){0};
    struct wire_in in = wire_read(data, bytes);
    uint64_t places;
    bool ok = decode_head(x, &in) && decode_blocks(x, &in, begin, end, &places) &&
              decode_frames(x, &in, places);
    if (ok)
        x->frame_times = frame_times_decode(&in);
    if (ok && x->frame_times && decode_tracks(x, &in) && !in.failed && wire_left(&in) == 0)
        return true;
    cache_index_free(x);
    return err_set(e, ERR_FAILED, "its index is invalid");
}

/* ---- The file ---- */

static const char magic[] = "barcodef";
/* In memory a hostile index is up to 24 times larger. A frame has about 10 bytes. */
#define INDEX_BYTES_MAX ((uint64_t)64 << 20)

/* Returns the state of an entry of which a read has failed with errno; 0: it is too short. */
static enum entry_state state_of(int error)
{
    if (error == 0)
        return ENTRY_BROKEN;
    return error != ENOMEM && file_is_fault(error) ? ENTRY_UNREADABLE : ENTRY_ABSENT;
}

/* Reads header and key, which the caller frees. `*hash` is the hash of these bytes. */
static enum entry_state read_key(int fd, char **key, size_t *length, struct hash128 *hash)
{
    uint8_t head[ENTRY_HEAD];
    *key = NULL;
    if (!file_read_at(fd, head, sizeof head, 0))
        return state_of(errno);
    struct wire_in in = wire_read(head + 8, sizeof head - 8);
    uint32_t version = wire_u32(&in), bytes = wire_u32(&in);
    if (memcmp(head, magic, 8) != 0)
        return ENTRY_BROKEN;
    if (version != ENTRY_VERSION)
        return ENTRY_OTHER;
    if (bytes < 1 || bytes >= CACHE_KEY_BYTES)
        return ENTRY_BROKEN;
    uint8_t *whole = malloc(ENTRY_HEAD + bytes + 1);
    if (!whole)
        return ENTRY_ABSENT;
    memcpy(whole, head, ENTRY_HEAD);
    errno = 0;
    if (!file_read_at(fd, whole + ENTRY_HEAD, bytes, ENTRY_HEAD) ||
        memchr(whole + ENTRY_HEAD, 0, bytes)) {
        enum entry_state state = state_of(errno);
        free(whole);
        return state;
    }
    *hash = hash_128(whole, ENTRY_HEAD + bytes);
    memmove(whole, whole + ENTRY_HEAD, bytes);
    whole[bytes] = 0;
    *key = (char *)whole;
    *length = bytes;
    return ENTRY_GOOD;
}

static bool read_index(struct cache_entry *c, size_t key_length, struct hash128 key_hash,
                       struct err *e)
{
    uint8_t tail[ENTRY_TAIL];
    uint64_t begin = ENTRY_HEAD + key_length;
    if (c->bytes < begin + ENTRY_TAIL ||
        !file_read_at(c->fd, tail, sizeof tail, c->bytes - ENTRY_TAIL))
        return err_set(e, ERR_FAILED, "%s", errno ? strerror(errno) : "it is truncated");
    struct wire_in in = wire_read(tail, sizeof tail);
    uint64_t at = wire_u64(&in), bytes = wire_u64(&in);
    struct hash128 stored_key_hash = wire_hash(&in), index_hash = wire_hash(&in),
                   tail_hash = wire_hash(&in);
    if (!hash_same(tail_hash, hash_128(tail, ENTRY_TAIL - 16)))
        return err_set(e, ERR_FAILED, "its last bytes are not those of an entry");
    if (!hash_same(stored_key_hash, key_hash))
        return err_set(e, ERR_FAILED, "its key does not match its checksum");
    if (at < begin || at > c->bytes - ENTRY_TAIL || bytes != c->bytes - ENTRY_TAIL - at ||
        bytes > INDEX_BYTES_MAX)
        return err_set(e, ERR_FAILED, "its length does not match its index");
    uint8_t *data = malloc((size_t)bytes + 1);
    if (!data)
        return err_memory(e, (size_t)bytes);
    bool ok = false;
    if (!file_read_at(c->fd, data, (size_t)bytes, at))
        err_set(e, ERR_FAILED, "%s", errno ? strerror(errno) : "it is truncated");
    else if (!hash_same(index_hash, hash_128(data, (size_t)bytes)))
        err_set(e, ERR_FAILED, "its index does not match its checksum");
    else
        ok = cache_index_decode(&c->index, data, (size_t)bytes, begin, at, e);
    free(data);
    return ok;
}

struct cache_entry *cache_entry_open_fd(int fd, enum entry_state *state, struct err *e)
{
    struct cache_entry *c = calloc(1, sizeof *c);
    struct stat st;
    size_t length = 0;
    struct hash128 hash = {0, 0};
    *state = ENTRY_ABSENT;
    if (!c) {
        close(fd);
        err_memory(e, sizeof *c);
        return NULL;
    }
    c->fd = fd;
    bool ok = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    if (ok) {
        c->bytes = (uint64_t)st.st_size;
        *state = read_key(fd, &c->key, &length, &hash);
        ok = *state == ENTRY_GOOD;
    }
    if (*state == ENTRY_OTHER)
        err_set(e, ERR_FAILED, "another version of barcode wrote it");
    else if (*state == ENTRY_UNREADABLE)
        err_set(e, ERR_FAILED, "%s", strerror(errno));
    else if (!ok)
        err_set(e, ERR_FAILED, "it is not an entry");
    errno = 0;
    if (ok && !read_index(c, length, hash, e)) {
        *state = state_of(errno); /* also ENOMEM: the entry may be good */
        ok = false;
    }
    if (!ok)
        cache_entry_close(&c);
    return c;
}

struct cache_entry *cache_entry_open(const char *path, enum entry_state *state, struct err *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
    if (fd >= 0)
        return cache_entry_open_fd(fd, state, e);
    *state = state_of(errno);
    err_set(e, ERR_FAILED, "%s", strerror(errno));
    return NULL;
}

bool cache_entry_peek_key(const char *path, char *text, size_t room)
{
    char *key;
    size_t length;
    struct hash128 hash;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
    if (fd < 0)
        return false;
    bool ok = read_key(fd, &key, &length, &hash) == ENTRY_GOOD && length < room;
    if (ok)
        memcpy(text, key, length + 1);
    free(key);
    close(fd);
    return ok;
}

void cache_entry_close(struct cache_entry **entry)
{
    struct cache_entry *c = *entry;
    if (!c)
        return;
    close(c->fd);
    free(c->key);
    cache_index_free(&c->index);
    free(c);
    *entry = NULL;
}

/* ---- Frames ---- */

struct cache_entry_reader {
    const struct cache_entry *entry;
    struct cache_packer *cache_packer;
    size_t frame_bytes;
    uint8_t *packed, *residual, *scratch, *rgb;
};

struct cache_entry_reader *cache_entry_reader_open(const struct cache_entry *entry, struct err *e)
{
    const struct cache_index *x = &entry->index;
    struct cache_entry_reader *r = err_calloc(1, sizeof *r, e);
    if (!r)
        return NULL;
    size_t block = 0, packed = 0;
    r->entry = entry;
    r->frame_bytes = (size_t)x->width * (size_t)x->height * 3;
    for (uint64_t i = 0; i < x->blocks; i++) {
        block = x->block[i].frames * r->frame_bytes > block ? x->block[i].frames * r->frame_bytes
                                                            : block;
        packed = x->block[i].bytes > packed ? (size_t)x->block[i].bytes : packed;
    }
    r->cache_packer = cache_packer_open(e);
    r->packed = malloc(packed + 1);
    r->residual = malloc(block + 1);
    r->scratch = malloc(r->frame_bytes);
    r->rgb = malloc(r->frame_bytes);
    if (r->cache_packer && r->packed && r->residual && r->scratch && r->rgb)
        return r;
    err_memory(e, packed + block + 2 * r->frame_bytes);
    cache_entry_reader_close(&r);
    return NULL;
}

bool cache_entry_reader_block(struct cache_entry_reader *r, uint64_t block, struct err *e)
{
    const struct index_block *b = &r->entry->index.block[block];
    if (!file_read_at(r->entry->fd, r->packed, (size_t)b->bytes, b->offset))
        return errno ? err_set(e, ERR_FAILED, "%s", strerror(errno))
                     : err_set(e, ERR_INPUT, "it is truncated");
    if (!hash_same(hash_128(r->packed, (size_t)b->bytes), b->hash))
        return err_set(e, ERR_INPUT, "a block does not match its checksum");
    return cache_unpack(r->cache_packer, r->packed, (size_t)b->bytes, r->residual,
                        b->frames * r->frame_bytes, e);
}

const uint8_t *cache_entry_reader_frame(struct cache_entry_reader *r, uint32_t n)
{
    const struct cache_index *x = &r->entry->index;
    cache_residual_undo(r->residual + n * r->frame_bytes, x->width, x->height, r->scratch, r->rgb);
    return r->rgb;
}

void cache_entry_reader_close(struct cache_entry_reader **reader)
{
    struct cache_entry_reader *r = *reader;
    if (!r)
        return;
    cache_packer_free(&r->cache_packer);
    free(r->packed);
    free(r->residual);
    free(r->scratch);
    free(r->rgb);
    free(r);
    *reader = NULL;
}

bool cache_entry_check(const struct cache_entry *entry, struct err *e)
{
    struct cache_entry_reader *r = cache_entry_reader_open(entry, e);
    bool ok = r != NULL;
    for (uint64_t i = 0; i < entry->index.blocks && ok; i++)
        ok = cache_entry_reader_block(r, i, e);
    cache_entry_reader_close(&r);
    return ok;
}

uint64_t cache_entry_block_of(const struct cache_entry *entry, uint64_t place)
{
    const struct cache_index *x = &entry->index;
    uint64_t low = 0, high = x->blocks;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (x->block[middle].first <= place)
            low = middle;
        else
            high = middle;
    }
    return low;
}
