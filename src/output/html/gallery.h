/*
 * gallery.h - one page of all film pages (writer "html") in a folder and its subfolders.
 *
 * The gallery is made from the pages themselves: each has a card in its <head>. So a run with
 * --update, a shard and a resumed run give a complete gallery, too. Main thread.
 */
#ifndef BARCODE_GALLERY_H
#define BARCODE_GALLERY_H

#include <stdbool.h>
#include <stddef.h>

#include "barcode/base/err.h"

/* Returns true if `path` is a gallery of barcode. Any thread. */
bool gallery_exists(const char *path);

/* Returns true if a gallery may be written to `path`: the file does not exist or is a gallery of
 * barcode. Otherwise fails with ERR_FAILED. */
bool gallery_allowed(const char *path, struct err *e);

/*
 * Writes the gallery of the folder of `path` through a temporary file and rename. *films is set to
 * the number of films that the gallery shows. Files that are not pages of barcode, or cannot be
 * read, are skipped. The same pages give the same bytes.
 *
 * Several processes may call this at once. Each lists the folder again after writing, and writes
 * again if a page was added or changed. The last process to write has therefore seen all pages that
 * were there before it last listed the folder.
 *
 * Returns false if gallery_allowed fails, if the file cannot be written, if out of memory, or with
 * ERR_INTERRUPTED.
 */
bool gallery_write(const char *path, size_t *films, struct err *e);

/*
 * Lists the files in `folder` and its subfolders that may be film pages, except `index`. `folder`
 * is "" for the working directory, otherwise it ends with a slash.
 *
 * Each page is "STATE/LENGTH:PATH\n". PATH is relative to the folder and has LENGTH bytes. STATE
 * changes when the file changes. Pages are in the order of path_order. Symbolic links are not
 * followed. The caller frees the list. Returns NULL if out of memory.
 */
char *gallery_pages(const char *folder, const char *index, struct err *e);

#endif
