#include "small_frame.h"

#include <stdlib.h>

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
static void convert_pixel(const unsigned rgb[3], struct small_frame *to, size_t i)
{
    int r = (int)rgb[0], g = (int)rgb[1], b = (int)rgb[2];
    to->plane[0][i] = (uint8_t)((77 * r + 150 * g + 29 * b + 512) >> 10);
    to->plane[1][i] = (uint8_t)((-43 * r - 84 * g + 127 * b + (128 << 10) + 512) >> 10);
    to->plane[2][i] = (uint8_t)((127 * r - 106 * g - 21 * b + (128 << 10) + 512) >> 10);
}

void small_frame_make(const uint8_t *rgb, struct small_frame *to, struct scan_frame *facts)
{
    uint64_t sum[3] = {0}, luma = 0, squares = 0;
    for (size_t y = 0; y < SMALL_HEIGHT; y++)
        for (size_t x = 0; x < SMALL_WIDTH; x++) {
            const uint8_t *p = rgb + (2 * y * SCAN_WIDTH + 2 * x) * 3;
            const uint8_t *q = p + (size_t)3 * SCAN_WIDTH;
            unsigned four[3];
            for (int c = 0; c < 3; c++) {
                four[c] = (unsigned)p[c] + p[c + 3] + q[c] + q[c + 3];
                sum[c] += four[c];
            }
            convert_pixel(four, to, y * SMALL_WIDTH + x);
        }
    for (int i = 0; i < SMALL_PIXELS; i++) {
        luma += to->plane[0][i];
        squares += (uint64_t)to->plane[0][i] * to->plane[0][i];
    }
    for (int c = 0; c < 3; c++)
        facts->mean[c] = mean_of(sum[c], 4 * SMALL_PIXELS);
    facts->luma = mean_of(luma, SMALL_PIXELS);
    const uint64_t n = SMALL_PIXELS;
    facts->contrast = (uint8_t)root_of((squares * n - luma * luma) / (n * n));
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
