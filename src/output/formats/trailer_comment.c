#include "trailer_comment.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"

#define CHECK_KEY "barcode:check "

bool seal_open(struct seal *s, FILE *f, struct err *e)
{
    *s = (struct seal){.file = f, .hash = hash_stream_open()};
    return s->hash || err_memory(e, sizeof *s);
}

bool seal_write(struct seal *s, const void *bytes, size_t size, struct err *e)
{
    errno = 0;
    if (interrupted())
        return interrupt_error(e);
    if (fwrite(bytes, 1, size, s->file) != size)
        return err_set(e, ERR_FAILED, "%s", strerror(errno ? errno : EIO));
    hash_stream_add(s->hash, bytes, size);
    return true;
}

static bool print(struct seal *s, struct err *e, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static bool print(struct seal *s, struct err *e, const char *format, ...)
{
    char text[REPORT_FINGERPRINT + 80];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return length > 0 &&
           seal_write(s, text, (size_t)length < sizeof text ? (size_t)length : sizeof text - 1, e);
}

bool seal_end(struct seal *s, const struct report *r, const char *mark, const char *tail,
              struct err *e)
{
    char hex[33];
    bool ok = (!r->film_id[0] || print(s, e, "%sbarcode:film %s\n", mark, r->film_id)) &&
              (!r->fingerprint[0] || print(s, e, "%sbarcode:recipe %s\n", mark, r->fingerprint)) &&
              print(s, e, "%sbarcode:columns %" PRIu64 "\n%sbarcode:size %dx%d\n", mark, r->count,
                    mark, r->width, r->height) &&
              (!r->partial || print(s, e, "%sbarcode:partial yes\n", mark));
    if (!ok)
        return false;
    hash_stream_add(s->hash, tail, strlen(tail)); /* it follows the checksum */
    hash_hex(hash_stream_end(&s->hash), hex);
    return fprintf(s->file, "%s" CHECK_KEY "%s\n%s", mark, hex, tail) > 0 ||
           err_set(e, ERR_FAILED, "%s", strerror(errno));
}

void seal_drop(struct seal *s)
{
    if (s->hash)
        hash_stream_end(&s->hash);
}

/* Copies the value of the last line of text[size] that has `key`. Returns false if there is no such
 * line or the value does not fit. */
static bool find_value(const char *text, size_t size, const char *key, char *value, size_t room)
{
    size_t length = strlen(key);
    for (size_t at = size; at-- > 0;) {
        if (size - at < length || memcmp(text + at, key, length) != 0)
            continue;
        const char *from = text + at + length, *end = memchr(from, '\n', size - at - length);
        size_t bytes = end ? (size_t)(end - from) : 0;
        if (!end || bytes >= room)
            return false;
        memcpy(value, from, bytes);
        value[bytes] = 0;
        return true;
    }
    return false;
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

/* Hashes the file without the line of the checksum, which begins at `line` and ends before
 * `behind`. */
static bool hash_but(FILE *f, long line, long behind, struct hash128 *sum)
{
    uint8_t piece[1 << 14];
    long at = 0;
    size_t got;
    struct hash_stream *hash = hash_stream_open();
    if (!hash)
        return false;
    rewind(f);
    while ((got = fread(piece, 1, sizeof piece, f)) > 0) {
        long to = at + (long)got, before = line < to ? line : to, after = behind > at ? behind : at;
        if (before > at)
            hash_stream_add(hash, piece, (size_t)(before - at));
        if (after < to)
            hash_stream_add(hash, piece + (after - at), (size_t)(to - after));
        at = to;
    }
    *sum = hash_stream_end(&hash);
    return !ferror(f);
}

static void take_words(const char *text, size_t size, struct writer_metadata *metadata)
{
    char word[64];
    find_value(text, size, "barcode:film ", metadata->film, sizeof metadata->film);
    find_value(text, size, "barcode:recipe ", metadata->fingerprint, sizeof metadata->fingerprint);
    metadata->partial = find_value(text, size, "barcode:partial ", word, sizeof word);
    if (find_value(text, size, "barcode:columns ", word, sizeof word))
        metadata->columns = strtoull(word, NULL, 10);
    if (!find_value(text, size, "barcode:size ", word, sizeof word))
        return;
    char *end;
    long width = strtol(word, &end, 10), height = *end == 'x' ? strtol(end + 1, NULL, 10) : 0;
    bool sane = width > 0 && width <= 65536 && height > 0 && height <= 65536;
    metadata->width = sane ? (int)width : 0;
    metadata->height = sane ? (int)height : 0;
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
    if (size < strlen(last) || strcmp(text + size - strlen(last), last) != 0 ||
        !find_value(text, size, CHECK_KEY, check, sizeof check))
        return false;
    const char *line = text + size - strlen(CHECK_KEY); /* the key exists: find_value found it */
    while (memcmp(line, CHECK_KEY, strlen(CHECK_KEY)) != 0)
        line--;
    /* the end of its line exists, too */
    const char *behind = (const char *)memchr(line, '\n', (size_t)(text + size - line)) + 1;
    while (line > text && line[-1] != '\n') /* the mark before it belongs to the line */
        line--;
    if (text + size - behind > SEAL_TAIL ||
        !hash_but(f, from + (line - text), from + (behind - text), &sum))
        return false;
    hash_hex(sum, hex);
    if (strcmp(hex, check) != 0)
        return false;
    take_words(text, size, metadata);
    return true;
}
