#include "fit_width.h"

#include <string.h>

struct strip_under strip_under(uint64_t x, uint64_t count, uint64_t width)
{
    return (struct strip_under){x * count / width, ((x + 1) * count - 1) / width};
}

uint64_t strip_overlap(uint64_t x, uint64_t i, uint64_t count, uint64_t width)
{
    uint64_t from = x * count > i * width ? x * count : i * width;
    uint64_t to = (x + 1) * count < (i + 1) * width ? (x + 1) * count : (i + 1) * width;
    return to > from ? to - from : 0;
}

uint8_t strip_mean_light(const uint8_t *channel, const struct shrink_span *s, uint64_t whole,
                         uint64_t total, const struct light_table *sdr)
{
    uint64_t middle = 0;
    uint64_t sum = light_of_byte(sdr, channel[s->head * 3]) * s->head_weight +
                   light_of_byte(sdr, channel[s->tail * 3]) * s->tail_weight;
    for (uint64_t i = s->begin; i < s->end; i++)
        middle += light_of_byte(sdr, channel[i * 3]);
    return light_to_byte(sdr, (uint32_t)((sum + middle * whole + total / 2) / total));
}

void strip_mean_span(const uint8_t *line, const struct shrink_span *s, uint64_t count,
                     uint64_t width, const struct light_table *means, uint8_t rgb[3])
{
    const uint8_t *head = line + s->head * 3, *tail = line + s->tail * 3, *end = line + s->end * 3;
    if (s->begin == s->end && s->head == s->tail) { /* within one pixel */
        memcpy(rgb, head, 3);
        return;
    }
    for (int c = 0; means && c < 3; c++)
        rgb[c] = strip_mean_light(line + c, s, width, count, means);
    if (means)
        return;
    uint64_t whole[3] = {0};
    for (const uint8_t *q = line + s->begin * 3; q < end; q += 3)
        for (int c = 0; c < 3; c++)
            whole[c] += q[c];
    for (int c = 0; c < 3; c++) {
        uint64_t sum = head[c] * s->head_weight + whole[c] * width + tail[c] * s->tail_weight;
        rgb[c] = (uint8_t)((2 * sum + count) / (2 * count));
    }
}

void strip_fit_mean(const uint8_t *line, uint64_t count, uint8_t *rgb, uint64_t width,
                    const struct light_table *means)
{
    for (uint64_t x = 0; x < width; x++, rgb += 3) {
        struct shrink_span s = shrink_span(x, count, width);
        strip_mean_span(line, &s, count, width, means, rgb);
    }
}

/* Sets distance[v] to the sum of weight[u] * |u - v|. From v to v + 1, values at or below v become
 * 1 farther and the others 1 nearer. */
static void distances(const uint64_t weight[256], uint64_t distance[256])
{
    uint64_t above = 0, below = 0;
    distance[0] = 0;
    for (uint64_t v = 0; v < 256; v++) {
        distance[0] += weight[v] * v;
        above += weight[v];
    }
    for (int v = 0; v < 255; v++) {
        below += weight[v];
        above -= weight[v];
        distance[v + 1] = distance[v] + below - above;
    }
}

/* Finds the medoid of the columns in one pass: a Manhattan distance is a sum over the channels, so
 * no pairs of columns need to be compared. */
static const uint8_t *medoid(const uint8_t *line, struct strip_under u, uint64_t x, uint64_t count,
                             uint64_t width)
{
    uint64_t weight[3][256] = {{0}}, distance[3][256], least = UINT64_MAX;
    const uint8_t *found = line + u.first * 3;
    for (uint64_t i = u.first; i <= u.last; i++)
        for (int c = 0; c < 3; c++)
            weight[c][line[i * 3 + (uint64_t)c]] += strip_overlap(x, i, count, width);
    for (int c = 0; c < 3; c++)
        distances(weight[c], distance[c]);
    for (const uint8_t *p = line + u.first * 3; p <= line + u.last * 3; p += 3) {
        uint64_t sum = 2 * distance[0][p[0]] + 4 * distance[1][p[1]] + 3 * distance[2][p[2]];
        if (sum < least) {
            least = sum;
            found = p;
        }
    }
    return found;
}

void strip_fit_medoid(const uint8_t *line, uint64_t count, uint8_t *rgb, uint64_t width)
{
    for (uint64_t x = 0; x < width; x++, rgb += 3) {
        struct strip_under u = strip_under(x, count, width);
        const uint8_t *p = line + u.first * 3;
        if (u.last == u.first + 1 &&
            strip_overlap(x, u.last, count, width) > strip_overlap(x, u.first, count, width))
            p += 3; /* of two columns the one that covers more: a fast path for wide images */
        else if (u.last > u.first + 1)
            p = medoid(line, u, x, count, width);
        memcpy(rgb, p, 3);
    }
}
