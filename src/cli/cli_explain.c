#include "cli_rows.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "output/writer.h"

enum {
    ANSWERED = 1 << 20, /* "all remaining words" as a number of words */
    NAMES_MOST = 4,     /* of names in a suggestion */
    COMMON_LEAST = 3    /* letters in common with a suggestion, unless the word abbreviates it */
};

/* Options of other programs, such as ffmpeg and zstd, that users may type by habit. */
static const struct habit {
    const char *word, *hint;
} habits[] = {
    {"-i", "name the FILM without an option"},
    {"-y", "did you mean --overwrite?"},
    {"-f", "did you mean --overwrite?"},
    {"--force", "did you mean --overwrite?"},
    {"-ss", "did you mean --start?"},
    {"-to", "did you mean --end?"},
    {"-T", "did you mean --threads?"},
    {"-c", "did you mean -o -?"},
    {"--no-progress", "did you mean --progress never?"},
    {"--format", "the ending of the name selects the format: -o film.jpg, --name '{stem}.jpg'"},
    {"--quality", "a JPEG has quality 92, a WebP is lossless"},
    {"--fps", "did you mean --interval?"},
    {"--ring", "did you mean --shape circle?"},
    {"--palette", "did you mean -m palette, or --swatches?"},
    {"--resolution", "did you mean --width and --height?"},
};

struct check {
    struct cli_rows *rows;
    struct err *e;
};

static const char *find_habit(const char *word, size_t length)
{
    for (size_t i = 0; i < sizeof habits / sizeof *habits; i++) {
        if (strlen(habits[i].word) == length && memcmp(habits[i].word, word, length) == 0)
            return habits[i].hint;
    }
    return NULL;
}

/* Returns how many leading letters are equal. */
static size_t count_common(const char *a, const char *b, size_t length)
{
    size_t n = 0;
    while (n < length && a[n] == b[n])
        n++;
    return n;
}

/*
 * Writes the option names with the longest common beginning with `name` into text[size]. Returns
 * false if there are none, or too many.
 */
static bool list_similar(const struct cli_rows *rows, const char *name, size_t length, char *text,
                         size_t size)
{
    size_t best = 0, hits = 0, used = 0;
    for (size_t i = 0; i < rows->count; i++) {
        const struct option_row *t = &rows->at[i].row;
        size_t common = t->name && !t->hidden ? count_common(t->name, name, length) : 0;
        if (common < best || common == 0 || (common < length && common < COMMON_LEAST))
            continue;
        if (common > best)
            hits = used = 0;
        best = common;
        if (hits < NAMES_MOST)
            used +=
                (size_t)snprintf(text + used, size - used, "%s--%s", hits > 0 ? ", " : "", t->name);
        hits++;
    }
    return hits > 0 && hits <= NAMES_MOST;
}

static int fail_long(const struct check *check, const char *word, size_t length)
{
    char names[NAMES_MOST * 20];
    const char *name = word + 2, *hint = find_habit(word, length + 2);
    if (hint)
        err_set(check->e, ERR_USAGE, "unknown option '%.*s'; %s", (int)length + 2, word, hint);
    else if (length == 1 && cli_row_by_letter(check->rows, *name))
        err_set(check->e, ERR_USAGE, "unknown option '--%c'; did you mean -%c?", *name, *name);
    else if (list_similar(check->rows, name, length, names, sizeof names))
        err_set(check->e, ERR_USAGE, "unknown option '%.*s'; did you mean %s?", (int)length + 2,
                word, names);
    else
        err_set(check->e, ERR_USAGE, "unknown option '%.*s'; see --help", (int)length + 2, word);
    return 0;
}

/* Returns true for a number or a picture's ending, if no film has that name. */
static bool is_value(const char *word)
{
    char ending[8];
    snprintf(ending, sizeof ending, ".%s", word);
    return (!word[strspn(word, "0123456789")] ||
            (isalpha((unsigned char)*word) && writer_by_ending(ending))) &&
           *word && access(word, F_OK) != 0;
}

/* Rejects "--poster png" and "--steady 20": an optional value follows "=". */
static bool check_optional(const struct check *check, const struct option_row *t, const char *next)
{
    return !t->arg || option_takes_next(t) || !next || !is_value(next) ||
           err_set(check->e, ERR_USAGE, "'%s' does not exist; a value of --%s follows '=': --%s=%s",
                   next, t->name, t->name, next);
}

/* Checks "--name[=value]". Returns how many words the option uses, or 0 with ERR_USAGE. */
static int check_long(const struct check *check, const char *word, const char *next)
{
    size_t length = strcspn(word + 2, "=");
    bool value = word[2 + length] == '=';
    const struct cli_row *found = cli_row_by_name(check->rows, word + 2, length);
    if (!found)
        return fail_long(check, word, length);
    const struct option_row *t = &found->row;
    if (value && !t->arg)
        return err_set(check->e, ERR_USAGE, "--%s takes no value", t->name);
    if (option_takes_next(t) && !value && !next)
        return err_set(check->e, ERR_USAGE, "--%s needs a value: %s", t->name, t->arg);
    if (!value && !check_optional(check, t, next))
        return 0;
    if (t->group == OPTION_ANSWER)
        return ANSWERED;
    return option_takes_next(t) && !value ? 2 : 1;
}

static int fail_short(const struct check *check, char letter)
{
    char word[] = {'-', letter, 0};
    const char *hint = find_habit(word, 2);
    return err_set(check->e, ERR_USAGE, "unknown option '%s'; %s", word,
                   hint ? hint : "see --help");
}

/*
 * Checks "-abc" as check_long does. Rejects a long option behind one dash, as in ffmpeg: -output
 * would mean -o utput.
 */
static int check_short(const struct check *check, const char *word, bool last)
{
    size_t length = strcspn(word + 1, "=");
    const char *hint = length > 1 ? find_habit(word, length + 1) : NULL;
    const struct cli_row *first = cli_row_by_letter(check->rows, word[1]);
    bool answer = first && first->row.group == OPTION_ANSWER;
    if (!answer && length > 1 && cli_row_by_name(check->rows, word + 1, length))
        return err_set(check->e, ERR_USAGE, "unknown option '%.*s'; did you mean -%.*s?",
                       (int)length + 1, word, (int)length + 1, word);
    if (hint)
        return err_set(check->e, ERR_USAGE, "unknown option '%s'; %s", word, hint);
    for (const char *c = word + 1; *c; c++) {
        const struct cli_row *found = cli_row_by_letter(check->rows, *c);
        if (!found)
            return fail_short(check, *c);
        const struct option_row *t = &found->row;
        if (t->group == OPTION_ANSWER)
            return ANSWERED;
        if (t->arg && c[1])
            return 1;
        if (t->arg && last)
            return err_set(check->e, ERR_USAGE, "-%c needs a value: %s", *c, t->arg);
        if (t->arg)
            return 2;
    }
    return 1;
}

bool cli_check_words(struct cli_rows *rows, int argc, char **argv, struct err *e)
{
    const struct check check = {rows, e};
    for (int i = 1, step = 1; i < argc && strcmp(argv[i], "--") != 0; i += step) {
        bool last = i + 1 == argc;
        if (strncmp(argv[i], "--", 2) == 0)
            step = check_long(&check, argv[i], argv[i + 1]);
        else
            step = argv[i][0] == '-' && argv[i][1] ? check_short(&check, argv[i], last) : 1;
        if (step == 0)
            return false;
    }
    return true;
}
