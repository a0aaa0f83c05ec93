#include "smooth.h"

#include <stdlib.h>
#include <string.h>

#include "barcode/engine/srgb.h"

enum { MS = 1000, HOUR_MS = 3600000 };

struct smooth {
    uint64_t count;
    int64_t half;    /* S */
    int64_t *middle; /* [count] m_i */
    uint32_t *span;  /* [count] d_i */
    uint16_t *light; /* [count]: a channel in linear light */
    uint16_t *mean;
    uint8_t level[65536]; /* srgb_level */
};

struct smooth *smooth_open(const int64_t *edge, uint64_t count, int64_t smooth_us, struct err *e)
{
    struct smooth *s = err_calloc(1, sizeof *s, e);
    if (!s)
        return NULL;
    s->count = count;
    s->half = smooth_us / MS;
    s->middle = malloc(count * sizeof *s->middle);
    s->span = malloc(count * sizeof *s->span);
    s->light = malloc(count * sizeof *s->light);
    s->mean = malloc(count * sizeof *s->mean);
    if (!s->middle || !s->span || !s->light || !s->mean) {
        err_memory(e, count * (sizeof *s->middle + sizeof *s->span + 2 * sizeof *s->light));
        smooth_free(&s);
        return NULL;
    }
    for (uint64_t i = 0; i < count; i++) {
        int64_t from = edge[i] / MS, to = edge[i + 1] / MS, span = to - from;
        s->span[i] = span < 1 ? 1 : span > HOUR_MS ? HOUR_MS : (uint32_t)span;
        s->middle[i] = from + span / 2;
    }
    for (int v = 0; v < 65536; v++)
        s->level[v] = srgb_level((uint16_t)v);
    return s;
}

void smooth_free(struct smooth **s)
{
    if (!*s)
        return;
    free((*s)->middle);
    free((*s)->span);
    free((*s)->light);
    free((*s)->mean);
    free(*s);
    *s = NULL;
}

/* The sums over a range of columns of d, d m, d v and d m v, modulo 2^64. */
struct sums {
    uint64_t d, dm, dv, dmv;
};

static void move(const struct smooth *s, struct sums *to, uint64_t j, bool in)
{
    uint64_t d = s->span[j], dm = d * (uint64_t)s->middle[j], v = s->light[j];
    to->d += in ? d : 0 - d;
    to->dm += in ? dm : 0 - dm;
    to->dv += in ? d * v : 0 - d * v;
    to->dmv += in ? dm * v : 0 - dm * v;
}

/* Smooths one channel. Middles never decrease. `left` holds the columns j <= i within reach, where
 * S - |m_j - m_i| is (S - m_i) + m_j. `right` holds those after i, where it is (S + m_i) - m_j. */
static void smooth_channel(struct smooth *s)
{
    struct sums left = {0}, right = {0};
    uint64_t first = 0, end = 0; /* left: first..i, right: i + 1..end - 1 */
    for (uint64_t i = 0; i < s->count; i++) {
        int64_t m = s->middle[i];
        for (; end < s->count && s->middle[end] - m < s->half; end++)
            move(s, &right, end, true);
        move(s, &right, i, false);
        move(s, &left, i, true);
        for (; m - s->middle[first] >= s->half; first++)
            move(s, &left, first, false);
        uint64_t below = (uint64_t)(s->half - m), above = (uint64_t)(s->half + m);
        uint64_t weight = below * left.d + left.dm + above * right.d - right.dm;
        uint64_t sum = below * left.dv + left.dmv + above * right.dv - right.dmv;
        s->mean[i] = (uint16_t)((2 * sum + weight) / (2 * weight));
    }
}

void smooth_values(struct smooth *s, uint16_t *value)
{
    memcpy(s->light, value, s->count * sizeof *value);
    smooth_channel(s);
    memcpy(value, s->mean, s->count * sizeof *value);
}

void smooth_line(struct smooth *s, uint8_t *line)
{
    for (int k = 0; k < 3; k++) {
        for (uint64_t i = 0; i < s->count; i++)
            s->light[i] = srgb_linear[line[i * 3 + (uint64_t)k]];
        smooth_channel(s);
        for (uint64_t i = 0; i < s->count; i++)
            line[i * 3 + (uint64_t)k] = s->level[s->mean[i]];
    }
}
