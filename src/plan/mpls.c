#include "mpls.h"

#include <stdio.h>
#include <string.h>

/* Big-endian numbers; a playlist begins with "MPLS", its version, and where its list of items is.
 */
static size_t read_16(const uint8_t *p) { return (size_t)p[0] << 8 | p[1]; }
static size_t read_32(const uint8_t *p) { return read_16(p) << 16 | read_16(p + 2); }

/* The list: 4 bytes of length, 2 unused ones, the number of items, and that of sub-paths. */
enum { HEAD = 12, LIST_HEAD = 10, ITEM_BYTES = 20, CLOCK = 45000 };

size_t mpls_begin(const uint8_t *data, size_t size, size_t *at)
{
    if (size < HEAD || memcmp(data, "MPLS", 4) != 0)
        return 0;
    size_t list = read_32(data + 8);
    if (list > size || size - list < LIST_HEAD)
        return 0;
    *at = list + LIST_HEAD;
    return read_16(data + list + 6);
}

bool mpls_next(const uint8_t *data, size_t size, size_t *at, struct mpls_item *item)
{
    if (size - *at < 2 + ITEM_BYTES || read_16(data + *at) < ITEM_BYTES ||
        size - *at < 2 + read_16(data + *at))
        return false;
    /* name[5], "M2TS", two bytes of flags, the number of its clock, start and end */
    const uint8_t *p = data + *at + 2;
    for (int k = 0; k < 5; k++)
        if (p[k] < '0' || p[k] > '9')
            return false;
    snprintf(item->name, sizeof item->name, "%.5s.m2ts", (const char *)p);
    item->start_us = (int64_t)read_32(p + 12) * 1000000 / CLOCK;
    item->end_us = (int64_t)read_32(p + 16) * 1000000 / CLOCK;
    *at += 2 + read_16(data + *at);
    return memcmp(p + 5, "M2TS", 4) == 0 && item->end_us > item->start_us;
}
