#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test.h"
#include "output/writer.h"
#include "files.h"
#include "strips.h"

static struct film film;
static struct report report;
static const char path[] = "x.png";

static int setup(void **state)
{
    static char name[] = "film.mkv";
    struct err e = ERR_INIT;
    struct columns *c = columns_open(1, 0, &e);
    for (uint64_t i = 0; i < 40; i++) {
        struct column *column = columns_at(c, i, &e);
        column->status = COLUMN_OK;
        column->clusters = 1;
        column->cluster[0] = (struct cluster){{(uint8_t)i, 20, 30}, 60};
    }
    film = (struct film){.path = name};
    report = (struct report){
        .film = &film,
        .picture.height = 20,
        .analysis.kmeans = {1, 1, 1, INIT_RANDOM, 0, false},
        .columns = c,
        .count = 40,
        .analysis.width = 32,
        .analysis.height = 18,
        .analysis.selection = {.kind = SELECT_EVERY, .every = 1, .end_us = INT64_MAX}};
    return enter(state);
}

static int files(void)
{
    int count = 0;
    DIR *d = opendir(".");
    for (struct dirent *entry; (entry = readdir(d));)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(d);
    return count;
}

static int teardown(void **state)
{
    struct columns *c = (struct columns *)report.columns;
    columns_free(&c);
    return leave(state);
}

TEST_WITH(test_failure_keeps_the_old, setup, teardown)
{
    struct err e = ERR_INIT;
    put(path, "old", 3);
    report.count = 0;
    assert_false(writer_save(writer_find("png"), &report, alone("kmeans"), path, &e));
    assert_string_equal(e.text, "cannot write 'x.png': the film has no columns");
    size_t size;
    char *old = contents(path, &size);
    assert_int_equal(size, 3);
    assert_memory_equal(old, "old", 3);
    free(old);
    assert_int_equal(files(), 1);
}

TEST_WITH(test_full_disk, setup, teardown)
{
    const struct writer *const writers[] = {writer_find("png"), writer_find("json"),
                                            writer_find("bench")};
    for (int i = 0; i < 6; i++) {
        struct err e = ERR_INIT;
        report.picture.height = i < 3 ? 20 : 20000; /* fails at commit, and while writing */
        assert_false(writer_save(writers[i % 3], &report, alone("kmeans"), "/dev/full", &e));
        assert_string_equal(e.text, "cannot write '/dev/full': No space left on device");
    }
}

/* Memory that ran out is no failed output: the film is rendered again. */
TEST(test_reason)
{
    struct err memory = ERR_INIT, unknown = ERR_INIT;
    errno = ENOMEM;
    assert_false(writer_failed(&memory));
    assert_int_equal(memory.code, ERR_MEMORY);
    errno = 0;
    assert_false(writer_failed(&unknown));
    expect_sentence(&unknown, ERR_FAILED, "Input/output error");
}

TEST(test_table)
{
    assert_string_equal(writer_table[0]->name, "png"); /* what -o writes by default */
    assert_non_null(writer_table[0]->ending);
    for (size_t i = 0; i < writer_count; i++)
        assert_ptr_equal(writer_find(writer_table[i]->name), writer_table[i]);
    assert_null(writer_find("jpg"));
    assert_ptr_equal(writer_by_ending("a/b.PnG"), writer_find("png"));
    assert_null(writer_by_ending("png"));
    assert_null(writer_by_ending("x.png.json"));
    assert_true(writer_find("png")->one_a_strip && writer_find("png")->binary);
    assert_false(writer_find("json")->one_a_strip || writer_find("json")->binary ||
                 writer_find("json")->one_line);
    assert_true(writer_find("bench")->one_line && writer_find("json")->has_times &&
                writer_find("bench")->has_times);
}

