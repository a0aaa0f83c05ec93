#include <errno.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <jpeglib.h>
#include <jerror.h>

#include "images.h"
#include "output/poster/poster.h"
#include "provenance.h"

enum { QUALITY = 92 }; /* of a barcode or poster */

/* The state of an image that is being written. It lives in the caller of setjmp's caller, so that
 * nothing needs to survive the jump in a register. */
struct job {
    struct jpeg_error_mgr errors; /* first: libjpeg has a pointer to it */
    jmp_buf jump;
    struct jpeg_compress_struct jpeg;
    int width, height, quality;
    FILE *file;
    struct err *err;
    struct painter *painter; /* NULL: the image is `pixels`, without markers */
    const struct report *report;
    const uint8_t *pixels;
    uint8_t *row;
};

static void on_error(j_common_ptr jpeg)
{
    struct job *job = (struct job *)(void *)jpeg->err;
    char text[JMSG_LENGTH_MAX];
    jpeg->err->format_message(jpeg, text);
    if (jpeg->err->msg_code == JERR_FILE_WRITE)
        writer_failed(job->err);
    else if (jpeg->err->msg_code == JERR_OUT_OF_MEMORY)
        err_set(job->err, ERR_MEMORY, "libjpeg is out of memory");
    else
        err_set(job->err, ERR_FAILED, "%s", text);
    longjmp(job->jump, 1);
}

static void on_message(j_common_ptr jpeg, int level)
{
    (void)jpeg;
    (void)level; /* libjpeg would print warnings */
}

/* Writes the profile and the provenance, which are in the first 4 KB. */
static void write_markers(struct job *job)
{
    static const char name[] = "ICC_PROFILE\0\1"; /* part 1 of 1; the literal ends with 0 */
    uint8_t icc[sizeof name + ICC_SRGB_SIZE];
    char text[PROVENANCE_TEXT];
    memcpy(icc, name, sizeof name);
    icc[sizeof name - 1] = 1;
    icc_srgb_write(icc + sizeof name);
    jpeg_write_marker(&job->jpeg, JPEG_APP0 + 2, icc, sizeof icc);
    provenance_text(job->report, 0, text);
    size_t length = strlen(text);
    text[length] = '\n'; /* in place of the zero */
    jpeg_write_marker(&job->jpeg, JPEG_COM, (const JOCTET *)text, (unsigned)length + 1);
}

static void set_parameters(struct job *job)
{
    struct jpeg_compress_struct *jpeg = &job->jpeg;
    jpeg->image_width = (JDIMENSION)job->width;
    jpeg->image_height = (JDIMENSION)job->height;
    jpeg->input_components = 3;
    jpeg->in_color_space = JCS_RGB;
    jpeg_set_defaults(jpeg);
    jpeg_set_quality(jpeg, job->quality, TRUE);
    jpeg->dct_method = JDCT_ISLOW;
    if (!job->painter)
        return;
    /* Chroma is not subsampled: columns are often one pixel wide. */
    for (int i = 0; i < jpeg->num_components; i++)
        jpeg->comp_info[i].h_samp_factor = jpeg->comp_info[i].v_samp_factor = 1;
    if (job->report->poster.wanted && !job->report->poster.page.pixels) {
        jpeg->density_unit = 1; /* pixels per inch */
        jpeg->X_density = jpeg->Y_density = (UINT16)job->report->poster.dpi;
    }
}

static bool write_row(struct job *job, int y)
{
    const uint8_t *row = job->painter ? job->row : job->pixels + (size_t)y * (size_t)job->width * 3;
    if (job->painter && !painter_row(job->painter, y, job->row, job->err))
        return false;
    errno = 0;
    jpeg_write_scanlines(&job->jpeg, (JSAMPARRAY)&row, 1);
    return true;
}

/* Writes the complete file. Every libjpeg call that may jump is in here or below. */
static bool write_jumping(struct job *job)
{
    if (setjmp(job->jump))
        return false;
    jpeg_create_compress(&job->jpeg);
    jpeg_stdio_dest(&job->jpeg, job->file);
    set_parameters(job);
    errno = 0;
    jpeg_start_compress(&job->jpeg, TRUE);
    if (job->painter)
        write_markers(job);
    for (int y = 0; y < job->height; y++)
        if (!write_row(job, y))
            return false;
    jpeg_finish_compress(&job->jpeg);
    return true;
}

