#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "barcode/base/atomic_file.h"
#include "barcode/base/interrupt.h"
#include "barcode/base/path.h"
#include "barcode/output/previews.h"
#include "barcode/output/writer.h"
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

/* Returns the path of sheet i in `folder`, which the caller frees. */
static char *sheet_path(const char *folder, uint64_t i, struct err *e)
{
    char name[32];
    snprintf(name, sizeof name, "%" PRIu64 ".jpg", i);
    return path_join(folder, name, "", e);
}

/* ---- Replacing a folder ---- */

/* Visits the names in a folder. Returns false if `visit` does; true if the folder does not exist.
 */
typedef bool visit_name(void *user, const char *folder, const char *name, struct err *e);

static bool each_name(const char *folder, visit_name *visit, void *user, struct err *e)
{
    DIR *d = opendir(folder);
    bool ok = d || errno == ENOENT ||
              err_set(e, ERR_FAILED, "cannot read '%s': %s", folder, strerror(errno));
    for (struct dirent *entry; ok && d && (entry = readdir(d));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            ok = visit(user, folder, entry->d_name, e);
    if (d)
        closedir(d);
    return ok;
}

/* Fails unless the file is a sheet of this film: the folder will be removed. */
static bool check_name(void *user, const char *folder, const char *name, struct err *e)
{
    const struct report *r = user;
    char film[FILM_ID_TEXT], *path = path_join(folder, name, "", e);
    if (!path)
        return false;
    bool made = writer_made(&writer_jellyfin, path, film),
         own = made && (r->overwrite || strcmp(film, r->film_id) == 0);
    if (!made)
        err_set(e, ERR_FAILED, "cannot write '%s': '%s' in it was not made by barcode", folder,
                name);
    else if (!own)
        err_set(e, ERR_FAILED,
                "cannot write '%s': it shows another film, or this film before it changed; use "
                "--overwrite",
                folder);
    free(path);
    return own;
}

static bool remove_name(void *user, const char *folder, const char *name, struct err *e)
{
    (void)user;
    char *path = path_join(folder, name, "", e);
    if (path)
        unlink(path);
    free(path);
    return true;
}

static void remove_folder(const char *folder)
{
    each_name(folder, remove_name, NULL, NULL);
    rmdir(folder);
}

/* Puts the folder `made` in the place of `folder`, and removes the older one, if any. */
static bool replace_folder(const char *made, const char *folder, struct err *e)
{
    bool ok = renameat2(AT_FDCWD, made, AT_FDCWD, folder, RENAME_EXCHANGE) == 0;
    if (ok) {
        remove_folder(made);
        return true;
    }
    char *older = path_join("", made, ".old", e);
    if (!older)
        return false;
    bool moved = errno != ENOENT && rename(folder, older) == 0;
    ok = rename(made, folder) == 0 ||
         err_set(e, ERR_FAILED, "cannot write '%s': %s", folder, strerror(errno));
    if (moved && ok)
        remove_folder(older);
    else if (moved)
        (void)rename(older, folder);
    free(older);
    return ok;
}

/* Makes a new folder beside `folder`. The caller frees the path. */
static char *make_temporary(const char *folder, struct err *e)
{
    for (int tries = 0; tries < 100; tries++) {
        char *path = atomic_file_temporary(folder);
        if (!path) {
            err_memory(e, strlen(folder));
            return NULL;
        }
        if (mkdir(path, 0777) == 0)
            return path;
        int error = errno;
        free(path);
        if (error != EEXIST) {
            err_set(e, ERR_FAILED, "cannot write '%s': %s", folder, strerror(error));
            return NULL;
        }
    }
    err_set(e, ERR_FAILED, "cannot write '%s': %s", folder, strerror(EEXIST));
    return NULL;
}

/* ---- Sheets ---- */

static bool write_sheet(const struct jpeg *sheet, const char *comment, const char *path,
                        struct err *e)
{
    struct atomic_file *f = path ? atomic_file_open(path, true, e) : NULL;
    if (!f)
        return false;
    if (jpeg_write(sheet, comment, atomic_file_stream(f)))
        return atomic_file_commit(&f, e);
    err_set(e, ERR_FAILED, "cannot write '%s': %s", path, strerror(errno));
    atomic_file_discard(&f);
    return false;
}

static bool write_sheets(const struct report *r, const char *folder, struct err *e)
{
    char comment[PROVENANCE_TEXT];
    size_t count;
    const struct jpeg *sheet = previews_sheets(r->previews, &count);
    bool ok = true;
    provenance_text(r, count - 1, comment);
    for (size_t i = 0; ok && i < count; i++) {
        char *path = sheet_path(folder, i, e);
        ok = interrupted() ? interrupt_output(folder, e) : write_sheet(&sheet[i], comment, path, e);
        free(path);
    }
    return ok;
}

static bool save(const struct report *r, struct strips strips, const char *path, struct err *e)
{
    (void)strips;
    size_t length;
    const char *name = path_last(path, &length);
    char *folder = strndup(path, (size_t)(name - path - 1)), *made = NULL;
    if (!folder)
        return err_memory(e, strlen(path));
    bool ok = previews_finish(r->previews, e) || err_prefix(e, "cannot write '%s'", folder);
    ok = ok && each_name(folder, check_name, (void *)r, e) && (made = make_temporary(folder, e)) &&
         write_sheets(r, made, e) && replace_folder(made, folder, e);
    if (!ok && made)
        remove_folder(made);
    if (!ok)
        rmdir(folder); /* if it is empty */
    free(made);
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

static bool count_name(void *user, const char *folder, const char *name, struct err *e)
{
    (void)folder;
    (void)name;
    (void)e;
    ++*(uint64_t *)user;
    return true;
}

/* Returns true if all other sheets exist, and nothing else is in the folder. */
static bool all_there(const char *path, const struct writer_metadata *first)
{
    char *folder = path_beside(path, "", NULL);
    uint64_t files = 0;
    bool there = folder && each_name(folder, count_name, &files, NULL) && files == first->parts + 1;
    for (uint64_t i = 1; there && i <= first->parts; i++) {
        struct writer_metadata metadata;
        char *name = sheet_path(folder, i, NULL);
        FILE *f = name ? fopen(name, "rbe") : NULL;
        there = f && read_sheet_metadata(f, &metadata) && strcmp(metadata.film, first->film) == 0 &&
                strcmp(metadata.fingerprint, first->fingerprint) == 0;
        if (f)
            fclose(f);
        free(name);
    }
    free(folder);
    return there;
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
                                       .save = save};
