#include "shrink_gpu.h"

#include "barcode/colour.h"
#include "barcode/shrink.h"
#include "cuda_check.h"

/* One axis of one plane as shrink_axis_fit (src/engine/shrink_sum.h) reduces it: a full sample weighs `sample`, a pixel `pixel`. */
struct gpu_axis {
    uint32_t sample, pixel;
};

struct gpu_plane {
    const uint8_t *data;
    long long pitch;
    int step;
    gpu_axis x, y;
};

struct gpu_shrink {
    gpu_plane plane[3];
    colour_transform colour;
    int planes, shift, scale;
    int width, height;               /* before orientation                                     */
    shrink_placing to;               /* where its pixels go                                    */
    uint8_t *rgb;
};

/* ------------------------------------------------------------------ device */

/* Sample i of the axis inside pixel p: how many units of it the pixel covers. */
__device__ static uint32_t overlap(const gpu_axis &a, uint32_t low, uint32_t high, uint32_t i)
{
    uint32_t begin = i * a.sample, end = begin + a.sample;
    return min(end, high) - max(begin, low);
}

template <int WORD> __device__ static uint32_t sample_at(const uint8_t *at, int shift)
{
    return WORD == 1 ? *at : *(const uint16_t *)at >> shift;
}

/* This lane's share of the weighted sum under pixel (x, y): every `lanes`th sample. */
template <int WORD>
__device__ static uint64_t cell_sum(const gpu_plane &p, int shift, uint32_t x, uint32_t y, uint32_t lane, uint32_t lanes)
{
    uint32_t left = x * p.x.pixel, right = left + p.x.pixel, top = y * p.y.pixel, bottom = top + p.y.pixel;
    uint32_t x0 = left / p.x.sample, y0 = top / p.y.sample;
    uint32_t columns = (right - 1) / p.x.sample - x0 + 1, rows = (bottom - 1) / p.y.sample - y0 + 1;
    uint64_t sum = 0;
    for (uint32_t j = 0; j < rows; j++) {
        const uint8_t *row = p.data + (long long)(y0 + j) * p.pitch;
        uint64_t line = 0;
        for (uint32_t i = lane; i < columns; i += lanes)
            line += (uint64_t)sample_at<WORD>(row + (long long)(x0 + i) * p.step, shift) * overlap(p.x, left, right, x0 + i);
        sum += line * overlap(p.y, top, bottom, y0 + j);
    }
    return sum;
}

__device__ static uint16_t mean_of(uint64_t sum, const gpu_plane &p, int scale)
{
    uint64_t total = (uint64_t)p.x.pixel * p.y.pixel;
    uint64_t mean = ((sum << scale) + total / 2) / total;
    return mean > 65535 ? 65535 : (uint16_t)mean;
}

/* colour_apply of src/engine/colour.c. */
__device__ static void write_pixel(const gpu_shrink &s, const uint16_t in[3], uint32_t x, uint32_t y)
{
    uint8_t *to = s.rgb + 3 * (s.to.start + (long long)x * s.to.right + (long long)y * s.to.down);
    for (int i = 0; i < 3; i++) {
        long long sum = 0;
        for (int j = 0; j < 3; j++)
            sum += (long long)s.colour.m[i][j] * ((int)in[j] - s.colour.offset[j]);
        long long out = (sum + (1LL << (COLOUR_FRACTION + 7))) >> (COLOUR_FRACTION + 8);
        to[i] = (uint8_t)(out < 0 ? 0 : out > 255 ? 255 : out);
    }
}

/* A thread a pixel: cells of some dozens of samples. */
template <int WORD> __global__ void shrink_threads(const gpu_shrink s)
{
    uint32_t x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= (uint32_t)s.width)
        return;
    uint16_t in[3] = {0, 0, 0};
    for (int i = 0; i < s.planes; i++)
        in[i] = mean_of(cell_sum<WORD>(s.plane[i], s.shift, x, y, 0, 1), s.plane[i], s.scale);
    if (s.planes == 1)
        in[1] = in[2] = in[0];
    write_pixel(s, in, x, y);
}

