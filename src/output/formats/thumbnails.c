/* thumbnails.c - small pictures of a film's frames for players and media servers. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/atomic_file.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/path.h"
#include "base/wire.h"
#include "output/writer.h"
#include "thumbs.h"
#include "provenance.h"

/* ---- Sheets: JPEGs with a provenance comment ---- */

/* Writes a sheet. `path` is for the message. */
static bool put_sheet(const struct jpeg *sheet, const char *comment, const char *path, FILE *f,
                      struct err *e)
{
    return jpeg_write(sheet, comment, f) ||
           err_set(e, ERR_FAILED, "cannot write '%s': %s", path, strerror(errno));
}

/* Returns true if the sheet at `path` is complete and belongs to the file with this metadata. Frees
 * `path`, which may be NULL. */
static bool is_complete(char *path, const struct writer_metadata *first)
{
    struct writer_metadata metadata;
    FILE *f = path ? file_open_regular(path) : NULL;
    bool complete = f && provenance_read(f, JPEG_BEGIN, JPEG_END, &metadata) &&
                    strcmp(metadata.film, first->film) == 0 &&
                    strcmp(metadata.fingerprint, first->fingerprint) == 0;
    if (f)
        fclose(f);
    free(path);
    return complete;
}

/* Returns true for a number of `least` to 9 digits and ".jpg". */
static bool is_sheet_number(const char *name, size_t least)
{
    const size_t digits = strspn(name, "0123456789");
    return digits >= least && digits < 10 && strcmp(name + digits, ".jpg") == 0;
}

/* ---- --thumbnails ---- */

/*
 * WebVTT (W3C) with one cue per thumbnail, as players use it for previews. The text of a cue is the
 * URL of a sheet, relative to this file, with a media fragment (W3C, "Media Fragments URI 1.0"):
 * #xywh=x,y,width,height in pixels. The sheets are beside the file: NAME-001.jpg for NAME.vtt.
 */
static const char vtt_begin[] = "WEBVTT\n", vtt_end[] = "NOTE end\n";

enum { SHEET_NUMBER = 24 };

/* Returns the length of `path` without its ending, if any. */
static size_t stem_length(const char *path)
{
    size_t length;
    const char *name = path_last(path, &length), *dot = strrchr(name, '.');
    return dot && dot > name ? (size_t)(dot - path) : strlen(path);
}

/* Returns the path of sheet i (from 0). The caller frees it. */
static char *sheet_path(const char *path, size_t i, struct err *e)
{
    char *made;
    if (asprintf(&made, "%.*s-%03zu.jpg", (int)stem_length(path), path, i + 1) >= 0)
        return made;
    err_memory(e, strlen(path) + SHEET_NUMBER);
    return NULL;
}

static void put_url(FILE *f, const char *name, size_t length)
{
    char text[4];
    for (size_t i = 0; i < length; i++)
        fwrite(text, 1, path_url_byte(name[i], text), f);
}

static void put_time(FILE *f, int64_t ms)
{
    fprintf(f, "%02" PRId64 ":%02d:%02d.%03d", ms / 3600000, (int)(ms / 60000 % 60),
            (int)(ms / 1000 % 60), (int)(ms % 1000));
}

/* Returns the start of a cue. The first one begins with the film, whatever the time of the first
 * frame is. */
static int64_t start_ms(const struct report *r, const struct thumbs_sheets *s, size_t i)
{
    return s->thumb[i].time_us < 0 || (i == 0 && r->analysis.selection.start_us == 0)
               ? 0
               : s->thumb[i].time_us / 1000;
}

static bool write_vtt(const struct report *r, const struct thumbs_sheets *s, const char *path,
                      FILE *f, struct err *e)
{
    char provenance[PROVENANCE_TEXT];
    size_t length;
    const char *name = path_last(path, &length);
    provenance_text(r, s->sheets, provenance);
    fprintf(f, "%s\nNOTE\n%s\n", vtt_begin, provenance);
    for (size_t i = 0; i < s->count; i++) {
        const struct thumb *b = &s->thumb[i];
        int64_t from = start_ms(r, s, i), to = b->end_us / 1000;
        fputs("\n", f);
        put_time(f, from);
        fputs(" --> ", f);
        put_time(f, to > from ? to : from + 1);
        fputs("\n", f);
        put_url(f, name, stem_length(name));
        fprintf(f, "-%03zu.jpg#xywh=%d,%d,%d,%d\n", b->sheet + 1, b->x, b->y, s->width, s->height);
    }
    fprintf(f, "\n%s", vtt_end);
    return !ferror(f) ||
           err_set(e, ERR_FAILED, "cannot write '%s': %s", path, strerror(errno ? errno : EIO));
}

