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
#include "previews.h"
#include "output/writer.h"
#include "provenance.h"

/*
 * Jellyfin's layout (10.10 and later): FILM.trickplay/WIDTH - COLUMNSxROWS/N.jpg, N from 0. It
 * counts all files of the folder, and it derives the height of a preview from that of a sheet. So
 * nothing else lies there, and every sheet is complete. Each has a provenance comment; the output's
 * path is that of the first sheet.
 */
static void name_sheets(const struct previews_rule *rule, char text[WRITER_BESIDE])
{
    snprintf(text, WRITER_BESIDE, ".trickplay/%d - %dx%d/0.jpg", rule->width, PREVIEWS_ACROSS,
             PREVIEWS_ACROSS);
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
    const struct jpeg *sheet = previews_sheets(r->previews, &count);
    struct atomic_folder *folder = atomic_folder_open(path, jellyfin_made, e);
    bool ok = folder != NULL;
    provenance_text(r, count - 1, comment);
    for (size_t i = 0; ok && i < count; i++)
        ok = interrupted() ? interrupt_output(path, e)
                           : write_sheet(folder, i, &sheet[i], comment, e);
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
    bool ok = previews_finish(r->previews, e) || err_prefix(e, "cannot write '%s'", folder);
    ok = ok && write_sheets(r, folder, e);
    free(folder);
    return ok;
}

/* ---- Recognition ---- */

static bool recognize_sheet(const uint8_t *head, size_t size, char film[FILM_ID_TEXT])
{
    return provenance_recognizes(head, size, JPEG_BEGIN, film);
}

static bool read_sheet_metadata(FILE *f, struct writer_metadata *metadata)
{
    bool whole = provenance_read(f, JPEG_BEGIN, JPEG_END, metadata);
    metadata->columns = 0; /* they are not those of a dump */
    return whole;
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
static bool all_there(const char *path, const struct writer_metadata *first)
{
    char *folder = path_beside(path, "", NULL);
    bool there = folder && count_names(folder) == first->parts + 1;
    for (uint64_t i = 1; there && i <= first->parts; i++) {
        struct writer_metadata metadata;
        char *name = sheet_path(folder, i, NULL);
        FILE *f = name ? file_open_regular(name) : NULL;
        there = f && read_sheet_metadata(f, &metadata) && strcmp(metadata.film, first->film) == 0 &&
                strcmp(metadata.fingerprint, first->fingerprint) == 0;
        if (f)
            fclose(f);
        free(name);
    }
    free(folder);
    return there;
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
                                       .recognizes = recognize_sheet,
                                       .read_metadata = read_sheet_metadata,
                                       .parts_there = all_there,
                                       .is_part = is_sheet,
                                       .save = save};
