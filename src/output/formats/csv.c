#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "barcode/sound/spectrogram.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "output/modes/time_axis.h"
#include "output/modes/strip.h"
#include "output/poster/layout.h"
#include "output/writer.h"
#include "colour_values.h"
#include "csv_columns.h"
#include "csv_fields.h"

/* csv_item.what of CSV_PLAIN. */
enum csv_plain {
    PLAIN_COLUMN,
    PLAIN_FRAME,
    PLAIN_TIME,
    PLAIN_STATUS,
    PLAIN_FILM,
    PLAIN_CONTRAST,
    PLAIN_COLOURFULNESS,
    PLAIN_TITLE,
    PLAIN_FILE,
    PLAIN_LOUDNESS,
    PLAIN_PEAK,
    PLAIN_CENTROID,
    PLAIN_CLOCK,
    PLAINS
};

/* csv_item.what of the other subjects: enum colour_value, or one of these. */
enum { QUANTITY_COLOUR = COLOUR_VALUES, QUANTITY_SHARE, QUANTITIES };

static const char *const plain[PLAINS] = {
    "column", "frame", "time",     "status", "film",     "contrast", "colourfulness",
    "title",  "file",  "loudness", "peak",   "centroid", "clock"};

/* The quantities. The values and their digits are in the order of enum colour_value. */
static const struct {
    const char *name;
    int digits;
} quantity[QUANTITIES] = {
    {"r", 0},      {"g", 0},     {"b", 0},         {"luminance", 5}, {"lightness", 2},
    {"lab_a", 2},  {"lab_b", 2}, {"chroma", 2},    {"hue", 1},       {"ok_lightness", 4},
    {"ok_a", 4},   {"ok_b", 4},  {"ok_chroma", 4}, {"ok_hue", 1},    {"saturation", 4},
    {"colour", 0}, {"share", 6}};

static const char *const subject_name[] = {
    [CSV_AVERAGE] = "average", [CSV_DOMINANT] = "dominant", [CSV_CLUSTER] = NULL};

/* Writes the name of a column. `cluster` (from 1) is that of an item of a cluster. */
static void csv_item_name(const struct csv_item *item, int cluster, char name[CSV_NAME])
{
    const char *what = item->subject == CSV_PLAIN ? plain[item->what] : quantity[item->what].name;
    if (item->subject == CSV_CLUSTER)
        snprintf(name, CSV_NAME, "%s_%d", what, cluster);
    else if (item->subject <= CSV_COLUMN)
        snprintf(name, CSV_NAME, "%s", what);
    else if (item->what == QUANTITY_COLOUR)
        snprintf(name, CSV_NAME, "%s", subject_name[item->subject]);
    else
        snprintf(name, CSV_NAME, "%s_%s", subject_name[item->subject], what);
}

/* Returns what an item needs of a frame: bits of enum strip_need. */
static unsigned csv_item_need(const struct csv_item *item)
{
    if (item->subject == CSV_PLAIN && item->what >= PLAIN_LOUDNESS && item->what <= PLAIN_CENTROID)
        return STRIP_SOUND;
    bool clusters = item->subject == CSV_CLUSTER ||
                    (item->subject == CSV_PLAIN &&
                     (item->what == PLAIN_CONTRAST || item->what == PLAIN_COLOURFULNESS));
    if (clusters)
        return STRIP_CLUSTERS;
    return item->subject == CSV_DOMINANT ? STRIP_DOMINANT : 0;
}

unsigned csv_columns_need(const struct csv_columns *columns)
{
    unsigned need = 0;
    for (size_t i = 0; i < columns->count; i++)
        need |= columns->item[i].optional ? 0 : csv_item_need(&columns->item[i]);
    return need;
}

static bool add_item(struct csv_columns *columns, struct csv_item item, struct err *e)
{
    if (columns->count == CSV_ITEMS_MOST)
        return err_set(e, ERR_USAGE, "--csv-columns: more than %d names", CSV_ITEMS_MOST);
    columns->item[columns->count++] = item;
    return true;
}

