#include "canvas_cairo.h"

#include <cairo-pdf.h>
#include <cairo.h>
#include <fontconfig/fontconfig.h>
#include <math.h>
#include <pango/pangocairo.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/interrupt.h"
#include "base/log.h"
#include "shape.h"

static atomic_bool configured; /* fontconfig has read its configuration */

/*
 * Reads fontconfig's configuration without the templates (conf.avail), which FcInit would parse too:
 * a fontconfig that is older than the system's warns of what it does not know there.
 */
static void load_configuration(void)
{
    FcConfig *config = FcConfigCreate();
    if (config && FcConfigParseAndLoad(config, NULL, FcTrue))
        FcConfigSetCurrent(config); /* else the first use calls FcInit */
    if (config)
        FcConfigDestroy(config);
}

bool paint_has_letters(struct err *e)
{
    if (!atomic_exchange(&configured, true))
        load_configuration();
    /* Uses only fontconfig: pango would start a thread, and processes are forked later. */
    FcPattern *any = FcPatternCreate();
    FcObjectSet *family = FcObjectSetBuild(FC_FAMILY, (char *)NULL);
    FcFontSet *fonts = any && family ? FcFontList(NULL, any, family) : NULL;
    bool some = fonts && fonts->nfont > 0;
    if (fonts)
        FcFontSetDestroy(fonts);
    if (family)
        FcObjectSetDestroy(family);
    if (any)
        FcPatternDestroy(any);
    return some || err_set(e, ERR_FAILED,
                           "no font is installed, so text cannot be drawn; install one (on Debian: "
                           "fonts-dejavu-core)");
}

bool paint_letter_places(paint_visit *visit, void *user, struct err *e)
{
    FcStrList *list[] = {configured ? FcConfigGetConfigFiles(NULL) : NULL,
                         configured ? FcConfigGetFontDirs(NULL) : NULL,
                         configured ? FcConfigGetCacheDirs(NULL) : NULL};
    bool ok = true;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        for (FcChar8 *path; list[i] && ok && (path = FcStrListNext(list[i]));)
            ok = visit(user, (const char *)path, e);
        if (list[i])
            FcStrListDone(list[i]);
    }
    return ok;
}

/* Returns true for the names that fontconfig always gives a font. */
static bool is_generic(const char *family)
{
    static const char *const name[] = {"sans",    "sans-serif", "serif",    "monospace",
                                       "cursive", "fantasy",    "system-ui"};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        if (strcasecmp(family, name[i]) == 0)
            return true;
    }
    return false;
}

/* Returns true if the font has this family, under any of its names. Copies its first name. */
static bool has_family(FcPattern *font, const char *family, char used[CANVAS_FAMILY])
{
    FcChar8 *name;
    for (int i = 0; FcPatternGetString(font, FC_FAMILY, i, &name) == FcResultMatch; i++) {
        if (i == 0)
            snprintf(used, CANVAS_FAMILY, "%s", (const char *)name);
        if (strcasecmp((const char *)name, family) == 0)
            return true;
    }
    return false;
}

bool canvas_has_font(const char *family, char used[CANVAS_FAMILY])
{
    char first[CANVAS_FAMILY];
    FcResult result;
    snprintf(first, sizeof first, "%.*s", (int)strcspn(family, ","), family);
    snprintf(used, CANVAS_FAMILY, "another font");
    FcPattern *wanted = is_generic(first) ? NULL : FcPatternCreate();
    if (!wanted)
        return true;
    FcPatternAddString(wanted, FC_FAMILY, (const FcChar8 *)first);
    FcConfigSubstitute(NULL, wanted, FcMatchPattern);
    FcDefaultSubstitute(wanted);
    FcPattern *font = FcFontMatch(NULL, wanted, &result);
    bool has = font && has_family(font, first, used);
    if (font)
        FcPatternDestroy(font);
    FcPatternDestroy(wanted);
    return has;
}

void paint_check_font(const char *font)
{
    char used[CANVAS_FAMILY];
    if (!canvas_has_font(font, used))
        log_msg(LOG_WARNING, "--font: no font '%s' is installed; text is drawn with '%s'", font,
                used);
}

