#include <stdio.h>
#include <string.h>

#include "barcode/output/writer.h"
#include "output/palette/swatches.h"

/*
 * Adobe Swatch Exchange, version 1.0. Adobe has published no text; this is what its programs and
 * others read (Adobe's forum; https://www.selapa.net/swatches/colors/fileformats.php). All numbers
 * are big-endian:
 *
 *     "ASEF", u16 1, u16 0, u32 blocks; a block: u16 kind, u32 bytes that follow
 *     group begins (0xC001): name; group ends (0xC002): nothing
 *     colour (0x0001): name, "RGB ", three float32 of 0..1, u16 0 (a global colour)
 *     name: u16 units, with the zero at its end, then UTF-16
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

/* v / 255 as IEEE 754 has it. A float's bytes are its number's: only their order is ours. */
static void put_share_of_255(FILE *f, uint8_t v)
{
    float value = (float)v / 255.0f;
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    put32(f, bits);
}

/* Valid UTF-8 as UTF-16, zero included; returns how many units. */
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

/* A block's head and its name; `rest`: bytes behind the name. */
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
    struct swatches s;
    if (!swatches_make(r, &s, e))
        return false;
    fputs("ASEF", f);
    put16(f, 1);
    put16(f, 0);
    put32(f, (uint32_t)s.palette.count + 2);
    put_named(f, GROUP_BEGINS, s.name, 0);
    for (int i = 0; i < s.palette.count; i++) {
        const struct film_colour *c = &s.palette.colour[i];
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

/* The format has no place for a mark: none of its files counts as barcode's. */
const struct writer writer_ase = {.name = "ase",
                                  .title = "Adobe Swatch Exchange",
                                  .ending = ending,
                                  .binary = true,
                                  .option = "swatches",
                                  .modeless = true,
                                  .needs = STRIP_CLUSTERS,
                                  .write = write_ase};
