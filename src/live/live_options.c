#include "live_options.h"

#include <string.h>

#define OPTION_STRUCT struct live_run_options

static bool set_live(void *options, const struct option_row *row, const char *arg, struct err *e)
{
    const int64_t least_us = 40000, usual_us = 10000000, day_us = INT64_C(86400000000);
    struct live_run_options *o = options;
    if (!arg)
        o->column_us = usual_us;
    else if (!option_read_time(arg, &o->column_us))
        return err_set(e, ERR_USAGE, "--%s: '%s' is no time, such as 10 or 0.2", row->name, arg);
    if (o->column_us < least_us || o->column_us > day_us || day_us % o->column_us != 0)
        return err_set(
            e, ERR_USAGE,
            "--%s=%s: a day has no whole number of such columns; give 0.04, 0.1, 1, 10, 60 "
            "or the like",
            row->name, arg);
    return true;
}

/* Parses "utc", "local" or "HH:MM". */
static bool set_day(void *options, const struct option_row *row, const char *arg, struct err *e)
{
    const char *digit = "0123456789";
    struct live_run_options *o = options;
    o->day = (struct live_day_rule){.local = strcmp(arg, "utc") != 0};
    if (!o->day.local || strcmp(arg, "local") == 0)
        return true;
    bool clock =
        strlen(arg) == 5 && strspn(arg, digit) == 2 && arg[2] == ':' && strspn(arg + 3, digit) == 2;
    int hours = clock ? (arg[0] - '0') * 10 + arg[1] - '0' : 24,
        minutes = clock ? (arg[3] - '0') * 10 + arg[4] - '0' : 0;
    o->day.minutes = hours * 60 + minutes;
    if (hours >= 24 || minutes >= 60)
        return err_set(e, ERR_USAGE, "--%s: '%s' is not utc, local or a time of day such as 12:00",
                       row->name, arg);
    return true;
}

/* Splits [ADDR:]PORT at its last colon, and takes the brackets off an IPv6 address. */
static bool split_address(const char *text, struct serve_address *a)
{
    const char *colon = strrchr(text, ':'), *host = text;
    size_t length = colon ? (size_t)(colon - text) : 0;
    uint64_t port;
    if (!option_read_whole(colon ? colon + 1 : text, 0, UINT16_MAX, &port))
        return false;
    if (colon && *text == '[') {
        if (length < 3 || colon[-1] != ']')
            return false;
        host++;
        length -= 2;
    } else if (colon && (length == 0 || memchr(text, ':', length)))
        return false;
    if (!colon)
        host = "127.0.0.1", length = strlen(host);
    if (length >= sizeof a->host)
        return false;
    memcpy(a->host, host, length);
    a->host[length] = 0;
    a->port = (uint16_t)port;
    a->given = true;
    return true;
}

static bool set_serve(void *options, const struct option_row *row, const char *arg, struct err *e)
{
    struct live_run_options *o = options;
    if (!split_address(arg, &o->serve))
        return err_set(e, ERR_USAGE,
                       "--%s: '%s' is not [ADDR:]PORT, such as 8080, 0.0.0.0:8080 or [::1]:8080",
                       row->name, arg);
    return true;
}

static const struct option_row rows[] = {
    {"live", "SECONDS", "a column of what comes in every SECONDS (10), for days; -o DIR",
     .group = OPTION_LIVE, .optional = true, OPTION_CUSTOM(set_live)},
    {"day", "RULE", "a day begins at 0:00 of utc (default), local, or at HH:MM (local)",
     .group = OPTION_LIVE, .words = OPTION_WORDS("utc", "local"), OPTION_CUSTOM(set_day)},
    {"timeout", "TIME", "open a stream again that is silent for TIME (10)", .group = OPTION_LIVE,
     OPTION_TIME(timeout_us, 1)},
    {"serve", "[ADDR:]PORT", "serve a page that grows (127.0.0.1)", .group = OPTION_LIVE,
     OPTION_CUSTOM(set_serve)},
    {"live-format", "FORMAT", "-o - writes each column as rgb or jsonl", .group = OPTION_LIVE,
     .words = OPTION_WORDS("rgb", "jsonl"), OPTION_WORD(format), .least = LIVE_FORMAT_RGB},
    {0}};

static const struct live_run_options defaults = {.timeout_us = 10000000};

const struct option_table live_options = {rows, &defaults, sizeof defaults};

bool live_is_shown(const struct live_run_options *o)
{
    return o->serve.given || o->format != LIVE_FORMAT_NONE;
}