/* The font families, in order of preference. fontconfig finds others for missing glyphs. */
#define FAMILIES "Noto Sans,Noto Sans Arabic,Noto Naskh Arabic,Noto Sans Hebrew,Sans"

/* width of the pieces that are drawn at once: cairo's limit is 32767 pixels */
enum { TILE = 8192 };
/* Text is measured, and its outlines are made, at this font size in pixels. cairo rounds
 * coordinates to 1/256, and freetype refuses glyphs of some thousand pixels. */
enum { OUTLINE_EM = 256 };

struct canvas {
    char *families;
    PangoFontMap *map;
    PangoContext *context;
    cairo_surface_t *scratch; /* unbounded, because cairo drops glyphs outside the bounds */
};

/* Drops glib's messages, which would go to stderr. Errors are returned as values. */
static GLogWriterOutput drop_message(GLogLevelFlags level, const GLogField *fields, gsize count,
                                     gpointer user)
{
    (void)level;
    (void)fields;
    (void)count;
    (void)user;
    return G_LOG_WRITER_HANDLED;
}

static void silence(void)
{
    g_log_set_writer_func(drop_message, NULL, NULL); /* glib permits this once per process */
}

static bool has_no_error(cairo_status_t status, struct err *e)
{
    if (status == CAIRO_STATUS_SUCCESS)
        return true;
    err_set(e, status == CAIRO_STATUS_NO_MEMORY ? ERR_MEMORY : ERR_FAILED,
            "cannot draw with cairo: %s", cairo_status_to_string(status));
    return false;
}

struct canvas *canvas_open(const char *font, struct err *e)
{
    if (!paint_has_letters(e))
        return NULL;
    struct canvas *canvas = err_calloc(1, sizeof *canvas, e);
    if (!canvas)
        return NULL;
    canvas->families = g_strconcat(font ? font : FAMILIES, font ? "," FAMILIES : NULL, NULL);
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, silence);
    canvas->map = pango_cairo_font_map_new();
    canvas->context = pango_font_map_create_context(canvas->map);
    cairo_font_options_t *plain = cairo_font_options_create();
    cairo_font_options_set_antialias(plain, CAIRO_ANTIALIAS_GRAY);
    cairo_font_options_set_hint_style(plain, CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_hint_metrics(plain, CAIRO_HINT_METRICS_OFF);
    pango_cairo_context_set_font_options(canvas->context, plain);
    cairo_font_options_destroy(plain);
    pango_cairo_context_set_resolution(canvas->context, 72);
    pango_context_set_round_glyph_positions(canvas->context, FALSE);
    canvas->scratch = cairo_recording_surface_create(CAIRO_CONTENT_ALPHA, NULL);
    if (!has_no_error(cairo_surface_status(canvas->scratch), e))
        canvas_close(&canvas);
    return canvas;
}

void canvas_close(struct canvas **canvas)
{
    if (!*canvas)
        return;
    cairo_surface_destroy((*canvas)->scratch);
    g_object_unref((*canvas)->context);
    g_object_unref((*canvas)->map);
    g_free((*canvas)->families);
    free(*canvas);
    *canvas = NULL;
}

/*
 * Guesses the language of a text. Chinese, Japanese and Korean share characters but draw them
 * differently. Kana and Hangul identify the last two. The user's locale is not used, because the
 * same film must give the same image everywhere.
 */
static const char *language_of(const char *text)
{
    const char *language = "en";
    for (const char *c = text; *c; c = g_utf8_next_char(c)) {
        gunichar u = g_utf8_get_char(c);
        if (u >= 0x3040 && u <= 0x30ff)
            return "ja";
        if (u >= 0xac00 && u <= 0xd7a3)
            return "ko";
        if ((u >= 0x3400 && u <= 0x9fff) || (u >= 0x20000 && u <= 0x323af))
            language = "zh-cn";
    }
    return language;
}

