#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "output/writer.h"
#include "strips.h"

static struct film film;
static struct report report;
static const char *mode; /* what is asked for: columns may hold more */
static char path[] = "/films/Am\xc3\xa9lie \xff \"x\"\n.mkv";

static void scene(uint64_t count)
{
    mode = "kmeans";
    struct err e = ERR_INIT;
    struct columns *c = columns_open(3, 0, &e);
    for (uint64_t i = 0; i < count; i++) {
        struct column *column = columns_at(c, i, &e);
        if (i == 2)
            continue;
        column->status = i == 3 ? COLUMN_DAMAGED : COLUMN_OK;
        column->frame = i * 24;
        column->time_us = (int64_t)i * 41667;
        memcpy(column->average, (const uint8_t[]){1, 2, 255}, 3);
        column->clusters = 2;
        column->cluster[0] = (struct cluster){{10, 20, 30}, 4000000000u};
        column->cluster[1] = (struct cluster){{(uint8_t)i, 0, 255}, 1};
    }
    film = (struct film){.path = path,
                         .container = "matroska,webm",
                         .codec = "h264",
                         .pixel_format = "yuv420p",
                         .videos = 1,
                         .width = 1920,
                         .height = 1080,
                         .coded_width = 1920,
                         .coded_height = 1088,
                         .orientation = {1, false},
                         .matrix = MATRIX_BT709,
                         .range = RANGE_LIMITED,
                         .range_guessed = true,
                         .transfer = TRANSFER_HLG,
                         .rate_num = 24000,
                         .rate_den = 1001,
                         .length.duration_us = 60041667,
                         .length.frames = -1};
    report = (struct report){
        .film = &film,
        .id.film_id = "7-0123456789abcdef0123456789abcdef",
        .analysis.needs = STRIP_CLUSTERS | STRIP_DOMINANT,
        .picture.height = 360,
        .analysis.kmeans = {8, 20, 300, INIT_PLUSPLUS, 77, true},
        .columns = c,
        .count = count,
        .analysis.width = 320,
        .analysis.height = 180,
        .missing = 1,
        .run.engine = "cpu",
        .run.decode = "cpu",
        .run.isa = "avx2",
        .run.cache = "hit",
        .run.threads = 4,
        .run.warnings = 1,
        .run.warning = {"it \xc3"},
        .analysis.selection = {.kind = SELECT_EVERY, .every = 24, .end_us = INT64_MAX},
        .analysis.light = {TONE_HABLE, 600, true},
        .run.times = {.wall = 2.0, .decode = 0.1234567},
        .run.counts = {.displayed = 96, .packets = 100}};
}

static json_t *parsed(void)
{
    size_t size;
    char *bytes = written("json", &report, alone(mode), &size);
    json_error_t error;
    json_t *root = json_loads(bytes, JSON_REJECT_DUPLICATES, &error);
    if (!root)
        fail_msg("%s", error.text);
    free(bytes);
    return root;
}

/* The whole text, so that nobody changes the format unawares. */
TEST(test_golden)
{
    scene(4);
    size_t size;
    char *text = written("json", &report, alone(mode), &size);
    assert_string_equal(
        text,
        "{\n\"version\": \"0.1.0\",\n\"format\": 1,\n"
        "\"film\": {\"id\":\"7-0123456789abcdef0123456789abcdef\",\"path\":\"/films/Am\xc3\xa9lie "
        "\xef\xbf\xbd \\\"x\\\"\\n.mkv\",\"container\":\"matroska,webm\","
        "\"codec\":\"h264\",\"pixel_format\":\"yuv420p\",\"stream\":0,\"video_stream\":0,\"video_"
        "streams\":1,\"width\":1920,\"height\":1080,"
        "\"coded_width\":1920,\"coded_height\":1088,\"matrix\":\"bt709\",\"matrix_guessed\":false,"
        "\"range\":\"limited\","
        "\"range_guessed\":true,\"transfer\":\"hlg\",\"rotation\":90,\"mirror\":false,\"rate\":23."
        "976023976024,"
        "\"duration\":60.041667,\"duration_source\":null,\"start\":0.0,\"frames\":null},\n"
        "\"selection\": {\"kind\":\"every\",\"every\":24,\"start\":0.0,\"end\":null},\n"
        "\"size\": [320,180],\n\"tone_map\": \"hable\",\n\"hdr_peak\": 600,\n\"light\": "
        "\"linear\",\n\"engine\": \"cpu\",\n\"decode\": \"cpu\",\n\"isa\": \"avx2\",\n\"cache\": "
        "\"hit\",\n\"threads\": 4,\n"
        "\"k\": 8,\n\"n_init\": 20,\n\"race\": true,\n\"init\": \"k-means++\",\n\"max_iter\": "
        "300,\n\"seed\": 77,\n"
        "\"columns\": [\n"
        "{\"frame\":0,\"time\":0.0,\"average\":[1,2,255],\"colours\":[{\"rgb\":[10,20,30],"
        "\"count\":4000000000},"
        "{\"rgb\":[0,0,255],\"count\":1}]},\n"
        "{\"frame\":24,\"time\":0.041667,\"average\":[1,2,255],\"colours\":[{\"rgb\":[10,20,30],"
        "\"count\":4000000000},"
        "{\"rgb\":[1,0,255],\"count\":1}]},\n"
        "{\"frame\":null,\"time\":null,\"missing\":true},\n"
        "{\"frame\":72,\"time\":0.125001,\"damaged\":true,\"average\":[1,2,255],"
        "\"colours\":[{\"rgb\":[10,20,30],\"count\":4000000000},{\"rgb\":[3,0,255],\"count\":1}]}\n"
        "],\n\"missing\": 1,\n\"warnings\": [\"it \xef\xbf\xbd\"],\n"
        "\"stages\": "
        "{\"wall\":2.0,\"start_up\":0.0,\"demux\":0.0,\"decode\":0.123457,\"shrink\":0.0,"
        "\"cluster\":0.0,"
        "\"write\":0.0}\n}\n");
    free(text);
    free_columns(&report);
}