static bool add_optional(struct csv_columns *columns, unsigned subject, unsigned what,
                         struct err *e)
{
    return add_item(columns, (struct csv_item){(uint8_t)subject, (uint8_t)what, 0, true}, e);
}

/* Adds every column; the text of the film and the sound last. */
static bool add_all(struct csv_columns *columns, struct err *e)
{
    bool ok = true;
    for (unsigned i = 0; i < PLAIN_CONTRAST; i++)
        ok = ok && add_optional(columns, CSV_PLAIN, i, e);
    for (unsigned subject = CSV_COLUMN; subject <= CSV_CLUSTER; subject++) {
        ok = ok && add_optional(columns, subject, QUANTITY_COLOUR, e);
        for (unsigned i = 0; i < QUANTITY_COLOUR; i++)
            ok = ok && add_optional(columns, subject, i, e);
    }
    ok = ok && add_optional(columns, CSV_CLUSTER, QUANTITY_SHARE, e);
    for (unsigned i = PLAIN_CONTRAST; i < PLAIN_CLOCK; i++)
        ok = ok && add_optional(columns, CSV_PLAIN, i, e);
    return ok;
}

/* Returns the index of the `length` bytes at `name` among the quantities, or QUANTITIES. */
static uint8_t find_quantity(const char *name, size_t length)
{
    uint8_t i = 0;
    while (i < QUANTITIES &&
           (strncmp(quantity[i].name, name, length) != 0 || quantity[i].name[length] != 0))
        i++;
    return i;
}

/* Finds the name of a cluster's quantity: NAME_N, or NAME_1 and so on. */
static bool find_cluster(const char *name, size_t length, struct csv_item *item)
{
    const char *mark = memrchr(name, '_', length);
    if (!mark)
        return false;
    size_t digits = length - (size_t)(mark + 1 - name);
    bool each = digits == 1 && mark[1] == 'N';
    int cluster = 0;
    for (size_t i = 1; i <= digits && i <= 3 && mark[i] >= '0' && mark[i] <= '9'; i++)
        cluster = 10 * cluster + (mark[i] - '0');
    bool number = mark[1] != '0' && cluster > 0 && cluster <= CLUSTERS_MAX &&
                  strspn(mark + 1, "0123456789") == digits;
    item->subject = CSV_CLUSTER;
    item->what = find_quantity(name, (size_t)(mark - name));
    item->cluster = (uint8_t)cluster;
    return (each || number) && item->what < QUANTITIES;
}

/* Finds the name of the average or the dominant colour, or of one of their quantities. */
static bool find_subject(const char *name, size_t length, struct csv_item *item)
{
    for (unsigned subject = CSV_AVERAGE; subject <= CSV_DOMINANT; subject++) {
        size_t prefix = strlen(subject_name[subject]);
        if (length < prefix || strncmp(name, subject_name[subject], prefix) != 0)
            continue;
        item->subject = (uint8_t)subject;
        item->what = QUANTITY_COLOUR;
        if (length == prefix)
            return true;
        if (name[prefix] == '_')
            item->what = find_quantity(name + prefix + 1, length - prefix - 1);
        return item->what < COLOUR_VALUES;
    }
    return false;
}

static bool find_item(const char *name, size_t length, struct csv_item *item)
{
    *item = (struct csv_item){.subject = CSV_PLAIN};
    for (unsigned i = 0; i < PLAINS; i++) {
        item->what = (uint8_t)i;
        if (strlen(plain[i]) == length && memcmp(plain[i], name, length) == 0)
            return true;
    }
    item->subject = CSV_COLUMN;
    item->what = find_quantity(name, length);
    return item->what < QUANTITY_SHARE || find_subject(name, length, item) ||
           find_cluster(name, length, item);
}

