#include "thumbs.h"

#include <stdlib.h>
#include <string.h>

#include "barcode/engine/shrink.h"
#include "thumbnails_internal.h"

static int even_or_1(int64_t n) { return n > 1 ? (int)n / 2 * 2 : 1; }

/* Returns floor(sqrt(n)) for n below 2^32. */
static int64_t root(int64_t n)
{
    int64_t r = 0;
    for (int64_t bit = (int64_t)1 << 16; bit > 0; bit >>= 1)
        if ((r + bit) * (r + bit) <= n)
            r += bit;
    return r;
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
    int64_t by_pixels = root(THUMBS_PIXELS * longer / shorter);
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
    *t = (struct thumbs){.from_width = from_width,
                         .from_height = from_height,
                         .width = width,
                         .height = height,
                         .most = most,
                         .stride = 1,
                         .slot = slot};
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

/* Returns the thumbnail of an analysis frame, which the caller frees. Returns NULL if out of
 * memory. */
static uint8_t *make_thumbnail(const struct thumbs *t, const uint8_t *rgb, struct err *e)
{
    size_t bytes = (size_t)t->width * (size_t)t->height * 3;
    uint8_t *made = malloc(bytes);
    if (!made)
        err_memory(e, bytes);
    if (made && !shrink_rgb(rgb, t->from_width, t->from_height, made, t->width, t->height, e)) {
        free(made);
        made = NULL;
    }
    return made;
}

/* Stores `made` in every slot of the tag's columns, of which there may be none. Takes ownership of
 * `made`. */
static bool store_thumbnail(struct thumbs *t, const struct frame_tag *tag, uint8_t *made,
                            struct err *e)
{
    size_t bytes = (size_t)t->width * (size_t)t->height * 3;
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
    uint8_t *made = make_thumbnail(t, rgb, e);
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
