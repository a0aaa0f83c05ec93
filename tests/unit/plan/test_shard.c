#include <stdlib.h>

#include "test.h"
#include "plan/plan.h"

enum { MOST = 2000 };

static enum input_duty duty[MOST];
static struct input_file file[MOST];
static struct err problem[MOST];
static int owner[MOST];

/* Whose each entry is, by the word of every shard; each is of exactly one. Returns the largest
 * share in bytes. */
static uint64_t split(size_t count, int shards)
{
    uint64_t most = 0;
    for (size_t i = 0; i < count; i++)
        owner[i] = 0;
    for (int shard = 1; shard <= shards; shard++) {
        struct inputs_options o = {.shard = shard, .shards = shards};
        struct inputs in = {.duty = duty, .file = file, .problem = problem, .count = count};
        struct err e = ERR_INIT;
        uint64_t bytes = 0;
        for (size_t i = 0; i < count; i++)
            duty[i] = INPUT_TO_DO;
        assert_true(shard_split(&o, &in, &e));
        for (size_t i = 0; i < count; i++) {
            if (duty[i] != INPUT_TO_DO)
                continue;
            assert_int_equal(owner[i], 0);
            owner[i] = shard;
            bytes += file[i].bytes;
        }
        most = bytes > most ? bytes : most;
    }
    for (size_t i = 0; i < count; i++)
        assert_int_not_equal(owner[i], 0);
    return most;
}

TEST(by_the_definition)
{
    static const struct {
        uint64_t bytes[8];
        int shards, owner[8];
    } t[] = {
        {{5, 5, 5, 5}, 2, {1, 2, 1, 2}},
        {{1, 9, 3, 3, 2}, 2, {2, 1, 2, 2, 2}}, /* 9 to the first; 3, 3, 2 and 1 to the second */
        {{7}, 3, {1}},
        {{0, 0, 0}, 3, {1, 2, 3}},
        {{4, 3, 2, 1}, 1, {1, 1, 1, 1}},
    };
    static const size_t count[] = {4, 5, 1, 3, 4};
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        for (size_t k = 0; k < count[i]; k++)
            file[k].bytes = t[i].bytes[k];
        split(count[i], t[i].shards);
        for (size_t k = 0; k < count[i]; k++)
            assert_int_equal(owner[k], t[i].owner[k]);
    }
}

TEST(shares_are_even)
{
    srand(1);
    for (int shards = 1; shards < 40; shards += 3) {
        uint64_t sum = 0, largest = 0;
        for (size_t i = 0; i < MOST; i++) {
            file[i].bytes = (uint64_t)(rand() % 1000) * (uint64_t)(rand() % 1000) * 1000;
            sum += file[i].bytes;
            largest = file[i].bytes > largest ? file[i].bytes : largest;
        }
        uint64_t most = split(MOST, shards);
        assert_true(most <= sum / (uint64_t)shards + largest / 3 + 1);
    }
}

TEST(nothing_is_split_unasked)
{
    struct inputs_options o = {.shards = 0};
    struct inputs in = {.duty = duty, .file = file, .problem = problem, .count = 3};
    for (size_t i = 0; i < 3; i++)
        duty[i] = i == 1 ? INPUT_LEFT_OUT : INPUT_TO_DO;
    assert_true(shard_split(&o, &in, NULL));
    assert_true(duty[0] == INPUT_TO_DO && duty[1] == INPUT_LEFT_OUT && duty[2] == INPUT_TO_DO);
    in.count = 0;
    o = (struct inputs_options){.shard = 1, .shards = 2};
    assert_true(shard_split(&o, &in, NULL));
}

/* Folders without films and paths that are not there are told by every shard, and count for none.
 */
TEST(what_cannot_be_seen)
{
    for (int shard = 1; shard <= 2; shard++) {
        struct inputs_options o = {.shard = shard, .shards = 2};
        struct inputs in = {.duty = duty, .file = file, .problem = problem, .count = 4};
        struct err e = ERR_INIT;
        for (size_t i = 0; i < 4; i++) {
            duty[i] = INPUT_TO_DO;
            file[i] = (struct input_file){.regular = i > 1, .bytes = i > 1 ? 5 : 0};
        }
        file[0].absent = true;
        err_set(&problem[1], ERR_INPUT, "no films");
        assert_true(shard_split(&o, &in, &e));
        problem[1] = (struct err)ERR_INIT;
        file[0].absent = false;
        assert_int_equal(duty[0], INPUT_TO_DO);
        assert_int_equal(duty[1], INPUT_TO_DO);
        assert_int_equal(duty[2], shard == 1 ? INPUT_TO_DO : INPUT_OTHERS);
        assert_int_equal(duty[3], shard == 2 ? INPUT_TO_DO : INPUT_OTHERS);
    }
}