/* Returns true if a sheet may be written to `path`: the file does not exist or is a sheet of this
 * film. */
static bool may_replace(const struct report *r, const char *path, struct err *e)
{
    struct stat s;
    char film[FILM_ID_TEXT];
    if (file_is_dangling(path))
        return err_set(e, ERR_FAILED,
                       "cannot write '%s': it is a link that leads to no file; choose another "
                       "folder with --thumbnails",
                       path);
    if (stat(path, &s) != 0)
        return true;
    if (!writer_made(&writer_thumbnails, path, film))
        return err_set(e, ERR_FAILED,
                       "cannot write '%s': the file exists and was not made by barcode; choose "
                       "another folder with --thumbnails",
                       path);
    if (r->id.overwrite || (film[0] && strcmp(film, r->id.film_id) == 0))
        return true;
    return err_set(e, ERR_FAILED,
                   "cannot write '%s': the file exists and shows another film, or this film before "
                   "it changed; choose another folder with --thumbnails, or use --overwrite",
                   path);
}

/* The files that are being written: the sheets, then the WebVTT. */
struct set {
    struct atomic_file **file;
    size_t count;
};

static bool write_sheet(struct set *set, const struct report *r, const struct jpeg *sheet,
                        const char *comment, const char *path, struct err *e)
{
    if (!may_replace(r, path, e))
        return false;
    struct atomic_file *file = atomic_file_open(path, true, e);
    if (!file)
        return false;
    set->file[set->count++] = file;
    return put_sheet(sheet, comment, path, atomic_file_stream(file), e);
}

static bool write_all(struct set *set, const struct report *r, const struct thumbs_sheets *s,
                      const char *path, struct err *e)
{
    char comment[PROVENANCE_TEXT];
    provenance_text(r, 0, comment);
    for (size_t i = 0; i < s->sheets; i++) {
        char *name = interrupted() ? NULL : sheet_path(path, i, e);
        bool ok = name && write_sheet(set, r, &s->sheet[i], comment, name, e);
        free(name);
        if (!ok)
            return interrupted() ? interrupt_output(path, e) : false;
    }
    struct atomic_file *file = atomic_file_open(path, false, e);
    if (!file)
        return false;
    set->file[set->count++] = file;
    return write_vtt(r, s, path, atomic_file_stream(file), e);
}

/* Publishes or discards the files. The WebVTT is the last, so that its sheets exist. */
static bool commit(struct set *set, bool ok, struct err *e)
{
    for (size_t i = 0; i < set->count; i++) {
        if (ok)
            ok = atomic_file_commit(&set->file[i], e);
        else
            atomic_file_discard(&set->file[i]);
    }
    return ok;
}

static bool save_thumbnails(const struct report *r, struct strips strips, const char *path,
                            struct err *e)
{
    (void)strips;
    struct thumbs_sheets sheets;
    if (!thumbs_sheets(r->media.thumbs, r, THUMBS_PERIOD_US, THUMBS_BYTES, &sheets, e))
        return e->code == ERR_INTERRUPTED ? interrupt_output(path, e)
                                          : err_prefix(e, "cannot write '%s'", path);
    struct set set = {.file = calloc(sheets.sheets + 1, sizeof *set.file)};
    bool ok = set.file ? write_all(&set, r, &sheets, path, e)
                       : err_memory(e, sheets.sheets * sizeof *set.file);
    if (set.file)
        ok = commit(&set, ok, e);
    free(set.file);
    thumbs_sheets_free(&sheets);
    return ok;
}

/* Recognizes a WebVTT or a sheet: both have a provenance comment. */
static bool recognize_thumbnails(const uint8_t *head, size_t size, char film[FILM_ID_TEXT])
{
    return provenance_recognizes(head, size, vtt_begin, film) ||
           provenance_recognizes(head, size, JPEG_BEGIN, film);
}

static bool has_all_sheets(const char *path, const struct writer_metadata *metadata)
{
    bool complete = metadata->parts > 0;
    for (size_t i = 0; complete && i < metadata->parts; i++)
        complete = is_complete(sheet_path(path, i, NULL), metadata);
    return complete;
}

