/*
 * chaos_folder.h - a folder with films, outputs, and what nobody may touch; and whether somebody
 * did. For film_chaos.h.
 */
#ifndef BARCODE_TESTS_CHAOS_FOLDER_H
#define BARCODE_TESTS_CHAOS_FOLDER_H

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"

static inline void chaos_put(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    fuzz_demand(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

/* Leaves the folder, and removes it. */
static inline void chaos_remove(void)
{
    char command[512], path[256];
    fuzz_demand(getcwd(path, sizeof path) && strstr(path, "barcode-chaos.") && chdir("/") == 0);
    snprintf(command, sizeof command, "rm -rf '%s'", path);
    fuzz_demand(system(command) == 0);
}

/* Returns true for a name that an output of films a, b, c, list, and x00 to x99 may have. */
static inline bool chaos_is_output(const char *path)
{
    static const char *const whole[] = {"all.csv", "report"},
                             *const film[] = {"out/a",   "out/b",   "out/c",   "out/list", "out/x",
                                              "films/a", "films/b", "films/c", "hls/list"},
                             *const ending[] = {"-average.png", ".rgb", ".vtt"};
    for (size_t i = 0; i < 2; i++)
        if (strcmp(path, whole[i]) == 0)
            return true;
    for (size_t i = 0; i < sizeof film / sizeof *film; i++) {
        const size_t stem = strlen(film[i]);
        const char *rest = path + stem + (film[i][stem - 1] == 'x' ? 2 : 0);
        if (strncmp(path, film[i], stem) != 0)
            continue;
        if (i >= 5)
            return strcmp(rest, ".trickplay") == 0 ||
                   (strncmp(rest, ".trickplay/320 - 10x10", 22) == 0 &&
                    (!rest[22] ||
                     strcmp(rest + 22 + 1 + strspn(rest + 23, "0123456789"), ".jpg") == 0));
        for (size_t k = 0; k < 3; k++)
            if (strcmp(rest, ending[k]) == 0)
                return true;
        const size_t digits = strspn(rest + (*rest == '-'), "0123456789");
        return digits >= 3 && strcmp(rest + 1 + digits, ".jpg") == 0 &&
               strcmp(rest, "-003.jpg") != 0 && strcmp(rest, "-004.jpg") != 0;
    }
    return false;
}

static uint64_t chaos_seen;

static inline uint64_t chaos_mix(uint64_t sum, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ ((const uint8_t *)bytes)[i]) * UINT64_C(0x100000001b3);
    return sum;
}

static inline int chaos_visit(const char *path, const struct stat *s, int type, struct FTW *at)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    (void)at;
    if (path[0] != '.' || path[1] != '/')
        return 0;
    path += 2;
    if (chaos_is_output(path))
        return 0;
    sum = chaos_mix(sum, path, strlen(path));
    sum = chaos_mix(sum, &s->st_ino, sizeof s->st_ino);
    sum = chaos_mix(sum, &s->st_mode, sizeof s->st_mode);
    if (type != FTW_D) {
        sum = chaos_mix(sum, &s->st_size, sizeof s->st_size);
        sum = chaos_mix(sum, &s->st_mtim, sizeof s->st_mtim);
    }
    chaos_seen += sum; /* in any order */
    return 0;
}

/* Returns a number that changes with what is no output: names, sizes and times of all other files.
 */
static inline uint64_t chaos_untouched(void)
{
    chaos_seen = 0;
    fuzz_demand(nftw(".", chaos_visit, 8, FTW_PHYS) == 0);
    return chaos_seen;
}

static inline int chaos_unlink(const char *path, const struct stat *s, int type, struct FTW *at)
{
    (void)at, (void)type, (void)s;
    return strncmp(path, "./", 2) == 0 && chaos_is_output(path + 2) && remove(path) != 0;
}

/* Removes the outputs, so that they can be made again. */
static inline void chaos_clean(void)
{
    fuzz_demand(nftw(".", chaos_unlink, 8, FTW_PHYS | FTW_DEPTH) == 0);
}

static inline int chaos_descriptors(void)
{
    int count = 0;
    for (int i = 0; i < 1024; i++)
        count += fcntl(i, F_GETFD) >= 0;
    return count;
}

static uint64_t chaos_seen_first;
static int chaos_open_first;

/* Makes a folder with films, their neighbours, and what nobody may touch, and goes there. */
static inline void chaos_folder(void)
{
    static const char *const folder[] = {"films", "hls", "hls/deep", "outside", "out", "tmp"};
    static const char *const file[] = {
        "films/a.mkv",      "films/b.mkv",    "films/a.srt",   "films/c.mkv",    "hls/part.ts",
        "hls/deep/part.ts", "outside/secret", "out/a-003.jpg", "out/others.png", "-"};
    static const char *const link[][2] = {{"/dev/zero", "hls/zero.ts"},
                                          {"../outside/secret", "hls/secret.ts"},
                                          {"../outside", "hls/up"},
                                          {"../outside/new", "out/a-004.jpg"}};
    char path[256];
    const bool fast = faccessat(AT_FDCWD, "/dev/shm", W_OK, 0) == 0; /* it is no disk */
    snprintf(path, sizeof path, "%s/barcode-chaos.XXXXXX", fast ? "/dev/shm" : "/tmp");
    fuzz_demand(mkdtemp(path) && chdir(path) == 0);
    for (size_t i = 0; i < sizeof folder / sizeof *folder; i++)
        fuzz_demand(mkdir(folder[i], 0700) == 0);
    for (size_t i = 0; i < sizeof file / sizeof *file; i++)
        chaos_put(file[i], file[i]);
    chaos_put("hls/list.m3u8", "#EXTM3U\n#EXTINF:1,\npart.ts\n#EXT-X-ENDLIST\n");
    for (size_t i = 0; i < sizeof link / sizeof *link; i++)
        fuzz_demand(symlink(link[i][0], link[i][1]) == 0);
    fuzz_demand(mkfifo("hls/fifo.ts", 0600) == 0 && setenv("TMPDIR", "tmp", 1) == 0);
    chaos_seen_first = chaos_untouched();
    chaos_open_first = chaos_descriptors();
}

/* Returns true if nothing was touched since chaos_folder, and no descriptor is left. */
static inline bool chaos_check(void)
{
    bool same = chaos_untouched() == chaos_seen_first,
         closed = chaos_descriptors() == chaos_open_first;
    if (!same || !closed)
        fprintf(stderr, "%s\n", same ? "descriptors are left" : "something was touched");
    return same && closed;
}

#endif
