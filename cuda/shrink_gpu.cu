#include "gpu.h"

#include <pthread.h>
#include <cstdlib>

#include "barcode/engine/colour.h"
#include "barcode/engine/light.h"
#include "barcode/engine/shrink.h"

/* One axis of a plane, in units that divide both: see src/engine/shrink_sum.h. */
struct gpu_axis {
    uint32_t sample; /* units of a sample of the plane */
    uint32_t pixel;  /* units of a pixel of the result */
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
    int width, height; /* before orientation */
    shrink_placing to; /* positions of the output pixels */
    uint8_t *rgb;
    const struct light_table *light; /* NULL: no conversion to light */
    struct light_gamut gamut;
    int width_in[3], height_in[3]; /* of the planes */
};

/* ------------------------------------------------------------------ device */

/* Returns how many units of sample i a pixel covers; the pixel is [low, high) on the axis. */
__device__ static uint32_t overlap(const gpu_axis &a, uint32_t low, uint32_t high, uint32_t i)
{
    uint32_t begin = i * a.sample, end = begin + a.sample;
    return min(end, high) - max(begin, low);
}

template <int WORD> __device__ static uint32_t sample_at(const uint8_t *at, int shift)
{
    return WORD == 1 ? *at : *(const uint16_t *)at >> shift;
}

/* Returns this lane's part of the weighted sum under pixel (x, y): every `lanes`th sample. */
template <int WORD> __device__ static uint64_t cell_sum(const gpu_plane &p, int shift, uint32_t x,
                                                        uint32_t y, uint32_t lane, uint32_t lanes)
{
    uint32_t left = x * p.x.pixel, right = left + p.x.pixel, top = y * p.y.pixel,
             bottom = top + p.y.pixel;
    uint32_t x0 = left / p.x.sample, y0 = top / p.y.sample;
    uint32_t columns = (right - 1) / p.x.sample - x0 + 1, rows = (bottom - 1) / p.y.sample - y0 + 1;
    uint64_t sum = 0;
    for (uint32_t j = 0; j < rows; j++) {
        const uint8_t *row = p.data + (long long)(y0 + j) * p.pitch;
        uint64_t line = 0;
        for (uint32_t i = lane; i < columns; i += lanes)
            line += (uint64_t)sample_at<WORD>(row + (long long)(x0 + i) * p.step, shift) *
                    overlap(p.x, left, right, x0 + i);
        sum += line * overlap(p.y, top, bottom, y0 + j);
    }
    return sum;
}

/* Returns a sample in fix16, minus the matrix's offset. */
template <int WORD>
__device__ static int32_t fix16_at(const gpu_shrink &s, int plane, uint32_t x, uint32_t y)
{
    const gpu_plane &p = s.plane[plane];
    uint32_t value =
        sample_at<WORD>(p.data + (long long)y * p.pitch + (long long)x * p.step, s.shift)
        << s.scale;
    return (int32_t)min(value, 65535u) - s.colour.offset[plane];
}

/* Applies light.h's steps to the luma sample (x, y). */
template <int WORD>
__device__ static void light_at(const gpu_shrink &s, uint32_t x, uint32_t y, uint32_t out[3])
{
    int32_t in[3] = {fix16_at<WORD>(s, 0, x, y), 0, 0};
    for (int i = 1; i < s.planes; i++) {
        uint32_t cx = (uint32_t)((uint64_t)x * s.width_in[i] / s.width_in[0]),
                 cy = (uint32_t)((uint64_t)y * s.height_in[i] / s.height_in[0]);
        in[i] = fix16_at<WORD>(s, i, cx, cy);
    }
    uint32_t code[3];
    for (int i = 0; i < 3; i++)
        code[i] = light_code_of(s.colour.m[i][0] * in[0] + s.colour.m[i][1] * in[1] +
                                s.colour.m[i][2] * in[2]);
    light_apply(s.light, s.light->transfer, s.light->linear, &s.gamut, code, out);
}

/* Computes cell_sum for the three components of light_at. */
template <int WORD> __device__ static void light_sums(const gpu_shrink &s, uint32_t x, uint32_t y,
                                                      uint32_t lane, uint32_t lanes,
                                                      uint64_t sum[3])
{
    const gpu_plane &p = s.plane[0];
    uint32_t left = x * p.x.pixel, right = left + p.x.pixel, top = y * p.y.pixel,
             bottom = top + p.y.pixel;
    uint32_t x0 = left / p.x.sample, y0 = top / p.y.sample;
    uint32_t columns = (right - 1) / p.x.sample - x0 + 1, rows = (bottom - 1) / p.y.sample - y0 + 1;
    sum[0] = sum[1] = sum[2] = 0;
    for (uint32_t j = 0; j < rows; j++) {
        uint64_t down = overlap(p.y, top, bottom, y0 + j);
        for (uint32_t i = lane; i < columns; i += lanes) {
            uint32_t lit[3];
            light_at<WORD>(s, x0 + i, y0 + j, lit);
            uint64_t weight = down * overlap(p.x, left, right, x0 + i);
            for (int c = 0; c < 3; c++)
                sum[c] += lit[c] * weight;
        }
    }
}

