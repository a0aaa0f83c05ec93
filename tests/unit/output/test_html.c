#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "output/writer.h"
#include "output/html/html_template.h"
#include "shots/shots.h"
#include "strips.h"

static struct film film;
static struct report report;
static char path[] = "/films/<script>alert(1)</script>&\"\xff.mkv";
/* what comes after the last slash, as UTF-8 */
static const char *name = "script>&\"\xef\xbf\xbd.mkv";

enum { K = 3 };

static void scene(uint64_t count)
{
    struct err e = ERR_INIT;
    struct columns *c = columns_open(K, 4, &e);
    for (uint64_t i = 0; i < count; i++) {
        struct column *column = columns_at(c, i, &e);
        column->frame = i * 24;
        column->time_us = (int64_t)i * 1001000;
        if (i % 8 == 3)
            continue;
        column->status = i % 8 == 5 ? COLUMN_DAMAGED : COLUMN_OK;
        memcpy(column->average, (const uint8_t[]){(uint8_t)i, 2, 255}, 3);
        memcpy(column->dominant, (const uint8_t[]){9, (uint8_t)i, 7}, 3);
        column->clusters = i % 2 == 0 ? 2 : K;
        column->chosen = 1;
        for (int k = 0; k < column->clusters; k++)
            column->cluster[k] =
                (struct cluster){{(uint8_t)i, (uint8_t)(k * 100), 30}, k == 0 ? 60 : 20};
        memset(column->row, (int)(i & 255), 12);
    }
    film = (struct film){.path = path,
                         .title = "</script><b>",
                         .container = "matroska,webm",
                         .codec = "h264",
                         .pixel_format = "yuv420p",
                         .videos = 1,
                         .width = 1920,
                         .height = 1080,
                         .rate_num = 24,
                         .rate_den = 1,
                         .length.duration_us = 60000000,
                         .length.frames = -1};
    report = (struct report){
        .film = &film,
        .id.film_id = "7-0123456789abcdef0123456789abcdef",
        .id.fingerprint = "definition=5.1 mode=kmeans",
        .analysis.needs = STRIP_CLUSTERS,
        .picture.width = 5,
        .picture.height = 360,
        .analysis.kmeans = {K, 20, 300, INIT_SCALABLE, 77, true},
        .columns = c,
        .count = count,
        .analysis.width = 320,
        .analysis.height = 4,
        .missing = count / 8,
        .run.engine = "cpu",
        .run.decode = "cpu",
        .run.isa = "avx2",
        .run.cache = "hit",
        .run.threads = 4,
        .media.palette = {2, {{{200, 90, 40}, FILM_PALETTE_PIXELS - 1000}, {{10, 20, 30}, 1000}}},
        .analysis.selection = {.kind = SELECT_EVERY, .every = 24, .end_us = INT64_MAX}};
}

static char *page_of(struct strips strips)
{
    size_t size;
    return written("html", &report, strips, &size);
}

static json_t *json_of(const char *html, const char *id)
{
    size_t length;
    const char *text = page_find_json(html, strlen(html), id, &length);
    assert_non_null(text);
    json_t *value = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(value);
    return value;
}

/* Decodes base64 up to the end of its string or element; *count gets its bytes. The caller frees.
 */
static uint8_t *decoded(const char *at, size_t *count)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint8_t *out = malloc(strlen(at) + 1);
    uint32_t bits = 0;
    int held = 0;
    *count = 0;
    for (; *at && *at != '<' && *at != '='; at++) {
        bits = bits << 6 | (uint32_t)(strchr(digits, *at) - digits);
        held += 6;
        if (held >= 8)
            out[(*count)++] = (uint8_t)(bits >> (held -= 8));
    }
    return out;
}

/* Decodes the element of this id; *count gets its bytes. The caller frees. */
static uint8_t *array_of(const char *html, const char *id, size_t *count)
{
    char word[80];
    snprintf(word, sizeof word, "<script type=\"text/plain\" id=\"%s\">", id);
    const char *at = strstr(html, word);
    assert_non_null(at);
    return decoded(at + strlen(word), count);
}

