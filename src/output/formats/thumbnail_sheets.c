#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "thumbnails_internal.h"

enum { A_SHEET = THUMBS_ACROSS * THUMBS_ACROSS };

/* Returns true if the sheets show slot i: it has a thumbnail, and its frame differs from that of
 * `last`, the previous slot that they show, and lies in a later period. */
static bool counts(const struct thumbs *t, uint64_t i, const struct kept *last, int64_t period_us)
{
    const struct kept *k = &t->slot[i];
    if (!k->rgb || !last)
        return k->rgb != NULL;
    bool other = last->frame != k->frame || last->time_us != k->time_us;
    return other && (period_us == 0 || k->time_us / period_us > last->time_us / period_us);
}

/* Returns the end of the selected part of the film, or 0 if unknown. */
static int64_t end_of(const struct report *r)
{
    int64_t film_end = film_length_end(&r->film->length);
    int64_t end = film_end < r->selection.end_us ? film_end : r->selection.end_us;
    return end < INT64_MAX ? end : 0;
}

/* Sets columns, times and places: each thumbnail covers the film up to the next one. */
static void arrange(const struct report *r, struct thumbs_sheets *to)
{
    for (size_t i = 0; i < to->count; i++) {
        struct thumb *b = &to->thumb[i];
        bool last = i + 1 == to->count;
        b->last = last ? r->count - 1 : b[1].first - 1;
        b->end_us = last ? end_of(r) : b[1].time_us;
        /* a film longer than its declared duration, or with equal times */
        if (b->end_us <= b->time_us)
            b->end_us = b->time_us + 1000;
        b->sheet = i / A_SHEET;
        b->x = (int)(i % THUMBS_ACROSS) * to->width;
        b->y = (int)(i % A_SHEET / THUMBS_ACROSS) * to->height;
    }
    to->thumb[0].first = 0;
}

/* Lists the thumbnails and, in shown[], their slots. Returns false if out of memory or if there is
 * no thumbnail. */
static bool list(const struct thumbs *t, const struct report *r, int64_t period_us,
                 struct thumbs_sheets *to, size_t **shown, struct err *e)
{
    const struct kept *last = NULL;
    to->thumb = calloc(t->most, sizeof *to->thumb);
    *shown = calloc(t->most, sizeof **shown);
    if (!to->thumb || !*shown)
        return err_memory(e, t->most * (sizeof *to->thumb + sizeof **shown));
    for (uint64_t i = 0; i < t->most && i * t->stride < r->count; i++) {
        if (!counts(t, i, last, period_us))
            continue;
        last = &t->slot[i];
        (*shown)[to->count] = (size_t)i;
        to->thumb[to->count++] =
            (struct thumb){.first = i * t->stride, .frame = last->frame, .time_us = last->time_us};
    }
    if (to->count == 0)
        return err_set(e, ERR_FAILED, "no frames for thumbnails");
    arrange(r, to);
    return true;
}

/* Copies a thumbnail into its cell. */
static void paint(const struct thumbs_sheets *to, const uint8_t *rgb, uint8_t *at, size_t pitch)
{
    size_t row = (size_t)to->width * 3;
    for (int y = 0; y < to->height; y++)
        memcpy(at + (size_t)y * pitch, rgb + (size_t)y * row, row);
}

/* Encodes a sheet of `n` thumbnails. `canvas` has room for a full sheet. Unused cells are black. */
static bool encode_sheet(const struct thumbs *t, const struct thumbs_sheets *to,
                         const size_t *shown, size_t n, int quality, uint8_t *canvas,
                         struct jpeg *sheet, struct err *e)
{
    size_t across = n < THUMBS_ACROSS ? n : THUMBS_ACROSS,
           rows = (n + THUMBS_ACROSS - 1) / THUMBS_ACROSS;
    size_t width = across * (size_t)to->width, height = rows * (size_t)to->height;
    if (interrupted())
        return interrupt_error(e);
    memset(canvas, 0, width * height * 3);
    for (size_t i = 0; i < n; i++)
        paint(to, t->slot[shown[i]].rgb,
              canvas + (i / THUMBS_ACROSS * (size_t)to->height * width +
                        i % THUMBS_ACROSS * (size_t)to->width) *
                           3,
              width * 3);
    return jpeg_encode(canvas, (int)width, (int)height, quality, sheet, e);
}

