#include "live_average.h"

#include <stddef.h>

#include "barcode/engine/column.h"

void live_average_frame(struct live_average *a, const uint8_t *rgb, int width, int height,
                        const struct light_table *means)
{
    size_t pixels = (size_t)width * (size_t)height;
    for (int y = 0; y < height && means; y++) {
        uint32_t row[3];
        column_row_light(means, rgb + (size_t)y * (size_t)width * 3, width, row);
        for (int c = 0; c < 3; c++)
            a->sum[c] += row[c];
    }
    for (size_t i = 0; i < pixels && !means; i++)
        for (int c = 0; c < 3; c++)
            a->sum[c] += rgb[i * 3 + (size_t)c];
    a->count += means ? (uint64_t)height : pixels;
}

void live_average_add(struct live_average *a, const struct live_average *more)
{
    for (int c = 0; c < 3; c++)
        a->sum[c] += more->sum[c];
    a->count += more->count;
}

void live_average_colour(const struct live_average *a, const struct light_table *means,
                         uint8_t rgb[3])
{
    for (int c = 0; c < 3; c++)
        rgb[c] = means ? light_to_byte(means, (uint32_t)((a->sum[c] + a->count / 2) / a->count))
                       : (uint8_t)((2 * a->sum[c] + a->count) / (2 * a->count));
}
