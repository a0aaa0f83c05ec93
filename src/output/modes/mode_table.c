#include "strip.h"

#include <stdio.h>
#include <string.h>

/* One line per mode, in the order of -m all from top to bottom. NAME stands for strip_NAME, an
 * entry in a file mode_*.c. */
#define EACH_STRIP(DO) \
    DO(kmeans) \
    DO(dominant) \
    DO(palette) \
    DO(average) \
    DO(squeeze) \
    DO(sound) \
    DO(spectrum) \
    DO(slit)

#define DECLARE(name) extern const struct strip_kind strip_##name;
#define POINT(name) &strip_##name,

EACH_STRIP(DECLARE)
const struct strip_kind *const strip_table[] = {EACH_STRIP(POINT)};
const size_t strip_count = sizeof strip_table / sizeof *strip_table;
_Static_assert(sizeof strip_table / sizeof *strip_table <= STRIPS_MOST, "STRIPS_MOST is too small");

static bool is_word(const char *known, const char *name, size_t length)
{
    return strlen(known) == length && memcmp(known, name, length) == 0;
}

const struct strip_kind *strip_find(const char *name, size_t length)
{
    for (size_t i = 0; i < strip_count; i++) {
        const struct strip_kind *kind = strip_table[i];
        if (is_word(kind->name, name, length) ||
            (kind->alias && is_word(kind->alias, name, length)))
            return kind;
    }
    return NULL;
}

const char *palette_order_name(enum palette_order order)
{
    return order == ORDER_SHARE ? "share" : "lightness";
}

const char *strip_shape_name(enum strip_shape shape)
{
    static const char *const name[STRIP_SHAPES] = {"strip", "ring", "vertical"};
    return name[shape];
}

struct strips strips_all(void)
{
    struct strips all = {strip_table, 0};
    while (all.count < strip_count && !strip_table[all.count]->named_only)
        all.count++;
    return all;
}

static bool are_all(struct strips s)
{
    struct strips all = strips_all();
    bool same = s.count == all.count;
    for (size_t i = 0; same && i < s.count; i++)
        same = s.kind[i] == all.kind[i];
    return same;
}

void strips_name(struct strips s, char out[STRIPS_NAME])
{
    size_t used = 0;
    if (are_all(s)) {
        snprintf(out, STRIPS_NAME, STRIP_ALL);
        return;
    }
    for (size_t i = 0; i < s.count && used < STRIPS_NAME; i++)
        used += (size_t)snprintf(out + used, STRIPS_NAME - used, "%s%s",
                                 i > 0 ? (const char[]){STRIP_JOIN, 0} : "", s.kind[i]->name);
}

unsigned strips_need(struct strips s)
{
    unsigned needs = 0;
    for (size_t i = 0; i < s.count; i++)
        needs |= s.kind[i]->needs;
    return needs;
}

bool strips_forbid_race(struct strips s)
{
    for (size_t i = 0; i < s.count; i++) {
        if (s.kind[i]->no_race)
            return true;
    }
    return false;
}

unsigned strips_obey(struct strips s)
{
    unsigned obeys = 0;
    for (size_t i = 0; i < s.count; i++)
        obeys |= s.kind[i]->obeys;
    return obeys;
}
