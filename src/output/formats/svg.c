#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/version.h"
#include "output/poster/shape.h"
#include "media/ffmpeg/ffmpeg.h"
#include "output/poster/canvas_cairo.h"
#include "output/poster/labels.h"
#include "provenance.h"

extern const struct writer writer_png;

/*
 * SVG is written here and not by cairo. cairo numbers its definitions across the life of the
 * process, so the second film of a run would get other bytes than the first. It also writes no
 * metadata.
 */
struct output {
    struct trailer_file trailer;
    const struct layout *layout;
    struct err *e;
};

static bool print(struct output *o, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool print(struct output *o, const char *format, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, format);
    int length = vasprintf(&text, format, args);
    va_end(args);
    if (length < 0)
        return err_memory(o->e, strlen(format));
    bool ok = trailer_write(&o->trailer, text, (size_t)length, o->e);
    free(text);
    return ok;
}

/* Escapes the markup characters of names and titles. Control characters are '?' already. */
static void escape(const char *text, char *out, size_t size)
{
    size_t used = 0;
    for (; *text && used + 8 < size; text++) {
        const char *put = text_markup(*text);
        if (put) {
            memcpy(out + used, put, strlen(put));
            used += strlen(put);
        } else {
            out[used++] = *text;
        }
    }
    out[used] = 0;
}

static bool print_head(struct output *o, const struct report *r, struct strips strips)
{
    const struct layout *s = o->layout;
    char title[8 * LAYOUT_TEXT], titles[400], film[FILM_ID_TEXT * 2];
    double mm = s->unit_mm > 0 ? s->unit_mm : 1;
    const char *unit = s->unit_mm > 0 ? "mm" : "px";
    escape(s->title, title, sizeof title);
    escape(r->id.film_id, film, sizeof film);
    paint_text_titles(strips, titles, sizeof titles);
    return print(
        o,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" "
        "width=\"%.6g%s\" height=\"%.6g%s\" "
        "viewBox=\"0 0 %.3f %.3f\" role=\"img\">\n<title>%s</title>\n<desc>%s of %s</desc>\n"
        "<metadata><barcode xmlns=\"https://barcode.invalid/ns\" "
        "software=\"barcode " BARCODE_VERSION "\" film=\"%s\"/></metadata>\n"
        "<rect width=\"100%%\" height=\"100%%\" fill=\"#%02x%02x%02x\"/>\n",
        s->width * mm, unit, s->height * mm, unit, s->width, s->height, title, titles, title, film,
        s->colours.paper[0], s->colours.paper[1], s->colours.paper[2]);
}

/* Writes text that a drawing program can edit, at the place where it is drawn. */
static bool print_live(struct output *o, const struct layout_item *i)
{
    enum { LINES = 2 };
    struct canvas_line line[LINES];
    char text[8 * LAYOUT_TEXT], plain[LAYOUT_TEXT], families[8 * LAYOUT_TEXT];
    int count = canvas_lines(o->layout->canvas, &i->words, line, LINES);
    paint_text_utf8(canvas_families(o->layout->canvas), true, plain, sizeof plain);
    escape(plain, families, sizeof families);
    for (int k = 0; k < count; k++) {
        escape(line[k].text, text, sizeof text);
        if (!print(o,
                   "<text x=\"%.3f\" y=\"%.3f\" font-family=\"%s,sans-serif\" font-size=\"%.3f\" "
                   "fill=\"#%02x%02x%02x\"%s xml:space=\"preserve\">%s</text>\n",
                   line[k].x, line[k].y, families, i->words.size, i->rgb[0], i->rgb[1], i->rgb[2],
                   line[k].leftward ? " direction=\"rtl\"" : "", text))
            return false;
    }
    return true;
}

static bool print_words(struct output *o, const struct layout_item *i)
{
    if (o->layout->report->poster.style.live_text)
        return print_live(o, i);
    char label[8 * LAYOUT_TEXT];
    char *d = canvas_outlines(o->layout->canvas, &i->words, o->e);
    if (!d)
        return false;
    escape(i->words.text, label, sizeof label);
    bool ok = print(o, "<path aria-label=\"%s\" fill=\"#%02x%02x%02x\" d=\"%s\"/>\n", label,
                    i->rgb[0], i->rgb[1], i->rgb[2], d);
    free(d);
    return ok;
}

