#include "provenance.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/option.h"

enum { SIDE_MOST = 65536 }; /* above any analysis size */

static const char comment_key[] = PROVENANCE_BEGIN;

void provenance_text(const struct report *r, uint64_t parts, char text[PROVENANCE_TEXT])
{
    snprintf(text, PROVENANCE_TEXT,
             "%s%s partial=%s columns=%" PRIu64 " size=%dx%d parts=%" PRIu64 " fingerprint=%s",
             comment_key, r->id.film_id, r->id.partial ? "yes" : "no", r->count, r->analysis.width,
             r->analysis.height, parts, r->id.fingerprint);
}

/* Copies what follows `key`, up to a space, in a line that ends with 0. Copies "" if the key is
 * missing. */
static void copy_value(const char *line, const char *key, char *to, size_t room)
{
    const char *at = strstr(line, key);
    at = at ? at + strlen(key) : "";
    snprintf(to, room, "%.*s", (int)strcspn(at, " "), at);
}

/* Returns true for a line with the film's name, which a GIMP palette and an edit list have before
 * the provenance comment. The name may look like one. */
static bool is_name(const char *line, size_t length)
{
    static const char *const begin[] = {"Name: ", "TITLE: "};
    for (size_t i = 0; i < sizeof begin / sizeof *begin; i++)
        if (length >= strlen(begin[i]) && memcmp(line, begin[i], strlen(begin[i])) == 0)
            return true;
    return false;
}

/* Returns the beginning of the provenance comment, or NULL if there is none. */
static const char *find_comment(const char *text, size_t size)
{
    const char *at = text, *end = text + size;
    while ((at = memmem(at, (size_t)(end - at), comment_key, strlen(comment_key)))) {
        const char *line = memrchr(text, '\n', (size_t)(at - text));
        line = line ? line + 1 : text;
        if (!is_name(line, (size_t)(at - line)))
            return at;
        at += strlen(comment_key);
    }
    return NULL;
}

bool provenance_find(const char *text, size_t size, struct writer_metadata *metadata)
{
    char line[PROVENANCE_TEXT], columns[24], side[32], parts[24], partial[4];
    const char *at = find_comment(text, size);
    if (!at)
        return false;
    size_t left = size - (size_t)(at - text);
    snprintf(line, sizeof line, "%.*s", (int)(left < sizeof line ? left : sizeof line - 1), at);
    line[strcspn(line, "\r\n\"")] = 0;
    const char *fingerprint = strstr(line, " fingerprint=");
    if (!fingerprint)
        return false;
    *metadata = (struct writer_metadata){.columns = 0};
    copy_value(line, comment_key, metadata->film, sizeof metadata->film);
    copy_value(line, " partial=", partial, sizeof partial);
    copy_value(line, " columns=", columns, sizeof columns);
    copy_value(line, " size=", side, sizeof side);
    copy_value(line, " parts=", parts, sizeof parts);
    snprintf(metadata->fingerprint, sizeof metadata->fingerprint, "%s",
             fingerprint + strlen(" fingerprint="));
    metadata->partial = strcmp(partial, "yes") == 0;
    provenance_read_size(side, metadata);
    return option_read_whole(columns, 0, INT64_MAX, &metadata->columns) &&
           option_read_whole(parts, 0, INT64_MAX, &metadata->parts);
}