static bool unknown(const char *name, size_t length, struct err *e)
{
    char plains[128] = "", quantities[160] = "";
    for (size_t i = 0, used = 0; i < PLAINS; i++)
        used += (size_t)snprintf(plains + used, sizeof plains - used, "%s, ", plain[i]);
    for (size_t i = 0, used = 0; i < QUANTITY_SHARE; i++)
        used += (size_t)snprintf(quantities + used, sizeof quantities - used, "%s%s",
                                 i == 0 ? "" : ", ", quantity[i].name);
    return err_set(e, ERR_USAGE,
                   "--csv-columns: '%.*s' is not a column; the names are all, %saverage, dominant, "
                   "share_N and %s; of the latter also average_NAME, dominant_NAME and, for the "
                   "clusters, NAME_N or NAME_1 to NAME_64",
                   length > 80 ? 80 : (int)length, name, plains, quantities);
}

bool csv_columns_parse(const char *list, struct csv_columns *columns, struct err *e)
{
    columns->count = 0;
    for (const char *name = list; name;) {
        name += strspn(name, " ");
        size_t length = strcspn(name, ",");
        struct csv_item item;
        if (length == 3 && memcmp(name, "all", 3) == 0) {
            if (!add_all(columns, e))
                return false;
        } else if (!find_item(name, length, &item)) {
            return unknown(name, length, e);
        } else if (!add_item(columns, item, e)) {
            return false;
        }
        name = name[length] ? name + length + 1 : NULL;
    }
    return true;
}

/* Returns the columns that are written without --csv-columns. */
static struct csv_columns csv_columns_default(void)
{
    struct csv_columns columns;
    struct err none = ERR_INIT;
    csv_columns_parse("column,frame,time,status,average,dominant,film,"
                      "r,g,b,lightness,chroma,hue,contrast,title,file,loudness,peak,centroid",
                      &columns, &none);
    for (size_t i = 0; i < columns.count; i++)
        columns.item[i].optional = true;
    return columns;
}

/* ---- The file: a header and a row per column ---- */

/* Everything that the rows of a film have in common. RFC 4180: a header line, and CRLF. */
struct csv_rows {
    FILE *f;
    const struct report *r;
    struct strips strips;
    struct csv_columns columns;
    struct colour_light light;
    struct column_sound sound;
    char title[LAYOUT_TEXT], *file; /* plain text (text.h) */
    /* the values of the colour at `of`; NULL: none */
    const uint8_t *of;
    double value[COLOUR_VALUES];
};

/* ---- Fields ---- */

void csv_put_text(FILE *f, const char *text)
{
    bool quotes = strpbrk(text, ",\"") != NULL;
    if (quotes)
        fputc('"', f);
    if (*text && strchr("=+-@", *text))
        fputc('\'', f);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', f);
        fputc(*text, f);
    }
    if (quotes)
        fputc('"', f);
}

/* Writes a number with a fixed count of digits; nothing for NAN. Rounds halves away from zero, in
 * any locale. */
static void put_number(FILE *f, double value, int digits)
{
    static const int64_t power[] = {1, 10, 100, 1000, 10000, 100000};
    if (isnan(value))
        return;
    int64_t n = llround(value * (double)power[digits]);
    uint64_t size = (uint64_t)(n < 0 ? -n : n), one = (uint64_t)power[digits];
    fprintf(f, "%s%" PRIu64, n < 0 ? "-" : "", size / one);
    if (digits > 0)
        fprintf(f, ".%0*" PRIu64, digits, size % one);
}

void csv_put_time(FILE *f, int64_t us)
{
    int64_t size = us < 0 ? -us : us;
    fprintf(f, "%s%" PRId64 ".%06" PRId64, us < 0 ? "-" : "", size / 1000000, size % 1000000);
}

/* ---- The colours of a column: NULL or 0 if it has none ---- */

static int clusters_of(const struct column *c)
{
    return c->status == COLUMN_MISSING || !c->cluster ? 0 : c->clusters;
}

/* Returns the colour that the first mode paints; for a palette the largest cluster, and for rows
 * their mean. */
static const uint8_t *painted_colour(const struct csv_rows *s, const struct column *c)
{
    const struct strip_kind *mode = s->strips.kind[0];
    if (!(mode->needs & STRIP_CLUSTERS))
        return mode->needs & STRIP_DOMINANT ? c->dominant : c->average;
    if (clusters_of(c) == 0)
        return NULL;
    return c->cluster[mode->obeys & STRIP_STEADY ? c->chosen : 0].rgb;
}

