
#include "test.h"
#include "media/gop/chunker.h"
#include "../fuzz/random_film.h"

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
