/*
 * The time that one core takes to shrink one frame: best and median of many.
 *     bench_shrink [FRAMES]
 */
#include <stdio.h>
#include <stdlib.h>

#include "barcode/base/clock.h"
#include "barcode/engine/shrink.h"

/* Planes are spread over this many frames' worth of memory, so that they do not lie in the cache,
 * as after a decoder. */
enum { SPREAD = 16 };

struct work {
    const char *name;
    int width, height, bits, shift;
    int chroma_x, chroma_y; /* log2 of the subsampling */
    int interleaved;        /* NV12, P010 */
    int out_width, out_height;
};

static const struct work works[] = {
    {"1080p 8 bit yuv420p to 320x180", 1920, 1080, 8, 0, 1, 1, 0, 320, 180},
    {"1080p 8 bit nv12 to 320x180", 1920, 1080, 8, 0, 1, 1, 1, 320, 180},
    {"1080p 8 bit yuv444p to 320x180", 1920, 1080, 8, 0, 0, 0, 0, 320, 180},
    {"1080p 10 bit yuv420p10 to 320x180", 1920, 1080, 10, 0, 1, 1, 0, 320, 180},
    {"1080p 10 bit p010 to 320x180", 1920, 1080, 10, 6, 1, 1, 1, 320, 180},
    {"1918x802 8 bit yuv420p to 320x134", 1918, 802, 8, 0, 1, 1, 0, 320, 134},
    {"1918x802 10 bit yuv420p10 to 320x134", 1918, 802, 10, 0, 1, 1, 0, 320, 134},
    {"2160p 8 bit yuv420p to 320x180", 3840, 2160, 8, 0, 1, 1, 0, 320, 180},
    {"2160p 10 bit yuv420p10 to 320x180", 3840, 2160, 10, 0, 1, 1, 0, 320, 180},
    {"1080p 8 bit yuv420p to 1x1", 1920, 1080, 8, 0, 1, 1, 0, 1, 1},
    {"1080p 8 bit yuv420p to 1920x1080", 1920, 1080, 8, 0, 1, 1, 0, 1920, 1080},
};

static void set_plane(struct plane *p, const uint8_t *data, int width, int height, int step)
{
    *p = (struct plane){data, (ptrdiff_t)((width * step + 63) / 64 * 64), step, width, height};
}

static size_t make_view(struct frame_view *v, const struct work *w, const uint8_t *data)
{
    int word = w->bits > 8 ? 2 : 1, step = w->interleaved ? 2 * word : word;
    int cw = w->width >> w->chroma_x, ch = w->height >> w->chroma_y;
    *v = (struct frame_view){.model = MODEL_YCBCR,
                             .matrix = MATRIX_BT709,
                             .range = RANGE_LIMITED,
                             .bits = w->bits,
                             .shift = w->shift,
                             .width = w->width,
                             .height = w->height};
    set_plane(&v->plane[0], data, w->width, w->height, word);
    const uint8_t *chroma = data + v->plane[0].pitch * w->height;
    set_plane(&v->plane[1], chroma, cw, ch, step);
    size_t size = (size_t)v->plane[1].pitch * (size_t)ch;
    set_plane(&v->plane[2], w->interleaved ? chroma + word : chroma + size, cw, ch, step);
    return (size_t)(chroma - data) + (w->interleaved ? size : 2 * size);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool measure(const struct work *w, const uint8_t *memory, size_t apart, int frames,
                    double *time, struct err *e)
{
    uint8_t *rgb = malloc(3 * (size_t)w->out_width * (size_t)w->out_height);
    struct shrink *s = shrink_open(w->out_width, w->out_height, e);
    bool ok = rgb && s;
    for (int i = -1; ok && i < frames; i++) {
        struct frame_view v;
        make_view(&v, w, memory + apart * (size_t)((i + 1) % SPREAD));
        int64_t start = clock_ns();
        ok = shrink_frame(s, &v, rgb, e);
        if (i >= 0)
            time[i] = (double)(clock_ns() - start) / 1e6;
    }
    shrink_free(&s);
    free(rgb);
    return ok;
}

int main(int argc, char **argv)
{
    int frames = argc > 1 ? atoi(argv[1]) : 200;
    frames = frames < 1 ? 1 : frames;
    size_t apart = 3840u * 2160u * 4u;
    uint8_t *memory = malloc(apart * SPREAD);
    double *time = malloc((size_t)frames * sizeof *time);
    if (!memory || !time)
        return 1;
    for (size_t i = 0; i < apart * SPREAD; i++)
        memory[i] = i & 1 ? 2 : (uint8_t)(i * 2654435761u >> 13);
    for (size_t i = 0; i < sizeof works / sizeof *works; i++) {
        struct err e = ERR_INIT;
        if (!measure(&works[i], memory, apart, frames, time, &e)) {
            fprintf(stderr, "bench_shrink: %s\n", e.text);
            return 1;
        }
        qsort(time, (size_t)frames, sizeof *time, ascending);
        printf("%-40s best %7.3f ms  median %7.3f ms\n", works[i].name, time[0], time[frames / 2]);
    }
    free(time);
    free(memory);
    return 0;
}