/* Returns what is at "a.b.0.c" as text, with numbers in place of members for arrays; the caller's.
 * NULL: there is nothing. */
static char *text_at(json_t *value, const char *place)
{
    char copy[80];
    char *save = NULL;
    snprintf(copy, sizeof copy, "%s", place);
    for (char *word = strtok_r(copy, ".", &save); word; word = strtok_r(NULL, ".", &save))
        value = json_is_array(value) ? json_array_get(value, (size_t)atoi(word))
                                     : json_object_get(value, word);
    return json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(10));
}

/* A place in the JSON, and what is there; NULL: nothing. */
struct place {
    const char *path, *want;
};

/* Writes the report as JSON, and checks the places up to the one without a path. */
static void expect(const char *of, const struct place *place)
{
    mode = of;
    json_t *root = parsed();
    for (; place->path; place++) {
        char *text = text_at(root, place->path);
        if (text ? !place->want || strcmp(text, place->want) != 0 : place->want != NULL)
            fail_msg("%s: %s is %s", of, place->path, text ? text : "missing");
        free(text);
    }
    json_decref(root);
}

#define EXPECT(of, ...) expect(of, (const struct place[]){__VA_ARGS__, {NULL, NULL}})

TEST(test_no_colours_unless_asked)
{
    scene(1);
    EXPECT("squeeze", {"columns.0.colours", NULL}, {"columns.0.dominant", NULL},
           {"columns.0.average", "[1,2,255]"});
    EXPECT("dominant", {"columns.0.dominant", "[0,0,0]"}, {"columns.0.colours", NULL});
    EXPECT("kmeans", {"columns.0.colours.0.rgb", "[10,20,30]"});
    free_columns(&report);
}

/* By key frames each column has the time that it was wanted for beside the one that was taken. */
TEST(test_keyframes)
{
    scene(3);
    EXPECT("kmeans", {"selection.keyframes", NULL}, {"columns.0.wanted", NULL});
    report.analysis.selection.keyframes = true;
    report.analysis.selection.interval_us = 1500000;
    EXPECT("kmeans", {"selection.keyframes", "true"}, {"columns.0.wanted", "0.0"},
           {"columns.1.wanted", "1.5"}, {"columns.2.wanted", "3.0"});
    free_columns(&report);
}

/* With --steady each column says which of its colours it shows; without it nothing is said. */
TEST(test_steady)
{
    scene(4);
    struct err e = ERR_INIT;
    columns_at((struct columns *)report.columns, 1, &e)->chosen = 1;
    EXPECT("kmeans", {"steady", NULL}, {"columns.1.chosen", NULL});
    report.picture.steady = 10;
    EXPECT("kmeans", {"steady", "10"}, {"columns.0.chosen", "0"}, {"columns.1.chosen", "1"},
           {"columns.2.chosen", NULL} /* which is missing */, {"columns.3.chosen", "0"});
    EXPECT("average", {"columns.1.chosen", NULL});
    free_columns(&report);
}

/* And which of its modes. */
TEST(test_steady_modes)
{
    scene(1);
    struct err e = ERR_INIT;
    static struct cluster modes[2] = {{{1, 2, 3}, 40}, {{4, 5, 6}, 30}};
    struct column *c = columns_at((struct columns *)report.columns, 0, &e);
    c->mode = modes;
    c->modes = 2;
    c->mode_chosen = 1;
    EXPECT("dominant", {"columns.0.modes", NULL}, {"columns.0.mode", NULL});
    report.picture.steady = 10;
    EXPECT("dominant", {"columns.0.modes.1.count", "30"}, {"columns.0.modes.2", NULL},
           {"columns.0.mode", "1"}, {"columns.0.chosen", NULL});
    free_columns(&report);
}

