#include "format_options.h"

#define OPTION_STRUCT struct format_options

static bool set_csv_columns(void *options, const struct option_row *row, const char *arg,
                            struct err *e)
{
    struct format_options *o = options;
    (void)row;
    return csv_columns_parse(arg, &o->csv_columns, e);
}

static bool set_interval(void *options, const struct option_row *row, const char *arg,
                         struct err *e)
{
    struct format_options *o = options;
    int64_t us;
    if (!option_set_time("--trickplay-interval", arg, 0, &us, e))
        return false;
    if (us < 1000000 || us % 1000 != 0 || us / 1000 > UINT32_MAX)
        return err_set(e, ERR_USAGE,
                       "--%s: '%s' is not in whole milliseconds, from 1 second to 49 days",
                       row->name, arg);
    o->previews.interval_us = us;
    return true;
}

static bool set_width(void *options, const struct option_row *row, const char *arg, struct err *e)
{
    struct format_options *o = options;
    uint64_t value;
    if (!option_read_whole(arg, 2, PREVIEWS_WIDTH_MOST, &value) || value % 2 != 0)
        return err_set(e, ERR_USAGE, "--%s: '%s' is not an even number from 2 to %d", row->name,
                       arg, PREVIEWS_WIDTH_MOST);
    o->previews.width = (int)value;
    return true;
}

static const struct option_row rows[] = {
    {"csv-columns", "LIST", "columns of --csv, such as time,colour_N,share_N, or all",
     .group = OPTION_OUTPUTS, OPTION_CUSTOM(set_csv_columns)},
    {"drop-frame", NULL, "timecode of --shot-list by the clock, at 29.97 and 59.94 frames/s",
     .group = OPTION_OUTPUTS, OPTION_FLAG(drop_frame)},
    {"trickplay-interval", "TIME", "time between previews (10)", .group = OPTION_OUTPUTS,
     OPTION_CUSTOM(set_interval)},
    {"trickplay-width", "PX", "width of a preview, even (320)", .group = OPTION_OUTPUTS,
     OPTION_CUSTOM(set_width)},
    {0}};

static const struct format_options defaults = {
    .previews = {.width = PREVIEWS_WIDTH, .interval_us = PREVIEWS_INTERVAL_US}};

const struct option_table format_options = {rows, &defaults, sizeof defaults};
