#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic_file.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/path.h"
#include "base/wire.h"
#include "output/writer.h"
#include "thumbs.h"
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
    size_t count = previews_count(r->media.previews);
    uint64_t at = HEAD + (uint64_t)(count + 1) * ENTRY;
    uint8_t zero[HEAD - 20] = {0};
    struct wire_out o = {0};
    wire_put(&o, magic, sizeof magic);
    wire_put_u32(&o, 0);
    wire_put_u32(&o, (uint32_t)count);
    wire_put_u32(&o, (uint32_t)(r->media.preview_us / 1000));
    wire_put(&o, zero, sizeof zero);
    for (size_t i = 0; i < count; i++) {
        wire_put_u32(&o, (uint32_t)i);
        wire_put_u32(&o, (uint32_t)at);
        at += previews_single(r->media.previews, i)->size;
    }
    *end = at + extra;
    wire_put_u32(&o, (uint32_t)END_OF_INDEX);
    wire_put_u32(&o, (uint32_t)*end);
    bool ok = false;
    if (o.failed)
        err_memory(e, o.room);
    else if (*end > UINT32_MAX)
        err_set(e, ERR_FAILED, "a BIF cannot exceed 4 GiB; give a longer --trickplay-interval");
    else if (fwrite(o.data, 1, o.count, f) != o.count)
        err_set(e, ERR_FAILED, "%s", strerror(errno));
    else
        ok = true;
    wire_free(&o);
    return ok;
}

static bool write_bif(const struct report *r, struct strips strips, FILE *f, struct err *e)
{
    (void)strips;
    char comment[PROVENANCE_TEXT];
    uint64_t end;
    provenance_text(r, 0, comment);
    if (!previews_finish(r->media.previews, e) || !put_index(r, &end, strlen(comment), f, e))
        return false;
    bool ok = true;
    for (size_t i = 0; ok && i < previews_count(r->media.previews); i++)
        ok = jpeg_write(previews_single(r->media.previews, i), NULL, f);
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
    return is_whole(f) && provenance_read_end(f, mark, metadata);
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

/*
 * Jellyfin's layout (10.10 and later): FILM.trickplay/WIDTH - COLUMNSxROWS/N.jpg, N from 0. It
 * counts all files of the folder, and it derives the height of a preview from that of a sheet. So
 * nothing else lies there, and every sheet is complete. Each has a provenance comment; the output's
 * path is that of the first sheet.
 */
static void name_sheets(const struct previews_rule *rule, char text[WRITER_BESIDE])
{
    snprintf(text, WRITER_BESIDE, ".trickplay/%d - %dx%d/0.jpg", rule->width, THUMBS_ACROSS,
             THUMBS_ACROSS);
}

/* Writes the name of sheet i. */
static void name_sheet(uint64_t i, char name[32]) { snprintf(name, 32, "%" PRIu64 ".jpg", i); }

/* Returns the path of sheet i in `folder`, which the caller frees. */
static char *sheet_path(const char *folder, uint64_t i, struct err *e)
{
    char name[32];
    name_sheet(i, name);
    return path_join(folder, name, "", e);
}

bool jellyfin_made(const char *path)
{
    char film[FILM_ID_TEXT];
    return writer_made(&writer_jellyfin, path, film);
}

/* ---- Sheets ---- */

static bool write_sheet(struct atomic_folder *folder, uint64_t i, const struct jpeg *sheet,
                        const char *comment, struct err *e)
{
    char name[32];
    name_sheet(i, name);
    struct atomic_file *f = atomic_folder_add(folder, name, e);
    if (!f)
        return false;
    if (jpeg_write(sheet, comment, atomic_file_stream(f)))
        return atomic_file_commit(&f, e);
    err_set(e, ERR_FAILED, "cannot write '%s': %s", name, strerror(errno));
    atomic_file_discard(&f);
    return false;
}

static bool write_sheets(const struct report *r, const char *path, struct err *e)
{
    char comment[PROVENANCE_TEXT];
    size_t count;
    const struct jpeg *sheet = previews_sheets(r->media.previews, &count);
    struct atomic_folder *folder = atomic_folder_open(path, jellyfin_made, e);
    bool ok = folder != NULL;
    provenance_text(r, count - 1, comment);
    for (size_t i = 0; ok && i < count; i++) {
        if (interrupted())
            ok = interrupt_output(path, e);
        else
            ok = write_sheet(folder, i, &sheet[i], comment, e);
    }
    if (ok)
        return atomic_folder_commit(&folder, e);
    atomic_folder_discard(&folder);
    return false;
}

static bool save(const struct report *r, struct strips strips, const char *path, struct err *e)
{
    (void)strips;
    size_t length;
    const char *name = path_last(path, &length);
    char *folder = strndup(path, (size_t)(name - path - 1));
    if (!folder)
        return err_memory(e, strlen(path));
    bool ok = previews_finish(r->media.previews, e);
    if (ok)
        ok = write_sheets(r, folder, e);
    else
        err_prefix(e, "cannot write '%s'", folder);
    free(folder);
    return ok;
}

/* ---- Recognition ---- */

/* Returns how many names a folder has. */
static uint64_t count_names(const char *path)
{
    DIR *folder = opendir(path);
    uint64_t count = 0;
    for (struct dirent *d; folder && (d = readdir(folder));)
        count += strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0;
    if (folder)
        closedir(folder);
    return count;
}

/* Returns true if all other sheets exist, and nothing else is in the folder. */
static bool sheets_are_complete(const char *path, const struct writer_metadata *first)
{
    char *folder = path_beside(path, "", NULL);
    bool complete = folder && count_names(folder) == first->parts + 1;
    for (uint64_t i = 1; complete && i <= first->parts; i++) {
        struct writer_metadata metadata;
        char *name = sheet_path(folder, i, NULL);
        FILE *f = name ? file_open_regular(name) : NULL;
        complete = f && provenance_read(f, JPEG_BEGIN, JPEG_END, &metadata) &&
                   strcmp(metadata.film, first->film) == 0 &&
                   strcmp(metadata.fingerprint, first->fingerprint) == 0;
        if (f)
            fclose(f);
        free(name);
    }
    free(folder);
    return complete;
}

/* Implements writer.is_part. */
static bool is_sheet(const char *path, const char *other)
{
    size_t length, digits;
    const size_t folder = (size_t)(path_last(path, &length) - path);
    if (strncmp(path, other, folder) != 0)
        return false;
    digits = strspn(other + folder, "0123456789");
    return digits > 0 && digits < 10 && strcmp(other + folder + digits, ".jpg") == 0;
}

const struct writer writer_jellyfin = {.name = "jellyfin",
                                       .option = "trickplay",
                                       .title = "trickplay sheets",
                                       .binary = true,
                                       .modeless = true,
                                       .beside = name_sheets,
                                       .begin = JPEG_BEGIN,
                                       .end = JPEG_END,
                                       .has_all_parts = sheets_are_complete,
                                       .is_part = is_sheet,
                                       .save = save};
