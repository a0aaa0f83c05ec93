#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/version.h"
#include "output/poster/canvas_cairo.h"
#include "output/poster/labels.h"
#include "provenance.h"

/* The output, and its last bytes: the last number in them is the offset of the cross-reference
 * table. */
struct output {
    struct trailer_file trailer;
    char last[64];
    size_t kept;
};

/* Writes a part of the document, and keeps the last bytes written so far. */
static bool sink_bytes(void *user, const void *bytes, size_t size, struct err *e)
{
    struct output *out = user;
    const size_t room = sizeof out->last - 1;
    size_t added = size < room ? size : room;
    size_t stay = out->kept < room - added ? out->kept : room - added;
    memmove(out->last, out->last + out->kept - stay, stay);
    memcpy(out->last + stay, (const char *)bytes + size - added, added);
    out->kept = stay + added;
    return trailer_write(&out->trailer, bytes, size, e);
}

/*
 * Writes the comment and repeats "startxref" after it, because readers search for the last one in
 * the file. A comment in the middle would shift the offsets in the table, and metadata may be
 * compressed.
 */
static bool write_end(struct output *out, const struct report *r, struct err *e)
{
    char tail[TRAILER_TAIL];
    out->last[out->kept] = 0;
    /* The bytes before it may be those of a compressed table, including zeros. */
    const char *at = memmem(out->last, out->kept, "startxref", strlen("startxref"));
    if (!at)
        return err_set(e, ERR_FAILED, "cairo wrote a PDF without 'startxref'");
    snprintf(tail, sizeof tail, "startxref\n%" PRIu64 "\n%%%%EOF\n",
             (uint64_t)strtoull(at + strlen("startxref"), NULL, 10));
    return trailer_end(&out->trailer, r, "%", tail, e);
}

static bool write_pdf(const struct report *r, struct strips strips, FILE *f, struct err *e)
{
    char titles[400], keywords[REPORT_FINGERPRINT + 200];
    struct output out = {.kept = 0};
    struct layout *layout = layout_poster(r, strips, false, e);
    if (!layout)
        return false;
    paint_text_titles(strips, titles, sizeof titles);
    snprintf(keywords, sizeof keywords, "barcode:film=%s; barcode:fingerprint=%s", r->id.film_id,
             r->id.fingerprint);
    struct canvas_about about = {.title = layout->title,
                                 .subject = titles,
                                 .keywords = keywords,
                                 .creator = "barcode " BARCODE_VERSION};
    bool ok = trailer_open(&out.trailer, f, e) &&
              canvas_pdf(layout->canvas, layout, &about, sink_bytes, &out, e) &&
              write_end(&out, r, e);
    trailer_discard(&out.trailer);
    layout_free(&layout);
    return ok;
}

static const char *const ending[] = {"pdf", NULL};

const struct writer writer_pdf = {.name = "pdf",
                                  .title = "PDF",
                                  .ending = ending,
                                  .binary = true,
                                  .one_a_strip = true,
                                  .page = true,
                                  .tail = true,
                                  .trailer = "%%EOF\n",
                                  .write = write_pdf};