/* Returns a pango layout of the text. The caller frees it with g_object_unref(). */
static PangoLayout *lay_out(struct canvas *canvas, const struct layout_text *t)
{
    pango_context_set_language(canvas->context, pango_language_from_string(language_of(t->text)));
    PangoLayout *layout = pango_layout_new(canvas->context);
    PangoFontDescription *font = pango_font_description_new();
    pango_font_description_set_family(font, canvas->families);
    pango_font_description_set_absolute_size(font, t->size * PANGO_SCALE);
    pango_layout_set_font_description(layout, font);
    pango_font_description_free(font);
    pango_layout_set_text(layout, t->text, -1);
    pango_layout_set_single_paragraph_mode(layout, TRUE);
    pango_layout_set_width(layout, (int)(t->w * PANGO_SCALE));
    pango_layout_set_wrap(layout, PANGO_WRAP_WORD_CHAR);
    pango_layout_set_height(layout, -t->lines);
    pango_layout_set_ellipsize(layout, PANGO_ELLIPSIZE_END);
    /* pango swaps left and right for text that runs from right to left. */
    bool turned =
        t->align != LAYOUT_START && pango_layout_get_direction(layout, 0) == PANGO_DIRECTION_RTL;
    PangoAlignment align = turned ? PANGO_ALIGN_RIGHT : PANGO_ALIGN_LEFT;
    if (t->align == LAYOUT_CENTRE)
        align = PANGO_ALIGN_CENTER;
    else if (t->align == LAYOUT_RIGHT)
        align = turned ? PANGO_ALIGN_LEFT : PANGO_ALIGN_RIGHT;
    pango_layout_set_alignment(layout, align);
    return layout;
}

/* Returns a cairo context in which text of this size has an em of OUTLINE_EM pixels, and applies it
 * to pango's context. The caller frees it with cairo_destroy(). */
static cairo_t *at_outline_size(struct canvas *canvas, const struct layout_text *t)
{
    cairo_t *cr = cairo_create(canvas->scratch);
    cairo_scale(cr, OUTLINE_EM / t->size, OUTLINE_EM / t->size);
    pango_cairo_update_context(cr, canvas->context);
    return cr;
}

void canvas_measure(struct canvas *canvas, const struct layout_text *text, double *w, double *h)
{
    cairo_t *cr = at_outline_size(canvas, text);
    PangoLayout *layout = lay_out(canvas, text);
    int width, height;
    pango_layout_get_size(layout, &width, &height);
    *w = (double)width / PANGO_SCALE;
    *h = (double)height / PANGO_SCALE;
    g_object_unref(layout);
    cairo_destroy(cr);
}

int canvas_unknown(struct canvas *canvas, const struct layout_text *text, bool *leftward)
{
    PangoLayout *layout = lay_out(canvas, text);
    *leftward = pango_layout_get_direction(layout, 0) == PANGO_DIRECTION_RTL;
    int unknown = pango_layout_get_unknown_glyphs_count(layout);
    g_object_unref(layout);
    return unknown;
}

const char *canvas_families(const struct canvas *canvas) { return canvas->families; }

/* Copies a line as drawn, with the ellipsis of a line that is shortened. */
static void copy_line(PangoLayoutLine *line, const char *text, char to[LAYOUT_TEXT])
{
    int from = line->start_index, length = line->length;
    for (GSList *run = line->runs; run; run = run->next) {
        const PangoItem *item = ((const PangoGlyphItem *)run->data)->item;
        if (!(item->analysis.flags & PANGO_ANALYSIS_FLAG_IS_ELLIPSIS))
            continue;
        int behind = item->offset + item->length;
        snprintf(to, LAYOUT_TEXT, "%.*s\xe2\x80\xa6%.*s", item->offset - from, text + from,
                 from + length - behind, text + behind);
        return;
    }
    snprintf(to, LAYOUT_TEXT, "%.*s", length, text + from);
}