__device__ static void write_light(const gpu_shrink &s, const uint64_t sum[3], uint32_t x,
                                   uint32_t y)
{
    uint8_t *to = s.rgb + 3 * (s.to.start + (long long)x * s.to.right + (long long)y * s.to.down);
    uint64_t total = (uint64_t)s.plane[0].x.pixel * s.plane[0].y.pixel;
    for (int c = 0; c < 3; c++)
        to[c] = light_mean(s.light, s.light->linear, sum[c], total);
}

/* Downscales a frame that is converted to light. One thread a pixel. */
template <int WORD> __global__ void light_threads(const gpu_shrink s)
{
    uint32_t x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= (uint32_t)s.width)
        return;
    uint64_t sum[3];
    light_sums<WORD>(s, x, y, 0, 1, sum);
    write_light(s, sum, x, y);
}

/* Downscales a frame that is converted to light. One block a pixel. */
template <int WORD> __global__ void light_blocks(const gpu_shrink s)
{
    __shared__ unsigned long long total[3];
    if (threadIdx.x < 3)
        total[threadIdx.x] = 0;
    __syncthreads();
    uint64_t sum[3];
    light_sums<WORD>(s, blockIdx.x, blockIdx.y, threadIdx.x, blockDim.x, sum);
    for (int c = 0; c < 3; c++)
        atomicAdd(&total[c], (unsigned long long)sum[c]);
    __syncthreads();
    if (threadIdx.x != 0)
        return;
    for (int c = 0; c < 3; c++)
        sum[c] = total[c];
    write_light(s, sum, blockIdx.x, blockIdx.y);
}

__device__ static uint16_t mean_of(uint64_t sum, const gpu_plane &p, int scale)
{
    uint64_t total = (uint64_t)p.x.pixel * p.y.pixel;
    uint64_t mean = ((sum << scale) + total / 2) / total;
    return mean > 65535 ? 65535 : (uint16_t)mean;
}

__device__ static void write_pixel(const gpu_shrink &s, const uint16_t in[3], uint32_t x,
                                   uint32_t y)
{
    colour_apply(&s.colour, in,
                 s.rgb + 3 * (s.to.start + (long long)x * s.to.right + (long long)y * s.to.down));
}

/* Downscales a frame with cells of a few dozen samples. One thread a pixel. */
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

