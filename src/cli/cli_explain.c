#include "cli_explain.h"

#include <stdbool.h>
#include <string.h>

const struct argp_option *cli_find_key(const struct argp_option *table, int key)
{
    for (const struct argp_option *t = table; t->name || t->doc; t++) {
        if (t->name && t->key == key)
            return t;
    }
    return NULL;
}

/* The option that a long word means: exact, or the only one that begins so. *hits says how many do. */
static const struct argp_option *find_long(const struct argp_option *table, const char *word, size_t length, int *hits)
{
    const struct argp_option *found = NULL;
    *hits = 0;
    for (const struct argp_option *t = table; t->name || t->doc; t++) {
        if (!t->name || strncmp(t->name, word, length) != 0)
            continue;
        if (!t->name[length]) {
            *hits = 1;
            return t;
        }
        found = t;
        ++*hits;
    }
    return found;
}

/* True if the option's value is the word after it, unless it stands behind a '='. */
static bool takes_next(const struct argp_option *t)
{
    return t->arg && !(t->flags & OPTION_ARG_OPTIONAL);
}

/* Finds what is wrong with "--name[=value]". Returns how many words it takes, 0 once the sentence is written. */
static int check_long(const struct argp_option *table, const char *word, bool last, struct err *e)
{
    int hits, length = (int)strcspn(word + 2, "=");
    bool value = word[2 + length] == '=';
    const struct argp_option *t = find_long(table, word + 2, (size_t)length, &hits);
    if (hits == 0)
        err_set(e, ERR_USAGE, "unknown option '%.*s'; see --help", length + 2, word);
    else if (hits > 1)
        err_set(e, ERR_USAGE, "option '%.*s' could mean several; see --help", length + 2, word);
    else if (value && !t->arg)
        err_set(e, ERR_USAGE, "--%s takes no value", t->name);
    else if (takes_next(t) && !value && last)
        err_set(e, ERR_USAGE, "--%s needs a value: %s", t->name, t->arg);
    else
        return takes_next(t) && !value ? 2 : 1;
    return 0;
}

/* The same for "-abc". */
static int check_short(const struct argp_option *table, const char *word, bool last, struct err *e)
{
    for (const char *c = word + 1; *c; c++) {
        const struct argp_option *t = cli_find_key(table, *c);
        if (!t) {
            err_set(e, ERR_USAGE, "unknown option '-%c'; see --help", *c);
            return 0;
        }
        if (t->arg && c[1])
            return 1;
        if (t->arg && last) {
            err_set(e, ERR_USAGE, "-%c needs a value: %s", *c, t->arg);
            return 0;
        }
        if (t->arg)
            return 2;
    }
    return 1;
}

void cli_explain(const struct argp_option *table, int argc, char **argv, struct err *e)
{
    for (int i = 1, step = 1; i < argc && step > 0 && strcmp(argv[i], "--") != 0; i += step) {
        bool last = i + 1 == argc;
        if (strncmp(argv[i], "--", 2) == 0)
            step = check_long(table, argv[i], last, e);
        else if (argv[i][0] == '-' && argv[i][1])
            step = check_short(table, argv[i], last, e);
        else
            step = 1;
    }
    err_set(e, ERR_USAGE, "the command line cannot be understood; see --help");
}
