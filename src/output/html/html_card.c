#include <stdlib.h>
#include <string.h>

#include "output/text/labels.h"
#include "output/palette/swatches.h"
#include "html.h"

json_t *html_length(const struct html_job *job)
{
    const struct film_length *l = &job->report->film->length;
    int64_t last = html_column(job, job->columns - 1)->time_us;
    return writer_json_us(l->duration_us > 0 && film_length_end(l) > last ? film_length_end(l)
                                                                          : last);
}

json_t *html_palette_value(const struct html_job *job)
{
    json_t *list = json_array();
    for (int i = 0; list && i < job->report->palette.count; i++) {
        const struct film_colour *c = &job->report->palette.colour[i];
        char text[SWATCHES_TEXT];
        swatches_hex(c, text);
        if (json_array_append_new(list, json_pack("[si]", text, (int)c->share)) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

/* Writes a colour and its share, in 255ths, as four bytes. */
static void put_colour(uint8_t to[4], const uint8_t rgb[3], uint64_t count, uint64_t total)
{
    memcpy(to, rgb, 3);
    to[3] = (uint8_t)((255 * count + total / 2) / total);
}

/* Writes the CARD_COLOURS largest colours of a column that has a frame. Unused places have a share
 * of 0. */
static void take_moment(const struct html_job *job, const struct column *c,
                        uint8_t to[CARD_COLOURS][4])
{
    uint64_t total = 0;
    bool clusters = (job->report->needs & STRIP_CLUSTERS) && c->cluster && c->clusters > 0;
    memset(to, 0, (size_t)CARD_COLOURS * 4);
    for (int i = 0; clusters && i < c->clusters; i++)
        total += c->cluster[i].count;
    for (int i = 0; clusters && i < c->clusters && i < CARD_COLOURS; i++)
        put_colour(to[i], c->cluster[i].rgb, c->cluster[i].count, total);
    if (!clusters)
        put_colour(to[0], job->report->needs & STRIP_DOMINANT ? c->dominant : c->average, 1, 1);
}

/* Returns bytes as a JSON string in base64, or NULL if out of memory. */
static json_t *base64_value(const void *data, size_t size)
{
    char *text = NULL;
    size_t length;
    FILE *f = open_memstream(&text, &length);
    struct page_base64 b = {.file = f};
    bool done = f && page_base64_put(&b, data, size) && page_base64_end(&b);
    done = f && fclose(f) == 0 && done;
    json_t *value = done ? json_string_nocheck(text) : NULL;
    free(text);
    return value;
}

/* Returns the film at CARD_MOMENTS places: "moments" has their colours, "times" their seconds. A
 * place without a frame is skipped. */
static json_t *moments_value(const struct html_job *job)
{
    uint8_t colour[CARD_MOMENTS][CARD_COLOURS][4];
    uint64_t count = job->columns < CARD_MOMENTS ? job->columns : CARD_MOMENTS;
    size_t used = 0;
    json_t *times = json_array();
    bool ok = times;
    for (uint64_t i = 0; ok && i < count; i++) {
        const struct column *c = html_column(job, (2 * i + 1) * job->columns / (2 * count));
        if (c->status == COLUMN_MISSING)
            continue;
        take_moment(job, c, colour[used++]);
        ok = json_array_append_new(times, json_integer((json_int_t)(c->time_us / 1000000))) == 0;
    }
    if (ok)
        return json_pack("{so so}", "colours", base64_value(colour, used * sizeof *colour), "times",
                         times);
    json_decref(times);
    return NULL;
}

/* Returns the strip of the mode that was asked for, which is the page's first. */
static json_t *strip_value(struct html_job *job)
{
    char *text = NULL;
    size_t length;
    FILE *f = open_memstream(&text, &length);
    const struct strip_kind *kind = job->strips.kind[0];
    uint64_t most = kind->flat ? CARD_WIDTH : CARD_ROWS_WIDTH;
    int width = (int)(job->columns < most ? job->columns : most);
    bool done = f && html_put_png(job, kind, width, kind->flat ? 1 : CARD_ROWS, f);
    done = f && fclose(f) == 0 && done;
    json_t *value = done ? json_string_nocheck(text) : NULL;
    free(text);
    return value;
}

bool html_put_card(struct html_job *job, FILE *f)
{
    const struct report *r = job->report;
    return page_put_json(f, "card",
                         json_pack("{so so so so sI so so so}", "name",
                                   writer_json_bytes(paint_text_file_name(r->film->path)), "title",
                                   writer_json_bytes(r->film->title), "id",
                                   writer_json_bytes(r->film_id[0] ? r->film_id : NULL), "length",
                                   html_length(job), "columns", (json_int_t)r->count, "palette",
                                   html_palette_value(job), "strip", strip_value(job), "moments",
                                   moments_value(job)));
}
