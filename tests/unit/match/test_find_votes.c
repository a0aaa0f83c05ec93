#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "barcode/sound/spectrogram.h"
#include "match/find/find.h"
#include "test.h"

enum { FILMS = 20, PEAKS = 3000, FRAMES = 4000 };

/* CLIP's frames 0 to 320 are in two films (copy_clip). */
enum { OTHER = FILMS, CLIP, BETWEEN = 5, EXACT = 6, OWN = 2000, AGAIN = 1000 };

static char folder[64];
static struct peak peak[CLIP + 1][PEAKS]; /* OTHER and CLIP are not in the library */
static struct find_index library;

static int compare_peaks(const void *a, const void *b)
{
    const struct peak *p = a, *q = b;
    return p->frame != q->frame ? (p->frame > q->frame) - (p->frame < q->frame) : p->bin - q->bin;
}

static void sort_film(int f) { qsort(peak[f], PEAKS, sizeof **peak, compare_peaks); }

/*
 * A film has all of the clip half a frame off: frames and bins are rounded to either side, and half
 * of the peaks are no longer wide. Later its music is there again, on the frame and without a
 * quarter of its peaks; in another film, without a fifth.
 */
static void copy_clip(void)
{
    struct peak *between = peak[BETWEEN], *exact = peak[EXACT];
    for (int i = 0; 6 * i + 3 < PEAKS && peak[CLIP][i].frame < 320; i++) {
        struct peak p = peak[CLIP][i];
        between[6 * i] = (struct peak){OWN + p.frame + (uint32_t)rand() % 2,
                                       (uint16_t)(p.bin + rand() % 2), i % 2};
        p.frame += AGAIN;
        if (i % 4 > 0)
            between[6 * i + 3] = p;
        if (i % 5 > 0)
            exact[6 * i] = p;
    }
    sort_film(BETWEEN);
    sort_film(EXACT);
}

static void add_film(int f)
{
    static struct landmark mark[PEAKS * LANDMARK_FAN];
    struct err e = ERR_INIT;
    size_t n = landmarks_make(peak[f], PEAKS, true, LANDMARK_FAN, mark);
    assert_true(
        find_index_add(&library, (struct hash128){(uint64_t)f + 1, 0}, FRAMES, mark, n, &e));
}

FIXTURE(make_library)
{
    struct hash128 id[FILMS];
    struct err e = ERR_INIT;
    bool has[FILMS];
    srand(6);
    strcpy(folder, "/tmp/barcode-votes-XXXXXX");
    if (!mkdtemp(folder) || !find_index_open(&library, folder, "library", &e))
        return 1;
    for (int f = 0; f <= CLIP; f++) {
        for (int i = 0; i < PEAKS; i++)
            peak[f][i] = (struct peak){(uint32_t)rand() % FRAMES, (uint16_t)(4 + rand() % 450), 1};
        sort_film(f);
        if (f < FILMS)
            id[f] = (struct hash128){(uint64_t)f + 1, 0};
    }
    copy_clip();
    find_index_want(&library, id, FILMS, has, &e);
    for (int f = 0; f < FILMS; f++)
        add_film(f);
    return find_index_save(&library, &e) ? 0 : 1;
}

FIXTURE(remove_library)
{
    char command[128];
    find_index_close(&library);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

/*
 * Cuts frames from .. to out of a film, at another speed; of 16 peaks `kept` stay, and as many as
 * went come in.
 */
static size_t cut_clip_at(struct peak *clip, int film, uint32_t from, uint32_t to, int kept,
                          double speed, double pitch)
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
        p.bin = (uint16_t)(p.bin * pitch + .5);
        clip[n++] = p;
    }
    qsort(clip, n, sizeof *clip, compare_peaks);
    return n;
}

static size_t cut_clip(struct peak *clip, int film, uint32_t from, uint32_t to, int kept,
                       double speed)
{
    return cut_clip_at(clip, film, from, to, kept, speed, speed);
}

