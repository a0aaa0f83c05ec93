#include <time.h>

#include "test.h"
#include "base/film_id.h"
#include "plan/options_fingerprint.h"
#include "plan/update.h"
#include "outputs_asked.h"

enum { COLUMNS = 3, WIDTH = 4, HEIGHT = 2 };

/* A picture as a run of these options makes it of the film. */
static void make_picture(const struct plan *o, const char *film_path, const char *writer,
                         const char *path)
{
    struct err e = ERR_INIT;
    struct film film = {.path = (char *)film_path};
    struct columns *c = columns_open(1, 0, &e);
    for (uint64_t i = 0; i < COLUMNS; i++) {
        struct column *column = columns_at(c, i, &e);
        column->status = COLUMN_OK;
        column->clusters = 1;
        column->cluster[0] = (struct cluster){{1, 2, 3}, WIDTH * HEIGHT};
    }
    struct report r = {
        .film = &film,
        .picture.height = 5,
        .analysis.kmeans = o->kmeans,
        .columns = c,
        .count = COLUMNS,
        .analysis.width = WIDTH,
        .analysis.height = HEIGHT,
        .analysis.selection = {.kind = SELECT_EVERY, .every = 1, .end_us = INT64_MAX}};
    struct strips strips = {o->picture.strip, o->picture.strips};
    options_fingerprint(o, writer_find(writer), strips, r.id.fingerprint);
    assert_true(film_id_of(film_path, NULL, r.id.film_id, &e));
    assert_true(writer_save(writer_find(writer), &r, strips, path, &e));
    columns_free(&c);
}

static void put_dump(const char *path, size_t bytes)
{
    static const char zeros[256];
    put(path, zeros, bytes);
}

/* Sets when a file was written to, in seconds from now. */
static void set_time(const char *path, int seconds)
{
    struct timespec now, both[2];
    clock_gettime(CLOCK_REALTIME, &now);
    now.tv_sec += seconds;
    both[0] = both[1] = now;
    assert_int_equal(utimensat(AT_FDCWD, path, both, 0), 0);
}

/* Whether the one film is left out. */
static bool left_out(const struct plan *o)
{
    struct inputs in;
    struct err e = ERR_INIT;
    assert_true(inputs_expand(&o->inputs, &o->outputs, &in, &e) && update_leave_out(o, &in, &e));
    bool out = in.duty[0] == INPUT_LEFT_OUT;
    assert_int_equal(inputs_is_due(&in, 0), !out);
    inputs_free(&in);
    return out;
}

TEST_WITH(what_is_there_is_left_out, enter, leave)
{
    static char film[] = "film.mkv", *words[] = {film};
    struct plan o = options_for(words, 1);
    o.outputs.update = true;
    put(film, "film", 4);
    assert_false(left_out(&o));
    make_picture(&o, film, "png", "film.png");
    assert_true(left_out(&o));
    o.outputs.update = false;
    assert_false(left_out(&o));
    o.outputs.update = true;
    o.picture.height = 7;
    assert_false(left_out(&o));
    o.picture.height = 0;
    put(film, "other", 5);
    set_time(film, -100);
    assert_false(left_out(&o));
    put(film, "film", 4);
    set_time(film, -100);
    assert_true(left_out(&o));
    set_time("film.png", -200);
    assert_false(left_out(&o));
    set_time(film, 1000); /* says nothing */
    assert_true(left_out(&o));
    put("film.png", "\x89PNG\r\n\x1a\n", 8);
    assert_false(left_out(&o));
    /* What has no name cannot be known again. */
    remove("film.png");
    mkfifo("film.png", 0600);
    assert_false(left_out(&o));
    o.outputs.path = "-";
    assert_false(left_out(&o));
}

TEST_WITH(all_outputs_count, enter, leave)
{
    static char film[] = "film.mkv", *words[] = {film};
    struct plan o = options_for(words, 1);
    o.outputs.update = true;
    o.outputs.dump = "d/";
    mkdir("d", 0777);
    o.outputs.path = "film.png";
    extra(&o, "json", "film.json");
    put(film, "film", 4);
    make_picture(&o, film, "png", "film.png");
    make_picture(&o, film, "json", "film.json");
    assert_false(left_out(&o));
    put_dump("d/film.rgb", COLUMNS * WIDTH * HEIGHT * 3);
    assert_true(left_out(&o));
    put_dump("d/film.rgb", COLUMNS * WIDTH * HEIGHT * 3 - 1);
    assert_false(left_out(&o));
    put_dump("d/film.rgb", COLUMNS * WIDTH * HEIGHT * 3);
    set_time(film, -100);
    set_time("d/film.rgb", -200);
    assert_false(left_out(&o));
    set_time("d/film.rgb", 0);
    remove("film.json");
    assert_false(left_out(&o));
    extra(&o, "bench", "film.bench"); /* which says nothing of the film's identity */
    put("film.bench", "{}", 2);
    assert_false(left_out(&o));
}

/* A dump may be replaced where the picture beside it says whose it is, and with --update alone. */
TEST_WITH(whose_dump_it_is, enter, leave)
{
    static char film[] = "film.mkv", *words[] = {film};
    struct plan o = options_for(words, 1);
    struct inputs in;
    struct err e = ERR_INIT;
    o.outputs.dump = "d/";
    mkdir("d", 0777);
    put(film, "film", 4);
    put_dump("d/film.rgb", COLUMNS * WIDTH * HEIGHT * 3);
    assert_true(inputs_expand(&o.inputs, &o.outputs, &in, &e));
    expect_problem(&o, &in, 0, ERR_FAILED, "a dump does not name its film");
    o.outputs.update = true;
    expect_problem(&o, &in, 0, ERR_FAILED, "a dump does not name its film");
    make_picture(&o, film, "png", "film.png");
    expect_allowed(&o, &in);
    o.outputs.update = false;
    expect_problem(&o, &in, 0, ERR_FAILED, "a dump does not name its film");
    o.outputs.update = true;
    put_dump("d/film.rgb", 5);
    expect_problem(&o, &in, 0, ERR_FAILED, "a dump does not name its film");
    /* JSON knows as well. */
    put_dump("d/film.rgb", COLUMNS * WIDTH * HEIGHT * 3);
    extra(&o, "json", "d");
    expect_problem(&o, &in, 0, ERR_FAILED, "a dump does not name its film");
    make_picture(&o, film, "json", "d/film.json");
    expect_allowed(&o, &in);
    assert_true(left_out(&o));
    put_dump("d/film.rgb", 5);
    expect_problem(&o, &in, 0, ERR_FAILED, "a dump does not name its film");
    inputs_free(&in);
}
