#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "output/html/html_template.h"

static char *bytes;
static size_t size;
static FILE *f;

static void begin(void)
{
    bytes = NULL;
    f = open_memstream(&bytes, &size);
    assert_non_null(f);
}

static void expect(const char *text)
{
    assert_int_equal(fclose(f), 0);
    assert_string_equal(bytes, text);
    free(bytes);
}

static bool fill(void *user, const char *mark, FILE *to)
{
    (void)user;
    return strcmp(mark, "bad") != 0 && fprintf(to, "[%s]", mark) > 0;
}

static bool write_text(const char *text)
{
    struct page_file html = {(const unsigned char *)text, strlen(text), ""};
    return page_write(f, &html, fill, NULL);
}

TEST(test_marks)
{
    begin();
    assert_true(write_text("a<!--barcode:x--><!--barcode:yy-->\nb<!-- c --><!--barcode:d"));
    expect("a[x][yy]\nb<!-- c --><!--barcode:d");
    begin();
    assert_true(write_text(""));
    assert_false(write_text("a<!--barcode:bad-->b"));
    expect("a");
}

/* Any text comes back as it was, and nothing of it can be read as HTML. */
TEST(test_json)
{
    static const char nasty[] =
        "</script><!--<script>&amp;\"\\'\xe2\x80\xa8\xe2\x80\xa9\x7f\n\xf0\x9f\x8e\xac";
    begin();
    assert_true(page_put_json(f, "a", json_pack("{ss}", "<k>", nasty)));
    assert_int_equal(fclose(f), 0);
    size_t length;
    const char *json = page_find_json(bytes, size, "a", &length);
    assert_non_null(json);
    for (size_t i = 0; i < length; i++)
        assert_true(json[i] >= 0x20 && !strchr("<>&", json[i]));
    json_t *value = json_loadb(json, length, 0, NULL);
    assert_string_equal(json_string_value(json_object_get(value, "<k>")), nasty);
    json_decref(value);
    assert_null(page_find_json(bytes, size - strlen("</script>\n"), "a", &length));
    assert_null(page_find_json(bytes, size, "b", &length));
    free(bytes);
    begin();
    assert_false(page_put_json(f, "a", NULL));
    expect("");
    f = fopen("/dev/full", "w");
    setvbuf(f, NULL, _IONBF, 0);
    assert_false(page_put_json(f, "a", json_string("x")));
    fclose(f);
}

static const struct page_file *const files[] = {&page_common_css, &page_viewer_css, NULL};

static void put_page(const char *kind)
{
    begin();
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n", f);
    assert_true(page_put_head(f, kind, files, files) && page_put_meta(f, "film", "12-ab") &&
                page_put_files(f, "style", files));
    fputs("</html>\n", f);
    fclose(f);
}

TEST(test_is_told)
{
    char value[8];
    put_page("viewer");
    assert_true(page_is(bytes, size, "viewer"));
    assert_false(page_is(bytes, size, "gallery") || page_is(bytes + 1, size - 1, "viewer") ||
                 page_is(bytes, 90, "viewer") || page_is(bytes, 0, "viewer"));
    page_copy_meta(bytes, size, "film", value, sizeof value);
    assert_string_equal(value, "12-ab");
    page_copy_meta(bytes, size, "film", value, 5);
    assert_string_equal(value, "");
    page_copy_meta(bytes, size, "fingerprint", value, sizeof value);
    assert_string_equal(value, "");
    FILE *in = fmemopen(bytes, size, "rb");
    assert_true(page_ends(in));
    fclose(in);
    in = fmemopen(bytes, size - 1, "rb");
    assert_false(page_ends(in));
    fclose(in);
    /* What the policy names is what the file is: 44 letters of SHA-256 in base64. */
    assert_int_equal(strlen(page_viewer_css.sha256), 44);
    assert_non_null(strstr(bytes, page_viewer_css.sha256));
    assert_non_null(memmem(bytes, size, page_viewer_css.data, page_viewer_css.size));
    free(bytes);
}

/* The program's own files: whole, with the marks that writers know, and nothing that would fetch.
 */
TEST(test_files)
{
    const struct page_file *const all[] = {&page_common_css,   &page_common_js,   &page_viewer_html,
                                           &page_viewer_css,   &page_viewer_js,   &page_sheets_js,
                                           &page_gallery_html, &page_gallery_css, &page_gallery_js};
    static const char *const never[] = {"http:",
                                        "https:",
                                        "@import",
                                        "url(",
                                        "innerHTML",
                                        "outerHTML",
                                        "insertAdjacentHTML",
                                        "document.write",
                                        "eval(",
                                        "new Function"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        assert_true(all[i]->size > 300);
        for (size_t k = 0; k < sizeof never / sizeof *never; k++)
            assert_null(memmem(all[i]->data, all[i]->size, never[k], strlen(never[k])));
    }
}