TEST(test_sound)
{
    struct sound_row rows[2000] = {{0}};
    for (int i = 0; i < 2000; i++)
        rows[i] = (struct sound_row){.loudness = -233, .peak = -12, .centroid = i < 5 ? 0 : 812};
    struct film_sound sound = {.stream = 1,
                               .codec = "ac3",
                               .decoder = "ac3_fixed",
                               .layout = "5.1(side)",
                               .rate = 48000,
                               .channels = 6,
                               .gap_us = 1500000,
                               .loudness = -231,
                               .range = 62,
                               .peak = -3,
                               .hops = 1,
                               .rows = 2000,
                               .row = rows};
    scene(4);
    report.media.sound = &sound;
    EXPECT("kmeans", {"sound", NULL}, {"columns.0.peak", NULL}); /* the mode does not show it */
    EXPECT("sound", {"sound.decoder", "\"ac3_fixed\""}, {"sound.stream", "1"},
           {"sound.gap_seconds", "1.5"}, {"sound.loudness", "-23.1"}, {"sound.range", "6.2"},
           {"columns.0.centroid", "null"}, {"columns.3.loudness", "-23.3"},
           {"columns.3.peak", "-1.2"}, {"columns.3.centroid", "812"});
    sound.loudness = SOUND_NONE;
    EXPECT("sound", {"sound.loudness", "null"}, {"columns.3.loudness", "-23.3"});
    sound.stream = -1;
    EXPECT("sound", {"sound", "null"}, {"columns.1.peak", NULL});
    report.media.sound = NULL;
    free_columns(&report);
}

TEST(test_unknowns)
{
    scene(0);
    film.rate_num = 0;
    film.rate_den = 1;
    film.length.duration_us = -1;
    report.analysis.selection = (struct selection){
        .kind = SELECT_INTERVAL, .interval_us = 500000, .start_us = 1, .end_us = 9000000};
    report.analysis.kmeans.seed = UINT64_MAX;
    report.run.isa = NULL;
    report.run.times.wall = -1;
    EXPECT("kmeans", {"film.rate", "null"}, {"film.duration", "null"},
           {"selection.kind", "\"interval\""}, {"selection.interval", "0.5"},
           {"selection.start", "1e-6"}, {"selection.end", "9.0"},
           {"seed", "\"18446744073709551615\""}, {"isa", "null"}, {"columns", "[]"});
    report.analysis.selection =
        (struct selection){.kind = SELECT_COLUMNS, .columns = 5, .end_us = 10};
    EXPECT("kmeans", {"selection.columns", "5"});
    free_columns(&report);
}

/* The line of --bench. */
static json_t *bench(double wall)
{
    scene(4);
    report.count = 50;
    report.missing = 2;
    report.run.times = (struct decode_times){.wall = wall, .cluster = 3.5};
    report.run.counts = (struct decode_counts){.displayed = 1200, .packets = 1201, .lost = 2};
    size_t size;
    char *bytes = written("bench", &report, alone(mode), &size);
    assert_ptr_equal(strchr(bytes, '\n'), bytes + size - 1); /* one line */
    json_t *root = json_loads(bytes, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(root);
    free(bytes);
    free_columns(&report);
    return root;
}

TEST(test_bench)
{
    json_t *root = bench(2.0), *counts = json_object_get(root, "counts");
    assert_true(json_real_value(json_object_get(root, "frames_per_second")) == 600.0);
    assert_true(json_real_value(json_object_get(root, "columns_per_second")) == 25.0);
    assert_true(json_real_value(json_object_get(json_object_get(root, "stages"), "cluster")) ==
                3.5);
    assert_int_equal(json_integer_value(json_object_get(root, "columns")), 50);
    assert_int_equal(json_integer_value(json_object_get(root, "missing")), 2);
    assert_int_equal(json_integer_value(json_object_get(counts, "packets")), 1201);
    assert_int_equal(json_integer_value(json_object_get(counts, "lost")), 2);
    assert_true(json_integer_value(json_object_get(root, "peak_memory")) > 100000);
    assert_true(json_is_real(json_object_get(root, "cpu_seconds")));
    assert_string_equal(json_string_value(json_object_get(root, "isa")), "avx2");
    /* The parts of the wall, the rest among them, add up to it. */
    const char *part;
    json_t *seconds;
    double sum = 0;
    json_object_foreach(json_object_get(root, "wall"), part, seconds) sum +=
        json_real_value(seconds);
    assert_float_equal(sum, 2.0, 1e-5);
    json_decref(root);
}

TEST(test_no_time_taken)
{
    json_t *root = bench(0);
    assert_true(json_is_null(json_object_get(root, "frames_per_second")));
    json_decref(root);
}
