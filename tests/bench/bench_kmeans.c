/*
 * bench_kmeans - frames/s of the k-means on one thread, a line an instruction set.
 *
 *   bench_kmeans FILE W H [k [n_init [init [isa|all [reps]]]]]
 *
 * FILE holds raw RGB24 frames. Each of `reps` repeats (5) runs over all frames; printed are the
 * median, the slowest and the fastest, and a hash that must not depend on the line.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "barcode/kmeans/kmeans.h"

struct film_bytes {
    uint8_t *rgb;
    size_t frames, pixels;
    int width, height;
};

/* Of this thread's processor time: the machine may be shared. */
static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool load(struct film_bytes *f, const char *path)
{
    size_t frame = f->pixels * 3;
    FILE *in = fopen(path, "rb");
    if (!in)
        return false;
    fseek(in, 0, SEEK_END);
    long size = ftell(in);
    rewind(in);
    f->frames = size > 0 ? (size_t)size / frame : 0;
    f->rgb = f->frames ? malloc(frame * f->frames) : NULL;
    bool good = f->rgb && fread(f->rgb, frame, f->frames, in) == f->frames;
    fclose(in);
    return good;
}

static uint64_t mix(uint64_t hash, uint64_t v) { return (hash ^ v) * 0x100000001b3u; }

/* One pass over the film; seconds. */
static double pass(struct kmeans *km, const struct film_bytes *f, uint64_t *hash, uint64_t *inertia)
{
    double begun = seconds();
    *hash = 0xcbf29ce484222325u;
    *inertia = 0;
    for (size_t n = 0; n < f->frames; n++) {
        struct cluster c[CLUSTERS_MAX];
        uint64_t here;
        int found = kmeans_run(km, f->rgb + n * f->pixels * 3, f->pixels, n, c, &here);
        *inertia += here;
        for (int j = 0; j < found; j++)
            *hash = mix(mix(*hash, c[j].count),
                        c[j].rgb[0] | (uint64_t)c[j].rgb[1] << 8 | (uint64_t)c[j].rgb[2] << 16);
        *hash = mix(*hash, here);
    }
    return seconds() - begun;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(const struct film_bytes *f, const struct kmeans_params *params, enum isa isa,
                    int reps)
{
    struct err e = ERR_INIT;
    struct kmeans *km = kmeans_open(params, f->pixels, isa, &e);
    double *rate = calloc((size_t)reps, sizeof *rate);
    uint64_t hash = 0, inertia = 0;
    if (!km || !rate) {
        fprintf(stderr, "bench_kmeans: %s\n", e.text);
        exit(1);
    }
    for (int i = -1; i < reps; i++) {
        double retired = pass(km, f, &hash, &inertia);
        if (i >= 0)
            rate[i] = (double)f->frames / retired;
    }
    qsort(rate, (size_t)reps, sizeof *rate, by_value);
    printf("%-7s %-10s k %2d n_init %2d %4dx%-4d %8.1f frames/s (%.1f..%.1f, %d repeats) hash "
           "%016llx inertia %.0f\n",
           isa_name(isa), kmeans_init_name(params->init), params->k, params->n_init, f->width,
           f->height, rate[reps / 2], rate[0], rate[reps - 1], reps, (unsigned long long)hash,
           (double)inertia / (1 << INERTIA_FRACTION));
    fflush(stdout);
    free(rate);
    kmeans_free(&km);
}

static enum kmeans_init init_named(const char *name)
{
    for (enum kmeans_init i = INIT_SCALABLE; i <= INIT_RANDOM; i = (enum kmeans_init)(i + 1))
        if (strcmp(name, kmeans_init_name(i)) == 0)
            return i;
    fprintf(stderr, "bench_kmeans: no such init: '%s'\n", name);
    exit(2);
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: bench_kmeans FILE W H [k [n_init [init [isa|all [reps]]]]]\n");
        return 2;
    }
    struct film_bytes f = {.width = atoi(argv[2]), .height = atoi(argv[3])};
    f.pixels = (size_t)f.width * (size_t)f.height;
    if (!f.pixels || !load(&f, argv[1])) {
        fprintf(stderr, "bench_kmeans: no frames in '%s'\n", argv[1]);
        return 1;
    }
    struct kmeans_params params = {.k = argc > 4 ? atoi(argv[4]) : 8,
                                   .n_init = argc > 5 ? atoi(argv[5]) : 20,
                                   .max_iter = 300,
                                   .init = argc > 6 ? init_named(argv[6]) : INIT_SCALABLE,
                                   .race = true};
    const char *want = argc > 7 ? argv[7] : "all";
    int reps = argc > 8 ? atoi(argv[8]) : 5;
    for (enum isa i = ISA_BASE; i <= ISA_VNNI; i = (enum isa)(i + 1))
        if (isa_supported(i) && (strcmp(want, "all") == 0 || strcmp(want, isa_name(i)) == 0))
            measure(&f, &params, i, reps < 1 ? 1 : reps);
    free(f.rgb);
    return 0;
}
