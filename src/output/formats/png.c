#include "output/writer.h"

#include <errno.h>
#include <inttypes.h>
#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/version.h"
#include "output/poster/paint.h"
#include "output/text/labels.h"
#include "output/poster/layout.h"
#include "png.h"

/* Compression levels of zlib. Level 4 is much faster than 6 for full images, and the files are
 * about as small. */
enum {
    TEXTS_MAX = 30,
    VALUE_SIZE = 1100,
    CHUNK_SIZE = 1 << 16,
    COMPRESSION = 4,
    COMPRESSION_BARE = 6,
    COMPRESSION_QUICK = 1
};

/* The state of an image that is being written. It lives in the caller of setjmp's caller, so that
 * nothing needs to survive the jump in a register. */
struct job {
    const struct report *report;
    FILE *file;
    struct err *err;
    png_structp png;
    png_infop info;
    struct painter *painter;
    uint8_t *row;
    png_text text[TEXTS_MAX];
    char (*value)[VALUE_SIZE]; /* [TEXTS_MAX], what text[] points to */
    int texts;
    int compression;
};

static void on_error(png_structp png, png_const_charp message)
{
    struct job *job = png_get_error_ptr(png);
    err_set(job->err, ERR_FAILED, "%s", message); /* on_write's message stays */
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message)
{
    (void)png;
    (void)message; /* libpng warns about unusual text but writes it */
}

static void on_write(png_structp png, png_bytep data, size_t length)
{
    struct job *job = png_get_io_ptr(png);
    errno = 0;
    if (!interrupted() && fwrite(data, 1, length, job->file) == length)
        return;
    err_set(job->err, ERR_FAILED, "%s", strerror(errno ? errno : EIO));
    png_error(png, "write");
}

static void on_flush(png_structp png) { (void)png; /* writer_save flushes the file */ }

static bool is_ascii(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text > 0x7e)
            return false;
    return true;
}

/* Adds tEXt if the text is ASCII, otherwise iTXt. The key must outlive the job. */
static void add_text(struct job *job, const char *key, const char *value)
{
    if (job->texts == TEXTS_MAX)
        return;
    char *copy = job->value[job->texts];
    paint_text_utf8(value, true, copy, VALUE_SIZE);
    png_text *t = &job->text[job->texts++];
    *t = (png_text){0};
    t->key = (png_charp)key;
    t->text = copy;
    if (is_ascii(copy)) {
        t->compression = PNG_TEXT_COMPRESSION_NONE;
        t->text_length = strlen(copy);
    } else {
        t->compression = PNG_ITXT_COMPRESSION_NONE;
        t->itxt_length = strlen(copy);
        t->lang = (png_charp) "";
        t->lang_key = (png_charp) "";
    }
}

static void add_number(struct job *job, const char *key, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, value);
    add_text(job, key, text);
}

static void add_seconds(struct job *job, const char *key, int64_t us)
{
    char text[40];
    paint_text_seconds(us, text, sizeof text);
    add_text(job, key, text);
}

/* Adds "k-means (largest of 8 clusters) of 'a film.mkv': every 24th frame, 720 columns". */
static void add_description(struct job *job, struct strips strips)
{
    const struct report *r = job->report;
    char titles[400], note[80], selection[200], text[VALUE_SIZE];
    paint_text_titles(strips, titles, sizeof titles);
    strips.kind[0]->note(r, note, sizeof note);
    paint_text_selection(&r->selection, selection, sizeof selection);
    bool alone = strips.count == 1;
    snprintf(text, sizeof text, "%s%s%s%s of '%s': %s, %" PRIu64 " %s", titles, alone ? " (" : "",
             alone ? note : "", alone ? ")" : "", paint_text_file_name(r->film->path), selection,
             r->count, r->count == 1 ? "column" : "columns");
    add_text(job, "Description", text);
}