static struct find_result find(const struct peak *clip, size_t n)
{
    struct err e = ERR_INIT;
    struct find_result r;
    struct align_sound sound = {clip, n, (uint64_t)FRAMES * SPECTROGRAM_HOP, NULL};
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
        assert_true(r.place[0].votes >= r.needed);
        assert_int_equal(r.place[0].film, film);
        assert_true(abs(r.place[0].offset - (int)from) <= 1);
        assert_true(abs(r.place[0].sixteenth - (int)from * 16) <= 16);
        assert_int_equal(r.place[0].speed.num, r.place[0].speed.den);
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
    assert_true(r.place[0].film == 3 && r.place[0].offset == -77 &&
                r.place[0].sixteenth == -77 * 16);
}

TEST(other_sounds_are_not_found)
{
    static struct peak clip[PEAKS];
    for (int i = 0; i < 40; i++) {
        uint32_t from = (uint32_t)rand() % (FRAMES - 640);
        struct find_result r = find(clip, cut_clip(clip, OTHER, from, from + 640, 16, 1));
        assert_true(r.place[0].votes < r.needed);
    }
    struct find_result none = find(clip, 0);
    assert_true(none.place[0].votes == 0 && none.needed > 0);
}

/* Loads the sound of films up to `user`. */
static bool load(void *user, uint32_t film, struct film_sound *sound)
{
    if (film > *(uint32_t *)user)
        return false;
    *sound = (struct film_sound){.samples = (uint64_t)FRAMES * SPECTROGRAM_HOP, .peaks = PEAKS};
    sound->point = malloc(sizeof *peak);
    memcpy(sound->point, peak[film], sizeof *peak);
    return true;
}

/*
 * Finds where frames [from, from + length) of film 7 are at a speed. As a test film has no sound
 * beside its peaks, all are wide.
 */
static struct find_place find_at(uint32_t from, uint32_t length, double speed, bool same_pitch)
{
    static struct peak clip[PEAKS];
    struct err e = ERR_INIT;
    uint32_t films = FILMS;
    size_t n = cut_clip_at(clip, 7, from, from + length, 14, speed, same_pitch ? 1 : speed);
    struct find_result r = find(clip, n);
    uint64_t frames = (uint64_t)(length / speed);
    struct align_sound sound = {clip, n, frames * SPECTROGRAM_HOP, NULL};
    assert_true(r.found > 0);
    assert_true(find_refine_offsets(&r, &sound, load, &films, &e));
    assert_int_equal(r.place[0].film, 7);
    return r.place[0];
}

/* The place is that of the clip's beginning, and the speed exact to a frame of the clip. */
TEST(another_speed)
{
    static const double speed[] = {.955, .96,   .97,  .975,  .98,  .985,  .99,  1.004,
                                   1.01, 1.015, 1.02, 1.025, 1.03, 1.035, 1.04, 1.045};
    for (size_t i = 0; i < 2 * sizeof speed / sizeof *speed; i++) {
        bool same_pitch = i % 2;
        uint32_t from = (uint32_t)rand() % (FRAMES - 960);
        struct find_place p = find_at(from, 960, speed[i / 2], same_pitch);
        double found = (double)p.speed.num / p.speed.den;
        assert_true(abs(p.sixteenth - 16 * (int)from) <= 24);
        assert_true(fabs(found - speed[i / 2]) * 960 < 3);
        assert_true(p.speed.same_pitch == same_pitch || fabs(found - 1) < .01);
    }
}

/* A clip of which the film has nothing, and one with peaks in the highest bin. */
TEST(no_peaks_to_fit)
{
    struct err e = ERR_INIT;
    uint32_t films = FILMS;
    struct peak clip[] = {{3, 511, 1}, {30, 511, 1}, {60, 2, 1}, {61, 511, 1}};
    struct align_sound sound = {clip, 4, 100 * SPECTROGRAM_HOP, NULL};
    struct find_result r = {.place = {{.film = 3, .votes = 20, .speed = {985, 1000, false}}},
                            .found = 1};
    assert_true(find_refine_offsets(&r, &sound, load, &films, &e));
    assert_true(r.place[0].peaks <= 4);
}

