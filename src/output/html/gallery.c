#include "gallery.h"

#include <errno.h>
#include <fts.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/atomic_file.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/path.h"
#include "output/formats/json.h"
#include "html_template.h"

/* A card is within the first kilobytes of its page. */
enum { HEAD_BYTES = 1 << 16 };

static int by_name(const FTSENT **a, const FTSENT **b)
{
    return path_order((*a)->fts_name, (*b)->fts_name);
}

/* Returns true if the entry may be a film page. */
static bool is_candidate(const FTSENT *entry, const struct stat *index)
{
    const struct writer *w = writer_find("html");
    const struct stat *s = entry->fts_statp;
    return entry->fts_info == FTS_F && writer_has_ending(entry->fts_name, w->ending) &&
           !(s->st_dev == index->st_dev && s->st_ino == index->st_ino);
}

char *gallery_pages(const char *folder, const char *index, struct err *e)
{
    char *text = NULL, *root[] = {strdup(folder[0] ? folder : "."), NULL};
    size_t size, skip = folder[0] ? strlen(folder) : 2;
    struct stat gallery = {0};
    FILE *f = open_memstream(&text, &size);
    FTS *walk =
        root[0] ? fts_open(root, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, by_name) : NULL;
    /* Other processes may replace the index: the file that has its name now is skipped. */
    if (stat(index, &gallery) != 0)
        gallery = (struct stat){0};
    const char *slash = strrchr(index, '/'), *index_name = slash ? slash + 1 : index;
    FTSENT *entry;
    while (f && walk && (entry = fts_read(walk))) {
        const struct stat *s = entry->fts_statp;
        const char *name = strlen(entry->fts_path) > skip ? entry->fts_path + skip : "";
        if (is_candidate(entry, &gallery) && strcmp(name, index_name) != 0)
            fprintf(f, "%" PRIuMAX ",%" PRIdMAX ",%" PRIdMAX ".%09ld/%zu:%s\n",
                    (uintmax_t)s->st_ino, (intmax_t)s->st_size, (intmax_t)s->st_mtim.tv_sec,
                    s->st_mtim.tv_nsec, strlen(name), name);
    }
    if (walk)
        fts_close(walk);
    free(root[0]);
    if (f && fclose(f) == 0 && walk)
        return text;
    free(text);
    err_memory(e, HEAD_BYTES);
    return NULL;
}

/* Returns the card of the page in `file`, or NULL if the file is not a film page. */
static json_t *read_card(FILE *file, char *head)
{
    size_t length, size = fread(head, 1, HEAD_BYTES, file);
    const char *card =
        page_is(head, size, "viewer") ? page_find_json(head, size, "card", &length) : NULL;
    json_t *value = card ? json_loadb(card, length, JSON_REJECT_DUPLICATES, NULL) : NULL;
    bool ok = json_is_object(value);
    if (!ok)
        json_decref(value);
    return ok ? value : NULL;
}

/* Returns a path as a relative reference. Bytes that need escaping become %XX, so it cannot name
 * another scheme or host. */
static json_t *reference(const char *path, size_t length)
{
    char *text = malloc(3 * length + 4), *to = text;
    if (!text)
        return NULL;
    *to = 0;
    for (size_t i = 0; i < length; i++)
        to += path_url_byte(path[i], to);
    json_t *value = json_string_nocheck(text);
    free(text);
    return value;
}

/* Adds the card of one page. Returns false if out of memory. */
static bool add_card(json_t *cards, const char *folder, const char *path, size_t length, char *head)
{
    bool ok = true;
    char *name = NULL;
    if (asprintf(&name, "%s%.*s", folder, (int)length, path) < 0)
        return false;
    FILE *f = fopen(name, "rbe");
    json_t *card = f ? read_card(f, head) : NULL;
    if (card)
        ok = json_object_set_new(card, "page", reference(path, length)) == 0 &&
             json_array_append(cards, card) == 0;
    json_decref(card);
    if (f)
        fclose(f);
    free(name);
    return ok;
}

/*
 * Returns the cards of the pages in a list of gallery_pages, as an array. Each has its "page", a
 * relative reference to the page (RFC 3986). Files without a card are skipped. Returns NULL if out
 * of memory.
 */
static json_t *gallery_cards(const char *pages, const char *folder, struct err *e)
{
    char *head = malloc(HEAD_BYTES);
    json_t *cards = json_array();
    bool ok = head && cards;
    for (const char *at = pages; ok && *at;) {
        char *path;
        size_t length = strtoul(strchr(at, '/') + 1, &path, 10);
        path++; /* the colon */
        ok = add_card(cards, folder, path, length, head);
        at = path + length + 1;
    }
    free(head);
    if (ok)
        return cards;
    json_decref(cards);
    err_memory(e, HEAD_BYTES);
    return NULL;
}

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
    bool absent = !f && errno == ENOENT;
    if (f)
        fclose(f);
    if (absent && !file_is_dangling(path))
        return true;
    if (absent)
        return err_set(e, ERR_FAILED,
                       "cannot write '%s': it is a link that leads to no file; choose another "
                       "folder with --html",
                       path);
    if (gallery_exists(path))
        return true;
    return err_set(e, ERR_FAILED,
                   "cannot write '%s': the file exists and is not a barcode gallery; choose "
                   "another folder with --html",
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
