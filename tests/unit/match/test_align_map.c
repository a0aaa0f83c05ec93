/* Maps between made films: peaks at random places, of which versions lose, gain and move some. */
#include <math.h>
#include <stdlib.h>

#include "match/align/align_map.h"
#include "sound/film_sound.h"
#include "test.h"

enum { PEAKS_MOST = 80000, FRAME_US = 32000, NEAR_US = 250000 };

struct sound {
    struct peak peak[PEAKS_MOST];
    size_t peaks;
    uint32_t frames;
};

static struct sound film_a, film_b;
static uint32_t seed_state;

/* A number below `below` (the finalizer of MurmurHash3 over a counter). */
static uint32_t next_random(uint32_t below)
{
    uint32_t h = seed_state += 0x9e3779b9;
    h = (h ^ h >> 16) * 0x85ebca6b;
    h = (h ^ h >> 13) * 0xc2b2ae35;
    return (uint32_t)((uint64_t)(h ^ h >> 16) * below >> 32);
}

/* Appends frames with 1.3 peaks each, of the film `seed`, whose frame `from` is the first. */
static void add_frames(struct sound *s, uint32_t seed, uint32_t from, uint32_t frames)
{
    for (uint32_t i = 0; i < frames; i++) {
        seed_state = seed * 100003 * (from + i + 1);
        uint32_t n = next_random(100) < 30 ? 2 : 1, bin = 4 + next_random(250);
        for (uint32_t k = 0; k < n; k++)
            s->peak[s->peaks++] =
                (struct peak){s->frames + i, (uint16_t)(bin + k * 250), next_random(4) == 0};
    }
    s->frames += frames;
}

static struct align_sound sound_of(const struct sound *s)
{
    return (struct align_sound){s->peak, s->peaks, (uint64_t)s->frames * 512, NULL};
}

/* Keeps `keep` of 100 peaks, and puts others in the place of the rest. */
static void spoil(struct sound *s, uint32_t keep)
{
    seed_state = 99;
    for (size_t i = 0; i < s->peaks; i++)
        if (next_random(100) >= keep)
            s->peak[i].bin = (uint16_t)(4 + next_random(500));
}

/* Plays the sound num / den times as fast. */
static void play_faster(struct sound *s, uint32_t num, uint32_t den, bool same_pitch)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->peaks; i++) {
        struct peak p = s->peak[i];
        uint32_t bin = same_pitch ? p.bin : (p.bin * num + den / 2) / den;
        p.frame = (p.frame * den + num / 2) / num;
        p.bin = (uint16_t)bin;
        if (bin < 512)
            s->peak[kept++] = p;
    }
    s->peaks = kept;
    s->frames = s->frames * den / num;
}

static struct align_map align(void)
{
    struct err e = ERR_INIT;
    struct align_map map;
    struct align_sound a = sound_of(&film_a), b = sound_of(&film_b);
    assert_true(align_map_make(&a, &b, &map, &e));
    return map;
}

/*
 * A has 400 units of time; B lacks [100, 130) and has 20 more at 250. A unit is `times` times 31
 * frames, nearly a second.
 */
static void make_versions(uint32_t times)
{
    const uint32_t second = 31 * times;
    film_a = film_b = (struct sound){.peaks = 0};
    add_frames(&film_a, 1, 0, 400 * second);
    add_frames(&film_b, 1, 0, 100 * second);
    add_frames(&film_b, 1, 130 * second, 120 * second);
    add_frames(&film_b, 2, 0, 20 * second);
    add_frames(&film_b, 1, 250 * second, 150 * second);
}

static void assert_near(int64_t us, double units, int64_t near_us)
{
    int64_t want = (int64_t)(units * 31 * FRAME_US);
    if (llabs(us - want) > near_us)
        fail_msg("%lld us, not %lld", (long long)us, (long long)want);
}

