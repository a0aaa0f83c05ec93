#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "output/writer.h"
#include "strips.h"

static char path[] = "film.mkv";

static json_t *bench(double wall)
{
    struct film film = {.path = path};
    struct report report = {.film = &film,
                            .picture.height = 1,
                            .count = 50,
                            .missing = 2,
                            .run.engine = "cuda",
                            .run.decode = "nvdec",
                            .run.isa = "vnni",
                            .run.threads = 16,
                            .run.times = {.wall = wall, .cluster = 3.5},
                            .run.counts = {.displayed = 1200, .packets = 1201, .lost = 2}};
    char *bytes = NULL;
    size_t size;
    FILE *f = open_memstream(&bytes, &size);
    struct err e = ERR_INIT;
    assert_true(writer_find("bench")->write(&report, alone("kmeans"), f, &e));
    fclose(f);
    assert_ptr_equal(strchr(bytes, '\n'), bytes + size - 1); /* one line */
    json_t *root = json_loads(bytes, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(root);
    free(bytes);
    return root;
}

TEST(test_figures)
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
    assert_string_equal(json_string_value(json_object_get(root, "isa")), "vnni");
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