/* A block a pixel: few, large cells. */
template <int WORD> __global__ void shrink_blocks(const gpu_shrink s)
{
    __shared__ unsigned long long sum[3];
    if (threadIdx.x < 3)
        sum[threadIdx.x] = 0;
    __syncthreads();
    for (int i = 0; i < s.planes; i++)
        atomicAdd(&sum[i], (unsigned long long)cell_sum<WORD>(s.plane[i], s.shift, blockIdx.x, blockIdx.y, threadIdx.x, blockDim.x));
    __syncthreads();
    if (threadIdx.x != 0)
        return;
    uint16_t in[3] = {0, 0, 0};
    for (int i = 0; i < s.planes; i++)
        in[i] = mean_of(sum[i], s.plane[i], s.scale);
    if (s.planes == 1)
        in[1] = in[2] = in[0];
    write_pixel(s, in, blockIdx.x, blockIdx.y);
}

/* A block a row of a frame. */
__global__ void sum_rows(const uint8_t *rgb, int width, int height, uint32_t *sum)
{
    __shared__ uint32_t total[3];
    if (threadIdx.x < 3)
        total[threadIdx.x] = 0;
    __syncthreads();
    size_t row = (size_t)blockIdx.y * height + blockIdx.x;
    const uint8_t *at = rgb + row * width * 3;
    uint32_t mine[3] = {0, 0, 0};
    for (int x = threadIdx.x; x < width; x += blockDim.x)
        for (int c = 0; c < 3; c++)
            mine[c] += at[3 * x + c];
    for (int c = 0; c < 3; c++) {
        for (int far = 16; far > 0; far /= 2)
            mine[c] += __shfl_down_sync(~0u, mine[c], far);
        if (threadIdx.x % 32 == 0)
            atomicAdd(&total[c], mine[c]);
    }
    __syncthreads();
    if (threadIdx.x < 3)
        sum[row * 3 + threadIdx.x] = total[threadIdx.x];
}

/* ------------------------------------------------------------------ host */

static gpu_axis axis_of(int in, int out)
{
    uint32_t a = (uint32_t)in, b = (uint32_t)out;
    while (b) {
        uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return {(uint32_t)out / a, (uint32_t)in / a};
}

static bool side_fits(int side)
{
    return side >= 1 && side <= 16384;
}

static void launch(const gpu_shrink &s, bool wide, bool large, cudaStream_t stream)
{
    if (large) {
        dim3 grid(s.width, s.height);
        if (wide)
            shrink_blocks<2><<<grid, 256, 0, stream>>>(s);
        else
            shrink_blocks<1><<<grid, 256, 0, stream>>>(s);
        return;
    }
    dim3 grid((s.width + 127) / 128, s.height);
    if (wide)
        shrink_threads<2><<<grid, 128, 0, stream>>>(s);
    else
        shrink_threads<1><<<grid, 128, 0, stream>>>(s);
}

bool shrink_gpu(const struct frame_view *view, int width, int height, uint8_t *rgb, cudaStream_t stream, struct err *e)
{
    bool turned = view->orientation.quarter_turns & 1;
    bool wide = view->bits > 8;
    gpu_shrink s = {};
    s.planes = view->model == MODEL_GREY ? 1 : 3;
    s.width = turned ? height : width;
    s.height = turned ? width : height;
    if (!shrink_check_view(view, e))
        return false;
    if (!side_fits(width) || !side_fits(height))
        return err_set(e, ERR_FAILED, "cannot shrink a picture to %dx%d", width, height);
    for (int i = 0; i < s.planes; i++) {
        const struct plane *p = &view->plane[i];
        s.plane[i] = {p->data, p->pitch, p->step, axis_of(p->width, s.width), axis_of(p->height, s.height)};
    }
    colour_transform_init(&s.colour, view->model, view->matrix, view->range, view->bits);
    s.shift = view->shift;
    s.scale = 16 - view->bits;
    s.rgb = rgb;
    s.to = shrink_place(view->orientation, s.width, s.height);
    enum { LARGE_CELL = 1024 };
    bool large = (long long)view->width * view->height / ((long long)width * height) > LARGE_CELL;
    launch(s, wide, large, stream);
    return cuda_check(cudaGetLastError(), "shrink a picture", e);
}

bool row_sums_gpu(const uint8_t *rgb, int n, int width, int height, uint32_t *sum, cudaStream_t stream, struct err *e)
{
    sum_rows<<<dim3(height, n), 64, 0, stream>>>(rgb, width, height, sum);
    return cuda_check(cudaGetLastError(), "sum rows", e);
}