static void assert_versions(const struct align_map *map, double times, double speed,
                            int64_t near_us)
{
    static const struct {
        enum align_kind kind;
        double a_from, a_to, b_from, b_to;
    } want[] = {{ALIGN_BOTH, 0, 100, 0, 100},
                {ALIGN_ONLY_A, 100, 130, 100, 100},
                {ALIGN_BOTH, 130, 250, 100, 220},
                {ALIGN_ONLY_B, 250, 250, 220, 240},
                {ALIGN_BOTH, 250, 400, 240, 390}};
    assert_int_equal(map->segments, 5);
    for (size_t i = 0; i < 5; i++) {
        const struct align_segment *s = &map->segment[i];
        assert_int_equal(s->kind, want[i].kind);
        assert_near(s->a_from_us, want[i].a_from * times, near_us);
        assert_near(s->a_to_us, want[i].a_to * times, near_us);
        assert_near(s->b_from_us, want[i].b_from * times / speed, near_us);
        assert_near(s->b_to_us, want[i].b_to * times / speed, near_us);
    }
}

TEST(cut_and_insertion)
{
    for (uint32_t keep = 100; keep >= 25; keep -= 25) {
        make_versions(1);
        spoil(&film_b, keep);
        struct align_map map = align();
        assert_versions(&map, 1, 1, keep > 25 ? NEAR_US : 2 * NEAR_US);
        assert_int_equal(map.speed_num, map.speed_den);
        assert_true(map.score >= (int)keep * 9 && map.score <= (int)keep * 10 + 10);
        align_map_free(&map);
    }
}

TEST(speeds)
{
    static const struct {
        uint32_t num, den;
        bool same_pitch;
    } row[] = {
        {25, 24, false}, {25, 24, true}, {24, 25, false}, {1001, 960, false}, {960, 1001, true}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        make_versions(4);
        play_faster(&film_b, row[i].num, row[i].den, row[i].same_pitch);
        struct align_map map = align();
        assert_int_equal(map.speed_num, row[i].num);
        assert_int_equal(map.speed_den, row[i].den);
        assert_int_equal(map.same_pitch, row[i].same_pitch);
        assert_versions(&map, 4, (double)row[i].num / row[i].den, NEAR_US);
        align_map_free(&map);
    }
}

/* Speeds of no film are exact to a few frames. */
TEST(speeds_of_no_film)
{
    static const uint32_t row[] = {9700, 9780, 10050, 10180, 10490, 9900};
    for (uint32_t i = 0; i < sizeof row / sizeof *row; i++) {
        bool same_pitch = i % 2;
        make_versions(2);
        play_faster(&film_b, row[i], 10000, same_pitch);
        struct align_map map = align();
        assert_true(fabs((double)map.speed_num / map.speed_den - row[i] / 10000.) < .0003);
        assert_int_equal(map.same_pitch, same_pitch);
        assert_versions(&map, 2, row[i] / 10000., NEAR_US);
        align_map_free(&map);
    }
}

/* In 40 s a speed of 1000/1001 makes a frame, and so do encoders: the films' own speed counts. */
TEST(short_films_keep_their_speed)
{
    for (int way = 0; way < 2; way++) {
        film_a = film_b = (struct sound){.peaks = 0};
        add_frames(&film_a, 1, 0, 40 * 31);
        add_frames(&film_b, 1, 0, 40 * 31);
        struct sound *later = way == 0 ? &film_a : &film_b;
        for (size_t i = 0; i < later->peaks; i++)
            later->peak[i].frame += later->peak[i].frame >= 1150 ? 3 : 0;
        later->frames += 3;
        struct align_map map = align();
        assert_int_equal(map.speed_num, map.speed_den);
        assert_in_range(map.common_us, 39500000, 40000000);
        align_map_free(&map);
    }
}

/* 200 units of a film, `a` or `b` units of others in A and B, and 200 more of the film. */
static void make_replaced(uint32_t a, uint32_t b)
{
    film_a = film_b = (struct sound){.peaks = 0};
    add_frames(&film_a, 1, 0, 200 * 31);
    add_frames(&film_b, 1, 0, 200 * 31);
    add_frames(&film_a, 2, 0, a * 31);
    add_frames(&film_b, 3, 0, b * 31);
    add_frames(&film_a, 1, 200 * 31, 200 * 31);
    add_frames(&film_b, 1, 200 * 31, 200 * 31);
}

