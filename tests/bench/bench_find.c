/*
 * The index of `barcode find` (src/match/find/find_index.h) on films that are lists of peaks.
 *
 *     bench_find peaks OUT < SAMPLES           16-bit samples at 16 kHz; OUT has struct peak
 *     bench_find index FOLDER PEAKS...         adds films to an index
 *     bench_find query FOLDER FILMS PEAKS...   the first FILMS are the library; looks up the rest
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "barcode/base/clock.h"
#include "barcode/sound/peaks.h"
#include "barcode/sound/spectrogram.h"
#include "match/find/find.h"

static struct err e = ERR_INIT;

static _Noreturn void fail(const char *text)
{
    fprintf(stderr, "bench_find: %s %s\n", text, e.text);
    exit(1);
}

struct list {
    struct peak *peak;
    size_t n;
};

static void *read_all(FILE *f, size_t size, size_t *n)
{
    size_t room = 1 << 20, got = 0;
    uint8_t *data = malloc(room);
    while (data && (got += fread(data + got, 1, room - got, f)) == room)
        data = realloc(data, room *= 2);
    *n = got / size;
    return data;
}

static struct list read_peaks(const char *path)
{
    struct list l;
    FILE *f = fopen(path, "rb");
    if (!f || !(l.peak = read_all(f, sizeof *l.peak, &l.n)))
        fail(path);
    fclose(f);
    return l;
}

static struct list make_peaks(const int16_t *sample, size_t n)
{
    size_t frames = spectrogram_frames(n), peaks;
    enum isa isa = ISA_C;
    if (!isa_choose(&isa, &e))
        fail("isa");
    struct spectrogram *s = spectrogram_open(isa, &e);
    struct peaks *p = peaks_open(PEAK_FLOOR, NULL, &e);
    int16_t *value = malloc(frames * SPECTROGRAM_BINS * sizeof *value + 1);
    if (!s || !p || !value)
        fail("no memory");
    spectrogram_run(s, sample, n, frames, value);
    if (!peaks_push(p, value, frames, &e) || !peaks_finish(p, &e))
        fail("peaks");
    const struct peak *found = peaks_list(p, &peaks);
    struct list l = {malloc(peaks * sizeof *found + 1), peaks};
    memcpy(l.peak, found, peaks * sizeof *found);
    peaks_free(&p);
    spectrogram_free(&s);
    free(value);
    return l;
}

static void write_peaks(const char *path)
{
    size_t n;
    int16_t *sample = read_all(stdin, sizeof *sample, &n);
    struct list l = make_peaks(sample, n);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(l.peak, sizeof *l.peak, l.n, f) != l.n || fclose(f) != 0)
        fail("cannot write");
}

static struct hash128 id_of(const char *name, size_t i)
{
    return (struct hash128){hash_64(name, strlen(name)), i};
}

static void add_film(struct find_index *x, struct hash128 id, struct list l)
{
    struct landmark *mark = malloc((l.n * LANDMARK_FAN + 1) * sizeof *mark);
    size_t n = landmarks_make(l.peak, l.n, true, LANDMARK_FAN, mark);
    if (!find_index_add(x, id, l.n ? l.peak[l.n - 1].frame + 1 : 0, mark, n, &e))
        fail("add");
    free(mark);
}

static void print_index(const struct find_index *x, int64_t begun)
{
    uint64_t landmarks = 0, bytes = 0, films = 0;
    struct stat st;
    for (size_t i = 0; i < x->files; i++) {
        landmarks += x->file[i]->landmarks;
        films += x->file[i]->films;
        bytes += stat(x->file[i]->path, &st) == 0 ? (uint64_t)st.st_size : 0;
    }
    printf("%" PRIu64 " films, %" PRIu64 " landmarks, %zu files, %" PRIu64
           " bytes, %.3f a landmark, %.0f a film, %.2f s\n",
           films, landmarks, x->files, bytes, (double)bytes / (double)landmarks,
           (double)bytes / (double)films, clock_since(begun));
}

static void want(struct find_index *x, const struct hash128 *id, size_t films)
{
    bool *has = calloc(films + 1, 1);
    if (!find_index_want(x, id, films, has, &e))
        fail("want");
    free(has);
}

static void index_films(const char *folder, char **path, size_t films)
{
    struct find_index x;
    struct hash128 *id = calloc(films + 1, sizeof *id);
    if (!find_index_open(&x, folder, "bench", &e))
        fail("open");
    for (size_t i = 0; i < films; i++)
        id[i] = id_of(path[i], 0);
    want(&x, id, films);
    int64_t begun = clock_ns();
    for (size_t i = 0; i < films; i++) {
        struct list l = read_peaks(path[i]);
        add_film(&x, id[i], l);
        free(l.peak);
    }
    if (!find_index_save(&x, &e))
        fail("save");
    print_index(&x, begun);
    find_index_close(&x);
}

static struct align_sound sound_of(struct list l)
{
    uint64_t frames = l.n ? l.peak[l.n - 1].frame + 1 : 0;
    return (struct align_sound){l.peak, l.n, frames * SPECTROGRAM_HOP};
}

static void print_result(const struct find_result *r, char **path, int64_t begun)
{
    printf("%s %.3f %u other %u of %zu %.2f ms needed %u speed %d/%d\n",
           r->place[0].votes ? path[r->place[0].film] : "-", r->place[0].sixteenth * .002,
           r->place[0].votes, r->place[1].votes, r->landmarks, clock_since(begun) * 1e3, r->needed,
           r->speed.num, r->speed.den);
}

static bool load_peaks(void *user, uint32_t film, struct film_sound *sound)
{
    char *const *path = user;
    struct list l = read_peaks(path[film]);
    *sound = (struct film_sound){.point = l.peak, .peaks = l.n, .samples = sound_of(l).samples};
    return true;
}

static void look_up(struct find_index *x, struct list l, char **path, struct find_result *r)
{
    struct align_sound sound = sound_of(l);
    if (!find_clip(x, &sound, r, &e) || !find_refine_offsets(r, &sound, load_peaks, path, &e))
        fail("votes");
}

static void query(const char *folder, size_t films, char **path, size_t n)
{
    struct find_index x;
    struct hash128 *id = calloc(films + 1, sizeof *id);
    for (size_t i = 0; i < films; i++)
        id[i] = id_of(path[i], 0);
    if (!find_index_open(&x, folder, "bench", &e))
        fail("open");
    want(&x, id, films);
    for (size_t i = films; i < n; i++) {
        struct list l = read_peaks(path[i]);
        struct find_result r;
        int64_t begun = clock_ns();
        look_up(&x, l, path, &r);
        printf("%s ", path[i]);
        print_result(&r, path, begun);
        free(l.peak);
    }
    find_index_close(&x);
}

int main(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[1] : "";
    if (strcmp(what, "peaks") == 0)
        write_peaks(argv[2]);
    else if (strcmp(what, "index") == 0)
        index_films(argv[2], argv + 3, (size_t)argc - 3);
    else if (strcmp(what, "query") == 0 && argc > 3)
        query(argv[2], strtoul(argv[3], NULL, 10), argv + 4, (size_t)argc - 4);
    else
        fail("see the beginning of bench_find.c");
    return 0;
}
