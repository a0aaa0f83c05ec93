#include "thumbs.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "barcode/engine/shrink.h"
#include "base/interrupt.h"

/* ---- Scaling and cells, for thumbnails and previews ---- */

enum { A_SHEET = THUMBS_ACROSS * THUMBS_ACROSS };

/* The size of frames, and of the pictures that are made of them. */
struct scaling {
    int from_width, from_height, width, height;
    bool enlarges; /* by interpolation: area means would give steps */
};

/*
 * Returns the sample at or before the middle of sample `i` of `to`, and in *weight the share of the
 * next one, in 1/256.
 */
static int find_samples(int64_t i, int64_t from, int64_t to, int *weight)
{
    int64_t at = (2 * i + 1) * from * 128 / to - 128;
    at = at < 0 ? 0 : at > (from - 1) * 256 ? (from - 1) * 256 : at;
    *weight = (int)(at % 256);
    return (int)(at / 256);
}

/* Enlarges by bilinear interpolation. */
static void enlarge(const struct scaling *p, const uint8_t *rgb, uint8_t *to)
{
    for (int y = 0; y < p->height; y++) {
        int down, right;
        int top = find_samples(y, p->from_height, p->height, &down);
        const uint8_t *upper = rgb + (size_t)top * (size_t)p->from_width * 3,
                      *lower = down > 0 ? upper + (size_t)p->from_width * 3 : upper;
        for (int x = 0; x < p->width; x++) {
            int left = find_samples(x, p->from_width, p->width, &right) * 3,
                next = right > 0 ? left + 3 : left;
            for (int c = 0; c < 3; c++) {
                int a = upper[left + c] * (256 - right) + upper[next + c] * right,
                    b = lower[left + c] * (256 - right) + lower[next + c] * right;
                *to++ = (uint8_t)((a * (256 - down) + b * down + (1 << 15)) >> 16);
            }
        }
    }
}

/* Returns a frame at the size of the pictures, which the caller frees. Returns NULL if out of
 * memory. */
static uint8_t *scale_frame(const struct scaling *p, const uint8_t *rgb, struct err *e)
{
    size_t bytes = (size_t)p->width * (size_t)p->height * 3;
    uint8_t *made = malloc(bytes);
    if (!made) {
        err_memory(e, bytes);
        return NULL;
    }
    if (p->enlarges) {
        enlarge(p, rgb, made);
    } else if (!shrink_rgb(rgb, p->from_width, p->from_height, made, p->width, p->height, e)) {
        free(made);
        return NULL;
    }
    return made;
}

/* Returns where cell `cell` begins on a sheet of `across` cells a row. */
static uint8_t *cell_at(const struct scaling *p, uint8_t *sheet, size_t across, size_t cell)
{
    size_t row = (size_t)p->width * 3;
    return sheet + (cell / across * (size_t)p->height * across + cell % across) * row;
}

/* Copies a picture that is `pitch` bytes from row to row into a cell. */
static void put_cell(const struct scaling *p, uint8_t *sheet, size_t across, size_t cell,
                     const uint8_t *from, size_t pitch)
{
    uint8_t *to = cell_at(p, sheet, across, cell);
    size_t row = (size_t)p->width * 3;
    for (size_t y = 0; y < (size_t)p->height; y++)
        memcpy(to + y * across * row, from + y * pitch, row);
}

/* ---- Thumbnails ---- */

/* The thumbnail of a column that is a multiple of the stride. */
struct kept {
    uint8_t *rgb; /* [height][width][3]; NULL: no frame arrived */
    uint64_t frame;
    int64_t time_us;
};

struct thumbs {
    struct scaling size;
    size_t most;
    pthread_mutex_t lock; /* guards the fields below */
    uint64_t stride;      /* a power of two */
    struct kept *slot;    /* [most], slot i for column i * stride; each slot owns its pixels */
};

static int even_or_1(int64_t n) { return n > 1 ? (int)n / 2 * 2 : 1; }

