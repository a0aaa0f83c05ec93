/*
 * html_template.h - writes and reads the HTML pages: the files of src/output/html/page, which the
 * build embeds, and functions that put data into them. One thread per file; the constants may be
 * used from any thread.
 *
 * Names of films are data, never markup. page_put_json writes them, and the script of the page
 * shows them as text.
 */
#ifndef BARCODE_HTML_HTML_TEMPLATE_H
#define BARCODE_HTML_HTML_TEMPLATE_H

#include <stddef.h>

#include "page_file.h"
#include "output/writer.h"
#include "output/formats/json.h"

/* As page_file.h. */
extern const struct page_file page_viewer_html, page_viewer_css, page_viewer_js, page_sheets_js,
    page_save_js;
extern const struct page_file page_gallery_html, page_gallery_css, page_gallery_js;

/* Writes the content of a placeholder. Returns false with errno set, or with a message in the
 * caller's `user`. */
typedef bool page_fill(void *user, const char *mark, FILE *f);

/* Writes the file `html`, with each <!--barcode:NAME--> replaced by what `fill` writes for NAME.
 * Returns false as `fill` does, or with errno set. */
bool page_write(FILE *f, const struct page_file *html, page_fill *fill, void *user);

/*
 * Writes the part of <head> that all pages share: the program's version, `kind` ("viewer",
 * "gallery"), and a policy. The policy permits only these styles and scripts, and no requests. The
 * lists of files end with a NULL.
 */
bool page_put_head(FILE *f, const char *kind, const struct page_file *const style[],
                   const struct page_file *const script[]);

/* Writes <meta name="barcode:KEY" content="VALUE">. The value must be ASCII without quotes, <, >
 * and &. */
bool page_put_meta(FILE *f, const char *key, const char *value);

/* Writes the files, up to a NULL, each as a <style> or <script> element. */
bool page_put_files(FILE *f, const char *element, const struct page_file *const file[]);

/* Writes a value as JSON without <, > and &, in a <script> element with this id that is not
 * executed. Releases `value`. Returns false with errno set. */
bool page_put_json(FILE *f, const char *id, json_t *value);

/* An encoder of base64 for pieces of any size. Begin with {.file = f} and end with page_base64_end.
 * The functions return false with errno set. */
struct page_base64 {
    FILE *file;
    unsigned char rest[3];
    int count; /* bytes in rest[] */
};
bool page_base64_put(struct page_base64 *b, const void *data, size_t size);
bool page_base64_end(struct page_base64 *b);

/* Returns true if `head` is the beginning of a page of this kind. */
bool page_is(const char *head, size_t size, const char *kind);

/* Copies the value of a meta element in the first `size` bytes of a page. The value is "" if the
 * element is missing or the value does not fit. */
void page_take_meta(const char *head, size_t size, const char *key, char *value, size_t room);

/* Returns the content of the element with this id that page_put_json wrote into `head`, and its
 * *length. Returns NULL if the element is missing or incomplete. */
const char *page_find_json(const char *head, size_t size, const char *id, size_t *length);

/* Returns true if the file ends as a page does. */
bool page_ends(FILE *f);

#endif
