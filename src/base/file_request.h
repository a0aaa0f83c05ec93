/*
 * file_request.h - how a confined worker process opens files: it asks its parent, which knows what
 * the films in progress may read and write, and passes a descriptor. So the worker has no right to
 * open any file of the user by name. A process without `file_ask` opens files itself.
 */
#ifndef BARCODE_FILE_REQUEST_H
#define BARCODE_FILE_REQUEST_H

enum file_request {
    FILE_READ,    /* opens `path` to read it, without waiting; returns a descriptor */
    FILE_SCRATCH, /* opens a nameless temporary file; returns a descriptor */
    FILE_WRITE,   /* begins an output at `path` and sets `*file`; returns a descriptor */
    FILE_FOLDER,  /* begins a folder that will replace the one of file `path`, and sets `*file` */
    FILE_ADD,     /* makes the file `path`, a plain name, in folder `*file`; returns a descriptor */
    FILE_PUBLISH, /* gives output or folder `*file` its name, and forgets it */
    FILE_DISCARD  /* removes output or folder `*file`, and forgets it */
};

/*
 * Asks the parent. Returns a descriptor, which the caller closes, or 0 where the request has none.
 * Returns -1 with errno on failure. `path` may be NULL and `*file` unset where the request names
 * none. Any thread.
 */
typedef int file_asking(enum file_request request, const char *path, int *file);

/* NULL: this process opens files itself. Set it before other threads run. */
extern file_asking *file_ask;

#endif
