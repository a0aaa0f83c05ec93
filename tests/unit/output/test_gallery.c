#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "output/html/gallery.h"
#include "files.h"
#include "output/html/html_template.h"

/* As much of a page as a gallery reads, with this card. */
static void put_page(const char *path, const char *kind, const char *card)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
            "name=\"generator\" content=\"barcode 1\">\n"
            "<meta name=\"barcode:page\" content=\"%s\">\n<script type=\"application/json\" "
            "id=\"card\">%s</script>\n</html>\n",
            kind, card);
    fclose(f);
}

static char *read_all(const char *path)
{
    char *bytes = NULL;
    size_t size;
    FILE *f = fopen(path, "r"), *to = open_memstream(&bytes, &size);
    assert_non_null(f);
    for (int c; (c = getc(f)) != EOF;)
        putc(c, to);
    fclose(f);
    fclose(to);
    return bytes;
}

/* The cards of a gallery, by page: "a.html b.html". */
static void expect_pages(const char *path, const char *want)
{
    char *html = read_all(path), got[400] = "";
    size_t length, i;
    const char *text = page_find_json(html, strlen(html), "cards", &length);
    assert_non_null(text);
    json_t *cards = json_loadb(text, length, 0, NULL), *card;
    json_array_foreach(cards, i, card)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s", i > 0 ? " " : "",
                 json_string_value(json_object_get(card, "page")));
    assert_string_equal(got, want);
    json_decref(cards);
    free(html);
}

static void write_all(const char *path, size_t want)
{
    struct err e = ERR_INIT;
    size_t films = 99;
    assert_ok(gallery_write(path, &films, &e), &e);
    assert_int_equal(films, want);
}

TEST_WITH(has_all_pages_below, enter, leave)
{
    assert_int_equal(mkdir("g", 0777) | mkdir("g/s 1", 0777), 0);
    put_page("g/e10.html", "viewer", "{\"name\":\"e10\"}");
    put_page("g/e9.HTM", "viewer", "{\"name\":\"e9\"}");
    put_page("g/s 1/<#?%\n7:\xff.html", "viewer", "{\"name\":\"x\"}");
    put_page("g/other.html", "gallery", "{\"name\":\"a gallery\"}");
    put_page("g/broken.html", "viewer", "{\"name\":");
    put_page("g/list.html", "viewer", "[1]");
    put_page("g/page.txt", "viewer", "{\"name\":\"of another ending\"}");
    put_page("g/s 1/index.html", "viewer", "{\"name\":\"a film of this name\"}");
    touch("g/stranger.html");
    assert_int_equal(symlink("e10.html", "g/link.html") | symlink("..", "g/s 1/up"), 0);
    write_all("g/index.html", 4);
    expect_pages("g/index.html",
                 "e9.HTM e10.html s%201/%3C%23%3F%25%0A7%3A%FF.html s%201/index.html");
    /* Again, over its own; by another name of the folder; and as the working folder. */
    char *before = read_all("g/index.html");
    write_all("g/../g/index.html", 4);
    assert_int_equal(chdir("g"), 0);
    write_all("index.html", 4);
    char *after = read_all("index.html");
    assert_string_equal(before, after);
    free(before);
    free(after);
    unlink("e10.html");
    write_all("./index.html", 3);
    expect_pages("index.html", "e9.HTM s%201/%3C%23%3F%25%0A7%3A%FF.html s%201/index.html");
}

TEST_WITH(sees_what_changes, enter, leave)
{
    struct err e = ERR_INIT;
    put_page("a.html", "viewer", "{\"name\":\"a\"}");
    char *before = gallery_pages("", "index.html", &e);
    touch("index.html");
    char *same = gallery_pages("", "./index.html", &e);
    assert_string_equal(before, same);
    put_page("b.html", "viewer", "{\"name\":\"b\"}");
    char *more = gallery_pages("", "index.html", &e);
    assert_string_not_equal(before, more);
    put_page("a.html", "viewer", "{\"name\":\"other\"}");
    char *other = gallery_pages("", "index.html", &e);
    assert_string_not_equal(more, other);
    free(before), free(same), free(more), free(other);
    /* The folder's own name may have any bytes. */
    assert_int_equal(mkdir("two\nlines", 0700), 0);
    put_page("two\nlines/c.html", "viewer", "{\"name\":\"c\"}");
    char *pages = gallery_pages("two\nlines/", "two\nlines/index.html", &e);
    assert_non_null(pages);
    assert_non_null(strstr(pages, "/6:c.html\n"));
    free(pages);
}
