#include "previews.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "barcode/engine/shrink.h"

enum { ACROSS = PREVIEWS_ACROSS, A_SHEET = ACROSS * ACROSS };

/* A sheet that is not full yet. */
struct canvas {
    uint8_t *rgb; /* [ACROSS * height][ACROSS * width][3]; NULL: no preview so far, or encoded */
    bool has[A_SHEET];
    int filled;
};

struct previews {
    int from_width, from_height, width, height;
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
    *p = (struct previews){.from_width = from_width,
                           .from_height = from_height,
                           .width = width,
                           .height = height,
                           .sheets = sheets,
                           .singles = singles};
    pthread_mutex_init(&p->lock, NULL);
    return p;
}

/* ---- Scaling ---- */

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

/* Enlarges by bilinear interpolation. Area means would give steps. */
static void enlarge(const struct previews *p, const uint8_t *rgb, uint8_t *to)
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

/* Returns the preview of an analysis frame, which the caller frees. NULL if out of memory. */
static uint8_t *make_preview(const struct previews *p, const uint8_t *rgb, struct err *e)
{
    size_t bytes = (size_t)p->width * (size_t)p->height * 3;
    uint8_t *made = malloc(bytes);
    if (!made) {
        err_memory(e, bytes);
        return NULL;
    }
    if (p->width > p->from_width || p->height > p->from_height) {
        enlarge(p, rgb, made);
    } else if (!shrink_rgb(rgb, p->from_width, p->from_height, made, p->width, p->height, e)) {
        free(made);
        return NULL;
    }
    return made;
}

/* ---- Sheets ---- */

static uint8_t *place_of(const struct previews *p, const struct canvas *c, size_t cell)
{
    size_t pitch = (size_t)p->width * ACROSS * 3;
    return c->rgb + cell / ACROSS * (size_t)p->height * pitch +
           cell % ACROSS * (size_t)p->width * 3;
}

/* Copies a preview that is `from_pitch` bytes from row to row into a cell. */
static void paint(const struct previews *p, struct canvas *c, size_t cell, const uint8_t *from,
                  size_t from_pitch)
{
    uint8_t *to = place_of(p, c, cell);
    for (int y = 0; y < p->height; y++)
        memcpy(to + (size_t)y * (size_t)p->width * ACROSS * 3, from + (size_t)y * from_pitch,
               (size_t)p->width * 3);
}

static bool encode(const struct previews *p, const uint8_t *rgb, int across, struct jpeg *to,
                   struct err *e)
{
    return jpeg_encode(rgb, p->width * across, p->height * across, PREVIEWS_QUALITY, to, e);
}

/* Makes room for the sheet of preview `i` and returns it. The caller holds the lock. */
static struct canvas *canvas_of(struct previews *p, size_t i, struct err *e)
{
    size_t at = i / A_SHEET, bytes = (size_t)A_SHEET * (size_t)p->width * (size_t)p->height * 3;
    if (!err_reserve(&p->canvas, at + 1, &p->canvas_room, sizeof *p->canvas, e) ||
        !err_reserve(&p->sheet, at + 1, &p->sheet_room, sizeof *p->sheet, e))
        return NULL;
    for (; p->canvases <= at; p->canvases++) {
        p->canvas[p->canvases] = (struct canvas){.rgb = NULL};
        p->sheet[p->canvases] = (struct jpeg){.data = NULL};
    }
    struct canvas *c = &p->canvas[at];
    if (!c->rgb && !(c->rgb = err_calloc(1, bytes, e)))
        return NULL;
    return c;
}

/* Puts preview `i` into its sheet, which it encodes when it is full. */
static bool put_cell(struct previews *p, size_t i, const uint8_t *rgb, struct err *e)
{
    uint8_t *full = NULL;
    size_t cell = i % A_SHEET;
    struct jpeg sheet;
    pthread_mutex_lock(&p->lock);
    struct canvas *c = canvas_of(p, i, e);
    if (c && !c->has[cell]) {
        paint(p, c, cell, rgb, (size_t)p->width * 3);
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
    bool ok = encode(p, full, ACROSS, &sheet, e);
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
    size_t pitch = (size_t)p->width * ACROSS * 3, first = 0;
    while (first < cells && !c->has[first])
        first++;
    for (size_t i = 0; i < cells && first < cells; i++)
        if (!c->has[i])
            paint(p, c, i, place_of(p, c, i < first ? first : i - 1), pitch);
}

/* ---- Putting ---- */

/* Stores the JPEG of preview `i`, unless there is one. */
static bool put_single(struct previews *p, size_t i, const uint8_t *rgb, struct err *e)
{
    struct jpeg made;
    if (!encode(p, rgb, 1, &made, e))
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
    uint8_t *made = make_preview(p, rgb, e);
    bool ok = made != NULL && (!p->singles || put_single(p, first, made, e));
    for (size_t i = first; ok && p->sheets && i < end; i++)
        ok = put_cell(p, i, made, e);
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
        if (!encode(p, c->rgb, ACROSS, &p->sheet[i], e))
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
