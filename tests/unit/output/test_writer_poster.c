/* The writers of SVG and PDF: what they say of themselves (provenance.h), and that the same
 * input gives the same bytes. */
#include <stdio.h>
#include <unistd.h>

#include "test.h"
#include "output/poster/poster.h"
#include "output/writer.h"
#include "files.h"
#include "scene.h"
#include "strips.h"

static bool letters;

static int begin(void **state)
{
    struct err e = ERR_INIT;
    letters = paint_has_letters(&e);
    return enter(state);
}

TEST(they_say_what_they_are)
{
    if (!letters)
        skip();
    for (int i = 0; i < 2; i++) {
        const struct writer *w = writer_find(i == 0 ? "svg" : "pdf");
        struct made m;
        struct err e = ERR_INIT;
        struct writer_metadata metadata;
        char film[FILM_ID_TEXT];
        size_t size;
        made_open(&m, 70);
        memset(m.report.id.fingerprint, 'r', REPORT_FINGERPRINT - 1); /* as long as it may be */
        m.report.id.partial = i == 0;
        assert_ok(writer_save(w, &m.report, alone("palette"), "a", &e), &e);
        assert_true(writer_made(w, "a", film));
        assert_string_equal(film, m.report.id.film_id);
        assert_true(writer_read_metadata(w, "a", &metadata));
        made_is_described(&m, &metadata);
        /* Another byte anywhere, one less or one more: it is not whole. */
        char *all = contents("a", &size);
        for (size_t at = 0; at < size; at += 1 + size / 97) {
            all[at] ^= 4;
            put("b", all, size);
            assert_false(writer_read_metadata(w, "b", &metadata));
            all[at] ^= 4;
        }
        /* A byte that ends a string, in the middle of the sum. */
        char *sum = (char *)memmem(all, size, "barcode:check ", 14) + 20, was = *sum;
        *sum = 0;
        put("b", all, size);
        assert_false(writer_read_metadata(w, "b", &metadata));
        *sum = was;
        for (size_t less = 1; less < 300; less++) {
            put("b", all, size - less);
            assert_false(writer_read_metadata(w, "b", &metadata));
        }
        all[size] = '\n';
        put("b", all, size + 1);
        assert_false(writer_read_metadata(w, "b", &metadata));
        put("b", "", 0);
        assert_false(writer_read_metadata(w, "b", &metadata) || writer_made(w, "b", film));
        put("b", "<svg>barcode:film 7-1\n</svg>", 28);
        assert_false(writer_read_metadata(w, "b", &metadata) || writer_made(w, "b", film));
        free(all);
        made_close(&m);
    }
}

/* Whatever was drawn before; and nothing of time. */
TEST(same_bytes)
{
    if (!letters)
        skip();
    for (int i = 0; i < 2; i++) {
        const struct writer *w = writer_find(i == 0 ? "svg" : "pdf");
        struct made m, other;
        struct err e = ERR_INIT;
        size_t a, b;
        made_open(&m, 70);
        made_open(&other, 7);
        assert_true(writer_save(w, &m.report, alone("kmeans"), "a", &e));
        assert_true(writer_save(w, &other.report, stacked(), "x", &e));
        assert_true(writer_save(w, &m.report, alone("kmeans"), "b", &e));
        char *first = contents("a", &a), *second = contents("b", &b);
        assert_int_equal(a, b);
        assert_memory_equal(first, second, a);
        assert_null(memmem(first, a, "CreationDate", 12));
        free(first);
        free(second);
        made_close(&m);
        made_close(&other);
    }
}

/* Titles are data, and the picture is one text in base64: padding is at its end alone. */
TEST(markup_in_a_title)
{
    if (!letters)
        skip();
    struct made m;
    struct err e = ERR_INIT;
    size_t size;
    made_open(&m, 9000);
    for (uint64_t i = 0; i < 9000; i++)
        columns_at(m.columns, i, &e)->row[0] = (uint8_t)rand();
    m.report.poster.title = "<script>alert(1)</script>\"&--> ]]>";
    assert_true(writer_save(writer_find("svg"), &m.report, alone("squeeze"), "a", &e));
    char *all = contents("a", &size);
    all[size] = 0;
    assert_null(strstr(all, "<script"));
    assert_non_null(strstr(
        all, "<title>&lt;script&gt;alert(1)&lt;/script&gt;&quot;&amp;--&gt; ]]&gt;</title>"));
    const char *data = strstr(all, ";base64,") + strlen(";base64,");
    const size_t digits = strcspn(data, "=\""), padding = strspn(data + digits, "=");
    assert_true(digits > 8192 && (digits + padding) % 4 == 0);
    assert_int_equal(data[digits + padding], '"');
    free(all);
    made_close(&m);
}

TEST(a_full_disk)
{
    if (!letters)
        skip();
    for (int i = 0; i < 2; i++) {
        struct made m;
        struct err e = ERR_INIT;
        made_open(&m, 9);
        FILE *full = fopen("/dev/full", "wb");
        setvbuf(full, NULL, _IONBF, 0);
        assert_false(
            writer_find(i == 0 ? "svg" : "pdf")->write(&m.report, alone("average"), full, &e));
        assert_string_equal(e.text, "No space left on device");
        fclose(full);
        made_close(&m);
    }
}

TEST_FIXTURE(begin, leave)
