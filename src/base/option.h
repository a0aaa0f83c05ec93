/*
 * option.h - the options of a room: a table of rows beside its struct. cli/ walks the tables:
 * parsing, help and completions come from them. options_fingerprint.c has a line of its own for
 * each option that can change an output.
 *
 *     #define OPTION_STRUCT struct batch_options
 *     static const struct option_row rows[] = {
 *         {"jobs", "N", "films at once", .group = OPTION_RUN, OPTION_WHOLE(jobs, 1, 64)},
 *         {0}};
 *
 * Any thread.
 */
#ifndef BARCODE_OPTION_H
#define BARCODE_OPTION_H

#include "barcode/base/err.h"

enum option_kind {
    OPTION_KIND_CUSTOM, /* `set` parses the value */
    OPTION_KIND_FLAG,   /* bool: `least` is stored */
    OPTION_KIND_WHOLE,  /* int or uint64_t, from `least` to `most` */
    OPTION_KIND_TIME,   /* int64_t: microseconds, `least` or more */
    OPTION_KIND_WORD,   /* enum or bool: `least`, plus the number of the word */
    OPTION_KIND_PATH    /* const char *: a file or folder; "-" for stdout, also by other names */
};

/* The groups of --help, in its order. */
enum option_group {
    OPTION_FILMS = 1,
    OPTION_PICTURE,
    OPTION_POSTER,
    OPTION_COLOURS,
    OPTION_FRAMES,
    OPTION_OUTPUTS,
    OPTION_LIVE,
    OPTION_CACHE,
    OPTION_RUN,
    OPTION_EXPERTS,
    OPTION_GROUPS,
    OPTION_ANSWER = OPTION_GROUPS /* --help and the like: the words behind it are ignored */
};

/* The order of -h is that of a task: what, which frames, how it looks, where it goes. */
enum option_task { TASK_NONE, TASK_FILMS, TASK_FRAMES, TASK_LOOKS, TASK_OUTPUT };

struct option_row {
    const char *name; /* without dashes; NULL: only a letter, or the end of the table */
    const char *arg;  /* the value in --help; NULL: it takes none */
    const char *help; /* one line */
    char letter;      /* 0: none */
    enum option_group group;
    enum option_task common; /* -h shows it there */
    bool optional; /* the value may be missing: then `arg` is NULL for `set`, or `usual` counts */
    bool hidden;   /* --help does not show it */
    bool list;     /* several words may be given, separated by commas */
    bool by_name;  /* messages name it by `name`, although it has a letter */
    /* the words of the value, ends in NULL; or a function that returns the i-th, or NULL */
    const char *const *words;
    const char *(*word_at)(size_t i);
    const char *alias[2]; /* a word that is no longer shown, and the one that it stands for */
    enum option_kind kind;
    size_t offset, size; /* of the field in the room's struct */
    uint64_t least, most, usual;
    /* Sets fields of the room's struct `options`. Returns false with ERR_USAGE. */
    bool (*set)(void *options, const struct option_row *row, const char *arg, struct err *e);
};

/* The options of a room. */
struct option_table {
    const struct option_row *row; /* ends in zeros */
    const void *defaults;         /* an object of the room's struct */
    size_t size;                  /* of that struct */
};

#define OPTION_FIELD(field) \
    .offset = offsetof(OPTION_STRUCT, field), .size = sizeof((OPTION_STRUCT *)0)->field
#define OPTION_FLAG(field) OPTION_FIELD(field), .kind = OPTION_KIND_FLAG, .least = true
#define OPTION_UNSET(field) OPTION_FIELD(field), .kind = OPTION_KIND_FLAG, .least = false
#define OPTION_WHOLE(field, low, high) \
    OPTION_FIELD(field), .kind = OPTION_KIND_WHOLE, .least = (low), .most = (high)
#define OPTION_TIME(field, low) OPTION_FIELD(field), .kind = OPTION_KIND_TIME, .least = (low)
#define OPTION_WORD(field) OPTION_FIELD(field), .kind = OPTION_KIND_WORD
#define OPTION_PATH(field) OPTION_FIELD(field), .kind = OPTION_KIND_PATH
#define OPTION_CUSTOM(function) .set = (function)
/* The words of a value, for `words`. */
#define OPTION_WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Returns the i-th word of the option's value, or NULL. */
const char *option_word(const struct option_row *row, size_t i);

/* Returns true if the row's value may be the next word; "=VALUE" is the other form. */
static inline bool option_takes_next(const struct option_row *row)
{
    return row->arg && !row->optional;
}

/* Sets an option; `arg` is NULL without a value, and borrowed for good. Fails with ERR_USAGE. */
bool option_set(const struct option_row *row, void *options, const char *arg, struct err *e);

/* Sets a path as OPTION_KIND_PATH does; `title` is the option in messages. */
bool option_set_path(const char *title, const char *arg, const char **path, struct err *e);

/* As OPTION_KIND_TIME. */
bool option_set_time(const char *title, const char *arg, int64_t least, int64_t *us, struct err *e);

/* As OPTION_KIND_WHOLE. */
bool option_set_whole(const char *title, const char *arg, uint64_t least, uint64_t most,
                      uint64_t *value, struct err *e);

/* Parses digits as a number of at most `most` and moves `*text` behind them, or returns false. */
bool option_read_digits(const char **text, uint64_t most, uint64_t *value);

/* Parses `text`, decimal digits only, as a number from `least` to `most`. */
bool option_read_whole(const char *text, uint64_t least, uint64_t most, uint64_t *value);

/* Parses the `length` bytes at `text`, 0 to `most` with two decimals at most, into hundredths. */
bool option_read_hundredths(const char *text, size_t length, uint64_t most, int *value);

/* Parses "90", "1:30" or "1:02:03.250" to microseconds; further digits are dropped. */
bool option_read_time(const char *text, int64_t *us);

/* Parses "500", "64K" or "3.5G", also followed by B or iB. K, M, G and T are powers of 1024. */
bool option_read_bytes(const char *text, uint64_t *bytes);

#endif
