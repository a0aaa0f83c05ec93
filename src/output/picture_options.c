#include "picture_options.h"

#include <stdio.h>
#include <string.h>

#include "media/film_options.h"
#include "output/modes/film_palette.h"

#define OPTION_STRUCT struct picture_options

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

char *picture_options_modes(void)
{
    char list[NAMES_SIZE], *text = NULL;
    names(list, true);
    int length = asprintf(&text,
                          "%s; several give one picture each, NAME-MODE.png, and joined by + one "
                          "picture; all is the first five in one picture",
                          list);
    return length < 0 ? NULL : text;
}

/* Returns true if a letter of `word` is replaced, missing, additional, or swapped with the next. */
static bool is_misspelt(const char *word, size_t length, const char *name)
{
    char rest[40];
    size_t same = 0;
    while (same < length && word[same] == name[same])
        same++;
    if (length - same >= sizeof rest || strlen(name) <= same)
        return length == same + 1 && !name[same];
    memcpy(rest, word + same, length - same);
    rest[length - same] = 0;
    const char *of = name + same;
    return strcmp(rest, of + 1) == 0 ||
           (*rest && (strcmp(rest + 1, of + 1) == 0 || strcmp(rest + 1, of) == 0 ||
                      (rest[0] == of[1] && rest[1] == of[0] && strcmp(rest + 2, of + 2) == 0)));
}

static bool unknown(const char *word, size_t length, struct err *e)
{
    char list[NAMES_SIZE];
    for (size_t i = 0; i <= strip_count; i++) {
        const char *name = i < strip_count ? strip_table[i]->name : STRIP_ALL;
        if (is_misspelt(word, length, name))
            return err_set(e, ERR_USAGE, "-m: '%.*s' is not a mode; did you mean %s?",
                           length > 80 ? 80 : (int)length, word, name);
    }
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
                        struct picture_options *o, struct err *e)
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
    return option_read_hundredths(value, digits, 100, &o->slit.x) ||
           err_set(e, ERR_USAGE,
                   "-m: '%.*s': the place is 0%% to 100%% of the width, with two decimals at most",
                   length > 80 ? 80 : (int)length, word);
}

/* Selects the mode of a word, or all of them, and parses its value. */
static bool select_word(const char *word, size_t length, struct picture_options *o,
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

/* Parses "kmeans,average" or "all". */
static bool set_modes(void *options, const struct option_row *row, const char *arg, struct err *e)
{
    struct picture_options *o = options;
    (void)row;
    static const char marks[] = {',', STRIP_JOIN, 0};
    bool selected[STRIPS_MOST] = {false}, all = false, list = strchr(arg, ',');
    for (const char *word = arg; word;) {
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
    if (list && strchr(arg, STRIP_JOIN))
        return err_set(e, ERR_USAGE,
                       "-m: '%.80s' has both , and +: give one picture for each mode, or one with "
                       "several modes",
                       arg);
    o->strips = 0;
    for (size_t i = 0; i < strip_count; i++) {
        if (selected[i])
            o->strip[o->strips++] = strip_table[i];
    }
    o->stacked = o->strips > 1 && !list;
    return true;
}

/* Parses -360 to 360 degrees, with two decimals at most. */
static bool set_rotate(void *options, const struct option_row *row, const char *arg, struct err *e)
{
    struct picture_options *o = options;
    (void)row;
    bool back = *arg == '-';
    int angle = 0;
    if (!option_read_hundredths(arg + back, strlen(arg + back), SLIT_TURN / 100, &angle))
        return err_set(e, ERR_USAGE,
                       "--rotate: '%s' is not a number of degrees from -360 to 360, with two "
                       "decimals at most",
                       arg);
    o->slit.angle = (back ? SLIT_TURN - angle : angle) % SLIT_TURN;
    return true;
}

static bool set_smooth(void *options, const struct option_row *row, const char *arg, struct err *e)
{
    struct picture_options *o = options;
    (void)row;
    int64_t us;
    if (!option_read_time(arg, &us))
        return err_set(e, ERR_USAGE, "--smooth: '%s' is not a time such as 10 or 1:30", arg);
    if (us > STRIP_SMOOTH_MOST_US)
        return err_set(e, ERR_USAGE, "--smooth: '%s' is more than an hour", arg);
    o->smooth_us = us / 1000 * 1000;
    return true;
}

static const char *mode_word(size_t i)
{
    if (i < strip_count)
        return strip_table[i]->name;
    return i == strip_count ? STRIP_ALL : NULL;
}

static const char *shape_word(size_t i)
{
    return i < STRIP_SHAPES ? strip_shape_name((enum strip_shape)i) : NULL;
}

static const char *order_word(size_t i)
{
    return i <= ORDER_SHARE ? palette_order_name((enum palette_order)i) : NULL;
}

static const struct option_row rows[] = {
    /* picture_options_modes has the help */
    {"mode", "MODE[,MODE...]", "", 'm', OPTION_PICTURE, .common = TASK_LOOKS, .list = true,
     .word_at = mode_word, OPTION_CUSTOM(set_modes)},
    {"width", "PX", "width, for looks: columns are repeated or merged (1280 to 2040)",
     .group = OPTION_PICTURE, .common = TASK_LOOKS, OPTION_WHOLE(width, 1, FILM_COLUMNS_MOST)},
    {"height", "PX", "height (800; with -m all, 360 for each mode)", .group = OPTION_PICTURE,
     .common = TASK_LOOKS, OPTION_WHOLE(height, 1, 65535)},
    {"shape", "SHAPE", "strip (default), ring or vertical", .group = OPTION_PICTURE,
     .word_at = shape_word, .alias = {"circle", "ring"}, OPTION_WORD(shape)},
    {"shot-width", "RULE", "of --columns shots: by time (default), or equal",
     .group = OPTION_PICTURE, .words = OPTION_WORDS("time", "equal"), OPTION_WORD(shots_equal)},
    {"rotate", "DEGREES", "slit: first rotate the frame clockwise", .group = OPTION_PICTURE,
     OPTION_CUSTOM(set_rotate)},
    {"smooth", "TIME", "even out changes shorter than about TIME", .group = OPTION_PICTURE,
     OPTION_CUSTOM(set_smooth)},
    {"steady", "PERCENT", "kmeans, dominant: remove flicker; 0 to 50 (10)", .group = OPTION_COLOURS,
     .optional = true, .usual = STEADY_USUAL, OPTION_WHOLE(steady, 0, STEADY_MOST)},
    {"order", "ORDER", "palette: order by lightness (default) or share", .group = OPTION_COLOURS,
     .word_at = order_word, OPTION_WORD(order)},
    {"colours", "N", "colours of the film's palette (posters, pages, --swatches), 2 to 32 (-k)",
     .group = OPTION_COLOURS, OPTION_WHOLE(colours, FILM_PALETTE_LEAST, FILM_PALETTE_MOST)},
    {0}};

uint64_t picture_repeats(uint64_t count)
{
    uint64_t repeats = count > 0 ? (PICTURE_SHORT + count - 1) / count : 1;
    return repeats * count <= PICTURE_LONG ? repeats : 1;
}

extern const struct strip_kind strip_kmeans; /* mode_colour.c */

static const struct picture_options defaults = {
    .strip = {&strip_kmeans}, .strips = 1, .slit = {.x = SLIT_X_USUAL}};

const struct option_table picture_options = {rows, &defaults, sizeof defaults};
