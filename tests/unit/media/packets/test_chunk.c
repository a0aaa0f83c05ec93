#include <stdlib.h>

#include "test.h"
#include "media/gop/chunker.h"
#include "../fuzz/random_film.h"
#include "media/bitstream/packet_scan.h"
#include "barcode/engine/column.h"

/* ------------------------------------------------------------------ the container */

TEST(append_and_free)
{
    struct err e = ERR_INIT;
    struct chunk *r = calloc(1, sizeof *r);
    assert_non_null(r);
    size_t bytes = 0;
    for (uint64_t i = 0; i < 1000; i++) {
        struct picture p = {.packet = i % 5 == 0 ? NULL : packet_make(i), .serial = i};
        bytes += i % 5 == 0 ? 0 : i;
        assert_true(chunk_append(r, &p, &e));
    }
    assert_int_equal(r->count, 1000);
    assert_int_equal(r->bytes, bytes);
    assert_int_equal(r->picture[999].serial, 999);
    assert_int_equal(live_packets, 800);
    chunk_free(&r);
    assert_null(r);
    assert_int_equal(live_packets, 0);
    chunk_free(&r);
}

TEST(traits)
{
    for (int s = STREAM_OTHER; s <= STREAM_AV1; s++) {
        struct codec_traits t = codec_traits((enum bitstream)s);
        bool reordered = s == STREAM_H264 || s == STREAM_HEVC || s == STREAM_MPEG2;
        assert_int_equal(t.stream, s);
        assert_int_equal(t.parallel, s != STREAM_OTHER);
        assert_int_equal(t.flush, reordered);
        /* never where a frame may be shown by a later packet */
        assert_int_equal(t.discard, reordered);
        assert_int_equal(t.drop, reordered);
        assert_int_equal(t.reorder, reordered);
    }
}

/* ------------------------------------------------------------------ plans by hand */

/*
 * A chunk from a string: K clean key, O open key, P reference, b droppable, r RASL, h hidden; then,
 * for each picture, '*' where it is wanted; '0'..'3' the temporal layer. Returns the plan: S skip,
 * D decode, O output.
 */
static const char *plan(enum bitstream stream, bool everything, const char *pictures,
                        const char *selected, const char *layers)
{
    static char verdict[64];
    struct picture p[64];
    struct chunk r = {.picture = p, .count = strlen(pictures)};
    assert_int_equal(strlen(selected), r.count);
    for (size_t i = 0; i < r.count; i++) {
        char c = pictures[i];
        p[i] = (struct picture){.serial = i,
                                .rap = c == 'K'   ? RAP_CLOSED
                                       : c == 'O' ? RAP_OPEN
                                                  : RAP_NONE,
                                .droppable = c == 'b' || c == 'r',
                                .needs_before = c == 'r',
                                .hidden = c == 'h',
                                .selected = selected[i] == '*',
                                .temporal_id = layers ? layers[i] - '0' : 0};
    }
    struct codec_traits t = codec_traits(stream);
    chunk_plan(&r, &t, everything);
    for (size_t i = 0; i < r.count; i++)
        verdict[i] = "SDO"[p[i].action];
    verdict[r.count] = 0;
    return verdict;
}

TEST(tail_and_droppable)
{
    for (int s = STREAM_H264; s <= STREAM_MPEG2; s++) {
        enum bitstream stream = (enum bitstream)s;
        assert_string_equal(plan(stream, false, "KPbbPbbPbb", "....*.....", NULL), "DDSSOSSSSS");
        assert_string_equal(plan(stream, false, "KPbbPbbPbb", "......*...", NULL), "DDSSDSOSSS");
        assert_string_equal(plan(stream, false, "KPbbPbbPbb", "*.........", NULL), "OSSSSSSSSS");
        assert_string_equal(plan(stream, false, "KPbbPbbPbb", ".........*", NULL), "DDSSDSSDSO");
        assert_string_equal(plan(stream, false, "KPbb", "....", NULL), "SSSS");
        assert_string_equal(plan(stream, false, "KPbhPbb", "......*", NULL), "DDSDDSO");
    }
}

TEST(segments)
{
    /* Behind a clean key nothing refers before it: the end of the segment before is cut too. An
     * open key is no border. */
    assert_string_equal(plan(STREAM_H264, false, "KPPKPPKPP", "*......*.", NULL), "OSSSSSDOS");
    assert_string_equal(plan(STREAM_H264, false, "KPPOPPKPP", "....*.*..", NULL), "DDDDOSOSS");
    assert_string_equal(plan(STREAM_MPEG2, false, "OPPOPPOPP", "*......*.", NULL), "ODDDDDDOS");
    assert_string_equal(plan(STREAM_VP9, false, "KPPKPPKPP", "*......*.", NULL), "OSSSSSOOS");
}

