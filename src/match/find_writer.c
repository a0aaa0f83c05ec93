/* find_writer.c - writes a file of an index (find_file.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic_file.h"
#include "base/wire.h"
#include "find_file.h"

enum { HEAD = 8, NUMBER_MOST = 10 };

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
    if (w && !(w->file = atomic_file_open(path, true, e))) {
        free(w);
        return NULL;
    }
    return w;
}

static bool write_bytes(struct find_writer *w, const void *data, size_t bytes, struct err *e)
{
    return fwrite(data, 1, bytes, atomic_file_stream(w->file)) == bytes ||
           err_set(e, ERR_FAILED, "cannot write the index: %s", strerror(errno));
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
    wire_put(&out, "barcodel", 8);
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
