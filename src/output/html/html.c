#include "html.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "output/formats/png.h"

/* The maximum height of a strip whose rows differ: exact at this size, and no larger than a browser
 * displays it. */
enum { STRIP_ROWS_MOST = 240, STRIP_ROWS_WIDE = 160, WIDE = 4000 };

/* The size of a strip of sound, which a browser scales. Its width is a multiple of the columns. */
enum { SOUND_ROWS = SOUND_BANDS, SOUND_WIDTH = 1600 };

uint64_t html_column_index(const struct html_job *job, uint64_t x)
{
    return (2 * x + 1) * job->report->count / (2 * job->columns);
}

const struct column *html_column(const struct html_job *job, uint64_t x)
{
    return columns_get(job->report->columns, html_column_index(job, x));
}

static bool put_base64(FILE *f, const void *data, size_t size)
{
    struct page_base64 b = {.file = f};
    return page_base64_put(&b, data, size) && page_base64_end(&b);
}

bool html_put_png(struct html_job *job, const struct strip_kind *kind, int width, int height,
                  FILE *f)
{
    struct report r = *job->report;
    char *bytes = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&bytes, &size);
    if (!memory)
        return false;
    r.picture_width = width;
    r.picture_height = height;
    /* a page shows time from left to right, whatever the shape of the image is */
    r.poster = false;
    r.shape = SHAPE_STRIP;
    bool done = writer_png_bare(&r, (struct strips){&kind, 1}, memory, job->err);
    done = fclose(memory) == 0 && done && put_base64(f, bytes, size);
    job->used += (size + 2) / 3 * 4;
    free(bytes);
    return done;
}

static int strip_rows(const struct html_job *job, const struct strip_kind *kind)
{
    int most = job->columns > WIDE ? STRIP_ROWS_WIDE : STRIP_ROWS_MOST,
        rows = kind->needs & STRIP_SLIT ? job->report->slit_length : job->report->height;
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
            !html_put_png(job, kind, strip_width(job, kind), strip_rows(job, kind), f) ||
            fputs("\">\n", f) == EOF)
            return false;
    }
    return true;
}

static const struct page_file *const styles[] = {&page_common_css, &page_viewer_css, NULL};
static const struct page_file *const scripts[] = {&page_common_js, &page_sheets_js, &page_save_js,
                                                  &page_viewer_js, NULL};

/* Writes what read_html_metadata and a gallery read. */
static bool put_head(struct html_job *job, FILE *f)
{
    const struct report *r = job->report;
    char columns[64];
    snprintf(columns, sizeof columns, "%" PRIu64 " %dx%d", r->count, r->width, r->height);
    return page_put_head(f, "viewer", styles, scripts) &&
           (!r->film_id[0] || page_put_meta(f, "film", r->film_id)) &&
           (!r->fingerprint[0] || page_put_meta(f, "recipe", r->fingerprint)) &&
           page_put_meta(f, "columns", columns) &&
           (!r->partial || page_put_meta(f, "partial", "yes")) && html_put_card(job, f);
}

static bool fill_page(void *user, const char *mark, FILE *f)
{
    struct html_job *job = user;
    errno = 0;
    if (strcmp(mark, "head") == 0)
        return put_head(job, f);
    if (strcmp(mark, "style") == 0)
        return page_put_files(f, "style", styles);
    if (strcmp(mark, "strips") == 0)
        return put_strips(job, f);
    if (strcmp(mark, "data") == 0)
        return html_put_data(job, f);
    return strcmp(mark, "script") == 0
               ? page_put_files(f, "script", scripts)
               : err_set(job->err, ERR_FAILED,
                         "internal error: unknown placeholder '%s' in the page", mark);
}

static bool write_html(const struct report *r, struct strips strips, FILE *f, struct err *e)
{
    /* What other outputs of the run need of columns must not change the page. */
    struct report own = *r;
    own.needs = strips_need(strips);
    struct html_job job = {.report = &own,
                           .strips = strips,
                           .err = e,
                           .columns = r->count < PAGE_COLUMNS ? r->count : PAGE_COLUMNS};
    if (r->count == 0)
        return err_set(e, ERR_FAILED, "the film has no columns");
    if ((own.needs & STRIP_SOUND) && !column_sound_open(&job.sound, &own, e))
        return false;
    /* If a function has set the reason, err_set keeps it. */
    bool done = page_write(f, &page_viewer_html, fill_page, &job) ||
                err_set(e, ERR_FAILED, "%s", strerror(errno ? errno : EIO));
    thumbs_sheets_free(&job.thumbs);
    column_sound_close(&job.sound);
    return done;
}

static bool recognize_html(const uint8_t *head, size_t size, char film[FILM_ID_TEXT])
{
    if (!page_is((const char *)head, size, "viewer"))
        return false;
    page_take_meta((const char *)head, size, "film", film, FILM_ID_TEXT);
    return true;
}

/* Checks the beginning and the end of the file, which is written from front to back. */
static bool read_html_metadata(FILE *f, struct writer_metadata *metadata)
{
    char head[WRITER_HEAD], text[64];
    size_t size = fread(head, 1, sizeof head, f);
    if (!recognize_html((const uint8_t *)head, size, metadata->film))
        return false;
    page_take_meta(head, size, "recipe", metadata->fingerprint, sizeof metadata->fingerprint);
    page_take_meta(head, size, "partial", text, sizeof text);
    metadata->partial = text[0] != 0;
    page_take_meta(head, size, "columns", text, sizeof text);
    char *end;
    metadata->columns = strtoull(text, &end, 10);
    long width = strtol(end, &end, 10), height = *end == 'x' ? strtol(end + 1, NULL, 10) : 0;
    bool sane = width > 0 && width <= 65536 && height > 0 && height <= 65536;
    metadata->width = sane ? (int)width : 0;
    metadata->height = sane ? (int)height : 0;
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