/* Scenes that are replaced by others as long, longer or shorter. */
TEST(replaced_scenes)
{
    static const uint32_t row[][2] = {{120, 90}, {90, 90}, {60, 45}, {30, 20}, {20, 15}, {15, 20},
                                      {10, 10},  {10, 8},  {5, 5},   {3, 3},   {120, 3}};
    for (size_t i = 0; i < 2 * sizeof row / sizeof *row; i++) {
        double a = row[i / 2][0], b = row[i / 2][1];
        make_replaced(row[i / 2][0], row[i / 2][1]);
        const int64_t near_us = i & 1 ? 2 * NEAR_US : NEAR_US;
        spoil(&film_b, i & 1 ? 40 : 100);
        struct align_map map = align();
        assert_int_equal(map.segments, 4);
        assert_int_equal(map.segment[1].kind, ALIGN_ONLY_A);
        assert_int_equal(map.segment[2].kind, ALIGN_ONLY_B);
        assert_near(map.segment[0].a_to_us, 200, near_us);
        assert_near(map.segment[0].b_to_us, 200, near_us);
        assert_near(map.segment[3].a_from_us, 200 + a, near_us);
        assert_near(map.segment[3].b_from_us, 200 + b, near_us);
        align_map_free(&map);
    }
}

/* In a pause of speech, a noisy copy has peaks of its noise. A scene that is not quiet is another. */
TEST(noise_in_a_pause)
{
    static struct sound_row row[420 * 31];
    struct film_sound loudness = {.hops = 1, .rows = 420 * 31, .row = row, .loudness = -230};
    for (int quiet = 0; quiet < 2; quiet++) {
        make_replaced(20, 20);
        for (size_t i = 0; i < loudness.rows; i++)
            row[i].loudness = quiet && i >= 200 * 31 && i < 220 * 31 ? -600 : -230;
        struct err e = ERR_INIT;
        struct align_map map;
        struct align_sound a = sound_of(&film_a), b = sound_of(&film_b);
        a.film = b.film = &loudness;
        assert_true(align_map_make(&a, &b, &map, &e));
        assert_int_equal(map.segments, quiet ? 1 : 4);
        align_map_free(&map);
    }
}

/* Other sound before and after what both have, in one of them or in both. */
TEST(other_ends)
{
    for (uint32_t i = 0; i < 64; i++) {
        static const uint32_t length[] = {0, 5, 12, 40};
        const uint32_t a = length[i % 4], b = length[i / 4 % 4];
        for (int last = 0; last < 2; last++) {
            film_a = film_b = (struct sound){.peaks = 0};
            add_frames(&film_a, 2, 0, last ? 0 : a * 31);
            add_frames(&film_b, 3, 0, last ? 0 : b * 31);
            add_frames(&film_a, 1, 0, 100 * 31);
            add_frames(&film_b, 1, 0, 100 * 31);
            add_frames(&film_a, 2, 0, last ? a * 31 : 0);
            add_frames(&film_b, 3, 0, last ? b * 31 : 0);
            spoil(&film_b, 25 * (i / 16 + 1));
            struct align_map map = align();
            size_t n = last ? 0 : map.segments - 1;
            assert_int_equal(map.segments, 1 + (a > 0) + (b > 0));
            assert_near(map.segment[n].a_from_us, last ? 0 : a, 2 * NEAR_US);
            assert_near(map.segment[n].b_from_us, last ? 0 : b, 2 * NEAR_US);
            assert_near(map.segment[n].a_to_us, last ? 100 : a + 100, 2 * NEAR_US);
            assert_near(map.segment[n].b_to_us, last ? 100 : b + 100, 2 * NEAR_US);
            align_map_free(&map);
        }
    }
}

