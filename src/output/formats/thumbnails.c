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
#include "thumbs.h"
#include "output/writer.h"
#include "provenance.h"

/*
 * WebVTT (W3C) with one cue per thumbnail, as players use it for previews. The text of a cue is the
 * URL of a sheet, relative to this file, with a media fragment (W3C, "Media Fragments URI 1.0"):
 * #xywh=x,y,width,height in pixels. The sheets are beside the file: NAME-001.jpg for NAME.vtt.
 */
static const char begin[] = "WEBVTT\n", end[] = "NOTE end\n";

enum {
    SHEET_NUMBER = 24,
    PERIOD_US = 1000000 /* more thumbnails than one a second serve no player */
};

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
    fprintf(f, "%s\nNOTE\n%s\n", begin, provenance);
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
    fprintf(f, "\n%s", end);
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
    return jpeg_write(sheet, comment, atomic_file_stream(file)) ||
           err_set(e, ERR_FAILED, "cannot write '%s': %s", path, strerror(errno));
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

static bool save(const struct report *r, struct strips strips, const char *path, struct err *e)
{
    (void)strips;
    struct thumbs_sheets sheets;
    if (!thumbs_sheets(r->media.thumbs, r, PERIOD_US, THUMBS_BYTES, &sheets, e))
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
    return provenance_recognizes(head, size, begin, film) ||
           provenance_recognizes(head, size, JPEG_BEGIN, film);
}

/* Returns true if the sheet is of this film and ends as a JPEG does. */
static bool sheet_is_complete(const char *path, const char *film)
{
    struct writer_metadata metadata;
    FILE *f = file_open_regular(path);
    bool whole = f && provenance_read(f, JPEG_BEGIN, JPEG_END, &metadata) &&
                 strcmp(metadata.film, film) == 0;
    if (f)
        fclose(f);
    return whole;
}

static bool sheets_are_complete(const char *path, const struct writer_metadata *metadata)
{
    bool complete = metadata->parts > 0;
    for (size_t i = 0; complete && i < metadata->parts; i++) {
        char *name = sheet_path(path, i, NULL);
        complete = name && sheet_is_complete(name, metadata->film);
        free(name);
    }
    return complete;
}

/* Implements writer.is_part: PATH's stem, "-", 3 digits or more, ".jpg". */
static bool is_sheet(const char *path, const char *other)
{
    const size_t stem = stem_length(path);
    if (strncmp(path, other, stem) != 0 || other[stem] != '-')
        return false;
    const char *number = other + stem + 1;
    const size_t digits = strspn(number, "0123456789");
    return digits >= 3 && digits < 10 && strcmp(number + digits, ".jpg") == 0;
}

static const char *const ending[] = {"vtt", NULL};

const struct writer writer_thumbnails = {.name = "thumbnails",
                                         .title = "WebVTT",
                                         .ending = ending,
                                         .folder = true,
                                         .modeless = true,
                                         .thumbnails = true,
                                         .recognizes = recognize_thumbnails,
                                         .begin = begin,
                                         .end = end,
                                         .has_all_parts = sheets_are_complete,
                                         .is_part = is_sheet,
                                         .save = save};
