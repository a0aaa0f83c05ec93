/*
 * fuzz_find.c - a file of find's index, from any bytes at all, with right checksums: what a worker
 * process that a film has taken over can leave in the cache.
 *
 * Byte 0 has the number of films, byte 1 that of blocks, byte 2 that of the clip's peaks, each
 * modulo 8. The rest is the films (24 bytes each), the blocks' first words (8 each), the peaks (3
 * each), and the blocks, each with an equal share. The words that are read must ascend and be of
 * the file's films, and no clip may be found in another film.
 */
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/wire.h"
#include "barcode/sound/spectrogram.h"
#include "match/find/find.h"
#include "fuzz.h"

enum { MOST = 8, FILM_BYTES = 24, PEAK_BYTES = 3, HEAD = 8, KEYS_MOST = 4096 };

static char folder[] = "/tmp/barcode-fuzz.XXXXXX";

struct input {
    const uint8_t *films, *first, *peaks, *blocks;
    size_t film_count, block_count, peak_count, block_bytes;
};

static bool divide(const uint8_t *data, size_t size, struct input *in)
{
    if (size < 3)
        return false;
    *in = (struct input){.film_count = data[0] % MOST,
                         .block_count = data[1] % MOST,
                         .peak_count = data[2] % MOST * 8};
    size_t tables = in->film_count * FILM_BYTES + in->block_count * 8;
    size_t used = 3 + tables + in->peak_count * PEAK_BYTES;
    if (size < used)
        return false;
    in->films = data + 3;
    in->first = in->films + in->film_count * FILM_BYTES;
    in->peaks = in->first + in->block_count * 8;
    in->blocks = data + used;
    size_t each = in->block_count > 0 ? (size - used) / in->block_count : 0;
    in->block_bytes = each < FIND_BLOCK - HEAD ? each : FIND_BLOCK - HEAD;
    return true;
}

static void write_index(const struct input *in)
{
    char path[64];
    struct wire_out o = {0};
    for (size_t i = 0; i < in->block_count; i++) {
        uint8_t block[FIND_BLOCK - HEAD] = {0};
        memcpy(block, in->blocks + i * in->block_bytes, in->block_bytes);
        wire_put_u64(&o, hash_64(block, sizeof block));
        wire_put(&o, block, sizeof block);
    }
    size_t tables = o.count;
    wire_put(&o, in->films, in->film_count * FILM_BYTES);
    wire_put(&o, in->first, in->block_count * 8);
    struct hash128 hash = hash_128(o.data ? o.data + tables : o.data, o.count - tables);
    size_t tail = o.count;
    wire_put(&o, "barcodel", 8);
    wire_put_u32(&o, FIND_VERSION);
    wire_put_u32(&o, (uint32_t)in->film_count);
    wire_put_u64(&o, in->block_count);
    wire_put_u64(&o, 0);
    wire_put_hash(&o, hash);
    wire_put_u64(&o, hash_64(o.data + tail, o.count - tail));
    snprintf(path, sizeof path, "%s/x-1.landmarks", folder);
    FILE *f = fopen(path, "wb");
    fuzz_demand(!o.failed && f && fwrite(o.data, 1, o.count, f) == o.count && fclose(f) == 0);
    wire_free(&o);
}

struct walk {
    const struct find_index *index;
    size_t wants;
};

static bool check_hit(void *user, size_t i, uint32_t film, uint32_t frame, struct err *e)
{
    const struct walk *w = user;
    (void)i;
    (void)e;
    fuzz_demand(film < w->wants && frame < FIND_FRAMES_MOST);
    return true;
}

/* Collects the keys of the file. */
static size_t walk_through(struct find_file *f, uint32_t key[KEYS_MOST])
{
    struct find_cursor c;
    struct err e = ERR_INIT;
    uint64_t before = 0, frames = f->base[f->films];
    size_t keys = 0, words = 0;
    for (bool ok = find_cursor_open(&c, f, &e); ok && !c.ended; words++) {
        uint64_t at = c.word / frames;
        fuzz_demand(at < 1 << LANDMARK_KEY_BITS && (words == 0 || c.word > before));
        if (keys < KEYS_MOST && (keys == 0 || key[keys - 1] != at))
            key[keys++] = (uint32_t)at;
        before = c.word;
        ok = find_cursor_next(&c, &e);
    }
    fuzz_demand(e.code == ERR_NONE || e.code == ERR_INPUT);
    return keys;
}

static void find(struct find_index *x, const struct input *in, size_t wants)
{
    struct peak peak[MOST * 8];
    struct find_result r;
    struct err e = ERR_INIT;
    for (size_t i = 0; i < in->peak_count; i++) {
        const uint8_t *p = in->peaks + i * PEAK_BYTES;
        peak[i] = (struct peak){(uint32_t)(i > 0 ? peak[i - 1].frame + p[0] % 64 : p[0]),
                                (uint16_t)((p[1] << 8 | p[2]) % SPECTROGRAM_BINS), 1};
    }
    const struct align_sound clip = {peak, in->peak_count, UINT64_C(4000) * SPECTROGRAM_HOP, NULL};
    if (!find_clip(x, &clip, &r, &e))
        return;
    for (size_t i = 0; i < FIND_PLACES; i++)
        fuzz_demand(r.place[i].votes == 0 || r.place[i].film < wants);
}

static void use_index(struct find_index *x, const struct input *in)
{
    uint32_t key[KEYS_MOST];
    struct hash128 id[MOST];
    bool has[MOST];
    struct err e = ERR_INIT;
    struct find_file *f = x->file[0];
    size_t wants = f->films;
    for (size_t i = 0; i < wants; i++)
        id[i] = f->film[i].id;
    size_t keys = walk_through(f, key);
    fuzz_demand(find_index_want(x, id, wants, has, &e));
    struct walk w = {x, wants};
    (void)find_index_look(x, key, keys, check_hit, &w, &e);
    find(x, in, wants);
    err_clear(&e);
    fuzz_demand(find_index_want(x, id, wants / 2, has, &e));
    (void)find_index_save(x, &e); /* merges: some films are dropped */
    err_clear(&e);
}

static void empty_folder(void)
{
    DIR *d = opendir(folder);
    fuzz_demand(d != NULL);
    for (const struct dirent *entry; (entry = readdir(d));)
        (void)unlinkat(dirfd(d), entry->d_name, 0);
    closedir(d);
}

static void leave(void) { (void)rmdir(folder); }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool made;
    struct find_index x;
    struct input in;
    struct err e = ERR_INIT;
    if (!made) {
        fuzz_demand(mkdtemp(folder) != NULL && atexit(leave) == 0);
        log_set_level(LOG_ERROR);
        made = true;
    }
    if (!divide(data, size, &in))
        return 0;
    write_index(&in);
    fuzz_demand(find_index_open(&x, folder, "x", &e));
    if (x.files > 0)
        use_index(&x, &in);
    find_index_close(&x);
    empty_folder();
    return 0;
}
