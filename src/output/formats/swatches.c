/* swatches.c - the formats of --swatches: a film's palette (film_palette.h) for other programs. */
#include <stdio.h>
#include <string.h>

#include "output/poster/labels.h"
#include "output/writer.h"
#include "json.h"
#include "provenance.h"

enum { SWATCHES_TEXT = 16, SWATCHES_NAME = 512 };

/* Writes the film's file name: valid UTF-8, one line. */
static void film_name(const struct report *r, char name[SWATCHES_NAME])
{
    paint_text_utf8(paint_text_file_name(r->film->path), true, name, SWATCHES_NAME);
}

/* Returns the share in parts of `whole`, rounded half up. */
static uint32_t share_of(const struct film_colour *c, uint32_t whole)
{
    return (uint32_t)(((uint64_t)c->share * whole + FILM_PALETTE_PIXELS / 2) / FILM_PALETTE_PIXELS);
}

/* Writes the share as "12.3 %". */
static void percent_text(const struct film_colour *c, char text[SWATCHES_TEXT])
{
    uint32_t share = share_of(c, 1000);
    snprintf(text, SWATCHES_TEXT, "%u.%u %%", share / 10, share % 10);
}

/* A GIMP palette, as read by libgimp's gimppalette-load.c: header, name, columns, comments, then
 * one line per colour: R G B, a tab, a name. Inkscape, Krita, MyPaint and others read it, too. */
static const char gpl_begin[] = "GIMP Palette\n", gpl_end[] = "# end\n";

static bool write_gpl(const struct report *r, struct strips strips, FILE *f, struct err *e)
{
    (void)strips;
    const struct film_palette *p = &r->media.palette;
    char name[SWATCHES_NAME];
    char provenance[PROVENANCE_TEXT];
    film_name(r, name);
    provenance_text(r, 0, provenance);
    fprintf(f, "%sName: %s\nColumns: %d\n#\n# %s\n#\n", gpl_begin, name, p->count, provenance);
    for (int i = 0; i < p->count; i++) {
        const struct film_colour *c = &p->colour[i];
        char hex[PAINT_HEX], percent[SWATCHES_TEXT];
        paint_text_hex(c->rgb, hex);
        percent_text(c, percent);
        fprintf(f, "%3d %3d %3d\t%s %s\n", c->rgb[0], c->rgb[1], c->rgb[2], hex, percent);
    }
    if (fputs(gpl_end, f) != EOF && !ferror(f))
        return true;
    return writer_failed(e);
}

static const char *const gpl_ending[] = {"gpl", NULL};

const struct writer writer_gpl = {.name = "gpl",
                                  .title = "GIMP palette",
                                  .ending = gpl_ending,
                                  .option = "swatches",
                                  .modeless = true,
                                  .palette = true,
                                  .begin = gpl_begin,
                                  .end = gpl_end,
                                  .write = write_gpl};

/*
 * Adobe Swatch Exchange, version 1.0. Adobe has published no specification; this is what its
 * programs and others read (Adobe's forum; https://www.selapa.net/swatches/colors/fileformats.php).
 * All numbers are big-endian:
 *
 *     "ASEF", u16 1, u16 0, u32 number of blocks
 *     block: u16 kind, u32 number of bytes that follow
 *     group begin (0xC001): name; group end (0xC002): nothing
 *     colour (0x0001): name, "RGB ", three float32 in 0..1, u16 0 (a global colour)
 *     name: u16 number of units including the final zero, then UTF-16
 */
enum { GROUP_BEGINS = 0xc001, GROUP_ENDS = 0xc002, COLOUR = 0x0001, UNITS_MOST = 512 };

static void put16(FILE *f, unsigned v)
{
    putc((int)(v >> 8 & 255), f);
    putc((int)(v & 255), f);
}

static void put32(FILE *f, uint32_t v)
{
    put16(f, v >> 16);
    put16(f, v & 0xffff);
}

/* Writes v / 255 as an IEEE 754 float, big-endian. */
static void put_share_of_255(FILE *f, uint8_t v)
{
    float value = (float)v / 255.0f;
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    put32(f, bits);
}

/* Converts valid UTF-8 to UTF-16 with a final zero. Returns the number of units. */
static unsigned utf16(const char *text, uint16_t unit[UNITS_MOST])
{
    unsigned n = 0;
    const uint8_t *p = (const uint8_t *)text;
    while (*p && n < UNITS_MOST - 2) {
        int more = 0; /* bytes of UTF-8 after the first */
        if (*p >= 0xf0)
            more = 3;
        else if (*p >= 0xe0)
            more = 2;
        else if (*p >= 0x80)
            more = 1;
        uint32_t c = more == 0 ? *p : *p & (0x3fu >> more);
        for (p++; more > 0 && *p; more--)
            c = c << 6 | (*p++ & 0x3fu);
        if (c >= 0x10000) {
            unit[n++] = (uint16_t)(0xd800 + ((c - 0x10000) >> 10));
            c = 0xdc00 + (c & 0x3ff);
        }
        unit[n++] = (uint16_t)c;
    }
    unit[n++] = 0;
    return n;
}

/* Writes the header of a block and its name. `rest` is the number of bytes after the name. */
static void put_named(FILE *f, unsigned kind, const char *name, uint32_t rest)
{
    uint16_t unit[UNITS_MOST];
    unsigned units = utf16(name, unit);
    put16(f, kind);
    put32(f, 2 + 2 * units + rest);
    put16(f, units);
    for (unsigned i = 0; i < units; i++)
        put16(f, unit[i]);
}