void provenance_read_size(const char *text, struct writer_metadata *metadata)
{
    char *end;
    long width = strtol(text, &end, 10), height = *end == 'x' ? strtol(end + 1, NULL, 10) : 0;
    bool sane = width > 0 && width <= SIDE_MOST && height > 0 && height <= SIDE_MOST;
    metadata->width = sane ? (int)width : 0;
    metadata->height = sane ? (int)height : 0;
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

#define CHECK_KEY "barcode:check "

bool trailer_open(struct trailer_file *s, FILE *f, struct err *e)
{
    *s = (struct trailer_file){.file = f, .hash = hash_stream_open()};
    return s->hash || err_memory(e, sizeof *s);
}

bool trailer_write(struct trailer_file *s, const void *bytes, size_t size, struct err *e)
{
    errno = 0;
    if (interrupted())
        return interrupt_error(e);
    if (fwrite(bytes, 1, size, s->file) != size)
        return writer_failed(e);
    hash_stream_add(s->hash, bytes, size);
    return true;
}

bool trailer_end(struct trailer_file *s, const struct report *r, const char *mark, const char *tail,
                 struct err *e)
{
    char text[REPORT_FINGERPRINT + 400], hex[33];
    size_t used = 0;
    if (r->id.film_id[0])
        used += (size_t)snprintf(text, sizeof text, "%sbarcode:film %s\n", mark, r->id.film_id);
    if (r->id.fingerprint[0])
        used += (size_t)snprintf(text + used, sizeof text - used, "%sbarcode:fingerprint %s\n",
                                 mark, r->id.fingerprint);
    used += (size_t)snprintf(text + used, sizeof text - used,
                             "%sbarcode:columns %" PRIu64 "\n%sbarcode:size %dx%d\n", mark,
                             r->count, mark, r->analysis.width, r->analysis.height);
    if (r->id.partial)
        used += (size_t)snprintf(text + used, sizeof text - used, "%sbarcode:partial yes\n", mark);
    if (!trailer_write(s, text, used, e))
        return false;
    hash_stream_add(s->hash, tail, strlen(tail)); /* it follows the checksum */
    hash_hex(hash_stream_end(&s->hash), hex);
    return fprintf(s->file, "%s" CHECK_KEY "%s\n%s", mark, hex, tail) > 0 || writer_failed(e);
}

void trailer_discard(struct trailer_file *s)
{
    if (s->hash)
        hash_stream_end(&s->hash);
}

/* Copies the value of the last line of text[size] that has `key`. Returns where the key is, or NULL
 * if there is no such line or the value does not fit. */
static const char *find_value(const char *text, size_t size, const char *key, char *value,
                              size_t room)
{
    size_t length = strlen(key);
    for (size_t at = size; at-- > 0;) {
        if (size - at < length || memcmp(text + at, key, length) != 0)
            continue;
        const char *from = text + at + length, *end = memchr(from, '\n', size - at - length);
        size_t bytes = end ? (size_t)(end - from) : 0;
        if (!end || bytes >= room)
            return NULL;
        memcpy(value, from, bytes);
        value[bytes] = 0;
        return text + at;
    }
    return NULL;
}

bool trailer_recognizes(const uint8_t *end, size_t size, char film[FILM_ID_TEXT])
{
    char check[40];
    const char *text = (const char *)end;
    if (!find_value(text, size, CHECK_KEY, check, sizeof check))
        return false;
    find_value(text, size, "barcode:film ", film, FILM_ID_TEXT);
    return true;
}

/* Hashes the file up to the line of the checksum, which begins at `line`, and tail[size] behind it.
 */
static bool hash_but(FILE *f, long line, const char *tail, size_t size, struct hash128 *sum)
{
    uint8_t piece[1 << 14];
    size_t got = 1;
    struct hash_stream *hash = hash_stream_open();
    if (!hash)
        return false;
    rewind(f);
    for (size_t left = (size_t)line; left > 0 && got > 0; left -= got) {
        got = fread(piece, 1, left < sizeof piece ? left : sizeof piece, f);
        hash_stream_add(hash, piece, got);
    }
    hash_stream_add(hash, tail, size);
    *sum = hash_stream_end(&hash);
    return !ferror(f);
}

static void read_lines(const char *text, size_t size, struct writer_metadata *metadata)
{
    char value[64];
    find_value(text, size, "barcode:film ", metadata->film, sizeof metadata->film);
    find_value(text, size, "barcode:fingerprint ", metadata->fingerprint,
               sizeof metadata->fingerprint);
    metadata->partial = find_value(text, size, "barcode:partial ", value, sizeof value);
    if (find_value(text, size, "barcode:columns ", value, sizeof value))
        metadata->columns = strtoull(value, NULL, 10);
    if (find_value(text, size, "barcode:size ", value, sizeof value))
        provenance_read_size(value, metadata);
}

bool trailer_read_metadata(FILE *f, const char *last, struct writer_metadata *metadata)
{
    char text[WRITER_HEAD + 1], check[40], hex[33];
    struct hash128 sum;
    if (fseek(f, 0, SEEK_END) != 0)
        return false;
    long whole = ftell(f), from = whole > WRITER_HEAD ? whole - WRITER_HEAD : 0;
    if (whole <= 0 || fseek(f, from, SEEK_SET) != 0)
        return false;
    size_t size = fread(text, 1, WRITER_HEAD, f);
    text[size] = 0;
    const char *line = find_value(text, size, CHECK_KEY, check, sizeof check);
    if (!line || size < strlen(last) || strcmp(text + size - strlen(last), last) != 0)
        return false;
    const char *behind = line + strlen(CHECK_KEY) + strlen(check) + 1;
    while (line > text && line[-1] != '\n') /* the mark before it belongs to the line */
        line--;
    if (text + size - behind > TRAILER_TAIL ||
        !hash_but(f, from + (line - text), behind, (size_t)(text + size - behind), &sum))
        return false;
    hash_hex(sum, hex);
    if (strcmp(hex, check) != 0)
        return false;
    read_lines(text, size, metadata);
    return true;
}
