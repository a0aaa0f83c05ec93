#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "barcode/sound/spectrogram.h"
#include "output/sinks.h"
#include "output/writer.h"

struct spectrum {
    FILE *file;
    uint64_t frames;
};

static bool fail(struct err *e, int error)
{
    return err_set(e, ERR_FAILED, "cannot keep the spectrogram in '%s': %s", dump_scratch_folder(),
                   strerror(error ? error : EIO));
}

struct spectrum *spectrum_open(struct err *e)
{
    struct spectrum *s = err_calloc(1, sizeof *s, e);
    if (!s)
        return NULL;
    s->file = dump_scratch_open();
    if (s->file)
        return s;
    fail(e, errno);
    free(s);
    return NULL;
}

bool spectrum_put(void *spectrum, const int16_t *values, size_t frames, struct err *e)
{
    struct spectrum *s = spectrum;
    errno = 0;
    if (fwrite(values, sizeof *values * SPECTROGRAM_BINS, frames, s->file) != frames)
        return fail(e, errno);
    s->frames += frames;
    return true;
}

bool spectrum_clear(struct spectrum *s, struct err *e)
{
    s->frames = 0;
    rewind(s->file);
    return ftruncate(fileno(s->file), 0) == 0 || fail(e, errno);
}

void spectrum_free(struct spectrum **s)
{
    if (*s)
        fclose((*s)->file);
    free(*s);
    *s = NULL;
}

/*
 * ---- --spectrogram: an array of NumPy, int16 (frames, SPECTROGRAM_BINS) ----
 *
 * The file's format is version 1.0 of numpy.lib.format.
 */

enum { HEAD = 128 /* a multiple of 64 */, MAGIC = 10 };
static const char ORDER = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>';

/* Writes the header: magic, version, length of the text, and the text up to a line's end. */
static void make_head(uint64_t frames, char head[HEAD + 1])
{
    memcpy(head, "\x93NUMPY\x01\x00", MAGIC - 2);
    head[MAGIC - 2] = HEAD - MAGIC;
    head[MAGIC - 1] = 0;
    int used = snprintf(head + MAGIC, HEAD - MAGIC,
                        "{'descr': '%ci2', 'fortran_order': False, 'shape': (%" PRIu64 ", %d), }",
                        ORDER, frames, SPECTROGRAM_BINS);
    memset(head + MAGIC + used, ' ', (size_t)(HEAD - MAGIC - used));
    head[HEAD - 1] = '\n';
}

static bool write_npy(const struct report *r, struct strips strips, FILE *f, struct err *e)
{
    char head[HEAD + 1];
    (void)strips;
    make_head(r->media.spectrum->frames, head);
    errno = 0;
    if (fwrite(head, 1, HEAD, f) != HEAD)
        return writer_failed(e);
    if (fflush(r->media.spectrum->file) != 0)
        return fail(e, errno);
    return dump_scratch_copy(r->media.spectrum->file, f, e);
}

/* Any array of this kind may be barcode's; it does not name its film. */
static bool recognize_npy(const uint8_t *head, size_t size, char film[FILM_ID_TEXT])
{
    char expected[HEAD + 1];
    (void)film;
    if (size < HEAD)
        return false;
    uint64_t frames = 0;
    for (const uint8_t *c = memchr(head, '(', HEAD); c && c + 1 < head + HEAD; c++) {
        if (c[1] < '0' || c[1] > '9' || frames > UINT64_MAX / 10 - 9)
            break;
        frames = frames * 10 + (uint64_t)(c[1] - '0');
    }
    make_head(frames, expected);
    return memcmp(head, expected, HEAD) == 0;
}

static const char *const ending[] = {"npy", NULL};

const struct writer writer_spectrogram = {.name = "spectrogram",
                                          .title = "NumPy",
                                          .ending = ending,
                                          .binary = true,
                                          .modeless = true,
                                          .sound = true,
                                          .spectrum = true,
                                          .recognizes = recognize_npy,
                                          .write = write_npy};
