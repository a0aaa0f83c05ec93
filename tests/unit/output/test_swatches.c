#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "output/writer.h"
#include "strips.h"

/* e acute, a film camera of two UTF-16 units, a line's end */
static char name[] = "/a/b\xc3\xa9\xf0\x9f\x8e\xac\n.mkv";

/* A film of two columns: white and a red that is a third of the second. */
static struct report scene(struct film *film)
{
    struct err e = ERR_INIT;
    struct columns *c = columns_open(2, 0, &e);
    for (uint64_t i = 0; i < 2; i++) {
        struct column *column = columns_at(c, i, &e);
        column->status = COLUMN_OK;
        column->clusters = i == 0 ? 1 : 2;
        column->cluster[0] = (struct cluster){{255, 255, 255}, 200};
        column->cluster[1] = (struct cluster){{200, 16, 0}, 100};
    }
    *film = (struct film){.path = name};
    return (struct report){
        .film = film,
        .id.film_id = "9-ab",
        .id.fingerprint = "r=1",
        .analysis.kmeans = {2, 3, 50, INIT_SCALABLE, 0, true},
        .columns = c,
        .count = 2,
        .analysis.width = 32,
        .analysis.height = 18,
        .media.palette = {
            2, {{{255, 255, 255}, FILM_PALETTE_PIXELS - 174763}, {{200, 16, 0}, 174763}}}};
}

/* Returns the scene in this format, which the caller frees. */
static char *palette_as(const char *writer, size_t *size)
{
    struct film film;
    struct report r = scene(&film);
    char *bytes = written(writer, &r, alone("average"), size);
    free_columns(&r);
    return bytes;
}

static void expect(const char *writer, const char *want)
{
    size_t size;
    char *got = palette_as(writer, &size);
    assert_string_equal(got, want);
    free(got);
}

#define MARK "barcode:film=9-ab partial=no columns=2 size=32x18 parts=0 fingerprint=r=1"

TEST(gpl)
{
    expect("gpl",
           "GIMP Palette\nName: b\xc3\xa9\xf0\x9f\x8e\xac?.mkv\nColumns: 2\n#\n# " MARK "\n#\n"
           "255 255 255\t#ffffff 83.3 %\n200  16   0\t#c81000 16.7 %\n# end\n");
}

TEST(css)
{
    expect("css", "/*\n * " MARK "\n */\n:root {\n  --film-1: #ffffff;\n  --film-1-share: "
                  "83.3%;\n  --film-2: #c81000;\n  --film-2-share: 16.7%;\n"
                  "  --film-palette: linear-gradient(to right, #ffffff 0.0% 83.3%, #c81000 "
                  "83.3% 100.0%);\n}\n");
}

TEST(json)
{
    expect("swatches-json", "{\n\"swatches\": \"" MARK
                            "\",\n\"name\": \"b\xc3\xa9\xf0\x9f\x8e\xac?.mkv\",\n\"colours\": [\n"
                            "{\"hex\":\"#ffffff\",\"rgb\":[255,255,255],\"share\":0.833333},\n{"
                            "\"hex\":\"#c81000\",\"rgb\":[200,16,0],\"share\":0.166667}\n]\n}\n");
}

/* The bytes, by hand. */
TEST(ase)
{
    static const char want[] =
        "ASEF\0\1\0\0\0\0\0\4"
        "\xc0\1\0\0\0\x16\0\x0a\0b\0\xe9\xd8\x3c\xdf\xac\0?\0.\0m\0k\0v\0\0"
        "\0\1\0\0\0\x32\0\x0f\0#\0f\0f\0f\0f\0f\0f\0 \0008\0003\0.\0003\0 \0%\0\0"
        "RGB \x3f\x80\0\0\x3f\x80\0\0\x3f\x80\0\0\0\0"
        "\0\1\0\0\0\x32\0\x0f\0#\0c\0008\0001\0000\0000\0000\0 \0001\0006\0.\0007\0 \0%\0\0"
        "RGB \x3f\x48\xc8\xc9\x3d\x80\x80\x81\0\0\0\0\0\0"
        "\xc0\2\0\0\0\0";
    size_t size;
    char *got = palette_as("ase", &size);
    for (size_t i = 0; i < size && i < sizeof want - 1; i++)
        if (got[i] != want[i])
            fail_msg("byte %zu is %02x and not %02x", i, (uint8_t)got[i], (uint8_t)want[i]);
    assert_int_equal(size, sizeof want - 1);
    free(got);
}

/* A name that fills its room, of characters of four bytes: nothing is written beyond ase's room,
 * and the name still ends with 0. */
TEST(long_names)
{
    static char path[3000];
    struct film film;
    struct report r = scene(&film);
    path[0] = 0;
    for (int i = 0; i < 700; i++)
        strcat(path, "\xf0\x9f\x8e\xac");
    film.path = path;
    size_t size;
    char *got = written("ase", &r, alone("average"), &size);
    unsigned units = (unsigned)((uint8_t)got[18] << 8 | (uint8_t)got[19]),
             bytes = (unsigned)((uint8_t)got[16] << 8 | (uint8_t)got[17]);
    assert_in_range(units, 200, 512);
    assert_int_equal(bytes, 2 + 2 * units);
    assert_int_equal(got[20 + 2 * units - 1] | got[20 + 2 * units - 2], 0);
    assert_int_equal(got[20 + 2 * units + 1], 1); /* the first colour's block follows */
    free(got);
    free_columns(&r);
}

TEST(told)
{
    static const char *const writer[] = {"gpl", "css", "swatches-json"};
    for (size_t i = 0; i < 3; i++) {
        const struct writer *w = writer_find(writer[i]);
        size_t size;
        char *got = palette_as(writer[i], &size);
        assert_non_null(w->end);
        assert_string_equal(writer_option(w), "swatches");
        expect_recognized(w, got, size);
        free(got);
    }
}

TEST(full_disk)
{
    static const char *const writer[] = {"gpl", "css", "swatches-json", "ase", "csv"};
    struct film film;
    struct report r = scene(&film);
    for (size_t i = 0; i < 5; i++)
        expect_full_disk(writer[i], &r, alone("average"));
    free_columns(&r);
}
