/*
 * The functions of src/sound on raw 16-bit files, for tests/judge_sound.py and
 * tests/bench/sound_rate.py; prints the processor seconds of the best of several runs.
 *
 *     bench_sound filter RADIUS COLUMNS RUNS IN OUT      any array
 *     bench_sound spectrogram ISA RUNS IN OUT            samples at 16 kHz
 *     bench_sound peaks FLOOR RUNS IN OUT                a spectrogram; OUT has frame, bin, wide
 *     bench_sound film ISA CHANNELS RATE RUNS IN OUT     samples of a film; OUT is for its cache
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "barcode/base/clock.h"
#include "barcode/base/err.h"
#include "sound/film_sound.h"
#include "barcode/sound/peaks.h"
#include "barcode/sound/spectrogram.h"

static _Noreturn void fail(const char *text)
{
    fprintf(stderr, "bench_sound: %s\n", text);
    exit(1);
}

static int16_t *read_values(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END) != 0)
        fail("cannot open the input");
    *n = (size_t)ftell(f) / sizeof(int16_t);
    rewind(f);
    int16_t *values = malloc(*n * sizeof *values + 1);
    if (!values || fread(values, sizeof *values, *n, f) != *n)
        fail("cannot read the input");
    fclose(f);
    return values;
}

static void write_values(const char *path, const void *values, size_t bytes)
{
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(values, 1, bytes, f) != bytes || fclose(f) != 0)
        fail("cannot write the output");
}

static enum isa isa_named(const char *name)
{
    for (enum isa isa = ISA_BASE; isa <= ISA_VNNI; isa = (enum isa)(isa + 1))
        if (strcmp(name, isa_name(isa)) == 0 && isa_supported(isa))
            return isa;
    fail("unknown or unsupported instruction set");
}

static double best = 1e9;

static void note_time(int64_t begun)
{
    double took = (double)(clock_thread_ns() - begun) / 1e9;
    best = took < best ? took : best;
}

static void bench_filter(char **arg)
{
    struct err e = ERR_INIT;
    size_t n, columns = strtoul(arg[1], NULL, 10);
    int16_t *in = read_values(arg[3], &n), *out = calloc(n + 1, sizeof *out);
    if (!out || !columns)
        fail("cannot begin");
    for (int i = atoi(arg[2]); i > 0; i--) {
        int64_t begun = clock_thread_ns();
        if (!max_filter_run(in, n / columns, columns, atoi(arg[0]), out, &e))
            fail(e.text);
        note_time(begun);
    }
    write_values(arg[4], out, n * sizeof *out);
    free(in);
    free(out);
}

static void bench_spectrogram(char **arg)
{
    struct err e = ERR_INIT;
    size_t n;
    int16_t *in = read_values(arg[2], &n);
    size_t frames = spectrogram_frames(n), values = frames * SPECTROGRAM_BINS;
    int16_t *out = calloc(values + 1, sizeof *out);
    struct spectrogram *s = spectrogram_open(isa_named(arg[0]), &e);
    if (!s || !out)
        fail("cannot begin");
    for (int i = atoi(arg[1]); i > 0; i--) {
        int64_t begun = clock_thread_ns();
        spectrogram_run(s, in, n, frames, out);
        note_time(begun);
    }
    write_values(arg[3], out, values * sizeof *out);
    spectrogram_free(&s);
    free(in);
    free(out);
}

static void bench_peaks(char **arg)
{
    struct err e = ERR_INIT;
    size_t n, found;
    int16_t *in = read_values(arg[2], &n);
    for (int i = atoi(arg[1]); i > 0; i--) {
        int64_t begun = clock_thread_ns();
        struct peaks *p = peaks_open((int16_t)atoi(arg[0]), NULL, &e);
        if (!p || !peaks_push(p, in, n / SPECTROGRAM_BINS, &e) || !peaks_finish(p, &e))
            fail(e.text);
        note_time(begun);
        const struct peak *list = peaks_list(p, &found);
        write_values(arg[3], list, found * sizeof *list);
        peaks_free(&p);
    }
    free(in);
}

/* Pushes blocks of 1024 frames, as decoders give them. Two and six channels have their usual masks.
 */
static struct film_sound film_of(enum isa isa, int channels, int rate, const int16_t *in, size_t n)
{
    struct err e = ERR_INIT;
    struct film_sound s = {.channels = channels, .rate = rate};
    struct sound_maker *m = sound_maker_open(isa, NULL, NULL, NULL, &e);
    struct sound_block b = {.channels = channels, .rate = rate, .time_us = INT64_MIN};
    b.mask = channels == 2 ? 3 : channels == 6 ? 0x60f : 0;
    for (size_t at = 0; m && at < n; at += b.frames) {
        b.sample = in + at * (size_t)channels;
        b.frames = n - at < 1024 ? n - at : 1024;
        if (!sound_maker_push(m, &b, &e))
            fail(e.text);
    }
    if (!m || !sound_maker_finish(m, &s, &e))
        fail(e.text);
    sound_maker_free(&m);
    return s;
}

static void bench_film(char **arg)
{
    struct err e = ERR_INIT;
    size_t n, count;
    uint8_t *bytes;
    int channels = atoi(arg[1]);
    int16_t *in = read_values(arg[4], &n);
    if (channels < 1)
        fail("no channels");
    for (int i = atoi(arg[3]); i > 0; i--) {
        int64_t begun = clock_thread_ns();
        struct film_sound s =
            film_of(isa_named(arg[0]), channels, atoi(arg[2]), in, n / (size_t)channels);
        note_time(begun);
        if (!film_sound_write(&s, &bytes, &count, &e))
            fail(e.text);
        write_values(arg[5], bytes, count);
        free(bytes);
        film_sound_free(&s);
    }
    free(in);
}

int main(int argc, char **argv)
{
    if (argc == 7 && strcmp(argv[1], "filter") == 0)
        bench_filter(argv + 2);
    else if (argc == 6 && strcmp(argv[1], "spectrogram") == 0)
        bench_spectrogram(argv + 2);
    else if (argc == 6 && strcmp(argv[1], "peaks") == 0)
        bench_peaks(argv + 2);
    else if (argc == 8 && strcmp(argv[1], "film") == 0)
        bench_film(argv + 2);
    else
        fail("see bench_sound.c");
    printf("%.9f\n", best);
    return 0;
}
