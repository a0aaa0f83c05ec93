#include "cli_values.h"

#include <string.h>

#include "cli.h"

/* Parses digits as a number of at most `most` and moves `*text` behind them. */
static bool read_digits(const char **text, uint64_t most, uint64_t *value)
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

bool cli_read_whole(const char *text, uint64_t least, uint64_t most, uint64_t *value)
{
    return read_digits(&text, most, value) && *text == '\0' && *value >= least;
}

bool cli_read_hundredths(const char *text, size_t length, uint64_t most, int *value)
{
    const char *end = text + length;
    uint64_t whole, fraction = 0;
    if (!read_digits(&text, most, &whole))
        return false;
    if (text < end && *text == '.') {
        const char *first = ++text;
        if (!read_digits(&text, 99, &fraction) || text - first > 2)
            return false;
        fraction *= text - first == 1 ? 10 : 1;
    }
    uint64_t hundredths = whole * 100 + fraction;
    *value = (int)hundredths;
    return text == end && hundredths <= most * 100;
}

bool cli_parse_time(const char *text, int64_t *us)
{
    /* 10^9 hours in microseconds fit in 64 bits */
    uint64_t part[3], seconds = 0, fraction = 0;
    int parts = 0;
    do {
        if (parts == 3 || !read_digits(&text, 1000000000, &part[parts++]))
            return false;
    } while (*text == ':' && text++);
    for (int i = 0; i < parts; i++) {
        if (i > 0 && part[i] > 59)
            return false;
        seconds = seconds * 60 + part[i];
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

bool cli_parse_size(const char *text, struct size_rule *rule)
{
    enum { SIDE_MOST = 16384, DIVISOR_MOST = 1000 };
    uint64_t a, b;
    if (strcmp(text, "full") == 0) {
        *rule = (struct size_rule){.kind = SIZE_FULL};
        return true;
    }
    if (strncmp(text, "1/", 2) == 0) {
        if (!cli_read_whole(text + 2, 1, DIVISOR_MOST, &a))
            return false;
        *rule = (struct size_rule){.kind = SIZE_DIVIDE, .divisor = (int)a};
        return true;
    }
    if (!read_digits(&text, SIDE_MOST, &a) || a == 0)
        return false;
    if (*text == '\0') {
        *rule = (struct size_rule){.kind = SIZE_SIDE, .side = (int)a};
        return true;
    }
    if (*text != 'x' || !cli_read_whole(text + 1, 1, SIDE_MOST, &b))
        return false;
    *rule = (struct size_rule){.kind = SIZE_EXACT, .width = (int)a, .height = (int)b};
    return true;
}

bool cli_parse_crop(const char *text, struct crop_rule *rule)
{
    enum { SIDE_MOST = 16384 };
    uint64_t number[4];
    if (strcmp(text, "auto") == 0 || strcmp(text, "off") == 0) {
        *rule = (struct crop_rule){.kind = *text == 'a' ? CROP_AUTO : CROP_OFF};
        return true;
    }
    for (int i = 0; i < 4; i++)
        if (!read_digits(&text, SIDE_MOST, &number[i]) || (i < 3 && *text++ != ':'))
            return false;
    if (*text || number[0] == 0 || number[1] == 0)
        return false;
    *rule = (struct crop_rule){CROP_RECT,
                               {(int)number[2], (int)number[3], (int)number[0], (int)number[1]}};
    return true;
}