TEST(without_discard)
{
    for (int s = STREAM_VP8; s <= STREAM_AV1; s++) {
        /* Unwanted pictures are decoded and thrown away later; droppable is not believed. */
        assert_string_equal(plan((enum bitstream)s, false, "KPbhPPP", "....*..", NULL), "OOOOOSS");
        assert_string_equal(plan((enum bitstream)s, true, "KPbhPPP", "....*..", NULL), "OOOOOOO");
    }
}

TEST(hevc_layers)
{
    /* Sub-layer non-reference pictures below the top layer may be referred to by higher ones. */
    assert_string_equal(plan(STREAM_HEVC, false, "KPbbbP", ".....*", "001220"), "DDDSSO");
    assert_string_equal(plan(STREAM_HEVC, false, "KPbbbP", ".....*", "000000"), "DDSSSO");
    assert_string_equal(plan(STREAM_HEVC, false, "KPbbbP", ".....*", "002112"), "DDSDDO");
    /* H.264 has no such layers here: nal_ref_idc 0 is final. */
    assert_string_equal(plan(STREAM_H264, false, "KPbbbP", ".....*", "001220"), "DDSSSO");
}

TEST(rasl)
{
    /* Of the first key: what they refer to is in the chunk before. Of later keys: they can be
     * decoded. */
    assert_string_equal(plan(STREAM_HEVC, false, "OrrPOrrP", "...*.*.*", NULL), "DSSODOSO");
    assert_string_equal(plan(STREAM_HEVC, true, "OrrPOrrP", "...*...*", NULL), "OSSOOOOO");
    assert_string_equal(plan(STREAM_HEVC, false, "OrPrP", "....*", NULL), "DSDSO");
    /* who wants it gets it */
    assert_string_equal(plan(STREAM_HEVC, false, "OrPrP", ".*...", NULL), "DOSSS");
}

TEST(everything)
{
    assert_string_equal(plan(STREAM_H264, true, "KPbbPhbKPb", "....*.....", NULL), "OOOOODOOOO");
    assert_string_equal(plan(STREAM_HEVC, true, "KPbbPhbKPb", "....*.....", "0012010012"),
                        "OOOOODOOOO");
}

/* ------------------------------------------------------------------ plans of random films */

/* Can it be decoded by a decoder that begins at `begin`? */
static bool decodable(const struct random_film *f, size_t begin, size_t i)
{
    for (int k = 0; k < 2; k++) {
        long to = f->truth[i].refs[k];
        if (to >= 0 && (to < (long)begin || !decodable(f, begin, (size_t)to)))
            return false;
    }
    return true;
}

/* The chunk [begin, end) of a film, with random pictures wanted. */
static struct chunk *slice(const struct random_film *f, size_t begin, size_t end, struct dice *d)
{
    struct chunk *r = calloc(1, sizeof *r);
    assert_non_null(r);
    int share = 1 + (int)roll(d, 40);
    for (size_t i = begin; i < end; i++) {
        struct picture p = f->picture[i];
        bool first_rasl = p.needs_before && f->truth[i].gop == f->truth[begin].gop;
        p.selected = !p.hidden && chance(d, share) && !first_rasl && decodable(f, begin, i);
        p.frame = p.hidden ? 0 : (uint64_t)f->truth[i].rank; /* as the chunker leaves it */
        assert_true(chunk_append(r, &p, NULL));
    }
    r->own = r->count;
    return r;
}

/* Everything that a wanted picture refers to, however indirectly, must be decoded. */
static void check_needed(const struct random_film *f, const struct chunk *r, size_t i)
{
    assert_int_not_equal(r->picture[i].action, ACTION_SKIP);
    for (int k = 0; k < 2; k++) {
        long to = f->truth[r->picture[i].serial].refs[k];
        if (to < 0)
            continue;
        size_t at = (size_t)to - r->picture[0].serial;
        assert_true(at < i);
        check_needed(f, r, at);
    }
}

