#include "cluster_pool.h"

#include <string.h>

/* For products of pixels and weights, which exceed 64 bits in a long film. */
__extension__ typedef unsigned __int128 u128;

uint64_t pool_weigh(const struct column *c, uint64_t part, uint64_t weight[CLUSTERS_MAX])
{
    uint64_t pixels = 0, sum = 0;
    for (int j = 0; j < c->clusters; j++)
        pixels += c->cluster[j].count;
    for (int j = 0; j < c->clusters; j++) {
        weight[j] = pixels > 0 ? (uint64_t)c->cluster[j].count * POOL_SHARE / pixels * part
                    : j == 0   ? POOL_SHARE * part
                               : 0;
        sum += weight[j];
    }
    return sum;
}

void pool_put(struct pool *p, const uint8_t rgb[3], uint64_t weight)
{
    p->sum += weight;
    uint64_t end = p->total > 0 ? (uint64_t)((u128)p->pixels * p->sum / p->total) : 0;
    for (; p->at < end; p->at++)
        memcpy(p->rgb + p->at * 3, rgb, 3);
}
