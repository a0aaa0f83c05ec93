/*
 * kmeans_update.cuh - the update step: computes centroids and inertia from sums, and the tables for
 * the assign step.
 */
#ifndef BARCODE_CUDA_KMEANS_UPDATE_CUH
#define BARCODE_CUDA_KMEANS_UPDATE_CUH

#include "kmeans_block.cuh"

enum {
    SAFETY = 64, /* above every rounding error of the tests' floats, which stay below 2^27 */
    NEAR_CONSTANT = 1 << 21,
    NEAR_STEP = 1 << 12 /* floats hold moves below these two limits exactly */
};

/* Writes centroid q to the tables. Returns true if it moved farther than floats hold exactly. */
template <class T>
static __device__ bool set_centroid(const struct lloyd_work<T> *w, int j, int r, int g, int b)
{
    int scale = 1 << w->bits, square = r * r + g * g + b * b;
    int constant = (square / (1 << (9 - w->bits)) + 127 * (r + g + b)) * scale + j;
    r *= -scale;
    g *= -scale;
    b *= -scale;
    float4 line = make_float4((float)constant, (float)r, (float)g, (float)b), old = w->m->line[j];
    int gap = constant - w->m->now[1 + j].x;
    float4 moved = make_float4((float)gap, line.y - old.y, line.z - old.z, line.w - old.w);
    uint2 packed = steps(r, g, b);
    w->m->now[1 + j] = make_int4(constant, (int)packed.x, (int)packed.y, 0);
    w->m->line[j] = line;
    w->m->moved[j] = moved;
    return abs(gap) > NEAR_CONSTANT || fabsf(moved.y) > NEAR_STEP || fabsf(moved.z) > NEAR_STEP ||
           fabsf(moved.w) > NEAR_STEP;
}

/* Initializes centroid j from the start or an earlier launch, with an empty cluster. */
template <class T>
static __device__ void begin_centroid(const struct lloyd_work<T> *w, int j, uint2 from)
{
    int scale = 1 << w->bits, r = (int16_t)from.x, g = (int16_t)(from.x >> 16), b = (int16_t)from.y;
    w->m->now[1 + j] = make_int4(0, 0, 0, 0);
    w->m->line[j] = make_float4(0, 0, 0, 0);
    set_centroid(w, j, -r / scale, -g / scale, -b / scale);
    for (int i = 0; i < 4; i++)
        w->m->sum[j][i] = 0;
}

/* Returns x / n, rounded down; the quotient fits 32 bits. */
static __device__ __forceinline__ wide divide(wide x, wide n, double inverse)
{
    wide quotient = (wide)((double)x * inverse);
    long long rest = (long long)(x - quotient * n);
    while (rest < 0) {
        rest += (long long)n;
        quotient--;
    }
    while (rest >= (long long)n) {
        rest -= (long long)n;
        quotient++;
    }
    return quotient;
}

/*
 * Computes the centroid of sums. Returns |S|^2 / n in units of 2^-INERTIA_FRACTION, like settle in
 * src/kmeans/restart.c. Uses 64-bit integers, for sums of any size.
 */
static __device__ wide settle(const wide *sum, int f, int *q)
{
    wide n = sum[3], whole = 0, rest = 0;
    double inverse = 1.0 / (double)n;
    for (int c = 0; c < 3; c++) {
        wide a = divide(sum[c], n, inverse), r = sum[c] - a * n;
        q[c] = (int)(a << f) + (int)divide((r << f) + n / 2, n, inverse) - (127 << f);
        whole += a * a * n + 2 * a * r;
        rest += r * r;
    }
    wide unit = divide(rest, n, inverse);
    return ((whole + unit) << INERTIA_FRACTION) +
           divide((rest - unit * n) << INERTIA_FRACTION, n, inverse);
}

/*
 * Returns floor(x / n) of integers below 2^53, where the quotient is below 2^32. Sets *rest to x -
 * quotient * n. Every step is exact.
 */
static __device__ __forceinline__ double divide_exact(double x, double n, double inverse,
                                                      double *rest)
{
    double quotient = (double)(uint32_t)(x * inverse), r = fma(-quotient, n, x);
    if (r < 0) {
        quotient -= 1;
        r += n;
    }
    if (r >= n) {
        quotient += 1;
        r -= n;
    }
    *rest = r;
    return quotient;
}

/*
 * Does the same in doubles, for n <= 2^24. Nothing exceeds 2^53, so nothing is rounded, and the
 * code is several times shorter.
 */
static __device__ wide settle(const uint32_t *sum, int f, int *q)
{
    double n = sum[3], half = sum[3] / 2, inverse = 1.0 / n, whole = 0, rest = 0, r, last;
    for (int c = 0; c < 3; c++) {
        double a = divide_exact(sum[c], n, inverse, &r);
        q[c] = ((int)a << f) +
               (int)divide_exact(fma(r, (double)(1 << f), half), n, inverse, &last) - (127 << f);
        whole += fma(a * a, n, 2 * a * r);
        rest = fma(r, r, rest);
    }
    whole += divide_exact(rest, n, inverse, &r);
    return ((wide)whole << INERTIA_FRACTION) +
           (wide)divide_exact(r * (1 << INERTIA_FRACTION), n, inverse, &last);
}

/*
 * Performs the update step in one warp. Returns the lowest inertia so far. Sets m->go if this
 * clustering has it.
 */
template <class T> static __device__ wide update(const struct lloyd_work<T> *w, wide last)
{
    enum { EACH = (T::MOST + 31) / 32 };
    wide explained = 0;
    int q[EACH][3];
    for (int i = 0; i < EACH; i++) {
        int j = lane_id() + 32 * i;
        if (j < w->k && w->m->sum[j][3])
            explained += settle(w->m->sum[j], 8 - w->bits, q[i]);
    }
    wide inertia = (w->square << INERTIA_FRACTION) - warp_sum_wide(explained);
    bool far = false, better = inertia < last;
    for (int i = 0; i < EACH; i++) {
        int j = lane_id() + 32 * i;
        if (!better || j >= w->k)
            continue;
        for (int c = 0; c < 4; c++)
            w->m->kept[j][c] = w->m->sum[j][c];
        if (w->m->sum[j][3])
            far |= set_centroid(w, j, q[i][0], q[i][1], q[i][2]);
        else
            w->m->moved[j] = make_float4(0, 0, 0, 0);
    }
    far = __any_sync(WARP_ALL, far);
    if (lane_id() == 0) {
        w->m->go = better;
        w->m->some |= better;
        w->m->blur = far ? SAFETY : 1;
    }
    return better ? inertia : last;
}

#endif