/* The segments follow one another and cover both films, whatever these are. */
static void assert_whole(const struct align_map *map)
{
    int64_t a = 0, b = 0, common = 0;
    for (size_t i = 0; i < map->segments; i++) {
        const struct align_segment *s = &map->segment[i];
        assert_int_equal(s->a_from_us, a);
        assert_int_equal(s->b_from_us, b);
        assert_true(s->a_to_us > a || s->b_to_us > b);
        assert_true(i == 0 || s->kind != map->segment[i - 1].kind);
        assert_true(s->kind != ALIGN_BOTH || (s->a_to_us > a && s->b_to_us > b));
        common += s->kind == ALIGN_BOTH ? s->a_to_us - a : 0;
        a = s->a_to_us;
        b = s->b_to_us;
    }
    assert_int_equal(a, map->a_us);
    assert_int_equal(b, map->b_us);
    assert_int_equal(common, map->common_us);
}

/* A tenth of a second more in A is no scene, so both rows are one. */
TEST(rows_that_touch_are_one)
{
    film_a = film_b = (struct sound){.peaks = 0};
    add_frames(&film_a, 1, 0, 1500);
    add_frames(&film_a, 2, 0, 5);
    add_frames(&film_a, 1, 1500, 1500);
    add_frames(&film_b, 1, 0, 3000);
    struct align_map map = align();
    assert_whole(&map);
    assert_int_equal(map.segments, 1);
    align_map_free(&map);
}

/* Within scenes that were replaced, less than a second of the same sound is no match. */
TEST(a_short_match_is_chance)
{
    for (uint32_t frames = 16; frames <= 26; frames++) {
        film_a = film_b = (struct sound){.peaks = 0};
        add_frames(&film_a, 1, 0, 1200);
        add_frames(&film_a, 2, 0, 300);
        add_frames(&film_a, 1, 1200, 1500);
        add_frames(&film_b, 1, 0, 1200);
        add_frames(&film_b, 3, 0, 64);
        add_frames(&film_b, 2, 100, frames);
        add_frames(&film_b, 3, 200, 200 - frames);
        add_frames(&film_b, 1, 1200, 1500);
        struct align_map map = align();
        assert_whole(&map);
        assert_int_equal(map.segments, 4);
        align_map_free(&map);
    }
}

/* A film in B's middle, and the reverse: what is around it is missing in the other. */
TEST(one_within_the_other)
{
    film_a = film_b = (struct sound){.peaks = 0};
    add_frames(&film_a, 1, 0, 3000);
    add_frames(&film_b, 2, 0, 2000);
    add_frames(&film_b, 1, 0, 3000);
    add_frames(&film_b, 3, 0, 1500);
    for (int turn = 0; turn < 2; turn++) {
        struct align_map map = align();
        enum align_kind other = turn == 0 ? ALIGN_ONLY_B : ALIGN_ONLY_A;
        assert_whole(&map);
        assert_int_equal(map.segments, 3);
        assert_int_equal(map.segment[0].kind, other);
        assert_int_equal(map.segment[1].kind, ALIGN_BOTH);
        assert_int_equal(map.segment[2].kind, other);
        assert_true(llabs(map.common_us - 3000 * FRAME_US) < NEAR_US);
        align_map_free(&map);
        struct sound swap = film_a;
        film_a = film_b;
        film_b = swap;
    }
}

/* Nothing, silence, and peaks outside of the film or of the spectrogram, as of a wrong file. */
TEST(odd_sounds)
{
    film_a = film_b = (struct sound){.peaks = 0};
    for (int i = 0; i < 6; i++) {
        film_a.frames = i & 1 ? 4000 : 0;
        film_b.frames = i & 2 ? 3000 : 0;
        film_a.peaks = film_b.peaks = 0;
        if (i > 3)
            add_frames(&film_a, 1, 0, 100);
        struct align_map map = align();
        assert_int_equal(map.score, 0);
        assert_whole(&map);
        align_map_free(&map);
    }
    make_versions(1);
    for (size_t i = 0; i < film_b.peaks; i++) {
        film_b.peak[i].frame += i % 7 == 0 ? UINT32_MAX - 100 : 0;
        film_b.peak[i].bin = i % 5 == 0 ? UINT16_MAX : film_b.peak[i].bin;
    }
    struct align_map map = align();
    assert_whole(&map);
    align_map_free(&map);
}
