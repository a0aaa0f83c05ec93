#include "text.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Table 3-7 of Unicode, without the sequences of one byte. */
static const struct {
    unsigned char first, last, second_low, second_high;
    size_t length;
} rows[] = {
    {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
    {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
    {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
};

size_t text_sequence(const char *text)
{
    const unsigned char *p = (const unsigned char *)text;
    if (p[0] < 0x80)
        return 1;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        if (p[0] < rows[k].first || p[0] > rows[k].last)
            continue;
        if (p[1] < rows[k].second_low || p[1] > rows[k].second_high)
            return 0;
        for (size_t i = 2; i < rows[k].length; i++)
            if ((p[i] & 0xc0) != 0x80)
                return 0;
        return rows[k].length;
    }
    return 0;
}

/* Returns the character of a well-formed sequence. */
static uint32_t decode(const char *text, size_t length)
{
    const unsigned char *p = (const unsigned char *)text;
    uint32_t c = length == 1 ? p[0] : p[0] & (0x7fU >> length);
    for (size_t i = 1; i < length; i++)
        c = c << 6 | (p[i] & 0x3f);
    return c;
}

static bool is_plain(uint32_t c)
{
    bool control = c < 0x20 || (c >= 0x7f && c < 0xa0);
    bool bidirectional = c == 0x061c || c == 0x200e || c == 0x200f || (c >= 0x2066 && c <= 0x2069);
    bool separator = c >= 0x2028 && c <= 0x202e; /* U+202A to U+202E are bidirectional controls */
    return !control && !bidirectional && !separator;
}

void text_make_plain(char *text)
{
    char *to = text;
    while (*text) {
        size_t length = text_sequence(text);
        if (length > 0 && is_plain(decode(text, length))) {
            memmove(to, text, length);
            to += length;
        } else {
            *to++ = '?';
        }
        text += length > 0 ? length : 1;
    }
    *to = 0;
}

const char *text_markup(char c)
{
    switch (c) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    default: return NULL;
    }
}

void text_utc(int64_t time_us, bool ms, char text[TEXT_UTC])
{
    int64_t all = time_us / 1000 - (time_us % 1000 < 0);
    int64_t seconds = all / 1000 - (all % 1000 < 0);
    time_t at = (time_t)seconds;
    struct tm tm;
    if (!gmtime_r(&at, &tm) || strftime(text, TEXT_UTC, "%Y-%m-%dT%H:%M:%S", &tm) == 0)
        snprintf(text, TEXT_UTC, "1970-01-01T00:00:00");
    size_t length = strlen(text);
    if (ms)
        snprintf(text + length, TEXT_UTC - length, ".%03dZ", (int)(all - seconds * 1000));
    else
        snprintf(text + length, TEXT_UTC - length, "Z");
}

void text_clock(int64_t us, int hours, bool tenths, char text[TEXT_CLOCK])
{
    uint64_t away = us < 0 ? -(uint64_t)us : (uint64_t)us;
    uint64_t t = tenths ? (away + 50000) / 100000 : (away + 500000) / 1000000 * 10, s = t / 10;
    const char *sign = us < 0 && t > 0 ? "-" : "";
    int used = s < (uint64_t)hours ? snprintf(text, TEXT_CLOCK, "%s%" PRIu64, sign, s / 60)
                                   : snprintf(text, TEXT_CLOCK, "%s%" PRIu64 ":%02d", sign,
                                              s / 3600, (int)(s / 60 % 60));
    used += snprintf(text + used, (size_t)(TEXT_CLOCK - used), ":%02d", (int)(s % 60));
    if (tenths)
        snprintf(text + used, (size_t)(TEXT_CLOCK - used), ".%d", (int)(t % 10));
}
