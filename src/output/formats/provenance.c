#include "provenance.h"

#include <inttypes.h>
#include <string.h>

static const char word[] = PROVENANCE_BEGIN;

void provenance_text(const struct report *r, uint64_t parts, char text[PROVENANCE_TEXT])
{
    snprintf(text, PROVENANCE_TEXT,
             "%s%s partial=%s columns=%" PRIu64 " size=%dx%d parts=%" PRIu64 " recipe=%s", word,
             r->film_id, r->partial ? "yes" : "no", r->count, r->width, r->height, parts,
             r->fingerprint);
}

/* Copies what follows `key`, up to a space, in a line that ends with 0. Copies "" if the key is
 * missing. */
static void copy_value(const char *line, const char *key, char *to, size_t room)
{
    const char *at = strstr(line, key);
    at = at ? at + strlen(key) : "";
    snprintf(to, room, "%.*s", (int)strcspn(at, " "), at);
}

/* Reads digits followed by `end`, and moves *text past it. barcode's own numbers are far below
 * 2^63. */
static bool read_count(const char **text, char end, uint64_t *number)
{
    const char *at = *text;
    *number = 0;
    for (; *at >= '0' && *at <= '9' && *number < UINT64_MAX / 20; at++)
        *number = *number * 10 + (uint64_t)(*at - '0');
    bool ok = at > *text && *at == end;
    *text = at + 1;
    return ok;
}

static bool read_counts(const char *columns, const char *side, const char *parts,
                        struct writer_metadata *metadata)
{
    enum { SIDE_MOST = 65536 }; /* above any analysis size */
    uint64_t width, height;
    if (!read_count(&columns, 0, &metadata->columns) || !read_count(&side, 'x', &width) ||
        !read_count(&side, 0, &height) || !read_count(&parts, 0, &metadata->parts) ||
        width > SIDE_MOST || height > SIDE_MOST)
        return false;
    metadata->width = (int)width;
    metadata->height = (int)height;
    return true;
}

/* Returns the beginning of the provenance comment, or NULL if there is none. Skips lines with the
 * film's name, which a GIMP palette has before the comment: the name may look like one. */
static const char *find_word(const char *text, size_t size)
{
    static const char name[] = "Name: ";
    const char *at = text, *end = text + size;
    while ((at = memmem(at, (size_t)(end - at), word, strlen(word)))) {
        const char *line = memrchr(text, '\n', (size_t)(at - text));
        line = line ? line + 1 : text;
        if ((size_t)(at - line) < strlen(name) || memcmp(line, name, strlen(name)) != 0)
            return at;
        at += strlen(word);
    }
    return NULL;
}

bool provenance_find(const char *text, size_t size, struct writer_metadata *metadata)
{
    char line[PROVENANCE_TEXT], columns[24], side[32], parts[24], partial[4];
    const char *at = find_word(text, size);
    if (!at)
        return false;
    size_t left = size - (size_t)(at - text);
    snprintf(line, sizeof line, "%.*s", (int)(left < sizeof line ? left : sizeof line - 1), at);
    line[strcspn(line, "\r\n\"")] = 0;
    const char *fingerprint = strstr(line, " recipe=");
    if (!fingerprint)
        return false;
    *metadata = (struct writer_metadata){.columns = 0};
    copy_value(line, word, metadata->film, sizeof metadata->film);
    copy_value(line, " partial=", partial, sizeof partial);
    copy_value(line, " columns=", columns, sizeof columns);
    copy_value(line, " size=", side, sizeof side);
    copy_value(line, " parts=", parts, sizeof parts);
    snprintf(metadata->fingerprint, sizeof metadata->fingerprint, "%s",
             fingerprint + strlen(" recipe="));
    metadata->partial = strcmp(partial, "yes") == 0;
    return read_counts(columns, side, parts, metadata);
}

bool provenance_recognizes(const uint8_t *head, size_t size, const char *begin,
                           char film[FILM_ID_TEXT])
{
    struct writer_metadata metadata;
    size_t length = strlen(begin);
    if (size < length || memcmp(head, begin, length) != 0 ||
        !provenance_find((const char *)head, size, &metadata))
        return false;
    memcpy(film, metadata.film, FILM_ID_TEXT);
    return true;
}

bool provenance_read(FILE *f, const char *begin, const char *end, struct writer_metadata *metadata)
{
    char head[WRITER_HEAD], tail[32], film[FILM_ID_TEXT];
    size_t size = fread(head, 1, sizeof head, f), length = strlen(end);
    if (!provenance_recognizes((const uint8_t *)head, size, begin, film) ||
        !provenance_find(head, size, metadata))
        return false;
    return length <= sizeof tail && fseek(f, -(long)length, SEEK_END) == 0 &&
           fread(tail, 1, length, f) == length && memcmp(tail, end, length) == 0;
}

bool provenance_recognizes_end(const uint8_t *tail, size_t size, const char *mark,
                               char film[FILM_ID_TEXT])
{
    struct writer_metadata metadata;
    if (!memmem(tail, size, mark, strlen(mark)) ||
        !provenance_find((const char *)tail, size, &metadata))
        return false;
    memcpy(film, metadata.film, FILM_ID_TEXT);
    return true;
}

bool provenance_read_end(FILE *f, const char *mark, struct writer_metadata *metadata)
{
    char tail[WRITER_HEAD];
    if (fseek(f, -(long)sizeof tail, SEEK_END) != 0)
        rewind(f); /* it is shorter */
    size_t size = fread(tail, 1, sizeof tail, f);
    return memmem(tail, size, mark, strlen(mark)) && provenance_find(tail, size, metadata);
}