static const uint8_t *colour_of(const struct csv_rows *s, const struct csv_item *item, int cluster,
                                const struct column *c)
{
    if (c->status == COLUMN_MISSING)
        return NULL;
    switch (item->subject) {
    case CSV_AVERAGE: return c->average;
    case CSV_DOMINANT: return c->dominant;
    case CSV_CLUSTER: return cluster <= clusters_of(c) ? c->cluster[cluster - 1].rgb : NULL;
    default: return painted_colour(s, c);
    }
}

void csv_put_share(FILE *f, const struct column *c, int cluster)
{
    uint64_t total = 0;
    for (int j = 0; j < clusters_of(c); j++)
        total += c->cluster[j].count;
    if (cluster > clusters_of(c) || total == 0)
        return;
    uint64_t count = c->cluster[cluster - 1].count, share = (count * 1000000 + total / 2) / total;
    fprintf(f, "%" PRIu64 ".%06" PRIu64, share / 1000000, share % 1000000);
}

static void put_quantity(struct csv_rows *s, const struct csv_item *item, int cluster,
                         const struct column *c)
{
    const uint8_t *rgb = colour_of(s, item, cluster, c);
    if (item->what == QUANTITY_SHARE) {
        csv_put_share(s->f, c, cluster);
    } else if (rgb && item->what == QUANTITY_COLOUR) {
        fprintf(s->f, "#%02x%02x%02x", rgb[0], rgb[1], rgb[2]);
    } else if (rgb) {
        if (rgb != s->of)
            colour_values(&s->light, rgb, s->value);
        s->of = rgb;
        put_number(s->f, s->value[item->what], quantity[item->what].digits);
    }
}

static void put_sound(const struct csv_rows *s, enum csv_plain what, uint64_t i)
{
    struct sound_row row;
    if (!column_sound_at(&s->sound, i, &row))
        return;
    if (what == PLAIN_CENTROID)
        put_number(s->f, row.centroid > 0 ? row.centroid : NAN, 0);
    else
        put_number(s->f, (what == PLAIN_PEAK ? row.peak : row.loudness) / 10.0, 1);
}

/* Writes "2026-11-26T17:00:00Z", with milliseconds if the columns need them. */
static void put_clock(const struct csv_rows *s, uint64_t i)
{
    int64_t step = s->r->analysis.selection.interval_us;
    char text[TEXT_UTC];
    if (s->r->clock_us == 0)
        return;
    text_utc(s->r->clock_us + (int64_t)i * step, step % 1000000 != 0, text);
    fputs(text, s->f);
}

static void put_plain(const struct csv_rows *s, enum csv_plain what, uint64_t i,
                      const struct column *c)
{
    static const char *const status[] = {"missing", "ok", "damaged"};
    int clusters = clusters_of(c);
    bool untold = s->r->clock_us == 0 && column_untold(c, i);
    switch (what) {
    case PLAIN_COLUMN: fprintf(s->f, "%" PRIu64, i); break;
    case PLAIN_FRAME:
        if (!untold)
            fprintf(s->f, "%" PRIu64, s->r->clock_us ? i : c->frame);
        break;
    case PLAIN_TIME:
        if (!untold)
            csv_put_time(s->f, s->r->clock_us ? (int64_t)i * s->r->analysis.selection.interval_us
                                              : c->time_us);
        break;
    case PLAIN_CLOCK: put_clock(s, i); break;
    case PLAIN_STATUS: fputs(status[c->status], s->f); break;
    case PLAIN_FILM: fputs(s->r->id.film_id, s->f); break;
    case PLAIN_CONTRAST:
        put_number(s->f, clusters ? colour_contrast(&s->light, c->cluster, clusters) : NAN, 2);
        break;
    case PLAIN_COLOURFULNESS:
        put_number(s->f, clusters ? colourfulness(c->cluster, clusters) : NAN, 2);
        break;
    case PLAIN_TITLE: csv_put_text(s->f, s->title); break;
    case PLAIN_FILE: csv_put_text(s->f, s->file); break;
    case PLAIN_LOUDNESS:
    case PLAIN_PEAK:
    case PLAIN_CENTROID: put_sound(s, what, i); break;
    default: break;
    }
}

