
#include "test.h"
#include "base/log.h"
#include "cache/source_cache.h"
#include "cached.h"
#include "synth.h"

static int begin(void **state)
{
    log_set_level(LOG_ERROR);
    return cached_begin(state);
}

static const struct cached_film usual = {.frames = 300, .every = 4, .width = 40, .height = 30};

struct result {
    struct columns *columns;
    struct decode_counts counts;
    struct err error;
    uint64_t frames;
    bool ok;
};

/* Stages the entry of `f` for the selection of `want`. */
static struct result decode_frames(const struct cached_film *f, const struct cached_film *want,
                                   enum cache_answer answer, int threads)
{
    struct result r = {.columns = columns_open(4, 0, NULL), .error = ERR_INIT};
    struct cache_key key = cached_key(f);
    enum entry_state got;
    struct cache_found found = {.answer = answer,
                                .entry = cache_entry_open(cached_path(key.name), &got, &r.error)};
    struct source *film = synth_open("40x30,300", NULL);
    struct source *s = source_cache_open(film, &found, NULL);
    struct engine_config config = {.threads = 2};
    struct engine *g = engine_open("cpu", &config, NULL);
    struct engine_job job = {.width = f->width,
                             .height = f->height,
                             .ports = threads,
                             .columns = r.columns,
                             .cluster = true,
                             .kmeans = {.k = 4, .n_init = 1, .max_iter = 10}};
    struct decode_job what = {
        .selection = cached_rule(want), .threads = threads, .engine = g, .columns = r.columns};
    struct engine_times engine_times;
    struct decode_times times = {0};
    struct decode_progress progress;
    struct err engine_error = ERR_INIT;
    assert_true(found.entry && film && s && g && engine_begin(g, &job, NULL));
    assert_string_equal(s->film.path, film->film.path);
    r.ok = source_decode(s, &what, &r.counts, &times, &r.error);
    source_progress(s, &progress);
    r.ok &= engine_finish(g, &engine_times, &engine_error);
    r.frames = source_cache_frames(s);
    assert_int_equal(r.counts.cache_failed, source_cache_broken(s)->code != ERR_NONE);
    engine_close(&g);
    source_close(&s);
    source_close(&film);
    cache_entry_close(&found.entry);
    return r;
}

/* What the columns must be: the frames themselves through an engine. */
static struct columns *expected(const struct cached_film *want)
{
    struct columns *columns = columns_open(4, 0, NULL);
    struct engine_config config = {.threads = 1};
    struct engine *g = engine_open("cpu", &config, NULL);
    struct engine_job job = {.width = want->width,
                             .height = want->height,
                             .ports = 1,
                             .columns = columns,
                             .cluster = true,
                             .kmeans = {.k = 4, .n_init = 1, .max_iter = 10}};
    assert_true(columns && g && engine_begin(g, &job, NULL));
    struct engine_port *port = engine_port_open(g, NULL);
    struct selection rule = cached_rule(want);
    struct selection_cursor c = selection_begin(&rule);
    uint8_t *rgb = malloc((size_t)want->width * (size_t)want->height * 3);
    for (uint64_t i = 0; i < want->frames; i++) {
        struct frame_tag tag = {.frame = i, .time_us = (int64_t)i * 40000};
        tag.repeat = selection_take(&c, tag.time_us, tag.time_us + 40000, &tag.column);
        if (tag.repeat == 0)
            continue;
        staged_draw(rgb, want->width, want->height, i);
        assert_true(engine_put_analysed(port, rgb, &tag, NULL));
    }
    free(rgb);
    engine_port_close(&port);
    struct engine_times times;
    assert_true(engine_finish(g, &times, NULL));
    engine_close(&g);
    return columns;
}

static void serves(const struct cached_film *f, const struct cached_film *want,
                   enum cache_answer answer)
{
    struct columns *right = expected(want);
    for (int threads = 1; threads <= 4; threads += 3) {
        struct result r = decode_frames(f, want, answer, threads);
        assert_true(r.ok);
        assert_false(r.counts.cache_failed);
        assert_int_equal(r.frames, columns_count(right));
        assert_int_equal(first_difference(r.columns, right, 0), -1);
        columns_free(&r.columns);
    }
    columns_free(&right);
}