static bool print_item(struct output *o, const struct layout_item *i)
{
    if (i->kind == LAYOUT_WORDS)
        return print_words(o, i);
    if (i->kind == LAYOUT_AREA)
        return print(
            o,
            "<rect x=\"%.3f\" y=\"%.3f\" width=\"%.3f\" height=\"%.3f\" fill=\"#%02x%02x%02x\"/>\n",
            i->x, i->y, i->w, i->h, i->rgb[0], i->rgb[1], i->rgb[2]);
    return print(
        o, "<path d=\"M%.3f %.3fL%.3f %.3f\" stroke=\"#%02x%02x%02x\" stroke-width=\"%.3f\"/>\n",
        i->x, i->y, i->x + i->w, i->y + i->h, i->rgb[0], i->rgb[1], i->rgb[2], i->thick);
}

static bool print_base64(struct output *o, const uint8_t *bytes, size_t size)
{
    enum { PIECE = 3072 };
    char text[PIECE / 3 * 4 + 1];
    for (size_t at = 0; at < size; at += PIECE) {
        size_t part = size - at < PIECE ? size - at : PIECE;
        if (!trailer_write(&o->trailer, text, base64_encode(bytes + at, part, text), o->e))
            return false;
    }
    return true;
}

/* Writes the strip alone, as -o FILE.png writes it, in a data URL. */
static bool print_shape(struct output *o, const struct layout_shape *f)
{
    struct report alone = *o->layout->report;
    char *png = NULL;
    size_t size = 0;
    alone.poster.wanted = false;
    alone.id.fingerprint[0] = 0;
    alone.poster.style.has_background = false; /* a ring is transparent */
    shape_size(&alone, SHAPE_SIDE_MOST, &alone.picture.width, &alone.picture.height);
    FILE *memory = open_memstream(&png, &size);
    if (!memory)
        return err_memory(o->e, 1 << 16);
    bool ok = writer_png.write(&alone, (struct strips){&f->kind, 1}, memory, o->e);
    if (fclose(memory) != 0 && ok)
        ok = err_memory(o->e, size);
    ok = ok &&
         print(o,
               "<image x=\"%.3f\" y=\"%.3f\" width=\"%.3f\" height=\"%.3f\" "
               "preserveAspectRatio=\"none\" "
               "style=\"image-rendering:optimizeSpeed;image-rendering:crisp-edges;image-rendering:"
               "pixelated\" xlink:href=\"data:image/png;base64,",
               f->x, f->y, f->w, f->h) &&
         print_base64(o, (const uint8_t *)png, size) && print(o, "\"/>\n");
    free(png);
    return ok;
}

static bool print_all(struct output *o, const struct report *r, struct strips strips)
{
    const struct layout *s = o->layout;
    bool ok = print_head(o, r, strips);
    for (size_t i = 0; i < s->items && ok; i++)
        ok = print_item(o, &s->item[i]);
    for (size_t i = 0; i < s->shapes && ok; i++)
        ok = print_shape(o, &s->shape[i]);
    return ok && print(o, "</svg>\n<!--\n") && trailer_end(&o->trailer, r, "", "-->\n", o->e);
}

static bool write_svg(const struct report *r, struct strips strips, FILE *f, struct err *e)
{
    struct layout *s = layout_poster(r, strips, false, e);
    struct output o = {.layout = s, .e = e};
    bool ok = s && trailer_open(&o.trailer, f, e) && print_all(&o, r, strips);
    trailer_discard(&o.trailer);
    layout_free(&s);
    return ok;
}

static const char *const ending[] = {"svg", NULL};

const struct writer writer_svg = {.name = "svg",
                                  .title = "SVG",
                                  .ending = ending,
                                  .one_a_strip = true,
                                  .page = true,
                                  .tail = true,
                                  .trailer = "-->\n",
                                  .write = write_svg};
