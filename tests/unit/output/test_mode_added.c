/*
 * A strip that is not in the table, as somebody would add it: all of it stands here, and the
 * painter, the labels and the PNG take it as it is. It has everything that an entry may have:
 * needs, a state, rows that differ.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "output/poster/poster.h"
#include "output/writer.h"
#include "output/modes/render_line.h"
#include "strips.h"

/* ------------------------------------------------------------------ mode_least.c */

static int opened;

static void least_note(const struct report *r, char *out, size_t size)
{
    snprintf(out, size, "smallest of %d clusters", r->analysis.kmeans.k);
}

struct least {
    int divisor;      /* of this row's light */
    uint8_t choice[]; /* which cluster each column shows, chosen for all before the first row */
};

static bool least_open(struct strip *s, struct err *e)
{
    struct least *least = calloc(1, sizeof *least + s->report->count);
    if (!least)
        return err_memory(e, sizeof *least + s->report->count);
    for (uint64_t i = 0; i < s->report->count; i++) {
        const struct column *c = columns_get(s->report->columns, i);
        if (strip_shows(s, c))
            least->choice[i] = (uint8_t)(c->clusters - 1);
    }
    s->state = least;
    opened++;
    return true;
}

static void least_row(struct strip *s)
{
    struct least *least = s->state;
    least->divisor = 2 * s->y < s->height ? 1 : 2;
}

static void least_pixel(struct strip *s, uint64_t i, const struct column *c, uint8_t rgb[3])
{
    const struct least *least = s->state;
    for (int k = 0; k < 3; k++)
        rgb[k] = (uint8_t)(c->cluster[least->choice[i]].rgb[k] / least->divisor);
}

static const struct strip_kind strip_least = {.name = "least",
                                              .title = "the least",
                                              .needs = STRIP_CLUSTERS,
                                              .note = least_note,
                                              .open = least_open,
                                              .row = least_row,
                                              .pixel = least_pixel};

/* ------------------------------------------------------------------ its tests */

enum { COUNT = 4, HEIGHT = 40 };

static const struct strip_kind *const only_it[] = {&strip_least};
static const struct strips it_alone = {only_it, 1};
static const struct strip_kind *table[STRIPS_MOST + 1]; /* as it would be */
static struct strips all = {table, 0};

static struct film film;
static struct report report;
static struct columns *columns;

static int set_up(void **state)
{
    (void)state;
    static char path[] = "/films/a.mkv";
    struct err e = ERR_INIT;
    columns = columns_open(3, 2, &e);
    for (uint64_t i = 0; i < COUNT; i++) {
        struct column *c = columns_at(columns, i, &e);
        c->status = i == 1 ? COLUMN_MISSING : COLUMN_OK;
        c->clusters = 2;
        c->cluster[0] = (struct cluster){{200, 200, 200}, 9};
        c->cluster[1] = (struct cluster){{(uint8_t)(20 * (i + 1)), 40, 60}, 3};
    }
    film = (struct film){.path = path};
    report = (struct report){
        .film = &film,
        .analysis.needs = STRIP_CLUSTERS | STRIP_ROWS,
        .analysis.kmeans = {2, 1, 1, INIT_RANDOM, 7, false},
        .analysis.width = 16,
        .analysis.height = 2,
        .picture.height = HEIGHT,
        .columns = columns,
        .count = COUNT,
        .analysis.selection = {.kind = SELECT_EVERY, .every = 24, .end_us = INT64_MAX}};
    all.count = strips_all().count;
    memcpy(table, strip_table, all.count * sizeof *table);
    table[all.count++] = &strip_least;
    opened = 0;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    columns_free(&columns);
    return 0;
}

/* The missing column is its neighbour's colour; the lower half is half as light. */
TEST_WITH(is_painted_alone, set_up, tear_down)
{
    struct err e = ERR_INIT;
    struct painter *p = painter_open(&report, it_alone, &e);
    assert_non_null(p);
    assert_int_equal(painter_width(p), COUNT);
    assert_int_equal(painter_height(p), HEIGHT);
    static const uint8_t red[COUNT] = {20, 20, 60, 80};
    for (int y = HEIGHT - 1; y >= 0; y--) {
        uint8_t rgb[COUNT * 3];
        assert_true(painter_row(p, y, rgb, NULL));
        for (int x = 0; x < COUNT; x++)
            assert_int_equal(rgb[x * 3], red[x] / (y < HEIGHT / 2 ? 1 : 2));
    }
    painter_free(&p);
    assert_int_equal(opened, 1);
}

