#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <webp/encode.h>

#include "base/interrupt.h"
#include "base/version.h"
#include "base/wire.h"
#include "output/poster/poster.h"
#include "images.h"
#include "provenance.h"

/*
 * The file is a RIFF of these chunks: VP8X, ICCP, VP8L (lossless) and XMP, which has the
 * provenance. Lossy WebP would halve the resolution of the colours.
 */

/* of compression, 0 (fast) to 9; libwebp's usual one */
enum { LEVEL = 6 };
enum { RIFF_HEADER = 12, FLAG_XMP = 0x04, FLAG_ALPHA = 0x10, FLAG_ICC = 0x20 };

static const char xmp_end[] = "\"/></rdf:RDF></x:xmpmeta>"; /* behind the provenance */

static int go_on(int percent, const WebPPicture *picture)
{
    (void)percent;
    (void)picture;
    return !interrupted();
}

static bool paint(WebPPicture *picture, struct painter *p, struct err *e)
{
    int width = painter_width(p), channels = painter_channels(p);
    uint8_t *row = malloc((size_t)width * (size_t)channels);
    bool ok = true;
    if (!row)
        return err_memory(e, (size_t)width * (size_t)channels);
    for (int y = 0; y < painter_height(p); y++) {
        ok = painter_row(p, y, row, e);
        if (!ok)
            break;
        uint32_t *to = picture->argb + (size_t)y * (size_t)picture->argb_stride;
        for (const uint8_t *c = row; c < row + (size_t)width * (size_t)channels; c += channels)
            *to++ = (uint32_t)(channels == 4 ? c[3] : 255) << 24 | (uint32_t)c[0] << 16 |
                    (uint32_t)c[1] << 8 | c[2];
    }
    free(row);
    return ok;
}

/* Encodes the image to *to, which has libwebp's own RIFF header then. */
static bool encode(struct painter *p, WebPMemoryWriter *to, struct err *e)
{
    WebPConfig config;
    WebPPicture picture;
    if (!WebPConfigInit(&config) || !WebPConfigLosslessPreset(&config, LEVEL) ||
        !WebPPictureInit(&picture))
        return err_set(e, ERR_FAILED, "libwebp has another version");
    config.exact = 1; /* also where a ring is transparent */
    picture.use_argb = 1;
    picture.width = painter_width(p);
    picture.height = painter_height(p);
    picture.writer = WebPMemoryWrite;
    picture.custom_ptr = to;
    picture.progress_hook = go_on;
    bool ok = WebPPictureAlloc(&picture);
    if (!ok)
        err_memory(e, (uint64_t)picture.width * (uint64_t)picture.height * 4);
    ok = ok && paint(&picture, p, e) && WebPEncode(&config, &picture);
    if (!ok && picture.error_code == VP8_ENC_ERROR_OUT_OF_MEMORY)
        err_set(e, ERR_MEMORY, "libwebp is out of memory");
    else if (!ok)
        err_set(e, ERR_FAILED, "libwebp cannot encode it (error %d)", (int)picture.error_code);
    WebPPictureFree(&picture);
    return ok;
}

static void put_chunk(struct wire_out *o, const char name[4], const void *data, size_t size)
{
    wire_put(o, name, 4);
    wire_put_u32(o, (uint32_t)size);
    wire_put(o, data, size);
    if (size % 2 == 1)
        wire_put(o, "", 1);
}

/* Writes the provenance as the source in XMP (ISO 16684-1), on one line. */
static void put_xmp(struct wire_out *o, const struct report *r)
{
    char line[PROVENANCE_TEXT], xmp[PROVENANCE_TEXT + 512];
    provenance_text(r, 0, line);
    snprintf(xmp, sizeof xmp,
             "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF "
             "xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\"><rdf:Description "
             "rdf:about=\"\" xmlns:xmp=\"http://ns.adobe.com/xap/1.0/\" "
             "xmlns:dc=\"http://purl.org/dc/elements/1.1/\" "
             "xmp:CreatorTool=\"barcode " BARCODE_VERSION "\" dc:source=\"%s%s",
             line, xmp_end);
    put_chunk(o, "XMP ", xmp, strlen(xmp));
}

