#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "barcode/sound/spectrogram.h"
#include "match/find_votes.h"
#include "test.h"

enum { FILMS = 20, PEAKS = 3000, FRAMES = 4000 };

static char folder[64];
static struct peak peak[FILMS + 1][PEAKS]; /* the last film is not in the library */
static struct find_index library;

static int compare_peaks(const void *a, const void *b)
{
    const struct peak *p = a, *q = b;
    return p->frame != q->frame ? (p->frame > q->frame) - (p->frame < q->frame) : p->bin - q->bin;
}

static void add_film(int f)
{
    static struct landmark mark[PEAKS * LANDMARK_FAN];
    struct err e = ERR_INIT;
    size_t n = landmarks_make(peak[f], PEAKS, true, LANDMARK_FAN, mark);
    assert_true(
        find_index_add(&library, (struct hash128){(uint64_t)f + 1, 0}, FRAMES, mark, n, &e));
}

static int make_library(void **state)
{
    struct hash128 id[FILMS];
    struct err e = ERR_INIT;
    bool has[FILMS];
    (void)state;
    srand(6);
    strcpy(folder, "/tmp/barcode-votes-XXXXXX");
    if (!mkdtemp(folder) || !find_index_open(&library, folder, "library", &e))
        return 1;
    for (int f = 0; f <= FILMS; f++) {
        for (int i = 0; i < PEAKS; i++)
            peak[f][i] = (struct peak){(uint32_t)rand() % FRAMES, (uint16_t)(4 + rand() % 450), 1};
        qsort(peak[f], PEAKS, sizeof **peak, compare_peaks);
        if (f < FILMS)
            id[f] = (struct hash128){(uint64_t)f + 1, 0};
    }
    find_index_want(&library, id, FILMS, has, &e);
    for (int f = 0; f < FILMS; f++)
        add_film(f);
    return find_index_save(&library, &e) ? 0 : 1;
}

static int remove_library(void **state)
{
    char command[128];
    (void)state;
    find_index_close(&library);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

/*
 * Cuts frames from .. to out of a film, at another speed; of 16 peaks `kept` stay, and as many as
 * went come in.
 */
static size_t cut_clip(struct peak *clip, int film, uint32_t from, uint32_t to, int kept,
                       double speed)
{
    size_t n = 0;
    for (int i = 0; i < PEAKS; i++) {
        struct peak p = peak[film][i];
        if (p.frame < from || p.frame >= to)
            continue;
        if (rand() % 16 >= kept)
            p = (struct peak){from + (uint32_t)rand() % (to - from), (uint16_t)(4 + rand() % 450),
                              1};
        p.frame = (uint32_t)((p.frame - from) / speed + .5);
        p.bin = (uint16_t)(p.bin * speed + .5);
        clip[n++] = p;
    }
    qsort(clip, n, sizeof *clip, compare_peaks);
    return n;
}

static struct find_result find(const struct peak *clip, size_t n)
{
    struct err e = ERR_INIT;
    struct find_result r;
    struct align_sound sound = {clip, n, (uint64_t)FRAMES * SPECTROGRAM_HOP};
    assert_true(find_clip(&library, &sound, &r, &e));
    return r;
}

TEST(finds_film_and_time)
{
    static struct peak clip[PEAKS];
    for (int i = 0; i < 100; i++) {
        int film = rand() % FILMS;
        uint32_t from = (uint32_t)rand() % (FRAMES - 320);
        size_t n = cut_clip(clip, film, from, from + 320, 12, 1);
        struct find_result r = find(clip, n);
        assert_true(r.best.votes >= r.needed);
        assert_int_equal(r.best.film, film);
        assert_true(abs(r.best.offset - (int)from) <= 1);
        assert_true(abs(r.best.sixteenth - (int)from * 16) <= 16);
        assert_int_equal(r.speed.num, r.speed.den);
    }
}

/* A clip that begins before the film has a negative time. */
TEST(begins_before_the_film)
{
    static struct peak clip[PEAKS];
    size_t n = cut_clip(clip, 3, 0, 320, 16, 1);
    for (size_t i = 0; i < n; i++)
        clip[i].frame += 77;
    struct find_result r = find(clip, n);
    assert_true(r.best.film == 3 && r.best.offset == -77 && r.best.sixteenth == -77 * 16);
}

TEST(other_sounds_are_not_found)
{
    static struct peak clip[PEAKS];
    for (int i = 0; i < 40; i++) {
        uint32_t from = (uint32_t)rand() % (FRAMES - 640);
        struct find_result r = find(clip, cut_clip(clip, FILMS, from, from + 640, 16, 1));
        assert_true(r.best.votes < r.needed);
    }
    struct find_result none = find(clip, 0);
    assert_true(none.best.votes == 0 && none.needed > 0);
}

TEST(another_speed)
{
    static struct peak clip[PEAKS];
    for (int i = 0; i < 10; i++) {
        uint32_t from = (uint32_t)rand() % (FRAMES - 960);
        size_t n = cut_clip(clip, 7, from, from + 960, 16, 25. / 24);
        struct find_result r = find(clip, n);
        assert_true(r.best.votes >= r.needed);
        assert_int_equal(r.best.film, 7);
        assert_true(abs(r.best.offset - (int)from) <= 2);
        /* 25/24 or 1001/960: half a minute is too short to tell */
        assert_true(r.speed.num * 10000 / r.speed.den / 10 == 1041 + (r.speed.num == 1001));
        assert_false(r.speed.same_pitch);
    }
}

TEST_MAIN(make_library, remove_library)
