#include "serve_strip.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "barcode/output/png_pixels.h"

enum { AT_ONCE = 64 }; /* columns that are copied at once */

struct strip_image {
    uint8_t *rgb;
    int64_t first, width;
    int height;
};

/* The page's hatching of missing columns (live.js). */
static uint8_t hatch(int64_t x, int y) { return (x + y) & 4 ? 0x38 : 0x1c; }

/* The worker that put the numbers may have put any. */
static int64_t columns_between(int64_t first, int64_t number)
{
    return (int64_t)((uint64_t)number - (uint64_t)first);
}

static void put_column(struct strip_image *i, const struct live_column *c, const uint8_t *rgb)
{
    const int64_t x = columns_between(i->first, c->number);
    for (int y = 0; y < i->height && x >= 0 && x < i->width; y++) {
        uint8_t *pixel = i->rgb + ((size_t)y * (size_t)i->width + (size_t)x) * 3;
        if (c->missing)
            memset(pixel, hatch(x, y), 3);
        else
            memcpy(pixel, rgb + (size_t)y * 3, 3);
    }
}

static bool read_columns(struct live_feed *f, struct strip_image *i, struct err *e)
{
    struct live_column c[AT_ONCE];
    uint8_t *rgb = err_calloc(AT_ONCE * (size_t)i->height, 3, e);
    i->rgb = err_calloc((size_t)i->width * (size_t)i->height, 3, e);
    size_t n;
    for (int64_t since = i->first - 1;
         rgb && i->rgb && (n = live_feed_read(f, since, AT_ONCE, c, rgb)) > 0;) {
        for (size_t k = 0; k < n; k++)
            put_column(i, &c[k], rgb + k * (size_t)i->height * 3);
        since = c[n - 1].number;
        if (columns_between(i->first, since) >= i->width)
            break;
    }
    free(rgb);
    return rgb && i->rgb;
}

static void *encode(const struct strip_image *i, size_t *size, struct err *e)
{
    char *png = NULL;
    FILE *f = open_memstream(&png, size);
    if (!f) {
        err_set(e, ERR_FAILED, "%s", strerror(errno));
        return NULL;
    }
    bool done = png_pixels_write(i->rgb, (int)i->width, i->height, f, e);
    if ((fclose(f) != 0 || !png) && done)
        done = err_memory(e, *size);
    if (done)
        return png;
    free(png);
    return NULL;
}

void *serve_strip_png(struct live_feed *f, size_t *size, struct err *e)
{
    struct live_column first;
    if (live_feed_read(f, INT64_MIN, 1, &first, NULL) == 0)
        return NULL;
    struct strip_image image = {.first = first.number, .height = live_feed_height(f)};
    image.width = columns_between(first.number, live_feed_newest(f));
    if (image.width < 0 || image.width >= (int64_t)live_feed_capacity(f))
        image.width = 0;
    image.width++;
    void *png = NULL;
    if (read_columns(f, &image, e))
        png = encode(&image, size, e);
    free(image.rgb);
    return png;
}
