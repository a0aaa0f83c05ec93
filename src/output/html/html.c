/*
 * html.c - the page of a film. A page has its own columns: all columns of the film, or PAGE_COLUMNS
 * evenly spaced ones if the film has more. If shots are as wide as their time (axis_by_time), they
 * are PAGE_MOMENTS moments, evenly spaced in time, and the film's columns are the same.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "barcode/engine/colour.h"
#include "base/interrupt.h"
#include "base/version.h"
#include "output/formats/images.h"
#include "output/formats/provenance.h"
#include "output/formats/thumbs.h"
#include "output/modes/shot_marks.h"
#include "output/modes/time_axis.h"
#include "output/poster/labels.h"
#include "html_template.h"

enum {
    /* approximate size of a page, if strips and columns leave PAGE_THUMBS or more for thumbnails */
    PAGE_BYTES = 5900000,
    /* bytes of the thumbnail sheets, at least and at most; more improves nothing visible */
    PAGE_THUMBS = 800000,
    PAGE_THUMBS_MOST = 2400000,
    PAGE_MOMENTS = 4000,
    PAGE_COLOURS = 160000, /* clusters of all columns together, but at least 8 per column */
    CARD_WIDTH = 480,      /* of a strip on a card */
    /* of one whose rows differ: some 8 KB */
    CARD_ROWS_WIDTH = 320,
    CARD_ROWS = 16,
    CARD_MOMENTS = 64,
    CARD_COLOURS = 3
};

/* A page that is being written. */
struct html_job {
    const struct report *report;
    struct strips strips;
    struct err *err;             /* the reason for a failure, unless errno has it */
    uint64_t columns;            /* of the page: 1..PAGE_COLUMNS */
    uint64_t film_columns;       /* that the page says it shows */
    uint32_t *under;             /* [columns]: the report's column of each column of the page */
    int64_t *edge;               /* [film_columns + 1]: their times if columns are shots; or NULL */
    size_t used;                 /* bytes of the strips as base64 */
    struct thumbs_sheets thumbs; /* count 0: none */
    struct column_sound sound;   /* if the page shows it */
};

/* Returns the report's column under column x (0..columns - 1) of the page. */
static const struct column *column_under(const struct html_job *job, uint64_t x)
{
    return columns_get(job->report->columns, job->under[x]);
}

/* Writes a strip as a PNG of `width` x `height` pixels in base64. */
static bool put_png(struct html_job *job, const struct strip_kind *kind, int width, int height,
                    FILE *f)
{
    struct report r = *job->report;
    char *bytes = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&bytes, &size);
    if (!memory)
        return false;
    r.picture.width = width;
    r.picture.height = height;
    /* a page shows time from left to right, whatever the shape of the image is */
    r.poster.wanted = false;
    r.picture.shape = SHAPE_STRIP;
    bool done = writer_png_bare(&r, (struct strips){&kind, 1}, memory, job->err);
    done = fclose(memory) == 0 && done && page_put_base64(f, bytes, size);
    job->used += (size + 2) / 3 * 4;
    free(bytes);
    return done;
}

/* Returns the length of the film in seconds, or the time of its last column if that is later. */
static json_t *length_value(const struct html_job *job)
{
    const struct film_length *l = &job->report->film->length;
    int64_t last = column_under(job, job->columns - 1)->time_us;
    return writer_json_us(l->duration_us > 0 && film_length_end(l) > last ? film_length_end(l)
                                                                          : last);
}

