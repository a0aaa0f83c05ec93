/* gallery_cards.h - the film pages of a folder, and their cards. Main thread. */
#ifndef BARCODE_HTML_GALLERY_CARDS_H
#define BARCODE_HTML_GALLERY_CARDS_H

#include "barcode/base/err.h"
#include "output/formats/json.h"

/*
 * The files in `folder` ("" is the working folder, else with its slash) and below it that may be
 * film pages, but for `index`: of each "MARK/PATH" and a line feed, PATH below the folder, in the
 * order of path_order, MARK what changes with the file. Symbolic links are not followed. Names with
 * a line feed are left out. The caller frees. NULL: memory.
 */
char *gallery_pages(const char *folder, const char *index, struct err *e);

/* The cards of those, as an array; each has its "page", a relative reference to it (RFC 3986).
 * NULL: memory. */
json_t *gallery_cards(const char *pages, const char *folder, struct err *e);

#endif
