/*
 * html_template.h - what the pages for a browser are made of: the files of src/output/html/page,
 * which the build puts into the program, and the ways in which data get into them. One thread a
 * file; constants any.
 *
 * Names of films are data, never markup: they go through page_json, and the page's script shows
 * them as text.
 */
#ifndef BARCODE_HTML_HTML_TEMPLATE_H
#define BARCODE_HTML_HTML_TEMPLATE_H

#include <stddef.h>

#include "barcode/output/writer.h"
#include "output/formats/json.h"

/* A file of src/output/html/page as it is there. */
struct page_file {
    const unsigned char *data;
    size_t size;
    const char *sha256; /* of these bytes, in base64: what a policy names */
};

/* Made by page/embed.sh: NAME.EXT is page_NAME_EXT. */
extern const struct page_file page_common_css, page_common_js;
extern const struct page_file page_viewer_html, page_viewer_css, page_viewer_js, page_sheets_js;
extern const struct page_file page_gallery_html, page_gallery_css, page_gallery_js;

/* Puts what belongs in the place of a mark. False with errno, or with a sentence in what `user` is.
 */
typedef bool page_fill(void *user, const char *mark, FILE *f);

/* Writes the file `html`; each <!--barcode:MARK--> in it is what `fill` puts there. False: as
 * `fill`, or errno. */
bool page_write(FILE *f, const struct page_file *html, page_fill *fill, void *user);

/*
 * What every page of barcode has in its head, near the file's beginning: which program made it,
 * `kind` ("viewer", "gallery"), and the policy that lets nothing but these styles and scripts in,
 * and no request out. Lists of files end with a NULL.
 */
bool page_put_head(FILE *f, const char *kind, const struct page_file *const style[],
                   const struct page_file *const script[]);

/* <meta name="barcode:KEY" content="VALUE">; a value is ASCII without quotes, <, > and &. */
bool page_put_meta(FILE *f, const char *key, const char *value);

/* The files, up to a NULL, as <style> or <script>. */
bool page_put_files(FILE *f, const char *element, const struct page_file *const file[]);

/* A value as JSON in which no <, > or & is left, in a <script> of this id that is not run. Releases
 * `value`. False with errno. */
bool page_put_json(FILE *f, const char *id, json_t *value);

/* Bytes as base64, in pieces of any size: begin with {.file = f}, end with page_base64_end. False
 * with errno. */
struct page_base64 {
    FILE *file;
    unsigned char rest[3];
    int count; /* in rest[] */
};
bool page_base64_put(struct page_base64 *b, const void *data, size_t size);
bool page_base64_end(struct page_base64 *b);

/* True if these are a beginning of a page of this kind. */
bool page_is(const char *head, size_t size, const char *kind);

/* The value of a meta among the first `size` bytes of a page; "" where it is not there or needs
 * more room. */
void page_take_meta(const char *head, size_t size, const char *key, char *value, size_t room);

/* What the element of page_put_json with this id holds, in `head`: its beginning and *length; NULL:
 * it is not there, or not whole. */
const char *page_find_json(const char *head, size_t size, const char *id, size_t *length);

/* True if the file ends as a page does. */
bool page_ends(FILE *f);

#endif