static bool write_image(struct job *job)
{
    job->jpeg.err = jpeg_std_error(&job->errors);
    job->errors.error_exit = on_error;
    job->errors.emit_message = on_message;
    bool done = write_jumping(job);
    jpeg_destroy_compress(&job->jpeg);
    return done;
}

/* ---- In memory ---- */

bool jpeg_encode(const uint8_t *rgb, int width, int height, int quality, struct jpeg *to,
                 struct err *e)
{
    char *data = NULL;
    *to = (struct jpeg){.width = width, .height = height};
    FILE *f = open_memstream(&data, &to->size);
    struct job job = {
        .width = width, .height = height, .quality = quality, .file = f, .err = e, .pixels = rgb};
    bool ok = f ? write_image(&job) : err_memory(e, (size_t)width * (size_t)height);
    if (f && fclose(f) != 0 && ok)
        ok = err_memory(e, to->size);
    to->data = (uint8_t *)data;
    if (!ok)
        jpeg_free(to);
    return ok;
}

void jpeg_free(struct jpeg *to)
{
    free(to->data);
    *to = (struct jpeg){.size = 0};
}

/* Returns where a comment goes: after JFIF's segment, which must be the first. */
static size_t jfif_end(const struct jpeg *j)
{
    bool has = j->size > 6 && j->data[3] == JPEG_APP0;
    size_t end = has ? 4 + ((size_t)j->data[4] << 8 | j->data[5]) : 2;
    return end <= j->size ? end : 2;
}

bool jpeg_write(const struct jpeg *j, const char *comment, FILE *f)
{
    size_t at = jfif_end(j), length = comment ? 2 + strlen(comment) + 1 : 0;
    const uint8_t head[] = {0xff, JPEG_COM, (uint8_t)(length >> 8), (uint8_t)length};
    return fwrite(j->data, 1, at, f) == at &&
           (!comment || (fwrite(head, 1, 4, f) == 4 && fprintf(f, "%s\n", comment) >= 0)) &&
           fwrite(j->data + at, 1, j->size - at, f) == j->size - at;
}

/* ---- The writer ---- */

static bool prepare(struct job *job, struct strips strips)
{
    job->painter = painter_open(job->report, strips, job->err);
    if (!job->painter)
        return false;
    job->width = painter_width(job->painter);
    job->height = painter_height(job->painter);
    if (job->width > JPEG_MAX_DIMENSION || job->height > JPEG_MAX_DIMENSION)
        return err_set(job->err, ERR_FAILED,
                       "a JPEG is at most %ld pixels wide and high, not %dx%d; choose a smaller "
                       "--width or --height, or PNG",
                       (long)JPEG_MAX_DIMENSION, job->width, job->height);
    if (painter_channels(job->painter) != 3)
        return err_set(job->err, ERR_FAILED, "a JPEG cannot be transparent");
    job->row = malloc((size_t)job->width * 3);
    return job->row || err_memory(job->err, (size_t)job->width * 3);
}

static bool write_jpeg(const struct report *r, struct strips strips, FILE *f, struct err *e)
{
    struct job job = {.report = r, .quality = QUALITY, .file = f, .err = e};
    bool done = prepare(&job, strips) && write_image(&job);
    painter_free(&job.painter);
    free(job.row);
    return done;
}

static const char *const ending[] = {"jpg", "jpeg", "jpe", NULL};

const struct writer writer_jpeg = {.name = "jpeg",
                                   .title = "JPEG",
                                   .ending = ending,
                                   .binary = true,
                                   .one_a_strip = true,
                                   .pixels = true,
                                   .opaque = true,
                                   .side_most = JPEG_MAX_DIMENSION,
                                   .begin = JPEG_BEGIN,
                                   .end = JPEG_END,
                                   .write = write_jpeg};
