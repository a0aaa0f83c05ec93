/* test_keyframe_chunks.c - which key frame serves which columns, against the definition, and the
 * list of those that are not to be used. */
#include <stdlib.h>

#include "test.h"
#include "media/bitstream/packet_scan.h"
#include "media/gop/chunker.h"
#include "barcode/engine/column.h"
#include "../fuzz/random_film.h"

enum { MOST = 4096 };

static struct dice dice = {.state = 7};

/* What was sent off. */
struct taken {
    int64_t time_us[MOST]; /* of each column */
    uint64_t chunks, columns;
    bool refuse;
};

static bool take_run(void *user, struct chunk *chunk, struct err *e)
{
    struct taken *t = user;
    assert_true(chunk->own == chunk->count && chunk->selected == 1 && chunk->unsure &&
                chunk->picture[0].selected && !chunk->picture[0].packet);
    const struct frame_tag *tag = &chunk->picture[0].tag;
    assert_true(chunk->picture[0].frame == tag->frame && chunk->frames == tag->frame + 1 &&
                tag->repeat >= 1 && !tag->damaged);
    assert_int_equal(tag->column, t->columns);
    for (uint32_t i = 0; i < tag->repeat; i++)
        t->time_us[t->columns++] = tag->time_us;
    t->chunks++;
    chunk_free(&chunk);
    return !t->refuse || err_set(e, ERR_FAILED, "no more");
}

static struct keys_config config_of(const struct selection *rule, struct taken *t,
                                    struct columns *columns)
{
    return (struct keys_config){
        .selection = *rule, .columns = columns, .emit = take_run, .user = t};
}

static bool hold(struct keys *k, uint64_t frame, int64_t time_us, struct err *e)
{
    struct picture p = {.serial = frame, .tag = {.frame = frame, .time_us = time_us}};
    return keys_hold(k, &p, NULL, e);
}

/* The latest key frame at or before each wanted time; the first one before there is any. */
TEST(each_column_has_the_key_before_it)
{
    for (int trial = 0; trial < 500; trial++) {
        static struct taken t;
        static int64_t time[64];
        struct err e = ERR_INIT;
        int count = 1 + (int)roll(&dice, 60);
        int64_t at = (int64_t)roll(&dice, 500000);
        for (int i = 0; i < count; i++, at += 1 + (int64_t)roll(&dice, 400000))
            time[i] = at;
        struct selection rule = {.kind = trial % 2 ? SELECT_COLUMNS : SELECT_EVERY,
                                 .every = 1,
                                 .interval_us = 9000 + (int64_t)roll(&dice, 300000),
                                 .columns = 1 + (uint32_t)roll(&dice, 300),
                                 .start_us = (int64_t)roll(&dice, 1000000),
                                 .keyframes = true};
        rule.end_us = rule.start_us + 1 + (int64_t)roll(&dice, 1 + (uint64_t)at);
        struct columns *columns = columns_open(0, 0, &e);
        struct keys_config config = config_of(&rule, &t, columns);
        struct keys k;
        t = (struct taken){.chunks = 0};
        keys_begin(&k, &config);
        for (int i = 0; i < count; i++) {
            keys_serve(&k, time[i]);
            assert_true(hold(&k, (uint64_t)i, time[i], &e));
        }
        keys_serve(&k, rule.end_us);
        assert_true(keys_end(&k, &e));
        assert_true(t.chunks == k.sent && t.columns == columns_count(columns) &&
                    selection_next(&k.cursor) == INT64_MAX);
        for (uint64_t j = 0; j < t.columns; j++) {
            int64_t target = selection_target(&rule, j), right = time[0];
            for (int i = 0; i < count && time[i] <= target; i++)
                right = time[i];
            assert_true(t.time_us[j] == right);
        }
        columns_free(&columns);
    }
}

/* One that serves nothing is dropped; what is there already is not sent off. */
static bool have_second(void *user, const struct frame_tag *tag, bool take)
{
    (void)user;
    (void)take;
    return tag->frame == 2;
}

