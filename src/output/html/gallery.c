#include "gallery.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic_file.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/path.h"
#include "gallery_cards.h"
#include "html_template.h"

static const struct page_file *const styles[] = {&page_common_css, &page_gallery_css, NULL};
static const struct page_file *const scripts[] = {&page_common_js, &page_gallery_js, NULL};

bool gallery_exists(const char *path)
{
    char head[WRITER_HEAD];
    return page_is(head, file_read_begin(path, head, sizeof head), "gallery");
}

bool gallery_allowed(const char *path, struct err *e)
{
    FILE *f = fopen(path, "rbe");
    if (f)
        fclose(f);
    if (!f && errno == ENOENT)
        return !file_is_dangling(path) ||
               err_set(e, ERR_FAILED,
                       "cannot write '%s': it is a link that leads to no file; choose another "
                       "folder with --html",
                       path);
    return gallery_exists(path) ||
           err_set(e, ERR_FAILED,
                   "cannot write '%s': the file exists and is not a barcode "
                   "gallery; choose another folder with --html",
                   path);
}

static bool fill_gallery(void *user, const char *mark, FILE *f)
{
    json_t *cards = user;
    if (strcmp(mark, "head") == 0)
        return page_put_head(f, "gallery", styles, scripts);
    if (strcmp(mark, "style") == 0)
        return page_put_files(f, "style", styles);
    if (strcmp(mark, "data") == 0)
        return page_put_json(f, "cards", json_incref(cards));
    return strcmp(mark, "script") != 0 || page_put_files(f, "script", scripts);
}

static bool write_cards(const char *path, json_t *cards, struct err *e)
{
    struct atomic_file *f = atomic_file_open(path, false, e);
    if (!f)
        return false;
    errno = 0;
    if (page_write(atomic_file_stream(f), &page_gallery_html, fill_gallery, cards))
        return atomic_file_commit(&f, e);
    err_set(e, ERR_FAILED, "cannot write '%s': %s", path, strerror(errno ? errno : EIO));
    atomic_file_discard(&f);
    return false;
}

/*
 * Lists the pages and writes their gallery. *again is set if pages were added or changed meanwhile.
 */
static bool write_once(const char *path, const char *folder, size_t *films, bool *again,
                       struct err *e)
{
    char *before = gallery_pages(folder, path, e), *after = NULL;
    json_t *cards = before ? gallery_cards(before, folder, e) : NULL;
    bool ok = cards && write_cards(path, cards, e);
    *films = json_array_size(cards);
    json_decref(cards);
    if (ok)
        after = gallery_pages(folder, path, e);
    *again = after && strcmp(before, after) != 0;
    ok = ok && after;
    free(before);
    free(after);
    return ok;
}

bool gallery_write(const char *path, size_t *films, struct err *e)
{
    size_t length;
    bool again = true, ok = true;
    char *folder = strndup(path, (size_t)(path_last(path, &length) - path));
    *films = 0;
    if (!folder)
        return err_memory(e, strlen(path));
    ok = gallery_allowed(path, e);
    while (ok && again)
        ok = interrupted() ? interrupt_error(e) : write_once(path, folder, films, &again, e);
    free(folder);
    return ok;
}