/* Implements writer.is_part: PATH's stem, "-", 3 digits or more, ".jpg". */
static bool is_thumbnails_sheet(const char *path, const char *other)
{
    const size_t stem = stem_length(path);
    return strncmp(path, other, stem) == 0 && other[stem] == '-' &&
           is_sheet_number(other + stem + 1, 3);
}

static const char *const vtt_ending[] = {"vtt", NULL};

const struct writer writer_thumbnails = {.name = "thumbnails",
                                         .title = "WebVTT",
                                         .ending = vtt_ending,
                                         .folder = true,
                                         .modeless = true,
                                         .thumbnails = true,
                                         .recognizes = recognize_thumbnails,
                                         .begin = vtt_begin,
                                         .end = vtt_end,
                                         .has_all_parts = has_all_sheets,
                                         .is_part = is_thumbnails_sheet,
                                         .save = save_thumbnails};

/* ---- --trickplay ---- */

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
        writer_failed(e);
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
    return ok || writer_failed(e);
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

enum { SHEET_NAME = 32 };

static void name_sheet(uint64_t i, char name[SHEET_NAME])
{
    snprintf(name, SHEET_NAME, "%" PRIu64 ".jpg", i);
}

bool jellyfin_made(const char *path)
{
    char film[FILM_ID_TEXT];
    return writer_made(&writer_jellyfin, path, film);
}

static bool add_sheet(struct atomic_file *folder, uint64_t i, const struct jpeg *sheet,
                      const char *comment, struct err *e)
{
    char name[SHEET_NAME];
    name_sheet(i, name);
    struct atomic_file *f = atomic_folder_add(folder, name, e);
    if (!f)
        return false;
    if (put_sheet(sheet, comment, name, atomic_file_stream(f), e))
        return atomic_file_commit(&f, e);
    atomic_file_discard(&f);
    return false;
}

static bool write_folder(const struct report *r, const char *path, struct err *e)
{
    char comment[PROVENANCE_TEXT];
    size_t count;
    const struct jpeg *sheet = previews_sheets(r->media.previews, &count);
    struct atomic_file *folder = atomic_folder_open(path, jellyfin_made, e);
    bool ok = folder != NULL;
    provenance_text(r, count - 1, comment);
    for (size_t i = 0; ok && i < count; i++) {
        if (interrupted())
            ok = interrupt_output(path, e);
        else
            ok = add_sheet(folder, i, &sheet[i], comment, e);
    }
    if (ok)
        return atomic_file_commit(&folder, e);
    atomic_file_discard(&folder);
    return false;
}

static bool save_jellyfin(const struct report *r, struct strips strips, const char *path,
                          struct err *e)
{
    (void)strips;
    size_t length;
    const char *name = path_last(path, &length);
    char *folder = strndup(path, (size_t)(name - path - 1));
    if (!folder)
        return err_memory(e, strlen(path));
    bool ok = previews_finish(r->media.previews, e);
    if (ok)
        ok = write_folder(r, folder, e);
    else
        err_prefix(e, "cannot write '%s'", folder);
    free(folder);
    return ok;
}

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
static bool is_whole_folder(const char *path, const struct writer_metadata *first)
{
    char *folder = path_beside(path, "", NULL);
    bool complete = folder && count_names(folder) == first->parts + 1;
    free(folder);
    for (uint64_t i = 1; complete && i <= first->parts; i++) {
        char name[SHEET_NAME];
        name_sheet(i, name);
        complete = is_complete(path_beside(path, name, NULL), first);
    }
    return complete;
}

/* Implements writer.is_part. */
static bool is_jellyfin_sheet(const char *path, const char *other)
{
    size_t length;
    const size_t folder = (size_t)(path_last(path, &length) - path);
    return strncmp(path, other, folder) == 0 && is_sheet_number(other + folder, 1);
}

const struct writer writer_jellyfin = {.name = "jellyfin",
                                       .option = "trickplay",
                                       .title = "trickplay sheets",
                                       .binary = true,
                                       .modeless = true,
                                       .beside = name_sheets,
                                       .begin = JPEG_BEGIN,
                                       .end = JPEG_END,
                                       .has_all_parts = is_whole_folder,
                                       .is_part = is_jellyfin_sheet,
                                       .save = save_jellyfin};