static bool write_ase(const struct report *r, struct strips strips, FILE *f, struct err *e)
{
    (void)strips;
    const struct film_palette *p = &r->media.palette;
    char film[SWATCHES_NAME];
    film_name(r, film);
    fputs("ASEF", f);
    put16(f, 1);
    put16(f, 0);
    put32(f, (uint32_t)p->count + 2);
    put_named(f, GROUP_BEGINS, film, 0);
    for (int i = 0; i < p->count; i++) {
        const struct film_colour *c = &p->colour[i];
        char name[2 * SWATCHES_TEXT + 1], hex[PAINT_HEX], percent[SWATCHES_TEXT];
        paint_text_hex(c->rgb, hex);
        percent_text(c, percent);
        snprintf(name, sizeof name, "%s %s", hex, percent);
        put_named(f, COLOUR, name, 4 + 3 * 4 + 2);
        fputs("RGB ", f);
        for (int channel = 0; channel < 3; channel++)
            put_share_of_255(f, c->rgb[channel]);
        put16(f, 0);
    }
    put16(f, GROUP_ENDS);
    put32(f, 0);
    return !ferror(f) || writer_failed(e);
}

static const char *const ase_ending[] = {"ase", NULL};

/* The format has no comments, so none of its files counts as barcode's. */
const struct writer writer_ase = {.name = "ase",
                                  .title = "Adobe Swatch Exchange",
                                  .ending = ase_ending,
                                  .binary = true,
                                  .option = "swatches",
                                  .modeless = true,
                                  .palette = true,
                                  .write = write_ase};

static const char css_begin[] = "/*\n", css_end[] = "}\n";

/* Writes one stripe per colour, as wide as its share: "#aabbcc 0% 12.3%". */
static void put_gradient(const struct film_palette *p, FILE *f)
{
    uint64_t below = 0;
    fputs("  --film-palette: linear-gradient(to right", f);
    for (int i = 0; i < p->count; i++) {
        char hex[PAINT_HEX];
        uint32_t from = (uint32_t)((below * 1000 + FILM_PALETTE_PIXELS / 2) / FILM_PALETTE_PIXELS);
        below += p->colour[i].share;
        uint32_t to = (uint32_t)((below * 1000 + FILM_PALETTE_PIXELS / 2) / FILM_PALETTE_PIXELS);
        paint_text_hex(p->colour[i].rgb, hex);
        fprintf(f, ", %s %u.%u%% %u.%u%%", hex, from / 10, from % 10, to / 10, to % 10);
    }
    fputs(");\n", f);
}

/* Writes custom properties: --film-1 is the lightest colour, --film-1-share its share, and
 * --film-palette a background of all colours. */
static bool write_css(const struct report *r, struct strips strips, FILE *f, struct err *e)
{
    (void)strips;
    const struct film_palette *p = &r->media.palette;
    char provenance[PROVENANCE_TEXT];
    provenance_text(r, 0, provenance);
    /* Without the film's name, which could end the comment. */
    fprintf(f, "%s * %s\n */\n:root {\n", css_begin, provenance);
    for (int i = 0; i < p->count; i++) {
        char hex[PAINT_HEX];
        paint_text_hex(p->colour[i].rgb, hex);
        uint32_t share = share_of(&p->colour[i], 1000);
        fprintf(f, "  --film-%d: %s;\n  --film-%d-share: %u.%u%%;\n", i + 1, hex, i + 1, share / 10,
                share % 10);
    }
    put_gradient(p, f);
    if (fputs(css_end, f) != EOF && !ferror(f))
        return true;
    return writer_failed(e);
}

static const char *const css_ending[] = {"css", NULL};

const struct writer writer_css = {.name = "css",
                                  .title = "CSS",
                                  .ending = css_ending,
                                  .option = "swatches",
                                  .modeless = true,
                                  .palette = true,
                                  .begin = css_begin,
                                  .end = css_end,
                                  .write = write_css};

static const char json_begin[] = "{\n\"swatches\": ", json_end[] = "\n]\n}\n";

/*
 * Writes JSON, one key or one colour per line. `swatches` has the provenance comment.
 *
 *     {"swatches": "barcode:film=...", "name": "film.mkv",
 *      "colours": [{"hex": "#1a2b3c", "rgb": [26, 43, 60], "share": 0.123456}...]}
 */
static bool write_swatches(const struct report *r, struct strips strips, FILE *f, struct err *e)
{
    (void)strips;
    const struct film_palette *p = &r->media.palette;
    char name[SWATCHES_NAME];
    char provenance[PROVENANCE_TEXT];
    film_name(r, name);
    provenance_text(r, 0, provenance);
    bool ok = fputs(json_begin, f) != EOF && writer_json_put(f, json_string(provenance)) &&
              fputs(",\n\"name\": ", f) != EOF && writer_json_put(f, writer_json_bytes(name)) &&
              fputs(",\n\"colours\": [", f) != EOF;
    for (int i = 0; ok && i < p->count; i++) {
        const struct film_colour *c = &p->colour[i];
        char hex[PAINT_HEX];
        paint_text_hex(c->rgb, hex);
        json_t *value = json_pack("{ss s[iii] so}", "hex", hex, "rgb", c->rgb[0], c->rgb[1],
                                  c->rgb[2], "share", writer_json_us(share_of(c, 1000000)));
        ok = fputs(i == 0 ? "\n" : ",\n", f) != EOF && writer_json_put(f, value);
    }
    if (ok && fputs(json_end, f) != EOF)
        return true;
    return writer_failed(e);
}

/* -o x.json is refused: the last part of the ending is only for --swatches. */
static const char *const json_ending[] = {"swatches.json", NULL};

const struct writer writer_swatches = {.name = "swatches-json",
                                       .title = "JSON",
                                       .ending = json_ending,
                                       .option = "swatches",
                                       .modeless = true,
                                       .palette = true,
                                       .begin = json_begin,
                                       .end = json_end,
                                       .write = write_swatches};