int canvas_lines(struct canvas *canvas, const struct layout_text *t, struct canvas_line *line,
                 int most)
{
    cairo_t *cr = at_outline_size(canvas, t);
    PangoLayout *layout = lay_out(canvas, t);
    PangoLayoutIter *at = pango_layout_get_iter(layout);
    int count = 0;
    do {
        PangoRectangle box;
        PangoLayoutLine *from = pango_layout_iter_get_line_readonly(at);
        struct canvas_line *to = &line[count++];
        pango_layout_iter_get_line_extents(at, NULL, &box);
        to->leftward = from->resolved_dir == PANGO_DIRECTION_RTL;
        to->x = t->x + (double)(box.x + (to->leftward ? box.width : 0)) / PANGO_SCALE;
        to->y = t->y + (double)pango_layout_iter_get_baseline(at) / PANGO_SCALE;
        copy_line(from, t->text, to->text);
    } while (count < most && pango_layout_iter_next_line(at));
    pango_layout_iter_free(at);
    g_object_unref(layout);
    cairo_destroy(cr);
    return count;
}

/*
 * Returns the outlines of the text at its place. The caller frees them with cairo_path_destroy().
 */
static cairo_path_t *copy_outlines(struct canvas *canvas, const struct layout_text *t)
{
    cairo_t *cr = at_outline_size(canvas, t);
    PangoLayout *layout = lay_out(canvas, t);
    cairo_move_to(cr, t->x, t->y);
    pango_cairo_layout_path(cr, layout);
    cairo_path_t *path = cairo_copy_path(cr);
    g_object_unref(layout);
    cairo_destroy(cr);
    return path;
}

static void colour(cairo_t *cr, const uint8_t rgb[3])
{
    cairo_set_source_rgb(cr, rgb[0] / 255.0, rgb[1] / 255.0, rgb[2] / 255.0);
}

/* Returns true if a part of the item may be between these two heights. */
static bool between(const struct layout_item *i, double from, double to)
{
    double top = i->h < 0 ? i->y + i->h : i->y, foot = i->h < 0 ? i->y : i->y + i->h;
    if (i->kind == LAYOUT_WORDS) {
        top = i->words.y - 2 * i->words.size;
        foot = i->words.y + (3 * i->words.lines + 2) * i->words.size;
    }
    return foot + i->thick >= from && top - i->thick <= to;
}

/*
 * Returns true if the text may have glyphs that are images (emoji), which have no outlines. Other
 * text is drawn as outlines, because cairo places glyphs on whole pixels, which makes the spacing
 * of small text uneven.
 */
static bool has_pictures(const struct layout_text *t)
{
    for (const char *c = t->text; *c; c = g_utf8_next_char(c))
        if (g_utf8_get_char(c) >= 0x1f000 && g_utf8_get_char(c) < 0x20000)
            return true;
    return false;
}

static void draw_words(struct canvas *canvas, cairo_t *cr, const struct layout_text *t,
                       bool outlines)
{
    if (outlines && !has_pictures(t)) {
        cairo_path_t *path = copy_outlines(canvas, t);
        cairo_append_path(cr, path); /* also copies an error of the path */
        cairo_fill(cr);
        cairo_path_destroy(path);
        return;
    }
    pango_cairo_update_context(cr, canvas->context);
    PangoLayout *layout = lay_out(canvas, t);
    cairo_move_to(cr, t->x, t->y);
    pango_cairo_show_layout(cr, layout);
    g_object_unref(layout);
}

static void draw_item(struct canvas *canvas, cairo_t *cr, const struct layout_item *i,
                      bool outlines)
{
    colour(cr, i->rgb);
    if (i->kind == LAYOUT_AREA) {
        cairo_rectangle(cr, i->x, i->y, i->w, i->h);
        cairo_fill(cr);
    } else if (i->kind == LAYOUT_LINE) {
        cairo_set_line_width(cr, i->thick);
        cairo_move_to(cr, i->x, i->y);
        cairo_line_to(cr, i->x + i->w, i->y + i->h);
        cairo_stroke(cr);
    } else {
        draw_words(canvas, cr, &i->words, outlines);
    }
}

static void draw_items(struct canvas *canvas, cairo_t *cr, const struct layout *s, double from,
                       double to)
{
    colour(cr, s->colours.paper);
    cairo_paint(cr);
    for (size_t i = 0; i < s->items; i++)
        if (between(&s->item[i], from, to))
            draw_item(canvas, cr, &s->item[i], s->scale > 0);
}