/* Returns [["#rrggbb", share of 2^20]...], lightest first, or NULL if out of memory. */
static json_t *palette_value(const struct html_job *job)
{
    json_t *list = json_array();
    for (int i = 0; i < job->report->media.palette.count; i++) {
        const struct film_colour *c = &job->report->media.palette.colour[i];
        char text[PAINT_HEX];
        paint_text_hex(c->rgb, text);
        list = writer_json_append(list, json_pack("[si]", text, (int)c->share));
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
static void pick_moment(const struct html_job *job, const struct column *c,
                        uint8_t to[CARD_COLOURS][4])
{
    uint64_t total = 0;
    bool clusters = (job->report->analysis.needs & STRIP_CLUSTERS) && c->cluster && c->clusters > 0;
    memset(to, 0, (size_t)CARD_COLOURS * 4);
    for (int i = 0; clusters && i < c->clusters; i++)
        total += c->cluster[i].count;
    for (int i = 0; clusters && i < c->clusters && i < CARD_COLOURS; i++)
        put_colour(to[i], c->cluster[i].rgb, c->cluster[i].count, total);
    if (!clusters)
        put_colour(to[0], job->report->analysis.needs & STRIP_DOMINANT ? c->dominant : c->average,
                   1, 1);
}

/* Returns what was written to `f` as a JSON string, or NULL if not `done` or out of memory. Closes
 * `f`, which may be NULL, and frees `*text`. */
static json_t *written_value(FILE *f, bool done, char **text)
{
    done = f && fclose(f) == 0 && done;
    json_t *value = done ? json_string_nocheck(*text) : NULL;
    free(*text);
    return value;
}

/* Returns bytes as a JSON string in base64, or NULL if out of memory. */
static json_t *base64_value(const void *data, size_t size)
{
    char *text = NULL;
    size_t length;
    FILE *f = open_memstream(&text, &length);
    return written_value(f, f && page_put_base64(f, data, size), &text);
}

/* Returns the film at CARD_MOMENTS places: "moments" has their colours, "times" their seconds. A
 * place without a frame is skipped. */
static json_t *moments_value(const struct html_job *job)
{
    uint8_t colour[CARD_MOMENTS][CARD_COLOURS][4];
    uint64_t count = job->columns < CARD_MOMENTS ? job->columns : CARD_MOMENTS;
    size_t used = 0;
    json_t *times = json_array();
    for (uint64_t i = 0; i < count; i++) {
        const struct column *c = column_under(job, (2 * i + 1) * job->columns / (2 * count));
        if (c->status == COLUMN_MISSING)
            continue;
        pick_moment(job, c, colour[used++]);
        times = writer_json_append(times, json_integer((json_int_t)(c->time_us / 1000000)));
    }
    return json_pack("{so so}", "colours", base64_value(colour, used * sizeof *colour), "times",
                     times);
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
    bool done = f && put_png(job, kind, width, kind->flat ? 1 : CARD_ROWS, f);
    return written_value(f, done, &text);
}

/* Writes what a gallery needs of the film, as JSON with the id "card", into the page's head. */
static bool put_card(struct html_job *job, FILE *f)
{
    const struct report *r = job->report;
    return page_put_json(f, "card",
                         json_pack("{so so so so sI so so so}", "name",
                                   writer_json_bytes(paint_text_file_name(r->film->path)), "title",
                                   writer_json_bytes(r->film->title), "id",
                                   writer_json_bytes(r->id.film_id[0] ? r->id.film_id : NULL),
                                   "length", length_value(job), "columns", (json_int_t)r->count,
                                   "palette", palette_value(job), "strip", strip_value(job),
                                   "moments", moments_value(job)));
}

/* ---- facts ---- */

static json_t *film_value(const struct html_job *job)
{
    const struct report *r = job->report;
    const struct film *film = r->film;
    static const char *const transfer[] = {"sdr", "pq", "hlg"};
    char crop[CROP_RECTS * (CROP_TEXT + 1)];
    paint_text_crop(r, crop, sizeof crop);
    json_t *rate = film->rate_num > 0 && film->rate_den > 0
                       ? json_real((double)film->rate_num / (double)film->rate_den)
                       : json_null();
    return json_pack(
        "{so so so so so so so si si so ss ss ss ss}", "name",
        writer_json_bytes(paint_text_file_name(film->path)), "title",
        writer_json_bytes(film->title), "id",
        writer_json_bytes(r->id.film_id[0] ? r->id.film_id : NULL), "container",
        writer_json_bytes(film->container), "codec", writer_json_bytes(film->codec), "pixel_format",
        writer_json_bytes(film->pixel_format), "length", length_value(job), "width", film->width,
        "height", film->height, "rate", rate, "matrix", colour_matrix_name(film->matrix), "range",
        colour_range_name(film->range), "transfer", transfer[film->transfer], "crop", crop);
}

/* Returns the time at which the selection ends, or null if that is the film's end. */
static json_t *selection_end(const struct report *r)
{
    bool early = r->analysis.selection.end_us < film_length_end(&r->film->length);
    return early ? writer_json_us(r->analysis.selection.end_us) : json_null();
}

/* Returns the parameters for display. They do not depend on the engine or on time. */
static json_t *run_value(const struct html_job *job)
{
    const struct report *r = job->report;
    const struct kmeans_params *k = &r->analysis.kmeans;
    char selection[200], seed[24];
    bool hdr = r->film->transfer != TRANSFER_SDR;
    paint_text_selection(&r->analysis.selection, selection, sizeof selection);
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)k->seed);
    json_t *map = hdr ? json_string(light_map_name(r->analysis.light.map)) : NULL;
    json_t *peak =
        hdr && r->analysis.light.map != TONE_OFF ? json_integer(r->analysis.light.peak) : NULL;
    return json_pack("{ss so so so so si si sb si si ss sb ss si so* so* sb}", "version",
                     BARCODE_VERSION, "fingerprint", writer_json_bytes(r->id.fingerprint),
                     "selection", writer_json_bytes(selection), "start",
                     writer_json_us(r->analysis.selection.start_us), "end", selection_end(r),
                     "width", r->analysis.width, "height", r->analysis.height, "clustered",
                     (r->analysis.needs & STRIP_CLUSTERS) != 0, "k", k->k, "n_init", k->n_init,
                     "init", kmeans_init_name(k->init), "race", (int)k->race, "seed", seed,
                     "steady", r->picture.steady, "tone_map", map, "hdr_peak", peak, "linear",
                     (int)r->analysis.light.linear);
}