/*
 * Sets *wide and *high to numbers in the ratio of the sides of width x height displayed samples.
 * Samples without an aspect ratio, or with terms of 2^15 or more, count as square.
 */
static void film_shape(const struct film *f, int width, int height, int64_t *wide, int64_t *high)
{
    bool square = f->sample_num <= 0 || f->sample_den <= 0 || f->sample_num >= 1 << 15 ||
                  f->sample_den >= 1 << 15;
    *wide = (int64_t)width * (square ? 1 : f->sample_num);
    *high = (int64_t)height * (square ? 1 : f->sample_den);
}

void thumbs_size(const struct film *film, const struct crop *crop, int analysis_width,
                 int analysis_height, int *width, int *height)
{
    struct crop_rect shown = {.width = film->width, .height = film->height};
    if (crop->count > 0)
        shown = crop_to_shown(crop->rect[0], film->orientation, crop->width, crop->height);
    int64_t wide, high;
    film_shape(film, shown.width, shown.height, &wide, &high);
    int64_t side = analysis_width > analysis_height ? analysis_width : analysis_height;
    if (side > THUMBS_SIDE)
        side = THUMBS_SIDE;
    int64_t longer = wide > high ? wide : high, shorter = wide > high ? high : wide;
    /* exact: IEEE rounds the root of an integer below 2^53 correctly */
    int64_t square = THUMBS_PIXELS * longer / shorter, by_pixels = (int64_t)sqrt((double)square);
    if (side > by_pixels)
        side = by_pixels;
    side = even_or_1(side);
    int64_t other = (shorter * side + longer) / (2 * longer) * 2;
    *width = even_or_1(wide > high ? side : other);
    *height = even_or_1(wide > high ? other : side);
}

struct thumbs *thumbs_open(int from_width, int from_height, int width, int height, size_t most,
                           struct err *e)
{
    struct thumbs *t = calloc(1, sizeof *t);
    struct kept *slot = t ? calloc(most, sizeof *slot) : NULL;
    if (!slot) {
        free(t);
        err_memory(e, most * sizeof *slot);
        return NULL;
    }
    const struct scaling size = {from_width, from_height, width, height, .enlarges = false};
    *t = (struct thumbs){.size = size, .most = most, .stride = 1, .slot = slot};
    pthread_mutex_init(&t->lock, NULL);
    return t;
}

/* Doubles the stride until `column` has a slot. The caller holds the lock. */
static void widen(struct thumbs *t, uint64_t column)
{
    for (; column / t->stride >= t->most; t->stride *= 2)
        for (size_t i = 0; i < t->most; i++) {
            if (i % 2 == 1)
                free(t->slot[i].rgb);
            else if (i > 0)
                t->slot[i / 2] = t->slot[i];
            if (i > 0)
                t->slot[i] = (struct kept){.rgb = NULL};
        }
}

/* Stores `made` in every slot of the tag's columns, of which there may be none. Takes ownership of
 * `made`. */
static bool store_thumbnail(struct thumbs *t, const struct frame_tag *tag, uint8_t *made,
                            struct err *e)
{
    size_t bytes = (size_t)t->size.width * (size_t)t->size.height * 3;
    const uint8_t *first = NULL;
    bool ok = true;
    pthread_mutex_lock(&t->lock);
    for (uint64_t i = (tag->column + t->stride - 1) / t->stride;
         ok && i * t->stride < tag->column + tag->repeat; i++) {
        uint8_t *rgb = first ? malloc(bytes) : made;
        if (!rgb) {
            ok = err_memory(e, bytes);
            break;
        }
        if (first)
            memcpy(rgb, first, bytes);
        first = first ? first : rgb;
        free(t->slot[i].rgb);
        t->slot[i] = (struct kept){.rgb = rgb, .frame = tag->frame, .time_us = tag->time_us};
    }
    pthread_mutex_unlock(&t->lock);
    if (!first)
        free(made);
    return ok;
}