/* ---- Lines ---- */

/* Writes the field of an item; of the header if `c` is NULL. */
static void put_field(struct csv_rows *s, const struct csv_item *item, int cluster, uint64_t i,
                      const struct column *c)
{
    char name[CSV_NAME];
    if (!c) {
        csv_item_name(item, cluster, name);
        fputs(name, s->f);
    } else if (item->subject == CSV_PLAIN) {
        put_plain(s, item->what, i, c);
    } else {
        put_quantity(s, item, cluster, c);
    }
}

static bool is_each(const struct csv_item *item)
{
    return item->subject == CSV_CLUSTER && item->cluster == 0;
}

/* Writes the line of column `i`, or the header if `c` is NULL. Neighbours that are items of each
 * cluster take turns. */
static void put_line(struct csv_rows *s, uint64_t i, const struct column *c)
{
    const struct csv_item *item = s->columns.item, *end = item + s->columns.count;
    bool first = true;
    s->of = NULL;
    while (item < end) {
        const struct csv_item *next = item + 1;
        while (is_each(item) && next < end && is_each(next))
            next++;
        int from = is_each(item) ? 1 : item->cluster,
            to = is_each(item) ? s->r->analysis.kmeans.k : from;
        for (int cluster = from; cluster <= to; cluster++) {
            for (const struct csv_item *k = item; k < next; k++, first = false) {
                if (!first)
                    fputc(',', s->f);
                put_field(s, k, cluster, i, c);
            }
        }
        item = next;
    }
    fputs("\r\n", s->f);
}

/* Copies the requested columns, less optional ones that the modes cannot fill. */
static void choose_columns(struct csv_rows *s)
{
    struct csv_columns asked = s->r->csv_columns && s->r->csv_columns->count > 0
                                   ? *s->r->csv_columns
                                   : csv_columns_default();
    unsigned needs = strips_need(s->strips);
    s->columns.count = 0;
    if (s->r->clock_us != 0 && asked.item[0].optional)
        s->columns.item[s->columns.count++] = (struct csv_item){CSV_PLAIN, PLAIN_CLOCK, 0, true};
    for (size_t i = 0; i < asked.count && s->columns.count < CSV_ITEMS_MOST; i++)
        if (!asked.item[i].optional || (csv_item_need(&asked.item[i]) & ~needs) == 0)
            s->columns.item[s->columns.count++] = asked.item[i];
}

static bool write_csv(const struct report *r, struct strips strips, FILE *f, struct err *e)
{
    const char *name = r->name ? r->name : r->film->path;
    struct csv_rows s = {.f = f, .r = r, .strips = strips, .file = strdup(name)};
    if (!s.file)
        return err_memory(e, strlen(name));
    text_make_plain(s.file);
    layout_title(r, s.title);
    text_make_plain(s.title);
    colour_light_fill(&s.light);
    choose_columns(&s);
    bool ok = column_sound_open(&s.sound, r, e);
    errno = 0;
    if (ok)
        put_line(&s, 0, NULL);
    uint64_t i = 0;
    for (; ok && i < r->count && !ferror(f) && !interrupted(); i++)
        put_line(&s, i, columns_get(r->columns, i));
    column_sound_close(&s.sound);
    free(s.file);
    if (!ok || (i < r->count && !ferror(f)))
        return ok && interrupt_error(e);
    return !ferror(f) || writer_failed(e);
}

/* ---- Reading ---- */

/* Returns the end of a field, at its comma or line end; NULL if the text ends before. */
static const char *field_end(const char *text, const char *end)
{
    bool quoted = false;
    for (; text < end; text++) {
        if (*text == '"')
            quoted = !quoted;
        else if (!quoted && (*text == ',' || *text == '\r'))
            return text;
    }
    return NULL;
}

/* Returns true for what film_id_of writes: SIZE-FINGERPRINT, or "". */
static bool is_film_id(const char *text, size_t length)
{
    size_t size = strspn(text, "0123456789");
    return length == 0 || (size > 0 && text[size] == '-' &&
                           size + 1 + strspn(text + size + 1, "0123456789abcdef") == length);
}

