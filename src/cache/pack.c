#include "pack.h"

#include <stdlib.h>
#include <zstd.h>

/*
 * Residuals are mostly noise: entropy coding does nearly all. Levels 2 and 3 are slower and
 * compress no better.
 */
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
