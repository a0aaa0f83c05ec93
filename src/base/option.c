#include "option.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "atomic_file.h"

/* ---- Values ---- */

bool option_read_digits(const char **text, uint64_t most, uint64_t *value)
{
    const char *c = *text;
    *value = 0;
    for (; *c >= '0' && *c <= '9'; c++) {
        unsigned digit = (unsigned)(*c - '0');
        if (digit > most || *value > (most - digit) / 10)
            return false;
        *value = *value * 10 + digit;
    }
    bool some = c != *text;
    *text = c;
    return some;
}

bool option_read_whole(const char *text, uint64_t least, uint64_t most, uint64_t *value)
{
    return option_read_digits(&text, most, value) && *text == '\0' && *value >= least;
}

bool option_read_hundredths(const char *text, size_t length, uint64_t most, int *value)
{
    const char *end = text + length;
    uint64_t whole, fraction = 0;
    if (!option_read_digits(&text, most, &whole))
        return false;
    if (text < end && *text == '.') {
        const char *first = ++text;
        if (!option_read_digits(&text, 99, &fraction) || text - first > 2)
            return false;
        fraction *= text - first == 1 ? 10 : 1;
    }
    uint64_t hundredths = whole * 100 + fraction;
    *value = (int)hundredths;
    return text == end && hundredths <= most * 100;
}

bool option_read_time(const char *text, int64_t *us)
{
    /* 10^9 hours in microseconds fit in 64 bits */
    const uint64_t most = 1000000000;
    uint64_t seconds, fraction = 0;
    if (!option_read_digits(&text, most, &seconds))
        return false;
    for (int parts = 1; *text == ':'; parts++) {
        uint64_t part;
        text++;
        if (parts == 3 || !option_read_digits(&text, most, &part) || part > 59)
            return false;
        seconds = seconds * 60 + part;
    }
    if (*text == '.') {
        const char *first = ++text;
        for (uint64_t unit = 100000; *text >= '0' && *text <= '9'; text++, unit /= 10)
            fraction += unit * (uint64_t)(*text - '0');
        if (text == first)
            return false;
    }
    if (*text)
        return false;
    *us = (int64_t)(seconds * 1000000 + fraction);
    return true;
}

bool option_read_bytes(const char *text, uint64_t *bytes)
{
    static const char units[] = "KMGT";
    /* strtod would also accept signs, spaces, "inf" and hexadecimal. */
    size_t digits = strspn(text, "0123456789.");
    char *end;
    errno = 0;
    double value = strtod(text, &end);
    if (digits == 0 || end != text + digits || errno != 0)
        return false;
    const char *unit = isalpha((unsigned char)*end) ? strchr(units, *end & ~0x20) : NULL;
    if (unit) {
        for (const char *u = units; u <= unit; u++)
            value *= 1024;
        end++;
    }
    if (unit && *end == 'i' && end[1] == 'B')
        end++;
    if (*end == 'B')
        end++;
    if (*end || value < 0 || value > 9e18)
        return false;
    *bytes = (uint64_t)value;
    return true;
}

/* ---- Rows ---- */

const char *option_word(const struct option_row *row, size_t i)
{
    if (row->word_at)
        return row->word_at(i);
    return row->words ? row->words[i] : NULL;
}

bool option_set_path(const char *title, const char *arg, const char **path, struct err *e)
{
    if (!*arg)
        return err_set(e, ERR_USAGE, "%s: the name is empty", title);
    if (arg[0] == '-' && arg[1])
        return err_set(e, ERR_USAGE, "%s needs a name before '%s'; a file of that name is './%s'",
                       title, arg, arg);
    *path = atomic_file_is_stdout(arg) ? "-" : arg; /* other code knows stdout only as "-" */
    return true;
}

bool option_set_time(const char *title, const char *arg, int64_t least, int64_t *us, struct err *e)
{
    int64_t value;
    if (!option_read_time(arg, &value))
        return err_set(e, ERR_USAGE, "%s: '%s' is not a time such as 90, 1:30 or 1:02:03.250",
                       title, arg);
    if (value < least)
        return err_set(e, ERR_USAGE, "%s: '%s' is too short", title, arg);
    *us = value;
    return true;
}

bool option_set_whole(const char *title, const char *arg, uint64_t least, uint64_t most,
                      uint64_t *value, struct err *e)
{
    if (!option_read_whole(arg, least, most, value))
        return err_set(e, ERR_USAGE, "%s: '%s' is not a whole number from %llu to %llu", title, arg,
                       (unsigned long long)least, (unsigned long long)most);
    return true;
}

/* Writes a number to a field of any size. */
static void store(const struct option_row *row, void *field, uint64_t value)
{
    if (row->size == sizeof(bool))
        *(bool *)field = value;
    else if (row->size == sizeof(int))
        *(int *)field = (int)value;
    else
        *(uint64_t *)field = value;
}

/* Reports that the value is none of the words: "'x' is not a, b or c". */
static bool fail_word(const struct option_row *row, const char *title, const char *arg,
                      struct err *e)
{
    char list[200] = "";
    size_t used = 0;
    for (size_t i = 0; option_word(row, i) && used < sizeof list; i++) {
        const char *between = option_word(row, i + 1) ? ", " : " or ";
        if (i == 0)
            between = "";
        used +=
            (size_t)snprintf(list + used, sizeof list - used, "%s%s", between, option_word(row, i));
    }
    return err_set(e, ERR_USAGE, "%s: '%s' is not %s", title, arg, list);
}

static bool set_word(const struct option_row *row, const char *title, void *field, const char *arg,
                     struct err *e)
{
    if (row->alias[0] && strcmp(arg, row->alias[0]) == 0)
        arg = row->alias[1];
    for (size_t i = 0; option_word(row, i); i++) {
        if (strcmp(arg, option_word(row, i)) == 0) {
            store(row, field, row->least + i);
            return true;
        }
    }
    return fail_word(row, title, arg, e);
}

bool option_set(const struct option_row *row, void *options, const char *arg, struct err *e)
{
    char title[40];
    void *field = (char *)options + row->offset;
    uint64_t value = row->usual;
    if (row->letter && !row->by_name)
        snprintf(title, sizeof title, "-%c", row->letter);
    else
        snprintf(title, sizeof title, "--%s", row->name);
    switch (row->kind) {
    case OPTION_KIND_CUSTOM: return row->set(options, row, arg, e);
    case OPTION_KIND_FLAG: store(row, field, row->least); return true;
    case OPTION_KIND_WHOLE:
        if (arg && !option_set_whole(title, arg, row->least, row->most, &value, e))
            return false;
        store(row, field, value);
        return true;
    case OPTION_KIND_TIME: return option_set_time(title, arg, (int64_t)row->least, field, e);
    case OPTION_KIND_WORD: return set_word(row, title, field, arg, e);
    case OPTION_KIND_PATH: return option_set_path(title, arg, field, e);
    }
    return false;
}
