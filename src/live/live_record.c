#include "live_record.h"

#include <string.h>

struct head {
    int64_t number;
    uint8_t status, clusters, chosen, unused[5];
    uint8_t average[3], dominant[3], unused_too[2];
};

static bool is_within(int value, int least, int most) { return value >= least && value <= most; }

bool live_shape_is_valid(const struct live_shape *s)
{
    enum { SIDE = 16384, CLUSTERS = 64, SLIT = 32768 };
    return s->step_us > 0 && is_within(s->width, 1, SIDE) && is_within(s->height, 1, SIDE) &&
           is_within(s->k, 0, CLUSTERS) && is_within(s->rows, 0, SIDE) &&
           is_within(s->slit_length, 0, SLIT);
}

size_t live_record_bytes(const struct live_shape *s)
{
    return sizeof(struct head) + (size_t)s->k * sizeof(struct cluster) +
           ((size_t)s->rows + (size_t)s->slit_length) * 3;
}

void live_record_write(const struct live_shape *s, int64_t number, const struct column *c,
                       uint8_t *to)
{
    const size_t rows = (size_t)s->rows * 3;
    struct head head = {
        .number = number, .status = c->status, .clusters = c->clusters, .chosen = c->chosen};
    memcpy(head.average, c->average, 3);
    memcpy(head.dominant, c->dominant, 3);
    memset(to, 0, live_record_bytes(s));
    memcpy(to, &head, sizeof head);
    to += sizeof head;
    if (s->k > 0 && c->cluster)
        memcpy(to, c->cluster, c->clusters * sizeof *c->cluster);
    to += (size_t)s->k * sizeof *c->cluster;
    if (rows > 0 && c->row)
        memcpy(to, c->row, rows);
    if (s->slit_length > 0 && c->slit)
        memcpy(to + rows, c->slit, (size_t)s->slit_length * 3);
}

/* Returns true if the clusters can be those of a frame. Painters divide by the sum of the counts.
 */
static bool are_clusters(const struct live_shape *s, const struct head *head,
                         const struct cluster *cluster)
{
    const uint64_t most = (uint64_t)s->width * (uint64_t)s->height;
    uint64_t sum = 0;
    if (s->k == 0)
        return head->clusters == 0 && head->chosen == 0;
    if (head->clusters == 0 || head->clusters > s->k || head->chosen >= head->clusters)
        return false;
    for (int i = 0; i < head->clusters; i++) {
        if (cluster[i].count == 0)
            return false;
        sum += cluster[i].count;
    }
    return sum <= most;
}

bool live_record_read(const struct live_shape *s, uint8_t *from, struct cluster *cluster,
                      int64_t *number, struct column *c)
{
    struct head head;
    const size_t bytes = (size_t)s->k * sizeof *cluster;
    memcpy(&head, from, sizeof head);
    memcpy(cluster, from + sizeof head, bytes);
    uint8_t *row = from + sizeof head + bytes;
    if ((head.status != COLUMN_OK && head.status != COLUMN_DAMAGED) ||
        !are_clusters(s, &head, cluster))
        return false;
    *number = head.number;
    *c = (struct column){.repeat = 1,
                         .status = head.status,
                         .clusters = head.clusters,
                         .chosen = head.chosen,
                         .cluster = s->k > 0 ? cluster : NULL,
                         .row = s->rows > 0 ? row : NULL,
                         .slit = s->slit_length > 0 ? row + (size_t)s->rows * 3 : NULL};
    memcpy(c->average, head.average, 3);
    memcpy(c->dominant, head.dominant, 3);
    return true;
}

/* ---- The mean colour ---- */

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
