#include "cli_modes.h"

#include <stdio.h>
#include <string.h>

#include "barcode/cli/cli.h"

enum { NAMES_SIZE = 32 * STRIPS_MOST };

/* Writes the names of all modes, separated by commas; `after_first` follows the first. */
static void names(char *text, const char *after_first)
{
    size_t used = 0;
    for (size_t i = 0; i < strip_count && used < NAMES_SIZE; i++)
        used += (size_t)snprintf(text + used, NAMES_SIZE - used, "%s%s%s", i == 0 ? "" : ", ",
                                 strip_table[i]->name, i == 0 ? after_first : "");
}

char *cli_modes_help(void)
{
    static const char *const word[] = {
        "none", "one", "two",    "three",  "four",     "five",     "six",     "seven",  "eight",
        "nine", "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen"};
    _Static_assert(sizeof word / sizeof *word == STRIPS_MOST + 1,
                   "a word for every number of strips");
    char list[NAMES_SIZE], *text = NULL;
    names(list, " (default)");
    int length = asprintf(&text,
                          "%s; several give one picture each, NAME-MODE.png, and joined by + one "
                          "picture; all is the first %s in one picture",
                          list, word[strips_all().count]);
    return length < 0 ? NULL : text;
}

static bool unknown(const char *word, size_t length, struct err *e)
{
    char list[NAMES_SIZE];
    names(list, "");
    return err_set(e, ERR_USAGE, "-m: '%.*s' is not a mode; the modes are %s and " STRIP_ALL,
                   length > 80 ? 80 : (int)length, word, list);
}

/* Selects the mode of a word, or all of them. Returns false if it is neither. */
static bool select_word(const char *word, size_t length, bool selected[STRIPS_MOST])
{
    const struct strip_kind *kind = strip_find(word, length);
    size_t all = length == strlen(STRIP_ALL) && memcmp(word, STRIP_ALL, length) == 0
                     ? strips_all().count
                     : 0;
    for (size_t i = 0; i < strip_count; i++)
        selected[i] |= i < all || strip_table[i] == kind;
    return kind || all > 0;
}

bool cli_parse_modes(const char *text, struct options *o, struct err *e)
{
    static const char marks[] = {',', STRIP_JOIN, 0};
    bool selected[STRIPS_MOST] = {false}, all = false, list = strchr(text, ',');
    for (const char *word = text; word;) {
        word += strspn(word, " ");
        size_t length = strcspn(word, marks);
        if (!select_word(word, length, selected))
            return unknown(word, length, e);
        all |= !strip_find(word, length);
        word = word[length] ? word + length + 1 : NULL;
    }
    if (all && list)
        return err_set(e, ERR_USAGE,
                       "-m: '" STRIP_ALL "' is one picture with every mode and stands alone");
    if (list && strchr(text, STRIP_JOIN))
        return err_set(e, ERR_USAGE,
                       "-m: '%.80s' has both , and +: give one picture for each mode, or one with "
                       "several modes",
                       text);
    o->strips = 0;
    for (size_t i = 0; i < strip_count; i++) {
        if (selected[i])
            o->strip[o->strips++] = strip_table[i];
    }
    o->stacked = o->strips > 1 && !list;
    return true;
}

void cli_finalize_modes(struct options *o)
{
    struct strips asked = {o->strip, o->strips};
    unsigned needs = strips_need(asked);
    o->kmeans.race = o->kmeans.race && !strips_settled(asked);
    o->computes = 0;
    for (size_t i = 0; i < o->strips; i++)
        o->computed[o->computes++] = o->strip[i];
    for (size_t i = 0; i < strip_count; i++) {
        bool there = false;
        for (size_t k = 0; k < o->strips; k++)
            there |= o->strip[k] == strip_table[i];
        if (!there && (strip_table[i]->needs & ~needs) == 0)
            o->computed[o->computes++] = strip_table[i];
    }
}