TEST(what_is_not_needed_is_not_sent)
{
    static struct taken t;
    struct err e = ERR_INIT;
    struct selection rule = {
        .kind = SELECT_INTERVAL, .interval_us = 1000000, .end_us = 3000000, .keyframes = true};
    struct keys_config config = config_of(&rule, &t, NULL);
    struct keys k;
    keys_begin(&k, &config);
    keys_serve(&k, 5); /* nothing is held: nothing happens */
    for (uint64_t i = 0; i < 4; i++) {
        keys_serve(&k, (int64_t)i * 900000);
        assert_true(hold(&k, i, (int64_t)i * 900000, &e));
    }
    keys_serve(&k, INT64_MAX);
    assert_true(keys_end(&k, &e));
    assert_int_equal(t.columns, 3);
    assert_int_equal(t.chunks, 3); /* at 0, 0.9 and 1.8 s; the one at 2.7 s is for nobody */

    t = (struct taken){.refuse = true, .columns = 1};
    config.have = have_second;
    keys_begin(&k, &config);
    assert_true(hold(&k, 2, 0, &e));
    keys_serve(&k, 500000);
    assert_true(keys_end(&k, &e) && t.chunks == 0 && k.sent == 0);
    assert_true(hold(&k, 3, 900000, &e));
    keys_serve(&k, 1500000);
    assert_false(keys_end(&k, &e));
    assert_string_equal(e.text, "no more");
    keys_drop(&k);
}

/* Keeps the chunk that is emitted. */
static bool keep_chunk(void *user, struct chunk *chunk, struct err *e)
{
    (void)e;
    *(struct chunk **)user = chunk;
    return true;
}

/* Holds a key frame and its second field, and returns their chunk. */
static struct chunk *chunk_of_fields(struct picture key, struct picture second)
{
    struct err e = ERR_INIT;
    struct chunk *chunk = NULL;
    struct keys_config config = {
        .selection = {.kind = SELECT_COLUMNS, .columns = 1, .end_us = 1000000, .keyframes = true},
        .emit = keep_chunk,
        .user = &chunk};
    struct keys k;
    keys_begin(&k, &config);
    assert_true(keys_hold(&k, &key, &second, &e));
    assert_true(!key.packet && !second.packet);
    keys_serve(&k, INT64_MAX);
    assert_true(keys_end(&k, &e));
    return chunk;
}

/* What was found in the second field's bytes reaches the worker, which trusts NVDEC by it. */
TEST(a_second_field_keeps_its_facts)
{
    struct picture key = {
        .packet = packet_make(10), .serial = 70, .rap = RAP_CLOSED, .field = true};
    struct picture found = {.packet = packet_make(11),
                            .serial = 3, /* read by an index, which numbers otherwise */
                            .rap = RAP_OPEN,
                            .field = true,
                            .hidden = true,
                            .illegal_zeros = true,
                            .suspect = true,
                            .after_gap = true,
                            .sets = 9};
    struct AVPacket *first_packet = key.packet, *second_packet = found.packet;
    key.tag.frame = 5;
    struct chunk *chunk = chunk_of_fields(key, found);
    assert_int_equal(chunk->count, 2);
    const struct picture *p = chunk->picture;
    assert_true(p[0].packet == first_packet && p[0].selected && !p[0].second);
    assert_true(!p[0].illegal_zeros && !p[0].suspect);
    assert_true(p[1].packet == second_packet && p[1].second && p[1].serial == 71 &&
                p[1].frame == 5 && p[1].rap == RAP_NONE && !p[1].hidden && !p[1].selected);
    assert_true(p[1].illegal_zeros && p[1].suspect && p[1].after_gap);
    assert_int_equal(p[1].sets, 9);
    chunk_free(&chunk);

    key.packet = packet_make(10);
    found.packet = NULL; /* there is none */
    chunk = chunk_of_fields(key, found);
    assert_int_equal(chunk->count, 1);
    chunk_free(&chunk);
    assert_int_equal(live_packets, 0);
}

TEST(bad_keys)
{
    struct bad_key_list f = {0};
    struct err e = ERR_INIT;
    bool there[500] = {false};
    for (int i = 0; i < 1000; i++) {
        uint64_t serial = roll(&dice, 500);
        assert_true(bad_key_list_has(&f, serial) == there[serial]);
        assert_true(bad_key_list_add(&f, serial, &e));
        there[serial] = true;
    }
    size_t count = 0;
    for (uint32_t i = 0; i < 500; i++) {
        assert_true(bad_key_list_has(&f, i) == there[i]);
        count += there[i];
    }
    assert_int_equal(f.count, count);
    bad_key_list_clear(&f);
    assert_false(bad_key_list_has(&f, 3));
}
