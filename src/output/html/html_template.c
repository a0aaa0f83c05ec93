#include "html_template.h"

#include <errno.h>
#include <string.h>

#include "base/version.h"
#include "media/ffmpeg/ffmpeg.h"

static const char mark_begin[] = "<!--barcode:", mark_end[] = "-->";

/* The beginning and the end of viewer.html and gallery.html. */
static const char begins[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n",
                  ends[] = "</html>\n";

static const char generator[] = "<meta name=\"generator\" content=\"barcode ";

bool page_write(FILE *f, const struct page_file *html, page_fill *fill, void *user)
{
    const char *at = (const char *)html->data, *end = at + html->size;
    while (at < end) {
        char mark[32];
        const char *found = memmem(at, (size_t)(end - at), mark_begin, strlen(mark_begin));
        const char *name = found ? found + strlen(mark_begin) : NULL;
        const char *close =
            name ? memmem(name, (size_t)(end - name), mark_end, strlen(mark_end)) : NULL;
        size_t plain = (size_t)((close ? found : end) - at);
        if (fwrite(at, 1, plain, f) != plain)
            return false;
        if (!close)
            return true;
        snprintf(mark, sizeof mark, "%.*s", (int)(close - name), name);
        if (!fill(user, mark, f))
            return false;
        at = close + strlen(mark_end);
    }
    return true;
}

bool page_put_meta(FILE *f, const char *key, const char *value)
{
    return fprintf(f, "<meta name=\"barcode:%s\" content=\"%s\">\n", key, value) > 0;
}

static bool put_hashes(FILE *f, const char *directive, const struct page_file *const file[])
{
    bool ok = fputs(directive, f) >= 0;
    for (int i = 0; ok && file[i]; i++)
        ok = fprintf(f, " 'sha256-%s'", file[i]->sha256) > 0;
    return ok;
}

bool page_put_head(FILE *f, const char *kind, const struct page_file *const style[],
                   const struct page_file *const script[])
{
    return fprintf(f, "%s%s\">\n", generator, BARCODE_VERSION) > 0 &&
           page_put_meta(f, "page", kind) &&
           fputs("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                 "base-uri 'none'; form-action 'none'; img-src data:; ",
                 f) >= 0 &&
           put_hashes(f, "style-src", style) && put_hashes(f, "; script-src", script) &&
           fputs("\">\n", f) >= 0;
}

bool page_put_files(FILE *f, const char *element, const struct page_file *const file[])
{
    for (int i = 0; file[i]; i++) {
        if (fprintf(f, "<%s>", element) < 0 ||
            fwrite(file[i]->data, 1, file[i]->size, f) != file[i]->size ||
            fprintf(f, "</%s>\n", element) < 0)
            return false;
    }
    return true;
}

/* Escapes <, > and & as \u003c etc. They occur only inside JSON strings, where the escape has the
 * same meaning; HTML does not interpret it. */
static int put_escaped(const char *text, size_t size, void *file)
{
    FILE *f = file;
    for (size_t i = 0; i < size; i++) {
        bool special = text[i] == '<' || text[i] == '>' || text[i] == '&';
        if (special ? fprintf(f, "\\u%04x", (unsigned)text[i]) < 0 : putc(text[i], f) == EOF)
            return -1;
    }
    return 0;
}

bool page_put_json(FILE *f, const char *id, json_t *value)
{
    errno = value ? 0 : ENOMEM;
    /* ASCII only, so that U+2028 and U+2029 are escaped too. */
    bool done = value && fprintf(f, "<script type=\"application/json\" id=\"%s\">", id) > 0 &&
                json_dump_callback(value, put_escaped, f,
                                   JSON_COMPACT | JSON_ENSURE_ASCII | JSON_ENCODE_ANY |
                                       JSON_REAL_PRECISION(15)) == 0 &&
                fputs("</script>\n", f) != EOF;
    json_decref(value);
    return done;
}

bool page_put_base64(FILE *f, const void *data, size_t size)
{
    enum { PIECE = 3072 };
    char text[PIECE / 3 * 4 + 1];
    const uint8_t *bytes = data;
    for (size_t at = 0; at < size; at += PIECE) {
        size_t part = size - at < PIECE ? size - at : PIECE;
        size_t length = base64_encode(bytes + at, part, text);
        if (fwrite(text, 1, length, f) != length)
            return false;
    }
    return true;
}

bool page_put_data(FILE *f, const char *id, const void *data, size_t size)
{
    return fprintf(f, "<script type=\"text/plain\" id=\"%s\">", id) > 0 &&
           page_put_base64(f, data, size) && fputs("</script>\n", f) != EOF;
}

/* ---- reading ---- */

/* Returns the end of `word` in the first `size` bytes of `text`, or NULL if not found. */
static const char *after(const char *text, size_t size, const char *word)
{
    const char *at = memmem(text, size, word, strlen(word));
    return at ? at + strlen(word) : NULL;
}

bool page_is(const char *head, size_t size, const char *kind)
{
    char metadata[32];
    size_t length = strlen(begins);
    if (size < length + strlen(generator) || memcmp(head, begins, length) != 0 ||
        memcmp(head + length, generator, strlen(generator)) != 0)
        return false;
    page_copy_meta(head, size, "page", metadata, sizeof metadata);
    return strcmp(metadata, kind) == 0;
}

void page_copy_meta(const char *head, size_t size, const char *key, char *value, size_t room)
{
    char word[80];
    snprintf(word, sizeof word, "<meta name=\"barcode:%s\" content=\"", key);
    const char *begin = after(head, size, word),
               *quote = begin ? memchr(begin, '"', size - (size_t)(begin - head)) : NULL;
    bool fits = quote && (size_t)(quote - begin) < room;
    snprintf(value, room, "%.*s", fits ? (int)(quote - begin) : 0, fits ? begin : "");
}

const char *page_find_json(const char *head, size_t size, const char *id, size_t *length)
{
    char word[80];
    snprintf(word, sizeof word, "<script type=\"application/json\" id=\"%s\">", id);
    const char *begin = after(head, size, word),
               *close = begin ? memmem(begin, size - (size_t)(begin - head), "</script>", 9) : NULL;
    *length = close ? (size_t)(close - begin) : 0;
    return close ? begin : NULL;
}

bool page_ends(FILE *f)
{
    char tail[sizeof ends - 1];
    return fseek(f, -(long)sizeof tail, SEEK_END) == 0 &&
           fread(tail, 1, sizeof tail, f) == sizeof tail && memcmp(tail, ends, sizeof tail) == 0;
}
