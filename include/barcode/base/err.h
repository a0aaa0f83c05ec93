/*
 * err.h - errors as values: one sentence, written where the cause is known.
 *
 * A function that can fail takes `struct err *` as its last parameter, returns
 * false (or NULL) and fills it exactly once. Callers pass it on untouched, or
 * put what they were doing in front with err_prefix(). err_report() prints it, once.
 *
 * Style of the sentence: lower case, the problem first, the subject in single
 * quotes, no full stop, strerror() last: "cannot open 'a.mkv': No such file".
 */
#ifndef BARCODE_ERR_H
#define BARCODE_ERR_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What kind of failure. The value of the first six is the exit status. */
enum err_code {
    ERR_NONE = 0,
    ERR_FAILED = 1,       /* output, memory, internal: the run failed */
    ERR_USAGE = 2,        /* the command line asks for something impossible */
    ERR_INPUT = 3,        /* not a film that we can read */
    ERR_ENGINE = 4,       /* the demanded engine is not there */
    ERR_INTERRUPTED = 130 /* Ctrl-C */
};

struct err {
    enum err_code code;
    int line; /* where the sentence was written, for -vv */
    const char *file;
    char text[480]; /* the sentence, always terminated, cut if too long */
};

/* An error with nothing in it. */
#define ERR_INIT \
    { \
        ERR_NONE, 0, NULL, { 0 } \
    }

/*
 * Writes the sentence and returns false, so that `return err_set(...)` reads well.
 * The first error stays: a second call on a filled `e` changes nothing.
 * `e` may be NULL (the sentence is dropped). Any thread, one `e` per thread.
 */
#define err_set(e, code, ...) err_set_at((e), (code), __FILE__, __LINE__, __VA_ARGS__)
bool err_set_at(struct err *e, enum err_code code, const char *file, int line, const char *format,
                ...)
#ifdef __GNUC__
    __attribute__((format(printf, 5, 6), cold))
#endif
    ;

/* Puts "text: " in front of the sentence. Returns false. */
bool err_prefix(struct err *e, const char *format, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 2, 3), cold))
#endif
    ;

/* The sentence for a failed allocation of `bytes`. Returns false. */
bool err_memory(struct err *e, size_t bytes);

/* Makes `e` empty again. */
void err_clear(struct err *e);

/* The documented exit status: 0, 1, 2, 3, 4 or 130. */
int err_exit_status(const struct err *e);

/* Says the sentence on stderr, and with -vv where it was written. Returns the exit status. */
int err_report(const struct err *e);

#ifdef __cplusplus
}
#endif
#endif
