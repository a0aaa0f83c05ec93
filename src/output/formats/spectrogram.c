#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "barcode/sound/spectrogram.h"
#include "base/file.h"
#include "base/interrupt.h"
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
    int fd = file_open_scratch(dump_scratch_folder());
    s->file = fd >= 0 ? fdopen(fd, "w+b") : NULL;
    if (s->file)
        return s;
    fail(e, errno);
    if (fd >= 0)
        close(fd);
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

uint64_t spectrum_frames(const struct spectrum *s) { return s->frames; }

bool spectrum_copy(struct spectrum *s, FILE *f, struct err *e)
{
    char block[65536];
    size_t n;
    errno = 0;
    if (fflush(s->file) != 0)
        return fail(e, errno);
    rewind(s->file);
    while ((n = fread(block, 1, sizeof block, s->file)) > 0) {
        if (interrupted())
            return interrupt_error(e);
        if (fwrite(block, 1, n, f) != n)
            return writer_failed(e);
    }
    return !ferror(s->file) || fail(e, errno);
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
    make_head(spectrum_frames(r->media.spectrum), head);
    errno = 0;
    if (fwrite(head, 1, HEAD, f) != HEAD)
        return writer_failed(e);
    return spectrum_copy(r->media.spectrum, f, e);
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
