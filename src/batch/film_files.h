/*
 * film_files.h - the files of the films in progress, which the parent opens for a worker process:
 * which may be read, and which are written. A worker names any path; only those are opened that the
 * parent itself has listed, or found in the folder of a playlist or of images.
 */
#ifndef BARCODE_BATCH_FILM_FILES_H
#define BARCODE_BATCH_FILM_FILES_H

#include "film_process.h"
#include "barcode/base/file_request.h"

/*
 * Handles a request for the film of a seat, which is busy. Returns a descriptor, which the caller closes, or -1 if it has none or failed;
 * `*error` is an errno value or 0. `*file` is the number of an output that is being written.
 */
int film_files_handle(struct film_process *p, struct batch *b, int seat, enum file_request request,
                      const char *path, int32_t *file, int32_t *error);

/* Removes what is unfinished of the outputs of a seat. */
void film_files_discard(struct film_process *p, int seat);

#endif