/* ---- Pixels ---- */

static void copy_pixels(cairo_surface_t *tile, int w, int rows, int x, int width, uint8_t *rgb)
{
    cairo_surface_flush(tile);
    const uint8_t *data = cairo_image_surface_get_data(tile);
    size_t stride = (size_t)cairo_image_surface_get_stride(tile);
    for (int y = 0; y < rows; y++) {
        const uint32_t *from = (const uint32_t *)(const void *)(data + (size_t)y * stride);
        uint8_t *to = rgb + ((size_t)y * (size_t)width + (size_t)x) * 3;
        for (int i = 0; i < w; i++, to += 3) {
            to[0] = (uint8_t)(from[i] >> 16);
            to[1] = (uint8_t)(from[i] >> 8);
            to[2] = (uint8_t)from[i];
        }
    }
}

bool canvas_pixels(struct canvas *canvas, const struct layout *s, int y, int rows, int width,
                   uint8_t *rgb, struct err *e)
{
    bool ok = true;
    for (int x = 0; x < width && ok; x += TILE) {
        int w = width - x < TILE ? width - x : TILE;
        cairo_surface_t *tile = cairo_image_surface_create(CAIRO_FORMAT_RGB24, w, rows);
        cairo_t *cr = cairo_create(tile);
        cairo_translate(cr, -x, -y);
        cairo_scale(cr, s->scale, s->scale);
        draw_items(canvas, cr, s, y / s->scale, (y + rows) / s->scale);
        ok = has_no_error(cairo_status(cr), e);
        if (ok)
            copy_pixels(tile, w, rows, x, width, rgb);
        cairo_destroy(cr);
        cairo_surface_destroy(tile);
    }
    return ok;
}

/* ---- PDF ---- */

struct pdf {
    canvas_sink *sink;
    void *user;
    struct err *e;
    bool failed; /* *e has the reason */
};

static cairo_status_t write_pdf(void *closure, const unsigned char *bytes, unsigned size)
{
    struct pdf *pdf = closure;
    if (pdf->failed || interrupted() || !pdf->sink(pdf->user, bytes, size, pdf->e))
        pdf->failed = true;
    return pdf->failed ? CAIRO_STATUS_WRITE_ERROR : CAIRO_STATUS_SUCCESS;
}

/* Converts a row of a shape to cairo's pixels, with premultiplied alpha. */
static void put_row(const uint8_t *from, int channels, int width, uint32_t *to)
{
    for (int x = 0; x < width; x++, from += channels) {
        uint32_t a = channels == 4 ? from[3] : 255;
        to[x] = a << 24 | (from[0] * a + 127) / 255 << 16 | (from[1] * a + 127) / 255 << 8 |
                (from[2] * a + 127) / 255;
    }
}

static bool fill_surface(struct shape *f, int channels, cairo_surface_t *surface, struct err *e)
{
    int width = cairo_image_surface_get_width(surface),
        height = cairo_image_surface_get_height(surface);
    size_t stride = (size_t)cairo_image_surface_get_stride(surface),
           bytes = (size_t)width * (size_t)channels;
    uint8_t *row = malloc(bytes), *data = cairo_image_surface_get_data(surface);
    if (!row)
        return err_memory(e, bytes);
    bool go_on = true;
    for (int y = 0; y < height && (go_on = !interrupted()); y++) {
        shape_row(f, y, row);
        put_row(row, channels, width, (uint32_t *)(void *)(data + (size_t)y * stride));
    }
    free(row);
    cairo_surface_mark_dirty(surface);
    return go_on || interrupt_error(e);
}

