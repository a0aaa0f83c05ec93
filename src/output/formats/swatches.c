#include <stdio.h>

#include "output/writer.h"
#include "provenance.h"
#include "output/palette/swatches.h"
#include "json.h"

static const char begin[] = "{\n\"swatches\": ", end[] = "\n]\n}\n";

/*
 * Writes JSON, one key or one colour per line. `swatches` has the provenance comment.
 *
 *     {"swatches": "barcode:film=...", "name": "film.mkv",
 *      "colours": [{"hex": "#1a2b3c", "rgb": [26, 43, 60], "share": 0.123456}...]}
 */
static bool write_swatches(const struct report *r, struct strips strips, FILE *f, struct err *e)
{
    (void)strips;
    const struct film_palette *p = &r->palette;
    char name[SWATCHES_NAME];
    char provenance[PROVENANCE_TEXT];
    swatches_name(r, name);
    provenance_text(r, 0, provenance);
    bool ok = fputs(begin, f) != EOF && writer_json_put(f, json_string(provenance)) &&
              fputs(",\n\"name\": ", f) != EOF && writer_json_put(f, writer_json_bytes(name)) &&
              fputs(",\n\"colours\": [", f) != EOF;
    for (int i = 0; ok && i < p->count; i++) {
        const struct film_colour *c = &p->colour[i];
        char hex[SWATCHES_TEXT];
        swatches_hex(c, hex);
        json_t *value = json_pack("{ss s[iii] so}", "hex", hex, "rgb", c->rgb[0], c->rgb[1],
                                  c->rgb[2], "share", writer_json_us(swatches_share(c, 1000000)));
        ok = fputs(i == 0 ? "\n" : ",\n", f) != EOF && writer_json_put(f, value);
    }
    return (ok && fputs(end, f) != EOF) || swatches_failed(e);
}

static bool recognize_swatches(const uint8_t *head, size_t size, char film[FILM_ID_TEXT])
{
    return provenance_recognizes(head, size, begin, film);
}

static bool read_swatches_metadata(FILE *f, struct writer_metadata *metadata)
{
    return provenance_read(f, begin, end, metadata);
}

/* No ending: -o x.json writes an image with that name, and --swatches selects JSON by .json. */
const struct writer writer_swatches = {.name = "swatches-json",
                                       .title = "JSON",
                                       .option = "swatches",
                                       .modeless = true,
                                       .palette = true,
                                       .recognizes = recognize_swatches,
                                       .read_metadata = read_swatches_metadata,
                                       .write = write_swatches};
