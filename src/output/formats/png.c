#include "images.h"
#include "provenance.h"

#include <errno.h>
#include <inttypes.h>
#include <png.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/version.h"
#include "media/ffmpeg/ffmpeg.h"
#include "output/poster/layout.h"
#include "output/poster/poster.h"
#include "output/poster/labels.h"
#include "output/writer.h"

#define FILM_KEY "barcode:film"
#define FINGERPRINT_KEY "barcode:fingerprint"
#define COLUMNS_KEY "barcode:columns"
#define SIZE_KEY "barcode:size"
#define PARTIAL_KEY "barcode:partial"

static const uint8_t signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

static uint32_t big_endian(const uint8_t *b)
{
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

/* Returns the text of a chunk with this key, and its size; NULL if the chunk has another key. iTXt
 * has some fields before its text. */
static const uint8_t *chunk_text(const uint8_t *chunk, size_t length, const char *key, size_t *size)
{
    const uint8_t *data = chunk + 8, *end = data + length;
    if (length < strlen(key) + 1 || memcmp(data, key, strlen(key) + 1) != 0)
        return NULL;
    data += strlen(key) + 1;
    if (memcmp(chunk + 4, "iTXt", 4) == 0) {
        data += 2;                                /* compression flag and method */
        for (int field = 0; field < 2; field++) { /* language, translated keyword */
            const uint8_t *zero = data < end ? memchr(data, 0, (size_t)(end - data)) : NULL;
            if (!zero)
                return NULL;
            data = zero + 1;
        }
    } else if (memcmp(chunk + 4, "tEXt", 4) != 0) {
        return NULL;
    }
    *size = (size_t)(end - data);
    return data;
}

/* Recognizes the text chunks at the beginning of the image. */
static bool recognize_png(const uint8_t *head, size_t size, char film[FILM_ID_TEXT])
{
    static const char name[] = "barcode";
    bool is_barcode = false;
    if (size < sizeof signature || memcmp(head, signature, sizeof signature) != 0)
        return false;
    for (size_t at = sizeof signature; at + 12 <= size;) {
        size_t length = big_endian(head + at), bytes;
        if (length > size - at - 12)
            break;
        const uint8_t *software = chunk_text(head + at, length, "Software", &bytes);
        is_barcode |=
            software && bytes >= strlen(name) && memcmp(software, name, strlen(name)) == 0;
        const uint8_t *id = chunk_text(head + at, length, FILM_KEY, &bytes);
        if (id && bytes < FILM_ID_TEXT)
            snprintf(film, FILM_ID_TEXT, "%.*s", (int)bytes, (const char *)id);
        at += length + 12;
    }
    return is_barcode;
}

/* ---- The complete file ---- */

enum { PIECE = 1 << 14 };

/* The reader of a file: a piece of a chunk's data at a time. */
struct walk {
    FILE *file;
    uint8_t chunk[8 + PIECE]; /* length and type, then the latest piece of the data */
};

/* Reads a chunk after its length and type, which are in w->chunk. Returns true if its checksum is
 * correct. The data of a small chunk is then in w->chunk. */
static bool read_chunk(struct walk *w, uint32_t length)
{
    uint32_t crc = crc32_add(0xffffffffu, w->chunk + 4, 4);
    uint8_t end[4];
    while (length > 0) {
        size_t bytes = length < PIECE ? length : PIECE;
        if (fread(w->chunk + 8, 1, bytes, w->file) != bytes)
            return false;
        crc = crc32_add(crc, w->chunk + 8, bytes);
        length -= (uint32_t)bytes;
    }
    return fread(end, 1, sizeof end, w->file) == sizeof end &&
           big_endian(end) == (crc ^ 0xffffffffu);
}

/* Copies the text of the chunk in `w` if it has this key. Returns false if it has another key or
 * does not fit. */
static bool copy_text(const struct walk *w, uint32_t length, const char *key, char *text,
                      size_t room)
{
    size_t bytes;
    const uint8_t *data = chunk_text(w->chunk, length, key, &bytes);
    if (!data || bytes >= room)
        return false;
    memcpy(text, data, bytes);
    text[bytes] = 0;
    return true;
}

static void read_text(const struct walk *w, uint32_t length, struct writer_metadata *metadata,
                      bool *is_barcode)
{
    char text[64];
    if (copy_text(w, length, "Software", text, sizeof text))
        *is_barcode |= strncmp(text, "barcode", 7) == 0;
    else if (copy_text(w, length, COLUMNS_KEY, text, sizeof text))
        metadata->columns = strtoull(text, NULL, 10);
    else if (copy_text(w, length, SIZE_KEY, text, sizeof text))
        provenance_read_size(text, metadata);
    else if (copy_text(w, length, PARTIAL_KEY, text, sizeof text))
        metadata->partial = true;
    else if (!copy_text(w, length, FILM_KEY, metadata->film, sizeof metadata->film))
        copy_text(w, length, FINGERPRINT_KEY, metadata->fingerprint, sizeof metadata->fingerprint);
}

/* Checks all chunks: each must have a correct checksum, the last must be IEND, and nothing may
 * follow it. */
static bool read_png_metadata(FILE *f, struct writer_metadata *metadata)
{
    struct walk w = {.file = f};
    bool is_barcode = false, ended = false;
    uint8_t head[sizeof signature];
    if (fread(head, 1, sizeof head, f) != sizeof head || memcmp(head, signature, sizeof head) != 0)
        return false;
    while (!ended) {
        if (fread(w.chunk, 1, 8, f) != 8)
            return false;
        uint32_t length = big_endian(w.chunk);
        if (length > INT32_MAX || !read_chunk(&w, length))
            return false;
        if (length <= PIECE)
            read_text(&w, length, metadata, &is_barcode);
        ended = memcmp(w.chunk + 4, "IEND", 4) == 0;
    }
    return is_barcode && fgetc(f) == EOF;
}

bool png_pixels_write(const uint8_t *rgb, int width, int height, FILE *f, struct err *e)
{
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = (png_uint_32)width,
                       .height = (png_uint_32)height,
                       .format = PNG_FORMAT_RGB,
                       .flags = PNG_IMAGE_FLAG_FAST};
    bool done = png_image_write_to_stdio(&image, f, 0, rgb, 0, NULL);
    if (!done)
        err_set(e, ERR_FAILED, "%s", image.message);
    png_image_free(&image);
    return done;
}

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

