/* gallery_cards.h - finds the film pages of a folder and reads their cards. Main thread. */
#ifndef BARCODE_HTML_GALLERY_CARDS_H
#define BARCODE_HTML_GALLERY_CARDS_H

#include "barcode/base/err.h"
#include "output/formats/json.h"

/*
 * Lists the files in `folder` and its subfolders that may be film pages, except `index`. `folder`
 * is "" for the working directory, otherwise it ends with a slash.
 *
 * Each page is "STATE/LENGTH:PATH\n". PATH is relative to the folder and has LENGTH bytes. STATE
 * changes when the file changes. Pages are in the order of path_order. Symbolic links are not
 * followed. The caller frees the list. Returns NULL if out of memory.
 */
char *gallery_pages(const char *folder, const char *index, struct err *e);

/*
 * Returns the cards of the pages in a list of gallery_pages, as an array. Each has its "page", a
 * relative reference to the page (RFC 3986). Files without a card are skipped. Returns NULL if out
 * of memory.
 */
json_t *gallery_cards(const char *pages, const char *folder, struct err *e);

#endif
