#include <dirent.h>
#include <pthread.h>

#include "test.h"
#include "cached.h"

enum { W = 32, H = 20, PUTTERS = 4, FRAMES = 300 };

static struct cache_writer *open_writer(void)
{
    struct cache_writer *w = cache_writer_open(".", "a=1\n", W, H, 3, UINT64_MAX, NULL);
    assert_non_null(w);
    return w;
}

/* Files in the folder, temporaries included. */
static int files(void)
{
    DIR *d = opendir(".");
    int n = 0;
    for (struct dirent *e; (e = readdir(d));)
        n += e->d_name[0] != '.' ||
             strncmp(e->d_name, CACHE_TEMP_START, strlen(CACHE_TEMP_START)) == 0;
    closedir(d);
    return n;
}

static void put_column(struct cache_writer *w, uint64_t column)
{
    static _Thread_local uint8_t rgb[W * H * 3];
    struct frame_tag tag = staged_tag(column);
    staged_draw(rgb, W, H, tag.frame);
    cache_writer_put(w, &tag, rgb);
}

struct putter {
    struct cache_writer *writer;
    pthread_t thread;
    uint64_t first;
};

static void *put_some(void *argument)
{
    struct putter *p = argument;
    for (uint64_t i = p->first; i < FRAMES; i += PUTTERS)
        put_column(p->writer, FRAMES - 1 - i);
    return NULL;
}

TEST(many_threads)
{
    struct putter p[PUTTERS];
    struct cache_writer *w = open_writer();
    for (uint64_t i = 0; i < PUTTERS; i++) {
        p[i] = (struct putter){.writer = w, .first = i};
        assert_int_equal(pthread_create(&p[i].thread, NULL, put_some, &p[i]), 0);
    }
    for (int i = 0; i < PUTTERS; i++)
        pthread_join(p[i].thread, NULL);
    struct cache_index facts = {.counts = {.last_us = -1}};
    assert_true(cache_writer_finish(&w, &facts, NULL, "many", NULL));
    assert_null(w);
    enum entry_state got;
    struct cache_entry *c = cache_entry_open("many", &got, NULL);
    assert_non_null(c);
    assert_int_equal(c->index.frames, FRAMES);
    for (uint64_t i = 0; i < FRAMES; i++)
        assert_int_equal(c->index.frame[i].tag.column, i);
    assert_true(cached_frames_right(c));
    cache_entry_close(&c);
    unlink("many");
    assert_int_equal(files(), 0);
}

/* An interrupted run's frames and the ones of the run before it, each once. */
TEST(joins_an_older_entry)
{
    struct cached_film f = {.frames = 200,
                            .every = 3,
                            .width = W,
                            .height = H,
                            .partial = true,
                            .first = 0,
                            .last = 90};
    enum entry_state got;
    struct cache_index facts = {.partial = true, .counts = {.last_us = -1}};
    assert_true(cached_write(&f, NULL));
    struct cache_key key = cached_key(&f);
    struct cache_entry *older = cache_entry_open(key.name, &got, NULL);
    assert_non_null(older);
    assert_int_equal(older->index.frames, 30);
    struct cache_writer *w = cache_writer_open(".", key.text, W, H, 1, UINT64_MAX, NULL);
    uint8_t rgb[W * H * 3];
    for (uint64_t i = 20; i < 50; i++) {
        struct frame_tag tag = {
            .column = i, .repeat = 1, .frame = 3 * i, .time_us = (int64_t)i * 120000};
        staged_draw(rgb, W, H, tag.frame);
        cache_writer_put(w, &tag, rgb);
    }
    assert_true(cache_writer_add(w, older, NULL));
    assert_true(cache_writer_finish(&w, &facts, NULL, key.name, NULL));
    cache_entry_close(&older);
    struct cache_entry *c = cache_entry_open(key.name, &got, NULL);
    assert_non_null(c);
    assert_true(c->index.partial);
    assert_int_equal(c->index.frames, 50);
    assert_true(cached_frames_right(c));
    cache_entry_close(&c);
    unlink(key.name);
}

TEST(folder_goes_away)
{
    struct cache_index facts = {.counts = {.last_us = -1}};
    struct err e = ERR_INIT;
    assert_int_equal(mkdir("c", 0700), 0);
    struct cache_writer *w = cache_writer_open("c", "a=1\n", W, H, 3, UINT64_MAX, &e);
    put_column(w, 1);
    assert_int_equal(rename("c", "away"), 0);
    assert_false(cache_writer_finish(&w, &facts, NULL, "x", &e));
    assert_int_equal(e.code, ERR_FAILED);
    err_clear(&e);
    assert_null(cache_writer_open("c", "a=1\n", W, H, 1, UINT64_MAX, &e));
    assert_non_null(strstr(e.text, "No such file"));
    assert_int_equal(system("rm -r away"), 0);
}

TEST(discarding)
{
    struct cache_writer *w = open_writer();
    for (uint64_t i = 0; i < 10; i++)
        put_column(w, i);
    assert_int_equal(files(), 1);
    cache_writer_discard(&w);
    cache_writer_discard(&w);
    assert_int_equal(files(), 0);
    /* Nothing at all is an entry too: of a film without a picture. */
    struct cache_index facts = {.counts = {.last_us = -1}};
    w = open_writer();
    assert_true(cache_writer_finish(&w, &facts, NULL, "none", NULL));
    unlink("none");
}

TEST_FIXTURE(enter, leave)
