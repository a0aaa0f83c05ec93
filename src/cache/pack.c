#include "cache_entry.h"

#include <stdlib.h>
#include <zstd.h>

/* Returns the median of left, above and left + above - upper left, the predictor of LOCO-I, without
 * a branch. */
static inline int predict_median(int left, int above, int corner)
{
    int most = left > above ? left : above, least = left > above ? above : left,
        slope = left + above - corner;
    return slope < least ? least : slope > most ? most : slope;
}

static void subtract_green(const uint8_t *rgb, size_t pixels, uint8_t *out)
{
    for (size_t i = 0; i < 3 * pixels; i += 3) {
        uint8_t green = rgb[i + 1];
        out[i] = (uint8_t)(rgb[i] - green + 128);
        out[i + 1] = green;
        out[i + 2] = (uint8_t)(rgb[i + 2] - green + 128);
    }
}

static void add_green(const uint8_t *in, size_t pixels, uint8_t *rgb)
{
    for (size_t i = 0; i < 3 * pixels; i += 3) {
        uint8_t green = in[i + 1];
        rgb[i] = (uint8_t)(in[i] + green - 128);
        rgb[i + 1] = green;
        rgb[i + 2] = (uint8_t)(in[i + 2] + green - 128);
    }
}

void cache_residual_make(const uint8_t *rgb, int width, int height, uint8_t *scratch, uint8_t *out)
{
    size_t row = 3 * (size_t)width;
    subtract_green(rgb, (size_t)width * (size_t)height, scratch);
    for (size_t x = 0; x < row; x++)
        out[x] = (uint8_t)(scratch[x] - (x < 3 ? 0 : scratch[x - 3]));
    for (size_t y = 1; y < (size_t)height; y++) {
        const uint8_t *now = scratch + y * row, *above = now - row;
        uint8_t *to = out + y * row;
        for (size_t x = 0; x < 3; x++)
            to[x] = (uint8_t)(now[x] - above[x]);
        for (size_t x = 3; x < row; x++)
            to[x] = (uint8_t)(now[x] - predict_median(now[x - 3], above[x], above[x - 3]));
    }
}

/* Restores a row after the first. The processor computes the channels in parallel. */
static void undo_row(const uint8_t *from, const uint8_t *above, uint8_t *now, size_t row)
{
    uint8_t r = now[0] = (uint8_t)(from[0] + above[0]);
    uint8_t g = now[1] = (uint8_t)(from[1] + above[1]);
    uint8_t b = now[2] = (uint8_t)(from[2] + above[2]);
    for (size_t x = 3; x < row; x += 3) {
        r = now[x] = (uint8_t)(from[x] + predict_median(r, above[x], above[x - 3]));
        g = now[x + 1] = (uint8_t)(from[x + 1] + predict_median(g, above[x + 1], above[x - 2]));
        b = now[x + 2] = (uint8_t)(from[x + 2] + predict_median(b, above[x + 2], above[x - 1]));
    }
}

void cache_residual_undo(const uint8_t *residual, int width, int height, uint8_t *scratch,
                         uint8_t *rgb)
{
    size_t row = 3 * (size_t)width;
    for (size_t x = 0; x < row; x++)
        scratch[x] = (uint8_t)(residual[x] + (x < 3 ? 0 : scratch[x - 3]));
    for (size_t y = 1; y < (size_t)height; y++)
        undo_row(residual + y * row, scratch + (y - 1) * row, scratch + y * row, row);
    add_green(scratch, (size_t)width * (size_t)height, rgb);
}

/* Entropy coding does nearly all. Levels 2 and 3 are slower and compress no better. */
enum { LEVEL = 1 };

struct cache_packer {
    ZSTD_CCtx *to;
    ZSTD_DCtx *from;
};

struct cache_packer *cache_packer_open(struct err *e)
{
    return err_calloc(1, sizeof(struct cache_packer), e);
}

size_t cache_pack_bound(size_t bytes) { return ZSTD_compressBound(bytes); }

size_t cache_pack(struct cache_packer *p, const uint8_t *data, size_t bytes, uint8_t *out,
                  struct err *e)
{
    if (!p->to)
        p->to = ZSTD_createCCtx();
    if (!p->to) {
        err_set(e, ERR_MEMORY, "out of memory for zstd");
        return 0;
    }
    size_t size = ZSTD_compressCCtx(p->to, out, ZSTD_compressBound(bytes), data, bytes, LEVEL);
    if (!ZSTD_isError(size))
        return size;
    err_set(e, ERR_FAILED, "zstd: %s", ZSTD_getErrorName(size));
    return 0;
}

bool cache_unpack(struct cache_packer *p, const uint8_t *packed, size_t packed_bytes, uint8_t *out,
                  size_t bytes, struct err *e)
{
    if (!p->from)
        p->from = ZSTD_createDCtx();
    if (!p->from)
        return err_set(e, ERR_MEMORY, "out of memory for zstd");
    size_t size = ZSTD_decompressDCtx(p->from, out, bytes, packed, packed_bytes);
    if (ZSTD_isError(size))
        return err_set(e, ERR_FAILED, "zstd: %s", ZSTD_getErrorName(size));
    return size == bytes ||
           err_set(e, ERR_FAILED, "it decompresses to %zu bytes, not %zu", size, bytes);
}

void cache_packer_free(struct cache_packer **p)
{
    if (!*p)
        return;
    ZSTD_freeCCtx((*p)->to);
    ZSTD_freeDCtx((*p)->from);
    free(*p);
    *p = NULL;
}