static json_t *modes_value(const struct html_job *job)
{
    json_t *list = json_array();
    for (size_t i = 0; i < job->strips.count; i++) {
        const struct strip_kind *kind = job->strips.kind[i];
        bool sound = kind->needs & STRIP_SOUND;
        char note[200] = "";
        kind->note(job->report, note, sizeof note);
        list = writer_json_append(list, json_pack("{ss ss ss so*}", "name", kind->name, "title",
                                                  kind->title, "note", note, "sound",
                                                  sound ? json_true() : NULL));
    }
    return list;
}

/* Returns the number of clusters per column in the page. */
static int clusters_kept(const struct html_job *job)
{
    uint64_t most = PAGE_COLOURS / job->columns;
    int k = job->report->analysis.kmeans.k;
    if (!(job->report->analysis.needs & STRIP_CLUSTERS))
        return 0;
    if ((uint64_t)k <= most || k <= 8)
        return k;
    return most < 8 ? 8 : (int)most;
}

static json_t *thumbnails_value(const struct html_job *job)
{
    const struct thumbs_sheets *t = &job->thumbs;
    return t->count == 0 ? json_null()
                         : json_pack("{si si sI}", "width", t->width, "height", t->height, "sheets",
                                     (json_int_t)t->sheets);
}

/* Returns when the last shot ends, in microseconds. */
static json_int_t shots_end(const struct report *r)
{
    return r->media.shots->shot[r->media.shots->count - 1].end_us;
}

