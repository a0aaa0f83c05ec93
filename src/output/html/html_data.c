#include <errno.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/version.h"
#include "barcode/engine/colour.h"
#include "output/text/labels.h"
#include "output/formats/json_sound.h"
#include "html.h"

/* ---- facts ---- */

static json_t *film_value(const struct html_job *job)
{
    const struct report *r = job->report;
    const struct film *film = r->film;
    static const char *const transfer[] = {"sdr", "pq", "hlg"};
    char crop[CROP_RECTS * (CROP_TEXT + 1)] = "";
    for (int i = 0; i < r->crop.count; i++) {
        char text[CROP_TEXT];
        crop_shown_text(&r->crop, i, film->orientation, text);
        snprintf(crop + strlen(crop), sizeof crop - strlen(crop), "%s%s", i > 0 ? " " : "", text);
    }
    json_t *rate = film->rate_num > 0 && film->rate_den > 0
                       ? json_real((double)film->rate_num / (double)film->rate_den)
                       : json_null();
    return json_pack(
        "{so so so so so so so si si so ss ss ss ss}", "name",
        writer_json_bytes(paint_text_file_name(film->path)), "title",
        writer_json_bytes(film->title), "id", writer_json_bytes(r->film_id[0] ? r->film_id : NULL),
        "container", writer_json_bytes(film->container), "codec", writer_json_bytes(film->codec),
        "pixel_format", writer_json_bytes(film->pixel_format), "length", html_length(job), "width",
        film->width, "height", film->height, "rate", rate, "matrix",
        colour_matrix_name(film->matrix), "range", colour_range_name(film->range), "transfer",
        transfer[film->transfer], "crop", crop);
}

/* Returns the time at which the selection ends, or null if that is the film's end. */
static json_t *selection_end(const struct report *r)
{
    bool early = r->selection.end_us < film_length_end(&r->film->length);
    return early ? writer_json_us(r->selection.end_us) : json_null();
}

/* Returns the parameters for display. They do not depend on the engine or on time. */
static json_t *run_value(const struct html_job *job)
{
    const struct report *r = job->report;
    const struct kmeans_params *k = &r->kmeans;
    char selection[200], seed[24];
    bool hdr = r->film->transfer != TRANSFER_SDR;
    paint_text_selection(&r->selection, selection, sizeof selection);
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)k->seed);
    json_t *map = hdr ? json_string(light_map_name(r->light.map)) : NULL;
    json_t *peak = hdr && r->light.map != TONE_OFF ? json_integer(r->light.peak) : NULL;
    return json_pack("{ss so so so so si si sb si si ss sb ss si so* so* sb}", "version",
                     BARCODE_VERSION, "recipe", writer_json_bytes(r->fingerprint), "selection",
                     writer_json_bytes(selection), "start", writer_json_us(r->selection.start_us),
                     "end", selection_end(r), "width", r->width, "height", r->height, "clustered",
                     (r->needs & STRIP_CLUSTERS) != 0, "k", k->k, "n_init", k->n_init, "init",
                     kmeans_init_name(k->init), "race", (int)k->race, "seed", seed, "steady",
                     r->steady, "tone_map", map, "hdr_peak", peak, "linear", (int)r->light.linear);
}

