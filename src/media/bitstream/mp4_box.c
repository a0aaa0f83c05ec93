#include "media/container/film_input.h"

#include <string.h>

static uint64_t read_number(const uint8_t *bytes, int count)
{
    uint64_t value = 0;
    for (int i = 0; i < count; i++)
        value = value << 8 | bytes[i];
    return value;
}

bool mp4_box_is(const uint8_t *head, int count, const char *name)
{
    return count >= MP4_BOX_HEAD && memcmp(head + 4, name, 4) == 0;
}

int64_t mp4_box_next(const uint8_t *head, int count, int64_t at)
{
    uint64_t size = count >= MP4_BOX_HEAD ? read_number(head, 4) : 0;
    if (size == 1)
        size = count >= MP4_BOX_HEAD_LONG ? read_number(head + MP4_BOX_HEAD, 8) : 0;
    return size >= MP4_BOX_HEAD && size <= (uint64_t)(INT64_MAX - at) ? at + (int64_t)size : -1;
}