/* 25/24 or 1001/960: half a minute is too short to tell. */
TEST(the_speed_of_a_film)
{
    for (int i = 0; i < 10; i++) {
        uint32_t from = (uint32_t)rand() % (FRAMES - 960);
        struct find_place p = find_at(from, 960, 25. / 24, false);
        assert_true(abs(p.sixteenth - 16 * (int)from) <= 24);
        assert_true((p.speed.num == 25 && p.speed.den == 24) ||
                    (p.speed.num == 1001 && p.speed.den == 960));
        p = find_at(from, 960, 1.001, false);
        assert_true(p.speed.num == p.speed.den || p.speed.num == 1001);
    }
}

static struct find_result settle(uint32_t films)
{
    static struct peak clip[PEAKS];
    struct err e = ERR_INIT;
    size_t n = cut_clip(clip, CLIP, 0, 320, 16, 1);
    struct align_sound sound = {clip, n, 320 * SPECTROGRAM_HOP, NULL};
    struct find_result r = find(clip, n);
    assert_int_equal(r.found, 2);
    assert_int_equal(r.place[0].film, EXACT);
    assert_int_equal(r.place[1].film, BETWEEN);
    assert_int_equal(r.place[1].offset, AGAIN);
    assert_true(find_refine_offsets(&r, &sound, load, &films, &e));
    assert_int_equal(r.found, 2);
    return r;
}

/* Votes prefer repetitions that are on the frame; all peaks do not. */
TEST(sound_that_repeats_between_frames)
{
    struct find_result r = settle(FILMS);
    assert_int_equal(r.place[0].film, BETWEEN);
    assert_true(abs(r.place[0].sixteenth - (16 * OWN + 8)) <= 2);
    assert_int_equal(r.place[1].film, EXACT);
    assert_true(abs(r.place[1].sixteenth - 16 * AGAIN) <= 2);
    assert_true(r.place[0].peaks > r.place[1].peaks && r.place[0].votes < r.place[1].votes);
}

TEST(sound_that_is_not_at_hand)
{
    struct find_result r = settle(BETWEEN);
    assert_true(r.place[0].film == EXACT && r.place[0].offset == AGAIN && r.place[0].peaks == 0);
    assert_true(r.place[1].film == BETWEEN && abs(r.place[1].offset - OWN) <= 1);
    r = settle(0);
    assert_true(r.place[1].film == BETWEEN && r.place[1].offset == AGAIN);
}

/* Tries films 3, 4 and 8, which have too few votes, by the peaks of a clip of `film`. */
static struct find_result try_films(int film, uint32_t at_hand)
{
    static struct peak clip[PEAKS];
    struct err e = ERR_INIT;
    size_t n = cut_clip(clip, film, 700, 1020, 9, 1);
    struct align_sound sound = {clip, n, 320 * SPECTROGRAM_HOP, NULL};
    struct find_result r = {.place = {{.film = 4, .votes = 15, .speed = {1, 1, false}},
                                      {.film = 3, .votes = 14, .speed = {1, 1, false}},
                                      {.film = 8, .votes = 8, .speed = {1, 1, false}},
                                      {.film = 9, .votes = 7, .speed = {1, 1, false}}},
                            .needed = 16};
    assert_true(find_by_peaks(&r, &sound, load, &at_hand, &e));
    return r;
}

TEST(few_votes_and_enough_peaks)
{
    for (int i = 0; i < 20; i++) {
        struct find_result r = try_films(3, FILMS);
        assert_true(r.found == 1 && r.needed <= r.place[0].votes);
        assert_true(r.place[0].film == 3 && abs(r.place[0].offset - 700) <= 1);
        r = try_films(9, FILMS); /* has too few votes to be tried */
        assert_true(r.found == 0 && r.needed == 16);
        r = try_films(OTHER, FILMS);
        assert_true(r.found == 0 && r.needed == 16);
    }
    struct find_result r = try_films(3, 0); /* the films' sound is not at hand */
    assert_true(r.found == 0 && r.needed == 16);
}

TEST_FIXTURE(make_library, remove_library)
