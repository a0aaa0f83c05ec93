#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "cache/pack.h"

enum { BYTES = 50000 };

TEST(there_and_back)
{
    static uint8_t data[BYTES], back[BYTES];
    uint8_t *packed = malloc(cache_pack_bound(BYTES));
    struct cache_packer *p = cache_packer_open(NULL);
    assert_true(p && packed);
    uint32_t z = 3;
    for (int noise = 0; noise < 2; noise++) {
        for (int i = 0; i < BYTES; i++) {
            z = z * 1664525u + 1013904223u;
            data[i] = noise ? (uint8_t)(z >> 24) : (uint8_t)(i / 100);
        }
        size_t size = cache_pack(p, data, BYTES, packed, NULL);
        assert_true(size > 0 && size <= cache_pack_bound(BYTES));
        assert_true(noise || size < BYTES / 10);
        memset(back, 0xa5, BYTES);
        assert_true(cache_unpack(p, packed, size, back, BYTES, NULL));
        assert_memory_equal(back, data, BYTES);
    }
    cache_packer_free(&p);
    assert_null(p);
    cache_packer_free(&p);
    free(packed);
}

TEST(what_is_not_packed)
{
    uint8_t data[100] = {1, 2, 3}, packed[300], back[200];
    struct cache_packer *p = cache_packer_open(NULL);
    assert_true(cache_pack_bound(sizeof data) <= sizeof packed);
    size_t size = cache_pack(p, data, sizeof data, packed, NULL);
    struct err e = ERR_INIT;
    assert_false(cache_unpack(p, packed, size, back, 99, &e)); /* too long for the room */
    assert_int_equal(e.code, ERR_FAILED);
    err_clear(&e);
    assert_false(cache_unpack(p, packed, size, back, 200, &e)); /* too short */
    assert_non_null(strstr(e.text, "100 bytes, not 200"));
    for (size_t cut = 0; cut < size; cut++)
        assert_false(cache_unpack(p, packed, cut, back, 100, NULL));
    assert_false(cache_unpack(p, data, sizeof data, back, 100, NULL));
    cache_packer_free(&p);
}
