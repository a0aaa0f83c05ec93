/*
 * Aligns two sounds (align_map.h) and prints the segments as CSV, for trials without films:
 *
 *     bench_align A B      mono 16-bit samples at 16 kHz
 */
#include <stdio.h>
#include <stdlib.h>

#include "barcode/base/clock.h"
#include "barcode/base/log.h"
#include "barcode/match/align_map.h"
#include "barcode/sound/spectrogram.h"

static _Noreturn void fail(const char *text)
{
    fprintf(stderr, "bench_align: %s\n", text);
    exit(1);
}

static int16_t *read_sound(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END) != 0)
        fail("cannot open the input");
    *n = (size_t)ftell(f) / sizeof(int16_t);
    rewind(f);
    int16_t *values = malloc((*n + 1) * sizeof *values);
    if (!values || fread(values, sizeof *values, *n, f) != *n)
        fail("cannot read the input");
    fclose(f);
    return values;
}

static struct peaks *find_peaks(const char *path, struct align_sound *out)
{
    struct err e = ERR_INIT;
    size_t n;
    int16_t *sound = read_sound(path, &n);
    size_t frames = spectrogram_frames(n);
    int16_t *values = malloc(frames * SPECTROGRAM_BINS * sizeof *values + 1);
    enum isa isa;
    struct spectrogram *s = isa_choose(&isa, &e) ? spectrogram_open(isa, &e) : NULL;
    struct peaks *p = peaks_open(PEAK_FLOOR, &e);
    if (!values || !s || !p)
        fail("cannot begin");
    spectrogram_run(s, sound, n, frames, values);
    if (!peaks_push(p, values, frames, &e) || !peaks_finish(p, &e))
        fail(e.text);
    out->peak = peaks_list(p, &out->peaks);
    out->samples = n;
    spectrogram_free(&s);
    free(values);
    free(sound);
    return p;
}

int main(int argc, char **argv)
{
    struct err e = ERR_INIT;
    struct align_sound a, b;
    struct align_map map;
    if (argc != 3)
        fail("usage: bench_align A B");
    log_set_level(LOG_DEBUG);
    struct peaks *pa = find_peaks(argv[1], &a), *pb = find_peaks(argv[2], &b);
    int64_t begun = clock_thread_ns();
    if (!align_map_make(&a, &b, &map, &e))
        fail(e.text);
    fprintf(stderr, "%.3f s, %zu and %zu peaks, speed %d/%d%s, score %d\n",
            (double)(clock_thread_ns() - begun) / 1e9, a.peaks, b.peaks, map.speed_num,
            map.speed_den, map.same_pitch ? " (same pitch)" : "", map.score);
    printf("a_start,a_end,b_start,b_end,kind\n");
    for (size_t i = 0; i < map.segments; i++) {
        const struct align_segment *s = &map.segment[i];
        printf("%.3f,%.3f,%.3f,%.3f,%s\n", (double)s->a_from_us / 1e6, (double)s->a_to_us / 1e6,
               (double)s->b_from_us / 1e6, (double)s->b_to_us / 1e6, align_kind_name(s->kind));
    }
    align_map_free(&map);
    peaks_free(&pa);
    peaks_free(&pb);
    return 0;
}