/* Writes everything before and after the image's chunk. */
static void put_extended(struct wire_out *head, struct wire_out *tail, const struct report *r,
                         const struct painter *p, size_t image)
{
    uint8_t icc[ICC_SRGB_SIZE], size[10] = {FLAG_ICC | FLAG_XMP};
    unsigned w = (unsigned)painter_width(p) - 1, h = (unsigned)painter_height(p) - 1;
    if (painter_channels(p) == 4)
        size[0] |= FLAG_ALPHA;
    for (int i = 0; i < 3; i++) {
        size[4 + i] = (uint8_t)(w >> (8 * i));
        size[7 + i] = (uint8_t)(h >> (8 * i));
    }
    icc_srgb_write(icc);
    put_xmp(tail, r);
    wire_put(head, "RIFF", 4);
    wire_put_u32(head, (uint32_t)(4 + 8 + sizeof size + 8 + sizeof icc + image + tail->count));
    wire_put(head, "WEBP", 4);
    put_chunk(head, "VP8X", size, sizeof size);
    put_chunk(head, "ICCP", icc, sizeof icc);
}

static bool write_all(const struct report *r, const struct painter *p,
                      const WebPMemoryWriter *image, FILE *f, struct err *e)
{
    struct wire_out head = {0}, tail = {0};
    const uint8_t *chunk = image->mem + RIFF_HEADER;
    size_t size = image->size - RIFF_HEADER;
    put_extended(&head, &tail, r, p, size);
    bool ok = !head.failed && !tail.failed;
    errno = 0;
    if (!ok) {
        err_memory(e, size);
    } else {
        ok = fwrite(head.data, 1, head.count, f) == head.count &&
             fwrite(chunk, 1, size, f) == size && fwrite(tail.data, 1, tail.count, f) == tail.count;
        if (!ok)
            writer_failed(e);
    }
    wire_free(&head);
    wire_free(&tail);
    return ok;
}

static bool write_webp(const struct report *r, struct strips strips, FILE *f, struct err *e)
{
    WebPMemoryWriter image;
    struct painter *p = painter_open(r, strips, e);
    if (!p)
        return false;
    int width = painter_width(p), height = painter_height(p);
    bool ok = false;
    WebPMemoryWriterInit(&image);
    if (width > WEBP_MAX_DIMENSION || height > WEBP_MAX_DIMENSION)
        err_set(e, ERR_FAILED,
                "a WebP is at most %d pixels wide and high, not %dx%d; choose a smaller "
                "--width or --height, or PNG",
                WEBP_MAX_DIMENSION, width, height);
    else
        ok = encode(p, &image, e) && write_all(r, p, &image, f, e);
    WebPMemoryWriterClear(&image);
    painter_free(&p);
    return ok;
}

static bool recognizes(const uint8_t *tail, size_t size, char film[FILM_ID_TEXT])
{
    return provenance_recognizes_end(tail, size, xmp_end, film);
}

/* A complete file is as long as its header says. */
static bool read_metadata(FILE *f, struct writer_metadata *metadata)
{
    uint8_t head[RIFF_HEADER];
    if (fread(head, 1, sizeof head, f) != sizeof head || memcmp(head, "RIFF", 4) != 0 ||
        memcmp(head + 8, "WEBP", 4) != 0 || fseek(f, 0, SEEK_END) != 0)
        return false;
    struct wire_in size = wire_read(head + 4, 4);
    long end = ftell(f);
    return end >= 0 && (uint64_t)end == (uint64_t)wire_u32(&size) + 8 &&
           provenance_read_end(f, xmp_end, metadata);
}

static const char *const ending[] = {"webp", NULL};

const struct writer writer_webp = {.name = "webp",
                                   .title = "WebP",
                                   .ending = ending,
                                   .binary = true,
                                   .one_a_strip = true,
                                   .pixels = true,
                                   .side_most = WEBP_MAX_DIMENSION,
                                   .tail = true,
                                   .recognizes = recognizes,
                                   .read_metadata = read_metadata,
                                   .write = write_webp};
