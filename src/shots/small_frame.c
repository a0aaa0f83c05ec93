#include "small_frame.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK_W = 8, BLOCK_H = 6, REACH_X = 4, REACH_Y = 3 /* pixels that a block may move */ };

/* Returns the mean of n pixels' sum, rounded half up. */
static uint8_t mean_of(uint64_t sum, unsigned n) { return (uint8_t)((sum + n / 2) / n); }

static unsigned root_of(uint64_t value)
{
    unsigned root = 0;
    while ((uint64_t)(root + 1) * (root + 1) <= value)
        root++;
    return root;
}

/* Sets a pixel from the sums of four. */
static void convert_pixel(const unsigned rgb[3], struct small_frame *to, int i)
{
    int r = (int)rgb[0], g = (int)rgb[1], b = (int)rgb[2];
    to->plane[0][i] = (uint8_t)((77 * r + 150 * g + 29 * b + 512) >> 10);
    to->plane[1][i] = (uint8_t)((-43 * r - 84 * g + 127 * b + (128 << 10) + 512) >> 10);
    to->plane[2][i] = (uint8_t)((127 * r - 106 * g - 21 * b + (128 << 10) + 512) >> 10);
}

void small_frame_make(const uint8_t *rgb, struct small_frame *to, struct scan_frame *facts)
{
    uint64_t sum[3] = {0}, luma = 0, squares = 0;
    for (int y = 0; y < SMALL_HEIGHT; y++)
        for (int x = 0; x < SMALL_WIDTH; x++) {
            const uint8_t *p = rgb + (2 * y * SCAN_WIDTH + 2 * x) * 3, *q = p + 3 * SCAN_WIDTH;
            unsigned four[3];
            for (int c = 0; c < 3; c++) {
                four[c] = (unsigned)p[c] + p[c + 3] + q[c] + q[c + 3];
                sum[c] += four[c];
            }
            convert_pixel(four, to, y * SMALL_WIDTH + x);
        }
    for (int i = 0; i < SMALL_PIXELS; i++) {
        luma += to->plane[0][i];
        squares += (unsigned)to->plane[0][i] * to->plane[0][i];
    }
    for (int c = 0; c < 3; c++)
        facts->mean[c] = mean_of(sum[c], 4 * SMALL_PIXELS);
    facts->luma = mean_of(luma, SMALL_PIXELS);
    facts->contrast =
        (uint8_t)root_of((squares * SMALL_PIXELS - luma * luma) / (SMALL_PIXELS * SMALL_PIXELS));
}

static unsigned sum_differences(const uint8_t *a, const uint8_t *b, int n)
{
    unsigned sum = 0;
    for (int i = 0; i < n; i++)
        sum += (unsigned)abs(a[i] - b[i]);
    return sum;
}

/* Returns the distance of the planes' sums. */
static unsigned distance_of(unsigned luma, unsigned chroma)
{
    return (2 * luma + chroma) * SCAN_UNIT / (2 * SMALL_PIXELS);
}

unsigned small_distance(const struct small_frame *a, const struct small_frame *b)
{
    return distance_of(sum_differences(a->plane[0], b->plane[0], SMALL_PIXELS),
                       sum_differences(a->plane[1], b->plane[1], 2 * SMALL_PIXELS));
}

unsigned small_residue(const struct small_frame *a, const struct small_frame *middle,
                       const struct small_frame *b)
{
    unsigned sum[3] = {0};
    for (int c = 0; c < 3; c++) {
        const uint8_t *p = a->plane[c], *m = middle->plane[c], *q = b->plane[c];
        for (int i = 0; i < SMALL_PIXELS; i++)
            sum[c] += (unsigned)abs(2 * m[i] - p[i] - q[i]);
    }
    return distance_of(sum[0], sum[1] + sum[2]) / 2;
}