static void check_plan(const struct random_film *f, const struct chunk *r,
                       const struct codec_traits *t)
{
    for (size_t i = 0; i < r->count; i++) {
        const struct picture *p = &r->picture[i];
        if (p->selected) {
            assert_int_equal(p->action, ACTION_OUTPUT);
            check_needed(f, r, i);
        } else if (t->discard) {
            assert_int_not_equal(p->action, ACTION_OUTPUT);
        }
        if (!p->selected && p->droppable && t->stream != STREAM_HEVC && t->drop)
            assert_int_equal(p->action, ACTION_SKIP);
        bool tail = true; /* nothing wanted from here to the next clean key */
        for (size_t j = i; j < r->count && (j == i || r->picture[j].rap != RAP_CLOSED); j++)
            tail &= !r->picture[j].selected;
        if (tail)
            assert_int_equal(p->action, ACTION_SKIP);
    }
}

static int naive_reorder(const struct chunk *r)
{
    int most = 0;
    for (size_t i = 0; i < r->count; i++) {
        int later = 0;
        for (size_t j = 0; j < i; j++)
            later += !r->picture[i].hidden && !r->picture[j].hidden &&
                     r->picture[j].frame > r->picture[i].frame;
        most = later > most ? later : most;
    }
    return most;
}

TEST(random_plans)
{
    for (uint64_t seed = 0; seed < 3000; seed++) {
        struct dice d = {.state = seed};
        struct film_shape shape = random_shape(&d);
        shape.lead_in = shape.edited = 0;
        struct random_film f = random_film_make(&shape, &d);
        struct codec_traits t = codec_traits(shape.stream);
        size_t begin = (size_t)roll(&d, f.count), end;
        while (f.picture[begin].rap == RAP_NONE)
            begin--;
        for (end = begin + 1 + (size_t)roll(&d, f.count - begin);
             end < f.count && f.picture[end].rap == RAP_NONE; end++)
            continue;
        struct chunk *r = slice(&f, begin, end, &d);
        chunk_plan(r, &t, false);
        check_plan(&f, r, &t);
        assert_int_equal(chunk_reorder_depth(r), naive_reorder(r));
        chunk_free(&r);
        random_film_free(&f);
    }
}

TEST(reorder)
{
    static const uint64_t display[] = {0, 4, 2, 1, 3, 8, 6, 5, 7}; /* a pyramid */
    struct picture p[9];
    struct chunk r = {.picture = p, .count = 9};
    for (size_t i = 0; i < 9; i++)
        p[i] = (struct picture){.frame = display[i]};
    assert_int_equal(chunk_reorder_depth(&r), 2);
    p[2].hidden = true; /* what is not displayed delays nothing */
    p[6].hidden = true;
    assert_int_equal(chunk_reorder_depth(&r), 1);
    r.count = 1;
    assert_int_equal(chunk_reorder_depth(&r), 0);
    r.count = 0;
    assert_int_equal(chunk_reorder_depth(&r), 0);
}

TEST(order_of_what_comes_out)
{
    struct codec_traits reorders = codec_traits(STREAM_H264), does_not = codec_traits(STREAM_VP9);
    struct chunk_order o = {0};
    struct picture p = {.frame = 4}, hidden = {.frame = 1, .hidden = true},
                   staged = {.frame = 2, .done = true}, late = {.frame = 3};
    chunk_order_check(&o, &reorders, &p);
    chunk_order_check(&o, &reorders, &p);
    chunk_order_check(&o, &reorders, &hidden);
    chunk_order_check(&o, &reorders, &staged);
    chunk_order_check(&o, &does_not, &late);
    assert_true(o.last == 4 && !o.wrong);
    chunk_order_check(&o, &reorders, &late);
    assert_true(o.last == 4 && o.wrong);
    p.frame = 9;
    chunk_order_check(&o, &reorders, &p);
    assert_true(o.last == 9 && o.wrong); /* for good */
}

/* Only a sound run of some length, of which nothing is guessed. */
TEST(which_may_have_threads)
{
    struct picture p[20] = {{.rap = RAP_CLOSED}};
    struct chunk r = {.picture = p, .count = 20};
    assert_true(chunk_may_use_threads(&r));
    p[0].after_gap = true; /* before the chunk, of which it needs nothing */
    assert_true(chunk_may_use_threads(&r));
    p[7].after_gap = true;
    assert_false(chunk_may_use_threads(&r));
    p[7].after_gap = false;
    bool *const wrong[] = {&p[19].lost, &p[7].suspect, &p[0].field, &r.unsure};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        *wrong[i] = true;
        assert_false(chunk_may_use_threads(&r));
        *wrong[i] = false;
    }
    assert_true(chunk_may_use_threads(&r));
    r.count = 2;
    assert_false(chunk_may_use_threads(&r));
}

/* ---- key frames ---- */

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