TEST_WITH(test_made, setup, teardown)
{
    struct err e = ERR_INIT;
    const struct writer *png = writer_find("png"), *json = writer_find("json");
    char shown[FILM_ID_TEXT] = "old";
    assert_false(writer_made(png, path, shown));
    assert_string_equal(shown, "");
    assert_true(writer_save(png, &report, alone("kmeans"), path, &e));
    assert_true(writer_made(png, path, shown));
    assert_string_equal(shown, ""); /* of a pipe */
    snprintf(report.id.film_id, sizeof report.id.film_id, "123-0123456789abcdef0123456789abcdef");
    assert_true(writer_save(png, &report, alone("kmeans"), path, &e));
    assert_true(writer_made(png, path, shown));
    assert_string_equal(shown, report.id.film_id);
    assert_false(writer_made(json, path, shown));
    assert_true(writer_save(json, &report, alone("kmeans"), path, &e));
    assert_true(writer_made(json, path, shown));
    assert_string_equal(shown, report.id.film_id);
    assert_false(writer_made(png, path, shown));
    report.id.film_id[0] = 0;
    assert_true(writer_save(json, &report, alone("kmeans"), path, &e));
    assert_true(writer_made(json, path, shown));
    assert_string_equal(shown, "");
    assert_false(writer_made(png, ".", shown) || writer_made(png, "/dev/null", shown));
    assert_false(writer_made(writer_find("bench"), path, shown));
    assert_string_equal(writer_usual_ending(json), "json");
    assert_string_equal(writer_usual_ending(png), "png");
}

/* What a file says, if it is whole. */
static bool tells(const char *name, struct writer_metadata *metadata)
{
    return writer_read_metadata(writer_find(name), path, metadata);
}

TEST_WITH(test_tells, setup, teardown)
{
    struct err e = ERR_INIT;
    struct writer_metadata metadata;
    static const char *const name[] = {"png", "json"};
    assert_false(tells("png", &metadata) || tells("bench", &metadata));
    snprintf(report.id.film_id, sizeof report.id.film_id, "123-0123456789abcdef0123456789abcdef");
    for (size_t i = 0; i < 2; i++) {
        report.id.fingerprint[0] = 0;
        assert_true(writer_save(writer_find(name[i]), &report, alone("kmeans"), path, &e) &&
                    tells(name[i], &metadata));
        assert_string_equal(metadata.fingerprint, "");
        memset(report.id.fingerprint, 'r', REPORT_FINGERPRINT - 1);
        report.id.partial = i == 0;
        assert_true(writer_save(writer_find(name[i]), &report, alone("kmeans"), path, &e) &&
                    tells(name[i], &metadata));
        assert_string_equal(metadata.fingerprint, report.id.fingerprint);
        assert_string_equal(metadata.film, report.id.film_id);
        assert_int_equal(metadata.partial, report.id.partial);
        assert_true(i == 1 ||
                    (metadata.columns == 40 && metadata.width == 32 && metadata.height == 18));
        assert_false(tells(name[1 - i], &metadata));
    }
    report.id.partial = false;
}

/* One that is cut off, longer, or has one wrong bit anywhere is not whole; nothing else comes of
 * it. */
TEST_WITH(test_broken_picture_tells_nothing, setup, teardown)
{
    struct err e = ERR_INIT;
    struct writer_metadata metadata;
    size_t size;
    snprintf(report.id.fingerprint, sizeof report.id.fingerprint, "definition=1.1 k=8");
    assert_true(writer_save(writer_find("png"), &report, alone("kmeans"), path, &e));
    char *bytes = contents(path, &size);
    assert_true(size > 500);
    for (size_t i = 0; i < size; i++) {
        put(path, bytes, i);
        assert_false(tells("png", &metadata));
        bytes[i] = (char)(bytes[i] ^ 1 << i % 8);
        put(path, bytes, size);
        assert_false(tells("png", &metadata));
        bytes[i] = (char)(bytes[i] ^ 1 << i % 8);
    }
    put(path, bytes, size + 1);
    assert_false(tells("png", &metadata));
    put(path, bytes, size);
    assert_true(tells("png", &metadata));
    /* JSON, whose values have no checksum. */
    assert_true(writer_save(writer_find("json"), &report, alone("kmeans"), path, &e));
    free(bytes);
    bytes = contents(path, &size);
    for (size_t i = 0; i < size; i++) {
        put(path, bytes, i);
        assert_false(tells("json", &metadata));
    }
    free(bytes);
}
