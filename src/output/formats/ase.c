#include <stdio.h>
#include <string.h>

#include "output/writer.h"
#include "output/palette/swatches.h"

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
        int more = *p < 0x80 ? 0 : *p < 0xe0 ? 1 : *p < 0xf0 ? 2 : 3;
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
    const struct film_palette *p = &r->palette;
    char film[SWATCHES_NAME];
    swatches_name(r, film);
    fputs("ASEF", f);
    put16(f, 1);
    put16(f, 0);
    put32(f, (uint32_t)p->count + 2);
    put_named(f, GROUP_BEGINS, film, 0);
    for (int i = 0; i < p->count; i++) {
        const struct film_colour *c = &p->colour[i];
        char name[2 * SWATCHES_TEXT + 1], hex[SWATCHES_TEXT], percent[SWATCHES_TEXT];
        swatches_hex(c, hex);
        swatches_percent(c, percent);
        snprintf(name, sizeof name, "%s %s", hex, percent);
        put_named(f, COLOUR, name, 4 + 3 * 4 + 2);
        fputs("RGB ", f);
        for (int channel = 0; channel < 3; channel++)
            put_share_of_255(f, c->rgb[channel]);
        put16(f, 0);
    }
    put16(f, GROUP_ENDS);
    put32(f, 0);
    return !ferror(f) || swatches_failed(e);
}

static const char *const ending[] = {"ase", NULL};

/* The format has no comments, so none of its files counts as barcode's. */
const struct writer writer_ase = {.name = "ase",
                                  .title = "Adobe Swatch Exchange",
                                  .ending = ending,
                                  .binary = true,
                                  .option = "swatches",
                                  .modeless = true,
                                  .palette = true,
                                  .write = write_ase};
