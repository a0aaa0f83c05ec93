#include "cli_modes.h"

#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "cli_values.h"

enum { NAMES_SIZE = 32 * STRIPS_MOST };

/* Writes the names of all modes, separated by commas; for --help with the default and the values.
 */
static void names(char *text, bool help)
{
    size_t used = 0;
    for (size_t i = 0; i < strip_count && used < NAMES_SIZE; i++) {
        const char *value = help ? strip_table[i]->value : NULL;
        used += (size_t)snprintf(text + used, NAMES_SIZE - used, "%s%s%s%s%s%s", i == 0 ? "" : ", ",
                                 strip_table[i]->name, value ? "[=" : "", value ? value : "",
                                 value ? "]" : "", help && i == 0 ? " (default)" : "");
    }
}

char *cli_modes_help(void)
{
    static const char *const word[] = {
        "none", "one", "two",    "three",  "four",     "five",     "six",     "seven",  "eight",
        "nine", "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen"};
    _Static_assert(sizeof word / sizeof *word == STRIPS_MOST + 1,
                   "a word for every number of strips");
    char list[NAMES_SIZE], *text = NULL;
    names(list, true);
    int length = asprintf(&text,
                          "%s; several give one picture each, NAME-MODE.png, and joined by + one "
                          "picture; all is the first %s in one picture",
                          list, word[strips_all().count]);
    return length < 0 ? NULL : text;
}

static bool unknown(const char *word, size_t length, struct err *e)
{
    char list[NAMES_SIZE];
    names(list, false);
    return err_set(e, ERR_USAGE, "-m: '%.*s' is not a mode; the modes are %s and " STRIP_ALL,
                   length > 80 ? 80 : (int)length, word, list);
}

static bool is_all(const char *word, size_t length)
{
    return length == strlen(STRIP_ALL) && memcmp(word, STRIP_ALL, length) == 0;
}

/* Parses the value after the name of a mode, "=X%" or nothing. */
static bool parse_value(const struct strip_kind *kind, const char *word, size_t length, size_t name,
                        struct options *o, struct err *e)
{
    const char *value = word + name + 1;
    size_t digits = length - name - 1;
    if (name == length)
        return true;
    if (!kind->value)
        return err_set(e, ERR_USAGE, "-m: '%s' takes no value: '%.*s'", kind->name, (int)length,
                       word);
    if (digits > 0 && value[digits - 1] == '%')
        digits--;
    return cli_read_hundredths(value, digits, 100, &o->picture.slit.x) ||
           err_set(e, ERR_USAGE,
                   "-m: '%.*s': the place is 0%% to 100%% of the width, with two decimals at most",
                   length > 80 ? 80 : (int)length, word);
}

/* Selects the mode of a word, or all of them, and parses its value. */
static bool select_word(const char *word, size_t length, struct options *o,
                        bool selected[STRIPS_MOST], struct err *e)
{
    size_t equals = strcspn(word, "="), name = equals < length ? equals : length;
    const struct strip_kind *kind = strip_find(word, name);
    size_t all = is_all(word, length) ? strips_all().count : 0;
    if (!kind && all == 0)
        return unknown(word, name, e);
    if (kind && !parse_value(kind, word, length, name, o, e))
        return false;
    for (size_t i = 0; i < strip_count; i++)
        selected[i] |= i < all || strip_table[i] == kind;
    return true;
}

bool cli_parse_modes(const char *text, struct options *o, struct err *e)
{
    static const char marks[] = {',', STRIP_JOIN, 0};
    bool selected[STRIPS_MOST] = {false}, all = false, list = strchr(text, ',');
    for (const char *word = text; word;) {
        word += strspn(word, " ");
        size_t length = strcspn(word, marks);
        if (!select_word(word, length, o, selected, e))
            return false;
        all |= is_all(word, length);
        word = word[length] ? word + length + 1 : NULL;
    }
    if (all && list)
        return err_set(e, ERR_USAGE,
                       "-m: '" STRIP_ALL "' is the first five modes in one picture and stands "
                       "alone, or joined as in all+sound");
    if (list && strchr(text, STRIP_JOIN))
        return err_set(e, ERR_USAGE,
                       "-m: '%.80s' has both , and +: give one picture for each mode, or one with "
                       "several modes",
                       text);
    o->picture.strips = 0;
    for (size_t i = 0; i < strip_count; i++) {
        if (selected[i])
            o->picture.strip[o->picture.strips++] = strip_table[i];
    }
    o->picture.stacked = o->picture.strips > 1 && !list;
    return true;
}

bool cli_parse_rotate(const char *text, struct options *o, struct err *e)
{
    bool back = *text == '-';
    int angle = 0;
    if (!cli_read_hundredths(text + back, strlen(text + back), SLIT_TURN / 100, &angle))
        return err_set(e, ERR_USAGE,
                       "--rotate: '%s' is not a number of degrees from -360 to 360, with two "
                       "decimals at most",
                       text);
    o->picture.slit.angle = (back ? SLIT_TURN - angle : angle) % SLIT_TURN;
    return true;
}

bool cli_finalize_slit(struct options *o, bool sized, struct err *e)
{
    bool has_slit = strips_need((struct strips){o->picture.strip, o->picture.strips}) & STRIP_SLIT;
    if (o->picture.slit.angle != 0 && !has_slit)
        return err_set(e, ERR_USAGE, "--rotate applies to the mode slit; add -m slit");
    if (has_slit && !sized)
        o->film.size = (struct size_rule){
            .kind = SIZE_ROWS,
            .side = o->picture.shape == SHAPE_VERTICAL ? o->picture.width : o->picture.height};
    return true;
}

void cli_finalize_modes(struct options *o)
{
    struct strips asked = {o->picture.strip, o->picture.strips};
    unsigned needs = strips_need(asked);
    o->kmeans.race = o->kmeans.race && !strips_settled(asked);
    o->picture.computes = 0;
    for (size_t i = 0; i < o->picture.strips; i++)
        o->picture.computed[o->picture.computes++] = o->picture.strip[i];
    for (size_t i = 0; i < strip_count; i++) {
        bool there = false;
        for (size_t k = 0; k < o->picture.strips; k++)
            there |= o->picture.strip[k] == strip_table[i];
        if (!there && (strip_table[i]->needs & ~needs) == 0)
            o->picture.computed[o->picture.computes++] = strip_table[i];
    }
}
