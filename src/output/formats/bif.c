#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/wire.h"
#include "previews.h"
#include "output/writer.h"
#include "provenance.h"

/*
 * BIF (Roku, "Trick Mode Support"), all numbers u32 in little-endian order:
 *
 *     magic  version 0  number of images  time unit in ms  44 zeros    64 bytes
 *     time in units, offset in the file                                for each image
 *     ffffffff, offset of the file's end
 *     the images, JPEGs
 *
 * The last image ends with the provenance comment, which JPEG decoders do not read.
 */
static const uint8_t magic[] = {0x89, 'B', 'I', 'F', 0x0d, 0x0a, 0x1a, 0x0a};

enum { HEAD = 64, ENTRY = 8, END_OF_INDEX = -1 };

static bool put_index(const struct report *r, uint64_t *end, size_t extra, FILE *f, struct err *e)
{
    size_t count = previews_count(r->previews);
    uint64_t at = HEAD + (uint64_t)(count + 1) * ENTRY;
    uint8_t zero[HEAD - 20] = {0};
    struct wire_out o = {0};
    wire_put(&o, magic, sizeof magic);
    wire_put_u32(&o, 0);
    wire_put_u32(&o, (uint32_t)count);
    wire_put_u32(&o, (uint32_t)(r->preview_us / 1000));
    wire_put(&o, zero, sizeof zero);
    for (size_t i = 0; i < count; i++) {
        wire_put_u32(&o, (uint32_t)i);
        wire_put_u32(&o, (uint32_t)at);
        at += previews_single(r->previews, i)->size;
    }
    *end = at + extra;
    wire_put_u32(&o, (uint32_t)END_OF_INDEX);
    wire_put_u32(&o, (uint32_t)*end);
    bool ok = !o.failed || err_memory(e, o.room);
    if (ok && *end > UINT32_MAX)
        ok =
            err_set(e, ERR_FAILED, "a BIF cannot exceed 4 GiB; give a longer --trickplay-interval");
    if (ok && fwrite(o.data, 1, o.count, f) != o.count)
        ok = err_set(e, ERR_FAILED, "%s", strerror(errno));
    wire_free(&o);
    return ok;
}

static bool write_bif(const struct report *r, struct strips strips, FILE *f, struct err *e)
{
    (void)strips;
    char comment[PROVENANCE_TEXT];
    uint64_t end;
    provenance_text(r, 0, comment);
    if (!previews_finish(r->previews, e) || !put_index(r, &end, strlen(comment), f, e))
        return false;
    bool ok = true;
    for (size_t i = 0; ok && i < previews_count(r->previews); i++)
        ok = jpeg_write(previews_single(r->previews, i), NULL, f);
    ok = ok && fputs(comment, f) >= 0;
    return ok || err_set(e, ERR_FAILED, "%s", strerror(errno));
}

/* The end of the last image and the beginning of the provenance. */
static const char mark[] = JPEG_END PROVENANCE_BEGIN;

static bool recognize_bif(const uint8_t *tail, size_t size, char film[FILM_ID_TEXT])
{
    return provenance_recognizes_end(tail, size, mark, film);
}

static uint32_t read_u32(const uint8_t *at)
{
    struct wire_in i = wire_read(at, 4);
    return wire_u32(&i);
}

/* Returns true if the head is a BIF's and the index ends with the file. */
static bool is_whole(FILE *f)
{
    uint8_t head[HEAD], last[ENTRY];
    if (fread(head, 1, HEAD, f) != HEAD || memcmp(head, magic, sizeof magic) != 0)
        return false;
    long index_end = HEAD + (long)read_u32(head + 12) * ENTRY;
    return fseek(f, index_end, SEEK_SET) == 0 && fread(last, 1, ENTRY, f) == ENTRY &&
           read_u32(last) == UINT32_MAX && fseek(f, 0, SEEK_END) == 0 &&
           ftell(f) == (long)read_u32(last + 4);
}

static bool read_bif_metadata(FILE *f, struct writer_metadata *metadata)
{
    bool found = is_whole(f) && provenance_read_end(f, mark, metadata);
    metadata->columns = 0; /* they are not those of a dump */
    return found;
}

/* Emby's name: FILM-WIDTH-SECONDS.bif. */
static void name_bif(const struct previews_rule *rule, char text[WRITER_BESIDE])
{
    int64_t ms = rule->interval_us / 1000;
    if (ms % 1000 == 0)
        snprintf(text, WRITER_BESIDE, "-%d-%" PRId64 ".bif", rule->width, ms / 1000);
    else
        snprintf(text, WRITER_BESIDE, "-%d-%" PRId64 ".%03d.bif", rule->width, ms / 1000,
                 (int)(ms % 1000));
}

const struct writer writer_bif = {.name = "bif",
                                  .option = "trickplay",
                                  .title = "BIF",
                                  .binary = true,
                                  .tail = true,
                                  .modeless = true,
                                  .beside = name_bif,
                                  .recognizes = recognize_bif,
                                  .read_metadata = read_bif_metadata,
                                  .write = write_bif};