bool thumbs_put(struct thumbs *t, const struct frame_tag *tag, const uint8_t *rgb, struct err *e)
{
    if (tag->repeat == 0)
        return true;
    pthread_mutex_lock(&t->lock);
    widen(t, tag->column + tag->repeat - 1);
    bool selected =
        (tag->column + t->stride - 1) / t->stride * t->stride < tag->column + tag->repeat;
    pthread_mutex_unlock(&t->lock);
    if (!selected)
        return true;
    /* another thread may widen the stride meanwhile, so the slots are checked again when the
     * thumbnail is stored */
    uint8_t *made = scale_frame(&t->size, rgb, e);
    return made && store_thumbnail(t, tag, made, e);
}

void thumbs_free(struct thumbs **t)
{
    if (!*t)
        return;
    for (size_t i = 0; i < (*t)->most; i++)
        free((*t)->slot[i].rgb);
    free((*t)->slot);
    pthread_mutex_destroy(&(*t)->lock);
    free(*t);
    *t = NULL;
}

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
    int64_t end = film_end < r->analysis.selection.end_us ? film_end : r->analysis.selection.end_us;
    return end < INT64_MAX ? end : 0;
}

/* Sets times and places: each thumbnail covers the film up to the next one. */
static void arrange(const struct report *r, struct thumbs_sheets *to)
{
    for (size_t i = 0; i < to->count; i++) {
        struct thumb *b = &to->thumb[i];
        bool last = i + 1 == to->count;
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

/* Returns the number of slots that may have a thumbnail: those of the film's columns. */
static uint64_t slots_of(const struct thumbs *t, const struct report *r)
{
    const uint64_t slots = (r->count + t->stride - 1) / t->stride;
    return r->analysis.by_shot || slots > t->most ? t->most : slots;
}

size_t thumbs_count(const struct thumbs *t, const struct report *r, int64_t period_us)
{
    const struct kept *last = NULL;
    const uint64_t slots = slots_of(t, r);
    size_t count = 0;
    for (uint64_t i = 0; i < slots; i++) {
        if (!counts(t, i, last, period_us))
            continue;
        last = &t->slot[i];
        count++;
    }
    return count;
}

/* Lists the thumbnails and, in shown[], their slots. Returns false if out of memory or if there is
 * no thumbnail. */
static bool list(const struct thumbs *t, const struct report *r, int64_t period_us,
                 struct thumbs_sheets *to, size_t **shown, struct err *e)
{
    const struct kept *last = NULL;
    const uint64_t slots = slots_of(t, r);
    to->thumb = calloc(t->most, sizeof *to->thumb);
    *shown = calloc(t->most, sizeof **shown);
    if (!to->thumb || !*shown)
        return err_memory(e, t->most * (sizeof *to->thumb + sizeof **shown));
    for (uint64_t i = 0; i < slots; i++) {
        if (!counts(t, i, last, period_us))
            continue;
        last = &t->slot[i];
        (*shown)[to->count] = (size_t)i;
        to->thumb[to->count++] = (struct thumb){.first = i * t->stride, .time_us = last->time_us};
    }
    if (to->count == 0)
        return err_set(e, ERR_FAILED, "no frames for thumbnails");
    arrange(r, to);
    return true;
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
        put_cell(&t->size, canvas, across, i, t->slot[shown[i]].rgb, (size_t)to->width * 3);
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
    size_t room = A_SHEET * (size_t)t->size.width * (size_t)t->size.height * 3;
    size_t *shown = NULL;
    *to = (struct thumbs_sheets){.width = t->size.width, .height = t->size.height};
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

/* ---- Previews ---- */

/* A sheet that is not full yet. */
struct canvas {
    uint8_t *rgb; /* [THUMBS_ACROSS * height][THUMBS_ACROSS * width][3]; NULL: no preview so
                     far, or encoded */
    bool has[A_SHEET];
    int filled;
};

struct previews {
    struct scaling size;
    bool sheets, singles;
    pthread_mutex_t lock;  /* guards the fields below */
    size_t count;          /* the highest preview so far, plus 1 */
    struct canvas *canvas; /* [canvases] */
    struct jpeg *sheet;    /* [canvases]; empty until encoded */
    size_t canvases, canvas_room, sheet_room;
    struct jpeg *single; /* [singles_made]; empty: as the one before */
    size_t singles_made, single_room;
};

int previews_height(const struct film *film, int width)
{
    int64_t wide, high;
    film_shape(film, film->width, film->height, &wide, &high);
    int64_t height = 2 * ((width * high + wide) / (2 * wide));
    return height < 2 ? 2 : height > PREVIEWS_WIDTH_MOST ? PREVIEWS_WIDTH_MOST : (int)height;
}

struct previews *previews_open(int from_width, int from_height, int width, int height, bool sheets,
                               bool singles, struct err *e)
{
    struct previews *p = err_calloc(1, sizeof *p, e);
    if (!p)
        return NULL;
    bool enlarges = width > from_width || height > from_height;
    *p = (struct previews){.size = {from_width, from_height, width, height, enlarges},
                           .sheets = sheets,
                           .singles = singles};
    pthread_mutex_init(&p->lock, NULL);
    return p;
}

/* ---- Sheets ---- */

static bool encode_previews(const struct previews *p, const uint8_t *rgb, int across,
                            struct jpeg *to, struct err *e)
{
    return jpeg_encode(rgb, p->size.width * across, p->size.height * across, PREVIEWS_QUALITY, to,
                       e);
}

/* Makes room for the sheet of preview `i` and returns it. The caller holds the lock. */
static struct canvas *canvas_of(struct previews *p, size_t i, struct err *e)
{
    size_t at = i / A_SHEET,
           bytes = (size_t)A_SHEET * (size_t)p->size.width * (size_t)p->size.height * 3;
    if (!err_reserve(&p->canvas, at + 1, &p->canvas_room, sizeof *p->canvas, e) ||
        !err_reserve(&p->sheet, at + 1, &p->sheet_room, sizeof *p->sheet, e))
        return NULL;
    for (; p->canvases <= at; p->canvases++) {
        p->canvas[p->canvases] = (struct canvas){.rgb = NULL};
        p->sheet[p->canvases] = (struct jpeg){.data = NULL};
    }
    struct canvas *c = &p->canvas[at];
    if (!c->rgb)
        c->rgb = err_calloc(1, bytes, e);
    return c->rgb ? c : NULL;
}

/* Puts preview `i` into its sheet, which it encodes when it is full. */
static bool put_preview(struct previews *p, size_t i, const uint8_t *rgb, struct err *e)
{
    uint8_t *full = NULL;
    size_t cell = i % A_SHEET;
    struct jpeg sheet;
    pthread_mutex_lock(&p->lock);
    struct canvas *c = canvas_of(p, i, e);
    if (c && !c->has[cell]) {
        put_cell(&p->size, c->rgb, THUMBS_ACROSS, cell, rgb, (size_t)p->size.width * 3);
        c->has[cell] = true;
        c->filled++;
        if (c->filled == A_SHEET) {
            full = c->rgb;
            c->rgb = NULL;
        }
    }
    pthread_mutex_unlock(&p->lock);
    if (!full)
        return c != NULL;
    bool ok = encode_previews(p, full, THUMBS_ACROSS, &sheet, e);
    free(full);
    if (!ok)
        return false;
    pthread_mutex_lock(&p->lock);
    p->sheet[i / A_SHEET] = sheet;
    pthread_mutex_unlock(&p->lock);
    return true;
}

/* Fills the cells of missing previews with the one before, or else with the one after. */
static void fill_gaps(const struct previews *p, struct canvas *c, size_t cells)
{
    size_t pitch = (size_t)p->size.width * THUMBS_ACROSS * 3, first = 0;
    while (first < cells && !c->has[first])
        first++;
    for (size_t i = 0; i < cells && first < cells; i++)
        if (!c->has[i])
            put_cell(&p->size, c->rgb, THUMBS_ACROSS, i,
                     cell_at(&p->size, c->rgb, THUMBS_ACROSS, i < first ? first : i - 1), pitch);
}

/* ---- Putting ---- */

/* Stores the JPEG of preview `i`, unless there is one. */
static bool put_single(struct previews *p, size_t i, const uint8_t *rgb, struct err *e)
{
    struct jpeg made;
    if (!encode_previews(p, rgb, 1, &made, e))
        return false;
    pthread_mutex_lock(&p->lock);
    bool ok = err_reserve(&p->single, i + 1, &p->single_room, sizeof *p->single, e);
    for (; ok && p->singles_made <= i; p->singles_made++)
        p->single[p->singles_made] = (struct jpeg){.data = NULL};
    if (ok && !p->single[i].data) {
        p->single[i] = made;
        made.data = NULL;
    }
    pthread_mutex_unlock(&p->lock);
    jpeg_free(&made);
    return ok;
}

bool previews_put(struct previews *p, const struct frame_tag *tag, const uint8_t *rgb,
                  struct err *e)
{
    if (tag->previews == 0)
        return true;
    if (tag->preview + tag->previews > PREVIEWS_MOST)
        return err_set(e, ERR_FAILED,
                       "there would be more than %d previews; give a longer --trickplay-interval",
                       PREVIEWS_MOST);
    size_t first = (size_t)tag->preview, end = first + tag->previews;
    uint8_t *made = scale_frame(&p->size, rgb, e);
    bool ok = made != NULL && (!p->singles || put_single(p, first, made, e));
    for (size_t i = first; ok && p->sheets && i < end; i++)
        ok = put_preview(p, i, made, e);
    free(made);
    pthread_mutex_lock(&p->lock);
    p->count = p->count > end ? p->count : end;
    pthread_mutex_unlock(&p->lock);
    return ok;
}

/* ---- Results ---- */

bool previews_finish(struct previews *p, struct err *e)
{
    if (p->count == 0)
        return err_set(e, ERR_FAILED, "no frame for a preview was decoded");
    for (size_t first = 0; p->sheets && first < p->count; first += A_SHEET) {
        size_t i = first / A_SHEET, left = p->count - first;
        if (i < p->canvases && p->sheet[i].data)
            continue;
        struct canvas *c = canvas_of(p, first, e);
        if (!c)
            return false;
        fill_gaps(p, c, left < A_SHEET ? left : A_SHEET);
        if (!encode_previews(p, c->rgb, THUMBS_ACROSS, &p->sheet[i], e))
            return false;
        free(c->rgb);
        c->rgb = NULL;
    }
    return true;
}

size_t previews_count(const struct previews *p) { return p->count; }

const struct jpeg *previews_sheets(const struct previews *p, size_t *count)
{
    *count = p->canvases;
    return p->sheet;
}

const struct jpeg *previews_single(const struct previews *p, size_t i)
{
    size_t at = i < p->singles_made ? i : p->singles_made - 1;
    while (at > 0 && !p->single[at].data)
        at--;
    while (!p->single[at].data) /* the first ones are missing */
        at++;
    return &p->single[at];
}

void previews_free(struct previews **p)
{
    if (!*p)
        return;
    for (size_t i = 0; i < (*p)->canvases; i++) {
        free((*p)->canvas[i].rgb);
        jpeg_free(&(*p)->sheet[i]);
    }
    for (size_t i = 0; i < (*p)->singles_made; i++)
        jpeg_free(&(*p)->single[i]);
    free((*p)->canvas);
    free((*p)->sheet);
    free((*p)->single);
    pthread_mutex_destroy(&(*p)->lock);
    free(*p);
    *p = NULL;
}