/* Downscales a frame with few, large cells. One block a pixel. */
template <int WORD> __global__ void shrink_blocks(const gpu_shrink s)
{
    __shared__ unsigned long long sum[3];
    if (threadIdx.x < 3)
        sum[threadIdx.x] = 0;
    __syncthreads();
    for (int i = 0; i < s.planes; i++)
        atomicAdd(&sum[i], (unsigned long long)cell_sum<WORD>(s.plane[i], s.shift, blockIdx.x,
                                                              blockIdx.y, threadIdx.x, blockDim.x));
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

/* Sums the rows of each frame. One block a row. */
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

/* Computes column_row_light for the rows of each frame. One block a row. */
__global__ void row_light(const uint8_t *rgb, int width, int height, const struct light_table *sdr,
                          uint32_t *mean)
{
    __shared__ unsigned long long total[3];
    if (threadIdx.x < 3)
        total[threadIdx.x] = 0;
    __syncthreads();
    size_t row = (size_t)blockIdx.y * height + blockIdx.x;
    const uint8_t *at = rgb + row * width * 3;
    for (int x = threadIdx.x; x < width; x += blockDim.x)
        for (int c = 0; c < 3; c++)
            atomicAdd(&total[c], (unsigned long long)light_of_byte(sdr, at[3 * x + c]));
    __syncthreads();
    if (threadIdx.x < 3)
        mean[row * 3 + threadIdx.x] = (uint32_t)((total[threadIdx.x] + width / 2) / width);
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

static bool side_fits(int side) { return side >= 1 && side <= 16384; }

static void launch(const gpu_shrink &s, bool wide, bool large, cudaStream_t stream)
{
    if (large) {
        dim3 grid(s.width, s.height);
        if (s.light && wide)
            light_blocks<2><<<grid, 256, 0, stream>>>(s);
        else if (s.light)
            light_blocks<1><<<grid, 256, 0, stream>>>(s);
        else if (wide)
            shrink_blocks<2><<<grid, 256, 0, stream>>>(s);
        else
            shrink_blocks<1><<<grid, 256, 0, stream>>>(s);
        return;
    }
    dim3 grid((s.width + 127) / 128, s.height);
    if (s.light && wide)
        light_threads<2><<<grid, 128, 0, stream>>>(s);
    else if (s.light)
        light_threads<1><<<grid, 128, 0, stream>>>(s);
    else if (wide)
        shrink_threads<2><<<grid, 128, 0, stream>>>(s);
    else
        shrink_threads<1><<<grid, 128, 0, stream>>>(s);
}

/* Sets the fields for a frame that is converted to light. */
static void add_light(gpu_shrink &s, const struct frame_view *view, const struct light_table *light,
                      const struct light_gamut *gamut)
{
    light_matrix(&s.colour, view);
    s.light = light;
    s.gamut = *gamut;
    for (int i = 0; i < s.planes; i++) {
        s.width_in[i] = view->plane[i].width;
        s.height_in[i] = view->plane[i].height;
    }
}

bool shrink_gpu(const struct frame_view *view, int width, int height,
                const struct light_table *light, const struct light_gamut *gamut, uint8_t *rgb,
                cudaStream_t stream, struct err *e)
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
        return err_set(e, ERR_FAILED, "cannot downscale a frame to %dx%d", width, height);
    for (int i = 0; i < s.planes; i++) {
        const struct plane *p = &view->plane[i];
        s.plane[i] = {p->data, p->pitch, p->step, axis_of(p->width, s.width),
                      axis_of(p->height, s.height)};
    }
    colour_transform_init(&s.colour, view->model, view->matrix, view->range, view->bits);
    s.shift = view->shift;
    s.scale = 16 - view->bits;
    s.rgb = rgb;
    if (light)
        add_light(s, view, light, gamut);
    s.to = shrink_place(view->orientation, s.width, s.height);
    enum { LARGE_CELL = 1024 };
    bool large = (long long)view->width * view->height / ((long long)width * height) > LARGE_CELL;
    launch(s, wide, large, stream);
    return cuda_check(cudaGetLastError(), "downscale a frame", e);
}

bool row_sums_gpu(const uint8_t *rgb, int n, int width, int height, const struct light_table *means,
                  uint32_t *sum, cudaStream_t stream, struct err *e)
{
    if (means)
        row_light<<<dim3(height, n), 64, 0, stream>>>(rgb, width, height, means, sum);
    else
        sum_rows<<<dim3(height, n), 64, 0, stream>>>(rgb, width, height, sum);
    return cuda_check(cudaGetLastError(), "sum rows", e);
}

/* ------------------------------------------------------------------ tables of light */

struct light_gpu {
    struct light *light;
    pthread_mutex_t lock; /* guards the fields below */
    struct light_table *copy[TRANSFERS];
};

struct light_gpu *light_gpu_open(struct light *light, struct err *e)
{
    struct light_gpu *g = (struct light_gpu *)err_calloc(1, sizeof *g, e);
    if (!g)
        return NULL;
    pthread_mutex_init(&g->lock, NULL);
    g->light = light;
    return g;
}

static bool copy_table(struct light_table **to, const struct light_table *from, struct err *e)
{
    const char *what = "take memory for tables of light";
    /* cudaMemcpy may return before the copy is complete, and the streams do not wait for it. */
    if (cuda_check(cudaMalloc(to, sizeof **to), what, e) &&
        cuda_check(cudaMemcpy(*to, from, sizeof **to, cudaMemcpyHostToDevice), what, e) &&
        cuda_check(cudaStreamSynchronize(cudaStreamLegacy), what, e))
        return true;
    cudaFree(*to);
    *to = NULL;
    return false;
}

const struct light_table *light_gpu_table(struct light_gpu *g, enum transfer transfer,
                                          struct err *e)
{
    const struct light_table *host = light_table(g->light, transfer, e);
    if (!host)
        return NULL;
    pthread_mutex_lock(&g->lock);
    struct light_table **copy = &g->copy[host->transfer];
    bool ok = *copy || copy_table(copy, host, e);
    const struct light_table *found = ok ? *copy : NULL;
    pthread_mutex_unlock(&g->lock);
    return found;
}

void light_gpu_free(struct light_gpu **g)
{
    if (!*g)
        return;
    for (int i = 0; i < TRANSFERS; i++)
        cudaFree((*g)->copy[i]);
    pthread_mutex_destroy(&(*g)->lock);
    free(*g);
    *g = NULL;
}
