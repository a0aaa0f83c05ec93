#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "engine/steady.h"

enum { COLUMNS_MOST = 400, K_MOST = 8, PIXELS = 1000 };

/* Columns' lists; `frame` says whose list a column has. */
struct scene {
    uint64_t columns;
    struct cluster cluster[COLUMNS_MOST][K_MOST];
    int count[COLUMNS_MOST];
    uint64_t frame[COLUMNS_MOST];
};

static struct scene scene;

static struct steady_list list(const void *user, uint64_t column)
{
    const struct scene *s = user;
    uint64_t frame = s->frame[column];
    return (struct steady_list){s->cluster[frame], s->count[frame]};
}

static int64_t cost(const struct cluster *a, const struct cluster *b, int percent)
{
    static const int64_t weight[3] = {2, 4, 3};
    int64_t d = 0;
    for (int c = 0; c < 3; c++)
        d += weight[c] * (a->rgb[c] - b->rgb[c]) * (a->rgb[c] - b->rgb[c]);
    return PIXELS * percent * (d < 9216 ? d : 9216) / (100 * 9216);
}

/* Counts of a column add up to PIXELS and fall; few colours, near and far, so that there is
 * something to choose and to tie. */
static void fill(uint64_t columns, int k, int shades)
{
    scene.columns = columns;
    for (uint64_t i = 0; i < columns; i++) {
        scene.frame[i] = i;
        scene.count[i] = rand() % 9 == 0 ? 0 : 1 + rand() % k;
        int left = PIXELS, n = scene.count[i];
        for (int j = 0; j < n; j++) {
            int least = (left + n - j - 1) / (n - j),
                most = j == 0 ? left : (int)scene.cluster[i][j - 1].count;
            most = most < left ? most : left;
            int count =
                j + 1 == n ? left : least + (most > least ? rand() % (most - least + 1) : 0);
            scene.cluster[i][j].count = (uint32_t)count;
            left -= count;
            for (int c = 0; c < 3; c++)
                scene.cluster[i][j].rgb[c] = (uint8_t)(rand() % shades * (255 / shades));
        }
    }
}

/* The definition's value of a choice. */
static int64_t value_of(const uint8_t *chosen, int percent)
{
    const struct cluster *before = NULL;
    int64_t value = 0;
    for (uint64_t i = 0; i < scene.columns; i++) {
        struct steady_list l = list(&scene, i);
        if (l.count == 0)
            continue;
        const struct cluster *c = &l.cluster[chosen[i]];
        value += c->count - (before ? cost(before, c, percent) : 0);
        before = c;
    }
    return value;
}

/* Every choice there is, in order: the greatest value. Columns of one frame choose as the first of
 * them does. */
static int64_t best_of_all(int percent)
{
    uint8_t chosen[COLUMNS_MOST] = {0};
    int64_t best = INT64_MIN;
    for (;;) {
        int64_t value = value_of(chosen, percent);
        best = value > best ? value : best;
        uint64_t i = 0;
        for (; i < scene.columns; i++) {
            bool copy = i > 0 && scene.frame[i] == scene.frame[i - 1];
            if (!copy && chosen[i] + 1 < list(&scene, i).count) {
                chosen[i]++;
                break;
            }
            if (!copy)
                chosen[i] = 0;
        }
        if (i == scene.columns)
            return best;
        for (uint64_t j = 1; j < scene.columns; j++)
            if (scene.frame[j] == scene.frame[j - 1])
                chosen[j] = chosen[j - 1];
    }
}

static void choose(int percent, uint8_t *chosen)
{
    struct err e = ERR_INIT;
    memset(chosen, 99, scene.columns);
    assert_true(steady_choose(list, &scene, scene.columns, PIXELS, percent, chosen, &e));
    for (uint64_t i = 0; i < scene.columns; i++) {
        int count = list(&scene, i).count;
        assert_true(count == 0 ? chosen[i] == 0 : chosen[i] < count);
    }
}

/* Against every choice that there is, missing columns and frames of several columns among them. */
TEST(is_the_best_of_all)
{
    srand(3);
    for (int round = 0; round < 400; round++) {
        uint8_t chosen[COLUMNS_MOST];
        int percent = rand() % (STEADY_MOST + 1);
        fill(1 + (uint64_t)rand() % 7, 4, 2 + rand() % 9);
        for (uint64_t i = 1; i < scene.columns; i++)
            scene.frame[i] = rand() % 4 == 0 ? scene.frame[i - 1] : i;
        choose(percent, chosen);
        assert_int_equal(value_of(chosen, percent), best_of_all(percent));
        for (uint64_t i = 1; i < scene.columns; i++)
            assert_true(scene.frame[i] != scene.frame[i - 1] || chosen[i] == chosen[i - 1]);
    }
}