/* libpng's own message does not say that memory ran out, so that the film is rendered again. */
static png_voidp on_allocate(png_structp png, png_alloc_size_t bytes)
{
    struct job *job = png_get_mem_ptr(png);
    void *memory = malloc(bytes);
    if (!memory)
        err_memory(job->err, bytes);
    return memory;
}

static void on_free(png_structp png, png_voidp memory)
{
    (void)png;
    free(memory);
}

static void on_write(png_structp png, png_bytep data, size_t length)
{
    struct job *job = png_get_io_ptr(png);
    errno = 0;
    if (!interrupted() && fwrite(data, 1, length, job->file) == length)
        return;
    writer_failed(job->err);
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

static void add_text(struct job *job, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds tEXt if the text is ASCII, otherwise iTXt. The key must outlive the job. */
static void add_text(struct job *job, const char *key, const char *format, ...)
{
    char value[VALUE_SIZE];
    va_list args;
    if (job->texts == TEXTS_MAX)
        return;
    va_start(args, format);
    vsnprintf(value, sizeof value, format, args);
    va_end(args);
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

static void add_seconds(struct job *job, const char *key, int64_t us)
{
    char text[40];
    paint_text_seconds(us, text, sizeof text);
    add_text(job, key, "%s", text);
}

/* Adds "k-means (largest of 8 clusters) of 'a film.mkv': every 24th frame, 720 columns". */
static void add_description(struct job *job, struct strips strips)
{
    const struct report *r = job->report;
    char titles[400], note[80], selection[200];
    paint_text_titles(strips, titles, sizeof titles);
    strips.kind[0]->note(r, note, sizeof note);
    paint_text_selection(&r->analysis.selection, selection, sizeof selection);
    bool alone = strips.count == 1;
    const char *unit = r->analysis.by_shot ? "shot" : "column";
    add_text(job, "Description", "%s%s%s%s of '%s': %s, %" PRIu64 " %s%s", titles,
             alone ? " (" : "", alone ? note : "", alone ? ")" : "",
             paint_text_file_name(r->film->path), selection, r->count, unit,
             r->count == 1 ? "" : "s");
}

static void add_selection_texts(struct job *job)
{
    const struct selection *s = &job->report->analysis.selection;
    if (s->kind == SELECT_EVERY)
        add_text(job, "barcode:every", "%" PRIu64, s->every);
    else if (s->kind == SELECT_INTERVAL)
        add_seconds(job, "barcode:interval", s->interval_us);
    add_text(job, COLUMNS_KEY, "%" PRIu64, job->report->count);
    if (s->keyframes)
        add_text(job, "barcode:keyframes", "true");
    if (s->start_us > 0)
        add_seconds(job, "barcode:start", s->start_us);
    if (s->end_us != INT64_MAX)
        add_seconds(job, "barcode:end", s->end_us);
}

/* Adds how HDR, primaries and means were computed, if not the default. */
static void add_light_texts(struct job *job)
{
    const struct report *r = job->report;
    if (r->film->transfer != TRANSFER_SDR) {
        add_text(job, "barcode:tone_map", "%s", light_map_name(r->analysis.light.map));
        if (r->analysis.light.map != TONE_OFF)
            add_text(job, "barcode:hdr_peak", "%d", r->analysis.light.peak);
    }
    if (r->analysis.primaries)
        add_text(job, "barcode:primaries", "%s", r->analysis.primaries);
    if (r->analysis.light.linear)
        add_text(job, "barcode:light", "linear");
}

/* Adds what determines the image and nothing else: no engine, no times. So the same input gives the
 * same bytes. */
static void add_all_texts(struct job *job, struct strips strips)
{
    const struct report *r = job->report;
    const struct kmeans_params *k = &r->analysis.kmeans;
    const struct slit *slit = &r->picture.slit;
    char title[LAYOUT_TEXT], modes[STRIPS_NAME], crop[CROP_RECTS * (CROP_TEXT + 1)];
    strips_name(strips, modes);
    add_text(job, "Software", "barcode " BARCODE_VERSION);
    /* near the beginning, where writer_made reads */
    if (r->id.film_id[0])
        add_text(job, FILM_KEY, "%s", r->id.film_id);
    if (r->id.fingerprint[0])
        add_text(job, FINGERPRINT_KEY, "%s", r->id.fingerprint);
    layout_title(r, title);
    add_text(job, "Title", "%s", r->poster.wanted ? title : paint_text_file_name(r->film->path));
    add_description(job, strips);
    add_text(job, "barcode:mode", "%s", modes);
    add_selection_texts(job);
    add_text(job, SIZE_KEY, "%dx%d", r->analysis.width, r->analysis.height);
    paint_text_crop(r, crop, sizeof crop);
    if (crop[0])
        add_text(job, "barcode:crop", "%s", crop);
    add_light_texts(job);
    if (r->picture.shape != SHAPE_STRIP)
        add_text(job, "barcode:shape", "%s", strip_shape_name(r->picture.shape));
    if (r->picture.smooth_us > 0)
        add_seconds(job, "barcode:smooth", r->picture.smooth_us);
    if (r->missing > 0)
        add_text(job, "barcode:missing", "%" PRIu64, r->missing);
    if (r->id.partial)
        add_text(job, PARTIAL_KEY, "yes");
    if (r->picture.steady > 0 && (strips_obey(strips) & STRIP_STEADY))
        add_text(job, "barcode:steady", "%d", r->picture.steady);
    if (strips_need(strips) & STRIP_SLIT) {
        add_text(job, "barcode:slit", "%d.%02d", slit->x / 100, slit->x % 100);
        add_text(job, "barcode:rotate", "%d.%02d", slit->angle / 100, slit->angle % 100);
    }
    if (!(strips_need(strips) & STRIP_CLUSTERS))
        return;
    add_text(job, "barcode:k", "%d", k->k);
    add_text(job, "barcode:n_init", "%d", k->n_init);
    add_text(job, "barcode:race", k->race ? "yes" : "no");
    add_text(job, "barcode:init", "%s", kmeans_init_name(k->init));
    add_text(job, "barcode:max_iter", "%d", k->max_iter);
    add_text(job, "barcode:seed", "%" PRIu64, k->seed);
    if (strips_obey(strips) & STRIP_ORDER)
        add_text(job, "barcode:order", "%s", palette_order_name(r->picture.order));
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
    if (job->report->poster.wanted && !job->report->poster.page.pixels) {
        png_uint_32 per_metre = (png_uint_32)((job->report->poster.dpi * 10000 + 127) / 254);
        png_set_pHYs(png, job->info, per_metre, per_metre, PNG_RESOLUTION_METER);
    }
    png_set_text(png, job->info, job->text, job->texts);
    png_write_info(png, job->info);
    for (int y = 0; y < painter_height(job->painter); y++) {
        /* on_write checks for an interrupt, too, but rows of one colour produce few bytes */
        if (!painter_row(job->painter, y, job->row, job->err))
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
    job->row = malloc(line);
    if (!job->row)
        return err_memory(job->err, line);
    job->value = calloc(TEXTS_MAX, VALUE_SIZE);
    if (!job->value)
        return err_memory(job->err, (size_t)TEXTS_MAX * VALUE_SIZE);
    if (tell)
        add_all_texts(job, strips);
    job->png = png_create_write_struct_2(PNG_LIBPNG_VER_STRING, job, on_error, on_warning, job,
                                         on_allocate, on_free);
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
    struct job job = {.report = r, .file = f, .err = e, .compression = compression};
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
                                  .recognizes = recognize_png,
                                  .read_metadata = read_png_metadata,
                                  .write = write_png};
