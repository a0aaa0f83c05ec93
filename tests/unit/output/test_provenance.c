#include <stdio.h>
#include <string.h>

#include "test.h"
#include "output/formats/provenance.h"

static struct report report(void)
{
    struct report r = {.id.partial = true,
                       .analysis.width = 320,
                       .analysis.height = 180,
                       .count = 1071,
                       .id.film_id = "123-00ff",
                       .id.fingerprint = "definition=5.1 mode=kmeans size=1/4"};
    return r;
}

TEST(there_and_back)
{
    struct report r = report();
    struct writer_metadata metadata;
    char text[PROVENANCE_TEXT], file[2 * PROVENANCE_TEXT];
    static const char *const around[][2] = {
        {"# ", "\n# more fingerprint=no"},
        {"/*\n * ", "\r\n */"},
        {"{\n\"x\": \"", "\",\n"},
        {"", ""},
        {"GIMP Palette\nName: barcode:film=.mkv\n# ", "\n"},
        {"Name: barcode:film=9-ab partial=no columns=1 size=1x1 parts=0 fingerprint=x\n# ", "\n"}};
    provenance_text(&r, 7, text);
    assert_string_equal(text, "barcode:film=123-00ff partial=yes columns=1071 size=320x180 parts=7 "
                              "fingerprint=definition=5.1 mode=kmeans size=1/4");
    for (size_t i = 0; i < sizeof around / sizeof *around; i++) {
        snprintf(file, sizeof file, "%s%s%s", around[i][0], text, around[i][1]);
        assert_true(provenance_find(file, strlen(file), &metadata));
        assert_string_equal(metadata.film, "123-00ff");
        assert_string_equal(metadata.fingerprint, r.id.fingerprint);
        assert_true(metadata.partial);
        assert_int_equal(metadata.columns, 1071);
        assert_int_equal(metadata.width, 320);
        assert_int_equal(metadata.height, 180);
        assert_int_equal(metadata.parts, 7);
    }
    r.id.film_id[0] = 0;
    r.id.partial = false;
    memset(r.id.fingerprint, 'x', sizeof r.id.fingerprint - 1); /* the longest that there is */
    provenance_text(&r, 0, text);
    assert_true(provenance_find(text, strlen(text), &metadata));
    assert_string_equal(metadata.film, "");
    assert_string_equal(metadata.fingerprint, r.id.fingerprint);
    assert_false(metadata.partial);
}

TEST(no_mark)
{
    struct writer_metadata metadata;
    static const char *const text[] = {
        "",
        "barcode",
        "barcode:film=",
        "barcode:film=1-2 partial=no columns=1 size=3x4 parts=0",
        "barcode:film=1 fingerprint=x",
        "barcode:film=1-2 partial=no columns=x size=3x4 parts=0 fingerprint=x",
        "barcode:film=1-2 partial=no\ncolumns=1 size=3x4 parts=0 fingerprint=x"};
    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        assert_false(provenance_find(text[i], strlen(text[i]), &metadata));
}

static FILE *file_of(const char *text)
{
    FILE *f = tmpfile();
    fputs(text, f);
    rewind(f);
    return f;
}

/* A file that breaks off, or is another's, says nothing. */
TEST(whole_files)
{
    static const char good[] = "HEAD\n# barcode:film=1-2 partial=no columns=5 size=3x4 parts=0 "
                               "fingerprint=a b\nbody\n# end\n";
    char film[FILM_ID_TEXT] = "";
    struct writer_metadata metadata;
    for (size_t length = 0; length <= strlen(good); length++) {
        char text[sizeof good];
        snprintf(text, sizeof text, "%.*s", (int)length, good);
        FILE *f = file_of(text);
        assert_int_equal(provenance_read(f, "HEAD\n", "# end\n", &metadata),
                         length == strlen(good));
        fclose(f);
    }
    assert_string_equal(metadata.fingerprint, "a b");
    FILE *f = file_of(good);
    assert_false(provenance_read(f, "HEAT\n", "# end\n", &metadata));
    fclose(f);
    assert_true(provenance_recognizes((const uint8_t *)good, strlen(good), "HEAD\n", film));
    assert_string_equal(film, "1-2");
    assert_false(provenance_recognizes((const uint8_t *)good, 3, "HEAD\n", film));
}
