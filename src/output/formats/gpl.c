#include <stdio.h>

#include "barcode/output/writer.h"
#include "provenance.h"
#include "output/palette/swatches.h"

/*
 * GIMP's palette, as its own files have it (libgimp's gimppalette-load.c reads it): head, name, columns, comments, then a line a colour: R G B, a tab, a name. Inkscape,
 * Krita, MyPaint and others read it, too.
 */
static const char begin[] = "GIMP Palette\n", end[] = "# end\n";

static bool write_gpl(const struct report *r, struct strips strips, FILE *f, struct err *e)
{
    (void)strips;
    struct swatches s;
    char mark[MARK_TEXT];
    if (!swatches_make(r, &s, e))
        return false;
    mark_text(r, 0, mark);
    fprintf(f, "%sName: %s\nColumns: %d\n#\n# %s\n#\n", begin, s.name, s.palette.count, mark);
    for (int i = 0; i < s.palette.count; i++) {
        const struct film_colour *c = &s.palette.colour[i];
        char hex[SWATCHES_TEXT], percent[SWATCHES_TEXT];
        swatches_hex(c, hex);
        swatches_percent(c, percent);
        fprintf(f, "%3d %3d %3d\t%s %s\n", c->rgb[0], c->rgb[1], c->rgb[2], hex, percent);
    }
    return (fputs(end, f) != EOF && !ferror(f)) || swatches_failed(e);
}

static bool is_ours(const uint8_t *head, size_t size, char film[FILM_ID_TEXT])
{
    return mark_ours(head, size, begin, film);
}

static bool read_told(FILE *f, struct writer_told *told)
{
    return mark_told(f, begin, end, told);
}

static const char *const ending[] = {"gpl", NULL};

const struct writer writer_gpl = {
    .name = "gpl", .title = "GIMP palette", .ending = ending, .option = "swatches",
    .modeless = true, .needs = STRIP_CLUSTERS, .ours = is_ours, .told = read_told, .write = write_gpl
};