/* Draws a strip at its own size in pixels, scaled to its place without interpolation. */
static bool draw_shape(cairo_t *cr, const struct layout *s, const struct layout_shape *place,
                       struct err *e)
{
    int width, height, channels = shape_channels(s->report->picture.shape);
    shape_size(s->report, SHAPE_SIDE_MOST, &width, &height);
    struct shape *f = shape_open(s->report, place->kind, width, height, e);
    if (!f)
        return false;
    cairo_surface_t *surface = cairo_image_surface_create(
        channels == 4 ? CAIRO_FORMAT_ARGB32 : CAIRO_FORMAT_RGB24, width, height);
    bool ok =
        has_no_error(cairo_surface_status(surface), e) && fill_surface(f, channels, surface, e);
    if (ok) {
        cairo_save(cr);
        cairo_translate(cr, place->x, place->y);
        cairo_scale(cr, place->w / width, place->h / height);
        cairo_set_source_surface(cr, surface, 0, 0);
        cairo_pattern_set_filter(cairo_get_source(cr), CAIRO_FILTER_NEAREST);
        cairo_paint(cr);
        cairo_restore(cr);
        ok = has_no_error(cairo_status(cr), e);
    }
    cairo_surface_destroy(surface);
    shape_free(&f);
    return ok;
}

static void set_pdf_metadata(cairo_surface_t *surface, const struct canvas_about *about)
{
    cairo_pdf_surface_restrict_to_version(surface, CAIRO_PDF_VERSION_1_5);
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_TITLE, about->title);
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_SUBJECT, about->subject);
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_KEYWORDS, about->keywords);
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATOR, about->creator);
    /* otherwise the current time */
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATE_DATE, NULL);
}

bool canvas_pdf(struct canvas *canvas, const struct layout *s, const struct canvas_about *about,
                canvas_sink *sink, void *user, struct err *e)
{
    struct pdf pdf = {.sink = sink, .user = user, .e = e};
    double points = s->unit_mm > 0 ? 1 : 0.75; /* a pixel is 1/96 inch, as in CSS */
    cairo_surface_t *surface =
        cairo_pdf_surface_create_for_stream(write_pdf, &pdf, s->width * points, s->height * points);
    set_pdf_metadata(surface, about);
    cairo_t *cr = cairo_create(surface);
    cairo_scale(cr, points, points);
    draw_items(canvas, cr, s, -INFINITY, INFINITY);
    bool ok = has_no_error(cairo_status(cr), e);
    for (size_t i = 0; i < s->shapes && ok; i++)
        ok = draw_shape(cr, s, &s->shape[i], e);
    if (ok)
        cairo_show_page(cr);
    cairo_destroy(cr);
    cairo_surface_finish(surface); /* writes most of the file */
    ok = ok && !pdf.failed && has_no_error(cairo_surface_status(surface), e);
    cairo_surface_destroy(surface);
    return ok;
}

/* ---- SVG ---- */

static void print_point(FILE *f, char command, const cairo_path_data_t *data, int points)
{
    fputc(command, f);
    for (int i = 1; i <= points; i++)
        fprintf(f, "%s%.3f %.3f", i > 1 ? " " : "", data[i].point.x, data[i].point.y);
}

static void print_path(FILE *f, const cairo_path_t *path)
{
    for (int i = 0; i < path->num_data; i += path->data[i].header.length) {
        const cairo_path_data_t *d = &path->data[i];
        if (d->header.type == CAIRO_PATH_MOVE_TO)
            print_point(f, 'M', d, 1);
        else if (d->header.type == CAIRO_PATH_LINE_TO)
            print_point(f, 'L', d, 1);
        else if (d->header.type == CAIRO_PATH_CURVE_TO)
            print_point(f, 'C', d, 3);
        else
            fputc('Z', f);
    }
}

char *canvas_outlines(struct canvas *canvas, const struct layout_text *text, struct err *e)
{
    char *d = NULL;
    size_t size;
    FILE *f = open_memstream(&d, &size);
    if (!f) {
        err_memory(e, sizeof text->text);
        return NULL;
    }
    cairo_path_t *path = copy_outlines(canvas, text);
    bool ok = has_no_error(path->status, e);
    print_path(f, path);
    cairo_path_destroy(path);
    if (fclose(f) != 0)
        ok = err_memory(e, sizeof text->text);
    if (ok)
        return d;
    free(d);
    return NULL;
}