TEST_WITH(is_fitted_to_the_width, set_up, tear_down)
{
    struct err e = ERR_INIT;
    report.picture.width = 2;
    struct painter *p = painter_open(&report, it_alone, &e);
    uint8_t rgb[6];
    assert_true(painter_row(p, 0, rgb, NULL));
    assert_int_equal(rgb[0], 20);
    assert_int_equal(rgb[3], 70);
    painter_free(&p);
}

/* One strip more than the table has, and their labels; the last strip is the one alone at this
 * width. */
TEST_WITH(is_stacked_below_the_others, set_up, tear_down)
{
    struct err e = ERR_INIT;
    char name[STRIPS_NAME];
    strips_name(all, name);
    assert_string_equal(name, "kmeans+dominant+palette+average+squeeze+least");
    struct painter *p = painter_open(&report, all, &e);
    assert_non_null(p);
    int n = (int)all.count, width = painter_width(p), height = painter_height(p),
        bar = (height - n * HEIGHT) / (n + 2);
    assert_int_equal(height, n * HEIGHT + (n + 2) * bar);
    report.picture.width = width;
    struct painter *one = painter_open(&report, it_alone, &e);
    uint8_t *a = malloc((size_t)width * 3), *b = malloc((size_t)width * 3);
    for (int y = 0; y < HEIGHT; y++) {
        assert_true(painter_row(p, height - bar - HEIGHT + y, a, NULL));
        assert_true(painter_row(one, y, b, NULL));
        assert_memory_equal(a, b, (size_t)width * 3);
    }
    bool text = false;
    for (int y = height - HEIGHT - 2 * bar; y < height - HEIGHT - bar; y++) {
        assert_true(painter_row(p, y, a, NULL));
        for (int x = 0; x < width; x++)
            text |= a[x * 3] > 0x80;
    }
    assert_true(text);
    free(a);
    free(b);
    painter_free(&one);
    painter_free(&p);
}

/* The PNG as bytes; the caller frees. */
static char *png_of(struct strips strips, size_t *size)
{
    struct err e = ERR_INIT;
    char *bytes = NULL;
    FILE *f = open_memstream(&bytes, size);
    assert_true(writer_find("png")->write(&report, strips, f, &e));
    fclose(f);
    return bytes;
}

static void expect_text(const char *bytes, size_t size, const char *key, const char *value)
{
    char text[300];
    size_t length = (size_t)snprintf(text, sizeof text, "%s%c%s", key, 0, value);
    if (!memmem(bytes, size, text, length))
        fail_msg("no '%s' of '%s'", key, value);
}

TEST_WITH(is_written_as_png, set_up, tear_down)
{
    size_t size;
    char *bytes = png_of(it_alone, &size);
    expect_text(bytes, size, "barcode:mode", "least");
    expect_text(bytes, size, "Description",
                "the least (smallest of 2 clusters) of 'a.mkv': every 24th frame, 4 columns");
    expect_text(bytes, size, "barcode:k", "2"); /* it needs clusters */
    free(bytes);
    static const char closing[] = " and the least of 'a.mkv': every 24th frame, 4 columns";
    bytes = png_of(all, &size);
    expect_text(bytes, size, "barcode:mode", "kmeans+dominant+palette+average+squeeze+least");
    assert_non_null(memmem(bytes, size, closing, strlen(closing)));
    free(bytes);
}

/* What it needs is not there: a sentence with its name. */
TEST_WITH(says_what_it_lacks, set_up, tear_down)
{
    struct err e = ERR_INIT;
    for (uint64_t i = 0; i < COUNT; i++)
        columns_at(columns, i, &e)->clusters = 0;
    assert_null(painter_open(&report, it_alone, &e));
    assert_string_equal(e.text, "no column has a frame for the mode 'least'");
    assert_int_equal(opened, 0);
}
