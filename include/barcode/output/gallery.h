/*
 * gallery.h - one page of all the film pages (writer "html") that lie in a folder and below it.
 *
 * It is made of the pages themselves, each of which has a card in its head, and not of what one run
 * did: so a run with --update, a shard and a run that was taken up give a full gallery, too. Main
 * thread.
 */
#ifndef BARCODE_GALLERY_H
#define BARCODE_GALLERY_H

#include <stdbool.h>
#include <stddef.h>

#include "barcode/base/err.h"

#ifdef __cplusplus
extern "C" {
#endif

/* True if a gallery may be written to `path`: nothing is there, or a gallery of barcode. False:
 * ERR_FAILED. */
bool gallery_allowed(const char *path, struct err *e);

/*
 * Writes the gallery of the folder in which `path` lies, whole and by rename. Several processes may
 * do so at once: each looks again when it has written and writes anew if a page came or changed
 * meanwhile, so the one that is there in the end has every page that was there before the last of
 * them began to look. *films gets how many it shows. What is no page of barcode, or not one that
 * can be read, is left out. The same pages give the same bytes. False: it cannot be written,
 * memory, or ERR_INTERRUPTED.
 */
bool gallery_write(const char *path, size_t *films, struct err *e);

#ifdef __cplusplus
}
#endif
#endif