static uint32_t u32(const uint8_t *b)
{
    return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

TEST(test_columns_come_back)
{
    size_t count;
    scene(20);
    char *html = page_of(alone("kmeans"));
    uint8_t *times = array_of(html, "times", &count);
    assert_int_equal(count, 20 * 4);
    uint8_t *frames = array_of(html, "frames", &count);
    uint8_t *states = array_of(html, "states", &count);
    assert_int_equal(count, 20 * 3);
    uint8_t *means = array_of(html, "means", &count);
    assert_int_equal(count, 20 * 3);
    uint8_t *clusters = array_of(html, "clusters", &count);
    assert_int_equal(count, 20 * K * 5);
    for (uint32_t i = 0; i < 20; i++) {
        const struct column *c = columns_get(report.columns, i);
        assert_int_equal(u32(times + 4 * i), i * 1001);
        assert_int_equal(u32(frames + 4 * i), i * 24);
        assert_int_equal(states[3 * i], c->status);
        assert_int_equal(states[3 * i + 1], c->status == COLUMN_MISSING ? 0 : c->clusters);
        assert_int_equal(states[3 * i + 2], c->chosen);
        assert_memory_equal(means + 3 * i, c->average, 3);
        unsigned total = 0;
        for (int k = 0; k < states[3 * i + 1]; k++) {
            const uint8_t *one = clusters + (i * K + (unsigned)k) * 5;
            assert_memory_equal(one, c->cluster[k].rgb, 3);
            total += one[3] | (unsigned)one[4] << 8;
        }
        assert_true(c->status == COLUMN_MISSING ? total == 0
                                                : total + 2 >= 65535 && total <= 65537);
    }
    assert_int_equal(clusters[3] | clusters[4] << 8, (65535 * 60 + 40) / 80);
    free(times), free(frames), free(states), free(means), free(clusters), free(html);
    free_columns(&report);
}

TEST(test_names_are_data)
{
    scene(9);
    char *html = page_of(alone("kmeans"));
    json_t *facts = json_of(html, "film"), *card = json_of(html, "card");
    assert_string_equal(json_string_value(json_object_get(json_object_get(facts, "film"), "name")),
                        name);
    assert_string_equal(json_string_value(json_object_get(json_object_get(facts, "film"), "title")),
                        "</script><b>");
    assert_string_equal(json_string_value(json_object_get(card, "name")), name);
    assert_string_equal(json_string_value(json_object_get(card, "title")), "</script><b>");
    assert_null(strstr(html, "alert"));
    assert_null(strstr(html, "script>&"));
    /* one of nine is missing */
    assert_int_equal(json_array_size(json_object_get(json_object_get(card, "moments"), "times")),
                     8);
    assert_int_equal(json_array_size(json_object_get(card, "palette")), 2);
    assert_float_equal(json_real_value(json_object_get(card, "length")), 60, 1e-9);
    json_decref(facts);
    json_decref(card);
    free(html);
    free_columns(&report);
}

/* What a page says of its film and run, whatever the image of the same run is. */
TEST(test_facts)
{
    scene(9);
    report.analysis.selection.start_us = 5500000;
    report.analysis.selection.end_us = 50000000;
    report.analysis.crop =
        (struct crop){1920, 1080, 2, false, {{0, 140, 1920, 800}, {0, 20, 1920, 1040}}};
    char *html = page_of(alone("kmeans"));
    json_t *facts = json_of(html, "film"), *run = json_object_get(facts, "run");
    const char *crop = json_string_value(json_object_get(json_object_get(facts, "film"), "crop"));
    assert_string_equal(crop, "1920:800:0:140 1920:1040:0:20");
    assert_float_equal(json_real_value(json_object_get(run, "start")), 5.5, 1e-9);
    assert_float_equal(json_real_value(json_object_get(run, "end")), 50, 1e-9);
    json_decref(facts);
    report.picture.shape = SHAPE_RING;
    report.poster.wanted = true;
    report.poster.page = (struct paper){.given = true, .pixels = true, .width = 400, .height = 300};
    char *other = page_of(alone("kmeans"));
    assert_string_equal(html, other);
    free(html), free(other);
    free_columns(&report);
}

/* A card lies where galleries look, whatever the film. */
TEST(test_card_is_near)
{
    scene(PAGE_COLUMNS);
    memset(report.id.fingerprint, 'x', sizeof report.id.fingerprint - 1);
    char *html = page_of(stacked());
    const char *end = strstr(html, "</script>");
    assert_true(end && end - html < 16384);
    free(html);
    free_columns(&report);
}

TEST(test_told)
{
    const struct writer *w = writer_find("html");
    struct writer_metadata metadata = {.columns = 0};
    char shown[FILM_ID_TEXT] = "";
    scene(9);
    report.id.partial = true;
    char *html = page_of(alone("average"));
    FILE *f = fmemopen(html, strlen(html), "rb");
    assert_true(w->read_metadata(f, &metadata));
    fclose(f);
    assert_string_equal(metadata.film, report.id.film_id);
    assert_string_equal(metadata.fingerprint, report.id.fingerprint);
    assert_true(metadata.partial && metadata.columns == 9 && metadata.width == 320 &&
                metadata.height == 4);
    assert_true(w->recognizes((const uint8_t *)html, WRITER_HEAD, shown));
    assert_string_equal(shown, report.id.film_id);
    f = fmemopen(html, strlen(html) - 2, "rb");
    assert_false(w->read_metadata(f, &metadata));
    fclose(f);
    assert_false(w->recognizes((const uint8_t *)"<!DOCTYPE html>\n<html>", 22, shown));
    free(html);
    /* Of a pipe. */
    report.id.film_id[0] = 0;
    html = page_of(alone("average"));
    shown[0] = 0;
    assert_true(w->recognizes((const uint8_t *)html, WRITER_HEAD, shown));
    assert_string_equal(shown, "");
    free(html);
    free_columns(&report);
}

/* The longest of all fingerprints and ids is in what writer_made reads. */
TEST(test_head_has_room)
{
    char shown[FILM_ID_TEXT] = "";
    scene(2);
    memset(report.id.fingerprint, 'x', sizeof report.id.fingerprint - 1);
    memset(report.id.film_id, '1', sizeof report.id.film_id - 1);
    char *html = page_of(alone("average"));
    assert_true(writer_find("html")->recognizes((const uint8_t *)html, WRITER_HEAD, shown));
    assert_string_equal(shown, report.id.film_id);
    assert_true(strstr(html, "name=\"barcode:columns\"") - html < WRITER_HEAD);
    free(html);
    free_columns(&report);
}

TEST(test_modes)
{
    scene(12);
    report.analysis.needs = STRIP_CLUSTERS | STRIP_ROWS | STRIP_DOMINANT;
    char *html = page_of(stacked());
    json_t *facts = json_of(html, "film");
    assert_int_equal(json_array_size(json_object_get(facts, "modes")), strips_all().count);
    for (size_t i = 0; i < strips_all().count; i++) {
        char word[80];
        snprintf(word, sizeof word, "data-mode=\"%s\"", strip_table[i]->name);
        assert_non_null(strstr(html, word));
    }
    assert_true(json_is_true(json_object_get(facts, "dominant")) &&
                json_is_null(json_object_get(facts, "thumbnails")));
    size_t count;
    uint8_t *means = array_of(html, "means", &count);
    assert_int_equal(count, 12 * 6);
    assert_memory_equal(means + 6 * 4 + 3, columns_get(report.columns, 4)->dominant, 3);
    free(means), free(html);
    json_decref(facts);
    free_columns(&report);
}

/* More columns than a page has: those under the middle of each of the page's. */
TEST(test_many_columns)
{
    size_t count;
    scene(PAGE_COLUMNS * 3);
    char *html = page_of(alone("kmeans"));
    uint8_t *frames = array_of(html, "frames", &count);
    assert_int_equal(count, PAGE_COLUMNS * 4);
    assert_int_equal(u32(frames), 24);
    assert_int_equal(u32(frames + 4 * (PAGE_COLUMNS - 1)), (PAGE_COLUMNS * 3 - 2) * 24);
    json_t *facts = json_of(html, "film");
    assert_int_equal(json_integer_value(json_object_get(facts, "columns")), PAGE_COLUMNS);
    assert_int_equal(json_integer_value(json_object_get(facts, "film_columns")), PAGE_COLUMNS * 3);
    json_decref(facts);
    free(frames), free(html);
    free_columns(&report);
}

/* Expects seven values of a shot on the page. */
static void expect_shot(const uint8_t *bytes, size_t i, const uint32_t value[7])
{
    for (size_t k = 0; k < 7; k++)
        assert_int_equal(u32(bytes + 4 * (7 * i + k)), value[k]);
}

/* Marks are in 1/256 of the page's columns, whatever these are. */
TEST(test_shots)
{
    struct shot shot[] = {{.frame = 0, .frames = 60, .end_us = 2502500},
                          {60, 120, 2502500, 7507500, SHOT_DISSOLVE, 24, {0}},
                          {180, 12, 7507500, 8008000, SHOT_FADE, 1000, {0}}};
    const struct shots shots = {shot, 3};
    size_t count;
    scene(8);
    char *html = page_of(alone("average"));
    assert_null(strstr(html, "id=\"shots\""));
    free(html);
    report.media.shots = &shots;
    html = page_of(alone("average"));
    uint8_t *bytes = array_of(html, "shots", &count);
    assert_int_equal(count, 3 * 7 * 4);
    expect_shot(bytes, 0, (const uint32_t[]){0, 0, 0, 0, 0, 60, SHOT_CUT});
    expect_shot(bytes, 1, (const uint32_t[]){640, 512, 768, 2502, 60, 120, SHOT_DISSOLVE});
    expect_shot(bytes, 2, (const uint32_t[]){1920, 640, 2048, 7507, 180, 12, SHOT_FADE});
    json_t *facts = json_of(html, "film");
    assert_int_equal(json_integer_value(json_object_get(facts, "shots_end")), 8008);
    assert_null(json_object_get(facts, "by_shot"));
    json_decref(facts);
    free(bytes), free(html);
    free_columns(&report);
}

/* Columns that are shots: as wide as their time they become moments; otherwise they stay columns. */
TEST(test_columns_are_shots)
{
    struct err e = ERR_INIT;
    struct shot shot[] = {{.frame = 0, .frames = 25, .end_us = 1000000},
                          {25, 75, 1000000, 4000000, SHOT_CUT, 0, {0}}};
    const struct shots shots = {shot, 2};
    size_t count;
    scene(2);
    columns_at((struct columns *)report.columns, 1, &e)->time_us = 1000000;
    columns_at((struct columns *)report.columns, 1, &e)->frame = 25;
    report.media.shots = &shots;
    report.analysis.by_shot = true;
    char *html = page_of(alone("average"));
    uint8_t *times = array_of(html, "times", &count), *frames = array_of(html, "frames", &count);
    const uint32_t n = (uint32_t)count / 4;
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(u32(times + 4 * i), i * 4000 / n);
        assert_int_equal(u32(frames + 4 * i), i < n / 4 ? 0 : 25);
    }
    uint8_t *bytes = array_of(html, "shots", &count);
    expect_shot(bytes, 1, (const uint32_t[]){64 * n, 64 * n, 64 * n, 1000, 25, 75, SHOT_CUT});
    free(times), free(frames), free(bytes), free(html);
    report.picture.shots_equal = true;
    html = page_of(alone("average"));
    times = array_of(html, "times", &count);
    assert_int_equal(count, 8);
    assert_int_equal(u32(times + 4), 1000);
    bytes = array_of(html, "shots", &count);
    expect_shot(bytes, 1, (const uint32_t[]){256, 256, 256, 1000, 25, 75, SHOT_CUT});
    free(times), free(bytes), free(html);
    free_columns(&report);
}