static json_t *modes_value(const struct html_job *job)
{
    json_t *list = json_array();
    for (size_t i = 0; list && i < job->strips.count; i++) {
        const struct strip_kind *kind = job->strips.kind[i];
        bool sound = kind->needs & STRIP_SOUND;
        char note[200] = "";
        kind->note(job->report, note, sizeof note);
        if (json_array_append_new(list, json_pack("{ss ss ss so*}", "name", kind->name, "title",
                                                  kind->title, "note", note, "sound",
                                                  sound ? json_true() : NULL)) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

/* Returns the number of clusters per column in the page. */
static int clusters_kept(const struct html_job *job)
{
    uint64_t most = PAGE_COLOURS / job->columns;
    int k = job->report->kmeans.k;
    if (!(job->report->needs & STRIP_CLUSTERS))
        return 0;
    return (uint64_t)k <= most || k <= 8 ? k : most < 8 ? 8 : (int)most;
}

static json_t *thumbnails_value(const struct html_job *job)
{
    const struct thumbs_sheets *t = &job->thumbs;
    return t->count == 0 ? json_null()
                         : json_pack("{si si sI}", "width", t->width, "height", t->height, "sheets",
                                     (json_int_t)t->sheets);
}

static bool put_facts(struct html_job *job, FILE *f)
{
    const struct report *r = job->report;
    uint64_t lost = r->counts.unreadable + r->counts.dropped + r->counts.lead_in;
    return page_put_json(f, "film",
                         json_pack("{so so so so so sI sI sI sI si sb so*}", "thumbnails",
                                   thumbnails_value(job), "film", film_value(job), "run",
                                   run_value(job), "modes", modes_value(job), "palette",
                                   html_palette_value(job), "columns", (json_int_t)job->columns,
                                   "film_columns", (json_int_t)r->count, "missing",
                                   (json_int_t)r->missing, "lost", (json_int_t)lost, "clusters",
                                   clusters_kept(job), "dominant", (r->needs & STRIP_DOMINANT) != 0,
                                   "sound", (r->needs & STRIP_SOUND) ? json_sound_value(r) : NULL));
}

/* ---- columns ---- */

/* Writes little-endian, the byte order of typed arrays in all browsers. */
static size_t put_u32(uint8_t *to, uint64_t value)
{
    uint32_t v = value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(v >> 8 * i);
    return 4;
}

static size_t take_times(const struct html_job *job, const struct column *c, uint64_t x,
                         uint8_t *to)
{
    (void)job;
    return put_u32(to, column_untold(c, x) ? UINT32_MAX
                                           : (uint64_t)(c->time_us < 0 ? 0 : c->time_us) / 1000);
}

static size_t take_frames(const struct html_job *job, const struct column *c, uint64_t x,
                          uint8_t *to)
{
    (void)job;
    return put_u32(to, column_untold(c, x) ? UINT32_MAX : c->frame);
}

/* Writes the status, the number of clusters in the page, and the index of the chosen cluster. */
static size_t take_states(const struct html_job *job, const struct column *c, uint64_t x,
                          uint8_t *to)
{
    int kept = clusters_kept(job),
        there = kept > 0 && c->status != COLUMN_MISSING && c->cluster ? c->clusters : 0;
    (void)x;
    to[0] = c->status;
    to[1] = (uint8_t)(there < kept ? there : kept);
    to[2] = kept > 0 ? c->chosen : 0;
    return 3;
}

static size_t take_averages(const struct html_job *job, const struct column *c, uint64_t x,
                            uint8_t *to)
{
    (void)x;
    memcpy(to, c->average, 3);
    if (!(job->report->needs & STRIP_DOMINANT))
        return 3;
    memcpy(to + 3, c->dominant, 3);
    return 6;
}

/* Writes the clusters: colour, and share of the column in 65535ths. Unused places are zero. */
static size_t take_clusters(const struct html_job *job, const struct column *c, uint64_t x,
                            uint8_t *to)
{
    int kept = clusters_kept(job),
        there = kept > 0 && c->status != COLUMN_MISSING && c->cluster ? c->clusters : 0;
    uint64_t total = 0;
    (void)x;
    memset(to, 0, (size_t)kept * 5);
    for (int i = 0; i < there; i++)
        total += c->cluster[i].count;
    for (int i = 0; i < there && i < kept; i++) {
        uint64_t share = (65535 * (uint64_t)c->cluster[i].count + total / 2) / total;
        uint8_t *one = to + (size_t)i * 5;
        memcpy(one, c->cluster[i].rgb, 3);
        one[3] = (uint8_t)share;
        one[4] = (uint8_t)(share >> 8);
    }
    return (size_t)kept * 5;
}

/* Writes loudness and peak in tenths, and the centroid in Hz. */
static size_t take_sound(const struct html_job *job, const struct column *c, uint64_t x,
                         uint8_t *to)
{
    struct sound_row row;
    (void)c;
    column_sound_at(&job->sound, html_column_index(job, x), &row);
    const uint16_t value[] = {(uint16_t)row.loudness, (uint16_t)row.peak, row.centroid};
    for (size_t k = 0; k < sizeof value / sizeof *value; k++) {
        to[2 * k] = (uint8_t)value[k];
        to[2 * k + 1] = (uint8_t)(value[k] >> 8);
    }
    return sizeof value;
}

/* An array of the page. `take` writes at most 5 * CLUSTERS_MAX bytes per column. */
struct array {
    const char *id;
    size_t (*take)(const struct html_job *job, const struct column *c, uint64_t x, uint8_t *to);
};

static bool put_array(struct html_job *job, const struct array *a, FILE *f)
{
    struct page_base64 b = {.file = f};
    uint8_t bytes[5 * CLUSTERS_MAX];
    if (fprintf(f, "<script type=\"text/plain\" id=\"%s\">", a->id) < 0)
        return false;
    for (uint64_t x = 0; x < job->columns; x++) {
        if (!page_base64_put(&b, bytes, a->take(job, html_column(job, x), x, bytes)))
            return false;
    }
    return page_base64_end(&b) && fputs("</script>\n", f) != EOF;
}

/* ---- thumbnails ---- */

/* Returns the number of bytes in the page that are available for thumbnails. */
static size_t thumbs_bytes(const struct html_job *job)
{
    size_t columns =
               (size_t)job->columns * (size_t)(4 + 4 + 3 + 6 + 5 * clusters_kept(job)) / 3 * 4,
           used = job->used + columns;
    size_t left = used < PAGE_BYTES ? (PAGE_BYTES - used) / 4 * 3 : 0;
    return left < PAGE_THUMBS ? PAGE_THUMBS : left > PAGE_THUMBS_MOST ? PAGE_THUMBS_MOST : left;
}

static bool make_thumbs(struct html_job *job)
{
    const struct report *r = job->report;
    return !r->thumbs || thumbs_sheets(r->thumbs, r, 0, thumbs_bytes(job), &job->thumbs, job->err);
}

/* Writes for each thumbnail: its first column (of the film), its time in ms, its sheet, and its
 * position there. */
static bool put_places(const struct html_job *job, FILE *f)
{
    struct page_base64 b = {.file = f};
    if (fputs("<script type=\"text/plain\" id=\"thumbs\">", f) == EOF)
        return false;
    for (size_t i = 0; i < job->thumbs.count; i++) {
        const struct thumb *t = &job->thumbs.thumb[i];
        const uint64_t value[] = {t->first, (uint64_t)(t->time_us < 0 ? 0 : t->time_us) / 1000,
                                  t->sheet, (uint64_t)t->x, (uint64_t)t->y};
        for (size_t k = 0; k < sizeof value / sizeof *value; k++) {
            uint8_t bytes[4];
            if (!page_base64_put(&b, bytes, put_u32(bytes, value[k])))
                return false;
        }
    }
    return page_base64_end(&b) && fputs("</script>\n", f) != EOF;
}

static bool put_sheets(const struct html_job *job, FILE *f)
{
    for (size_t i = 0; i < job->thumbs.sheets; i++) {
        const struct jpeg *sheet = &job->thumbs.sheet[i];
        struct page_base64 b = {.file = f};
        if (fprintf(f, "<script type=\"text/plain\" id=\"sheet-%zu\">", i) < 0 ||
            !page_base64_put(&b, sheet->data, sheet->size) || !page_base64_end(&b) ||
            fputs("</script>\n", f) == EOF)
            return false;
    }
    return true;
}

bool html_put_data(struct html_job *job, FILE *f)
{
    static const struct array array[] = {
        {"times", take_times},    {"frames", take_frames},     {"states", take_states},
        {"means", take_averages}, {"clusters", take_clusters}, {"sound", take_sound},
    };
    size_t arrays = sizeof array / sizeof *array - (job->sound.sound ? 0 : 1);
    bool done = make_thumbs(job) && put_facts(job, f);
    for (size_t i = 0; i < arrays && done; i++) {
        if (interrupted())
            return interrupt_error(job->err);
        done = put_array(job, &array[i], f);
    }
    return done && put_places(job, f) && put_sheets(job, f);
}