bool csv_read_film(const char *text, const char *end, size_t number, char film[FILM_ID_TEXT])
{
    const char *at = text, *stop = field_end(at, end);
    for (size_t i = 0; i < number && stop && *stop == ','; i++) {
        at = stop + 1;
        stop = field_end(at, end);
    }
    if (!stop)
        return true; /* cut off */
    if (stop - at >= FILM_ID_TEXT)
        return false;
    snprintf(film, FILM_ID_TEXT, "%.*s", (int)(stop - at), at);
    return is_film_id(film, (size_t)(stop - at));
}

/*
 * Recognizes a header of known names. Returns false if there are others, or if the film's id,
 * which is in the first row if it has that column, is none.
 */
static bool recognize_csv(const uint8_t *head, size_t size, char film[FILM_ID_TEXT])
{
    const char *text = (const char *)head, *end = text + size, *at = text, *stop;
    size_t names = 0, film_field = SIZE_MAX;
    do {
        char name[CSV_NAME];
        struct csv_columns known;
        struct err none = ERR_INIT;
        stop = field_end(at, end);
        if (!stop)
            break; /* more columns than fit */
        if (stop - at >= CSV_NAME || stop == at)
            return false;
        snprintf(name, sizeof name, "%.*s", (int)(stop - at), at);
        if (!csv_columns_parse(name, &known, &none) || known.count != 1)
            return false;
        film_field = strcmp(name, "film") == 0 ? names : film_field;
        names++;
        at = stop + 1;
    } while (*stop == ',');
    bool row = stop && film_field < SIZE_MAX && at < end;
    return names > 0 && (!row || csv_read_film(at + 1, end, film_field, film));
}

static const char *const ending[] = {"csv", NULL};

const struct writer writer_csv = {.name = "csv",
                                  .title = "CSV",
                                  .ending = ending,
                                  .table = true,
                                  .recognizes = recognize_csv,
                                  .write = write_csv};

/* ---- --landmarks: the peaks of the film's sound (peaks.h) ---- */

static const char peaks_header[] = "frame,time_s,bin,frequency_hz,wide\r\n";

/* A frame begins at a multiple of 32 ms, and a bin is at a multiple of 15.625 Hz. */
static void put_peak(FILE *f, const struct peak *p)
{
    uint64_t ms = p->frame * (UINT64_C(1000) * SPECTROGRAM_HOP / SPECTROGRAM_RATE);
    uint32_t mhz = p->bin * (UINT32_C(1000) * SPECTROGRAM_RATE / SPECTROGRAM_WINDOW);
    fprintf(f, "%" PRIu32 ",%" PRIu64 ".%03u,%d,%" PRIu32 ".%03u,%d\r\n", p->frame, ms / 1000,
            (unsigned)(ms % 1000), p->bin, mhz / 1000, (unsigned)(mhz % 1000), p->wide);
}

static bool write_peaks(const struct report *r, struct strips strips, FILE *f, struct err *e)
{
    (void)strips;
    errno = 0;
    fputs(peaks_header, f);
    for (size_t i = 0; i < r->media.sound->peaks && !ferror(f); i++) {
        if (i % 4096 == 0 && interrupted())
            return interrupt_error(e);
        put_peak(f, &r->media.sound->point[i]);
    }
    return !ferror(f) || writer_failed(e);
}

/* The table does not name its film. */
static bool recognize_peaks(const uint8_t *head, size_t size, char film[FILM_ID_TEXT])
{
    (void)film;
    return size >= sizeof peaks_header - 1 &&
           memcmp(head, peaks_header, sizeof peaks_header - 1) == 0;
}

/* -o FILE.csv is the table of columns. */
static const char *const peaks_ending[] = {"landmarks.csv", NULL};

const struct writer writer_landmarks = {.name = "landmarks",
                                        .title = "CSV of peaks",
                                        .ending = peaks_ending,
                                        .modeless = true,
                                        .sound = true,
                                        .recognizes = recognize_peaks,
                                        .write = write_peaks};