/* The promise: never more than 2p points of share below the largest, p at either end. */
TEST(never_far_below_the_largest)
{
    srand(4);
    bool met = false;
    for (int round = 0; round < 300; round++) {
        uint8_t chosen[COLUMNS_MOST];
        int percent = rand() % (STEADY_MOST + 1);
        fill(COLUMNS_MOST, K_MOST, 2 + rand() % 12);
        choose(percent, chosen);
        int64_t most = PIXELS * percent / 100;
        for (uint64_t i = 0; i < scene.columns; i++) {
            struct steady_list l = list(&scene, i);
            int64_t below =
                l.count > 0 ? l.cluster[0].count - (int64_t)l.cluster[chosen[i]].count : 0;
            assert_true(below <= (i == 0 || i + 1 == scene.columns ? most : 2 * most));
            met |= percent > 0 && below > most;
        }
    }
    assert_true(met); /* the films were hard enough to go beyond the half of it */
}

static const uint8_t blue[3] = {40, 40, 200}, green[3] = {40, 160, 40};

/* Column i has two colours, the first with `share` pixels. */
static void two(uint64_t i, const uint8_t *first, const uint8_t *second, uint32_t share)
{
    scene.frame[i] = i;
    scene.count[i] = 2;
    scene.cluster[i][0].count = share;
    scene.cluster[i][1].count = PIXELS - share;
    memcpy(scene.cluster[i][0].rgb, first, 3);
    memcpy(scene.cluster[i][1].rgb, second, 3);
}

TEST(ties_go_to_the_lower_index)
{
    uint8_t chosen[COLUMNS_MOST];
    scene.columns = 9;
    for (uint64_t i = 0; i < scene.columns; i++)
        two(i, blue, blue, 500);
    choose(10, chosen);
    for (uint64_t i = 0; i < scene.columns; i++)
        assert_int_equal(chosen[i], 0);
}

/* The columns' own clusters; a copy of a frame has its choice, a missing column none. */
TEST(columns_get_their_choice)
{
    struct err e = ERR_INIT;
    struct columns *c = columns_open(2, 0, &e);
    for (uint64_t i = 0; i < 9; i += 2) {
        struct column *to = columns_at(c, i, &e);
        if (i == 4)
            continue;
        two(i, i == 2 ? green : blue, i == 2 ? blue : green, 510);
        to->status = COLUMN_OK;
        to->repeat = 2;
        to->clusters = 2;
        memcpy(to->cluster, scene.cluster[i], 2 * sizeof *to->cluster);
    }
    columns_finish(c, NULL);
    assert_int_equal(columns_count(c), 10);
    assert_true(steady_columns(c, PIXELS, STEADY_USUAL, &e));
    for (uint64_t i = 0; i < 10; i++)
        assert_int_equal(columns_get(c, i)->chosen, i == 2 || i == 3);
    columns_free(&c);
}

/* The columns' own modes, whatever their clusters choose. */
TEST(columns_get_their_mode)
{
    struct err e = ERR_INIT;
    struct columns *c = columns_open(2, 0, &e);
    columns_keep_modes(c);
    for (uint64_t i = 0; i < 5; i++) {
        struct column *to = columns_at(c, i, &e);
        two(i, i == 2 ? green : blue, i == 2 ? blue : green, 510);
        to->status = i == 3 ? COLUMN_MISSING : COLUMN_OK;
        to->clusters = i == 3 ? 0 : 1;
        memcpy(to->cluster, scene.cluster[i], sizeof *to->cluster);
        if (i != 3)
            column_fill_modes(to, scene.cluster[i], 2);
    }
    assert_memory_equal(columns_get(c, 2)->dominant, green, 3);
    assert_true(steady_columns(c, PIXELS, STEADY_USUAL, &e));
    for (uint64_t i = 0; i < 5; i++) {
        const struct column *got = columns_get(c, i);
        assert_int_equal(got->chosen, 0);
        assert_int_equal(got->mode_chosen, i == 2);
        assert_int_equal(got->modes, i == 3 ? 0 : 2);
        assert_int_equal(memcmp(got->dominant, blue, 3) == 0, i != 3);
    }
    columns_free(&c);
}

/* Counts and columns at the end of what is allowed stay inside the integers. */
TEST(large_frames)
{
    struct err e = ERR_INIT;
    uint8_t chosen[3];
    const uint64_t pixels = UINT64_C(1) << 28;
    scene.columns = 3;
    for (uint64_t i = 0; i < 3; i++) {
        two(i, i == 1 ? green : blue, i == 1 ? blue : green, 0);
        scene.cluster[i][0].count = (uint32_t)(pixels / 2 + pixels / 50);
        scene.cluster[i][1].count = (uint32_t)(pixels / 2 - pixels / 50);
    }
    assert_true(steady_choose(list, &scene, 3, pixels, STEADY_MOST, chosen, &e));
    assert_true(chosen[0] == 0 && chosen[1] == 1 && chosen[2] == 0);
}