TEST(another_selection)
{
    assert_true(cached_write(&usual, NULL));
    struct cached_film want = usual;
    for (want.every = 8; want.every <= 40; want.every += 4)
        serves(&usual, &want, CACHE_HIT_OTHER);
    want = usual;
    want.start_us = 1600000;
    want.end_us = 8000000;
    serves(&usual, &want, CACHE_HIT_OTHER);
    struct result r = decode_frames(&usual, &want, CACHE_HIT_OTHER, 1);
    assert_true(r.counts.displayed < 300 && r.counts.last_us >= want.end_us);
    columns_free(&r.columns);
    want.every = 3; /* nobody should ask; it must not invent */
    r = decode_frames(&usual, &want, CACHE_HIT_OTHER, 1);
    assert_false(r.ok);
    columns_free(&r.columns);
}

TEST(missing_columns_stay_missing)
{
    struct cached_film f = usual;
    f.first = 40;
    f.last = 200;
    assert_true(cached_write(&f, NULL));
    struct result r = decode_frames(&f, &f, CACHE_HIT, 2);
    assert_true(r.ok);
    assert_int_equal(columns_count(r.columns), 75);
    for (uint64_t i = 0; i < 75; i++) {
        const struct column *c = columns_get(r.columns, i);
        assert_int_equal(c->status, i >= 10 && i < 50 ? COLUMN_OK : COLUMN_MISSING);
        assert_true(c->frame == 4 * i && c->time_us == (int64_t)i * 160000);
    }
    columns_free(&r.columns);
}

/* A block that changed after the entry was opened, or before: told, and nothing of it is in a
 * column. */
TEST(a_damaged_block)
{
    struct cached_film f = usual;
    f.width = 320;
    f.height = 200;
    struct cache_key key = cached_key(&f);
    assert_true(cached_write(&f, NULL));
    FILE *file = fopen(cached_path(key.name), "r+b");
    assert_non_null(file);
    fseek(file, 200000, SEEK_SET);
    int byte = fgetc(file);
    fseek(file, 200000, SEEK_SET);
    fputc(byte ^ 1, file);
    fclose(file);
    struct result r = decode_frames(&f, &f, CACHE_HIT, 3);
    assert_true(r.ok && r.counts.cache_failed);
    struct columns *right = expected(&f);
    for (uint64_t i = 0; i < columns_count(r.columns); i++)
        if (columns_get(r.columns, i)->status != COLUMN_MISSING)
            assert_true(same_column(columns_get(r.columns, i), columns_get(right, i), 0));
    columns_free(&right);
    columns_free(&r.columns);
}

/* Where the film is read, what the film can; where it is not, nothing. A film that cannot spare
 * frames is decoded whole. */
TEST(abilities)
{
    static const struct source_ops able = {
        .name = "able", .can = SOURCE_HAS_FRAME_TIMES | SOURCE_SPARING | SOURCE_EXACT_DAMAGE};
    struct source film = {.ops = &able};
    for (enum cache_answer answer = CACHE_PARTIAL; answer <= CACHE_HIT_OTHER; answer++) {
        struct cache_found found = {.answer = answer};
        for (int exact_damage = 0; exact_damage < 2; exact_damage++) {
            film.lacks = exact_damage ? 0 : SOURCE_EXACT_DAMAGE;
            struct source *s = source_cache_open(&film, &found, NULL);
            assert_non_null(s);
            assert_int_equal(source_can(s, SOURCE_HAS_FRAME_TIMES), answer == CACHE_PARTIAL);
            assert_int_equal(source_can(s, SOURCE_EXACT_DAMAGE),
                             answer == CACHE_PARTIAL && exact_damage);
            assert_false(source_can(s, SOURCE_SPARING) || source_can(s, SOURCE_CACHEABLE) ||
                         source_can(s, SOURCE_RESTARTABLE));
            source_close(&s);
        }
    }
    assert_true(cached_write(&usual, NULL));
    /* beside a synthetic film, which spares nothing */
    struct result r = decode_frames(&usual, &usual, CACHE_PARTIAL, 2);
    assert_true(r.ok);
    assert_int_equal(r.frames, 0);
    assert_int_equal(columns_count(r.columns), 75);
    for (uint64_t i = 0; i < 75; i++)
        assert_int_equal(columns_get(r.columns, i)->status, COLUMN_OK);
    columns_free(&r.columns);
}

TEST_FIXTURE(begin, cached_end)
