
#include "output/writer.h"
#include "provenance.h"
#include "output/palette/swatches.h"

static const char begin[] = "/*\n", end[] = "}\n";

/* Writes one stripe per colour, as wide as its share: "#aabbcc 0% 12.3%". */
static void put_gradient(const struct film_palette *p, FILE *f)
{
    uint64_t below = 0;
    fputs("  --film-palette: linear-gradient(to right", f);
    for (int i = 0; i < p->count; i++) {
        char hex[SWATCHES_TEXT];
        uint32_t from = (uint32_t)((below * 1000 + FILM_PALETTE_PIXELS / 2) / FILM_PALETTE_PIXELS);
        below += p->colour[i].share;
        uint32_t to = (uint32_t)((below * 1000 + FILM_PALETTE_PIXELS / 2) / FILM_PALETTE_PIXELS);
        swatches_hex(&p->colour[i], hex);
        fprintf(f, ", %s %u.%u%% %u.%u%%", hex, from / 10, from % 10, to / 10, to % 10);
    }
    fputs(");\n", f);
}

/* Writes custom properties: --film-1 is the lightest colour, --film-1-share its share, and
 * --film-palette a background of all colours. */
static bool write_css(const struct report *r, struct strips strips, FILE *f, struct err *e)
{
    (void)strips;
    const struct film_palette *p = &r->palette;
    char provenance[PROVENANCE_TEXT];
    provenance_text(r, 0, provenance);
    /* Without the film's name, which could end the comment. */
    fprintf(f, "%s * %s\n */\n:root {\n", begin, provenance);
    for (int i = 0; i < p->count; i++) {
        char hex[SWATCHES_TEXT];
        swatches_hex(&p->colour[i], hex);
        uint32_t share = swatches_share(&p->colour[i], 1000);
        fprintf(f, "  --film-%d: %s;\n  --film-%d-share: %u.%u%%;\n", i + 1, hex, i + 1, share / 10,
                share % 10);
    }
    put_gradient(p, f);
    return (fputs(end, f) != EOF && !ferror(f)) || swatches_failed(e);
}

static bool recognize_css(const uint8_t *head, size_t size, char film[FILM_ID_TEXT])
{
    return provenance_recognizes(head, size, begin, film);
}

static bool read_css_metadata(FILE *f, struct writer_metadata *metadata)
{
    return provenance_read(f, begin, end, metadata);
}

static const char *const ending[] = {"css", NULL};

const struct writer writer_css = {.name = "css",
                                  .title = "CSS",
                                  .ending = ending,
                                  .option = "swatches",
                                  .modeless = true,
                                  .palette = true,
                                  .recognizes = recognize_css,
                                  .read_metadata = read_css_metadata,
                                  .write = write_css};