static void add_selection_texts(struct job *job)
{
    const struct selection *s = &job->report->selection;
    if (s->kind == SELECT_EVERY)
        add_number(job, "barcode:every", s->every);
    else if (s->kind == SELECT_INTERVAL)
        add_seconds(job, "barcode:interval", s->interval_us);
    add_number(job, PNG_COLUMNS_KEY, job->report->count);
    if (s->keyframes)
        add_text(job, "barcode:keyframes", "true");
    if (s->start_us > 0)
        add_seconds(job, "barcode:start", s->start_us);
    if (s->end_us != INT64_MAX)
        add_seconds(job, "barcode:end", s->end_us);
}

/* Adds the crop rectangles of the film's frames in the syntax of --crop. */
static void add_crop(struct job *job)
{
    const struct report *r = job->report;
    char all[CROP_RECTS * (CROP_TEXT + 1)] = "";
    for (int i = 0; i < r->crop.count; i++) {
        char text[CROP_TEXT];
        crop_shown_text(&r->crop, i, r->film->orientation, text);
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", i > 0 ? " " : "", text);
    }
    if (all[0])
        add_text(job, "barcode:crop", all);
}

/* Adds how HDR, primaries and means were computed, if not the default. */
static void add_light_texts(struct job *job)
{
    const struct report *r = job->report;
    if (r->film->transfer != TRANSFER_SDR) {
        add_text(job, "barcode:tone_map", light_map_name(r->light.map));
        if (r->light.map != TONE_OFF)
            add_number(job, "barcode:hdr_peak", (uint64_t)r->light.peak);
    }
    if (r->primaries)
        add_text(job, "barcode:primaries", r->primaries);
    if (r->light.linear)
        add_text(job, "barcode:light", "linear");
}

static void add_hundredths(struct job *job, const char *key, int value)
{
    char text[24];
    snprintf(text, sizeof text, "%d.%02d", value / 100, value % 100);
    add_text(job, key, text);
}

/* Adds what determines the image and nothing else: no engine, no times. So the same input gives the
 * same bytes. */
static void add_all_texts(struct job *job, struct strips strips)
{
    const struct report *r = job->report;
    const struct kmeans_params *k = &r->kmeans;
    char size[32], title[LAYOUT_TEXT], modes[STRIPS_NAME];
    strips_name(strips, modes);
    snprintf(size, sizeof size, "%dx%d", r->width, r->height);
    add_text(job, "Software", "barcode " BARCODE_VERSION);
    if (r->film_id[0])
        add_text(job, PNG_FILM_KEY, r->film_id); /* near the beginning, where writer_made reads */
    if (r->fingerprint[0])
        add_text(job, PNG_FINGERPRINT_KEY, r->fingerprint);
    layout_title(r, title);
    add_text(job, "Title", r->poster ? title : paint_text_file_name(r->film->path));
    add_description(job, strips);
    add_text(job, "barcode:mode", modes);
    add_selection_texts(job);
    add_text(job, PNG_SIZE_KEY, size);
    add_crop(job);
    add_light_texts(job);
    if (r->shape != SHAPE_STRIP)
        add_text(job, "barcode:shape", strip_shape_name(r->shape));
    if (r->smooth_us > 0)
        add_seconds(job, "barcode:smooth", r->smooth_us);
    if (r->missing > 0)
        add_number(job, "barcode:missing", r->missing);
    if (r->partial)
        add_text(job, PNG_PARTIAL_KEY, "yes");
    if (r->steady > 0 && (strips_obey(strips) & STRIP_STEADY))
        add_number(job, "barcode:steady", (uint64_t)r->steady);
    if (strips_need(strips) & STRIP_SLIT) {
        add_hundredths(job, "barcode:slit", r->slit.x);
        add_hundredths(job, "barcode:rotate", r->slit.angle);
    }
    if (!(strips_need(strips) & STRIP_CLUSTERS))
        return;
    add_number(job, "barcode:k", (uint64_t)k->k);
    add_number(job, "barcode:n_init", (uint64_t)k->n_init);
    add_text(job, "barcode:race", k->race ? "yes" : "no");
    add_text(job, "barcode:init", kmeans_init_name(k->init));
    add_number(job, "barcode:max_iter", (uint64_t)k->max_iter);
    add_number(job, "barcode:seed", k->seed);
    if (strips_obey(strips) & STRIP_ORDER)
        add_text(job, "barcode:order", palette_order_name(r->order));
}

