#include "png.h"

#include <stdlib.h>
#include <string.h>

static const uint8_t signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

static uint32_t big_endian(const uint8_t *b)
{
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

/* Returns the text of a chunk with this key, and its size; NULL if the chunk has another key. iTXt
 * has some fields before its text. */
static const uint8_t *chunk_text(const uint8_t *chunk, size_t length, const char *key, size_t *size)
{
    const uint8_t *data = chunk + 8, *end = data + length;
    if (length < strlen(key) + 1 || memcmp(data, key, strlen(key) + 1) != 0)
        return NULL;
    data += strlen(key) + 1;
    if (memcmp(chunk + 4, "iTXt", 4) == 0) {
        data += 2;                                /* compression flag and method */
        for (int field = 0; field < 2; field++) { /* language, translated keyword */
            const uint8_t *zero = data < end ? memchr(data, 0, (size_t)(end - data)) : NULL;
            if (!zero)
                return NULL;
            data = zero + 1;
        }
    } else if (memcmp(chunk + 4, "tEXt", 4) != 0) {
        return NULL;
    }
    *size = (size_t)(end - data);
    return data;
}

/* Recognizes the text chunks at the beginning of the image. */
bool writer_png_recognizes(const uint8_t *head, size_t size, char film[FILM_ID_TEXT])
{
    static const char name[] = "barcode";
    bool is_barcode = false;
    if (size < sizeof signature || memcmp(head, signature, sizeof signature) != 0)
        return false;
    for (size_t at = sizeof signature; at + 12 <= size;) {
        size_t length = big_endian(head + at), bytes;
        if (length > size - at - 12)
            break;
        const uint8_t *software = chunk_text(head + at, length, "Software", &bytes);
        is_barcode |=
            software && bytes >= strlen(name) && memcmp(software, name, strlen(name)) == 0;
        const uint8_t *id = chunk_text(head + at, length, PNG_FILM_KEY, &bytes);
        if (id && bytes < FILM_ID_TEXT)
            snprintf(film, FILM_ID_TEXT, "%.*s", (int)bytes, (const char *)id);
        at += length + 12;
    }
    return is_barcode;
}

/* ---- The complete file ---- */

enum { PIECE = 1 << 14 };

/* The reader of a file: a piece of a chunk's data at a time. */
struct walk {
    FILE *file;
    uint32_t table[256];      /* CRC table of ISO 3309, as PNG uses it */
    uint8_t chunk[8 + PIECE]; /* length and type, then the latest piece of the data */
};

static void fill_table(uint32_t table[256])
{
    for (uint32_t n = 0; n < 256; n++) {
        uint32_t c = n;
        for (int bit = 0; bit < 8; bit++)
            c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
        table[n] = c;
    }
}

static uint32_t go_on(const struct walk *w, uint32_t crc, const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        crc = w->table[(crc ^ bytes[i]) & 0xff] ^ crc >> 8;
    return crc;
}

/* Reads a chunk after its length and type, which are in w->chunk. Returns true if its checksum is
 * correct. The data of a small chunk is then in w->chunk. */
static bool read_chunk(struct walk *w, uint32_t length)
{
    uint32_t crc = go_on(w, 0xffffffffu, w->chunk + 4, 4);
    uint8_t end[4];
    while (length > 0) {
        size_t bytes = length < PIECE ? length : PIECE;
        if (fread(w->chunk + 8, 1, bytes, w->file) != bytes)
            return false;
        crc = go_on(w, crc, w->chunk + 8, bytes);
        length -= (uint32_t)bytes;
    }
    return fread(end, 1, sizeof end, w->file) == sizeof end &&
           big_endian(end) == (crc ^ 0xffffffffu);
}

/* Copies the text of the chunk in `w` if it has this key. Returns false if it has another key or
 * does not fit. */
static bool take_text(const struct walk *w, uint32_t length, const char *key, char *text,
                      size_t room)
{
    size_t bytes;
    const uint8_t *data = chunk_text(w->chunk, length, key, &bytes);
    if (!data || bytes >= room)
        return false;
    memcpy(text, data, bytes);
    text[bytes] = 0;
    return true;
}

/* Parses "320x180". */
static void read_size(const char *text, struct writer_metadata *metadata)
{
    char *end;
    long width = strtol(text, &end, 10), height = *end == 'x' ? strtol(end + 1, NULL, 10) : 0;
    bool sane = width > 0 && width <= 65536 && height > 0 && height <= 65536;
    metadata->width = sane ? (int)width : 0;
    metadata->height = sane ? (int)height : 0;
}

static void note_text(const struct walk *w, uint32_t length, struct writer_metadata *metadata,
                      bool *is_barcode)
{
    char text[64];
    if (take_text(w, length, "Software", text, sizeof text))
        *is_barcode |= strncmp(text, "barcode", 7) == 0;
    else if (take_text(w, length, PNG_COLUMNS_KEY, text, sizeof text))
        metadata->columns = strtoull(text, NULL, 10);
    else if (take_text(w, length, PNG_SIZE_KEY, text, sizeof text))
        read_size(text, metadata);
    else if (take_text(w, length, PNG_PARTIAL_KEY, text, sizeof text))
        metadata->partial = true;
    else if (!take_text(w, length, PNG_FILM_KEY, metadata->film, sizeof metadata->film))
        take_text(w, length, PNG_FINGERPRINT_KEY, metadata->fingerprint,
                  sizeof metadata->fingerprint);
}

/* Checks all chunks: each must have a correct checksum, the last must be IEND, and nothing may
 * follow it. */
bool writer_png_metadata(FILE *f, struct writer_metadata *metadata)
{
    struct walk w = {.file = f};
    bool is_barcode = false, ended = false;
    uint8_t head[sizeof signature];
    fill_table(w.table);
    if (fread(head, 1, sizeof head, f) != sizeof head || memcmp(head, signature, sizeof head) != 0)
        return false;
    while (!ended) {
        if (fread(w.chunk, 1, 8, f) != 8)
            return false;
        uint32_t length = big_endian(w.chunk);
        if (length > INT32_MAX || !read_chunk(&w, length))
            return false;
        if (length <= PIECE)
            note_text(&w, length, metadata, &is_barcode);
        ended = memcmp(w.chunk + 4, "IEND", 4) == 0;
    }
    return is_barcode && fgetc(f) == EOF;
}
