/* peaks_csv.c - the peaks of the film's sound (peaks.h) as CSV, for --landmarks. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/interrupt.h"
#include "output/writer.h"
#include "barcode/sound/spectrogram.h"

static const char header[] = "frame,time_s,bin,frequency_hz,wide\r\n";

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
    fputs(header, f);
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
    return size >= sizeof header - 1 && memcmp(head, header, sizeof header - 1) == 0;
}

/* -o FILE.csv is the table of columns. */
static const char *const ending[] = {"landmarks.csv", NULL};

const struct writer writer_landmarks = {.name = "landmarks",
                                        .title = "CSV of peaks",
                                        .ending = ending,
                                        .modeless = true,
                                        .sound = true,
                                        .recognizes = recognize_peaks,
                                        .write = write_peaks};
