#include "base64.h"

#include <stdint.h>

size_t base64_encode(const void *data, size_t size, char *out)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const uint8_t *in = data;
    size_t used = 0;
    for (size_t at = 0; at < size; at += 3) {
        size_t left = size - at < 3 ? size - at : 3;
        uint32_t word = (uint32_t)in[at] << 16 | (left > 1 ? (uint32_t)in[at + 1] << 8 : 0) |
                        (left > 2 ? in[at + 2] : 0);
        for (size_t k = 0; k < 4; k++)
            out[used++] = k <= left ? digit[word >> (18 - 6 * k) & 63] : '=';
    }
    return used;
}