static bool put_facts(struct html_job *job, FILE *f)
{
    const struct report *r = job->report;
    uint64_t lost = r->run.counts.unreadable + r->run.counts.dropped + r->run.counts.lead_in;
    return page_put_json(
        f, "film",
        json_pack("{so so so so so sI sI sI sI si sb so* so* so*}", "thumbnails",
                  thumbnails_value(job), "film", film_value(job), "run", run_value(job), "modes",
                  modes_value(job), "palette", palette_value(job), "columns",
                  (json_int_t)job->columns, "film_columns", (json_int_t)job->film_columns,
                  "missing", (json_int_t)r->missing, "lost", (json_int_t)lost, "clusters",
                  clusters_kept(job), "dominant", (r->analysis.needs & STRIP_DOMINANT) != 0,
                  "sound", (r->analysis.needs & STRIP_SOUND) ? json_sound_value(r) : NULL,
                  "shots_end", r->media.shots ? json_integer(shots_end(r) / 1000) : NULL, "by_shot",
                  r->analysis.by_shot ? json_true() : NULL));
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

static size_t encode_times(const struct html_job *job, const struct column *c, uint64_t x,
                           uint8_t *to)
{
    const int64_t us = axis_by_time(job->report) ? job->edge[x] : c->time_us;
    return put_u32(to, column_untold(c, x) ? UINT32_MAX : (uint64_t)(us < 0 ? 0 : us) / 1000);
}

static size_t encode_frames(const struct html_job *job, const struct column *c, uint64_t x,
                            uint8_t *to)
{
    (void)job;
    return put_u32(to, column_untold(c, x) ? UINT32_MAX : c->frame);
}

/* Writes the status, the number of clusters in the page, and the index of the chosen cluster. */
static size_t encode_states(const struct html_job *job, const struct column *c, uint64_t x,
                            uint8_t *to)
{
    int kept = clusters_kept(job),
        known = kept > 0 && c->status != COLUMN_MISSING && c->cluster ? c->clusters : 0;
    (void)x;
    to[0] = c->status;
    to[1] = (uint8_t)(known < kept ? known : kept);
    to[2] = kept > 0 ? c->chosen : 0;
    return 3;
}

static size_t encode_averages(const struct html_job *job, const struct column *c, uint64_t x,
                              uint8_t *to)
{
    (void)x;
    memcpy(to, c->average, 3);
    if (!(job->report->analysis.needs & STRIP_DOMINANT))
        return 3;
    memcpy(to + 3, c->dominant, 3);
    return 6;
}

/* Writes the clusters: colour, and share of the column in 65535ths. Unused places are zero. */
static size_t encode_clusters(const struct html_job *job, const struct column *c, uint64_t x,
                              uint8_t *to)
{
    int kept = clusters_kept(job),
        known = kept > 0 && c->status != COLUMN_MISSING && c->cluster ? c->clusters : 0;
    uint64_t total = 0;
    (void)x;
    memset(to, 0, (size_t)kept * 5);
    for (int i = 0; i < known; i++)
        total += c->cluster[i].count;
    for (int i = 0; i < known && i < kept; i++) {
        uint64_t share = (65535 * (uint64_t)c->cluster[i].count + total / 2) / total;
        uint8_t *one = to + (size_t)i * 5;
        memcpy(one, c->cluster[i].rgb, 3);
        one[3] = (uint8_t)share;
        one[4] = (uint8_t)(share >> 8);
    }
    return (size_t)kept * 5;
}

/* Writes loudness and peak in tenths, and the centroid in Hz. */
static size_t encode_sound(const struct html_job *job, const struct column *c, uint64_t x,
                           uint8_t *to)
{
    struct sound_row row;
    (void)c;
    column_sound_at(&job->sound, job->under[x], &row);
    const uint16_t value[] = {(uint16_t)row.loudness, (uint16_t)row.peak, row.centroid};
    for (size_t k = 0; k < sizeof value / sizeof *value; k++) {
        to[2 * k] = (uint8_t)value[k];
        to[2 * k + 1] = (uint8_t)(value[k] >> 8);
    }
    return sizeof value;
}

/* An array of the page. `encode` writes at most 5 * CLUSTERS_MAX bytes per column. */
struct array {
    const char *id;
    size_t (*encode)(const struct html_job *job, const struct column *c, uint64_t x, uint8_t *to);
};

static bool put_array(struct html_job *job, const struct array *a, FILE *f)
{
    uint8_t *bytes = malloc((size_t)job->columns * 5 * CLUSTERS_MAX);
    size_t used = 0;
    for (uint64_t x = 0; bytes && x < job->columns; x++)
        used += a->encode(job, column_under(job, x), x, bytes + used);
    bool done = bytes && page_put_data(f, a->id, bytes, used);
    free(bytes);
    return done;
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
    return !r->media.thumbs ||
           thumbs_sheets(r->media.thumbs, r, 0, thumbs_bytes(job), &job->thumbs, job->err);
}

/* Writes for each thumbnail: its first column (of the film), its time in ms, its sheet, and its
 * position there. */
static bool put_places(const struct html_job *job, FILE *f)
{
    uint8_t *bytes = malloc(job->thumbs.count * 5 * 4 + 1), *to = bytes;
    uint64_t at = 0; /* the column of a thumbnail, if columns are shots */
    for (size_t i = 0; bytes && i < job->thumbs.count; i++) {
        const struct thumb *t = &job->thumbs.thumb[i];
        while (job->edge && at + 1 < job->film_columns && job->edge[at + 1] <= t->time_us)
            at++;
        const uint64_t value[] = {job->edge ? at : t->first,
                                  (uint64_t)(t->time_us < 0 ? 0 : t->time_us) / 1000, t->sheet,
                                  (uint64_t)t->x, (uint64_t)t->y};
        for (size_t k = 0; k < sizeof value / sizeof *value; k++)
            to += put_u32(to, value[k]);
    }
    bool done = bytes && page_put_data(f, "thumbs", bytes, (size_t)(to - bytes));
    free(bytes);
    return done;
}

static bool put_sheets(const struct html_job *job, FILE *f)
{
    bool done = true;
    for (size_t i = 0; done && i < job->thumbs.sheets; i++) {
        char id[32];
        snprintf(id, sizeof id, "sheet-%zu", i);
        done = page_put_data(f, id, job->thumbs.sheet[i].data, job->thumbs.sheet[i].size);
    }
    return done;
}

/*
 * Writes for each shot: where it begins and its transition from and to, in 1/256 of a column of the
 * page; its start in ms, its first frame, its frames, and enum shot_transition.
 */
static bool put_shots(const struct html_job *job, FILE *f)
{
    enum { EACH = 7, FINE = 256 };
    const struct shots *shots = job->report->media.shots;
    struct shot_mark *mark = shot_marks(job->report, job->err);
    uint8_t *bytes = mark ? malloc(shots->count * EACH * 4) : NULL, *to = bytes;
    const double unit = (double)job->columns * FINE;
    for (size_t i = 0; bytes && i < shots->count; i++) {
        const struct shot *s = &shots->shot[i];
        const uint64_t value[EACH] = {(uint64_t)(mark[i].at * unit + 0.5),
                                      (uint64_t)(mark[i].from * unit + 0.5),
                                      (uint64_t)(mark[i].to * unit + 0.5),
                                      (uint64_t)(s->start_us < 0 ? 0 : s->start_us) / 1000,
                                      s->frame,
                                      s->frames,
                                      s->begins_by};
        for (size_t k = 0; k < EACH; k++)
            to += put_u32(to, value[k]);
    }
    const bool done = bytes && page_put_data(f, "shots", bytes, (size_t)(to - bytes));
    free(bytes);
    free(mark);
    return done;
}

/*
 * Writes the facts of the film and the run as JSON with the id "film". Then writes the arrays of
 * columns and the thumbnail sheets, each in its own element in base64. Sets job->thumbs, which the
 * caller frees.
 */
static bool put_data(struct html_job *job, FILE *f)
{
    static const struct array array[] = {
        {"times", encode_times},    {"frames", encode_frames},     {"states", encode_states},
        {"means", encode_averages}, {"clusters", encode_clusters}, {"sound", encode_sound},
    };
    size_t arrays = sizeof array / sizeof *array - (job->sound.sound ? 0 : 1);
    bool done = make_thumbs(job) && put_facts(job, f);
    for (size_t i = 0; i < arrays && done; i++) {
        if (interrupted())
            return interrupt_error(job->err);
        done = put_array(job, &array[i], f);
    }
    return done && put_places(job, f) && put_sheets(job, f) &&
           (!job->report->media.shots || put_shots(job, f));
}

/* The maximum height of a strip whose rows differ: exact at this size, and no larger than a browser
 * displays it. */
enum { STRIP_ROWS_MOST = 240, STRIP_ROWS_WIDE = 160, WIDE = 4000 };

/* The size of a strip of sound, which a browser scales. Its width is a multiple of the columns. */
enum { SOUND_ROWS = SOUND_BANDS, SOUND_WIDTH = 1600 };

static int strip_rows(const struct html_job *job, const struct strip_kind *kind)
{
    int most = job->columns > WIDE ? STRIP_ROWS_WIDE : STRIP_ROWS_MOST,
        rows = kind->needs & STRIP_SLIT ? job->report->analysis.slit_length
                                        : job->report->analysis.height;
    if (kind->flat)
        return 1;
    if (kind->needs & STRIP_SOUND)
        return SOUND_ROWS;
    return (kind->needs & (STRIP_ROWS | STRIP_SLIT)) && rows < most ? rows : most;
}

static int strip_width(const struct html_job *job, const struct strip_kind *kind)
{
    uint64_t n = job->columns, times = (SOUND_WIDTH + n - 1) / n;
    return (int)(n * ((kind->needs & STRIP_SOUND) ? times : 1));
}

/* Writes the strips. The first is visible at once; the script shows the others. */
static bool put_strips(struct html_job *job, FILE *f)
{
    for (size_t i = 0; i < job->strips.count; i++) {
        const struct strip_kind *kind = job->strips.kind[i];
        if (interrupted())
            return interrupt_error(job->err);
        if (fprintf(f,
                    "<img class=\"pixels\" data-mode=\"%s\"%s alt=\"\" draggable=\"false\" "
                    "src=\"data:image/png;base64,",
                    kind->name, i > 0 ? " hidden" : "") < 0 ||
            !put_png(job, kind, strip_width(job, kind), strip_rows(job, kind), f) ||
            fputs("\">\n", f) == EOF)
            return false;
    }
    return true;
}

/* Without shots, and with them. */
static const struct page_file *const styles[2][4] = {
    {&page_common_css, &page_viewer_css}, {&page_common_css, &page_viewer_css, &page_shots_css}};
static const struct page_file *const scripts[2][6] = {
    {&page_common_js, &page_sheets_js, &page_save_js, &page_viewer_js},
    {&page_common_js, &page_sheets_js, &page_save_js, &page_viewer_js, &page_shots_js}};

/* Writes what read_html_metadata and a gallery read. */
static bool put_head(struct html_job *job, FILE *f)
{
    const struct report *r = job->report;
    char columns[64];
    snprintf(columns, sizeof columns, "%" PRIu64 " %dx%d", r->count, r->analysis.width,
             r->analysis.height);
    const bool shots = r->media.shots;
    return page_put_head(f, "viewer", styles[shots], scripts[shots]) &&
           (!r->id.film_id[0] || page_put_meta(f, "film", r->id.film_id)) &&
           (!r->id.fingerprint[0] || page_put_meta(f, "fingerprint", r->id.fingerprint)) &&
           page_put_meta(f, "columns", columns) &&
           (!r->id.partial || page_put_meta(f, "partial", "yes")) && put_card(job, f);
}

static bool fill_page(void *user, const char *mark, FILE *f)
{
    struct html_job *job = user;
    const bool shots = job->report->media.shots;
    errno = 0;
    if (strcmp(mark, "head") == 0)
        return put_head(job, f);
    if (strcmp(mark, "style") == 0)
        return page_put_files(f, "style", styles[shots]);
    if (strcmp(mark, "strips") == 0)
        return put_strips(job, f);
    if (strcmp(mark, "data") == 0)
        return put_data(job, f);
    return strcmp(mark, "script") == 0
               ? page_put_files(f, "script", scripts[shots])
               : err_set(job->err, ERR_FAILED,
                         "internal error: unknown placeholder '%s' in the page", mark);
}

/* Decides which columns the page has. */
static bool open_columns(struct html_job *job)
{
    const struct report *r = job->report;
    const bool by_time = axis_by_time(r);
    job->columns = r->count < PAGE_COLUMNS ? r->count : PAGE_COLUMNS;
    if (by_time)
        job->columns = PAGE_MOMENTS;
    job->film_columns = by_time ? job->columns : r->count;
    job->under = axis_pixel_columns(r, job->columns, job->err);
    if (!job->under)
        return false;
    if (r->analysis.by_shot && !(job->edge = axis_pixel_edges(r, job->film_columns, job->err)))
        return false;
    return !(r->analysis.needs & STRIP_SOUND) || column_sound_open(&job->sound, r, job->err);
}

static bool write_html(const struct report *r, struct strips strips, FILE *f, struct err *e)
{
    /* What other outputs of the run need of columns must not change the page. */
    struct report page = *r;
    page.analysis.needs = strips_need(strips);
    struct html_job job = {.report = &page, .strips = strips, .err = e};
    if (r->count == 0)
        return err_set(e, ERR_FAILED, "the film has no columns");
    bool done = open_columns(&job);
    /* If a function has set the reason, err_set keeps it. */
    if (done && !page_write(f, &page_viewer_html, fill_page, &job))
        done = writer_failed(e);
    thumbs_sheets_free(&job.thumbs);
    column_sound_close(&job.sound);
    free(job.under);
    free(job.edge);
    return done;
}

static bool recognize_html(const uint8_t *head, size_t size, char film[FILM_ID_TEXT])
{
    if (!page_is((const char *)head, size, "viewer"))
        return false;
    page_copy_meta((const char *)head, size, "film", film, FILM_ID_TEXT);
    return true;
}

/* Checks the beginning and the end of the file, which is written from front to back. */
static bool read_html_metadata(FILE *f, struct writer_metadata *metadata)
{
    char head[WRITER_HEAD], text[64];
    size_t size = fread(head, 1, sizeof head, f);
    if (!recognize_html((const uint8_t *)head, size, metadata->film))
        return false;
    page_copy_meta(head, size, "fingerprint", metadata->fingerprint, sizeof metadata->fingerprint);
    page_copy_meta(head, size, "partial", text, sizeof text);
    metadata->partial = text[0] != 0;
    page_copy_meta(head, size, "columns", text, sizeof text);
    char *end;
    metadata->columns = strtoull(text, &end, 10);
    provenance_read_size(end, metadata);
    return page_ends(f);
}

static const char *const ending[] = {"html", "htm", NULL};

const struct writer writer_html = {.name = "html",
                                   .title = "page",
                                   .ending = ending,
                                   .binary = true,
                                   .all_computed = true,
                                   .gallery = true,
                                   .thumbnails = true,
                                   .palette = true,
                                   .recognizes = recognize_html,
                                   .read_metadata = read_html_metadata,
                                   .write = write_html};
