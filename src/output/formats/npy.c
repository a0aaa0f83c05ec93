/*
 * npy.c - the spectrogram of the film's sound as an array of NumPy, for --spectrogram: int16
 * (frames, SPECTROGRAM_BINS), file format 1.0 (numpy.lib.format).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "output/spectrum.h"
#include "output/writer.h"
#include "barcode/sound/spectrogram.h"

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
    make_head(spectrum_frames(r->spectrum), head);
    errno = 0;
    if (fwrite(head, 1, HEAD, f) != HEAD)
        return err_set(e, ERR_FAILED, "%s", strerror(errno ? errno : EIO));
    return spectrum_copy(r->spectrum, f, e);
}

/* Any array of this kind may be barcode's; it does not name its film. */
static bool recognize_npy(const uint8_t *head, size_t size, char film[FILM_ID_TEXT])
{
    char mine[HEAD + 1];
    (void)film;
    if (size < HEAD)
        return false;
    uint64_t frames = 0;
    for (const uint8_t *c = memchr(head, '(', HEAD); c && c + 1 < head + HEAD; c++) {
        if (c[1] < '0' || c[1] > '9' || frames > UINT64_MAX / 10 - 9)
            break;
        frames = frames * 10 + (uint64_t)(c[1] - '0');
    }
    make_head(frames, mine);
    return memcmp(head, mine, HEAD) == 0;
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