static const int qualities[] = {84, 80, 75, 70, 64, 57, 48, 39, 30, 20};
enum { QUALITIES = sizeof qualities / sizeof *qualities };

/*
 * Sets *begin to the best quality with which a sample sheet, of thumbnails from all over the
 * film, takes no more than its part of `bytes_most`. Encoding all sheets with each quality would
 * take seconds.
 */
static bool guess(const struct thumbs *t, const struct thumbs_sheets *to, const size_t *shown,
                  size_t bytes_most, uint8_t *canvas, int *begin, struct err *e)
{
    size_t some[A_SHEET] = {0};
    size_t n = to->count < A_SHEET ? to->count : A_SHEET;
    for (size_t i = 0; i < n; i++)
        some[i] = shown[i * to->count / n];
    for (*begin = 0; n > 0 && *begin < QUALITIES - 1; ++*begin) {
        struct jpeg sheet = {.size = 0};
        if (!encode_sheet(t, to, some, n, qualities[*begin], canvas, &sheet, e))
            return false;
        bool fits = sheet.size * to->count / n <= bytes_most;
        jpeg_free(&sheet);
        if (fits)
            break;
    }
    return true;
}

static void drop(struct thumbs_sheets *to)
{
    for (size_t i = 0; i < to->sheets; i++)
        jpeg_free(&to->sheet[i]);
    to->sheets = 0;
}

/* Encodes all sheets. *bytes is set to their size. */
static bool encode_sheets(const struct thumbs *t, struct thumbs_sheets *to, const size_t *shown,
                          int quality, uint8_t *canvas, size_t *bytes, struct err *e)
{
    drop(to);
    *bytes = 0;
    for (size_t done = 0; done < to->count; done += A_SHEET) {
        size_t n = to->count - done < A_SHEET ? to->count - done : A_SHEET;
        struct jpeg *sheet = &to->sheet[to->sheets];
        if (!encode_sheet(t, to, shown + done, n, quality, canvas, sheet, e))
            return false;
        to->sheets++;
        *bytes += sheet->size;
    }
    return true;
}

static bool encode_within(const struct thumbs *t, struct thumbs_sheets *to, const size_t *shown,
                          size_t bytes_most, uint8_t *canvas, struct err *e)
{
    size_t bytes = 0;
    int q;
    if (!guess(t, to, shown, bytes_most, canvas, &q, e))
        return false;
    do {
        if (!encode_sheets(t, to, shown, qualities[q], canvas, &bytes, e))
            return false;
    } while (bytes > bytes_most && ++q < QUALITIES);
    return true;
}

bool thumbs_sheets(const struct thumbs *t, const struct report *r, int64_t period_us,
                   size_t bytes_most, struct thumbs_sheets *to, struct err *e)
{
    size_t room = A_SHEET * (size_t)t->width * (size_t)t->height * 3;
    size_t *shown = NULL;
    *to = (struct thumbs_sheets){.width = t->width, .height = t->height};
    uint8_t *canvas = malloc(room);
    if (!canvas)
        return err_memory(e, room);
    bool ok = list(t, r, period_us, to, &shown, e);
    to->sheet = ok ? calloc(to->count / A_SHEET + 1, sizeof *to->sheet) : NULL;
    if (ok && !to->sheet)
        ok = err_memory(e, to->count * sizeof *to->sheet);
    ok = ok && encode_within(t, to, shown, bytes_most, canvas, e);
    free(canvas);
    free(shown);
    if (!ok)
        thumbs_sheets_free(to);
    return ok;
}

void thumbs_sheets_free(struct thumbs_sheets *to)
{
    drop(to);
    free(to->sheet);
    free(to->thumb);
    *to = (struct thumbs_sheets){.count = 0};
}
