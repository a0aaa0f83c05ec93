#include "band_order.h"

#include "barcode/engine/srgb.h"

int strip_order_next(enum palette_order order, const struct cluster *cluster, int clusters,
                     int last)
{
    if (order == ORDER_SHARE)
        return last + 1 < clusters ? last + 1 : -1;
    uint32_t limit = last < 0 ? UINT32_MAX : srgb_luminance(cluster[last].rgb), lightest = 0;
    int found = -1;
    for (int j = 0; j < clusters; j++) {
        uint32_t light = srgb_luminance(cluster[j].rgb);
        bool later = light < limit || (light == limit && j > last);
        if (later && (found < 0 || light > lightest)) {
            found = j;
            lightest = light;
        }
    }
    return found;
}

void strip_order(enum palette_order order, const struct cluster *cluster, int clusters,
                 uint8_t *indices)
{
    for (int j = -1; (j = strip_order_next(order, cluster, clusters, j)) >= 0;)
        *indices++ = (uint8_t)j;
}