/* Writes the complete file. Every libpng call that may jump is in here or below. */
static bool encode(struct job *job)
{
    if (setjmp(png_jmpbuf(job->png)))
        return false;
    png_structp png = job->png;
    png_set_write_fn(png, job, on_write, on_flush);
    /* libpng's default limit is a million */
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_compression_level(png, job->compression);
    if (job->report->quick)
        png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_UP);
    png_set_compression_buffer_size(png, CHUNK_SIZE);
    png_set_IHDR(png, job->info, (png_uint_32)painter_width(job->painter),
                 (png_uint_32)painter_height(job->painter), 8,
                 painter_channels(job->painter) == 4 ? PNG_COLOR_TYPE_RGB_ALPHA
                                                     : PNG_COLOR_TYPE_RGB,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_sRGB(png, job->info, PNG_sRGB_INTENT_PERCEPTUAL);
    if (job->report->poster && !job->report->page.pixels) {
        png_uint_32 per_metre = (png_uint_32)((job->report->dpi * 10000 + 127) / 254);
        png_set_pHYs(png, job->info, per_metre, per_metre, PNG_RESOLUTION_METER);
    }
    png_set_text(png, job->info, job->text, job->texts);
    png_write_info(png, job->info);
    for (int y = 0; y < painter_height(job->painter); y++) {
        /* on_write checks for an interrupt, too, but rows of one colour produce few bytes */
        if (!painter_next_row(job->painter, y, job->row, job->err))
            return false;
        png_write_row(png, job->row);
    }
    png_write_end(png, NULL);
    return true;
}

/* Opens the painter and libpng. `tell` adds the text chunks. */
static bool prepare(struct job *job, struct strips strips, bool tell)
{
    job->painter = painter_open(job->report, strips, job->err);
    if (!job->painter)
        return false;
    size_t line = (size_t)painter_width(job->painter) * (size_t)painter_channels(job->painter);
    if (!(job->row = malloc(line)))
        return err_memory(job->err, line);
    if (!(job->value = calloc(TEXTS_MAX, VALUE_SIZE)))
        return err_memory(job->err, (size_t)TEXTS_MAX * VALUE_SIZE);
    if (tell)
        add_all_texts(job, strips);
    job->png = png_create_write_struct(PNG_LIBPNG_VER_STRING, job, on_error, on_warning);
    job->info = job->png ? png_create_info_struct(job->png) : NULL;
    if (!job->info)
        return err_set(
            job->err, ERR_FAILED,
            "cannot initialize libpng: out of memory, or the library has another version");
    return true;
}

static bool make_png(const struct report *r, struct strips strips, bool tell, int compression,
                     FILE *f, struct err *e)
{
    struct err own = ERR_INIT; /* on_error needs a place even if the caller passes NULL */
    struct job job = {.report = r, .file = f, .err = e ? e : &own, .compression = compression};
    bool done = prepare(&job, strips, tell) && encode(&job);
    png_destroy_write_struct(&job.png, &job.info);
    painter_free(&job.painter);
    free(job.row);
    free(job.value);
    return done;
}

static bool write_png(const struct report *r, struct strips strips, FILE *f, struct err *e)
{
    return make_png(r, strips, true, r->quick ? COMPRESSION_QUICK : COMPRESSION, f, e);
}

bool writer_png_bare(const struct report *r, struct strips strips, FILE *f, struct err *e)
{
    return make_png(r, strips, false, COMPRESSION_BARE, f, e);
}

static const char *const ending[] = {"png", NULL};

const struct writer writer_png = {.name = "png",
                                  .title = "PNG",
                                  .ending = ending,
                                  .binary = true,
                                  .one_a_strip = true,
                                  .pixels = true,
                                  .recognizes = writer_png_recognizes,
                                  .read_metadata = writer_png_metadata,
                                  .write = write_png};
