#include <errno.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <jpeglib.h>
#include <jerror.h>

#include "barcode/base/interrupt.h"
#include "barcode/output/paint.h"
#include "icc_srgb.h"
#include "provenance.h"

/* Chroma is not subsampled: columns are often one pixel wide. */
enum { QUALITY = 92 };

/* The state of an image that is being written. It lives in the caller of setjmp's caller, so that
 * nothing needs to survive the jump in a register. */
struct job {
    struct jpeg_error_mgr errors; /* first: libjpeg has a pointer to it */
    jmp_buf jump;
    struct jpeg_compress_struct jpeg;
    const struct report *report;
    FILE *file;
    struct err *err;
    struct painter *painter;
    uint8_t *row;
};

static void on_error(j_common_ptr jpeg)
{
    struct job *job = (struct job *)(void *)jpeg->err;
    char text[JMSG_LENGTH_MAX];
    jpeg->err->format_message(jpeg, text);
    if (jpeg->err->msg_code == JERR_FILE_WRITE)
        err_set(job->err, ERR_FAILED, "%s", strerror(errno ? errno : EIO));
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
    jpeg->image_width = (JDIMENSION)painter_width(job->painter);
    jpeg->image_height = (JDIMENSION)painter_height(job->painter);
    jpeg->input_components = 3;
    jpeg->in_color_space = JCS_RGB;
    jpeg_set_defaults(jpeg);
    jpeg_set_quality(jpeg, QUALITY, TRUE);
    for (int i = 0; i < jpeg->num_components; i++)
        jpeg->comp_info[i].h_samp_factor = jpeg->comp_info[i].v_samp_factor = 1;
    jpeg->dct_method = JDCT_ISLOW;
    if (job->report->poster && !job->report->page.pixels) {
        jpeg->density_unit = 1; /* pixels per inch */
        jpeg->X_density = jpeg->Y_density = (UINT16)job->report->dpi;
    }
}

/* Writes the complete file. Every libjpeg call that may jump is in here or below. */
static bool encode(struct job *job)
{
    if (setjmp(job->jump))
        return false;
    jpeg_create_compress(&job->jpeg);
    jpeg_stdio_dest(&job->jpeg, job->file);
    set_parameters(job);
    errno = 0;
    jpeg_start_compress(&job->jpeg, TRUE);
    write_markers(job);
    for (int y = 0; y < painter_height(job->painter); y++) {
        if (interrupted())
            return interrupt_error(job->err);
        painter_row(job->painter, y, job->row);
        if (!painter_ok(job->painter, job->err))
            return false;
        errno = 0;
        jpeg_write_scanlines(&job->jpeg, &job->row, 1);
    }
    jpeg_finish_compress(&job->jpeg);
    return true;
}

static bool prepare(struct job *job, struct strips strips)
{
    job->painter = painter_open(job->report, strips, job->err);
    if (!job->painter)
        return false;
    int width = painter_width(job->painter), height = painter_height(job->painter);
    if (width > JPEG_MAX_DIMENSION || height > JPEG_MAX_DIMENSION)
        return err_set(job->err, ERR_FAILED,
                       "a JPEG is at most %ld pixels wide and high, not %dx%d; choose a smaller "
                       "--width or --height, or PNG",
                       (long)JPEG_MAX_DIMENSION, width, height);
    if (painter_channels(job->painter) != 3)
        return err_set(job->err, ERR_FAILED, "a JPEG cannot be transparent");
    job->row = malloc((size_t)width * 3);
    return job->row || err_memory(job->err, (size_t)width * 3);
}

static bool write_jpeg(const struct report *r, struct strips strips, FILE *f, struct err *e)
{
    struct err own = ERR_INIT; /* on_error needs a place even if the caller passes NULL */
    struct job job = {.report = r, .file = f, .err = e ? e : &own};
    job.jpeg.err = jpeg_std_error(&job.errors);
    job.errors.error_exit = on_error;
    job.errors.emit_message = on_message;
    bool done = prepare(&job, strips) && encode(&job);
    jpeg_destroy_compress(&job.jpeg);
    painter_free(&job.painter);
    free(job.row);
    return done;
}

static bool recognizes(const uint8_t *head, size_t size, char film[FILM_ID_TEXT])
{
    return provenance_recognizes(head, size, "\xff\xd8\xff", film);
}

static bool read_metadata(FILE *f, struct writer_metadata *metadata)
{
    return provenance_read(f, "\xff\xd8\xff", "\xff\xd9", metadata);
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
                                   .recognizes = recognizes,
                                   .read_metadata = read_metadata,
                                   .write = write_jpeg};
