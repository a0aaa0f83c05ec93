#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test.h"
#include "output/writer.h"
#include "strips.h"

static struct film film;
static struct report report;
static char folder[] = "/tmp/barcode-writer.XXXXXX", path[64];

static int setup(void **state)
{
    (void)state;
    static char name[] = "film.mkv";
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/x.png", folder);
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
    return 0;
}

static int files(void)
{
    int count = 0;
    DIR *d = opendir(folder);
    for (struct dirent *entry; (entry = readdir(d));)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(d);
    return count;
}

static int teardown(void **state)
{
    (void)state;
    struct columns *c = (struct columns *)report.columns;
    columns_free(&c);
    unlink(path);
    return rmdir(folder);
}

TEST_WITH(test_saves, setup, teardown)
{
    struct err e = ERR_INIT;
    const struct writer *const writers[] = {writer_find("png"), writer_find("json"),
                                            writer_find("bench")};
    static const char *const starts[] = {"\x89PNG", "{\n\"version\"", "{\"version\""};
    for (int i = 0; i < 3; i++) {
        assert_true(writer_save(writers[i], &report, alone("kmeans"), path, &e));
        char start[16] = {0};
        FILE *f = fopen(path, "rb");
        assert_int_equal(fread(start, 1, 12, f), 12);
        fclose(f);
        assert_memory_equal(start, starts[i], strlen(starts[i]));
        assert_int_equal(files(), 1);
    }
}

TEST_WITH(test_failure_keeps_the_old, setup, teardown)
{
    struct err e = ERR_INIT;
    FILE *f = fopen(path, "w");
    fputs("old", f);
    fclose(f);
    report.count = 0;
    assert_false(writer_save(writer_find("png"), &report, alone("kmeans"), path, &e));
    char sentence[128], old[8] = {0};
    snprintf(sentence, sizeof sentence, "cannot write '%s': the film has no columns", path);
    assert_string_equal(e.text, sentence);
    f = fopen(path, "r");
    assert_int_equal(fread(old, 1, 7, f), 3);
    fclose(f);
    assert_string_equal(old, "old");
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

TEST_WITH(test_no_folder, setup, teardown)
{
    struct err e = ERR_INIT;
    assert_false(writer_save(writer_find("json"), &report, alone("kmeans"), "/no/such/x.json", &e));
    assert_string_equal(e.text, "cannot write '/no/such/x.json': No such file or directory");
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
    assert_false(writer_made(png, folder, shown) || writer_made(png, "/dev/null", shown));
    assert_false(writer_made(writer_find("bench"), path, shown));
    assert_string_equal(writer_usual_ending(json), "json");
    assert_string_equal(writer_usual_ending(png), "png");
}

/* What a file says, if it is whole. */
static bool tells(const char *name, struct writer_metadata *metadata)
{
    return writer_read_metadata(writer_find(name), path, metadata);
}

static void put_bytes(const char *bytes, size_t size)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

static size_t get_bytes(char *bytes, size_t room)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t size = fread(bytes, 1, room, f);
    assert_int_equal(fclose(f), 0);
    return size;
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
    static char bytes[1 << 16];
    snprintf(report.id.fingerprint, sizeof report.id.fingerprint, "definition=1.1 k=8");
    assert_true(writer_save(writer_find("png"), &report, alone("kmeans"), path, &e));
    size_t size = get_bytes(bytes, sizeof bytes - 1);
    assert_true(size > 500 && size < sizeof bytes - 1);
    for (size_t i = 0; i < size; i++) {
        put_bytes(bytes, i);
        assert_false(tells("png", &metadata));
        bytes[i] = (char)(bytes[i] ^ 1 << i % 8);
        put_bytes(bytes, size);
        assert_false(tells("png", &metadata));
        bytes[i] = (char)(bytes[i] ^ 1 << i % 8);
    }
    put_bytes(bytes, size + 1);
    assert_false(tells("png", &metadata));
    put_bytes(bytes, size);
    assert_true(tells("png", &metadata));
    /* JSON, whose values have no checksum. */
    assert_true(writer_save(writer_find("json"), &report, alone("kmeans"), path, &e));
    size = get_bytes(bytes, sizeof bytes);
    for (size_t i = 0; i < size; i++) {
        put_bytes(bytes, i);
        assert_false(tells("json", &metadata));
    }
}
