#include <stdio.h>

#include "output/writer.h"
#include "provenance.h"
#include "output/palette/swatches.h"

/* A GIMP palette, as read by libgimp's gimppalette-load.c: header, name, columns, comments, then
 * one line per colour: R G B, a tab, a name. Inkscape, Krita, MyPaint and others read it, too. */
static const char begin[] = "GIMP Palette\n", end[] = "# end\n";

static bool write_gpl(const struct report *r, struct strips strips, FILE *f, struct err *e)
{
    (void)strips;
    const struct film_palette *p = &r->palette;
    char name[SWATCHES_NAME];
    char provenance[PROVENANCE_TEXT];
    swatches_name(r, name);
    provenance_text(r, 0, provenance);
    fprintf(f, "%sName: %s\nColumns: %d\n#\n# %s\n#\n", begin, name, p->count, provenance);
    for (int i = 0; i < p->count; i++) {
        const struct film_colour *c = &p->colour[i];
        char hex[SWATCHES_TEXT], percent[SWATCHES_TEXT];
        swatches_hex(c, hex);
        swatches_percent(c, percent);
        fprintf(f, "%3d %3d %3d\t%s %s\n", c->rgb[0], c->rgb[1], c->rgb[2], hex, percent);
    }
    return (fputs(end, f) != EOF && !ferror(f)) || swatches_failed(e);
}

static bool recognize_gpl(const uint8_t *head, size_t size, char film[FILM_ID_TEXT])
{
    return provenance_recognizes(head, size, begin, film);
}

static bool read_gpl_metadata(FILE *f, struct writer_metadata *metadata)
{
    return provenance_read(f, begin, end, metadata);
}

static const char *const ending[] = {"gpl", NULL};

const struct writer writer_gpl = {.name = "gpl",
                                  .title = "GIMP palette",
                                  .ending = ending,
                                  .option = "swatches",
                                  .modeless = true,
                                  .palette = true,
                                  .recognizes = recognize_gpl,
                                  .read_metadata = read_gpl_metadata,
                                  .write = write_gpl};
