#include "gallery_cards.h"

#include <fts.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
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
    struct stat own = {0};
    FILE *f = open_memstream(&text, &size);
    FTS *walk =
        root[0] ? fts_open(root, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, by_name) : NULL;
    /* Other processes may replace the index: the file that has its name now is skipped. */
    if (stat(index, &own) != 0)
        own = (struct stat){0};
    for (FTSENT *entry; f && walk && (entry = fts_read(walk));) {
        const struct stat *s = entry->fts_statp;
        const char *name = strlen(entry->fts_path) > skip ? entry->fts_path + skip : "";
        if (is_candidate(entry, &own) &&
            strcmp(name, strrchr(index, '/') ? strrchr(index, '/') + 1 : index) != 0)
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

json_t *gallery_cards(const char *pages, const char *folder, struct err *e)
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
