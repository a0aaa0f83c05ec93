/*
 * err.h - errors as values: one sentence, written where the cause is known.
 *
 * A function that can fail takes `struct err *` as its last parameter. On failure it returns false
 * (or NULL) and fills the error exactly once. Callers pass the error on unchanged or prepend their
 * own context with err_prefix(). log_error() (log.h) prints it once.
 *
 * Style of the sentence: lower case, the problem first, the subject in single quotes, no full stop,
 * strerror() last: "cannot open 'a.mkv': No such file".
 *
 * Headers that include this one have bool, size_t and the integers of <stdint.h> by it.
 */
#ifndef BARCODE_ERR_H
#define BARCODE_ERR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "barcode/base/shared.h"

SHARED_BEGIN

/* The kind of failure. Each value but ERR_MEMORY is the exit status. */
enum err_code {
    ERR_NONE = 0,
    ERR_FAILED = 1,        /* output or internal error */
    ERR_USAGE = 2,         /* impossible command line */
    ERR_INPUT = 3,         /* the input is not a readable film */
    ERR_ENGINE = 4,        /* the requested engine is not available */
    ERR_INTERRUPTED = 130, /* Ctrl-C */
    ERR_PIPE = 141,        /* the reader of stdout has gone: no message, and SIGPIPE's status */
    ERR_MEMORY = 256       /* out of memory; the exit status is 1 */
};

/*
 * Returns true for the values of enum err_code that another process may send: its number may be
 * any, and ERR_PIPE is only of the process that has the stdout.
 */
bool err_is_code(uint32_t code);

struct err {
    enum err_code code;
    int line; /* where the error was set, for -vv */
    const char *file;
    char text[480]; /* the sentence, always terminated, truncated if too long */
};

/* An empty error. */
#define ERR_INIT \
    { \
        ERR_NONE, 0, NULL, { 0 } \
    }

/*
 * Sets the error and returns false, so that `return err_set(...)` reads well. Does nothing if `e`
 * already holds an error: the first one counts. `e` may be NULL. Any thread, but one `e` per
 * thread.
 */
#define err_set(e, code, ...) err_set_at((e), (code), __FILE__, __LINE__, __VA_ARGS__)
bool err_set_at(struct err *e, enum err_code code, const char *file, int line, const char *format,
                ...) __attribute__((format(printf, 5, 6), cold));

/* Prepends "text: " to the sentence. Returns false. */
bool err_prefix(struct err *e, const char *format, ...) __attribute__((format(printf, 2, 3), cold));

/* Sets ERR_MEMORY for a failed allocation of `bytes` bytes. Returns false. */
bool err_memory(struct err *e, size_t bytes);

/* Returns `count` zeroed elements, which the caller frees, or NULL with ERR_MEMORY. */
void *err_calloc(size_t count, size_t size, struct err *e);

/*
 * Makes room for `count` elements of `size` bytes in an array of *room, which grows to twice its
 * size at least. `array` points to the pointer to the array. Returns false with ERR_MEMORY.
 * Without `e` the failure does not count (err_memory_count).
 */
bool err_reserve(void *array, size_t count, size_t *room, size_t size, struct err *e);

/* Counts a failed allocation for which no error is set. Any thread. */
void err_memory_seen(void);

/* Empties `e`, an error without consequences, which err_memory_count then does not count. */
void err_forgive(struct err *e);

/* Returns how often ERR_MEMORY was set and not forgiven, or err_memory_seen called. Any thread. */
uint64_t err_memory_count(void);

void err_clear(struct err *e);

/* Returns the documented exit status: 0, 1, 2, 3, 4, 130 or 141. */
int err_exit_status(const struct err *e);

SHARED_END
#endif