uint8_t small_likeness(const struct small_frame *a, const struct small_frame *b)
{
    int32_t sa = 0, sb = 0, aa = 0, bb = 0, ab = 0;
    const uint8_t *p = a->plane[0], *q = b->plane[0];
    for (int i = 0; i < SMALL_PIXELS; i++) {
        sa += p[i];
        sb += q[i];
        aa += p[i] * p[i];
        bb += q[i] * q[i];
        ab += p[i] * q[i];
    }
    int64_t covariance = ab - (int64_t)sa * sb / SMALL_PIXELS;
    int64_t of_a = aa - (int64_t)sa * sa / SMALL_PIXELS;
    int64_t of_b = bb - (int64_t)sb * sb / SMALL_PIXELS;
    if (covariance <= 0 || of_a <= 0 || of_b <= 0)
        return 0;
    int64_t squared = covariance * covariance / of_a * 255 / of_b;
    return (uint8_t)(squared < 255 ? squared : 255);
}

/* ---- Motion ---- */

enum { PAD_W = SMALL_WIDTH + 2 * REACH_X, PAD_H = SMALL_HEIGHT + 2 * REACH_Y };
enum { BLOCKS_X = SMALL_WIDTH / BLOCK_W, BLOCKS_Y = SMALL_HEIGHT / BLOCK_H };

/* Copies a plane with its border pixels repeated outwards. */
static void pad_plane(const uint8_t *plane, uint8_t to[PAD_H][PAD_W])
{
    for (int y = 0; y < PAD_H; y++) {
        int from = y < REACH_Y ? 0 : y - REACH_Y;
        const uint8_t *row = plane + (from < SMALL_HEIGHT ? from : SMALL_HEIGHT - 1) * SMALL_WIDTH;
        memset(to[y], row[0], REACH_X);
        memcpy(to[y] + REACH_X, row, SMALL_WIDTH);
        memset(to[y] + REACH_X + SMALL_WIDTH, row[SMALL_WIDTH - 1], REACH_X);
    }
}

/* Sums the differences of a row of blocks, `b` against `a`, whose rows are PAD_W apart. */
static void sum_blocks(const uint8_t *a, const uint8_t *b, unsigned sum[BLOCKS_X])
{
    uint16_t column[SMALL_WIDTH] = {0};
    for (int y = 0; y < BLOCK_H; y++)
        for (int x = 0; x < SMALL_WIDTH; x++)
            column[x] = (uint16_t)(column[x] + abs(a[y * PAD_W + x] - b[y * SMALL_WIDTH + x]));
    for (int i = 0; i < BLOCKS_X; i++) {
        sum[i] = 0;
        for (int x = 0; x < BLOCK_W; x++)
            sum[i] += column[i * BLOCK_W + x];
    }
}

unsigned small_moved(const struct small_frame *a, const struct small_frame *b)
{
    uint8_t padded[3][PAD_H][PAD_W];
    unsigned luma = 0, chroma = 0;
    for (int c = 0; c < 3; c++)
        pad_plane(a->plane[c], padded[c]);
    for (int block = 0; block < BLOCKS_Y; block++) {
        unsigned best[BLOCKS_X], sum[BLOCKS_X];
        int row = block * BLOCK_H, from = row * SMALL_WIDTH, x[BLOCKS_X] = {0}, y[BLOCKS_X] = {0};
        memset(best, 255, sizeof best);
        for (int dy = 0; dy <= 2 * REACH_Y; dy++)
            for (int dx = 0; dx <= 2 * REACH_X; dx++) {
                sum_blocks(&padded[0][row + dy][dx], b->plane[0] + from, sum);
                for (int i = 0; i < BLOCKS_X; i++)
                    if (sum[i] < best[i]) {
                        best[i] = sum[i];
                        x[i] = dx;
                        y[i] = dy;
                    }
            }
        for (int i = 0; i < BLOCKS_X; i++) {
            luma += best[i];
            for (int c = 1; c < 3; c++) {
                sum_blocks(&padded[c][row + y[i]][x[i]], b->plane[c] + from, sum);
                chroma += sum[i];
            }
        }
    }
    return distance_of(luma, chroma);
}
